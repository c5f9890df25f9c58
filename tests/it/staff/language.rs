//! Languages of the staff's pages: the account's, otherwise the browser's, otherwise English.

mod orders;
mod sales;
mod settings;
mod webhooks;
mod work;

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::settings::boss;
use super::{OPERATOR, done, is_sound, operator, version_on};
use crate::api::PASSWORD;
use crate::billing::pages::{send, token};
use crate::machines::{FAST, Floor, JUDGE_LATE, SLOW};
use crate::support::client::Answer;
use crate::support::stream::Stream;
use crate::support::{App, Client, Db, on_sqlite, until};

/// Path of the user's own account page.
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
    let texts = [
        "<html lang=\"de\">",
        "Zum Inhalt springen",
        ">Mein Konto</h1>",
        "Bestellungen, Drucker, Spulen\u{a0}… suchen",
    ];
    shows(&german(&sam, ACCOUNT).await, &texts);
    let plain = sam.get(ACCOUNT).await;
    shows(&plain, &["<html lang=\"en\">", ">My account</h1>", "<option value=\"browser\" selected>"]);

    let own = token(&plain);
    let saved = done(&sam, ACCOUNT, &[("form_token", &own), ("language", "de")]).await;
    shows(&saved, &["<html lang=\"de\">", "<option value=\"de\" selected>Deutsch</option>"]);
    assert_eq!(language(&sam).await, "de");
    let sessions = sam.get("/shop/settings/sessions").await;
    shows(&sessions, &[">Sitzungen</h1>", ">Dieser Browser<", ">heute ", "id=\"summary\"", "0</b> Drucker im Druck"]);
    shows(&sam.get("/shop/settings/password").await, &[">Neues Passwort</label>"]);
    shows(&sam.get("/shop/settings/second-factor").await, &[">Anmeldung in zwei Schritten</h1>", ">Einrichten<"]);

    let wrong = send(&sam, ACCOUNT, &[("form_token", &own), ("language", "fr")]).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    done(&sam, ACCOUNT, &[("form_token", &own), ("language", "browser")]).await;
    assert_eq!(language(&sam).await, Value::Null);
    shows(&sam.get(ACCOUNT).await, &["<html lang=\"en\">"]);
}

#[tokio::test]
async fn the_reference_of_the_parts_is_in_english_for_everybody() {
    let app = App::new(Db::sqlite()).await;
    let boss = boss(&app).await;
    let page = german(&boss, "/design").await;
    shows(&page, &["<html lang=\"en\">", "Skip to content", "Search orders, printers, spools…", "id=\"summary\""]);
    assert!(!page.text.contains("Einstellungen"), "{}", page.text);
}

