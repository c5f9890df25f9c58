//! What stands around every page for the staff: navigation, the summary of the floor, and the places where the script
//! says what changed. Style and script are files of their own here, and stand in each page, named by their hashes in
//! its policy.

use std::sync::LazyLock;

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, PreEscaped, html};

use super::board::BoardView;
use super::{
    CUSTOMERS_PATH, FLOOR_PATH, INSIGHTS_PATH, INVOICES_PATH, ORDERS_PATH, PRODUCTS_PATH, QUOTES_PATH, SETTINGS_PATH,
    STOCK_PATH, TO_DO_PATH, WEBHOOKS_PATH,
};
use crate::config::Config;
use crate::domain::mail::kind::minute;
use crate::domain::principal::{Principal, Role};
use crate::domain::time::Timestamp;
use crate::http::access::Caller;
use crate::http::csrf::FormToken;
use crate::http::error::ApiError;
use crate::http::pages::form::TOKEN_FIELD;
use crate::http::pages::frame::{PageCode, respond};

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
/// Stands for the token of the reader's session in parts that are made once for all who look. No text of others can
/// say it: what they write is escaped.
const TOKEN_MARK: PreEscaped<&str> = PreEscaped("<form-token>");

/// Every page for the staff has the same style and script, and shows pictures of this server.
static STAFF_PAGE: LazyLock<PageCode> = LazyLock::new(|| PageCode::new(STAFF_STYLE, Some(STAFF_SCRIPT), true));

/// The tone of a state. It is shown by a colour and always also by a word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Tone {
    /// Something is wrong or out of reach.
    Error,
    /// A person has to do something.
    Attention,
    /// It works.
    Working,
    /// Nothing goes on.
    Idle,
}

impl Tone {
    /// Its word in addresses and parts of pages.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Attention => "attention",
            Self::Working => "working",
            Self::Idle => "idle",
        }
    }

    /// The name of its colours in the style.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Error => "state error",
            Self::Attention => "state attention",
            Self::Working => "state working",
            Self::Idle => "state idle",
        }
    }
}

/// Where a page stands in the navigation.
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

/// The pages that the navigation names.
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

/// The member of staff who looks at a page.
pub(super) struct StaffViewer {
    /// What their forms carry.
    token: FormToken,
    email: String,
    admin: bool,
}

impl StaffViewer {
    /// Whoever this request comes from; 403 unless it is a member of staff who has signed in.
    pub(super) fn new(who: &Caller, config: &Config) -> Result<Self, ApiError> {
        who.user()?;
        let session = who.session.ok_or_else(|| ApiError::internal("a member of staff without a session"))?;
        let email = match &*who.by {
            Principal::User { email, .. } => email.clone(),
            _ => String::new(),
        };
        Ok(Self { token: FormToken::of(&config.auth.session_secret, session), email, admin: who.has(Role::Admin) })
    }

    /// A part that was made for all who look, for this one. Its forms carry the token under a new mask.
    pub(super) fn own(&self, shared: &str) -> String {
        shared.replace(TOKEN_MARK.0, &self.token.masked())
    }

    /// A page of theirs, with the floor as it is now.
    pub(super) fn page(&self, section: StaffSection, title: &str, board: &BoardView, content: &Markup) -> Response {
        self.put_up(section, title, board, content, false)
    }

    /// As [`Self::page`], to be read from far away: nothing but the content.
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

/// The hidden member that each form has; the token of the reader takes its place when the page is sent.
pub(super) fn hidden() -> Markup {
    html! { input type="hidden" name=(TOKEN_FIELD) value=(TOKEN_MARK); }
}

/// Where a form is sent whose body is read as it comes, and would give its token too late: it stands in the address.
pub(super) fn with_token(path: &str) -> Markup {
    html! { (path) "?token=" (TOKEN_MARK) }
}

/// A form with one button, which the script sends without leaving the page. `id` keeps the focus on the button when the
/// part around it is made anew.
pub(super) fn act(path: &str, id: &str, class: &str, words: &str, more: Option<&Markup>) -> Markup {
    html! {
        form method="post" action=(path) data-quiet="" {
            (hidden())
            @if let Some(more) = more { (more) }
            button id=(id) class=(class) type="submit" { (words) }
        }
    }
}

/// A moment, with its day; the script shows it by the clock of whoever looks, and leaves out the day where it is near.
pub(super) fn clock(at: Timestamp) -> Markup {
    html! { time datetime=(at) data-clock="" { (minute(at)) } }
}

/// As [`clock`], of what is near anyhow: where the script does not run, its day is left out as well.
pub(super) fn time_of_day(at: Timestamp) -> Markup {
    let text = at.to_string();
    html! { time datetime=(text) data-clock="" { (text.get(11..16).unwrap_or_default()) " UTC" } }
}

/// A moment of the past; the script tells how long ago it was.
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
