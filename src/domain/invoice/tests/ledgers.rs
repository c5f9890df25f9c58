//! Tests of orders and invoices with a payment processor: whatever messages are lost, late, repeated or reordered,
//! while operators act and checkouts race, nothing is counted twice or lost, and the books match the processor's.

mod processor;

use proptest::prelude::*;
use serde_json::{Value, json};

use self::processor::Processor;
use super::super::*;
use super::random::adds_up;
use super::{draft, id, issued_by, line};
use crate::aggregate::Command;
use crate::ledger::{CheckoutResult, LedgerOwner, LedgerStage, PaymentUpdate, books, left_by_hand};
use crate::order::{NewOrder, Order, OrderCommand, OrderCreated, OrderNews};
use crate::rules::TaxRate;
use crate::testing::Bench;
use crate::testing::orders::order_to;

/// Total of each order and invoice, in minor units.
pub(super) const TOTAL: i64 = 1190;

/// Action of an operator.
pub(super) enum Act {
    Cash(i64),
    /// Refund of the payments made through the processor, newest first; `None` refunds the full amount.
    Refund(Option<i64>),
    /// Refund of a payment that was made manually.
    GiveBack(Id, i64),
    /// Refund by bank transfer of a payment whose refund by the processor failed.
    Otherwise(Id, i64),
    /// Cancellation of an order, or voiding of an invoice.
    GiveUp,
}

/// Order or invoice to be paid, managed by the test the way the server would.
pub(super) trait Desk {
    type Of: LedgerOwner;
    fn of(&self) -> &Self::Of;
    /// Applies a ledger command; returns `false` if it was refused.
    fn tell(&mut self, command: LedgerCommand) -> bool;
    fn act(&mut self, act: Act) -> bool;
    fn flags(&self) -> &[String];
    /// Returns the existing invoices and all issued documents.
    fn issued(&mut self) -> (Vec<Invoice>, &[IssuedDocument]);
}

pub(super) struct OrderDesk {
    bench: Bench,
    pub(super) order: Option<Order>,
    invoices: Vec<Invoice>,
    documents: Vec<IssuedDocument>,
}

impl OrderDesk {
    pub(super) fn new() -> Self {
        let mut bench = Bench::new();
        bench.rules.tax_rates = vec![TaxRate { country: "DE".to_owned(), region: None, bps: 1900 }];
        let mut desk = Self { bench, order: None, invoices: Vec::new(), documents: Vec::new() };
        let new = NewOrder { draft: true, ..order_to("DE", 1000) };
        assert!(desk.ask(&OrderCommand::Create(Box::new(new))));
        desk
    }

    pub(super) fn ask<C: Command<Order>>(&mut self, command: &C) -> bool {
        let Ok(decision) = command.decide(self.order.as_ref(), id(1), &self.bench.cx()) else { return false };
        for created in decision.created {
            if let OrderCreated::Invoice(new) = created {
                self.documents.extend(issued_by(&new.rows));
                self.invoices.push(new.invoice);
            }
        }
        self.order = decision.next.or(self.order.take());
        true
    }

    /// Executes the effect that updates the invoice, until the invoice is in line with the order.
    fn follow(&mut self) {
        for _ in 0..10 {
            let order = self.order.as_ref().unwrap();
            let money = order.money_in_short();
            let Some(linked) = order.invoice.filter(|linked| linked.last_money != money) else { return };
            let follow = InvoiceCommand::Follow(Box::new(order.money_at(1)));
            let invoice = self.invoices.iter_mut().find(|one| one.id == linked.id).unwrap();
            let decision = follow.decide(Some(invoice), linked.id, &self.bench.cx()).unwrap();
            self.documents.extend(issued_by(&decision.rows));
            if let Some(next) = decision.next {
                *invoice = next;
            }
            let void = invoice.status == InvoiceStatus::Void;
            assert!(self.ask(&OrderNews::InvoiceTold { invoice: linked.id, money, void }));
        }
        panic!("the invoice is told for ever");
    }
}

impl Desk for OrderDesk {
    type Of = Order;

