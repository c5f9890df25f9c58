//! Places orders: looks up SKUs, materials and files, and copies their data into the order's lines.

use api_derive::Request;
use axum::extract::State;
use serde_json::{Value, json};

use super::orders::operations::OrderOutcome;
use super::orders::site::{Site, SiteHeader};
use super::orders::{self, OrderHandles, OwnedOrderReply, PRIORITY, reply_after};
use super::skus::{self, sold};
use crate::production::customers::customer_of;
use domain::access::normal_email;
use domain::bounds::MAX_QUANTITY;
use domain::customer::Customer;
use domain::id::Id;
use domain::order::{Address, NewOrder, OrderCommand, OrderKind, OrderLine, ProductionData};
use domain::party::Party;
use domain::refusal::{Faults, Refusal};
use domain::sku::{Component, Sku};
use domain::time::Timestamp;
use http::access::Caller;
use http::command_request::{CommandRequest, CommandTarget};
use http::error::ApiError;
use http::openapi::shape::{Shape, email};
use http::page::Query;
use http::reply::Created;
use http::wire::{FromJson, ItemsWithin, MaxChars, Optional, ToSchema, ValuePath, Within};
use kernel::directory::Directory;
use store::queries::OwnOrders;

/// Maximum number of lines per order, because an order is held in memory and written as a whole.
pub const MAX_LINES: usize = 50;

/// Order to place.
#[derive(Request, Debug)]
#[api(name = "NewOrder", example = json!({
    "lines": [{"skuId": skus::EXAMPLE_ID, "quantity": 2}], "customerEmail": "buyer@example.org",
    "shippingAddress": {"line1": "1 Main Street", "city": "Springfield", "postalCode": "62701", "country": "US"},
}))]
pub struct OrderRequest {
    /// Ordered items, one line for each SKU.
    #[api(ItemsWithin(1..=MAX_LINES))]
    lines: Vec<NewOrderLine>,
    /// Email address of the customer.
    customer_email: Option<CustomerEmail>,
    /// Notes from the customer; visible to the customer.
    #[api(MaxChars(1000))]
    notes: Option<String>,
    /// Internal notes, not visible to customers; can be set by staff only.
    #[api(MaxChars(1000))]
    internal_notes: Option<String>,
    /// Priority; jobs with a higher number are printed first. Can be set by staff only.
    #[api(PRIORITY)]
    priority: Optional<u8>,
    /// Time by which the order should be completed; can be set by staff only.
    due_at: Option<Timestamp>,
    /// Shipping address; shipping and tax may depend on it.
    shipping_address: Option<Address>,
    /// Site that the order belongs to; takes precedence over the query and the header.
    site: Option<Site>,
}

/// Ordered SKU with its quantity.
#[derive(Request, Debug)]
#[api(example = json!({"skuId": skus::EXAMPLE_ID, "quantity": 2}))]
pub struct NewOrderLine {
    /// SKU to make.
    pub sku_id: Id,
    /// Number of parts.
    #[api(Within(1..=MAX_QUANTITY))]
    pub quantity: u32,
}

/// Email address, trimmed and in lowercase.
#[derive(Debug)]
struct CustomerEmail(String);

impl ToSchema for CustomerEmail {
    fn schema() -> Shape {
        email()
    }
}

impl FromJson for CustomerEmail {
    type Inner = Self;
    fn from_json(value: Value, place: &ValuePath<'_>, faults: &mut Faults) -> Option<Self> {
        let text = String::from_json(value, place, faults)?;
        normal_email(&text).map_or_else(|_| place.fault(faults, "must be an email address"), |email| Some(Self(email)))
    }
    fn inner(&self) -> Option<&Self> {
        Some(self)
    }
}

/// Query parameters for placing an order.
#[derive(Request, Debug)]
pub struct PlaceQuery {
    /// Site of the order; the body takes precedence.
    site: Option<Site>,
}

