//! Placing and editing an order. Prices, tax and shipping are frozen when the order is created.

use std::collections::BTreeMap;

use super::change::OrderChange;
use super::parts::plate_parts;
use super::{Address, AgreedTerms, MAX_LINES, NewOrder, Order, OrderAnswer, OrderLine, OrderStatus};
use crate::aggregate::{Decision, DecisionContext, NumberSeries};
use crate::id::Id;
use crate::ledger::flag_money;
use crate::principal::{Principal, Role};
use crate::refusal::{Class, Faults, Refusal};
use crate::region::region_code;
use crate::requirement::{Referenced, Requirement};
use crate::rules::Rules;
use crate::tax::{tax_bps, tax_of};
use crate::time::Timestamp;

/// Default priority of an order, on the scale 0 to 9.
pub(super) const DEFAULT_PRIORITY: u8 = 5;

/// Returns the number of jobs that a line creates: one per plate, including a partly filled one.
pub(super) fn plates(line: &OrderLine) -> u32 {
    if line.make.is_none() { 0 } else { line.quantity.div_ceil(plate_parts(line)) }
}

/// Returns the address with its region as an ISO 3166-2 code, if the region is known.
pub(super) fn with_region_code(address: &Address) -> Address {
    let region = address.region.as_deref().map(|region| region_code(&address.country, region));
    Address { region: region.filter(|region| !region.is_empty()), ..address.clone() }
}

/// Returns the subtotal of the lines and the total tax, in minor units. Returns `None` on overflow. The tax is rounded
/// once per rate, over the sum of all amounts with that rate; shipping is taxed at the destination's rate.
fn sums(lines: &[OrderLine], shipping_cents: i64, shipping_bps: i64) -> Option<(i64, i64)> {
    let mut nets = BTreeMap::from([(shipping_bps, shipping_cents)]);
    let mut subtotal = 0i64;
    for line in lines {
        let net = line.unit_price_cents.checked_mul(i64::from(line.quantity))?;
        subtotal = subtotal.checked_add(net)?;
        let of_rate = nets.entry(line.tax_rate_bps).or_default();
        *of_rate = of_rate.checked_add(net)?;
    }
    let tax = nets.into_iter().try_fold(0i64, |tax, (bps, net)| tax.checked_add(tax_of(net, bps)?))?;
    Some((subtotal, tax))
}

/// Error message for rejecting a due date in the past.
const PAST_FAULT: &str = "must not be in the past";

/// Returns whether a due date is in the future or absent.
pub(super) fn is_ahead(cx: &DecisionContext<'_>, due_at: Option<Timestamp>) -> bool {
    due_at.is_none_or(|due_at| due_at > cx.now)
}

/// Rejects a changed due date that has already passed.
pub(super) fn check_due(
    cx: &DecisionContext<'_>,
    new: Option<Option<Timestamp>>,
    old: Option<Timestamp>,
) -> Result<(), Refusal> {
    match new {
        Some(due_at) if due_at != old && !is_ahead(cx, due_at) => Err(Refusal::field("dueAt", PAST_FAULT)),
        _ => Ok(()),
    }
}

pub(super) fn check_new(new: &NewOrder, rules: &Rules, now: Timestamp) -> Result<(), Refusal> {
    let mut faults = Faults::default();
    faults.check(new.due_at.is_none_or(|due_at| due_at > now), "dueAt", PAST_FAULT);
    faults.check(!new.lines.is_empty(), "lines", "must have at least one line");
    for (n, line) in new.lines.iter().enumerate() {
        faults.check(line.quantity >= 1, &format!("lines.{n}.quantity"), "must be at least 1");
        faults.check(line.unit_price_cents >= 0, &format!("lines.{n}.unitPriceCents"), "must not be negative");
    }
    faults.check(new.priority.unwrap_or(DEFAULT_PRIORITY) <= 9, "priority", "must be from 0 to 9");
    let count = new.lines.len();
    faults.check(
        count <= MAX_LINES,
        "lines",
        format!("has {count} lines, including the parts of kits; an order can have at most {MAX_LINES}"),
    );
    let jobs: u64 = new.lines.iter().map(|line| u64::from(plates(line))).sum();
    let most = rules.max_jobs;
    faults.check(
        jobs <= u64::from(most),
        "lines",
        format!("would create {jobs} jobs; an order can have at most {most}"),
    );
    faults.refuse()
}

/// Returns the email address of a new order's customer. A customer, or an API key that belongs to one, may order only
/// for that customer; any other email address is rejected.
fn customer_email(by: &Principal, requested: Option<&String>) -> Result<Option<String>, Refusal> {
    let requested = requested.map(|email| email.trim().to_lowercase());
    match by {
        Principal::Customer { email: own, .. }
        | Principal::Key { role: Role::Customer, customer_email: Some(own), .. } => match requested {
            Some(requested) if requested != *own => {
                Err(Refusal::forbidden("forbidden", "this key belongs to another customer; omit customerEmail"))
            }
            _ => Ok(Some(own.clone())),
        },
        _ => Ok(requested),
    }
}

