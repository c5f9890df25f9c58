//! World in which servers start and crash: time, disk, printers and external systems.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use simulator::PrinterFaults;
use tempfile::TempDir;

use crate::acknowledgements::Acknowledgements;
use crate::chance::branch;
use crate::clock::WorldClock;
use crate::disk::Disk;
use crate::faults::FaultPlan;
use crate::house_rules::HouseRules;
use crate::ids::WorldIds;
use crate::journal::Journal;
use crate::machine::FloorMachine;
use crate::other_shops::SimulatedShops;
use crate::outside::PostOffice;
use crate::plan::Plan;
use crate::plants::{Plant, Planter};
use crate::power::Power;
use crate::processor::Processor;
use crate::receivers::Receivers;
use crate::size::Size;
use crate::spool_manager::SpoolManager;
use crate::store_faults::StoreFaults;
use crate::story::Story;
use crate::weather::Weather;

/// Names of the printers, in the order in which they are assigned.
const PRINTER_NAMES: [&str; 20] = [
    "ada", "bea", "cem", "dora", "emil", "fay", "gus", "hana", "ida", "jan", "kai", "lea", "max", "nora", "ole", "pia",
    "quin", "rosa", "sam", "tom",
];

/// Everything that survives a crash of the server.
pub struct World {
    /// Seed of the run.
    pub seed: u64,
    /// Size of the story.
    pub size: Size,
    /// Virtual time.
    pub clock: Arc<WorldClock>,
    /// Story of the run.
    pub story: Arc<Story>,
    /// IDs and randomness for the servers.
    pub ids: Arc<WorldIds>,
    /// Planted fault.
    pub planter: Arc<Planter>,
    /// Durable data.
    pub disk: Arc<Disk>,
    /// Index of the events on the disk.
    pub journal: Journal,
    /// Power supply of the server.
    pub power: Arc<Power>,
    /// Faults in the store.
    pub store_faults: Arc<StoreFaults>,
    /// Printers by URL.
    pub machines: Arc<BTreeMap<String, Arc<FloorMachine>>>,
    /// Mail service.
    pub post_office: Arc<PostOffice>,
    /// Payment processor.
    pub processor: Arc<Processor>,
    /// Receivers of webhooks.
    pub receivers: Arc<Receivers>,
    /// Other shops.
    pub other_shops: Arc<SimulatedShops>,
    /// Spool manager.
    pub spool_manager: Arc<SpoolManager>,
    /// Scheduled faults and interventions.
    pub weather: Weather,
    /// Commands acknowledged by the server.
    pub acknowledgements: Arc<Acknowledgements>,
    /// Rules of the house.
    pub house_rules: HouseRules,
    /// Folder with the contents of files, which crashes do not damage.
    pub folder: TempDir,
}

impl World {
    /// Creates the world for a plan, with a planted fault if given.
    pub fn new(plan: &Plan, plant: Option<Plant>) -> io::Result<Self> {
        Self::of_printers(plan, plant, true)
    }

    /// Creates a world with this many printers in which nothing happens by itself. `reconnects` indicates whether the
    /// printers reconnect to a lost controller by themselves.
    pub fn still(printers: usize, reconnects: bool) -> io::Result<Self> {
        let world = Self::of_printers(&Plan::still(printers), None, reconnects)?;
        Ok(Self { weather: Weather::still(), ..world })
    }

    fn of_printers(plan: &Plan, plant: Option<Plant>, reconnects: bool) -> io::Result<Self> {
        let seed = plan.seed;
        let clock = Arc::new(WorldClock::new());
        let story = Arc::new(Story::new(clock.clone()));
        let planter = Arc::new(Planter::new(plant, seed));
        let disk = Arc::new(Disk::new(story.clone(), planter.clone()));
        let power = Arc::new(Power::new(disk.clone()));
        let post_office = PostOffice::new(plan, clock.clone(), story.clone(), power.clone(), planter.clone());
        let processor = Processor::new(seed, clock.clone(), story.clone(), power.clone(), planter.clone());
        let machine = |name: &&str| {
            let machine = FloorMachine::new(name, seed, reconnects, clock.clone(), story.clone());
            (machine.base_url(), Arc::new(machine))
        };
        let machines = PRINTER_NAMES.iter().take(plan.printers).map(machine).collect();
        let receivers =
            Receivers::new(seed, &plan.endpoints, clock.clone(), story.clone(), power.clone(), planter.clone());
        let other_shops = SimulatedShops::new(seed, &plan.shops, clock.clone(), story.clone(), power.clone(), &planter);
        let manager = plan.spool_manager.as_ref();
        let spool_manager =
            SpoolManager::new(seed, manager, clock.clone(), story.clone(), power.clone(), planter.clone());
        Ok(Self {
            seed,
            size: plan.size,
            ids: Arc::new(WorldIds::new(branch(seed, "ids"))),
            planter,
            disk,
            journal: Journal::default(),
            store_faults: Arc::new(StoreFaults::new(seed)),
            machines: Arc::new(machines),
            post_office: Arc::new(post_office),
            processor: Arc::new(processor),
            receivers: Arc::new(receivers),
            other_shops: Arc::new(other_shops),
            spool_manager: Arc::new(spool_manager),
            power,
            weather: Weather::draw(seed, plan.size, &plan.faults, plan.printers),
            acknowledgements: Arc::default(),
            house_rules: HouseRules::new(plan.sign_off_required),
            folder: tempfile::Builder::new().prefix("printfloor-sim-").tempdir()?,
            clock,
            story,
        })
    }

    /// Records the start of a server, and returns whether printed parts count only after a sign-off while it runs.
    pub fn begin_rules(&self) -> bool {
        let is_required = self.house_rules.begin(self.clock.elapsed_ms());
        // A server that is deaf to changes goes by what the first one did.
        if self.planter.has(Plant::DeafSettings) { self.house_rules.was_sign_off_required(0) } else { is_required }
    }

    /// Sets the rates of all random faults according to a plan.
    pub fn set_rates(&self, plan: &FaultPlan) {
        self.store_faults.set_rates(plan);
        self.post_office.set_rates(plan);
        self.processor.set_rates(plan);
        self.receivers.set_rates(plan);
        self.other_shops.set_rates(plan);
        self.spool_manager.set_rates(plan);
        self.machines.values().for_each(|machine| machine.set_rates(plan));
    }

    /// Ends all faults.
    pub fn heal(&self) {
        self.set_rates(&FaultPlan::default());
        self.disk.set_unavailable(None);
        self.machines.values().for_each(|machine| machine.change_faults(|faults| *faults = PrinterFaults::default()));
    }
}
