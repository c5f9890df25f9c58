//! Printers on the staff's pages: added with the form for their type, changed, removed, and annotated.

use serde_json::json;
use simulator::PrinterKind;

use super::settings::boss;
use super::{OPERATOR, arrived, is_sound, operator, version_on};
use crate::billing::pages::{HOSTILE, send, token};
use crate::machines::{Floor, SLOW};
use crate::support::{App, Client, Db, on_sqlite, until};

/// Path of the form that adds a printer.
const NEW_PATH: &str = "/floor/printers/new";

/// Returns the fields of the form for a new printer: the usual ones followed by these.
fn new_printer<'a>(base: &'a str, own: &'a str, key: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let usual = [("name", HOSTILE), ("type", "fw_rest"), ("machineType", "fdm_standard"), ("baseUrl", base)];
    let secret = [("apiKey", key), ("form_token", own)];
    usual.into_iter().chain(secret).chain(more.iter().copied()).collect()
}

async fn an_empty_floor_says_how_to_begin(sam: &Client) {
    let empty = sam.get("/floor").await;
    is_sound(&empty);
    let links = ["href=\"/floor/printers/new\"", "href=\"/shop/stock\"", "href=\"/shop/products\""];
    for words in ["No printers yet", "printfloor demo"].into_iter().chain(links) {
        assert!(empty.text.contains(words), "{words} in {}", empty.text);
    }
}

async fn each_type_is_named_as_owners_know_it(sam: &Client) {
    let types = sam.get("/floor/printers/new").await;
    is_sound(&types);
    for declared in printfloor::printers::BUILT_IN {
        assert!(types.text.contains(&format!("/floor/printers/new?type={declared}\"")), "{declared} in {}", types.text);
    }
    // Owners choose what they bought; the interface stands behind it.
    for name in ["Bambu Lab", "Elegoo (SDCP)", "Klipper (Moonraker)", "OctoPrint", "Prusa (PrusaLink)"] {
        assert!(types.text.contains(&format!("<b>{name}</b>")), "{name} in {}", types.text);
    }
}

