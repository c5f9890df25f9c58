//! Queries for orders and jobs.

use std::collections::BTreeMap;

use sea_orm::sea_query::{Condition, Expr, ExprTrait, LikeExpr};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select};

use super::job_search::{JobAccess, JobSearch};
use super::order_search::OrderSearch;
use super::{Page, Queries, escaped, id_of, versioned};
use crate::kinds::with_attempts;
use crate::rows::{Doc, LoadError, word};
use domain::aggregate::{LastNumbers, NumberSeries, Versioned};
use domain::id::Id;
use domain::job::{Attempt, Job, JobState};
use domain::kept_payment_event::KeptPaymentEvent;
use domain::order::{Order, OrderKind, OrderStatus};
use domain::time::Timestamp;
use entities::{attempts, inbound, jobs, orders, quotes};

/// LIKE pattern for the documents of orders that have a promise. Text entered by users cannot match it, because its
/// quotes are escaped.
const PROMISE: &str = "%\"promise\":{%";

/// States of jobs that wait: they are neither on a printer nor ended.
const WAITING_JOBS: [JobState; 4] =
    [JobState::Created, JobState::Validated, JobState::AwaitingManualReview, JobState::Sliced];

/// Statuses of orders that are produced, whose promise is outstanding if they have one.
const ORDERS_IN_PRODUCTION: [OrderStatus; 2] = [OrderStatus::Paid, OrderStatus::Printing];

/// Filter for orders; absent fields match all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OrderFilter {
    /// Status of the order.
    pub status: Option<OrderStatus>,
    /// Kind of the order.
    pub kind: Option<OrderKind>,
    /// Site that the order was placed on.
    pub site: Option<String>,
    /// Customer's email address, in lowercase.
    pub customer_email: Option<String>,
    /// API key or user that created the order.
    pub made_by: Option<Id>,
    /// Restriction to the orders visible to a customer's API key.
    pub own: Option<OwnOrders>,
    /// Flag that the order must have.
    pub flag: Option<String>,
    /// `true` for orders with any flag, `false` for orders without flags.
    pub flagged: Option<bool>,
    /// Text contained in the email address, or the order number (`ORD-000123` or `123`).
    pub q: Option<String>,
    /// Human-readable number of the order.
    pub number: Option<i64>,
    /// `true` for orders whose promise is outstanding, `false` for all others.
    pub promised: Option<bool>,
}

/// Orders that a customer's API key can access: those of the customer that the key was issued for or, if none, those
/// created with the key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnOrders {
    /// API key that created the orders.
    pub made_by: Id,
    /// Customer that the key was issued for.
    pub customer_email: Option<String>,
}

/// Filter for jobs; absent fields match all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct JobFilter {
    /// State of the job.
    pub state: Option<JobState>,
    /// Order that the job belongs to.
    pub order_id: Option<Id>,
    /// Printer that the job is currently assigned to.
    pub printer_id: Option<Id>,
    /// SKU that the job produces.
    pub sku_id: Option<Id>,
    /// Material that the job needs.
    pub material_id: Option<Id>,
    /// `true` for jobs that are neither on a printer nor ended, `false` for all others.
    pub waiting: Option<bool>,
    /// `true` for printed jobs whose parts still have to be signed off by an operator, `false` for all others.
    pub unsigned: Option<bool>,
    /// Jobs to exclude.
    pub except: Vec<Id>,
    /// Human-readable number of the job.
    pub number: Option<i64>,
    /// Time from which on the job was created.
    pub since: Option<Timestamp>,
    /// Search that finds the job.
    pub search: Option<JobSearch>,
}

