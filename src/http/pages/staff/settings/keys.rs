//! API keys: last use, creation and revocation. A key is shown only once, when it is created.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::SettingsPageHandles;
use super::users::role_name;
use crate::form::{Form, PageForm};
use crate::frame::{SLOT, see_other, time, with_parts};
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::{address, field, hinted_field, options, secret, ways};
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden};
use domain::access::ApiKey;
use domain::time::Timestamp;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::page::{OpenQuery, cut};
use http::path_id::PathId;
use http_api::production::keys::{self, KeyHandles};
use store::queries::Page;
use words::Language;
use words::staff::{access as texts, shell};

/// Path of the list of API keys.
pub(super) const PATH: &str = "/shop/settings/keys";
/// Path of the form for creating an API key.
pub(super) const NEW_PATH: &str = "/shop/settings/keys/new";
/// Number of keys per page.
const KEYS_PER_PAGE: u64 = 50;
/// Columns of the list of API keys.
const COLUMNS: [fn(Language) -> String; 8] = [
    texts::name,
    texts::status,
    texts::key_column,
    texts::role,
    texts::last_used_column,
    texts::created_column,
    texts::expires_column,
    texts::revoke,
];

handles! {
    /// Dependencies of the API key pages.
    pub(crate) struct KeyPageHandles {
        settings: SettingsPageHandles,
        keys: KeyHandles,
    }
}

/// Query parameters of the list of API keys.
#[derive(api_derive::Request, Debug)]
pub(super) struct KeyListQuery {
    /// Number of entries to skip.
    #[api(default = 0)]
    from: u32,
}

/// Serves the list of API keys.
pub(super) async fn list(
    State(app): State<KeyPageHandles>,
    who: Caller,
    OpenQuery(query): OpenQuery<KeyListQuery>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.settings.config)?;
    let (language, title) = (viewer.language(), texts::keys_title(viewer.language()));
    let header = html! { code { "X-API-Key" } };
    let from = u64::from(query.from);
    let (some, total) = cut(Page { limit: KEYS_PER_PAGE, offset: from }, keys::newest_keys(&app.keys)?);
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        h1 { (title) }
        p {
            (with_parts(&texts::keys_text(language, SLOT), &[&header])) " "
            a href="/docs/" { (texts::api_documentation(language)) }
        }
        p { a class="button" href=(NEW_PATH) { (texts::new_key(language)) } }
        div id="keys" data-fresh="" {
            @if some.is_empty() {
                section class="card" { p { (texts::no_keys(language)) } }
            } @else {
                (table(language, &app, &some))
            }
        }
        (ways(language, from, total, KEYS_PER_PAGE, |from| address(PATH, &[("from", &from.to_string())])))
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Returns a key's status as a tone and a label that shows whether it can be used.
fn state_of(language: Language, key: &ApiKey, now: Timestamp) -> (Tone, String) {
    if key.revoked_at.is_some() {
        (Tone::Idle, texts::key_revoked(language))
    } else if key.expires_at.is_some_and(|at| at <= now) {
        (Tone::Idle, texts::key_expired(language))
    } else {
        (Tone::Working, texts::key_active(language))
    }
}

fn table(language: Language, app: &KeyPageHandles, keys: &[Arc<ApiKey>]) -> Markup {
    let now = app.settings.environment.now();
    html! {
        div class="table list" tabindex="0" role="region" aria-label=(texts::key_table(language)) {
            table {
                thead {
                    tr {
                        @for column in COLUMNS { th scope="col" { (column(language)) } }
                    }
                }
                tbody { @for key in keys { (row(language, app, key, now)) } }
            }
        }
    }
}

