#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::testing::{Bench, id};

fn new_customer(bench: &Bench) -> Option<Customer> {
    let mut customer = None;
    let new = CustomerCommand::Create { email: " Ann@Example.ORG ".to_owned(), session_hash: None };
    bench.tell(&mut customer, id(1), &new).unwrap();
    customer
}

fn address(kind: AddressKind, of: Option<Id>, is_default: bool) -> AddressUpdate {
    let address = Address {
        line1: "1 Main Street".to_owned(),
        line2: None,
        city: "Springfield".to_owned(),
        region: None,
        postal_code: "62701".to_owned(),
        country: "US".to_owned(),
    };
    AddressUpdate { id: of, kind, address, is_default }
}

fn replace(addresses: Vec<AddressUpdate>) -> CustomerCommand {
    CustomerCommand::Update(Box::new(ProfileChange { addresses: Some(addresses), ..ProfileChange::default() }))
}

#[test]
fn the_address_is_kept_in_its_normal_form() {
    assert_eq!(new_customer(&Bench::new()).unwrap().email, "ann@example.org");
}

#[test]
fn only_what_is_given_changes_and_blanks_clear() {
    let bench = Bench::new();
    let mut customer = new_customer(&bench);
    let change = |name: Option<Option<&str>>, phone: Option<Option<&str>>| {
        let owned = |text: Option<Option<&str>>| text.map(|text| text.map(str::to_owned));
        CustomerCommand::Update(Box::new(ProfileChange {
            name: owned(name),
            phone: owned(phone),
            ..ProfileChange::default()
        }))
    };
    bench.tell(&mut customer, id(1), &change(Some(Some("Ann")), Some(Some("1")))).unwrap();
    bench.tell(&mut customer, id(1), &change(None, Some(Some("  ")))).unwrap();
    let customer = customer.unwrap();
    assert_eq!((customer.name.as_deref(), customer.phone), (Some("Ann"), None));
}

#[test]
fn a_list_of_addresses_replaces_the_one_before_and_keeps_ids() {
    use AddressKind::{Billing, Shipping};
    let bench = Bench::new();
    let mut customer = new_customer(&bench);
    let both = vec![address(Shipping, None, false), address(Shipping, None, false), address(Billing, None, false)];
    bench.tell(&mut customer, id(1), &replace(both)).unwrap();
    let addresses = customer.as_ref().unwrap().addresses.clone();
    assert_eq!(addresses.iter().map(|one| one.is_default).collect::<Vec<_>>(), [true, false, true]);
    let address_id = addresses[1].id;
    bench.tell(&mut customer, id(1), &replace(vec![address(Shipping, Some(address_id), false)])).unwrap();
    let addresses = &customer.as_ref().unwrap().addresses;
    assert_eq!((addresses.len(), addresses[0].id, addresses[0].is_default), (1, address_id, true));

    let wrong = vec![
        address(Shipping, Some(address_id), true),
        address(Shipping, Some(address_id), true),
        address(Shipping, Some(id(9)), false),
    ];
    let refusal = bench.tell(&mut customer, id(1), &replace(wrong)).unwrap_err();
    let paths: Vec<&str> = refusal.faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, ["addresses.1.id", "addresses.1.isDefault", "addresses.2.id"]);
}

#[test]
fn the_oldest_session_makes_room_and_those_that_expired_leave() {
    let mut bench = Bench::new();
    let mut customer = new_customer(&bench);
    for n in 0..=MAX_SESSIONS {
        bench.tell(&mut customer, id(1), &CustomerCommand::OpenSession { hash: format!("hash {n}") }).unwrap();
    }
    let sessions = &customer.as_ref().unwrap().sessions;
    assert_eq!((sessions.len(), sessions[0].hash.as_str()), (MAX_SESSIONS, "hash 1"));
    bench.now = bench.now.plus_ms(SESSION_LIFE_MS);
    bench.tell(&mut customer, id(1), &CustomerCommand::OpenSession { hash: "late".to_owned() }).unwrap();
    assert_eq!(customer.as_ref().unwrap().sessions.len(), 1);
    let session = customer.as_ref().unwrap().sessions[0].id;
    bench.tell(&mut customer, id(1), &CustomerCommand::EndSession(session)).unwrap();
    assert!(customer.unwrap().sessions.is_empty());
}

