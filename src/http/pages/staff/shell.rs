//! Frame of all staff pages: a rail with the navigation, a bar with the search and the user, the floor summary, and the
//! elements in which the script reports changes. On phones, the rail is a sheet that opens from the bar at the bottom.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};

use super::board::BoardView;
use super::job::JOBS_PATH;
use super::{
    CUSTOMERS_PATH, FLOOR_PATH, INSIGHTS_PATH, INVOICES_PATH, ORDERS_PATH, PRODUCTS_PATH, QUOTES_PATH, SETTINGS_PATH,
    STOCK_PATH, TO_DO_PATH, WEBHOOKS_PATH,
};
pub(super) use crate::design::Tone;
use crate::design::assets::{STAFF_SCRIPT, STAFF_STYLE};
use crate::design::{Icon, icon};
use crate::form::{ONCE_FIELD, TOKEN_FIELD};
use crate::frame::{PageCode, respond};
use crate::times::{TimeForm, mark};
use config::Config;
use domain::principal::{Principal, Role};
use domain::time::Timestamp;
use http::access::Caller;
use http::csrf::FormToken;
use http::error::ApiError;

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
}

/// Link in the navigation: section, path, label, icon.
type SectionLink = (StaffSection, &'static str, &'static str, Icon);

const TO_DO: SectionLink = (StaffSection::ToDo, TO_DO_PATH, "To do", Icon::ListChecks);
const FLOOR: SectionLink = (StaffSection::Floor, FLOOR_PATH, "Floor", Icon::LayoutGrid);
const ORDERS: SectionLink = (StaffSection::Orders, ORDERS_PATH, "Orders", Icon::Package);
const STOCK: SectionLink = (StaffSection::Stock, STOCK_PATH, "Stock", Icon::Database);

/// Groups of navigation links.
const GROUPS: [(&str, &[SectionLink]); 3] = [
    ("Work", &[TO_DO, FLOOR, ORDERS, (StaffSection::Queue, JOBS_PATH, "Jobs", Icon::Layers)]),
    (
        "Shop",
        &[
            STOCK,
            (StaffSection::Products, PRODUCTS_PATH, "Products", Icon::Shapes),
            (StaffSection::Customers, CUSTOMERS_PATH, "Customers", Icon::Users),
            (StaffSection::Quotes, QUOTES_PATH, "Quotes", Icon::ScrollText),
            (StaffSection::Invoices, INVOICES_PATH, "Invoices", Icon::ReceiptText),
        ],
    ),
    ("Reports", &[(StaffSection::Insights, INSIGHTS_PATH, "Insights", Icon::ChartColumn)]),
];
/// Links at the bottom of the navigation.
const FOOT: [SectionLink; 2] = [
    (StaffSection::Settings, SETTINGS_PATH, "Settings", Icon::Settings),
    (StaffSection::Webhooks, WEBHOOKS_PATH, "API and webhooks", Icon::Webhook),
];
/// Links in the bar at the bottom of a phone's screen, for people working on the shop floor.
const ON_PHONES: [SectionLink; 4] = [TO_DO, FLOOR, ORDERS, STOCK];
/// ID of the navigation element, which the phone bar opens.
const RAIL_ID: &str = "pages";

