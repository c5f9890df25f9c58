//! Orders shared by the tests of several rules, and a decider for their commands.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use super::{Bench, id};
use crate::address::Address;
use crate::aggregate::{Command, Decision};
use crate::amount::Amount;
use crate::id::Id;
use crate::job::{Attempt, Job, JobState};
use crate::mail::Mail;
use crate::material::{ClaimId, ClaimState};
use crate::order::{
    JobAnswer, JobCommand, LedgerCommand, NewOrder, Order, OrderAnswer, OrderCommand, OrderCreated, OrderKind,
    OrderLine, OrderNews, OrderNewsAnswer, PaymentUpdate, ProductionData, Report, Shipment,
};
use crate::party::Party;
use crate::printer_status::PrintEnd;
use crate::promise::Promise;
use crate::refusal::Refusal;
use crate::sku::MachineType;
use words::Language;

/// Number that the ID of a decider's order is derived from.
pub const ORDER_ID: u32 = 1;
/// Number that the ID of the material for the order's jobs is derived from.
pub const MATERIAL_ID: u32 = 2;
/// Number that the ID of the printer for the order's jobs is derived from.
pub const PRINTER_ID: u32 = 3;

/// Builds a line with the given number of parts at the given price, with or without a G-code file.
pub fn line(quantity: u32, cents: i64, file: bool) -> OrderLine {
    OrderLine {
        sku_id: id(10),
        quantity,
        unit_price_cents: cents,
        description: "bracket".to_owned(),
        tax_rate_bps: 0,
        make: Some(ProductionData {
            units_per_plate: 1,
            material_id: id(MATERIAL_ID),
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

/// Builds an order by Ann with the given lines.
pub fn new_order(lines: Vec<OrderLine>) -> NewOrder {
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

/// Builds an address in the given country.
pub fn address_in(country: &str) -> Address {
    Address {
        line1: "Weg 1".to_owned(),
        line2: None,
        city: "Ulm".to_owned(),
        region: None,
        postal_code: "89073".to_owned(),
        country: country.to_owned(),
    }
}

/// Builds an order for one part at the given net price, to an address in the given country.
pub fn order_to(country: &str, cents: i64) -> NewOrder {
    NewOrder { shipping_address: Some(address_in(country)), ..new_order(vec![line(1, cents, true)]) }
}

/// Test harness that decides the commands of one order.
pub struct OrderDecider {
    /// Rules, clock and IDs for its decisions.
    pub bench: Bench,
    /// Order in its latest state; `None` before it is created.
    pub order: Option<Order>,
}

impl OrderDecider {
    /// Creates a decider with the given order.
    pub fn with(new: NewOrder) -> Self {
        let mut desk = Self { bench: Bench::new(), order: None };
        desk.ask(&OrderCommand::Create(Box::new(new))).unwrap();
        desk
    }
    /// Builds a decider with one paid job whose material is reserved.
    pub fn sliced() -> Self {
        let mut desk = Self::with(new_order(vec![line(1, 500, true)]));
        desk.pay();
        desk.stock(ClaimState::Held);
        desk
    }
    /// Decides a command and applies it.
    pub fn ask<C: Command<Order>>(&mut self, command: &C) -> Result<Decision<Order, C::Answer>, Refusal> {
        self.bench.tell(&mut self.order, id(ORDER_ID), command)
    }
    /// Marks the order as paid in cash and reports that its SKU was read.
    pub fn pay(&mut self) -> Decision<Order, OrderAnswer> {
        let pay = OrderCommand::MarkPaid { amount_cents: None, method: "cash".into(), reference: None };
        let paid = self.ask(&pay).unwrap();
        self.prepare();
        paid
    }
    /// Reports that the SKU was read, with the lines' own data: jobs whose line has a file become VALIDATED.
    pub fn prepare(&mut self) -> Option<Decision<Order, OrderNewsAnswer>> {
        let makes: Vec<ProductionData> = self.o().lines.iter().filter_map(|line| line.make.clone()).collect();
        let with_file = makes.into_iter().find(|make| make.file_id.is_some())?;
        Some(self.ask(&OrderNews::Prepared { sku: id(10), make: Box::new(with_file) }).unwrap())
    }
    /// Applies an update from the payment processor.
    pub fn news(&mut self, news: PaymentUpdate) -> Decision<Order, OrderAnswer> {
        self.ask(&OrderCommand::Ledger(LedgerCommand::Payment(news))).unwrap()
    }
    /// Returns the order.
    pub fn o(&self) -> &Order {
        self.order.as_ref().unwrap()
    }
    /// Returns the first job.
    pub fn job(&self) -> Arc<Job> {
        self.o().jobs.values().next().unwrap().clone()
    }
    /// Returns the latest attempt of the first job.
    pub fn last(&self) -> Attempt {
        self.job().attempts.last().unwrap().clone()
    }
    /// Responds to the claim of the first job.
    pub fn stock(&mut self, state: ClaimState) -> Decision<Order, OrderNewsAnswer> {
        let job = self.job();
        let claim = ClaimId { job: job.id, number: job.claim };
        self.ask(&OrderNews::Stock(id(MATERIAL_ID), vec![(claim, state, Some("words".into()))])).unwrap()
    }
    /// Claims the printer for the first job.
    pub fn dispatch(&mut self) -> Result<Decision<Order, JobAnswer>, Refusal> {
        let job = self.job().id;
        self.ask(&JobCommand::Dispatch { job, printer: id(PRINTER_ID) })
    }
    /// Reports on the latest attempt of the first job.
    pub fn report(&mut self, report: Report) -> Decision<Order, OrderNewsAnswer> {
        let (job, attempt) = (self.job().id, self.last().id);
        self.ask(&OrderNews::Attempt { job, attempt, report }).unwrap()
    }
    /// Returns the state of the first job.
    pub fn state(&self) -> JobState {
        self.job().state
    }
}

/// Returns the emails that a commit sends.
pub fn mails<A>(decision: &Decision<Order, A>) -> Vec<&Mail> {
    fn mail(created: &OrderCreated) -> Option<&Mail> {
        match created {
            OrderCreated::Mail(mail) => Some(mail),
            OrderCreated::Invoice(_) => None,
        }
    }
    decision.created.iter().filter_map(mail).collect()
}

/// Builds a paid order with two jobs, both reserved, and returns it with their IDs.
pub fn pair() -> (OrderDecider, [Id; 2]) {
    let mut desk = OrderDecider::with(new_order(vec![line(2, 500, true)]));
    desk.pay();
    let ids: Vec<Id> = desk.o().jobs.keys().copied().collect();
    let held = ids.iter().map(|job| (ClaimId { job: *job, number: 1 }, ClaimState::Held, None)).collect();
    desk.ask(&OrderNews::Stock(id(MATERIAL_ID), held)).unwrap();
    (desk, [ids[0], ids[1]])
}

/// Prints the job with the given outcome.
pub fn print(desk: &mut OrderDecider, job: Id, end: PrintEnd) -> Decision<Order, OrderNewsAnswer> {
    desk.ask(&JobCommand::Dispatch { job, printer: id(PRINTER_ID) }).unwrap();
    let attempt = desk.o().jobs.get(&job).unwrap().attempts.last().unwrap().id;
    let reason = Some("nozzle too hot\r\nBcc: all".to_owned());
    let (booked_on, filament_mm) = (Vec::new(), None);
    let report = Report::Ended { end, filament_mm, progress: 1.0, reason, began_at: None, unseen: false, booked_on };
    desk.ask(&OrderNews::Attempt { job, attempt, report }).unwrap()
}

/// Builds the command that ships all lines.
pub fn ship(carrier: &str, tracking_number: &str, estimated_delivery: &str, accept_short: bool) -> OrderCommand {
    let shipment = Shipment {
        carrier: carrier.to_owned(),
        tracking_number: tracking_number.to_owned(),
        estimated_delivery: estimated_delivery.to_owned(),
    };
    OrderCommand::Ship { shipment, lines: None, accept_short }
}

/// Builds a paid order for two printed parts with a customer's email address, promised within an hour.
pub fn promised() -> OrderDecider {
    let (mut desk, [one, two]) = pair();
    let now = desk.bench.now;
    let promised_at = now.plus_ms(3_600_000);
    let order = desk.order.as_mut().unwrap();
    order.customer_email = Some("buyer@example.org".to_owned());
    order.lines[0].description = "Bracket <large>\nTracking number: 0".into();
    desk.ask(&OrderNews::Promise(Promise { made_at: now, expected_at: now, promised_at, met_at: None })).unwrap();
    print(&mut desk, one, PrintEnd::Finished);
    print(&mut desk, two, PrintEnd::Finished);
    desk
}

/// Returns the shipment email of a promised order that was ready after its promised time, or before it.
pub fn shipped_mail(late: bool, language: Language) -> Mail {
    let mut desk = promised();
    desk.order.as_mut().unwrap().buyer = Some(Party { language, ..Party::default() });
    if late {
        let promise = desk.order.as_mut().unwrap().promise.as_mut().unwrap();
        promise.promised_at = promise.made_at.plus_ms(-60_000);
    }
    let shipped = desk.ask(&ship("DHL", "JD 1", "2026-12-01", false)).unwrap();
    mails(&shipped)[0].clone()
}
