//! API keys: last use, creation and revocation. A key is shown only once, when it is created.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::SettingsPageHandles;
use crate::form::PageForm;
use crate::frame::{see_other, time};
use crate::staff::SETTINGS_PATH;
use crate::staff::filled_form::{address, end_of_day, field, hinted_field, options, secret, ways};
use crate::staff::form::Form;
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

/// Path of the list of API keys.
pub(super) const PATH: &str = "/shop/settings/keys";
/// Path of the form for creating an API key.
pub(super) const NEW_PATH: &str = "/shop/settings/keys/new";
/// Number of keys per page.
const KEYS_PER_PAGE: u64 = 50;
/// Roles that a key can have, with their labels.
const ROLES: [(&str, &str); 3] = [
    ("operator", "Operator: orders, printers and stock"),
    ("admin", "Admin: everything"),
    ("customer", "Customer: own orders and the catalogue"),
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
    let from = u64::from(query.from);
    let (some, total) = cut(Page { limit: KEYS_PER_PAGE, offset: from }, keys::newest_keys(&app.keys)?);
    let content = html! {
        p { a href=(SETTINGS_PATH) { "Settings" } }
        h1 { "API Keys" }
        p { "Send a key in the " code { "X-API-Key" } " header. " a href="/docs/" { "API documentation" } }
        p { a class="button" href=(NEW_PATH) { "New Key" } }
        div id="keys" data-fresh="" {
            @if some.is_empty() {
                section class="card" { p { "No API keys yet. Create one for each program, so you can revoke them separately." } }
            } @else {
                (table(&app, &some))
            }
        }
        (ways(from, total, KEYS_PER_PAGE, |from| address(PATH, &[("from", &from.to_string())])))
    };
    Ok(viewer.page(StaffSection::Settings, "API Keys", &app.settings.board.view(), &content))
}

/// Returns a key's status as a tone and a label that shows whether it can be used.
fn state_of(key: &ApiKey, now: Timestamp) -> (Tone, &'static str) {
    if key.revoked_at.is_some() {
        (Tone::Idle, "Revoked")
    } else if key.expires_at.is_some_and(|at| at <= now) {
        (Tone::Idle, "Expired")
    } else {
        (Tone::Working, "Active")
    }
}

fn table(app: &KeyPageHandles, keys: &[Arc<ApiKey>]) -> Markup {
    let now = app.settings.environment.now();
    html! {
        div class="table" tabindex="0" role="region" aria-label="API keys" {
            table {
                thead {
                    tr {
                        th scope="col" { "Name" } th scope="col" { "Key" } th scope="col" { "Status" } th scope="col" { "Role" }
                        th scope="col" { "Last used" } th scope="col" { "Created" } th scope="col" { "Expires" }
                        th scope="col" { "Revoke" }
                    }
                }
                tbody { @for key in keys { (row(app, key, now)) } }
            }
        }
    }
}

fn row(app: &KeyPageHandles, key: &ApiKey, now: Timestamp) -> Markup {
    let (tone, words) = state_of(key, now);
    html! {
        tr {
            th scope="row" { (key.name) }
            td { code { (key.prefix) "…" (key.last4) } }
            td { span class=(tone.class()) { (words) } }
            td { (key.role.word()) @if let Some(email) = &key.customer_email { ", " (email) } }
            td { @match keys::last_use(&app.keys, key) { Some(at) => { (time(at)) }, None => { "never" } } }
            td { (time(key.created_at)) }
            td { @match key.expires_at { Some(at) => { (time(at)) }, None => { "never" } } }
            td {
                @if key.revoked_at.is_none() {
                    details {
                        summary { "Revoke" }
                        p { "Programs that use this key lose access immediately." }
                        form method="post" action={ (PATH) "/" (key.id) "/revoke" } {
                            (hidden())
                            button class="stop" type="submit" { "Revoke " (key.name) }
                        }
                    }
                }
            }
        }
    }
}

/// Serves the form for creating an API key.
pub(super) async fn show_form(State(app): State<KeyPageHandles>, who: Caller) -> Result<Response, ApiError> {
    new_page(&app, &who, &Form::default())
}

fn new_page(app: &KeyPageHandles, who: &Caller, form: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let role = form.value("role", "operator");
    let content = html! {
        p { a href=(PATH) { "API Keys" } }
        h1 { "New Key" }
        (form.alert())
        form class="card form" method="post" action=(NEW_PATH) {
            (hidden())
            (hinted_field("name", "Name", "The program that uses the key.", &html! {
                input id="name" name="name" maxlength="200" required autocomplete="off" value=(form.value("name", ""))
                    aria-describedby="about-name";
            }))
            (hinted_field("expiry", "Expiry", "Last day on which the key works. Leave empty for no expiry.", &html! {
                input id="expiry" name="expiry" data-member="expiresAt" type="date" value=(form.value("expiry", ""))
                    aria-describedby="about-expiry";
            }))
            (field("role", "Role", &html! { select id="role" name="role" { (options(&ROLES, role)) } }))
            (hinted_field("customer", "Customer", "Email address of the customer whose orders the key can access. Only for the customer role.", &html! {
                input id="customer" name="customer" data-member="customerEmail" type="email" maxlength="254" autocomplete="off"
                    value=(form.value("customer", "")) aria-describedby="about-customer";
            }))
            button type="submit" { "Create key" }
        }
        p class="soft" { "You'll see the key once, on the next page." }
    };
    Ok(viewer.page(StaffSection::Settings, "New Key", &app.settings.board.view(), &content))
}

/// Builds the API request body from the form.
fn request_body(sent: &PageForm) -> Value {
    let mut members = Map::new();
    members.insert("name".to_owned(), json!(sent.text("name")));
    members.insert("role".to_owned(), json!(sent.text("role")));
    if let Some(day) = sent.some("expiry") {
        members.insert("expiresAt".to_owned(), json!(end_of_day(&day, sent.call.clock())));
    }
    if let Some(email) = sent.some("customer") {
        members.insert("customerEmail".to_owned(), json!(email));
    }
    Value::Object(members)
}

/// Creates an API key and shows it, because it cannot be shown again later.
pub(super) async fn make(State(app): State<KeyPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let who = &sent.call.who;
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let (done, key) = match keys::add(&app.keys, &sent.call.of_form(&request_body(&sent))).await {
        Ok(created) => created,
        Err(error) => {
            let form = Form::submitted(&sent).with_refusal(error)?;
            return Ok(form.answer(new_page(&app, who, &form)?));
        }
    };
    let about = "Copy this key now. You won't be able to see it again.";
    let content = html! {
        h1 { "API key created" }
        (secret(words::Language::English, &format!("Key for {}", done.answer.key.name), about, &key))
        p class="acts" { a class="button" href=(PATH) { "View API keys" } }
    };
    Ok(viewer.page(StaffSection::Settings, "API key created", &app.settings.board.view(), &content))
}

/// Revokes an API key.
pub(super) async fn revoke(
    State(app): State<KeyPageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    sent.call.who.user()?;
    keys::revoke(&app.keys, id, &sent.call.of_form(&json!({}))).await?;
    Ok(see_other(PATH))
}
