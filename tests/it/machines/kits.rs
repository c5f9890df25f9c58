//! Kits: sold as one product, printed as parts on printers of several types, shipped as sets.

use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions, PrinterKind, SimPrinter};

use crate::support::{App, Client, on_sqlite, until};

/// Number of files in a set.
const FILES: usize = 13;
const SETS: u32 = 10;

async fn kit(app: &Client, code: &str, components: &[(String, u32)]) -> crate::support::client::Answer {
    let components: Vec<Value> =
        components.iter().map(|(sku, quantity)| json!({"skuId": sku, "quantity": quantity})).collect();
    let body = json!({"code": code, "name": code, "priceCents": 4900, "components": components});
    app.post("/api/skus", &body).await
}

fn paths(answer: &Value) -> Vec<&str> {
    answer["errors"].as_array().unwrap().iter().map(|error| error["path"].as_str().unwrap()).collect()
}

on_sqlite! {
    async fn a_kit_is_no_kit_of_kits_and_keeps_what_it_consists_of(db: Db) {
        let app = App::new(db).await;
        let material = app.material("PLA", 1000.0).await;
        let file = app.gcode("part", 60, 10.0).await;
        let part = app.sku("PART", &material, &file, 100).await;
        let sku = kit(&app, "KIT", &[(part.clone(), 2)]).await.expect(201);
        assert_eq!((&sku["materialId"], &sku["components"][0]["quantity"]), (&Value::Null, &json!(2)), "{sku}");
        let set = sku["id"].as_str().unwrap().to_owned();
        let path = format!("/api/skus/{set}");

        let nested = kit(&app, "NESTED", &[(set.clone(), 1), (material.clone(), 1)]).await.expect(400);
        assert_eq!(paths(&nested), ["components.0.skuId", "components.1.skuId"]);
        let twice = kit(&app, "TWICE", &[(part.clone(), 1), (part.clone(), 1)]).await.expect(400);
        assert_eq!(paths(&twice), ["components.1.skuId"]);
        let none = kit(&app, "NONE", &[(part.clone(), 0)]).await.expect(400);
        assert_eq!(paths(&none), ["components.0.quantity"]);
        let neither = app.post("/api/skus", &json!({"code": "X", "name": "X", "priceCents": 1})).await.expect(400);
        assert_eq!(paths(&neither), ["materialId", "estimatedConsumption", "machineType"]);
        assert_eq!(paths(&app.patch(&path, &json!({"gcodeFileId": file})).await.expect(400)), ["gcodeFileId"]);
        assert_eq!(paths(&app.patch(&path, &json!({"materialId": material})).await.expect(400)), ["materialId"]);
        assert_eq!(
            paths(&app.patch(&format!("/api/skus/{part}"), &json!({"materialId": null})).await.expect(400)),
            ["materialId"]
        );

        // Nor does a part of a kit become one, nor a kit take another one in.
        let other = app.sku("OTHER", &material, &file, 100).await;
        let of_other = json!({"components": [{"skuId": other, "quantity": 1}], "materialId": null, "gcodeFileId": null});
        assert_eq!(app.patch(&format!("/api/skus/{part}"), &of_other).await.error(409), "sku_in_use");
        let second = kit(&app, "SECOND", &[(other.clone(), 1)]).await.expect(201)["id"].as_str().unwrap().to_owned();
        let of_kit = json!({"components": [{"skuId": part, "quantity": 2}, {"skuId": second, "quantity": 1}]});
        assert_eq!(paths(&app.patch(&path, &of_kit).await.expect(400)), ["components.1.skuId"]);
        app.delete(&format!("/api/skus/{second}")).await.expect(204);
        let ordered = app.order(&other, 1).await;
        let of_part = json!({"components": [{"skuId": part, "quantity": 1}], "materialId": null, "gcodeFileId": null});
        let becomes = format!("/api/skus/{other}");
        assert_eq!(app.patch(&becomes, &of_part).await.error(409), "sku_in_use", "its parts are ordered");
        app.act(&format!("/api/orders/{ordered}/cancel")).await.expect(200);
        let kit_now = app.patch(&becomes, &of_part).await.expect(200);
        assert_eq!(kit_now["components"][0]["skuId"], part.as_str(), "{kit_now}");
        app.delete(&becomes).await.expect(204);

        assert_eq!(app.delete(&format!("/api/skus/{part}")).await.error(409), "sku_in_use");
        app.delete(&path).await.expect(204);
        app.delete(&format!("/api/skus/{part}")).await.expect(204);
    }

    async fn a_customer_orders_a_kit_once_all_its_parts_can_be_made_and_it_stays_as_it_was_ordered(db: Db) {
        let app = App::new(db).await;
        let material = app.material("PLA", 1000.0).await;
        let file = app.gcode("part", 60, 10.0).await;
        let part = app.sku("PART", &material, &file, 100).await;
        let early = json!({
            "code": "EARLY", "name": "Early", "materialId": material, "estimatedConsumption": 10, "machineType": "fdm_standard",
            "priceCents": 100,
        });
        let early = app.post("/api/skus", &early).await.expect(201)["id"].as_str().unwrap().to_owned();
        let set = kit(&app, "KIT", &[(part.clone(), 2), (early.clone(), 1)]).await.expect(201);
        let set = set["id"].as_str().unwrap();
        let order = json!({"lines": [{"skuId": part, "quantity": 1}, {"skuId": set, "quantity": 3}]});
        let key = json!({"name": "shop front", "role": "customer"});
        let key = app.post("/api/auth/api-keys", &key).await.expect(201)["key"].as_str().unwrap().to_owned();
        let customer = app.with_key(&key);
        assert_eq!(customer.post("/api/orders", &order).await.error(409), "not_orderable");
        app.patch(&format!("/api/skus/{early}"), &json!({"gcodeFileId": file})).await.expect(200);
        let placed = customer.post("/api/orders", &order).await.expect(201);
        assert_eq!(placed["totalCents"], 100 + 3 * 4900);
        let lines_of = |of: &Value| -> Vec<Value> {
            let lines = of["lines"].as_array().unwrap().iter();
            lines.map(|line| json!([line["skuId"], line["quantity"], line["unitPriceCents"], line["kitLine"]])).collect()
        };
        let frozen =
            [json!([part, 1, 100, null]), json!([set, 3, 4900, null]), json!([part, 6, 0, 1]), json!([early, 3, 0, 1])];
        assert_eq!(lines_of(&placed), frozen);
        app.patch(&format!("/api/skus/{set}"), &json!({"components": [{"skuId": part, "quantity": 9}]})).await.expect(200);
        assert_eq!(app.delete(&format!("/api/skus/{early}")).await.error(409), "sku_in_use", "the order needs it");
        let id = placed["id"].as_str().unwrap();
        app.post(&format!("/api/orders/{id}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        assert_eq!(lines_of(&app.get(&format!("/api/orders/{id}")).await.expect(200)), frozen);
        assert_eq!(app.jobs(id).await.len(), 1 + 6 + 3);
        let paid = app.get(&format!("/api/orders/{id}")).await.expect(200);
        let payment = paid["payments"][0]["id"].clone();
        let back = app.post(&format!("/api/orders/{id}/refund"), &json!({"paymentId": payment})).await.expect(200);
        assert_eq!(back["status"], "refunded");
        app.delete(&format!("/api/skus/{early}")).await.expect(204);
    }

    async fn thirteen_files_in_ten_sets_come_from_printers_of_all_types(db: Db) {
        let app = App::new(db).await;
        let fleet = Fleet::start(FleetOptions { speed: 3_000.0, seed: 13, ..FleetOptions::of_each(2) }).await.unwrap();
        let material = app.material("PLA", 5000.0).await;
        for sim in &fleet.printers {
            let printer = app.printer(sim).await;
            if sim.kind.protocol().prints_packages {
                app.bind_slot(&printer, 1, &json!({"materialId": material})).await;
            }
        }
        let mut components = Vec::new();
        for n in 0..FILES {
            // Some are sliced packages, which only some of the printers print, and those print nothing else.
            let name = format!("part-{n}");
            let file = if n % 4 == 3 { app.package(&name, 60, 2.0).await } else { app.gcode(&name, 60, 2.0).await };
            let plate = json!({
                "code": format!("PART-{n}"), "name": format!("Part {n}"), "materialId": material, "estimatedConsumption": 2,
                "machineType": "fdm_standard", "priceCents": 100, "gcodeFileId": file, "unitsPerPlate": 1 + n % 3,
            });
            let sku = app.post("/api/skus", &plate).await.expect(201)["id"].as_str().unwrap().to_owned();
            components.push((sku, 1 + u32::from(n == 5)));
        }
        let set = kit(&app, "SET", &components).await.expect(201)["id"].as_str().unwrap().to_owned();
        let order = app.paid_order(&set, SETS).await;
        let path = format!("/api/orders/{order}");
        let placed = app.get(&path).await.expect(200);
        assert_eq!((&placed["totalCents"], placed["lines"].as_array().unwrap().len()), (&json!(49_000), 1 + FILES));
        assert_eq!((&placed["lines"][0]["completeSets"], &placed["lines"][0]["kitLine"]), (&json!(0), &Value::Null));
        let ready = app.all_made(&order).await;
        assert_eq!((&ready["lines"][0]["completeSets"], &ready["flags"]), (&json!(SETS), &json!([])), "{ready}");
        let plates = ready["lines"][0]["jobs"].clone();
        let expected: usize = (0..FILES).map(|n| (if n == 5 { 20usize } else { 10 }).div_ceil(1 + n % 3)).sum();
        assert_eq!(plates, json!({"total": expected, "completed": expected}), "a plate makes up to three parts");
        let is_finish = |what: &PhysicalEvent| matches!(what, PhysicalEvent::Finished { .. });
        let prints_of = |sim: &SimPrinter| sim.handle.log().iter().filter(|entry| is_finish(&entry.what)).count();
        assert_eq!(fleet.printers.iter().map(prints_of).sum::<usize>(), expected);
        for kind in PrinterKind::ALL {
            let of_kind: usize = fleet.printers.iter().filter(|sim| sim.kind == *kind).map(prints_of).sum();
            assert!(of_kind > 0, "{kind:?} made nothing");
        }
        let ship = |sets: u32| json!({"carrier": "pickup", "lines": [{"line": 0, "quantity": sets}]});
        let some = app.post(&format!("{path}/ship"), &ship(4)).await.expect(200);
        assert_eq!((&some["status"], &some["lines"][0]["shipped"], &some["lines"][6]["shipped"]), (&json!("ready"), &json!(4), &json!(8)));
        let all = app.post(&format!("{path}/ship"), &ship(6)).await.expect(200);
        assert_eq!((&all["status"], &all["lines"][0]["shipped"]), (&json!("shipped"), &json!(SETS)));
        until("the last claim to be settled", || async {
            let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
            (stock["reserved"] == 0).then_some(())
        }).await;
        app.ledger_is_even(&material).await;
    }
}
