//! Customers' uploads before staff have seen them: they delay no one and take up a bounded amount of space.

use std::io::{Cursor, Write as _};
use std::time::{Duration, Instant};

use futures::future::join_all;
use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::intake::{self, submit_request};
use super::{cookie_of, customer};
use crate::api::quotes::models::upload;
use crate::api::{count, id, paths, some_sku, with_cookie};
use crate::support::client::Answer;
use crate::support::wire::Wire;
use crate::support::{App, Client, Clock, Db, on_both, on_drawn, on_sqlite, until};
use crate::whole::cube;

const MODELS: &str = "/api/v1/quotes/models";
/// Maximum time that a file of the shop may take while customers upload the worst possible files. On an idle server it
/// takes a few milliseconds.
const PROMPT: Duration = Duration::from_secs(10);

/// Builds a package of less than a kilobyte whose nested components refer to each other seven times per level: 280
/// million placements.
fn nested() -> Vec<u8> {
    let nest = |n: u32| {
        let parts = format!("<component objectid=\"{}\"/>", n - 1).repeat(7);
        format!("<object id=\"{n}\"><components>{parts}</components></object>")
    };
    let nests = (2..=11).map(nest).collect::<Vec<_>>().concat();
    let innermost = "<object id=\"1\"><mesh><vertices/></mesh></object>";
    let resources = format!("<resources>{innermost}{nests}</resources>");
    let model = format!("<model>{resources}<build><item objectid=\"11\"/></build></model>");
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("3D/3dmodel.model", SimpleFileOptions::default()).unwrap();
    archive.write_all(model.as_bytes()).unwrap();
    archive.finish().unwrap().into_inner()
}

async fn gcode(app: &Client) -> Answer {
    let code = simulator::gcode::gcode("vase", 240, 14.5, 4600.0);
    let form = Form::new().part("file", Part::text(code).file_name("vase.gcode"));
    app.send(app.request("POST", "/api/files").multipart(form)).await
}

/// Lists the lines of `/readyz` about customers' files.
async fn space_words(client: &Client) -> Vec<String> {
    let ready = client.get("/readyz").await.json();
    let all = ready["degraded"].as_array().unwrap().clone();
    all.iter().filter_map(Value::as_str).filter(|words| words.contains("customer uploads")).map(str::to_owned).collect()
}

#[tokio::test]
async fn models_that_are_made_to_take_long_keep_no_file_of_the_shop_waiting() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__DRAFT_ORDERS_PER_HOUR", 1000).start().await;
    let bytes = nested();
    assert!(bytes.len() < 1500, "{}", bytes.len());
    let mallory = customer(&app, "mallory@example.org").await;
    let crowd = (0..20).map(|_| upload(&mallory, MODELS, "plate.3mf", bytes.clone(), &[]));
    let begun = Instant::now();
    let (refused, shop) = tokio::join!(join_all(crowd), async {
        let uploads = join_all((0..5).map(|_| gcode(&app))).await;
        (uploads, begun.elapsed())
    });
    let (uploads, took) = shop;
    for answer in uploads {
        answer.expect(201);
    }
    assert!(took < PROMPT, "{took:?}");
    let mut measured = 0;
    for answer in refused {
        match answer.status {
            400 => {
                assert_eq!(paths(&answer.json()), ["file"], "{}", answer.text);
                measured += 1;
            }
            429 => assert!(answer.header("retry-after").is_some(), "{}", answer.text),
            other => panic!("{other}: {}", answer.text),
        }
    }
    assert!(measured >= 1);
    // Nothing is left over from them, and the next model is priced.
    upload(&mallory, MODELS, "cube.stl", cube().into_bytes(), &[]).await.expect(201);
}

#[tokio::test]
async fn many_addresses_of_one_mailbox_are_one_customer_to_the_limits() {
    let clock = Clock::at_full_hour();
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__DRAFT_ORDERS_PER_HOUR", 2).clock(&clock).start().await;
    let addresses = ["ann@example.org", "ann+1@example.org", "ann+2@example.org"];
    let mut statuses = Vec::new();
    for address in addresses {
        let ann = customer(&app, address).await;
        statuses.push(upload(&ann, MODELS, "cube.stl", cube().into_bytes(), &[]).await.status);
    }
    assert_eq!(statuses, [201, 201, 429]);
    let bob = customer(&app, "bob@example.org").await;
    upload(&bob, MODELS, "cube.stl", cube().into_bytes(), &[]).await.expect(201);
}

