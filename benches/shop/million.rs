//! Benchmark of a shop with a million completed orders: restart time, memory usage, latency of lists, searches and
//! insights, and the bytes on disk for each order, on SQLite and on PostgreSQL.
//!
//! One order is placed, printed and shipped through the server; SQL multiplies its rows over three years. Runs only by
//! name, because a million orders take some 14 GB on each database.

mod multiply;
mod sizes;

use std::time::Duration;

use printfloor::actors::kernel::environment::machine_clock;
use printfloor::domain::time::DAY_MS;
use serde_json::{Value, json};
use simulator::{Fleet, FleetOptions, PrinterKind};
use tempfile::TempDir;
use tokio::time::Instant;

use super::client::{Client, get, post_plain};
use super::database::{BenchDatabase, Kind};
use super::ground::folder;
use super::how_many;
use super::live_pages::MeasuredBrowser;
use super::load::percentile;
use super::program;
use super::remote::Remote;
use super::table::Row;
use super::waiting::patiently;
use multiply::{MAIL_BOXES, TEMPLATE_EMAIL, multiply};

/// Number of orders, unless `PRINTFLOOR_BENCH_ORDERS` is set.
const ORDERS: usize = 1_000_000;
/// Number of starts; the median counts.
const STARTS: usize = 3;
/// Number of requests of each kind, one after the other.
const REQUESTS: usize = 100;
/// Speed of the printer that prints the first order.
const SPEED: f64 = 200.0;
const CONNECTED_WITHIN: Duration = Duration::from_secs(60);

/// Maximum time from the start of the server's process to its first response, in seconds.
const START_AIM: f64 = 2.0;
/// Maximum resident memory of the server, in MB.
const MEMORY_AIM: f64 = 150.0;
const ANSWER_AIM_MS: f64 = 50.0;
/// Maximum bytes on disk for each order, with its share of all tables and indexes.
const BYTES_AIM: f64 = 15_000.0;
const BYTES_PER_MB: f64 = 1e6;

/// Runs this part of the benchmark on each available database.
pub async fn run() -> Vec<Row> {
    let mut rows = Vec::new();
    for kind in Kind::here() {
        rows.extend(on(kind).await);
    }
    rows
}

async fn on(kind: Kind) -> Vec<Row> {
    let postgres = if kind == Kind::Postgres { Some(BenchDatabase::fresh().await) } else { None };
    let url = postgres.as_ref().map(BenchDatabase::url);
    let orders = how_many("PRINTFLOOR_BENCH_ORDERS", ORDERS);
    let shop = MillionShop { folder: folder(), url, kind, orders };
    eprintln!("making {orders} orders, {} ...", kind.name());
    let first = shop.first_order().await;
    multiply(kind, &shop.database(), &first.order, orders - 1).await;
    shop.recount();
    if let Some(postgres) = &postgres {
        postgres.vacuum().await;
    }
    let (app, start) = shop.restart().await;
    let mut rows = vec![start];
    rows.extend(shop.lists(&app, &first).await);
    rows.extend(shop.pages(&app).await);
    rows.push(shop.memory(&app));
    app.end().await;
    rows.extend(sizes::rows(kind, &shop.database(), &shop.of(), (orders, BYTES_AIM)).await);
    if let Some(postgres) = postgres {
        postgres.drop().await;
    }
    rows
}

/// First order of the shop; all others are copies of it.
struct FirstOrder {
    order: String,
    material: String,
}

/// Shop to measure, with its database.
struct MillionShop {
    folder: TempDir,
    /// Address of the database on PostgreSQL.
    url: Option<String>,
    kind: Kind,
    orders: usize,
}

impl MillionShop {
    /// Returns the address of the database.
    fn database(&self) -> String {
        let file = self.folder.path().join("data/printfloor.db");
        self.url.clone().unwrap_or_else(|| format!("sqlite://{}", file.display()))
    }

    /// Returns the text with which each row's description begins.
    fn of(&self) -> String {
        format!("{} orders that are over, {}", self.orders, self.kind.name())
    }

