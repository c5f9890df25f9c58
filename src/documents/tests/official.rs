//! Tests of the XML against the official schema and Schematron rules, if they are installed.

use std::process::Command;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::super::cii;
use super::read::Element;
use domain::address::Address;
use domain::invoice::{DocumentKind, DraftInvoice, Invoice, InvoiceCommand, InvoiceLine, IssuedDocument, Party};
use domain::testing::invoices::{draft, issued_by, line};
use domain::testing::random_invoices::any_documents;
use domain::testing::{Bench, complete_seller, id};

/// Environment variable with the path of the Python environment from `tests/peers/en16931`; `scripts/test` sets it.
const VENV: &str = "PRINTFLOOR_TEST_EN16931";
/// Number of random invoices, including their credit notes.
const INVOICES: usize = 120;
/// Each run checks one in this many, starting from one drawn from its seed; the long profile checks all.
const DRAWN_OF: usize = 8;
/// Maximum total of the documents that are checked. The official rules use floating point, and for larger totals their
/// products of sums and rates are inexact.
const MAX_EXACT_CENTS: i64 = 1_000_000_000_000;

/// Renders an invoice and its credit notes as XML.
fn xml_of(documents: &[IssuedDocument]) -> Vec<String> {
    let number = documents[0].number_text();
    let preceding = |one: &IssuedDocument| (one.kind == DocumentKind::CreditNote).then_some(documents[0].issued_at);
    documents.iter().map(|one| cii::xml(one, preceding(one).map(|at| (number.as_str(), at)))).collect()
}