impl JobFilter {
    /// Returns whether a job matches; `None` if only the database can determine that, because too many names contain
    /// the search text.
    pub fn matches(&self, job: &Job) -> Option<bool> {
        let needs = |id: Id| job.claims().iter().any(|claim| claim.material_id == id);
        let is_match = self.state.is_none_or(|state| state == job.state)
            && self.order_id.is_none_or(|id| id == job.order_id)
            && self.printer_id.is_none_or(|id| job.printer_id == Some(id))
            && self.sku_id.is_none_or(|id| id == job.sku_id)
            && self.material_id.is_none_or(needs)
            && self.waiting.is_none_or(|which| which == WAITING_JOBS.contains(&job.state))
            && self.unsigned.is_none_or(|which| which == job.unsigned)
            && !self.except.contains(&job.id)
            && self.number.is_none_or(|number| number == job.number)
            && self.since.is_none_or(|since| job.created_at >= since);
        match &self.search {
            Some(search) if is_match => search.finds(job),
            _ => Some(is_match),
        }
    }
}

impl Queries {
    /// Returns a page of orders, without their jobs and payments, newest first, and their total number.
    pub async fn orders(&self, filter: &OrderFilter, page: Page) -> Result<(Vec<Versioned<Order>>, u64), LoadError> {
        let search = self.order_search(filter).await?;
        let total = self.order_total(filter, search.as_ref()).await?;
        self.snapshots_of(filtered(filter, search.as_ref())?, page, total).await
    }

    /// Returns a page of the orders that match the filter and have no outstanding promise, as [`Self::orders`] does.
    /// `promised` is the number of those that match and have one, which the total leaves out.
    pub async fn unpromised_orders(
        &self,
        filter: &OrderFilter,
        page: Page,
        promised: u64,
    ) -> Result<(Vec<Versioned<Order>>, u64), LoadError> {
        let [all, others] = [None, Some(false)].map(|which| OrderFilter { promised: which, ..filter.clone() });
        let search = self.order_search(filter).await?;
        let total = self.order_total(&all, search.as_ref()).await?;
        let total = total.map(|total| total.saturating_sub(promised));
        self.snapshots_of(filtered(&others, search.as_ref())?, page, total).await
    }

    /// Returns at most `limit` orders, without their jobs and payments, newest first. Nothing is counted, so with a
    /// status in the filter, the cost does not grow with the number of orders.
    pub async fn newest_orders(&self, filter: &OrderFilter, limit: u64) -> Result<Vec<Versioned<Order>>, LoadError> {
        let search = self.order_search(filter).await?;
        let rows = filtered(filter, search.as_ref())?.limit(limit).all(&self.db).await?;
        Ok(self.readable(&rows, versioned))
    }

    /// Returns the IDs of all orders whose promise is outstanding and that match the filter, newest first. There are at
    /// most as many as the shop has open orders, and they are found through the status index.
    pub async fn promised_orders(&self, filter: &OrderFilter) -> Result<Vec<Id>, LoadError> {
        let filter = OrderFilter { promised: Some(true), ..filter.clone() };
        let search = self.order_search(&filter).await?;
        let select = filtered(&filter, search.as_ref())?.select_only().column(orders::Column::Id);
        let ids: Vec<String> = select.into_tuple().all(&self.db).await?;
        ids.iter().map(|id| id_of("orders", id)).collect()
    }

    /// Returns the given orders, without their jobs and payments, in the given order; omits missing ones. The caller
    /// limits the number of IDs.
    pub async fn orders_of(&self, ids: &[Id]) -> Result<Vec<Versioned<Order>>, LoadError> {
        let select = orders::Entity::find().filter(orders::Column::Id.is_in(ids.iter().map(Id::to_string)));
        let rows = select.all(&self.db).await?;
        let orders: Vec<Versioned<Order>> = self.readable(&rows, versioned);
        let with_id = |order: Versioned<Order>| order.state.as_ref().map(|state| state.id).map(|id| (id, order));
        let mut by_id: BTreeMap<Id, Versioned<Order>> = orders.into_iter().filter_map(with_id).collect();
        Ok(ids.iter().filter_map(|id| by_id.remove(id)).collect())
    }