on_sqlite! {
    async fn a_printer_is_added_by_the_form_of_its_type_changed_and_removed(db: Db) {
        let floor = Floor::empty(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[]).await;
        let (sam, sim) = (operator(&floor.app).await, floor.sim(0));
        an_empty_floor_says_how_to_begin(&sam).await;
        each_type_is_named_as_owners_know_it(&sam).await;
        // Only what a type needs is asked.
        let by_number = sam.get("/floor/printers/new?type=mqtt_lan").await;
        is_sound(&by_number);
        assert!(by_number.text.contains("id=\"serial\""), "{}", by_number.text);
        let form = sam.get("/floor/printers/new?type=fw_rest").await;
        is_sound(&form);
        assert!(!form.text.contains("id=\"serial\"") && form.text.contains("id=\"apiKey\""), "{}", form.text);
        // Fields that have defaults are collapsed below it.
        let (open, folded) = form.text.split_once("<summary>More details: ").expect("what has a default");
        assert!(!["machineType", "buildVolume.x", "plateType"].iter().any(|name| open.contains(name)), "{open}");
        assert!(folded.contains("Filament printer, 220 × 220 × 250 mm") && folded.contains("\"plateType\""), "{folded}");
        assert!(by_number.text.contains("Filament printer, 256 × 256 × 256 mm"), "{}", by_number.text);

        let own = token(&form);
        let new = |key, more| new_printer(&sim.base_url, &own, key, more);
        // What was typed stays, but for the key.
        let wrong = send(&sam, NEW_PATH, &new("no such key", &[("location", "Cellar")])).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        assert!(wrong.text.contains("Test failed.") && wrong.text.contains("value=\"Cellar\""), "{}", wrong.text);
        assert!(!wrong.text.contains("no such key") && !wrong.text.contains(HOSTILE), "{}", wrong.text);
        assert_eq!(floor.app.get("/api/printers").await.expect(200)["pagination"]["total"], 0);
        let faulty = send(&sam, NEW_PATH, &new("x", &[("untested", "true"), ("position.row", "0"), ("position.column", "2")])).await;
        assert!(faulty.status == 400 && faulty.text.contains("Row: must be from 1 to 50."), "{}", faulty.text);
        let is_unfolded = faulty.text.contains(" open><summary>More details: ");
        assert!(is_unfolded, "the fault is in what is folded: {}", faulty.text);

        let more = [("location", "Cellar"), ("position.row", "2"), ("position.column", "3"), ("tags", "red, big,"), ("nozzle.diameter", "0.6"), ("autoClear", "true")];
        let added = send(&sam, NEW_PATH, &new(&sim.api_key, &more)).await;
        assert_eq!(added.status, 200, "{}", added.text);
        let page = added;
        is_sound(&page);
        assert!(page.text.contains("row 2, column 3") && !page.text.contains(HOSTILE), "{}", page.text);
        let printers = floor.app.get("/api/printers").await.expect(200);
        let printer = &printers["printers"][0];
        let id = printer["id"].as_str().unwrap().to_owned();
        assert_eq!((&printer["position"], &printer["tags"]), (&json!({"row": 2, "column": 3}), &json!(["red", "big"])));
        assert_eq!((&printer["nozzle"]["diameter"], &printer["autoClear"], &printer["hasApiKey"]), (&json!(0.6), &json!(true), &json!(true)));

        // A change keeps the key that is not shown.
        let path = format!("/floor/printers/{id}/edit");
        let form = sam.get(&path).await;
        is_sound(&form);
        assert!(form.text.contains("value=\"Cellar\"") && form.text.contains("value=\"red, big\""), "{}", form.text);
        assert!(!form.text.contains(&sim.api_key), "the key is shown");
        let (own, version) = (token(&form), version_on(&form));
        let change = |column| {
            let place = [("location", "Attic"), ("position.row", "1"), ("position.column", column)];
            let own = [("form_token", own.as_str()), ("name", "Ada"), ("machineType", "fdm_standard")];
            let from = [("baseUrl", sim.base_url.as_str()), ("version", version.as_str())];
            from.into_iter().chain(place).chain(own).collect::<Vec<_>>()
        };
        let faulty = send(&sam, &path, &change("99")).await;
        assert!(faulty.status == 400 && faulty.text.contains("Column: must be from 1 to 50.") && faulty.text.contains("value=\"99\""), "{}", faulty.text);
        is_sound(&faulty);
        let page = arrived(&sam, send(&sam, &path, &change("1")).await).await;
        assert!(page.status == 200 && page.text.contains("Attic"), "{}", page.text);
        let printer = floor.app.get(&format!("/api/printers/{id}")).await.expect(200);
        assert_eq!((&printer["name"], &printer["hasApiKey"], &printer["tags"]), (&json!("Ada"), &json!(true), &json!([])));

        // What was saved in between is not undone by a form that was opened before; what was typed stays.
        let late = send(&sam, &path, &change("7")).await;
        assert!(late.status == 412 && late.text.contains("name=\"position.column\"") && late.text.contains("value=\"7\""), "{}", late.text);
        is_sound(&late);
        assert_ne!(version_on(&late), version);
        assert_eq!(floor.app.get(&format!("/api/printers/{id}")).await.expect(200)["position"]["column"], 1);

        // To remove it names it, and leads to the floor.
        let form = sam.get(&path).await;
        assert!(form.text.contains("Remove Ada permanently?"), "{}", form.text);
        let removed = send(&sam, &format!("/floor/printers/{id}/remove"), &[("form_token", &own), ("back", "/floor")]).await;
        let page = arrived(&sam, removed).await;
        assert!(page.status == 200 && page.text.contains("No printers yet"), "{}", page.text);
        assert_eq!(floor.app.get(&format!("/api/printers/{id}")).await.error(404), "printer_not_found");
        assert_eq!(sam.get(&path).await.status, 404);
    }

    async fn notes_stay_for_the_next_shift_and_maintenance_ends_with_one(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[]).await;
        let sam = operator(&floor.app).await;
        let page = format!("/floor/printers/{}", floor.printers[0]);
        let own = token(&sam.get(&page).await);
        let noted = send(&sam, &format!("{page}/note"), &[("form_token", &own), ("done", HOSTILE)]).await;
        let notes_page = arrived(&sam, noted).await;
        is_sound(&notes_page);
        let notes = notes_page.text.split_once("Notes and maintenance log").expect("notes").1;
        assert!(notes.contains("&lt;script&gt;alert(1)") && notes.contains("<span class=\"soft\">Sam, "), "{notes}");
        let nothing = send(&sam, &format!("{page}/note"), &[("form_token", &own), ("done", "")]).await;
        assert_eq!(nothing.status, 400, "{}", nothing.text);

        let begin = [("form_token", own.as_str()), ("on", "true"), ("note", "smells burnt")];
        let out = arrived(&sam, send(&sam, &format!("{page}/maintenance"), &begin).await).await;
        assert!(out.text.contains("smells burnt") && out.text.contains("Return to service"), "{}", out.text);
        floor.attention(0, "maintenance", true).await;
        let end = [("form_token", own.as_str()), ("done", "new fan")];
        let back = arrived(&sam, send(&sam, &format!("{page}/back"), &end).await).await;
        assert!(back.text.contains("new fan") && back.text.contains("Take out of service"), "{}", back.text);
        floor.attention(0, "maintenance", false).await;

        // What is due is done with a press, and its reminder begins anew.
        let reminder = json!({"name": "Clean the nozzle", "everyPrints": 1});
        floor.app.post(&floor.path(0, "/reminders"), &reminder).await.expect(201);
        let reminders = || async { floor.app.get(&floor.path(0, "/reminders")).await.expect(200)["reminders"][0].clone() };
        let id = reminders().await["id"].as_str().unwrap().to_owned();
        let done = [("form_token", own.as_str()), ("done", "Clean the nozzle"), ("resets", id.as_str())];
        let page = arrived(&sam, send(&sam, &format!("{page}/note"), &done).await).await;
        assert!(page.text.contains("Completed: Clean the nozzle"), "{}", page.text);
        assert!(reminders().await["doneAt"].is_string());
    }
}

