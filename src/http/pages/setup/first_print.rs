//! Progress of the test print on the page after the last step. The page's script follows it; without the script, users
//! reload the page. The progress may be that of any print on the printer, because the printer itself reports it.

use std::time::Duration;

use api_derive::Request;
use axum::extract::State;
use maud::{Markup, html};
use serde_json::json;

use crate::frame::{SLOT, with_parts};
use crate::paths::FLOOR;
use domain::id::Id;
use domain::notation;
use domain::printer::{ManualFailure, Printer};
use domain::printer_status::{Activity, PrintEnd, Status};
use domain::refusal::Refusal;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use http::sse::{self, Sse, SseSource};
use http::stream_auth::{StreamHandles, StreamPermission};
use http_api::production::printers::{PrinterHandles, activity};
use words::Language;
use words::staff::setup as texts;

/// Path of the event stream that follows the print.
pub(super) const LIVE_PATH: &str = "/setup/done/live";
/// Maximum time between two checks of the printer's state.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Number of seconds per minute. Printers report seconds, while people read minutes.
const SECONDS_PER_MINUTE: i64 = 60;

handles! {
    /// Dependencies of the stream that follows the first print.
    pub(crate) struct FirstPrintHandles {
        shop: PrinterHandles,
        stream: StreamHandles,
    }
}

/// Query parameters that select the printer whose print is shown.
#[derive(Request, Debug)]
pub(super) struct FirstPrintQuery {
    /// ID of the printer.
    printer: Option<String>,
}

impl FirstPrintQuery {
    /// Returns the selected printer, if any.
    pub(super) fn printer(&self) -> Option<Id> {
        self.printer.as_deref()?.parse().ok()
    }
}

/// Stage of the print, as shown on the page.
#[derive(Clone, PartialEq, Eq, Debug)]
enum FirstPrintStage {
    /// The file is being sent to the printer, or the printer has not reported the print yet.
    Starting,
    /// The print was not started, for the given reason.
    NotStarted(String),
    /// The printer is printing or paused.
    Running {
        /// Progress, in percent.
        percent: u32,
        /// Remaining time, in minutes; `None` if the printer does not estimate it.
        minutes: Option<i64>,
        is_paused: bool,
    },
    /// The print is complete.
    Finished,
    /// The print was cancelled or failed.
    EndedEarly,
    /// The printer reports an error.
    Faulty,
    /// The printer does not respond.
    Offline,
}

impl FirstPrintStage {
    fn of(shop: &PrinterHandles, printer: &Printer) -> Self {
        if printer.manual.is_some() {
            return Self::Starting;
        }
        let failure = printer.last_manual.as_ref().and_then(|last| last.error.as_ref());
        let status = shop.printer_connections.status(printer.id).unwrap_or_default();
        Self::new(activity(shop, printer), &status, failure, printer.bed_not_cleared)
    }

    fn new(doing: Activity, status: &Status, failure: Option<&ManualFailure>, bed_not_cleared: bool) -> Self {
        match doing {
            Activity::Printing | Activity::Paused => Self::Running {
                percent: status.progress.clamp(0.0, 100.0).floor() as u32,
                minutes: status
                    .remaining_seconds
                    .map(|seconds| seconds.max(0).saturating_add(SECONDS_PER_MINUTE - 1) / SECONDS_PER_MINUTE),
                is_paused: doing == Activity::Paused,
            },
            Activity::Error => Self::Faulty,
            Activity::Offline => Self::Offline,
            Activity::Idle => match (failure, status.ended) {
                (Some(failure), _) => Self::NotStarted(reason(failure).to_owned()),
                (None, Some(PrintEnd::Finished)) => Self::Finished,
                (None, Some(PrintEnd::Cancelled | PrintEnd::Failed)) => Self::EndedEarly,
                (None, None) if bed_not_cleared => Self::Finished,
                (None, None) => Self::Starting,
            },
        }
    }

    /// Describes the stage in a sentence, which screen readers announce when it changes.
    fn words(&self, language: Language, name: &str) -> String {
        match self {
            Self::Starting => texts::print_starting(language, name),
            Self::NotStarted(reason) => texts::print_not_started(language, name, reason),
            Self::Running { is_paused: false, .. } => texts::print_running(language, name),
            Self::Running { is_paused: true, .. } => texts::print_paused(language, name),
            Self::Finished => texts::print_finished(language, name),
            Self::EndedEarly => texts::print_ended_early(language, name),
            Self::Faulty => texts::print_faulty(language, name),
            Self::Offline => texts::print_offline(language, name),
        }
    }

    /// Renders the live part: the progress and a link to the printer.
    fn part(&self, language: Language, printer: Id, name: &str) -> Markup {
        html! {
            @if let Self::Running { percent, minutes, .. } = self {
                @let percentage = notation::percentage(language, percent);
                progress max="100" value=(percent) aria-label=(texts::progress_of(language, name)) { (percentage) }
                p {
                    strong class="num" { (percentage) }
                    @if let Some(minutes) = minutes { ", " (texts::minutes_left(language, *minutes)) }
                }
            }
            p { a class="button second" href={ (FLOOR) "/printers/" (printer) } { (texts::open_printer(language, name)) } }
        }
    }
}

fn reason(failure: &ManualFailure) -> &str {
    let (ManualFailure::Busy(words) | ManualFailure::Refused(words) | ManualFailure::Unclear(words)) = failure;
    words.trim_end_matches('.')
}