/// Staff member viewing a page.
pub(super) struct StaffViewer {
    /// CSRF token for the viewer's forms.
    token: FormToken,
    email: String,
    admin: bool,
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
        Ok(Self { token: FormToken::of(&config.auth.session_secret, session), email, admin: who.has(Role::Admin) })
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
        let page = html! {
            p id="lost" class="banner" role="alert" hidden {
                "Connection lost. This page may be out of date. Reconnecting…"
            }
            (PreEscaped(&board.summary.html))
            main id="content" tabindex="-1" class=[wall.then_some("wall")] data-stream="/floor/live" data-version=(board.version)
                data-day-left=(mark(TimeForm::DayLeft, Timestamp::default())) {
                (PreEscaped(self.own(&content.0)))
            }
        };
        let body = html! {
            a class="skip" href="#content" { "Skip to content" }
            @if wall { (page) } @else {
                div class="app" {
                    (rail(section, board.troubled))
                    div { (self.bar()) (page) }
                }
                (phone_bar(section, board.troubled))
            }
            p id="said" class="said" role="status" {}
        };
        respond(StatusCode::OK, title, "staff", &body, &STAFF_PAGE)
    }

    /// Renders the bar at the top: the search, the state of the connection, and the viewer with a sign-out link.
    fn bar(&self) -> Markup {
        html! {
            header class="top" {
                form class="search" method="get" action=(ORDERS_PATH) role="search" aria-label="Orders" {
                    (icon(Icon::Search))
                    label for="site-search" class="hidden-words" { "Search" }
                    input id="site-search" name="q" type="search" maxlength="100" autocomplete="off"
                        placeholder="Search orders" aria-keyshortcuts="Control+K Meta+K";
                    kbd aria-hidden="true" hidden {}
                }
                span class="push" {}
                span id="online" class="chip ok" hidden { "Live" }
                button class="avatar" type="button" popovertarget="account-menu" {
                    span aria-hidden="true" { (self.email.chars().next().unwrap_or('?')) }
                    span class="hidden-words" { "Account" }
                }
                div id="account-menu" class="menu" popover="auto" {
                    p { (self.email) br; span class="small muted" { (if self.admin { "Admin" } else { "Operator" }) } }
                    hr;
                    a href={ (SETTINGS_PATH) "/password" } { (icon(Icon::KeyRound)) "Change password" }
                    a href="/docs/" { (icon(Icon::BookOpen)) "API documentation" }
                    form method="post" action="/logout" {
                        input type="hidden" name=(TOKEN_FIELD) value=(self.token.masked());
                        button type="submit" { (icon(Icon::LogOut)) "Sign out" }
                    }
                }
            }
        }
    }
}

/// Renders the navigation.
fn rail(section: StaffSection, troubled: usize) -> Markup {
    html! {
        nav id=(RAIL_ID) class="rail" aria-label="Pages" popover="auto" {
            a class="brand" href=(FLOOR_PATH) { span class="mark" { (icon(Icon::Box)) } "Printfloor" }
            @for (group, links) in GROUPS {
                p class="group" { (group) }
                @for link in links { (section_link(link, section, troubled)) }
            }
            div class="foot" { @for link in &FOOT { (section_link(link, section, troubled)) } }
        }
    }
}

/// Renders the bar at the bottom of a phone's screen, with a button that opens the full navigation.
fn phone_bar(section: StaffSection, troubled: usize) -> Markup {
    html! {
        nav class="tabbar" aria-label="Main pages" {
            @for link in &ON_PHONES { (section_link(link, section, troubled)) }
            button type="button" popovertarget=(RAIL_ID) { (icon(Icon::Menu)) "More" }
        }
    }
}

/// Renders a navigation link. The link to the floor includes the number of printers that need an operator, which the
/// script keeps up to date.
fn section_link(&(of, path, label, picture): &SectionLink, section: StaffSection, troubled: usize) -> Markup {
    html! {
        a href=(path) aria-current=[(of == section).then_some("page")] {
            (icon(picture))
            (label)
            @if of == StaffSection::Floor {
                span class="count hot" data-troubled-count="" hidden[troubled == 0] {
                    span { (troubled) }
                    span class="hidden-words" { " needing attention" }
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
    html! {
        (hidden())
        input type="hidden" name=(ONCE_FIELD) value="true";
    }
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

/// Renders a time in the shop's time zone ([`crate::times`]): `today 17:40`.
pub(super) fn clock(at: Timestamp) -> Markup {
    mark(TimeForm::Moment, at)
}

/// Renders a time, as [`clock`] does, but omits the day if it is today. Intended for times that are usually close to
/// the present.
pub(super) fn time_of_day(at: Timestamp) -> Markup {
    mark(TimeForm::TimeOfDay, at)
}

/// Renders a past time as the time elapsed since then, `for 12 min`, which the script keeps up to date.
pub(super) fn since(at: Timestamp) -> Markup {
    mark(TimeForm::Elapsed, at)
}