    fn of(&self) -> &Order {
        self.order.as_ref().unwrap()
    }
    fn tell(&mut self, command: LedgerCommand) -> bool {
        self.ask(&OrderCommand::Ledger(command))
    }
    fn act(&mut self, act: Act) -> bool {
        let refund = |payment, amount_cents| OrderCommand::Refund { payment, amount_cents, at_processor: true };
        self.ask(&match act {
            Act::Cash(cents) => {
                OrderCommand::MarkPaid { amount_cents: Some(cents), method: "cash".to_owned(), reference: None }
            }
            Act::Refund(cents) => refund(None, cents),
            Act::GiveBack(payment, cents) => refund(Some(payment), Some(cents)),
            Act::Otherwise(payment, cents) => OrderCommand::RefundOtherwise {
                payment: Some(payment),
                amount_cents: Some(cents),
                method: "bank_transfer".to_owned(),
            },
            Act::GiveUp => OrderCommand::Cancel { force: false, prints: Default::default() },
        })
    }
    fn flags(&self) -> &[String] {
        &self.of().flags
    }
    fn issued(&mut self) -> (Vec<Invoice>, &[IssuedDocument]) {
        self.follow();
        let order = self.order.as_ref().unwrap();
        if let Some(linked) = order.invoice {
            let invoice = self.invoices.iter().find(|one| one.id == linked.id).unwrap();
            assert_eq!(invoice.ledger.payments, order.ledger.payments, "it follows");
            let kept_cents = [order.ledger.kept_cents, invoice.ledger.kept_cents];
            assert!(kept_cents[0] == kept_cents[1] || invoice.status == InvoiceStatus::Void, "{kept_cents:?}");
        }
        (self.invoices.clone(), &self.documents)
    }
}

pub(super) struct InvoiceDesk {
    bench: Bench,
    pub(super) invoice: Option<Invoice>,
    documents: Vec<IssuedDocument>,
}

impl InvoiceDesk {
    pub(super) fn new() -> Self {
        let mut desk = Self { bench: Bench::new(), invoice: None, documents: Vec::new() };
        assert!(desk.ask(&InvoiceCommand::Create(Box::new(draft(vec![line(1, 1000, 1900)])))));
        assert!(desk.ask(&InvoiceCommand::Send));
        desk
    }

    fn ask(&mut self, command: &InvoiceCommand) -> bool {
        let decided = command.decide(self.invoice.as_ref(), id(1), &self.bench.cx());
        let Ok(decision) = decided else { return false };
        self.documents.extend(issued_by(&decision.rows));
        self.invoice = decision.next.or(self.invoice.take());
        true
    }
}

impl Desk for InvoiceDesk {
    type Of = Invoice;

    fn of(&self) -> &Invoice {
        self.invoice.as_ref().unwrap()
    }
    fn tell(&mut self, command: LedgerCommand) -> bool {
        self.ask(&InvoiceCommand::Ledger(command))
    }
    fn act(&mut self, act: Act) -> bool {
        let refund = |payment, amount_cents| InvoiceCommand::Refund { payment, amount_cents, at_processor: true };
        self.ask(&match act {
            Act::Cash(cents) => {
                InvoiceCommand::MarkPaid { amount_cents: Some(cents), method: "cash".to_owned(), reference: None }
            }
            Act::Refund(cents) => refund(None, cents),
            Act::GiveBack(payment, cents) => refund(Some(payment), Some(cents)),
            Act::Otherwise(payment, cents) => InvoiceCommand::RefundOtherwise {
                payment: Some(payment),
                amount_cents: Some(cents),
                method: "bank_transfer".to_owned(),
            },
            Act::GiveUp => InvoiceCommand::Void,
        })
    }
    fn flags(&self) -> &[String] {
        &self.of().flags
    }
    fn issued(&mut self) -> (Vec<Invoice>, &[IssuedDocument]) {
        (vec![self.of().clone()], &self.documents)
    }
}

/// Returns the next number of a pseudo-random sequence.
pub(super) fn next(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize
}

