use proptest::prelude::*;

use super::*;
use crate::invoice::Party;
use crate::testing::invoices::document;

#[test]
fn a_document_is_told_line_by_line() {
    let paper = AccountingDocument::of(&document(&[(999, 3, 1900), (500, 1, 700)], 490, 100));
    assert_eq!((paper.number.as_str(), paper.reference.as_deref()), ("INV-2023-000012", Some("ORD-000001")));
    assert_eq!(paper.contact_name, "Ann  Example  (ann@example.org)", "brackets are refused in names there");
    assert_eq!(paper.contact_email.as_deref(), Some("ann@example.org"));
    let words: Vec<&str> = paper.lines.iter().map(|line| line.description.as_str()).collect();
    assert_eq!(words, ["part 1", "Discount", "part 0", "Shipping", "Discount"], "by rate, the lowest first");
    assert_eq!(paper.amount(paper.total_cents), "45.67");
}

#[test]
fn whom_nobody_named_is_a_contact_all_the_same() {
    let mut document = document(&[(100, 1, 0)], 0, 0);
    document.content.buyer.name = "ann@example.org".to_owned();
    assert_eq!(AccountingDocument::of(&document).contact_name, "ann@example.org");
    document.content.buyer = Party::default();
    assert_eq!(AccountingDocument::of(&document).contact_name, UNNAMED_BUYER);
}

proptest! {
    /// Checks that the amounts in the books match those in the document, however its rates are rounded.
    #[test]
    fn the_lines_add_up_to_the_document(
        lines in prop::collection::vec((0i64..100_000, 1u32..50, prop::sample::select(vec![0i64, 700, 725, 1900])), 1..20),
        shipping in 0i64..5_000,
        discount in 0i64..1_000,
        rounding in -2i64..3,
    ) {
        let all: i64 = lines.iter().map(|line| line.0 * i64::from(line.1)).sum();
        let mut document = document(&lines, shipping, discount.min(all));
        document.rounding_cents = rounding;
        let paper = AccountingDocument::of(&document);
        let total: i64 = paper.lines.iter().map(|line| line.net_cents + line.tax_cents).sum();
        prop_assert_eq!(total, document.payable_cents());
        prop_assert_eq!(total, paper.total_cents);
        for line in &paper.lines {
            prop_assert_eq!(line.net_cents, line.unit_cents * i64::from(line.quantity));
            let exact = line.net_cents as f64 * line.rate_bps as f64 / 10_000.0;
            prop_assert!((line.tax_cents as f64 - exact).abs() < 25.0, "the tax of a line is that of its rate: {line:?}");
        }
    }
}

#[test]
fn texts_are_cut_to_what_the_provider_takes() {
    let mut document = document(&[(100, 1, 0)], 0, 0);
    document.content.lines[0].description = "ä".repeat(4_001);
    document.content.buyer = Party { name: format!(" {} ", "N".repeat(201)), ..Party::default() };
    let paper = AccountingDocument::of(&document);
    assert_eq!((paper.contact_name, paper.contact_email), ("N".repeat(200), None));
    assert_eq!(paper.lines[0].description, "ä".repeat(4_000));
    document.content.buyer = Party { email: Some(" ".to_owned()), ..Party::default() };
    assert_eq!(AccountingDocument::of(&document).contact_email, None, "a blank address is none");
}

#[test]
fn each_line_has_the_tax_of_its_rate_and_the_largest_what_is_left() {
    let paper = AccountingDocument::of(&document(&[(999, 3, 1900), (500, 1, 700)], 490, 100));
    let lines: Vec<(i64, u32, i64, i64, i64)> = paper
        .lines
        .iter()
        .map(|line| (line.unit_cents, line.quantity, line.net_cents, line.tax_cents, line.rate_bps))
        .collect();
    let discount: i64 = lines.iter().filter(|line| line.2 < 0).map(|line| line.2).sum();
    assert_eq!(discount, -100);
    assert_eq!((lines[0].0, lines[0].1, lines[0].2, lines[0].4), (500, 1, 500, 700));
    assert_eq!((lines[2].0, lines[2].1, lines[2].2, lines[2].4), (999, 3, 2_997, 1_900));
    assert_eq!((lines[3].0, lines[3].1, lines[3].2, lines[3].3), (490, 1, 490, 93), "19 % of 490, rounded down");
    let mut rounded = document(&[(100, 1, 0)], 0, 0);
    rounded.rounding_cents = -2;
    let paper = AccountingDocument::of(&rounded);
    let last = paper.lines.last().map(|line| (line.description.as_str(), line.net_cents, line.tax_cents));
    assert_eq!(last, Some(("Rounding", -2, 0)));
}
