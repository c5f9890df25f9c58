//! Tests of the emails to customers: their texts, tables, links and attachments.

use super::*;
use crate::mail::kind::{ExportReady, InvoiceToPay, PaymentReceipt, export_ready, invoice_to_pay, receipt, sign_in};
use crate::mail::part::MailFact;

const TO: &str = "buyer@example.org";

fn items(count: usize) -> Vec<MailItem> {
    let item = |n: usize| MailItem { quantity: 2, what: format!("Part {n}"), amount: Some("1.00 USD".to_owned()) };
    (0..count).map(item).collect()
}

fn sums() -> Vec<MailFact> {
    vec![MailFact::new("Total", "2.00\nUSD")]
}

fn link(mail: &Mail) -> (&str, &str) {
    mail.link.as_ref().map(|link| (link.label.as_str(), link.url.as_str())).unwrap()
}

#[test]
fn a_sign_in_link_is_sealed_and_says_how_long_it_works() {
    let bench = Bench::new();
    let expires_at = bench.now.plus_ms(10 * 60_000 + 59_999);
    let mail = sign_in(&bench.cx(), Language::German, TO, "sealed", expires_at);
    assert_eq!(
        (&mail.to[..], mail.language, mail.useless_at),
        (&[TO.to_owned()][..], Language::German, Some(expires_at))
    );
    let sealed = SealedLink { label: "Anmelden".to_owned(), encrypted_url: "sealed".to_owned() };
    assert_eq!((mail.sealed_link, mail.link), (Some(sealed), None));
    let english = |ms: i64| sign_in(&bench.cx(), Language::English, TO, "sealed", bench.now.plus_ms(ms)).text;
    assert!(english(600_000).contains("expires in 10 minutes."), "{}", english(600_000));
    assert!(english(119_999).contains("expires in 1 minute."), "{}", english(119_999));
}

#[test]
fn a_receipt_names_the_order_lists_what_was_paid_and_has_the_invoice() {
    let bench = Bench::new();
    let of = |order_number: Option<&str>, document, items, sums| {
        let (to, language) = (TO.to_owned(), Language::English);
        let order_number = order_number.map(str::to_owned);
        receipt(&bench.cx(), PaymentReceipt { to, language, invoice: id(5), document, order_number, items, sums })
    };
    let mail = of(Some("ORD-000001"), Some(id(6)), items(1), sums());
    assert_eq!(mail.subject, "Receipt for order ORD-000001");
    assert_eq!(mail.text, "Thank you for your payment. Order ORD-000001 is paid.\n");
    assert_eq!(mail.attached, Some(AttachedDocument { invoice: id(5), document: id(6) }));
    let url = format!("https://shop.example/invoices/{}", id(5));
    assert_eq!((link(&mail), &mail.topics[..]), (("View invoice", url.as_str()), &[MailTopic::Invoice(id(5))][..]));
    let total = MailFact { label: "Total".to_owned(), value: "2.00 USD".to_owned() };
    assert_eq!(mail.parts, [MailPart::Items(items(1)), MailPart::Facts(vec![total])]);
    let mail = of(None, None, Vec::new(), Vec::new());
    assert_eq!((mail.subject.as_str(), mail.attached, mail.parts.len()), ("Receipt for your payment", None, 0));
}

#[test]
fn an_invoice_says_until_when_it_is_to_be_paid() {
    let bench = Bench::new();
    let of = |due_at, document| {
        let (to, language) = (TO.to_owned(), Language::English);
        let (items, sums) = (items(101), sums());
        invoice_to_pay(&bench.cx(), InvoiceToPay { to, language, invoice: id(5), document, items, sums, due_at })
    };
    let mail = of(Some(Timestamp(0)), Some(id(6)));
    assert_eq!((mail.subject.as_str(), mail.language), ("Your invoice", Language::English));
    assert_eq!(mail.text, "Here is your invoice. Payment is due by 1 Jan 1970.\n");
    assert_eq!((mail.attached.is_some(), mail.topics.len()), (true, 1));
    let url = format!("https://shop.example/invoices/{}", id(5));
    assert_eq!(link(&mail), ("View and pay invoice", url.as_str()));
    let [MailPart::Items(listed), MailPart::Text(more), MailPart::Facts(_)] = &mail.parts[..] else {
        panic!("{:?}", mail.parts);
    };
    assert_eq!((listed.len(), more.as_str()), (100, "and 1 more item"));
    let mail = of(None, None);
    assert_eq!((mail.text.as_str(), mail.attached), ("Here is your invoice.\n", None));
}

