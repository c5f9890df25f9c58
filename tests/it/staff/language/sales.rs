//! Pages of customers, invoices, quotes and requests in German.

use serde_json::json;

use super::{german, shows};
use crate::api::quotes::draft as drafted_quote;
use crate::api::some_sku;
use crate::billing::customer;
use crate::billing::intake::submit_request;
use crate::billing::invoices::sent as sent_invoice;
use crate::billing::pages::{send, token};
use crate::staff::{OPERATOR, done, id_on, operator};
use crate::support::{App, Client, Db};

const ANN: &str = "ann@example.org";

/// Returns a client of an operator whose account is in German.
async fn german_operator(app: &App) -> Client {
    let sam = operator(app).await;
    sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    sam
}

#[tokio::test]
async fn customers_pages_are_german() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    let texts = ["<html lang=\"de\">", ">Kunden</h1>", "<p>Noch keine Kunden.", ">0 Einträge</p>"];
    shows(&german(&sam, "/shop/customers").await, &texts);
    let ann = customer(&app, ANN).await;
    let address =
        json!([{"kind": "shipping", "line1": "Weg 1", "city": "Ulm", "postalCode": "89073", "country": "DE"}]);
    ann.patch("/api/v1/profile", &json!({"addresses": address})).await.expect(200);
    let invoice = sent_invoice(&app, ANN).await;
    let part = json!({"method": "bank_transfer", "amountCents": 2_050});
    app.post(&format!("/api/invoices/{invoice}/mark-paid"), &part).await.expect(200);

    let texts = [">E-Mail-Adresse</th>", ">Telefon</th>", "data-label=\"Kunde seit\"", ">heute ", ">1 Eintrag</p>"];
    shows(&german(&sam, "/shop/customers").await, &texts);
    shows(&german(&sam, "/shop/customers?q=nobody").await, &["Kein Kunde passt zu „nobody“. <a", ">Alle anzeigen</a>"]);
    let record = app.get("/api/customers").await.expect(200)["customers"][0]["id"].clone();
    let page = german(&sam, &format!("/shop/customers/{}", record.as_str().unwrap())).await;
    let texts = [
        ">Alle Kunden</a>",
        "<dd>Weg 1, 89073 Ulm, Deutschland</dd>",
        ">Umsatz abzüglich Erstattungen</h2>",
        "<p class=\"figure\">20,50 USD</p>",
        ">Teilweise bezahlt</span>",
        ">Alle Rechnungen ansehen</a>",
        ">Noch keine.</p>",
        "Überweisung für <a href=\"/shop/invoices/",
        ">eine Rechnung</a>",
        "Nur der Kunde selbst kann dieses Profil ändern.",
    ];
    shows(&page, &texts);
}

