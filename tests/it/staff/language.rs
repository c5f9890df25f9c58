//! Languages of the staff's pages: the account's, else the browser's; areas that are not translated are in English.

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::products::sent;
use super::settings::boss;
use super::{done, is_sound, operator};
use crate::api::PASSWORD;
use crate::billing::pages::{send, token};
use crate::machines::{FAST, Floor, JUDGE_LATE};
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_sqlite};

/// Path of the page for one's own account.
const ACCOUNT: &str = "/shop/settings/account";

/// Requests a page as a browser that prefers German does.
async fn german(client: &Client, path: &str) -> Answer {
    client.send(client.request("GET", path).header("accept-language", "de-AT,de;q=0.9,en;q=0.8")).await
}

#[track_caller]
fn shows(page: &Answer, texts: &[&str]) {
    is_sound(page);
    for text in texts {
        assert!(page.text.contains(text), "{text} in {}", page.text);
    }
}

async fn language(sam: &Client) -> Value {
    sam.get("/api/auth/me").await.expect(200)["user"]["language"].clone()
}

#[tokio::test]
async fn pages_are_in_the_language_of_the_account_and_else_in_that_of_the_browser() {
    let app = App::new(Db::sqlite()).await;
    let sam = operator(&app).await;
    let texts = ["<html lang=\"de\">", "Zum Inhalt springen", ">Mein Konto</h1>", "Bestellungen suchen"];
    shows(&german(&sam, ACCOUNT).await, &texts);
    let plain = sam.get(ACCOUNT).await;
    shows(&plain, &["<html lang=\"en\">", ">My account</h1>", "<option value=\"browser\" selected>"]);

    let own = token(&plain);
    let saved = done(&sam, ACCOUNT, &[("form_token", &own), ("language", "de")]).await;
    shows(&saved, &["<html lang=\"de\">", "<option value=\"de\" selected>Deutsch</option>"]);
    assert_eq!(language(&sam).await, "de");
    let sessions = sam.get("/shop/settings/sessions").await;
    shows(&sessions, &[">Sitzungen</h1>", ">dieser Browser<", ">heute ", "id=\"summary-de\"", "0</b> im Druck"]);
    shows(&sam.get("/shop/settings/password").await, &[">Neues Passwort</label>"]);
    shows(&sam.get("/shop/settings/second-factor").await, &[">Anmeldung in zwei Schritten</h1>", ">Einrichten<"]);

    let wrong = send(&sam, ACCOUNT, &[("form_token", &own), ("language", "fr")]).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    done(&sam, ACCOUNT, &[("form_token", &own), ("language", "browser")]).await;
    assert_eq!(language(&sam).await, Value::Null);
    shows(&sam.get(ACCOUNT).await, &["<html lang=\"en\">"]);
}

#[tokio::test]
async fn a_page_that_is_not_translated_is_in_english_as_a_whole() {
    let app = App::new(Db::sqlite()).await;
    let boss = boss(&app).await;
    for path in ["/floor", "/to-do", "/shop/settings", "/shop/settings/users"] {
        let page = german(&boss, path).await;
        shows(&page, &["<html lang=\"en\">", "Skip to content", "Search orders", "id=\"summary\""]);
        assert!(!page.text.contains("Einstellungen"), "{path}: {}", page.text);
    }
    let users = boss.get("/api/users").await.expect(200);
    let person = format!("/shop/settings/users/{}", users["users"][0]["id"].as_str().unwrap());
    shows(&german(&boss, &person).await, &["<html lang=\"en\">", "aria-label=\"Sessions\""]);
}

