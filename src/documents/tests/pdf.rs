//! Tests of PDFs: identical for identical input, and valid for any text.

use super::super::{PdfContent, Renderer};
use config::sections::PdfConfig;
use domain::address::Address;
use domain::invoice::{
    DraftInvoice, Invoice, InvoiceCommand, InvoiceLine, InvoiceStatus, IssuedDocument, Party, Payment,
};
use domain::testing::invoices::{draft, issued_by, line};
use domain::testing::{Bench, id};
use domain::time::Timestamp;
use words::Language;

fn settings() -> PdfConfig {
    PdfConfig {
        enabled: true,
        logo_file: Default::default(),
        accent_color: "#1f4e79".to_owned(),
        footer: String::new(),
        fonts: Vec::new(),
        font_folders: Vec::new(),
    }
}

fn address(line1: &str, city: &str, postal_code: &str, country: &str) -> Address {
    Address {
        line1: line1.to_owned(),
        line2: None,
        city: city.to_owned(),
        region: None,
        postal_code: postal_code.to_owned(),
        country: country.to_owned(),
    }
}

/// Issues documents with the given lines, partly paid and refunded.
fn issued(lines: Vec<InvoiceLine>, commands: &[InvoiceCommand]) -> (Invoice, Vec<IssuedDocument>) {
    let mut bench = Bench::new();
    bench.now = Timestamp(1_795_300_000_000);
    bench.rules.invoices.seller = Party {
        name: "Druckerei Müller & Söhne GmbH".to_owned(),
        address: Some(address("Lindenstraße 12", "Köln", "50674", "DE")),
        vat_id: Some("DE123456789".to_owned()),
        tax_number: Some("214/5812/3456".to_owned()),
        email: Some("rechnung@druckerei.example".to_owned()),
        phone: Some("+49 221 123456".to_owned()),
        iban: Some("DE89370400440532013000".to_owned()),
        bic: Some("COBADEFFXXX".to_owned()),
        ..Party::default()
    };
    let buyer = Party {
        name: "Ελένη Παπαδοπούλου, Студия «Форма»".to_owned(),
        address: Some(address("Οδός Ερμού 25", "Αθήνα", "105 63", "GR")),
        vat_id: Some("EL123456783".to_owned()),
        email: Some("eleni@forma.example".to_owned()),
        ..Party::default()
    };
    let notes = Some("Thank you for your order. Questions? Write to us; we answer on working days.".to_owned());
    let new = DraftInvoice {
        buyer,
        currency: Some("eur".to_owned()),
        shipping_cents: 990,
        discount_cents: 1_250,
        notes,
        ..draft(lines)
    };
    let (mut invoice, mut documents) = (None::<Invoice>, Vec::new());
    let all = [InvoiceCommand::Create(Box::new(new)), InvoiceCommand::Send];
    for command in all.iter().chain(commands) {
        let decision = bench.tell(&mut invoice, id(1), command).unwrap();
        documents.extend(issued_by(&decision.rows));
    }
    documents.iter_mut().zip(123..).for_each(|(document, number)| document.number = number);
    (invoice.unwrap(), documents)
}

fn pay() -> InvoiceCommand {
    let reference = Some("Konto 4711, statement 2026/11".to_owned());
    InvoiceCommand::MarkPaid { amount_cents: None, method: "bank_transfer".to_owned(), reference }
}

fn rendered(renderer: &Renderer, invoice: &Invoice, document: &IssuedDocument, first: &IssuedDocument) -> Vec<u8> {
    let number = first.number_text();
    let preceding = document.preceding.map(|_| (number.as_str(), first.issued_at));
    let voided_by = (invoice.status == InvoiceStatus::Void).then_some("CN-2026-000123");
    let view =
        PdfContent { document, preceding, voided_by, status: invoice.status, payments: &invoice.ledger.payments };
    renderer.pdf(&view).unwrap()
}

