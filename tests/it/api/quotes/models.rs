//! Quotes from models: measured and priced exactly, whichever program exported the model.

use std::io::{Cursor, Write as _};

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::super::{NOTHING, id, paths};
use super::show;
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_sqlite};
use crate::whole::cube;

/// Uploads a model together with these fields.
pub async fn upload(client: &Client, path: &str, name: &str, model: Vec<u8>, fields: &[(&str, &str)]) -> Answer {
    let mut form = Form::new();
    for (field, text) in fields {
        form = form.text((*field).to_owned(), (*text).to_owned());
    }
    let form = form.part("file", Part::bytes(model).file_name(name.to_owned()));
    client.send(client.request("POST", path).multipart(form)).await
}

/// Builds a binary STL whose header declares `facet_count` facets, followed by the given ones.
fn binary_stl(facet_count: u32, facets: &[[f32; 9]]) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend(facet_count.to_le_bytes());
    for facet in facets {
        bytes.extend([0; 12]);
        facet.iter().for_each(|one| bytes.extend(one.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn package(model: &str) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("3D/3dmodel.model", SimpleFileOptions::default()).unwrap();
    archive.write_all(model.as_bytes()).unwrap();
    archive.finish().unwrap().into_inner()
}

on_sqlite! {
    async fn a_cube_has_exactly_its_volume_and_price_and_a_private_sku_once_it_is_sent(db: Db) {
        let app = App::new(db).await;
        let material = json!({
            "name": "PETG", "type": "filament", "color": "#000000", "brand": "Acme", "quantity": 1000, "unit": "g",
            "reorderPoint": 0, "reorderQuantity": 1000, "unitCostCents": 100,
        });
        let material = id(&app.post("/api/inventory/materials", &material).await.expect(201));
        let answer = upload(&app, "/api/quotes/models", "parts/Cube 10.stl", cube().into_bytes(), &[]).await;
        assert!(answer.header("location").unwrap().starts_with("/api/quotes/"), "{:?}", answer.headers);
        let answer = answer.expect(201);
        let (quote, line) = (id(&answer), answer["lines"][0].clone());
        assert_eq!((&line["description"], &line["skuId"], &answer["status"]), (&json!("Cube 10"), &Value::Null, &json!("draft")));
        let model = &line["model"];
        assert_eq!((&model["size"], &model["volumeMm3"]), (&json!({"x": 10.0, "y": 10.0, "z": 10.0}), &json!(1000)), "{model}");
        // 400 mm³ are printed: 0.496 g in 80 s after 300 s; 7 minutes of work are 350.
        assert_eq!((&model["grams"], &model["seconds"], &model["slicing"]), (&json!(0.496), &json!(380), &json!("none")));
        let costs = json!({"materialCents": 1, "energyCents": 0, "wearCents": 5, "labourCents": 350, "failureCents": 18, "totalCents": 374});
        assert_eq!(model["costs"], costs);
        assert_eq!((&line["unitPriceCents"], &answer["totalCents"]), (&json!(524), &json!(524)), "40 % on 374, rounded up");

        // Of a dearer material, three of them, and at a price of one's own.
        let file = model["fileId"].clone();
        let path = format!("/api/quotes/{quote}");
        let lines = json!([{"quantity": 3, "modelFileId": file, "materialId": material}]);
        let changed = app.patch(&path, &json!({"lines": lines, "customerEmail": "ann@example.org"})).await.expect(200);
        let changed = &changed["lines"][0];
        assert_eq!((&changed["model"]["costs"]["materialCents"], &changed["model"]["costs"]["labourCents"]), (&json!(149), &json!(550)), "{changed}");
        let lines = json!([{"quantity": 3, "modelFileId": file, "materialId": material, "unitPriceCents": 700}]);
        let priced = app.patch(&path, &json!({"lines": lines})).await.expect(200);
        assert_eq!((&priced["totalCents"], &priced["lines"][0]["model"]["pricedByHand"]), (&json!(2100), &json!(true)));
        let sent = app.act(&format!("{path}/send")).await.expect(200);
        let sku = app.get(&format!("/api/skus/{}", sent["lines"][0]["skuId"].as_str().unwrap())).await.expect(200);
        assert_eq!((&sku["public"], &sku["modelFileId"], &sku["materialId"], &sku["priceCents"]), (&json!(false), &file, &json!(material), &json!(700)));
        // The model is in use now.
        let model = format!("/api/files/{}", file.as_str().unwrap());
        assert_eq!(app.delete(&model).await.error(409), "file_in_use");
        assert_eq!(show(&app, &quote).await["lines"][0]["model"]["costs"], priced["lines"][0]["model"]["costs"], "frozen");
    }
}

#[tokio::test]
async fn a_model_from_the_library_is_measured_too_and_a_repeat_makes_nothing_twice() {
    let app = App::new(Db::sqlite()).await;
    let file = id(&app.upload("cube.stl", cube().into_bytes()).await.expect(201));
    let new = json!({"lines": [{"quantity": 2, "modelFileId": file}]});
    let quote = app.post("/api/quotes", &new).await.expect(201);
    assert_eq!(
        (&quote["lines"][0]["model"]["volumeMm3"], &quote["lines"][0]["description"]),
        (&json!(1000), &json!("cube"))
    );
    let keyed = async || {
        let form = Form::new().part("file", Part::bytes(cube().into_bytes()).file_name("cube.stl"));
        app.send(app.request("POST", "/api/quotes/models").header("Idempotency-Key", "m1").multipart(form)).await
    };
    let first = keyed().await;
    let again = keyed().await;
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert_eq!(id(&first.expect(201)), id(&again.expect(201)));
    assert_eq!(app.get("/api/files?kind=model").await.expect(200)["pagination"]["total"], 2);
    let fields = [("materialId", NOTHING), ("quantity", "0"), ("colour", "red")];
    let refused = upload(&app, "/api/quotes/models", "cube.stl", cube().into_bytes(), &fields).await.expect(400);
    assert_eq!(paths(&refused), ["colour", "quantity"], "{refused}");
    let without = Form::new().text("quantity", "1");
    let refused = app.send(app.request("POST", "/api/quotes/models").multipart(without)).await.expect(400);
    assert_eq!(paths(&refused), ["file"]);
}

#[tokio::test]
async fn models_that_are_made_to_do_harm_are_refused_in_words() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_PRICING__MODEL_MAX_BYTES", 200_000).start().await;
    let facet = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0];
    let with = |number: f32| {
        let mut facet = facet;
        facet[4] = number;
        facet
    };
    let deep = format!("<model><resources>{}</resources></model>", "<a>".repeat(5000));
    let entities = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><model>&b;</model>";
    let object = "<object id=\"1\"><components><component objectid=\"1\"/></components></object>";
    let itself = format!("<model><resources>{object}</resources><build><item objectid=\"1\"/></build></model>");
    let hostile = [
        ("a count of facets that are not there", binary_stl(u32::MAX, &[facet])),
        ("what is no number", binary_stl(1, &[with(f32::NAN)])),
        ("what is endless", binary_stl(1, &[with(f32::INFINITY)])),
        ("what is farther than any machine", binary_stl(1, &[with(1e30)])),
        ("a flat part", binary_stl(1, &[facet])),
        (
            "words instead of numbers",
            b"solid x\nfacet normal 0 0 0\nouter loop\nvertex a b c\nendloop\nendfacet\n".to_vec(),
        ),
        ("deep nesting", package(&deep)),
        ("entities", package(entities)),
        ("an object within itself", package(&itself)),
        ("G-code", simulator::gcode::gcode("x", 60, 1.0, 330.0).into_bytes()),
        ("a picture", b"\x89PNG\r\n\x1a\n0000".to_vec()),
        ("nothing", Vec::new()),
    ];
    for (what, bytes) in hostile {
        let refused = upload(&app, "/api/quotes/models", "model.stl", bytes, &[]).await.expect(400);
        assert_eq!(paths(&refused), ["file"], "{what}: {refused}");
    }
    let large = binary_stl(10_000, &vec![facet; 10_000]);
    assert_eq!(upload(&app, "/api/quotes/models", "model.stl", large, &[]).await.error(413), "too_large");
    assert_eq!(app.get("/api/quotes").await.expect(200)["pagination"]["total"], 0);
    assert_eq!(app.get("/api/files").await.expect(200)["pagination"]["total"], 0, "nothing of them is kept");
}
