#![expect(clippy::unwrap_used, reason = "tests")]

mod checkout;
mod claims;
mod departures;
mod doubts;
mod ends;
mod examples;
mod flags;
mod gone_back;
mod kits;
mod model;
mod money;
mod money_stories;
mod parts;
mod placing;
mod random;
mod shipping;
mod slicing;
mod sold;

use super::*;
use crate::domain::aggregate::{Aggregate, Decision};
use crate::domain::amount::Amount;
use crate::domain::job::{Attempt, JobState};
use crate::domain::mail::Mail;
use crate::domain::material::{ClaimId, ClaimState};
use crate::domain::refusal::Refusal;
use crate::domain::sku::MachineType;
use crate::domain::testing::{Bench, id};

pub(super) const ORDER: u32 = 1;
pub(super) const MATERIAL: u32 = 2;
pub(super) const PRINTER: u32 = 3;

pub(super) fn line(quantity: u32, cents: i64, file: bool) -> Line {
    Line {
        sku_id: id(10),
        quantity,
        unit_price_cents: cents,
        description: "bracket".to_owned(),
        tax_rate_bps: 0,
        make: Some(Make {
            units_per_plate: 1,
            material_id: id(MATERIAL),
            need: Amount::units(100),
            further: Vec::new(),
            machine_type: MachineType::FdmStandard,
            dimensions: None,
            file_id: file.then(|| id(11)),
            source: None,
            file_form: Default::default(),
            sliced_for: Default::default(),
            file_filament_mm: Some(1000.0),
            estimated_seconds: None,
        }),
        kit_line: None,
        per_set: None,
    }
}

/// Builds a need for this many units of a material.
pub(super) fn need(material: u32, units: i64) -> MaterialNeed {
    MaterialNeed { material_id: id(material), need: Amount::units(units) }
}

pub(super) fn new_order(lines: Vec<Line>) -> NewOrder {
    NewOrder {
        kind: OrderKind::Catalog,
        site: None,
        made_by: None,
        customer_email: Some(" Ann@Example.com ".to_owned()),
        buyer: None,
        lines,
        currency: "usd".to_owned(),
        notes: None,
        internal_notes: None,
        shipping_address: None,
        priority: None,
        due_at: None,
        draft: false,
        own_use: false,
        customer_id: None,
    }
}

/// Builds an order of one part at this net price, to an address in this country.
pub(crate) fn order_to(country: &str, cents: i64) -> NewOrder {
    let address = Address {
        line1: "Weg 1".to_owned(),
        line2: None,
        city: "Ulm".to_owned(),
        region: None,
        postal_code: "89073".to_owned(),
        country: country.to_owned(),
    };
    NewOrder { shipping_address: Some(address), ..new_order(vec![line(1, cents, true)]) }
}

pub(super) struct Desk {
    pub(super) bench: Bench,
    pub(super) order: Option<Order>,
}

