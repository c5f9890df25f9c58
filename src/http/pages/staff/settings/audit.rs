//! Audit log: every change and sign-in, and a sample of refused requests, filtered by actor, action, subject and time.

use std::collections::HashMap;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::SettingsPageHandles;
use crate::frame::time;
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::{address, field, options, ways};
use crate::staff::shell::{StaffSection, StaffViewer, Tone};
use domain::access::Access;
use domain::id::Id;
use domain::shop_clock::ShopClock;
use http::access::{Caller, with_access};
use http::error::ApiError;
use http::handles::handles;
use http::page::OpenQuery;
use kernel::directory::Directory;
use store::queries::{AuditFilter, Page, Queries};
use store::rows::Audit;

/// Path of the audit log.
pub(super) const PATH: &str = "/shop/settings/audit";
/// Number of entries per page.
const LINES_PER_PAGE: u64 = 50;
/// Maximum number of users and API keys offered in the actor filter.
const MAX_CHOICES: usize = 300;
/// Outcome of an action that was not refused.
const DONE_WORD: &str = "done";

handles! {
    /// Dependencies of the audit log page.
    pub(crate) struct AuditPageHandles {
        settings: SettingsPageHandles,
        access: Directory<Access>,
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
    /// Only entries about this subject, given as a kind or an identifier.
    subject: Option<String>,
    /// Only entries from this day on.
    first: Option<String>,
    /// Only entries up to the end of this day.
    last: Option<String>,
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Returns a filter's trimmed text; `None` if it is missing or blank.
fn non_empty(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

impl AuditPageQuery {
    fn filter(&self, clock: &ShopClock) -> AuditFilter {
        let subject = non_empty(self.subject.as_deref());
        let subject_id: Option<Id> = subject.and_then(|subject| subject.parse().ok());
        AuditFilter {
            actor: non_empty(self.actor.as_deref()).map(str::to_owned),
            action: non_empty(self.action.as_deref()).map(str::to_owned),
            subject_kind: subject.filter(|_| subject_id.is_none()).map(str::to_owned),
            subject_id,
            from: non_empty(self.first.as_deref()).and_then(|day| clock.parse_day_start(day)),
            // The log is asked for what was before a moment.
            to: non_empty(self.last.as_deref()).and_then(|day| clock.parse_day_end(day)).map(|end| end.plus_ms(1)),
        }
    }

    /// Returns the current filters, by field name.
    fn narrowed(&self) -> [(&'static str, &str); 5] {
        [
            ("actor", self.actor.as_deref().unwrap_or_default()),
            ("action", self.action.as_deref().unwrap_or_default()),
            ("subject", self.subject.as_deref().unwrap_or_default()),
            ("first", self.first.as_deref().unwrap_or_default()),
            ("last", self.last.as_deref().unwrap_or_default()),
        ]
    }
}

/// Maps actors, as named in the log, to display names of users and API keys.
fn names(access: &Access) -> HashMap<String, String> {
    let users = access.users.values().map(|user| (format!("user:{}", user.id), user.email.clone()));
    let keys = access.keys.values().map(|key| (format!("key:{}", key.id), format!("key {}", key.name)));
    users.chain(keys).collect()
}

/// Serves the audit log.
pub(super) async fn list(
    State(app): State<AuditPageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<AuditPageQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.settings.config)?;
    let from = u64::from(query.from);
    let page = Page { limit: LINES_PER_PAGE, offset: from };
    let (lines, total) = app.queries.audit(&query.filter(&app.settings.config.shop.time_zone), page).await?;
    let names = with_access(&app.access, names)?;
    let content = html! {
        p { a href=(SETTINGS_PATH) { "Settings" } }
        h1 { "Audit log" }
        (tools(&query, &names))
        div id="audit" data-fresh="" {
            @if lines.is_empty() { p { "Nothing in the log is like that." } } @else { (table(&lines, &names)) }
        }
        (ways(from, total, LINES_PER_PAGE, |from| {
            let (from, mut filters) = (from.to_string(), query.narrowed().to_vec());
            filters.push(("from", &from));
            address(PATH, &filters)
        }))
    };
    Ok(viewer.page(StaffSection::Settings, "Audit log", &app.settings.board.view(), &content))
}

fn tools(query: &AuditPageQuery, names: &HashMap<String, String>) -> Markup {
    let mut people: Vec<(&str, &str)> = names.iter().map(|(actor, name)| (actor.as_str(), name.as_str())).collect();
    people.sort_unstable_by_key(|(actor, name)| (*name, *actor));
    people.truncate(MAX_CHOICES);
    people.extend([("machine", "the machine's owner"), ("system", "the server itself")]);
    let [(_, actor), (_, action), (_, subject), (_, first), (_, last)] = query.narrowed();
    html! {
        form class="tools" method="get" action=(PATH) role="search" {
            (field("actor", "Who", &html! {
                select id="actor" name="actor" { option value="" { "all" } (options(&people, actor)) }
            }))
            (field("action", "Action, such as order.cancel", &html! {
                input id="action" name="action" maxlength="100" value=(action);
            }))
            (field("subject", "About: a kind or an identifier", &html! {
                input id="subject" name="subject" maxlength="100" value=(subject);
            }))
            (field("first", "From", &html! {
                input id="first" name="first" type="date" value=(first);
            }))
            (field("last", "Until", &html! {
                input id="last" name="last" type="date" value=(last);
            }))
            button class="second" type="submit" { "Show" }
        }
    }
}

fn table(lines: &[Audit], names: &HashMap<String, String>) -> Markup {
    html! {
        div class="table" tabindex="0" role="region" aria-label="Audit log" {
            table {
                thead {
                    tr {
                        th scope="col" { "When" } th scope="col" { "Who" } th scope="col" { "Action" }
                        th scope="col" { "About" } th scope="col" { "Outcome" }
                    }
                }
                tbody { @for line in lines { (row(line, names)) } }
            }
        }
    }
}

fn row(line: &Audit, names: &HashMap<String, String>) -> Markup {
    let (tone, outcome) = match line.outcome.as_str() {
        DONE_WORD => (Tone::Idle, "done".to_owned()),
        other => (Tone::Attention, other.replace('_', " ")),
    };
    html! {
        tr {
            td { (time(line.at)) }
            th scope="row" { (names.get(&line.actor).unwrap_or(&line.actor)) }
            td { (line.action) }
            td {
                (line.subject_kind.replace('_', " "))
                @if line.subject_id != Id::ONLY { " " code { (line.subject_id) } }
            }
            td {
                span class=(tone.class()) { (outcome) }
                @if let Some(detail) = &line.detail {
                    details { summary { "Details" } pre class="raw" { (detail) } }
                }
            }
        }
    }
}