fn many_lines() -> Vec<InvoiceLine> {
    let words = [
        "Bracket for a shelf, PETG black",
        "Gehäuse für Sensor, mit Deckel und vier Schrauben M3 x 12, Oberfläche gestrahlt und grundiert, je Stück geprüft",
        "Vase",
        "Ручка двери, ASA",
    ];
    let lines = (0..75).map(|n| InvoiceLine {
        description: words[n % words.len()].to_owned(),
        ..line(1 + n as u32 % 7, 199 + 1_234 * n as i64, if n % 3 == 0 { 700 } else { 1900 })
    });
    lines.collect()
}

/// Stores a PDF for inspection if the environment variable is set.
fn keep(name: &str, pdf: &[u8]) {
    if let Some(folder) = std::env::var_os("PRINTFLOOR_TEST_KEEP_PDFS") {
        std::fs::write(std::path::Path::new(&folder).join(name), pdf).unwrap();
    }
}

#[test]
fn the_same_document_gives_the_same_bytes_and_a_change_others() {
    let (open, documents) = issued(vec![line(2, 6_000, 1900), line(1, 2_450, 700)], &[]);
    let renderer = Renderer::new(&settings()).unwrap();
    let first = rendered(&renderer, &open, &documents[0], &documents[0]);
    keep("open.pdf", &first);
    let again = rendered(&Renderer::new(&settings()).unwrap(), &open, &documents[0], &documents[0]);
    assert!(first == again, "the same document gives the same bytes");
    let (paid, _) = issued(vec![line(2, 6_000, 1900), line(1, 2_450, 700)], &[pay()]);
    let paid = rendered(&renderer, &paid, &documents[0], &documents[0]);
    keep("paid.pdf", &paid);
    assert!(first != paid, "what was paid is shown");
}

#[test]
fn a_long_invoice_goes_over_pages_and_a_credit_note_names_it() {
    let back = InvoiceCommand::Refund { payment: None, amount_cents: Some(10_001), at_processor: false };
    let (invoice, documents) = issued(many_lines(), &[pay(), back]);
    let renderer = Renderer::new(&settings()).unwrap();
    let long = rendered(&renderer, &invoice, &documents[0], &documents[0]);
    keep("long.pdf", &long);
    let note = rendered(&renderer, &invoice, &documents[1], &documents[0]);
    keep("note.pdf", &note);
    let text = String::from_utf8_lossy(&long);
    assert!(text.contains("factur-x.xml") && text.contains("EN 16931"), "the XML is inside");
}

#[test]
fn whatever_people_write_is_rendered() {
    let hostile = [
        "שלום עולם 123 (abc)",
        "中文名称 🖨️ \u{0}\u{7f}\u{feff}\u{202e}evil",
        "\u{e000}\u{f0000}\u{fffe}",
        "a\u{301}e\u{308}\u{200d}x",
        "",
        "Wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww",
        "line\nbreak\ttab",
    ];
    let lines = hostile
        .iter()
        .map(|words| InvoiceLine { description: (*words).to_owned(), ..line(1_000_000, 9_999_999_999, 725) });
    let (invoice, mut documents) = issued(lines.collect(), &[]);
    documents[0].content.buyer.name = hostile.join(" ");
    documents[0].content.notes = Some(hostile.join("\n").repeat(20));
    let renderer = Renderer::new(&PdfConfig { footer: hostile.join("\n"), ..settings() }).unwrap();
    let pdf = rendered(&renderer, &invoice, &documents[0], &documents[0]);
    keep("hostile.pdf", &pdf);
    assert!(pdf.starts_with(b"%PDF-1.7"));
}

/// Customer names, each in a different script.
const NAMES: [&str; 8] = ["Ελένη", "Дмитрий", "محمد علي", "Անահիտ", "प्रिया शर्मा", "გიორგი", "דוד כהן", "สมชาย ใจดี"];

