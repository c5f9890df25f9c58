//! Requests to the invoice routes.

use api_derive::Request;
use serde_json::json;

use super::super::orders::site::Site;
use domain::bounds::{MAX_CENTS, MAX_QUANTITY};
use domain::id::Id;
use domain::invoice::{DraftInvoice, Invoice, InvoiceLine, InvoiceStatus, MAX_LINES, Party};
use domain::order::Address;
use domain::time::Timestamp;
use http::page::PageQuery;
use http::wire::{EmailAddress, Filled, ItemsWithin, MaxChars, ONE_LINE, Optional, Within, like};

/// Maximum tax rate in basis points: 100 %.
const MAX_RATE_BPS: i64 = 10_000;

like!(CURRENCY, "^[A-Za-z]{3}$", "must be a three-letter currency code");
like!(VAT_ID, "^[A-Za-z]{2}[A-Za-z0-9+*.]{2,13}$", "must start with the country code");

/// Filter for the list of invoices.
#[derive(Request, Debug)]
pub struct InvoiceQuery {
    /// Return only invoices with the given displayed status. Overdue invoices have the status `overdue`, not `open`.
    pub(super) status: Option<InvoiceStatus>,
    /// Return only invoices that belong to the given site.
    pub(super) site: Option<Site>,
    /// Return only invoices for the customer with the given email address.
    pub(super) customer_email: Option<String>,
    /// Return only invoices for the given order.
    pub(super) order_id: Option<Id>,
    #[api(flatten)]
    pub(super) page: PageQuery,
}

/// Line of an invoice draft.
#[derive(Request, Clone, Debug)]
#[api(example = json!({"description": "Design, one hour", "quantity": 2, "unitPriceCents": 6000}))]
pub struct NewInvoiceLine {
    /// Description of the product or service.
    #[api(Filled, ONE_LINE, MaxChars(500))]
    description: String,
    /// Number of units.
    #[api(Within(1..=MAX_QUANTITY))]
    quantity: u32,
    /// Net unit price, in the currency's smallest unit.
    #[api(Within(0..=MAX_CENTS))]
    unit_price_cents: i64,
    /// Tax rate, in basis points. Defaults to the rate for the billing address.
    #[api(Within(0..=MAX_RATE_BPS))]
    tax_rate_bps: Optional<i64>,
}

/// New invoice draft.
#[derive(Request, Clone, Debug)]
#[api(name = "NewInvoice", example = json!({
    "customerName": "Ann Example", "customerEmail": "ann@example.org",
    "lineItems": [{"description": "Design, one hour", "quantity": 2, "unitPriceCents": 6000}],
}))]
pub struct InvoiceRequest {
    /// Name of the customer: a person or a company.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    customer_name: String,
    /// Email address of the customer. The invoice appears in the customer account that has this address.
    #[api(EmailAddress)]
    customer_email: Option<String>,
    /// VAT ID of the customer's business.
    #[api(&VAT_ID)]
    customer_vat_id: Option<String>,
    /// Billing address, which determines the tax rate.
    billing_address: Option<Address>,
    /// Lines of the invoice.
    #[api(ItemsWithin(1..=MAX_LINES))]
    line_items: Vec<NewInvoiceLine>,
    /// Shipping charge, in the currency's smallest unit; taxed at the rate for the billing address.
    #[api(Within(0..=MAX_CENTS), default = 0)]
    shipping_cents: i64,
    /// Discount on the lines, in the currency's smallest unit.
    #[api(Within(0..=MAX_CENTS), default = 0)]
    discount_cents: i64,
    /// Three-letter ISO 4217 currency code. Defaults to the shop's currency.
    #[api(&CURRENCY)]
    currency: Option<String>,
    /// Due date. Defaults to the configured number of days after issue.
    due_at: Option<Timestamp>,
    /// Notes shown to the customer.
    #[api(MaxChars(1000))]
    notes: Option<String>,
    /// Site that the invoice belongs to; overrides the site header.
    site: Option<Site>,
}

