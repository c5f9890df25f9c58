//! Event numbers and epochs: events are numbered in the order of commits, and epochs decide who may write.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use printfloor::domain::aggregate::Command as _;
use printfloor::domain::invoice::{DraftInvoice, InvoiceCommand, InvoiceLine, InvoiceRow};
use printfloor::domain::principal::Principal;
use printfloor::domain::restore::{Restore, RestoreCommand, RestoreFacts};
use printfloor::store::connect::{self, OpenError};
use printfloor::store::queries::{NumberingSeries, Queries};
use printfloor::store::rows::StoredRow;
use printfloor::store::{Settlement, Submission, Unavailable};

use super::rig::Rig;
use super::submit::{keyed_answer, submit, tally, together};
use crate::support::database::{TestDatabase, on_both_databases, on_migrated_postgres, until};
use crate::support::seller::seller;

on_both_databases!(
    numbers_have_no_holes_whatever_is_refused,
    documents_are_numbered_without_a_gap_whatever_is_refused,
    a_review_does_not_go_on_below_an_invoice_of_its_transaction,
    an_invoice_follows_the_review_of_its_transaction,
    a_successor_of_the_writer_counts_on,
    whoever_is_overtaken_writes_no_more_and_leaves,
    whoever_was_away_while_another_wrote_leaves,
);

