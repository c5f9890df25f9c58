//! The contract of `printfloor::store::port`: the same tests for every implementation of the store.

use std::sync::Arc;

use printfloor::actors::kernel::environment::Environment;
use printfloor::domain::aggregate::{Aggregate, LastNumbers, Versioned};
use printfloor::domain::audit::chain::ChainHead;
use printfloor::domain::export::{Export, ExportState};
use printfloor::domain::id::Id;
use printfloor::domain::mail::{Mail, MailState};
use printfloor::domain::sign_in_link::SignInLink;
use printfloor::domain::time::Timestamp;
use printfloor::store::memory::{LostTransaction, MemoryStore};
use printfloor::store::outbox::Outbox;
use printfloor::store::queries::EventFilter;
use printfloor::store::rows::IdempotentAnswer;
use printfloor::store::rows::samples::{export, id, mail};
use printfloor::store::{AggregateKey, CommandWrites, Settlement, Store, StoredAggregate, Submission, Unavailable};
use tokio::sync::oneshot;

use super::audit::{head_of, line, verified};
use super::rig::Rig;
use super::submit::{Subject, clock_at_rest, counting, keyed_answer, submit, tally, together};
use super::tally::Tally;
use crate::support::database::{TestDatabase, until};

/// Store whose contract is checked.
struct Checked {
    store: Store,
    outbox: Arc<Outbox>,
    environment: Arc<Environment>,
    memory: Option<MemoryStore>,
    /// Actors of the writer, which stop when this value is dropped.
    rig: Option<Rig>,
}

impl Subject for Checked {
    fn store(&self) -> &Store {
        &self.store
    }
    fn environment(&self) -> &Environment {
        &self.environment
    }
}

impl Checked {
    async fn on_database(database: &TestDatabase) -> Self {
        let rig = Rig::start(database).await;
        let (store, outbox, environment) = (rig.store.clone(), rig.outbox.clone(), rig.environment.clone());
        Self { store, outbox, environment, memory: None, rig: Some(rig) }
    }

    fn in_memory() -> Self {
        let outbox = Outbox::new(0);
        let memory = MemoryStore::new(outbox.clone());
        let environment = Arc::new(Environment::of_the_machine(
            printfloor::config::Config::default().rules(),
            LastNumbers::default(),
        ));
        Self { store: memory.store(), outbox, environment, memory: Some(memory), rig: None }
    }

    fn load(&self, id: Id, generation: u64) -> oneshot::Receiver<Option<Arc<Versioned<Tally>>>> {
        let (loaded, state) = oneshot::channel();
        self.store.load::<Tally>(AggregateKey(Tally::KIND, id), generation, |answer| {
            drop(loaded.send(answer.into_state()));
        });
        state
    }

    async fn version(&self, id: Id) -> i64 {
        self.store.reader().load::<Tally>(id).await.unwrap().version
    }

    /// Returns the head of the audit log; fails unless it matches the lines in the database.
    async fn audit_head(&self) -> ChainHead {
        if let Some(memory) = &self.memory {
            return memory.tables().audit_head().clone();
        }
        let verification = verified(&self.rig.as_ref().unwrap().database.settings).await;
        assert_eq!(verification.fault, None);
        verification.head
    }

    /// Returns the subjects of all events; fails unless they are numbered without gaps and published in the same order.
    async fn subjects(&self) -> Vec<Id> {
        let events = self.store.queries().events_after(0, &EventFilter::default(), 10_000).await.unwrap();
        assert!(events.iter().map(|event| event.seq).eq(1..=events.len() as i64), "numbers without gaps");
        let published = self.outbox.after(0, usize::MAX).unwrap();
        assert!(published.iter().map(|event| &**event).eq(&events), "what is published is what is stored");
        events.iter().map(|event| event.event.subject_id).collect()
    }
}

