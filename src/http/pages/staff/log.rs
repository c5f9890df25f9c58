//! Newest audit log entries about printers and jobs: who did what, and when. Actors have no links, because their pages
//! are for admins only.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use maud::{Markup, html};

use super::names::{AuditName, AuditNames, NameHandles};
use super::settings::AUDIT_PATH;
use crate::frame::time;
use domain::audit::{AuditSentence, AuditedAct, AuditedKind, GroupedAct, SubjectCase, chosen_groups, outcome_label};
use domain::id::Id;
use domain::time::Timestamp;
use http::error::ApiError;
use http::handles::handles;
use store::queries::{AuditFilter, Queries};
use store::rows::Audit;
use words::Language;
use words::staff::{audit, common, to_do};

/// Number of log entries shown about one printer.
const LINES_SHOWN: usize = 20;
/// Number of log entries about printers, and about jobs, among which equal acts are gathered.
const ENTRIES_GATHERED: usize = 60;
/// Number of lines about the whole shop, each of which may stand for several entries.
const GROUPS_SHOWN: usize = 20;
/// Prefix of the acts that apply to jobs.
const JOB_ACTS: &str = "job.";

handles! {
    /// Dependencies of the printer log.
    pub(crate) struct LogHandles {
        queries: Queries,
        names: NameHandles,
    }
}

impl LogHandles {
    /// Renders the latest audit log entries about the given printer or, if `None`, about all printers.
    pub(super) async fn render(&self, language: Language, printer: Option<Id>) -> Result<Markup, ApiError> {
        let lines = self.entries(AuditedKind::Printer, printer, None, LINES_SHOWN).await?;
        let names = self.names.entries(&lines, &self.names.staff_among(language, &lines)?).await;
        let lines: Vec<Markup> = lines.iter().map(|entry| row(language, &[entry], &names)).collect();
        Ok(html! {
            @if !lines.is_empty() {
                section class="card" aria-labelledby="lately" {
                    h2 id="lately" { (common::recent_activity(language)) }
                    (list(&lines))
                }
            }
        })
    }

    /// Renders the latest work at printers and on jobs, with equal acts gathered in one line. `opens_log` if the viewer
    /// may read the audit log.
    pub(super) async fn render_work(&self, language: Language, opens_log: bool) -> Result<Markup, ApiError> {
        let mut entries = self.entries(AuditedKind::Printer, None, None, ENTRIES_GATHERED).await?;
        entries.extend(self.entries(AuditedKind::Order, None, Some(JOB_ACTS), ENTRIES_GATHERED).await?);
        entries.sort_by_key(|entry| Reverse((entry.at, entry.id)));
        let acts: Vec<(GroupedAct<'_>, Timestamp)> = entries.iter().map(|entry| (act_of(entry), entry.at)).collect();
        let groups = chosen_groups(&acts, GROUPS_SHOWN);
        // Only these are named; the others of a group are counted.
        let newest: Vec<Audit> = groups.iter().filter_map(|group| entries.get(*group.first()?).cloned()).collect();
        let names = self.names.entries(&newest, &self.names.staff_among(language, &newest)?).await;
        let lines = groups.iter().map(|group| {
            let group: Vec<&Audit> = group.iter().filter_map(|position| entries.get(*position)).collect();
            row(language, &group, &names)
        });
        let lines: Vec<Markup> = lines.collect();
        Ok(html! {
            div class="card" {
                @if lines.is_empty() { p { (to_do::activity_nothing(language)) } } @else { (list(&lines)) }
                @if opens_log { p { a href=(AUDIT_PATH) { (common::open_audit_log(language)) } } }
            }
        })
    }

    async fn entries(
        &self,
        kind: AuditedKind,
        subject_id: Option<Id>,
        action_prefix: Option<&'static str>,
        limit: usize,
    ) -> Result<Vec<Audit>, ApiError> {
        let subject_kind = Some(kind.word().to_owned());
        let filter = AuditFilter { subject_kind, subject_id, action_prefix, ..AuditFilter::default() };
        Ok(self.queries.audit_stretch(&filter, None, limit).await?.entries)
    }
}

fn act_of(entry: &Audit) -> GroupedAct<'_> {
    GroupedAct { actor: &entry.actor, action: &entry.action, outcome: &entry.outcome }
}

