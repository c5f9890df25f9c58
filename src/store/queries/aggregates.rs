//! Queries for materials, SKUs and files.

use std::cmp::Reverse;
use std::sync::Arc;

use sea_orm::sea_query::{Alias, ExprTrait};
use sea_orm::{
    ColumnTrait, DbErr, EntityTrait, PaginatorTrait as _, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};

use super::orders::json;
use super::{FileGroup, Page, Queries, equals, versioned};
use crate::rows::{Doc, LoadError, read_doc, word};
use domain::aggregate::Versioned;
use domain::amount::Amount;
use domain::file::{File, FileKind};
use domain::id::Id;
use domain::material::{Material, MaterialType, Movement, MovementKind};
use domain::sku::Sku;
use domain::time::{DAY_MS, Timestamp};
use entities::{files, materials, movements, skus};

/// Filter for materials; absent fields match all. Archived materials are never listed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MaterialFilter {
    /// Material type.
    pub kind: Option<MaterialType>,
    /// Text contained in the name.
    pub q: Option<String>,
}

/// Filter for SKUs; absent fields match all. Archived SKUs are never listed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SkuFilter {
    /// `true` for public SKUs, `false` for private ones.
    pub public: Option<bool>,
    /// `true` for SKUs that can be ordered.
    pub active: Option<bool>,
    /// Material that the SKU is made from.
    pub material_id: Option<Id>,
    /// URL slug.
    pub slug: Option<String>,
    /// Exact SKU code.
    pub code: Option<String>,
    /// Full SKU name, ignoring case.
    pub name: Option<String>,
    /// Text contained in the name or the code.
    pub q: Option<String>,
    /// `true` for kits, `false` for all others.
    pub kit: Option<bool>,
    /// ID of a file or SKU that the SKU refers to: a file that it is printed from or shown with, or a SKU that it
    /// contains.
    pub names: Option<Id>,
}

/// Filter for files; absent fields match all. Archived files are never listed.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FileFilter {
    /// Kind of the file.
    pub kind: Option<FileKind>,
    /// Group that the file belongs to.
    pub group: Option<FileGroup>,
    /// SHA-256 hash of the content, in hex.
    pub sha256: Option<String>,
    /// Text contained in the name.
    pub q: Option<String>,
}

impl Queries {
    /// Returns a page of materials, without their claims, newest first, and their total number.
    pub async fn materials(
        &self,
        filter: &MaterialFilter,
        page: Page,
    ) -> Result<(Vec<Versioned<Material>>, u64), LoadError> {
        self.snapshots(self.material_rows(filter)?, page).await
    }

    /// Returns a page of materials like [`Self::materials`], as they are in memory. `in_memory` returns the state of a
    /// material if it is in memory at the given version. The materials on the page are read only if one is not in
    /// memory.
    pub async fn materials_in_memory(
        &self,
        filter: &MaterialFilter,
        page: Page,
        in_memory: impl Fn(Id, i64) -> Option<Arc<Versioned<Material>>>,
    ) -> Result<(Vec<Arc<Versioned<Material>>>, u64), LoadError> {
        use materials::Column as C;
        let select = self.material_rows(filter)?;
        let total = select.clone().count(&self.db).await?;
        let select = select.select_only().column(C::Id).column(C::Version).limit(page.limit).offset(page.offset);
        let versions: Vec<(String, i64)> = select.into_tuple().all(&self.db).await?;
        let state = |(id, version): &(String, i64)| {
            let state = in_memory(id.parse().ok()?, *version)?;
            // Its row was mended if it could not be read before.
            self.damaged.sort_out(materials::Model::TABLE, id, Ok(state))
        };
        let states: Option<Vec<Arc<Versioned<Material>>>> = versions.iter().map(state).collect();
        if let Some(states) = states {
            return Ok((states, total));
        }
        let (materials, total) = self.materials(filter, page).await?;
        Ok((materials.into_iter().map(Arc::new).collect(), total))
    }

