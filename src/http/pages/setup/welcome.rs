//! First step of the setup wizard: the current configuration, and the first admin.

use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::Response;
use maud::{Markup, html};
use serde_json::json;

use super::steps::SetupStep;
use super::time_zone::{self, ZONE_PAGE, ZONE_WORD};
use super::{WizardHandles, WizardRequest, fields, wrong};
use crate::faults::alert;
use crate::form::{Form, PageForm};
use crate::frame::{SLOT, see_other, with_parts};
use actors::app::service_tests::Service;
use config::{Config, Mode};
use http::access::Caller;
use http::error::ApiError;
use http_api::production::auth::SessionHandles;
use http_api::production::setup::first_admin_of;
use words::Language;
use words::staff::setup as texts;

/// Serves the page of the welcome step.
pub(super) async fn show(State(app): State<WizardHandles>, who: Caller) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &who).await?;
    Ok(page(&app, &visit, StatusCode::OK, None))
}

fn page(app: &WizardHandles, visit: &WizardRequest, status: StatusCode, refused: Option<(&Markup, &Form)>) -> Response {
    let content = content(visit, &app.setup.config, refused);
    visit.scripted_page(status, SetupStep::Welcome, &content, &ZONE_PAGE)
}

/// Stores the time zone, creates the first admin, signs them in, and continues to the next step. Once there is an
/// admin, the form contains only the time zone, and only the time zone is stored.
pub(super) async fn make_admin(
    State(app): State<WizardHandles>,
    State(sessions): State<SessionHandles>,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &sent.call.who).await?;
    let language = visit.language;
    let faults = time_zone::faults(language, &sent);
    if !faults.is_empty() {
        return Ok(page(
            &app,
            &visit,
            StatusCode::BAD_REQUEST,
            Some((&wrong(language, &faults), &Form::submitted(&sent))),
        ));
    }
    time_zone::keep(&app, &visit, &sent).await?;
    if sent.text("service") == ZONE_WORD {
        return Ok(see_other(super::PATH));
    }
    let body = json!({"email": sent.text("email"), "name": sent.text("name"), "password": sent.raw("password")});
    match first_admin_of(&sessions, &sent.call, &body).await {
        Ok(cookie) => {
            let mut response = see_other(SetupStep::Database.path());
            response.headers_mut().insert(header::SET_COOKIE, cookie);
            Ok(response)
        }
        Err(error) if error.status() == StatusCode::BAD_REQUEST => {
            Ok(page(&app, &visit, StatusCode::BAD_REQUEST, Some((&alert(language, &error), &Form::submitted(&sent)))))
        }
        Err(error) => Err(error),
    }
}

fn content(visit: &WizardRequest, config: &Config, refused: Option<(&Markup, &Form)>) -> Markup {
    let language = visit.language;
    let is_production = config.mode == Mode::Production;
    let mode = if is_production { texts::mode_production(language) } else { texts::mode_development(language) };
    html! {
        p { (with_parts(&texts::welcome_text(language, SLOT), &[&html! { strong { (mode) } }])) }
        section class="card" aria-labelledby="services" {
            h2 id="services" { (texts::current_heading(language)) }
            p class="soft" { (with_parts(&texts::current_text(language, SLOT), &[&html! { code { ".env" } }])) }
            ul class="rows" {
                @for service in Service::OF_SETTINGS {
                    li {
                        span { (fields::name_of(language, service)) }
                        span class="state" { (fields::state_of(service, config, &visit.draft).label(language)) }
                    }
                }
            }
        }
        @if visit.has_admin {
            (time_zone::section(visit, config, refused))
            p class="acts" { a class="button" href=(SetupStep::Database.path()) { (texts::next(language, &SetupStep::Database.title(language))) } }
        } @else {
            (admin_form(language, visit, config, refused))
        }
    }
}

/// Renders the form that creates the first admin.
fn admin_form(language: Language, visit: &WizardRequest, config: &Config, refused: Option<(&Markup, &Form)>) -> Markup {
    let typed = |name: &str| refused.map_or("", |(_, form)| form.text(name));
    html! {
        form class="card" method="post" action=(super::PATH) {
            h2 { (texts::admin_heading(language)) }
            p { (texts::admin_text(language)) }
            @if let Some((faults, _)) = refused { (faults) }
            (visit.hidden())
            div class="field" {
                label for="name" { (texts::name_field(language)) }
                input id="name" name="name" autocomplete="name" required maxlength="200" value=(typed("name"));
            }
            div class="field" {
                label for="email" { (texts::email_field(language)) }
                input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value=(typed("email"));
            }
            div class="field" {
                label for="password" { (texts::password_field(language)) }
                input id="password" name="password" type="password" autocomplete="new-password" required minlength="10"
                    aria-describedby="long";
                p class="hint" id="long" { (texts::password_hint(language)) }
            }
            (time_zone::field(language, config, &visit.draft, refused.map(|(_, form)| form)))
            button type="submit" { (texts::create_admin(language)) }
        }
    }
}