/// Checks the documents against the official rules; `None` if the rules are not installed.
fn judged(all: &[String]) -> Option<Result<(), String>> {
    let Some(venv) = std::env::var_os(VENV) else {
        assert!(std::env::var_os("PRINTFLOOR_TEST_SERVICES").is_none(), "{VENV} is not set");
        eprintln!("left out: no {VENV}");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |(n, xml): (usize, &String)| {
        let file = folder.path().join(format!("{n}.xml"));
        std::fs::write(&file, xml).unwrap();
        file
    };
    let files: Vec<_> = all.iter().enumerate().map(write).collect();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/peers/en16931");
    let checked = Command::new(script).arg("check").arg(venv).args(&files).output().unwrap();
    let answer = String::from_utf8_lossy(&checked.stdout).into_owned();
    let errors = String::from_utf8_lossy(&checked.stderr).into_owned();
    Some(if checked.status.success() { Ok(()) } else { Err(answer + &errors) })
}

/// Generates random invoices with their credit notes as XML, always the same.
fn random_xml() -> Vec<Vec<String>> {
    let mut runner = TestRunner::deterministic();
    let computed = |one: &IssuedDocument| {
        // The official rules round a rate to whole percents before they ask whether it is zero.
        let rounded = |rate: i64| (1..50).contains(&rate);
        let rates = one.content.sums.categories.iter().any(|category| rounded(category.rate_bps));
        one.payable_cents() < MAX_EXACT_CENTS && !rates
    };
    let exact = |documents: &Vec<IssuedDocument>| documents.iter().all(computed);
    let documents = any_documents().prop_filter("sums that the official rules can compute", exact);
    (0..INVOICES).map(|_| xml_of(&documents.new_tree(&mut runner).unwrap().current())).collect()
}

mod long {
    #[test]
    fn random_documents_keep_the_official_rules() {
        if let Some(Err(rules)) = super::judged(&super::random_xml().concat()) {
            panic!("{rules}");
        }
    }
}

/// Issues documents to a buyer in the given country: an invoice with a payment, a partial refund, and a refund of the
/// rest.
fn issued(seller: Party, country: Option<&str>, lines: Vec<InvoiceLine>, reason: Option<&str>) -> Vec<IssuedDocument> {
    let mut bench = Bench::new();
    bench.rules.invoices.seller = seller;
    bench.rules.invoices.zero_rate_reason = reason.map(str::to_owned);
    let address = country.map(|country| Address {
        line1: "1 Main Street".to_owned(),
        line2: None,
        city: "Town".to_owned(),
        region: None,
        postal_code: String::new(),
        country: country.to_owned(),
    });
    let buyer = Party { name: "Ann Example".to_owned(), address, ..Party::default() };
    let new = DraftInvoice {
        buyer,
        shipping_cents: 490,
        discount_cents: 100,
        currency: Some("eur".to_owned()),
        ..draft(lines)
    };
    let back = |amount_cents| InvoiceCommand::Refund { payment: None, amount_cents, at_processor: false };
    let pay = InvoiceCommand::MarkPaid { amount_cents: None, method: "cash".to_owned(), reference: None };
    let (mut invoice, mut documents) = (None::<Invoice>, Vec::new());
    for command in [InvoiceCommand::Create(Box::new(new)), InvoiceCommand::Send, pay, back(Some(333)), back(None)] {
        let decision = bench.tell(&mut invoice, id(1), &command).unwrap();
        documents.extend(issued_by(&decision.rows));
    }
    assert_eq!(documents.len(), 3);
    documents.iter_mut().zip(1..).for_each(|(document, number)| document.number = number);
    documents
}

/// Builds a seller without any tax number.
fn unregistered() -> Party {
    Party { vat_id: None, ..complete_seller() }
}

/// Checks them together with random documents: reading the rules takes longer than checking an invoice.
#[test]
fn every_kind_of_invoice_and_its_credit_notes_and_random_documents_keep_the_official_rules() {
    let taxed = || vec![line(2, 6_000, 1900), line(1, 2_450, 700)];
    let untaxed = || vec![line(3, 1_999, 0)];
    let mut all = Vec::new();
    for (seller, country, lines, reason) in [
        (complete_seller(), Some("DE"), taxed(), None),
        (complete_seller(), Some("US"), untaxed(), None),
        (complete_seller(), Some("CH"), untaxed(), Some("Export, exempt from VAT")),
        (complete_seller(), None, vec![line(1, 100, 1900), line(1, 100, 0)], Some("exempt")),
        (unregistered(), Some("JP"), untaxed(), None),
        (unregistered(), None, untaxed(), Some("VAT exempt, small business")),
        // The smallest rate that there is.
        (complete_seller(), Some("FR"), vec![line(1, 5_000, 1)], None),
    ] {
        all.extend(xml_of(&issued(seller, country, lines, reason)));
    }
    assert!(all[all.len() - 3].contains("<ram:RateApplicablePercent>0.01</ram:RateApplicablePercent>"));
    // Of orders that are paid before they leave.
    let mut documents = issued(complete_seller(), Some("DE"), taxed(), None);
    documents.iter_mut().for_each(to_be_shipped);
    all.extend(xml_of(&documents));
    let seed = std::env::var("PRINTFLOOR_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0_usize);
    all.extend(random_xml().into_iter().skip(seed % DRAWN_OF).step_by(DRAWN_OF).flatten());
    if let Some(Err(rules)) = judged(&all) {
        panic!("{rules}");
    }
}

#[test]
fn an_invoice_without_a_seller_breaks_the_official_rules() {
    let mut documents = issued(complete_seller(), Some("DE"), vec![line(2, 6_000, 1900)], None);
    documents[0].seller = Party::default();
    if let Some(judged) = judged(&xml_of(&documents[..1])) {
        let rules = judged.unwrap_err();
        for rule in ["CEN: BR-08", "Factur-X: BR-08"] {
            assert!(rules.contains(rule), "{rule} is not among {rules}");
        }
    }
}

/// Changes a document to one for an order that has not shipped.
fn to_be_shipped(document: &mut IssuedDocument) {
    document.supplied_at = None;
    document.ship_to.clone_from(&document.content.buyer.address);
}

#[test]
fn a_document_of_an_order_that_has_not_left_says_where_it_goes_to_and_states_no_delivery() {
    let mut documents = issued(complete_seller(), Some("US"), vec![line(1, 100, 0)], None);
    documents.iter_mut().for_each(to_be_shipped);
    for xml in xml_of(&documents) {
        let root = Element::read(&xml);
        let delivery = root.find("ApplicableHeaderTradeDelivery").unwrap();
        assert!(delivery.find("ActualDeliverySupplyChainEvent").is_none(), "{xml}");
        let party = delivery.find("ShipToTradeParty").unwrap();
        assert_eq!(party.child_text("Name"), Some("Ann Example"));
        let country = party.find("PostalTradeAddress").and_then(|address| address.child_text("CountryID"));
        assert_eq!(country, Some("US"), "{xml}");
    }
    // It has left by the time of its invoice.
    documents[0].supplied_at = Some(documents[0].issued_at);
    let xml = &xml_of(&documents)[0];
    let root = Element::read(xml);
    let delivery = root.find("ApplicableHeaderTradeDelivery").unwrap();
    assert!(delivery.find("ShipToTradeParty").is_some() && delivery.find("DateTimeString").is_some(), "{xml}");
}

#[test]
fn each_document_says_when_what_it_is_over_was_supplied() {
    let mut documents = issued(complete_seller(), Some("DE"), vec![line(1, 100, 1900)], None);
    let day_of = |xml: &str| {
        let root = Element::read(xml);
        let event = root.find("ApplicableHeaderTradeDelivery").and_then(|delivery| delivery.find("DateTimeString"));
        event.map(|day| day.text.clone())
    };
    let days = |documents: &[IssuedDocument]| xml_of(documents).iter().map(|xml| day_of(xml)).collect::<Vec<_>>();
    assert_eq!(days(&documents), vec![Some("20231114".to_owned()); 3], "the day of the issue");
    // Of older releases, none of them says it: a note is over what its invoice supplied.
    documents.iter_mut().for_each(|one| one.supplied_at = None);
    documents[1].issued_at = documents[0].issued_at.plus_ms(40 * domain::time::DAY_MS);
    assert_eq!(days(&documents), vec![Some("20231114".to_owned()); 3]);
    documents[0].supplied_at = Some(documents[0].issued_at.plus_ms(-domain::time::DAY_MS));
    assert_eq!(days(&documents)[0].as_deref(), Some("20231113"), "it had left the day before");
}
