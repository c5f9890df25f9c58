//! The shop's forecast, kept in memory and recomputed in the background soon after an order or a printer changes.
//!
//! The forecaster owns no data. It learns from finished prints and past promises when it starts, and each forecast
//! replaces the previous one. Orders store two results: their promised date ([`OrderNews::Promise`]) and the fact that
//! they will miss their deadline, which they publish once ([`OrderNews::Timing`]).
//!
//! For orders that are late or at risk, each forecast also contains ways to get them ready on time ([`recoveries`]), so
//! that pages and the API read these from memory. Searching for them takes longer than the forecast itself, which is
//! therefore published first.

mod stages;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use futures::FutureExt;
use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, SpawnErr};

use self::stages::{in_stages, with_earlier_recoveries};
use domain::aggregate::Versioned;
use domain::dispatch::DispatchRules;
use domain::forecast::{
    Forecast, ObservedPrint, Paces, PrinterOutlook, ShopKnowledge, StockedMaterial, forecast, recoveries,
};
use domain::id::Id;
use domain::job::AttemptState;
use domain::material::Material;
use domain::order::{Order, OrderNews, OrderStatus};
use domain::printer::Printer;
use domain::promise::{DelayRatios, Promise};
use domain::shop_hours::ShopHours;
use domain::time::Timestamp;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use kernel::root::{RootMsg, keep};
use printers::connections::PrinterConnections;
use store::Store;

/// Delay between a change and the next forecast, which covers all changes made during the delay.
const CHANGE_DELAY: Duration = Duration::from_millis(500);
/// Interval at which the forecast is recomputed even if nothing changed, because prints advance and may take longer
/// than expected.
const FORECAST_INTERVAL: Duration = Duration::from_secs(30);
/// Pause before the history is read again after a failure.
const READ_RETRY_DELAY: Duration = Duration::from_secs(2);
/// Maximum number of finished prints that the forecaster learns from at startup; the newest are used.
const MAX_LEARNT_PRINTS: u64 = 2000;
/// Maximum number of orders whose promises the forecaster learns from at startup; the newest are used.
const MAX_LEARNT_PROMISES: u64 = 100;

/// Handle to the forecaster, which provides the forecast for jobs, orders and printers. Cheap to clone.
#[derive(Clone)]
pub struct Forecaster {
    actor: CurrentForecaster,
    published: Arc<ArcSwap<Forecast>>,
    /// Set while a new forecast is scheduled, so that only the first of several changes sends a message.
    due: Arc<AtomicBool>,
    shop: Arc<ForecastSources>,
}

/// Inputs to the forecast.
#[derive(Clone)]
pub struct ForecastSources {
    /// Orders with the jobs to print.
    pub orders: Directory<Order>,
    /// Printers that print the jobs.
    pub printers: Directory<Printer>,
    /// Materials, whose names appear in the remedies for late orders.
    pub materials: Directory<Material>,
    /// Printer connections, which report the remaining time of running prints.
    pub connections: Arc<PrinterConnections>,
    /// Injected clock and settings.
    pub environment: Arc<Environment>,
    /// Dispatcher settings.
    pub rules: Arc<DispatchRules>,
    /// Hours during which the shop is staffed.
    pub hours: Arc<ShopHours>,
    /// Time from selecting a printer to the start of the print, in milliseconds.
    pub starting_ms: i64,
    /// Minimum margin, in milliseconds, between the expected completion time and the promised time.
    pub least_margin_ms: i64,
    /// Database from which earlier prints and promises are read.
    pub store: Store,
}

/// Reference to the current actor; empty before the actor is started.
type CurrentForecaster = Arc<ArcSwapOption<ActorRef<ForecasterMsg>>>;

enum ForecasterMsg {
    /// An order or a printer has changed.
    Changed,
    /// The delay after a change has passed, so the forecast must be computed.
    Make,
    /// The history from before startup has been read.
    Known(Box<ShopHistory>),
    /// An order's deadline has passed; the order is late if it is not ready.
    DeadlinePassed,
    /// A forecast is ready, except for the remedies for late orders.
    Forecast(Box<Forecast>),
    /// A forecast is ready; `None` if it could not be computed.
    Made(Option<Box<ComputedForecast>>),
}

/// Forecast, with its consequences for orders.
struct ComputedForecast {
    forecast: Forecast,
    /// Updated statistics.
    knowledge: LearnedStatistics,
    /// Orders that must record having become late or being on time again, with their expected completion times.
    new_timings: Vec<(Id, Option<Timestamp>)>,
    /// Earliest deadline that has not passed yet; `None` if no promise is outstanding.
    next_deadline: Option<Timestamp>,
}

/// Earlier prints and promises, as read from the database.
struct ShopHistory {
    prints: Vec<ObservedPrint>,
    promises: Vec<(Id, Promise)>,
}

/// Statistics learned from prints and promises.
#[derive(Default)]
struct LearnedStatistics {
    paces: Paces,
    stretch: DelayRatios,
    /// Orders whose promises the forecaster has already learned from.
    met: HashSet<Id>,
}

