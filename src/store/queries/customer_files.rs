//! Queries of what customers have sent and the shop has not answered yet.

use sea_orm::sea_query::{Alias, Condition, ExprTrait as _, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::Queries;
use super::orders::json;
use crate::domain::custom_request::CustomRequestStatus;
use crate::domain::file::{File, FileKind};
use crate::domain::id::Id;
use crate::domain::quote::QuoteStatus;
use crate::domain::time::Timestamp;
use crate::entities::{custom_requests, files, quotes};
use crate::store::rows::{LoadError, read_doc, word};

/// A file that a customer sent and the shop has not answered yet.
#[derive(Clone, PartialEq, Debug)]
pub struct UnclaimedFile {
    /// As it is recorded.
    pub file: File,
    /// The custom request whose photo it is; `None` for a model.
    pub custom_request_id: Option<Id>,
}

impl Queries {
    /// Returns how many bytes customers have sent that the shop has not answered yet.
    ///
    /// # Errors
    ///
    /// When the database does not answer.
    pub async fn unclaimed_bytes(&self) -> Result<u64, LoadError> {
        // PostgreSQL sums 64-bit integers as numeric.
        let sum = files::Column::Size.sum().cast_as(Alias::new("bigint"));
        let select = files::Entity::find().select_only().expr(sum).filter(unclaimed()?);
        let sum: Option<Option<i64>> = select.into_tuple().one(&self.db).await?;
        Ok(u64::try_from(sum.flatten().unwrap_or(0)).unwrap_or(0))
    }

    /// Returns what customers sent before this moment and the shop has not answered yet, oldest first, at most so many.
    ///
    /// # Errors
    ///
    /// When the database does not answer, or a row cannot be read.
    pub async fn unclaimed_before(&self, before: Timestamp, most: u64) -> Result<Vec<UnclaimedFile>, LoadError> {
        use files::Column as C;
        let select = files::Entity::find().filter(unclaimed()?).filter(C::CreatedAt.lt(before.0));
        let rows = select.order_by_asc(C::CreatedAt).order_by_asc(C::Id).limit(most).all(&self.db).await?;
        let read = |row: files::Model| {
            let file = read_doc(row.schema, &row.doc).map_err(|words| LoadError::Db(sea_orm::DbErr::Json(words)))?;
            let custom_request_id = row.custom_request_id.and_then(|id| id.parse().ok());
            Ok(UnclaimedFile { file, custom_request_id })
        };
        rows.into_iter().map(read).collect()
    }
}

/// Models whose quote nobody has sent, and photos of requests that are new.
fn unclaimed() -> Result<Condition, LoadError> {
    use files::Column as C;
    use quotes::Column as Q;
    let draft = word(&QuoteStatus::Draft).map_err(json)?;
    let answered = Query::select()
        .column(Q::ModelFileId)
        .from(quotes::Entity)
        .cond_where(Q::ModelFileId.is_not_null().and(Q::Archived.eq(false)).and(Q::Status.ne(draft)))
        .to_owned();
    let new = custom_requests::Column::Status.eq(word(&CustomRequestStatus::New).map_err(json)?);
    let waiting =
        Query::select().column(custom_requests::Column::Id).from(custom_requests::Entity).cond_where(new).to_owned();
    let model = C::Kind.eq(word(&FileKind::Model).map_err(json)?).and(C::Id.not_in_subquery(answered));
    let photo = C::CustomRequestId.in_subquery(waiting);
    let of_customers = Condition::all().add(C::FromCustomer.eq(true)).add(C::Archived.eq(false));
    Ok(of_customers.add(Condition::any().add(model).add(photo)))
}
