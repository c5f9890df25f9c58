//! Tests of the stored form of answers: a repeated request may be answered from data that an earlier version of the
//! server wrote.

#![expect(clippy::unwrap_used, reason = "tests")]

use serde_json::{Value, json};

use super::*;
use crate::access::{Access, AddKey, StaffCommand};
use crate::amount::Amount;
use crate::customer::{Customer, CustomerCommand};
use crate::endpoint::{Endpoint, EndpointCommand, ReplayAnswer};
use crate::invoice::{Invoice, InvoiceCommand};
use crate::maintenance::{EntryFields, ReminderFields};
use crate::material::{Material, MaterialCommand};
use crate::order::{JobAnswer, OrderAnswer};
use crate::parts_sync::{LinkCommand, StockSystem};
use crate::principal::Role;
use crate::printer::{LogMaintenance, ManualPrintAnswer, Printer, PrinterCommand, ReminderCommand};
use crate::sales_channel::VariantsAnswer;
use crate::sku::MachineType;
use crate::testing::invoices::{draft, line};
use crate::testing::orders::OrderDecider;
use crate::testing::samples::{pla, printer_fields};
use crate::testing::{Bench, Written, id};

fn stored(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap()
}

/// Returns the value of the only member of a stored answer; null if the member has a different name.
fn member(name: &str, answer: &impl Serialize) -> Value {
    let value = stored(answer);
    assert_eq!(value.as_object().unwrap().len(), 1, "{value}");
    value[name].clone()
}

/// Decides a command on a new or given aggregate and returns its answer.
fn answer<T, C>(this: &mut Option<T>, command: &C) -> C::Answer
where
    T: Aggregate<Row: Written, Created: Written>,
    C: Command<T>,
{
    Bench::new().tell(this, id(1), command).unwrap().answer
}

#[test]
fn answers_are_stored_under_their_names() {
    let desk = OrderDecider::sliced();
    let order = OrderAnswer { order: Box::new(desk.o().clone()) };
    assert_eq!(member("Order", &order)["id"], json!(desk.o().id));
    assert_eq!(member("Job", &JobAnswer { job: desk.job() })["id"], json!(desk.job().id));

    let mut material = None::<Material>;
    let create = MaterialCommand::Create { fields: Box::new(pla()), quantity: Amount::units(5) };
    assert_eq!(member("Material", &answer(&mut material, &create))["id"], json!(id(1)));
    let link = LinkCommand::Link { system: StockSystem::Parts, entry: 7, name: "PLA".to_owned() };
    assert_eq!(member("Linked", &answer(&mut material, &link)).as_array().unwrap().len(), 2);

    let mut printer = None::<Printer>;
    let create = PrinterCommand::Create(Box::new(printer_fields("one", MachineType::FdmStandard)));
    assert_eq!(member("Printer", &answer(&mut printer, &create))["id"], json!(id(1)));
    let fields = ReminderFields {
        name: "Nozzle".to_owned(),
        note: None,
        every_hours: None,
        every_prints: Some(9),
        every_grams: None,
        every_failures: None,
        blocking: false,
    };
    assert_eq!(
        member("Reminder", &answer(&mut printer, &ReminderCommand::Remind(fields))).as_array().unwrap().len(),
        2
    );
    let fields = EntryFields { done: "cleaned".to_owned(), note: None, parts: Vec::new(), cost_cents: None };
    let log = LogMaintenance { fields, done_at: None, resets: Vec::new() };
    assert_eq!(member("Logged", &answer(&mut printer, &log))["printerId"], json!(id(1)));
    assert_eq!(stored(&ManualPrintAnswer { id: id(3) }), json!({"Manual": id(3)}));

    let create = InvoiceCommand::Create(Box::new(draft(vec![line(1, 100, 0)])));
    assert_eq!(member("Invoice", &answer(&mut None::<Invoice>, &create))["id"], json!(id(1)));
    let create = CustomerCommand::Create { email: "ann@example.com".to_owned(), session_hash: None };
    assert_eq!(member("Customer", &answer(&mut None::<Customer>, &create))["id"], json!(id(1)));
    let (url, events) = ("https://example.com".to_owned(), vec!["order.paid".to_owned()]);
    let create = EndpointCommand::Create { url, events, encrypted_secret: String::new(), cursor: 0 };
    assert_eq!(member("Endpoint", &answer(&mut None::<Endpoint>, &create))["id"], json!(id(1)));
    assert_eq!(stored(&ReplayAnswer { count: 3 }), json!({"Count": 3}));
    assert_eq!(stored(&VariantsAnswer { variants: Vec::new() }), json!({"Variants": []}));
    assert_eq!(stored(&Confirmation::Done), json!("Done"));
}

#[test]
fn answers_about_access_are_stored_without_hashes() {
    let mut access = None::<Access>;
    let (email, name, password_hash) = ("ann@example.com".to_owned(), "Ann".to_owned(), "hash".to_owned());
    let add = StaffCommand::Add { email, name, password_hash, role: Role::Admin };
    assert_eq!(member("User", &answer(&mut access, &add))["passwordHash"], json!(""));
    let add = AddKey {
        name: "till".to_owned(),
        hash: "hash".to_owned(),
        prefix: "key_".to_owned(),
        last4: "1234".to_owned(),
        role: Role::Operator,
        customer_email: None,
        expires_at: None,
    };
    assert_eq!(member("Key", &answer(&mut access, &add))["hash"], json!(""));
}