impl Desk {
    pub(super) fn with(new: NewOrder) -> Self {
        let mut desk = Self { bench: Bench::new(), order: None };
        desk.ask(&OrderCommand::Create(Box::new(new))).unwrap();
        desk
    }
    /// Builds a desk with one paid job whose material is reserved.
    pub(super) fn sliced() -> Self {
        let mut desk = Self::with(new_order(vec![line(1, 500, true)]));
        desk.pay();
        desk.stock(ClaimState::Held);
        desk
    }
    pub(super) fn ask(&mut self, command: &OrderCommand) -> Result<Decision<Order>, Refusal> {
        self.bench.tell(&mut self.order, id(ORDER), command)
    }
    pub(super) fn pay(&mut self) -> Decision<Order> {
        let pay = OrderCommand::MarkPaid { amount_cents: None, method: "cash".into(), reference: None };
        let paid = self.ask(&pay).unwrap();
        self.prepare();
        paid
    }
    /// Reports the SKU as read, with the lines' own data: jobs whose line has a file become VALIDATED.
    pub(super) fn prepare(&mut self) -> Option<Decision<Order>> {
        let makes: Vec<Make> = self.o().lines.iter().filter_map(|line| line.make.clone()).collect();
        let with_file = makes.into_iter().find(|make| make.file_id.is_some())?;
        Some(self.ask(&OrderCommand::Prepared { sku: id(10), make: Box::new(with_file) }).unwrap())
    }
    pub(super) fn news(&mut self, news: PaymentNews) -> Decision<Order> {
        self.ask(&OrderCommand::Ledger(LedgerCommand::Payment(news))).unwrap()
    }
    pub(super) fn o(&self) -> &Order {
        self.order.as_ref().unwrap()
    }
    pub(super) fn job(&self) -> std::sync::Arc<Job> {
        self.o().jobs.values().next().unwrap().clone()
    }
    pub(super) fn last(&self) -> Attempt {
        self.job().attempts.last().unwrap().clone()
    }
    pub(super) fn stock(&mut self, state: ClaimState) -> Decision<Order> {
        let job = self.job();
        let claim = ClaimId { job: job.id, number: job.claim };
        self.ask(&OrderCommand::Stock(id(MATERIAL), vec![(claim, state, Some("words".into()))])).unwrap()
    }
    pub(super) fn dispatch(&mut self) -> Result<Decision<Order>, Refusal> {
        let job = self.job().id;
        self.ask(&OrderCommand::Dispatch { job, printer: id(PRINTER) })
    }
    pub(super) fn report(&mut self, report: Report) -> Decision<Order> {
        let (job, attempt) = (self.job().id, self.last().id);
        self.ask(&OrderCommand::Attempt { job, attempt, report }).unwrap()
    }
    pub(super) fn state(&self) -> JobState {
        self.job().state
    }
}

/// Builds the stock of a material with this many available grams.
pub(super) fn free(units: i64) -> StockNow {
    StockNow { available: Amount::units(units), unit: "g", name: "PLA black".to_owned() }
}

/// Returns the names of the events, except those of the order's invoice.
pub(super) fn names(decision: &Decision<Order>) -> Vec<&str> {
    let own = decision.events.iter().filter(|event| event.subject_kind != "invoice");
    own.map(|event| event.event.as_str()).collect()
}

/// Returns the mails that a commit sends.
pub(super) fn mails(decision: &Decision<Order>) -> Vec<&Mail> {
    fn mail(created: &OrderCreated) -> Option<&Mail> {
        match created {
            OrderCreated::Mail(mail) => Some(mail),
            OrderCreated::Invoice(_) => None,
        }
    }
    decision.created.iter().filter_map(mail).collect()
}

/// Asserts that automatic reprints produce less than one plate more than was missing, and no more than the settings
/// allow.
pub(super) fn makes_no_more_than_missing(bench: &Bench, before: &Order, after: &Order) {
    let quality = &bench.rules.quality;
    for (n, (line, parts)) in after.lines.iter().zip(after.parts()).enumerate() {
        let of_line = |order: &Order| order.jobs.values().filter(|job| job.line as usize == n).count();
        let made = of_line(after).saturating_sub(of_line(before));
        if made == 0 || before.jobs.is_empty() {
            continue;
        }
        let (all, plate) = (parts.good + parts.running + parts.cancelled, u64::from(super::parts::plate_parts(line)));
        assert!(quality.reprint_missing && parts.reprints <= quality.max_reprints, "{parts:?}");
        assert!(all < u64::from(line.quantity) + plate, "{parts:?} of {}", line.quantity);
        assert!(!matches!(before.status, OrderStatus::Cancelled | OrderStatus::Refunded));
        assert!(matches!(after.status, OrderStatus::Paid | OrderStatus::Printing));
    }
}

/// Returns the mail of a shipment that leaves after the promised time, or before.
pub(crate) fn shipped_mail(late: bool) -> Mail {
    shipping::shipped(late)
}

pub(super) fn code<T: Aggregate>(refused: Result<Decision<T>, Refusal>) -> String {
    refused.unwrap_err().code
}
