//! Life cycle of quotes: drafts, models, frozen members, answers, and margins.
#![expect(clippy::unwrap_used, reason = "tests")]

mod margins;
mod random;
mod terms;

use super::*;
use crate::address::Address;
use crate::aggregate::{Aggregate as _, Command as _, Decision};
use crate::amount::Amount;
use crate::mail::part::plain;
use crate::mesh::MeshFacts;
use crate::refusal::Refusal;
use crate::rules::TaxRate;
use crate::sku::{Dimensions, MachineType};
use crate::testing::{Bench, id};
use crate::time::DAY_MS;

const QUOTE: u32 = 1;
const SKU: u32 = 300;
const MATERIAL: u32 = 200;
const FILE: u32 = 400;

/// Builds a line with the given quantity and price printed from a SKU.
pub(crate) fn line(quantity: u32, unit_price_cents: i64) -> DraftLine {
    DraftLine {
        description: "Bracket".to_owned(),
        quantity,
        unit_price_cents: Some(unit_price_cents),
        sku_id: Some(id(SKU)),
        printed: true,
        model: None,
    }
}

/// Builds a line for a cube of 10 cm³.
fn cube(quantity: u32, profile: Option<&str>) -> DraftLine {
    let side = 21.544;
    let facts = MeshFacts { size: Dimensions { x: side, y: side, z: side }, volume_mm3: 10_000, facets: 12 };
    let model = DraftModel {
        file_id: id(FILE),
        facts: Some(facts),
        material_id: Some(id(MATERIAL)),
        material_cents_per_kg: None,
        machine_type: MachineType::FdmStandard,
        slicer_profile: profile.map(str::to_owned),
    };
    DraftLine { unit_price_cents: None, sku_id: None, model: Some(model), ..line(quantity, 0) }
}

/// Builds a draft with the given lines for a customer.
pub(crate) fn draft(lines: Vec<DraftLine>) -> DraftQuote {
    DraftQuote { customer_email: Some(" Ann@Example.org ".to_owned()), lines, ..DraftQuote::default() }
}

struct Desk {
    bench: Bench,
    quote: Option<Quote>,
}

impl Desk {
    fn with(lines: Vec<DraftLine>) -> Self {
        let mut desk = Self { bench: Bench::new(), quote: None };
        desk.ask(&QuoteCommand::Create(Box::new(draft(lines)))).unwrap();
        desk
    }
    fn sent(lines: Vec<DraftLine>) -> Self {
        let mut desk = Self::with(lines);
        desk.ask(&QuoteCommand::Send(Language::English)).unwrap();
        desk
    }
    fn ask(&mut self, command: &QuoteCommand) -> Result<Decision<Quote, Box<Quote>>, Refusal> {
        self.bench.tell(&mut self.quote, id(QUOTE), command)
    }
    fn change(&mut self, patch: QuotePatch) -> Result<Decision<Quote, Box<Quote>>, Refusal> {
        self.ask(&QuoteCommand::Update { if_version: None, patch: Box::new(patch) })
    }
    fn q(&self) -> &Quote {
        self.quote.as_ref().unwrap()
    }
}

fn refused(result: Result<Decision<Quote, Box<Quote>>, Refusal>) -> String {
    result.unwrap_err().code
}

fn paths(result: Result<Decision<Quote, Box<Quote>>, Refusal>) -> Vec<String> {
    result.unwrap_err().faults.into_iter().map(|fault| fault.path).collect()
}