/// Places an order. `site` is the site to which it belongs if the request does not name another one.
pub async fn place_order(
    app: &OrderHandles,
    site: Option<Site>,
    call: &CommandRequest<OrderRequest>,
) -> Result<OrderOutcome, ApiError> {
    let command = async {
        let new = call.read_body()?;
        let (lines, currency) = look_up(app, call.who.is_customer(), &new.lines).await?;
        let customer = call.who.is_customer();
        // When and how soon is the shop's to say.
        if customer && (new.priority.is_present() || new.due_at.is_some() || new.internal_notes.is_some()) {
            return Err(ApiError::forbidden("forbidden", "only staff can set priority, dueAt and internalNotes"));
        }
        let customer_email = new.customer_email.map(|email| email.0);
        let order = NewOrder {
            kind: if customer { OrderKind::Catalog } else { OrderKind::Manual },
            site: new.site.or(site).map(|site| site.0),
            made_by: call.who.maker(),
            customer_email: customer_email.clone(),
            lines,
            currency,
            notes: new.notes,
            internal_notes: new.internal_notes,
            shipping_address: new.shipping_address,
            priority: new.priority.present(),
            due_at: new.due_at,
            draft: false,
            own_use: false,
            customer_id: None,
            buyer: None,
        };
        // An order that is refused leaves no customer behind.
        order.judge(&call.who.by, &app.environment.rules, app.environment.now())?;
        let customer_id = customer_record(app, call, customer_email.as_deref()).await?;
        let buyer = buyer_of(&app.customers, customer_id).await?;
        Ok(OrderCommand::Create(Box::new(NewOrder { customer_id, buyer, ..order })))
    };
    call.ask_with(&app.orders, CommandTarget::New, command).await
}

/// Handles `POST /api/orders`: places an order.
pub(super) async fn create(
    State(app): State<OrderHandles>,
    Query(query): Query<PlaceQuery>,
    SiteHeader(header): SiteHeader,
    call: CommandRequest<OrderRequest>,
) -> Result<Created<OwnedOrderReply>, ApiError> {
    let done = place_order(&app, query.site.or(header), &call).await?;
    Ok(Created::under(orders::PATH, &done, reply_after(&app, &call.who, &done).await?))
}

/// Returns the customer record for an order, creating it if this is the customer's first order. A customer's API key
/// can place orders only for that customer.
async fn customer_record(
    app: &OrderHandles,
    call: &CommandRequest<OrderRequest>,
    requested_email: Option<&str>,
) -> Result<Option<Id>, ApiError> {
    let email = match call.who.own() {
        Some(OwnOrders { customer_email: Some(own), .. }) => Some(own),
        _ => requested_email.map(str::to_owned),
    };
    match email {
        Some(email) => customer_of(&app.queries, &app.customers, call.origin(), &email).await.map(Some),
        None => Ok(None),
    }
}

/// Returns the buyer to name on the invoice for a customer's order, from the customer's current profile.
pub async fn buyer_of(customers: &Directory<Customer>, id: Option<Id>) -> Result<Option<Party>, ApiError> {
    let Some(id) = id else { return Ok(None) };
    let state = customers.read(id).await?;
    Ok(state.as_ref().and_then(|state| state.state.as_ref()).map(Customer::buyer))
}

/// Builds the command for ordering one unit of a SKU for the shop's own use.
pub(super) async fn own_use(
    app: &OrderHandles,
    who: &Caller,
    sku: Id,
    notes: String,
) -> Result<OrderCommand, ApiError> {
    let (lines, currency) = look_up(app, who.is_customer(), &[NewOrderLine { sku_id: sku, quantity: 1 }]).await?;
    Ok(OrderCommand::Create(Box::new(NewOrder {
        kind: OrderKind::Manual,
        site: None,
        made_by: who.maker(),
        customer_email: None,
        buyer: None,
        lines,
        currency,
        notes: None,
        internal_notes: Some(notes),
        shipping_address: None,
        priority: None,
        due_at: None,
        draft: false,
        own_use: true,
        customer_id: None,
    })))
}

/// Results of looking up an order's SKUs.
struct SkuLookup<'a> {
    app: &'a OrderHandles,
    customer: bool,
    faults: Faults,
    /// Reason a customer cannot place the order, for the first line affected.
    not_orderable: Option<String>,
}

