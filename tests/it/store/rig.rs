//! The real store under a real root, with a directory of tallies and without a shop.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::FutureExt;
use printfloor::actors::kernel::actor::Activator;
use printfloor::actors::kernel::directory::{ASK_TIMEOUT, Directory, DirectoryArgs};
use printfloor::actors::kernel::effects::{Effects, NoEffects};
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::actors::kernel::environment::Environment;
use printfloor::actors::kernel::handle::Handle;
use printfloor::actors::kernel::restart_policy::RestartPolicy;
use printfloor::actors::kernel::root::{HealthRegistry, Root, RootMsg, keep};
use printfloor::config::Config;
use printfloor::domain::aggregate::{LastNumbers, Versioned};
use printfloor::domain::event::NumberedEvent;
use printfloor::domain::id::Id;
use printfloor::domain::mail::{Mail, MailCommand, SendMail, TryOutcome};
use printfloor::domain::schedule::Delays;
use printfloor::store::connect::{self, DatabaseSettings, WriteConnection};
use printfloor::store::outbox::Outbox;
use printfloor::store::queries::{EventFilter, Queries};
use printfloor::store::reader::Reader;
use printfloor::store::writer::{Writer, WriterArgs, WriterCounters, WriterHandle};
use printfloor::store::{Store, StoredAggregate};
use ractor::{Actor, ActorCell, ActorRef};
use sea_orm::DatabaseConnection;

use super::tally::{Do, Tally};
use crate::support::database::TestDatabase;

pub struct Rig {
    pub database: TestDatabase,
    pub root: ActorRef<RootMsg>,
    pub store: Store,
    pub writer: WriterHandle,
    pub outbox: Arc<Outbox>,
    pub counters: Arc<WriterCounters>,
    pub environment: Arc<Environment>,
    pub reading: DatabaseConnection,
    /// Number of times that the store reported another server's takeover.
    pub fenced: Arc<AtomicU32>,
    mails: Arc<OnceLock<Directory<Mail>>>,
}

impl Rig {
    /// Starts on a fresh database.
    pub async fn start(database: &TestDatabase) -> Self {
        let writing = connect::start(&database.settings).await.unwrap();
        Self::with(database, writing).await
    }

    async fn with(database: &TestDatabase, writing: WriteConnection) -> Self {
        let settings = database.settings.clone();
        let reading = connect::reading(&settings).await.unwrap();
        let outbox = Outbox::new(writing.last_seq);
        let counters = Arc::new(WriterCounters::default());
        let environment = Arc::new(Environment::of_the_machine(Config::default().rules(), LastNumbers::default()));
        let (root, _) = Root::spawn(None, Root, HealthRegistry::default()).await.unwrap();
        let fenced = Arc::new(AtomicU32::new(0));
        let writer = writer(&root, settings, writing, &outbox, &counters, &fenced).await;
        let store = Store::new(writer.clone(), Reader::Database(reading.clone()), Queries::new(reading.clone()));
        let mails = Arc::default();
        let rig = Self {
            database: database.clone(),
            root,
            store,
            writer,
            outbox,
            counters,
            environment,
            reading,
            fenced,
            mails,
        };
        let mails = rig.start_directory::<Mail>(rig.directory(RestartPolicy::default()), Arc::new(Post)).await;
        assert!(rig.mails.set(mails).is_ok());
        rig
    }

    pub async fn tallies(&self, policy: RestartPolicy) -> Arc<Directory<Tally>> {
        Arc::new(self.start_directory(self.directory(policy), Arc::new(NoEffects)).await)
    }

    /// Starts a directory of tallies, for each of which at most `max_waiting` commands may wait.
    pub async fn crowded_tallies(&self, policy: RestartPolicy, max_waiting: usize) -> Arc<Directory<Tally>> {
        let args = DirectoryArgs { max_waiting, ..self.directory_args(policy) };
        Arc::new(self.start_directory(Directory::new(args), Arc::new(NoEffects)).await)
    }

    async fn start_directory<T: StoredAggregate>(
        &self,
        directory: Directory<T>,
        effects: Arc<dyn Effects<T>>,
    ) -> Directory<T> {
        directory.start(&self.root, effects, Arc::new(MailActivator(self.mails.clone()))).await.unwrap();
        directory
    }

    /// Returns a directory that is not started.
    pub fn directory<T: StoredAggregate>(&self, policy: RestartPolicy) -> Directory<T> {
        Directory::new(self.directory_args(policy))
    }

    fn directory_args(&self, policy: RestartPolicy) -> DirectoryArgs {
        let max_waiting = Config::default().limits.max_queued_commands;
        DirectoryArgs { store: self.store.clone(), environment: self.environment.clone(), policy, max_waiting }
    }

