//! To-do page: tasks for the staff by kind, the longest-waiting first within each kind.
//!
//! Printers are read from memory, orders and jobs with one query per kind. The script reloads the page when something
//! happens in the shop.

mod counts;
mod late;
mod parts;
mod spools;
mod waiting;

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::acts::BED_PREFIX;
use super::board::BoardHandles;
use super::card::{act_path, attention_words, job_number, live_state, standing};
use super::first_steps::first_steps;
use super::job::{job_path, resolutions};
use super::log::LogHandles;
use super::orders::flag_words;
use super::settings::restore;
use super::shell::{StaffSection, StaffViewer, Tone, act, hidden, since};
use super::sign_off::{SignOffSubject, sign_off_form};
use super::stock::material_path;
use super::{FLOOR_PATH, ORDERS_PATH, TO_DO_PATH};
use crate::times::message;
use actors::restores::DispatchHold;
use config::Config;
use domain::job::{Job, JobState};
use domain::material::Material;
use domain::order::{Order, OrderStatus};
use domain::printer::{AttemptPhase, Attention, Printer};
use domain::printer_status::Activity;
use domain::seller::gaps_in_words;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http_api::production::jobs::JobHandles;
use http_api::production::printers::{activity, present_all};
use store::queries::{JobFilter, OrderFilter, Page, SkuFilter};

/// Maximum number of tasks shown per kind, longest-waiting first; the others appear once these are done.
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

/// Section of the to-do page with tasks of one kind, which are all done in the same way.
struct TaskKind {
    id: &'static str,
    title: &'static str,
    rows: Vec<Markup>,
    /// Total number of tasks, if more than are shown.
    total: u64,
    /// Markup shown below the tasks.
    below: Option<Markup>,
}

impl TaskKind {
    fn new(id: &'static str, title: &'static str, rows: Vec<Markup>) -> Self {
        let total = rows.len() as u64;
        Self { id, title, rows, total, below: None }
    }

