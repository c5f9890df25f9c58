//! Audit log: every change and sign-in, and a sample of refused requests, as sentences by day, filtered by day, person,
//! thing and act.

mod filters;
mod rows;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use self::filters::{FilterNames, JOB_WORD, SETTING_WORD};
use super::SettingsPageHandles;
use crate::design::{Icon, empty_place};
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::address;
use crate::staff::names::{NameHandles, StaffNames};
use crate::staff::shell::{StaffSection, StaffViewer};
use domain::access::Access;
use domain::audit::AuditedKind;
use domain::id::Id;
use domain::printer::Printer;
use domain::shop_clock::ShopClock;
use domain::time::Timestamp;
use http::access::{Caller, with_access};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use kernel::directory::Directory;
use store::queries::{AuditFilter, AuditPlace, AuditStretch, Queries};
use words::Language;
use words::staff::{audit as texts, shell};

/// Path of the audit log.
pub(in crate::staff) const PATH: &str = "/shop/settings/audit";
/// Maximum number of entries per page.
const ENTRIES_PER_PAGE: usize = 50;

handles! {
    /// Dependencies of the audit log page.
    pub(crate) struct AuditPageHandles {
        settings: SettingsPageHandles,
        access: Directory<Access>,
        names: NameHandles,
        printers: Directory<Printer>,
        queries: Queries,
    }
}

/// Query parameters of the audit log page. Invalid values are ignored.
#[derive(api_derive::Request, Debug)]
pub(super) struct AuditPageQuery {
    /// Only entries of this actor, as named in the log.
    actor: Option<String>,
    /// Only this action, such as `order.cancel`.
    action: Option<String>,
    /// Only entries about this subject: a kind, or a kind and an identifier (`printer:…`).
    subject: Option<String>,
    /// Only entries from this day on.
    first: Option<String>,
    /// Only entries up to the end of this day.
    last: Option<String>,
    /// Only entries before this place in the log, as in the link to older entries.
    before: Option<String>,
}

/// Returns the path of one record's history.
pub(in crate::staff) fn history_path(kind: AuditedKind, id: Id) -> String {
    address(PATH, &[("subject", &format!("{}:{id}", kind.word()))])
}

/// Returns a filter's trimmed text; empty if it is missing.
fn filter_text(text: Option<&str>) -> &str {
    text.map(str::trim).unwrap_or_default()
}

/// Returns the filter by subject; empty if its kind is missing or its identifier cannot be read. The log has no index
/// for an identifier alone.
fn subject_text(text: &str) -> &str {
    let is_readable = match text.split_once(':') {
        Some((kind, id)) => !kind.is_empty() && id.parse::<Id>().is_ok(),
        None => text.parse::<Id>().is_err(),
    };
    if is_readable { text } else { "" }
}

fn non_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

impl AuditPageQuery {
    /// Returns the current filters, by field name.
    fn narrowed(&self) -> [(&'static str, &str); 5] {
        [
            ("actor", filter_text(self.actor.as_deref())),
            ("action", filter_text(self.action.as_deref())),
            ("subject", subject_text(filter_text(self.subject.as_deref()))),
            ("first", filter_text(self.first.as_deref())),
            ("last", filter_text(self.last.as_deref())),
        ]
    }

    /// Returns the text of a filter; empty if it is not set.
    fn text(&self, filter: &str) -> &str {
        self.narrowed().into_iter().find(|(name, _)| *name == filter).map_or("", |(_, text)| text)
    }

    /// Returns the kind of the subject, empty if it is not set, and its identifier, which may be missing.
    fn subject(&self) -> (&str, Option<Id>) {
        let subject = self.text("subject");
        match subject.split_once(':') {
            Some((kind, id)) => (kind, id.parse().ok()),
            None => (subject, None),
        }
    }

    fn filter(&self, clock: &ShopClock) -> AuditFilter {
        let (kind, subject_id) = self.subject();
        // Jobs are parts of orders, and settings are under access.
        let (kind, action_prefix) = match kind {
            JOB_WORD => (AuditedKind::Order.word(), Some("job.")),
            SETTING_WORD => (AuditedKind::Access.word(), Some("settings.")),
            kind => (kind, None),
        };
        AuditFilter {
            actor: non_empty(self.text("actor")),
            action: non_empty(self.text("action")),
            action_prefix,
            subject_kind: non_empty(kind),
            subject_id,
            from: clock.parse_day_start(self.text("first")),
            // The log is asked for what was before a moment.
            to: clock.parse_day_end(self.text("last")).map(|end| end.plus_ms(1)),
        }
    }

    /// Returns the place before which the page begins; `None` for the end of the log.
    fn place(&self) -> Option<AuditPlace> {
        let (at, id) = self.before.as_deref()?.split_once('.')?;
        Some(AuditPlace { at: Timestamp(at.parse().ok()?), id: id.parse().ok()? })
    }
}

impl AuditPageHandles {
    async fn filter_names<'a>(&self, query: &AuditPageQuery, staff: &'a StaffNames) -> FilterNames<'a> {
        let mut actor = None;
        if !query.text("actor").is_empty() {
            actor = Some(self.names.actor(query.text("actor"), staff).await);
        }
        let mut subject = None;
        if let (kind, Some(id)) = query.subject()
            && let Some(kind) = AuditedKind::parse(kind)
        {
            subject = self.names.subject(kind, id, staff).await;
        }
        let present = self.printers.all_present();
        let printers = present.iter().filter_map(|versioned| versioned.present());
        let mut printers: Vec<(String, String)> =
            printers.map(|printer| (format!("printer:{}", printer.id), printer.fields.name.clone())).collect();
        printers.sort_unstable_by(|(_, one), (_, other)| one.cmp(other));
        FilterNames { staff, actor, subject, printers }
    }
}