    /// Creates the given number of fresh tallies.
    pub async fn make(&self, tallies: &Directory<Tally>, many: usize) -> Vec<Id> {
        let mut ids = Vec::new();
        for _ in 0..many {
            ids.push(tallies.create(CommandOrigin::system(), Do::Make).await.unwrap().0);
        }
        ids
    }

    pub fn writer_crashes(&self) {
        self.writer.crash();
    }

    /// Loads a tally from disk.
    pub async fn on_disk(&self, id: Id) -> Versioned<Tally> {
        Reader::Database(self.reading.clone()).load::<Tally>(id).await.unwrap()
    }

    /// Returns the sum of all counts on disk; fails unless ledger, events and numbers agree with it.
    pub async fn stored(&self, ids: &[Id]) -> i64 {
        let mut sum = 0;
        for id in ids {
            sum += self.on_disk(*id).await.state.map_or(0, |tally| tally.count);
        }
        let events = self.events().await;
        let ledger =
            self.database.number("SELECT CAST(COALESCE(SUM(delta_quantity), 0) AS BIGINT) FROM movements").await;
        assert_eq!(ledger, sum, "the ledger's sum is the count");
        assert_eq!(events.len() as i64, sum, "one event for each one counted");
        sum
    }

    /// Returns all events; fails unless they are numbered without holes, and memory agrees with the table.
    pub async fn events(&self) -> Vec<NumberedEvent> {
        let queries = Queries::new(self.reading.clone());
        let mut all: Vec<NumberedEvent> = Vec::new();
        loop {
            let last = all.last().map_or(0, |event| event.seq);
            let more = queries.events_after(last, &EventFilter::default(), 1000).await.unwrap();
            if more.is_empty() {
                break;
            }
            all.extend(more);
        }
        assert!(all.iter().map(|event| event.seq).eq(1..=all.len() as i64), "numbers without holes");
        assert_eq!(*self.outbox.last().borrow(), all.len() as i64, "the last number is known");
        let newest = all.len().saturating_sub(1000);
        let remembered = self.outbox.after(newest as i64, usize::MAX).unwrap();
        assert!(remembered.iter().map(|event| &**event).eq(&all[newest..]), "memory says what the table says");
        all
    }
}

async fn writer(
    root: &ActorRef<RootMsg>,
    database: DatabaseSettings,
    writing: WriteConnection,
    outbox: &Arc<Outbox>,
    counters: &Arc<WriterCounters>,
    fenced: &Arc<AtomicU32>,
) -> WriterHandle {
    let count = fenced.clone();
    let args = WriterArgs {
        database,
        outbox: outbox.clone(),
        counters: counters.clone(),
        fenced: Arc::new(move || {
            count.fetch_add(1, Relaxed);
        }),
    };
    let place: Arc<Mutex<Option<WriterHandle>>> = Arc::default();
    let (put, first) = (place.clone(), Arc::new(Mutex::new(Some(Box::new(writing)))));
    let starter = move |root: ActorCell| {
        let (args, place, writing) = (args.clone(), put.clone(), first.lock().unwrap().take());
        async move {
            let (writer, _) = Writer::spawn_linked(None, Writer, (args, writing), root).await?;
            let cell = writer.get_cell();
            let mut place = place.lock().unwrap();
            match &*place {
                Some(handle) => handle.replace(writer),
                None => *place = Some(WriterHandle::new(writer)),
            }
            Ok(cell)
        }
        .boxed()
    };
    keep(root, "store", Arc::new(starter)).await.unwrap();
    let handle = place.lock().unwrap().clone();
    handle.unwrap()
}

struct MailActivator(Arc<OnceLock<Directory<Mail>>>);

impl Activator for MailActivator {
    fn activate(&self, _: &'static str, id: Id) {
        self.0.get().unwrap().activate(id);
    }
}

/// An email provider that accepts every email.
struct Post;

#[async_trait]
impl Effects<Mail> for Post {
    async fn run(&self, effect: SendMail, of: Handle<Mail>) {
        let tried = MailCommand::Tried { number: effect.number, outcome: TryOutcome::Sent, sent_in: Vec::new() };
        let _ = of.ask(CommandOrigin::system(), tried, ASK_TIMEOUT).await;
    }
}

/// Returns a policy with short delays after crashes that never parks an actor.
pub fn patient() -> RestartPolicy {
    RestartPolicy {
        max_crashes: usize::MAX,
        delays: Delays { first: Duration::from_millis(5), longest: Duration::from_millis(20) },
        ..RestartPolicy::default()
    }
}
