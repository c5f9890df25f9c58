//! Settings and audit log in German.

use serde_json::json;

use super::shows;
use crate::api::some_sku;
use crate::billing::pages::{send, token};
use crate::staff::settings::{BOSS, boss};
use crate::support::{App, Client, Db, until};

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
    shows(&settings, &["<p>Eine Kopie der Daten Ihres Betriebs herunterladen.</p>", ">Team und Zugänge</h2>"]);
    let backup = boss.get("/shop/settings/backup").await;
    shows(&backup, &[">Sicherung herunterladen</button>", "<code>printfloor.db</code>: ein geprüfter Stand"]);
    shows(&backup, &["für <code>SECRETS_KEY</code> und <code>API_KEY_SALT</code> startet der Server"]);
    shows(&boss.get("/shop/settings/restore").await, &["Dieser Betrieb wurde noch nie aus einer Sicherung"]);
    let system = boss.get("/shop/settings/system").await;
    shows(&system, &[">Auf einen Blick</h2>", ">In Ordnung<", "aria-label=\"Status der Komponenten\"", " GB frei "]);
    let integrations = boss.get("/shop/settings/integrations").await;
    shows(&integrations, &[">Nicht eingerichtet<", ">Nur testen</button>", "(Abschnitt <code>mail</code>)"]);

    let own = token(&settings);
    let key = [("form_token", &*own), ("name", "Kasse"), ("role", "operator")];
    let [form_token, name, role] = key;
    let past = [form_token, name, role, ("expiresAt", "1999-12-31")];
    let past = send(&boss, "/shop/settings/keys/new", &past).await;
    assert_eq!(past.status, 400, "{}", past.text);
    shows(&past, &[">Neuer Schlüssel</h1>", "Ablauf: muss in der Zukunft liegen.", ">Bediener: Bestellungen"]);
    let created = send(&boss, "/shop/settings/keys/new", &key).await;
    shows(&created, &[">API-Schlüssel erstellt</h1>", ">Schlüssel für Kasse</h2>", ">Wird nur einmal angezeigt<"]);
    let keys = boss.get("/shop/settings/keys").await;
    shows(&keys, &[">Aktiv<", "<td>Bediener</td>", ">Nie</td>", ">Kasse widerrufen</button>", "im Header <code>"]);

    let list = boss.get("/shop/settings/users").await;
    shows(&list, &[">Benutzer</h1>", ">Admin</td>", ">Benutzer hinzufügen<", ">Aktionen</th>", ">Ihr Konto</a>"]);
    shows(&list, &[" Benutzer</p>"]);
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
    let sku = some_sku(&app).await;
    let order = app.order(&sku, 1).await;
    let number = app.get(&format!("/api/orders/{order}")).await.expect(200)["number"].as_str().unwrap().to_owned();
    let wrong = json!({"email": BOSS, "password": "not the one"});
    app.nobody().post("/api/auth/login", &wrong).await.error(401);
    let page = until("the rejected sign-in", || async {
        let page = boss.get(LOG).await;
        page.text.contains("<b>Jemand ohne Anmeldung</b> konnte sich nicht anmelden").then_some(page)
    })
    .await;
    let created = format!("</b> hat <a href=\"/shop/orders/{order}\">Bestellung {number}</a> angelegt");
    shows(&page, &["<html lang=\"de\">", ">Protokoll</h1>"]);
    shows(&page, &[&*created, "</b> hat sich angemeldet", ">heute</time></h2>", ">Letzte 7 Tage</a>"]);
    shows(&page, &["<span class=\"chip warn\">Passwort oder Code falsch</span>"]);
    shows(&page, &["<optgroup label=\"Bestellungen und Druckaufträge\">", ">Eine Bestellung storniert</option>"]);
    shows(&page, &[">Der Inhaber des Servers</option>", ">Details</summary>", "<dt>Vorgang</dt>"]);
    let filtered = boss.get(&format!("{LOG}?subject=printer&action=printer.pause")).await;
    shows(&filtered, &["<p>Keine passenden Einträge.</p>", ">Filter zurücksetzen</a>", "aria-label=\"Aktive Filter\""]);
    shows(&filtered, &["einen Drucker pausiert <span", ", diesen Filter entfernen</span>"]);
}
