//! Webhook endpoint page: health, actions, and the delivery log.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::form::fields;
use super::log::{LogQuery, log};
use super::{WebhookPageHandles, health, standing};
use crate::frame::time;
use crate::staff::WEBHOOKS_PATH;
use crate::staff::filled_form::hinted_field;
use crate::staff::form::Form;
use crate::staff::sheet::FormSheet;
use crate::staff::shell::{StaffSection, StaffViewer, act, hidden};
use domain::endpoint::{Endpoint, EndpointState};
use domain::id::Id;
use domain::principal::Role;
use http::access::Caller;
use http::command_request::find_present;
use http::error::ApiError;
use http::page::OpenQuery;
use http::path_id::PathId;

/// Serves the page of an endpoint.
pub(super) async fn show(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    who: Caller,
    OpenQuery(query): OpenQuery<LogQuery>,
) -> Result<Response, ApiError> {
    render_page(&app, id, &who, &query, &Form::default()).await
}

/// Renders an endpoint's page, with the errors of a rejected form, if any.
pub(super) async fn render_page(
    app: &WebhookPageHandles,
    id: Id,
    who: &Caller,
    query: &LogQuery,
    form: &Form,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.endpoints.config)?;
    let (_, endpoint) = find_present(&app.endpoints.endpoints, id).await?;
    let admin = who.has(Role::Admin);
    let log = log(app, &endpoint, query, admin).await?;
    let (tone, words) = health(&endpoint);
    let content = html! {
        p { a href=(WEBHOOKS_PATH) { "All endpoints" } }
        h1 id="endpoint-title" data-fresh="" { "Endpoint " span class=(tone.class()) { (words) } }
        (form.alert())
        div id="endpoint" data-fresh="" {
            section class="card" aria-labelledby="glance" {
                h2 id="glance" { "At a glance" }
                (standing(&endpoint))
                (about(&endpoint))
            }
        }
        @if admin { (steps(&endpoint)) (changes(&endpoint, form)) }
        (log)
    };
    Ok(viewer.page(StaffSection::Webhooks, "Endpoint", &app.board.view(), &content))
}

fn about(endpoint: &Endpoint) -> Markup {
    html! {
        dl class="left" {
            dt { "Address" } dd { (endpoint.url) }
            dt { "Is told" } dd { (endpoint.events.join(", ")) }
            dt { "Added" } dd { (time(endpoint.created_at)) }
            @if let Some((_, until)) = &endpoint.former { dt { "Former secret" } dd { "signs too, until " (time(*until)) } }
            @if endpoint.replaying.is_some() { dt { "Replay" } dd { "under way" } }
        }
    }
}

fn path(endpoint: &Endpoint, word: &str) -> String {
    format!("{WEBHOOKS_PATH}/{}/{word}", endpoint.id)
}

/// Renders the actions that take effect immediately, without a form to fill in.
fn steps(endpoint: &Endpoint) -> Markup {
    html! {
        section class="card" aria-labelledby="steps" {
            h2 id="steps" { "What to do with it" }
            div class="acts" id="endpoint-acts" data-fresh="" {
                @if endpoint.state == EndpointState::Disabled {
                    (act(&path(endpoint, "enable"), "enable", "", "Enable it, and send what waits", None))
                } @else {
                    (act(&path(endpoint, "test"), "test", "", "Send a test event", None))
                    (act(&path(endpoint, "disable"), "disable", "second", "Pause it", None))
                }
            }
        }
    }
}

fn changes(endpoint: &Endpoint, form: &Form) -> Markup {
    let (change, replay) = (FormSheet::new("change", form), FormSheet::new("replay", form));
    html! {
        section class="card" aria-labelledby="changes" {
            h2 id="changes" { "Change it" }
            details open[change.is_refused()] {
                summary { "Address and events" }
                form class="form" method="post" action=(path(endpoint, "change")) {
                    (hidden())
                    (fields(&endpoint.url, &endpoint.events, &change))
                    button type="submit" { "Save" }
                }
            }
            details open[replay.is_refused()] {
                summary { "Send again what was sent since a moment" }
                form class="tools" method="post" action=(path(endpoint, "replay")) {
                    (hidden())
                    (hinted_field("since", "Since", "At most 30 days ago.", &html! {
                        input id="since" name="since" type="datetime-local" required value=(replay.value_of("since", ""))
                            aria-describedby="about-since";
                    }))
                    button class="second" type="submit" { "Replay" }
                }
                p class="hint" { "Each event of that time is sent once more. Programs know repeats by the webhook-id." }
            }
            details {
                summary { "Change the secret" }
                p { "A new secret is made and shown once. For 24 hours the present one signs too, so that the program can change over." }
                form method="post" action=(path(endpoint, "rotate")) {
                    (hidden())
                    button class="second" type="submit" { "Make a new secret" }
                }
            }
            details {
                summary { "Remove it" }
                p { "Nothing more is sent to " strong { (endpoint.url) } ", also not what waits. This cannot be taken back." }
                form method="post" action=(path(endpoint, "delete")) {
                    (hidden())
                    button class="stop" type="submit" { "Remove " (endpoint.url) }
                }
            }
        }
    }
}