#[test]
fn names_in_the_scripts_of_customers_are_printed_with_the_fonts_of_the_program() {
    let (invoice, mut documents) = issued(vec![line(2, 1_000, 1900)], &[]);
    documents[0].content.buyer.name = NAMES.join(", ");
    let renderer = Renderer::new(&settings()).unwrap();
    keep("names.pdf", &rendered(&renderer, &invoice, &documents[0], &documents[0]));
    let view =
        PdfContent { document: &documents[0], preceding: None, voided_by: None, status: invoice.status, payments: &[] };
    assert_eq!(renderer.unprintable(&view), "");
    documents[0].content.buyer.name = "王小明 \u{200d}Ann?\u{e000}".to_owned();
    let view =
        PdfContent { document: &documents[0], preceding: None, voided_by: None, status: invoice.status, payments: &[] };
    let unprintable = renderer.unprintable(&view);
    assert_eq!(unprintable, "小 明 王 \u{e000}", "what is printed as ? is named");
    assert!(rendered(&renderer, &invoice, &documents[0], &documents[0]).starts_with(b"%PDF"));
    let lacking = renderer.scripts_without_fonts();
    assert!(lacking.contains(&"Chinese") && !lacking.contains(&"Arabic") && !lacking.contains(&"Thai"), "{lacking:?}");
}

#[test]
fn fonts_of_the_machine_print_what_those_of_the_program_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str| {
        let font = include_bytes!("../../../assets/fonts/NotoSansThai-Regular.ttf");
        std::fs::write(folder.path().join(name), font).unwrap();
    };
    let (invoice, mut documents) = issued(vec![line(2, 1_000, 1900)], &[]);
    documents[0].content.buyer.name = "王".to_owned();
    let with = || Renderer::new(&PdfConfig { font_folders: vec![folder.path().to_owned()], ..settings() }).unwrap();
    let before = with();
    put("NotoSansCJK-Regular.ttc");
    let after = with();
    assert_ne!(before.look(), after.look(), "another font is another PDF");
    assert!(!after.scripts_without_fonts().contains(&"Chinese"), "by its name it has them");
    // It does not, and neither does a file that is no font: both are told and stop nobody.
    let view =
        PdfContent { document: &documents[0], preceding: None, voided_by: None, status: invoice.status, payments: &[] };
    assert_eq!(after.unprintable(&view), "王");
    std::fs::write(folder.path().join("NotoSansCJK-Regular.ttc"), "no font").unwrap();
    assert_eq!(with().unprintable(&view), "王");
    assert!(rendered(&with(), &invoice, &documents[0], &documents[0]).starts_with(b"%PDF"));
}

#[test]
fn payments_in_other_currencies_and_refunds_are_shown_and_not_added_up() {
    let (mut invoice, documents) = issued(vec![line(2, 1_000, 0)], &[]);
    let payment = |amount_cents, currency: &str| Payment {
        id: id(9),
        owner_id: id(1),
        amount_cents,
        currency: currency.to_owned(),
        method: "processor".to_owned(),
        reference: Some("pi_3OabcdefGHIJKLmnopQRST".to_owned()),
        session: None,
        whole: false,
        refund_of: None,
        failed_cents: 0,
        created_at: Timestamp(1_795_400_000_000),
    };
    invoice.ledger.payments = vec![payment(500, "eur"), payment(700, "usd"), payment(-100, "eur")];
    invoice.status = InvoiceStatus::PartiallyPaid;
    let renderer = Renderer::new(&settings()).unwrap();
    keep("payments.pdf", &rendered(&renderer, &invoice, &documents[0], &documents[0]));
}

#[test]
fn a_document_is_in_the_language_of_its_buyer() {
    let (invoice, mut documents) = issued(many_lines(), &[pay()]);
    let renderer = Renderer::new(&settings()).unwrap();
    let english = rendered(&renderer, &invoice, &documents[0], &documents[0]);
    documents[0].content.buyer.language = Language::German;
    let german = rendered(&renderer, &invoice, &documents[0], &documents[0]);
    keep("german.pdf", &german);
    assert!(german != english && german.starts_with(b"%PDF-1.7"));
    documents[0].content.buyer.language = Language::English;
    assert!(rendered(&renderer, &invoice, &documents[0], &documents[0]) == english);
}

