#![expect(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::rows::samples::{id, on_each, order, payment, write};
use crate::rows::{Batch, Snapshot};
use domain::order::{Order, OrderRow};

/// Returns the site of an order.
fn site(n: u128) -> &'static str {
    if n.is_multiple_of(3) { "the fair" } else { "main" }
}

/// Returns the email address of an order.
fn email(n: u128) -> Option<String> {
    (!n.is_multiple_of(5)).then(|| format!("{}@example.org", n % 4))
}

#[tokio::test]
async fn payments_are_found_by_what_their_order_is() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in 1..=30 {
            let own = Order { site: site(n).to_owned(), customer_email: email(n), ..order(n) };
            batch.push_snapshot(own.snapshot(own.id, 1, true).unwrap());
            for k in 0..2 {
                batch.push_row(&OrderRow::Payment(payment(100 + 2 * n + k, n))).unwrap();
            }
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        for site_filter in [None, Some("main"), Some("the fair"), Some("fair")] {
            for email_filter in [None, Some("1@example.org"), Some("9@example.org")] {
                let filter = PaymentFilter {
                    site: site_filter.map(str::to_owned),
                    customer_email: email_filter.map(str::to_owned),
                    ..PaymentFilter::default()
                };
                let is_listed = |n: u128| {
                    site_filter.is_none_or(|one| one == site(n))
                        && email_filter.is_none_or(|one| email(n).as_deref() == Some(one))
                };
                let expected: Vec<Id> = (1..=30).rev().filter(|n| is_listed(*n)).map(id).collect();
                let expected: Vec<Id> = expected.into_iter().flat_map(|owner| [owner, owner]).collect();
                let (listed, total) = queries.payments(&filter, Page { limit: 100, offset: 0 }).await.unwrap();
                let owners: Vec<Id> = listed.iter().filter_map(|one| one.order_id).collect();
                assert_eq!((owners, total), (expected, listed.len() as u64), "{filter:?}");
            }
        }
        let filter = PaymentFilter { invoice_id: Some(id(9)), ..PaymentFilter::default() };
        assert_eq!(queries.payments(&filter, Page { limit: 100, offset: 0 }).await.unwrap(), (vec![], 0));
    })
    .await;
}
