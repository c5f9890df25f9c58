//! Lines of our own order, translated from a channel order's lines with the variant map, at the external shop's prices.
//!
//! Each line of the channel order becomes one line of our order. If one unit consists of several parts or is a kit, the
//! line has the price and is followed by its parts, as for our own kits. This keeps prices exact and lets shipped units
//! be counted in the units that the shop sold.

use super::ChannelOrderEffects;
use domain::bounds::MAX_QUANTITY;
use domain::channel_order::{ChannelOrder, SoldContent, amounts};
use domain::id::Id;
use domain::order::{ChannelOrigin, NewOrder, OrderKind, OrderLine, SoldOrder};
use domain::party::Party;
use domain::sales_channel::SalesChannel;
use domain::sku::Sku;
use services::sales_channels::channel_type;
use store::rows::LoadError;

/// Result of resolving a channel order's lines.
pub(super) enum ResolvedLines {
    /// All lines are resolved; contains the order as it will be created.
    Known(Box<SoldOrder>),
    /// Information is missing, or a problem blocks the order.
    Lacks {
        /// Variants without an entry in the variant map.
        missing: Vec<String>,
        /// Human-readable description of any other problem that blocks the order, if any.
        problem: Option<String>,
    },
}

fn blocked(words: impl Into<String>) -> ResolvedLines {
    ResolvedLines::Lacks { missing: Vec::new(), problem: Some(words.into()) }
}

/// Returns the names of the sold variants that have no entry in the sales channel's variant map, without duplicates.
fn missing_names(channel: &SalesChannel, content: &SoldContent) -> Vec<String> {
    let mut missing: Vec<String> = Vec::new();
    for sold in &content.lines {
        let label = sold.primary_name();
        if channel.mapped(sold).is_none() && !missing.contains(&label) {
            missing.push(label);
        }
    }
    missing
}

/// Returns the reference from a new order to its channel order, with no reported shipments yet.
fn channel_origin(
    channel: &SalesChannel,
    record: &ChannelOrder,
    content: &SoldContent,
    lines: u32,
    rounding_cents: i64,
) -> ChannelOrigin {
    ChannelOrigin {
        channel_order_id: record.id,
        channel_id: channel.id,
        number: record.number.clone(),
        lines,
        shipping_tax_rate_bps: content.shipping_tax_rate_bps,
        rounding_cents,
        tells_customer: channel_type(&channel.kind).is_some_and(|kind| kind.connect.is_some())
            && channel.base_url.is_some(),
        told_shipments: 0,
        told_last: false,
    }
}

impl ChannelOrderEffects {
    /// Resolves a channel order's lines with the sales channel's variant map.
    pub(super) async fn look_up(&self, record: &ChannelOrder) -> Result<ResolvedLines, LoadError> {
        let state = self.channels.read(record.channel_id).await?;
        let Some(channel) = state.as_ref().and_then(|state| state.state.as_ref()) else {
            return Ok(blocked("its sales channel was deleted"));
        };
        let Some(content) = &record.content else { return Ok(blocked("its contents could not be read")) };
        let entries: Vec<_> = content.lines.iter().map(|sold| channel.mapped(sold).cloned()).collect();
        let missing = missing_names(channel, content);
        if !missing.is_empty() {
            return Ok(ResolvedLines::Lacks { missing, problem: None });
        }
        if content.currency != channel.currency {
            let (there, ours) = (content.currency.to_uppercase(), channel.currency.to_uppercase());
            return Ok(blocked(format!("it was paid in {there}, but the channel is set up for {ours}")));
        }
        let Some(costs) = amounts(content) else {
            return Ok(blocked("its prices, discounts and taxes do not add up to the amount paid"));
        };
        let (mut lines, mut parts) = (Vec::with_capacity(entries.len()), Vec::new());
        let sold = content.lines.iter().zip(&costs.unit_prices).zip(entries.into_iter().flatten());
        for (at, ((sold, price), entry)) in sold.enumerate() {
            let state = self.sources.skus.read(entry.sku_id).await?;
            let sku = state.as_ref().and_then(|state| state.present());
            let Some(sku) = sku else {
                return Ok(blocked(format!("the SKU mapped to {} was deleted", sold.primary_name())));
            };
            let plain = !sku.fields.is_kit() && entry.quantity == 1;
            lines.push(OrderLine {
                sku_id: sku.id,
                quantity: sold.quantity,
                unit_price_cents: *price,
                description: sold.title.clone(),
                tax_rate_bps: sold.tax_rate_bps,
                make: if plain { self.sources.make(sku).await? } else { None },
                kit_line: None,
                per_set: None,
            });
            if plain {
                continue;
            }
            match self.parts(sku, entry.quantity, sold.quantity, at).await? {
                Ok(of_it) => parts.extend(of_it),
                Err(words) => return Ok(blocked(words)),
            }
        }
        let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        lines.extend(parts);
        let sold = channel_origin(channel, record, content, count, costs.rounding_cents);
        Ok(ResolvedLines::Known(Box::new(SoldOrder {
            new: new_order(channel, record, content, lines),
            sold,
            shipping_cents: costs.shipping_cents,
            discount_cents: costs.discount_cents,
            total_cents: content.total_cents,
        })))
    }

