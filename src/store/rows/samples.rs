//! Fixtures for store tests: databases of both kinds with new tables, and one sample of each aggregate.
#![expect(clippy::unwrap_used, reason = "tests")]

mod earlier;
mod enumeration;
mod template;

use sea_orm::{
    ConnectOptions, ConnectionTrait, Database, DatabaseBackend, DatabaseConnection, DatabaseTransaction,
    TransactionTrait,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::rows::{Batch, WriteError};
use domain::access::Access;
use domain::accounting::Accounting;
use domain::channel_order::ChannelOrder;
use domain::custom_request::CustomRequest;
use domain::endpoint::{Delivery, Endpoint};
use domain::event::Event;
use domain::export::Export;
use domain::file::File;
use domain::id::Id;
use domain::integration::Integration;
use domain::job::{Attempt, Job};
use domain::kept_payment_event::KeptPaymentEvent;
use domain::mail::Mail;
use domain::material::{Claim, Material, Movement};
use domain::order::{Order, Payment};
use domain::posting::Posting;
use domain::printer::Printer;
use domain::quote::Quote;
use domain::restore::Restore;
use domain::restore::numbers::NumberGap;
use domain::sales_channel::{SalesChannel, Variant};
use domain::sku::Sku;
use domain::time::Timestamp;

pub use earlier::migrate_again;
pub use enumeration::members;
pub use template::{SHOP_PREFIX, migrated_postgres, migrated_sqlite, remove_stale_files, test_run, unused_database};

/// Environment variable with the administrator URL of a PostgreSQL server. If it is set, store tests also run on that
/// server.
const POSTGRES: &str = "PRINTFLOOR_TEST_POSTGRES";

/// Maximum number of connections per test database.
const MAX_CONNECTIONS: u32 = 4;

/// Runs a test on a new SQLite file and, if a server is configured, on a new PostgreSQL database.
pub async fn on_each(test: impl AsyncFn(&DatabaseConnection)) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shop.db");
    std::fs::copy(migrated_sqlite().await, &file).unwrap();
    let url = format!("sqlite://{}?mode=rw", file.display());
    let mut options = ConnectOptions::new(url);
    options.max_connections(MAX_CONNECTIONS).sqlx_logging(false);
    options.map_sqlx_sqlite_opts(|o| o.pragma("journal_mode", "WAL").pragma("synchronous", "FULL"));
    let db = Database::connect(options).await.unwrap();
    test(&db).await;
    db.close().await.unwrap();

    let Ok(admin) = std::env::var(POSTGRES) else { return };
    let name = unused_database();
    let server = connect(&admin).await;
    let template = migrated_postgres(&admin).await;
    server.execute_unprepared(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await.unwrap();
    let db = connect(&address(&admin, &name)).await;
    test(&db).await;
    db.close().await.unwrap();
    server.execute_unprepared(&format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
}

/// Returns the URL of another database on the server of a URL.
fn address(admin: &str, database: &str) -> String {
    format!("{}/{database}", admin.rsplit_once('/').unwrap().0)
}

async fn connect(url: &str) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url);
    options.max_connections(MAX_CONNECTIONS).sqlx_logging(false);
    Database::connect(options).await.unwrap()
}

/// Takes all connections from a database created by [`on_each`], so that other queries wait until the returned
/// transactions are dropped.
pub async fn take_all_connections(db: &DatabaseConnection) -> Vec<DatabaseTransaction> {
    let mut all = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        all.push(db.begin().await.unwrap());
    }
    all
}

/// Writes a batch as the writer does: in a transaction that is rolled back on failure.
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

/// Lets the lines of the audit log be changed and deleted, as the owner of the database can.
pub async fn unlock_audit_log(db: &DatabaseConnection) {
    let statements: &[&str] = match db.get_database_backend() {
        DatabaseBackend::Postgres => &["ALTER TABLE audit DISABLE TRIGGER USER"],
        _ => &["DROP TRIGGER IF EXISTS audit_refuses_update", "DROP TRIGGER IF EXISTS audit_refuses_delete"],
    };
    for sql in statements {
        db.execute_unprepared(sql).await.unwrap();
    }
}

/// Returns an ID that is the same in every run: `n` as a UUID.
pub fn id(n: u128) -> Id {
    Id(uuid::Uuid::from_u128(n))
}

