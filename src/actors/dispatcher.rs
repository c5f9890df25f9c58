//! Dispatcher: an event-driven, in-memory index that proposes a printer for each job. It owns neither, so both the
//! order and the printer can reject a proposal.
//!
//! After a crash, it is rebuilt from the resident orders and printers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use futures::FutureExt;
use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, SpawnErr};

use crate::restores::DispatchHold;
use domain::aggregate::Versioned;
use domain::dispatch::{
    DispatchIndex, DispatchRules, GatheredAct, Proposal, RefusedJob, WaitContext, Waiting, WaitingCode, stuck_jobs,
    waiting, waiting_acts,
};
use domain::id::Id;
use domain::job::{Block, Job, JobState};
use domain::material::Material;
use domain::order::{JobCommand, Order};
use domain::printer::Printer;
use domain::time::Timestamp;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use kernel::handle::AskError;
use kernel::root::{RootMsg, keep};
use words::Language;
use words::staff::waiting as texts;

/// Pause before retrying a proposal to an order that could not be reached.
const ASK_RETRY_DELAY: Duration = Duration::from_millis(500);

/// Message to the dispatcher.
pub enum DispatcherMsg {
    /// A commit of an order is on disk.
    Order(Id, Arc<Versioned<Order>>),
    /// A commit of a printer is on disk.
    Printer(Id, Arc<Versioned<Printer>>),
    /// The order responded to a proposal; `true` if it claimed the printer.
    Answered(Proposal, bool),
    /// The order responded when asked whether to give up on a job that all printers rejected.
    JobAnswered(Id),
    /// The next round of proposals is due because a timer fired or the dispatch hold was lifted.
    Again,
    /// Crash the actor on purpose, for tests.
    #[cfg(any(test, debug_assertions))]
    Crash,
}

/// Handle to the dispatcher, which survives its actor and remains valid across restarts.
#[derive(Clone)]
pub struct Dispatcher {
    actor: CurrentDispatcher,
    floor: Arc<DispatchSources>,
}

/// Directories of orders, printers and materials, the dispatch rules, and the clock.
#[derive(Clone)]
struct DispatchSources {
    orders: Directory<Order>,
    printers: Directory<Printer>,
    /// Materials that jobs need, used to explain why a job is on hold.
    materials: Directory<Material>,
    environment: Arc<Environment>,
    rules: Arc<DispatchRules>,
    hold: DispatchHold,
}

impl Dispatcher {
    /// Creates a dispatcher for the given orders and printers, without starting it. Until it is started, it ignores all
    /// messages; it reads the resident orders and printers when it starts.
    pub fn new(
        orders: Directory<Order>,
        printers: Directory<Printer>,
        materials: Directory<Material>,
        environment: Arc<Environment>,
        rules: DispatchRules,
        hold: DispatchHold,
    ) -> Self {
        let rules = Arc::new(rules);
        let floor = DispatchSources { orders, printers, materials, environment, rules, hold };
        Self { actor: Arc::default(), floor: Arc::new(floor) }
    }

    /// Starts the dispatcher's actor under the root.
    pub async fn start(&self, root: &ActorRef<RootMsg>) -> Result<(), SpawnErr> {
        let (current, floor) = (self.actor.clone(), self.floor.clone());
        let starter = move |root: ActorCell| {
            let (current, floor) = (current.clone(), floor.clone());
            async move {
                let args = (current, floor);
                let (actor, _) = DispatcherActor::spawn_linked(None, DispatcherActor, args, root).await?;
                Ok(actor.get_cell())
            }
            .boxed()
        };
        keep(root, "dispatcher", Arc::new(starter)).await
    }

    fn tell(&self, message: DispatcherMsg) {
        if let Some(actor) = self.actor.load_full() {
            let _ = actor.cast(message);
        }
    }

    /// Notifies the dispatcher that a commit of an order is on disk.
    pub fn order_changed(&self, id: Id, state: &Arc<Versioned<Order>>) {
        self.tell(DispatcherMsg::Order(id, state.clone()));
    }

    /// Notifies the dispatcher that a commit of a printer is on disk.
    pub fn printer_changed(&self, id: Id, state: &Arc<Versioned<Printer>>) {
        self.tell(DispatcherMsg::Printer(id, state.clone()));
    }

