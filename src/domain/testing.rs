//! Environment of a decision in tests: a clock that is set manually, sequential IDs, and reproducible random numbers.

pub mod cases;
pub mod commands;
pub mod invoices;
pub mod orders;
pub mod random_invoices;
pub mod samples;

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::access::AccessRow;
use crate::address::Address;
use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, Ids, NumberSeries};
use crate::custom_request::CustomRequestCreated;
use crate::customer::CustomerRow;
use crate::endpoint::Delivery;
use crate::id::Id;
use crate::intake_prices::IntakePrices;
use crate::invoice::InvoiceRow;
use crate::mail::Mail;
use crate::material::MaterialRow;
use crate::order::{OrderCreated, OrderRow};
use crate::party::Party;
use crate::principal::Principal;
use crate::printer::PrinterRow;
use crate::quote::QuoteCreation;
use crate::refusal::Refusal;
use crate::restore::RestoreRow;
use crate::rules::{InvoiceRules, PricingRules, QualityRules, Rules};
use crate::sales_channel::SalesChannelRow;
use crate::shop_clock::ShopClock;
use crate::time::Timestamp;
use crate::tracking::TrackingPage;

/// Environment of a decision.
pub struct Bench {
    /// Clock that tests set manually.
    pub now: Timestamp,
    /// Settings for the rules.
    pub rules: Rules,
    ids: CountingIds,
}

#[derive(Default)]
struct CountingIds(AtomicU64);

impl CountingIds {
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Ids for CountingIds {
    fn id(&self) -> Id {
        // Far above the ids that tests choose themselves, so that they never meet.
        Id(uuid::Uuid::from_u128((1 << 64) + u128::from(self.next())))
    }
    fn number(&self, _: NumberSeries) -> i64 {
        self.next() as i64
    }
    fn chance(&self) -> f64 {
        (self.next() as f64 * 0.618_033_988_75).fract()
    }
}

#[expect(clippy::new_without_default, reason = "tests say when a bench is new")]
impl Bench {
    /// Creates the environment with test rules and one operator who receives alert emails.
    pub fn new() -> Self {
        let rules = Rules {
            block_below_reorder_point: true,
            confirm_ms: 90_000,
            offline_ms: 15_000,
            finish_photos: true,
            max_jobs: 1000,
            currency: "usd".to_owned(),
            site: "industries".to_owned(),
            shipping_flat_cents: 0,
            tax_rates: Vec::new(),
            webhook_schedule_ms: vec![60_000, 300_000, 1_500_000, 7_200_000, 36_000_000],
            webhook_jitter_ms: 30_000,
            operator_mail: vec!["floor@example.com".to_owned()],
            public_url: "https://shop.example".to_owned(),
            agent_gateway: false,
            shipment_notices: true,
            receipts: true,
            invoice_notices: true,
            tracking_pages: vec![TrackingPage {
                carrier: "DHL".to_owned(),
                url: "https://parcels.example/{number}".to_owned(),
            }],
            clock: ShopClock::default(),
            quality: QualityRules {
                sign_off_required: false,
                reprint_missing: true,
                max_reprints: 3,
                reasons: vec!["adhesion".to_owned(), "other".to_owned()],
            },
            invoices: InvoiceRules { payment_days: 14, seller: complete_seller(), ..InvoiceRules::default() },
            intake: IntakePrices { valid_days: 14, ..IntakePrices::default() },
            pricing: PricingRules { rates: samples::rates(), valid_days: 14 },
        };
        Self { now: Timestamp(1_700_000_000_000), rules, ids: CountingIds::default() }
    }

    /// Returns the context of a decision by the server itself.
    pub fn cx(&self) -> DecisionContext<'_> {
        DecisionContext { now: self.now, by: &Principal::System, rules: &self.rules, ids: &self.ids }
    }

    /// Decides a command and applies the next state. Checks that everything a commit would write reads back as written:
    /// the state, the rows, the events, the created records, and the response stored under the idempotency key.
    pub fn tell<T: Aggregate<Row: Written, Created: Written>, C: Command<T>>(
        &self,
        this: &mut Option<T>,
        id: Id,
        command: &C,
    ) -> Result<Decision<T, C::Answer>, Refusal> {
        let decision = command.decide(this.as_ref(), id, &self.cx())?;
        decision.rows.iter().for_each(Written::reads_back);
        decision.created.iter().for_each(Written::reads_back);
        decision.events.iter().for_each(value_reads_back);
        value_reads_back(&decision.answer);
        if let Some(next) = &decision.next {
            reads_back(next);
            *this = Some(next.clone());
        }
        Ok(decision)
    }
}

/// Panics if a state does not read back as written.
pub fn reads_back<T: Aggregate>(state: &T) {
    value_reads_back(state);
}

