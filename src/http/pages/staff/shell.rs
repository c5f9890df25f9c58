//! Frame of all staff pages: navigation, floor summary, and the elements in which the script reports changes. Style and
//! script are files in the module's directory. They are inlined into each page, and its content security policy allows
//! them by their hashes.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};

use super::board::BoardView;
use super::{
    CUSTOMERS_PATH, FLOOR_PATH, INSIGHTS_PATH, INVOICES_PATH, ORDERS_PATH, PRODUCTS_PATH, QUOTES_PATH, SETTINGS_PATH,
    STOCK_PATH, TO_DO_PATH, WEBHOOKS_PATH,
};
use crate::form::TOKEN_FIELD;
use crate::frame::{PageCode, respond};
use config::Config;
use domain::mail::kind::minute;
use domain::principal::{Principal, Role};
use domain::time::Timestamp;
use http::access::Caller;
use http::csrf::FormToken;
use http::error::ApiError;

const STAFF_STYLE: &str = concat!(
    include_str!("style/base.css"),
    include_str!("style/floor.css"),
    include_str!("style/stock.css"),
    include_str!("style/products.css"),
    include_str!("style/commerce.css"),
    include_str!("style/settings.css"),
    include_str!("style/insights.css"),
);
const STAFF_SCRIPT: &str = concat!(
    include_str!("script/live.js"),
    include_str!("script/floor.js"),
    include_str!("script/settings.js"),
    include_str!("script/products.js")
);
/// Placeholder for the viewer's form token in markup that is rendered once for all viewers. Text entered by users
/// cannot contain it, because such text is escaped.
const TOKEN_MARK: PreEscaped<&str> = PreEscaped("<form-token>");

/// Style, script and policy shared by all staff pages; images from this server are allowed.
static STAFF_PAGE: LazyLock<PageCode> = LazyLock::new(|| PageCode::new(STAFF_STYLE, Some(STAFF_SCRIPT), true));

/// Severity of a state, always shown by a label in addition to a colour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Tone {
    /// Something is wrong or unreachable.
    Error,
    /// An operator has to act.
    Attention,
    /// Working normally.
    Working,
    /// Nothing is going on.
    Idle,
}

impl Tone {
    /// Returns the tone's name in URLs and page fragments.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Attention => "attention",
            Self::Working => "working",
            Self::Idle => "idle",
        }
    }

    /// Returns the CSS class of a chip with this tone.
    pub(super) fn chip(self) -> &'static str {
        match self {
            Self::Error => "chip bad",
            Self::Attention => "chip warn",
            Self::Working => "chip ok",
            Self::Idle => "chip idle",
        }
    }

    /// Returns the tone's CSS class.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Error => "state error",
            Self::Attention => "state attention",
            Self::Working => "state working",
            Self::Idle => "state idle",
        }
    }
}

/// Navigation section that a page belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StaffSection {
    ToDo,
    Floor,
    Orders,
    Stock,
    Products,
    Quotes,
    Invoices,
    Customers,
    Webhooks,
    Insights,
    Settings,
}

/// Sections in the navigation: section, path, label.
const SECTIONS: [(StaffSection, &str, &str); 11] = [
    (StaffSection::ToDo, TO_DO_PATH, "To do"),
    (StaffSection::Floor, FLOOR_PATH, "Floor"),
    (StaffSection::Orders, ORDERS_PATH, "Orders"),
    (StaffSection::Stock, STOCK_PATH, "Stock"),
    (StaffSection::Products, PRODUCTS_PATH, "Products"),
    (StaffSection::Quotes, QUOTES_PATH, "Quotes"),
    (StaffSection::Invoices, INVOICES_PATH, "Invoices"),
    (StaffSection::Customers, CUSTOMERS_PATH, "Customers"),
    (StaffSection::Webhooks, WEBHOOKS_PATH, "Webhooks"),
    (StaffSection::Insights, INSIGHTS_PATH, "Insights"),
    (StaffSection::Settings, SETTINGS_PATH, "Settings"),
];

/// Staff member viewing a page.
pub(super) struct StaffViewer {
    /// Token for the viewer's forms.
    token: FormToken,
    email: String,
    admin: bool,
}

impl StaffViewer {
    /// Creates the viewer from the caller; returns 403 unless the caller is a signed-in staff member.
    pub(super) fn new(who: &Caller, config: &Config) -> Result<Self, ApiError> {
        who.user()?;
        let session = who.session.ok_or_else(|| ApiError::internal("a member of staff without a session"))?;
        let email = match &*who.by {
            Principal::User { email, .. } => email.clone(),
            _ => String::new(),
        };
        Ok(Self { token: FormToken::of(&config.auth.session_secret, session), email, admin: who.has(Role::Admin) })
    }