#[tokio::test]
async fn whoever_adds_a_printer_begins_with_those_on_the_network() {
    const SEARCH: &str = "/floor/printers/search";

    let app = App::new(Db::sqlite()).await;
    let (sam, boss) = (operator(&app).await, boss(&app).await);
    // The network is searched by admins only, as in the setup.
    let by_hand = sam.get(NEW_PATH).await;
    assert!(!by_hand.text.contains(SEARCH), "{}", by_hand.text);
    assert_eq!(send(&sam, SEARCH, &[("form_token", &token(&by_hand))]).await.status, 403);

    let page = boss.get(NEW_PATH).await;
    is_sound(&page);
    let place = |words: &str| page.text.find(words).unwrap_or_else(|| panic!("{words} in {}", page.text));
    assert!(place(">Search the network</button>") < place("Add manually</h2>"), "{}", page.text);
    assert!(place("Add manually</h2>") < place(&format!("{NEW_PATH}?type=fw_rest\"")), "{}", page.text);
    assert!(!page.text.contains("Search complete"), "{}", page.text);
    assert_eq!(send(&boss, SEARCH, &[("form_token", "x")]).await.status, 403);
    let begun = arrived(&boss, send(&boss, SEARCH, &[("form_token", &token(&page))]).await).await;
    assert!(begun.status == 200 && begun.text.contains("Found on your network</h2>"), "{}", begun.text);
    is_sound(&begun);
    let over = until("the search to end", || async {
        let page = boss.get(NEW_PATH).await;
        page.text.contains("Search complete: ").then_some(page)
    })
    .await;
    assert!(!over.text.contains("data-goes-on"), "nothing is read again: {}", over.text);

    // An address that was not found fills in nothing.
    let unknown = boss.get(&format!("{NEW_PATH}?found=http%3A%2F%2F192.0.2.7%3A7125")).await;
    assert!(unknown.text.contains("<h1>Add a printer</h1>") && !unknown.text.contains("192.0.2.7"), "{}", unknown.text);
    let form = boss.get(&format!("{NEW_PATH}?type=fw_rest&found=nothing")).await;
    is_sound(&form);
    assert!(form.text.contains("id=\"apiKey\""), "{}", form.text);
}

