use std::sync::{Arc, Mutex};

use super::ALL;
use crate::queries::{CustomerFilter, OrderFilter, Queries, SkuFilter};
use crate::rows::samples::{at, id, on_each, order, sku, write};
use crate::rows::{Batch, Snapshot as _};
use domain::aggregate::Versioned;
use domain::customer::Customer;
use domain::id::Id;
use domain::order::OrderStatus;

fn customer(n: u128) -> Customer {
    serde_json::from_value(serde_json::json!({
        "id": id(n), "email": format!("{n}@example.org"), "name": "Ann", "createdAt": at(n as i64),
        "updatedAt": at(n as i64),
    }))
    .unwrap()
}

fn ids<T>(rows: &[Versioned<T>], id: impl Fn(&T) -> Id) -> Vec<Id> {
    rows.iter().map(|row| id(row.state.as_ref().unwrap())).collect()
}

#[tokio::test]
async fn the_newest_of_many_matches_are_read_without_counting_them() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in 1..=9 {
            batch.push_snapshot(order(n).snapshot(id(n), 1, true).unwrap());
            batch.push_snapshot(sku(n, &format!("clip-{n}")).snapshot(id(n), 1, true).unwrap());
            batch.push_snapshot(customer(n).snapshot(id(n), 1, true).unwrap());
        }
        write(db, batch).await.unwrap();
        let all = Queries::new(db.clone());
        let statements: Arc<Mutex<Vec<String>>> = Arc::default();
        let (mut watched, log) = (db.clone(), statements.clone());
        watched.set_metric_callback(move |info| log.lock().unwrap().push(info.statement.sql.clone()));
        let queries = Queries::new(watched);

        let filter = OrderFilter { q: Some("example.org".to_owned()), ..OrderFilter::default() };
        let (newest, (listed, _)) = (queries.newest_orders(&filter, 5).await, all.orders(&filter, ALL).await.unwrap());
        assert_eq!(ids(&newest.unwrap(), |order| order.id), ids(&listed[..5], |order| order.id));
        let filter = SkuFilter { q: Some("clip".to_owned()), ..SkuFilter::default() };
        let (newest, (listed, _)) = (queries.newest_skus(&filter, 5).await, all.skus(&filter, ALL).await.unwrap());
        assert_eq!(ids(&newest.unwrap(), |sku| sku.id), ids(&listed[..5], |sku| sku.id));
        let filter = CustomerFilter { q: Some("ann".to_owned()), ..CustomerFilter::default() };
        let newest = queries.newest_customers(&filter, 5).await.unwrap();
        let (listed, _) = all.customers(&filter, ALL).await.unwrap();
        assert_eq!(ids(&newest, |customer| customer.id), ids(&listed[..5], |customer| customer.id));
        let statements = statements.lock().unwrap();
        assert!(!statements.is_empty() && !statements.iter().any(|sql| sql.contains("COUNT(")), "{statements:?}");
    })
    .await;
}

#[test]
fn only_a_filter_by_status_has_a_status_at_most() {
    let every = OrderFilter::default();
    let paid = OrderFilter { status: Some(OrderStatus::Paid), ..OrderFilter::default() };
    assert!(every.has_status_at_most() && paid.has_status_at_most());
    assert!(!OrderFilter { flagged: Some(true), ..paid }.has_status_at_most());
    assert!(!OrderFilter { q: Some("ann".to_owned()), ..every }.has_status_at_most());
}
