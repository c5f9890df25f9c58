#![expect(clippy::unwrap_used, reason = "tests")]

use sea_orm::{ConnectionTrait, DatabaseConnection, QuerySelect};

use super::*;
use crate::queries::Page;
use crate::queries::orders::filtered;
use crate::queries::tests::plan;
use crate::rows::samples::{id, on_each, order, write};
use crate::rows::{Batch, Snapshot};
use domain::id::Id;
use domain::order::{Order, OrderKind, OrderStatus};

/// Number of orders, which is beyond the offset from which on pages are looked up by IDs.
const ORDERS: u128 = 450;

/// Builds orders of a few customers and of many who differ. Some have no email address.
fn sample_orders() -> Vec<Order> {
    let email = |n: u128| match n % 5 {
        0 => None,
        1 => Some("ann.lee@example.org".to_owned()),
        2 => Some(format!("bob{}@example.org", n % 7)),
        _ => Some(format!("user{n}@shop{}.example", n % 3)),
    };
    let build = |n: u128| Order {
        customer_email: email(n),
        status: if n.is_multiple_of(4) { OrderStatus::Shipped } else { OrderStatus::Paid },
        kind: if n.is_multiple_of(3) { OrderKind::Manual } else { OrderKind::Catalog },
        site: if n.is_multiple_of(2) { "main" } else { "the fair" }.to_owned(),
        ..order(n)
    };
    (1..=ORDERS).map(build).collect()
}

async fn plant(db: &DatabaseConnection) -> Vec<Order> {
    let orders = sample_orders();
    let mut batch = Batch::default();
    for order in &orders {
        batch.push_snapshot(order.snapshot(order.id, 1, true).unwrap());
    }
    write(db, batch).await.unwrap();
    orders
}

/// Returns whether an order matches a filter, as the API describes it.
fn matches(order: &Order, filter: &OrderFilter) -> bool {
    let is_found = |q: &str| {
        let q = q.trim().to_lowercase();
        let number = q.strip_prefix("ord-").unwrap_or(&q).parse::<i64>().ok();
        number == Some(order.number) || order.customer_email.as_ref().is_some_and(|email| email.contains(&q))
    };
    filter.status.is_none_or(|status| status == order.status)
        && filter.kind.is_none_or(|kind| kind == order.kind)
        && filter.site.as_ref().is_none_or(|site| *site == order.site)
        && filter.q.as_deref().is_none_or(is_found)
}

/// Lists all filters of a few statuses, kinds, sites and texts.
fn filters() -> Vec<OrderFilter> {
    let texts =
        ["", "ann", "ANN.LEE@", "example", "7", "ORD-000007", "ord-7", "user77@shop", "%", "_", "\\", " 12 ", "org"];
    let texts = texts.iter().map(|text| Some((*text).to_owned())).chain([None]);
    let mut filters = Vec::new();
    for q in texts {
        for status in [None, Some(OrderStatus::Paid), Some(OrderStatus::Cancelled)] {
            for kind in [None, Some(OrderKind::Manual)] {
                for site in [None, Some("the fair".to_owned())] {
                    filters.push(OrderFilter { q: q.clone(), status, kind, site, ..OrderFilter::default() });
                }
            }
        }
    }
    filters
}

#[tokio::test]
async fn orders_are_found_as_if_each_was_looked_at() {
    on_each(async |db| {
        let orders = plant(db).await;
        let queries = Queries::new(db.clone());
        for filter in filters() {
            let expected: Vec<Id> =
                orders.iter().rev().filter(|order| matches(order, &filter)).map(|order| order.id).collect();
            for offset in [0, 1, 199, 200, 449, 1_000] {
                let page = Page { limit: 7, offset };
                let (listed, total) = queries.orders(&filter, page).await.unwrap();
                let ids: Vec<Id> = listed.into_iter().map(|order| order.state.unwrap().id).collect();
                let of_page: Vec<Id> = expected.iter().copied().skip(offset as usize).take(7).collect();
                assert_eq!((ids, total), (of_page, expected.len() as u64), "{filter:?} from {offset}");
            }
        }
    })
    .await;
}

/// Plants customers with many orders each, so that a database has a reason to use its indexes.
async fn plant_many(db: &DatabaseConnection) {
    let mut batch = Batch::default();
    for n in 1..=6_000 {
        let order = Order { customer_email: Some(format!("user{}@example.org", n % 3_000)), ..order(n) };
        batch.push_snapshot(order.snapshot(id(n), 1, true).unwrap());
    }
    write(db, batch).await.unwrap();
    db.execute_unprepared("ANALYZE").await.unwrap();
}

#[tokio::test]
async fn few_orders_are_found_by_an_index() {
    on_each(async |db| {
        plant_many(db).await;
        let queries = Queries::new(db.clone());
        for q in ["1777", "ORD-000077", "user77@", "nobody"] {
            let filter = OrderFilter { q: Some(q.to_owned()), ..OrderFilter::default() };
            let search = queries.order_search(&filter).await.unwrap();
            let select = filtered(&filter, search.as_ref()).unwrap();
            for select in [select.clone().limit(50), select.select_only().column(orders::Column::Id)] {
                let plan = plan(db, select).await;
                let scans = ["SCAN orders", "Seq Scan on orders", "ix__orders__created_at"];
                assert!(!scans.iter().any(|scan| plan.contains(scan)), "{q}: {plan}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn orders_of_many_addresses_are_selected_by_them_as_long_as_they_are_few() {
    on_each(async |db| {
        plant_many(db).await;
        let queries = Queries::new(db.clone());
        for (q, addresses) in [("user1777@", Some(1)), ("1@", Some(300)), ("5@", Some(300)), ("user", None)] {
            let filter = OrderFilter { q: Some(q.to_owned()), ..OrderFilter::default() };
            let search = queries.order_search(&filter).await.unwrap().unwrap();
            let selected = match &search.mails {
                MailMatches::Few(mails) => Some(mails.len()),
                MailMatches::Many => None,
            };
            assert_eq!(selected, addresses, "{q}");
            let (_, total) = queries.orders(&filter, Page { limit: 1, offset: 0 }).await.unwrap();
            assert_eq!(total, addresses.map_or(6_000, |count| 2 * count as u64), "{q}");
        }
    })
    .await;
}