    /// Returns shared markup with the placeholder replaced by the viewer's form token, masked anew.
    pub(super) fn own(&self, shared: &str) -> String {
        shared.replace(TOKEN_MARK.0, &self.token.masked())
    }

    /// Renders a page for the viewer, with the current floor summary.
    pub(super) fn page(&self, section: StaffSection, title: &str, board: &BoardView, content: &Markup) -> Response {
        self.put_up(section, title, board, content, false)
    }

    /// Renders a page as [`Self::page`] does, but for a wall display, without the navigation.
    pub(super) fn wall(&self, section: StaffSection, title: &str, board: &BoardView, content: &Markup) -> Response {
        self.put_up(section, title, board, content, true)
    }

    fn put_up(&self, section: StaffSection, title: &str, board: &BoardView, content: &Markup, wall: bool) -> Response {
        let body = html! {
            a class="skip" href="#content" { "Skip to the content" }
            @if !wall { (self.header(section)) }
            p id="lost" class="banner" role="alert" hidden {
                "The connection to the server is lost. What you see may be old; it comes back by itself."
            }
            (PreEscaped(&board.summary.html))
            main id="content" tabindex="-1" class=[wall.then_some("wall")] data-stream="/floor/live" data-version=(board.version) {
                (PreEscaped(self.own(&content.0)))
            }
            p id="said" class="said" role="status" {}
        };
        respond(StatusCode::OK, title, "staff", &body, &STAFF_PAGE)
    }

    fn header(&self, section: StaffSection) -> Markup {
        html! {
            header {
                nav aria-label="Pages" {
                    @for (of, path, words) in SECTIONS {
                        a href=(path) aria-current=[(of == section).then_some("page")] { (words) }
                    }
                    a href="/docs/" { "API" }
                    form method="post" action="/logout" {
                        input type="hidden" name=(TOKEN_FIELD) value=(self.token.masked());
                        span class="soft" { (self.email) @if self.admin { " (admin)" } }
                        button class="plain" type="submit" { "Sign out" }
                    }
                }
            }
        }
    }
}

/// Renders the hidden token field that every form needs. It contains a placeholder, which is replaced with the viewer's
/// token when the page is sent.
pub(super) fn hidden() -> Markup {
    html! { input type="hidden" name=(TOKEN_FIELD) value=(TOKEN_MARK); }
}

/// Returns a form's target URL with the viewer's token, for a form whose body is streamed: a token in the body would be
/// read too late.
pub(super) fn with_token(path: &str) -> Markup {
    html! { (path) "?token=" (TOKEN_MARK) }
}

/// Renders a form with one button, which the script posts without leaving the page. `id` lets the button keep the focus
/// when the surrounding markup is replaced.
pub(super) fn act(path: &str, id: &str, class: &str, words: &str, more: Option<&Markup>) -> Markup {
    html! {
        form method="post" action=(path) data-quiet="" {
            (hidden())
            @if let Some(more) = more { (more) }
            button id=(id) class=(class) type="submit" { (words) }
        }
    }
}

/// Renders a timestamp with its date. The script converts it to the viewer's time zone and omits the date if it is
/// near.
pub(super) fn clock(at: Timestamp) -> Markup {
    html! { time datetime=(at) data-clock="" { (minute(at)) } }
}

/// Renders a timestamp as [`clock`] does, but omits the date even without the script; for timestamps that are always
/// near.
pub(super) fn time_of_day(at: Timestamp) -> Markup {
    let text = at.to_string();
    html! { time datetime=(text) data-clock="" { (text.get(11..16).unwrap_or_default()) " UTC" } }
}

/// Renders a past timestamp, which the script shows as elapsed time.
pub(super) fn since(at: Timestamp) -> Markup {
    let text = at.to_string();
    let minute = text.get(..16).unwrap_or_default().replace('T', " ");
    html! { time datetime=(text) data-since="" { "since " (minute) " UTC" } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_its_day_where_no_script_runs() {
        let at = Timestamp(90_000_000);
        assert!(clock(at).0.contains(">1970-01-02 01:00 UTC</time>"), "{}", clock(at).0);
        assert!(time_of_day(at).0.contains(">01:00 UTC</time>"), "{}", time_of_day(at).0);
    }
}