/// Returns the time `ms` milliseconds after the fixed time at which the tests start.
pub fn at(ms: i64) -> Timestamp {
    Timestamp(1_700_000_000_000 + ms)
}

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

/// Builds an order with one line for SKU 300.
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

/// Builds the `n`th job of an order.
pub fn job(n: u128, order: u128) -> Job {
    read(json!({
        "id": id(n), "number": n as i64, "version": 1, "orderId": id(order), "orderNumber": order as i64, "line": 0,
        "skuId": id(300), "skuName": "a bracket", "materialId": id(200), "need": 12.345, "machineType": "fdm_standard",
        "fileId": id(400), "state": "SLICED", "stock": "held", "claim": 1, "released": false, "priority": 5,
        "triedOn": [], "attempts": [], "consumed": 0, "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// Builds an attempt at a job, on printer 500.
pub fn attempt(n: u128, job: u128, order: u128, number: u32) -> Attempt {
    read(json!({
        "id": id(n), "jobId": id(job), "orderId": id(order), "number": number, "printerId": id(500), "state": "claimed",
        "createdAt": at(n as i64),
    }))
}

/// Builds a payment for an order.
pub fn payment(n: u128, order: u128) -> Payment {
    read(json!({
        "id": id(n), "orderId": id(order), "amountCents": 2500, "currency": "usd", "method": "cash", "createdAt": at(n as i64),
    }))
}

/// Builds a material with 1000.5 g in stock.
pub fn material(n: u128) -> Material {
    read(json!({
        "id": id(n), "name": "PLA 100% black", "type": "filament", "color": "#000000", "reorderPoint": 100,
        "reorderQuantity": 1000, "quantity": 1000.5, "reserved": 0, "alerted": false, "archived": false,
        "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// Builds a claim on a material by job `n`, already held.
pub fn claim(n: u128, material: u128) -> Claim {
    read(json!({
        "id": {"job": id(n), "number": 1}, "materialId": id(material), "orderId": id(1), "need": 12.345, "state": "held",
        "unheard": true, "released": false, "priority": 5, "dueAt": null, "since": at(0),
    }))
}

/// Builds movement number `n`, which adds a delivery of `grams` to a material.
pub fn movement(n: u128, material: u128, grams: i64) -> Movement {
    read(json!({
        "id": id(n), "materialId": id(material), "kind": "receive", "deltaQuantity": grams, "deltaReserved": 1, "quantity": grams,
        "reserved": 1, "actor": "system", "createdAt": at(n as i64),
    }))
}

/// Builds a SKU with material 200 and file 400.
pub fn sku(n: u128, code: &str) -> Sku {
    read(json!({
        "id": id(n), "code": code, "slug": code, "name": "a bracket", "collections": [], "materialId": id(200),
        "estimatedConsumption": 12.345, "machineType": "fdm_standard", "priceCents": 1250, "currency": "usd",
        "unitsPerPlate": 1, "gcodeFileId": id(400), "images": [id(401).to_string()], "public": true, "active": true,
        "archived": false, "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// Builds an uploaded G-code file.
pub fn file(n: u128) -> File {
    read(json!({
        "id": id(n), "name": "bracket.gcode", "kind": "gcode", "size": 12, "sha256": "ab", "metadata": {}, "archived": false,
        "createdAt": at(n as i64),
    }))
}

/// Builds registered printer number `n`, without a job.
pub fn printer(n: u128) -> Printer {
    read(json!({
        "id": id(n), "name": "left", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://printer:7125",
        "encryptedApiKey": "", "autoClear": false, "tags": [], "bedNotCleared": false, "needsHome": false, "printFailed": false,
        "disconnected": false, "activity": "idle", "connection": "connected", "outage": false, "idleSince": at(0),
        "archived": false, "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// Builds a webhook endpoint.
pub fn endpoint(n: u128) -> Endpoint {
    read(json!({
        "id": id(n), "url": "https://example.org/hook", "events": ["order.paid"], "encryptedSecret": "s", "former": null,
        "state": "active", "cursor": 7, "backlog": false, "replays": 0, "archived": false, "createdAt": at(n as i64),
        "updatedAt": at(n as i64),
    }))
}

/// Builds a pending delivery of event number `event`, due at time `n`.
pub fn delivery(n: u128, endpoint: u128, event: u128) -> Delivery {
    read(json!({
        "id": id(n), "endpointId": id(endpoint), "eventId": id(event), "eventSeq": 1, "event": "order.paid", "replay": 0,
        "body": "{}", "state": "pending", "attempts": 0, "nextAt": at(n as i64), "createdAt": at(n as i64),
    }))
}

/// Builds draft quote number `n` with one line for SKU 300 and a model that needs slicing.
pub fn quote(n: u128) -> Quote {
    read(json!({
        "id": id(n), "number": n as i64, "revision": 1, "status": "draft", "site": "main", "customerEmail": "a@example.org",
        "customerId": null, "customRequestId": null, "lines": [{
            "description": "a bracket", "quantity": 2, "unitPriceCents": 1250, "skuId": null, "printed": true, "model": {
                "fileId": id(400), "size": {"x": 10, "y": 20.5, "z": 30}, "volumeMm3": 6150, "materialId": id(200),
                "materialCentsPerKg": 2500, "machineType": "fdm_standard", "slicerProfile": "PLA", "sliced": null,
                "slicingError": null, "pricedByHand": false, "work": {"grams": 12.345, "seconds": 3600, "parts": 2},
                "costs": {"materialCents": 31, "energyCents": 4, "wearCents": 50, "labourCents": 450, "failureCents": 27},
            },
        }],
        "currency": "usd", "subtotalCents": 2500, "shippingCents": 0, "taxRateBps": 0, "taxCents": 0, "totalCents": 2500,
        "shippingAddress": null, "validUntil": null, "notes": null, "rates": {
            "materialCentsPerKg": 2500, "densityMgPerCm3": 1240, "fillBps": 4000, "printMm3PerHour": 18000,
            "heatUpSeconds": 300, "machineWatts": 120, "energyCentsPerKwh": 30, "wearCentsPerHour": 50,
            "labourCentsPerHour": 3000, "setupMinutes": 5, "handlingMinutes": 2, "failureBps": 500, "marginBps": 4000,
            "minimumCents": 500,
        },
        "orderId": null, "orderMade": false, "orderError": null, "declinedReason": null, "sentAt": null,
        "answeredAt": null, "archived": false, "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// Builds queued email number `n`.
pub fn mail(n: u128) -> Mail {
    read(json!({
        "id": id(n), "to": ["a@example.org"], "subject": "s", "text": "t", "state": "queued", "tries": 0, "nextAt": at(0),
        "createdAt": at(n as i64),
    }))
}

/// Builds a payment event that does not match an order.
pub fn kept_payment_event(n: u128) -> KeptPaymentEvent {
    read(json!({
        "id": id(n), "eventId": format!("evt_{n}"), "body": "{}", "done": false, "nextAt": at(0), "createdAt": at(n as i64),
    }))
}

/// Builds a custom request with one photo, which is file 450.
pub fn custom_request(n: u128) -> CustomRequest {
    read(json!({
        "id": id(n), "revision": 1, "status": "new", "site": "main", "customerId": id(700), "customerEmail": "a@example.org",
        "customerName": "Ann", "phone": null, "wishes": {
            "productType": "figurine", "subjectType": "pet", "styleId": "cartoon", "sizeId": "m", "baseOptionId": "oak",
            "colorCount": 2, "uvCoating": true, "addonIds": ["gift-box"], "inscription": "Rex", "notes": null,
        },
        "photos": [{"fileId": id(450), "format": "heic", "size": 12}],
        "estimate": {"totalCents": 1000, "currency": "usd", "items": [{"path": "styleId", "cents": 1000, "known": false}]},
        "validUntil": at(n as i64), "quoteId": null, "internalNotes": null, "createdAt": at(n as i64),
        "updatedAt": at(n as i64),
    }))
}

/// Builds a restore that has not been reviewed.
pub fn restore(n: u128) -> Restore {
    read(json!({
        "id": id(n), "backupMadeAt": at(1), "restoredAt": at(2), "lastEvent": 7, "firstEvent": 1007,
        "series": [{"gapId": id(n + 1), "series": "INV-2026", "restored": 5, "next": 106}], "review": null,
    }))
}

/// Builds a gap of numbers skipped because of a restore.
pub fn number_gap(n: u128, restore: u128, first: i64, last: i64) -> NumberGap {
    read(json!({
        "id": id(n), "restoreId": id(restore), "series": "INV-2023", "first": first, "last": last, "reason": "restored",
        "notedAt": at(2),
    }))
}

/// Builds an integration that has read some events.
pub fn integration(n: u128) -> Integration {
    read(json!({"id": id(n), "name": format!("integration{n}"), "cursor": 7, "createdAt": at(n as i64)}))
}

/// Builds a sales channel for an external shop.
pub fn sales_channel(n: u128) -> SalesChannel {
    read(json!({
        "id": id(n), "kind": "csv", "name": "Fair", "site": "industries", "currency": "usd", "encryptedSecret": "s",
        "baseUrl": null, "encryptedToken": "", "active": true, "archived": false, "createdAt": at(n as i64),
        "updatedAt": at(n as i64),
    }))
}

/// Builds variant map entry number `n` of a sales channel.
pub fn variant(n: u128, channel: u128) -> Variant {
    read(json!({"id": id(n), "channelId": id(channel), "variant": format!("V{n}"), "skuId": id(300), "quantity": 2}))
}

/// Builds a channel order that has no entry in the variant map.
pub fn channel_order(n: u128, channel: u128) -> ChannelOrder {
    read(json!({
        "id": id(n), "channelId": id(channel), "externalId": format!("{n}"), "number": format!("#{n}"),
        "changedAt": at(0), "paid": true, "there": {"cancelled": false, "refundedCents": 0}, "content": {
            "lines": [{"lineId": "1", "variant": "V9", "title": "Vase", "quantity": 1, "unitPriceCents": 1250, "taxRateBps": 0}],
            "currency": "usd", "taxesIncluded": false, "shippingCents": 0, "shippingTaxRateBps": 0, "discountCents": 0,
            "totalCents": 1250,
        },
        "orderId": id(n + 1), "making": false, "made": false, "told": {"cancelled": false, "refundedCents": 0},
        "missing": ["V9"], "problem": null, "refused": false, "asked": 0, "alerted": true, "trackings": [],
        "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// Builds an export being written.
pub fn export(n: u128) -> Export {
    let scope = json!({
        "kind": "invoices", "customerEmail": "a@example.org", "from": null, "to": at(9), "status": "paid", "site": null,
    });
    read(json!({
        "id": id(n), "scope": scope, "mailTo": "a@example.org", "state": "running",
        "progress": {"rows": 500, "bytes": 9000, "after": {"at": at(1), "id": id(1)}}, "tries": 1, "nextAt": at(2),
        "error": "no space left", "tokenHash": null, "createdAt": at(n as i64), "finishedAt": null, "expiresAt": null,
    }))
}

/// Builds a connection to the accounting system, with an authorization in progress on the provider's page.
pub fn accounting() -> Accounting {
    read(json!({
        "id": Id::ONLY, "requests": [{
            "stateHash": "ab", "session": id(1), "sealedVerifier": "v1:x", "expiresAt": at(9),
        }],
        "link": {
            "tenant": {"id": "t", "name": "Shop Ltd"}, "connectedBy": "boss@example.org", "connectedAt": at(1),
            "tokens": {"access": "v1:a", "refresh": "v1:r", "expiresAt": at(5)}, "renewals": 3, "renewing": true,
        },
        "lost": null, "toRevoke": "v1:o", "since": at(0),
    }))
}

/// Builds a posting for an invoice, rejected by the accounting system.
pub fn posting(n: u128) -> Posting {
    read(json!({
        "id": id(n), "documentId": id(n + 1), "invoiceId": id(n + 2), "kind": "invoice", "number": "INV-2026-000001",
        "amountCents": 2500, "currency": "usd", "state": "refused", "round": 2, "remoteId": null, "error": "status 400",
        "createdAt": at(n as i64), "updatedAt": at(n as i64),
    }))
}

/// Builds the access aggregate without users, keys or sessions.
pub fn access() -> Access {
    Access::default()
}

/// Builds an event about an order.
pub fn event(n: u128, word: &str, order: u128) -> Event {
    read(json!({
        "id": id(n), "event": word, "timestamp": at(n as i64), "subjectKind": "order", "subjectId": id(order),
        "orderId": id(order), "actor": "system", "data": {"n": 1},
    }))
}