async fn numbers_have_no_holes_whatever_is_refused(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let mut receivers = Vec::new();
    let mut ids = Vec::new();
    for n in 0..400 {
        let id = rig.environment.id();
        ids.push(id);
        // One in seven takes a code that is gone, one in eleven a key that is used.
        let code = if n % 7 == 3 { "same".to_owned() } else { id.to_string() };
        let mut submission = tally(&rig, id, &code, 1, 2);
        if n % 11 == 5 {
            submission.commands[1].idempotent_answer = Some(keyed_answer(id, "same"));
        }
        receivers.push(submit(&rig, submission));
        if n % 50 == 0 {
            tokio::task::yield_now().await;
        }
    }
    let (mut durable, mut clashes) = (0, 0);
    for receiver in receivers {
        match receiver.await.unwrap() {
            Settlement::Durable => durable += 1,
            Settlement::Clash { .. } => clashes += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(clashes > 80, "{clashes}");
    assert_eq!(rig.stored(&ids).await, durable * 2);
}

/// Returns the row for the document that an invoice without an order issues.
fn issued(rig: &Rig) -> InvoiceRow {
    // None is issued before the shop has said who it is.
    let mut rules = rig.environment.cx(&Principal::System).rules.clone();
    rules.invoices.seller = seller();
    let mut cx = rig.environment.cx(&Principal::System);
    cx.rules = &rules;
    let line = InvoiceLine { description: "x".to_owned(), quantity: 1, unit_price_cents: 1, tax_rate_bps: 0 };
    let draft = DraftInvoice { lines: vec![(line, true)], ..DraftInvoice::default() };
    let id = rig.environment.id();
    let draft = InvoiceCommand::Create(Box::new(draft)).decide(None, id, &cx).unwrap().next;
    let mut sent = InvoiceCommand::Send.decide(draft.as_ref(), id, &cx).unwrap();
    sent.rows.remove(0)
}

async fn documents_are_numbered_without_a_gap_whatever_is_refused(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let (mut durable, mut refused) = (0, 0);
    for round in 0..4 {
        let mut receivers = Vec::new();
        for n in 0..60 {
            let id = rig.environment.id();
            let code = if n % 7 == 3 { "same".to_owned() } else { id.to_string() };
            let mut submission = tally(&rig, id, &code, 1, 2);
            for command in &mut submission.commands {
                command.rows.push(Box::new(issued(&rig)));
            }
            if n % 11 == 5 {
                submission.commands[1].idempotent_answer = Some(keyed_answer(id, "same"));
            }
            receivers.push(submit(&rig, submission));
            if n == 40 && round % 2 == 1 {
                rig.writer_crashes();
            }
        }
        for receiver in receivers {
            match receiver.await.unwrap() {
                Settlement::Durable => durable += 1,
                _ => refused += 1,
            }
        }
        until("the writer to be back", async || {
            let id = rig.environment.id();
            submit(&rig, tally(&rig, id, &id.to_string(), 1, 1)).await.unwrap() == Settlement::Durable
        })
        .await;
    }
    assert!(refused > 30 && durable > 60, "{refused} {durable}");
    let numbering = Queries::new(rig.reading.clone()).numbering().await.unwrap();
    let [series] = &numbering[..] else { panic!("{numbering:?}") };
    assert_eq!((series.first, series.count), (1, series.last), "{series:?}");
    assert!(series.count >= durable * 2, "what was told to be durable is there: {series:?}");
}

/// Restores a shop without documents; returns the restore and the name of its invoice series, which continues at 101.
async fn restored_shop(rig: &Rig) -> (Restore, String) {
    let now = rig.environment.now();
    let facts = RestoreFacts { backup: "ab".to_owned(), backup_made_at: now, now, last_event: 0, used: Vec::new() };
    let (restore, rows, _) = Restore::begin(&facts);
    let id = rig.environment.id();
    let mut submission = tally(rig, id, "restore", 1, 1);
    submission.commands[0].rows.extend(rows.into_iter().map(|row| Box::new(row) as Box<dyn StoredRow>));
    assert_eq!(submit(rig, submission).await.unwrap(), Settlement::Durable);
    let series = restore.series.iter().map(|one| one.series.clone()).find(|name| name.starts_with("INV-")).unwrap();
    assert!(restore.series.iter().any(|one| one.series == series && one.next == 101), "{restore:?}");
    (restore, series)
}

/// Issues an invoice.
fn invoice(rig: &Rig) -> Submission {
    let id = rig.environment.id();
    let mut submission = tally(rig, id, &id.to_string(), 1, 1);
    submission.commands[0].rows.push(Box::new(issued(rig)));
    submission
}

/// Reviews a restore and continues a series at this number.
fn review(rig: &Rig, restore: &Restore, series: &str, next: i64) -> Submission {
    let (id, cx) = (rig.environment.id(), rig.environment.cx(&Principal::System));
    let command = RestoreCommand::Review { next: vec![(series.to_owned(), next)], note: None };
    let decided = command.decide(Some(restore), restore.id, &cx).unwrap();
    let mut submission = tally(rig, id, &id.to_string(), 1, 1);
    let writes = &mut submission.commands[0];
    writes.rows.extend(decided.rows.into_iter().map(|row| Box::new(row) as Box<dyn StoredRow>));
    writes.requirements.extend(decided.requirements);
    submission
}

/// Returns the numbers of a series in ascending order; fails if a number is missing without a reason.
async fn numbers_of(rig: &Rig, series: &str) -> Vec<i64> {
    let all = Queries::new(rig.reading.clone()).numbering().await.unwrap();
    assert!(all.iter().all(NumberingSeries::is_gapless), "{all:?}");
    let sql = format!("SELECT number FROM invoice_documents WHERE series = '{series}' ORDER BY number");
    rig.database.rows(&sql).await.iter().map(|row| row.try_get_by_index(0).unwrap()).collect()
}

async fn a_review_does_not_go_on_below_an_invoice_of_its_transaction(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let (restore, series) = restored_shop(&rig).await;
    for next in [5, 101] {
        let settled = together(&rig, vec![invoice(&rig), review(&rig, &restore, &series, next)]).await;
        let [Settlement::Durable, other] = &settled[..] else { panic!("{settled:?}") };
        // A number that stays is no move: whatever was issued since, it may.
        assert_eq!(*other == Settlement::Durable, next == 101, "{next}: {settled:?}");
    }
    assert_eq!(numbers_of(&rig, &series).await, [101, 102]);
    let settlement = submit(&rig, review(&rig, &restore, &series, 102)).await.unwrap();
    let Settlement::Unmet { at: 0, requirement } = &settlement else { panic!("{settlement:?}") };
    assert_eq!(requirement.refusal().faults[0].path, format!("next.{series}"));
    assert_eq!(submit(&rig, review(&rig, &restore, &series, 103)).await.unwrap(), Settlement::Durable);
}

async fn an_invoice_follows_the_review_of_its_transaction(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let (restore, series) = restored_shop(&rig).await;
    let settled = together(&rig, vec![review(&rig, &restore, &series, 5), invoice(&rig)]).await;
    assert_eq!(settled, [Settlement::Durable, Settlement::Durable]);
    assert_eq!(numbers_of(&rig, &series).await, [5]);
}

async fn a_successor_of_the_writer_counts_on(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        let id = rig.environment.id();
        until("a commit after the crash", async || {
            submit(&rig, tally(&rig, id, &id.to_string(), 1, 3)).await.unwrap() == Settlement::Durable
        })
        .await;
        ids.push(id);
        rig.writer_crashes();
    }
    assert_eq!(rig.stored(&ids).await, 15);
    assert_eq!(rig.fenced.load(Relaxed), 0);
}

async fn whoever_is_overtaken_writes_no_more_and_leaves(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    database.execute("UPDATE writer SET epoch = epoch + 1").await;
    let epoch = database.number("SELECT epoch FROM writer").await;
    for _ in 0..3 {
        let id = rig.environment.id();
        let settled = submit(&rig, tally(&rig, id, &id.to_string(), 1, 1)).await.unwrap();
        assert_eq!(settled, Settlement::NotDurable(Unavailable::Database));
    }
    until("the process is told to leave", async || rig.fenced.load(Relaxed) == 1).await;
    // It must not take the database back: longer than the first probes would take.
    tokio::time::sleep(Duration::from_millis(600)).await;
    rig.writer_crashes();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(database.number("SELECT epoch FROM writer").await, epoch);
    assert_eq!(rig.events().await.len(), 0);
}

async fn whoever_was_away_while_another_wrote_leaves(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    database.execute("UPDATE writer SET epoch = epoch + 1").await;
    // It opens the database anew, and finds that it was not the last.
    rig.writer_crashes();
    until("the process is told to leave", async || rig.fenced.load(Relaxed) == 1).await;
    let id = rig.environment.id();
    let settled = submit(&rig, tally(&rig, id, "a", 1, 1)).await.unwrap();
    assert_eq!(settled, Settlement::NotDurable(Unavailable::Database));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_server_on_one_postgres_is_refused() {
    on_migrated_postgres(|database| async move {
        let rig = Rig::start(&database).await;
        assert!(matches!(connect::reopen(&database.settings, 0).await, Err(OpenError::InUse)));
        let id = rig.environment.id();
        assert_eq!(submit(&rig, tally(&rig, id, "a", 1, 1)).await.unwrap(), Settlement::Durable);
        rig.root.stop_and_wait(None, None).await.unwrap();
        until("the lock is free", async || connect::reopen(&database.settings, 0).await.is_ok()).await;
    })
    .await;
}