    async fn server(&self) -> Remote {
        let database = self.url.iter().map(|url| ("DATABASE_URL", url.clone()));
        // An unsent email is outstanding work and would affect the measurement.
        let quiet = [("PRINTFLOOR_MAIL__RECEIPTS", "false".to_owned())];
        let variables: Vec<_> = database.chain(quiet).collect();
        Remote::start_with(self.folder.path(), None, &variables).await
    }

    /// Places an order for one part; pays, prints and ships it.
    async fn first_order(&self) -> FirstOrder {
        let app = self.server().await;
        let options = FleetOptions { speed: SPEED, ..FleetOptions::of(PrinterKind::FwRest, 1) };
        let fleet = Fleet::start(options).await.unwrap();
        app.connect(&fleet, CONNECTED_WITHIN).await;
        let sku = app.sku().await;
        let mut client = Client::connect(app.address).await;
        let product = read_json(&mut client, &get(&format!("/api/skus/{sku}"), &app.key)).await;
        let material = product["materialId"].as_str().unwrap().to_owned();
        let order = json!({"lines": [{"skuId": sku, "quantity": 1}], "customerEmail": TEMPLATE_EMAIL});
        let order = app.make("/api/orders", &order).await;
        let path = format!("/api/orders/{order}");
        let paid = json!({"method": "cash"}).to_string();
        client.ask(&post_plain(&format!("{path}/mark-paid"), &app.key, &paid)).await;
        let look = get(&path, &app.key);
        patiently(async || read_json(&mut client, &look).await["status"] == "ready").await;
        let shipment = json!({"carrier": "DHL", "trackingNumber": "JD0001", "estimatedDelivery": "2030-01-01"});
        client.ask(&post_plain(&format!("{path}/ship"), &app.key, &shipment.to_string())).await;
        patiently(async || read_json(&mut client, &look).await["status"] == "shipped").await;
        app.end().await;
        fleet.shutdown();
        FirstOrder { order, material }
    }

    /// Corrects the totals that lists and statistics show.
    fn recount(&self) {
        eprintln!("counting ...");
        let mut recount = program::command(self.folder.path(), self.url.as_deref());
        recount.args(["recount", "--correct"]);
        program::run(recount);
    }

    /// Starts the server several times; returns the running server and the result row with the median time.
    async fn restart(&self) -> (Remote, Row) {
        let mut took = Vec::new();
        loop {
            let began = Instant::now();
            let app = self.server().await;
            Client::connect(app.address).await.ask(&get("/readyz", "")).await;
            took.push(began.elapsed().as_secs_f64());
            if took.len() == STARTS {
                let [middle, longest] = [0.5, 1.0].map(|share| percentile(&mut took, share));
                let measured = format!("{middle:.2} s (longest of {STARTS}: {longest:.2} s)");
                let row = Row::figure(format!("{}: start of the process to the first answer", self.of()), measured);
                return (app, row.at_most(middle, START_AIM, "s"));
            }
            app.end().await;
        }
    }

    /// Measures lists, searches and insights of the API.
    async fn lists(&self, app: &Remote, first: &FirstOrder) -> Vec<Row> {
        let deep = self.orders / 2;
        let movements = format!("/api/inventory/materials/{}/movements", first.material);
        let year = days_ago(365);
        let mail_box = |n| self.spread(n) % MAIL_BOXES;
        vec![
            self.list(app, "first page of the orders", |_| "/api/orders".to_owned()).await,
            self.list(app, "page of the orders behind half of them", |n| format!("/api/orders?offset={}", deep + n))
                .await,
            self.list(app, "search of an order by number", |n| format!("/api/orders?q=ORD-{:06}", self.spread(n)))
                .await,
            self.list(app, "search of orders by email address", |n| {
                format!("/api/orders?q=buyer{}@example.org", mail_box(n))
            })
            .await,
            self.list(app, "first page of the jobs", |_| "/api/jobs".to_owned()).await,
            self.list(app, "page of the jobs behind half of them", |n| format!("/api/jobs?offset={}", deep + n)).await,
            self.list(app, "page of a material's movements behind as many as half of the orders", |n| {
                format!("{movements}?offset={}", deep + n)
            })
            .await,
            self.list(app, "insights of 30 days", |_| "/api/insights".to_owned()).await,
            self.list(app, "insights of 365 days", |_| format!("/api/insights?from={year}")).await,
        ]
    }

