//! Second step of the setup wizard: the database and Redis connections, both of which must pass a test before the
//! wizard continues.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::steps::{SetupStep, ways};
use super::trial::{Trial, attempt};
use super::{WizardHandles, WizardRequest, fields};
use crate::form::{Form, PageForm};
use crate::frame::see_other;
use actors::app::service_tests::Service;
use http::access::Caller;
use http::error::ApiError;
use words::staff::setup as texts;

/// Path of the database step.
pub(super) const PATH: &str = "/setup/database";

const BOTH: [Service; 2] = [Service::Database, Service::Redis];

/// Serves the page of the database step.
pub(super) async fn show(State(app): State<WizardHandles>, who: Caller) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &who).await?;
    if !visit.has_admin {
        return Ok(see_other(super::PATH));
    }
    let content = content(&app, &visit, None);
    Ok(visit.page(StatusCode::OK, SetupStep::Database, &content))
}

/// Tests both connections, and stores the settings for those that pass.
pub(super) async fn test(State(app): State<WizardHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let before = WizardRequest::new(&app, &sent.call.who).await?;
    if !before.has_admin {
        return Ok(see_other(super::PATH));
    }
    let [database, redis] = BOTH.map(|service| attempt(&app, &before, service, &sent));
    let (database, redis) = futures::future::join(database, redis).await;
    let trials = [database?, redis?];
    let status = trials.iter().map(Trial::status).max().unwrap_or_default();
    let visit = WizardRequest::new(&app, &sent.call.who).await?;
    let content = content(&app, &visit, Some((&trials, &Form::submitted(&sent))));
    Ok(visit.page(status, SetupStep::Database, &content))
}

fn content(app: &WizardHandles, visit: &WizardRequest, tried: Option<(&[Trial; 2], &Form)>) -> Markup {
    let (language, config) = (visit.language, &*app.setup.config);
    let again = tried.filter(|(trials, _)| trials.iter().any(|trial| !trial.is_kept())).map(|(_, sent)| sent);
    let other_database = visit.draft.value("database.url").is_some();
    html! {
        p { (texts::database_text(language)) }
        form method="post" action=(PATH) {
            (visit.hidden())
            @for (number, service) in BOTH.into_iter().enumerate() {
                section class="card" aria-labelledby=(service.word()) {
                    h2 id=(service.word()) {
                        (fields::name_of(language, service)) " "
                        span class="state" { (fields::state_of(service, config, &visit.draft).label(language)) }
                    }
                    @if let Some((trials, _)) = tried { (trials[number].render(language, service)) }
                    (fields::inputs(language, service, config, &visit.draft, again))
                }
            }
            p { button type="submit" { (texts::test_both(language)) } }
        }
        @if other_database {
            p class="card" {
                strong { (texts::other_database(language)) " " }
                (texts::other_database_text(language))
            }
        }
        @if visit.may_go_on() {
            (ways(language, SetupStep::Welcome, SetupStep::Printers))
        } @else {
            p { (texts::both_must_pass(language)) }
        }
    }
}