fn list(lines: &[Markup]) -> Markup {
    html! { ol class="rows" { @for line in lines { li { (line) } } } }
}

/// Renders the sentence about equal acts, of which the newest comes first.
fn row(language: Language, group: &[&Audit], names: &AuditNames) -> Markup {
    let Some(entry) = group.first() else { return html! {} };
    let subjects: BTreeSet<Id> = group.iter().map(|entry| entry.subject_id).collect();
    let subject = counted(language, entry, subjects.len()).unwrap_or_else(|| names.subject(entry));
    let AuditSentence { before, after } = if group.iter().all(|other| other.detail == entry.detail) {
        names.sentence(entry, None)
    } else {
        AuditSentence::new(language, &entry.action, &entry.outcome, None)
    };
    html! {
        span {
            (names.actor(entry).text) " " (&*before)
            @if let Some(after) = after {
                @match &subject.path {
                    Some(path) => { a href=(path) { (subject.text) } },
                    None => { (subject.text) },
                }
                (&*after)
            }
            @if subjects.len() < group.len() { " " span class="soft" { (audit::several_times(language, group.len())) } }
            @if let Some(outcome) = outcome_label(language, &entry.outcome) { " (" (outcome) ")" }
        }
        span class="soft" { (time(language, entry.at)) }
    }
}

/// Returns the number of an act's subjects with their noun; `None` for a single subject, which has a name.
fn counted(language: Language, entry: &Audit, count: usize) -> Option<AuditName> {
    let kind = AuditedKind::parse(&entry.subject_kind).filter(|_| count > 1)?;
    let case = AuditedAct::parse(&entry.action).map_or(SubjectCase::Direct, AuditedAct::case);
    Some(AuditName { text: kind.counted(language, case, count)?, path: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::audit::DONE;

    fn entry(action: &str, printer: u128) -> Audit {
        let id = |number: u128| format!("00000000-0000-7000-8000-{number:012x}").parse().unwrap_or(Id::ONLY);
        Audit {
            id: id(printer),
            at: Timestamp(0),
            actor: "system".to_owned(),
            action: action.to_owned(),
            subject_kind: AuditedKind::Printer.word().to_owned(),
            subject_id: id(printer),
            request_id: None,
            outcome: DONE.to_owned(),
            detail: None,
        }
    }

    fn words(language: Language, group: &[Audit]) -> String {
        let group: Vec<&Audit> = group.iter().collect();
        row(language, &group, &AuditNames::default()).into_string()
    }

    #[test]
    fn equal_acts_are_one_line() {
        let added = [1, 2, 3].map(|printer| entry("printer.create", printer));
        assert!(words(Language::English, &added).contains("added 3 printers<"), "{}", words(Language::English, &added));
        let cleared = [1, 2].map(|printer| entry("printer.bed_cleared", printer));
        let line = words(Language::English, &cleared);
        assert!(line.contains("marked the bed of 2 printers as clear<") && !line.contains("times"), "{line}");
        let german = words(Language::German, &cleared);
        assert!(german.contains("2 Druckern"), "{german}");
        let failed = [Audit { outcome: "printer_timeout".to_owned(), ..entry("printer.pause", 1) }];
        assert!(words(Language::English, &failed).contains("(no response from the printer)"));
        assert!(words(Language::German, &failed).contains("(keine Antwort vom Drucker)"));
        let paused = [entry("printer.pause", 1), entry("printer.pause", 1)];
        assert!(words(Language::English, &paused).contains("(2 times)"), "{}", words(Language::English, &paused));
    }
}
