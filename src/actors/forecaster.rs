//! Keeps the forecast of the shop in memory: made anew soon after each change of an order or a printer, beside the
//! requests.
//!
//! It owns nothing. What it has learnt is read from finished prints and promised orders when it starts, and the
//! forecast itself is thrown away with each new one; the only thing that is kept of it is the promise of each order,
//! which the order keeps ([`OrderCommand::Promise`]).

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use futures::FutureExt;
use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, SpawnErr};

use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::root::{RootMsg, keep};
use crate::domain::aggregate::Versioned;
use crate::domain::dispatch::BoardRules;
use crate::domain::forecast::{Forecast, ObservedPrint, Paces, PrinterOutlook, ShopKnowledge, forecast};
use crate::domain::id::Id;
use crate::domain::job::AttemptState;
use crate::domain::order::{Order, OrderCommand, OrderStatus};
use crate::domain::printer::Printer;
use crate::domain::promise::{Promise, Stretch};
use crate::domain::shop_hours::ShopHours;
use crate::printers::connections::PrinterConnections;
use crate::store::Store;

/// From a change until the forecast is made anew: what changes meanwhile is in it, too.
const CHANGE_DELAY: Duration = Duration::from_millis(500);
/// How often it is made anew though nothing changed: prints go on, and may take longer than expected.
const FORECAST_INTERVAL: Duration = Duration::from_secs(30);
/// From a failure to read what is known until it is read again.
const READ_RETRY_DELAY: Duration = Duration::from_secs(2);
/// Finished prints that are learnt from at start, newest first.
const MAX_LEARNT_PRINTS: u64 = 2000;
/// Orders whose promises are learnt from at start, newest first.
const MAX_LEARNT_PROMISES: u64 = 100;

/// Tells what is expected of jobs, orders and printers. Cheap to clone.
#[derive(Clone)]
pub struct Forecaster {
    actor: CurrentActor,
    published: Arc<ArcSwap<Forecast>>,
    /// Whether a forecast will be made soon, so that of many changes only the first is told.
    due: Arc<AtomicBool>,
    shop: Arc<ForecastSources>,
}

/// What the forecast is made from.
#[derive(Clone)]
pub struct ForecastSources {
    /// The jobs to be printed.
    pub orders: Directory<Order>,
    /// Who prints them.
    pub printers: Directory<Printer>,
    /// What printers say is left of their prints.
    pub connections: Arc<PrinterConnections>,
    /// Clock and settings, handed in.
    pub environment: Arc<Environment>,
    /// The dispatcher's settings.
    pub rules: Arc<BoardRules>,
    /// When somebody is in the shop.
    pub hours: Arc<ShopHours>,
    /// Time from the choice of a printer until it prints, in milliseconds.
    pub starting_ms: i64,
    /// What is added at least to what is expected, before it is promised, in milliseconds.
    pub least_margin_ms: i64,
    /// Where earlier prints and promises are read.
    pub store: Store,
}

/// The actor of now; empty before the start.
type CurrentActor = Arc<ArcSwapOption<ActorRef<ForecasterMsg>>>;

enum ForecasterMsg {
    /// An order or a printer has changed.
    Changed,
    /// Make the forecast now.
    Make,
    /// What was known before this start.
    Known(Box<LearntShop>),
    /// The forecast is made; nothing if that failed.
    Made(Option<Box<(Forecast, Knowledge)>>),
}

/// What the tables tell of earlier prints and orders.
struct LearntShop {
    prints: Vec<ObservedPrint>,
    promises: Vec<(Id, Promise)>,
}

/// What was learnt.
#[derive(Default)]
struct Knowledge {
    paces: Paces,
    stretch: Stretch,
    /// Orders whose promise was learnt from.
    met: HashSet<Id>,
}

impl Forecaster {
    /// A forecaster for this shop. Not started yet: until then nothing is expected of anything.
    pub fn new(shop: ForecastSources) -> Self {
        Self { actor: Arc::default(), published: Arc::default(), due: Arc::default(), shop: Arc::new(shop) }
    }

