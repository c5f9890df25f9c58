//! Queries for files that customers sent and that the shop has not processed yet.

use sea_orm::sea_query::{Alias, Condition, ExprTrait as _, Query};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait};

use super::Queries;
use super::orders::json;
use crate::rows::{LoadError, read_doc, word};
use domain::custom_request::CustomRequestStatus;
use domain::file::{File, FileKind};
use domain::id::Id;
use domain::quote::QuoteStatus;
use domain::time::Timestamp;
use entities::{custom_requests, files, quotes};

/// File that a customer sent and that the shop has not processed yet.
#[derive(Clone, PartialEq, Debug)]
pub struct UnclaimedFile {
    /// Metadata of the file.
    pub file: File,
    /// Custom request that the file belongs to as a photo; `None` for a model, and for G-code sliced from a model.
    pub custom_request_id: Option<Id>,
}

impl Queries {
    /// Returns the total size, in bytes, of the files that customers sent and that the shop has not processed yet.
    ///
    /// # Errors
    ///
    /// Fails if the database does not respond.
    pub async fn unclaimed_bytes(&self) -> Result<u64, LoadError> {
        // PostgreSQL sums 64-bit integers as numeric.
        let sum = files::Column::Size.sum().cast_as(Alias::new("bigint"));
        let select = files::Entity::find().select_only().expr(sum).filter(unclaimed()?);
        let sum: Option<Option<i64>> = select.into_tuple().one(&self.db).await?;
        Ok(u64::try_from(sum.flatten().unwrap_or(0)).unwrap_or(0))
    }

    /// Returns up to `most` files that customers sent before the given time and that the shop has not processed yet,
    /// oldest first, starting after the creation time and ID in `after`, if given.
    ///
    /// # Errors
    ///
    /// Fails if the database does not respond or a row cannot be read.
    pub async fn unclaimed_before(
        &self,
        before: Timestamp,
        after: Option<(Timestamp, Id)>,
        most: u64,
    ) -> Result<Vec<UnclaimedFile>, LoadError> {
        use files::Column as C;
        let behind = after.map(|(at, id)| {
            let same = Condition::all().add(C::CreatedAt.eq(at.0)).add(C::Id.gt(id.to_string()));
            Condition::any().add(C::CreatedAt.gt(at.0)).add(same)
        });
        let select = files::Entity::find()
            .filter(unclaimed()?)
            .filter(C::CreatedAt.lt(before.0))
            .apply_if(behind, QueryFilter::filter);
        let rows = select.order_by_asc(C::CreatedAt).order_by_asc(C::Id).limit(most).all(&self.db).await?;
        let read = |row: files::Model| {
            let file = file_of(&row)?;
            let custom_request_id = row.custom_request_id.and_then(|id| id.parse().ok());
            Ok(UnclaimedFile { file, custom_request_id })
        };
        rows.into_iter().map(read).collect()
    }

    /// Returns the G-code files that were sliced from a customer's model for a draft quote and have not been deleted.
    ///
    /// # Errors
    ///
    /// Fails if the database does not respond or a row cannot be read.
    pub async fn gcode_of_model(&self, model: Id) -> Result<Vec<File>, LoadError> {
        use files::Column as C;
        let select = files::Entity::find().filter(C::ModelFileId.eq(model.to_string())).filter(C::Archived.eq(false));
        select.order_by_asc(C::Id).all(&self.db).await?.iter().map(file_of).collect()
    }
}

fn file_of(row: &files::Model) -> Result<File, LoadError> {
    read_doc(row.schema, &row.doc).map_err(|words| LoadError::Db(sea_orm::DbErr::Json(words)))
}

