//! Sample shop as older releases wrote it: rows with the columns and documents of that time.

use printfloor::domain::aggregate::Aggregate;
use printfloor::domain::id::Id;
use printfloor::domain::job::JobState;
use printfloor::domain::order::{Order, OrderStatus};
use printfloor::domain::printer::Printer;
use printfloor::domain::sku::Sku;
use printfloor::store::StoredAggregate;
use printfloor::store::connect;
use printfloor::store::queries::{JobFilter, OrderFilter, Page, Queries};
use printfloor::store::reader::Reader;
use serde_json::{Value, json};

use crate::support::database::TestDatabase;

/// Time at which the shop was written, in milliseconds since 1970.
const AT: i64 = 1_700_000_000_000;
/// Time [`AT`] as documents contain it.
const WHEN: &str = "2023-11-14T22:13:20Z";

/// Number of an order that is paid by card, partly refunded, flagged, and has a job that is printing.
const PAID: u128 = 101;
/// Number of an order that is half paid, in cash.
const HALF: u128 = 102;
const JOB: u128 = 111;
const ATTEMPT: u128 = 112;
/// Numbers of [`printed_jobs`].
const PRINTED: [u128; 3] = [113, 114, 115];
const MATERIAL: u128 = 120;
const FILE: u128 = 121;
/// Numbers of two SKUs with the same slug, and of a deleted one whose slug and code may be reused.
const SKUS: [u128; 3] = [131, 132, 133];
const PRINTER: u128 = 140;
const ENDPOINT: u128 = 150;
const DELIVERY: u128 = 151;

fn id(n: u128) -> Id {
    Id(uuid::Uuid::from_u128(n))
}

/// Returns the statement that inserts this row; its text is the same for both databases.
fn insert(table: &str, columns: Vec<(&str, Value)>) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let values = columns.iter().map(|(_, value)| match value {
        Value::Null => "NULL".to_owned(),
        Value::Bool(yes) => if *yes { "TRUE" } else { "FALSE" }.to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{}'", text.replace('\'', "''")),
        doc => format!("'{}'", doc.to_string().replace('\'', "''")),
    });
    let values: Vec<String> = values.collect();
    format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", "))
}