#[test]
fn a_draft_is_edited_and_what_was_sent_never_changes() {
    let mut desk = Desk::with(vec![line(2, 1000)]);
    desk.bench.rules.shipping_flat_cents = 500;
    desk.bench.rules.tax_rates = vec![TaxRate { country: "DE".to_owned(), region: None, bps: 1900 }];
    let address = Address {
        line1: "Weg 1".to_owned(),
        line2: None,
        city: "Ulm".to_owned(),
        region: None,
        postal_code: "89073".to_owned(),
        country: "DE".to_owned(),
    };
    let lines = vec![line(2, 1000), DraftLine { sku_id: None, printed: false, ..line(1, 6000) }];
    desk.change(QuotePatch { lines: Some(lines), shipping_address: Some(Some(address)), ..QuotePatch::default() })
        .unwrap();
    let quote = desk.q();
    assert_eq!(quote.customer_email.as_deref(), Some("ann@example.org"));
    assert_eq!((quote.subtotal_cents, quote.shipping_cents, quote.tax_cents), (8000, 500, 1615));
    assert_eq!(quote.total_cents, 10_115);
    let decision = desk.ask(&QuoteCommand::Send(Language::English)).unwrap();
    assert_eq!(decision.events.iter().map(|event| event.event.as_str()).collect::<Vec<_>>(), ["quote.sent"]);
    let [QuoteCreation::Mail(mail)] = &decision.created[..] else { panic!("{:?}", decision.created) };
    assert_eq!((&mail.to[..], mail.useless_at), (&["ann@example.org".to_owned()][..], desk.q().valid_until));
    let text = plain(&mail.text, &mail.parts, None);
    assert!(text.contains("2 x Bracket") && text.contains("$101.15"), "{text}");
    assert_eq!(desk.q().valid_until, Some(desk.bench.now.plus_ms(14 * DAY_MS)));
    assert_eq!(refused(desk.change(QuotePatch::default())), "invalid_transition");
    assert_eq!(refused(desk.ask(&QuoteCommand::Archive)), "invalid_transition");
    assert_eq!(refused(desk.ask(&QuoteCommand::Send(Language::English))), "invalid_transition");
}

#[test]
fn sending_needs_a_customer_a_date_ahead_and_a_sku_on_what_is_printed() {
    let mut desk = Desk::with(vec![line(1, 1), DraftLine { sku_id: None, ..line(1, 1) }]);
    let past = Some(Some(desk.bench.now.plus_ms(-1)));
    desk.change(QuotePatch { customer_email: Some(None), valid_until: past, ..QuotePatch::default() }).unwrap();
    assert_eq!(
        paths(desk.ask(&QuoteCommand::Send(Language::English))),
        ["customerEmail", "validUntil", "lines.1.skuId"]
    );
    let mut desk = Desk::with(vec![DraftLine { sku_id: None, printed: false, ..line(1, 1) }]);
    assert_eq!(paths(desk.ask(&QuoteCommand::Send(Language::English))), ["lines"], "something must be printed");
    let mut unmade = cube(1, None);
    unmade.model.as_mut().unwrap().material_id = None;
    let mut desk = Desk::with(vec![unmade]);
    assert_eq!(paths(desk.ask(&QuoteCommand::Send(Language::English))), ["lines.0.materialId"]);
}

#[test]
fn a_draft_with_faults_is_refused_with_all_of_them() {
    let bench = Bench::new();
    let both = DraftLine { sku_id: Some(id(SKU)), ..cube(1, None) };
    let wrong = vec![line(0, -1), DraftLine { description: " ".to_owned(), printed: false, ..line(1, 1) }, both];
    let create = QuoteCommand::Create(Box::new(draft(wrong)));
    let faults = paths(create.decide(None, id(QUOTE), &bench.cx()));
    let expected =
        ["lines.0.quantity", "lines.0.unitPriceCents", "lines.1.description", "lines.1.printed", "lines.2.modelFileId"];
    assert_eq!(faults, expected);
    let create = QuoteCommand::Create(Box::new(draft(Vec::new())));
    assert_eq!(paths(create.decide(None, id(QUOTE), &bench.cx())), ["lines"]);
}