#[tokio::test]
async fn the_stop_says_what_it_is_and_leads_to_its_explanation_without_the_script() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[]).await;
    let sam = operator(&floor.app).await;
    let path = format!("/floor/printers/{}", floor.printers[0]);
    let name = floor.app.get(&floor.path(0, "")).await.expect(200)["name"].as_str().unwrap().to_owned();
    for (language, words, full) in [
        ("en", "Emergency stop", format!("Emergency stop for {name}: hold for one second")),
        ("de", "Not-Halt", format!("Not-Halt von {name}: eine Sekunde lang gedrückt halten")),
    ] {
        sam.patch("/api/auth/me", &json!({"language": language})).await.expect(200);
        for page in ["/floor", path.as_str()] {
            let page = sam.get(page).await;
            is_sound(&page);
            let (card, stop) = page.text.split_once("<form class=\"stops\"").unwrap_or_else(|| panic!("{}", page.text));
            let (_, acts) = card.rsplit_once("class=\"foot\"").unwrap_or_else(|| panic!("{card}"));
            let stop = stop.split("</form>").next().unwrap();
            assert!(stop.contains(&format!("action=\"{path}#stop-title\"")), "{stop}");
            assert!(stop.contains(&format!("aria-label=\"{full}\"")), "{stop}");
            assert!(stop.contains(&format!("<span class=\"word\">{words}</span>")), "{stop}");
            // The menu is elsewhere.
            assert!(!acts.contains("popovertarget") && page.text.contains("popovertarget=\"menu-"), "{acts}");
        }
    }
    assert!(sam.get(&path).await.text.contains("id=\"stop-title\""), "there is an explanation");
}

#[tokio::test]
async fn a_search_of_the_network_shows_how_far_it_is_and_is_cancelled() {
    const SEARCH: &str = "/floor/printers/search";
    const CANCEL: &str = "/floor/printers/search/cancel";

    // It listens for so long that somebody can cancel it.
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_DISCOVERY__LISTEN_SECONDS", 60).start().await;
    let (sam, boss) = (operator(&app).await, boss(&app).await);
    let by_hand = sam.get(NEW_PATH).await;
    assert_eq!(send(&sam, CANCEL, &[("form_token", &token(&by_hand))]).await.status, 403);
    // The search is over at once if another test listens at the port at the same time.
    let cancelled = until("a search to be cancelled", || async {
        let page = boss.get(NEW_PATH).await;
        let running = arrived(&boss, send(&boss, SEARCH, &[("form_token", &token(&page))]).await).await;
        is_sound(&running);
        if !running.text.contains("data-goes-on") {
            return None;
        }
        for words in ["Searching: no printers found so far.", "<progress id=\"asked\"", ">Cancel search</button>"] {
            assert!(running.text.contains(words), "{words} in {}", running.text);
        }
        assert!(!running.text.contains(">Search the network</button>"), "{}", running.text);
        send(&boss, CANCEL, &[("form_token", &token(&running))]).await;
        let over = until("the search to end", || async {
            let page = boss.get(NEW_PATH).await;
            (!page.text.contains("data-goes-on")).then_some(page)
        })
        .await;
        over.text.contains("Search cancelled: no printers found.").then_some(over)
    })
    .await;
    is_sound(&cancelled);
    assert!(cancelled.text.contains(">Search the network</button>"), "{}", cancelled.text);
    assert!(!cancelled.text.contains("No printers found on this server"), "nobody knows: {}", cancelled.text);
}

#[tokio::test]
async fn the_stop_by_form_takes_no_body_and_is_refused_to_other_sites() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[]).await;
    let sam = operator(&floor.app).await;
    let path = format!("/floor/printers/{}/emergency-stop", floor.printers[0]);
    let stop = |site: &str| sam.send(sam.request("POST", &path).header("sec-fetch-site", site));
    for foreign in ["cross-site", "same-site"] {
        assert_eq!(stop(foreign).await.status, 403, "{foreign}");
    }
    floor.attention(0, "needs_home", false).await;
    let stopped = arrived(&sam, stop("same-origin").await).await;
    assert_eq!(stopped.status, 200, "{}", stopped.text);
    is_sound(&stopped);
    floor.attention(0, "needs_home", true).await;
}