/// Returns a seller with all details that invoices require.
pub fn complete_seller() -> Party {
    Party {
        name: "Printfloor Workshop GmbH".to_owned(),
        address: Some(Address {
            line1: "Lindenstraße 12".to_owned(),
            line2: None,
            city: "Köln".to_owned(),
            region: None,
            postal_code: "50674".to_owned(),
            country: "DE".to_owned(),
        }),
        vat_id: Some("DE123456789".to_owned()),
        ..Party::default()
    }
}

/// Value that a commit writes in addition to the state.
pub trait Written {
    /// Panics if the value does not read back as written.
    fn reads_back(&self);
}

impl Written for Infallible {
    fn reads_back(&self) {
        match *self {}
    }
}

impl Written for Mail {
    fn reads_back(&self) {
        value_reads_back(self);
    }
}

impl Written for Delivery {
    fn reads_back(&self) {
        value_reads_back(self);
    }
}

impl Written for OrderRow {
    fn reads_back(&self) {
        match self {
            Self::Job(job) => value_reads_back(&**job),
            Self::Attempt(attempt) => value_reads_back(attempt),
            Self::Payment(payment) => value_reads_back(payment),
        }
    }
}

impl Written for InvoiceRow {
    fn reads_back(&self) {
        match self {
            Self::Issued(document) => value_reads_back(&**document),
            Self::Payment(payment) => value_reads_back(payment),
        }
    }
}

impl Written for RestoreRow {
    fn reads_back(&self) {
        match self {
            Self::Gap(gap) => value_reads_back(gap),
            Self::NoGap(_) => {}
        }
    }
}

impl Written for OrderCreated {
    fn reads_back(&self) {
        match self {
            Self::Mail(mail) => mail.reads_back(),
            Self::Invoice(new) => {
                reads_back(&new.invoice);
                new.rows.iter().for_each(Written::reads_back);
            }
        }
    }
}

impl Written for QuoteCreation {
    fn reads_back(&self) {
        match self {
            Self::Mail(mail) => mail.reads_back(),
            Self::Sku(sku) => reads_back(&**sku),
        }
    }
}

impl Written for CustomRequestCreated {
    fn reads_back(&self) {
        match self {
            Self::Mail(mail) => mail.reads_back(),
            Self::Photo(file) => reads_back(&**file),
        }
    }
}

impl Written for MaterialRow {
    fn reads_back(&self) {
        match self {
            Self::Movement(movement) => value_reads_back(movement),
            Self::Claim(claim) => value_reads_back(claim),
            Self::Link(link) => value_reads_back(&**link),
            Self::LinkGone(_) => {}
            Self::ClaimGone(id) => value_reads_back(id),
        }
    }
}

impl Written for PrinterRow {
    fn reads_back(&self) {
        match self {
            Self::Reminder(reminder) => value_reads_back(&**reminder),
            Self::Entry(entry) => value_reads_back(&**entry),
            Self::ReminderGone(_) => {}
        }
    }
}

impl Written for AccessRow {
    fn reads_back(&self) {
        match self {
            Self::User(user) => value_reads_back(user),
            Self::ApiKey(key) => value_reads_back(key),
            Self::Session(session) => value_reads_back(session),
            Self::SessionGone(id) => value_reads_back(id),
        }
    }
}

impl Written for CustomerRow {
    fn reads_back(&self) {
        match self {
            Self::Session(session) => value_reads_back(&**session),
            Self::SessionGone(id) => value_reads_back(id),
        }
    }
}

impl Written for SalesChannelRow {
    fn reads_back(&self) {
        match self {
            Self::Variant(variant) => value_reads_back(&**variant),
            Self::VariantGone(id) => value_reads_back(id),
        }
    }
}

/// Panics if a value does not read back as written.
fn value_reads_back<T: Serialize + DeserializeOwned>(this: &T) {
    let value = |this: &T| serde_json::to_value(this).unwrap_or_else(|error| panic!("{error}"));
    let written = serde_json::to_string(this).unwrap_or_else(|error| panic!("{error}"));
    let read = serde_json::from_str::<T>(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    // What is written again letter by letter has not changed. Most values are; comparing them as documents takes longer
    // than all the rest.
    if serde_json::to_string(&read).is_ok_and(|again| again == written) {
        return;
    }
    let kind = std::any::type_name::<T>();
    assert!(same(&value(&read), &value(this)), "a {kind} changed by being written and read: {written}");
}

/// Returns whether two documents are equal. Numbers with many decimal places may differ in the last digit.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            let (one, other) = (one.as_f64().unwrap_or(f64::NAN), other.as_f64().unwrap_or(f64::NAN));
            (one - other).abs() <= 1e-12 * one.abs()
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, one)| other.get(name).is_some_and(|other| same(one, other)))
        }
        _ => one == other,
    }
}

/// Returns the ID for a number chosen by a test.
pub fn id(number: u32) -> Id {
    Id(uuid::Uuid::from_u128(u128::from(number)))
}
