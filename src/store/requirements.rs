//! Checks the requirements of commits ([`Requirement`]) against the rows in a database, within the transaction that
//! writes the commits.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use sea_orm::sea_query::{Expr, ExprTrait, SimpleExpr};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect, Select};

use crate::rows::{Doc, WriteError, word};
use domain::custom_request::CustomRequestStatus;
use domain::id::Id;
use domain::job::JobState;
use domain::order::OrderStatus;
use domain::quote::QuoteStatus;
use domain::requirement::{Referenced, Requirement};
use entities::{
    custom_requests, files, invoice_documents, jobs, materials, number_gaps, orders, printers, quotes, skus,
};

/// Statuses of open orders, which are found through their index, however many orders have ended.
const OPEN_ORDERS: [OrderStatus; 6] = [
    OrderStatus::Draft,
    OrderStatus::Created,
    OrderStatus::PaymentFailed,
    OrderStatus::Paid,
    OrderStatus::Printing,
    OrderStatus::Ready,
];
/// States of open jobs.
const OPEN_JOBS: [JobState; 7] = [
    JobState::Created,
    JobState::Validated,
    JobState::AwaitingManualReview,
    JobState::Sliced,
    JobState::Dispatching,
    JobState::Printing,
    JobState::Paused,
];

/// Maximum number of IDs per query. SQLite accepts 32,766 parameters, PostgreSQL 65,535.
const MAX_IDS_PER_QUERY: usize = 30_000;

/// Checks the given requirements and fails with the first one that is not met. Must run after the rows of the commits
/// themselves have been written.
pub(super) async fn check<'r, C: ConnectionTrait>(
    db: &C,
    requirements: impl Iterator<Item = &'r Requirement> + Clone,
) -> Result<(), WriteError> {
    for what in [Referenced::File, Referenced::Material, Referenced::Sku] {
        let named = requirements.clone().filter_map(|requirement| match requirement {
            Requirement::NotDeleted { what: kind, id, .. } if *kind == what => Some(*id),
            _ => None,
        });
        let named: BTreeSet<Id> = named.collect();
        if named.is_empty() {
            continue;
        }
        if let Some(deleted) = first_deleted(db, what, named).await? {
            let unmet = requirements.clone().find(|requirement| {
                matches!(requirement, Requirement::NotDeleted { what: kind, id, .. } if *kind == what && *id == deleted)
            });
            return unmet.map_or(Ok(()), |unmet| Err(WriteError::Unmet(unmet.clone())));
        }
    }
    for requirement in requirements {
        let unmet = match requirement {
            Requirement::NotDeleted { .. } => false,
            Requirement::NoKit { sku, .. } => is_kit(db, *sku).await?,
            Requirement::Unused { what, id } => in_use(db, *what, *id).await?,
            Requirement::Unissued { series, next, restore, .. } => is_issued(db, series, *next, *restore).await?,
        };
        if unmet {
            return Err(WriteError::Unmet(requirement.clone()));
        }
    }
    Ok(())
}

/// Returns whether the SKU is a kit, that is, has no material.
async fn is_kit<C: ConnectionTrait>(db: &C, sku: Id) -> Result<bool, WriteError> {
    let kit = skus::Column::Id.eq(sku.to_string()).and(skus::Column::MaterialId.eq(""));
    any(db, skus::Entity::find().filter(kit)).await
}

/// Returns whether a document in the series has the given number or a higher one, or whether a different restore skips
/// such a number.
async fn is_issued<C: ConnectionTrait>(db: &C, series: &str, next: i64, restore: Id) -> Result<bool, WriteError> {
    use invoice_documents::Column as D;
    use number_gaps::Column as G;
    let issued = D::Series.eq(series).and(D::Number.gte(next));
    let left_out = G::Series.eq(series).and(G::LastNumber.gte(next)).and(G::RestoreId.ne(restore.to_string()));
    Ok(any(db, invoice_documents::Entity::find().filter(issued)).await?
        || any(db, number_gaps::Entity::find().filter(left_out)).await?)
}

async fn first_deleted<C: ConnectionTrait>(
    db: &C,
    what: Referenced,
    ids: BTreeSet<Id>,
) -> Result<Option<Id>, WriteError> {
    let ids: Vec<String> = ids.iter().map(Id::to_string).collect();
    for some in ids.chunks(MAX_IDS_PER_QUERY) {
        let first = match what {
            Referenced::File => deleted(db, files::Entity::find(), some).await?,
            Referenced::Material => deleted(db, materials::Entity::find(), some).await?,
            Referenced::Sku => deleted(db, skus::Entity::find(), some).await?,
        };
        if first.is_some() {
            return Ok(first);
        }
    }
    Ok(None)
}

