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
        h1 id="endpoint-title" data-fresh="" { "Webhook endpoint " span class=(tone.class()) { (words) } }
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
    Ok(viewer.page(StaffSection::Webhooks, "Webhook endpoint", &app.board.view(), &content))
}

fn about(endpoint: &Endpoint) -> Markup {
    html! {
        dl class="left" {
            dt { "URL" } dd { (endpoint.url) }
            dt { "Events" } dd { (endpoint.events.join(", ")) }
            dt { "Added" } dd { (time(endpoint.created_at)) }
            @if let Some((_, until)) = &endpoint.former { dt { "Previous secret" } dd { "also signs deliveries until " (time(*until)) } }
            @if endpoint.replaying.is_some() { dt { "Replay" } dd { "in progress" } }
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
            h2 id="steps" { "Actions" }
            div class="acts" id="endpoint-acts" data-fresh="" {
                @if endpoint.state == EndpointState::Disabled {
                    (act(&path(endpoint, "enable"), "enable", "", "Enable endpoint", None))
                } @else {
                    (act(&path(endpoint, "test"), "test", "", "Send test event", None))
                    (act(&path(endpoint, "disable"), "disable", "second", "Disable endpoint", None))
                }
            }
        }
    }
}

fn changes(endpoint: &Endpoint, form: &Form) -> Markup {
    let (change, replay) = (FormSheet::new("change", form), FormSheet::new("replay", form));
    html! {
        section class="card" aria-labelledby="changes" {
            h2 id="changes" { "Edit endpoint" }
            details open[change.is_refused()] {
                summary { "URL and events" }
                form class="form" method="post" action=(path(endpoint, "change")) {
                    (hidden())
                    (fields(&endpoint.url, &endpoint.events, &change))
                    button type="submit" { "Save" }
                }
            }
            details open[replay.is_refused()] {
                summary { "Replay events" }
                form class="tools" method="post" action=(path(endpoint, "replay")) {
                    (hidden())
                    (hinted_field("since", "Since", "Within the last 30 days.", &html! {
                        input id="since" name="since" type="datetime-local" required value=(replay.value_of("since", ""))
                            aria-describedby="about-since";
                    }))
                    button class="second" type="submit" { "Replay" }
                }
                p class="hint" { "Resends every event since this time. The webhook-id header stays the same, so that receivers can detect repeats." }
            }
            details {
                summary { "Rotate signing secret" }
                p { "You'll see the new secret once. For 24 hours, deliveries are also signed with the current secret, so you have time to replace it." }
                form method="post" action=(path(endpoint, "rotate")) {
                    (hidden())
                    button class="second" type="submit" { "Rotate secret" }
                }
            }
            details {
                summary { "Delete endpoint" }
                p { "Deliveries to " strong { (endpoint.url) } " stop, and pending deliveries are cancelled. You can't undo this." }
                form method="post" action=(path(endpoint, "delete")) {
                    (hidden())
                    button class="stop" type="submit" { "Delete " (endpoint.url) }
                }
            }
        }
    }
}