impl Forecaster {
    /// Creates a forecaster for the given shop, without starting it. Until it is started, its forecast is empty.
    pub fn new(shop: ForecastSources) -> Self {
        Self { actor: Arc::default(), published: Arc::default(), due: Arc::default(), shop: Arc::new(shop) }
    }

    /// Starts the forecaster's actor under the root.
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

    /// Notifies the forecaster that a change to an order or a printer has been committed to disk.
    pub fn changed(&self) {
        if let Some(actor) = self.actor.load_full()
            && !self.due.swap(true, Ordering::AcqRel)
        {
            let _ = actor.cast(ForecasterMsg::Changed);
        }
    }

    /// Returns the latest forecast.
    pub fn latest(&self) -> Arc<Forecast> {
        self.published.load_full()
    }
}

struct ForecasterActor;

struct ForecasterState {
    forecaster: Forecaster,
    /// Learned statistics; `None` while a forecast that borrows them is being computed.
    knowledge: Option<Box<LearnedStatistics>>,
    /// `true` after the history from before startup has been read; until then, nothing is promised or reported as late.
    informed: bool,
    /// Deadline for which a forecast is scheduled.
    watched_deadline: Option<Timestamp>,
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
        Ok(ForecasterState { forecaster, knowledge: Some(Box::default()), informed: false, watched_deadline: None })
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
            ForecasterMsg::Known(history) => match &mut s.knowledge {
                Some(knowledge) => {
                    history.prints.iter().for_each(|print| knowledge.paces.learn(print));
                    history.promises.iter().for_each(|(order, promise)| knowledge.learn(*order, promise));
                    s.informed = true;
                    s.forecaster.changed();
                }
                None => {
                    me.send_after(CHANGE_DELAY, move || ForecasterMsg::Known(history));
                }
            },
            ForecasterMsg::DeadlinePassed => {
                s.watched_deadline = None;
                s.forecaster.changed();
            }
            ForecasterMsg::Forecast(forecast) => s.publish(*forecast),
            ForecasterMsg::Made(result) => s.adopt(result, &me),
        }
        Ok(())
    }
}

fn soon(me: &ActorRef<ForecasterMsg>) {
    me.send_after(CHANGE_DELAY, || ForecasterMsg::Make);
}

impl ForecasterState {
    /// Computes the forecast without blocking the actor.
    fn make(&mut self, me: &ActorRef<ForecasterMsg>) {
        let Some(knowledge) = self.knowledge.take() else {
            return soon(me); // The last one is still being made.
        };
        // Before anything is read: what changes from here on calls for another forecast.
        self.forecaster.due.store(false, Ordering::Release);
        let (shop, me) = (self.forecaster.shop.clone(), me.clone());
        tokio::spawn(async move {
            let (environment, publisher) = (shop.environment.clone(), me.clone());
            let publish = move |forecast| {
                let _ = publisher.cast(ForecasterMsg::Forecast(Box::new(forecast)));
            };
            let result = environment.compute(move || compute(&shop, *knowledge, publish)).await;
            let _ = me.cast(ForecasterMsg::Made(result.map(Box::new)));
        });
    }

    /// Publishes a forecast before remedies for its late orders have been searched for.
    fn publish(&self, forecast: Forecast) {
        let forecast = with_earlier_recoveries(forecast, &self.forecaster.latest());
        self.forecaster.published.store(Arc::new(forecast));
    }

    fn adopt(&mut self, result: Option<Box<ComputedForecast>>, me: &ActorRef<ForecasterMsg>) {
        let Some(result) = result else {
            // What was learnt is lost with the thread.
            tracing::error!("computing the forecast failed");
            (self.knowledge, self.informed) = (Some(Box::default()), false);
            read(me.clone(), self.forecaster.shop.store.clone());
            return;
        };
        let ComputedForecast { forecast, knowledge, new_timings, next_deadline } = *result;
        let forecast = Arc::new(forecast);
        self.watch(next_deadline, me);
        if self.informed {
            self.promise(&forecast, &knowledge.stretch);
            for (id, expected_at) in new_timings {
                let recovery = forecast.recoveries.get(&id).cloned();
                self.ask(id, OrderNews::Timing { expected_at, recovery });
            }
        }
        self.knowledge = Some(Box::new(knowledge));
        self.forecaster.published.store(forecast);
    }

    /// Schedules a forecast for the moment the deadline passes, unless the next regular forecast comes first.
    fn watch(&mut self, deadline: Option<Timestamp>, me: &ActorRef<ForecasterMsg>) {
        let Some(deadline) = deadline.filter(|deadline| self.watched_deadline != Some(*deadline)) else { return };
        let left = deadline.plus_ms(1).since(self.forecaster.shop.environment.now());
        let left = Duration::from_millis(u64::try_from(left).unwrap_or(0));
        if left < FORECAST_INTERVAL {
            self.watched_deadline = Some(deadline);
            me.send_after(left, || ForecasterMsg::DeadlinePassed);
        }
    }

