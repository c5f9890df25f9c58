#![expect(clippy::unwrap_used, reason = "tests")]

use sea_orm::DatabaseConnection;

use super::*;
use crate::queries::{AuditFilter, OrderFilter, Page};
use crate::rows::samples::{at, id, movement, on_each, order, write};
use crate::rows::{Audit, Batch, Snapshot};
use domain::audit::chain::ChainHead;
use domain::id::Id;
use domain::material::MaterialRow;

/// Number of rows in each list.
const ROWS: u128 = 30;

async fn plant(db: &DatabaseConnection) {
    let (mut batch, mut head) = (Batch::default(), ChainHead::default());
    for n in 1..=ROWS {
        batch.push_snapshot(order(n).snapshot(id(n), 1, true).unwrap());
        batch.push_row(&MaterialRow::Movement(movement(n, 200, 1))).unwrap();
        let line = Audit {
            id: id(n),
            at: at(n as i64),
            actor: "machine".to_owned(),
            action: "order.cancel".to_owned(),
            subject_kind: "order".to_owned(),
            subject_id: id(n),
            request_id: None,
            outcome: "done".to_owned(),
            detail: None,
        };
        batch.push_audit(line, &mut head);
    }
    write(db, batch).await.unwrap();
}

/// Reads a list page by page, as long as its total indicates that there are more.
async fn pages(list: impl AsyncFn(Page) -> (Vec<Id>, u64)) -> Vec<Id> {
    let mut all = Vec::new();
    loop {
        let (ids, total) = list(Page { limit: 7, offset: all.len() as u64 }).await;
        let is_end = ids.is_empty();
        all.extend(ids);
        if is_end || all.len() as u64 >= total {
            assert_eq!(total, all.len() as u64, "the last page shows the right total");
            return all;
        }
    }
}

#[tokio::test]
async fn wrong_numbers_hide_no_rows() {
    on_each(async |db| {
        plant(db).await;
        let queries = Queries::new(db.clone());
        let expected: Vec<Id> = (1..=ROWS).rev().map(id).collect();
        for change in ["- 3", "+ 5", "- 2", "* 0", "- 1"] {
            db.execute_unprepared(&format!("UPDATE row_counts SET entries = entries {change}")).await.unwrap();
            let orders = pages(async |page| {
                let (listed, total) = queries.orders(&OrderFilter::default(), page).await.unwrap();
                (listed.into_iter().map(|order| order.state.unwrap().id).collect::<Vec<_>>(), total)
            });
            assert_eq!(orders.await, expected, "orders, {change}");
            let movements = pages(async |page| {
                let (listed, total) = queries.movements(id(200), page).await.unwrap();
                (listed.into_iter().map(|movement| movement.id).collect::<Vec<_>>(), total)
            });
            assert_eq!(movements.await, expected, "movements, {change}");
            let lines = pages(async |page| {
                let (listed, total) = queries.audit(&AuditFilter::default(), page).await.unwrap();
                (listed.into_iter().map(|line| line.id).collect::<Vec<_>>(), total)
            });
            assert_eq!(lines.await, expected, "audit log, {change}");
        }
    })
    .await;
}
