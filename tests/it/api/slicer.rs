//! Uploads as slicers send them, byte for byte: to the library and, with "upload and print", to a printer.

use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::{count, customer_of, with_role};
use crate::support::wire::Wire;
use crate::support::{App, Client, Db, on_sqlite, until};

const UPLOAD: &str = "/slicer/fdm_standard/api/files/local";

/// Slicer whose upload format is imitated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Slicer {
    /// `PrusaSlicer`, and `OrcaSlicer`, which inherited its code: uploads with curl, which sends `Expect: 100-continue`
    /// first.
    Prusa,
    /// Cura with its `OctoPrint` plugin: uploads with Qt, which quotes the boundary.
    Cura,
}

impl Slicer {
    fn form(self, code: &str, print: bool) -> (String, String) {
        let part = |boundary: &str, disposition: &str, more: &str, content: &str| {
            format!("--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n{more}\r\n{content}\r\n")
        };
        match self {
            Self::Prusa => {
                let boundary = "------------------------d74496d66958873e";
                let binary = "Content-Type: application/octet-stream\r\n";
                let body = [
                    part(boundary, "name=\"print\"", "", if print { "true" } else { "false" }),
                    part(boundary, "name=\"path\"", "", ""),
                    part(boundary, "name=\"file\"; filename=\"part_PLA_0.2mm.gcode\"", binary, code),
                    format!("--{boundary}--\r\n"),
                ];
                let head = format!(
                    "User-Agent: PrusaSlicer/2.9.4\r\nAccept: */*\r\nContent-Type: multipart/form-data; boundary={boundary}\r\nExpect: 100-continue\r\n"
                );
                (head, body.concat())
            }
            Self::Cura => {
                let boundary = "boundary_.oOo._NzIwNjM4NTM3MQ==";
                let mut parts = Vec::new();
                if print {
                    parts.push(part(boundary, "name=\"select\"", "", "true"));
                    parts.push(part(boundary, "name=\"print\"", "", "true"));
                }
                parts.push(part(boundary, "name=\"file\"; filename=\"part_PLA_0.2mm.gcode\"", "", code));
                parts.push(format!("--{boundary}--\r\n"));
                let body = parts.concat();
                let head = format!(
                    "Content-Type: multipart/form-data; boundary=\"{boundary}\"\r\nUser-Agent: Mozilla/5.0\r\nAccept-Encoding: gzip, deflate\r\n"
                );
                (head, body)
            }
        }
    }

    /// Uploads a file; returns the status and body of the response.
    async fn upload(self, app: &App, path: &str, key: &str, code: &str, print: bool) -> (u16, Value) {
        let (head, body) = self.form(code, print);
        let mut wire = Wire::to(app).await;
        let length = body.len();
        wire.say(format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nX-Api-Key: {key}\r\nContent-Length: {length}\r\n{head}\r\n"
        ))
        .await;
        if self == Self::Prusa {
            let (status, text) = wire.answer().await.expect("an answer");
            if status != 100 {
                return (status, json_of(&text));
            }
        }
        wire.say(body).await;
        let (status, text) = wire.answer().await.expect("an answer");
        (status, json_of(&text))
    }
}