/// Changes to a draft invoice. Omitted fields are left unchanged; lines are replaced as a whole.
#[derive(Request, Clone, Debug)]
#[api(name = "InvoiceChange", example = json!({"discountCents": 500}))]
pub struct InvoicePatch {
    /// Name of the customer: a person or a company.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    customer_name: Optional<String>,
    /// Email address of the customer.
    #[api(EmailAddress)]
    customer_email: Optional<Option<String>>,
    /// VAT ID of the customer's business.
    #[api(&VAT_ID)]
    customer_vat_id: Optional<Option<String>>,
    /// Billing address. Existing lines keep their tax rates.
    billing_address: Optional<Option<Address>>,
    /// Lines of the invoice.
    #[api(ItemsWithin(1..=MAX_LINES))]
    line_items: Optional<Vec<NewInvoiceLine>>,
    /// Shipping charge, in the currency's smallest unit.
    #[api(Within(0..=MAX_CENTS))]
    shipping_cents: Optional<i64>,
    /// Discount on the lines, in the currency's smallest unit.
    #[api(Within(0..=MAX_CENTS))]
    discount_cents: Optional<i64>,
    /// Due date.
    due_at: Optional<Option<Timestamp>>,
    /// Notes shown to the customer.
    #[api(MaxChars(1000))]
    notes: Optional<Option<String>>,
}

impl NewInvoiceLine {
    /// Returns the line, and whether its tax rate was specified.
    fn line(self) -> (InvoiceLine, bool) {
        let rate = self.tax_rate_bps.present();
        let Self { description, quantity, unit_price_cents, .. } = self;
        let line = InvoiceLine { description, quantity, unit_price_cents, tax_rate_bps: rate.unwrap_or(0) };
        (line, rate.is_some())
    }
}

fn lower(email: Option<String>) -> Option<String> {
    email.map(|email| email.trim().to_lowercase())
}

impl InvoiceRequest {
    /// Converts the request to a draft.
    pub(super) fn draft(self) -> DraftInvoice {
        let email = lower(self.customer_email);
        DraftInvoice {
            buyer: Party {
                name: self.customer_name,
                address: self.billing_address,
                vat_id: self.customer_vat_id.map(|id| id.to_uppercase()),
                email: email.clone(),
                ..Party::default()
            },
            customer_email: email,
            site: self.site.map(|site| site.0),
            currency: self.currency.map(|currency| currency.to_lowercase()),
            lines: self.line_items.into_iter().map(NewInvoiceLine::line).collect(),
            shipping_cents: self.shipping_cents,
            discount_cents: self.discount_cents,
            due_at: self.due_at,
            notes: self.notes,
        }
    }
}

impl InvoicePatch {
    /// Returns the customer's email address in the patch; `None` if the patch leaves it as it is.
    pub(super) fn email(&self) -> Option<Option<String>> {
        self.customer_email.clone().present().map(lower)
    }

    /// Merges the patch into the invoice and returns the resulting draft.
    pub(super) fn merged(self, invoice: &Invoice) -> DraftInvoice {
        let content = &invoice.content;
        let email = self.customer_email.present().map_or_else(|| invoice.customer_email.clone(), lower);
        let own = || content.lines.iter().map(|line| (line.clone(), true)).collect();
        let lines_of = |lines: Vec<NewInvoiceLine>| lines.into_iter().map(NewInvoiceLine::line).collect();
        DraftInvoice {
            buyer: Party {
                language: content.buyer.language,
                name: self.customer_name.or_else(|| content.buyer.name.clone()),
                address: self.billing_address.or_else(|| content.buyer.address.clone()),
                vat_id: self.customer_vat_id.or_else(|| content.buyer.vat_id.clone()).map(|id| id.to_uppercase()),
                email: email.clone(),
                ..Party::default()
            },
            customer_email: email,
            site: Some(invoice.site.clone()),
            currency: Some(content.currency.clone()),
            lines: self.line_items.present().map_or_else(own, lines_of),
            shipping_cents: self.shipping_cents.or(content.shipping_cents),
            discount_cents: self.discount_cents.or(content.discount_cents),
            due_at: self.due_at.or(invoice.due_at),
            notes: self.notes.or_else(|| content.notes.clone()),
        }
    }
}
