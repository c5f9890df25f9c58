//! Search of jobs by their number, by the number of their order, and by the names of their product and G-code file.
//!
//! Products and files are compared with the text one by one, but there are far fewer of them than jobs, which are
//! then looked up in the indexes of what they refer to.

use std::collections::BTreeSet;

use sea_orm::sea_query::{Condition, Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, IdenStatic, PaginatorTrait, QueryFilter, QuerySelect, QueryTrait, Select};

use super::orders::json;
use super::{JobFilter, Page, Queries, id_of};
use crate::rows::{Doc, LoadError, word};
use domain::aggregate::NumberSeries;
use domain::file::FileKind;
use domain::id::Id;
use domain::job::Job;
use entities::{files, jobs, orders, skus};

/// Maximum number of products, and of files, whose IDs are used to select jobs.
const MAX_NAMES: u64 = 2_000;
/// Maximum number of jobs that are sorted to find a page of them.
const MAX_JOBS_SORTED: u64 = 20_000;

/// Jobs that match a text: the job with this number, the jobs of the order with this number, and the jobs whose product
/// or G-code file has a name containing it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobSearch {
    text: String,
    number: Option<i64>,
    order_id: Option<Id>,
    products: NameMatches,
    files: NameMatches,
    /// `true` if there are few enough jobs to sort. Otherwise, a page of them is found by going through all jobs from
    /// the newest on, which takes longer the older the matching jobs are.
    finds_few: bool,
}

/// Products or files whose names contain a text.
#[derive(Clone, PartialEq, Eq, Debug)]
enum NameMatches {
    /// All matches, if there are few.
    Few(BTreeSet<Id>),
    /// Too many to select jobs by their IDs.
    Many,
}

/// Way in which a database reaches the jobs of a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum JobAccess {
    /// By all filters but the search, in the order of the list. Each job found is compared with the search.
    List,
    /// By the search. The other filters are compared with each job that it finds, and these jobs are sorted: the newest
    /// jobs are not scanned, because all matching jobs may be old.
    Search,
}

impl JobAccess {
    /// Returns a column that the search compares.
    fn search_column(self, column: jobs::Column) -> Expr {
        if self == Self::Search { Expr::col(column) } else { without_index(column) }
    }

    /// Returns a column that another filter compares, or that sorts the list.
    pub(super) fn list_column(self, column: jobs::Column) -> Expr {
        if self == Self::List { Expr::col(column) } else { without_index(column) }
    }
}

impl JobSearch {
    /// Returns whether the search finds a job; `None` if only the database can determine that, because too many names
    /// contain the text.
    pub(super) fn finds(&self, job: &Job) -> Option<bool> {
        if self.number == Some(job.number) || self.order_id == Some(job.order_id) {
            return Some(true);
        }
        let (NameMatches::Few(products), NameMatches::Few(files)) = (&self.products, &self.files) else { return None };
        Some(products.contains(&job.sku_id) || job.file_id.is_some_and(|file| files.contains(&file)))
    }
}

