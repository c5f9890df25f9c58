//! The page of the audit log: who did what to which resource on which day, found with the page's filters alone.

use serde_json::json;
use simulator::PrinterKind;

use super::{is_sound, print_on};
use crate::api::{PASSWORD, id, signed_in};
use crate::billing::pages::{posted, token};
use crate::machines::{Floor, JUDGE_LATE, SLOW};
use crate::support::client::Answer;
use crate::support::{App, Client, Clock, until};

/// Path of the audit log.
const LOG: &str = "/shop/settings/audit";
/// Page with the newest work at printers and on jobs.
const ACTIVITY: &str = "/to-do/activity";

/// Returns the ID and the client of an admin named Ada.
async fn ada(app: &App) -> (String, Client) {
    let body = json!({"email": "ada@example.org", "name": "Ada", "password": PASSWORD, "role": "admin"});
    let user = id(&app.post("/api/users", &body).await.expect(201));
    (user, signed_in(app, "ada@example.org").await)
}

/// Returns the value of the option with this label in a filter of the page.
#[track_caller]
fn option(page: &Answer, label: &str) -> String {
    let (before, _) = page.text.split_once(&format!(">{label}</option>")).unwrap_or_else(|| panic!("{}", page.text));
    let (_, value) = before.rsplit_once("value=\"").unwrap();
    value.split('"').next().unwrap().to_owned()
}

/// Returns the target of the link with this text.
#[track_caller]
fn link(page: &Answer, text: &str) -> String {
    let (before, _) = page.text.split_once(&format!(">{text}</a>")).unwrap_or_else(|| panic!("{}", page.text));
    let (_, address) = before.rsplit_once("href=\"").unwrap();
    address.split('"').next().unwrap().replace("&amp;", "&")
}

