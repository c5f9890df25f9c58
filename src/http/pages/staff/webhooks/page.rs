//! Webhook endpoint page: health, actions, and the delivery log.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::form::fields;
use super::log::{LogQuery, log};
use super::{WebhookPageHandles, health, standing};
use crate::form::Form;
use crate::frame::{SLOT, time, with_parts};
use crate::staff::WEBHOOKS_PATH;
use crate::staff::filled_form::hinted_field;
use crate::staff::sheet::FormSheet;
use crate::staff::shell::{StaffSection, StaffViewer, act, hidden, hidden_once};
use domain::endpoint::{Endpoint, EndpointState};
use domain::id::Id;
use domain::principal::Role;
use http::access::Caller;
use http::command_request::find_present;
use http::error::ApiError;
use http::page::OpenQuery;
use http::path_id::PathId;
use words::Language;
use words::staff::webhooks as texts;

/// Serves the page of an endpoint.
pub(super) async fn show(
    State(app): State<WebhookPageHandles>,
    PathId(id): PathId,
    who: Caller,
    OpenQuery(query): OpenQuery<LogQuery>,
) -> Result<Response, ApiError> {
    render_page(&app, id, &who, &query, &Form::default()).await
}

/// Renders an endpoint's page, with the errors in a rejected form, if any.
pub(super) async fn render_page(
    app: &WebhookPageHandles,
    id: Id,
    who: &Caller,
    query: &LogQuery,
    form: &Form,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.endpoints.config)?;
    let (language, title) = (viewer.language(), texts::endpoint_title(viewer.language()));
    let (_, endpoint) = find_present(&app.endpoints.endpoints, id).await?;
    let admin = who.has(Role::Admin);
    let log = log(language, app, &endpoint, query, admin).await?;
    let (tone, words) = health(language, &endpoint);
    let content = html! {
        p { a href=(WEBHOOKS_PATH) { (texts::all_endpoints(language)) } }
        h1 id="endpoint-title" data-fresh="" { (title) " " span class=(tone.class()) { (words) } }
        (form.alert())
        div id="endpoint" data-fresh="" {
            section class="card" aria-labelledby="glance" {
                h2 id="glance" { (texts::glance(language)) }
                (standing(language, &endpoint))
                (about(language, &endpoint))
            }
        }
        @if admin { (steps(language, &endpoint)) (changes(language, &endpoint, form)) }
        (log)
    };
    Ok(viewer.page(StaffSection::Webhooks, &title, &app.board.view(), &content))
}

fn about(language: Language, endpoint: &Endpoint) -> Markup {
    html! {
        dl class="left" {
            dt { (texts::url(language)) } dd { (endpoint.url) }
            dt { (texts::events(language)) } dd { (endpoint.events.join(", ")) }
            dt { (texts::added(language)) } dd { (time(language, endpoint.created_at)) }
            @if let Some((_, until)) = &endpoint.former {
                dt { (texts::previous_secret(language)) }
                dd { (with_parts(&texts::previous_secret_until(language, SLOT), &[&time(language, *until)])) }
            }
            @if endpoint.replaying.is_some() {
                dt { (texts::replay_fact(language)) } dd { (texts::in_progress(language)) }
            }
        }
    }
}

fn path(endpoint: &Endpoint, word: &str) -> String {
    format!("{WEBHOOKS_PATH}/{}/{word}", endpoint.id)
}

/// Renders the actions that take effect immediately, without a form to fill in.
fn steps(language: Language, endpoint: &Endpoint) -> Markup {
    html! {
        section class="card" aria-labelledby="steps" {
            h2 id="steps" { (texts::actions(language)) }
            div class="acts" id="endpoint-acts" data-fresh="" {
                @if endpoint.state == EndpointState::Disabled {
                    (act(&path(endpoint, "enable"), "enable", "", &texts::enable(language), None))
                } @else {
                    (act(&path(endpoint, "test"), "test", "", &texts::send_test(language), None))
                    (act(&path(endpoint, "disable"), "disable", "second", &texts::disable(language), None))
                }
            }
        }
    }
}

fn changes(language: Language, endpoint: &Endpoint, form: &Form) -> Markup {
    let (change, replay) = (FormSheet::new("change", form), FormSheet::new("replay", form));
    html! {
        section class="card" aria-labelledby="changes" {
            h2 id="changes" { (texts::edit_heading(language)) }
            details open[change.is_refused()] {
                summary { (texts::url_and_events(language)) }
                form class="form" method="post" action=(path(endpoint, "change")) {
                    (hidden())
                    (fields(language, &endpoint.url, &endpoint.events, &change))
                    button type="submit" { (texts::save(language)) }
                }
            }
            details open[replay.is_refused()] {
                summary { (texts::replay_heading(language)) }
                form class="tools" method="post" action=(path(endpoint, "replay")) {
                    (hidden_once())
                    (hinted_field("since", &texts::since_field(language), &texts::since_hint(language), &html! {
                        input id="since" name="since" type="datetime-local" required value=(replay.value_of("since", ""))
                            aria-describedby="about-since";
                    }))
                    button class="second" type="submit" { (texts::replay(language)) }
                }
                p class="hint" { (texts::replay_note(language)) }
            }
            details {
                summary { (texts::rotate_heading(language)) }
                p { (texts::rotate_note(language)) }
                form method="post" action=(path(endpoint, "rotate")) {
                    (hidden())
                    button class="second" type="submit" { (texts::rotate(language)) }
                }
            }
            details {
                summary { (texts::delete_heading(language)) }
                p { (with_parts(&texts::delete_note(language, SLOT), &[&html! { strong { (endpoint.url) } }])) }
                form method="post" action=(path(endpoint, "delete")) {
                    (hidden())
                    button class="stop" type="submit" { (texts::delete(language, &endpoint.url)) }
                }
            }
        }
    }
}
