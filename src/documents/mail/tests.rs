//! Snapshot tests of every kind of email: `tests/mails/` contains each kind as text and as HTML for inspection.
//! Regenerate the snapshots with `PRINTFLOOR_TEST_KEEP_MAILS=1 cargo nextest run -E 'test(mails_look)'`.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::Path;

use super::*;
use domain::aggregate::DecisionContext;
use domain::mail::Mail;
use domain::mail::alert::{AlertDigest, AlertKind};
use domain::mail::kind::{self, ExportReady, InvoiceToPay, PaymentReceipt, QuoteSent};
use domain::notation;
use domain::testing::orders::shipped_mail;
use domain::testing::{Bench, id};
use words::staff::alerts as texts;

const EXPECTED_MAILS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/mails");

fn look(accent: &str) -> PdfConfig {
    PdfConfig {
        enabled: true,
        logo_file: Default::default(),
        accent_color: accent.to_owned(),
        footer: String::new(),
        fonts: Vec::new(),
        font_folders: Vec::new(),
    }
}

fn frame() -> MailFrame {
    let seller = Party {
        name: "Ada & Sons <Prints>".to_owned(),
        email: Some("hello@prints.example".to_owned()),
        vat_id: Some("DE123456789".to_owned()),
        ..Party::default()
    };
    MailFrame::new(&look("#1f4e79"), seller).unwrap()
}

fn items(language: Language) -> Vec<MailItem> {
    let item = |quantity, what: &str, cents| MailItem {
        quantity,
        what: what.to_owned(),
        amount: Some(notation::amount(language, cents, "usd")),
    };
    vec![item(2, "Vase, tall", 2500), item(1, "<b>Bracket</b> & \"co\"", 450)]
}

fn sums(language: Language) -> Vec<MailFact> {
    let fact = |label: String, cents| MailFact::new(&label, notation::amount(language, cents, "usd"));
    vec![fact(mails::tax(language), 561), fact(mails::total(language), 3511)]
}

/// Builds one email of each kind in each language, with its file name.
fn all(cx: &DecisionContext<'_>) -> Vec<(String, Mail)> {
    let named = |suffix: &'static str| move |(name, mail): (&str, Mail)| (format!("{name}{suffix}"), mail);
    let english = mails_to_customers(cx, Language::English).into_iter().map(named(""));
    let german = mails_to_customers(cx, Language::German).into_iter().map(named("-de"));
    let english = english.chain(alerts(cx, Language::English).into_iter().map(named("")));
    let german = german.chain(alerts(cx, Language::German).into_iter().map(named("-de")));
    english.chain(german).collect()
}

fn mails_to_customers(cx: &DecisionContext<'_>, language: Language) -> Vec<(&'static str, Mail)> {
    let to = || "buyer@example.org".to_owned();
    let later = cx.now.plus_ms(7 * 86_400_000);
    vec![
        ("sign-in", kind::sign_in(cx, language, &to(), "sealed", cx.now.plus_ms(600_000))),
        (
            "receipt",
            kind::receipt(
                cx,
                PaymentReceipt {
                    to: to(),
                    language,
                    invoice: id(1),
                    document: Some(id(2)),
                    order_number: Some("ORD-000123".to_owned()),
                    items: items(language),
                    sums: sums(language),
                },
            ),
        ),
        (
            "invoice",
            kind::invoice_to_pay(
                cx,
                InvoiceToPay {
                    to: to(),
                    language,
                    invoice: id(1),
                    document: Some(id(2)),
                    items: items(language),
                    sums: sums(language),
                    due_at: Some(later),
                },
            ),
        ),
        (
            "quote",
            kind::quote_sent(
                cx,
                QuoteSent {
                    to: to(),
                    language,
                    quote: id(3),
                    number: "Q-000007".to_owned(),
                    items: items(language),
                    sums: sums(language),
                    valid_until: Some(later),
                    message: Some("Thank you for asking.\nThe <red> one is sold out.".to_owned()),
                },
            ),
        ),
        ("shipment-in-time", shipped_mail(false, language)),
        ("shipment-late", shipped_mail(true, language)),
        (
            "export",
            kind::export_ready(
                cx,
                ExportReady {
                    to: to(),
                    language,
                    records: mails::exported_invoices(language),
                    rows: 1204,
                    encrypted_url: "sealed".to_owned(),
                    expires_at: later,
                },
            ),
        ),
    ]
}