    /// Returns the parts of a line that sells a set or a kit. The inner error explains why the parts cannot be
    /// determined.
    async fn parts(
        &self,
        sku: &Sku,
        per_unit: u32,
        units: u32,
        at: usize,
    ) -> Result<Result<Vec<OrderLine>, String>, LoadError> {
        let of_kit = sku.fields.components.iter().map(|part| (part.sku_id, part.quantity));
        let components: Vec<(Id, u32)> = if sku.fields.is_kit() { of_kit.collect() } else { vec![(sku.id, 1)] };
        let mut parts = Vec::with_capacity(components.len());
        for (id, quantity) in components {
            let state = self.sources.skus.read(id).await?;
            let part = state.as_ref().and_then(|state| state.state.as_ref());
            let Some(part) = part.filter(|part| !part.archived && !part.fields.is_kit()) else {
                return Ok(Err(format!("a component of {} was deleted or has become a kit", sku.fields.name)));
            };
            let per_set = quantity.checked_mul(per_unit);
            let all = per_set.and_then(|per_set| per_set.checked_mul(units)).filter(|all| *all <= MAX_QUANTITY);
            let (Some(per_set), Some(all)) = (per_set, all) else {
                return Ok(Err(format!("it contains too many units of {}", part.fields.name)));
            };
            parts.push(OrderLine {
                sku_id: id,
                quantity: all,
                unit_price_cents: 0,
                description: part.fields.name.clone(),
                tax_rate_bps: 0,
                make: self.sources.make(part).await?,
                kit_line: u32::try_from(at).ok(),
                per_set: Some(per_set),
            });
        }
        Ok(Ok(parts))
    }
}

fn new_order(channel: &SalesChannel, record: &ChannelOrder, content: &SoldContent, lines: Vec<OrderLine>) -> NewOrder {
    let to = content.recipient.as_ref().map(|name| format!("; to {name}")).unwrap_or_default();
    NewOrder {
        kind: OrderKind::Catalog,
        site: Some(channel.site.clone()),
        made_by: None,
        customer_id: record.customer_id,
        customer_email: content.customer_email.clone(),
        buyer: content.recipient.as_ref().map(|name| Party {
            name: name.clone(),
            email: content.customer_email.clone(),
            ..Party::default()
        }),
        lines,
        currency: content.currency.clone(),
        notes: content.notes.clone(),
        internal_notes: Some(format!("{} {}{to}", channel.name, record.number)),
        shipping_address: content.address.clone(),
        priority: None,
        due_at: None,
        draft: false,
        own_use: false,
    }
}