    /// Sends a promise to each order that has none and whose jobs the forecast covers.
    fn promise(&self, forecast: &Forecast, stretch: &DelayRatios) {
        for (id, expected_at) in &forecast.orders {
            let Some(order) = self.forecaster.shop.orders.resident(*id).map(|handle| handle.read()) else { continue };
            if order.state.as_ref().is_none_or(|order| order.promise.is_some()) {
                continue;
            }
            let promise = stretch.promise(forecast.at, *expected_at, self.forecaster.shop.least_margin_ms);
            self.ask(*id, OrderNews::Promise(promise));
        }
    }

    /// Sends the forecast's consequences to an order without waiting for a response.
    fn ask(&self, id: Id, news: OrderNews) {
        let orders = self.forecaster.shop.orders.clone();
        tokio::spawn(async move {
            if let Err(error) = orders.ask(id, CommandOrigin::system(), news).await {
                // The next forecast asks anew.
                tracing::debug!(order = %id, %error, "recording a forecast failed; the next forecast retries");
            }
        });
    }
}

impl LearnedStatistics {
    fn learn(&mut self, order: Id, promise: &Promise) {
        if promise.met_at.is_some() && self.met.insert(order) {
            self.stretch.learn(promise);
        }
    }

    /// Learns from the prints and promises of resident orders that it has not learned from yet.
    fn learn_from(&mut self, orders: &[(Id, Arc<Versioned<Order>>)]) {
        for order in orders.iter().filter_map(|(_, state)| state.state.as_ref()) {
            if let Some(promise) = order.promise.as_ref().filter(|_| order.status == OrderStatus::Ready) {
                self.learn(order.id, promise);
            }
            for job in order.jobs.values() {
                for attempt in job.attempts.iter().filter(|attempt| attempt.state == AttemptState::Finished) {
                    if let Some(print) = ObservedPrint::of(attempt, job.file_id, job.estimated_seconds) {
                        self.paces.learn(&print);
                    }
                }
            }
        }
    }
}

/// Computes the current forecast and its consequences for orders. Passes the forecast to `publish` before it searches
/// for remedies for late orders.
fn compute(
    shop: &ForecastSources,
    mut knowledge: LearnedStatistics,
    publish: impl FnOnce(Forecast),
) -> ComputedForecast {
    let (orders, printers) = (shop.orders.all_resident(), shop.printers.all_resident());
    knowledge.learn_from(&orders);
    let left = |printer: &Printer| {
        let seconds = shop.connections.status(printer.id)?.remaining_seconds?;
        Some(seconds.max(0).saturating_mul(1000))
    };
    let printers = printers.iter().filter_map(|(_, state)| state.present());
    let printers: Vec<PrinterOutlook<'_>> =
        printers.map(|printer| PrinterOutlook { printer, left_ms: left(printer) }).collect();
    let shop_knowledge = ShopKnowledge {
        rules: &shop.rules,
        paces: &knowledge.paces,
        hours: &shop.hours,
        starting_ms: shop.starting_ms,
    };
    let orders: Vec<&Order> = orders.iter().filter_map(|(_, state)| state.state.as_ref()).collect();
    let forecast = forecast(shop.environment.now(), orders.iter().copied(), &printers, shop_knowledge);
    let stocked_material = |id: Id| {
        let state = shop.materials.resident(id)?.read();
        let material = state.present()?;
        Some(StockedMaterial { name: material.fields.name.clone(), available: material.available() })
    };
    let forecast = in_stages(forecast, publish, |forecast| {
        recoveries(forecast, &orders, &printers, shop_knowledge, &stocked_material)
    });
    let expected_at = |order: &Order| forecast.orders.get(&order.id).copied();
    let has_new_timing = |order: &&&Order| order.has_new_timing(expected_at(order), forecast.at);
    let new_timings = orders.iter().filter(has_new_timing).map(|order| (order.id, expected_at(order))).collect();
    let ahead = |deadline: &Timestamp| *deadline >= forecast.at;
    let next_deadline = orders.iter().filter_map(|order| order.deadline()).filter(ahead).min();
    ComputedForecast { forecast, knowledge, new_timings, next_deadline }
}

/// Reads the history from before startup, retrying until it succeeds.
fn read(me: ActorRef<ForecasterMsg>, store: Store) {
    tokio::spawn(async move {
        loop {
            let prints = store.queries().finished_prints(MAX_LEARNT_PRINTS).await;
            match (prints, store.queries().met_promises(MAX_LEARNT_PROMISES).await) {
                (Ok(prints), Ok(promises)) => {
                    let _ = me.cast(ForecasterMsg::Known(Box::new(ShopHistory { prints, promises })));
                    return;
                }
                (Err(error), _) | (_, Err(error)) => tracing::debug!(%error, "cannot read earlier prints; retrying"),
            }
            tokio::time::sleep(READ_RETRY_DELAY).await;
        }
    });
}