#[tokio::test]
async fn errors_and_the_sign_in_are_in_the_language_of_the_page() {
    let app = App::new(Db::sqlite()).await;
    let sam = operator(&app).await;
    shows(&german(&app.nobody(), "/login").await, &["<html lang=\"de\">", ">E-Mail-Adresse</label>"]);
    let nobody = app.nobody();
    let form = nobody.request("POST", "/login").header("accept-language", "de");
    let form = form.header("content-type", "application/x-www-form-urlencoded");
    let refused = nobody.send(form.body("email=sam%40example.org&password=wrong+password")).await;
    assert_eq!(refused.status, 401, "{}", refused.text);
    shows(&refused, &["<p>Die E-Mail-Adresse oder das Passwort ist falsch.</p>"]);

    sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    let missing = sam.get("/shop/settings/sessions/nothing").await;
    assert_eq!(missing.status, 404, "{}", missing.text);
    shows(&missing, &["<html lang=\"de\">", ">Seite nicht gefunden</h1>", ">Zur Werkstatt</a>"]);
    let missing = sam.get("/shop/nowhere").await;
    assert_eq!(missing.status, 404, "{}", missing.text);
    shows(&missing, &["<html lang=\"en\">", ">Page not found</h1>"]);

    let own = token(&sam.get("/shop/settings/password").await);
    for (current, new, text) in [
        ("wrong password", "battery horse correct", "<p>Das aktuelle Passwort ist falsch.</p>"),
        (PASSWORD, "short", "Neues Passwort: muss mindestens 10 Zeichen lang sein."),
    ] {
        let fields = [("form_token", &*own), ("current", current), ("new", new)];
        let wrong = send(&sam, "/shop/settings/password", &fields).await;
        shows(&wrong, &["<html lang=\"de\">", text]);
    }
}

#[tokio::test]
async fn admins_set_the_language_of_others_and_everybody_their_own() {
    let app = App::new(Db::sqlite()).await;
    let (sam, boss) = (operator(&app).await, boss(&app).await);
    let id = sam.get("/api/auth/me").await.expect(200)["user"]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/users/{id}");
    for chosen in [json!("de"), json!("en"), Value::Null] {
        assert_eq!(boss.patch(&path, &json!({"language": chosen})).await.expect(200)["language"], chosen);
        assert_eq!(language(&sam).await, chosen);
    }
    let own = sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    assert_eq!((&own["user"]["language"], &own["user"]["id"]), (&json!("de"), &json!(id)), "{own}");
    sam.patch("/api/auth/me", &json!({})).await.expect(200);
    assert_eq!(language(&sam).await, "de", "what is omitted stays");
    let program = crate::api::with_role(&app, "admin").await;
    assert_eq!(program.patch("/api/auth/me", &json!({"language": "de"})).await.status, 403);
}

on_sqlite! {
    async fn jobs_pages_are_german(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 2, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let empty = german(&sam, "/shop/jobs").await;
        shows(&empty, &["<html lang=\"de\">", ">Druckaufträge</h1>", ">Noch keine Druckaufträge</h2>", ">alle</a>"]);
        floor.app.post(&floor.path(0, "/maintenance"), &json!({"on": true, "note": "new nozzle"})).await.expect(200);
        floor.app.patch(&floor.path(1, ""), &json!({"machineType": "resin_large"})).await.expect(200);
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "SLICED").await;
        let page = german(&sam, &format!("/shop/jobs/{job}")).await;
        let texts = [
            "<html lang=\"de\">",
            ">Druckauftrag JOB-",
            ">Wartet auf einen Drucker</span>",
            "Wartet auf einen Drucker mit PLA black.",
            " ist in Wartung.",
            "10 g PLA black",
            ">reserviert<",
            ">Passende Drucker</h2>",
            ">Später<",
            "der Drucker ist in Wartung",
            "der Maschinentyp ist nicht Standard-Filamentdrucker",
            "1 Teil auf der Platte, Priorität",
            ">Ändern oder abbrechen</summary>",
            "Alle Druckaufträge</a>",
        ];
        shows(&page, &texts);
        assert!(page.text.contains(&format!("/shop/orders/{order}")), "{}", page.text);
        let list = german(&sam, "/shop/jobs").await;
        shows(&list, &["<b>1</b> wartet auf einen Drucker</a>", ">Priorität</th>", ">Wartet auf einen Drucker</span>"]);
        let none = german(&sam, "/shop/jobs?state=FAILED").await;
        shows(&none, &["Keine passenden Druckaufträge. <a", ">Alle anzeigen</a>"]);
        let view = floor.job(&job).await;
        let reason = view["waitingReason"].as_str().unwrap();
        assert!(reason.starts_with("Waiting for a printer"), "the API stays English: {reason}");
    }
}