on_sqlite! {
    async fn insights_pages_are_german(db: Db) {
        let floor = Floor::on(db.with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
        let sam = operator(&floor.app).await;
        let empty = german(&sam, "/shop/insights?days=365").await;
        shows(&empty, &[">Keine Drucke in diesem Zeitraum</h2>", ">1 Jahr</a>", ">Noch keine Daten zu: Drucke, "]);
        let cost = json!({"unitCostCents": 2.5});
        floor.app.patch(&format!("/api/inventory/materials/{}", floor.material), &cost).await.expect(200);
        let order = floor.order(1).await;
        floor.app.order_is(&order, "ready").await;
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        let rejected = json!({"goodCount": 0, "reason": "layer_shift"});
        floor.app.post(&format!("/api/jobs/{job}/sign-off"), &rejected).await.expect(200);
        let texts = [
            "<html lang=\"de\">",
            ">Auswertung</h1>",
            "aria-label=\"Zeitraum\"",
            ">Noch keine Daten zu: ",
            "Durchlaufzeit (Median)",
            "Keine Daten aus den 30 Tagen davor",
            ">Einen Blick wert</h2>",
            "</a> hat die höchsten Ausschusskosten: Material für 0,2",
            ">„Schichtversatz“</a>): 1, in den 30 Tagen davor keiner.",
            ">Drucke pro Tag als CSV</a>",
            " am stärksten Tag; rot: fehlgeschlagen oder abgebrochen",
            "aria-label=\"Auslastung der Drucker: Zahlen\"",
            "Eingehaltene Zusagen",
        ];
        shows(&german(&sam, "/shop/insights").await, &texts);
        let table = german(&sam, "/shop/insights/table?figure=scrap-reasons").await.text;
        assert!(table.contains("reason,scrap,scrapCostCents\r\nlayer shift,1,"), "{table}");
    }
}

#[tokio::test]
async fn labels_pages_are_german() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    let texts = [
        "<html lang=\"de\">",
        ">Etiketten</h1>",
        "Smartphones können diese Adresse nicht öffnen.",
        "<p>Noch keine Drucker. <a href=\"/floor\">Zur Werkstatt</a></p>",
        "<p>Legen Sie zuerst ein Material an. <a href=\"/shop/stock\">Zum Lager</a></p>",
        ">Vorhandene Spulen</h2>",
        "Noch keine Lagerplätze.",
    ];
    shows(&german(&sam, "/shop/labels").await, &texts);
    let material = app.material("PLA black", 100.0).await;
    let place = json!({"location": "Shelf A3/4"});
    app.patch(&format!("/api/inventory/materials/{material}"), &place).await.expect(200);
    let texts = [
        "<p>Jede Spule bekommt eine neue Nummer.",
        ">Anzahl</label>",
        ">A4-Blatt zum Ausschneiden<",
        ">Etiketten drucken</button>",
        "value=\"Shelf A3/4\"",
    ];
    shows(&german(&sam, "/shop/labels").await, &texts);
    let nothing = german(&sam, "/shop/labels/pdf?printer=x").await;
    assert_eq!(nothing.status, 400, "{}", nothing.text);
    shows(&nothing, &["<p>Etiketten: wählen Sie mindestens einen Drucker, eine Spule oder einen Lagerplatz.</p>"]);
    let pdf = german(&sam, &format!("/shop/labels/pdf?new=1&material={material}")).await;
    assert_eq!((pdf.status, pdf.header("content-type")), (200, Some("application/pdf")), "{}", pdf.text);
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
    shows(&missing, &["<html lang=\"de\">", ">Seite nicht gefunden</h1>", "<p>Diese Adresse gibt es nicht."]);

    let own = token(&sam.get("/shop/settings/password").await);
    for (current, new, text) in [
        ("wrong password", "battery horse correct", "<p>Das aktuelle Passwort ist falsch.</p>"),
        (PASSWORD, "short", "Neues Passwort: muss mindestens 10 Zeichen lang sein."),
    ] {
        let fields = [("form_token", &*own), ("currentPassword", current), ("newPassword", new)];
        let wrong = send(&sam, "/shop/settings/password", &fields).await;
        shows(&wrong, &["<html lang=\"de\">", text]);
    }
}