/// Applies the tax rate to the lines. Returns the lines, the subtotal, the tax and the total, in minor units.
fn priced(lines: &[OrderLine], bps: i64, shipping: i64) -> Result<(Vec<OrderLine>, i64, i64, i64), Refusal> {
    let lines: Vec<OrderLine> = lines.iter().map(|line| OrderLine { tax_rate_bps: bps, ..line.clone() }).collect();
    let (subtotal, tax, total) = sums(&lines, shipping, bps)
        .and_then(|(subtotal, tax)| Some((subtotal, tax, subtotal.checked_add(tax)?.checked_add(shipping)?)))
        .ok_or_else(|| Refusal::field("lines", "the total is too large; split the order"))?;
    Ok((lines, subtotal, tax, total))
}

impl NewOrder {
    /// Checks in advance whether the order would be created, so that related records, such as the customer's, are not
    /// created for an order that is rejected.
    ///
    /// # Errors
    ///
    /// Returns all errors in the order's lines together, as on creation.
    pub fn judge(&self, by: &Principal, rules: &Rules, now: Timestamp) -> Result<(), Refusal> {
        check_new(self, rules, now)?;
        customer_email(by, self.customer_email.as_ref())?;
        priced(&self.lines, tax_bps(rules, self.shipping_address.as_ref()), rules.shipping_flat_cents).map(drop)
    }
}

/// Returns the order as requested, but without the customer's email address, the lines and all amounts.
pub(super) fn blank(id: Id, cx: &DecisionContext<'_>, new: &NewOrder) -> Order {
    Order {
        id,
        number: cx.ids.number(NumberSeries::Order),
        revision: 0,
        kind: new.kind,
        status: if new.draft { OrderStatus::Draft } else { OrderStatus::Created },
        site: new.site.clone().unwrap_or_else(|| cx.rules.site.clone()),
        made_by: new.made_by,
        customer_id: new.customer_id,
        customer_email: None,
        buyer: new.buyer.clone(),
        lines: Vec::new(),
        currency: new.currency.to_lowercase(),
        subtotal_cents: 0,
        shipping_cents: 0,
        tax_cents: 0,
        discount_cents: 0,
        total_cents: 0,
        notes: new.notes.clone(),
        internal_notes: new.internal_notes.clone(),
        shipping_address: new.shipping_address.as_ref().map(with_region_code),
        priority: new.priority.unwrap_or(DEFAULT_PRIORITY),
        due_at: new.due_at,
        promise: None,
        late_since: None,
        shipment: None,
        shipments: Vec::new(),
        flags: Vec::new(),
        ledger: Default::default(),
        invoice: None,
        invoice_waits: false,
        sold: None,
        created_at: cx.now,
        paid_at: None,
        updated_at: cx.now,
        jobs: Default::default(),
        has_traced_departures: false,
    }
}

/// Creates the order, placed or as a draft. All errors in its lines are reported together.
pub(super) fn create(
    id: Id,
    cx: &DecisionContext<'_>,
    new: &NewOrder,
    agreed: Option<&AgreedTerms>,
) -> Result<Decision<Order, OrderAnswer>, Refusal> {
    check_new(new, cx.rules, cx.now)?;
    let customer_email = customer_email(cx.by, new.customer_email.as_ref())?;
    let bps = agreed.map_or_else(|| tax_bps(cx.rules, new.shipping_address.as_ref()), |agreed| agreed.tax_rate_bps);
    let shipping = match agreed {
        Some(agreed) => agreed.shipping_cents,
        None if new.own_use => 0,
        None => cx.rules.shipping_flat_cents,
    };
    let (lines, subtotal, tax, total) = priced(&new.lines, bps, shipping)?;
    let order = Order {
        customer_email,
        lines,
        subtotal_cents: subtotal,
        shipping_cents: shipping,
        tax_cents: tax,
        total_cents: total,
        ..blank(id, cx, new)
    };
    let mut change = OrderChange::of(cx, order);
    change.event(if new.draft { "order.draft" } else { "order.created" });
    if new.own_use && total == 0 && !new.draft {
        change.become_paid();
    }
    Ok(change.order_done().requires(new.lines.iter().enumerate().flat_map(|(n, line)| named(n, line))))
}

