//! To-do page: tasks for the staff by kind, the longest-waiting first within each kind.
//!
//! Printers are read from memory, orders and jobs with one query per kind. The script reloads the page when something
//! happens in the shop.

mod beds;
mod counts;
mod late;
mod parts;
mod row;
mod spools;
mod waiting;

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use self::row::TaskRow;
use super::board::BoardHandles;
use super::card::{act_path, attention_words, job_number, live_state, standing};
use super::card_gauge::{waiting, waiting_words};
use super::card_print::job_path_of;
use super::first_steps::first_steps;
use super::floor_group::counted;
use super::job::{job_path, resolutions};
use super::log::LogHandles;
use super::orders::flag_words;
use super::settings::restore;
use super::shell::{StaffSection, StaffViewer, Tone, act, since};
use super::stock::material_path;
use super::{FLOOR_PATH, ORDERS_PATH, TO_DO_PATH};
use crate::design::{Icon, icon};
use crate::refused::sentence;
use crate::times::message;
use actors::restores::DispatchHold;
use config::Config;
use domain::job::{Job, JobState};
use domain::material::Material;
use domain::order::{Order, OrderStatus};
use domain::printer::{AttemptPhase, Attention, Printer};
use domain::seller::gaps_in_words;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http_api::production::jobs::JobHandles;
use http_api::production::printers::present_all;
use store::queries::{JobFilter, OrderFilter, Page, SkuFilter};
use words::Language;

/// Maximum number of tasks shown per kind, longest-waiting first; further tasks appear once these are done.
const ROWS_PER_KIND: u64 = 30;

handles! {
    /// Dependencies of the to-do page.
    pub(crate) struct ToDoHandles {
        board: BoardHandles,
        hold: DispatchHold,
        jobs: JobHandles,
        log: LogHandles,
        config: Arc<Config>,
    }
}

/// Section of the to-do page with tasks of one kind, all of which are done in the same way.
struct TaskKind {
    id: &'static str,
    title: &'static str,
    rows: Vec<TaskRow>,
    /// Total number of tasks, if more than are shown.
    total: u64,
    /// Text next to the title.
    note: Option<String>,
    /// Markup shown below the tasks.
    below: Option<Markup>,
}

impl TaskKind {
    fn new(id: &'static str, title: &'static str, rows: Vec<TaskRow>) -> Self {
        let total = rows.len() as u64;
        Self { id, title, rows, total, note: None, below: None }
    }

    fn html(&self) -> Markup {
        html! {
            section class="panel tasks" id={ "kind-" (self.id) } aria-labelledby={ "title-" (self.id) } {
                div class="tasks-head" {
                    h2 id={ "title-" (self.id) } { (self.title) " (" (self.total) ")" }
                    @if let Some(note) = &self.note { span class="faint small" { (note) } }
                }
                ul class="rows" { @for row in &self.rows { (row.html()) } }
                @if let Some(below) = &self.below { (below) }
            }
        }
    }
}

