//! Tests of an actor on a store that settles its commits as the test chooses.

#![expect(clippy::unwrap_used, reason = "tests")]

mod settlements;
mod supervision;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use ractor::Actor as _;

use crate::actor::Activator;
use crate::directory::{ASK_TIMEOUT, Directory, DirectoryArgs};
use crate::effects::NoEffects;
use crate::envelope::{CommandOrigin, IdempotencyKey};
use crate::environment::{Environment, SeededIds};
use crate::restart_policy::RestartPolicy;
use crate::root::{HealthRegistry, Root};
use domain::id::Id;
use domain::integration::{Integration, IntegrationCommand};
use domain::principal::Principal;
use domain::testing::{Bench, id};
use domain::time::{LATEST, Timestamp};
use store::memory::{LostTransaction, MemoryStore};
use store::ordered_work::OrderedWork;
use store::outbox::Outbox;
use store::reader::Reader;
use store::{AggregateKey, CommitLog, CommitOwner, Settlement, Store, Submission};

/// Fault injected into a commit.
#[derive(Clone)]
enum CommitFault {
    /// The commit does not reach the store and gets this settlement.
    Settled(Settlement),
    /// The commit reaches the store, but the answer is lost.
    Lost(LostTransaction),
}

/// Commit as it was submitted.
#[derive(Clone, PartialEq, Eq, Debug)]
struct SubmittedCommit {
    /// Number of commands.
    commands: usize,
    /// Number of entries in the audit log.
    audited: usize,
    /// Versions of the answers stored for idempotency keys.
    stored_versions: Vec<i64>,
}

/// Faults for the next commits, and the commits so far.
#[derive(Default)]
struct Script {
    /// Faults for the next commits; `None` for a commit that reaches the store.
    faults: Mutex<VecDeque<Option<CommitFault>>>,
    commits: Mutex<Vec<SubmittedCommit>>,
    /// Aggregates whose actors were started because a commit created them.
    activated: Mutex<Vec<&'static str>>,
}

impl Script {
    fn fail(&self, faults: impl IntoIterator<Item = Option<CommitFault>>) {
        self.faults.lock().unwrap().extend(faults);
    }

    /// Returns the commits since the last call.
    fn commits(&self) -> Vec<SubmittedCommit> {
        std::mem::take(&mut *self.commits.lock().unwrap())
    }

    /// Returns the number of commands of each commit since the last call.
    fn sizes(&self) -> Vec<usize> {
        self.commits().iter().map(|commit| commit.commands).collect()
    }
}

/// In-memory commit log with scripted faults.
struct ScriptedLog {
    memory: MemoryStore,
    script: Arc<Script>,
}

impl CommitLog for ScriptedLog {
    fn commit(&self, submission: Box<Submission>, owner: CommitOwner) {
        let commands = &submission.commands;
        let stored = commands.iter().filter_map(|one| one.idempotent_answer.as_ref());
        self.script.commits.lock().unwrap().push(SubmittedCommit {
            commands: commands.len(),
            audited: commands.iter().filter(|one| one.audit.is_some()).count(),
            stored_versions: stored.map(|answer| answer.version).collect(),
        });
        let fault = self.script.faults.lock().unwrap().pop_front().flatten();
        match fault {
            Some(CommitFault::Settled(settlement)) => return owner.tell(settlement),
            Some(CommitFault::Lost(outcome)) => self.memory.lose_next_transaction(outcome),
            None => {}
        }
        self.memory.commit(submission, owner);
    }

    fn run_in_order(&self, work: OrderedWork) {
        self.memory.run_in_order(work);
    }

    fn forget(&self, key: AggregateKey) {
        self.memory.forget(key);
    }
}

/// Activator that notes the kinds of new aggregates.
struct NotingActivator(Arc<Script>);

impl Activator for NotingActivator {
    fn activate(&self, kind: &'static str, _: Id) {
        self.0.activated.lock().unwrap().push(kind);
    }
}

/// Integrations in memory; only the one with ID 1 exists.
struct Rig {
    directory: Directory<Integration>,
    health: HealthRegistry,
    script: Arc<Script>,
}

/// Answer and version, or the reason why there is none.
type Outcome = Result<(i64, i64), String>;

impl Rig {
    async fn new(max_waiting: usize) -> Self {
        Self::with_policy(RestartPolicy::default(), max_waiting).await
    }

    async fn with_policy(policy: RestartPolicy, max_waiting: usize) -> Self {
        let memory = MemoryStore::new(Outbox::new(0));
        let script = Arc::new(Script::default());
        let log = ScriptedLog { memory: memory.clone(), script: script.clone() };
        let store = Store::new(log, Reader::Memory(memory.clone()), memory);
        let clock = Box::new(|| Timestamp(1_700_000_000_000));
        let environment = Arc::new(Environment::new(Bench::new().rules, Box::new(SeededIds::new(1)), clock));
        let health = HealthRegistry::default();
        let (root, _) = Root::spawn(None, Root, health.clone()).await.unwrap();
        let directory = Directory::<Integration>::new(DirectoryArgs { store, environment, policy, max_waiting });
        let activator = Arc::new(NotingActivator(script.clone()));
        directory.start(&root, Arc::new(NoEffects), activator).await.unwrap();
        let rig = Self { directory, health, script };
        let begin = IntegrationCommand::Begin { name: "workflow".to_owned(), cursor: 5 };
        let begun = rig.directory.create_as(id(1), CommandOrigin::system(), begin).await.unwrap();
        assert_eq!((begun.answer, begun.version, rig.script.sizes()), (5, 1, vec![1]));
        rig
    }

    async fn ask(&self, caller: CommandOrigin, command: IntegrationCommand) -> Outcome {
        let answered = self.directory.activate(id(1)).ask(caller, command, ASK_TIMEOUT).await;
        answered.map(|answered| (answered.answer, answered.version)).map_err(|error| error.to_string())
    }

    async fn read(&self, upto: i64) -> Outcome {
        self.ask(CommandOrigin::system(), IntegrationCommand::Read(upto)).await
    }
}

/// Returns the origin of a command with an idempotency key.
fn keyed(key: &str) -> CommandOrigin {
    let key = IdempotencyKey { key: key.to_owned(), body_hash: "body".to_owned(), expires_at: LATEST };
    CommandOrigin { key: Some(key), ..CommandOrigin::new(Principal::Machine) }
}

fn needs_person() -> IntegrationCommand {
    IntegrationCommand::NeedsPerson {
        name: "workflow".to_owned(),
        title: "Workflow".to_owned(),
        why: "the token was rejected".to_owned(),
    }
}
