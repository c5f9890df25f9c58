//! To-do page: tasks for the staff by kind, the longest-waiting first within each kind.
//!
//! Printers are read from memory, orders and jobs with one query per kind. The script reloads the page when something
//! happens in the shop. Beside the tasks are the next hours, which come with the forecast, and the work of the shift.

mod activity;
mod beds;
mod counts;
mod done;
mod emails;
mod jobs;
mod late;
mod next_hours;
mod orders;
mod parts;
mod pauses;
mod row;
mod seller;
mod spools;
mod stock;
mod waiting;

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};

pub(super) use self::activity::{ACTIVITY_PATH, show as show_activity};
use self::done::ShiftCache;
pub(super) use self::next_hours::{NEXT_HOURS_ID, next_hours};
use self::row::TaskDetail;
pub(super) use self::row::TaskRow;
use super::board::BoardHandles;
use super::card::{act_path, attention_words, job_number, live_state, standing};
use super::card_gauge::{waiting, waiting_words};
use super::card_print::job_path_of;
use super::delay_reasons::DelayHandles;
use super::first_steps::first_steps;
use super::job::resolutions;
use super::log::LogHandles;
use super::order::customer;
use super::scan::scan_button;
use super::settings::restore;
use super::shell::{StaffSection, StaffViewer, Tone, act};
use super::sign_off::{Defects, SignOffSubject, sign_off_form, usual_defect};
use super::subject::{CHECKED_ACT, subject_field};
use super::{FLOOR_PATH, TO_DO_PATH};
use crate::design::{Icon, icon};
use crate::frame::{NEXT_SLOT, SLOT, with_parts};
use crate::times::{message_in, translated_message};
use actors::restores::DispatchHold;
use config::Config;
use domain::job::{Job, JobState};
use domain::order::OrderStatus;
use domain::printer::{AttemptPhase, Attention, Printer};
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http_api::production::jobs::JobHandles;
use http_api::production::printers::present_all;
use store::outbox::Outbox;
use store::queries::{JobFilter, OrderFilter, Page, SkuFilter};
use words::Language;
use words::staff::{common, to_do};

/// Maximum number of tasks shown per kind, longest-waiting first; further tasks appear once these are done.
const ROWS_PER_KIND: u64 = 30;

handles! {
    /// Dependencies of the to-do page.
    pub(crate) struct ToDoHandles {
        board: BoardHandles,
        delays: DelayHandles,
        hold: DispatchHold,
        jobs: JobHandles,
        log: LogHandles,
        outbox: Arc<Outbox>,
        shift: Arc<ShiftCache>,
        config: Arc<Config>,
    }
}

/// Section of the to-do page with tasks of one kind, all of which are done in the same way.
struct TaskKind {
    id: &'static str,
    language: Language,
    title: String,
    rows: Vec<TaskRow>,
    /// Total number of tasks, if more than are shown.
    total: u64,
    /// Text next to the title.
    note: Option<String>,
    /// Markup shown below the tasks.
    below: Option<Markup>,
}

impl TaskKind {
    fn new(language: Language, id: &'static str, title: fn(Language) -> String, rows: Vec<TaskRow>) -> Self {
        let total = rows.len() as u64;
        Self { id, language, title: title(language), rows, total, note: None, below: None }
    }

    /// Returns the tasks without a primary act, except in the first row if `has_primary`.
    fn demoted(self, has_primary: bool) -> Self {
        let rows = self.rows.into_iter().enumerate();
        let rows = rows.map(|(n, row)| if n == 0 && has_primary { row } else { row.demoted() });
        Self { rows: rows.collect(), ..self }
    }

