//! The wizard in German, for whoever prefers it.

use super::{Browser, is_sound};
use crate::support::client::Answer;
use crate::support::ports::closed_address;
use crate::support::{App, Db};

#[track_caller]
fn shows(page: &Answer, texts: &[&str]) {
    is_sound(page);
    assert!(page.text.contains("<html lang=\"de\">"), "{}", page.text);
    for text in texts {
        assert!(page.text.contains(text), "{text} in {}", page.text);
    }
}

#[tokio::test]
async fn setup_pages_are_german() {
    let app = App::new(Db::sqlite()).await;
    let mut browser = Browser { languages: "de-AT,de;q=0.9,en;q=0.8", ..Browser::new(&app) };
    let door = browser.get("/setup/enter?error=wrong_code").await;
    shows(&door, &[">Betrieb einrichten</h1>", "Der Code ist falsch.", ">Einmalcode</label>", "Zum Beispiel K7QM"]);
    browser.begin(&app).await;
    let welcome = browser.get("/setup").await;
    shows(&welcome, &[">Willkommen</h1>", "Schritt 1 von 6", "Zahlungsdienst", "Nicht verwendet", ">Zeitzone</h2>"]);
    let database = browser.send("/setup/database", &[]).await;
    shows(
        &database,
        &["Test bestanden.", "Nicht konfiguriert: Ratenbegrenzungen", "Weiter: Druckersuche", ">Zurück</a>"],
    );

    shows(&browser.get("/setup/printers").await, &[">Drucker suchen</button>", ">Drucker manuell hinzufügen</a>"]);
    let form = browser.get("/setup/printers/new").await;
    shows(&form, &[">OctoPrint, Port 5000</option>", "Immer nötig für OctoPrint.", ">Filamentdrucker</option>"]);
    let empty = browser.send("/setup/printers/new", &[("type", "server_rest")]).await;
    assert_eq!(empty.status, 400);
    shows(&empty, &["Name: Geben Sie einen Namen ein.", "API-Schlüssel: für Drucker dieses Typs erforderlich."]);

    let dead = format!("http://{}", closed_address());
    let dead = [("service", "smart_home"), ("SMART_HOME_URL", dead.as_str()), ("SMART_HOME_TOKEN", "hunter2")];
    let failed = browser.send("/setup/integrations", &dead).await;
    shows(&failed, &[">Integrationen</h1>", "Test fehlgeschlagen.", "Details: <span lang=\"en\">"]);
    let faulty = browser.send("/setup/commerce", &[("service", "smtp"), ("SMTP_PORT", "many")]).await;
    shows(&faulty, &[">Verkauf</h1>", "Mailserver: Port: ", ">Postleitzahl</label>"]);
    let seller = [("service", "seller"), ("PRINTFLOOR_INVOICES__SELLER_COUNTRY", "XX")];
    let seller = browser.send("/setup/commerce", &seller).await;
    shows(&seller, &["fehlen noch Angaben zum Betrieb: Name, Straße und Hausnummer, Ort und Land."]);

    shows(&browser.get("/setup/review").await, &[">Prüfen und starten</h1>", ">.env schreiben und abschließen<"]);
    assert_eq!(Browser::led(&browser.send("/setup/review", &[]).await), "/setup/done");
    shows(&browser.get("/setup/done").await, &[">Ihr Betrieb ist eingerichtet</h1>", ">Zur Werkstatt</a>"]);
    let missing = browser.get("/setup/done/live?printer=nowhere").await;
    assert_eq!(missing.status, 404, "{}", missing.text);
    shows(&missing, &[">Seite nicht gefunden</h1>", ">Zur Einrichtung</a>"]);
}