    /// Returns the query for the materials that match the filter, newest first.
    fn material_rows(&self, filter: &MaterialFilter) -> Result<Select<materials::Entity>, LoadError> {
        use materials::Column as C;
        let kind = filter.kind.as_ref().map(word).transpose().map_err(json)?;
        let select = materials::Entity::find()
            .filter(C::Archived.eq(false))
            .apply_if(kind, |all, kind| all.filter(C::Kind.eq(kind)))
            .apply_if(filter.q.as_deref(), |all, q| all.filter(self.contains(C::Name, q)));
        Ok(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id))
    }

    /// Returns a page of SKUs, newest first, and their total number.
    pub async fn skus(&self, filter: &SkuFilter, page: Page) -> Result<(Vec<Versioned<Sku>>, u64), LoadError> {
        self.snapshots(self.sku_rows(filter), page).await
    }

    /// Returns at most `limit` SKUs, newest first, without counting them.
    pub async fn newest_skus(&self, filter: &SkuFilter, limit: u64) -> Result<Vec<Versioned<Sku>>, LoadError> {
        let rows = self.sku_rows(filter).limit(limit).all(&self.db).await?;
        Ok(self.readable(&rows, versioned))
    }

    /// Returns the query for the SKUs that match the filter, newest first.
    fn sku_rows(&self, filter: &SkuFilter) -> Select<skus::Entity> {
        use skus::Column as C;
        let select = skus::Entity::find()
            .filter(C::Archived.eq(false))
            .apply_if(filter.public, |all, public| all.filter(C::Public.eq(public)))
            .apply_if(filter.active, |all, active| all.filter(C::Active.eq(active)))
            .apply_if(filter.material_id, |all, id| {
                // Further materials are members of the document.
                let further = C::Doc.like(format!("%\"materialId\":\"{id}\"%"));
                all.filter(C::MaterialId.eq(id.to_string()).or(further))
            })
            .apply_if(filter.slug.as_deref(), |all, slug| all.filter(C::Slug.eq(slug)))
            .apply_if(filter.code.as_deref(), |all, code| all.filter(C::Code.eq(code)))
            .apply_if(filter.name.as_deref(), |all, name| all.filter(equals(C::Name, name)))
            .apply_if(filter.kit, |all, kit| {
                // A list that is empty, or not there, begins no object.
                let components = "%\"components\":[{%";
                all.filter(if kit { C::Doc.like(components) } else { C::Doc.not_like(components) })
            })
            .apply_if(filter.names, |all, id| {
                // What it names stands in the document, as its own id does.
                all.filter(C::Doc.like(format!("%\"{id}\"%")).and(C::Id.ne(id.to_string())))
            })
            .apply_if(filter.q.as_deref(), |all, q| {
                all.filter(self.contains(C::Name, q).or(self.contains(C::Code, q)))
            });
        select.order_by_desc(C::CreatedAt).order_by_desc(C::Id)
    }

    /// Returns a page of files, newest first, and their total number.
    pub async fn files(&self, filter: &FileFilter, page: Page) -> Result<(Vec<Versioned<File>>, u64), LoadError> {
        use files::Column as C;
        let kind = filter.kind.as_ref().map(word).transpose().map_err(json)?;
        let group = filter.group.map(FileGroup::condition).transpose()?;
        let total = self.file_total(filter).await?;
        let select = files::Entity::find()
            .filter(C::Archived.eq(false))
            .apply_if(kind, |all, kind| all.filter(C::Kind.eq(kind)))
            .apply_if(group, QueryFilter::filter)
            .apply_if(filter.sha256.as_deref(), |all, sha256| all.filter(C::Sha256.eq(sha256)))
            .apply_if(filter.q.as_deref(), |all, q| all.filter(self.contains(C::Name, q)));
        self.snapshots_of(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id), page, total).await
    }

    /// Returns up to `most` photos of finished prints that the server took before the given time, oldest first.
    pub async fn photos_before(&self, before: Timestamp, most: u64) -> Result<Vec<File>, LoadError> {
        use files::Column as C;
        let condition = C::AttemptId.is_not_null().and(C::Archived.eq(false)).and(C::CreatedAt.lt(before.0));
        let select = files::Entity::find().filter(condition).order_by_asc(C::CreatedAt).limit(most);
        let rows = select.all(&self.db).await?;
        rows.iter()
            .map(|row| read_doc(row.schema, &row.doc).map_err(|words| LoadError::Db(DbErr::Json(words))))
            .collect()
    }

    /// Returns a page of a material's ledger, newest first, and the total number of movements.
    pub async fn movements(&self, material: Id, page: Page) -> Result<(Vec<Movement>, u64), LoadError> {
        use movements::Column as C;
        let select = movements::Entity::find().filter(C::MaterialId.eq(material.to_string()));
        let mut days = Vec::new();
        for (day, count) in self.row_counts(&format!("movements {material}")).await? {
            days.push((day.parse::<i64>().map_err(|error| DbErr::Type(error.to_string()))?, count));
        }
        days.sort_unstable_by_key(|(day, _)| Reverse(*day));
        let total: u64 = days.iter().map(|(_, count)| count).sum();
        let sorted = select.order_by_desc(C::CreatedAt).order_by_desc(C::Id);
        if page.offset < total {
            let (day, offset) = first_day(&days, page.offset);
            let from_day = sorted.clone().apply_if(day, |all, day| all.filter(C::CreatedAt.lt((day + 1) * DAY_MS)));
            let rows = self.rows_at(from_day, Page { offset, ..page }).await?;
            if page.fits(rows.len() as u64, total) {
                return Ok((self.readable(&rows, Doc::read), total));
            }
        }
        // The last page, or numbers that are wrong: then the days do not say where the page begins.
        self.rows(sorted, page).await
    }

    /// Returns the deliveries of these materials since the given time, latest first, at most `limit`.
    pub async fn receipts_since(
        &self,
        materials: &[Id],
        from: Timestamp,
        limit: u64,
    ) -> Result<Vec<Movement>, LoadError> {
        use movements::Column as C;
        if materials.is_empty() {
            return Ok(Vec::new());
        }
        let select = movements::Entity::find()
            .filter(C::MaterialId.is_in(materials.iter().map(Id::to_string)))
            .filter(C::CreatedAt.gte(from.0))
            .filter(C::Kind.eq(word(&MovementKind::Receive).map_err(json)?));
        let rows = select.order_by_desc(C::CreatedAt).order_by_desc(C::Id).limit(limit).all(&self.db).await?;
        Ok(self.readable(&rows, Doc::read))
    }

    /// Returns the totals of a material's ledger, which must equal the material's `quantity` and `reserved`.
    pub async fn ledger_sums(&self, material: Id) -> Result<(Amount, Amount), LoadError> {
        use movements::Column as C;
        // PostgreSQL sums 64-bit integers as numeric.
        let sum = |column: C| column.sum().cast_as(Alias::new("bigint"));
        let select = movements::Entity::find().select_only().expr(sum(C::DeltaQuantity)).expr(sum(C::DeltaReserved));
        let select = select.filter(C::MaterialId.eq(material.to_string()));
        let sums: Option<(Option<i64>, Option<i64>)> = select.into_tuple().one(&self.db).await?;
        let (quantity, reserved) = sums.unwrap_or_default();
        Ok((Amount(quantity.unwrap_or(0)), Amount(reserved.unwrap_or(0))))
    }
}