/// Serves the audit log.
pub(super) async fn list(
    State(app): State<AuditPageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<AuditPageQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.settings.config)?;
    let (language, title) = (viewer.language(), texts::title(viewer.language()));
    let (clock, now) = (&app.settings.config.shop.time_zone, app.settings.environment.now());
    let staff = with_access(&app.access, |access| StaffNames::new(language, access))?;
    let stretch = app.queries.audit_stretch(&query.filter(clock), query.place(), ENTRIES_PER_PAGE).await?;
    let names = app.names.entries(&stretch.entries, &staff).await;
    let filter_names = app.filter_names(&query, &staff).await;
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        h1 { (title) }
        div class="stack" {
            (filters::days(language, &query, (clock, now)))
            (filters::current(language, &query, &filter_names))
            (filters::form(language, &query, &filter_names))
        }
        // Older entries stay as they are.
        div id="audit" data-fresh=[query.before.is_none().then_some("")] {
            @if stretch.entries.is_empty() { (nothing(language, &stretch)) }
            @else { (rows::days(language, &stretch.entries, &names, clock)) }
        }
        (ways(language, &query, &stretch))
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

fn nothing(language: Language, stretch: &AuditStretch) -> Markup {
    let text = match stretch.next {
        Some(_) => texts::none_here(language),
        None => texts::none(language),
    };
    let clear = html! { a class="button second" href=(PATH) { (texts::clear_filters(language)) } };
    empty_place(Icon::ScrollText, &text, &clear)
}

/// Renders the links to the newest and to older entries.
fn ways(language: Language, query: &AuditPageQuery, stretch: &AuditStretch) -> Markup {
    let older = stretch.next.map(|AuditPlace { at, id }| {
        let (before, mut filters) = (format!("{}.{id}", at.0), query.narrowed().to_vec());
        filters.push(("before", &before));
        address(PATH, &filters)
    });
    html! {
        @if query.before.is_some() || older.is_some() {
            p class="acts" {
                @if query.before.is_some() {
                    a class="button second" href=(address(PATH, &query.narrowed())) { (texts::newest(language)) }
                }
                @if let Some(older) = older { a class="button second" href=(older) { (texts::older(language)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_subject(subject: &str) -> AuditPageQuery {
        let subject = Some(subject.to_owned());
        AuditPageQuery { actor: None, action: None, subject, first: None, last: None, before: None }
    }

    #[test]
    fn a_subject_is_a_kind_with_or_without_an_identifier() {
        let query = of_subject(" printer ");
        assert_eq!(query.subject(), ("printer", None));
        let query = of_subject(&format!("printer:{}", Id::ONLY));
        assert_eq!(query.subject(), ("printer", Some(Id::ONLY)));
        let alone = Id::ONLY.to_string();
        for ignored in [alone.clone(), format!(":{alone}"), "printer:garbage".into(), "printer:".into()] {
            let query = of_subject(&ignored);
            assert_eq!((query.subject(), query.text("subject")), (("", None), ""), "{ignored}");
        }
    }
}
