//! Property tests: for every kind of aggregate, each value that can be parsed is stored in such a way that it reads
//! back unchanged, with numbers, times and texts at and beyond the accepted limits.
#![expect(clippy::unwrap_used, reason = "tests")]

mod mails;
mod scripts;

use std::convert::Infallible;

use proptest::prelude::*;
use proptest::sample::select;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::StoredAggregate;
use crate::rows::samples::{
    accounting, attempt, channel_order, claim, custom_request, delivery, endpoint, export, file, id, integration, job,
    kept_payment_event, mail, material, movement, number_gap, order, payment, posting, printer, quote, restore,
    sales_channel, sku, variant,
};
use crate::rows::{Doc, ModelOf, Part, read_doc};
use domain::access::AccessRow;
use domain::aggregate::{Aggregate, Command, Decision};
use domain::amount::Amount;
use domain::bounds::{
    EARLIEST, LATEST, MAX_AMOUNT, MAX_CENTS, MAX_LENGTH_MM, MAX_PRINT_SECONDS, MAX_QUANTITY, filament_mm, length_mm,
};
use domain::custom_request::CustomRequestCreated;
use domain::endpoint::Delivery;
use domain::file::{File, FileCommand, FileKind, FileMetadata, GcodeForm};
use domain::id::Id;
use domain::invoice::InvoiceRow;
use domain::launch::SlicingTarget;
use domain::mail::Mail;
use domain::material::{Material, MaterialCommand, MaterialFields, MaterialRow, MaterialType};
use domain::order::{NewOrder, Order, OrderCommand, OrderCreated, OrderKind, OrderLine, OrderRow, ProductionData};
use domain::printer::PrinterRow;
use domain::sku::{Dimensions, MachineType, Sku, SkuCommand, SkuFields};
use domain::testing::{Bench, Written, same};
use domain::time::Timestamp;

/// Generates JSON values at the limits of their types.
fn extreme() -> impl Strategy<Value = Value> {
    prop_oneof![
        select(vec![0_i64, 1, -1, i64::MAX, i64::MIN, 9_000_000_000_000_000, 1_000_000_000, 4_294_967_295])
            .prop_map(Value::from),
        select(vec![0.001, -0.5, 1e9, 1e12, 999_999_999.999, 0.1, 9e12]).prop_map(Value::from),
        select(vec![
            EARLIEST.to_string(),
            LATEST.to_string(),
            "9999-12-30T22:00:00.001Z".to_owned(),
            "1e300".to_owned()
        ])
        .prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        Just(json!("a\0b\u{7f}\u{2028}")),
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
    ]
}

/// Replaces one member of a document, at any depth, with a value; `at` selects the member.
fn spoil(doc: &mut Value, at: &mut usize, value: &Value) -> bool {
    let members: Vec<&mut Value> = match doc {
        Value::Object(members) => members.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        _ => Vec::new(),
    };
    for member in members {
        if *at == 0 {
            *member = value.clone();
            return true;
        }
        *at -= 1;
        if spoil(member, at, value) {
            return true;
        }
    }
    false
}

/// Parses a document after the given replacements; `None` if it cannot be parsed.
fn spoilt<T: DeserializeOwned>(doc: &Value, changes: &[(usize, Value)]) -> Option<T> {
    let mut doc = doc.clone();
    for (at, value) in changes {
        spoil(&mut doc, &mut { *at }, value);
    }
    serde_json::from_value(doc).ok()
}

fn aggregate_reads_back<T: StoredAggregate + PartialEq>(whole: &T, changes: &[(usize, Value)]) {
    let doc = serde_json::to_value(whole).unwrap();
    let Some(state) = spoilt::<T>(&doc, changes) else { return };
    let row = state.snapshot(id(1), 1, false).unwrap();
    let facts = row.facts();
    let read: T = read_doc(facts.schema, facts.doc).unwrap_or_else(|error| panic!("{error}: {}", facts.doc));
    assert_eq!(read, state);
}