async fn deleted<E: EntityTrait, C: ConnectionTrait>(
    db: &C,
    all: Select<E>,
    ids: &[String],
) -> Result<Option<Id>, WriteError> {
    let ids = Expr::col("id").is_in(ids.iter().map(String::as_str));
    let select = all.select_only().expr(Expr::col("id")).filter(ids).filter(Expr::col("archived").eq(true));
    let first: Option<String> = select.limit(1).into_tuple().one(db).await.map_err(WriteError::Db)?;
    Ok(first.and_then(|id| id.parse().ok()))
}

async fn in_use<C: ConnectionTrait>(db: &C, what: Referenced, id: Id) -> Result<bool, WriteError> {
    Ok(match what {
        Referenced::Sku => {
            let kits = skus::Column::Doc.like(format!("%\"skuId\":\"{id}\"%"));
            any(db, skus::Entity::find().filter(skus::Column::Archived.eq(false)).filter(kits)).await?
                || in_orders(db, "skuId", id).await?
                || in_jobs(db, jobs::Column::SkuId.eq(id.to_string())).await?
                || in_sent_quotes(db, id).await?
        }
        Referenced::File => {
            // A SKU names files as G-code, as model and among its images.
            let named = skus::Column::Doc.like(format!("%\"{id}\"%"));
            let model = format!("%\"modelFileId\":\"{id}\"%");
            any(db, skus::Entity::find().filter(skus::Column::Archived.eq(false)).filter(named)).await?
                || in_orders(db, "fileId", id).await?
                || in_orders(db, "modelFileId", id).await?
                || in_jobs(db, jobs::Column::FileId.eq(id.to_string()).or(jobs::Column::Doc.like(model))).await?
                || in_custom_requests(db, id).await?
        }
        Referenced::Material => {
            // The first material is a column; further ones, and those in the slots of printers, are members of the
            // document.
            let member = format!("%\"materialId\":\"{id}\"%");
            let named = skus::Column::MaterialId.eq(id.to_string()).or(skus::Column::Doc.like(&member));
            let loaded = printers::Column::Doc.like(format!("%\"loadedMaterialId\":\"{id}\"%"));
            let loaded = loaded.or(printers::Column::Doc.like(&member));
            any(db, skus::Entity::find().filter(skus::Column::Archived.eq(false)).filter(named)).await?
                || any(db, printers::Entity::find().filter(printers::Column::Archived.eq(false)).filter(loaded)).await?
                || in_orders(db, "materialId", id).await?
                || in_jobs(db, jobs::Column::MaterialId.eq(id.to_string()).or(jobs::Column::Doc.like(&member))).await?
        }
    })
}

/// Returns whether any order that has not ended contains the ID in the given field. Order lines are part of the
/// document and have no index, so they are searched only before a deletion.
async fn in_orders<C: ConnectionTrait>(db: &C, member: &str, id: Id) -> Result<bool, WriteError> {
    let open = words(&OPEN_ORDERS)?;
    let named = orders::Column::Doc.like(format!("%\"{member}\":\"{id}\"%"));
    any(db, orders::Entity::find().filter(orders::Column::Status.is_in(open)).filter(named)).await
}

async fn in_jobs<C: ConnectionTrait>(db: &C, named: SimpleExpr) -> Result<bool, WriteError> {
    let open = words(&OPEN_JOBS)?;
    any(db, jobs::Entity::find().filter(jobs::Column::State.is_in(open)).filter(named)).await
}

/// Returns whether a sent quote contains the SKU; such a quote can be accepted until it is declined or withdrawn. Lines
/// are part of the quote's document and have no index.
async fn in_sent_quotes<C: ConnectionTrait>(db: &C, sku: Id) -> Result<bool, WriteError> {
    use quotes::Column as Q;
    let named = Q::Doc.like(format!("%\"skuId\":\"{sku}\"%"));
    let sent = Q::Status.eq(word(&QuoteStatus::Sent)?).and(Q::Archived.eq(false));
    any(db, quotes::Entity::find().filter(sent).filter(named)).await
}

/// Returns whether a custom request uses the file as a photo. Photos are part of the request's document and have no
/// index.
async fn in_custom_requests<D: ConnectionTrait>(db: &D, file: Id) -> Result<bool, WriteError> {
    use custom_requests::Column as C;
    let named = C::Doc.like(format!("%\"fileId\":\"{file}\"%"));
    let open = C::Status.ne(word(&CustomRequestStatus::Closed)?);
    any(db, custom_requests::Entity::find().filter(open).filter(named)).await
}

/// Returns whether the query returns any rows.
async fn any<E: EntityTrait<Model: Doc>, C: ConnectionTrait>(db: &C, select: Select<E>) -> Result<bool, WriteError> {
    let select = select.select_only().expr(Expr::value(1_i64)).limit(1);
    let first: Option<i64> = select.into_tuple().one(db).await.map_err(WriteError::Db)?;
    Ok(first.is_some())
}

fn words<T: serde::Serialize>(members: &[T]) -> Result<Vec<String>, WriteError> {
    Ok(members.iter().map(word).collect::<Result<_, _>>()?)
}
