#![expect(clippy::unwrap_used, reason = "tests")]
use proptest::prelude::*;

use super::*;
use crate::testing::{Bench, id};

fn tokens(name: &str) -> SealedTokens {
    SealedTokens { access: format!("a-{name}"), refresh: format!("r-{name}"), expires_at: Timestamp(9) }
}

fn begin(state: &str, session: u32) -> AccountingCommand {
    AccountingCommand::Begin {
        state_hash: state.to_owned(),
        session: id(session),
        sealed_verifier: format!("verifier of {state}"),
    }
}

fn redeem(state: &str, session: u32) -> RedeemState {
    RedeemState { state_hash: state.to_owned(), session: id(session) }
}

fn connect(name: &str) -> AccountingCommand {
    let tenant = Tenant { id: name.to_owned(), name: "Shop Ltd".to_owned() };
    AccountingCommand::Connect { tenant, by: "boss@example.org".to_owned(), tokens: tokens(name) }
}

fn execute<C: Command<Accounting>>(
    bench: &Bench,
    this: &mut Option<Accounting>,
    command: &C,
) -> Result<C::Answer, String> {
    bench.tell(this, Id::ONLY, command).map(|decided| decided.answer).map_err(|refused| refused.code)
}

#[test]
fn a_state_is_used_once_by_its_own_session_and_in_time() {
    let mut bench = Bench::new();
    let mut this = None;
    execute(&bench, &mut this, &begin("one", 1)).unwrap();
    execute(&bench, &mut this, &begin("two", 2)).unwrap();
    assert_eq!(execute(&bench, &mut this, &redeem("one", 2)).unwrap_err(), "other_session");
    let verifier = execute(&bench, &mut this, &redeem("one", 1)).unwrap();
    assert_eq!(verifier, "verifier of one", "a stranger did not use it up");
    assert_eq!(execute(&bench, &mut this, &redeem("one", 1)).unwrap_err(), INVALID_STATE, "twice");
    assert_eq!(execute(&bench, &mut this, &redeem("three", 1)).unwrap_err(), INVALID_STATE);
    bench.now = bench.now.plus_ms(REQUEST_LIFE_MS);
    assert_eq!(execute(&bench, &mut this, &redeem("two", 2)).unwrap_err(), INVALID_STATE, "too late");
}

#[test]
fn those_at_the_page_are_bounded_in_number() {
    let bench = Bench::new();
    let mut this = None;
    for n in 0..3 * MAX_REQUESTS {
        execute(&bench, &mut this, &begin(&n.to_string(), 1)).unwrap();
    }
    assert_eq!(this.as_ref().unwrap().requests.len(), MAX_REQUESTS);
    assert!(execute(&bench, &mut this, &redeem(&(3 * MAX_REQUESTS - 1).to_string(), 1)).is_ok(), "the newest counts");
}

#[test]
fn a_lost_connection_is_said_once_in_words_and_can_be_made_again() {
    let bench = Bench::new();
    let mut this = None;
    assert_eq!(execute(&bench, &mut this, &AccountingCommand::Disconnect).unwrap_err(), NOT_CONNECTED);
    execute(&bench, &mut this, &connect("first")).unwrap();
    let since = this.as_ref().unwrap().since;
    let lost = AccountingCommand::Lost { renewals: 0, words: "the token was used before".to_owned() };
    let mails = bench.tell(&mut this, Id::ONLY, &lost).unwrap().created;
    assert_eq!(mails.len(), 1);
    assert!(mails[0].text.contains("the token was used before"), "{}", mails[0].text);
    assert!(bench.tell(&mut this, Id::ONLY, &lost).unwrap().created.is_empty(), "once");
    assert!(this.as_ref().unwrap().lost.as_ref().unwrap().contains("must be reconnected"));
    execute(&bench, &mut this, &connect("second")).unwrap();
    let now = this.clone().unwrap();
    assert_eq!((now.lost, now.since), (None, since), "what was issued meanwhile is told");
    let late = AccountingCommand::Lost { renewals: 7, words: String::new() };
    execute(&bench, &mut this, &late).unwrap();
    assert!(this.as_ref().unwrap().link.is_some(), "of other tokens");
    execute(&bench, &mut this, &AccountingCommand::Disconnect).unwrap();
    assert_eq!(this.as_ref().unwrap().to_revoke.as_deref(), Some("r-second"));
    execute(&bench, &mut this, &AccountingCommand::Revoked).unwrap();
    assert_eq!(this.as_ref().unwrap().to_revoke, None);
}