#[test]
fn a_model_is_priced_by_its_volume_then_by_its_g_code_and_gets_a_private_sku() {
    let mut desk = Desk::with(vec![cube(1, Some("PLA"))]);
    // Worked out in the tests of prices.
    assert_eq!((desk.q().lines[0].unit_price_cents, desk.q().total_cents), (593, 593));
    let source = desk.q().lines[0].model.as_ref().unwrap().source().unwrap();
    assert_eq!(desk.q().effects(), [QuoteEffect::Slice(source.clone())]);
    let sliced = SlicedModel { gcode_file_id: id(401), grams: Amount::units(10), seconds: 3600 };
    let news = QuoteSlicingOutcome::Done(sliced);
    let revision = desk.q().revision;
    desk.ask(&QuoteCommand::Sliced { source: source.clone(), news: news.clone() }).unwrap();
    // 25 + 4 + 60 + 350 + 22 are 461; and 40 % are 645.4.
    assert_eq!((desk.q().lines[0].unit_price_cents, desk.q().total_cents), (646, 646));
    assert_eq!((desk.q().revision, desk.q().effects()), (revision, Vec::new()), "no person changed it");
    // A line that stays keeps what the slicer made of it.
    let again = DraftLine { quantity: 2, ..cube(1, Some("PLA")) };
    desk.change(QuotePatch { lines: Some(vec![again]), ..QuotePatch::default() }).unwrap();
    let model = desk.q().lines[0].model.clone().unwrap();
    assert_eq!((model.work.grams, model.work.seconds, model.work.parts), (Amount::units(20), 7200, 2));
    let decision = desk.ask(&QuoteCommand::Send(Language::English)).unwrap();
    let [QuoteCreation::Sku(sku), QuoteCreation::Mail(_)] = &decision.created[..] else {
        panic!("{:?}", decision.created)
    };
    assert_eq!(
        (sku.fields.public, sku.fields.model_file_id, sku.fields.slicer_profile.as_deref()),
        (false, Some(id(FILE)), Some("PLA"))
    );
    assert_eq!(
        (sku.fields.estimated_consumption, sku.fields.price_cents),
        (Amount::units(10), desk.q().lines[0].unit_price_cents)
    );
    assert_eq!(desk.q().lines[0].sku_id, Some(sku.id));
    assert_eq!(decision.requirements.len(), 2, "neither model nor material may be deleted");
    let total = desk.q().total_cents;
    desk.bench.rules.pricing.rates.margin_bps = 90_000;
    desk.ask(&QuoteCommand::Sliced { source, news }).unwrap();
    assert_eq!(desk.q().total_cents, total, "what was sent is frozen");
}

#[test]
fn a_price_that_an_operator_set_stays_and_a_refusal_of_the_slicer_is_told() {
    let mut desk = Desk::with(vec![DraftLine { unit_price_cents: Some(2000), ..cube(1, Some("PLA")) }]);
    let source = desk.q().lines[0].model.as_ref().unwrap().source().unwrap();
    desk.ask(&QuoteCommand::Sliced { source, news: QuoteSlicingOutcome::Failed("too thin".to_owned()) }).unwrap();
    let model = desk.q().lines[0].model.as_ref().unwrap();
    assert_eq!((model.slicing_error.as_deref(), model.costs.sum_cents()), (Some("too thin"), 423));
    assert_eq!((desk.q().total_cents, desk.q().effects()), (2000, Vec::new()));
    // Another edit tries it again.
    desk.change(QuotePatch { lines: Some(vec![cube(1, Some("PLA"))]), ..QuotePatch::default() }).unwrap();
    assert_eq!(desk.q().effects().len(), 1);
    assert_eq!(desk.q().total_cents, 593, "a price that is left out follows from the costs");
}