    /// Returns a page of signed payment events that have not been matched to an order yet, newest first, and their
    /// total number.
    pub async fn unmatched_payments(&self, page: Page) -> Result<(Vec<Versioned<KeptPaymentEvent>>, u64), LoadError> {
        use inbound::Column as C;
        let select = inbound::Entity::find().filter(C::Done.eq(false));
        self.snapshots(select.order_by_desc(C::CreatedAt).order_by_desc(C::Id), page).await
    }

    /// Returns a page of jobs with their attempts, newest first, and their total number.
    pub async fn jobs(&self, filter: &JobFilter, page: Page) -> Result<(Vec<Job>, u64), LoadError> {
        let (jobs, total) = match &filter.search {
            Some(search) => self.jobs_of_search(filter, search, page).await?,
            None => {
                let total = self.job_total(filter).await?;
                self.rows_of(self.job_rows(filter, JobAccess::List)?, page, total).await?
            }
        };
        Ok((self.with_all_attempts(jobs).await?, total))
    }

    /// Returns the query for the jobs that match the filter, newest first.
    pub(super) fn job_rows(&self, filter: &JobFilter, access: JobAccess) -> Result<Select<jobs::Entity>, LoadError> {
        use jobs::Column as C;
        let waits = waiting_words().map_err(json)?;
        let state = filter.state.as_ref().map(word).transpose().map_err(json)?;
        let search = filter.search.as_ref().map(|search| self.job_search_condition(search, access)).transpose()?;
        let column = |column: C| access.list_column(column);
        let select = jobs::Entity::find()
            .apply_if(search, QueryFilter::filter)
            .apply_if(state, |all, state| all.filter(column(C::State).eq(state)))
            .apply_if(filter.order_id, |all, id| all.filter(column(C::OrderId).eq(id.to_string())))
            .apply_if(filter.printer_id, |all, id| all.filter(column(C::PrinterId).eq(id.to_string())))
            .apply_if(filter.sku_id, |all, id| all.filter(column(C::SkuId).eq(id.to_string())))
            .apply_if(filter.material_id, |all, id| {
                // Further materials are members of the document.
                let further = C::Doc.like(format!("%\"materialId\":\"{id}\"%"));
                all.filter(C::MaterialId.eq(id.to_string()).or(further))
            })
            .apply_if(filter.number, |all, number| all.filter(C::Number.eq(number)))
            .apply_if(filter.since, |all, since| all.filter(column(C::CreatedAt).gte(since.0)))
            .apply_if(filter.waiting, |all, which| {
                let state = column(C::State);
                all.filter(if which { state.is_in(waits) } else { state.is_not_in(waits) })
            })
            .apply_if(filter.unsigned, |all, which| all.filter(if which { unsigned() } else { unsigned().not() }))
            .apply_if(Some(&filter.except).filter(|except| !except.is_empty()), |all, except| {
                all.filter(C::Id.is_not_in(except.iter().map(Id::to_string)))
            })
            .order_by_desc(column(C::CreatedAt))
            .order_by_desc(C::Id);
        Ok(select)
    }

    /// Returns the total number of jobs that match a filter, if it is known without counting them.
    async fn job_total(&self, filter: &JobFilter) -> Result<Option<u64>, LoadError> {
        let counted = JobFilter {
            state: filter.state,
            waiting: filter.waiting,
            unsigned: filter.unsigned,
            ..JobFilter::default()
        };
        if *filter != counted {
            return Ok(None);
        }
        let waits = waiting_words().map_err(json)?;
        let state = filter.state.as_ref().map(word).transpose().map_err(json)?;
        let matches = |key: &str| {
            let (own, is_unsigned) = key.split_once(' ').map_or((key, false), |(own, _)| (own, true));
            state.as_deref().is_none_or(|state| state == own)
                && filter.waiting.is_none_or(|which| which == waits.iter().any(|wait| wait == own))
                && filter.unsigned.is_none_or(|which| which == is_unsigned)
        };
        Ok(Some(self.row_total("jobs", matches).await?))
    }