fn row(language: Language, app: &KeyPageHandles, key: &ApiKey, now: Timestamp) -> Markup {
    let (tone, words) = state_of(language, key, now);
    html! {
        tr {
            th scope="row" class="grow" { (key.name) }
            td { span class=(tone.class()) { (words) } }
            td { code { (key.prefix) "…" (key.last4) } }
            td { (role_name(language, key.role)) @if let Some(email) = &key.customer_email { ", " (email) } }
            td data-label=(texts::last_used_column(language)) { (time_or_never(language, keys::last_use(&app.keys, key))) }
            td data-label=(texts::created_column(language)) { (time(language, key.created_at)) }
            td class=[key.expires_at.is_none().then_some("spare")] data-label=(texts::expires_column(language)) {
                (time_or_never(language, key.expires_at))
            }
            td class="fold" {
                @if key.revoked_at.is_none() {
                    details {
                        summary { (texts::revoke(language)) }
                        p { (texts::revoke_text(language)) }
                        form method="post" action={ (PATH) "/" (key.id) "/revoke" } {
                            (hidden())
                            button class="stop" type="submit" { (texts::revoke_key(language, &key.name)) }
                        }
                    }
                }
            }
        }
    }
}

fn time_or_never(language: Language, at: Option<Timestamp>) -> Markup {
    html! {
        @match at {
            Some(at) => { (time(language, at)) },
            None => { (texts::never(language)) },
        }
    }
}

/// Serves the form for creating an API key.
pub(super) async fn show_form(State(app): State<KeyPageHandles>, who: Caller) -> Result<Response, ApiError> {
    new_page(&app, &who, &Form::default())
}

fn new_page(app: &KeyPageHandles, who: &Caller, form: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let (language, title) = (viewer.language(), texts::new_key(viewer.language()));
    let role = form.value("role", "operator");
    let content = html! {
        p { a href=(PATH) { (texts::keys_title(language)) } }
        h1 { (title) }
        (form.alert())
        form class="card form" method="post" action=(NEW_PATH) {
            (hidden())
            (hinted_field("name", &texts::name(language), &texts::key_name_hint(language), &html! {
                input id="name" name="name" maxlength="200" required autocomplete="off" value=(form.value("name", ""))
                    aria-describedby="about-name";
            }))
            (hinted_field("expiry", &texts::expiry(language), &texts::expiry_hint(language), &html! {
                input id="expiry" name="expiresAt" type="date" value=(form.value("expiresAt", ""))
                    aria-describedby="about-expiry";
            }))
            (field("role", &texts::role(language), &html! { select id="role" name="role" { (roles(language, role)) } }))
            (hinted_field("customer", &texts::customer(language), &texts::customer_hint(language), &html! {
                input id="customer" name="customerEmail" type="email" maxlength="254" autocomplete="off"
                    value=(form.value("customerEmail", "")) aria-describedby="about-customer";
            }))
            button type="submit" { (texts::create_key(language)) }
        }
        p class="soft" { (texts::key_shown_once(language)) }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Renders the options for the role of a key.
fn roles(language: Language, chosen: &str) -> Markup {
    let labels =
        [texts::operator_option(language), texts::admin_key_option(language), texts::customer_option(language)];
    let [operator, admin, customer] = &labels;
    options(&[("operator", operator.as_str()), ("admin", admin.as_str()), ("customer", customer.as_str())], chosen)
}

/// Creates an API key and shows it, because it cannot be shown again later.
pub(super) async fn make(State(app): State<KeyPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let who = &sent.call.who;
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let (language, title) = (viewer.language(), texts::key_created(viewer.language()));
    let body = sent.body().day("expiresAt", sent.call.clock());
    let (done, key) = match keys::add(&app.keys, &sent.request_of(body)).await {
        Ok(created) => created,
        Err(error) => {
            let form = Form::submitted(&sent).with_refusal(error)?;
            return Ok(form.answer(new_page(&app, who, &form)?));
        }
    };
    let key_title = texts::key_for(language, &done.answer.key.name);
    let content = html! {
        h1 { (title) }
        (secret(language, &key_title, &texts::copy_key(language), &key))
        p class="acts" { a class="button" href=(PATH) { (texts::view_keys(language)) } }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Revokes an API key.
pub(super) async fn revoke(
    State(app): State<KeyPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    keys::revoke(&app.keys, id, &sent.call).await?;
    Ok(see_other(PATH))
}
