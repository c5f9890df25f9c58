//! Tests of the outcomes that callers receive after each settlement of a commit.

use super::*;
use crate::effects::report;
use domain::requirement::Requirement;
use store::Unavailable;

/// Message for a commit that is definitely not on disk.
const NO_DATABASE: &str = "the database does not respond";
const UNKNOWN: &str = "the outcome is unknown; check whether the change was made before you retry";

fn settled(settlement: Settlement) -> CommitFault {
    CommitFault::Settled(settlement)
}

fn clash(at: Option<usize>, constraint: &str) -> CommitFault {
    settled(Settlement::Clash { at, constraint: constraint.to_owned() })
}

#[tokio::test]
async fn a_command_is_decided_again_after_three_superseded_commits_and_given_up_after_the_fourth() {
    let rig = Rig::new(10).await;
    let mut version = 1;
    for (superseded, is_done) in [(3, true), (3, true), (4, false), (0, true), (3, true)] {
        rig.script.fail(vec![Some(settled(Settlement::Superseded)); superseded]);
        let upto = version + 10;
        let expected = if is_done { Ok((upto, version + 1)) } else { Err(NO_DATABASE.to_owned()) };
        assert_eq!(rig.read(upto).await, expected, "after {superseded}");
        version += i64::from(is_done);
        assert_eq!(rig.script.sizes().len(), superseded + usize::from(is_done && superseded < 4));
    }
}

#[tokio::test]
async fn whoever_caused_a_failure_is_told_why() {
    let rig = Rig::new(10).await;
    let requirement = Requirement::NoKit { sku: id(5), member: "sku".to_owned() };
    for (version, (fault, words)) in (2..).zip([
        (Some(settled(Settlement::NotDurable(Unavailable::DiskFull))), "the disk is full"),
        (Some(settled(Settlement::NotDurable(Unavailable::ReadOnly))), "the database is read-only"),
        (Some(clash(Some(0), "idempotency.key")), "another request used the idempotency key at the same time"),
        (Some(clash(Some(0), "integrations.name")), "integrations.name is already in use"),
        (Some(settled(Settlement::Unmet { at: 0, requirement })), "sku: must not be a kit"),
        (
            Some(settled(Settlement::BadValue { at: Some(0) })),
            "a value cannot be stored: shorten it or remove control characters",
        ),
    ]) {
        rig.script.fail([fault]);
        assert_eq!(rig.read(version * 10).await, Err(words.to_owned()));
        assert_eq!(rig.read(version * 10).await, Ok((version * 10, version)), "after: {words}");
    }
    let mut version = 7;
    for fault in [Some(clash(None, "x")), Some(clash(Some(1), "x")), Some(settled(Settlement::BadValue { at: None }))] {
        rig.script.fail([fault]);
        version += 1;
        assert_eq!(rig.read(version * 10).await, Ok((version * 10, version)), "nobody is known to have caused it");
    }
}

#[tokio::test]
async fn commands_that_wait_share_a_commit_and_are_decided_again_without_the_one_to_blame() {
    for (fault, last, sizes) in [
        (None, Ok((13, 3)), vec![1, 2]),
        (Some(clash(Some(1), "x")), Err("x is already in use".to_owned()), vec![1, 2, 1]),
        (Some(clash(None, "x")), Ok((13, 4)), vec![1, 2, 1, 1]),
    ] {
        let rig = Rig::new(10).await;
        rig.script.fail([None, fault]);
        let (one, two, three) = tokio::join!(rig.read(11), rig.read(12), rig.read(13));
        assert_eq!((one, two, three), (Ok((11, 2)), Ok((12, 3)), last));
        assert_eq!(rig.script.sizes(), sizes);
    }
}

#[tokio::test]
async fn after_a_lost_answer_the_disk_says_what_happened() {
    let rig = Rig::new(10).await;
    for (upto, outcome, expected) in [
        (11, LostTransaction::Written, Ok((11, 2))),
        (13, LostTransaction::NotWritten, Err(NO_DATABASE.to_owned())),
        (13, LostTransaction::Written, Ok((13, 3))),
    ] {
        rig.script.fail([Some(CommitFault::Lost(outcome))]);
        assert_eq!(rig.read(upto).await, expected, "{outcome:?}");
    }
    // A command that changes no state does not change the version.
    rig.script.fail([Some(CommitFault::Lost(LostTransaction::Written))]);
    assert_eq!(rig.ask(keyed("a"), IntegrationCommand::Well).await, Err(UNKNOWN.to_owned()));
    for (fault, activated) in [(None, 1), (Some(CommitFault::Lost(LostTransaction::Written)), 2)] {
        rig.script.fail([fault]);
        rig.ask(CommandOrigin::system(), needs_person()).await.unwrap();
        assert_eq!(*rig.script.activated.lock().unwrap(), vec!["mail"; activated]);
        rig.ask(CommandOrigin::system(), IntegrationCommand::Well).await.unwrap();
    }
}

#[tokio::test]
async fn an_idempotency_key_is_used_once_and_what_changes_nothing_is_not_written() {
    let rig = Rig::new(10).await;
    let read = |key: &str, upto: i64| rig.ask(keyed(key), IntegrationCommand::Read(upto));
    let (one, two, three) = tokio::join!(rig.read(11), read("a", 12), read("a", 13));
    let collision = "another request used the idempotency key at the same time".to_owned();
    assert_eq!((one, two, three), (Ok((11, 2)), Ok((12, 3)), Err(collision)));
    let commit = |audited, stored_versions| SubmittedCommit { commands: 1, audited, stored_versions };
    assert_eq!(rig.script.commits(), [commit(0, vec![]), commit(1, vec![3]), commit(1, vec![4])]);
    assert_eq!(rig.read(12).await, Ok((12, 3)), "it has been read already");
    assert_eq!(rig.script.commits(), []);
    assert_eq!(rig.ask(keyed("b"), IntegrationCommand::Well).await, Ok((12, 3)));
    assert_eq!(rig.script.commits(), [commit(0, vec![3])], "only the answer");
    let by_machine = CommandOrigin::new(Principal::Machine);
    assert_eq!(rig.ask(by_machine, IntegrationCommand::Read(14)).await, Ok((14, 4)));
    assert_eq!(rig.script.commits(), [commit(1, vec![])]);
}

#[tokio::test]
async fn a_report_is_repeated_until_it_is_recorded_or_refused() {
    let rig = Rig::new(10).await;
    let handle = rig.directory.resident(id(1)).unwrap();
    rig.script.fail(vec![Some(settled(Settlement::NotDurable(Unavailable::Database))); 2]);
    assert_eq!(report(&handle, IntegrationCommand::Read(11)).await.unwrap(), 11);
    assert_eq!(rig.script.sizes(), [1, 1, 1]);
    let unknown = rig.directory.activate(id(9));
    let refused = report(&unknown, IntegrationCommand::Read(11)).await.unwrap_err();
    assert_eq!(refused.to_string(), "no such integration");
}