    fn html(&self) -> Markup {
        html! {
            section class="card" id={ "kind-" (self.id) } aria-labelledby={ "title-" (self.id) } {
                h2 id={ "title-" (self.id) } { (self.title) " (" (self.total) ")" }
                ul class="rows" { @for row in &self.rows { li { (row) } } }
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
    let beds_waiting = beds_waiting(&app, &printers);
    let with_status = |status| OrderFilter { status: Some(status), ..OrderFilter::default() };
    let flagged = OrderFilter { flagged: Some(true), ..OrderFilter::default() };
    let kinds = [
        seller(&app.config),
        restored(&app.hold),
        beds(&app, &beds_waiting),
        parts::parts(&app, &beds_waiting).await?,
        unverified(&printers),
        troubles(&app, &printers),
        late::late(&app),
        jobs(&app, JobState::Failed, "failed", "Failed jobs").await?,
        jobs(&app, JobState::AwaitingManualReview, "review", "Jobs that wait for a decision").await?,
        waiting::waiting(&app),
        spools::spools(&app, &sliced),
        jobs_kind(&app, &sliced, all_sliced, "waiting", "Jobs that wait for a printer or a spool"),
        counts::counts(&app),
        low_stock(&app),
        orders(&app, &with_status(OrderStatus::Ready), "pack", "Orders to pack").await?,
        orders(&app, &flagged, "flagged", "Orders to look at").await?,
        orders(&app, &with_status(OrderStatus::Created), "due", "Money due").await?,
        orders(&app, &with_status(OrderStatus::PaymentFailed), "unpaid", "Payments that failed").await?,
    ];
    let log = app.log.render(None).await?;
    let open: Vec<&TaskKind> = kinds.iter().filter(|kind| !kind.rows.is_empty()).collect();
    let stocked = app.board.shop.materials.all_resident().iter().any(|(_, versioned)| versioned.present().is_some());
    let (_, skus) = app.jobs.queries.skus(&SkuFilter::default(), Page { limit: 1, offset: 0 }).await?;
    let steps = first_steps([!printers.is_empty(), stocked, skus > 0]);
    let content = html! {
        h1 { "To do" }
        div id="to-do" data-fresh="" {
            @if let Some(steps) = &steps {
                (steps)
            } @else if open.is_empty() {
                section class="card" { p { "Nothing waits for a person." } p { a href=(FLOOR_PATH) { "To the floor" } } }
            }
            @for kind in &open { (kind.html()) }
            (log)
        }
    };
    Ok(viewer.page(StaffSection::ToDo, "To do", &view, &content))
}

/// Lists the restore that is waiting for its review; no job starts before the review.
fn restored(hold: &DispatchHold) -> TaskKind {
    let row = || {
        html! {
            span class=(Tone::Attention.class()) { "No job is started" }
            " " a href=(restore::PATH) { "An admin reviews the restore" }
        }
    };
    TaskKind::new("restored", "The shop was restored from a backup", hold.is_on().then(row).into_iter().collect())
}

fn back() -> Markup {
    html! { input type="hidden" name="back" value=(TO_DO_PATH); }
}

fn printer_link(printer: &Printer) -> Markup {
    html! { a href={ (FLOOR_PATH) "/printers/" (printer.id) } { (printer.fields.name) } }
}

/// Lists the task to enter the shop's name and address while invoices are waiting for them.
fn seller(config: &Config) -> TaskKind {
    let gaps = config.rules().seller_gaps();
    let row = html! {
        span { "No invoice is issued: " (gaps_in_words(&gaps)) "." }
        span { a href="/setup/commerce" { "To the setup" } }
    };
    let rows = if gaps.is_empty() { Vec::new() } else { vec![row] };
    TaskKind::new("seller", "Invoices wait", rows)
}

/// Returns the printers whose beds need clearing, longest-waiting first.
fn beds_waiting<'a>(app: &ToDoHandles, printers: &[&'a Printer]) -> Vec<&'a Printer> {
    let over = |printer: &Printer| !matches!(activity(&app.board.shop, printer), Activity::Printing | Activity::Paused);
    let waits = |printer: &&Printer| printer.bed_not_cleared && over(printer);
    let mut waiting: Vec<&Printer> = printers.iter().copied().filter(waits).collect();
    waiting.sort_by_key(|printer| (printer.bed_since, printer.id));
    waiting
}

/// Lists the beds to clear, one by one with a sign-off of the print, or several at the same time.
fn beds(app: &ToDoHandles, waiting: &[&Printer]) -> TaskKind {
    let several = waiting.len() > 1;
    let rows = waiting.iter().map(|printer| bed(app, printer, several)).collect();
    let below = html! {
        form id="beds" method="post" action="/to-do/beds" data-quiet="" {
            (hidden())
            button type="submit" id="beds-clear" { "The chosen beds are clear, all parts are good" }
        }
    };
    TaskKind { below: several.then_some(below), ..TaskKind::new("beds", "Beds to clear", rows) }
}

/// Renders one bed to clear, with a checkbox if `several` is set.
fn bed(app: &ToDoHandles, printer: &Printer, several: bool) -> Markup {
    let (id, path) = (printer.id, act_path(printer.id, "bed-cleared"));
    html! {
        span {
            @if several {
                input type="checkbox" form="beds" id={ (BED_PREFIX) (id) } name={ (BED_PREFIX) (id) } value="true"
                    aria-label={ "Choose " (printer.fields.name) };
                " "
            }
            (printer_link(printer))
            @if let Some(at) = printer.bed_since { " " span class="soft" { (since(at)) } }
            @if printer.print_failed { " " span class=(Tone::Attention.class()) { "the print failed" } }
        }
        @if let Some(last) = printer.last_print {
            span { a href={ (ORDERS_PATH) "/" (last.order) "#job-" (last.job) } { "its job" } }
        }
        (act(&path, &format!("clear-{id}"), "", "Bed is clear", Some(&back())))
        @if printer.last_print.is_some() {
            details class="full" {
                summary { "Not all parts are good" }
                (sign_off_form(SignOffSubject::Bed(id), &app.config.quality.reasons, Some(TO_DO_PATH)))
            }
        }
    }
}