macro_rules! on_every_store {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite { $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::support::database::on_migrated_sqlite(|database| async move {
                    super::$name(super::Checked::on_database(&database).await).await;
                }).await;
            }
        )* }
        mod on_postgres { $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                crate::support::database::on_migrated_postgres(|database| async move {
                    super::$name(super::Checked::on_database(&database).await).await;
                }).await;
            }
        )* }
        mod in_memory { $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(super::Checked::in_memory()).await;
            }
        )* }
    };
}

on_every_store!(
    each_submission_is_settled_by_itself,
    versions_guard_commits,
    generations_guard_commits,
    a_used_idempotency_key_names_its_command,
    a_snapshot_that_several_commands_shaped_names_none,
    a_load_is_answered_in_the_order_of_commits,
    audit_lines_need_no_aggregate,
    the_audit_log_is_a_chain_of_what_is_durable,
    retention_keeps_the_last_event_and_valid_keys,
    retention_deletes_very_many_rows_in_several_runs,
    retention_deletes_ended_mails_exports_and_links,
);

async fn each_submission_is_settled_by_itself(s: Checked) {
    let [a, b, c] = [(); 3].map(|()| s.environment.id());
    let all = vec![tally(&s, a, "same", 1, 2), tally(&s, b, "same", 1, 1), tally(&s, c, "other", 1, 2)];
    let clash = Settlement::Clash { at: Some(0), constraint: "skus.code".to_owned() };
    assert_eq!(together(&s, all).await, [Settlement::Durable, clash, Settlement::Durable]);
    assert_eq!(s.subjects().await, [a, a, c, c]);
    assert_eq!((s.version(a).await, s.version(b).await, s.version(c).await), (1, 0, 1));
}

async fn versions_guard_commits(s: Checked) {
    let id = s.environment.id();
    for (version, expected) in
        [(1, Settlement::Durable), (1, Settlement::Superseded), (3, Settlement::Superseded), (2, Settlement::Durable)]
    {
        assert_eq!(submit(&s, tally(&s, id, "a", version, 1)).await.unwrap(), expected, "{version}");
    }
    assert_eq!((s.version(id).await, s.subjects().await.len()), (2, 2));
}

async fn generations_guard_commits(s: Checked) {
    let id = s.environment.id();
    assert_eq!(submit(&s, tally(&s, id, "a", 1, 1)).await.unwrap(), Settlement::Durable);
    assert_eq!(s.load(id, 2).await.unwrap().unwrap().version, 1);
    assert_eq!(submit(&s, tally(&s, id, "a", 2, 1)).await.unwrap(), Settlement::Superseded);
    let successors = Submission { generation: 2, ..tally(&s, id, "a", 2, 1) };
    assert_eq!(submit(&s, successors).await.unwrap(), Settlement::Durable);
    s.store.forget(AggregateKey(Tally::KIND, id));
    assert_eq!(submit(&s, tally(&s, id, "a", 3, 1)).await.unwrap(), Settlement::Durable);
}

async fn a_used_idempotency_key_names_its_command(s: Checked) {
    let [a, b] = [(); 2].map(|()| s.environment.id());
    let mut first = tally(&s, a, "a", 1, 1);
    first.commands[0].idempotent_answer = Some(keyed_answer(a, "key"));
    assert_eq!(submit(&s, first).await.unwrap(), Settlement::Durable);
    let mut second = tally(&s, a, "a", 2, 4);
    second.commands[0].idempotent_answer = Some(keyed_answer(a, "fresh"));
    second.commands[2].idempotent_answer = Some(keyed_answer(a, "key"));
    let clash = Settlement::Clash { at: Some(2), constraint: "idempotency.key".to_owned() };
    assert_eq!(together(&s, vec![second, tally(&s, b, "b", 1, 1)]).await, [clash, Settlement::Durable]);
    assert_eq!(s.store.queries().idempotent_answer("key").await.unwrap(), Some(keyed_answer(a, "key")));
    assert_eq!(s.store.queries().idempotent_answer("fresh").await.unwrap(), None);
    assert_eq!(s.subjects().await, [a, b]);
}