    /// Measures a list of the API; each request may have a different path.
    async fn list(&self, app: &Remote, what: &str, path: impl Fn(usize) -> String) -> Row {
        let requests: Vec<_> = (0..REQUESTS).map(|n| get(&path(n), &app.key)).collect();
        self.answers(app, what, &requests).await
    }

    /// Returns the order number for request `n`; the numbers are spread over all orders.
    fn spread(&self, n: usize) -> usize {
        1 + n * (self.orders - 1) / REQUESTS
    }

    /// Measures pages of the staff: the searches of jobs and of the whole shop, and the to-do list.
    async fn pages(&self, app: &Remote) -> Vec<Row> {
        let browser = MeasuredBrowser::new(app).await;
        let search = |n| format!("/shop/jobs?q={}", self.spread(n));
        let by_number: Vec<_> = (0..REQUESTS).map(|n| browser.get(&search(n), "")).collect();
        let by_product: Vec<_> = (0..REQUESTS).map(|_| browser.get("/shop/jobs?q=clip", "")).collect();
        let whole_shop = |text: &dyn Fn(usize) -> String| -> Vec<_> {
            (0..REQUESTS).map(|n| browser.get(&format!("/shop/search?q={}", text(n)), "")).collect()
        };
        // A bare number matches both an order and a job, so the page redirects to neither.
        let number = whole_shop(&|n| self.spread(n).to_string());
        let name = whole_shop(&|_| "clip".to_owned());
        let email = whole_shop(&|n| format!("buyer{}@example.org", self.spread(n) % MAIL_BOXES));
        let domain = whole_shop(&|_| "example.org".to_owned());
        let to_do: Vec<_> = (0..REQUESTS).map(|_| browser.get("/to-do", "")).collect();
        vec![
            self.answers(app, "page with the search of jobs by number", &by_number).await,
            self.answers(app, "page with the search of jobs by product, which all of them make", &by_product).await,
            self.answers(app, "search of the whole shop by number", &number).await,
            self.answers(app, "search of the whole shop by name", &name).await,
            self.answers(app, "search of the whole shop by email address", &email).await,
            self.answers(app, "search of the whole shop by a part of all email addresses", &domain).await,
            self.answers(app, "to-do page", &to_do).await,
        ]
    }

    /// Sends requests one after the other.
    async fn answers(&self, app: &Remote, what: &str, requests: &[Vec<u8>]) -> Row {
        let mut client = Client::connect(app.address).await;
        let mut took = Vec::with_capacity(requests.len());
        for request in requests {
            let began = Instant::now();
            client.ask(request).await;
            took.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        let [middle, p95, longest] = [0.5, 0.95, 1.0].map(|share| percentile(&mut took, share));
        let measured = format!("p95 {p95:.1} ms (median {middle:.1}, longest {longest:.1})");
        Row::figure(format!("{}: {what}", self.of()), measured).at_most(p95, ANSWER_AIM_MS, "ms")
    }

    /// Measures the memory of the server after all of these requests.
    fn memory(&self, app: &Remote) -> Row {
        let megabytes = app.resident() as f64 / BYTES_PER_MB;
        let what = format!("{}: resident memory after these requests", self.of());
        Row::figure(what, format!("{megabytes:.0} MB")).at_most(megabytes, MEMORY_AIM, "MB")
    }
}

/// Sends a request and parses the response.
async fn read_json(client: &mut Client, request: &[u8]) -> Value {
    serde_json::from_slice(client.ask(request).await).unwrap()
}

/// Formats the time that many days ago for a query parameter.
fn days_ago(days: i64) -> String {
    machine_clock().plus_ms(-days * DAY_MS).to_string()
}
