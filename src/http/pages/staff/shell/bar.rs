//! Bar at the top of all staff pages: the search of the whole shop, the state of the connection, and the viewer.

use maud::{Markup, html};

use super::StaffViewer;
use crate::design::{Icon, icon};
use crate::form::TOKEN_FIELD;
use crate::staff::search::{MAX_QUERY_CHARS, SEARCH_PATH};
use crate::staff::{ACCOUNT_PATH, SETTINGS_PATH};
use words::staff::shell;

impl StaffViewer {
    /// Renders the bar at the top: the search, the state of the connection, and the viewer with a sign-out link.
    pub(super) fn bar(&self) -> Markup {
        let language = self.language;
        let role = if self.admin { shell::admin(language) } else { shell::operator(language) };
        html! {
            header class="top" {
                form class="search" method="get" action=(SEARCH_PATH) role="search" aria-label=(shell::whole_shop(language)) {
                    (icon(Icon::Search))
                    label for="site-search" class="hidden-words" { (shell::search(language)) }
                    input id="site-search" name="q" type="search" maxlength=(MAX_QUERY_CHARS) autocomplete="off"
                        placeholder=(shell::search_whole_shop(language)) aria-keyshortcuts="Control+K Meta+K";
                    kbd aria-hidden="true" hidden {}
                }
                span class="push" {}
                span id="online" class="chip ok" hidden { (shell::live(language)) }
                button class="avatar" type="button" popovertarget="account-menu" {
                    span aria-hidden="true" { (self.email.chars().next().unwrap_or('?')) }
                    span class="hidden-words" { (shell::account(language)) }
                }
                div id="account-menu" class="menu" popover="auto" {
                    p { (self.email) br; span class="small muted" { (role) } }
                    hr;
                    a href=(ACCOUNT_PATH) { (icon(Icon::Users)) (shell::my_account(language)) }
                    a href={ (SETTINGS_PATH) "/password" } { (icon(Icon::KeyRound)) (shell::change_password(language)) }
                    a href="/docs/" { (icon(Icon::BookOpen)) (shell::api_documentation(language)) }
                    form method="post" action="/logout" {
                        input type="hidden" name=(TOKEN_FIELD) value=(self.token.masked());
                        button type="submit" { (icon(Icon::LogOut)) (shell::sign_out(language)) }
                    }
                }
            }
        }
    }
}