async fn a_snapshot_that_several_commands_shaped_names_none(s: Checked) {
    let [a, b] = [(); 2].map(|()| s.environment.id());
    let settled = together(&s, vec![tally(&s, a, "same", 1, 1), tally(&s, b, "same", 1, 2)]).await;
    let clash = Settlement::Clash { at: None, constraint: "skus.code".to_owned() };
    assert_eq!(settled, [Settlement::Durable, clash]);
}

async fn a_load_is_answered_in_the_order_of_commits(s: Checked) {
    let id = s.environment.id();
    let gate = super::submit::gate(&s).await;
    let first = submit(&s, tally(&s, id, "a", 1, 1));
    let loaded = s.load(id, 2);
    let late = submit(&s, Submission { commands: vec![counting(&s, id)], ..tally(&s, id, "a", 2, 1) });
    let rows_only = CommandWrites { idempotent_answer: Some(keyed_answer(id, "refused")), ..CommandWrites::default() };
    let refusal = Submission { generation: 2, snapshot: None, commands: vec![rows_only], ..tally(&s, id, "a", 1, 0) };
    let refusal = submit(&s, refusal);
    drop(gate);
    assert_eq!(first.await.unwrap(), Settlement::Durable);
    assert_eq!(loaded.await.unwrap().unwrap().version, 1);
    assert_eq!(late.await.unwrap(), Settlement::Superseded);
    assert_eq!(refusal.await.unwrap(), Settlement::Durable, "a commit of rows alone waits for no version");
}

async fn audit_lines_need_no_aggregate(s: Checked) {
    let line = printfloor::store::rows::Audit {
        id: s.environment.id(),
        at: Timestamp(1),
        actor: "key:1".to_owned(),
        action: "order.cancel".to_owned(),
        subject_kind: "order".to_owned(),
        subject_id: Id::ONLY,
        request_id: None,
        outcome: "forbidden".to_owned(),
        detail: None,
    };
    s.store.note(vec![line.clone()]);
    // The same id again is refused, and takes nothing else with it.
    s.store.note(vec![line]);
    let id = s.environment.id();
    assert_eq!(submit(&s, tally(&s, id, "a", 1, 1)).await.unwrap(), Settlement::Durable);
    assert_eq!(s.subjects().await, [id]);
}

async fn the_audit_log_is_a_chain_of_what_is_durable(s: Checked) {
    assert_eq!(s.audit_head().await, ChainHead::default());
    let with_line = |id: Id, code: &str, n: u128| {
        let mut submission = tally(&s, id, code, 1, 1);
        submission.commands[0].audit = Some(line(n));
        submission
    };
    let [a, b, c] = [(); 3].map(|()| s.environment.id());
    let all = vec![with_line(a, "same", 1), with_line(b, "same", 2), with_line(c, "other", 3)];
    let clash = Settlement::Clash { at: Some(0), constraint: "skus.code".to_owned() };
    assert_eq!(together(&s, all).await, [Settlement::Durable, clash, Settlement::Durable]);
    assert_eq!(submit(&s, with_line(a, "same", 4)).await.unwrap(), Settlement::Superseded);
    // The same ID again is refused, and the next line follows the last one that was written.
    s.store.note(vec![line(5), line(6)]);
    s.store.note(vec![line(6)]);
    s.store.note(vec![line(7)]);
    assert_eq!(submit(&s, tally(&s, b, "b", 1, 1)).await.unwrap(), Settlement::Durable);
    assert_eq!(s.audit_head().await, head_of(&[1, 3, 5, 6, 7]));
}

