//! For tests of the store: databases of both kinds with fresh tables, and one sample of each aggregate.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicU32, Ordering};

use migrations::{Migrator, MigratorTrait};
use sea_orm::{ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DatabaseTransaction, TransactionTrait};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::domain::access::Access;
use crate::domain::endpoint::{Delivery, Endpoint};
use crate::domain::event::Event;
use crate::domain::file::File;
use crate::domain::id::Id;
use crate::domain::integration::Integration;
use crate::domain::job::{Attempt, Job};
use crate::domain::kept_payment_event::KeptPaymentEvent;
use crate::domain::mail::Mail;
use crate::domain::material::{Claim, Material, Movement};
use crate::domain::order::{Order, Payment};
use crate::domain::printer::Printer;
use crate::domain::sku::Sku;
use crate::domain::time::Timestamp;
use crate::store::rows::{Batch, WriteError};

/// The admin URL of a PostgreSQL server: when it is set, tests of the store run on that too.
const POSTGRES: &str = "PRINTFLOOR_TEST_POSTGRES";

/// Numbers this process's databases.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Runs a test on a fresh SQLite file and, when there is a server, on a fresh PostgreSQL database.
pub async fn on_each(test: impl AsyncFn(&DatabaseConnection)) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}?mode=rwc", folder.path().join("shop.db").display());
    let mut options = ConnectOptions::new(url);
    options.max_connections(4).sqlx_logging(false);
    options.map_sqlx_sqlite_opts(|o| o.pragma("journal_mode", "WAL").pragma("synchronous", "FULL"));
    let db = Database::connect(options).await.unwrap();
    Migrator::up(&db, None).await.unwrap();
    test(&db).await;
    db.close().await.unwrap();

    let Ok(admin) = std::env::var(POSTGRES) else { return };
    let name = format!("printfloor_rows_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let server = connect(&admin).await;
    server.execute_unprepared(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await.unwrap();
    server.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
    let db = connect(&format!("{}/{name}", admin.rsplit_once('/').unwrap().0)).await;
    Migrator::up(&db, None).await.unwrap();
    test(&db).await;
    db.close().await.unwrap();
    server.execute_unprepared(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
}

async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(4).sqlx_logging(false);
    Database::connect(options).await.unwrap()
}

/// Writes a batch as the writer does: in a transaction that is rolled back when it fails.
pub async fn write(db: &DatabaseConnection, batch: Batch) -> Result<(), WriteError> {
    let tx: DatabaseTransaction = db.begin().await.unwrap();
    match batch.write(&tx).await {
        Ok(()) => {
            tx.commit().await.unwrap();
            Ok(())
        }
        Err(error) => {
            tx.rollback().await.unwrap();
            Err(error)
        }
    }
}

/// An id that is the same in every run: the number `n` as a UUID.
pub fn id(n: u128) -> Id {
    Id(uuid::Uuid::from_u128(n))
}

/// A moment `ms` milliseconds after the beginning of the tests' time.
pub fn at(ms: i64) -> Timestamp {
    Timestamp(1_700_000_000_000 + ms)
}

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// An order with one line of SKU 300.
pub fn order(n: u128) -> Order {
    read(json!({
        "id": id(n), "number": n as i64, "kind": "catalog", "status": "paid", "site": "main", "madeBy": id(900),
        "customerId": null, "customerEmail": format!("{n}@example.org"), "currency": "usd", "lines": [{
            "skuId": id(300), "quantity": 2, "unitPriceCents": 1250, "description": "a bracket", "taxRateBps": 0, "make": {
                "unitsPerPlate": 1, "materialId": id(200), "need": 12.345, "machineType": "fdm_standard", "fileId": id(400),
            },
        }],
        "subtotalCents": 2500, "shippingCents": 0, "taxCents": 0, "discountCents": 0, "totalCents": 2500, "priority": 5,
        "flags": [], "paymentSession": format!("cs_{n}"), "keptCents": 0,
        "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// The `n`th job of an order.
pub fn job(n: u128, order: u128) -> Job {
    read(json!({
        "id": id(n), "number": n as i64, "version": 1, "orderId": id(order), "orderNumber": order as i64, "line": 0,
        "skuId": id(300), "skuName": "a bracket", "materialId": id(200), "need": 12.345, "machineType": "fdm_standard",
        "fileId": id(400), "state": "SLICED", "stock": "held", "claim": 1, "released": false, "priority": 5,
        "triedOn": [], "attempts": [], "consumed": 0, "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// An attempt of a job on printer 500.
pub fn attempt(n: u128, job: u128, order: u128, number: u32) -> Attempt {
    read(json!({
        "id": id(n), "jobId": id(job), "orderId": id(order), "number": number, "printerId": id(500), "state": "claimed",
        "createdAt": at(n as i64),
    }))
}

/// A payment of an order.
pub fn payment(n: u128, order: u128) -> Payment {
    read(json!({
        "id": id(n), "orderId": id(order), "amountCents": 2500, "currency": "usd", "method": "cash", "createdAt": at(n as i64),
    }))
}

/// A material with 1000.5 g.
pub fn material(n: u128) -> Material {
    read(json!({
        "id": id(n), "name": "PLA 100% black", "type": "filament", "color": "#000000", "reorderPoint": 100,
        "reorderQuantity": 1000, "quantity": 1000.5, "reserved": 0, "alerted": false, "archived": false,
        "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// A claim of job `n` on a material, held.
pub fn claim(n: u128, material: u128) -> Claim {
    read(json!({
        "id": {"job": id(n), "number": 1}, "materialId": id(material), "orderId": id(1), "need": 12.345, "state": "held",
        "unheard": true, "released": false, "priority": 5, "dueAt": null, "since": at(0),
    }))
}

/// A delivery of `grams` to a material, number `n`.
pub fn movement(n: u128, material: u128, grams: i64) -> Movement {
    read(json!({
        "id": id(n), "materialId": id(material), "kind": "receive", "deltaQuantity": grams, "deltaReserved": 1, "quantity": grams,
        "reserved": 1, "actor": "system", "createdAt": at(n as i64),
    }))
}

/// A SKU of material 200 and file 400.
pub fn sku(n: u128, code: &str) -> Sku {
    read(json!({
        "id": id(n), "code": code, "slug": code, "name": "a bracket", "collections": [], "materialId": id(200),
        "estimatedConsumption": 12.345, "machineType": "fdm_standard", "priceCents": 1250, "currency": "usd",
        "unitsPerPlate": 1, "gcodeFileId": id(400), "images": [id(401).to_string()], "public": true, "active": true,
        "archived": false, "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// G-code that was uploaded.
pub fn file(n: u128) -> File {
    read(json!({
        "id": id(n), "name": "bracket.gcode", "kind": "gcode", "size": 12, "sha256": "ab", "metadata": {}, "archived": false,
        "createdAt": at(n as i64),
    }))
}

/// A registered printer without a job, number `n`.
pub fn printer(n: u128) -> Printer {
    read(json!({
        "id": id(n), "name": "left", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://printer:7125",
        "encryptedApiKey": "", "autoClear": false, "tags": [], "bedNotCleared": false, "needsHome": false, "printFailed": false,
        "disconnected": false, "activity": "idle", "connection": "connected", "outage": false, "idleSince": at(0),
        "archived": false, "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// A subscriber of webhooks.
pub fn endpoint(n: u128) -> Endpoint {
    read(json!({
        "id": id(n), "url": "https://example.org/hook", "events": ["order.paid"], "encryptedSecret": "s", "former": null,
        "state": "active", "cursor": 7, "backlog": false, "replays": 0, "archived": false, "createdAt": at(n as i64),
        "updatedAt": at(n as i64),
    }))
}

/// A pending delivery of event `event`, due at `n`.
pub fn delivery(n: u128, endpoint: u128, event: u128) -> Delivery {
    read(json!({
        "id": id(n), "endpointId": id(endpoint), "eventId": id(event), "eventSeq": 1, "event": "order.paid", "replay": 0,
        "body": "{}", "state": "pending", "attempts": 0, "nextAt": at(n as i64), "createdAt": at(n as i64),
    }))
}

/// A mail that waits to be sent, number `n`.
pub fn mail(n: u128) -> Mail {
    read(json!({
        "id": id(n), "to": ["a@example.org"], "subject": "s", "text": "t", "state": "queued", "tries": 0, "nextAt": at(0),
        "createdAt": at(n as i64),
    }))
}

/// A payment event that matched no order.
pub fn inbound(n: u128) -> KeptPaymentEvent {
    read(json!({
        "id": id(n), "eventId": format!("evt_{n}"), "body": "{}", "done": false, "nextAt": at(0), "createdAt": at(n as i64),
    }))
}

/// An integration that has read some events.
pub fn integration(n: u128) -> Integration {
    read(json!({"id": id(n), "name": format!("integration{n}"), "cursor": 7, "createdAt": at(n as i64)}))
}

/// The access aggregate before there are users, keys or sessions.
pub fn access() -> Access {
    Access::default()
}

/// Something that happened to an order.
pub fn event(n: u128, word: &str, order: u128) -> Event {
    read(json!({
        "id": id(n), "event": word, "timestamp": at(n as i64), "subjectKind": "order", "subjectId": id(order),
        "orderId": id(order), "actor": "system", "data": {"n": 1},
    }))
}
