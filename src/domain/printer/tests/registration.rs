//! Tests of a printer's registration: its versions, its connection, its key and the material that it names; and of the
//! events about it.

use super::*;
use crate::aggregate::DecisionContext;
use crate::maintenance::ReminderFields;
use crate::principal::Principal;
use crate::requirement::{Referenced, Requirement};

fn update(fields: PrinterFields) -> PrinterCommand {
    PrinterCommand::Update { if_version: None, fields: Box::new(fields) }
}

fn shop_with(printer: Printer) -> PrinterFixture {
    PrinterFixture { bench: Bench::new(), printer: Some(printer) }
}

fn names(decision: &Decision<Printer, PrinterAnswer>) -> Vec<&str> {
    decision.events.iter().map(|event| event.event.as_str()).collect()
}

#[test]
fn a_material_that_is_newly_named_must_not_be_deleted() {
    let loaded = |material: Option<u32>, name: &str| PrinterFields {
        name: name.to_owned(),
        loaded_material_id: material.map(id),
        ..fields()
    };
    let named = |material| vec![Requirement::not_deleted(Referenced::Material, id(material), "loadedMaterialId")];
    let mut shop = PrinterFixture { bench: Bench::new(), printer: None };
    let created = shop.ask(PrinterCommand::Create(Box::new(loaded(Some(24), "one")))).unwrap();
    assert_eq!(created.requirements, named(24));
    for (material, name, expected) in
        [(Some(24), "two", Vec::new()), (Some(25), "two", named(25)), (None, "two", Vec::new())]
    {
        let updated = shop.ask(update(loaded(material, name))).unwrap();
        assert_eq!(updated.requirements, expected, "{material:?}");
    }
}

#[test]
fn a_printer_at_another_address_is_connected_anew() {
    let paired = Printer { known_key: Some("ab12".to_owned()), ..PrinterFixture::idle().p().clone() };
    let disconnected = Printer { disconnected: true, connection: Connection::Disconnected, ..paired.clone() };
    let updated = |printer: &Printer, fields: PrinterFields| {
        let mut shop = shop_with(printer.clone());
        shop.ask(update(fields)).unwrap();
        (shop.p().connection, shop.p().activity, shop.p().known_key.is_some(), shop.p().pardons)
    };
    let own = || paired.fields.clone();
    let named = PrinterFields { name: "two".to_owned(), ..own() };
    assert_eq!(updated(&paired, named), (Connection::Connected, Activity::Idle, true, 0));
    let moved = PrinterFields { base_url: "http://10.0.0.9".to_owned(), ..own() };
    let anew = |knows_key| (Connection::Connecting, Activity::Offline, knows_key, 1);
    assert_eq!(updated(&paired, moved.clone()), anew(true));
    assert_eq!(updated(&paired, PrinterFields { encrypted_api_key: "sealed".to_owned(), ..own() }), anew(true));
    assert_eq!(updated(&paired, PrinterFields { kind: "server_rest".to_owned(), ..own() }), anew(false));
    assert_eq!(updated(&paired, PrinterFields { serial: Some("SN-1".to_owned()), ..own() }), anew(false));
    assert_eq!(updated(&disconnected, moved), (Connection::Disconnected, Activity::Idle, true, 1), "by a person only");
}

#[test]
fn the_first_sound_key_that_a_printer_shows_is_kept() {
    let idle = || PrinterFixture::idle().p().clone();
    let key_after = |printer: Printer, key: &str| {
        let mut shop = shop_with(printer);
        shop.ask(PrinterNews::KeyShown(key.to_owned())).unwrap();
        shop.p().known_key.clone()
    };
    let key = "0f".repeat(32);
    assert_eq!(key_after(idle(), &key), Some(key.clone()));
    assert_eq!(key_after(idle(), &format!("{key}0")), None, "longer than a digest");
    assert_eq!(key_after(idle(), "none of it"), None, "not hexadecimal");
    assert_eq!(key_after(Printer { known_key: Some("ab".to_owned()), ..idle() }, &key), Some("ab".to_owned()));
    assert_eq!(key_after(Printer { disconnected: true, ..idle() }, &key), None);
}

