#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::de::DeserializeOwned;

use super::*;
use crate::agent::Skill;
use crate::aggregate::{Command, Decision, DecisionContext};
use crate::principal::Principal;
use crate::refusal::{Class, Refusal};
use crate::testing::Bench;
use crate::testing::commands::AnyAccessCommand;

mod facts;

const HOUR: i64 = 3_600_000;

struct House {
    bench: Bench,
    access: Option<Access>,
}

impl House {
    fn new() -> Self {
        Self { bench: Bench::new(), access: None }
    }
    fn tell<C: Command<Access>>(&mut self, command: &C) -> Result<Decision<Access, C::Answer>, Refusal> {
        self.bench.tell(&mut self.access, Id::ONLY, command)
    }
    fn now(&self) -> &Access {
        self.access.as_ref().unwrap()
    }
    fn user(&mut self, email: &str, role: Role) -> Id {
        self.tell(&add_user(email, role)).unwrap().answer.user.id
    }
    fn session(&mut self, user: Id, hash: &str) -> Id {
        let open = self.open(user, hash);
        self.tell(&open).unwrap().answer.session.id
    }
    /// Returns the command for a sign-in that has just verified the current password.
    fn open(&self, user: Id, hash: &str) -> OpenStaffSession {
        let checked_hash = self.now().user(user).map(|user| user.password_hash.clone()).unwrap_or_default();
        OpenStaffSession { user, checked_hash, hash: hash.to_owned(), agent: None, proof: None }
    }
    fn signed_in(&self, hash: &str) -> bool {
        self.now().session_by_hash(hash, self.bench.now, 12 * HOUR, 168 * HOUR).is_some()
    }
}

fn add_user(email: &str, role: Role) -> StaffCommand {
    let (email, name, password_hash) = (email.to_owned(), "Ada".to_owned(), "$argon2id$".to_owned());
    StaffCommand::Add { email, name, password_hash, role }
}

fn change(id: Id, change: UserEdit) -> StaffCommand {
    StaffCommand::Update { id, if_version: None, checked_hash: None, change, keep: None }
}

fn active(id: Id, active: bool) -> StaffCommand {
    change(id, UserEdit { active: Some(active), ..UserEdit::default() })
}

fn update(id: Id) -> StaffCommand {
    change(id, UserEdit::default())
}

fn demote(id: Id) -> StaffCommand {
    change(id, UserEdit { role: Some(Role::Operator), ..UserEdit::default() })
}

fn key(hash: &str, role: Role, customer_email: Option<&str>, expires_at: Option<Timestamp>) -> AddKey {
    AddKey {
        name: "shop".to_owned(),
        hash: hash.to_owned(),
        prefix: "key_test_".to_owned(),
        last4: "abcd".to_owned(),
        role,
        customer_email: customer_email.map(str::to_owned),
        expires_at,
    }
}

#[test]
fn nobody_sets_their_own_password_without_the_present_one() {
    let mut house = House::new();
    let ada = house.user("ada@example.org", Role::Admin);
    let by = Principal::User { id: ada, email: "ada@example.org".to_owned(), role: Role::Admin };
    let cx = DecisionContext { by: &by, ..house.bench.cx() };
    let decide = |command: &StaffCommand| command.decide(Some(house.now()), Id::ONLY, &cx);
    let password = |checked_hash: Option<&str>| StaffCommand::Update {
        id: ada,
        if_version: None,
        checked_hash: checked_hash.map(str::to_owned),
        change: UserEdit { password_hash: Some("$new".to_owned()), ..UserEdit::default() },
        keep: None,
    };
    let refusal = decide(&password(None)).unwrap_err();
    assert_eq!((refusal.class, refusal.code.as_str()), (Class::Forbidden, "own_password"));
    assert!(decide(&password(Some("$argon2id$"))).is_ok());
    assert!(decide(&change(ada, UserEdit { name: Some("Ann".to_owned()), ..UserEdit::default() })).is_ok());
    house.tell(&password(None)).unwrap();
}

#[test]
fn addresses_have_one_form() {
    assert_eq!(normal_email("  Ada@Example.COM ").unwrap(), "ada@example.com");
    assert_eq!(normal_email("ada.m.l+o'b@x-y.example").unwrap(), "ada.m.l+o'b@x-y.example");
    for bad in [
        "",
        "ada",
        "@example.com",
        "ada@",
        "a b@example.com",
        "ada@-x.com",
        "ada@x..com",
        "a@b@c",
        "ä@example.com",
        ".ada@example.com",
        "ada.@example.com",
        "a..da@example.com",
    ] {
        assert_eq!(normal_email(bad).unwrap_err().faults[0].path, "email", "{bad}");
    }
}

