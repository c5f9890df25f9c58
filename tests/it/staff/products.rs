//! SKUs, kits and files: made, changed and printed from their pages.

use reqwest::multipart::{Form, Part};
use serde_json::{Value, json};
use simulator::PrinterKind;
use simulator::peers::camera::Camera;

use super::{OPERATOR, SAM, arrived, is_sound, operator};
use crate::api::{PASSWORD, id, sign_in, staff};
use crate::billing::pages::{HOSTILE, send, token};
use crate::machines::{FAST, Floor, JUDGE_LATE, SLOW};
use crate::support::browser::Browser;
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_sqlite, until};
use crate::whole::cube;

/// Sends a form with its token as a browser does, and follows the redirect.
pub async fn sent(client: &Client, token: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
    let all: Vec<(&str, &str)> = [("form_token", token)].into_iter().chain(fields.iter().copied()).collect();
    arrived(client, send(client, path, &all).await).await
}

/// Returns the id of the SKU with this code.
async fn id_of(app: &App, code: &str) -> String {
    let matches = app.get(&format!("/api/skus?code={code}")).await.expect(200);
    matches["skus"][0]["id"].as_str().unwrap_or_else(|| panic!("{matches}")).to_owned()
}

on_sqlite! {
    async fn a_sku_is_made_of_a_file_changed_withdrawn_and_deleted(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let none = sam.get("/shop/products").await;
        is_sound(&none);
        assert!(none.text.contains("No products yet") && none.text.contains("href=\"/shop/products/files\""), "{}", none.text);
        let (material, file) = (app.material("PLA black", 1_000.0).await, app.gcode("vase", 3_600, 20.5).await);
        let form = sam.get(&format!("/shop/products/new?file={file}")).await;
        is_sound(&form);
        assert!(form.text.contains("value=\"vase\"") && form.text.contains("PLA black (g)"), "{}", form.text);
        assert!(form.text.contains(&format!("<option value=\"{file}\" selected")), "{}", form.text);
        let own = token(&form);
        let sku_form = |name: &'static str, price: &'static str| {
            vec![
                ("code", "VASE-01"), ("name", name), ("priceCents", price), ("currency", "usd"), ("public", "true"),
                ("active", "true"), ("materialId", &*material), ("estimatedConsumption", "20,5"), ("unitsPerPlate", "2"),
                ("machineType", "fdm_standard"), ("gcodeFileId", &*file), ("plate", "1"), ("collections", "home, garden"),
            ]
        };
        // What is wrong stands beside the field, and what was typed stays.
        let wrong = sent(&sam, &own, "/shop/products/new", &sku_form(HOSTILE, "much")).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        for words in ["role=\"alert\"", "value=\"much\"", "aria-invalid=\"true\"", "value=\"home, garden\"", "&lt;script&gt;"] {
            assert!(wrong.text.contains(words), "{words} in {}", wrong.text);
        }
        let page = sent(&sam, &own, "/shop/products/new", &sku_form("Vase", "12.50")).await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
        for words in ["<h1>Vase</h1>", "$12.50", "10.25 g PLA black", "20.5 g PLA black", "vase.gcode", "1 h 00 min", "state working\">Yes<"] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        let (id, path) = (id_of(&app, "VASE-01").await, format!("/shop/products/{}", id_of(&app, "VASE-01").await));
        let sku = app.get(&format!("/api/skus/{id}")).await.expect(200);
        assert_eq!((&sku["priceCents"], &sku["collections"]), (&json!(1250), &json!(["home", "garden"])));
        // The picture is for those who have signed in, and is a picture and nothing else.
        let picture = format!("/shop/products/files/{file}/pictures/1");
        assert!(page.text.contains(&format!("src=\"{picture}\"")), "{}", page.text);
        let answer = sam.get(&picture).await;
        let names = ["content-type", "x-content-type-options", "content-security-policy"];
        let headers = names.map(|name| answer.header(name).unwrap());
        assert_eq!((answer.status, headers), (200, ["image/png", "nosniff", "default-src 'none'; sandbox"]));
        assert_eq!(app.nobody().get(&picture).await.status, 303);
        assert_eq!(sam.get(&format!("/shop/products/files/{file}/pictures/7")).await.status, 404);

        // A form changes only what it was made from.
        let edit = sam.get(&format!("{path}/edit")).await;
        is_sound(&edit);
        assert!(edit.text.contains("name=\"version\" value=\"1\"") && edit.text.contains("value=\"12.50\""), "{}", edit.text);
        let mut fields = sku_form("Vase", "13.00");
        fields.push(("version", "1"));
        let changed = sent(&sam, &own, &format!("{path}/edit"), &fields).await;
        assert!(changed.status == 200 && changed.text.contains("$13.00"), "{}", changed.text);
        let stale = sent(&sam, &own, &format!("{path}/edit"), &fields).await;
        assert!(stale.status == 412 && stale.text.contains("name=\"version\" value=\"2\""), "{}", stale.text);
        is_sound(&stale);

        let order = app.order(&id, 1).await;
        let withdrawn = sent(&sam, &own, &format!("{path}/offer"), &[("active", "")]).await;
        assert!(withdrawn.text.contains("it is not active and cannot be ordered"), "{}", withdrawn.text);
        let list = sam.get("/shop/products?show=withdrawn&q=vase").await;
        is_sound(&list);
        assert!(list.text.contains(&format!("href=\"{path}\"")), "{}", list.text);
        assert!(sam.get("/shop/products?show=active").await.text.contains("No products match"));
        let refusal = sent(&sam, &own, &format!("{path}/delete"), &[]).await;
        assert!(refusal.status == 409 && refusal.text.contains("role=\"alert\""), "{}", refusal.text);
        is_sound(&refusal);
        app.post(&format!("/api/orders/{order}/cancel"), &json!({})).await.expect(200);
        let gone = sent(&sam, &own, &format!("{path}/delete"), &[]).await;
        assert!(gone.status == 200 && gone.text.contains("No products yet"), "{}", gone.text);
        assert_eq!(sam.get(&path).await.status, 404);
    }

    async fn a_kit_is_put_together_and_counted_in_complete_sets(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let (material, file) = (app.material("PLA", 1_000_000.0).await, app.gcode("part", 60, 10.0).await);
        let (body, lid) = (app.sku("BODY", &material, &file, 500).await, app.sku("LID", &material, &file, 200).await);
        let form = sam.get("/shop/products/new?kit=1").await;
        is_sound(&form);
        assert!(form.text.contains("<option value=\"BODY\">") && form.text.contains("list=\"sku-codes\""), "{}", form.text);
        let own = token(&form);
        let kit_form = |second: &'static str| {
            [
                ("kit", "true"), ("code", "BOX"), ("name", "Box"), ("priceCents", "9"), ("currency", "usd"), ("active", "true"),
                ("public", "true"), ("components.1.skuId", "BODY"), ("components.1.quantity", "1"), ("components.3.skuId", second),
                ("components.3.quantity", "2"),
            ]
        };
        let unknown = sent(&sam, &own, "/shop/products/new", &kit_form("NOBODY")).await;
        assert!(unknown.status == 400 && unknown.text.contains("No product has this name or code."), "{}", unknown.text);
        is_sound(&unknown);
        assert!(unknown.text.contains("value=\"NOBODY\""), "{}", unknown.text);
        let page = sent(&sam, &own, "/shop/products/new", &kit_form("LID")).await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
        assert!(page.text.contains("Contents of one set") && page.text.contains(&format!("href=\"/shop/products/{lid}\"")), "{}", page.text);
        let kit = id_of(&app, "BOX").await;
        let components = app.get(&format!("/api/skus/{kit}")).await.expect(200)["components"].clone();
        assert_eq!(components, json!([{"skuId": body, "quantity": 1}, {"skuId": lid, "quantity": 2}]));
        // A part says which kits contain it, and kits can be listed alone.
        assert!(sam.get(&format!("/shop/products/{lid}")).await.text.contains(&format!("href=\"/shop/products/{kit}\"")));
        let kits = sam.get("/shop/products?show=kits").await.text;
        assert!(kits.contains(&kit) && !kits.contains(&lid), "{kits}");

        let order = app.paid_order(&kit, 3).await;
        let path = format!("/shop/products/{kit}");
        let counted = until("the order to be named", || async {
            let page = sam.get(&path).await;
            page.text.contains("0 of 3 sets complete").then_some(page)
        })
        .await;
        is_sound(&counted);
        assert!(counted.text.contains(&format!("/shop/orders/{order}")), "{}", counted.text);
        app.patch(&format!("/api/skus/{lid}"), &json!({"active": false})).await.expect(200);
        let page = sam.get(&path).await;
        assert!(page.text.contains("state error\">No<") && page.text.contains("its component LID is not active"), "{}", page.text);
        let edit = sam.get(&format!("{path}/edit")).await;
        is_sound(&edit);
        assert!(edit.text.contains("value=\"LID\""), "{}", edit.text);
    }

    async fn a_product_is_made_of_a_file_on_one_page(db: Db) {
        let app = App::new(db.with_staff(OPERATOR)).await;
        let sam = operator(&app).await;
        let file = app.gcode("desk_hook", 3_600, 20.5).await;
        let path = format!("/shop/products/files/{file}");
        let without = sam.get(&path).await;
        is_sound(&without);
        assert!(without.text.contains("Add material") && !without.text.contains(">Add product</button>"), "{}", without.text);
        app.material("PETG black", 1_000.0).await;
        let material = app.material("PLA black", 1_000.0).await;
        let page = sam.get(&path).await;
        is_sound(&page);
        let choice = format!("<option value=\"{material}\" selected");
        for words in ["Filled in from the file: PLA, 20.5 g, 1 h 00 min.", "value=\"desk hook\"", "value=\"DESK-HOOK\"", &choice] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        let hidden = [
            ("gcodeFileId", &*file), ("currency", "usd"), ("active", "true"), ("estimatedConsumption", "20.5"),
            ("plate", "1"),
        ];
        for (name, value) in hidden {
            let field = format!("<input type=\"hidden\" name=\"{name}\" value=\"{value}\">");
            assert!(page.text.contains(&field), "{field} in {}", page.text);
        }
        let typed = [
            ("name", "Desk hook"), ("priceCents", "4.50"), ("materialId", &*material), ("unitsPerPlate", "1"),
            ("code", "DESK-HOOK"), ("machineType", "fdm_standard"), ("public", "true"),
        ];
        let fields: Vec<_> = hidden.into_iter().chain(typed).collect();
        let own = token(&page);
        let product = sent(&sam, &own, "/shop/products/new", &fields).await;
        assert_eq!(product.status, 200, "{}", product.text);
        is_sound(&product);
        for words in ["<h1>Desk hook</h1>", "$4.50", "20.5 g PLA black", "state working\">Yes<"] {
            assert!(product.text.contains(words), "{words} in {}", product.text);
        }
        // A code that is taken is told on the whole form, with all that was filled in.
        let refusal = sent(&sam, &own, "/shop/products/new", &fields).await;
        assert!(refusal.status == 409 && refusal.text.contains("value=\"Desk hook\""), "{}", refusal.text);
        assert!(refusal.text.contains(&choice), "{}", refusal.text);
        let ordering: Vec<_> = fields.iter().copied().chain([("order", "true"), ("customerEmail", "a@example.org")]).collect();
        let refusal = sent(&sam, &own, "/shop/products/new", &ordering).await;
        assert!(refusal.status == 409 && refusal.text.contains("Save and order one"), "{}", refusal.text);
        assert!(refusal.text.contains("name=\"customerEmail\" value=\"a@example.org\""), "{}", refusal.text);
        // One of it is ordered with the same press; where that is refused, the order is filled in.
        for (code, customer) in [("DESK-HOOK-2", "buyer@example.org"), ("DESK-HOOK-3", "nobody")] {
            let mut fields: Vec<_> = fields.iter().copied().filter(|(name, _)| *name != "code").collect();
            fields.extend([("code", code), ("customerEmail", customer), ("order", "true")]);
            let ordered = sent(&sam, &own, "/shop/products/new", &fields).await;
            assert_eq!(ordered.status, 200, "{}", ordered.text);
            is_sound(&ordered);
            let is_placed = customer != "nobody";
            assert_eq!(ordered.text.contains("<h1>New order</h1>"), !is_placed, "{}", ordered.text);
            for words in [if is_placed { "<h1>Order ORD-" } else { code }, customer] {
                assert!(ordered.text.contains(words), "{words} in {}", ordered.text);
            }
        }
        let orders = app.get("/api/orders").await.expect(200);
        assert_eq!(orders["pagination"]["total"], 1, "{orders}");
        assert_eq!(orders["orders"][0]["lines"][0]["skuId"], json!(id_of(&app, "DESK-HOOK-2").await), "{orders}");
        let folded = sam.get(&path).await;
        is_sound(&folded);
        assert!(folded.text.contains("<summary>Add another product</summary>"), "{}", folded.text);
    }

    async fn a_file_is_uploaded_and_printed_once_from_its_page(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let list = sam.get("/shop/products/files?kind=gcode").await;
        is_sound(&list);
        // The type of a file is behind a button like its neighbours; the hint stands below the list.
        let place = |text: &str| list.text.find(text).unwrap_or_else(|| panic!("no {text} in {}", list.text));
        let hint = place("<p class=\"hint drop-hint\">You can also drop files anywhere on this page.</p>");
        let kinds = place("<summary class=\"btn\">Choose a file type</summary>");
        let upload = place("<label for=\"file\"");
        assert!(kinds < upload && upload < hint, "{}", list.text);
        let own = token(&list);
        let upload = |token: String, name: &'static str, bytes: Vec<u8>| {
            let form = Form::new().part("file", Part::bytes(bytes).file_name(name));
            let request = sam.request("POST", &format!("/shop/products/files?token={token}"));
            sam.send(request.header("sec-fetch-site", "same-origin").multipart(form))
        };
        let code = simulator::gcode::gcode("hook", 1_200, 7.5, 2_500.0).into_bytes();
        assert_eq!(upload("x".to_owned(), "hook.gcode", code.clone()).await.status, 403);
        let no_file = upload(own.clone(), "hook.gcode", b"\x00\x01\x02".to_vec()).await;
        assert!(no_file.status == 400 && no_file.text.contains("role=\"alert\""), "{}", no_file.text);
        is_sound(&no_file);
        let page = arrived(&sam, upload(own.clone(), "hook.gcode", code).await).await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
        for words in ["<h1>hook.gcode</h1>", "Plate 1", "20 min", "7.5 g", "Add product using the full form", "Manual print"] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        let matches = floor.app.get("/api/files?q=hook").await.expect(200);
        let file = matches["files"][0]["id"].as_str().unwrap().to_owned();
        let path = format!("/shop/products/files/{file}");
        // The list leads to both uses of the file, below its picture, print time and weight.
        let list = sam.get("/shop/products/files").await;
        is_sound(&list);
        let row = list.text.split_once(&format!("title=\"hook.gcode\" href=\"{path}\"")).expect("its row").1;
        let row = row.split("</tr>").next().unwrap();
        let links = [format!("href=\"{path}#once\">Print…"), format!("href=\"{path}#sell\">Add product")];
        for part in links.iter().map(String::as_str).chain(["20 min</td>", ">7.5 g</td>"]) {
            assert!(row.contains(part), "{part} in {row}");
        }
        for part in ["id=\"once\"", "id=\"sell\"", &format!("action=\"{path}/print\"")] {
            assert!(page.text.contains(part), "{part} in {}", page.text);
        }
        let unchosen = sent(&sam, &own, &format!("{path}/print"), &[("printer", "")]).await;
        assert!(unchosen.status == 400 && unchosen.text.contains("Choose a printer."), "{}", unchosen.text);
        is_sound(&unchosen);
        let printer = floor.printers[0].clone();
        let begun = sent(&sam, &own, &format!("{path}/print"), &[("printer", &printer)]).await;
        assert!(begun.status == 200 && begun.text.contains(&format!("id=\"printer-{printer}\"")), "{}", begun.text);
        let prints = |status: &Value| status["state"] == "printing";
        floor.status_until("the file to be printed", 0, prints).await;
        let busy = sent(&sam, &own, &format!("{path}/print"), &[("printer", &printer)]).await;
        assert!(busy.status == 409 && busy.text.contains(&format!("<option value=\"{printer}\" selected")), "{}", busy.text);
        is_sound(&busy);

        // A file that something needs is kept, and its page says what.
        let sku = floor.app.get(&format!("/api/skus/{}", floor.sku)).await.expect(200);
        let needed = format!("/shop/products/files/{}", sku["gcodeFileId"].as_str().unwrap());
        let refusal = sent(&sam, &own, &format!("{needed}/delete"), &[]).await;
        assert!(refusal.status == 409 && refusal.text.contains("role=\"alert\""), "{}", refusal.text);
        assert!(refusal.text.contains(&format!("href=\"/shop/products/{}\"", floor.sku)), "{}", refusal.text);
        let gone = sent(&sam, &own, &format!("{path}/delete"), &[]).await;
        assert!(gone.status == 200 && gone.text.contains("<h1>Files</h1>") && !gone.text.contains(&path), "{}", gone.text);
    }

    async fn files_to_print_from_are_not_buried_by_pictures(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        let (app, sam) = (&floor.app, operator(&floor.app).await);
        let camera = Camera::start(None).await.unwrap();
        let place = json!({"camera": {"snapshotUrl": camera.snapshot_url()}});
        app.patch(&floor.path(0, ""), &place).await.expect(200);
        let job = floor.one().await.1;
        let has_photo = |job: &Value| job["attempts"][0]["photoFileId"].is_string();
        let photo = floor.job_until("the picture", &job, has_photo).await["attempts"][0]["photoFileId"].clone();
        let sku = app.get(&format!("/api/skus/{}", floor.sku)).await.expect(200);
        let [gcode, photo] = [&sku["gcodeFileId"], &photo].map(|id| id.as_str().unwrap().to_owned());
        let model = id(&app.upload("cube.stl", cube().into_bytes()).await.expect(201));
        let before = sam.get("/shop/products/files").await;
        assert!(!before.text.contains("Uploaded pictures"), "there are none: {}", before.text);
        let logo = id(&app.upload("logo.png", simulator::gcode::sample_png()).await.expect(201));

        let all = [&gcode, &model, &photo, &logo];
        let lists: [(&str, &str, &[&String]); 6] = [
            ("", "<b>2</b> Print files", &[&gcode, &model]),
            ("?kind=unknown", "<b>2</b> Print files", &[&gcode, &model]),
            ("?kind=model", "<b>1</b> Models", &[&model]),
            ("?kind=camera", "<b>1</b> Camera pictures", &[&photo]),
            ("?kind=image", "<b>1</b> Uploaded pictures", &[&logo]),
            ("?kind=all", "<b>4</b> All", &all),
        ];
        for (query, filter, listed) in lists {
            let page = sam.get(&format!("/shop/products/files{query}")).await;
            is_sound(&page);
            assert!(page.text.contains(&format!("aria-current=\"true\">{filter}</a>")), "{query}: {}", page.text);
            let counted = if listed.len() == 1 { ">1 file</p>".to_owned() } else { format!(">{} files</p>", listed.len()) };
            assert!(page.text.contains(&counted), "{query}: {}", page.text);
            for file in all {
                let is_listed = page.text.contains(&format!("href=\"/shop/products/files/{file}\""));
                assert_eq!(is_listed, listed.contains(&file), "{file} at {query}: {}", page.text);
            }
        }
        // A text is searched for in the subset, and the links keep it.
        let searched = sam.get("/shop/products/files?kind=model&q=CUBE").await;
        is_sound(&searched);
        for words in ["?q=CUBE&amp;kind=camera\">Camera pictures</a>", "name=\"kind\" value=\"model\"", &*model] {
            assert!(searched.text.contains(words), "{words} in {}", searched.text);
        }
        let elsewhere = sam.get("/shop/products/files?q=logo").await;
        assert!(elsewhere.text.contains("No files match. <a href=\"/shop/products/files?kind=all\""), "{}", elsewhere.text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_tells_of_an_upload_and_leads_to_the_file() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    staff(&app, SAM, "operator").await;
    let cookie = sign_in(&app, SAM, PASSWORD).await;
    let base = app.base.clone();
    let tab = browser.open(&base, "/shop/products/files", Some(&cookie)).await;
    let choose = |lines: &str| {
        format!(
            "(() => {{ const all = new DataTransfer(); all.items.add(new File([{lines}], 'clip.gcode')); \
             const form = document.querySelector('form[data-sends]'); \
             form.querySelector('input[type=file]').files = all.files; form.requestSubmit(); }})()"
        )
    };
    // What is refused is told on the page, and the form can be sent again.
    browser.eval(&tab, &choose("new Uint8Array([0, 1, 2])")).await;
    let shows_refusal =
        "document.querySelector('form[data-sends] [role=status]').textContent.includes('not recognised as G-code')";
    browser.until(&tab, "the refusal to be told", shows_refusal).await;
    assert_eq!(browser.eval(&tab, "document.querySelector('form[data-sends] button').disabled").await, false);
    app.material("PLA black", 1_000.0).await;
    let code = "'G28\\nG1 X10 E1\\n; filament used [g] = 3.5\\n; filament_type = PLA\\n'";
    browser.eval(&tab, &choose(code)).await;
    browser.until(&tab, "the page of the file", "document.querySelector('h1').textContent === 'clip.gcode'").await;
    browser.width(&tab, 360).await;
    browser.until(&tab, "it to fit a phone", "document.documentElement.scrollWidth <= window.innerWidth").await;
    // Name, weight and material are those of the file: a price makes a product of it.
    browser.fill(&tab, "Price", "4.50").await;
    browser.press(&tab, "Add product").await;
    browser.sees(&tab, "$4.50").await;
    browser.sees(&tab, "3.5 g PLA black").await;
    assert_eq!(browser.faults(&base), Vec::<String>::new());
}
