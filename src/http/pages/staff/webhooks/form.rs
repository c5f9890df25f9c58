//! Form for a webhook endpoint: URL and events. The secret of a new endpoint is shown only once.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::WebhookPageHandles;
use crate::form::PageForm;
use crate::staff::WEBHOOKS_PATH;
use crate::staff::acts::TICKED_WORD;
use crate::staff::filled_form::{field, hinted_field, secret};
use crate::staff::form::Form;
use crate::staff::sheet::FormSheet;
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use domain::event::OutboundEvent;
use http::access::Caller;
use http::error::ApiError;
use http_api::production::endpoints::{self, EndpointDisclosure};

/// Path of the form that adds an endpoint.
pub(super) const NEW_PATH: &str = "/shop/webhooks/new";
/// Prefix of the form fields that select events.
const EVENT_PREFIX: &str = "event-";
/// Builds the API request body from the form. The secret is omitted if left empty.
pub(super) fn request_body(sent: &PageForm) -> Value {
    let events: Vec<&str> = sent.members().filter_map(|(name, _)| name.strip_prefix(EVENT_PREFIX)).collect();
    let mut members = Map::new();
    members.insert("url".to_owned(), json!(sent.text("url")));
    members.insert("events".to_owned(), json!(events));
    if let Some(secret) = sent.some("secret") {
        members.insert("secret".to_owned(), json!(secret));
    }
    Value::Object(members)
}

/// Renders the fields for an endpoint's URL and events, with the current or the submitted values.
pub(super) fn fields(url: &str, events: &[String], sheet: &FormSheet<'_>) -> Markup {
    let chosen = |word: &str| {
        let is_current = events.iter().any(|event| event == word);
        !sheet.value_of(&format!("{EVENT_PREFIX}{word}"), if is_current { TICKED_WORD } else { "" }).is_empty()
    };
    html! {
        (field("url", "Endpoint URL", &html! {
            input id="url" name="url" type="url" maxlength="2000" required autocomplete="off" spellcheck="false"
                value=(sheet.value_of("url", url)) placeholder="https://";
        }))
        fieldset {
            legend { "Events to send" }
            ul class="choices" {
                @for word in OutboundEvent::ALL.iter().copied().map(OutboundEvent::word) {
                    @let name = format!("{EVENT_PREFIX}{word}");
                    li {
                        input id=(name) name=(name) type="checkbox" value="true" checked[chosen(word)];
                        label for=(name) class="inline" { " " (word.replace(['.', '_'], " ")) }
                    }
                }
            }
        }
    }
}

/// Serves the form that adds an endpoint.
pub(super) async fn show(State(app): State<WebhookPageHandles>, who: Caller) -> Result<Response, ApiError> {
    new_page(&app, &who, &Form::default())
}

fn new_page(app: &WebhookPageHandles, who: &Caller, form: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.endpoints.config)?;
    let content = html! {
        p { a href=(WEBHOOKS_PATH) { "All endpoints" } }
        h1 { "Add endpoint" }
        (form.alert())
        form class="card form" method="post" action=(NEW_PATH) {
            (hidden())
            (fields("", &[], &FormSheet::new("", form)))
            (hinted_field(
                "secret",
                "Signing secret",
                "Use at least 24 characters. Leave empty to generate a secret, which you can copy on the next page.",
                &html! {
                    input id="secret" name="secret" type="password" maxlength="256" autocomplete="new-password"
                        aria-describedby="about-secret";
                },
            ))
            button type="submit" { "Add endpoint" }
        }
        p class="soft" { "The endpoint receives only events that happen after you add it." }
    };
    Ok(viewer.page(StaffSection::Webhooks, "Add endpoint", &app.board.view(), &content))
}

/// Registers an endpoint and shows its secret.
pub(super) async fn add(State(app): State<WebhookPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let who = &sent.call.who;
    who.user()?;
    match endpoints::add(&app.endpoints, &sent.call.of_form(&request_body(&sent))).await {
        Ok(disclosure) => shown_once(&app, who, "Endpoint added", &disclosure),
        Err(error) => {
            let form = Form::submitted(&sent).with_refusal(error)?;
            Ok(form.answer(new_page(&app, who, &form)?))
        }
    }
}

/// Renders a page that shows a secret once.
pub(super) fn shown_once(
    app: &WebhookPageHandles,
    who: &Caller,
    title: &str,
    disclosure: &EndpointDisclosure,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.endpoints.config)?;
    let about = "Verify webhook signatures with this secret. Copy it now. You won't be able to see it again; if you lose it, rotate it.";
    let endpoint = &disclosure.outcome.answer.endpoint;
    let content = html! {
        h1 { (title) }
        p { (endpoint.url) }
        @if let Some(warning) = disclosure.warning { p class="bad" { (warning) } }
        @match &disclosure.secret {
            Some(value) => { (secret(words::Language::English, "Signing secret", about, value)) },
            None => { p { "Deliveries are signed with the secret you entered." } },
        }
        p class="acts" {
            a class="button" href={ (WEBHOOKS_PATH) "/" (endpoint.id) } { "View endpoint" }
            a class="button second" href=(WEBHOOKS_PATH) { "All endpoints" }
        }
    };
    Ok(viewer.page(StaffSection::Webhooks, title, &app.board.view(), &content))
}
