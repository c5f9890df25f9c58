//! What the forecast learns from: finished prints, and how promises came out.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::orders::json;
use super::{Queries, versioned};
use crate::domain::aggregate::Versioned;
use crate::domain::forecast::ObservedPrint;
use crate::domain::id::Id;
use crate::domain::job::{Attempt, AttemptState, Job};
use crate::domain::order::{Order, OrderStatus};
use crate::domain::promise::Promise;
use crate::entities::{attempts, jobs, orders};
use crate::store::rows::{Doc, LoadError, word};

impl Queries {
    /// The newest finished prints, at most `limit`, oldest first.
    pub async fn finished_prints(&self, limit: u64) -> Result<Vec<ObservedPrint>, LoadError> {
        use attempts::Column as C;
        let finished = word(&AttemptState::Finished).map_err(json)?;
        let select = attempts::Entity::find().filter(C::State.eq(finished)).order_by_desc(C::Id).limit(limit);
        let rows = select.all(&self.db).await?;
        let found: Vec<Attempt> = self.readable(&rows, Doc::read);
        let ids = found.iter().map(|attempt| attempt.job_id.to_string());
        let rows = jobs::Entity::find().filter(jobs::Column::Id.is_in(ids)).all(&self.db).await?;
        let jobs: HashMap<Id, Job> =
            self.readable::<_, Job>(&rows, Doc::read).into_iter().map(|job| (job.id, job)).collect();
        let seen = found.iter().rev().filter_map(|attempt| {
            let job = jobs.get(&attempt.job_id)?;
            ObservedPrint::of(attempt, job.file_id, job.estimated_seconds)
        });
        Ok(seen.collect())
    }

    /// The promises of the orders that were changed last of those that are ready or shipped, at most `limit`, oldest first.
    pub async fn met_promises(&self, limit: u64) -> Result<Vec<(Id, Promise)>, LoadError> {
        use orders::Column as C;
        let over = [OrderStatus::Ready, OrderStatus::Shipped].iter().map(word).collect::<Result<Vec<_>, _>>();
        let select = orders::Entity::find().filter(C::Status.is_in(over.map_err(json)?));
        let rows = select.order_by_desc(C::UpdatedAt).limit(limit).all(&self.db).await?;
        let found: Vec<Versioned<Order>> = self.readable(&rows, versioned);
        let promises = found.iter().rev().filter_map(|one| one.state.as_ref()).filter_map(|order| {
            let promise = order.promise.filter(|promise| promise.met_at.is_some())?;
            Some((order.id, promise))
        });
        Ok(promises.collect())
    }
}
