//! Frame of all staff pages: a rail with the navigation, a bar with the search and the user, the floor summary, and the
//! elements in which the script reports changes. On phones, the rail is a sheet that opens from the bar at the bottom.

mod bar;
mod navigation;

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};
use serde_json::json;

use super::board::BoardView;
use super::scan::scan_dialog;
pub(super) use crate::design::Tone;
use crate::design::assets::{STAFF_SCRIPT, STAFF_STYLE};
use crate::form::{ONCE_FIELD, TOKEN_FIELD};
use crate::frame::{PageCode, respond_in};
use crate::times::{TimeForm, mark, mark_in};
use config::Config;
use domain::notation;
use domain::principal::{Principal, Role};
use domain::time::Timestamp;
use http::access::Caller;
use http::csrf::FormToken;
use http::error::ApiError;
use navigation::Navigation;
use words::Language;
use words::staff::{common, floor, scan, shell};

/// Placeholder for the viewer's CSRF token in markup that is rendered once for all viewers. Text entered by users
/// cannot contain it, because such text is escaped.
const TOKEN_MARK: PreEscaped<&str> = PreEscaped("<form-token>");

/// Style sheet, script and policy shared by all staff pages; images from this server are allowed.
static STAFF_PAGE: LazyLock<PageCode> = LazyLock::new(|| PageCode::new(&STAFF_STYLE, Some(&*STAFF_SCRIPT), true));

/// Navigation section that a page belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StaffSection {
    ToDo,
    Floor,
    Orders,
    Queue,
    Stock,
    Products,
    Quotes,
    Invoices,
    Customers,
    Webhooks,
    Insights,
    Settings,
    /// Search of the whole shop; the navigation has no link to it.
    Search,
}

/// Placeholders in the script's texts, which the script replaces.
pub(super) const SCRIPT_SLOTS: [&str; 2] = ["%1", "%2"];

/// Staff member viewing a page.
pub(super) struct StaffViewer {
    /// CSRF token for the viewer's forms.
    token: FormToken,
    email: String,
    admin: bool,
    language: Language,
}

impl StaffViewer {
    /// Creates the viewer from the caller; fails with 403 unless the caller is a signed-in staff member.
    pub(super) fn new(who: &Caller, config: &Config) -> Result<Self, ApiError> {
        who.user()?;
        let session = who.session.ok_or_else(|| ApiError::internal("a member of staff without a session"))?;
        let email = match &*who.by {
            Principal::User { email, .. } => email.clone(),
            _ => String::new(),
        };
        let token = FormToken::of(&config.auth.session_secret, session);
        Ok(Self { token, email, admin: who.has(Role::Admin), language: who.language })
    }

    /// Returns the viewer's email address.
    pub(super) fn email(&self) -> &str {
        &self.email
    }

    /// Returns the language of the page; English on pages that are not translated ([`super::area`]).
    pub(super) fn language(&self) -> Language {
        self.language
    }

    /// Returns shared markup with the placeholder replaced by the viewer's CSRF token under a new mask.
    pub(super) fn own(&self, shared: &str) -> String {
        shared.replace(TOKEN_MARK.0, &self.token.masked())
    }

    /// Renders a page for the viewer, with the current floor summary.
    pub(super) fn page(&self, section: StaffSection, title: &str, board: &BoardView, content: &Markup) -> Response {
        self.put_up(section, title, board, content, false)
    }

    /// Renders a page, as [`Self::page`] does, but for a wall display, without the navigation.
    pub(super) fn wall(&self, section: StaffSection, title: &str, board: &BoardView, content: &Markup) -> Response {
        self.put_up(section, title, board, content, true)
    }

    fn put_up(&self, section: StaffSection, title: &str, board: &BoardView, content: &Markup, wall: bool) -> Response {
        let language = self.language;
        let page = html! {
            p id="lost" class="banner" role="alert" hidden { (shell::connection_lost(language)) }
            (PreEscaped(board.summary(language)))
            main id="content" tabindex="-1" class=[wall.then_some("wall")] data-stream="/floor/live" data-version=(board.version)
                data-day-left=(mark(TimeForm::DayLeft, Timestamp::default())) data-phrases=(script_phrases(language)) {
                (PreEscaped(self.own(&content.0)))
            }
        };
        let navigation =
            Navigation { language, section, troubled: board.troubled, tasks: board.tasks.unwrap_or_default() };
        let body = html! {
            a class="skip" href="#content" { (shell::skip_link(language)) }
            @if wall { (page) } @else {
                div class="app" {
                    (navigation.rail())
                    div { (self.bar()) (page) }
                }
                (navigation.phone_bar())
                (scan_dialog(language))
            }
            p id="said" class="said" role="status" {}
        };
        respond_in(language, StatusCode::OK, title, "staff", &body, &STAFF_PAGE)
    }
}