/// Serves the to-do page.
pub(super) async fn show(State(app): State<ToDoHandles>, who: Caller) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let view = app.board.view();
    let all = present_all(&app.board.shop);
    let printers: Vec<&Printer> = all.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let (sliced, all_sliced) = jobs_in(&app, &in_state(JobState::Sliced)).await?;
    let beds_waiting = beds::beds_waiting(&app, &printers);
    let acts = app.jobs.dispatcher.waiting_acts();
    let with_status = |status| OrderFilter { status: Some(status), ..OrderFilter::default() };
    let flagged = OrderFilter { flagged: Some(true), ..OrderFilter::default() };
    let kinds = [
        seller(&app.config),
        restored(&app.hold),
        beds::beds(&app, &beds_waiting, &acts),
        parts::parts(&app, &beds_waiting).await?,
        unverified(&printers),
        troubles(&app, &printers),
        late::late(&app),
        jobs(&app, JobState::Failed, "failed", "Failed jobs").await?,
        jobs(&app, JobState::AwaitingManualReview, "review", "Jobs to review").await?,
        spools::spools(&app, &acts, &sliced),
        waiting::waiting(&app, &sliced, all_sliced),
        counts::counts(&app),
        low_stock(&app),
        orders(&app, &with_status(OrderStatus::Ready), "pack", "Orders to pack").await?,
        orders(&app, &flagged, "flagged", "Orders to review").await?,
        orders(&app, &with_status(OrderStatus::Created), "due", "Payments due").await?,
        orders(&app, &with_status(OrderStatus::PaymentFailed), "unpaid", "Failed payments").await?,
    ];
    let log = app.log.render(who.language, None).await?;
    let open: Vec<&TaskKind> = kinds.iter().filter(|kind| !kind.rows.is_empty()).collect();
    let stocked = app.board.shop.materials.all_resident().iter().any(|(_, versioned)| versioned.present().is_some());
    let (_, skus) = app.jobs.queries.skus(&SkuFilter::default(), Page { limit: 1, offset: 0 }).await?;
    let steps = first_steps(who.language, [!printers.is_empty(), stocked, skus > 0]);
    let total: u64 = open.iter().map(|kind| kind.total).sum();
    let content = html! {
        div id="to-do" data-fresh="" {
            div class="head" {
                h1 { "To do" }
                @if total > 0 { span class="muted" { (counted(usize::try_from(total).unwrap_or(usize::MAX), "task", "tasks")) } }
            }
            div class=(if log.0.is_empty() { "stack" } else { "two" }) {
                div class="stack" {
                    @if let Some(steps) = &steps { (steps) } @else if open.is_empty() { (nothing()) }
                    @for kind in &open { (kind.html()) }
                }
                (log)
            }
        }
    };
    Ok(viewer.page(StaffSection::ToDo, "To do", &view, &content))
}

/// Renders the page when there is nothing to do.
fn nothing() -> Markup {
    html! {
        section class="panel pad" aria-labelledby="nothing" {
            h2 id="nothing" { "You're all caught up" }
            p class="muted" { "Beds to clear, spools to load, parts to sign off and orders to pack appear here automatically, longest-waiting first." }
            a class="btn" href=(FLOOR_PATH) { (icon(Icon::Printer)) "Open the floor" }
        }
    }
}

/// Lists the restore that is waiting to be reviewed; no job starts before the review.
fn restored(hold: &DispatchHold) -> TaskKind {
    let row = || {
        let acts = html! { a class="btn primary" href=(restore::PATH) { "Review restore" } };
        TaskRow::new(Icon::Database, html! { b { "The shop was restored from a backup" } })
            .detail(html! { "No jobs start until an admin reviews the restore. Changes made after the backup are missing." })
            .acts(acts)
    };
    TaskKind::new("restored", "Restores to review", hold.is_on().then(row).into_iter().collect())
}

fn back() -> Markup {
    html! { input type="hidden" name="back" value=(TO_DO_PATH); }
}

fn printer_link(printer: &Printer) -> Markup {
    html! { a href={ (FLOOR_PATH) "/printers/" (printer.id) } { (printer.fields.name) } }
}

/// Lists the task of entering the shop's name and address while invoices are waiting for them.
fn seller(config: &Config) -> TaskKind {
    let gaps = config.rules().seller_gaps();
    if gaps.is_empty() {
        return TaskKind::new("seller", "Invoices on hold", Vec::new());
    }
    let row = TaskRow::new(Icon::CircleAlert, html! { b { "Invoices can't be issued" } })
        .detail(html! { (sentence(&gaps_in_words(&gaps))) })
        .acts(html! { a class="btn" href="/setup/commerce" { "Open setup" } });
    TaskKind::new("seller", "Invoices on hold", vec![row])
}