/// Returns the requirements that a line's SKU, materials and file have not been deleted. Errors in parts of a kit are
/// reported on the kit's own line.
pub(super) fn named(n: usize, line: &OrderLine) -> impl Iterator<Item = Requirement> + use<> {
    let n = line.kit_line.map_or(n, |kit| kit as usize);
    let made_of = line.make.iter().flat_map(|make| {
        let file = make.file_id.or(make.source.as_ref().map(|source| source.model_file_id));
        let file = file.map(|file| (Referenced::File, file));
        make.materials().map(|id| (Referenced::Material, id)).chain(file)
    });
    let sku = (!line.is_service()).then_some((Referenced::Sku, line.sku_id));
    let named: Vec<_> = sku.into_iter().chain(made_of).collect();
    named.into_iter().map(move |(what, id)| Requirement::not_deleted(what, id, format!("lines.{n}.skuId")))
}

/// Fields that an update may change: `None` leaves a field unchanged, an inner `None` clears it.
pub(super) struct OrderFieldsPatch<'a> {
    pub(super) notes: Option<&'a Option<String>>,
    pub(super) internal_notes: Option<&'a Option<String>>,
    pub(super) priority: Option<u8>,
    pub(super) due_at: Option<Option<Timestamp>>,
    pub(super) shipping_address: Option<&'a Option<Address>>,
}

impl OrderChange<'_> {
    /// Rejects payment of a draft until its destination, and thus its tax, is known. Orders that were placed, partly
    /// paid or invoiced have a fixed price, even without a destination; prices in a quote were agreed with the
    /// customer.
    pub(super) fn check_destination(&self) -> Result<(), Refusal> {
        let order = &self.order;
        if order.shipping_address.is_some() || !order.is_unpriced() || self.cx.rules.tax_rates.is_empty() {
            return Ok(());
        }
        let words = "the tax depends on the destination; add a shipping address to the profile";
        Err(Refusal::new(Class::Invalid, "address_required", words))
    }

    /// Applies the given tax rate to all lines and to shipping.
    fn tax_anew(&mut self, bps: i64) -> Result<(), Refusal> {
        let (lines, subtotal, tax, total) = priced(&self.order.lines, bps, self.order.shipping_cents)?;
        let head = self.head();
        head.lines = lines;
        (head.subtotal_cents, head.tax_cents, head.total_cents) = (subtotal, tax, total);
        self.edit_ledger(flag_money);
        Ok(())
    }

    /// Places a draft: draft → created. An order with a total of zero becomes paid immediately, without an invoice, so
    /// that no invoice number is wasted.
    pub(super) fn confirm(mut self) -> Result<Decision<Order, OrderAnswer>, Refusal> {
        match self.order.status {
            OrderStatus::Draft => self.status(OrderStatus::Created, Some("order.created")),
            OrderStatus::Created if self.order.total_cents == 0 => {}
            status => return Err(Refusal::transition("the order cannot be confirmed", status)),
        }
        if self.order.total_cents == 0 {
            self.become_paid();
        }
        Ok(self.order_done())
    }

    /// Edits the order; its unfinished jobs adopt a new priority and due date.
    pub(super) fn update(mut self, patch: &OrderFieldsPatch<'_>) -> Result<Decision<Order, OrderAnswer>, Refusal> {
        if patch.priority.is_some_and(|priority| priority > 9) {
            return Err(Refusal::field("priority", "must be from 0 to 9"));
        }
        check_due(self.cx, patch.due_at, self.order.due_at)?;
        if let Some(address) = patch.shipping_address.map(|address| address.as_ref().map(with_region_code))
            && address != self.order.shipping_address
        {
            // The tax was computed when the order was made, so a destination with another rate would make it wrong.
            if !self.order.status.payable() {
                return Err(Refusal::transition("the order's address cannot be changed", self.order.status));
            }
            let frozen = self.order.lines.first().map_or(0, |line| line.tax_rate_bps);
            let bps = tax_bps(self.cx.rules, address.as_ref());
            // Nobody was told yet what a draft costs there.
            if bps != frozen && self.order.is_unpriced() && self.order.shipping_address.is_none() {
                self.tax_anew(bps)?;
            } else if bps != frozen {
                return Err(Refusal::conflict(
                    "tax_differs",
                    "the new destination has another tax rate; place a new order",
                ));
            }
            self.head().shipping_address = address;
        }
        if let Some(notes) = patch.notes
            && *notes != self.order.notes
        {
            self.head().notes.clone_from(notes);
        }
        if let Some(notes) = patch.internal_notes
            && *notes != self.order.internal_notes
        {
            self.head().internal_notes.clone_from(notes);
        }
        let priority = patch.priority.unwrap_or(self.order.priority);
        let due_at = patch.due_at.unwrap_or(self.order.due_at);
        if (priority, due_at) != (self.order.priority, self.order.due_at) {
            let head = self.head();
            (head.priority, head.due_at) = (priority, due_at);
        }
        if patch.priority.is_some() || patch.due_at.is_some() {
            let open: Vec<Id> = self.order.jobs.values().filter(|job| !job.over()).map(|job| job.id).collect();
            for id in open {
                self.rank(id, patch.priority, patch.due_at);
            }
        }
        Ok(self.order_done())
    }
}