#[test]
fn an_address_is_one_users_until_they_are_deleted() {
    let mut house = House::new();
    house.user("ada@example.com", Role::Admin);
    let second = house.user("bob@example.com", Role::Operator);
    assert_eq!(house.tell(&add_user("BOB@example.com", Role::Admin)).unwrap_err().code, "email_taken");
    house.tell(&StaffCommand::Remove(second)).unwrap();
    house.user("bob@example.com", Role::Operator);
    assert_eq!(house.tell(&add_user("c@example.com", Role::Customer)).unwrap_err().class, Class::Invalid);
    assert_eq!(house.tell(&update(second)).unwrap_err().code, "user_not_found");
}

#[test]
fn the_last_admin_stays_one() {
    let mut house = House::new();
    let ada = house.user("ada@example.com", Role::Admin);
    assert_eq!(house.tell(&demote(ada)).unwrap_err().code, "last_admin");
    assert_eq!(house.tell(&StaffCommand::Remove(ada)).unwrap_err().code, "last_admin");
    house.user("bob@example.com", Role::Admin);
    house.tell(&demote(ada)).unwrap();
}

#[test]
fn a_new_password_ends_the_other_sessions_and_a_new_role_all() {
    let mut house = House::new();
    house.user("ada@example.com", Role::Admin);
    let bob = house.user("bob@example.com", Role::Admin);
    let current_session = house.session(bob, "one");
    house.session(bob, "two");
    let password = StaffCommand::Update {
        id: bob,
        if_version: None,
        checked_hash: None,
        change: UserEdit { password_hash: Some("$argon2id$new".to_owned()), ..UserEdit::default() },
        keep: Some(current_session),
    };
    house.tell(&password).unwrap();
    assert_eq!((house.signed_in("one"), house.signed_in("two")), (true, false));
    let demoted = house.tell(&demote(bob)).unwrap();
    assert!(demoted.rows.iter().any(|row| matches!(row, AccessRow::SessionGone(id) if *id == current_session)));
    assert!(!house.signed_in("one"));
    assert!(house.tell(&demote(bob)).unwrap().next.is_none());
}

#[test]
fn who_waited_with_a_password_that_was_changed_meanwhile_is_refused() {
    let mut house = House::new();
    let ada = house.user("ada@example.com", Role::Admin);
    let waiting = house.open(ada, "late");
    let new = |hash: &str| UserEdit { password_hash: Some(hash.to_owned()), ..UserEdit::default() };
    let checked_hash = house.now().user(ada).map(|user| user.password_hash.clone());
    let first = StaffCommand::Update { id: ada, if_version: None, checked_hash, change: new("$1"), keep: None };
    let StaffCommand::Update { checked_hash, .. } = first.clone() else { unreachable!() };
    let second = StaffCommand::Update { id: ada, if_version: None, checked_hash, change: new("$2"), keep: None };
    house.tell(&first).unwrap();
    assert_eq!(house.tell(&waiting).unwrap_err().code, CREDENTIALS_CHANGED);
    assert_eq!(house.tell(&second).unwrap_err().code, CREDENTIALS_CHANGED);
    assert_eq!(house.now().user(ada).unwrap().password_hash, "$1");
    house.session(ada, "in time");
    assert!(house.signed_in("in time") && !house.signed_in("late"));
}

#[test]
fn what_is_kept_for_repeats_holds_no_hash() {
    let mut house = House::new();
    let user = house.tell(&add_user("ada@example.com", Role::Admin)).unwrap().answer;
    let key = house.tell(&key("secret-hash", Role::Admin, None, None)).unwrap().answer;
    let open = house.open(user.user.id, "secret-hash");
    let session = house.tell(&open).unwrap().answer;
    holds_no_hash(&user);
    holds_no_hash(&key);
    holds_no_hash(&session);
}

fn holds_no_hash<A: Serialize + DeserializeOwned>(answer: &A) {
    let text = serde_json::to_string(answer).unwrap();
    assert!(!text.contains("secret-hash") && !text.contains("$argon2id$"), "{text}");
    serde_json::from_str::<A>(&text).unwrap();
}

#[test]
fn a_change_of_an_older_version_is_stale() {
    let mut house = House::new();
    let ada = house.user("ada@example.com", Role::Admin);
    let rename = |name: &str, if_version| StaffCommand::Update {
        id: ada,
        if_version,
        checked_hash: None,
        change: UserEdit { name: Some(name.to_owned()), ..UserEdit::default() },
        keep: None,
    };
    house.tell(&rename("Ada L.", Some(1))).unwrap();
    assert_eq!(house.tell(&rename("Ada M.", Some(1))).unwrap_err().class, Class::Stale);
    house.tell(&rename("Ada M.", None)).unwrap();
    assert_eq!(house.now().user(ada).unwrap().version, 3);
}