/// Lists the prints for which it is unknown whether they started or how they ended.
fn unverified(printers: &[&Printer]) -> TaskKind {
    let rows = printers.iter().filter_map(|printer| {
        let in_hand = printer.in_hand.as_ref()?;
        let AttemptPhase::Unverified { reason } = &in_hand.phase else { return None };
        let title = html! {
            b { "Did " a href=(job_path_of(in_hand.order, in_hand.job)) { (job_number(in_hand)) } " print on " (printer_link(printer)) "?" }
            " " span class="faint small" { (since(in_hand.taken_at)) }
        };
        let row = TaskRow::new(Icon::CircleAlert, title).detail(message(reason)).picture(Some(in_hand.file_id));
        Some(row.more(Some(resolutions(in_hand.job, in_hand.began_at.map(|_| in_hand.progress), TO_DO_PATH))))
    });
    TaskKind::new("unverified", "Prints to check", rows.collect())
}

/// Lists the printers that need attention for other reasons.
fn troubles(app: &ToDoHandles, printers: &[&Printer]) -> TaskKind {
    let elsewhere = [Attention::BedNotCleared, Attention::Maintenance, Attention::Unverified, Attention::PrintFailed];
    let looked_at = [Attention::FirmwareError, Attention::StartRefused, Attention::DiskFull];
    let rows = printers.iter().filter_map(|printer| {
        let mut attention = printer.attention();
        attention.retain(|one| !elsewhere.contains(one));
        let (tone, _) = standing(&app.board.shop, printer);
        if attention.is_empty() && tone != Tone::Error {
            return None;
        }
        let path = act_path(printer.id, "clear-attention");
        let title = html! { b { (printer_link(printer)) } " " (live_state(Language::English, &app.board.shop, printer)) };
        let detail = html! {
            @for (n, one) in attention.iter().enumerate() { @if n > 0 { ", " } (attention_words(Language::English, *one)) }
            @if let Some(words) = printer.attention_words(Language::English) { p class="bad" { (message(&words)) } }
            @if let Some(words) = waiting_words(Language::English, waiting(&app.board, printer)) {
                @if !attention.is_empty() { " · " }
                (words)
            }
        };
        let acts = html! {
            @if attention.iter().any(|one| looked_at.contains(one)) {
                (act(&path, &format!("looked-{}", printer.id), "btn", "Mark as checked", Some(&back())))
            } @else {
                a class="btn" href={ (FLOOR_PATH) "/printers/" (printer.id) } { "View details" }
            }
        };
        Some(TaskRow::new(Icon::TriangleAlert, title).detail(detail).acts(acts))
    });
    TaskKind::new("look", "Printers to check", rows.collect())
}

/// Returns the page that contains the longest-waiting entries of a list of `total` entries sorted from newest to
/// oldest.
fn longest_waiting(total: u64) -> Page {
    Page { limit: ROWS_PER_KIND, offset: total.saturating_sub(ROWS_PER_KIND) }
}

fn in_state(state: JobState) -> JobFilter {
    JobFilter { state: Some(state), ..JobFilter::default() }
}

/// Returns the longest-waiting jobs that match the filter, and the total number of matches.
async fn jobs_in(app: &ToDoHandles, filter: &JobFilter) -> Result<(Vec<Job>, u64), ApiError> {
    let (mut some, total) = app.jobs.queries.jobs(filter, longest_waiting(0)).await?;
    if total > ROWS_PER_KIND {
        (some, _) = app.jobs.queries.jobs(filter, longest_waiting(total)).await?;
    }
    some.sort_by_key(|job| (std::cmp::Reverse(job.priority), job.updated_at));
    Ok((some, total))
}

fn jobs_kind(app: &ToDoHandles, some: &[Job], total: u64, id: &'static str, title: &'static str) -> TaskKind {
    let rows = some.iter().map(|job| job_row(app, job)).collect();
    TaskKind { total, ..TaskKind::new(id, title, rows) }
}