impl SkuLookup<'_> {
    /// Looks up the files and materials from which a SKU is made. Customers can only order SKUs that have a file; staff
    /// can order earlier, in which case the jobs are on hold until there is a file.
    async fn make(&mut self, sku: &Sku, path: &str) -> Result<Option<ProductionData>, ApiError> {
        if self.customer && !sku.fields.orderable() {
            let name = &sku.fields.name;
            let words = || format!("{path}: {name} cannot be ordered yet, because it has no file to print");
            self.not_orderable.get_or_insert_with(words);
        }
        Ok(self.app.sources.make(sku).await?)
    }

    /// Returns the order lines for the parts of a kit. Their price is 0, because the kit's own line carries the price.
    async fn parts(&mut self, kit: &Sku, at: usize, sets: u32, path: &str) -> Result<Vec<OrderLine>, ApiError> {
        let mut parts = Vec::with_capacity(kit.fields.components.len());
        for Component { sku_id, quantity } in &kit.fields.components {
            let state = self.app.skus.read(*sku_id).await?;
            let sku = state.as_ref().and_then(|state| state.state.as_ref());
            let Some(sku) = sku.filter(|sku| !sku.archived && !sku.fields.is_kit()) else {
                self.faults.check(false, path, "a component of this kit was deleted or has become a kit");
                continue;
            };
            let name = &sku.fields.name;
            self.faults.check(sku.fields.active, path, format!("its component {name} is not active"));
            let count = sets.checked_mul(*quantity).filter(|count| *count <= MAX_QUANTITY);
            self.faults.check(
                count.is_some(),
                path,
                format!("has too many parts of {name}; at most {MAX_QUANTITY} are allowed"),
            );
            parts.push(OrderLine {
                sku_id: *sku_id,
                quantity: count.unwrap_or(1),
                unit_price_cents: 0,
                description: name.clone(),
                tax_rate_bps: 0,
                make: self.make(sku, path).await?,
                kit_line: u32::try_from(at).ok(),
                per_set: Some(*quantity),
            });
        }
        Ok(parts)
    }
}

/// Returns the order lines, with everything that their jobs will need: the lines of the ordered items, followed by
/// those of kit parts. Also returns the currency that all lines share. A `customer` can only order SKUs that are
/// offered to the public and can already be produced.
pub async fn look_up(
    app: &OrderHandles,
    customer: bool,
    wished: &[NewOrderLine],
) -> Result<(Vec<OrderLine>, String), ApiError> {
    let mut look = SkuLookup { app, customer, faults: Faults::default(), not_orderable: None };
    let (mut lines, mut parts, mut currency) = (Vec::with_capacity(wished.len()), Vec::new(), None::<String>);
    for (at, NewOrderLine { sku_id, quantity }) in wished.iter().enumerate() {
        let path = format!("lines.{at}.skuId");
        let state = app.skus.read(*sku_id).await?;
        let sku = state.as_ref().and_then(|state| state.state.as_ref());
        let Some(sku) = sku.filter(|sku| !sku.archived && (!customer || sold(sku))) else {
            look.faults.check(false, &path, "no such SKU");
            continue;
        };
        look.faults.check(sku.fields.active, &path, "this SKU is not active");
        let same = currency.get_or_insert_with(|| sku.fields.currency.clone()) == &sku.fields.currency;
        look.faults.check(same, &path, "its currency differs from the currency of the other lines");
        let make = if sku.fields.is_kit() {
            parts.extend(look.parts(sku, at, *quantity, &path).await?);
            None
        } else {
            look.make(sku, &path).await?
        };
        lines.push(OrderLine {
            sku_id: *sku_id,
            quantity: *quantity,
            unit_price_cents: sku.fields.price_cents,
            description: sku.fields.name.clone(),
            tax_rate_bps: 0,
            make,
            kit_line: None,
            per_set: None,
        });
    }
    look.faults.refuse()?;
    if let Some(words) = look.not_orderable {
        return Err(ApiError::conflict("not_orderable", words));
    }
    lines.extend(parts);
    Ok((lines, currency.ok_or_else(|| Refusal::field("lines", "at least one line is required"))?))
}