/// Returns the day of the movement at an offset, and the number of movements of that day to skip. `days` contains each
/// day with its number of movements, newest day first. If there are too few movements, returns no day and the offset.
fn first_day(days: &[(i64, u64)], offset: u64) -> (Option<i64>, u64) {
    let mut rest = offset;
    for (day, count) in days {
        if rest < *count {
            return (Some(*day), rest);
        }
        rest -= count;
    }
    (None, offset)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::rows::Batch;
    use crate::rows::samples::{at, id, movement, on_each, write};
    use domain::material::MaterialRow;

    #[test]
    fn whole_days_are_skipped() {
        let days = [(9, 2), (7, 3), (1, 1)];
        assert_eq!(
            [0, 1, 2, 4, 5].map(|offset| first_day(&days, offset)),
            [(Some(9), 0), (Some(9), 1), (Some(7), 0), (Some(7), 2), (Some(1), 0)]
        );
        assert_eq!([6, 99].map(|offset| first_day(&days, offset)), [(None, 6), (None, 99)]);
    }

    #[tokio::test]
    async fn pages_of_a_ledger_are_parts_of_it() {
        on_each(async |db| {
            let mut batch = Batch::default();
            // Some days have no movement, some one, and one has many, of which some are of the same moment.
            let time = |n: u128| at(if n < 300 { n as i64 / 2 } else { (n as i64 - 300) * DAY_MS * 3 / 5 });
            for n in 0..330 {
                let own = Movement { created_at: time(n), ..movement(1_000 + n, 200, 1) };
                batch.push_row(&MaterialRow::Movement(own)).unwrap();
                batch.push_row(&MaterialRow::Movement(movement(2_000 + n, 201, 1))).unwrap();
            }
            write(db, batch).await.unwrap();
            let queries = Queries::new(db.clone());
            let mut expected: Vec<u128> = (0..330).collect();
            expected.sort_by_key(|n| Reverse((time(*n), *n)));
            for offset in (0..340).step_by(7) {
                let (lines, total) = queries.movements(id(200), Page { limit: 7, offset }).await.unwrap();
                let ids: Vec<Id> = lines.into_iter().map(|line| line.id).collect();
                let of_page: Vec<Id> = expected.iter().skip(offset as usize).take(7).map(|n| id(1_000 + n)).collect();
                assert_eq!((ids, total), (of_page, 330), "from {offset}");
            }
        })
        .await;
    }
}
