//! The XML against the official schema and schematron, where they are installed.

use std::process::Command;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use super::super::cii;
use crate::domain::invoice::tests::random::any_documents;
use crate::domain::invoice::{Document, DocumentKind};

/// The Python environment of `tests/peers/en16931`; `scripts/test` sets it.
const VENV: &str = "PRINTFLOOR_TEST_EN16931";
/// Invoices with their credit notes that are checked.
const MAX_INVOICES: usize = 120;
/// Documents over more than this are left out: the official rules compute with floating point, and their products of
/// sums and rates are then no longer exact.
const MAX_EXACT_CENTS: i64 = 1_000_000_000_000;

#[test]
fn random_documents_keep_the_official_rules() {
    let Some(venv) = std::env::var_os(VENV) else {
        assert!(std::env::var_os("PRINTFLOOR_TEST_SERVICES").is_none(), "{VENV} is not set");
        eprintln!("left out: no {VENV}");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut runner = TestRunner::deterministic();
    let mut files = Vec::new();
    let computed = |one: &Document| {
        // The official rules round a rate to whole percents before they ask whether it is zero.
        let rounded = |rate: i64| (1..50).contains(&rate);
        let rates = one.content.sums.categories.iter().any(|category| rounded(category.rate_bps));
        one.payable_cents() < MAX_EXACT_CENTS && !rates
    };
    let exact = |documents: &Vec<Document>| documents.iter().all(computed);
    let documents = any_documents().prop_filter("sums that the official rules can compute", exact);
    for n in 0..MAX_INVOICES {
        let documents = documents.new_tree(&mut runner).unwrap().current();
        let number = documents[0].number_text();
        for (at, document) in documents.iter().enumerate() {
            let note = document.kind == DocumentKind::CreditNote;
            let xml = cii::xml(document, note.then_some((number.as_str(), documents[0].issued_at)));
            let file = folder.path().join(format!("{n}-{at}.xml"));
            std::fs::write(&file, xml).unwrap();
            files.push(file);
        }
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/en16931");
    let checked = Command::new(script).arg("check").arg(venv).args(&files).output().unwrap();
    let said = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success(), "{said}{}", String::from_utf8_lossy(&checked.stderr));
}
