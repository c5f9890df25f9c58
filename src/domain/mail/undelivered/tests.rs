#![expect(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::mail::alert::{AlertDigest, AlertKind};
use crate::mail::{MailCommand, SealedLink, TryOutcome};
use crate::testing::{Bench, id};
use words::Language;

const MINUTE_MS: i64 = 60_000;

/// Email and the bench that sends it.
struct Desk {
    bench: Bench,
    mail: Option<Mail>,
}

impl Desk {
    fn new() -> Self {
        let bench = Bench::new();
        let mail = Mail::new(&bench.cx(), vec!["a@example.com".to_owned()], "Subject".to_owned(), "Text".to_owned());
        Self { bench, mail: Some(mail) }
    }

    /// Returns a desk with an email whose secret link works for some minutes.
    fn with_link(minutes: i64) -> Self {
        let Self { bench, mail } = Self::new();
        let sealed_link = Some(SealedLink { label: "Sign in".to_owned(), encrypted_url: "v1:x".to_owned() });
        let useless_at = Some(bench.now.plus_ms(minutes * MINUTE_MS));
        let mail = mail.map(|mail| Mail { sealed_link, useless_at, ..mail });
        Self { bench, mail }
    }

    fn mail(&self) -> &Mail {
        self.mail.as_ref().unwrap()
    }

    fn pass(&mut self, minutes: i64) {
        self.bench.now = self.bench.now.plus_ms(minutes * MINUTE_MS);
    }

    /// Reports the outcome of the attempt with a number.
    fn report(&mut self, number: u32, outcome: TryOutcome) {
        let tried = MailCommand::Tried { number, outcome, sent_in: Vec::new() };
        self.bench.tell(&mut self.mail, id(1), &tried).unwrap();
    }

    fn attempt(&mut self, outcome: TryOutcome) {
        self.report(self.mail().tries + 1, outcome);
    }

    /// Lets all attempts of a round fail, each when it is due.
    fn exhaust(&mut self) {
        while self.mail().state == MailState::Queued {
            self.bench.now = self.bench.now.max(self.mail().next_at);
            self.attempt(later());
        }
    }

    fn act(&mut self, act: UndeliveredCommand) -> Result<MailState, String> {
        let decided = self.bench.tell(&mut self.mail, id(1), &act);
        decided.map(|decided| decided.answer.state).map_err(|refusal| refusal.code)
    }
}

fn later() -> TryOutcome {
    TryOutcome::Deferred("the email service responded with 503".to_owned())
}

fn rejection() -> TryOutcome {
    TryOutcome::Rejected("550 no such mailbox".to_owned())
}

#[test]
fn the_reason_why_an_email_was_abandoned_is_kept() {
    let mut desk = Desk::new();
    assert_eq!(desk.mail().reason_to_abandon(), None);
    desk.exhaust();
    assert_eq!((desk.mail().reason_to_abandon(), desk.mail().tries), (Some(MailFailure::Exhausted), MAX_TRIES));
    assert_eq!(desk.mail().last_tried_at(), Some(desk.bench.now));
    let mut desk = Desk::new();
    desk.attempt(rejection());
    assert_eq!(desk.mail().reason_to_abandon(), Some(MailFailure::Rejected));
    assert_eq!(desk.mail().error.as_deref(), Some("550 no such mailbox"));
    let mut desk = Desk::new();
    desk.attempt(TryOutcome::Unsendable("the agent gateway is no longer configured".to_owned()));
    assert_eq!(desk.mail().reason_to_abandon(), Some(MailFailure::Unsendable));
    let mut desk = Desk::with_link(10);
    desk.exhaust();
    assert_eq!(desk.mail().reason_to_abandon(), Some(MailFailure::Expired));
    // Those of earlier versions have no reason.
    for (tries, useless_at, reason) in [
        (1, None, MailFailure::Rejected),
        (MAX_TRIES, None, MailFailure::Exhausted),
        (3, Some(desk.bench.now), MailFailure::Expired),
    ] {
        let old = Mail { failure: None, tries, useless_at, ..desk.mail().clone() };
        assert_eq!(old.reason_to_abandon(), Some(reason));
    }
}

