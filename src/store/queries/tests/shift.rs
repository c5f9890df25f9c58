use crate::queries::Queries;
use crate::rows::samples::{at, endpoint, event, id, material, movement, on_each, write};
use crate::rows::{Batch, Snapshot};
use domain::id::Id;
use domain::material::{MaterialRow, Movement, MovementKind};

#[tokio::test]
async fn events_are_read_from_a_time_on_the_latest_first() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_snapshot(endpoint(600).snapshot(id(600), 1, false).unwrap());
        for n in 1..=4 {
            let word = if n == 2 { "job.failed" } else { "order.paid" };
            batch.push_event(n as i64, &event(n, word, 1)).unwrap();
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        let since = async |from: i64, limit: u64| -> Vec<i64> {
            let events = queries.events_since(&["order.paid"], at(from), limit).await.unwrap();
            events.into_iter().map(|event| event.seq).collect()
        };
        assert_eq!(since(2, 9).await, [4, 3]);
        assert_eq!(since(1, 2).await, [4, 3]);
        assert!(since(5, 9).await.is_empty());
        assert!(queries.events_since(&[], at(0), 9).await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn deliveries_are_read_from_a_time_on_without_other_movements() {
    on_each(async |db| {
        let mut batch = Batch::default();
        batch.push_snapshot(material(200).snapshot(id(200), 1, false).unwrap());
        let adjusted = Movement { kind: MovementKind::Adjust, ..movement(3, 200, 10) };
        for row in [movement(1, 200, 1000), movement(2, 200, 500), adjusted] {
            batch.push_row(&MaterialRow::Movement(row)).unwrap();
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        let received = async |materials: &[Id], from: i64| -> Vec<Id> {
            let movements = queries.receipts_since(materials, at(from), 9).await.unwrap();
            movements.into_iter().map(|movement| movement.id).collect()
        };
        assert_eq!(received(&[id(200)], 1).await, [id(2), id(1)]);
        assert_eq!(received(&[id(200)], 2).await, [id(2)]);
        assert!(received(&[], 1).await.is_empty() && received(&[id(9)], 1).await.is_empty());
    })
    .await;
}
