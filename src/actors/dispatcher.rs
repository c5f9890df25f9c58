//! Proposes pairs of jobs and printers: an index in memory, event-driven, owning nothing. Both owners may refuse.
//!
//! After a fall it is rebuilt from the resident orders and printers.

use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::root::{RootMsg, keep};
use crate::app::AppRef;
use crate::domain::aggregate::Versioned;
use crate::domain::dispatch::{Board, Proposal, waiting_reason};
use crate::domain::id::Id;
use crate::domain::job::Job;
use crate::domain::order::{Order, OrderCommand};
use crate::domain::printer::Printer;
use crate::domain::time::Timestamp;
use arc_swap::ArcSwapOption;
use futures::FutureExt;
use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, SpawnErr};
use std::sync::Arc;
use std::time::Duration;

/// What the dispatcher is told.
pub enum DispatcherMsg {
    /// An order's commit is on disk.
    Order(Id, Arc<Versioned<Order>>),
    /// A printer's commit is on disk.
    Printer(Id, Arc<Versioned<Printer>>),
    /// The order answered a proposal: claimed or not.
    Answered(Proposal, bool),
    /// Starts are allowed again.
    Again,
    /// For fall tests.
    #[cfg(any(test, debug_assertions))]
    Fall,
}

/// How the rest of the shop speaks to it.
#[derive(Clone)]
pub struct Dispatcher {
    actor: Place,
    shop: AppRef,
}

impl Dispatcher {
    /// Not started yet.
    pub fn new(shop: AppRef) -> Self {
        Self { actor: Arc::default(), shop }
    }

    /// Starts it under the root.
    pub async fn start(&self, root: &ActorRef<RootMsg>, max_starts_per_minute: u32) -> Result<(), SpawnErr> {
        let (place, shop) = (self.actor.clone(), self.shop.clone());
        let starter = move |root: ActorCell| {
            let (place, shop) = (place.clone(), shop.clone());
            async move {
                let args = (place, shop, max_starts_per_minute);
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

    /// An order's commit is on disk.
    pub fn order_changed(&self, id: Id, state: &Arc<Versioned<Order>>) {
        self.tell(DispatcherMsg::Order(id, state.clone()));
    }

    /// A printer's commit is on disk.
    pub fn printer_changed(&self, id: Id, state: &Arc<Versioned<Printer>>) {
        self.tell(DispatcherMsg::Printer(id, state.clone()));
    }

    /// In plain words, why a job waits.
    pub fn waiting_reason(&self, job: &Job) -> Option<String> {
        let shop = self.shop.get()?;
        let printers = shop.printers.all_resident();
        waiting_reason(job, printers.iter().filter_map(|(_, state)| state.state.as_ref()))
    }

    /// For fall tests.
    #[cfg(any(test, debug_assertions))]
    pub fn fall(&self) {
        self.tell(DispatcherMsg::Fall);
    }
}

type Place = Arc<ArcSwapOption<ActorRef<DispatcherMsg>>>;

struct DispatcherActor;

struct DispatcherState {
    board: Board,
    shop: AppRef,
    /// The moment that a look is set for.
    again: Option<Timestamp>,
}

impl Actor for DispatcherActor {
    type Msg = DispatcherMsg;
    type State = DispatcherState;
    type Arguments = (Place, AppRef, u32);

    async fn pre_start(
        &self,
        me: ActorRef<DispatcherMsg>,
        (place, shop, most): Self::Arguments,
    ) -> Result<DispatcherState, ActorProcessingErr> {
        // Before anything is read: what is told from here on waits in the mailbox, what was published before is read.
        place.store(Some(Arc::new(me)));
        Ok(DispatcherState { board: Board::new((most > 0).then_some(most)), shop, again: None })
    }

    /// What is resident now; whatever changes from here on is told.
    async fn post_start(&self, me: ActorRef<DispatcherMsg>, s: &mut DispatcherState) -> Result<(), ActorProcessingErr> {
        if let Some(shop) = s.shop.get() {
            for (_, state) in shop.orders.all_resident() {
                state.state.iter().for_each(|order| s.board.order_changed(order));
            }
            for (_, state) in shop.printers.all_resident() {
                state.state.iter().for_each(|printer| s.board.printer_changed(printer));
            }
        }
        s.propose(&me);
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
            DispatcherMsg::Again => s.again = None,
            #[cfg(any(test, debug_assertions))]
            DispatcherMsg::Fall => panic!("asked to fall"),
        }
        s.propose(&me);
        Ok(())
    }
}

impl DispatcherState {
    fn propose(&mut self, me: &ActorRef<DispatcherMsg>) {
        let Some(shop) = self.shop.get() else { return };
        for proposal in self.board.proposals(shop.environment.now()) {
            let (shop, me) = (shop.clone(), me.clone());
            tokio::spawn(async move {
                let dispatch = OrderCommand::Dispatch { job: proposal.job, printer: proposal.printer };
                let asked = shop.orders.ask(proposal.order, CommandOrigin::system(), dispatch).await;
                if let Err(error) = &asked {
                    tracing::debug!(job = %proposal.job, printer = %proposal.printer, %error, "proposal not taken");
                }
                let _ = me.cast(DispatcherMsg::Answered(proposal, asked.is_ok()));
            });
        }
        let now = shop.environment.now();
        if let Some(at) = self.board.next_at(now)
            && self.again != Some(at)
        {
            self.again = Some(at);
            let wait = Duration::from_millis(u64::try_from(at.since(now)).unwrap_or(0));
            me.send_after(wait, || DispatcherMsg::Again);
        }
    }
}