    /// Returns a job with its attempts.
    pub async fn job(&self, id: Id) -> Result<Option<Job>, LoadError> {
        let row = jobs::Entity::find_by_id(id.to_string()).one(&self.db).await?;
        let job = row.map(|row| row.read()).transpose()?;
        Ok(self.with_all_attempts(job.into_iter().collect()).await?.pop())
    }

    /// Returns the order that owns a job.
    pub async fn order_of_job(&self, job: Id) -> Result<Option<Id>, LoadError> {
        if let Some(memory) = &self.memory {
            return Ok(memory.tables().order_of_job(job));
        }
        let select = jobs::Entity::find_by_id(job.to_string()).select_only().column(jobs::Column::OrderId);
        let id: Option<String> = select.into_tuple().one(&self.db).await?;
        id.map(|id| id_of("jobs", &id)).transpose()
    }

    /// Counts the orders by status.
    pub async fn orders_by_status(&self) -> Result<Vec<(OrderStatus, u64)>, LoadError> {
        self.counts_by_first_word("orders").await
    }

    /// Counts the orders by flag. Reads only flagged orders.
    pub async fn orders_by_flag(&self) -> Result<BTreeMap<String, u64>, LoadError> {
        let flagged = orders::Entity::find().filter(any_flag());
        let mut counts = BTreeMap::new();
        for (flags, count) in self.counts::<_, String>(flagged, orders::Column::Flags).await? {
            for flag in flags.split(' ') {
                *counts.entry(flag.to_owned()).or_insert(0) += count;
            }
        }
        Ok(counts)
    }

    /// Counts the jobs by state.
    pub async fn jobs_by_state(&self) -> Result<Vec<(JobState, u64)>, LoadError> {
        self.counts_by_first_word("jobs").await
    }

    /// Returns the highest number in each series that was issued or has been skipped by a restore; 0 if none.
    pub async fn highest_numbers(&self) -> Result<LastNumbers, LoadError> {
        let order = orders::Entity::find().select_only().expr(orders::Column::Number.max());
        let job = jobs::Entity::find().select_only().expr(jobs::Column::Number.max());
        let quote = quotes::Entity::find().select_only().expr(quotes::Column::Number.max());
        let order: Option<Option<i64>> = order.into_tuple().one(&self.db).await?;
        let job: Option<Option<i64>> = job.into_tuple().one(&self.db).await?;
        let quote: Option<Option<i64>> = quote.into_tuple().one(&self.db).await?;
        let [order, job, quote] = [order, job, quote].map(|highest| highest.flatten().unwrap_or(0));
        let mut last = LastNumbers { order, job, quote };
        let gaps = self.number_gaps().await?;
        for series in NumberSeries::ALL {
            let of_series = gaps.iter().filter(|gap| gap.series == series.prefix());
            let left_out = of_series.map(|gap| gap.last).fold(0, Ord::max);
            let number = last.of(series);
            *number = Ord::max(*number, left_out);
        }
        Ok(last)
    }

    /// Attaches the attempts to the given jobs, using a single query.
    async fn with_all_attempts(&self, jobs: Vec<Job>) -> Result<Vec<Job>, LoadError> {
        let ids = jobs.iter().map(|job| job.id.to_string());
        let rows = attempts::Entity::find().filter(attempts::Column::JobId.is_in(ids)).all(&self.db).await?;
        let mut ledger: BTreeMap<Id, Vec<Attempt>> = BTreeMap::new();
        for attempt in self.readable::<_, Attempt>(&rows, Doc::read) {
            ledger.entry(attempt.job_id).or_default().push(attempt);
        }
        let whole = |job: Job| {
            let attempts = ledger.remove(&job.id).unwrap_or_default();
            with_attempts(job, attempts)
        };
        Ok(jobs.into_iter().map(whole).collect())
    }
}