/// Returns a row of an aggregate's part or, with a version, its snapshot row.
fn row(table: &str, n: u128, version: Option<i64>, doc: Value, columns: Vec<(&'static str, Value)>) -> String {
    let mut all = vec![("id", json!(id(n))), ("schema", json!(1)), ("doc", doc), ("created_at", json!(AT))];
    all.extend(version.map(|version| ("version", json!(version))));
    all.extend(columns);
    insert(table, all)
}

fn order(n: u128, release: usize, total: i64, kept_cents: i64, status: &str, flags: &[&str]) -> String {
    let mut doc = json!({
        "id": id(n), "number": n as i64, "kind": "manual", "status": status, "site": "industries", "madeBy": null,
        "customerId": null, "customerEmail": "o'hara@example.org", "currency": "usd", "lines": [{
            "skuId": id(SKUS[0]), "quantity": 1, "unitPriceCents": total, "description": "a bracket", "taxRateBps": 0, "make": {
                "unitsPerPlate": 1, "materialId": id(MATERIAL), "need": 12.345, "machineType": "fdm_standard", "dimensions": null,
                "fileId": id(FILE), "fileForm": "gcode", "fileFilamentMm": 4130.5, "estimatedSeconds": 3600,
            },
        }],
        "subtotalCents": total, "shippingCents": 0, "taxCents": 0, "discountCents": 0, "totalCents": total, "notes": null,
        "shippingAddress": null, "priority": 5, "dueAt": null, "shipment": null, "flags": flags,
        "paymentSession": format!("cs_{n}"), "createdAt": WHEN, "paidAt": null, "updatedAt": WHEN,
    });
    if release < 6 {
        doc["paymentIntent"] = json!(format!("pi_{n}"));
        doc["refundedCents"] = json!(0);
        doc["refundedWhole"] = json!(false);
    } else {
        doc["keptCents"] = json!(kept_cents);
    }
    let mut columns = vec![
        ("number", json!(n as i64)),
        ("kind", json!("manual")),
        ("status", json!(status)),
        ("site", json!("industries")),
        ("customer_email", json!("o'hara@example.org")),
        ("total_cents", json!(total)),
        ("active", json!(true)),
        ("payment_session", json!(format!("cs_{n}"))),
        ("updated_at", json!(AT)),
    ];
    if release < 6 {
        columns.push(("payment_intent", json!(format!("pi_{n}"))));
    }
    if release >= 5 {
        columns.push(("flags", json!(flags.join(" "))));
    }
    row("orders", n, Some(3), doc, columns)
}

fn payment(n: u128, release: usize, order: u128, cents: i64, method: &str, reference: Option<&str>) -> String {
    let doc = json!({
        "id": id(n), "orderId": id(order), "amountCents": cents, "currency": "usd", "method": method, "reference": reference,
        "createdAt": WHEN,
    });
    let mut columns = vec![("order_id", json!(id(order)))];
    if release >= 6 {
        columns.push(("intent", json!(reference.filter(|_| method == "processor" && cents >= 0))));
    }
    row("payments", n, None, doc, columns)
}

fn sku(n: u128, release: usize, code: &str, slug: &str, archived: bool) -> String {
    let doc = json!({
        "id": id(n), "code": code, "slug": slug, "name": "a bracket", "description": null, "kind": null, "collections": [],
        "materialId": id(MATERIAL), "estimatedConsumption": 12.345, "machineType": "fdm_standard", "dimensions": null,
        "priceCents": 1250, "currency": "usd", "unitsPerPlate": 1, "modelFileId": null, "gcodeFileId": id(FILE),
        "slicerProfile": null, "estimatedSeconds": null, "images": [], "public": true, "active": true, "archived": archived,
        "createdAt": WHEN, "updatedAt": WHEN,
    });
    let held = |text: &str| {
        if archived && release >= 6 { json!(format!("{text} {}", id(n))) } else { json!(text) }
    };
    let columns = vec![
        ("code", held(code)),
        ("slug", held(slug)),
        ("name", json!("a bracket")),
        ("material_id", json!(id(MATERIAL))),
        ("gcode_file_id", json!(id(FILE))),
        ("public", json!(true)),
        ("active", json!(true)),
        ("archived", json!(archived)),
    ];
    row("skus", n, Some(1), doc, columns)
}

/// Returns jobs of the paid order that were printed before lists showed which jobs are not signed off: the first is not
/// signed off, the second is, and the third needs no sign-off.
pub fn printed_jobs() -> [String; 3] {
    let [waits, signed, older] = PRINTED;
    [job(waits, "COMPLETED", Some(true)), job(signed, "COMPLETED", Some(false)), job(older, "COMPLETED", None)]
}

/// Returns, for each of [`printed_jobs`], whether it is listed as not signed off.
pub async fn listed_as_unsigned(database: &TestDatabase) -> [bool; 3] {
    let reading = connect::reading(&database.settings).await.unwrap();
    let filter = JobFilter { unsigned: Some(true), ..JobFilter::default() };
    let (listed, _) = Queries::new(reading.clone()).jobs(&filter, Page { limit: 10, offset: 0 }).await.unwrap();
    reading.close().await.unwrap();
    PRINTED.map(|n| listed.iter().any(|job| job.id == id(n)))
}

/// Returns a job of the paid order. `unsigned` is the member written by releases that had sign-offs; `None` leaves it
/// out.
fn job(n: u128, state: &str, unsigned: Option<bool>) -> String {
    let on = state == "PRINTING";
    let mut doc = json!({
        "id": id(n), "number": 1, "version": 4, "orderId": id(PAID), "orderNumber": PAID as i64, "line": 0, "skuId": id(SKUS[0]),
        "skuName": "a bracket", "materialId": id(MATERIAL), "need": 12.345, "machineType": "fdm_standard", "dimensions": null,
        "fileId": id(FILE), "fileForm": "gcode", "fileFilamentMm": 4130.5, "estimatedSeconds": 3600, "state": state,
        "blockedBy": null, "blockReason": null, "stock": if on { "held" } else { "none" }, "claim": 1, "settling": [], "recalled": false, "released": false,
        "priority": 5, "dueAt": null, "printerId": id(PRINTER), "attemptId": on.then(|| id(ATTEMPT)), "tries": 0, "triedOn": [], "attempts": [],
        "cancelRequestedAt": null, "error": null, "consumed": 0, "createdAt": WHEN, "updatedAt": WHEN,
    });
    if let Some(unsigned) = unsigned {
        doc["unsigned"] = json!(unsigned);
    }
    let columns = vec![
        ("order_id", json!(id(PAID))),
        ("number", json!(1)),
        ("state", json!(state)),
        ("sku_id", json!(id(SKUS[0]))),
        ("material_id", json!(id(MATERIAL))),
        ("file_id", json!(id(FILE))),
        ("printer_id", json!(id(PRINTER))),
        ("priority", json!(5)),
        ("version", json!(4)),
        ("updated_at", json!(AT)),
    ];
    row("jobs", n, None, doc, columns)
}

/// Returns a job of the paid order, and its only attempt.
fn print(job_state: &str, attempt_state: &str) -> [String; 2] {
    let on = job_state == "PRINTING";
    let attempt = json!({
        "id": id(ATTEMPT), "jobId": id(JOB), "orderId": id(PAID), "number": 1, "printerId": id(PRINTER), "state": attempt_state,
        "unverified": false, "word": null, "reason": null, "startedAt": WHEN, "endedAt": (!on).then_some(WHEN), "createdAt": WHEN,
    });
    let attempt_columns = vec![
        ("job_id", json!(id(JOB))),
        ("order_id", json!(id(PAID))),
        ("number", json!(1)),
        ("printer_id", json!(id(PRINTER))),
        ("state", json!(attempt_state)),
    ];
    [job(JOB, job_state, None), row("attempts", ATTEMPT, None, attempt, attempt_columns)]
}

/// Returns SKUs, the payments of the paid order, the half-paid order, and a stored idempotent response.
fn counter(release: usize) -> Vec<String> {
    let slugs = if release >= 6 { ["bracket", "bracket-2", "bracket"] } else { ["bracket"; 3] };
    let skus = SKUS.iter().zip(["B-1", "B-2", "B-3"]).zip(slugs);
    let mut rows: Vec<String> = skus.map(|((n, code), slug)| sku(*n, release, code, slug, *n == SKUS[2])).collect();
    let columns = vec![
        ("key", json!("k")),
        ("body_hash", json!("h")),
        ("kind", json!("order")),
        (if release >= 3 { "aggregate_id" } else { "thing_id" }, json!(id(PAID))),
        ("version", json!(1)),
        ("answer", json!("{}")),
        ("created_at", json!(AT)),
        ("expires_at", json!(AT)),
    ];
    rows.extend([
        payment(103, release, PAID, 2500, "processor", Some("pi_first")),
        payment(104, release, PAID, -500, "processor", Some("pi_first")),
        order(HALF, release, 1000, 400, "created", &[]),
        payment(105, release, HALF, 400, "cash", None),
        insert("idempotency", columns),
    ]);
    rows
}

/// Returns the rows of a shop without running prints, as the release with this many migrations wrote them: the parts of
/// the paid order are printed, the other order is half paid.
pub fn shop_at_rest(release: usize) -> Vec<String> {
    let mut rows = counter(release);
    rows.push(order(PAID, release, 2500, 2000, "ready", &[]));
    rows.extend(print("COMPLETED", "finished"));
    rows
}

/// Returns the IDs in [`shop_at_rest`]: the paid order, the half-paid one, and the SKU of both.
pub fn shop_ids() -> [String; 3] {
    [PAID, HALF, SKUS[0]].map(|n| id(n).to_string())
}

/// Returns the rows of a shop as written by the release with the given number of migrations.
pub fn shop(release: usize) -> Vec<String> {
    let printer = json!({
        "id": id(PRINTER), "name": "left", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://printer:7125",
        "encryptedApiKey": "", "serial": null, "buildVolume": null, "autoClear": true, "loadedMaterialId": null, "location": null,
        "tags": ["old"], "inHand": {
            "attempt": id(ATTEMPT), "job": id(JOB), "order": id(PAID), "fileId": id(FILE), "fileName": "bracket.gcode",
            "remoteName": "bracket.gcode", "phase": {"phase": "printing", "at": WHEN}, "step": 3, "heard": 3, "cancel": false,
            "unwanted": false, "progress": 0.4, "takenAt": WHEN,
        },
        "manual": null, "lastManual": null, "bedNotCleared": false, "needsHome": false, "maintenance": null, "printFailed": false,
        "disconnected": false, "activity": "idle", "connection": "connected", "shows": null, "past": [], "stoppedAt": null,
        "outage": false, "lastSeenAt": WHEN, "idleSince": WHEN, "archived": false, "createdAt": WHEN, "updatedAt": WHEN,
    });
    let delivery = json!({
        "id": id(DELIVERY), "endpointId": id(ENDPOINT), "eventId": id(152), "eventSeq": 1, "event": "order.paid", "replay": 0,
        "body": "{}", "state": "pending", "attempts": 0, "nextAt": WHEN, "lastStatus": null, "lastError": null, "lastExcerpt": null,
        "lastDurationMs": null, "createdAt": WHEN, "attemptedAt": null,
    });
    let mut of_delivery = vec![
        ("endpoint_id", json!(id(ENDPOINT))),
        ("event_id", json!(id(152))),
        ("event_seq", json!(1)),
        ("replay", json!(0)),
        ("state", json!("pending")),
        ("next_at", json!(AT)),
        ("attempts", json!(0)),
    ];
    if release >= 2 {
        of_delivery.push(("event", json!("order.paid")));
    }
    let of_printer =
        vec![("name", json!("left")), ("kind", json!("fw_rest")), ("active", json!(true)), ("archived", json!(false))];
    let mut rows = counter(release);
    rows.push(order(PAID, release, 2500, 2000, "printing", &["refund_due", "job_failed"]));
    rows.extend(print("PRINTING", "confirmed"));
    rows.extend([
        row("printers", PRINTER, Some(9), printer, of_printer),
        row("deliveries", DELIVERY, None, delivery, of_delivery),
    ]);
    rows
}

async fn load<T: StoredAggregate + Aggregate>(reader: &Reader, n: u128) -> T {
    reader.load::<T>(id(n)).await.unwrap().state.unwrap_or_else(|| panic!("{} {n} is there", T::KIND))
}

/// Checks that this release reads the rows of [`shop`] correctly.
pub async fn is_read_right(database: &TestDatabase) {
    let reading = connect::reading(&database.settings).await.unwrap();
    let (reader, queries) = (Reader::Database(reading.clone()), Queries::new(reading.clone()));
    let paid: Order = load(&reader, PAID).await;
    assert_eq!((paid.status, paid.ledger.kept_cents, paid.ledger.payments.len()), (OrderStatus::Printing, 2000, 2));
    assert_eq!(paid.flags, ["refund_due", "job_failed"]);
    let job = paid.jobs.get(&id(JOB)).unwrap();
    assert_eq!((job.state, job.attempts.len(), job.attempts[0].id), (JobState::Printing, 1, id(ATTEMPT)));
    // An event of the processor that names nothing but the intent finds its order.
    assert_eq!(queries.owner_of_intent("pi_first").await.unwrap(), Some(id(PAID)));
    assert_eq!(queries.owner_of_session(&format!("cs_{HALF}")).await.unwrap(), Some(id(HALF)));
    let half: Order = load(&reader, HALF).await;
    assert_eq!((half.status, half.ledger.kept_cents), (OrderStatus::Created, 400), "the rest is due, not all of it");
    // Lists read no payments, and are filtered by flag.
    let page = Page { limit: 10, offset: 0 };
    let (listed, _) =
        queries.orders(&OrderFilter { flag: Some("job_failed".to_owned()), ..Default::default() }, page).await.unwrap();
    let listed: Vec<_> =
        listed.into_iter().filter_map(|one| one.state).map(|one| (one.id, one.ledger.kept_cents)).collect();
    assert_eq!(listed, [(id(PAID), 2000)]);

    let mut slugs = Vec::new();
    for n in &SKUS[..2] {
        let sku: Sku = load(&reader, *n).await;
        let same = format!("SELECT COUNT(*) FROM skus WHERE id = '{}' AND slug = '{}'", sku.id, sku.fields.slug);
        assert_eq!(database.number(&same).await, 1, "row and document name the same slug");
        slugs.push(sku.fields.slug);
    }
    assert_eq!(slugs[0], "bracket", "the oldest keeps its slug");
    assert_ne!(slugs[0], slugs[1]);
    let deleted: Sku = load(&reader, SKUS[2]).await;
    assert!(deleted.archived);
    assert_eq!(
        database.number("SELECT COUNT(*) FROM skus WHERE slug = 'bracket' OR code = 'B-3'").await,
        1,
        "it holds neither"
    );

    let printer: Printer = load(&reader, PRINTER).await;
    let in_hand = printer.in_hand.unwrap();
    assert_eq!((in_hand.attempt, in_hand.progress, printer.fields.tags), (id(ATTEMPT), 0.4, vec!["old".to_owned()]));
    assert_eq!(database.number("SELECT COUNT(*) FROM deliveries WHERE event = 'order.paid'").await, 1);
    let query = format!("SELECT COUNT(*) FROM idempotency WHERE aggregate_id = '{}'", id(PAID));
    assert_eq!(database.number(&query).await, 1);
    assert_eq!(database.number("SELECT COUNT(*) FROM attempts WHERE judged_end IS NULL").await, 1);
    reading.close().await.unwrap();
}