#[test]
fn a_void_invoice_says_so() {
    let (open, documents) = issued(vec![line(2, 1_000, 0)], &[]);
    let (void, voided) = issued(vec![line(2, 1_000, 0)], &[InvoiceCommand::Void]);
    assert_eq!((void.status, voided.len()), (InvoiceStatus::Void, 2));
    let renderer = Renderer::new(&settings()).unwrap();
    let before = rendered(&renderer, &open, &documents[0], &documents[0]);
    let after = rendered(&renderer, &void, &documents[0], &documents[0]);
    keep("void.pdf", &after);
    assert!(before != after, "whoever has the PDF sees that it is void");
    // Without its number, too.
    let view =
        PdfContent { document: &documents[0], preceding: None, voided_by: None, status: void.status, payments: &[] };
    let unnamed = renderer.pdf(&view).unwrap();
    assert!(unnamed != before && unnamed != after, "the credit note is named");
}

/// Builds a PNG of four pixels, of which the last is transparent.
fn png() -> Vec<u8> {
    use std::io::Write as _;
    let mut pixels = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    pixels.write_all(&[0, 200, 0, 0, 255, 0, 200, 0, 255, 0, 0, 0, 200, 255, 0, 0, 0, 0]).unwrap();
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [
        (b"IHDR", vec![0, 0, 0, 2, 0, 0, 0, 2, 8, 6, 0, 0, 0]),
        (b"IDAT", pixels.finish().unwrap()),
        (b"IEND", Vec::new()),
    ] {
        picture.extend_from_slice(&u32::try_from(data.len()).unwrap().to_be_bytes());
        let body = [kind.as_slice(), &data].concat();
        let mut sum = flate2::Crc::new();
        sum.update(&body);
        picture.extend_from_slice(&body);
        picture.extend_from_slice(&sum.sum().to_be_bytes());
    }
    picture
}

/// Builds a CMYK JPEG for print, without a colour profile.
fn jpeg_of_four_inks() -> Vec<u8> {
    let mut picture = b"\xff\xd8".to_vec();
    let mut segment = |marker: u8, data: &[u8]| {
        picture.extend_from_slice(&[0xff, marker]);
        picture.extend_from_slice(&u16::try_from(data.len() + 2).unwrap().to_be_bytes());
        picture.extend_from_slice(data);
    };
    segment(0xdb, &[&[0_u8][..], &[16; 64]].concat());
    segment(0xc0, &[8, 0, 8, 0, 8, 4, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0]);
    // One code of one bit, in each of the tables.
    for table in [0x00_u8, 0x10] {
        segment(0xc4, &[&[table, 1][..], &[0; 15], &[0]].concat());
    }
    segment(0xda, &[4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0]);
    picture.extend_from_slice(b"\x00\xff\xd9");
    picture
}

#[test]
fn a_logo_is_tried_out_before_the_first_invoice() {
    let folder = tempfile::tempdir().unwrap();
    let with = |name: &str, logo: Vec<u8>| {
        let path = folder.path().join(name);
        std::fs::write(&path, logo).unwrap();
        Renderer::new(&PdfConfig { logo_file: path, ..settings() })
    };
    let renderer = with("logo.png", png()).unwrap();
    let (open, documents) = issued(vec![line(2, 6_000, 1900)], &[]);
    let pdf = rendered(&renderer, &open, &documents[0], &documents[0]);
    keep("logo.pdf", &pdf);
    let plain = rendered(&Renderer::new(&settings()).unwrap(), &open, &documents[0], &documents[0]);
    assert!(pdf != plain);
    assert!(with("four.jpg", jpeg_of_four_inks()).is_err(), "a PDF for archives cannot hold it");
    assert!(with("none.png", b"\x89PNG\r\n\x1a\nnothing".to_vec()).is_err());
}

#[test]
fn another_logo_of_the_same_length_is_another_look() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logo.png");
    let look = |logo: &[u8]| {
        std::fs::write(&path, logo).unwrap();
        Renderer::new(&PdfConfig { logo_file: path.clone(), ..settings() }).unwrap().look().to_owned()
    };
    let (one, mut other) = (png(), png());
    // What stands behind the last chunk is passed over.
    other.push(1);
    let same = [one.as_slice(), &[0]].concat();
    assert_ne!(look(&same), look(&other));
    assert_eq!(look(&same), look(&same));
}
