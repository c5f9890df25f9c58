//! Two-colour sets: promised, signed off and shipped in two shipments.

use serde_json::{Value, json};
use simulator::gcode::tools::gcode_of_several;
use simulator::{Fleet, FleetOptions};

use super::pay;
use crate::api::materials::mails;
use crate::support::waiting::until_seen;
use crate::support::{App, on_sqlite, until};

on_sqlite! {
    async fn sets_of_two_colours_are_promised_made_good_and_sent_in_two_parcels(db: Db) {
        let shop = Shop::open(App::new(db).await).await;
        let (badge, set) = shop.create_products().await;
        let order = shop.app.order(&set, 2).await;
        let placed = shop.app.order_is(&order, "created").await;
        assert_eq!((&placed["totalCents"], &placed["lines"][2]["kitLine"]), (&json!(3000), &json!(0)), "{placed}");
        assert_eq!(pay(&shop.app, &placed, "evt_set").await, Some(200));
        let promised = shop.is_promised(&order).await;
        shop.badge_waits_for_both_colours(&order, &badge).await;
        shop.fleet.printers.iter().for_each(|sim| sim.handle.set_speed(300.0));
        let photo = shop.app.upload("badge.png", simulator::gcode::sample_png()).await.expect(201)["id"].clone();
        let ready = shop.clear_beds_until_ready(&order, &badge, &photo).await;
        assert_eq!(ready["promisedAt"], promised["promisedAt"]);
        shop.one_plate_was_made_again(&ready, &photo).await;
        let shipped = shop.send_two_parcels(&order).await;
        shop.customer_hears_of_each_parcel(shipped["number"].as_str().unwrap()).await;
        shop.stock_is_booked().await;
        shop.quality_is_counted().await;
    }
}

/// Shop whose first printer has both colours.
struct Shop {
    app: App,
    fleet: Fleet,
    printers: Vec<String>,
    /// Path of the printer with both colours.
    changer: String,
    black: String,
    white: String,
}

impl Shop {
    /// Registers the printers: one has both colours and a bed that a person clears; the others print only black.
    async fn open(app: App) -> Self {
        // Slow, until the promise is made.
        let fleet = Fleet::start(FleetOptions { speed: 1.0, seed: 8, ..FleetOptions::of_each(1) }).await.unwrap();
        let mut printers = Vec::new();
        for sim in &fleet.printers {
            printers.push(app.printer(sim).await);
        }
        let [black, white] = [app.material("PLA black", 1000.0).await, app.material("PLA white", 1000.0).await];
        for (material, cents) in [(&black, 2.0), (&white, 10.0)] {
            let cost = json!({"unitCostCents": cents});
            app.patch(&format!("/api/inventory/materials/{material}"), &cost).await.expect(200);
        }
        let changer = format!("/api/printers/{}", printers[0]);
        app.patch(&changer, &json!({"autoClear": false})).await.expect(200);
        for (slot, material) in [&black, &white].into_iter().enumerate() {
            let spool = json!({"materialId": material, "remaining": 500});
            app.post(&format!("{changer}/slots/{slot}"), &spool).await.expect(200);
        }
        for other in &printers[1..] {
            app.patch(&format!("/api/printers/{other}"), &json!({"loadedMaterialId": black})).await.expect(200);
        }
        Self { app, fleet, printers, changer, black, white }
    }

    /// Creates a two-colour badge, two per plate, and the set of a bracket and two badges; returns the IDs of the badge
    /// and the set.
    async fn create_products(&self) -> (String, String) {
        let Self { app, black, white, .. } = self;
        let file = app.gcode("bracket", 240, 10.0).await;
        let bracket = app.sku("BRACKET", black, &file, 500).await;
        let code = gcode_of_several("badge", 240, &[(8.0, "#1b1b22"), (3.5, "#f4f1e6")]);
        let file = app.upload("badge.gcode", code.into_bytes()).await.expect(201);
        assert_eq!(file["plates"][0]["filaments"][1]["grams"], 3.5, "{file}");
        let badge = json!({
            "code": "BADGE", "name": "Badge", "materialId": black, "estimatedConsumption": 9, "machineType": "fdm_standard",
            "priceCents": 700, "gcodeFileId": file["id"], "unitsPerPlate": 2,
            "materials": [{"materialId": white, "estimatedConsumption": 4, "filament": 1}],
        });
        let badge = app.post("/api/skus", &badge).await.expect(201)["id"].as_str().unwrap().to_owned();
        let set = json!({"code": "SET", "name": "Door set", "priceCents": 1500, "components": [
            {"skuId": bracket, "quantity": 1}, {"skuId": badge, "quantity": 2},
        ]});
        let set = app.post("/api/skus", &set).await.expect(201)["id"].as_str().unwrap().to_owned();
        (badge, set)
    }

