//! Files for a printer: uploaded from its page, offered there, printed manually; and pictures of files and cameras.

use std::net::SocketAddr;

use reqwest::multipart::{Form, Part};
use simulator::bambu::Bambu;
use simulator::bambu::setup::Setup;
use simulator::peers::camera::Camera;
use simulator::printer::PhysicalEvent;
use simulator::{PrinterKind, SimPrinter};

use super::{OPERATOR, arrived, is_sound, operator};
use crate::billing::pages::{send, token};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::client::Answer;
use crate::support::{Client, Db, on_sqlite, until};

/// Starts a camera on the printer's own computer, which the printer reports.
pub async fn camera_of(sim: &SimPrinter) -> Camera {
    let host = sim.base_url.split("://").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
    let camera = Camera::at(SocketAddr::new(host, 0), None).await.unwrap();
    sim.handle.set_camera(Some(&camera.snapshot_url()));
    camera
}

/// Uploads a file as a browser submits the form.
async fn bring(client: &Client, target: &str, name: &str, content: Vec<u8>, own: &str) -> Answer {
    let form =
        Form::new().text("form_token", own.to_owned()).part("file", Part::bytes(content).file_name(name.to_owned()));
    client.send(client.request("POST", target).header("sec-fetch-site", "same-origin").multipart(form)).await
}

on_sqlite! {
    async fn a_file_is_brought_to_a_printer_and_printed_there(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let (printer, own_page) = (&floor.printers[0], format!("/floor/printers/{}", floor.printers[0]));
        let card = sam.get("/floor").await.text;
        assert!(card.contains(&format!("href=\"{own_page}/upload\"")) && card.contains(&format!("data-upload=\"{own_page}/upload?token=")), "{card}");
        let form = sam.get(&format!("{own_page}/upload")).await;
        is_sound(&form);
        let own = token(&form);
        let target = format!("{own_page}/upload?token={own}");
        assert!(form.text.contains(&format!("action=\"{own_page}/upload?token=")), "{}", form.text);

        let code = || simulator::gcode::gcode("vase", 600, 10.0, 3300.0).into_bytes();
        for forged in [format!("{own_page}/upload"), format!("{own_page}/upload?token=x")] {
            assert_eq!(bring(&sam, &forged, "vase.gcode", code(), &own).await.status, 403);
        }
        let picture = bring(&sam, &target, "vase.gcode", simulator::gcode::sample_png(), &own).await;
        assert_eq!(picture.status, 400, "a picture is no G-code: {}", picture.text);
        is_sound(&picture);
        let nowhere = format!("/floor/printers/{}/upload?token={own}", crate::api::NOTHING);
        assert_eq!(bring(&sam, &nowhere, "vase.gcode", code(), &own).await.status, 404);
        assert_eq!(floor.app.get("/api/files?q=vase").await.expect(200)["pagination"]["total"], 0);

        let offer = arrived(&sam, bring(&sam, &target, "vase.gcode", code(), &own).await).await;
        is_sound(&offer);
        assert!(offer.text.contains("Print now on") && offer.text.contains("vase.gcode") && offer.text.contains("<dd>10 min</dd>"), "{}", offer.text);
        assert_eq!(floor.started(0), 0, "nothing is printed before it is said");
        let file = floor.app.get("/api/files?q=vase").await.expect(200)["files"][0]["id"].as_str().unwrap().to_owned();
        let begun = send(&sam, &format!("{own_page}/print"), &[("form_token", &own), ("fileId", &file)]).await;
        assert_eq!(begun.status, 200, "{}", begun.text);
        until("the print to be seen", || async { (floor.started(0) == 1).then_some(()) }).await;

        // Who comes second is told why not.
        until("the printer to be busy", || async {
            let offer = sam.get(&format!("{own_page}/upload?file={file}")).await;
            (offer.text.contains("can't start a print now") && !offer.text.contains("Print now on")).then_some(())
        })
        .await;
        let second = send(&sam, &format!("{own_page}/print"), &[("form_token", &own), ("fileId", &file)]).await;
        assert_eq!(second.status, 409, "{}", second.text);
        is_sound(&second);
        assert_eq!(floor.started(0), 1, "{printer}");
    }
}

