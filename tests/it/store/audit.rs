//! The audit log in the databases: they refuse changes to it, it continues after crashes and updates, and a change that
//! was made nevertheless is detected.

use std::ops::Range;

use migrations::{Migrator, MigratorTrait as _};
use printfloor::domain::audit::chain::{ChainFault, ChainHead, ChainLine};
use printfloor::domain::id::Id;
use printfloor::domain::time::Timestamp;
use printfloor::store::audit_log::{AuditLog, AuditVerification};
use printfloor::store::connect::DatabaseSettings;
use printfloor::store::rows::Audit;
use printfloor::store::rows::samples::unlock_audit_log;
use printfloor::store::stored_shop::StoredShopError;
use printfloor::store::{AggregateKey, CommandWrites, Settlement, Submission};
use sea_orm::ConnectionTrait as _;

use super::rig::Rig;
use super::submit::{clock_at_rest, submit};
use crate::support::database::{TestDatabase, on_both_databases, until};

on_both_databases!(
    lines_can_be_neither_changed_nor_deleted,
    changes_behind_the_servers_back_are_found,
    the_chain_goes_on_after_a_crash_of_the_writer,
);

mod updates {
    use super::lines_of_older_versions_are_chained;

    crate::support::database::on_both_databases!(empty: lines_of_older_versions_are_chained);
}

/// Returns an audit line that is the same in every run.
pub fn line(n: u128) -> Audit {
    Audit {
        id: Id(uuid::Uuid::from_u128(n)),
        at: Timestamp(n as i64),
        actor: "key:1".to_owned(),
        action: "order.cancel".to_owned(),
        subject_kind: "order".to_owned(),
        subject_id: Id::ONLY,
        request_id: Some(format!("r{n}")),
        outcome: "done".to_owned(),
        detail: n.is_multiple_of(2).then(|| "{\"reason\":\"größer\"}".to_owned()),
    }
}

/// Returns the chain head of a log with these lines.
pub fn head_of(log: &[u128]) -> ChainHead {
    let append = |head: ChainHead, line: Audit| {
        let (id, subject_id) = (line.id.to_string(), line.subject_id.to_string());
        head.append(&ChainLine {
            id: &id,
            at: line.at.0,
            actor: &line.actor,
            action: &line.action,
            subject_kind: &line.subject_kind,
            subject_id: &subject_id,
            request_id: line.request_id.as_deref(),
            outcome: &line.outcome,
            detail: line.detail.as_deref(),
        })
    };
    log.iter().map(|n| line(*n)).fold(ChainHead::default(), append)
}

/// Verifies the audit log of a database.
pub async fn verified(settings: &DatabaseSettings) -> AuditVerification {
    let log = AuditLog::open(settings).await.unwrap();
    let verification = log.verify(Vec::new(), &mut |_| ()).await.unwrap();
    assert!(verification.fault.is_some() || verification.head == *log.head(), "{verification:?}");
    log.close().await;
    verification
}

/// Verifies the last lines of the audit log of a database.
async fn end_fault(settings: &DatabaseSettings) -> Option<ChainFault> {
    let log = AuditLog::open(settings).await.unwrap();
    let fault = log.verify_end().await.unwrap();
    log.close().await;
    fault
}

/// Writes lines in one transaction; returns whether they are durable.
async fn is_written(rig: &Rig, lines: Range<u128>) -> bool {
    let commands = lines.map(|n| CommandWrites { audit: Some(line(n)), ..CommandWrites::default() });
    let key = AggregateKey("audit", Id::ONLY);
    let submission = Submission { key, generation: 0, snapshot: None, commands: commands.collect() };
    submit(rig, submission).await.unwrap() == Settlement::Durable
}

async fn lines_can_be_neither_changed_nor_deleted(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    assert!(is_written(&rig, 1..4).await);
    let db = database.open().await;
    let mut refused = vec!["UPDATE audit SET actor = 'key:2' WHERE number = 2", "DELETE FROM audit WHERE number = 2"];
    if database.is_postgres() {
        refused.push("TRUNCATE audit");
    }
    for sql in refused {
        let error = db.execute_unprepared(sql).await.unwrap_err().to_string();
        assert!(error.contains("lines of the audit log cannot be"), "{sql}: {error}");
    }
    db.close().await.unwrap();
    // Retention deletes none, however old they are.
    rig.store.run_retention(Timestamp(i64::from(i32::MAX) * 1000), 0, clock_at_rest()).await;
    assert!(is_written(&rig, 4..5).await);
    let verification = verified(&database.settings).await;
    assert_eq!((verification.fault, verification.head), (None, head_of(&[1, 2, 3, 4])));
    assert_eq!(verification.span, Some((Timestamp(1), Timestamp(4))));
}