#[test]
fn an_email_is_sent_again_with_as_many_attempts_as_at_first_and_late_reports_change_nothing() {
    let mut desk = Desk::new();
    desk.exhaust();
    desk.pass(5);
    assert_eq!(desk.act(UndeliveredCommand::SendAgain), Ok(MailState::Queued));
    let mail = desk.mail().clone();
    assert_eq!((mail.next_at, mail.longest_wait(), mail.failure), (desk.bench.now, Duration::ZERO, None));
    assert_eq!(mail.last_tried_at(), None);
    assert!(mail.changes_undelivered() && mail.error.is_some(), "{mail:?}");
    assert_eq!(desk.act(UndeliveredCommand::SendAgain), Ok(MailState::Queued), "it is being sent again already");
    for number in 1..=MAX_TRIES {
        desk.report(number, TryOutcome::Sent);
    }
    assert_eq!(desk.mail(), &mail, "these are reports of the attempts before");
    desk.attempt(later());
    assert_eq!(desk.mail().next_at.since(desk.bench.now), MINUTE_MS, "the delays begin anew");
    assert!(!desk.mail().changes_undelivered());
    desk.exhaust();
    assert_eq!((desk.mail().tries, desk.mail().state), (2 * MAX_TRIES, MailState::Failed));
    desk.act(UndeliveredCommand::SendAgain).unwrap();
    desk.attempt(TryOutcome::Sent);
    assert_eq!((desk.mail().state, desk.mail().error.as_deref()), (MailState::Sent, None));
    for act in [UndeliveredCommand::SendAgain, UndeliveredCommand::Dismiss, UndeliveredCommand::Reopen] {
        assert_eq!(desk.act(act), Err("email_sent".to_owned()));
    }
}

#[test]
fn an_email_keeps_its_key_unless_it_was_rejected_or_the_key_is_forgotten() {
    for (outcome, minutes, keeps_key) in [
        (later(), 0, true),
        (later(), 24 * 60 - 1, true),
        (later(), 24 * 60, false),
        (rejection(), 0, false),
        (TryOutcome::Unsendable("an address is invalid".to_owned()), 0, true),
    ] {
        let mut desk = Desk::new();
        let first = desk.mail().key();
        assert_eq!(first, desk.mail().id.to_string());
        if outcome == later() {
            desk.exhaust();
        } else {
            desk.attempt(outcome.clone());
        }
        desk.pass(minutes);
        desk.act(UndeliveredCommand::SendAgain).unwrap();
        assert_eq!(desk.mail().key() == first, keeps_key, "{outcome:?} after {minutes} minutes");
    }
}

#[test]
fn an_alert_that_is_sent_again_under_a_new_key_is_another_message() {
    let bench = Bench::new();
    let text = |_: Language| ("Low stock: PLA".to_owned(), "9 g free.".to_owned());
    let alert = Mail::alert(&bench.cx(), AlertKind::LowStock, text).remove(0);
    let other = Mail::alert(&bench.cx(), AlertKind::LowStock, text).remove(0);
    let again = Mail { key_number: 1, ..alert.clone() };
    let key = |alerts: &[&Mail]| {
        let digest = AlertDigest::of(AlertKind::LowStock, Language::German, alerts.iter().copied());
        digest.unwrap().id
    };
    assert_eq!(key(&[&again]), format!("{}-1-de", alert.id));
    assert_ne!(key(&[&alert, &other]), key(&[&again, &other]));
}

#[test]
fn languages_in_which_an_alert_was_sent_are_remembered_until_it_is_sent_in_all() {
    let mut desk = Desk::new();
    let mut tried = |outcome: TryOutcome, sent_in: &[Language]| {
        let number = desk.mail().tries + 1;
        let tried = MailCommand::Tried { number, outcome, sent_in: sent_in.to_vec() };
        desk.bench.tell(&mut desk.mail, id(1), &tried).unwrap();
        desk.mail().sent_in.clone()
    };
    assert_eq!(tried(later(), &[]), []);
    assert_eq!(tried(later(), &[Language::English]), [Language::English]);
    assert_eq!(tried(rejection(), &[Language::English]), [Language::English]);
    desk.act(UndeliveredCommand::SendAgain).unwrap();
    assert_eq!(desk.mail().sent_in, [Language::English]);
    desk.attempt(TryOutcome::Sent);
    assert_eq!(desk.mail().sent_in, []);
}

