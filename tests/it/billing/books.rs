//! The books under concurrency (payment events ten times in any order, checkouts, operators): the kept amount of each
//! order and invoice matches the processor and the cash register, and issued documents add up.

use futures::future::join_all;
use serde_json::{Value, json};
use simulator::processor::{DeliveryConditions, Payer, SimPaymentProcessor};

use super::pay_token_of;
use crate::api::checkout::{KEY, knowing, tells};
use crate::api::{id, some_sku};
use crate::support::{App, Db, until, waiting::until_seen};

/// Number of orders, and of invoices, that are paid concurrently, each giving one interleaving; and number of further
/// orders whose invoices are checked.
type Amount = (usize, usize);
/// Amounts for every run.
const FEW: Amount = (25, 3);
/// Amounts for the long profile.
const MANY: Amount = (100, 25);
/// Number of actions on each order or invoice.
const ACTS: usize = 5;

/// An order, or an invoice without an order.
struct Paid {
    path: String,
    id: String,
    checkout: String,
    /// Operation that cancels the order or voids the invoice.
    end: &'static str,
}

impl Paid {
    async fn order(app: &App, sku: &str) -> Self {
        let id = app.order(sku, 1).await;
        let path = format!("/api/orders/{id}");
        Self { checkout: format!("{path}/checkout"), path, id, end: "cancel" }
    }

    async fn invoice(app: &App) -> Self {
        let id = super::invoices::sent(app, "ann@example.org").await;
        let checkout = format!("/api/v1/pay/{}/checkout", pay_token_of(app, &id).await);
        Self { path: format!("/api/invoices/{id}"), id, checkout, end: "void" }
    }

    async fn act(&self, app: &App, processor: &SimPaymentProcessor, random: &mut fastrand::Rng) {
        match random.u8(0..9) {
            0..=2 => {
                let answer = app.act(&self.checkout).await;
                if answer.status == 200 && random.bool() {
                    let session = answer.json()["sessionId"].as_str().unwrap().to_owned();
                    let _ = processor.act(&session, [Payer::Pays, Payer::IsDeclined][random.usize(0..2)]);
                }
            }
            3 => {
                let cash = json!({"method": "cash", "amountCents": random.u32(1..1250)});
                drop(app.post(&format!("{}/mark-paid", self.path), &cash).await);
            }
            4 if random.bool() => drop(app.act(&format!("{}/{}", self.path, self.end)).await),
            5 => {
                let view = app.get(&self.path).await.expect(200);
                let through = view["payments"].as_array().unwrap().iter().any(|one| one["method"] == "processor");
                if through {
                    let part = json!({"amountCents": random.u32(1..900)});
                    drop(app.post(&format!("{}/refund", self.path), &part).await);
                }
            }
            6 => {
                let view = app.get(&self.path).await.expect(200);
                let cash = view["payments"].as_array().unwrap().iter().find(|one| one["method"] == "cash").cloned();
                if let Some(cash) = cash {
                    let back = json!({"paymentId": cash["id"], "amountCents": 1});
                    drop(app.post(&format!("{}/refund", self.path), &back).await);
                }
            }
            _ => {
                let open = self.open_session(processor);
                if let Some(session) = open {
                    let _ = processor.act(&session, Payer::Pays);
                }
            }
        }
    }

    fn open_session(&self, processor: &SimPaymentProcessor) -> Option<String> {
        let all = processor.all("checkout.session");
        let own = all.iter().find(|one| one["client_reference_id"] == self.id.as_str() && one["status"] == "open")?;
        own["id"].as_str().map(str::to_owned)
    }

    /// Checks that nothing is in progress and that the books balance; returns the resource, or as the error the state
    /// that does not.
    async fn settled(&self, app: &App, processor: &SimPaymentProcessor) -> Result<Value, Value> {
        let (view, there) = (app.get(&self.path).await.expect(200), processor.balance(&self.id));
        let payments = view["payments"].as_array().unwrap();
        let cash = payments.iter().filter(|one| one["method"] == "cash");
        let cash: i64 = cash.map(|one| one["amountCents"].as_i64().unwrap()).sum();
        let kept_cents = view.get("keptCents").unwrap_or(&view["amountPaidCents"]).as_i64().unwrap();
        let payable =
            ["created", "payment_failed", "open", "partially_paid"].contains(&view["status"].as_str().unwrap());
        let closed = payable || self.open_session(processor).is_none();
        let through_processor = payments.iter().filter(|one| one["method"] == "processor");
        let through_processor = through_processor.filter(|one| one["amountCents"].as_i64().unwrap() > 0).count();
        let even = kept_cents == cash + there.took - there.gave_back && through_processor == there.payments;
        if even && closed && view["pendingRefunds"] == json!([]) { Ok(view) } else { Err(view) }
    }
}