proptest! {
    /// Checks that, whenever the server stops, a pair of tokens is replaced only by its own successor, and each renewal
    /// counts once.
    #[test]
    fn a_pair_is_replaced_once(steps in prop::collection::vec((0u8..3, 0u32..6), 0..60)) {
        let bench = Bench::new();
        let mut this = None;
        execute(&bench, &mut this, &connect("0")).unwrap();
        let mut replaced = 0;
        for (what, renewals) in steps {
            let before = this.clone().unwrap().link.unwrap();
            match what {
                0 => {
                    let begun = execute(&bench, &mut this, &AccountingCommand::Renew(renewals));
                    prop_assert_eq!(begun.is_ok(), renewals == before.renewals);
                }
                _ => {
                    let command = AccountingCommand::Renewed { renewals, tokens: tokens(&format!("after {renewals}")) };
                    let accepted = execute(&bench, &mut this, &command).is_ok();
                    prop_assert_eq!(accepted, renewals == before.renewals);
                    replaced += u32::from(accepted);
                }
            }
            let now = this.clone().unwrap().link.unwrap();
            prop_assert_eq!(now.renewals, replaced);
            if replaced > 0 {
                prop_assert_eq!(&now.tokens.refresh, &format!("r-after {}", replaced - 1));
            }
        }
    }
}

#[test]
fn tokens_that_are_too_long_are_refused() {
    let bench = Bench::new();
    let mut this = None;
    for (access, refresh, fits) in [(8_000, 8_000, true), (8_001, 8_000, false), (8_000, 8_001, false)] {
        let [access, refresh] = [access, refresh].map(|chars| "x".repeat(chars));
        let tokens = SealedTokens { access, refresh, expires_at: Timestamp(9) };
        let tenant = Tenant { id: "1".to_owned(), name: "Shop Ltd".to_owned() };
        let connect = AccountingCommand::Connect { tenant, by: "boss@example.org".to_owned(), tokens };
        let refused = execute(&bench, &mut this, &connect).err();
        assert_eq!(refused.as_deref(), (!fits).then_some("token_too_long"));
    }
}

#[test]
fn a_lost_connection_can_be_given_up_and_requests_that_are_over_go() {
    let mut bench = Bench::new();
    let mut this = None;
    let revoked = AccountingCommand::Revoked;
    execute(&bench, &mut this, &connect("first")).unwrap();
    assert!(bench.tell(&mut this, Id::ONLY, &revoked).unwrap().next.is_none(), "there is nothing to revoke");
    let lost = AccountingCommand::Lost { renewals: 0, words: "no".to_owned() };
    execute(&bench, &mut this, &lost).unwrap();
    execute(&bench, &mut this, &AccountingCommand::Disconnect).unwrap();
    let now = this.clone().unwrap();
    assert_eq!((now.lost, now.link, now.to_revoke), (None, None, None));
    assert_eq!(execute(&bench, &mut this, &AccountingCommand::Disconnect).unwrap_err(), NOT_CONNECTED);
    for (minutes, left) in [(0, 1), (9, 2), (1, 2)] {
        bench.now = bench.now.plus_ms(minutes * 60_000);
        execute(&bench, &mut this, &begin("state", 1)).unwrap();
        assert_eq!(this.as_ref().unwrap().requests.len(), left, "after {minutes} minutes more");
    }
}

#[test]
fn a_renewal_is_under_way_until_its_tokens_come() {
    let bench = Bench::new();
    let mut this = None;
    execute(&bench, &mut this, &connect("first")).unwrap();
    let mut renewing = Vec::new();
    let renewed = AccountingCommand::Renewed { renewals: 0, tokens: tokens("second") };
    for command in [AccountingCommand::Renew(0), renewed] {
        execute(&bench, &mut this, &command).unwrap();
        renewing.push(this.as_ref().unwrap().link.as_ref().unwrap().renewing);
    }
    assert_eq!(renewing, [true, false]);
}