#[tokio::test]
async fn a_file_that_the_printer_does_not_print_is_not_offered() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[]).await;
    let sam = operator(&floor.app).await;
    let package = floor.app.package("box", 60, 10.0).await;
    let offer = sam.get(&format!("/floor/printers/{}/upload?file={package}", floor.printers[0])).await;
    is_sound(&offer);
    assert!(offer.text.contains("not .gcode.3mf files") && !offer.text.contains("Print now on"), "{}", offer.text);
    let unknown = sam.get(&format!("/floor/printers/{}/upload?file={}", floor.printers[0], crate::api::NOTHING)).await;
    assert_eq!(unknown.status, 404, "{}", unknown.text);
}

#[tokio::test]
async fn the_slot_is_chosen_where_the_printer_reports_its_slots() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::MqttLan, 1, SLOW, &[JUDGE_LATE]).await;
    let sam = operator(&floor.app).await;
    let own_page = format!("/floor/printers/{}", floor.printers[0]);
    let file = floor.file("vase", 60, 1.0).await;
    let target = format!("{own_page}/upload?file={file}");
    let without = sam.get(&target).await;
    is_sound(&without);
    assert!(without.text.contains("Print now on") && !without.text.contains("slots.0"), "{}", without.text);
    let sim = &floor.sim(0).handle;
    Bambu::of(sim).unwrap().change(|setup| setup.ams = Setup::default().ams);
    let offer = until("the slots to be offered", || async {
        let offer = sam.get(&target).await;
        offer.text.contains("name=\"slots.0\"").then_some(offer)
    })
    .await;
    is_sound(&offer);
    for part in ["Automatic", "Slot A4: GFA00 #2e6f40", "External spool", "Slot for filament 1 (PETG #ff7a1a)"] {
        assert!(offer.text.contains(part), "{part}: {}", offer.text);
    }
    let own = token(&offer);
    let print = format!("{own_page}/print");
    let begun = send(&sam, &print, &[("form_token", &own), ("fileId", &file), ("slots.0", "3")]).await;
    assert_eq!(begun.status, 200, "{}", begun.text);
    let fed = |what: &PhysicalEvent| matches!(what, PhysicalEvent::Fed { slots, .. } if *slots == [(0, 3)]);
    floor.physically("the filament to be fed", 0, fed).await;
}

#[tokio::test]
async fn a_card_has_the_picture_of_its_file_and_of_its_camera() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let sam = operator(&floor.app).await;
    let _camera = camera_of(floor.sim(0)).await;
    let (_, job) = floor.one().await;
    let file = floor.app.job_is(&job, "PRINTING").await["fileId"].as_str().unwrap().to_owned();
    let camera = format!("/api/printers/{}/camera", floor.printers[0]);
    until("the card to have both pictures", || async {
        let card = sam.get("/floor").await.text;
        let of_file = card.contains(&format!("src=\"/floor/pictures/{file}\""));
        (of_file && card.contains(&format!("data-camera=\"{camera}\""))).then_some(())
    })
    .await;
    let media = async |client: &Client, path: &str| {
        let answer = client.open(client.request("GET", path)).await;
        (answer.status().as_u16(), answer.headers()["content-type"].to_str().unwrap().to_owned())
    };
    let picture = format!("/floor/pictures/{file}");
    assert_eq!(media(&sam, &picture).await, (200, "image/png".to_owned()));
    assert_eq!(media(&sam, &camera).await, (200, "image/jpeg".to_owned()));
    // A file without one has a drawing of its toolpath, or else of a part; a file that is not there has none.
    let boxed = floor.app.upload("box.gcode", crate::api::files::bare_gcode().into_bytes()).await.expect(201);
    let boxed = boxed["id"].as_str().unwrap();
    assert_eq!(media(&sam, &format!("/floor/pictures/{boxed}")).await, (200, "image/png".to_owned()));
    let page = sam.get("/shop/products/files").await;
    assert!(page.text.contains(&format!("src=\"/floor/pictures/{boxed}\"")), "{}", page.text);
    let bare = floor.app.upload("bare.gcode", b"; generated by PrusaSlicer 2.9.4\nG28\n".to_vec()).await.expect(201);
    let bare = format!("/floor/pictures/{}", bare["id"].as_str().unwrap());
    assert_eq!(media(&sam, &bare).await, (200, "image/svg+xml".to_owned()));
    assert_eq!(media(&sam, &format!("/floor/pictures/{}", crate::api::NOTHING)).await.0, 404);
    let stranger = floor.app.nobody();
    assert_eq!(stranger.get(&picture).await.status, 303, "pictures are for the staff");
}
