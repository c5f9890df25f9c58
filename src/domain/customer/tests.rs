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
