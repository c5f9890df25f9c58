//! World in which servers start and crash: the time, the disk, the printers and the other systems.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use fastrand::Rng;
use tempfile::TempDir;

use crate::clock::WorldClock;
use crate::disk::Disk;
use crate::ids::WorldIds;
use crate::machine::FloorMachine;
use crate::outside::PostOffice;
use crate::story::Story;

/// Names of the printers, in the order in which a shop gets them.
const PRINTER_NAMES: [&str; 8] = ["ada", "bea", "cem", "dora", "emil", "fay", "gus", "hana"];

/// Everything that outlives a crash of the server.
pub struct World {
    /// Virtual time.
    pub clock: Arc<WorldClock>,
    /// Story of the run.
    pub story: Arc<Story>,
    /// IDs and chance of the servers.
    pub ids: Arc<WorldIds>,
    /// Durable data.
    pub disk: Disk,
    /// Printers by their addresses.
    pub machines: Arc<BTreeMap<String, Arc<FloorMachine>>>,
    /// Mail service.
    pub post_office: Arc<PostOffice>,
    /// Folder with the contents of files, which no crash damages.
    pub folder: TempDir,
}

impl World {
    /// Creates a world with the given number of printers, at most 8.
    pub fn new(chance: &mut Rng, printers: usize) -> io::Result<Self> {
        let clock = Arc::new(WorldClock::new());
        let story = Arc::new(Story::new(clock.clone()));
        let machine = |name: &&str| {
            let machine = FloorMachine::new(name, chance, clock.clone(), story.clone());
            (machine.base_url(), Arc::new(machine))
        };
        let machines = PRINTER_NAMES.iter().take(printers).map(machine).collect();
        Ok(Self {
            ids: Arc::new(WorldIds::new(chance.fork())),
            disk: Disk::new(story.clone()),
            machines: Arc::new(machines),
            post_office: Arc::new(PostOffice::new(story.clone())),
            folder: tempfile::Builder::new().prefix("printfloor-sim-").tempdir()?,
            clock,
            story,
        })
    }
}