#[test]
fn who_is_not_active_has_no_session_and_does_not_count_as_an_admin() {
    let mut house = House::new();
    let ada = house.user("ada@example.com", Role::Admin);
    let bob = house.user("bob@example.com", Role::Admin);
    house.session(bob, "one");
    house.tell(&active(bob, false)).unwrap();
    assert!(!house.signed_in("one"));
    let open = house.open(bob, "two");
    assert_eq!(house.tell(&open).unwrap_err().code, CREDENTIALS_CHANGED);
    for refused in [active(ada, false), demote(ada), StaffCommand::Remove(ada)] {
        assert_eq!(house.tell(&refused).unwrap_err().code, "last_admin");
    }
    house.tell(&active(bob, true)).unwrap();
    house.tell(&active(ada, false)).unwrap();
}

#[test]
fn sessions_end_idle_or_old() {
    let mut house = House::new();
    let ada = house.user("ada@example.com", Role::Admin);
    let one = house.session(ada, "one");
    house.session(ada, "two");
    house.bench.now = house.bench.now.plus_ms(11 * HOUR);
    house.tell(&AccessCommand::Used { keys: vec![], sessions: vec![(one, house.bench.now)] }).unwrap();
    house.bench.now = house.bench.now.plus_ms(2 * HOUR);
    assert_eq!((house.signed_in("one"), house.signed_in("two")), (true, false));
    let swept = house.tell(&AccessCommand::Sweep { idle_ms: 12 * HOUR, life_ms: 168 * HOUR }).unwrap();
    assert_eq!((swept.rows.len(), house.now().sessions.size()), (1, 1));
    house.tell(&AccessCommand::EndSession(one)).unwrap();
    assert!(!house.signed_in("one"));
    assert!(house.tell(&AccessCommand::EndSession(one)).unwrap().next.is_none());
}

#[test]
fn keys_expire_and_are_revoked() {
    let mut house = House::new();
    let now = house.bench.now;
    assert_eq!(house.tell(&key("a", Role::Operator, None, Some(now))).unwrap_err().faults[0].path, "expiresAt");
    assert_eq!(house.tell(&key("a", Role::Operator, Some("c@x.com"), None)).unwrap_err().class, Class::Invalid);
    house.tell(&key("a", Role::Customer, Some("C@x.com"), Some(now.plus_ms(10)))).unwrap();
    let api_key = house.now().key_by_hash("a", now).unwrap().clone();
    assert_eq!(api_key.customer_email.as_deref(), Some("c@x.com"));
    assert_eq!(house.now().key_by_hash("a", now.plus_ms(10)), Err(KeyRefusal::Expired));
    assert_eq!(house.now().key_by_hash("b", now), Err(KeyRefusal::Unknown));
    house.tell(&RevokeKey(api_key.id)).unwrap();
    assert_eq!(house.now().key_by_hash("a", now), Err(KeyRefusal::Revoked));
    assert!(house.tell(&RevokeKey(api_key.id)).unwrap().next.is_none());
    assert_eq!(house.tell(&RevokeKey(Id::ONLY)).unwrap_err().class, Class::NotFound);
}

#[derive(Clone, Debug)]
enum Step {
    Add(u8, bool),
    Role(usize, bool),
    Password(usize),
    Remove(usize),
    Active(usize, bool),
    Stale(usize),
    Revoke(usize),
    End(usize),
    Open(usize, u8),
    Key(u8),
    Use(usize, i64),
    Sweep,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u8..6, any::<bool>()).prop_map(|(n, admin)| Step::Add(n, admin)),
        (any::<usize>(), any::<bool>()).prop_map(|(n, admin)| Step::Role(n, admin)),
        any::<usize>().prop_map(Step::Password),
        any::<usize>().prop_map(Step::Remove),
        (any::<usize>(), any::<bool>()).prop_map(|(n, yes)| Step::Active(n, yes)),
        any::<usize>().prop_map(Step::Stale),
        any::<usize>().prop_map(Step::Revoke),
        any::<usize>().prop_map(Step::End),
        (any::<usize>(), any::<u8>()).prop_map(|(n, hash)| Step::Open(n, hash)),
        any::<u8>().prop_map(Step::Key),
        (any::<usize>(), 0..HOUR).prop_map(|(n, at)| Step::Use(n, at)),
        Just(Step::Sweep),
    ]
}