/// Returns the condition that selects models whose quote has not been sent, G-code sliced from such models, and photos
/// in custom requests that are new or were closed because nobody responded.
fn unclaimed() -> Result<Condition, LoadError> {
    use entities::custom_requests::Column as R;
    use entities::files::Column as C;
    use entities::quotes::Column as Q;
    let draft = word(&QuoteStatus::Draft).map_err(json)?;
    let answered = Query::select()
        .column(Q::ModelFileId)
        .from(quotes::Entity)
        .cond_where(Q::ModelFileId.is_not_null().and(Q::Archived.eq(false)).and(Q::Status.ne(draft)))
        .to_owned();
    let requests = |are| Query::select().column(R::Id).from(custom_requests::Entity).cond_where(are).to_owned();
    let new = requests(R::Status.eq(word(&CustomRequestStatus::New).map_err(json)?));
    let left = requests(R::Unanswered.eq(true));
    let model = C::Kind.eq(word(&FileKind::Model).map_err(json)?).and(C::Id.not_in_subquery(answered.clone()));
    let gcode = C::ModelFileId.is_not_null().and(C::ModelFileId.not_in_subquery(answered));
    let photo = C::CustomRequestId.in_subquery(new).or(C::CustomRequestId.in_subquery(left));
    let of_customers = Condition::all().add(C::FromCustomer.eq(true)).add(C::Archived.eq(false));
    Ok(of_customers.add(Condition::any().add(model).add(gcode).add(photo)))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::rows::samples::{at, custom_request, file, id, on_each, quote, write};
    use crate::rows::{Batch, Snapshot};
    use domain::custom_request::CustomRequest;
    use domain::file::CustomerUpload;
    use domain::quote::Quote;

    const FAR: Timestamp = Timestamp(i64::MAX);

    fn photo(n: u128, request: u128) -> File {
        let customer_upload = Some(CustomerUpload::PhotoOf(id(request)));
        File { kind: FileKind::Image, customer_upload, created_at: at(0), ..file(n) }
    }

    fn ids(some: &[UnclaimedFile]) -> Vec<Id> {
        some.iter().map(|one| one.file.id).collect()
    }

    #[tokio::test]
    async fn photos_count_until_their_request_is_answered_and_when_nobody_answers_until_they_are_gone() {
        on_each(async |db| {
            let closed =
                |n, unanswered| CustomRequest { status: CustomRequestStatus::Closed, unanswered, ..custom_request(n) };
            let mut batch = Batch::default();
            for request in [custom_request(800), closed(801, true), closed(802, false)] {
                batch.push_snapshot(request.snapshot(request.id, 1, true).unwrap());
            }
            for (n, request) in [(1, 800), (2, 801), (3, 802)] {
                batch.push_snapshot(photo(n, request).snapshot(id(n), 1, true).unwrap());
            }
            let gone = File { archived: true, ..photo(4, 801) };
            batch.push_snapshot(gone.snapshot(id(4), 1, true).unwrap());
            write(db, batch).await.unwrap();
            let queries = Queries::new(db.clone());
            let all = queries.unclaimed_before(FAR, None, 10).await.unwrap();
            assert_eq!(ids(&all), [id(1), id(2)]);
            assert_eq!(queries.unclaimed_bytes().await.unwrap(), 24);
        })
        .await;
    }

    #[tokio::test]
    async fn gcode_of_a_customers_model_counts_as_long_as_the_model() {
        on_each(async |db| {
            let gcode = |n, model| File { customer_upload: Some(CustomerUpload::GcodeOf(id(model))), ..file(n) };
            let mut sent = Quote { status: QuoteStatus::Sent, ..quote(811) };
            sent.lines[0].model.as_mut().unwrap().file_id = id(401);
            let mut batch = Batch::default();
            for quote in [quote(810), sent] {
                batch.push_snapshot(quote.snapshot(quote.id, 1, true).unwrap());
            }
            // Of a draft, of a quote that was sent, of a model that is gone, and the shop's own.
            for file in [gcode(1, 400), gcode(2, 401), gcode(3, 402), file(4)] {
                batch.push_snapshot(file.snapshot(file.id, 1, true).unwrap());
            }
            write(db, batch).await.unwrap();
            let queries = Queries::new(db.clone());
            let all = queries.unclaimed_before(FAR, None, 10).await.unwrap();
            assert_eq!(ids(&all), [id(1), id(3)]);
            assert_eq!(queries.unclaimed_bytes().await.unwrap(), 24);
            let of_draft = queries.gcode_of_model(id(400)).await.unwrap();
            assert_eq!(of_draft.iter().map(|file| file.id).collect::<Vec<_>>(), [id(1)]);
        })
        .await;
    }

    #[tokio::test]
    async fn the_rest_is_read_behind_what_is_kept() {
        on_each(async |db| {
            let mut batch = Batch::default();
            // Three came in the same millisecond.
            for (n, ms) in [(5, 1), (1, 2), (3, 2), (4, 2), (2, 3)] {
                let model = File {
                    kind: FileKind::Model,
                    customer_upload: Some(CustomerUpload::Model),
                    created_at: at(ms),
                    ..file(n)
                };
                batch.push_snapshot(model.snapshot(id(n), 1, true).unwrap());
            }
            write(db, batch).await.unwrap();
            let queries = Queries::new(db.clone());
            let (mut all, mut after) = (Vec::new(), None);
            loop {
                let some = queries.unclaimed_before(FAR, after, 2).await.unwrap();
                let Some(last) = some.last() else { break };
                after = Some((last.file.created_at, last.file.id));
                all.extend(ids(&some));
            }
            assert_eq!(all, [5, 1, 3, 4, 2].map(id));
        })
        .await;
    }
}
