//! The to-do list of operators: each kind of task is listed, and can be completed from the page.

use reqwest::multipart::{Form, Part};
use serde_json::json;
use simulator::PrinterKind;
use simulator::bambu::Bambu;
use simulator::bambu::setup::{Setup, Tray};

use super::{OPERATOR, is_sound, operator, print_on};
use crate::billing::pages::{send, token};
use crate::machines::{FAST, Floor, JUDGE_LATE, SLOW};
use crate::support::{App, Client, Db, on_sqlite, until};

/// Setting that requires a sign-off before parts count.
const REQUIRED: (&str, &str) = ("PRINTFLOOR_QUALITY__SIGN_OFF", "required");

/// Returns the value of a form's hidden field.
fn hidden<'a>(page: &'a str, name: &str) -> &'a str {
    let rest = page.split_once(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("no {name}: {page}")).1;
    rest.split('"').next().unwrap()
}

/// Returns a floor whose two printers have a part of a finished order on their beds, and a client of an operator.
pub async fn two_beds_to_clear(db: Db) -> (Floor, Client) {
    let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 2, FAST, &[JUDGE_LATE]).await;
    for n in 0..2 {
        floor.app.patch(&floor.path(n, ""), &json!({"autoClear": false})).await.expect(200);
    }
    let order = floor.order(2).await;
    for n in 0..2 {
        floor.attention(n, "bed_not_cleared", true).await;
    }
    floor.app.order_is(&order, "ready").await;
    let sam = operator(&floor.app).await;
    (floor, sam)
}

