//! Languages of the staff's pages: the account's, else the browser's; areas that are not translated are in English.

use serde_json::{Value, json};

use super::settings::{BOSS, boss};
use super::{done, is_sound, operator};
use crate::api::PASSWORD;
use crate::billing::pages::{send, token};
use crate::support::client::Answer;
use crate::support::{App, Client, Db, until};

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
    for path in ["/floor", "/to-do", "/shop/orders"] {
        let page = german(&boss, path).await;
        shows(&page, &["<html lang=\"en\">", "Skip to content", "Search orders", "id=\"summary\""]);
        assert!(!page.text.contains("Einstellungen"), "{path}: {}", page.text);
    }
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

/// Returns a client of an admin whose pages are in German.
async fn german_boss(app: &App) -> Client {
    let boss = boss(app).await;
    boss.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    boss
}

#[tokio::test]
async fn settings_pages_are_german() {
    let app = App::new(Db::sqlite()).await;
    let boss = german_boss(&app).await;
    let settings = boss.get("/shop/settings").await;
    shows(&settings, &[">Einstellungen</h1>", "Kein Neustart nötig.", ">Protokoll</a>", ">Einrichtung</a>"]);
    shows(&settings, &["<p>Eine Kopie der Daten Ihres Betriebs herunterladen.</p>"]);
    let backup = boss.get("/shop/settings/backup").await;
    shows(&backup, &[">Sicherung herunterladen</button>", "<code>printfloor.db</code>: ein geprüfter Stand"]);
    shows(&backup, &["für <code>SECRETS_KEY</code> und <code>API_KEY_SALT</code> startet der Server"]);
    shows(&boss.get("/shop/settings/restore").await, &["Dieser Betrieb wurde noch nie aus einer Sicherung"]);
    let system = boss.get("/shop/settings/system").await;
    shows(&system, &[">Auf einen Blick</h2>", ">in Ordnung<", "aria-label=\"Zustand der Komponenten\"", " GB frei "]);
    let integrations = boss.get("/shop/settings/integrations").await;
    shows(&integrations, &[">Nicht eingerichtet<", ">Nur testen</button>", "(Abschnitt <code>mail</code>)"]);

    let own = token(&settings);
    let key = [("form_token", &*own), ("name", "Kasse"), ("role", "operator")];
    let [form_token, name, role] = key;
    let past = [form_token, name, role, ("expiry", "1999-12-31")];
    let past = send(&boss, "/shop/settings/keys/new", &past).await;
    assert_eq!(past.status, 400, "{}", past.text);
    shows(&past, &[">Neuer Schlüssel</h1>", "Ablauf: muss in der Zukunft liegen.", ">Bediener: Bestellungen"]);
    let created = send(&boss, "/shop/settings/keys/new", &key).await;
    shows(&created, &[">API-Schlüssel erstellt</h1>", ">Schlüssel für Kasse</h2>", ">Wird nur einmal angezeigt<"]);
    let keys = boss.get("/shop/settings/keys").await;
    shows(&keys, &[">Aktiv<", "<td>Bediener</td>", "<td>nie</td>", ">Kasse widerrufen</button>", "im Header <code>"]);

    shows(&boss.get("/shop/settings/users").await, &[">Benutzer</h1>", "<td>Admin</td>", ">Benutzer hinzufügen<"]);
    let users = boss.get("/api/users").await.expect(200);
    let mut users = users["users"].as_array().unwrap().iter();
    let person = users.find(|user| user["email"] == BOSS).unwrap()["id"].as_str().unwrap();
    let path = format!("/shop/settings/users/{person}");
    let page = boss.get(&path).await;
    shows(&page, &[">Konto deaktivieren</summary>", ">Sam entfernen</button>", "aria-label=\"Sitzungen\""]);
    shows(&page, &["können Sie <a href=\"/shop/settings/password\">Ihr Passwort</a> oder <a "]);
    let last = send(&boss, &format!("{path}/disable"), &[("form_token", &own)]).await;
    assert_eq!(last.status, 409, "{}", last.text);
    shows(&last, &["<p>Der letzte aktive Admin kann nicht entfernt, herabgestuft oder deaktiviert werden;"]);
}

#[tokio::test]
async fn audit_pages_are_german() {
    const LOG: &str = "/shop/settings/audit";
    let app = App::new(Db::sqlite()).await;
    let boss = german_boss(&app).await;
    let sku = crate::api::some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    let number = app.get(&format!("/api/orders/{order}")).await.expect(200)["number"].as_str().unwrap().to_owned();
    let wrong = json!({"email": BOSS, "password": "not the one"});
    app.nobody().post("/api/auth/login", &wrong).await.error(401);
    let page = until("the rejected sign-in", || async {
        let page = boss.get(LOG).await;
        page.text.contains("<b>Jemand ohne Anmeldung</b> konnte sich nicht anmelden").then_some(page)
    })
    .await;
    let created = format!("</b> hat <a href=\"/shop/orders/{order}\">Bestellung {number}</a> erstellt");
    shows(&page, &["<html lang=\"de\">", ">Protokoll</h1>"]);
    shows(&page, &[&*created, "</b> hat sich angemeldet", ">heute</time></h2>", ">Letzte 7 Tage</a>"]);
    shows(&page, &["<span lang=\"en\"><span class=\"chip warn\">wrong credentials</span></span>"]);
    shows(&page, &["<optgroup label=\"Bestellungen und Druckaufträge\">", ">eine Bestellung storniert</option>"]);
    shows(&page, &[">Der Inhaber des Servers</option>", ">Details</summary>", "<dt>Vorgang</dt>"]);
    let filtered = boss.get(&format!("{LOG}?subject=printer&action=printer.pause")).await;
    shows(&filtered, &["<p>Kein Eintrag passt.</p>", ">Filter zurücksetzen</a>", "aria-label=\"Aktive Filter\""]);
    shows(&filtered, &["einen Drucker pausiert <span", ", diesen Filter entfernen</span>"]);
}
