//! Tests of documents: the XML against the computable rules of EN 16931, and the properties of PDFs.
#![expect(clippy::unwrap_used, reason = "tests")]

mod official;
mod pdf;
mod read;
mod standard;
mod text;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use super::cii;
use domain::invoice::{DocumentKind, IssuedDocument};
use domain::testing::random_invoices::any_documents;
use domain::time::Timestamp;
use read::Element;

/// Parses the XML of a document.
fn read_back(document: &IssuedDocument, invoice: &IssuedDocument) -> Element {
    let number = invoice.number_text();
    let preceding = (document.kind == DocumentKind::CreditNote).then_some((number.as_str(), invoice.issued_at));
    Element::read(&cii::xml(document, preceding))
}

domain::drawn_cases! {
    1_000 of 10_000;
    #[test]
    fn the_xml_of_random_documents_keeps_the_rules_of_the_standard(documents in any_documents()) {
        for document in &documents {
            let root = read_back(document, &documents[0]);
            if let Err(rule) = standard::check(&root) {
                panic!("{rule}: {}", cii::xml(document, None));
            }
        }
    }
}

#[test]
fn a_broken_sum_breaks_the_rule_that_it_belongs_to() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let documents = any_documents().new_tree(&mut runner).unwrap().current();
    let good = cii::xml(&documents[0], None);
    assert_eq!(standard::check(&Element::read(&good)), Ok(()));
    for (element, rule) in [
        ("LineTotalAmount", "BR-CO-10"),
        ("TaxBasisTotalAmount", "BR-CO-13"),
        ("GrandTotalAmount", "BR-CO-15"),
        ("DuePayableAmount", "BR-CO-16"),
        ("TypeCode>VAT", "BR-CO-17"),
    ] {
        let summation = good.rfind("<ram:SpecifiedTradeSettlementHeaderMonetarySummation>").unwrap();
        let (from, tag) = match element {
            "TypeCode>VAT" => (good.find("<ram:CalculatedAmount>").unwrap(), "CalculatedAmount"),
            other => (summation, other),
        };
        let at = from + good[from..].find(&format!("{tag}>")).unwrap() + tag.len() + 1;
        let broken = format!("{}7{}", &good[..at], &good[at..]);
        let problem = standard::check(&Element::read(&broken)).unwrap_err();
        assert!(problem.contains(rule) || rule == "BR-CO-17" && problem.contains("BR-CO-14"), "{element}: {problem}");
    }
}

#[test]
fn a_number_without_a_country_is_no_identifier_for_value_added_tax() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut document = any_documents().new_tree(&mut runner).unwrap().current().remove(0);
    document.content.buyer.vat_id = Some("12-3456789".to_owned());
    let root = Element::read(&cii::xml(&document, None));
    let buyer = root.find("BuyerTradeParty").unwrap();
    assert_eq!(buyer.child_text("ID"), Some("12-3456789"));
    assert!(buyer.find("SpecifiedTaxRegistration").is_none());
    assert_eq!(standard::check(&root), Ok(()));
}

#[test]
fn text_of_people_stays_text() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut document = any_documents().new_tree(&mut runner).unwrap().current().remove(0);
    let hostile = "</ram:Name><x>&\u{0}\u{1b}\u{fffe} ]]> \"quoted\"";
    hostile.clone_into(&mut document.content.lines[0].description);
    document.content.notes = Some(hostile.to_owned());
    let root = Element::read(&cii::xml(&document, None));
    let name = root.find("SpecifiedTradeProduct").unwrap().find("Name").unwrap();
    assert_eq!(name.text, "</ram:Name><x>& ]]> \"quoted\"");
    assert_eq!(standard::check(&root), Ok(()));
    let at = Timestamp(0);
    assert!(cii::xml(&document, Some(("INV-2026-000001", at))).contains("19700101"));
}