/// Runs one interleaving; afterwards every event is delivered ten times in random order, and every effect is executed.
fn interleave<D: Desk>(desk: &mut D, steps: &[(u8, u8)], mut seed: u64) -> Result<(), TestCaseError> {
    let (mut there, mut drawer) = (Processor::default(), 0);
    let mut late: Vec<LedgerCommand> = Vec::new();
    for (what, which) in steps {
        let which = usize::from(*which);
        match what {
            0..=2 => {
                let pages = ["/a", "/b"][which % 2].to_owned();
                let (title, cancel_url) = ("It".to_owned(), "/no".to_owned());
                desk.tell(LedgerCommand::CheckOut { title, success_url: pages, cancel_url });
            }
            3..=5 => {
                let effects = desk.of().ledger().effects(&desk.of().terms());
                let answer = effects.get(which % effects.len().max(1)).and_then(|one| there.call(desk.of(), one));
                match (answer, which % 4) {
                    (Some(answer), 0) => late.push(answer),
                    (Some(LedgerCommand::CheckoutMade { number, .. }), 1) => {
                        let news = CheckoutResult::Failed { refused: false, amount: false, reason: "lost".into() };
                        desk.tell(LedgerCommand::CheckoutMade { number, news });
                    }
                    (Some(_), 2) | (None, _) => {} // Lost with the process.
                    (Some(answer), _) => prop_assert!(desk.tell(answer)),
                }
            }
            6..=8 => there.pay(which),
            9 | 10 if !there.events.is_empty() => {
                let event = there.events[which % there.events.len()].clone();
                prop_assert!(desk.tell(LedgerCommand::Payment(event)), "an event is never refused");
            }
            11 if !late.is_empty() => prop_assert!(desk.tell(late[which % late.len()].clone())),
            12 => {
                let cents = 1 + which as i64 * 5;
                drawer += if desk.act(Act::Cash(cents)) { cents } else { 0 };
            }
            13 if which.is_multiple_of(3) => {
                let by_hand = |one: &&Payment| one.method == "cash" && left_by_hand(desk.of().ledger(), one) > 0;
                let paid = desk.of().ledger().payments.iter().find(by_hand).map(|one| (one.id, 1 + which as i64 % 50));
                if let Some((payment, cents)) = paid {
                    drawer -= if desk.act(Act::GiveBack(payment, cents)) { cents } else { 0 };
                }
            }
            13 if desk.of().ledger().payments.iter().any(Payment::of_processor) => {
                desk.act(Act::Refund(which.is_multiple_of(2).then_some(1 + which as i64)));
            }
            14 if which.is_multiple_of(4) => drop(desk.act(Act::GiveUp)),
            14 if which.is_multiple_of(2) => there.expire(which),
            14 => there.fail_back(which),
            15 => {
                // Somebody refunds at the processor itself.
                if let Some(session) = there.in_state('p', which) {
                    there.give_back(&session, 1 + which as i64, id(10_000 + next(&mut seed) as u32 % 100_000));
                }
            }
            16 => there.dispute(which),
            17 => drawer -= give_back_otherwise(desk, &mut there, which),
            _ => {}
        }
    }
    for late in late {
        prop_assert!(desk.tell(late));
    }
    deliver_all(desk, &mut there, &mut seed)?;
    holds(desk, &there, drawer)
}

/// Refunds a payment by bank transfer, like an operator who first checks what the processor still holds of it; returns
/// the amount.
fn give_back_otherwise<D: Desk>(desk: &mut D, there: &mut Processor, which: usize) -> i64 {
    let processor_payments = desk.of().ledger().payments.iter().filter(|one| one.of_processor());
    let session = |one: &Payment| Some((one.id, one.reference.as_ref()?.strip_prefix("pi_of_")?.to_owned()));
    let paid_sessions: Vec<(Id, String)> = processor_payments.filter_map(session).collect();
    if let Some((payment, session)) = paid_sessions.get(which % paid_sessions.len().max(1)).cloned() {
        let cents = (1 + which as i64).min(there.left(&session));
        if cents > 0 && desk.act(Act::Otherwise(payment, cents)) {
            *there.otherwise.entry(session).or_default() += cents;
            return cents;
        }
    }
    0
}

/// Delivers every event ten times in random order, and executes every effect, until none are left.
fn deliver_all<D: Desk>(desk: &mut D, there: &mut Processor, seed: &mut u64) -> Result<(), TestCaseError> {
    let mut processed = 0;
    loop {
        // Those that are new, ten times each in any order, with those that were heard before among them.
        let new = there.events.len() - processed;
        let mut news_items: Vec<&PaymentUpdate> = (0..10).flat_map(|_| &there.events[processed..]).collect();
        news_items.extend(there.events[..processed].iter().take(new));
        processed = there.events.len();
        for n in (1..news_items.len()).rev() {
            news_items.swap(n, next(seed) % (n + 1));
        }
        for event in news_items {
            prop_assert!(desk.tell(LedgerCommand::Payment(event.clone())));
        }
        let effects = desk.of().ledger().effects(&desk.of().terms());
        let Some(answer) = effects.iter().find_map(|one| there.call(desk.of(), one)) else { return Ok(()) };
        let paid = matches!(answer, LedgerCommand::Payment(_));
        prop_assert!(desk.tell(answer));
        if let (true, Some(closing)) = (paid, desk.of().ledger().at_processor.closing.first().cloned()) {
            prop_assert!(desk.tell(LedgerCommand::SessionClosed(closing)));
        }
    }
}