/// Builds alerts as those read them who read the language, with the texts that the rules take from the catalogue.
fn alerts(cx: &DecisionContext<'_>, language: Language) -> Vec<(&'static str, Mail)> {
    let alert = |kind, content: fn(Language) -> (String, String)| {
        let mail = Mail::alert(cx, kind, content).remove(0);
        let AlertDigest { subject, text, link, .. } = AlertDigest::of(kind, language, [&mail]).unwrap();
        Mail { language, subject, text, link, ..mail }
    };
    vec![
        ("low-stock", alert(AlertKind::LowStock, low_stock)),
        ("failed-print", alert(AlertKind::JobFailed, failed_print)),
        ("endpoint-disabled", alert(AlertKind::EndpointDisabled, disabled_endpoint)),
        ("printer-lost", alert(AlertKind::Printer, lost_printer)),
        ("maintenance", alert(AlertKind::Printer, due_maintenance)),
    ]
}

fn low_stock(language: Language) -> (String, String) {
    let subject = texts::low_stock_subject(language, "PLA black", "120 g");
    (subject, texts::low_stock(language, "PLA black", "120 g", "500 g", "200 g"))
}

fn failed_print(language: Language) -> (String, String) {
    let text = texts::job_failed(language, "JOB-000009", "Vase", "ORD-000123", "nozzle too hot");
    let text = format!("{text}\n{}", texts::job_failed_advice(language));
    (texts::job_failed_subject(language, "JOB-000009", "nozzle too hot"), text)
}

fn disabled_endpoint(language: Language) -> (String, String) {
    let url = "https://hooks.example/in";
    let text = texts::endpoint_disabled(language, url, "it responded with 500");
    (texts::endpoint_disabled_subject(language, "6", url), text)
}

fn lost_printer(language: Language) -> (String, String) {
    (texts::unreachable_subject(language, "MK4 left"), texts::unreachable(language, "MK4 left", "no route to host"))
}

fn due_maintenance(language: Language) -> (String, String) {
    let (printer, task) = ("MK4 left", "Grease the rails");
    let due = texts::maintenance(language, task, printer, &texts::hours_reached(language, "500", "500"));
    (texts::maintenance_subject(language, printer, task), format!("{due} {}", texts::maintenance_can_wait(language)))
}

/// Returns the link in an email; for a sealed email, the link contained in it after unsealing.
fn link(mail: &Mail) -> Option<MailLink> {
    let sealed = mail.sealed_link.as_ref().map(|sealed| MailLink {
        label: sealed.label.clone(),
        url: "https://shop.example/secret?token=abc&next=%2Forders".to_owned(),
    });
    sealed.or_else(|| mail.link.clone())
}

fn letter<'a>(mail: &'a Mail, link: Option<&'a MailLink>) -> Letter<'a> {
    Letter {
        subject: &mail.subject,
        text: &mail.text,
        parts: &mail.parts,
        link,
        language: mail.language,
        to_staff: mail.alert.is_some(),
    }
}