fn part_reads_back<P: Part + PartialEq + std::fmt::Debug>(whole: &P, changes: &[(usize, Value)]) {
    let doc = serde_json::to_value(whole).unwrap();
    let Some(part) = spoilt::<P>(&doc, changes) else { return };
    let row: ModelOf<P> = part.row().unwrap();
    let read: P = row.read().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read, part);
}

domain::drawn_cases! {
    400 of 2_000;
    #[test]
    fn what_can_be_read_reads_back_as_it_was_written(changes in prop::collection::vec((0_usize..60, extreme()), 1..4)) {
        let changes = &changes[..];
        aggregate_reads_back(&order(1), changes);
        aggregate_reads_back(&material(1), changes);
        aggregate_reads_back(&sku(1, "A"), changes);
        aggregate_reads_back(&file(1), changes);
        aggregate_reads_back(&printer(1), changes);
        aggregate_reads_back(&endpoint(1), changes);
        aggregate_reads_back(&mail(1), changes);
        aggregate_reads_back(&kept_payment_event(1), changes);
        aggregate_reads_back(&integration(1), changes);
        aggregate_reads_back(&restore(1), changes);
        aggregate_reads_back(&sales_channel(1), changes);
        aggregate_reads_back(&channel_order(1, 1), changes);
        aggregate_reads_back(&custom_request(1), changes);
        aggregate_reads_back(&quote(1), changes);
        aggregate_reads_back(&export(1), changes);
        aggregate_reads_back(&accounting(), changes);
        aggregate_reads_back(&posting(1), changes);
        part_reads_back(&job(1, 1), changes);
        part_reads_back(&attempt(1, 1, 1, 1), changes);
        part_reads_back(&payment(1, 1), changes);
        part_reads_back(&movement(1, 1, 1), changes);
        part_reads_back(&claim(1, 1), changes);
        part_reads_back(&delivery(1, 1, 1), changes);
        part_reads_back(&variant(1, 1), changes);
        part_reads_back(&number_gap(1, 1, 6, 105), changes);
    }
}

/// Generates numbers from 0 to `bound`; the two extremes are frequent.
fn up_to(bound: i64) -> impl Strategy<Value = i64> {
    prop_oneof![Just(0), Just(1), Just(bound), 0..=bound]
}

/// Generates times within the accepted limits; the limits themselves are frequent.
fn any_time() -> impl Strategy<Value = Timestamp> {
    prop_oneof![Just(EARLIEST), Just(LATEST), (EARLIEST.0..=LATEST.0).prop_map(Timestamp)]
}

/// Generates lengths in the range accepted from clients.
fn any_length() -> impl Strategy<Value = f64> {
    prop_oneof![Just(MAX_LENGTH_MM), 0.0..MAX_LENGTH_MM].prop_map(|mm| length_mm(mm).unwrap_or(0.001))
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,20}", Just("a\u{7f}\u{2028}\\\"'\u{feff}🖨".to_owned())]
}

/// Row that a commit writes in addition to the state; it must read back as written.
trait KeptRow {
    fn reads_back(&self);
}

/// Asserts that a part of an aggregate reads back from its row unchanged.
fn row_reads_back<P: Part>(part: &P) {
    let row: ModelOf<P> = part.row().unwrap();
    let read: P = row.read().unwrap_or_else(|error| panic!("{error}"));
    let (read, part) = (serde_json::to_value(&read).unwrap(), serde_json::to_value(part).unwrap());
    assert!(same(&read, &part), "{part} became {read}");
}

impl KeptRow for Infallible {
    fn reads_back(&self) {
        match *self {}
    }
}

impl KeptRow for Mail {
    fn reads_back(&self) {
        state_reads_back(self);
    }
}

impl KeptRow for Delivery {
    fn reads_back(&self) {
        row_reads_back(self);
    }
}

impl KeptRow for AccessRow {
    fn reads_back(&self) {
        match self {
            Self::User(user) => row_reads_back(user),
            Self::ApiKey(key) => row_reads_back(key),
            Self::Session(session) => row_reads_back(session),
            Self::SessionGone(_) => {}
        }
    }
}