    /// Starts it under the root.
    pub async fn start(&self, root: &ActorRef<RootMsg>) -> Result<(), SpawnErr> {
        let forecaster = self.clone();
        let starter = move |root: ActorCell| {
            let forecaster = forecaster.clone();
            async move {
                let (actor, _) = ForecasterActor::spawn_linked(None, ForecasterActor, forecaster, root).await?;
                Ok(actor.get_cell())
            }
            .boxed()
        };
        keep(root, "forecaster", Arc::new(starter)).await
    }

    /// An order's or a printer's commit is on disk.
    pub fn changed(&self) {
        if let Some(actor) = self.actor.load_full()
            && !self.due.swap(true, Ordering::AcqRel)
        {
            let _ = actor.cast(ForecasterMsg::Changed);
        }
    }

    /// The latest forecast.
    pub fn latest(&self) -> Arc<Forecast> {
        self.published.load_full()
    }
}

struct ForecasterActor;

struct ForecasterState {
    forecaster: Forecaster,
    /// What was learnt; elsewhere while a forecast is being made with it.
    knowledge: Option<Box<Knowledge>>,
    /// Whether what was known before this start has been read. Nothing is promised before.
    informed: bool,
}

impl Actor for ForecasterActor {
    type Msg = ForecasterMsg;
    type State = ForecasterState;
    type Arguments = Forecaster;

    async fn pre_start(
        &self,
        me: ActorRef<ForecasterMsg>,
        forecaster: Forecaster,
    ) -> Result<ForecasterState, ActorProcessingErr> {
        forecaster.actor.store(Some(Arc::new(me.clone())));
        read(me.clone(), forecaster.shop.store.clone());
        // What an actor before this one was told is made good at once.
        forecaster.due.store(true, Ordering::Release);
        soon(&me);
        me.send_interval(FORECAST_INTERVAL, || ForecasterMsg::Changed);
        Ok(ForecasterState { forecaster, knowledge: Some(Box::default()), informed: false })
    }

    async fn handle(
        &self,
        me: ActorRef<ForecasterMsg>,
        message: ForecasterMsg,
        s: &mut ForecasterState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ForecasterMsg::Changed => soon(&me),
            ForecasterMsg::Make => s.make(&me),
            ForecasterMsg::Known(known) => match &mut s.knowledge {
                Some(knowledge) => {
                    known.prints.iter().for_each(|print| knowledge.paces.learn(print));
                    known.promises.iter().for_each(|(order, promise)| knowledge.learn(*order, promise));
                    s.informed = true;
                    s.forecaster.changed();
                }
                None => {
                    me.send_after(CHANGE_DELAY, move || ForecasterMsg::Known(known));
                }
            },
            ForecasterMsg::Made(made) => s.made(made, &me),
        }
        Ok(())
    }
}

fn soon(me: &ActorRef<ForecasterMsg>) {
    me.send_after(CHANGE_DELAY, || ForecasterMsg::Make);
}

impl ForecasterState {
    /// Makes the forecast on a thread that nobody waits for.
    fn make(&mut self, me: &ActorRef<ForecasterMsg>) {
        let Some(knowledge) = self.knowledge.take() else {
            return soon(me); // The last one is still being made.
        };
        // Before anything is read: what changes from here on calls for another forecast.
        self.forecaster.due.store(false, Ordering::Release);
        let (shop, me) = (self.forecaster.shop.clone(), me.clone());
        tokio::spawn(async move {
            let made = tokio::task::spawn_blocking(move || made_of(&shop, *knowledge)).await;
            let _ = me.cast(ForecasterMsg::Made(made.ok().map(Box::new)));
        });
    }

    fn made(&mut self, made: Option<Box<(Forecast, Knowledge)>>, me: &ActorRef<ForecasterMsg>) {
        let Some(made) = made else {
            // What was learnt is lost with the thread.
            tracing::error!("the forecast could not be made");
            (self.knowledge, self.informed) = (Some(Box::default()), false);
            read(me.clone(), self.forecaster.shop.store.clone());
            return;
        };
        let (forecast, knowledge) = *made;
        let forecast = Arc::new(forecast);
        if self.informed {
            self.promise(&forecast, &knowledge.stretch);
        }
        self.knowledge = Some(Box::new(knowledge));
        self.forecaster.published.store(forecast);
    }