#[test]
fn an_accepted_quote_has_one_order_however_often_it_is_accepted() {
    let mut desk = Desk::sent(vec![line(1, 1000)]);
    let first = desk.ask(&QuoteCommand::Accept).unwrap();
    let order = first.answer.order_id.unwrap();
    assert_eq!(desk.q().effects(), [QuoteEffect::MakeOrder(order)]);
    let again = desk.ask(&QuoteCommand::Accept).unwrap();
    assert!(again.next.is_none() && again.answer.order_id == Some(order) && again.events.is_empty());
    desk.bench.now = desk.bench.now.plus_ms(100 * DAY_MS);
    assert_eq!(desk.ask(&QuoteCommand::Accept).unwrap().answer.order_id, Some(order), "it does not expire any more");
    assert_eq!(refused(desk.ask(&QuoteCommand::Decline { reason: None })), "invalid_transition");
    desk.ask(&QuoteCommand::NotOrdered("the SKU was deleted".to_owned())).unwrap();
    assert!(desk.q().effects().is_empty() && desk.q().order_error.is_some());
    desk.ask(&QuoteCommand::Accept).unwrap();
    assert_eq!(desk.q().effects(), [QuoteEffect::MakeOrder(order)], "accepted again, it is tried again");
    desk.ask(&QuoteCommand::Ordered).unwrap();
    assert!(desk.q().effects().is_empty() && desk.q().at_rest());
}

#[test]
fn a_quote_expires_at_its_last_moment_and_a_declined_one_stays_declined() {
    let mut desk = Desk::sent(vec![line(1, 1000)]);
    let until = desk.q().valid_until.unwrap();
    assert_eq!(desk.q().shown_status(until.plus_ms(-1)), QuoteStatus::Sent);
    desk.bench.now = until;
    assert_eq!(desk.q().shown_status(until), QuoteStatus::Expired);
    assert_eq!(refused(desk.ask(&QuoteCommand::Accept)), QUOTE_EXPIRED);
    assert_eq!(refused(desk.ask(&QuoteCommand::Decline { reason: None })), QUOTE_EXPIRED);
    assert_eq!(desk.q().status, QuoteStatus::Sent, "it is never stored");
    desk.bench.now = until.plus_ms(-1);
    desk.ask(&QuoteCommand::Decline { reason: Some("too dear".to_owned()) }).unwrap();
    assert!(desk.ask(&QuoteCommand::Decline { reason: None }).unwrap().next.is_none(), "declined already");
    assert_eq!(refused(desk.ask(&QuoteCommand::Accept)), QUOTE_DECLINED);
    assert_eq!(desk.q().declined_reason.as_deref(), Some("too dear"));
}

#[test]
fn a_custom_request_hears_how_its_quote_stands_until_it_has_heard() {
    let mut desk = Desk::with(vec![line(1, 1000)]);
    desk.change(QuotePatch { custom_request_id: Some(Some(id(7))), ..QuotePatch::default() }).unwrap();
    assert!(desk.q().effects().is_empty(), "nobody hears of a draft");
    desk.ask(&QuoteCommand::Send(Language::English)).unwrap();
    let tell = |status| QuoteEffect::TellRequest { request: id(7), status };
    assert_eq!(desk.q().effects(), [tell(QuoteStatus::Sent)]);
    desk.ask(&QuoteCommand::RequestTold(QuoteStatus::Sent)).unwrap();
    assert!(desk.q().at_rest());
    desk.ask(&QuoteCommand::Decline { reason: None }).unwrap();
    // What is told late is told again.
    desk.ask(&QuoteCommand::RequestTold(QuoteStatus::Sent)).unwrap();
    assert_eq!(desk.q().effects(), [tell(QuoteStatus::Declined)]);
    desk.ask(&QuoteCommand::RequestTold(QuoteStatus::Declined)).unwrap();
    assert!(desk.q().at_rest());
}

#[test]
fn a_deleted_draft_is_gone() {
    let mut desk = Desk::with(vec![cube(1, Some("PLA"))]);
    desk.ask(&QuoteCommand::Archive).unwrap();
    assert!(desk.q().effects().is_empty());
    for command in [QuoteCommand::Send(Language::English), QuoteCommand::Accept, QuoteCommand::Archive] {
        assert_eq!(refused(desk.ask(&command)), "quote_not_found", "{command:?}");
    }
    let create = QuoteCommand::Create(Box::new(draft(vec![line(1, 1)])));
    assert_eq!(refused(desk.ask(&create)), "quote_not_found");
}
