//! Restores of a backup, the events that they undid, and the numbers that are left out since.

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{Page, Queries};
use crate::domain::aggregate::Versioned;
use crate::domain::restore::Restore;
use crate::domain::restore::numbers::NumberGap;
use crate::domain::time::Timestamp;
use crate::entities::{number_gaps, restores};
use crate::store::rows::{Doc, LoadError};

impl Queries {
    /// Restores, newest first, and how many there are.
    pub async fn restores(&self, page: Page) -> Result<(Vec<Versioned<Restore>>, u64), LoadError> {
        use restores::Column as C;
        self.snapshots(restores::Entity::find().order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }

    /// When the newest restore was done that waits for its review; `None`: none waits.
    pub async fn unreviewed_restore(&self) -> Result<Option<Timestamp>, LoadError> {
        use restores::Column as C;
        let select = restores::Entity::find().select_only().expr(C::CreatedAt.max()).filter(C::Active.eq(true));
        let at: Option<Option<i64>> = select.into_tuple().one(&self.db).await?;
        Ok(at.flatten().map(Timestamp))
    }

    /// Numbers of events that were undone, as pairs of the last before them and the first after them.
    pub async fn undone_events(&self) -> Result<Vec<(i64, i64)>, LoadError> {
        use restores::Column as C;
        let select = restores::Entity::find().select_only().columns([C::LastEvent, C::FirstEvent]);
        Ok(select.order_by_asc(C::FirstEvent).into_tuple().all(&self.db).await?)
    }

    /// The numbers that are left out since restores, in the order of the numbers.
    pub(super) async fn number_gaps(&self) -> Result<Vec<NumberGap>, LoadError> {
        let rows = number_gaps::Entity::find().order_by_asc(number_gaps::Column::FirstNumber).all(&self.db).await?;
        Ok(self.readable(&rows, Doc::read))
    }
}
