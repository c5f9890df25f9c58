//! Staff sessions: users can see and end their own; admins can see and end those of all users.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::SettingsPageHandles;
use crate::form::PageForm;
use crate::frame::{see_other, time};
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::{address, ways};
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden};
use domain::principal::Role;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::{OpenQuery, cut};
use http::path_id::PathId;
use http_api::production::auth::{ListedSession, SessionHandles, end_session, list_sessions};
use store::queries::Page;
use words::Language;
use words::staff::{account, shell};

/// Path of the list of sessions.
pub(super) const PATH: &str = "/shop/settings/sessions";
/// Number of sessions per page.
const SESSIONS_PER_PAGE: u64 = 50;

handles! {
    /// Dependencies of the pages for sessions and for the user's own sign-in.
    pub(crate) struct SessionPageHandles {
        settings: SettingsPageHandles,
        sessions: SessionHandles,
    }
}

/// Query parameters of the list of sessions.
#[derive(api_derive::Request, Debug)]
pub(super) struct SessionListQuery {
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Serves the list of sessions.
pub(super) async fn list(
    State(app): State<SessionPageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<SessionListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.settings.config)?;
    let from = u64::from(query.from);
    let (some, total) = cut(Page { limit: SESSIONS_PER_PAGE, offset: from }, list_sessions(&app.sessions, &who)?);
    let (language, title) = (viewer.language(), account::sessions_title(viewer.language()));
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        h1 { (title) }
        p {
            @if who.has(Role::Admin) { (account::sessions_of_shop(language)) }
            @else { (account::sessions_of_account(language)) }
            " " (account::sessions_advice(language))
        }
        div id="sessions" data-fresh="" { (table(language, &some)) }
        (ways(language, from, total, SESSIONS_PER_PAGE, |from| address(PATH, &[("from", &from.to_string())])))
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Renders a table of sessions, each with a button for ending it.
pub(super) fn table(language: Language, sessions: &[ListedSession]) -> Markup {
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(account::sessions_title(language)) {
            table {
                thead {
                    tr {
                        th scope="col" { (account::user_column(language)) }
                        th scope="col" { (account::browser_column(language)) }
                        th scope="col" { (account::signed_in_column(language)) }
                        th scope="col" { (account::last_used_column(language)) }
                        th scope="col" { (account::end_column(language)) }
                    }
                }
                tbody { @for session in sessions { (row(language, session)) } }
            }
        }
    }
}

fn row(language: Language, session: &ListedSession) -> Markup {
    html! {
        tr {
            th scope="row" class="wide" {
                (session.email)
                @if session.current { " " span class=(Tone::Working.class()) { (account::this_browser(language)) } }
            }
            td class="grow" { @if let Some(agent) = &session.agent { (agent) } @else { (account::browser_unknown(language)) } }
            td data-label=(account::signed_in_column(language)) { (time(language, session.created_at)) }
            td class="grow" data-label=(account::last_used_column(language)) { (time(language, session.seen_at)) }
            td class="row-acts" {
                form method="post" action={ (PATH) "/" (session.id) "/end" } {
                    (hidden())
                    button class="second" type="submit" aria-label=(account::end_session_of(language, &session.email)) {
                        (account::end_session(language))
                    }
                }
            }
        }
    }
}

/// Ends a session.
pub(super) async fn end(
    State(app): State<SessionPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    end_session(&app.sessions, id, &sent.call).await?;
    Ok(see_other(PATH))
}