async fn jobs(app: &ToDoHandles, state: JobState, id: &'static str, title: &'static str) -> Result<TaskKind, ApiError> {
    let (some, total) = jobs_in(app, &in_state(state)).await?;
    Ok(jobs_kind(app, &some, total, id, title))
}

fn job_row(app: &ToDoHandles, job: &Job) -> TaskRow {
    let words = app.jobs.waiting_reason(job).or_else(|| job.error.clone());
    let button = |word: &str, class: &str, words: &str| {
        act(&job_path(job.id, word), &format!("{word}-{}", job.id), class, words, Some(&back()))
    };
    let title = html! {
        b { a href=(job_path_of(job.order_id, job.id)) { (job.number_text()) } " " (job.sku_name) }
        " " span class="faint small" { (since(job.updated_at)) }
    };
    let (shape, acts) = match job.state {
        JobState::Failed => (
            Icon::CircleAlert,
            html! { (button("retry", "btn primary", "Retry")) (button("cancel", "btn", "Cancel job")) },
        ),
        JobState::AwaitingManualReview => (Icon::Eye, button("release", "btn primary", "Release")),
        _ => (Icon::Clock, Markup::default()),
    };
    let row = TaskRow::new(shape, title).picture(job.file_id).acts(acts);
    row.detail(html! { @if let Some(words) = words { (message(&words)) } })
}

fn low_stock(app: &ToDoHandles) -> TaskKind {
    let all = app.board.shop.materials.all_resident();
    let low = |material: &&Material| !material.archived && material.runs_low();
    let mut low: Vec<&Material> =
        all.iter().filter_map(|(_, versioned)| versioned.state.as_ref()).filter(low).collect();
    low.sort_by(|a, b| a.fields.name.cmp(&b.fields.name));
    let rows = low.iter().map(|material| {
        let unit = material.fields.kind.unit();
        let title = html! { b { a href=(material_path(material.id)) { (material.fields.name) } } };
        let detail = html! {
            (material.available()) " " (unit) " available, reorder at " (material.fields.reorder_point) " " (unit)
        };
        let row = TaskRow::new(Icon::Database, title).detail(detail).swatch(material.fields.color.as_deref());
        row.acts(html! { span class="num" { "Order " (material.to_order()) " " (unit) } })
    });
    TaskKind::new("stock", "Low stock", rows.collect())
}

async fn orders(
    app: &ToDoHandles,
    filter: &OrderFilter,
    id: &'static str,
    title: &'static str,
) -> Result<TaskKind, ApiError> {
    let (mut some, total) = app.jobs.queries.orders(filter, longest_waiting(0)).await?;
    if total > ROWS_PER_KIND {
        (some, _) = app.jobs.queries.orders(filter, longest_waiting(total)).await?;
    }
    let mut some: Vec<&Order> = some.iter().filter_map(|order| order.state.as_ref()).collect();
    some.sort_by_key(|order| (order.updated_at, order.id));
    let rows = some.iter().map(|order| {
        let title = html! {
            b { a href={ (ORDERS_PATH) "/" (order.id) } { (order.number_text()) } }
            " " span class="faint small" { (since(order.updated_at)) }
        };
        let detail = html! {
            (order.customer_email.as_deref().unwrap_or("No customer"))
            @for flag in &order.flags { " · " (flag_words(words::Language::English, flag)) }
        };
        let acts = html! { a class="btn" href={ (ORDERS_PATH) "/" (order.id) } aria-label={ "Open " (order.number_text()) } { "Open" } };
        TaskRow::new(Icon::PackageCheck, title).detail(detail).acts(acts)
    });
    let rows = rows.collect();
    Ok(TaskKind { total, ..TaskKind::new(id, title, rows) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_those_are_shown_that_wait_longest() {
        let of = |total: u64| (longest_waiting(total).offset, longest_waiting(total).limit);
        assert_eq!([0, ROWS_PER_KIND, ROWS_PER_KIND + 5].map(of), [(0, 30), (0, 30), (5, 30)]);
    }
}
