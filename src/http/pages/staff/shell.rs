//! Frame of all staff pages: a rail with the navigation, a bar with the search and the user, the floor summary, and the
//! elements in which the script reports changes. On phones, the rail is a sheet that opens from the bar at the bottom.

mod bar;

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};
use serde_json::json;

use super::board::BoardView;
use super::job::JOBS_PATH;
use super::scan::{scan_button, scan_dialog};
use super::{
    CUSTOMERS_PATH, FLOOR_PATH, INSIGHTS_PATH, INVOICES_PATH, ORDERS_PATH, PRODUCTS_PATH, QUOTES_PATH, SETTINGS_PATH,
    STOCK_PATH, TO_DO_PATH, WEBHOOKS_PATH,
};
pub(super) use crate::design::Tone;
use crate::design::assets::{STAFF_SCRIPT, STAFF_STYLE};
use crate::design::{Icon, icon};
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

/// Label in the language of the page.
type NavigationLabel = fn(Language) -> String;
/// Link in the navigation: section, path, label, icon.
type SectionLink = (StaffSection, &'static str, NavigationLabel, Icon);

const TO_DO: SectionLink = (StaffSection::ToDo, TO_DO_PATH, shell::to_do, Icon::ListChecks);
const FLOOR: SectionLink = (StaffSection::Floor, FLOOR_PATH, shell::floor, Icon::LayoutGrid);
const ORDERS: SectionLink = (StaffSection::Orders, ORDERS_PATH, shell::orders, Icon::Package);
const STOCK: SectionLink = (StaffSection::Stock, STOCK_PATH, shell::stock, Icon::Database);

/// Groups of navigation links.
const GROUPS: [(NavigationLabel, &[SectionLink]); 3] = [
    (shell::group_work, &[TO_DO, FLOOR, ORDERS, (StaffSection::Queue, JOBS_PATH, shell::jobs, Icon::Layers)]),
    (
        shell::group_shop,
        &[
            STOCK,
            (StaffSection::Products, PRODUCTS_PATH, shell::products, Icon::Shapes),
            (StaffSection::Customers, CUSTOMERS_PATH, shell::customers, Icon::Users),
            (StaffSection::Quotes, QUOTES_PATH, shell::quotes, Icon::ScrollText),
            (StaffSection::Invoices, INVOICES_PATH, shell::invoices, Icon::ReceiptText),
        ],
    ),
    (shell::group_reports, &[(StaffSection::Insights, INSIGHTS_PATH, shell::insights, Icon::ChartColumn)]),
];
/// Links at the bottom of the navigation.
const FOOT: [SectionLink; 2] = [
    (StaffSection::Settings, SETTINGS_PATH, shell::settings, Icon::Settings),
    (StaffSection::Webhooks, WEBHOOKS_PATH, shell::webhooks, Icon::Webhook),
];
/// Links in the bar at the bottom of a phone's screen, for people working on the shop floor.
const ON_PHONES: [SectionLink; 4] = [TO_DO, FLOOR, ORDERS, STOCK];
/// Placeholders in the script's texts, which the script replaces.
pub(super) const SCRIPT_SLOTS: [&str; 2] = ["%1", "%2"];
/// ID of the navigation element, which the phone bar opens.
const RAIL_ID: &str = "pages";

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

/// Navigation of a page.
struct Navigation {
    language: Language,
    /// Section that the page belongs to.
    section: StaffSection,
    /// Number of printers that need an operator.
    troubled: usize,
    /// Number of open tasks.
    tasks: u64,
}

impl Navigation {
    /// Renders the navigation.
    fn rail(&self) -> Markup {
        html! {
            nav id=(RAIL_ID) class="rail" aria-label=(shell::pages(self.language)) popover="auto" {
                a class="brand" href=(FLOOR_PATH) { span class="mark" { (icon(Icon::Box)) } "Printfloor" }
                (scan_button(self.language))
                @for (group, links) in GROUPS {
                    p class="group" { (group(self.language)) }
                    @for link in links { (self.link(link)) }
                }
                div class="foot" { @for link in &FOOT { (self.link(link)) } }
            }
        }
    }

    /// Renders the bar at the bottom of a phone's screen, with a button that opens the full navigation.
    fn phone_bar(&self) -> Markup {
        html! {
            nav class="tabbar" aria-label=(shell::main_pages(self.language)) {
                @for link in &ON_PHONES { (self.link(link)) }
                button type="button" popovertarget=(RAIL_ID) { (icon(Icon::Menu)) (shell::more(self.language)) }
            }
        }
    }

    /// Renders a link. The link to the floor includes the number of printers that need an operator, that to the to-do
    /// page the number of its entries; the script keeps both up to date.
    fn link(&self, &(of, path, label, picture): &SectionLink) -> Markup {
        html! {
            a href=(path) aria-current=[(of == self.section).then_some("page")] {
                (icon(picture))
                (label(self.language))
                @if of == StaffSection::ToDo {
                    span class="count" data-task-count="" hidden[self.tasks == 0] {
                        span { (self.tasks) }
                        span class="hidden-words" { " " (shell::open_tasks(self.language)) }
                    }
                }
                @if of == StaffSection::Floor {
                    span class="count hot" data-troubled-count="" hidden[self.troubled == 0] {
                        span { (self.troubled) }
                        span class="hidden-words" { " " (shell::needing_attention(self.language)) }
                    }
                }
            }
        }
    }
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
    fn the_navigation_is_in_the_language_of_the_page() {
        let rail = |language| Navigation { language, section: StaffSection::Stock, troubled: 2, tasks: 3 }.rail().0;
        for (language, texts) in [
            (
                Language::English,
                [
                    "aria-label=\"Pages\"",
                    "Work</p>",
                    "</svg>Stock</a>",
                    "> needing attention</span>",
                    "<span>3</span><span class=\"hidden-words\"> open tasks</span>",
                ],
            ),
            (
                Language::German,
                [
                    "aria-label=\"Seiten\"",
                    "Arbeit</p>",
                    "</svg>Lager</a>",
                    "> mit Handlungsbedarf</span>",
                    "> offene Aufgaben</span>",
                ],
            ),
        ] {
            let rail = rail(language);
            for text in texts {
                assert!(rail.contains(text), "{text} in {rail}");
            }
        }
    }

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