impl KeptRow for OrderRow {
    fn reads_back(&self) {
        match self {
            Self::Job(job) => row_reads_back(&**job),
            Self::Attempt(attempt) => row_reads_back(attempt),
            Self::Payment(payment) => row_reads_back(payment),
        }
    }
}

impl KeptRow for InvoiceRow {
    fn reads_back(&self) {
        match self {
            Self::Issued(document) => row_reads_back(&**document),
            Self::Payment(payment) => row_reads_back(payment),
        }
    }
}

impl KeptRow for OrderCreated {
    fn reads_back(&self) {
        match self {
            Self::Mail(mail) => KeptRow::reads_back(&**mail),
            Self::Invoice(new) => {
                state_reads_back(&new.invoice);
                new.rows.iter().for_each(KeptRow::reads_back);
            }
        }
    }
}

impl KeptRow for CustomRequestCreated {
    fn reads_back(&self) {
        match self {
            Self::Mail(mail) => state_reads_back(&**mail),
            Self::Photo(file) => state_reads_back(&**file),
        }
    }
}

impl KeptRow for MaterialRow {
    fn reads_back(&self) {
        match self {
            Self::Movement(movement) => row_reads_back(movement),
            Self::Claim(claim) => row_reads_back(claim),
            Self::Link(link) => row_reads_back(&**link),
            Self::ClaimGone(_) | Self::LinkGone(_) => {}
        }
    }
}

impl KeptRow for PrinterRow {
    fn reads_back(&self) {
        match self {
            Self::Reminder(reminder) => row_reads_back(&**reminder),
            Self::Entry(entry) => row_reads_back(&**entry),
            Self::ReminderGone(_) => {}
        }
    }
}

fn state_reads_back<T: StoredAggregate>(state: &T) {
    let row = state.snapshot(id(1), 1, false).unwrap();
    let facts = row.facts();
    let read: T = read_doc(facts.schema, facts.doc).unwrap_or_else(|error| panic!("{error}: {}", facts.doc));
    let (read, state) = (serde_json::to_value(&read).unwrap(), serde_json::to_value(state).unwrap());
    assert!(same(&read, &state), "{state} became {read}");
}

/// Decides a command on the current state. Asserts that an accepted decision reads back from the store's rows, both the
/// state and the additional rows.
fn decided<T, C>(bench: &Bench, this: &mut Option<T>, of: Id, command: &C) -> Option<Decision<T, C::Answer>>
where
    T: StoredAggregate + Aggregate<Row: Written + KeptRow, Created: Written + KeptRow>,
    C: Command<T>,
{
    let decision = bench.tell(this, of, command).ok()?;
    decision.rows.iter().for_each(KeptRow::reads_back);
    decision.created.iter().for_each(KeptRow::reads_back);
    decision.next.iter().for_each(state_reads_back);
    Some(decision)
}

fn accepted<T, C>(bench: &Bench, this: &mut Option<T>, command: &C) -> bool
where
    T: StoredAggregate + Aggregate<Row: Written + KeptRow, Created: Written + KeptRow>,
    C: Command<T>,
{
    decided(bench, this, id(1), command).is_some()
}

prop_compose! {
    fn any_make()(
        need in up_to(MAX_AMOUNT.0), plate in 1..=MAX_QUANTITY, (x, y, z) in (any_length(), any_length(), any_length()),
        filament in 0.0..2e9_f64, seconds in up_to(MAX_PRINT_SECONDS), file: bool, sized: bool,
    ) -> ProductionData {
        ProductionData {
            units_per_plate: plate,
            material_id: id(200),
            need: Amount(need),
            further: Vec::new(),
            sliced_for: SlicingTarget::default(),
            machine_type: MachineType::FdmStandard,
            dimensions: sized.then_some(Dimensions { x, y, z }),
            file_id: file.then(|| id(400)),
            source: None,
            file_form: GcodeForm::default(),
            file_filament_mm: filament_mm(filament),
            estimated_seconds: Some(seconds),
        }
    }
}