#[tokio::test]
async fn the_page_answers_who_paused_a_printer_yesterday() {
    let clock = Clock::at_noon();
    let floor = Floor::at(&clock, PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
    let app = &floor.app;
    let (user, ada) = ada(app).await;
    let (_, job) = floor.one().await;
    app.job_is(&job, "PRINTING").await;
    let printer = floor.job(&job).await["printerId"].as_str().unwrap().to_owned();
    app.patch(&format!("/api/printers/{printer}"), &json!({"name": "Curie"})).await.expect(200);
    let pause = format!("/floor/printers/{printer}/pause");
    let page = until("the button", || async {
        let page = ada.get("/floor").await;
        page.text.contains(&format!("action=\"{pause}\"")).then_some(page)
    })
    .await;
    posted(&ada, &pause, &[("form_token", &token(&page)), ("print", &print_on(&page, &pause))]).await;
    until("the pause in the log", || async {
        let log = app.get("/api/audit-log?action=printer.pause").await.expect(200);
        (!log["entries"].as_array().unwrap().is_empty()).then_some(())
    })
    .await;
    app.db.tamper(app, "UPDATE audit SET at = at - 86400000 WHERE action = 'printer.pause'").await;

    let page = ada.get(LOG).await;
    is_sound(&page);
    let (thing, act) = (option(&page, "Curie"), option(&page, "Paused a printer"));
    let yesterday = format!("{}&subject={thing}&action={act}", link(&page, "Yesterday"));
    let answer = ada.get(&yesterday).await;
    is_sound(&answer);
    let sentence = format!(
        "<b><a href=\"/shop/settings/users/{user}\">Ada</a></b> paused <a href=\"/floor/printers/{printer}\">Curie</a>"
    );
    assert_eq!(answer.text.matches(&sentence).count(), 1, "{}", answer.text);
    assert!(answer.text.contains(">yesterday</time></h2>"), "{}", answer.text);
    assert_eq!(answer.text.matches("<summary>Details</summary>").count(), 1, "nothing else: {}", answer.text);
    // Each filter stays when another day is chosen, and can be removed by itself.
    let today = ada.get(&link(&answer, "Today")).await;
    assert!(today.text.contains("No entries match."), "{}", today.text);
    let others = ada.get(&format!("{LOG}?actor=machine&action={act}")).await;
    assert!(others.text.contains("No entries match."), "{}", others.text);
    let by_ada = ada.get(&format!("{LOG}?actor={}", option(&page, "Ada"))).await;
    assert!(by_ada.text.contains(&sentence) && by_ada.text.contains("Ada</a></b> signed in"), "{}", by_ada.text);
    assert!(!by_ada.text.contains("</b> created"), "{}", by_ada.text);
}

#[tokio::test]
async fn the_history_of_a_printer_keeps_its_name_when_it_is_removed() {
    let floor = Floor::new(PrinterKind::FwRest, 2, SLOW, &[]).await;
    let (app, printer) = (&floor.app, &floor.printers[0]);
    let (_, ada) = ada(app).await;
    app.patch(&format!("/api/printers/{printer}"), &json!({"name": "Curie <1>"})).await.expect(200);
    let history = link(&ada.get(&format!("/floor/printers/{printer}")).await, "History");
    let before = ada.get(&history).await;
    let linked = format!("changed the settings of <a href=\"/floor/printers/{printer}\">Curie &lt;1&gt;</a>");
    assert!(before.text.contains(&linked), "{}", before.text);
    app.delete(&format!("/api/printers/{printer}")).await.expect(204);
    let after = ada.get(&history).await;
    is_sound(&after);
    for sentence in ["</b> removed Curie &lt;1&gt;", "</b> changed the settings of Curie &lt;1&gt;", "</b> added Curie"]
    {
        assert!(after.text.contains(sentence), "{sentence} in {}", after.text);
    }
    assert!(!after.text.contains(&format!("href=\"/floor/printers/{}\"", floor.printers[1])), "another printer's");
}

#[tokio::test]
async fn programs_and_rejected_requests_are_sentences_too() {
    let app = App::new(crate::support::Db::sqlite()).await;
    let (_, ada) = ada(&app).await;
    let erp = crate::api::some_sku(&app).await;
    let order = app.order(&erp, 1).await;
    let number = app.get(&format!("/api/orders/{order}")).await.expect(200)["number"].as_str().unwrap().to_owned();
    let wrong = json!({"email": "ada@example.org", "password": "not the one"});
    app.nobody().post("/api/auth/login", &wrong).await.error(401);
    let page = until("the rejected sign-in", || async {
        let page = ada.get(LOG).await;
        page.text.contains("failed to sign in").then_some(page)
    })
    .await;
    is_sound(&page);
    let created = format!("</b> created <a href=\"/shop/orders/{order}\">order {number}</a>");
    assert!(page.text.contains(&created), "{}", page.text);
    assert!(page.text.contains("wrong password or code</span>"), "{}", page.text);
    assert!(!page.text.contains("not the one") && !page.text.contains(PASSWORD), "{}", page.text);
}

#[tokio::test]
async fn loads_name_material_and_slot_and_keys_have_their_names_in_every_log() {
    let floor = Floor::new(PrinterKind::FwRest, 1, SLOW, &[]).await;
    let (app, printer) = (&floor.app, &floor.printers[0]);
    let (_, ada) = ada(app).await;
    let key = app.post("/api/auth/api-keys", &json!({"name": "shelf <1>", "role": "operator"})).await.expect(201);
    let shelf = app.with_key(key["key"].as_str().unwrap());
    app.patch(&format!("/api/printers/{printer}"), &json!({"name": "Curie"})).await.expect(200);
    let loaded = json!({"materialId": floor.material});
    shelf.post(&floor.path(0, "/slots/1"), &loaded).await.expect(200);

    let act = format!("loaded PLA black into slot T1 of <a href=\"/floor/printers/{printer}\">Curie</a>");
    let name = "API key “shelf &lt;1&gt;”";
    for page in [format!("/floor/printers/{printer}"), ACTIVITY.to_owned()] {
        let answer = ada.get(&page).await;
        is_sound(&answer);
        assert!(answer.text.contains(&format!("<span>{name} {act}")), "{page}: {}", answer.text);
    }
    let log = ada.get(LOG).await;
    is_sound(&log);
    let whole = format!("<b><a href=\"/shop/settings/keys\">{name}</a></b> {act}");
    assert!(log.text.contains(&whole), "{}", log.text);
    // The slot and the material keep their names when the printer is removed.
    app.delete(&format!("/api/printers/{printer}")).await.expect(204);
    let log = ada.get(LOG).await;
    assert!(log.text.contains("</b> loaded PLA black into slot T1 of Curie"), "{}", log.text);
}

#[tokio::test]
async fn the_recent_activity_gathers_equal_acts_and_shows_work_before_setup() {
    let clock = Clock::at_noon();
    let floor = Floor::at(&clock, PrinterKind::FwRest, 3, SLOW, &[JUDGE_LATE]).await;
    let app = &floor.app;
    let (_, ada) = ada(app).await;
    let to_do = ada.get("/to-do").await;
    is_sound(&to_do);
    assert!(to_do.text.contains(&format!("href=\"{ACTIVITY}\">Recent activity</a>")), "{}", to_do.text);
    let activity = ada.get(ACTIVITY).await;
    is_sound(&activity);
    let lately = activity.text.split_once("Recent activity").expect("what was done").1;
    assert!(lately.contains(" added 3 printers</span>"), "{lately}");
    assert_eq!(lately.matches(" added ").count(), 1, "{lately}");
    assert!(lately.contains(&format!("<a href=\"{LOG}\">Open the audit log</a>")), "{lately}");
    let own = token(&ada.get("/floor").await);
    for printer in &floor.printers[..2] {
        posted(&ada, &format!("/floor/printers/{printer}/maintenance"), &[("form_token", &*own), ("on", "true")]).await;
    }
    let activity = ada.get(ACTIVITY).await;
    let lately = activity.text.split_once("Recent activity").expect("what was done").1;
    assert!(lately.contains("<span>Ada took 2 printers out of service</span>"), "{lately}");
    // The log itself is for admins.
    let sam = super::operator(app).await;
    let of_sam = sam.get(ACTIVITY).await;
    is_sound(&of_sam);
    assert!(
        of_sam.text.contains("Ada took 2 printers") && !of_sam.text.contains("Open the audit log"),
        "{}",
        of_sam.text
    );
}