#[tokio::test]
async fn printer_pages_are_german() {
    use simulator::PrinterKind;

    use crate::machines::{Floor, JUDGE_LATE, SLOW};

    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let sam = operator(&floor.app).await;
    sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    let path = format!("/floor/printers/{}", floor.printers[0]);
    let page = sam.get(&path).await;
    let texts = ["<html lang=\"de\">", "aria-label=\"Alle Drucker\"", ">Manueller Druck\u{a0}…</a>", ">Not-Halt</h2>"];
    shows(&page, &texts);
    shows(&page, &[">Außer Betrieb nehmen</button>", ">Details</h2>", ">Adresse</dt>", ">Noch keine Notizen.<"]);
    let note = [("form_token", &*token(&page)), ("done", "Riemen gespannt")];
    let noted = done(&sam, &format!("{path}/note"), &note).await;
    shows(&noted, &[">Riemen gespannt</span>", ">heute "]);

    shows(&sam.get(&format!("{path}/edit")).await, &[">Schlagwörter</label>", ">Drucker entfernen</summary>"]);
    shows(
        &sam.get("/floor/printers/new").await,
        &[">Drucker hinzufügen</h1>", ">Manuell hinzufügen</h2>", "Serien X1, P1 und A1 im LAN-Modus"],
    );
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

/// Reads the stream until the card of a printer has this text. Returns the card.
async fn card_sent(stream: &mut Stream, printer: &str, text: &str) -> String {
    loop {
        let sent = stream.next().await.expect("the stream goes on");
        let (id, html) = (sent.data["id"].as_str().unwrap_or_default(), sent.data["html"].as_str().unwrap_or_default());
        if id == format!("printer-{printer}") && html.contains(text) {
            return html.to_owned();
        }
    }
}

#[tokio::test]
async fn floor_pages_are_german() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 2, SLOW, &[JUDGE_LATE]).await;
    let sam = operator(&floor.app).await;
    sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    // Only cards of printers whose spools somebody keeps track of name them.
    floor.app.post(&floor.path(0, "/slots/0"), &json!({"materialId": floor.material})).await.expect(200);
    let page = until("the spool", || async {
        let page = sam.get("/floor").await;
        page.text.contains("aria-label=\"Eingelegte Spulen\"").then_some(page)
    })
    .await;
    shows(&page, &[">Werkstatt</h1>", "aria-label=\"Drucker filtern\"", "</b> bereit</a>", ">Bereit</h2>"]);
    shows(&page, &[">Bereit</span>", ">PLA black<", "Weitere Aktionen für", ">Etikett drucken<"]);
    shows(&page, &["Software ist keine Sicherheitseinrichtung", ">Standort</option>", "</b> Drucker</a>"]);
    shows(&page, &["<span id=\"next-free\" class=\"muted small\"></span>"]);
    shows(&sam.get("/floor?view=plan").await, &[">Ohne Standort</h2>", "wählen Sie „Bearbeiten oder entfernen“"]);
    shows(&sam.get("/floor?wall=1").await, &[">Werkstatt</h1>", ">Zur Werkstatt</a>"]);

    // Each language has a stream of its own.
    let mut german = Stream::open(&sam, "/floor/live?language=de", None).await;
    let mut english = Stream::open(&sam, "/floor/live?language=en", None).await;
    let printer = &floor.printers[1];
    card_sent(&mut german, printer, "Weitere Aktionen für").await;
    card_sent(&mut english, printer, "More actions for").await;
    floor.app.post(&floor.path(1, "/maintenance"), &json!({"on": true, "note": "new nozzle"})).await.expect(200);
    let card = card_sent(&mut german, printer, "Außer Betrieb").await;
    assert!(card.contains(">Außer Betrieb</div>") && !card.contains("Out of service"), "{card}");
    let card = card_sent(&mut english, printer, "Out of service").await;
    assert!(card.contains(">Out of service</div>"), "{card}");
    let page = sam.get("/floor").await;
    shows(&page, &[">Offline oder außer Betrieb</h2>", ">Außer Betrieb</span>", "</b> offline</a>"]);
}

#[tokio::test]
async fn numbers_in_german_forms_have_a_comma_and_are_taken_back_as_they_are() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    let api = format!("/api/inventory/materials/{}", app.material("PLA black", 100.0).await);
    let numbers = json!({"reorderPoint": 12.345, "reorderQuantity": 750.5, "unitCostCents": 2.5});
    app.patch(&api, &numbers).await.expect(200);
    let path = format!("{}/edit", api.replace("/api/inventory/", "/shop/stock/"));
    let page = sam.get(&path).await;
    shows(&page, &["value=\"12,3450\"", "value=\"750,5\"", "value=\"25,00\""]);
    let (own, version) = (token(&page), version_on(&page));
    let fields = [
        ("form_token", &*own),
        ("version", &*version),
        ("name", "PLA black"),
        ("type", "filament"),
        ("reorderPoint", "12,3450"),
        ("reorderQuantity", "750,5"),
        ("unitCostCents", "25,00"),
    ];
    done(&sam, &path, &fields).await;
    let now = app.get(&api).await.expect(200);
    for member in ["reorderPoint", "reorderQuantity", "unitCostCents"] {
        assert_eq!(now[member], numbers[member], "{now}");
    }

    // A product's price, weight and size.
    let file = app.gcode("part", 60, 10.0).await;
    let sku = app.sku("PART", api.rsplit('/').next().unwrap_or_default(), &file, 1_250).await;
    let size = json!({"dimensions": {"x": 80, "y": 20.5, "z": 8.125}, "estimatedConsumption": 20.5});
    app.patch(&format!("/api/skus/{sku}"), &size).await.expect(200);
    let form = sam.get(&format!("/shop/products/{sku}/edit")).await;
    shows(&form, &["value=\"12,50\"", "value=\"20,5\"", "value=\"8,1250\"", "value=\"80\""]);
}