/// Lists the prints of which it is unknown whether they started or how they ended.
fn unverified(printers: &[&Printer]) -> TaskKind {
    let rows = printers.iter().filter_map(|printer| {
        let in_hand = printer.in_hand.as_ref()?;
        let AttemptPhase::Unverified { reason } = &in_hand.phase else { return None };
        Some(html! {
            span { (printer_link(printer)) ": " (job_number(in_hand)) " " (since(in_hand.taken_at)) }
            span class="full bad" { (reason) }
            (resolutions(in_hand.job, in_hand.began_at.map(|_| in_hand.progress), TO_DO_PATH))
        })
    });
    TaskKind::new("unverified", "Prints that nobody could verify: look at the printer", rows.collect())
}

/// Lists the printers that need attention for another reason.
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
        Some(html! {
            span { (printer_link(printer)) " " (live_state(&app.board.shop, printer)) }
            span { @for (n, one) in attention.iter().enumerate() { @if n > 0 { ", " } (attention_words(*one)) } }
            @if let Some(words) = printer.attention_words() { span class="full bad" { (words) } }
            @if attention.iter().any(|one| looked_at.contains(one)) {
                (act(&path, &format!("looked-{}", printer.id), "second", "I have looked at it", Some(&back())))
            }
        })
    });
    TaskKind::new("look", "Printers to look at", rows.collect())
}

/// Returns the page with the longest-waiting entries of a list with `total` entries, which starts with the newest.
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

fn job_row(app: &ToDoHandles, job: &Job) -> Markup {
    let words = app.jobs.waiting_reason(job).or_else(|| job.error.clone());
    let button = |word: &str, class: &str, words: &str| {
        act(&job_path(job.id, word), &format!("{word}-{}", job.id), class, words, Some(&back()))
    };
    html! {
        span {
            a href={ (ORDERS_PATH) "/" (job.order_id) "#job-" (job.id) } { (job.number_text()) }
            " " (job.sku_name) " " span class="soft" { (since(job.updated_at)) }
        }
        @if let Some(words) = words { span class="full" { (message(&words)) } }
        @match job.state {
            JobState::Failed => { (button("retry", "", "Make it again")) (button("cancel", "second", "Give it up")) },
            JobState::AwaitingManualReview => { (button("release", "", "Release it")) },
            _ => {},
        }
    }
}

fn low_stock(app: &ToDoHandles) -> TaskKind {
    let all = app.board.shop.materials.all_resident();
    let low = |material: &&Material| !material.archived && material.runs_low();
    let mut low: Vec<&Material> =
        all.iter().filter_map(|(_, versioned)| versioned.state.as_ref()).filter(low).collect();
    low.sort_by(|a, b| a.fields.name.cmp(&b.fields.name));
    let rows = low.iter().map(|material| {
        let unit = material.fields.kind.unit();
        html! {
            span { a href=(material_path(material.id)) { (material.fields.name) } }
            span { (material.available()) " " (unit) " available, reorder at " (material.fields.reorder_point) " " (unit) }
            span class="soft" { "order " (material.to_order()) " " (unit) }
        }
    });
    TaskKind::new("stock", "Stock that runs low", rows.collect())
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
        html! {
            span { a href={ (ORDERS_PATH) "/" (order.id) } { (order.number_text()) } }
            span { (order.customer_email.as_deref().unwrap_or("no customer")) }
            span class="soft" { (since(order.updated_at)) }
            @if !order.flags.is_empty() {
                span class="full" { @for (n, flag) in order.flags.iter().enumerate() { @if n > 0 { ", " } (flag_words(flag)) } }
            }
        }
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