#[test]
fn a_printer_is_connected_and_disconnected_once() {
    let mut shop = PrinterFixture::idle();
    let state = |shop: &PrinterFixture| (shop.p().disconnected, shop.p().connection, shop.p().activity);
    assert_eq!(names(&shop.ask(PrinterCommand::Connect(false)).unwrap()), ["printer.disconnected"]);
    assert_eq!(state(&shop), (true, Connection::Disconnected, Activity::Offline));
    assert!(shop.ask(PrinterCommand::Connect(false)).unwrap().next.is_none());
    assert_eq!(names(&shop.ask(PrinterCommand::Connect(true)).unwrap()), ["printer.connected"]);
    assert_eq!(state(&shop), (false, Connection::Connecting, Activity::Offline));
    assert!(shop.ask(PrinterCommand::Connect(true)).unwrap().next.is_none(), "it is connected");
}

#[test]
fn only_what_people_change_is_a_new_version() {
    let mut shop = PrinterFixture::idle();
    assert_eq!(shop.p().revision(), Some(1));
    let bench = Bench::new();
    let maintenance = |on| PrinterCommand::Maintenance { on, note: None };
    for (by, on, version) in
        [(Principal::Machine, true, 2), (Principal::System, false, 2), (Principal::Anonymous, true, 3)]
    {
        let cx = DecisionContext { by: &by, ..bench.cx() };
        let decision = maintenance(on).decide(shop.printer.as_ref(), id(1), &cx).unwrap();
        shop.printer = decision.next;
        assert_eq!(shop.p().revision(), Some(version), "{by:?}");
    }
    let former = Printer { revision: 0, ..shop.p().clone() };
    assert_eq!(former.revision(), Some(1), "a printer from before versions were counted");
}

#[test]
fn an_edit_states_the_version_that_its_author_read() {
    let fields = Box::new(fields());
    assert_eq!(PrinterCommand::Update { if_version: Some(7), fields: fields.clone() }.if_version(), Some(7));
    assert_eq!(PrinterCommand::Update { if_version: None, fields }.if_version(), None);
    assert_eq!(PrinterCommand::Archive.if_version(), None);
    let fields = ReminderFields {
        name: "Clean the bed".to_owned(),
        note: None,
        every_hours: None,
        every_prints: Some(25),
        every_grams: None,
        every_failures: None,
        blocking: false,
    };
    let change = ReminderCommand::Change { id: id(7), if_version: Some(8), fields: fields.clone() };
    assert_eq!((change.if_version(), ReminderCommand::Remind(fields).if_version()), (Some(8), None));
}

#[test]
fn silence_takes_the_activity_unless_the_printers_server_knew_more() {
    let silent = |printer: &Printer, connection| {
        let mut shop = shop_with(printer.clone());
        let next = shop.ask(PrinterNews::Silent(connection, "no answer".into(), None)).unwrap().next;
        next.map(|next| (next.connection, next.activity, next.outage))
    };
    let idle = PrinterFixture::idle().p().clone();
    let lost = (Connection::Unreachable, Activity::Offline, true);
    assert_eq!(silent(&idle, Connection::Unreachable), Some(lost));
    assert_eq!(silent(&idle, Connection::Connected), None, "that is no silence");
    assert_eq!(silent(&Printer { disconnected: true, ..idle.clone() }, Connection::Unreachable), None);
    let failed = Printer { connection: Connection::FirmwareDisconnected, activity: Activity::Error, ..idle };
    let away = (Connection::FirmwareDisconnected, Activity::Error, true);
    assert_eq!(silent(&failed, Connection::FirmwareDisconnected), Some(away));
    assert_eq!(silent(&failed, Connection::Unreachable), Some(lost));
}

#[test]
fn an_old_file_that_is_printed_again_is_told_once() {
    let mut shop = PrinterFixture::idle();
    shop.ask(AttemptCommand::Cancel(id(ATTEMPT))).unwrap();
    let file = format!("JOB-000001_{}.gcode", id(ATTEMPT));
    let mut subjects = |state, file: &str| -> Vec<String> {
        shop.sees(state, Some(file), None).created.into_iter().map(|mail| mail.subject).collect()
    };
    assert_eq!(subjects(Activity::Printing, "vase.gcode"), Vec::<String>::new());
    assert_eq!(subjects(Activity::Printing, &file), ["Unexpected print of an old file: one"]);
    assert_eq!(subjects(Activity::Paused, &file), Vec::<String>::new());
}