/// Returns a sentence about the print on a printer, and its live part; `None` if the printer does not exist.
fn present(language: Language, shop: &PrinterHandles, printer: Id) -> Option<(String, Markup)> {
    let versioned = shop.printers.resident(printer)?.read();
    let printer = versioned.present()?;
    let (stage, name) = (FirstPrintStage::of(shop, printer), &printer.fields.name);
    Some((stage.words(language, name), stage.part(language, printer.id, name)))
}

/// Renders the progress of the print on a printer; `None` if the printer does not exist.
pub(super) fn progress(language: Language, shop: &PrinterHandles, printer: Id) -> Option<Markup> {
    let (words, part) = present(language, shop, printer)?;
    let reload = html! { a href={ (super::done::PATH) "?printer=" (printer) } { (texts::reload_link(language)) } };
    Some(html! {
        p id="said" role="status" { (words) }
        div id="live" data-stream={ (LIVE_PATH) "?printer=" (printer) } { (part) }
        noscript { p { (with_parts(&texts::reload_text(language, SLOT), &[&reload])) } }
    })
}

/// Open event stream that follows the print on a printer.
pub(super) struct FirstPrintStream {
    standing: StreamPermission,
    language: Language,
    shop: PrinterHandles,
    printer: Id,
    /// Event last sent to the page; empty before the first one.
    latest: String,
}

/// Serves the event stream for the print on a printer.
pub(super) async fn live(
    State(app): State<FirstPrintHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<FirstPrintQuery>,
) -> Result<Sse<FirstPrintStream>, ApiError> {
    let printer = query.printer().filter(|printer| present(who.language, &app.shop, *printer).is_some());
    let printer = printer.ok_or_else(|| Refusal::not_found("printer"))?;
    let language = who.language;
    let standing = StreamPermission::new(app.stream, who);
    Ok(Sse::new(FirstPrintStream { standing, language, shop: app.shop, printer, latest: String::new() }).for_page())
}

impl SseSource for FirstPrintStream {
    fn may_continue(&mut self) -> bool {
        self.standing.holds()
    }

    async fn due(&mut self) -> Option<String> {
        let (words, part) = present(self.language, &self.shop, self.printer)?;
        let event = sse::event("part", &json!({"html": part.into_string(), "said": words}));
        if event == self.latest {
            return Some(String::new());
        }
        self.latest.clone_from(&event);
        Some(event)
    }

    async fn wait(&mut self) {
        tokio::select! {
            biased; // the end of the permission before another look
            () = self.standing.again() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn stage(doing: Activity, status: &Status) -> FirstPrintStage {
        FirstPrintStage::new(doing, status, None, false)
    }

    #[test]
    fn a_print_is_followed_from_its_start_to_its_end() {
        let mut status = Status::default();
        assert_eq!(stage(Activity::Idle, &status), FirstPrintStage::Starting);
        status.progress = 41.9;
        status.remaining_seconds = Some(61);
        let running = stage(Activity::Printing, &status);
        assert_eq!(running, FirstPrintStage::Running { percent: 41, minutes: Some(2), is_paused: false });
        assert_eq!(stage(Activity::Paused, &status).words(Language::English, "Ada"), "Ada is paused.");
        status.ended = Some(PrintEnd::Finished);
        assert_eq!(stage(Activity::Idle, &status), FirstPrintStage::Finished);
        status.ended = Some(PrintEnd::Cancelled);
        assert_eq!(stage(Activity::Idle, &status), FirstPrintStage::EndedEarly);
        assert_eq!(stage(Activity::Offline, &status), FirstPrintStage::Offline);
    }

    #[test]
    fn a_print_that_did_not_begin_says_why() {
        let failure = ManualFailure::Refused("the bed is not level.".to_owned());
        let stage = FirstPrintStage::new(Activity::Idle, &Status::default(), Some(&failure), false);
        assert_eq!(stage.words(Language::English, "Ada"), "The print on Ada did not start: the bed is not level.");
    }

    #[test]
    fn a_print_is_followed_in_the_language_of_the_page() {
        let running = FirstPrintStage::Running { percent: 7, minutes: Some(3), is_paused: false };
        assert_eq!(running.words(Language::German, "Ada"), "Ada druckt.");
        let html = running.part(Language::German, Id::ONLY, "Ada").into_string();
        assert!(html.contains(", noch etwa 3\u{a0}Min.") && html.contains(">Ada öffnen</a>"), "{html}");
    }

    #[test]
    fn a_printer_that_reports_no_ends_is_done_once_its_bed_is_taken() {
        let stage = FirstPrintStage::new(Activity::Idle, &Status::default(), None, true);
        assert_eq!(stage, FirstPrintStage::Finished);
    }

    #[test]
    fn names_are_escaped_in_the_live_part() {
        let running = FirstPrintStage::Running { percent: 7, minutes: None, is_paused: false };
        let id: Id = "01890a5d-ac96-774b-bcce-b302099a8065".parse().unwrap();
        let html = running.part(Language::English, id, "<b>").into_string();
        assert!(html.contains(&format!("href=\"/floor/printers/{id}\"")), "{html}");
        assert!(html.contains("Open &lt;b&gt;") && !html.contains("<b>") && html.contains("value=\"7\""), "{html}");
    }
}