/// Returns the query for the orders that match the filter, newest first. The search is that of the filter's text.
pub(super) fn filtered(
    filter: &OrderFilter,
    search: Option<&OrderSearch>,
) -> Result<Select<orders::Entity>, LoadError> {
    use orders::Column as C;
    let status = filter.status.as_ref().map(word).transpose().map_err(json)?;
    let kind = filter.kind.as_ref().map(word).transpose().map_err(json)?;
    let promised = filter.promised.map(has_outstanding_promise).transpose()?;
    let select = orders::Entity::find()
        .apply_if(status, |all, status| all.filter(C::Status.eq(status)))
        .apply_if(kind, |all, kind| all.filter(C::Kind.eq(kind)))
        .apply_if(filter.site.as_deref(), |all, site| all.filter(C::Site.eq(site)))
        .apply_if(filter.customer_email.as_deref(), |all, email| all.filter(C::CustomerEmail.eq(email)))
        .apply_if(filter.made_by, |all, by| all.filter(C::MadeBy.eq(by.to_string())))
        .apply_if(filter.own.as_ref(), |all, own| all.filter(visible(own)))
        .apply_if(filter.number, |all, number| all.filter(C::Number.eq(number)))
        .apply_if(filter.flag.as_deref(), |all, flag| all.filter(flagged(flag)))
        .apply_if(filter.flagged, |all, any| all.filter(if any { any_flag() } else { C::Flags.eq("") }))
        .apply_if(search, |all, search| all.filter(search.condition()))
        .apply_if(promised, QueryFilter::filter)
        .order_by_desc(C::CreatedAt)
        .order_by_desc(C::Id);
    Ok(select)
}

/// Returns the condition that the order's promise is outstanding, or that it is not. The status is checked first, so
/// that the documents of finished orders are not read.
fn has_outstanding_promise(which: bool) -> Result<Condition, LoadError> {
    use orders::Column as C;
    let open = ORDERS_IN_PRODUCTION.iter().map(word).collect::<Result<Vec<_>, _>>();
    let open = open.map_err(json)?;
    Ok(if which {
        Condition::all().add(C::Status.is_in(open)).add(C::Doc.like(PROMISE))
    } else {
        Condition::any().add(C::Status.is_not_in(open)).add(C::Doc.not_like(PROMISE))
    })
}

/// Returns the states of jobs that wait, as they are stored.
fn waiting_words() -> Result<Vec<String>, serde_json::Error> {
    WAITING_JOBS.iter().map(word).collect()
}

fn visible(own: &OwnOrders) -> Condition {
    Condition::all().add(match &own.customer_email {
        Some(email) => orders::Column::CustomerEmail.eq(email),
        None => orders::Column::MadeBy.eq(own.made_by.to_string()),
    })
}

/// Returns the condition that the order has a flag. Must match the partial index exactly; otherwise SQLite does not use
/// the index.
fn any_flag() -> Expr {
    Expr::cust("flags <> ''")
}

/// Returns the condition that the job's parts are not signed off. Must match the partial index exactly; otherwise
/// SQLite does not use the index.
fn unsigned() -> Expr {
    Expr::cust("unsigned")
}

/// Returns the condition that the order has the given flag. The column contains the flags separated by spaces.
fn flagged(flag: &str) -> Condition {
    let whole = LikeExpr::new(format!("% {} %", escaped(flag))).escape('\\');
    Condition::all().add(any_flag()).add(Expr::cust("(' ' || flags || ' ')").like(whole))
}

/// Converts the error for a filter value that cannot be serialised, which indicates a bug.
pub(super) fn json(error: serde_json::Error) -> LoadError {
    LoadError::Db(sea_orm::DbErr::Json(error.to_string()))
}

#[cfg(test)]
mod tests;
