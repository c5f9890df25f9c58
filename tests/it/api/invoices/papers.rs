//! PDF and XML files of invoices: valid, available at their public URL, stored on disk and in a bucket.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::{act, draft, show};
use crate::support::client::http;
use crate::support::{App, Db};

/// Environment variable that names the folder with `qpdf`, `pdftotext` and `pdffonts`; `scripts/test` sets it.
const TOOLS: &str = "PRINTFLOOR_TEST_PDF_TOOLS";

/// Returns a tool's output for a file, which the tool must accept. `None` if there are no tools and services are not
/// required.
fn tool(name: &str, args: &[&str], file: &Path) -> Option<String> {
    let Ok(folder) = std::env::var(TOOLS) else {
        assert!(std::env::var_os(crate::support::db::SERVICES).is_none(), "{TOOLS} is not set");
        eprintln!("left out: no {TOOLS}");
        return None;
    };
    let mut command = Command::new(Path::new(&folder).join(name));
    command.args(args).arg(file);
    if name == "pdftotext" {
        command.arg("-");
    }
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{name}: {text}{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

async fn bytes(url: &str) -> (u16, String, Vec<u8>) {
    let answer = http().get(url).send().await.unwrap();
    let kind = answer.headers()["content-type"].to_str().unwrap().to_owned();
    (answer.status().as_u16(), kind, answer.bytes().await.unwrap().to_vec())
}

/// Returns a server with the settings of a German shop.
fn shop(db: Db) -> crate::support::app::Builder {
    App::on(db)
        .env("PRINTFLOOR_INVOICES__SELLER_NAME", "Druckerei Müller & Söhne GmbH")
        .env("PRINTFLOOR_INVOICES__SELLER_LINE1", "Lindenstraße 12")
        .env("PRINTFLOOR_INVOICES__SELLER_CITY", "Köln")
        .env("PRINTFLOOR_INVOICES__SELLER_POSTAL_CODE", "50674")
        .env("PRINTFLOOR_INVOICES__SELLER_COUNTRY", "DE")
        .env("PRINTFLOOR_INVOICES__SELLER_VAT_ID", "DE123456789")
}

#[tokio::test]
async fn a_pdf_is_whole_and_stands_at_the_address_that_was_told() {
    let app = shop(Db::sqlite()).start().await;
    let invoice = draft(&app, 10_000).await;
    let number = act(&app, &invoice, "send", json!({})).await["number"].as_str().unwrap().to_owned();
    assert_eq!(show(&app, &invoice).await["pdfUrl"], Value::Null, "not made yet");
    let url = act(&app, &invoice, "pdf", json!({})).await["pdfUrl"].as_str().unwrap().to_owned();
    assert_eq!(show(&app, &invoice).await["pdfUrl"], url.as_str());
    assert_eq!(act(&app, &invoice, "pdf", json!({})).await["pdfUrl"], url.as_str(), "the same once more");
    let (status, kind, pdf) = bytes(&url).await;
    assert_eq!((status, kind.as_str()), (200, "application/pdf"));
    let file = app.folder().join("invoice.pdf");
    std::fs::write(&file, &pdf).unwrap();
    tool("qpdf", &["--check"], &file);
    if let Some(text) = tool("pdftotext", &["-layout"], &file) {
        for words in [number.as_str(), "Druckerei Müller & Söhne GmbH", "Design, one hour", "$119.00", "Page 1 of 1"]
        {
            assert!(text.contains(words), "{words} is missing in {text}");
        }
    }
    if let Some(fonts) = tool("pdffonts", &[], &file) {
        let rows: Vec<&str> = fonts.lines().skip(2).collect();
        assert!(
            !rows.is_empty() && rows.iter().all(|row| row.contains(" yes yes yes ")),
            "embedded, subset, readable: {fonts}"
        );
    }
    // What changes is another PDF.
    act(&app, &invoice, "mark-paid", json!({"method": "cash"})).await;
    assert_eq!(show(&app, &invoice).await["pdfUrl"], Value::Null, "what is paid now is not what is stored");
    let paid = act(&app, &invoice, "pdf", json!({})).await["pdfUrl"].as_str().unwrap().to_owned();
    assert_ne!(paid, url);
    act(&app, &invoice, "refund", json!({"amountCents": 500})).await;
    let body = show(&app, &invoice).await;
    let note = body["documents"][1]["id"].as_str().unwrap();
    let path = format!("/api/invoices/{invoice}/documents/{note}");
    let xml = app.get(&format!("{path}/xml")).await;
    assert!(xml.text.contains("<ram:TypeCode>381</ram:TypeCode>") && xml.text.contains(&number), "{}", xml.text);
    let answer = app.get(&format!("{path}/pdf")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/pdf")));
    let foreign = draft(&app, 1).await;
    act(&app, &foreign, "send", json!({})).await;
    let path = format!("/api/invoices/{foreign}/documents/{note}/pdf");
    assert_eq!(app.get(&path).await.error(404), "document_not_found", "a document is that of its invoice");
}

#[tokio::test]
async fn without_pdfs_there_is_the_xml_all_the_same() {
    let app = shop(Db::sqlite()).env("PRINTFLOOR_PDF__ENABLED", "false").start().await;
    let invoice = draft(&app, 10_000).await;
    act(&app, &invoice, "send", json!({})).await;
    assert_eq!(app.get(&format!("/api/invoices/{invoice}/pdf")).await.error(503), "pdf_not_configured");
    assert_eq!(app.act(&format!("/api/invoices/{invoice}/pdf")).await.error(503), "pdf_not_configured");
    let xml = app.get(&format!("/api/invoices/{invoice}/xml")).await;
    assert_eq!((xml.status, xml.header("content-type")), (200, Some("application/xml")));
    assert!(xml.text.contains("<ram:GrandTotalAmount>119.00</ram:GrandTotalAmount>"), "{}", xml.text);
}