    /// Returns why a job is waiting, based on the current stock and printers and on when jobs are expected to end;
    /// `None` if it is not waiting.
    pub fn waiting(&self, language: Language, job: &Job, job_ends: &HashMap<Id, Timestamp>) -> Option<Waiting> {
        if job.state == JobState::Sliced && self.floor.hold.is_on() {
            return Some(Waiting::of(language, WaitingCode::OnHold, texts::on_hold(language)));
        }
        self.around(language, job, Some(job_ends), |around| waiting(job, around))
    }

    /// Returns the actions that let waiting jobs start printing once a person performs them; none while dispatch is on
    /// hold.
    pub fn waiting_acts(&self) -> Vec<GatheredAct> {
        let (types, now) = (&self.floor.rules.types, self.floor.environment.now());
        self.unless_on_hold(|orders, printers| waiting_acts(orders.iter().copied(), printers, types, now))
    }

    /// Returns the jobs that no printer takes until a person does something for them that no other task asks for, in
    /// groups that make the same parts; none while dispatch is on hold.
    pub fn stuck_jobs(&self) -> Vec<Vec<Arc<Job>>> {
        let (types, now) = (&self.floor.rules.types, self.floor.environment.now());
        self.unless_on_hold(|orders, printers| stuck_jobs(orders.iter().copied(), printers, types, now))
    }

    /// Returns the results of `find` for the resident orders and printers; nothing while dispatch is on hold.
    fn unless_on_hold<T>(&self, find: impl FnOnce(&[&Order], &[&Printer]) -> Vec<T>) -> Vec<T> {
        if self.floor.hold.is_on() {
            return Vec::new();
        }
        let (orders, printers) = (self.floor.orders.all_resident(), self.floor.printers.all_resident());
        let orders: Vec<&Order> = orders.iter().filter_map(|(_, state)| state.state.as_ref()).collect();
        let printers: Vec<&Printer> = printers.iter().filter_map(|(_, state)| state.state.as_ref()).collect();
        find(&orders, &printers)
    }

    /// Calls `look` with a job's current surroundings, which are described in the given language: all printers, the
    /// job's materials, the jobs that hold the stock it is waiting for, and the times at which jobs are expected to
    /// end.
    pub fn around<T>(
        &self,
        language: Language,
        job: &Job,
        job_ends: Option<&HashMap<Id, Timestamp>>,
        look: impl FnOnce(&WaitContext<'_>) -> T,
    ) -> T {
        let printers = self.floor.printers.all_resident();
        let printers: Vec<&Printer> = printers.iter().filter_map(|(_, state)| state.state.as_ref()).collect();
        let needs = job.material_needs();
        let materials: Vec<_> =
            needs.iter().filter_map(|one| Some(self.floor.materials.resident(one.material_id)?.read())).collect();
        let materials: Vec<&Material> = materials.iter().filter_map(|state| state.state.as_ref()).collect();
        let waiting = job.waiting_claim().filter(|_| job.blocked_by == Some(Block::Material));
        let short = waiting.and_then(|claim| materials.iter().find(|material| material.id == claim.material_id));
        let holders = short.map(|material| material.holders(job.id)).unwrap_or_default();
        let holders: Vec<String> = holders.into_iter().filter_map(|(order, job)| self.number_of(order, job)).collect();
        look(&WaitContext {
            printers: &printers,
            materials: &materials,
            holders: &holders,
            types: &self.floor.rules.types,
            job_ends,
            now: self.floor.environment.now(),
            language,
        })
    }

    /// Returns the display number of a job, if its order is resident.
    fn number_of(&self, order: Id, job: Id) -> Option<String> {
        let state = self.floor.orders.resident(order)?.read();
        state.state.as_ref()?.jobs.get(&job).map(|job| job.number_text())
    }

    /// Crashes the dispatcher on purpose, for tests.
    #[cfg(any(test, debug_assertions))]
    pub fn crash(&self) {
        self.tell(DispatcherMsg::Crash);
    }
}

/// Reference to the current actor; empty before the actor is started.
type CurrentDispatcher = Arc<ArcSwapOption<ActorRef<DispatcherMsg>>>;

struct DispatcherActor;

struct DispatcherState {
    board: DispatchIndex,
    floor: Arc<DispatchSources>,
    /// Time of the next scheduled round of proposals.
    again: Option<Timestamp>,
}

impl Actor for DispatcherActor {
    type Msg = DispatcherMsg;
    type State = DispatcherState;
    type Arguments = (CurrentDispatcher, Arc<DispatchSources>);