#[test]
fn a_customer_is_billed_and_shipped_to_by_the_default_addresses() {
    use AddressKind::{Billing, Shipping};
    let bench = Bench::new();
    let mut customer = new_customer(&bench);
    let none = customer.clone().unwrap();
    let buyer = none.buyer();
    assert_eq!((buyer.name.as_str(), buyer.email.as_deref()), ("ann@example.org", Some("ann@example.org")));
    assert_eq!((buyer.address, buyer.vat_id, buyer.language), (None, None, Language::English));
    assert_eq!(none.ships_to(), None);
    let at = |line1: &str, kind, is_default| {
        let update = address(kind, None, is_default);
        AddressUpdate { address: Address { line1: line1.to_owned(), ..update.address.clone() }, ..update }
    };
    let addresses =
        vec![at("a", Shipping, false), at("b", Billing, false), at("c", Billing, true), at("d", Shipping, true)];
    let owned = |text: &str| Some(Some(text.to_owned()));
    let change = ProfileChange {
        name: owned(" Ann "),
        company: owned("Ann Ltd"),
        tax_id: owned("de123456789"),
        locale: owned("de-AT"),
        addresses: Some(addresses),
        ..ProfileChange::default()
    };
    let change = CustomerCommand::Update(Box::new(change));
    bench.tell(&mut customer, id(1), &change).unwrap();
    let ann = customer.clone().unwrap();
    let buyer = ann.buyer();
    assert_eq!((buyer.name.as_str(), buyer.vat_id.as_deref()), ("Ann Ltd", Some("DE123456789")));
    assert_eq!((buyer.address.unwrap().line1.as_str(), buyer.language), ("c", Language::German));
    assert_eq!((ann.ships_to().unwrap().line1.as_str(), ann.language()), ("d", Language::German));
    assert_eq!(Customer { company: None, ..ann.clone() }.buyer().name, "Ann");
}

#[test]
fn what_changes_nothing_is_not_written() {
    let mut bench = Bench::new();
    let mut customer = new_customer(&bench);
    let created_at = bench.now;
    bench.now = bench.now.plus_ms(5);
    let rename = |name: &str| {
        let name = Some(Some(name.to_owned()));
        CustomerCommand::Update(Box::new(ProfileChange { name, ..ProfileChange::default() }))
    };
    for (command, is_written) in [
        (CustomerCommand::EndSession(id(9)), false),
        (rename(""), false),
        (rename("Ann"), true),
        (rename(" Ann "), false),
    ] {
        let decision = bench.tell(&mut customer, id(1), &command).unwrap();
        assert_eq!(decision.next.is_some(), is_written, "{command:?}");
    }
    let ann = customer.clone().unwrap();
    assert_eq!((ann.created_at, ann.updated_at), (created_at, bench.now));
    bench.tell(&mut customer, id(1), &CustomerCommand::OpenSession { hash: "one".to_owned() }).unwrap();
    let again = CustomerCommand::Create { email: "ann@example.org".to_owned(), session_hash: None };
    assert_eq!(bench.tell(&mut customer, id(1), &again).unwrap_err().code, "exists");
    let unknown = bench.tell(&mut None::<Customer>, id(1), &rename("Ann")).unwrap_err();
    assert_eq!(
        (unknown.code.as_str(), Customer::clash("customers.email").code.as_str()),
        ("customer_not_found", EMAIL_TAKEN)
    );
    let session = customer.unwrap().sessions[0].clone();
    let over = |ms| session.over(session.created_at.plus_ms(ms));
    assert_eq!([SESSION_LIFE_MS - 1, SESSION_LIFE_MS].map(over), [false, true]);
}

#[test]
fn the_number_of_addresses_is_bounded() {
    let bench = Bench::new();
    let mut customer = new_customer(&bench);
    let list = |count: usize| replace((0..count).map(|_| address(AddressKind::Billing, None, false)).collect());
    assert!(bench.tell(&mut customer, id(1), &list(MAX_ADDRESSES)).is_ok());
    let refusal = bench.tell(&mut customer, id(1), &list(MAX_ADDRESSES + 1)).unwrap_err();
    assert_eq!((refusal.faults.len(), refusal.faults[0].path.as_str()), (1, "addresses"));
}
