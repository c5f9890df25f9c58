//! Languages of the staff's pages: the account's, else the browser's; areas that are not translated are in English.

use serde_json::{Value, json};

use super::settings::boss;
use super::{done, is_sound, operator};
use crate::api::PASSWORD;
use crate::billing::pages::{send, token};
use crate::support::client::Answer;
use crate::support::{App, Client, Db};

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
    for path in ["/floor", "/to-do", "/shop/orders", "/shop/settings", "/shop/settings/users"] {
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
async fn printer_pages_are_german() {
    use simulator::PrinterKind;

    use crate::machines::{Floor, JUDGE_LATE, SLOW};

    let floor = Floor::new(PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let sam = operator(&floor.app).await;
    sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    let path = format!("/floor/printers/{}", floor.printers[0]);
    let page = sam.get(&path).await;
    shows(&page, &["<html lang=\"de\">", ">Alle Drucker</a>", ">Manueller Druck …</a>", ">Not-Halt</h2>"]);
    shows(&page, &[">Außer Betrieb nehmen</button>", ">Einzelheiten</h2>", ">Adresse</dt>", ">Noch keine Notizen.<"]);
    let note = [("form_token", &*token(&page)), ("done", "Riemen gespannt")];
    let noted = done(&sam, &format!("{path}/note"), &note).await;
    shows(&noted, &[">Riemen gespannt</span>", ">heute "]);

    shows(&sam.get(&format!("{path}/edit")).await, &[">Schlagwörter</label>", ">Drucker entfernen</summary>"]);
    shows(&sam.get("/floor/printers/new").await, &[">Drucker hinzufügen</h1>", "Standardport 5000."]);
    let form = sam.get("/floor/printers/new?type=mqtt_lan").await;
    shows(&form, &[">Zugangscode</label>", ">Seriennummer</label>", "„Nur-LAN-Modus“", ">Filamentdrucker</option>"]);
    let wrong = [("form_token", &*token(&form)), ("type", "fw_rest"), ("name", "Ada"), ("baseUrl", "ftp://ada")];
    let wrong: Vec<_> = wrong.into_iter().chain([("machineType", "fdm_standard"), ("untested", "true")]).collect();
    let refused = send(&sam, "/floor/printers/new?type=fw_rest", &wrong).await;
    assert_eq!(refused.status, 400, "{}", refused.text);
    shows(&refused, &["URL oder IP-Adresse: muss eine URL mit http, https oder mqtts sein"]);

    let upload = sam.get(&format!("{path}/upload")).await;
    shows(&upload, &[">Manueller Druck auf ", ">Hochladen</button>", "Dieser Drucker nimmt .gcode an."]);
    let file = floor.file("vase", 3_900, 3.5).await;
    let offer = sam.get(&format!("{path}/upload?file={file}")).await;
    shows(&offer, &[" drucken?</h1>", ">Druckzeit</dt>", ">Jetzt auf "]);
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