    async fn pre_start(
        &self,
        me: ActorRef<DispatcherMsg>,
        (current, floor): Self::Arguments,
    ) -> Result<DispatcherState, ActorProcessingErr> {
        // Before anything is read: what is told from here on waits in the mailbox, what was published before is read.
        current.store(Some(Arc::new(me)));
        Ok(DispatcherState { board: DispatchIndex::new(DispatchRules::clone(&floor.rules)), floor, again: None })
    }

    /// Reads the resident orders and printers; later changes arrive as messages.
    async fn post_start(&self, me: ActorRef<DispatcherMsg>, s: &mut DispatcherState) -> Result<(), ActorProcessingErr> {
        for (_, state) in s.floor.orders.all_resident() {
            state.state.iter().for_each(|order| s.board.order_changed(order));
        }
        for (_, state) in s.floor.printers.all_resident() {
            state.state.iter().for_each(|printer| s.board.printer_changed(printer));
        }
        s.propose(&me);
        if s.floor.hold.is_on() {
            let hold = s.floor.hold.clone();
            tokio::spawn(async move {
                hold.wait_until_off().await;
                let _ = me.cast(DispatcherMsg::Again);
            });
        }
        Ok(())
    }

    async fn handle(
        &self,
        me: ActorRef<DispatcherMsg>,
        message: DispatcherMsg,
        s: &mut DispatcherState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            DispatcherMsg::Order(_, state) => state.state.iter().for_each(|order| s.board.order_changed(order)),
            DispatcherMsg::Printer(_, state) => state.state.iter().for_each(|printer| s.board.printer_changed(printer)),
            DispatcherMsg::Answered(proposal, claimed) => s.board.settled(&proposal, claimed),
            DispatcherMsg::JobAnswered(job) => s.board.job_settled(&job),
            DispatcherMsg::Again => s.again = None,
            #[cfg(any(test, debug_assertions))]
            DispatcherMsg::Crash => panic!("crash requested by a test"),
        }
        s.propose(&me);
        Ok(())
    }
}

impl DispatcherState {
    fn propose(&mut self, me: &ActorRef<DispatcherMsg>) {
        if self.floor.hold.is_on() {
            return;
        }
        for RefusedJob { order, job, printers } in self.board.refused_jobs() {
            let answered = DispatcherMsg::JobAnswered(job);
            self.ask(me, order, JobCommand::FailRefused { job, printers }, move |_| answered);
        }
        for proposal in self.board.proposals(self.floor.environment.now()) {
            let dispatch = JobCommand::Dispatch { job: proposal.job, printer: proposal.printer };
            let answered = move |claimed| DispatcherMsg::Answered(proposal, claimed);
            self.ask(me, proposal.order, dispatch, answered);
        }
        let now = self.floor.environment.now();
        if let Some(at) = self.board.next_at(now)
            && self.again != Some(at)
        {
            self.again = Some(at);
            let wait = Duration::from_millis(u64::try_from(at.since(now)).unwrap_or(0));
            me.send_after(wait, || DispatcherMsg::Again);
        }
    }

    /// Sends a command to an order in a separate task. `answered` builds the message that reports whether the order
    /// agreed.
    fn ask(
        &self,
        me: &ActorRef<DispatcherMsg>,
        order: Id,
        command: JobCommand,
        answered: impl FnOnce(bool) -> DispatcherMsg + Send + 'static,
    ) {
        let (orders, me) = (self.floor.orders.clone(), me.clone());
        tokio::spawn(async move {
            let outcome = orders.ask(order, CommandOrigin::system(), command).await;
            if let Err(error) = &outcome {
                tracing::debug!(%order, %error, "proposal rejected");
                if !matches!(error, AskError::Refused(_)) {
                    // The same would be proposed at once, and fail as fast while the database does not answer.
                    tokio::time::sleep(ASK_RETRY_DELAY).await;
                }
            }
            let _ = me.cast(answered(outcome.is_ok()));
        });
    }
}
