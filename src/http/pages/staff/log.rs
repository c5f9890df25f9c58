//! Newest audit log entries about printers, with their actors and times.

use maud::{Markup, html};

use super::FLOOR_PATH;
use super::shell::clock;
use domain::access::Access;
use domain::audit::{AuditSentence, DONE};
use domain::id::Id;
use domain::material::Material;
use domain::printer::{LoggedAct, LoggedDetail, Printer};
use http::access::with_access;
use http::error::ApiError;
use http::handles::handles;
use kernel::directory::Directory;
use printers::slot_label;
use store::queries::{AuditFilter, Queries};
use store::rows::Audit;

/// Number of log entries shown.
const LINES_SHOWN: usize = 20;
/// Subject kind of the log entries shown.
const PRINTER_KIND: &str = "printer";

handles! {
    /// Dependencies of the printer log.
    pub(crate) struct LogHandles {
        queries: Queries,
        access: Directory<Access>,
        printers: Directory<Printer>,
        materials: Directory<Material>,
    }
}

impl LogHandles {
    /// Renders the newest audit log entries about the given printer or, if `None`, about all printers.
    pub(super) async fn render(&self, printer: Option<Id>) -> Result<Markup, ApiError> {
        let filter =
            AuditFilter { subject_kind: Some(PRINTER_KIND.to_owned()), subject_id: printer, ..AuditFilter::default() };
        let lines = self.queries.audit_stretch(&filter, None, LINES_SHOWN).await?.entries;
        Ok(html! {
            @if !lines.is_empty() {
                section class="card" aria-labelledby="lately" {
                    h2 id="lately" { "Done lately" }
                    ol class="rows" { @for line in &lines { li { (self.line(line)) } } }
                }
            }
        })
    }

    fn line(&self, line: &Audit) -> Markup {
        let versioned = self.printers.resident(line.subject_id).map(|handle| handle.read());
        let printer = versioned.as_ref().and_then(|versioned| versioned.state.as_ref());
        let name = printer.map(|printer| printer.fields.name.as_str());
        let AuditSentence { before, after } = self.sentence(line, printer);
        html! {
            span {
                (self.who(&line.actor)) " " (&*before)
                @if let Some(after) = after {
                    a href={ (FLOOR_PATH) "/printers/" (line.subject_id) } { (name.unwrap_or("a printer that was removed")) }
                    (&*after)
                }
                @if line.outcome != DONE { " (" (line.outcome.replace('_', " ")) ")" }
            }
            span class="soft" { (clock(line.at)) }
        }
    }

    /// Returns a sentence about an entry, with the names of the slot and the material.
    fn sentence(&self, line: &Audit, printer: Option<&Printer>) -> AuditSentence {
        let detail = LoggedDetail::parse(line.detail.as_deref());
        let of_several = printer.filter(|printer| printer.slots().len() > 1);
        let slot = detail.slot.zip(of_several).map(|(number, printer)| slot_label(printer, number));
        let material = detail.material_id.and_then(|id| self.materials.resident(id)).map(|handle| handle.read());
        let material = material.as_ref().and_then(|versioned| versioned.state.as_ref());
        let material = material.map(|material| material.fields.name.as_str());
        LoggedAct { action: &line.action, outcome: &line.outcome, detail, slot, material }.sentence()
    }

    /// Returns an actor's display name: a staff member's email address, an API key's name, or otherwise the name in the
    /// audit log.
    pub(super) fn who(&self, actor: &str) -> String {
        let key = actor.strip_prefix("key:").and_then(|id| id.parse::<Id>().ok());
        let named = key.and_then(|id| {
            let key_name = with_access(&self.access, |access| access.key(id).map(|key| format!("key {}", key.name)));
            key_name.ok().flatten()
        });
        let user = actor.strip_prefix("user:").and_then(|id| id.parse::<Id>().ok());
        let email = user.and_then(|id| {
            let user_email = with_access(&self.access, |access| access.user(id).map(|user| user.email.clone()));
            user_email.ok().flatten()
        });
        email.or(named).unwrap_or_else(|| actor.to_owned())
    }
}