proptest! {
    #[test]
    fn orders_that_are_accepted_read_back(
        now in any_time(), due in prop::option::of(any_time()), make in any_make(), parts in 1..=MAX_QUANTITY,
        price in up_to(MAX_CENTS), paid in prop::collection::vec(up_to(MAX_CENTS), 0..4), text in any_text(),
    ) {
        let mut bench = Bench::new();
        bench.now = now;
        let parts = parts.min(make.units_per_plate.saturating_mul(bench.rules.max_jobs));
        let line = OrderLine {
            sku_id: id(300), quantity: parts, unit_price_cents: price, description: text.clone(), tax_rate_bps: 0,
            make: Some(make), kit_line: None, per_set: None,
        };
        let new = NewOrder {
            kind: OrderKind::Manual, site: None, made_by: None, customer_email: None, buyer: None, lines: vec![line], currency: "usd".to_owned(),
            notes: Some(text.clone()), internal_notes: Some(text.clone()), shipping_address: None, priority: Some(9), due_at: due,
            draft: false, own_use: false, customer_id: None,
        };
        let mut order = None;
        let created = accepted::<Order, _>(&bench, &mut order, &OrderCommand::Create(Box::new(new)));
        for cents in paid.into_iter().take(if created { 4 } else { 0 }) {
            let pay = OrderCommand::MarkPaid { amount_cents: Some(cents), method: "cash".to_owned(), reference: Some(text.clone()) };
            accepted(&bench, &mut order, &pay);
        }
    }

    #[test]
    fn what_a_shop_keeps_reads_back(
        now in any_time(), amounts in prop::collection::vec(up_to(MAX_AMOUNT.0), 4), make in any_make(), price in up_to(MAX_CENTS),
        size in 0..i64::from(u32::MAX), layers: u32, text in any_text(),
    ) {
        let mut bench = Bench::new();
        bench.now = now;
        let fields = MaterialFields {
            name: text.clone(), kind: MaterialType::Filament, color: Some(text.clone()), brand: None, variant: Some(text.clone()), vendor_code: Some(text.clone()),
            location: Some(text.clone()), unit_cost_cents: Some(Amount(amounts[3])), reorder_point: Amount(amounts[0]), reorder_quantity: Amount(amounts[1]),
        };
        let mut material = None;
        accepted::<Material, _>(&bench, &mut material, &MaterialCommand::Create { fields: Box::new(fields), quantity: Amount(amounts[2]) });
        for delta in [amounts[3], -amounts[2], amounts[1]] {
            let adjust = MaterialCommand::Adjust { delta: Amount(delta), reason: text.clone() };
            accepted(&bench, &mut material, &adjust);
        }
        let metadata = FileMetadata {
            slicer: Some(text.clone()), seconds: make.estimated_seconds, grams: Some(make.need), filament_mm: make.file_filament_mm,
            thumbnail: None, layers: Some(layers), size: make.dimensions, form: Some(GcodeForm::default()), plates: Vec::new(),
        };
        let create = FileCommand::Create {
            name: text.clone(), kind: FileKind::Gcode, size, sha256: "ab".to_owned(), metadata: Box::new(metadata), photo_of: None, sliced_from: None,
        };
        let mut file = None;
        prop_assert!(accepted::<File, _>(&bench, &mut file, &create) && accepted(&bench, &mut file, &FileCommand::Archive));
        let image = text.replace(|c: char| c.is_control() || c.is_whitespace() || c == '\\', "_");
        let fields = SkuFields {
            code: text.clone(), slug: text.clone(), name: text.clone(), description: Some(text.clone()), kind: None,
            collections: vec![text.clone()], material_id: Some(make.material_id), components: Vec::new(),
            estimated_consumption: make.need, materials: Vec::new(), plate: 1,
            machine_type: make.machine_type, dimensions: make.dimensions, price_cents: price, currency: "usd".to_owned(),
            units_per_plate: make.units_per_plate, model_file_id: None, gcode_file_id: make.file_id, slicer_profile: None,
            estimated_seconds: make.estimated_seconds, images: vec![format!("/pictures/{image}")], public: true, active: true,
        };
        let mut sku = None;
        prop_assert!(accepted::<Sku, _>(&bench, &mut sku, &SkuCommand::Create(Box::new(fields))));
        accepted(&bench, &mut sku, &SkuCommand::Archive);
    }
}
