//! Tests of the limits of addresses, of the audit log's descriptions of commands, and of rejected values.

use super::*;
use crate::aggregate::{Aggregate, Confirmation};

fn paths(refusal: &Refusal) -> Vec<&str> {
    refusal.faults.iter().map(|fault| fault.path.as_str()).collect()
}

#[test]
fn each_part_of_an_address_is_bounded() {
    let mailbox = |chars: usize| format!("{}@example.org", "a".repeat(chars));
    let label = |chars: usize| format!("ann@{}.org", "x".repeat(chars));
    let whole = |last: usize| {
        let long = "x".repeat(63);
        format!("{}@{long}.{long}.{}", "a".repeat(64), "y".repeat(last))
    };
    assert_eq!((whole(61).len(), mailbox(64).len()), (254, 76));
    for good in [mailbox(64), label(63), whole(61), "ann@x".to_owned()] {
        assert_eq!(normal_email(&good), Ok(good));
    }
    for bad in [mailbox(65), label(64), whole(62), "ann@x-.org".to_owned(), "ann@x_y.org".to_owned()] {
        assert!(normal_email(&bad).is_err(), "{bad}");
    }
}

#[test]
fn the_audit_log_names_whom_a_command_was_about() {
    let mut house = House::new();
    let add = add_user("ada@example.com", Role::Admin);
    let user = house.tell(&add).unwrap().answer;
    let ada = user.user.id;
    assert_eq!(add.subject(&user), Some(("user", ada)));
    assert_eq!(FactorCommand::Reset(ada).subject(&user), Some(("user", ada)));
    let add = key("a", Role::Operator, None, None);
    let answer = house.tell(&add).unwrap().answer;
    let subject = Some(("api_key", answer.key.id));
    assert_eq!((add.subject(&answer), RevokeKey(answer.key.id).subject(&answer)), (subject, subject));
    let open = house.open(ada, "one");
    let opened = house.tell(&open).unwrap().answer;
    assert_eq!(open.subject(&opened), Some(("session", opened.session.id)));
    let end = AccessCommand::EndSession(opened.session.id);
    assert_eq!(end.subject(&Confirmation::Done), Some(("session", opened.session.id)));
    let sweep = AccessCommand::Sweep { idle_ms: 1, life_ms: 1 };
    assert_eq!(sweep.subject(&Confirmation::Done), None);
    assert!(!house.now().at_rest(), "every request needs it");
}

#[test]
fn the_audit_log_lists_the_settings_that_are_written() {
    let variables = || vec!["A".to_owned(), "B".to_owned()];
    let facts = |command: AccessCommand| {
        let facts = command.audit_facts();
        (facts.outcome, facts.detail)
    };
    let done = |detail: Option<&str>| ("done".to_owned(), detail.map(str::to_owned));
    assert_eq!(facts(AccessCommand::Configuring { variables: variables() }), done(Some(r#"{"planned":["A","B"]}"#)));
    let written = AccessCommand::Configured { variables: variables(), completes: false };
    assert_eq!(facts(written), done(Some(r#"{"written":["A","B"]}"#)));
    assert_eq!(facts(AccessCommand::EndSession(Id::ONLY)), done(None));
}

#[test]
fn the_setup_is_completed_once() {
    let mut house = House::new();
    let configured = |completes| AccessCommand::Configured { variables: Vec::new(), completes };
    let mut completed = Vec::new();
    let start = house.bench.now;
    for completes in [false, true, true, false] {
        house.bench.now = house.bench.now.plus_ms(1);
        house.tell(&configured(completes)).unwrap();
        completed.push(house.now().setup_completed_at.map(|at| at.since(start)));
    }
    assert_eq!(completed, [None, Some(2), Some(2), Some(2)]);
}

#[test]
fn the_first_admin_is_added_once_and_admins_are_listed_by_address() {
    let mut house = House::new();
    let [name, password_hash] = ["Zoe", "$argon2id$"].map(str::to_owned);
    let first = StaffCommand::AddFirstAdmin { email: "Zoe@example.com".to_owned(), name, password_hash };
    assert_eq!(house.tell(&first).unwrap().answer.user.role, Role::Admin);
    assert_eq!(house.tell(&first).unwrap_err().code, "admin_exists");
    house.user("ada@example.com", Role::Admin);
    house.user("bob@example.com", Role::Operator);
    let eve = house.user("eve@example.com", Role::Admin);
    house.tell(&active(eve, false)).unwrap();
    assert_eq!(house.now().admin_emails(), ["ada@example.com", "zoe@example.com"]);
}

#[test]
fn what_is_blank_malformed_or_there_already_is_refused() {
    let mut house = House::new();
    let blank = |email: &str| {
        let [email, name, password_hash] = [email, " ", "$argon2id$"].map(str::to_owned);
        StaffCommand::Add { email, name, password_hash, role: Role::Admin }
    };
    assert_eq!(paths(&house.tell(&blank("ada@example.com")).unwrap_err()), ["name"]);
    let ada = house.user("ada@example.com", Role::Admin);
    let rename = change(ada, UserEdit { name: Some(" ".to_owned()), ..UserEdit::default() });
    assert_eq!(paths(&house.tell(&rename).unwrap_err()), ["name"]);
    let unnamed = AddKey { name: " ".to_owned(), ..key("a", Role::Customer, Some("ann"), None) };
    assert_eq!(paths(&house.tell(&unnamed).unwrap_err()), ["name", "customerEmail"]);
    let add = key("a", Role::Operator, None, None);
    let new_key = house.tell(&add).unwrap().answer.key;
    assert_eq!(house.tell(&add).unwrap_err().code, "exists");
    let session = house.session(ada, "one");
    let open = house.open(ada, "one");
    assert_eq!(house.tell(&open).unwrap_err().code, "exists");
    let uses = |at: Timestamp| AccessCommand::Used { keys: vec![(new_key.id, at)], sessions: vec![(session, at)] };
    let (now, later) = (house.bench.now, house.bench.now.plus_ms(1));
    assert_eq!(house.tell(&uses(later)).unwrap().rows.len(), 2);
    assert!(house.tell(&uses(later)).unwrap().next.is_none(), "no later use");
    assert!(house.tell(&uses(now)).unwrap().next.is_none(), "an earlier one");
    let twice =
        AccessCommand::Used { keys: vec![(new_key.id, later.plus_ms(9)), (new_key.id, later)], sessions: vec![] };
    house.tell(&twice).unwrap();
    assert_eq!(house.now().key(new_key.id).unwrap().last_used_at, Some(later.plus_ms(9)));
}