    /// Asks each order that has no promise, and whose jobs the forecast covers, to keep one.
    fn promise(&self, forecast: &Forecast, stretch: &Stretch) {
        let orders = &self.forecaster.shop.orders;
        for (id, expected_at) in &forecast.orders {
            let Some(order) = orders.resident(*id).map(|handle| handle.read()) else { continue };
            if order.state.as_ref().is_none_or(|order| order.promise.is_some()) {
                continue;
            }
            let promise = stretch.promise(forecast.at, *expected_at, self.forecaster.shop.least_margin_ms);
            let (orders, id) = (orders.clone(), *id);
            tokio::spawn(async move {
                let asked = orders.ask(id, CommandOrigin::system(), OrderCommand::Promise(promise)).await;
                if let Err(error) = asked {
                    // The next forecast promises anew.
                    tracing::debug!(order = %id, %error, "promise not kept");
                }
            });
        }
    }
}

impl Knowledge {
    fn learn(&mut self, order: Id, promise: &Promise) {
        if promise.met_at.is_some() && self.met.insert(order) {
            self.stretch.learn(promise);
        }
    }

    /// Learns from the prints and promises of the orders in memory that it does not know yet.
    fn learn_from(&mut self, orders: &[(Id, Arc<Versioned<Order>>)]) {
        for order in orders.iter().filter_map(|(_, state)| state.state.as_ref()) {
            if let Some(promise) = order.promise.as_ref().filter(|_| order.status == OrderStatus::Ready) {
                self.learn(order.id, promise);
            }
            for job in order.jobs.values() {
                for attempt in job.attempts.iter().filter(|attempt| attempt.state == AttemptState::Finished) {
                    if let Some(seen) = ObservedPrint::of(attempt, job.file_id, job.estimated_seconds) {
                        self.paces.learn(&seen);
                    }
                }
            }
        }
    }
}

/// The forecast of now, and what was learnt besides.
fn made_of(shop: &ForecastSources, mut knowledge: Knowledge) -> (Forecast, Knowledge) {
    let (orders, printers) = (shop.orders.all_resident(), shop.printers.all_resident());
    knowledge.learn_from(&orders);
    let left = |printer: &Printer| {
        let seconds = shop.connections.status(printer.id)?.remaining_seconds?;
        Some(seconds.max(0).saturating_mul(1000))
    };
    let printers = printers.iter().filter_map(|(_, state)| state.state.as_ref()).filter(|printer| !printer.archived);
    let printers: Vec<PrinterOutlook<'_>> =
        printers.map(|printer| PrinterOutlook { printer, left_ms: left(printer) }).collect();
    let known = ShopKnowledge {
        rules: &shop.rules,
        paces: &knowledge.paces,
        hours: &shop.hours,
        starting_ms: shop.starting_ms,
    };
    let orders = orders.iter().filter_map(|(_, state)| state.state.as_ref());
    let made = forecast(shop.environment.now(), orders, &printers, known);
    (made, knowledge)
}

/// Reads what was known before this start, as often as it takes.
fn read(me: ActorRef<ForecasterMsg>, store: Store) {
    tokio::spawn(async move {
        loop {
            let prints = store.queries().finished_prints(MAX_LEARNT_PRINTS).await;
            match (prints, store.queries().met_promises(MAX_LEARNT_PROMISES).await) {
                (Ok(prints), Ok(promises)) => {
                    let _ = me.cast(ForecasterMsg::Known(Box::new(LearntShop { prints, promises })));
                    return;
                }
                (Err(error), _) | (_, Err(error)) => tracing::debug!(%error, "earlier prints not read, read again"),
            }
            tokio::time::sleep(READ_RETRY_DELAY).await;
        }
    });
}