on_drawn! {
    async fn what_nobody_has_answered_takes_only_so_much_room(db: Db) {
        let size = cube().len();
        let app = App::on(db)
            .env("PRINTFLOOR_FILES__UNCLAIMED_MAX_BYTES", size * 2)
            .env("PRINTFLOOR_LIMITS__DRAFT_ORDERS_PER_HOUR", 100_000)
            .env("PRINTFLOOR_LIMITS__CUSTOMER_REQUESTS_PER_MINUTE", 100_000)
            .start()
            .await;
        let ann = customer(&app, "ann@example.org").await;
        let send = async || upload(&ann, MODELS, "cube.stl", cube().into_bytes(), &[]).await;
        let first = send().await.expect(201);
        send().await.expect(201);
        let full = send().await;
        assert!(full.header("retry-after").is_some(), "{}", full.text);
        assert_eq!(full.error(507), "storage_full");
        assert_eq!(intake::send(&app.nobody(), intake::form()).await.error(507), "storage_full");
        // Staff work goes on, models for a quote included.
        gcode(&app).await.expect(201);
        upload(&app, "/api/quotes/models", "cube.stl", cube().into_bytes(), &[]).await.expect(201);
        // It is seen: by operators in words, by strangers as one sentence, by monitoring in numbers.
        until("operators to be told", || async {
            let words = space_words(&app).await;
            (words.len() == 1 && words[0].contains("files.unclaimed_max_bytes")).then_some(())
        })
        .await;
        let stranger = app.nobody().get("/readyz").await.json();
        assert_eq!((&stranger["status"], stranger["degraded"].as_array().unwrap().len()), (&json!("degraded"), 1), "{stranger}");
        assert!(!stranger.to_string().contains("unclaimed"), "{stranger}");
        // What came since the last measurement is in the next one.
        let lines = [
            format!("printfloor_unclaimed_file_bytes {}\n", size * 2),
            "printfloor_customer_uploads_refused 1\n".to_owned(),
        ];
        until("monitoring to see it", || async {
            let numbers = app.get("/metrics").await.text;
            lines.iter().all(|line| numbers.contains(line)).then_some(())
        })
        .await;
        // Once the shop has answered one, there is room for another.
        let model = first["model"]["id"].as_str().unwrap();
        let quotes = app.get("/api/quotes?status=draft&limit=200").await.expect(200);
        let of_model = |quote: &&Value| quote["lines"][0]["model"]["fileId"] == model;
        let quote = quotes["quotes"].as_array().unwrap().iter().find(of_model).unwrap_or_else(|| panic!("{quotes}")).clone();
        let material = json!({
            "name": "PLA", "type": "filament", "color": "#000000", "brand": "Acme", "quantity": 1000, "unit": "g",
            "reorderPoint": 0, "reorderQuantity": 1000, "unitCostCents": 3,
        });
        let material = id(&app.post("/api/inventory/materials", &material).await.expect(201));
        let path = format!("/api/quotes/{}", id(&quote));
        let lines = json!([{"quantity": 1, "modelFileId": model, "materialId": material}]);
        app.patch(&path, &json!({"lines": lines})).await.expect(200);
        app.act(&format!("{path}/send")).await.expect(200);
        until("room for another", || async { (send().await.status == 201).then_some(()) }).await;
    }
}

on_both! {
    async fn what_nobody_answers_is_deleted_when_it_is_old(db: Db) {
        let mut app = App::on(db).start().await;
        let ann = customer(&app, "ann@example.org").await;
        let own = upload(&ann, MODELS, "cube.stl", cube().into_bytes(), &[]).await.expect(201)["model"]["id"].clone();
        let live = upload(&ann, MODELS, "part.stl", cube().into_bytes(), &[("quantity", "2")]).await.expect(201);
        let staff = upload(&app, "/api/quotes/models", "staff.stl", cube().into_bytes(), &[]).await.expect(201);
        let request = submit_request(&app).await;
        // Somebody of the shop works on one of the drafts.
        let quotes = app.get("/api/quotes?status=draft&limit=200").await.expect(200);
        let drafts = quotes["quotes"].as_array().unwrap().clone();
        let edited = drafts.iter().find(|quote| quote["lines"][0]["quantity"] == 2).unwrap();
        app.patch(&format!("/api/quotes/{}", id(edited)), &json!({"notes": "in red?"})).await.expect(200);
        app.stop().await;
        app.set_env("PRINTFLOOR_FILES__UNCLAIMED_DAYS", "0.0000001");
        app.start().await;
        until("the old request to be closed", || async {
            let view = app.get(&format!("/api/custom-requests/{request}")).await.expect(200);
            (view["status"] == "closed").then_some(())
        })
        .await;
        until("the old files to be gone", || async { (count(&app, "/api/files").await == 2).then_some(()) }).await;
        assert_eq!(app.get(&format!("/api/files/{}", own.as_str().unwrap())).await.status, 404);
        for model in [&live["model"]["id"], &staff["lines"][0]["model"]["fileId"]] {
            app.get(&format!("/api/files/{}", model.as_str().unwrap())).await.expect(200);
        }
        assert_eq!(count(&app, "/api/quotes?status=draft").await, 2);
        assert_eq!(app.get(&format!("/api/custom-requests/{request}/photos/1")).await.status, 404);
    }
}