impl Queries {
    /// Resolves a text to what it matches; `None` if it is empty.
    pub async fn job_search(&self, text: &str) -> Result<Option<JobSearch>, LoadError> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let order_id = match NumberSeries::Order.parse(text) {
            Some(number) => self.order_with_number(number).await?,
            None => None,
        };
        let mut search = JobSearch {
            text: text.to_owned(),
            number: NumberSeries::Job.parse(text),
            order_id,
            products: self.name_matches("skus", self.products_named(text)).await?,
            files: self.name_matches("files", self.files_named(text)?).await?,
            finds_few: true,
        };
        let all = jobs::Entity::find().filter(self.job_search_condition(&search, JobAccess::Search)?);
        let some = all.select_only().column(jobs::Column::Id).limit(MAX_JOBS_SORTED + 1);
        search.finds_few = some.count(&self.db).await? <= MAX_JOBS_SORTED;
        Ok(Some(search))
    }

    /// Returns the condition that selects the jobs that a search finds.
    pub(super) fn job_search_condition(&self, search: &JobSearch, access: JobAccess) -> Result<Condition, LoadError> {
        use jobs::Column as C;
        let (sku_id, file_id) = (access.search_column(C::SkuId), access.search_column(C::FileId));
        let of_product = match &search.products {
            NameMatches::Few(ids) => is_among(sku_id, ids),
            NameMatches::Many => Some(sku_id.in_subquery(self.products_named(&search.text).into_query())),
        };
        let of_file = match &search.files {
            NameMatches::Few(ids) => is_among(file_id, ids),
            NameMatches::Many => Some(file_id.in_subquery(self.files_named(&search.text)?.into_query())),
        };
        let condition = Condition::any()
            .add_option(search.number.map(|number| C::Number.eq(number)))
            .add_option(search.order_id.map(|id| C::OrderId.eq(id.to_string())))
            .add_option(of_product)
            .add_option(of_file);
        // No job is found, and databases see it in an index.
        Ok(if condition.is_empty() { condition.add(C::Id.eq("")) } else { condition })
    }

    /// Returns a page of the jobs that match a filter with a search, without their attempts, and their total number.
    pub(super) async fn jobs_of_search(
        &self,
        filter: &JobFilter,
        search: &JobSearch,
        page: Page,
    ) -> Result<(Vec<Job>, u64), LoadError> {
        let select = self.job_rows(filter, JobAccess::Search)?;
        let total = select.clone().select_only().column(jobs::Column::Id).count(&self.db).await?;
        if !search.finds_few {
            return self.rows_of(self.job_rows(filter, JobAccess::List)?, page, Some(total)).await;
        }
        if page.limit == 0 || page.offset >= total {
            return Ok((Vec::new(), total));
        }
        let rows = self.rows_by_id(select.limit(page.limit).offset(page.offset)).await?;
        Ok((self.readable(&rows, Doc::read), total))
    }

    async fn order_with_number(&self, number: i64) -> Result<Option<Id>, LoadError> {
        use orders::Column as C;
        let select = orders::Entity::find().select_only().column(C::Id).filter(C::Number.eq(number));
        let id: Option<String> = select.into_tuple().one(&self.db).await?;
        id.map(|id| id_of("orders", &id)).transpose()
    }

    /// Returns the query for the IDs of products, including deleted ones, whose name or code contains a text.
    fn products_named(&self, text: &str) -> Select<skus::Entity> {
        use skus::Column as C;
        // The code of a deleted product ends with its ID, which nobody looks for.
        let code = self.contains(C::Code, text).and(C::Archived.eq(false));
        skus::Entity::find().select_only().column(C::Id).filter(self.contains(C::Name, text).or(code))
    }

    /// Returns the query for the IDs of G-code files, including deleted ones, whose name contains a text.
    fn files_named(&self, text: &str) -> Result<Select<files::Entity>, LoadError> {
        use files::Column as C;
        let kind = word(&FileKind::Gcode).map_err(json)?;
        // Both values are named because the index by kind begins with them: pictures of prints are not read.
        let gcode = C::Archived.is_in([false, true]).and(C::Kind.eq(kind));
        Ok(files::Entity::find().select_only().column(C::Id).filter(gcode).filter(self.contains(C::Name, text)))
    }

    /// Reads the IDs of products or files, up to the maximum number used to select jobs.
    async fn name_matches<E: EntityTrait>(
        &self,
        table: &'static str,
        select: Select<E>,
    ) -> Result<NameMatches, LoadError> {
        let ids: Vec<String> = select.limit(MAX_NAMES + 1).into_tuple().all(&self.db).await?;
        if ids.len() as u64 > MAX_NAMES {
            return Ok(NameMatches::Many);
        }
        Ok(NameMatches::Few(ids.iter().map(|id| id_of(table, id)).collect::<Result<_, _>>()?))
    }
}

/// Returns the condition that a column has one of the IDs; `None` if there are none.
fn is_among(column: Expr, ids: &BTreeSet<Id>) -> Option<Expr> {
    (!ids.is_empty()).then(|| column.is_in(ids.iter().map(Id::to_string)))
}

/// Returns an expression with the value of a column that no database looks up in an index, or reads in its order.
fn without_index(column: jobs::Column) -> Expr {
    let name = column.as_str();
    let is_number = matches!(column, jobs::Column::CreatedAt);
    Expr::cust(if is_number { format!("({name} + 0)") } else { format!("({name} || '')") })
}

#[cfg(test)]
mod tests;
