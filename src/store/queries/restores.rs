//! Queries for restores from a backup, the events that they undid, and the numbers that have been skipped since.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{Page, Queries};
use crate::rows::{Doc, LoadError};
use domain::aggregate::Versioned;
use domain::restore::Restore;
use domain::restore::numbers::NumberGap;
use domain::time::Timestamp;
use entities::{number_gaps, restores};

impl Queries {
    /// Returns a page of restores, newest first, and their total number.
    pub async fn restores(&self, page: Page) -> Result<(Vec<Versioned<Restore>>, u64), LoadError> {
        use restores::Column as C;
        self.snapshots(restores::Entity::find().order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }

    /// Returns the time of the latest restore that has yet to be reviewed, if any.
    pub async fn unreviewed_restore(&self) -> Result<Option<Timestamp>, LoadError> {
        use restores::Column as C;
        let select = restores::Entity::find().select_only().expr(C::CreatedAt.max()).filter(C::Active.eq(true));
        let at: Option<Option<i64>> = select.into_tuple().one(&self.db).await?;
        Ok(at.flatten().map(Timestamp))
    }

    /// Returns the number ranges of undone events; for each, the last event before it and the first event after it.
    pub async fn undone_events(&self) -> Result<Vec<(i64, i64)>, LoadError> {
        use restores::Column as C;
        let select = restores::Entity::find().select_only().columns([C::LastEvent, C::FirstEvent]);
        Ok(select.order_by_asc(C::FirstEvent).into_tuple().all(&self.db).await?)
    }

    /// Returns the numbers skipped because of restores, in ascending order.
    pub(super) async fn number_gaps(&self) -> Result<Vec<NumberGap>, LoadError> {
        let rows = number_gaps::Entity::find().order_by_asc(number_gaps::Column::FirstNumber).all(&self.db).await?;
        Ok(self.readable(&rows, Doc::read))
    }
}