on_sqlite! {
    async fn a_photo_that_cannot_be_deleted_now_keeps_no_other_and_goes_later(db: Db) {
        let mut app = App::on(db).start().await;
        intake::send(&app.nobody(), intake::form_with(3)).await.expect(201);
        let photos = app.get("/api/files?kind=image&limit=200").await.expect(200)["files"].clone();
        let ids: Vec<String> = photos.as_array().unwrap().iter().map(id).collect();
        assert_eq!(ids.len(), 3, "{photos}");
        // The one that a look comes to first shows a SKU.
        let first = ids.iter().min().unwrap();
        let sku = some_sku(&app).await;
        app.patch(&format!("/api/skus/{sku}"), &json!({"images": [first]})).await.expect(200);
        app.stop().await;
        app.set_env("PRINTFLOOR_FILES__UNCLAIMED_DAYS", "0.0000001");
        app.start().await;
        let images = "/api/files?kind=image";
        until("the others to be gone", || async { (count(&app, images).await == 1).then_some(()) }).await;
        app.get(&format!("/api/files/{first}")).await.expect(200);
        app.patch(&format!("/api/skus/{sku}"), &json!({"images": []})).await.expect(200);
        // Each start looks for what is left; its request is closed long since.
        app.stop().await;
        app.start().await;
        until("the last one to be gone", || async { (count(&app, images).await == 0).then_some(()) }).await;
    }
}

#[tokio::test]
async fn some_of_the_disk_stays_free_for_the_shop() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_FILES__RESERVED_BYTES", u64::MAX / 4).start().await;
    let ann = customer(&app, "ann@example.org").await;
    assert_eq!(upload(&ann, MODELS, "cube.stl", cube().into_bytes(), &[]).await.error(507), "storage_full");
    assert_eq!(intake::send(&app.nobody(), intake::form()).await.error(507), "storage_full");
    gcode(&app).await.expect(201);
    until("operators to be told", || async {
        let words = space_words(&app).await;
        (words.len() == 1 && words[0].contains("files.reserved_bytes")).then_some(())
    })
    .await;
}

/// Signs out while a model is still being sent: the model is rejected too.
#[tokio::test]
async fn a_model_that_comes_after_the_sign_out_drafts_no_quote() {
    let app = App::new(Db::sqlite()).await;
    let cookie = cookie_of(&app, "ann@example.org").await;
    let model = cube();
    let (first, second) = model.split_at(model.len() / 2);
    let before = "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"cube.stl\"\r\n\r\n";
    let after = "\r\n--b--\r\n";
    let length = before.len() + model.len() + after.len();
    let mut wire = Wire::to(&app).await;
    wire.say(format!(
        "POST {MODELS} HTTP/1.1\r\nhost: x\r\ncookie: {cookie}\r\ncontent-length: {length}\r\n\
         content-type: multipart/form-data; boundary=b\r\n\r\n{before}{first}"
    ))
    .await;
    let incoming = || std::fs::read_dir(app.data().join("files/incoming")).unwrap().count();
    until("the upload to have begun", || async { (incoming() == 1).then_some(()) }).await;
    with_cookie(&app, &cookie).delete("/api/v1/auth/session").await.expect(200);
    wire.say(format!("{second}{after}")).await;
    let (status, text) = wire.answer().await.expect("an answer");
    assert_eq!(status, 401, "{text}");
    until("nothing to be left of it", || async { (incoming() == 0).then_some(()) }).await;
    assert_eq!(count(&app, "/api/quotes").await, 0);
}
