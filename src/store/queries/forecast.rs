//! Queries for the data that the forecast learns from: finished prints and the outcomes of promises.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::orders::json;
use super::{Queries, versioned};
use crate::rows::{Doc, LoadError, word};
use domain::aggregate::Versioned;
use domain::forecast::ObservedPrint;
use domain::id::Id;
use domain::job::{Attempt, AttemptState, Job};
use domain::order::{Order, OrderStatus};
use domain::promise::Promise;
use entities::{attempts, jobs, orders};

impl Queries {
    /// Returns at most `limit` of the newest finished prints, oldest first.
    pub async fn finished_prints(&self, limit: u64) -> Result<Vec<ObservedPrint>, LoadError> {
        use attempts::Column as C;
        let finished = word(&AttemptState::Finished).map_err(json)?;
        let select = attempts::Entity::find().filter(C::State.eq(finished)).order_by_desc(C::Id).limit(limit);
        let rows = select.all(&self.db).await?;
        let attempts: Vec<Attempt> = self.readable(&rows, Doc::read);
        let ids = attempts.iter().map(|attempt| attempt.job_id.to_string());
        let rows = jobs::Entity::find().filter(jobs::Column::Id.is_in(ids)).all(&self.db).await?;
        let jobs: HashMap<Id, Job> =
            self.readable::<_, Job>(&rows, Doc::read).into_iter().map(|job| (job.id, job)).collect();
        let prints = attempts.iter().rev().filter_map(|attempt| {
            let job = jobs.get(&attempt.job_id)?;
            ObservedPrint::of(attempt, job.file_id, job.estimated_seconds)
        });
        Ok(prints.collect())
    }