#[tokio::test]
async fn stock_pages_are_german() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, SLOW, &[JUDGE_LATE]).await;
    let sam = operator(&floor.app).await;
    sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    let changes = json!({"location": "Regal A3", "reorderPoint": 2000, "unitCostCents": 2.5});
    floor.app.patch(&format!("/api/inventory/materials/{}", floor.material), &changes).await.expect(200);
    let list = sam.get("/shop/stock").await;
    shows(&list, &["<html lang=\"de\">", "<h1>Lager</h1>", "Nachzubestellen (1)", ">Verfügbar</th>", ">Fächer</a>"]);
    shows(&list, &["1000 g verfügbar, Meldebestand 2000 g", "Lagerplatz Regal A3", ">Knapp</span>", ">1 Eintrag</p>"]);

    let path = format!("/shop/stock/materials/{}", floor.material);
    let own = token(&sam.get(&path).await);
    let texts = [">Kosten pro Kilogramm</dt>", "25,00 USD", ">Lagerbewegungen</h2>", ">Bestand (g)</th>"];
    shows(&sam.get(&path).await, &texts);
    let fields = [("form_token", &*own), ("taken", "2000"), ("reason", "x")];
    let wrong = send(&sam, &format!("{path}/write-off"), &fields).await;
    shows(&wrong, &["<p>Von PLA black sind nur 1000 g vorrätig.</p>", "value=\"Lieferung\"", ">Ausbuchen</button>"]);
    let fields = [("form_token", &*own), ("delta", "viel"), ("reason", "x")];
    let wrong = send(&sam, &format!("{path}/receive"), &fields).await;
    shows(&wrong, &["Eingegangene Menge (g): muss eine Zahl sein."]);
    let fields = [("form_token", &*own), ("delta", "100,5"), ("reason", "Montag")];
    let received = done(&sam, &format!("{path}/receive"), &fields).await;
    shows(&received, &[">Wareneingang</th>", ">Anfangsbestand</td>", ">+100,5</td>", ">1100,5</td>", ">Montag</td>"]);
    shows(&received, &["aria-label=\"Bestand vom "]);
    // The reason that the form suggests is recorded as in English.
    for (delta, reason) in [("2", "Lieferung"), ("-2", "x")] {
        let fields = [("form_token", &*own), ("delta", delta), ("reason", reason)];
        shows(&done(&sam, &format!("{path}/receive"), &fields).await, &[&format!(">{reason}</td>")]);
    }
    let ledger = floor.app.get(&format!("/api/inventory/materials/{}/movements", floor.material)).await.expect(200);
    assert_eq!(ledger["movements"][1]["reason"], "delivery", "{ledger}");
    shows(&sam.get(&format!("{path}/edit")).await, &["<h1>PLA black bearbeiten</h1>", "In USD, zum Beispiel 25,00"]);
    let fields = [("form_token", &*own), ("name", "x"), ("type", "filament"), ("color", "red")];
    let wrong = send(&sam, "/shop/stock/new", &fields).await;
    shows(&wrong, &["<h1>Material anlegen</h1>", "Farbe: muss eine Farbe wie #1a2b3c sein."]);
    shows(&sam.get("/shop/stock/bins").await, &["<h1>Lagerplätze</h1>", ">1 Material</span>"]);
    shows(&sam.get("/shop/stock/bins?name=Regal+A3").await, &["Bestand 1101 g, 1101 g verfügbar"]);

    let place = format!("{}/0", floor.printers[0]);
    let form = sam.get(&format!("/shop/stock/slots?place={place}")).await;
    shows(&form, &["<h1>Fächer</h1>", ">Inhalt: ", ">Inhalt speichern</button>", ">Als leer markieren</button>"]);
    let fields = [
        ("form_token", &*own),
        ("place", &*place),
        ("materialId", &*floor.material),
        ("remaining", "750,5"),
        ("spoolId", "12"),
    ];
    let loaded = done(&sam, "/shop/stock/slots", &fields).await;
    shows(&loaded, &["noch 750,5 g", ">Spule 12</a>"]);
    let spool = sam.get("/shop/stock/spools/12").await;
    shows(
        &spool,
        &[">Spule 12 <span", ">Eingelegt</span>", "„noch 750,5 g“ auf die Spule", ">Spule aussondern</button>"],
    );
    let fields = [("form_token", &*own), ("gross", "100"), ("empty", "230,5")];
    let wrong = send(&sam, "/shop/stock/spools/12/weigh", &fields).await;
    shows(&wrong, &["Anzeige der Waage: muss mindestens dem Gewicht der leeren Spule entsprechen."]);
}