proptest! {
    #[test]
    fn an_admin_always_remains_and_the_rows_say_what_memory_says(steps in proptest::collection::vec(any_step(), 1..60)) {
        let mut house = House::new();
        house.user("first@example.com", Role::Admin);
        let first: Vec<User> = house.now().users.values().map(|user| (**user).clone()).collect();
        let mut users: BTreeMap<Id, User> = first.into_iter().map(|user| (user.id, user)).collect();
        let (mut keys, mut sessions) = (BTreeMap::new(), BTreeMap::new());
        for step in steps {
            house.bench.now = house.bench.now.plus_ms(HOUR);
            let mut all: Vec<Id> = users.keys().copied().collect();
            all.push(Id::ONLY);
            let pick = |n: usize| all[n % all.len()];
            let role = |admin| if admin { Role::Admin } else { Role::Operator };
            let of = |id, role, password_hash| change(id, UserEdit { role, password_hash, ..UserEdit::default() });
            let command: AnyAccessCommand = match step {
                Step::Add(n, admin) => add_user(&format!("u{n}@example.com"), role(admin)).into(),
                Step::Role(n, admin) => of(pick(n), Some(role(admin)), None).into(),
                Step::Password(n) => of(pick(n), None, Some(format!("$argon2id${n}"))).into(),
                Step::Active(n, yes) => active(pick(n), yes).into(),
                Step::Stale(n) => {
                    let (id, change) = (pick(n), UserEdit::default());
                    StaffCommand::Update { id, if_version: Some(0), checked_hash: None, change, keep: None }.into()
                }
                Step::Revoke(n) => {
                    RevokeKey(keys.keys().nth(n % keys.len().max(1)).copied().unwrap_or(Id::ONLY)).into()
                }
                Step::End(n) => {
                    let session = sessions.keys().nth(n % sessions.len().max(1)).copied();
                    AccessCommand::EndSession(session.unwrap_or(Id::ONLY)).into()
                }
                Step::Remove(n) => StaffCommand::Remove(pick(n)).into(),
                Step::Open(n, hash) => house.open(pick(n), &hash.to_string()).into(),
                Step::Key(hash) => key(&hash.to_string(), Role::Operator, None, None).into(),
                Step::Use(n, back) => {
                    let at = house.bench.now.plus_ms(-back);
                    let some: Vec<Id> = sessions.keys().chain(keys.keys()).copied().collect();
                    let uses: Vec<_> = some.get(n % some.len().max(1)).map(|id| (*id, at)).into_iter().collect();
                    AccessCommand::Used { keys: uses.clone(), sessions: uses }.into()
                }
                Step::Sweep => AccessCommand::Sweep { idle_ms: 12 * HOUR, life_ms: 24 * HOUR }.into(),
            };
            let before = house.now().clone();
            let result = house.tell(&command);
            if matches!(command, AnyAccessCommand::Staff(StaffCommand::Update { if_version: Some(_), .. })) {
                prop_assert!(result.is_err(), "a stale change");
            }
            let Ok(decision) = result else { continue };
            for row in decision.rows {
                match row {
                    AccessRow::User(user) => { users.insert(user.id, user); }
                    AccessRow::ApiKey(key) => { keys.insert(key.id, key); }
                    AccessRow::Session(session) => { sessions.insert(session.id, session); }
                    AccessRow::SessionGone(id) => prop_assert!(sessions.remove(&id).is_some()),
                }
            }
            let now = house.now();
            prop_assert!(now.admins().count() > 0);
            prop_assert!(now.sessions.values().all(|session| now.user(session.user_id).is_some_and(|user| user.active)));
            for (id, was) in before.users.iter() {
                let is = &now.users[id];
                prop_assert!(!was.archived || is == was, "the deleted stay as they were");
                prop_assert_eq!(is.version, was.version + i64::from(is != was), "each change counts once");
            }
            for (hash, was) in before.keys.iter() {
                prop_assert!(was.revoked_at.is_none() || now.keys[hash].revoked_at == was.revoked_at, "revoked for ever");
            }
            let loaded = Access::default().hydrate(users.values().cloned(), keys.values().cloned(), sessions.values().cloned());
            prop_assert_eq!(&loaded, now);
        }
    }
}

#[test]
fn what_came_of_an_agents_command_is_told_and_changes_nothing() {
    let mut house = House::new();
    house.user("ada@example.com", Role::Admin);
    for (refused, outcome) in [(None, "done"), (Some("invalid_transition".to_owned()), "invalid_transition")] {
        let before = house.now().clone();
        let command = AccessCommand::Asked { skill: Skill::PausePrint, refused };
        assert_eq!((command.audited_act().name(), &*command.audit_facts().outcome), ("agent.pause-print", outcome));
        assert!(house.tell(&command).unwrap().rows.is_empty());
        assert_eq!(*house.now(), before);
    }
}