/// Returns the script's texts, as JSON.
fn script_phrases(language: Language) -> String {
    let [first, second] = SCRIPT_SLOTS;
    let phrases = json!({
        "live": shell::live(language),
        "offline": shell::offline(language),
        "done": shell::done(language),
        "failed": shell::failed(language),
        "silent": shell::silent(language),
        "hold": shell::keep_holding(language, first),
        "minutes": shell::minutes(language, first),
        "hours": shell::hours(language, first, second),
        "since": shell::elapsed(language, first),
        "sinceUnderMinute": shell::elapsed_under_minute(language),
        "left": shell::left(language, first),
        "leftUnderMinute": shell::left_under_minute(language),
        "compactUnderMinute": common::compact_under_minute(language),
        "compactHours": common::compact_hours(language, first, second),
        "compactWholeHours": common::compact_whole_hours(language, first),
        "percent": notation::percentage(language, first),
        "uploading": floor::uploading(language, first, second),
        "uploadCancel": floor::cancel_upload(language),
        "uploadCancelled": floor::upload_cancelled(language),
        "uploadFailed": floor::upload_failed(language),
        "uploadSilent": floor::upload_silent(language),
        "uploadBusy": floor::upload_busy(language),
        "oneFile": floor::one_file(language),
        "scanStarting": scan::starting(language),
        "scanAim": scan::aim(language),
        "scanOpening": scan::opening(language),
        "scanForeign": scan::foreign(language),
        "scanElsewhere": scan::elsewhere(language, first),
        "scanDenied": scan::denied(language),
        "scanNone": scan::none(language),
        "scanNoCamera": scan::no_camera(language),
    });
    phrases.to_string()
}

/// Renders the hidden CSRF token field, which every form needs. It contains a placeholder that is replaced by the
/// viewer's token when the page is sent.
pub(super) fn hidden() -> Markup {
    html! { input type="hidden" name=(TOKEN_FIELD) value=(TOKEN_MARK); }
}

/// Renders the hidden fields of a form that acts only once for each page on which it is shown, even if its button is
/// pressed again before the next page has loaded.
pub(super) fn hidden_once() -> Markup {
    html! { (hidden()) (once_field()) }
}

/// Renders the hidden field of a form that acts only once, for a form that has the token already.
pub(super) fn once_field() -> Markup {
    html! { input type="hidden" name=(ONCE_FIELD) value="true"; }
}

/// Returns a form's target URL with the viewer's CSRF token, for forms whose body is streamed: a token in the body
/// would be read too late.
pub(super) fn with_token(path: &str) -> Markup {
    html! { (path) "?token=" (TOKEN_MARK) }
}

/// Renders a form with a single button, which the script submits without leaving the page. With `id`, the button keeps
/// the focus when the surrounding markup is replaced.
pub(super) fn act(path: &str, id: &str, class: &str, words: &str, more: Option<&Markup>) -> Markup {
    html! {
        form method="post" action=(path) data-quiet="" {
            (hidden())
            @if let Some(more) = more { (more) }
            button id=(id) class=(class) type="submit" { (words) }
        }
    }
}

/// Renders a time in the language of the page, but omits the day if it is today. Intended for times that are usually
/// close to the present.
pub(super) fn time_of_day(language: Language, at: Timestamp) -> Markup {
    mark_in(language, TimeForm::TimeOfDay, at)
}

/// Renders a past time as the time elapsed since then, `for 12 min`, which the script keeps up to date.
pub(super) fn since(language: Language, at: Timestamp) -> Markup {
    mark_in(language, TimeForm::Elapsed, at)
}

/// Renders a past time as [`since`] does where there is little room: `12 min`.
pub(super) fn compact_since(language: Language, at: Timestamp) -> Markup {
    mark_in(language, TimeForm::CompactElapsed, at)
}

/// Renders a future time as the time left until then, `12 min left`, which the script keeps up to date.
pub(super) fn time_left(language: Language, at: Timestamp) -> Markup {
    mark_in(language, TimeForm::Remaining, at)
}

/// Renders a future time as [`time_left`] does where there is little room: `12 min`.
pub(super) fn compact_time_left(language: Language, at: Timestamp) -> Markup {
    mark_in(language, TimeForm::CompactRemaining, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_script_have_places_for_what_it_inserts() {
        let [english, german] = Language::ALL.map(script_phrases);
        for text in [
            "\"minutes\":\"%1 min\"",
            "\"hours\":\"%1 h %2 min\"",
            "\"since\":\"for %1\"",
            "\"left\":\"%1 left\"",
            "\"compactUnderMinute\":\"< 1 min\"",
            "\"compactHours\":\"%1 h %2 min\"",
            "\"compactWholeHours\":\"%1 h\"",
            "\"uploading\":\"Uploading %1 for %2\"",
        ] {
            assert!(english.contains(text), "{text} in {english}");
        }
        for text in [
            "\"hours\":\"%1\u{a0}Std. %2\u{a0}Min.\"",
            "\"compactHours\":\"%1:%2\u{a0}Std.\"",
            "\"hold\":\"Weiter gedrückt halten: %1\"",
            "\"done\":\"Erledigt.\"",
        ] {
            assert!(german.contains(text), "{text} in {german}");
        }
    }
}