    /// Waits until the order has a forecast and a promise, and checks the forecast; returns the order.
    async fn is_promised(&self, order: &str) -> Value {
        let app = &self.app;
        let path = format!("/api/orders/{order}");
        until_seen("the order to be expected and promised, by a forecast of everything", || async {
            let order = app.get(&path).await.expect(200);
            let forecast = app.get("/api/forecast").await.expect(200);
            let is_promised = order["expectedAt"].is_string() && order["promisedAt"].is_string();
            let free = forecast["printers"].as_array().unwrap().iter().filter(|one| one["freeAt"].is_string()).count();
            let counts = (free, &forecast["late"], &forecast["untold"]);
            let is_whole = counts == (self.printers.len(), &json!([]), &json!(0));
            let is_even = forecast["doneAt"].as_str() >= order["expectedAt"].as_str();
            if is_promised && is_whole && is_even { Ok(order) } else { Err(format!("{forecast} {order}")) }
        })
        .await
    }

    /// Checks that one of the badges waits for the only printer that has both colours.
    async fn badge_waits_for_both_colours(&self, order: &str, badge: &str) {
        let jobs = self.app.jobs(order).await;
        let of_badges = jobs.iter().find(|job| job["skuId"] == badge && job["state"] == "SLICED").unwrap();
        let path = format!("/api/jobs/{}/match", of_badges["id"].as_str().unwrap());
        let comparison = self.app.get(&path).await.expect(200);
        for one in comparison["printers"].as_array().unwrap() {
            if one["printerId"] == self.printers[0].as_str() {
                let slots: Vec<&Value> = one["slots"].as_array().unwrap().iter().map(|slot| &slot["slot"]).collect();
                assert_eq!((&one["fits"], slots.len()), (&json!(true), 2), "{comparison}");
            } else {
                assert_eq!(one["fits"], false, "{comparison}");
            }
        }
    }

    /// Clears the beds of the printer with both colours as a person does: one of the first badges is bad, everything
    /// else is good. Returns the order once it is ready.
    async fn clear_beds_until_ready(&self, order: &str, badge: &str, photo: &Value) -> Value {
        let Self { app, changer, .. } = self;
        let path = format!("/api/orders/{order}");
        let mut rejected = false;
        loop {
            let printer = until("the order to be ready or a bed to be full", || async {
                // In this order: what is ready has ended on the printer before.
                let ready = app.get(&path).await.expect(200)["status"] == "ready";
                let printer = app.get(changer).await.expect(200);
                let full = printer["lastPrint"].is_object()
                    && printer["status"]["attention"].as_array().unwrap().iter().any(|word| word == "bed_not_cleared");
                (full || ready).then_some(printer)
            })
            .await;
            let Some(job) = printer["lastPrint"]["jobId"].as_str() else { break };
            let of_badges = app.get(&format!("/api/jobs/{job}")).await.expect(200)["skuId"] == badge;
            let bad = json!({"goodCount": 1, "reason": "wrong_colour", "note": "black on black", "photoFileId": photo});
            let inspection = if of_badges && !rejected { bad } else { json!({}) };
            rejected |= of_badges;
            app.post(&format!("{changer}/bed-cleared"), &inspection).await.expect(200);
        }
        let ready = app.order_is(order, "ready").await;
        assert!(rejected, "the badges need both colours");
        ready
    }

    async fn one_plate_was_made_again(&self, ready: &Value, photo: &Value) {
        let lines = &ready["lines"];
        let line = |n: usize| json!([lines[n]["quantity"], lines[n]["good"], lines[n]["missing"]]);
        assert_eq!((line(1), lines[0]["completeSets"].clone()), (json!([2, 2, 0]), json!(2)), "{ready}");
        assert_eq!((&lines[2]["good"], &ready["flags"]), (&json!(5), &json!([])), "one plate more: {ready}");
        let jobs = self.app.jobs(ready["id"].as_str().unwrap()).await;
        assert_eq!(jobs.iter().filter(|job| job["reprint"] == true).count(), 1, "{jobs:?}");
        let photos = jobs.iter().map(|job| &job["attempts"][0]["signOff"]["photoFileId"]);
        let photos: Vec<&Value> = photos.filter(|id| !id.is_null()).collect();
        assert_eq!(photos, [photo], "{jobs:?}");
    }