#[test]
fn mails_look_as_they_are_kept() {
    let (bench, frame) = (Bench::new(), frame());
    let keep = std::env::var_os("PRINTFLOOR_TEST_KEEP_MAILS").is_some();
    let mut changed = Vec::new();
    for (name, mail) in all(&bench.cx()) {
        let link = link(&mail);
        assert!(link.is_some(), "{name} says what can be done");
        let letter = letter(&mail, link.as_ref());
        // A line for each element, so that changes can be read.
        let html = frame.html(&letter).replace("><", ">\n<");
        for (kind, written) in [("txt", format!("{}\n\n{}", mail.subject, frame.text(&letter))), ("html", html + "\n")]
        {
            let path = Path::new(EXPECTED_MAILS).join(format!("{name}.{kind}"));
            if keep {
                fs::create_dir_all(EXPECTED_MAILS).unwrap();
                fs::write(&path, &written).unwrap();
            } else if fs::read_to_string(&path).ok().as_deref() != Some(&written) {
                changed.push(format!("{name}.{kind}:\n{written}"));
            }
        }
    }
    assert!(changed.is_empty(), "look at these, and keep them as the head of this file says:\n{}", changed.join("\n"));
}

#[test]
fn nothing_that_people_wrote_is_html_and_nothing_is_loaded_from_elsewhere() {
    let (bench, frame) = (Bench::new(), frame());
    for (name, mail) in all(&bench.cx()) {
        let mail = Mail {
            subject: format!("{} <script>alert(1)</script>", mail.subject),
            text: format!("<img src=x onerror=alert(1)>\n\n{}", mail.text),
            parts: mail
                .parts
                .into_iter()
                .chain([
                    MailPart::Text("<script>alert(2)</script>".to_owned()),
                    MailPart::Facts(vec![MailFact::new("<i>", "\"><script>")]),
                    MailPart::Link(MailLink {
                        label: "<b>".to_owned(),
                        url: "https://a.example/\"onclick=\"x".to_owned(),
                    }),
                ])
                .collect(),
            ..mail
        };
        let link = link(&mail);
        let html = frame.html(&letter(&mail, link.as_ref()));
        for hostile in ["<script", "<img", "<b>", "<i>", "\"onclick"] {
            assert!(!html.contains(hostile), "{name}: {hostile} in {html}");
        }
        assert!(!html.contains("src=\"http") && !html.contains("url("), "{name}: {html}");
        assert!(html.contains("token=abc&amp;next=") || !html.contains("token=abc"), "{name}: {html}");
    }
}

#[test]
fn a_small_logo_stands_in_place_of_the_name_and_a_large_one_in_pdfs_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("logo.png");
    let of = |bytes: usize| {
        let mut picture = vec![0x89, b'P', b'N', b'G'];
        picture.resize(bytes, 0);
        fs::write(&file, picture).unwrap();
        MailFrame::new(&PdfConfig { logo_file: file.clone(), ..look("#ffcc00") }, Party::default()).unwrap()
    };
    let mail = shipped_mail(false, Language::English);
    let small = of(100);
    assert_eq!(small.logo().map(|logo| (logo.content_type, logo.bytes.len())), Some(("image/png", 100)));
    let html = small.html(&letter(&mail, None));
    assert!(html.contains("<img src=\"cid:logo\" alt=\"Printfloor\""), "{html}");
    let large = of(MAX_MAIL_LOGO_BYTES + 1);
    assert!(large.logo().is_none() && !large.html(&letter(&mail, None)).contains("<img"));
    let missing = PdfConfig { logo_file: folder.path().join("none.png"), ..look("#ffcc00") };
    assert!(MailFrame::new(&missing, Party::default()).is_err());
}

#[test]
fn the_button_is_read_on_any_colour() {
    let link = MailLink { label: "Open".to_owned(), url: "https://shop.example/".to_owned() };
    let mail = shipped_mail(false, Language::English);
    for (accent, written) in
        [("#1f4e79", "#ffffff"), ("#ffcc00", "#000000"), ("#000000", "#ffffff"), ("#ffffff", "#000000")]
    {
        let frame = MailFrame::new(&look(accent), Party::default()).unwrap();
        let html = frame.html(&letter(&mail, Some(&link)));
        assert!(html.contains(&format!("background:{accent};color:{written}")), "{accent}: {html}");
    }
}