#[tokio::test]
async fn invoices_pages_are_german() {
    let app = App::new(Db::sqlite()).await;
    let sam = german_operator(&app).await;
    let texts = ["<html lang=\"de\">", ">Rechnungen</h1>", "<p>Noch keine Rechnungen.", ">Teilweise bezahlt</a>"];
    shows(&sam.get("/shop/invoices").await, &texts);
    let form = sam.get("/shop/invoices/new").await;
    let texts =
        [">Neue Rechnung</h1>", ">Steuersatz in %</label>", ">Adresszusatz</label>", ">Entwurf speichern</button>"];
    shows(&form, &texts);
    let own = token(&form);
    let fields = |price: &'static str| {
        [
            ("form_token", own.as_str()),
            ("customerName", "Ann Example"),
            ("customerEmail", ANN),
            ("description", "Gestaltung"),
            ("quantity", "1"),
            ("unitPriceCents", price),
            ("taxRateBps", "7,5"),
        ]
    };
    let wrong = send(&sam, "/shop/invoices/new", &fields("viel")).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    shows(&wrong, &["Einzelpreis, netto: muss ein Betrag sein", "value=\"viel\""]);

    let page = done(&sam, "/shop/invoices/new", &fields("1.100,50")).await;
    let texts = [
        ">Entwurf</span>",
        ">Rechnung ohne Nummer <",
        "1.100,50 USD",
        ">7,5\u{a0}%</td>",
        "value=\"7,5\"",
        ">Position 1 bearbeiten: Gestaltung</summary>",
        ">Für Ann Example ausstellen</button>",
    ];
    shows(&page, &texts);
    let invoice = id_on(&page, "/shop/invoices/");
    let path = format!("/shop/invoices/{invoice}");
    let issued = done(&sam, &format!("{path}/send"), &[("form_token", &own)]).await;
    shows(&issued, &[">Offen</span>", "value=\"Überweisung\"", ">Zahlung erfassen</summary>", ">Rechnung stornieren<"]);
    let part = [("form_token", own.as_str()), ("method", "Überweisung"), ("amountCents", "100,50")];
    let paid = done(&sam, &format!("{path}/mark-paid"), &part).await;
    let texts = [">Teilweise bezahlt</span>", "<span>Überweisung</span>", "eingegangen, <time", ">Zahlung erstatten<"];
    shows(&paid, &texts);
    let payments = || async { app.get(&format!("/api/invoices/{invoice}")).await.expect(200)["payments"].clone() };
    let payment = payments().await[0].clone();
    assert_eq!(payment["method"], "bank transfer", "{payment}");
    let id = payment["id"].as_str().unwrap();
    let back = [("form_token", own.as_str()), ("paymentId", id), ("amountCents", "0,50"), ("method", "Barzahlung")];
    shows(&done(&sam, &format!("{path}/refund"), &back).await, &["<span>Barzahlung</span>"]);
    let payments = payments().await;
    assert!(payments.as_array().unwrap().iter().any(|one| one["method"] == "cash"), "{payments}");
    shows(&sam.get("/shop/invoices").await, &["data-label=\"Offener Betrag\"", ">Fällig</th>", ">Nummern</a>"]);
    shows(&sam.get("/shop/invoices/numbering").await, &[">Es fehlen keine Nummern</span>", ">Nummernkreis</th>"]);
}

#[tokio::test]
async fn quotes_pages_are_german() {
    let app = App::new(Db::sqlite()).await;
    let sam = german_operator(&app).await;
    shows(
        &sam.get("/shop/quotes").await,
        &["<html lang=\"de\">", ">Angebote</h1>", "<p>Noch keine Angebote.", ">Anfragen</a>"],
    );
    shows(&sam.get("/shop/requests").await, &["<html lang=\"de\">", ">Anfragen</h1>", "<p>Noch keine Anfragen."]);
    let sku = some_sku(&app).await;
    let (quote, request) = (drafted_quote(&app, &sku).await, submit_request(&app).await);
    let path = format!("/shop/quotes/{quote}");
    shows(
        &sam.get("/shop/quotes").await,
        &["Anfragen (1 neu)", ">Gültig bis</th>", ">Entwurf</span>", ">Erstellt</th>"],
    );
    let page = sam.get(&path).await;
    let texts = [
        "37,00 USD",
        ">Entwurf bearbeiten</h2>",
        ">Druckvorlage</label>",
        ">Großformat-Filamentdrucker</option>",
        ">Wird aus einem Produkt gedruckt</span>",
        "An Kunden senden: ",
    ];
    shows(&page, &texts);
    let own = token(&page);
    let sent = done(&sam, &format!("{path}/send"), &[("form_token", &own)]).await;
    shows(&sent, &[">Gesendet</span>", "Ein gesendetes Angebot können Sie nicht mehr ändern.", "Grund (intern)"]);
    let frozen = send(&sam, &format!("{path}/change"), &[("form_token", &own), ("notes", "x")]).await;
    assert_eq!(frozen.status, 409, "{}", frozen.text);
    shows(&frozen, &["<p>Das Angebot kann in seinem aktuellen Status nicht geändert werden."]);

    shows(&sam.get("/shop/requests").await, &[">Neu</span>", ">Eingegangen</th>", ">seit "]);
    let texts = [
        ">Anfrage von Ann Example <",
        "alt=\"Foto 1 von Ann Example\"",
        ", von der Website ",
        ">UV-Beschichtung</dt><dd>Nein</dd>",
        ">Neues Angebot aus Schätzung</button>",
        ">Anfrage von Ann Example abschließen</button>",
    ];
    shows(&sam.get(&format!("/shop/requests/{request}")).await, &texts);
    let new = sam.get(&format!("/shop/quotes/new?request={request}")).await;
    shows(&new, &["Dieses Angebot beantwortet <a href=\"/shop/requests/", ">eine Anfrage</a> von <a", ">Manuell</h2>"]);
}
