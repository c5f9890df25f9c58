//! Form for a webhook endpoint: URL and events. The secret of a new endpoint is shown only once.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::WebhookPageHandles;
use crate::form::{Form, FormBody, PageForm};
use crate::staff::WEBHOOKS_PATH;
use crate::staff::filled_form::{field, hinted_field, secret};
use crate::staff::sheet::FormSheet;
use crate::staff::shell::{StaffSection, StaffViewer, hidden};
use domain::event::OutboundEvent;
use http::access::Caller;
use http::error::ApiError;
use http::wire::TICKED_WORD;
use http_api::production::endpoints::{self, EndpointDisclosure};
use words::Language;
use words::staff::webhooks as texts;

/// Path of the form that adds an endpoint.
pub(super) const NEW_PATH: &str = "/shop/webhooks/new";
/// Prefix of the form fields that select events.
const EVENT_PREFIX: &str = "event-";

/// Reads the body of the API operation from the form.
pub(super) fn body_of(sent: &PageForm) -> FormBody {
    let events: Vec<&str> = sent.members().filter_map(|(name, _)| name.strip_prefix(EVENT_PREFIX)).collect();
    sent.change().with("events", events)
}

/// Renders the fields for an endpoint's URL and events, with the current or the submitted values.
pub(super) fn fields(language: Language, url: &str, events: &[String], sheet: &FormSheet<'_>) -> Markup {
    let chosen = |word: &str| {
        let is_current = events.iter().any(|event| event == word);
        !sheet.value_of(&format!("{EVENT_PREFIX}{word}"), if is_current { TICKED_WORD } else { "" }).is_empty()
    };
    html! {
        (field("url", &texts::url_field(language), &html! {
            input id="url" name="url" type="url" maxlength="2000" required autocomplete="off" spellcheck="false"
                value=(sheet.value_of("url", url)) placeholder="https://";
        }))
        fieldset {
            legend { (texts::events_field(language)) }
            ul class="choices" {
                @for word in OutboundEvent::ALL.iter().copied().map(OutboundEvent::word) {
                    @let name = format!("{EVENT_PREFIX}{word}");
                    li {
                        input id=(name) name=(name) type="checkbox" value="true" checked[chosen(word)];
                        label for=(name) class="inline" { " " (event_label(language, word)) }
                    }
                }
            }
        }
    }
}

/// Returns the label of an event. Its name is English, so that a page in another language shows it as the API spells
/// it.
fn event_label(language: Language, word: &str) -> String {
    match language {
        Language::English => word.replace(['.', '_'], " "),
        Language::German => word.to_owned(),
    }
}

/// Serves the form that adds an endpoint.
pub(super) async fn show(State(app): State<WebhookPageHandles>, who: Caller) -> Result<Response, ApiError> {
    new_page(&app, &who, &Form::default())
}

fn new_page(app: &WebhookPageHandles, who: &Caller, form: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.endpoints.config)?;
    let (language, title) = (viewer.language(), texts::add_endpoint(viewer.language()));
    let content = html! {
        p { a href=(WEBHOOKS_PATH) { (texts::all_endpoints(language)) } }
        h1 { (title) }
        (form.alert())
        form class="card form" method="post" action=(NEW_PATH) {
            (hidden())
            (fields(language, "", &[], &FormSheet::new("", form)))
            (hinted_field(
                "secret",
                &texts::secret(language),
                &texts::secret_hint(language),
                &html! {
                    input id="secret" name="secret" type="password" maxlength="256" autocomplete="new-password"
                        aria-describedby="about-secret";
                },
            ))
            button type="submit" { (title) }
        }
        p class="soft" { (texts::later_events_only(language)) }
    };
    Ok(viewer.page(StaffSection::Webhooks, &title, &app.board.view(), &content))
}

/// Registers an endpoint and shows its secret.
pub(super) async fn add(State(app): State<WebhookPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let who = &sent.call.who;
    who.user()?;
    match endpoints::add(&app.endpoints, &sent.request_of(body_of(&sent))).await {
        Ok(disclosure) => shown_once(&app, who, &texts::added_title(who.language), &disclosure),
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
    let language = viewer.language();
    let endpoint = &disclosure.outcome.answer.endpoint;
    let content = html! {
        h1 { (title) }
        p { (endpoint.url) }
        @if disclosure.warning.is_some() { p class="bad" { (texts::weak_secret(language)) } }
        @match &disclosure.secret {
            Some(value) => { (secret(language, &texts::secret(language), &texts::secret_note(language), value)) },
            None => { p { (texts::own_secret_used(language)) } },
        }
        p class="acts" {
            a class="button" href={ (WEBHOOKS_PATH) "/" (endpoint.id) } { (texts::view_endpoint(language)) }
            a class="button second" href=(WEBHOOKS_PATH) { (texts::all_endpoints(language)) }
        }
    };
    Ok(viewer.page(StaffSection::Webhooks, title, &app.board.view(), &content))
}