#[tokio::test]
async fn orders_pages_are_german() {
    let floor = Floor::new(PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
    let sam = operator(&floor.app).await;
    sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    let texts = ["<html lang=\"de\">", ">Noch keine Bestellungen</h2>", ">Nummer oder E-Mail-Adresse</label>"];
    shows(&sam.get("/shop/orders").await, &texts);
    let form = sam.get("/shop/orders/new").await;
    shows(&form, &[">Neue Bestellung</h1>", ">Anzahl (2)</label>", ">Bestellung anlegen</button>"]);
    let own = token(&form);
    let unknown = sent(&sam, &own, "/shop/orders/new", &[("lines.0.skuId", "NONE"), ("lines.0.quantity", "1")]).await;
    assert_eq!(unknown.status, 400, "{}", unknown.text);
    shows(&unknown, &["Produkt: kein Produkt hat diesen Namen oder diese Artikelnummer"]);

    let unpaid = floor.app.order(&floor.sku, 1).await;
    let texts = [
        ">Zahlung offen</span>",
        ">Zahlung erfassen</summary>",
        ">Priorität, Termin, Notizen und Adresse bearbeiten</summary>",
        "<li>Bestellung eingegangen<",
    ];
    shows(&sam.get(&format!("/shop/orders/{unpaid}")).await, &texts);

    let order = floor.order(2).await;
    floor.app.order_is(&order, "ready").await;
    let path = format!("/shop/orders/{order}");
    let texts = [
        ">Versandbereit</span>",
        ">Neue Sendung</h2>",
        "(bis zu 2)",
        "2 von 2 gut",
        "10,00 USD",
        "Druckauftrag abgeschlossen: <a href=\"#job-",
    ];
    shows(&sam.get(&path).await, &texts);
    let some = [("someParts", "true"), ("part-0", "1"), ("carrier", "pickup")];
    shows(&sent(&sam, &own, &format!("{path}/ship"), &some).await, &[">Sendung 1</h2>", "Abholung "]);
    let texts = [">Packliste 1 zur Bestellung ORD-", ">Lieferadresse</h2>", ">Keine Adresse</p>", "Abholung "];
    shows(&sam.get(&format!("{path}/shipments/1")).await, &texts);
    let texts = [">Versandbereit</span>", "data-label=\"Gesamt\"", "</b> Pünktlich</a>", ">Insgesamt 2</p>"];
    shows(&sam.get("/shop/orders").await, &texts);
}

#[tokio::test]
async fn products_pages_are_german() {
    let app = App::new(Db::sqlite()).await;
    let sam = operator(&app).await;
    sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    let texts = ["<html lang=\"de\">", ">Noch keine Produkte</h2>", ">Produkte und Sets</a>", ">Neues Set</a>"];
    shows(&sam.get("/shop/products").await, &texts);
    let texts = [">Noch keine Dateien</h2>", ">API-Dokumentation</a>", "data-sends=\"Die Datei wird gesendet.\""];
    shows(&sam.get("/shop/products/files").await, &texts);

    let (material, file) = (app.material("PLA black", 1_000.0).await, app.gcode("vase", 3_600, 20.5).await);
    let texts = [
        ">Manueller Druck</h2>",
        ">Kein Drucker nimmt dieses Dateiformat an.</p>",
        ">Filamentdrucker</option>",
        "20,5 g",
        "1 Std. 00 Min.",
        ">Anlegen und eines bestellen</button>",
    ];
    shows(&sam.get(&format!("/shop/products/files/{file}")).await, &texts);
    let form = sam.get(&format!("/shop/products/new?file={file}")).await;
    shows(&form, &[">Neues Produkt</h1>", ">Teile je Platte</label>", ">Material auswählen</option>"]);
    let fields = [("code", "VASE"), ("name", "Vase"), ("priceCents", "much"), ("currency", "usd")];
    let wrong = sent(&sam, &token(&form), "/shop/products/new", &fields).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    shows(&wrong, &["<html lang=\"de\">", "Preis: muss ein Betrag sein, etwa 2,50"]);

    let sku = app.sku("VASE", &material, &file, 1_250).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"active": false})).await.expect(200);
    let texts = [
        "12,50 USD",
        "20,5 g PLA black",
        "vase.gcode</a>, Platte 1",
        ">Nein</span>",
        "<li>es ist nicht aktiv und kann nicht bestellt werden</li>",
        ">VASE wieder anbieten</button>",
    ];
    shows(&sam.get(&format!("/shop/products/{sku}")).await, &texts);
    shows(&sam.get("/shop/products").await, &["data-label=\"Preis\"", ">Insgesamt 1</p>", ">Im Angebot</a>"]);
}
