//! Newest audit log entries about printers: who did what, and when. Actors have no links, because their pages are for
//! admins only.

use maud::{Markup, html};

use super::names::{AuditNames, NameHandles};
use crate::frame::time;
use domain::audit::{AuditSentence, DONE};
use domain::id::Id;
use http::error::ApiError;
use http::handles::handles;
use store::queries::{AuditFilter, Queries};
use store::rows::Audit;
use words::Language;
use words::staff::common;

/// Number of log entries shown.
const LINES_SHOWN: usize = 20;
/// Subject kind of the log entries shown.
const PRINTER_KIND: &str = "printer";

handles! {
    /// Dependencies of the printer log.
    pub(crate) struct LogHandles {
        queries: Queries,
        names: NameHandles,
    }
}

impl LogHandles {
    /// Renders the newest audit log entries about the given printer or, if `None`, about all printers.
    pub(super) async fn render(&self, language: Language, printer: Option<Id>) -> Result<Markup, ApiError> {
        let filter =
            AuditFilter { subject_kind: Some(PRINTER_KIND.to_owned()), subject_id: printer, ..AuditFilter::default() };
        let lines = self.queries.audit_stretch(&filter, None, LINES_SHOWN).await?.entries;
        let names = self.names.entries(&lines, &self.names.staff_among(language, &lines)?).await;
        Ok(html! {
            @if !lines.is_empty() {
                section class="card" aria-labelledby="lately" {
                    h2 id="lately" { (common::recent_activity(language)) }
                    ol class="rows" { @for line in &lines { li { (row(language, line, &names)) } } }
                }
            }
        })
    }
}

fn row(language: Language, line: &Audit, names: &AuditNames) -> Markup {
    let AuditSentence { before, after } = names.sentence(line, None);
    let subject = names.subject(line);
    html! {
        span {
            (names.actor(line).text) " " (&*before)
            @if let Some(after) = after {
                @match &subject.path {
                    Some(path) => { a href=(path) { (subject.text) } },
                    None => { (subject.text) },
                }
                (&*after)
            }
            @if line.outcome != DONE { " (" (line.outcome.replace('_', " ")) ")" }
        }
        span class="soft" { (time(language, line.at)) }
    }
}
