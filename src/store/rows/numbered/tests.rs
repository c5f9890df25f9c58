//! Property tests of numbering with random transactions, some of which are committed, some rolled back after writing,
//! and some rejected. They run on both databases, and the in-memory store must behave identically.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use sea_orm::{EntityTrait as _, TransactionTrait as _};

use crate::memory::Tables;
use crate::rows::samples::{id, number_gap, on_each, write};
use crate::rows::{Batch, RowSink, StoredRow as _};
use domain::invoice::{DocumentKind, InvoiceRow, IssuedDocument};
use domain::restore::RestoreRow;
use domain::testing::invoices::document;
use domain::time::Timestamp;
use entities::invoice_documents;

/// Number of consecutive transactions.
const TRANSACTIONS: usize = 200;
/// Start date, in November 2023, in milliseconds since 1970.
const FIRST_DAY_MS: i64 = 1_700_000_000_000;
const YEAR_MS: i64 = 31_557_600_000;

/// Outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Committed,
    /// Rolled back after all rows were written.
    GivenUp,
    /// Rejected because the last document already exists.
    Refused,
}

/// Generates the documents of each transaction, with its outcome. A document is described by whether it is a credit
/// note, and by its year.
fn any_transactions() -> impl Strategy<Value = Vec<(Vec<(bool, i64)>, Fate)>> {
    let fate = prop_oneof![4 => Just(Fate::Committed), 2 => Just(Fate::GivenUp), 1 => Just(Fate::Refused)];
    let issued = prop::collection::vec((any::<bool>(), 0_i64..3), 0..8);
    prop::collection::vec((issued, fate), TRANSACTIONS)
}

/// Builds the `n`th document of the test.
fn issued_document(n: u128, credit: bool, year: i64) -> IssuedDocument {
    IssuedDocument {
        id: id(1_000 + n),
        invoice_id: id(1),
        kind: if credit { DocumentKind::CreditNote } else { DocumentKind::Invoice },
        number: 0,
        issued_at: Timestamp(FIRST_DAY_MS + year * YEAR_MS),
        ..document(&[(1250, 2, 1900)], 0, 0)
    }
}

#[tokio::test]
async fn whatever_becomes_of_transactions_each_series_counts_from_one_without_a_gap() {
    let plan = any_transactions().new_tree(&mut TestRunner::deterministic()).unwrap().current();
    on_each(async |db| {
        let (mut count, mut tables) = (0, Tables::default());
        let (mut last, mut expected) = (BTreeMap::<String, i64>::new(), BTreeMap::<String, (String, i64)>::new());
        for (issued, fate) in &plan {
            let mut documents = Vec::new();
            for (credit, year) in issued {
                count += 1;
                documents.push(issued_document(count, *credit, *year));
            }
            if *fate == Fate::Refused {
                documents.extend(documents.first().cloned());
            }
            let (mut batch, mut next, mut refused) = (Batch::default(), tables.clone(), false);
            for document in &documents {
                let row = InvoiceRow::Issued(Box::new(document.clone()));
                batch.push_row(&row).unwrap();
                refused |= row.write(&mut RowSink::memory(&mut next)).is_err();
            }
            if *fate == Fate::GivenUp {
                let tx = db.begin().await.unwrap();
                batch.write(&tx).await.unwrap();
                tx.rollback().await.unwrap();
                continue;
            }
            assert_eq!(write(db, batch).await.is_err(), refused, "{documents:?}");
            if refused {
                continue;
            }
            tables = next;
            for document in &documents {
                let number = last.entry(document.series()).or_default();
                *number += 1;
                expected.insert(document.id.to_string(), (document.series(), *number));
            }
        }
        assert!(last.len() == 6 && last.values().all(|number| *number > 20), "{last:?}");
        let rows = invoice_documents::Entity::find().all(db).await.unwrap();
        let stored: BTreeMap<_, _> = rows.into_iter().map(|row| (row.id, (row.series, row.number))).collect();
        assert_eq!(stored, expected);
        let in_memory = tables.parts_under::<IssuedDocument>(id(1));
        let in_memory: BTreeMap<_, _> = in_memory.map(|one| (one.id.to_string(), (one.series(), one.number))).collect();
        assert_eq!(in_memory, expected, "the store in memory numbers them in the same way");
    })
    .await;
}

#[tokio::test]
async fn numbers_that_are_left_out_since_a_restore_are_not_given_out() {
    on_each(async |db| {
        let mut tables = Tables::default();
        let (mut first, mut gap, mut second) = (Batch::default(), Batch::default(), Batch::default());
        let row = |n| InvoiceRow::Issued(Box::new(issued_document(n, false, 0)));
        let left_out = RestoreRow::Gap(number_gap(50, 51, 2, 100));
        first.push_row(&row(1)).unwrap();
        gap.push_row(&left_out).unwrap();
        second.push_row(&row(2)).unwrap();
        second.push_row(&InvoiceRow::Issued(Box::new(issued_document(3, true, 0)))).unwrap();
        for batch in [first, gap, second] {
            write(db, batch).await.unwrap();
        }
        row(1).write(&mut RowSink::memory(&mut tables)).unwrap();
        left_out.write(&mut RowSink::memory(&mut tables)).unwrap();
        row(2).write(&mut RowSink::memory(&mut tables)).unwrap();
        let rows = invoice_documents::Entity::find().all(db).await.unwrap();
        let numbers: BTreeMap<_, _> = rows.into_iter().map(|row| (row.id, row.number)).collect();
        let of = |n: u128| numbers[&id(1_000 + n).to_string()];
        assert_eq!((of(1), of(2), of(3)), (1, 101, 1), "another series has no gap");
        let in_memory: Vec<i64> = tables.parts_under::<IssuedDocument>(id(1)).map(|one| one.number).collect();
        assert_eq!(in_memory, [1, 101], "the store in memory does the same");
    })
    .await;
}
