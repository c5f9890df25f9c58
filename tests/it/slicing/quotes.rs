//! Quotes from models, from upload to print: a customer uploads a model and gets a price, the slicer makes the price
//! exact, the shop sends the quote, the customer accepts and pays, and the part is printed. Actual consumption is shown
//! next to the estimate.

use super::*;
use crate::api::quotes::models::upload;
use crate::api::{count, id};
use crate::billing::customer;

on_sqlite! {
    async fn a_customers_model_is_priced_sliced_quoted_accepted_paid_and_printed(db: Db) {
        let fake = FakeSlicer::new(12.5);
        let mut app = fake.shop(db).env("PRINTFLOOR_PRICING__SLICER_PROFILE", PROFILE).start().await;
        let ann = customer(&app, "ann@example.org").await;
        let model = upload(&ann, "/api/v1/quotes/models", "cube.stl", cube().into_bytes(), &[("quantity", "2")]).await;
        let model = model.expect(201)["model"].clone();
        assert_eq!((&model["slicing"], fake.runs().len()), (&json!("pending"), 0), "there is no profile yet: {model}");
        // What it waits for comes, after a power cut.
        app.kill_9();
        profile(&app, PROFILE, "layer_height = 0.2\nfilament_density = 1.24\n");
        app.start().await;
        let path = format!("/api/v1/quotes/models/{}", id(&model));
        let exact = until("the slicer's price", || async {
            let now = ann.get(&path).await.expect(200)["model"].clone();
            (now["slicing"] == "done").then_some(now)
        })
        .await;
        assert!(exact["unitPriceCents"].as_i64() > model["unitPriceCents"].as_i64(), "{exact} after {model}");

        let quote = id(&app.get("/api/quotes").await.expect(200)["quotes"][0]);
        let one = format!("/api/quotes/{quote}");
        let material = app.material("PLA", 160.0).await;
        let lines = json!([{"quantity": 2, "modelFileId": model["id"], "materialId": material}]);
        let view = app.patch(&one, &json!({"lines": lines})).await.expect(200);
        let line = &view["lines"][0];
        assert_eq!((&line["model"]["grams"], &line["model"]["seconds"]), (&json!(25), &json!(480)), "{line}");
        // 25 g are 62.5, 480 s are 0.48 and 6.67, 9 minutes 450: 520, of which 5 % are 26; 40 % on 546 are 764.4.
        let costs = json!({"materialCents": 63, "energyCents": 0, "wearCents": 7, "labourCents": 450, "failureCents": 26, "totalCents": 546});
        assert_eq!((&line["model"]["costs"], &line["unitPriceCents"]), (&costs, &json!(383)), "{line}");
        let sent = app.act(&format!("{one}/send")).await.expect(200);
        assert_eq!((&sent["totalCents"], &sent["lines"][0]["model"]["margin"]), (&json!(766), &Value::Null));

        let accepted = ann.act(&format!("/api/v1/quotes/{quote}/accept")).await.expect(200);
        let order = accepted["quote"]["orderId"].as_str().unwrap().to_owned();
        let fleet = Fleet::start(FleetOptions { speed: 300.0, seed: 7, ..FleetOptions::of_each(1) }).await.unwrap();
        for sim in &fleet.printers {
            app.printer(sim).await;
        }
        app.post(&format!("/api/orders/{order}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        let done = app.order_is(&order, "ready").await;
        assert_eq!((&done["kind"], &done["totalCents"]), (&json!("custom"), &json!(766)));
        assert_eq!((fake.runs().len(), gcode_files(&app).await.len()), (1, 1), "sliced once, for price and print");
        let line = app.get(&one).await.expect(200)["lines"][0].clone();
        let margin = &line["model"]["margin"];
        assert_eq!((&margin["final"], &margin["priceCents"], &margin["quotedMarginCents"]), (&json!(true), &json!(766), &json!(220)), "{line}");
        let grams = margin["grams"].as_f64().unwrap();
        assert!(grams > 20.0 && grams < 30.0 && margin["costs"]["failureCents"] == 0, "{margin}");
        let left = 766 - margin["costs"]["totalCents"].as_i64().unwrap();
        assert_eq!(margin["actualMarginCents"], left);
        assert_eq!(line["model"]["costs"], costs, "what was reckoned with is frozen");
        app.ledger_is_even(&material).await;
    }

    async fn gcode_of_what_customers_send_takes_of_their_room_and_goes_with_the_draft(db: Db) {
        let fake = FakeSlicer::new(12.5);
        let models = ["prism", "wedge"].map(|name| cube().replace("cube", name).into_bytes());
        let bytes: usize = models.iter().map(Vec::len).sum();
        let mut app = fake
            .shop(db)
            .env("PRINTFLOOR_PRICING__SLICER_PROFILE", PROFILE)
            .env("PRINTFLOOR_FILES__UNCLAIMED_MAX_BYTES", bytes + 1)
            .start()
            .await;
        let ann = customer(&app, "ann@example.org").await;
        for model in models {
            upload(&ann, "/api/v1/quotes/models", "part.stl", model, &[]).await.expect(201);
        }
        assert!(fake.runs().is_empty(), "there is no profile yet");
        profile(&app, PROFILE, "layer_height = 0.2\nfilament_density = 1.24\n");
        let gcode = until("one of them to be sliced", || async { gcode_files(&app).await.first().cloned() }).await;
        // The G-code is counted as the customer's: there is no room for that of the other.
        let lines = [
            format!("printfloor_unclaimed_file_bytes {}\n", bytes as u64 + gcode["size"].as_u64().unwrap()),
            "printfloor_customer_uploads_refused 1\n".to_owned(),
        ];
        until("monitoring to see it", || async {
            let numbers = app.get("/metrics").await.text;
            lines.iter().all(|line| numbers.contains(line)).then_some(())
        })
        .await;
        // What the shop sells is sliced all the same.
        let (_, sku) = stocked(&app, 200.0).await;
        let order = app.paid_order(&sku, 1).await;
        let own = app.job_is(&only_job(&app, &order).await, "SLICED").await["fileId"].clone();
        assert_eq!(fake.runs().len(), 2, "the other draft waits: {:?}", fake.runs());
        let slicing = |quote: &Value| quote["lines"][0]["model"]["slicing"].as_str().unwrap().to_owned();
        until("one draft to be done and the other to wait", || async {
            let drafts = app.get("/api/quotes?status=draft").await.expect(200);
            let mut states: Vec<String> = drafts["quotes"].as_array().unwrap().iter().map(slicing).collect();
            states.sort();
            (states == ["done", "pending"]).then_some(())
        })
        .await;
        // Nobody answers: both drafts go, with all that was made of them.
        fake.does("sleep 600");
        app.stop().await;
        app.set_env("PRINTFLOOR_FILES__UNCLAIMED_DAYS", "0.0000001");
        app.start().await;
        until("the drafts to be gone", || async { (count(&app, "/api/quotes?status=draft").await == 0).then_some(()) }).await;
        until("their files to be gone", || async { (count(&app, "/api/files").await == 2).then_some(()) }).await;
        let left = gcode_files(&app).await;
        assert_eq!((left.len(), &left[0]["id"]), (1, &own), "the shop's own stays: {left:?}");
    }
}

#[tokio::test]
async fn a_model_that_the_slicer_refuses_keeps_its_price_and_says_why() {
    let fake = FakeSlicer::new(12.5);
    fake.does("echo 'the object is too thin' >&2; exit 1");
    let app = fake.shop(Db::sqlite()).start().await;
    profile(&app, PROFILE, "layer_height = 0.2\n");
    let fields = [("slicerProfile", PROFILE)];
    let draft = upload(&app, "/api/quotes/models", "cube.stl", cube().into_bytes(), &fields).await.expect(201);
    let path = format!("/api/quotes/{}", id(&draft));
    let view = until("the slicer's refusal", || async {
        let view = app.get(&path).await.expect(200);
        (view["lines"][0]["model"]["slicing"] == "failed").then_some(view)
    })
    .await;
    let model = &view["lines"][0]["model"];
    assert!(model["slicingError"].as_str().unwrap().contains("too thin"), "{model}");
    assert_eq!((&view["totalCents"], &view["version"]), (&draft["totalCents"], &json!(1)));
}