async fn changes_behind_the_servers_back_are_found(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    assert!(is_written(&rig, 1..6).await);
    let db = database.open().await;
    unlock_audit_log(&db).await;
    let insert = "INSERT INTO audit (id, at, actor, action, subject_kind, subject_id, outcome, number) \
                  VALUES ('x', 1, 'machine', 'order.cancel', 'order', 'x', 'done', 3)";
    let swap = "UPDATE audit SET number = 7 - number WHERE number IN (3, 4)";
    let last = "UPDATE writer SET audit_chain = (SELECT chain FROM audit WHERE number = 5)";
    for (change, undo, fault) in [
        (
            "UPDATE audit SET outcome = '' WHERE number = 3",
            "UPDATE audit SET outcome = 'done' WHERE number = 3",
            ChainFault::Changed(3),
        ),
        (insert, "DELETE FROM audit WHERE id = 'x'", ChainFault::Extra(3)),
        (swap, swap, ChainFault::Changed(3)),
        ("UPDATE writer SET audit_number = 4", "UPDATE writer SET audit_number = 5", ChainFault::Extra(5)),
        ("UPDATE writer SET audit_chain = ''", last, ChainFault::Head(5)),
        ("DELETE FROM audit WHERE number = 5", "SELECT 1", ChainFault::Missing { first: 5, last: 5 }),
        ("DELETE FROM audit WHERE number IN (2, 3)", "SELECT 1", ChainFault::Missing { first: 2, last: 3 }),
    ] {
        db.execute_unprepared(change).await.unwrap();
        let verification = verified(&database.settings).await;
        assert_eq!(verification.fault, Some(fault), "{change}: {verification:?}");
        assert_eq!(end_fault(&database.settings).await, Some(fault), "{change}: all lines are among the last");
        db.execute_unprepared(undo).await.unwrap();
    }
    db.close().await.unwrap();
    // The server goes on all the same.
    assert!(is_written(&rig, 6..7).await);
    assert_eq!(verified(&database.settings).await.head, head_of(&[1]));
}

async fn the_chain_goes_on_after_a_crash_of_the_writer(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    assert!(is_written(&rig, 1..4).await);
    rig.writer_crashes();
    until("the writer is back", async || is_written(&rig, 4..6).await).await;
    let verification = verified(&database.settings).await;
    assert_eq!((verification.fault, verification.head), (None, head_of(&[1, 2, 3, 4, 5])));
}

async fn lines_of_older_versions_are_chained(database: TestDatabase) {
    let all = Migrator::migrations();
    let before = all.iter().position(|migration| migration.name().ends_with("chain_audit")).unwrap();
    let db = database.open().await;
    Migrator::up(&db, Some(before as u32)).await.unwrap();
    // More than are read at a time.
    let lines = "INSERT INTO audit (id, at, actor, action, subject_kind, subject_id, outcome, detail) \
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1234) \
                 SELECT 'line-' || (10000 + i), i, 'machine', 'order.cancel', 'order', 'x' || i, 'done', '{}' FROM n";
    db.execute_unprepared(lines).await.unwrap();
    db.close().await.unwrap();
    assert!(matches!(AuditLog::open(&database.settings).await, Err(StoredShopError::OlderTables)));

    let rig = Rig::start(&database).await;
    let verification = verified(&database.settings).await;
    assert_eq!((verification.fault, verification.head.number), (None, 1234));
    assert_eq!(verification.span, Some((Timestamp(1), Timestamp(1234))));
    // New lines follow.
    assert!(is_written(&rig, 1..3).await);
    let verification = verified(&database.settings).await;
    assert_eq!((verification.fault, verification.head.number), (None, 1236));

    // The last 100 lines are verified without those before them.
    let db = database.open().await;
    unlock_audit_log(&db).await;
    let missing = ChainFault::Missing { first: 1136, last: 1136 };
    for (change, fault) in [
        ("SELECT 1", None),
        ("UPDATE audit SET outcome = '' WHERE number = 1135", None),
        ("UPDATE audit SET outcome = '' WHERE number = 1200", Some(ChainFault::Changed(1200))),
        ("DELETE FROM audit WHERE number = 1136", Some(missing)),
    ] {
        db.execute_unprepared(change).await.unwrap();
        assert_eq!(end_fault(&database.settings).await, fault, "{change}");
    }
    db.close().await.unwrap();
}
