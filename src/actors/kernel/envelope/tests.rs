//! Tests of the outcome that a caller receives, no matter what happens to the envelope.

#![expect(clippy::unwrap_used, reason = "tests")]

use tokio::sync::Semaphore;

use super::*;
use domain::integration::{Integration, IntegrationCommand};
use domain::material::{Material, MaterialCommand};
use domain::testing::samples::pla;
use domain::testing::{Bench, id};
use domain::time::LATEST;

fn begin() -> IntegrationCommand {
    IntegrationCommand::Begin { name: "workflow".to_owned(), cursor: 5 }
}

fn key() -> IdempotencyKey {
    IdempotencyKey { key: "key".to_owned(), body_hash: "body".to_owned(), expires_at: LATEST }
}

/// Returns a command in its envelope, and the channel of its caller.
fn envelope<T: Aggregate, C: Command<T>>(
    caller: CommandOrigin,
    command: C,
) -> (Envelope<T>, oneshot::Receiver<CommandEnd<T>>) {
    let (reply, outcome) = oneshot::channel();
    let permit = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
    (Envelope::new(PendingCommand::new(caller, command), reply, permit), outcome)
}

/// Returns the outcome that the caller received.
fn outcome_of<T: Aggregate>(mut outcome: oneshot::Receiver<CommandEnd<T>>) -> String {
    match outcome.try_recv() {
        Ok(CommandEnd::Done(answered)) => format!("done at version {}", answered.version),
        Ok(CommandEnd::Failed(AskFailure::Refused(refusal))) => refusal.code,
        Ok(CommandEnd::Failed(failure)) => format!("{failure:?}"),
        Ok(CommandEnd::NotDone(..)) => "not done".to_owned(),
        Ok(CommandEnd::Interrupted) => "interrupted".to_owned(),
        Err(_) => "nothing".to_owned(),
    }
}

#[test]
fn an_envelope_that_is_dropped_claims_no_more_than_is_known() {
    for (stage, words) in [
        (Stage::Waiting, "not done"),
        (Stage::Deciding, "Poison"),
        (Stage::Decided, "not done"),
        (Stage::Submitted, "interrupted"),
    ] {
        let (mut envelope, outcome) = envelope::<Integration, _>(CommandOrigin::system(), begin());
        envelope.set_stage(stage);
        drop(envelope);
        assert_eq!(outcome_of(outcome), words, "{stage:?}");
    }
    let (undecided, outcome) = envelope::<Integration, _>(CommandOrigin::system(), begin());
    undecided.reply(3);
    assert_eq!(outcome_of(outcome), "not done");
    let (failed, outcome) = envelope::<Integration, _>(CommandOrigin::system(), begin());
    failed.fail(AskFailure::Unknown);
    assert_eq!(outcome_of(outcome), "Unknown");
}

#[test]
fn a_decision_is_told_with_its_version_and_the_type_of_its_answer() {
    let bench = Bench::new();
    let (mut accepted, mut outcome) = envelope::<Integration, _>(CommandOrigin::system(), begin());
    assert!(accepted.decide(None, id(1), &bench.cx(), 0).unwrap().next.is_some());
    assert_eq!(accepted.stage, Stage::Decided);
    accepted.reply(3);
    let Ok(CommandEnd::Done(answered)) = outcome.try_recv() else { panic!("no answer") };
    let answered = answered.typed::<i64>().unwrap();
    assert_eq!((answered.answer, answered.version), (5, 3));
    let other = CommandAnswer { answer: Box::new(5_i64) as AnyAnswer, version: 3 };
    assert!(other.typed::<String>().is_none());
    let (mut refused, outcome) = envelope::<Integration, _>(CommandOrigin::system(), IntegrationCommand::Read(9));
    assert!(refused.decide(None, id(1), &bench.cx(), 0).is_none());
    refused.reply(0);
    assert_eq!(outcome_of(outcome), "integration_not_found");
}

#[test]
fn a_command_on_an_older_version_is_stale() {
    let bench = Bench::new();
    let mut shelf = None::<Material>;
    let create = MaterialCommand::Create { fields: Box::new(pla()), quantity: Default::default() };
    bench.tell(&mut shelf, id(7), &create).unwrap();
    for (if_version, words) in [(None, "done at version 4"), (Some(4), "done at version 4"), (Some(3), "stale_version")]
    {
        let update = MaterialCommand::Update { if_version, fields: None, quantity: None };
        let (mut envelope, outcome) = envelope::<Material, _>(CommandOrigin::system(), update);
        envelope.decide(shelf.as_ref(), id(7), &bench.cx(), 4);
        envelope.reply(4);
        assert_eq!(outcome_of(outcome), words);
    }
}

#[test]
fn changes_by_people_are_audited_and_answers_are_stored_for_their_key() {
    let bench = Bench::new();
    let cx = DecisionContext { by: &Principal::Machine, ..bench.cx() };
    let caller = || CommandOrigin {
        request_id: Some("req-1".into()),
        key: Some(key()),
        ..CommandOrigin::new(Principal::Machine)
    };
    let (mut accepted, _outcome) = envelope::<Integration, _>(caller(), begin());
    assert_eq!((accepted.key(), accepted.principal().as_deref()), (Some("key"), Some(&Principal::Machine)));
    assert!(accepted.audit(id(1), &cx).is_none() && accepted.stored_answer(id(1), 1, &cx).is_none(), "undecided");
    accepted.decide(None, id(1), &cx, 0);
    let audit = accepted.audit(id(1), &cx).unwrap();
    assert_eq!((audit.actor.as_str(), audit.action.as_str(), audit.at), ("machine", "integration.begin", bench.now));
    assert_eq!((audit.subject_kind.as_str(), audit.subject_id), ("integration", id(1)));
    assert_eq!((audit.outcome.as_str(), audit.request_id.as_deref(), audit.detail), ("done", Some("req-1"), None));
    assert!(accepted.audit(id(1), &bench.cx()).is_none(), "the server's own");
    let stored = accepted.stored_answer(id(1), 1, &cx).unwrap().unwrap();
    assert_eq!((stored.key.as_str(), stored.body_hash.as_str(), stored.kind.as_str()), ("key", "body", "integration"));
    assert_eq!((stored.aggregate_id, stored.version, stored.answer.as_str()), (id(1), 1, r#"{"Ok":5}"#));
    assert_eq!((stored.created_at, stored.expires_at), (bench.now, LATEST));
    let (mut refused, _outcome) = envelope::<Integration, _>(caller(), IntegrationCommand::Read(9));
    refused.decide(None, id(1), &cx, 0);
    assert!(refused.audit(id(1), &cx).is_none() && refused.stored_answer(id(1), 1, &cx).is_none());
    let (mut unkeyed, _outcome) = envelope::<Integration, _>(CommandOrigin::system(), begin());
    unkeyed.decide(None, id(1), &cx, 0);
    assert!(unkeyed.key().is_none() && unkeyed.stored_answer(id(1), 1, &cx).is_none());
}

#[test]
fn refusals_that_depend_on_the_state_are_stored_for_their_key() {
    for (class, is_kept) in [
        (Class::Conflict, true),
        (Class::Unprocessable, true),
        (Class::Stale, true),
        (Class::Gone, true),
        (Class::Invalid, false),
        (Class::NotFound, false),
        (Class::Forbidden, false),
    ] {
        assert_eq!(records::is_kept::<i64>(&Err(Refusal::new(class, "code", "words"))), is_kept, "{class:?}");
    }
    assert!(records::is_kept(&Ok(1)));
}