async fn retention_keeps_the_last_event_and_valid_keys(s: Checked) {
    let id = s.environment.id();
    let mut submission = tally(&s, id, "a", 1, 3);
    let short = IdempotentAnswer { expires_at: Timestamp(1), ..keyed_answer(id, "short") };
    submission.commands[0].idempotent_answer = Some(short);
    submission.commands[1].idempotent_answer = Some(keyed_answer(id, "long"));
    assert_eq!(submit(&s, submission).await.unwrap(), Settlement::Durable);
    s.store.run_retention(Timestamp(s.environment.now().0 + 40 * 24 * 3_600_000), 0, clock_at_rest()).await;
    assert_eq!(s.load(id, 1).await.unwrap().unwrap().version, 1);
    let queries = s.store.queries();
    assert_eq!(queries.idempotent_answer("short").await.unwrap(), None);
    assert!(queries.idempotent_answer("long").await.unwrap().is_some());
    let events = queries.events_after(0, &EventFilter::default(), 10).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [3]);
    assert_eq!(submit(&s, tally(&s, id, "a", 2, 1)).await.unwrap(), Settlement::Durable);
    assert_eq!(*s.outbox.last().borrow(), 4);
}

/// Stores more rows of each kind than a single run deletes.
async fn retention_deletes_very_many_rows_in_several_runs(s: Checked) {
    const ROWS: usize = 5_600;
    let id = s.environment.id();
    let mut submission = tally(&s, id, "a", 1, ROWS);
    for (n, command) in submission.commands.iter_mut().enumerate() {
        let short = IdempotentAnswer { expires_at: Timestamp(1), ..keyed_answer(id, &format!("short {n}")) };
        command.idempotent_answer = Some(short);
    }
    assert_eq!(submit(&s, submission).await.unwrap(), Settlement::Durable);
    let (mut runs, now) = (1, Timestamp(s.environment.now().0 + 40 * 24 * 3_600_000));
    while s.store.run_retention(now, 0, clock_at_rest()).await {
        runs += 1;
        // Work queued in the meantime does not wait for the rest.
        assert_eq!(submit(&s, tally(&s, id, "a", runs, 1)).await.unwrap(), Settlement::Durable);
    }
    assert_eq!(runs, if s.memory.is_some() { 1 } else { 2 }, "memory is quick, and never deletes in portions");
    let queries = s.store.queries();
    assert_eq!(queries.idempotent_answer(&format!("short {}", ROWS - 1)).await.unwrap(), None);
    let events = queries.events_after(0, &EventFilter::default(), 10).await.unwrap();
    assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), [ROWS as i64 + runs - 1]);
}

/// Stores a new aggregate.
async fn create<T: StoredAggregate>(s: &Checked, id: Id, state: &T) {
    let snapshot = Some(state.snapshot(id, 1, true).unwrap());
    let commands = vec![CommandWrites::default()];
    let submission = Submission { key: AggregateKey(T::KIND, id), generation: 1, snapshot, commands };
    assert_eq!(submit(s, submission).await.unwrap(), Settlement::Durable);
}

async fn is_stored<T: StoredAggregate>(s: &Checked, id: Id) -> bool {
    s.store.reader().load::<T>(id).await.unwrap().state.is_some()
}