/// Checks that the documents of an invoice add up.
fn adds_up(invoice: &Value) {
    let documents = invoice["documents"].as_array().unwrap();
    let sum = |kind: &str| -> i64 {
        let of_kind = documents.iter().filter(|one| one["kind"] == kind);
        of_kind.map(|one| one["totalCents"].as_i64().unwrap()).sum()
    };
    let total = invoice["totalCents"].as_i64().unwrap();
    assert_eq!(sum("invoice"), total, "{invoice}");
    let (credited, kept_cents) = (sum("credit_note"), invoice["amountPaidCents"].as_i64().unwrap());
    match invoice["status"].as_str().unwrap() {
        "paid" => assert!((total - kept_cents.clamp(0, total)..=total).contains(&credited), "{invoice}"),
        "refunded" | "void" => assert_eq!(credited, total, "{invoice}"),
        _ => assert_eq!(credited, 0, "{invoice}"),
    }
}

/// Sums the payments through the processor over all pages of the payment list, in minor units.
async fn listed_cents(app: &App) -> i64 {
    let (mut listed, mut offset) = (0, 0);
    loop {
        let page = app.get(&format!("/api/payments?limit=200&offset={offset}")).await.expect(200);
        let payments = page["payments"].as_array().unwrap();
        let through = payments.iter().filter(|one| one["method"] == "processor");
        listed += through.map(|one| one["amountCents"].as_i64().unwrap()).sum::<i64>();
        offset += 200;
        if page["pagination"]["hasMore"] == false {
            return listed;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_fifty_interleavings_the_books_are_the_processors() {
    books_agree(Db::sqlite(), FEW).await;
}

mod long {
    use super::{MANY, books_agree};
    use crate::support::on_both;

    on_both! {
        async fn in_two_hundred_interleavings_the_books_are_the_processors(db: Db) {
            books_agree(db, MANY).await;
        }
    }
}

async fn books_agree(db: Db, (each, least_followed): Amount) {
    let processor = SimPaymentProcessor::start(KEY).await.unwrap();
    let app = knowing(&processor, db).env("PRINTFLOOR_LIMITS__ORDER_CHECKOUTS_PER_HOUR", 10_000_000).start().await;
    tells(&processor, &app);
    processor.events_travel(DeliveryConditions { tenfold: true, shuffled: true, ..DeliveryConditions::default() });
    let seed = std::env::var("PRINTFLOOR_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(7);
    println!("PRINTFLOOR_TEST_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let sku = some_sku(&app).await;
    let orders = join_all((0..each).map(|_| Paid::order(&app, &sku))).await;
    let invoices = join_all((0..each).map(|_| Paid::invoice(&app))).await;
    let all: Vec<Paid> = orders.into_iter().chain(invoices).collect();
    let seeds: Vec<u64> = all.iter().map(|_| random.u64(..)).collect();
    for (some, seeds) in all.chunks(25).zip(seeds.chunks(25)) {
        let (app, processor) = (&app, &processor);
        join_all(some.iter().zip(seeds).map(|(one, seed)| async move {
            let mut random = fastrand::Rng::with_seed(*seed);
            for _ in 0..ACTS {
                one.act(app, processor, &mut random).await;
            }
        }))
        .await;
        // However long all of them take, one follows another.
        let mut left = usize::MAX;
        while left > 0 {
            let before = left;
            left = until("fewer events to be under way", || async {
                Some(processor.event_counts().0).filter(|count| *count < before)
            })
            .await;
        }
    }
    for one in &all {
        until_seen("nothing to be under way, and the books to be equal", || one.settled(&app, &processor)).await;
    }
    assert_eq!(processor.event_counts().2, 0, "none was given up");
    let followed = invoices_follow(&app, &processor, &all).await;
    assert!(followed > least_followed, "{followed}");
    let numbering = app.get("/api/invoices/numbering").await.expect(200);
    assert_eq!(numbering["gapless"], true, "{numbering}");
    // The list of payments has the same books.
    let listed = listed_cents(&app).await;
    let there: i64 = all.iter().map(|one| processor.balance(&one.id)).map(|one| one.took - one.gave_back).sum();
    assert_eq!(listed, there, "every cent that the processor keeps is listed, and no other");
}

/// Checks that each invoice follows its order and that issued documents add up; returns the number of invoices that
/// followed.
async fn invoices_follow(app: &App, processor: &SimPaymentProcessor, all: &[Paid]) -> usize {
    let mut followed = 0;
    for one in all {
        let view = one.settled(app, processor).await.expect("nothing happens any more");
        if one.path.starts_with("/api/invoices/") {
            adds_up(&view);
            continue;
        }
        let listed = app.get(&format!("/api/invoices?orderId={}", one.id)).await.expect(200);
        let standing: Vec<String> =
            listed["invoices"].as_array().unwrap().iter().filter(|one| one["status"] != "void").map(id).collect();
        assert!(standing.len() <= 1, "{listed}");
        for invoice in standing {
            let whole = until_seen("the invoice to follow", || async {
                let whole = app.get(&format!("/api/invoices/{invoice}")).await.expect(200);
                let even = whole["amountPaidCents"] == view["keptCents"]
                    && whole["payments"].as_array().unwrap().len() == view["payments"].as_array().unwrap().len();
                if even { Ok(whole) } else { Err(whole) }
            })
            .await;
            adds_up(&whole);
            followed += 1;
        }
    }
    followed
}