#[test]
fn undelivered_emails_are_dismissed_and_put_back() {
    use UndeliveredCommand::{Dismiss, Reopen, SendAgain};
    let mut desk = Desk::new();
    assert_eq!(desk.act(Dismiss), Err("email_queued".to_owned()));
    assert_eq!(desk.act(Reopen), Err("email_queued".to_owned()));
    desk.attempt(rejection());
    let before = desk.mail().clone();
    assert_eq!(desk.act(Reopen), Ok(MailState::Failed));
    assert_eq!(desk.act(Dismiss), Ok(MailState::Dismissed));
    assert!(desk.mail().at_rest() && desk.mail().effects().is_empty() && desk.mail().changes_undelivered());
    assert_eq!(desk.act(Dismiss), Ok(MailState::Dismissed));
    assert_eq!(desk.act(Reopen), Ok(MailState::Failed));
    assert_eq!(desk.mail(), &before, "nothing of it is lost");
    desk.act(Dismiss).unwrap();
    assert_eq!(desk.act(SendAgain), Ok(MailState::Queued));
}

#[test]
fn what_has_expired_is_not_sent_again() {
    let mut desk = Desk::with_link(10);
    desk.attempt(rejection());
    assert!(desk.mail().sealed_link.is_some() && desk.mail().can_be_sent_again(desk.bench.now));
    desk.pass(10);
    assert_eq!(desk.act(UndeliveredCommand::SendAgain), Err("email_expired".to_owned()));
    assert_eq!(desk.act(UndeliveredCommand::Dismiss), Ok(MailState::Dismissed));

    let mut desk = Desk::with_link(10);
    desk.exhaust();
    assert_eq!(desk.mail().sealed_link, None, "nobody needs it");
    desk.bench.now = desk.mail().created_at;
    assert_eq!(desk.act(UndeliveredCommand::SendAgain), Err("email_expired".to_owned()), "there is no link to send");
}

#[derive(Clone, Debug)]
enum Step {
    Attempt(u8),
    Pass(i64),
    Act(UndeliveredCommand),
}

fn any_step() -> impl Strategy<Value = Step> {
    let acts = [UndeliveredCommand::SendAgain, UndeliveredCommand::Dismiss, UndeliveredCommand::Reopen];
    prop_oneof![
        4 => (0u8..8).prop_map(Step::Attempt),
        3 => (0i64..3_000).prop_map(Step::Pass),
        4 => prop::sample::select(acts.to_vec()).prop_map(Step::Act),
    ]
}

proptest! {
    /// Checks that an email that may have arrived is never sent under another key: only the provider's rejection shows
    /// that it has not, and only time lets the provider forget the key.
    #[test]
    fn an_email_gets_another_key_only_if_it_cannot_arrive_twice(steps in proptest::collection::vec(any_step(), 1..80)) {
        let mut desk = Desk::new();
        // The key of the last attempt, its time, and whether the provider rejected it.
        let mut last: Option<(String, Timestamp, bool)> = None;
        for step in steps {
            let before = desk.mail().clone();
            match step {
                Step::Pass(minutes) => desk.pass(minutes),
                Step::Act(act) => {
                    let answer = desk.act(act);
                    prop_assert!(answer.is_ok() || !before.is_abandoned(), "{answer:?}");
                }
                Step::Attempt(_) if before.state != MailState::Queued => {}
                Step::Attempt(how) => {
                    if let Some((key, at, is_rejected)) = &last && *key != before.key() {
                        let is_forgotten = desk.bench.now.since(*at) >= KEY_LIFE_MS;
                        prop_assert!(*is_rejected || is_forgotten, "{key} and then {}", before.key());
                    }
                    let outcome = match how {
                        0 => TryOutcome::Sent,
                        1 | 2 => rejection(),
                        3 => TryOutcome::Unsendable("no".to_owned()),
                        _ => later(),
                    };
                    last = Some((before.key(), desk.bench.now, outcome == rejection()));
                    desk.attempt(outcome);
                }
            }
            let now = desk.mail();
            prop_assert_eq!(now.is_abandoned(), now.reason_to_abandon().is_some());
            prop_assert!(!now.is_abandoned() || now.error.is_some(), "the reason is stated");
            prop_assert!(now.tries_of_round() <= MAX_TRIES);
            prop_assert_eq!((now.effects().len(), now.at_rest()), match now.state {
                MailState::Queued => (1, false),
                _ => (0, true),
            });
        }
    }
}
