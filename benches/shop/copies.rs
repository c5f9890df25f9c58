//! Benchmark of copying a large shop: backup, verification of the backup and restore, on SQLite and on PostgreSQL, and
//! transfer from one to the other and back, with the commands of the program itself.
//!
//! Runs only by name, because it needs space for several copies of a hundred thousand orders.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::database::{BenchDatabase, count_at, is_available};
use super::ground::folder;
use super::program::{self, ProgramRun};
use super::table::Row;
use super::{child, how_many};

/// Number of orders, unless `PRINTFLOOR_BENCH_ORDERS` is set. Each is paid in cash, invoiced, refunded and credited.
const ORDERS: usize = 100_000;
/// Maximum duration of each command, in seconds.
const SECONDS_AIM: f64 = 600.0;
/// Maximum resident memory of each command, in MB.
const MEMORY_AIM: f64 = 500.0;
const BYTES_PER_MB: f64 = 1e6;
/// Tables whose rows are counted in each copy.
const COUNTED: [&str; 5] = ["orders", "jobs", "payments", "invoices", "events"];

/// Runs this part of the benchmark.
pub async fn run() -> Vec<Row> {
    let orders = how_many("PRINTFLOOR_BENCH_ORDERS", ORDERS);
    let folder = folder();
    eprintln!("making {orders} orders ...");
    child(&["finish", folder.path().to_str().unwrap(), &orders.to_string()]);
    let file = sqlite_at(&folder.path().join("data/printfloor.db"));
    let counts = counts_at(&file).await;
    assert_eq!(counts[0], orders as i64, "orders");
    let mut copies = Copies { orders, counts, rows: Vec::new() };
    copies.back_up(&folder, None).await;
    if !is_available() {
        eprintln!("PostgreSQL and transfers are left out");
        return copies.rows;
    }
    let postgres = BenchDatabase::fresh().await;
    let url = postgres.url();
    copies.transfer(&folder, "transfer from SQLite to PostgreSQL", [&file, &url], &url).await;
    copies.back_up(&folder, Some(&url)).await;
    let back = sqlite_at(&folder.path().join("back.db"));
    let target = format!("{back}?mode=rwc");
    copies.transfer(&folder, "transfer from PostgreSQL to SQLite", [&url, &target], &back).await;
    postgres.drop().await;
    copies.rows
}

/// Copies of one shop, with the results so far.
struct Copies {
    orders: usize,
    /// Number of rows in each of the counted tables.
    counts: Vec<i64>,
    rows: Vec<Row>,
}

impl Copies {
    /// Backs up the shop in a folder, verifies the backup, and restores it into another folder and database.
    async fn back_up(&mut self, shop: &TempDir, database: Option<&str>) {
        let name = if database.is_some() { "PostgreSQL" } else { "SQLite" };
        let archive = shop.path().join(format!("{name}.tar"));
        let file = archive.to_str().unwrap();
        self.measure(&format!("backup, {name}"), with(shop.path(), database, &["backup", file]));
        let megabytes = std::fs::metadata(&archive).unwrap().len() as f64 / BYTES_PER_MB;
        let what = format!("backup of {} orders, {name}: size", self.orders);
        self.rows.push(Row::figure(what, format!("{megabytes:.0} MB")));
        self.measure(&format!("verification, {name}"), with(shop.path(), database, &["backup", "verify", file]));

        let (target, postgres) = (folder(), if database.is_some() { Some(BenchDatabase::fresh().await) } else { None });
        let url = postgres.as_ref().map(BenchDatabase::url);
        self.measure(&format!("restore, {name}"), with(target.path(), url.as_deref(), &["restore", file]));
        let restored = url.unwrap_or_else(|| sqlite_at(&target.path().join("data/printfloor.db")));
        self.must_have_rows(&restored, 1).await;
        std::fs::remove_file(archive).unwrap();
        if let Some(postgres) = postgres {
            postgres.drop().await;
        }
    }

    /// Transfers the shop from one database URL to another; `copy` is the URL from which the copy is read.
    async fn transfer(&mut self, shop: &TempDir, what: &str, [from, to]: [&str; 2], copy: &str) {
        self.measure(what, with(shop.path(), None, &["transfer", "--from", from, "--to", to]));
        self.must_have_rows(copy, 0).await;
    }

    /// Runs a command and adds its duration and peak memory usage to the results.
    fn measure(&mut self, what: &str, command: Command) {
        eprintln!("{what} ...");
        let ProgramRun { seconds, peak_memory, .. } = program::run(command);
        let (what, megabytes) = (format!("{} orders: {what}", self.orders), peak_memory as f64 / BYTES_PER_MB);
        self.rows.extend([
            Row::figure(what.clone(), format!("{seconds:.1} s")).at_most(seconds, SECONDS_AIM, "s"),
            Row::figure(format!("{what}: most resident memory"), format!("{megabytes:.0} MB"))
                .at_most(megabytes, MEMORY_AIM, "MB"),
        ]);
    }

    /// Checks that a copy has the rows of the shop, and `more_events` additional events.
    async fn must_have_rows(&self, url: &str, more_events: i64) {
        let mut expected = self.counts.clone();
        *expected.last_mut().unwrap() += more_events;
        assert_eq!(counts_at(url).await, expected, "{COUNTED:?}");
    }
}

/// Builds a command of the program for the shop of a folder.
fn with(folder: &Path, database: Option<&str>, arguments: &[&str]) -> Command {
    let mut command = program::command(folder, database);
    command.args(arguments);
    command
}

fn sqlite_at(file: &Path) -> String {
    format!("sqlite://{}", file.display())
}

async fn counts_at(url: &str) -> Vec<i64> {
    let mut counts = Vec::new();
    for table in COUNTED {
        counts.push(count_at(url, &format!("SELECT COUNT(*) FROM {table}")).await);
    }
    counts
}