async fn retention_deletes_ended_mails_exports_and_links(s: Checked) {
    let day_ms = 24 * 3_600_000;
    let now = Timestamp(s.environment.now().0 + 40 * day_ms);
    let recent = Timestamp(now.0 - 29 * day_ms);
    let of_mails = [
        Mail { state: MailState::Sent, ..mail(1) },
        Mail { state: MailState::Failed, ..mail(2) },
        Mail { state: MailState::Queued, ..mail(3) },
        Mail { state: MailState::Sent, next_at: recent, ..mail(4) },
        Mail { state: MailState::Dismissed, ..mail(5) },
    ];
    let of_exports = [
        Export { state: ExportState::Expired, ..export(11) },
        Export { state: ExportState::Failed, ..export(12) },
        Export { state: ExportState::Ready, ..export(13) },
        Export { state: ExportState::Expired, created_at: recent, ..export(14) },
    ];
    let link = |n: u128, expires_at: i64| SignInLink {
        id: id(n),
        email: "ann@example.org".to_owned(),
        hash: format!("hash {n}"),
        expires_at: Timestamp(expires_at),
        redeemed_at: None,
        created_at: Timestamp(0),
    };
    let links = [link(21, now.0 - 2 * day_ms), link(22, now.0 - day_ms / 2)];
    for mail in &of_mails {
        create(&s, mail.id, mail).await;
    }
    for export in &of_exports {
        create(&s, export.id, export).await;
    }
    for link in &links {
        create(&s, link.id, link).await;
    }
    s.store.run_retention(now, 0, clock_at_rest()).await;
    // A load is answered after what was queued before it.
    assert_eq!(s.load(Id::ONLY, 1).await.unwrap().unwrap().version, 0);
    for (mail, is_kept) in of_mails.iter().zip([false, false, true, true, false]) {
        assert_eq!(is_stored::<Mail>(&s, mail.id).await, is_kept, "{mail:?}");
    }
    for (export, is_kept) in of_exports.iter().zip([false, false, true, true]) {
        assert_eq!(is_stored::<Export>(&s, export.id).await, is_kept, "{export:?}");
    }
    for (link, is_kept) in links.iter().zip([false, true]) {
        assert_eq!(is_stored::<SignInLink>(&s, link.id).await, is_kept, "{link:?}");
    }
    // The token of a deleted link is free again.
    create(&s, id(23), &SignInLink { hash: links[0].hash.clone(), ..link(23, now.0) }).await;
}

#[tokio::test]
async fn an_outage_in_memory_refuses_commits_and_loads() {
    let s = Checked::in_memory();
    let memory = s.memory.clone().unwrap();
    let id = s.environment.id();
    memory.set_unavailable(Some(Unavailable::DiskFull));
    let settled = submit(&s, tally(&s, id, "a", 1, 1)).await.unwrap();
    assert_eq!(settled, Settlement::NotDurable(Unavailable::DiskFull));
    assert!(s.load(id, 1).await.unwrap().is_none());
    memory.set_unavailable(None);
    assert_eq!(submit(&s, tally(&s, id, "a", 1, 1)).await.unwrap(), Settlement::Durable);
    assert_eq!(memory.transactions(), 1);
}

#[tokio::test]
async fn a_lost_transaction_in_memory_is_told_by_the_version() {
    let s = Checked::in_memory();
    let memory = s.memory.clone().unwrap();
    let id = s.environment.id();
    memory.lose_next_transaction(LostTransaction::NotWritten);
    assert_eq!(submit(&s, tally(&s, id, "a", 1, 1)).await.unwrap(), Settlement::Lost);
    assert_eq!((s.version(id).await, s.subjects().await.len()), (0, 0));
    memory.lose_next_transaction(LostTransaction::Written);
    assert_eq!(submit(&s, tally(&s, id, "a", 1, 1)).await.unwrap(), Settlement::Lost);
    assert_eq!((s.version(id).await, s.subjects().await.len()), (1, 1));
}

/// Checks that on a single thread the same calls always result in the same order of settlements, transactions and
/// events.
#[tokio::test]
async fn the_store_in_memory_is_deterministic() {
    let mut runs = Vec::new();
    for _ in 0..2 {
        let s = Checked::in_memory();
        let order = Arc::new(std::sync::Mutex::new(Vec::new()));
        let ids: Vec<Id> = (1..=200).map(|n| Id(uuid::Uuid::from_u128(n))).collect();
        for (n, id) in ids.iter().enumerate() {
            let code = if n % 7 == 3 { "same".to_owned() } else { id.to_string() };
            let (settlements, submission) = (order.clone(), tally(&s, *id, &code, 1, 1));
            let owner = printfloor::store::CommitOwner::new(move |settlement| {
                settlements.lock().unwrap().push((n, settlement));
            });
            s.store.commit(submission, owner);
            if n % 50 == 0 {
                tokio::task::yield_now().await;
            }
        }
        until("all are settled", async || order.lock().unwrap().len() == ids.len()).await;
        let order = order.lock().unwrap().clone();
        runs.push((order, s.subjects().await, s.memory.unwrap().transactions()));
    }
    assert_eq!(runs[0], runs[1]);
}