    /// Ships one set, then the other; each shipment has its packing list.
    async fn send_two_parcels(&self, order: &str) -> Value {
        let app = &self.app;
        let ship = format!("/api/orders/{order}/ship");
        let mut parcel = json!({"carrier": "DHL", "trackingNumber": "JD0001", "estimatedDelivery": "2026-12-01"});
        parcel["lines"] = json!([{"line": 0, "quantity": 1}]);
        app.post(&ship, &parcel).await.expect(200);
        let rest = json!({"carrier": "UPS", "trackingNumber": "1Z0002", "estimatedDelivery": "2026-12-02"});
        let shipped = app.post(&ship, &rest).await.expect(200);
        let carrier = &shipped["shipments"][1]["carrier"];
        assert_eq!((&shipped["status"], carrier), (&json!("shipped"), &json!("UPS")), "{shipped}");
        for (number, complete) in [(1, false), (2, true)] {
            let list = app.get(&format!("/api/orders/{order}/shipments/{number}/packing-list")).await.expect(200);
            let packed = list["lines"].as_array().unwrap().iter();
            let packed: Vec<Value> = packed.map(|line| json!([line["description"], line["quantity"]])).collect();
            assert_eq!(packed, [json!(["BRACKET", 1]), json!(["Badge", 2])], "{list}");
            assert_eq!(list["complete"], complete, "{list}");
        }
        shipped
    }

    /// Checks that the customer is notified of each shipment once, and that the promise was kept.
    async fn customer_hears_of_each_parcel(&self, number: &str) {
        let mails = until("two mails to the customer", || async {
            let mut all = mails(&self.app, number);
            all.retain(|mail| !mail.contains("Subject: Receipt"));
            (all.len() == 2).then_some(all)
        })
        .await;
        for (tracking, subject) in [("JD0001", "Part of order"), ("1Z0002", "The rest of order")] {
            let of_it: Vec<&String> = mails.iter().filter(|mail| mail.contains(tracking)).collect();
            let [mail] = of_it[..] else { panic!("{tracking}: {mails:?}") };
            for words in [
                subject,
                "buyer@example.org",
                "2 x Badge (part of Door set)",
                "1 x BRACKET (part of Door set)",
                "kept our promise",
            ] {
                assert!(mail.contains(words), "{words}: {mail}");
            }
        }
    }

    async fn stock_is_booked(&self) {
        let app = &self.app;
        for (material, used) in [(&self.black, 2.0 * 10.0 + 3.0 * 8.0), (&self.white, 3.0 * 3.5)] {
            let stock = until("the last claim to be settled", || async {
                let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
                (stock["reserved"] == 0).then_some(stock)
            })
            .await;
            assert!((1000.0 - stock["quantity"].as_f64().unwrap() - used).abs() < 0.1, "{used} g: {stock}");
            app.ledger_is_even(material).await;
        }
        let slots = app.get(&self.changer).await.expect(200)["slots"].clone();
        assert!((500.0 - slots[1]["remaining"].as_f64().unwrap() - 10.5).abs() < 0.1, "{slots}");
    }

    async fn quality_is_counted(&self) {
        let quality = self.app.get("/api/insights").await.expect(200)["quality"].clone();
        let numbers = json!([quality["total"]["prints"], quality["total"]["parts"], quality["total"]["good"]]);
        assert_eq!(
            (numbers, &quality["byReason"][0]["reason"]),
            (json!([5, 8, 7]), &json!("wrong_colour")),
            "{quality}"
        );
        let lost = quality["total"]["scrapMaterial"][0]["amount"].as_f64().unwrap();
        assert!((lost - 11.5 / 2.0).abs() < 0.1, "half a plate of both colours: {quality}");
        // 4 g of black for 2 each, and 1.75 g of white for 10 each.
        for of in [&quality["total"], &quality["byReason"][0]] {
            assert!((25..=26).contains(&of["scrapCostCents"].as_i64().unwrap()), "{quality}");
        }
    }
}