on_sqlite! {
    async fn a_bed_is_cleared_with_one_bad_part_and_the_part_is_made_again(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
        let sam = operator(&floor.app).await;
        let empty = sam.get("/to-do").await;
        assert!(empty.text.contains("You're all caught up"), "{}", empty.text);
        let (order, job) = floor.one().await;
        floor.attention(0, "bed_not_cleared", true).await;
        floor.app.job_is(&job, "COMPLETED").await;
        let page = until("the bed to be named", || async {
            let page = sam.get("/to-do").await;
            page.text.contains("Bad parts…").then_some(page)
        })
        .await;
        is_sound(&page);
        assert!(page.text.contains("Beds to clear (1)") && !page.text.contains("form=\"beds\""), "{}", page.text);
        // The part that is made again takes its time.
        floor.sim(0).handle.set_speed(SLOW);
        let path = format!("/floor/printers/{}/bed-cleared", floor.printers[0]);
        let (own, back, print) = (token(&page), ("back", "/to-do"), print_on(&page, &path));
        let wrong = send(&sam, &path, &[("form_token", &own), back, ("print", &print), ("goodCount", "many")]).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        let fields = [("form_token", &*own), back, ("goodCount", "0"), ("reason", "warping"), ("note", "")];
        // A page from before the print says nothing about its parts.
        for old in ["", "1234"] {
            let refused = send(&sam, &path, &[&fields[..], &[("print", old)]].concat()).await;
            let is_told = refused.text.contains("Another print is on the bed now");
            assert!(refused.status == 409 && is_told, "{}", refused.text);
        }
        let done = send(&sam, &path, &[&fields[..], &[("print", &print)]].concat()).await;
        assert!(done.status == 200 && done.text.contains("<h1>To do</h1>"), "{}", done.text);
        assert!(!done.text.contains("Beds to clear ("), "{}", done.text);
        until("the part to be made again", || async { (floor.app.jobs(&order).await.len() == 2).then_some(()) }).await;
        let signed = floor.job(&job).await["attempts"][0]["signOff"].clone();
        assert_eq!((&signed["goodCount"], &signed["reason"]), (&json!(0), &json!("warping")));
    }

    async fn parts_are_signed_off_with_a_picture(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
        let sam = operator(&floor.app).await;
        let (order, job) = floor.one().await;
        floor.attention(0, "bed_not_cleared", true).await;
        floor.app.job_is(&job, "COMPLETED").await;
        floor.sim(0).handle.set_speed(SLOW);
        let own_page = format!("/floor/printers/{}", floor.printers[0]);
        let target = format!("{own_page}/signed");
        for path in ["/to-do", &*own_page] {
            let page = until("the form", || async {
                let page = sam.get(path).await;
                page.text.contains(&format!("action=\"{target}?token=")).then_some(page)
            })
            .await;
            is_sound(&page);
            assert!(page.text.contains("name=\"goodCount\" value=\"0\">Bad</button>"), "{}", page.text);
        }
        let unfolded = sam.get(&format!("{own_page}?parts=open")).await;
        is_sound(&unfolded);
        let open_form = "<details id=\"some-bad\" open data-unfolded><summary>Bad parts…";
        assert!(unfolded.text.contains(open_form), "{}", unfolded.text);
        let (own, print) = (token(&sam.get("/to-do").await), print_on(&unfolded, &target));
        let picture = |name: &str, bytes: &[u8]| Part::bytes(bytes.to_vec()).file_name(name.to_owned());
        let fields = || {
            let form = Form::new().text("goodCount", "0").text("reason", "warping");
            form.text("note", "").text("back", "/to-do").text("print", print.clone())
        };
        let send = |target: &str, form: Form| {
            sam.send(sam.request("POST", target).header("sec-fetch-site", "same-origin").multipart(form))
        };
        let forged = send(&target, fields().part("picture", picture("", b""))).await;
        assert_eq!(forged.status, 403, "{}", forged.text);
        let target = format!("{target}?token={own}");
        let wrong = [("part.txt", &b"no picture"[..], "must be a picture"), ("part.png", &b""[..], "must not be empty")];
        for (name, bytes, words) in wrong {
            let faulty = send(&target, fields().part("picture", picture(name, bytes))).await;
            let message = format!("Picture of the parts: {words}.");
            assert!(faulty.status == 400 && faulty.text.contains(&message), "{}", faulty.text);
            is_sound(&faulty);
        }
        assert_eq!(floor.app.get("/api/files?kind=image").await.expect(200)["pagination"]["total"], 0);
        let signed = send(&target, fields().part("picture", picture("part.png", b"\x89PNG\r\n\x1a\n0000"))).await;
        assert_eq!((signed.status, signed.header("location")), (303, Some("/to-do")), "{}", signed.text);
        let has_photo = |job: &serde_json::Value| job["attempts"][0]["signOff"]["photoFileId"].is_string();
        let view = floor.job_until("the picture", &job, has_photo).await;
        let sign_off = &view["attempts"][0]["signOff"];
        assert_eq!((&sign_off["goodCount"], &sign_off["reason"]), (&json!(0), &json!("warping")));
        let order_page = sam.get(&format!("/shop/orders/{order}")).await;
        is_sound(&order_page);
        assert!(order_page.text.contains(">Picture of the parts</a>"), "{}", order_page.text);

        // It is corrected on the page of the job's order; where no picture is chosen, browsers send the field empty.
        let target = format!("/shop/jobs/{job}/signed");
        let print = print_on(&order_page, &target);
        let target = format!("{target}?token={own}");
        let fields = || Form::new().text("goodCount", "1").text("reason", "").part("picture", picture("", b""));
        let old = send(&target, fields().text("print", crate::api::NOTHING)).await;
        assert!(old.status == 409 && old.text.contains("This job has a newer print now"), "{}", old.text);
        let form = fields().text("print", print);
        let corrected = send(&target, form).await;
        let to = format!("/shop/orders/{order}#job-{job}");
        assert_eq!((corrected.status, corrected.header("location")), (303, Some(&*to)), "{}", corrected.text);
        let good = |job: &serde_json::Value| job["attempts"][0]["signOff"]["goodCount"] == 1;
        floor.job_until("the correction", &job, good).await;
    }

    async fn parts_whose_bed_was_used_again_are_signed_off_from_the_page(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE, REQUIRED]).await;
        let sam = operator(&floor.app).await;
        let order = floor.order(2).await;
        let mut jobs = until("both to be printed", || async {
            let jobs = floor.app.jobs(&order).await;
            jobs.iter().all(|job| job["state"] == "COMPLETED").then_some(jobs)
        })
        .await;
        jobs.sort_by_key(|job| job["attempts"][0]["endedAt"].as_str().unwrap().to_owned());
        let ids = [0, 1].map(|n: usize| jobs[n]["id"].as_str().unwrap());
        let unsigned = || async {
            let listed = floor.app.get("/api/jobs?awaitsSignOff=true").await.expect(200);
            listed["pagination"]["total"].as_u64().unwrap()
        };
        let page = until("the parts to be named", || async {
            let page = sam.get("/to-do").await;
            page.text.contains("Parts to sign off (2)").then_some(page)
        })
        .await;
        is_sound(&page);
        let at = |job: &str| page.text.find(&format!("action=\"/shop/jobs/{job}/signed?token=")).unwrap();
        assert!(at(ids[0]) < at(ids[1]), "what was printed first comes first: {}", page.text);
        assert_eq!(unsigned().await, 2);
        let own = token(&page);
        let all_good = format!("/shop/jobs/{}/sign-off", ids[0]);
        let print = print_on(&page, &all_good);
        let left = send(&sam, &all_good, &[("form_token", &own), ("back", "/to-do"), ("print", &print)]).await;
        assert!(left.status == 200 && left.text.contains("Parts to sign off (1)"), "{}", left.text);
        let target = format!("/shop/jobs/{}/signed", ids[1]);
        let form = Form::new().text("print", print_on(&page, &target));
        let target = format!("{target}?token={own}");
        let form = form.text("goodCount", "1").text("reason", "").text("note", "a scratch");
        let picture = Part::bytes(b"\x89PNG\r\n\x1a\n0000".to_vec()).file_name("part.png");
        let form = form.text("back", "/to-do").part("picture", picture);
        let sent = sam.request("POST", &target).header("sec-fetch-site", "same-origin").multipart(form);
        let signed = sam.send(sent).await;
        assert_eq!((signed.status, signed.header("location")), (303, Some("/to-do")), "{}", signed.text);
        assert!(!sam.get("/to-do").await.text.contains("Parts to sign off"));
        let sign_off = floor.job(ids[1]).await["attempts"][0]["signOff"].clone();
        assert!(sign_off["note"] == "a scratch" && sign_off["photoFileId"].is_string(), "{sign_off}");
        assert_eq!(unsigned().await, 0);
        floor.app.order_is(&order, "ready").await;

        // What stands on a bed is signed off with the bed, and named once.
        floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
        let (_, job) = floor.one().await;
        floor.attention(0, "bed_not_cleared", true).await;
        floor.app.job_is(&job, "COMPLETED").await;
        let page = sam.get("/to-do").await.text;
        assert!(page.contains("Beds to clear (1)") && !page.contains("Parts to sign off"), "{page}");
        assert_eq!(unsigned().await, 1);
        floor.clear_bed(0).await;
        until("the parts to be signed off", || async { (unsigned().await == 0).then_some(()) }).await;
    }

    async fn several_beds_are_cleared_at_once(db: Db) {
        let (floor, sam) = two_beds_to_clear(db).await;
        let page = sam.get("/to-do").await;
        is_sound(&page);
        assert!(page.text.contains("Beds to clear (2)") && page.text.contains("Orders to pack (1)"), "{}", page.text);
        assert_eq!(page.text.matches("form=\"beds\"").count(), 2, "{}", page.text);
        let names = [0, 1].map(|n: usize| format!("bed-{}", floor.printers[n]));
        let own = token(&page);
        let prints = [0, 1].map(|n: usize| hidden(&page.text, &names[n]));
        // Of a large floor many are said before the token. One that is refused keeps no other from being cleared.
        let many: Vec<String> = (0..200).map(|n| format!("more-{n}")).collect();
        let gone = format!("bed-{}", crate::api::NOTHING);
        let mut fields: Vec<(&str, &str)> = many.iter().map(|name| (name.as_str(), "true")).collect();
        fields.extend([(&*gone, "true"), (&*names[0], prints[0]), (&*names[1], prints[1]), ("form_token", &*own)]);
        // Beds that were chosen when other prints were on them stay as they are.
        let old = [(&*names[0], prints[1]), (&*names[1], "true"), ("form_token", &*own)];
        assert_eq!(send(&sam, "/to-do/beds", &old).await.status, 409);
        for n in 0..2 {
            floor.attention(n, "bed_not_cleared", true).await;
        }
        let done = send(&sam, "/to-do/beds", &fields).await;
        assert_eq!(done.status, 404, "{}", done.text);
        is_sound(&done);
        for n in 0..2 {
            floor.attention(n, "bed_not_cleared", false).await;
        }
    }

    async fn a_failed_job_is_made_again_from_the_page(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        // After an emergency stop the job has failed.
        floor.app.act(&floor.path(0, "/emergency-stop")).await.expect(200);
        floor.app.job_is(&job, "FAILED").await;
        let page = sam.get("/to-do").await;
        is_sound(&page);
        assert!(page.text.contains("Failed jobs (1)") && page.text.contains("Needs homing"), "{}", page.text);
        // To cancel it asks first.
        assert!(page.text.contains("<summary class=\"btn\">Cancel job…</summary><p>"), "{}", page.text);
        let own = token(&page);
        let done = send(&sam, &format!("/shop/jobs/{job}/retry"), &[("form_token", &own), ("back", "/to-do")]).await;
        assert!(done.status == 200 && !done.text.contains("Failed jobs"), "{}", done.text);
        // The job waits for the printer, and the printer is the task.
        floor.app.job_is(&job, "SLICED").await;
        let page = sam.get("/to-do").await.text;
        assert!(page.contains("Printers to check (1)") && !page.contains("Jobs no printer can take"), "{page}");
    }

    async fn orders_wait_by_what_is_to_be_done_with_them_those_that_wait_longest_first(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let sku = crate::api::some_sku(&app).await;
        let mut numbers = Vec::new();
        for _ in 0..32 {
            let order = app.post("/api/orders", &crate::api::one_of(&sku)).await.expect(201);
            numbers.push(order["number"].as_str().unwrap().to_owned());
        }
        let page = sam.get("/to-do").await;
        is_sound(&page);
        assert!(page.text.contains("Payments due (32)"), "{}", page.text);
        for (n, number) in numbers.iter().enumerate() {
            assert_eq!(page.text.contains(&format!(">{number}</a>")), n < 30, "{number} in {}", page.text);
        }
        let at = |number: &str| page.text.find(&format!(">{number}</a>")).unwrap();
        assert!(at(&numbers[0]) < at(&numbers[1]) && at(&numbers[1]) < at(&numbers[29]), "{}", page.text);

        // Money that has to go back is for a person too.
        let paid = app.paid_order(&sku, 1).await;
        app.post(&format!("/api/orders/{paid}/cancel"), &json!({})).await.expect(200);
        until("the order to be looked at", || async {
            let page = sam.get("/to-do").await.text;
            (page.contains("Orders to review (1)") && page.contains("Refund due")).then_some(())
        })
        .await;
    }

    async fn spools_to_load_are_named_with_where_and_for_what(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let other = floor.app.material("PETG blue", 1000.0).await;
        let slot = format!("{}/slots/0", floor.path(0, ""));
        floor.app.post(&slot, &json!({"materialId": other})).await.expect(200);
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "SLICED").await;
        let printed = floor.job(&job).await;
        let (number, material) = (printed["number"].as_str().unwrap(), printed["materialId"].as_str().unwrap());
        let page = until("the spool to be named", || async {
            let page = sam.get("/to-do").await;
            page.text.contains("Spools to load (1)").then_some(page)
        })
        .await;
        is_sound(&page);
        let named = page.text.split_once("Spools to load (1)").unwrap().1.split("</section>").next().unwrap();
        for words in [&*format!("/shop/stock/materials/{material}\""), &*format!("/floor/printers/{}\"", floor.printers[0]), number] {
            assert!(named.contains(words), "{words} in {named}");
        }
        assert!(named.contains(&format!("?state=SLICED&amp;material={material}\">1 job can start</a>")), "{named}");
        assert!(!page.text.contains("Jobs can begin"), "it is listed once: {}", page.text);
        let say = format!("/shop/stock/slots?place={}/0&material={material}", floor.printers[0]);
        assert!(named.contains(&format!("href=\"{}\"", say.replace('&', "&amp;"))), "{named}");
        let form = sam.get(&say).await;
        is_sound(&form);
        assert!(form.text.contains("id=\"say-material\""), "it leads to the form");
        assert!(form.text.contains(&format!("<option value=\"{material}\" selected>")), "{}", form.text);
        assert!(form.text.contains("name=\"back\" value=\"/to-do\""), "it leads back: {}", form.text);
        floor.app.post(&slot, &json!({"materialId": material})).await.expect(200);
        floor.app.job_is(&job, "PRINTING").await;
        let page = sam.get("/to-do").await.text;
        assert!(!page.contains("Spools to load") && !page.contains("can start</a>"), "it is loaded: {page}");
        let page = sam.get("/to-do/activity").await.text;
        for words in [" loaded PETG blue into <a ", " loaded PLA black into <a "] {
            assert!(page.contains(words), "{words} in {page}");
        }
    }

    async fn a_spool_that_the_printer_reads_is_said_to_be_of_its_material_with_one_press(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::MqttLan, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        Bambu::of(&floor.sim(0).handle).unwrap().change(|setup| setup.ams = Setup::default().ams);
        until("the slots to be read", || async {
            let slots = floor.app.get(&floor.path(0, "")).await.expect(200)["slots"].clone();
            slots.as_array()?.iter().any(|slot| slot["kind"] == "PLA").then_some(())
        })
        .await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "SLICED").await;
        let waits = floor.job_until("the spool to be offered", &job, |job| {
            job["waitingReason"].as_str().is_some_and(|words| words.contains("confirm that it is"))
        });
        let words = waits.await["waitingReason"].as_str().unwrap().to_owned();
        assert!(words.contains("has PLA #1b1b22 in slot A1: confirm that it is PLA black"), "{words}");
        let page = sam.get("/to-do").await;
        is_sound(&page);
        let named = page.text.split_once("Spools to load (1)").unwrap().1.split("</section>").next().unwrap();
        assert!(named.contains("Slot A1 contains PLA #1b1b22"), "{named}");
        let place = format!("{}/0", floor.printers[0]);
        assert!(named.contains(&format!("name=\"place\" value=\"{place}\"")), "{named}");
        let own = token(&page);
        let form = [("form_token", &*own), ("place", &place), ("materialId", &floor.material), ("back", "/to-do")];
        let done = send(&sam, "/shop/stock/slots", &form).await;
        assert!(done.status == 200 && done.text.contains("<h1>To do</h1>"), "{}", done.text);
        floor.app.job_is(&job, "PRINTING").await;
        let slots = floor.app.get(&floor.path(0, "")).await.expect(200)["slots"].clone();
        assert_eq!((&slots[0]["materialId"], &slots[0]["source"]), (&json!(floor.material), &json!("printer")), "{slots}");
    }

    async fn a_spool_that_is_swapped_before_the_press_is_not_said_to_be_of_the_material(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::MqttLan, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let changer = Bambu::of(&floor.sim(0).handle).unwrap();
        changer.change(|setup| setup.ams = Setup::default().ams);
        let reads = |color: &'static str| {
            let floor = &floor;
            until("the slot to be read", move || async move {
                let slots = floor.app.get(&floor.path(0, "")).await.expect(200)["slots"].clone();
                (slots[0]["color"] == color && slots[0]["source"] == "printer").then_some(slots[0].clone())
            })
        };
        let first = reads("#1b1b22").await;
        floor.one().await;
        let page = until("the spool to be offered", || async {
            let page = sam.get("/to-do").await;
            page.text.contains("Slot A1 contains PLA #1b1b22").then_some(page)
        })
        .await;
        let (own, place) = (token(&page), format!("{}/0", floor.printers[0]));
        let form = |page: &str| {
            let names = ["shown", "shownCode", "shownKind", "shownColor"];
            let report = names.map(|name| (name.to_owned(), hidden(page, name).to_owned()));
            let rest = [("form_token", &own), ("place", &place), ("materialId", &floor.material)];
            report.into_iter().chain(rest.map(|(name, text)| (name.to_owned(), text.clone()))).collect::<Vec<_>>()
        };
        // Somebody swaps the spool while the page is open.
        changer.change(|setup| {
            setup.ams[0].trays[0] = Some(Tray { tray_color: "F4F1E6FF".to_owned(), ..Tray::default() });
        });
        reads("#f4f1e6").await;
        let fields = form(&page.text);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let refused = send(&sam, "/shop/stock/slots", &fields).await;
        assert!(refused.status == 409 && refused.text.contains("was swapped"), "{}", refused.text);
        let slot = floor.path(0, "/slots/0");
        let expected = json!({"vendorCode": first["vendorCode"], "kind": first["kind"], "color": first["color"]});
        let body = json!({"materialId": floor.material, "expected": expected});
        assert_eq!(floor.app.post(&slot, &body).await.error(409), "spool_changed");
        assert_eq!(reads("#f4f1e6").await["materialId"], json!(null), "it is bound to nothing");
        // The refusal shows the spool that is there now.
        let fields = form(&refused.text);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let done = send(&sam, "/shop/stock/slots", &fields).await;
        assert_eq!(done.status, 200, "{}", done.text);
        assert_eq!(reads("#f4f1e6").await["materialId"], json!(floor.material));
    }
}