    /// Returns the promises of ready or shipped orders, for at most `limit` of the newest such orders, oldest change
    /// first.
    pub async fn met_promises(&self, limit: u64) -> Result<Vec<(Id, Promise)>, LoadError> {
        use orders::Column as C;
        // The newest of each status are found by its index. SQLite would sort those of both. There is no index by the
        // time of the last change: each change of an order would then change all of its indexes on PostgreSQL.
        let mut rows = Vec::new();
        for status in [OrderStatus::Ready, OrderStatus::Shipped] {
            let select = orders::Entity::find().filter(C::Status.eq(word(&status).map_err(json)?));
            let select = select.order_by_desc(C::CreatedAt).order_by_desc(C::Id).limit(limit);
            rows.append(&mut select.all(&self.db).await?);
        }
        rows.sort_by(|one, other| (other.created_at, &other.id).cmp(&(one.created_at, &one.id)));
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        rows.sort_by(|one, other| (one.updated_at, &one.id).cmp(&(other.updated_at, &other.id)));
        let orders: Vec<Versioned<Order>> = self.readable(&rows, versioned);
        let promises = orders.iter().filter_map(|one| one.state.as_ref()).filter_map(|order| {
            let promise = order.promise.filter(|promise| promise.met_at.is_some())?;
            Some((order.id, promise))
        });
        Ok(promises.collect())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::sync::{Arc, Mutex};

    use sea_orm::{ConnectionTrait, DbBackend, Statement};

    use super::*;
    use crate::memory::MemoryStore;
    use crate::outbox::Outbox;
    use crate::port::DomainQueries;
    use crate::rows::samples::{at, attempt, id, job, on_each, order, write};
    use crate::rows::{Batch, Snapshot, StoredRow};
    use crate::{AggregateKey, CommandWrites, CommitOwner, Submission};
    use domain::aggregate::Aggregate;
    use domain::order::OrderRow;

    /// Builds orders 1 to 5; the higher the number, the newer the order, and the longer ago it was changed. Each has a
    /// job with one good and one bad print, except that the print of order 2 was never observed. Order 3 is not printed
    /// yet, order 4 has no promise, and order 5 is ready but not shipped.
    fn shop() -> (Vec<Order>, Vec<OrderRow>) {
        let mut rows = Vec::new();
        let orders = (1..=5).map(|n| {
            let mut one = order(n);
            one.updated_at = at(100 - n as i64);
            one.status = match n {
                3 => OrderStatus::Paid,
                5 => OrderStatus::Ready,
                _ => OrderStatus::Shipped,
            };
            let (made_at, expected_at, promised_at) = (at(0), at(10), at(20));
            let met_at = (n != 3).then(|| at(30 + n as i64));
            one.promise = (n != 4).then_some(Promise { made_at, expected_at, promised_at, met_at });
            rows.push(OrderRow::Job(Arc::new(job(10 + n, n))));
            for (state, which) in [(AttemptState::Failed, 1), (AttemptState::Finished, 2)] {
                let mut tried = attempt(20 + 10 * n + which, 10 + n, n, which as u32);
                (tried.state, tried.ended_at) = (state, Some(at(1000 * n as i64)));
                tried.started_at = (n != 2).then(|| at(0));
                rows.push(OrderRow::Attempt(tried));
            }
            one
        });
        (orders.collect(), rows)
    }

    async fn check(queries: &dyn DomainQueries) {
        let prints = async |limit| {
            let finished = queries.finished_prints(limit).await.unwrap();
            finished.iter().map(|print| (print.attempt, print.took_ms)).collect::<Vec<_>>()
        };
        assert_eq!(prints(9).await, [(id(32), 1000), (id(52), 3000), (id(62), 4000), (id(72), 5000)]);
        assert_eq!(prints(2).await, [(id(62), 4000), (id(72), 5000)], "the newest, oldest first");
        assert_eq!(prints(4).await.len(), 3, "a print that was never seen is one of the newest all the same");
        let met = async |limit| {
            let promises = queries.met_promises(limit).await.unwrap();
            promises.iter().map(|(order, promise)| (*order, promise.met_at)).collect::<Vec<_>>()
        };
        assert_eq!(met(9).await, [(id(5), Some(at(35))), (id(2), Some(at(32))), (id(1), Some(at(31)))]);
        assert_eq!(met(3).await, [(id(5), Some(at(35))), (id(2), Some(at(32)))], "the newest orders");
        assert_eq!(met(1).await, [(id(5), Some(at(35)))], "the newest order of both statuses");
    }

    #[tokio::test]
    async fn the_newest_promises_are_found_by_an_index() {
        on_each(async |db| {
            if db.get_database_backend() != DbBackend::Sqlite {
                return;
            }
            let statements: Arc<Mutex<Vec<Statement>>> = Arc::default();
            let (mut watched, log) = (db.clone(), statements.clone());
            watched.set_metric_callback(move |info| log.lock().unwrap().push(info.statement.clone()));
            Queries::new(watched).met_promises(9).await.unwrap();
            let statements = statements.lock().unwrap().clone();
            assert_eq!(statements.len(), 2);
            for statement in statements {
                let sql = format!("EXPLAIN QUERY PLAN {}", statement.sql);
                let rows = db.query_all_raw(Statement { sql, ..statement }).await.unwrap();
                let plan: Vec<String> = rows.iter().map(|row| row.try_get("", "detail").unwrap()).collect();
                assert_eq!(plan, ["SEARCH orders USING INDEX ix__orders__status__created_at (status=?)"]);
            }
        })
        .await;
    }

    #[tokio::test]
    async fn what_is_learnt_from_is_read_alike_in_every_store() {
        let (orders, rows) = shop();
        on_each(async |db| {
            let mut batch = Batch::default();
            orders.iter().for_each(|order| batch.push_snapshot(order.snapshot(order.id, 1, false).unwrap()));
            rows.iter().for_each(|row| batch.push_row(row).unwrap());
            write(db, batch).await.unwrap();
            check(&Queries::new(db.clone())).await;
        })
        .await;

        let memory = MemoryStore::new(Outbox::new(0));
        for order in &orders {
            let of_it = rows.iter().filter(|row| match row {
                OrderRow::Job(job) => job.order_id == order.id,
                OrderRow::Attempt(attempt) => attempt.order_id == order.id,
                OrderRow::Payment(payment) => payment.owner_id == order.id,
            });
            let rows = of_it.map(|row| Box::new(row.clone()) as Box<dyn StoredRow>).collect();
            let submission = Submission {
                key: AggregateKey(Order::KIND, order.id),
                generation: 1,
                snapshot: Some(order.snapshot(order.id, 1, false).unwrap()),
                commands: vec![CommandWrites { rows, ..CommandWrites::default() }],
            };
            let (tell, receiver) = tokio::sync::oneshot::channel();
            memory.store().commit(submission, CommitOwner::new(|settlement| drop(tell.send(settlement))));
            assert_eq!(receiver.await.unwrap(), crate::Settlement::Durable);
        }
        check(&memory).await;
    }
}
