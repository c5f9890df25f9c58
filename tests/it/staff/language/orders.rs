//! Pages of orders and products in German.

use serde_json::json;
use simulator::PrinterKind;

use super::shows;
use crate::billing::pages::token;
use crate::machines::{FAST, Floor, JUDGE_LATE};
use crate::staff::products::sent;
use crate::staff::{OPERATOR, operator};
use crate::support::{App, Db};

#[tokio::test]
async fn orders_pages_are_german() {
    let floor = Floor::on(Db::sqlite().with_staff(OPERATOR), PrinterKind::FwRest, 1, FAST, &[JUDGE_LATE]).await;
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
    let pay = [("method", "Überweisung"), ("currency", "usd"), ("amountCents", "2,50")];
    let paid = sent(&sam, &own, &format!("/shop/orders/{unpaid}/mark-paid"), &pay).await;
    shows(&paid, &["<span>Überweisung</span>", "2,50 USD", ">2,50 USD erstatten (Überweisung, <time "]);
    let payments = floor.app.get(&format!("/api/orders/{unpaid}")).await.expect(200)["payments"].clone();
    assert_eq!(payments[0]["method"], "bank transfer", "{payments}");

    let order = floor.order(2).await;
    floor.app.order_is(&order, "ready").await;
    let path = format!("/shop/orders/{order}");
    let texts = [
        ">Versandbereit</span>",
        ">Neue Sendung</h2>",
        "(bis zu 2)",
        "2 von 2 gut",
        "10,00 USD",
        "</a> ist auf <a href=\"/floor/printers/",
        "</a> fertig gedruckt",
    ];
    shows(&sam.get(&path).await, &texts);
    let some = [("someParts", "true"), ("part-0", "1"), ("carrier", "pickup")];
    shows(&sent(&sam, &own, &format!("{path}/ship"), &some).await, &[">Sendung 1</h2>", "Abholung "]);
    let texts = [">Packliste 1 zur Bestellung ORD-", ">Lieferadresse</h2>", ">Keine Adresse</p>", "Abholung "];
    shows(&sam.get(&format!("{path}/shipments/1")).await, &texts);
    let texts = [
        ">Versandbereit</span>",
        ">Gesamtbetrag</th>",
        "</b> Pünktlich</a>",
        ">Dringendste zuerst</a>",
        ">2 Einträge</p>",
    ];
    shows(&sam.get("/shop/orders").await, &texts);
}

#[tokio::test]
async fn products_pages_are_german() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    sam.patch("/api/auth/me", &json!({"language": "de"})).await.expect(200);
    let texts = ["<html lang=\"de\">", ">Noch keine Produkte</h2>", ">Produkte und Sets</a>", ">Neues Set</a>"];
    shows(&sam.get("/shop/products").await, &texts);
    let texts = [">Noch keine Dateien</h2>", ">API-Dokumentation</a>", "data-sends=\"Wird hochgeladen\u{a0}…\""];
    shows(&sam.get("/shop/products/files").await, &texts);

    let (material, file) = (app.material("PLA black", 1_000.0).await, app.gcode("vase", 3_600, 20.5).await);
    let texts = ["<b>1</b> Druckdateien</a>", "<b>0</b> Modelle</a>", "<b>0</b> Kamerabilder</a>", ">Suchen</button>"];
    shows(&sam.get("/shop/products/files").await, &texts);
    let texts = [
        ">Manueller Druck</h2>",
        ">Kein Drucker nimmt dieses Dateiformat an.</p>",
        ">Filamentdrucker</option>",
        "20,5 g",
        "1\u{a0}Std. 00\u{a0}Min.",
        ">Anlegen und ein Stück bestellen</button>",
    ];
    shows(&sam.get(&format!("/shop/products/files/{file}")).await, &texts);
    let form = sam.get(&format!("/shop/products/new?file={file}")).await;
    shows(&form, &[">Neues Produkt</h1>", ">Teile je Platte</label>", ">Material auswählen</option>"]);
    let fields = [("code", "VASE"), ("name", "Vase"), ("priceCents", "much"), ("currency", "usd")];
    let wrong = sent(&sam, &token(&form), "/shop/products/new", &fields).await;
    assert_eq!(wrong.status, 400, "{}", wrong.text);
    shows(&wrong, &["<html lang=\"de\">", "Preis: muss ein Betrag sein, zum Beispiel 2,50"]);

    let sku = app.sku("VASE", &material, &file, 1_250).await;
    app.patch(&format!("/api/skus/{sku}"), &json!({"active": false})).await.expect(200);
    let texts = [
        "12,50 USD",
        "20,5 g PLA black",
        "vase.gcode</a>, Platte 1",
        ">Nein</span>",
        "<li>es ist nicht im Verkauf und kann nicht bestellt werden</li>",
        ">VASE wieder anbieten</button>",
    ];
    shows(&sam.get(&format!("/shop/products/{sku}")).await, &texts);
    shows(
        &sam.get("/shop/products").await,
        &[">Preis</th>", "data-label=\"Bestellbar\"", ">1 Eintrag</p>", ">Im Verkauf</a>"],
    );
}