fn json_of(answer: &str) -> Value {
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

fn code(grams: f64) -> String {
    simulator::gcode::gcode("part", 60, grams, grams * 330.0)
}

async fn load(app: &Client, printer: &str, material: &str) {
    app.patch(&format!("/api/printers/{printer}"), &json!({"loadedMaterialId": material})).await.expect(200);
}

on_sqlite! {
    async fn what_a_slicer_sends_to_print_is_printed_once(db: Db) {
        // Nothing is shipped, whatever shipping costs.
        let app = App::on(db).env("PRINTFLOOR_SHIPPING__FLAT_CENTS", 500).start().await;
        let options = FleetOptions { speed: 2_000.0, seed: 11, ..FleetOptions::of(PrinterKind::FwRest, 2) };
        let fleet = Fleet::start(options).await.unwrap();
        let mut printers = Vec::new();
        for sim in &fleet.printers {
            printers.push(app.printer(sim).await);
        }
        let key = app.key.clone().unwrap();
        for (n, slicer) in [Slicer::Prusa, Slicer::Cura].into_iter().enumerate() {
            let material = app.material(&format!("PLA {n}"), 100.0).await;
            let code = code(10.0 + n as f64);
            let (files, orders) = (count(&app, "/api/files").await, count(&app, "/api/orders").await);
            // Into the library only.
            let (status, answer) = slicer.upload(&app, UPLOAD, &key, &code, false).await;
            assert_eq!((status, &answer["done"], &answer["effectivePrint"]), (201, &json!(true), &json!(false)), "{answer}");
            let local = &answer["files"]["local"];
            assert_eq!((&local["name"], &local["origin"]), (&json!("part_PLA_0.2mm.gcode"), &json!("local")), "{answer}");
            let download = local["refs"]["download"].as_str().unwrap();
            let path = &download[download.find("/api/").unwrap()..];
            assert_eq!(app.get(path).await.text, code, "{answer}");
            assert_eq!(count(&app, "/api/files").await, files + 1);
            // Of which material it would be printed nobody has said.
            if n == 0 {
                let (status, refused) = slicer.upload(&app, UPLOAD, &key, &code, true).await;
                assert_eq!((status, &refused["code"]), (409, &json!("material_unknown")), "{refused}");
                assert_eq!(count(&app, "/api/files").await, files + 2, "it is kept all the same");
            }
            load(&app, &printers[0], &material).await;
            if n == 1 {
                let (status, refused) = slicer.upload(&app, UPLOAD, &key, &code, true).await;
                assert_eq!((status, &refused["code"]), (409, &json!("material_unknown")), "{refused}");
            }
            load(&app, &printers[1], &material).await;
            let skus = count(&app, "/api/skus").await;
            for again in 1..=2 {
                let (status, answer) = slicer.upload(&app, UPLOAD, &key, &code, true).await;
                assert_eq!((status, &answer["effectivePrint"]), (201, &json!(true)), "{slicer:?}: {answer}");
                let order = app.order_is(answer["orderId"].as_str().unwrap(), "ready").await;
                assert_eq!((&order["kind"], &order["totalCents"]), (&json!("manual"), &json!(0)), "{order}");
                assert_eq!(app.jobs(answer["orderId"].as_str().unwrap()).await.len(), 1);
                assert_eq!(count(&app, "/api/skus").await, skus + 1, "one for the same content");
                assert_eq!(count(&app, "/api/orders").await, orders + again);
            }
            until("the material to be used", || async {
                let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
                (stock["reserved"] == 0 && stock["quantity"] == 100 - 2 * (10 + n)).then_some(())
            })
            .await;
        }
        let log = fleet.printers.iter().flat_map(|sim| sim.handle.log());
        assert_eq!(log.filter(|line| matches!(line.what, PhysicalEvent::Finished { .. })).count(), 4);
    }
}

on_sqlite! {
    async fn a_file_of_two_colours_is_printed_of_what_is_in_its_slots(db: Db) {
        let app = App::new(db).await;
        let options = FleetOptions { speed: 2_000.0, seed: 12, ..FleetOptions::of(PrinterKind::FwRest, 2) };
        let fleet = Fleet::start(options).await.unwrap();
        let [black, white] = [app.material("PLA black", 100.0).await, app.material("PLA white", 100.0).await];
        let mut printers = Vec::new();
        for sim in &fleet.printers {
            printers.push(app.printer(sim).await);
        }
        let key = app.key.clone().unwrap();
        let code = simulator::gcode::tools::gcode_of_several("part", 60, &[(10.0, "#1b1b22"), (3.5, "#f4f1e6")]);
        let load = async |printer: usize, slot: u32, material: &str| {
            let path = format!("/api/printers/{}/slots/{slot}", printers[printer]);
            app.post(&path, &json!({"materialId": material})).await.expect(200);
        };
        let refused = async |why: &str| {
            let (status, answer) = Slicer::Prusa.upload(&app, UPLOAD, &key, &code, true).await;
            assert_eq!((status, &answer["code"]), (409, &json!("material_unknown")), "{answer}");
            assert!(answer["message"].as_str().unwrap().contains(why), "{answer}");
        };
        // One spool is not enough for two filaments, whichever it is.
        load(0, 0, &black).await;
        load(1, 0, &black).await;
        refused("no printer has a material loaded for each of its 2 filaments").await;
        load(0, 1, &white).await;
        let (status, answer) = Slicer::Prusa.upload(&app, UPLOAD, &key, &code, true).await;
        assert_eq!((status, &answer["effectivePrint"]), (201, &json!(true)), "{answer}");
        let order = answer["orderId"].as_str().unwrap();
        app.order_is(order, "ready").await;
        let jobs = app.jobs(order).await;
        assert_eq!((jobs.len(), &jobs[0]["printerId"]), (1, &json!(printers[0])), "{jobs:?}");
        for (material, left) in [(&black, 90.0), (&white, 96.5)] {
            until("the material to be used", || async {
                let stock = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
                (stock["reserved"] == 0 && stock["quantity"] == left).then_some(())
            })
            .await;
            app.ledger_is_even(material).await;
        }
        // The other has them the other way round: which is meant nobody can tell.
        load(1, 0, &white).await;
        load(1, 1, &black).await;
        refused("several loaded materials match its filaments").await;
        let log = fleet.printers.iter().flat_map(|sim| sim.handle.log());
        assert_eq!(log.filter(|line| matches!(line.what, PhysicalEvent::Finished { .. })).count(), 1);
    }
}

#[tokio::test]
async fn a_slicer_finds_the_server_it_looks_for_with_an_operators_key() {
    let app = App::new(Db::sqlite()).await;
    let version = "/slicer/resin_large/api/version";
    let operator = with_role(&app, "operator").await;
    let answer = operator.get(version).await.expect(200);
    assert!(answer["text"].as_str().unwrap().starts_with("OctoPrint"), "{answer}");
    assert_eq!(answer["api"], "0.1");
    assert_eq!(app.nobody().get(version).await.error(401), "unauthorized");
    assert_eq!(customer_of(&app, "a@example.org").await.get(version).await.error(403), "insufficient_role");
    assert_eq!(operator.get("/slicer/toaster/api/version").await.error(404), "machine_type_not_found");
    let (status, refused) = Slicer::Cura.upload(&app, UPLOAD, "key_test_wrong", &code(1.0), false).await;
    assert_eq!((status, &refused["code"]), (401, &json!("unauthorized")));
    let key = operator.key.clone().unwrap();
    let (status, refused) =
        Slicer::Cura.upload(&app, &UPLOAD.replace("fdm_standard", "toaster"), &key, "", false).await;
    assert_eq!((status, &refused["code"]), (404, &json!("machine_type_not_found")));
    // A model can be kept, and not printed.
    let (status, refused) = Slicer::Cura.upload(&app, UPLOAD, &key, "solid cube\nendsolid cube\n", true).await;
    assert_eq!((status, &refused["code"]), (409, &json!("not_gcode")), "{refused}");
    assert_eq!(count(&app, "/api/files").await, 1);
}