    fn html(&self) -> Markup {
        html! {
            section class="panel tasks" id={ "kind-" (self.id) } aria-labelledby={ "title-" (self.id) } {
                div class="tasks-head" {
                    h2 id={ "title-" (self.id) } { (to_do::heading(self.language, &self.title, self.total)) }
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
    let language = viewer.language();
    let kinds = kinds(language, &app, TaskDetail::Rows).await?;
    let (total, title) = (count(&kinds), to_do::title(language));
    app.board.record_tasks(total);
    let view = app.board.view_in(language);
    let done = done::done(language, &app).await?;
    let open = kinds.into_iter().filter(|kind| !kind.rows.is_empty());
    let has_printers = present_all(&app.board.shop).iter().any(|versioned| versioned.state.is_some());
    let stocked = app.board.shop.materials.all_resident().iter().any(|(_, versioned)| versioned.present().is_some());
    let (_, skus) = app.jobs.queries.skus(&SkuFilter::default(), Page { limit: 1, offset: 0 }).await?;
    let steps = first_steps(language, [has_printers, stocked, skus > 0]);
    // Only one primary act is in view: that of the first task.
    let open = open.enumerate().map(|(n, kind)| kind.demoted(n == 0 && steps.is_none()));
    let open: Vec<TaskKind> = open.collect();
    let content = html! {
        div id="to-do-head" data-fresh="" {
            div class="head" {
                h1 { (title) }
                @if total > 0 { span class="muted" { (to_do::tasks(language, total)) } }
                span class="push" {}
                (scan_button(language))
            }
        }
        div class="two" {
            div id="to-do" class="stack" data-fresh="" {
                @if let Some(steps) = &steps { (steps) } @else if open.is_empty() { (nothing(language)) }
                @for kind in &open { (kind.html()) }
            }
            div class="stack" {
                (PreEscaped(&view.parts(language).next_hours.html))
                div id="done" data-fresh="" { (done) }
            }
        }
    };
    Ok(viewer.page(StaffSection::ToDo, &title, &view, &content))
}

/// Counts the tasks beside the caller if something has happened in the shop since they were last counted. `last_event`
/// is the number of the shop's last event.
pub(super) fn keep_counted(app: &ToDoHandles, last_event: i64) {
    let view = app.board.view();
    let mark = (last_event, view.quiet_commits, view.order_version);
    let Some(turn) = app.board.tasks.take_turn(Instant::now(), mark) else { return };
    let app = app.clone();
    tokio::spawn(async move {
        // Others tell of a database that does not respond.
        if let Ok(kinds) = kinds(Language::English, &app, TaskDetail::Number).await {
            turn.finish(count(&kinds));
        }
    });
}

/// Returns the number of tasks.
fn count(kinds: &[TaskKind]) -> u64 {
    kinds.iter().map(|kind| kind.total).sum()
}

/// Returns all kinds of tasks, including those without any, in page order. If only the numbers of tasks are needed,
/// rows that take long to render are omitted.
async fn kinds(language: Language, app: &ToDoHandles, detail: TaskDetail) -> Result<Vec<TaskKind>, ApiError> {
    let all = present_all(&app.board.shop);
    let printers: Vec<&Printer> = all.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let (sliced, _) = jobs_in(app, &in_state(JobState::Sliced)).await?;
    let beds_waiting = beds::beds_waiting(app, &printers);
    let usual = usual_defect(&app.jobs.queries, &app.config).await;
    let defects = Defects { reasons: &app.config.quality.reasons, preset: usual.as_deref() };
    let acts = app.jobs.dispatcher.waiting_acts();
    let with_status = |status| OrderFilter { status: Some(status), ..OrderFilter::default() };
    let flagged = OrderFilter { flagged: Some(true), ..OrderFilter::default() };
    Ok(vec![
        seller::seller(language, &app.config),
        restored(language, &app.hold),
        beds::beds(language, app, &beds_waiting, &acts, defects),
        parts::parts(language, app, &beds_waiting, defects).await?,
        unverified(language, &printers),
        pauses::pauses(language, app, &printers),
        troubles(language, app, &printers),
        late::late(language, app, detail),
        emails::emails(language, app).await?,
        jobs::jobs(language, app, JobState::Failed, "failed", to_do::kind_failed).await?,
        jobs::jobs(language, app, JobState::AwaitingManualReview, "review", to_do::kind_review).await?,
        spools::spools(language, app, &acts, &sliced),
        waiting::waiting(language, app),
        counts::counts(language, app),
        stock::low_stock(language, app),
        orders::orders(language, app, &with_status(OrderStatus::Ready), "pack", to_do::kind_pack).await?,
        orders::orders(language, app, &flagged, "flagged", to_do::kind_flagged).await?,
        orders::orders(language, app, &with_status(OrderStatus::Created), "due", to_do::kind_due).await?,
        orders::orders(language, app, &with_status(OrderStatus::PaymentFailed), "unpaid", to_do::kind_unpaid).await?,
    ])
}

/// Renders the page when there is nothing to do.
fn nothing(language: Language) -> Markup {
    html! {
        section class="panel pad" aria-labelledby="nothing" {
            h2 id="nothing" { (to_do::caught_up(language)) }
            p class="muted" { (to_do::caught_up_text(language)) }
            a class="btn" href=(FLOOR_PATH) { (icon(Icon::Printer)) (to_do::open_floor(language)) }
        }
    }
}

/// Lists the restore awaiting review; no job starts before the review.
fn restored(language: Language, hold: &DispatchHold) -> TaskKind {
    let row = || {
        let acts = html! { a class="btn primary" href=(restore::PATH) { (to_do::review_restore(language)) } };
        TaskRow::new(Icon::Database, html! { b { (to_do::restored(language)) } })
            .detail(html! { (to_do::restored_text(language)) })
            .acts(acts)
    };
    TaskKind::new(language, "restored", to_do::kind_restored, hold.is_on().then(row).into_iter().collect())
}

/// Renders the button that unfolds the sign-off form of a plate with bad parts, and the form.
fn bad_parts(language: Language, of: &SignOffSubject, defects: Defects<'_>) -> Markup {
    html! {
        details {
            summary class="btn" { (common::report_bad_parts(language)) }
            (sign_off_form(language, of, defects, Some(TO_DO_PATH)))
        }
    }
}

fn back() -> Markup {
    html! { input type="hidden" name="back" value=(TO_DO_PATH); }
}

fn printer_link(printer: &Printer) -> Markup {
    html! { a href={ (FLOOR_PATH) "/printers/" (printer.id) } { (printer.fields.name) } }
}

/// Lists the prints for which it is unknown whether they started or how they ended.
fn unverified(language: Language, printers: &[&Printer]) -> TaskKind {
    let rows = printers.iter().filter_map(|printer| {
        let in_hand = printer.in_hand.as_ref()?;
        let AttemptPhase::Unverified { reason } = &in_hand.phase else { return None };
        let job = html! { a href=(job_path_of(in_hand.order, in_hand.job)) { (job_number(in_hand)) } };
        let question = with_parts(&to_do::did_it_print(language, SLOT, NEXT_SLOT), &[&job, &printer_link(printer)]);
        let row = TaskRow::new(Icon::CircleAlert, html! { b { (question) } }).since(language, in_hand.taken_at);
        let row = row.detail(message_in(language, reason));
        let progress = in_hand.began_at.map(|_| in_hand.progress);
        let more = resolutions(language, in_hand.job, in_hand.attempt, progress, TO_DO_PATH);
        Some(row.picture(Some(in_hand.file_id)).more(Some(more)))
    });
    TaskKind::new(language, "unverified", to_do::kind_unverified, rows.collect())
}

/// Lists the printers that need attention for other reasons.
fn troubles(language: Language, app: &ToDoHandles, printers: &[&Printer]) -> TaskKind {
    // Nobody has to act on a print that belongs to no job; a paused one is among the pauses.
    let elsewhere = [
        Attention::BedNotCleared,
        Attention::Maintenance,
        Attention::Unverified,
        Attention::PrintFailed,
        Attention::ForeignPrint,
    ];
    let looked_at = [Attention::FirmwareError, Attention::StartRefused, Attention::DiskFull];
    let remaining = |printer: &Printer| {
        let mut attention = printer.attention();
        attention.retain(|one| !elsewhere.contains(one));
        attention
    };
    let is_listed =
        |printer: &Printer| !remaining(printer).is_empty() || standing(&app.board.shop, printer).0 == Tone::Error;
    let rows = printers.iter().filter(|printer| is_listed(printer)).map(|printer| {
        let attention = remaining(printer);
        let path = act_path(printer.id, CHECKED_ACT);
        let title = html! { b { (printer_link(printer)) } " " (live_state(language, &app.board.shop, printer)) };
        let detail = html! {
            @for (n, one) in attention.iter().enumerate() { @if n > 0 { ", " } (attention_words(language, *one)) }
            @if let Some(words) = printer.attention_words(language) { p class="bad" { (translated_message(language, &words)) } }
            @if let Some(words) = waiting_words(language, waiting(&app.board, printer)) {
                @if !attention.is_empty() { " · " }
                (words)
            }
        };
        let acts = html! {
            @if attention.iter().any(|one| looked_at.contains(one)) {
                @let fields = html! { (back()) (subject_field(printer, CHECKED_ACT)) };
                @let id = format!("looked-{}", printer.id);
                (act(&path, &id, "btn primary", &to_do::mark_checked(language), Some(&fields)))
            } @else {
                a class="btn primary" href={ (FLOOR_PATH) "/printers/" (printer.id) } { (to_do::view_details(language)) }
            }
        };
        TaskRow::new(Icon::TriangleAlert, title).detail(detail).acts(acts)
    });
    // The totals count these among the printers that are offline.
    let is_out = |printer: &Printer| (printer.disconnected || printer.maintenance.is_some()) && !is_listed(printer);
    let out = printers.iter().filter(|printer| is_out(printer)).count();
    let note = (out > 0).then(|| to_do::more_out_of_service(language, out));
    TaskKind { note, ..TaskKind::new(language, "look", to_do::kind_troubles, rows.collect()) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_one_and_all_else_are_many() {
        let of = |language: Language| [0, 1, 2].map(|count| to_do::tasks(language, count));
        assert_eq!(of(Language::English), ["0 tasks", "1 task", "2 tasks"]);
        assert_eq!(of(Language::German), ["0 Aufgaben", "1 Aufgabe", "2 Aufgaben"]);
    }

    #[test]
    fn of_many_those_are_shown_that_wait_longest() {
        let of = |total: u64| (longest_waiting(total).offset, longest_waiting(total).limit);
        assert_eq!([0, ROWS_PER_KIND, ROWS_PER_KIND + 5].map(of), [(0, 30), (0, 30), (5, 30)]);
    }
}