/// Checks the invariants that hold once every event has been delivered.
fn holds<D: Desk>(desk: &mut D, there: &Processor, drawer: i64) -> Result<(), TestCaseError> {
    let owner = desk.of();
    let terms = owner.terms();
    prop_assert_eq!(owner.ledger().kept_cents, there.has() + drawer, "the books");
    prop_assert_eq!(owner.ledger().kept_cents, books(owner.ledger(), &terms).kept_cents);
    let disputed = desk.flags().iter().any(|flag| flag.starts_with("dispute"));
    prop_assert!(!disputed, "each dispute is decided and booked: {:?}", desk.flags());
    let failed = there.back.values().flat_map(|(_, refunds)| refunds).any(|(.., failed)| *failed);
    let refused = owner.ledger().at_processor.refunds.iter().any(|one| one.error.is_some());
    let waits = desk.flags().iter().any(|flag| flag == "refund_failed");
    prop_assert!(!waits || failed || refused, "nothing failed");
    prop_assert!(
        owner.ledger().at_processor.refunds.iter().all(|one| one.error.is_some()),
        "each is answered and booked"
    );
    let paid: Vec<&String> = there.sessions.iter().filter(|(_, (_, is))| *is == 'p').map(|(name, _)| name).collect();
    let processor_payments = owner.ledger().payments.iter().filter(|one| one.of_processor());
    prop_assert_eq!(processor_payments.count(), paid.len(), "none twice, none lost");
    for session in paid {
        let intent = format!("pi_of_{session}");
        let entries = owner.ledger().payments.iter().filter(|one| one.reference.as_ref() == Some(&intent));
        let went = there.back.get(session).map_or(0, |(sum, _)| *sum);
        prop_assert_eq!(entries.map(Payment::net_cents).sum::<i64>(), there.sessions[session].0 - went);
    }
    // A session that somebody could know of is open only while it asks for what is due.
    if let Some(open_session) = owner.ledger().checkout().and_then(|one| one.session()) {
        let due = owner.ledger().to_pay(&terms);
        prop_assert!(terms.stage == LedgerStage::Payable && there.sessions[open_session].0 == due);
    }
    let is_due = owner.ledger().to_pay(&terms) > 0;
    prop_assert!(is_due || terms.stage != LedgerStage::Payable, "what is covered is paid");
    let kept_cents = owner.ledger().kept_cents;
    let (invoices, documents) = desk.issued();
    documents.iter().for_each(adds_up);
    for invoice in &invoices {
        let of_it = |kind| documents.iter().filter(move |one| one.invoice_id == invoice.id && one.kind == kind);
        prop_assert_eq!(of_it(DocumentKind::Invoice).count(), 1, "issued once");
        let credited: i64 = of_it(DocumentKind::CreditNote).map(IssuedDocument::payable_cents).sum();
        prop_assert!((0..=TOTAL).contains(&credited), "never over more than the invoice");
        match invoice.status {
            InvoiceStatus::Paid => {
                prop_assert!(credited >= TOTAL - kept_cents.clamp(0, TOTAL), "what went back is credited");
            }
            InvoiceStatus::Refunded | InvoiceStatus::Void => prop_assert_eq!(credited, TOTAL),
            _ => prop_assert_eq!(credited, 0),
        }
    }
    let standing = invoices.iter().filter(|one| one.status != InvoiceStatus::Void).count();
    prop_assert!(standing <= 1, "at most one that is not void");
    Ok(())
}

#[test]
fn a_ledger_is_stored_among_the_members_of_its_owner() {
    let members = |document: &Value| {
        ["ledger", "keptCents", "payments", "paymentSession", "atProcessor"].map(|name| document.get(name).cloned())
    };
    let (mut order, mut invoice) = (OrderDesk::new(), InvoiceDesk::new());
    let document = serde_json::to_value(order.of()).unwrap();
    assert_eq!(members(&document), [None, Some(json!(0)), None, Some(Value::Null), None], "its payments are rows");
    let document = serde_json::to_value(invoice.of()).unwrap();
    assert_eq!(members(&document), [None, Some(json!(0)), Some(json!([])), None, None]);

    assert!(order.act(Act::Cash(100)) && invoice.act(Act::Cash(100)));
    let pages = || ("It".to_owned(), "/a".to_owned(), "/no".to_owned());
    let check_out = |(title, success_url, cancel_url)| LedgerCommand::CheckOut { title, success_url, cancel_url };
    assert!(order.tell(check_out(pages())) && invoice.tell(check_out(pages())));
    let mut document = serde_json::to_value(order.of()).unwrap();
    assert_eq!(
        (&document["keptCents"], &document["atProcessor"]["checkout"]["amountCents"]),
        (&json!(100), &json!(1090))
    );
    // Documents of older releases do not say what is kept.
    document.as_object_mut().unwrap().remove("keptCents");
    let read: Order = serde_json::from_value(document).unwrap();
    assert_eq!((read.ledger.kept_cents, read.ledger.payments.len()), (0, 0));
    assert_eq!(read.ledger.at_processor, order.of().ledger.at_processor);
    let document = serde_json::to_value(invoice.of()).unwrap();
    assert_eq!(serde_json::from_value::<Invoice>(document).unwrap(), *invoice.of());
}

crate::drawn_cases! {
    1_000 of 10_000;
    #[test]
    fn the_books_are_the_processors_in_all_interleavings(
        steps in prop::collection::vec((0u8..18, any::<u8>()), 1..40),
        seed in any::<u64>(),
    ) {
        interleave(&mut OrderDesk::new(), &steps, seed)?;
        interleave(&mut InvoiceDesk::new(), &steps, seed)?;
    }
}