#[test]
fn a_quote_has_the_shops_message_and_expires_with_its_offer() {
    let bench = Bench::new();
    let of = |valid_until, message: Option<String>| {
        let (to, language, number) = (TO.to_owned(), Language::English, "QUO-000002".to_owned());
        let (items, sums) = (items(1), sums());
        quote_sent(&bench.cx(), QuoteSent { to, language, quote: id(7), number, items, sums, valid_until, message })
    };
    let mail = of(Some(Timestamp(0)), Some(" Dear\tAnn,\n thanks ".to_owned()));
    assert_eq!((mail.subject.as_str(), mail.useless_at), ("Your quote QUO-000002", Some(Timestamp(0))));
    let offer = "Here is your quote QUO-000002. You can accept it until 1 Jan 1970.";
    assert_eq!(mail.text, format!("{offer}\n\nDear Ann,\n thanks\n"));
    let url = format!("https://shop.example/quotes/{}", id(7));
    assert_eq!((link(&mail), &mail.topics[..]), (("View quote", url.as_str()), &[MailTopic::Quote(id(7))][..]));
    assert_eq!(mail.parts.len(), 2);
    let plain = of(None, Some("  ".to_owned()));
    assert_eq!((plain.text.as_str(), plain.useless_at), ("Here is your quote QUO-000002.\n", None));
    let long = of(None, Some("ä".repeat(2_001))).text;
    assert_eq!(long, format!("Here is your quote QUO-000002.\n\n{}\n", "ä".repeat(2_000)));
}

#[test]
fn an_export_is_fetched_by_a_sealed_link_until_it_is_over() {
    let bench = Bench::new();
    let export = ExportReady {
        to: TO.to_owned(),
        language: Language::English,
        records: "invoices".to_owned(),
        rows: 1,
        encrypted_url: "sealed".to_owned(),
        expires_at: Timestamp(60_000),
    };
    let mail = export_ready(&bench.cx(), export);
    assert_eq!((mail.subject.as_str(), mail.useless_at), ("Your export of invoices is ready", Some(Timestamp(60_000))));
    assert!(mail.text.starts_with("Your export of invoices is ready: 1 row in a CSV file."), "{}", mail.text);
    assert!(mail.text.contains("works until 1 Jan 1970 00:01."), "{}", mail.text);
    let sealed = SealedLink { label: "Download file".to_owned(), encrypted_url: "sealed".to_owned() };
    assert_eq!(mail.sealed_link, Some(sealed));
}

#[test]
fn a_mail_without_pictures_is_its_texts_tables_and_links_apart() {
    let link = MailLink { label: "Pay".to_owned(), url: "https://shop.example/pay".to_owned() };
    let free = MailItem { quantity: 3, what: "Vase".to_owned(), amount: None };
    let parts = [
        MailPart::Items([items(1), vec![free]].concat()),
        MailPart::Text("More\n".to_owned()),
        MailPart::Text(String::new()),
        MailPart::Facts([sums(), vec![MailFact::new("Paid", "0.00 USD")]].concat()),
        MailPart::Link(link.clone()),
    ];
    assert_eq!(
        plain("Hello\n\n", &parts, Some(&link)),
        "Hello\n\n2 x Part 0: 1.00 USD\n3 x Vase\n\nMore\n\nTotal: 2.00 USD\nPaid: 0.00 USD\n\n\
         Pay: https://shop.example/pay\n\nPay: https://shop.example/pay\n"
    );
    assert_eq!(one_line("a\u{202e}b\u{2066}\r\nc\u{2028}d"), "ab  c d");
}
