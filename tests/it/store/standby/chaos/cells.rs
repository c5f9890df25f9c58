//! Three cells on two machines, each a pair of servers with its own database: under load a machine fails, which has one
//! server of each cell, and every cell continues.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use futures::future::join_all;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use super::{TAKEOVER_TIME, takes_over};
use crate::store::standby::{Pair, stands_by};
use crate::support::database::TestDatabase;
use crate::support::drawing::{draw, run_seed};
use crate::support::{App, Client, until};

const CELLS: usize = 3;
/// Number of callers per cell.
const CALLERS: usize = 4;
/// Minimum number of changes per cell between two failures, and how many more the seed may add at most.
const CHANGES_BETWEEN: (u64, u64) = (100, 300);
/// Minimum interval between two changes by the same caller.
const CHANGE_INTERVAL: Duration = Duration::from_millis(20);
/// Interval at which a proxy polls the servers' readiness, and timeout of each request.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
const LOOK_TIMEOUT: Duration = Duration::from_millis(500);
/// SQL for the names of the materials that the callers have added.
const ADDED: &str = "SELECT name FROM materials WHERE name LIKE 'load %'";

/// Proxy in front of the servers of a cell, which forwards to the one that reports readiness.
struct Front {
    url: String,
}

impl Front {
    async fn before(servers: [Client; 2]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let addresses = servers.each_ref().map(|server| server.base.trim_start_matches("http://").to_owned());
        let ready = Arc::new(AtomicUsize::new(0));
        tokio::spawn(look_for_ready(servers, ready.clone()));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(forward(client, addresses[ready.load(Relaxed)].clone()));
            }
        });
        Self { url }
    }
}

async fn look_for_ready(servers: [Client; 2], ready: Arc<AtomicUsize>) {
    let mut pace = interval(LOOK_INTERVAL);
    loop {
        pace.tick().await;
        for (number, server) in servers.iter().enumerate() {
            let answer = server.try_send(server.request("GET", "/readyz").timeout(LOOK_TIMEOUT)).await;
            if answer.is_some_and(|answer| answer.status == 200) {
                ready.store(number, Relaxed);
            }
        }
    }
}

async fn forward(mut client: TcpStream, server: String) {
    // Whoever is gone ends the connection of the other, who tries again.
    if let Ok(mut server) = TcpStream::connect(server).await {
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
}

/// Shop with a database and two servers, one on each machine.
struct Cell {
    /// Servers by machine. The last one owns the database, so it is dropped last.
    servers: [App; 2],
    /// Index of the machine whose server leads.
    leading: usize,
    client: Client,
    /// Number of acknowledged changes.
    acknowledged: Arc<AtomicUsize>,
    _shared: TempDir,
}

impl Cell {
    /// Starts both servers; `None` without PostgreSQL. All leaders are on the same machine.
    async fn start() -> Option<Self> {
        let Pair { second, first, _shared: shared } = Pair::start().await?;
        let servers = [second, first];
        let front = Front::before(servers.each_ref().map(|server| Client::clone(server))).await;
        let client = Client { base: front.url, ..Client::clone(&servers[1]) };
        Some(Self { servers, leading: 1, client, acknowledged: Arc::default(), _shared: shared })
    }

    /// Starts callers that add materials until `over` is set.
    fn callers(&self, over: &Arc<AtomicBool>) -> Vec<JoinHandle<Vec<String>>> {
        let call = |caller| add_until(over.clone(), self.client.clone(), caller, self.acknowledged.clone());
        (0..CALLERS).map(|caller| tokio::spawn(call(caller))).collect()
    }

    /// Waits until this many more changes are acknowledged.
    async fn goes_on(&self, changes: usize) {
        let enough = self.acknowledged.load(Relaxed) + changes;
        until("changes to be acknowledged", || async { (self.acknowledged.load(Relaxed) >= enough).then_some(()) })
            .await;
    }

    /// Checks that exactly the acknowledged changes are stored, each once.
    async fn must_have(&self, acknowledged: Vec<String>) {
        let rows = TestDatabase::at(&self.servers[1].db.url().unwrap()).rows(ADDED).await;
        let stored: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
        assert_eq!(stored.len(), acknowledged.len(), "{} acknowledged", acknowledged.len());
        let [stored, acknowledged] = [stored, acknowledged].map(|names| names.into_iter().collect::<BTreeSet<_>>());
        assert_eq!(stored, acknowledged);
    }
}

/// Adds one material after another, retrying each until it is acknowledged. Returns their names.
async fn add_until(
    over: Arc<AtomicBool>,
    client: Client,
    caller: usize,
    acknowledged: Arc<AtomicUsize>,
) -> Vec<String> {
    let (mut pace, mut names) = (interval(CHANGE_INTERVAL), Vec::new());
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !over.load(Relaxed) {
        pace.tick().await;
        let name = format!("load {caller}-{}", names.len());
        let body = json!({"name": name, "type": "filament", "quantity": 1});
        until("an acknowledgement", || async {
            let request = client.request("POST", "/api/inventory/materials").header("Idempotency-Key", &name);
            let answer = client.try_send(request.header("connection", "close").json(&body)).await?;
            match answer.status {
                201 => Some(()),
                503 if answer.header("retry-after").is_some() => None,
                _ => panic!("{name}: {answer:?}"),
            }
        })
        .await;
        acknowledged.fetch_add(1, Relaxed);
        names.push(name);
    }
    names
}

/// Kills all servers on the leading machine at once, as a power cut would; returns the time of the kill.
fn kill_leading_machine(cells: &mut [Cell]) -> Instant {
    let processes = cells.iter().map(|cell| cell.servers[cell.leading].pid().to_string());
    let mut kill = Command::new("kill");
    kill.arg("-9").args(processes);
    let moment = Instant::now();
    assert!(kill.status().unwrap().success());
    for cell in cells {
        cell.servers[cell.leading].kill_9();
    }
    moment
}

/// Kills the leading machine `deaths` times, each time after a number of changes chosen by the seed.
async fn kill_machines(deaths: u64) {
    let mut cells = Vec::new();
    for _ in 0..CELLS {
        let Some(cell) = Cell::start().await else { return };
        cells.push(cell);
    }
    let over = Arc::new(AtomicBool::new(false));
    let callers: Vec<_> = cells.iter().map(|cell| cell.callers(&over)).collect();
    for death in 0..deaths {
        let (least, more) = CHANGES_BETWEEN;
        let changes = (least + draw(("death of a machine", death), more)) as usize;
        join_all(cells.iter().map(|cell| cell.goes_on(changes))).await;
        let moment = kill_leading_machine(&mut cells);
        join_all(cells.iter().map(|cell| takes_over(&cell.servers[1 - cell.leading], moment, TAKEOVER_TIME))).await;
        eprintln!("death {death} of seed {}: all lead again after {:?}", run_seed(), moment.elapsed());
        join_all(cells.iter().map(|cell| cell.goes_on(1))).await;
        for cell in &mut cells {
            let leading = 1 - cell.leading;
            cell.servers[cell.leading].spawn();
            stands_by(&cell.servers[cell.leading], &cell.servers[leading]).await;
            cell.leading = leading;
        }
    }
    over.store(true, Relaxed);
    for (cell, callers) in cells.iter().zip(callers) {
        let mut acknowledged = Vec::new();
        for caller in callers {
            acknowledged.extend(caller.await.unwrap());
        }
        cell.must_have(acknowledged).await;
    }
}

mod long {
    const DEATHS: u64 = 6;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn three_cells_outlive_the_machine_that_leads_in_all_of_them() {
        super::kill_machines(DEATHS).await;
    }
}
