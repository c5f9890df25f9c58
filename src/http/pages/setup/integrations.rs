//! Fourth step of the setup wizard: connections to external systems, each optional and tested before its settings are
//! stored.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::steps::{SetupStep, ways};
use super::trial::{Trial, attempt, section};
use super::{WizardHandles, WizardRequest};
use crate::form::{Form, PageForm};
use actors::app::service_tests::Service;
use domain::refusal::Refusal;
use http::access::Caller;
use http::error::ApiError;
use words::Language;
use words::staff::{setup as texts, setup_fields};

/// Path of the integrations step.
pub(super) const PATH: &str = "/setup/integrations";

/// Returns a description of what the shop uses a system for.
pub(crate) fn about(language: Language, service: Service) -> String {
    match service {
        Service::Workflow => setup_fields::about_workflow(language),
        Service::FarmUi => setup_fields::about_farm_ui(language),
        Service::FailureDetection => setup_fields::about_failure_detection(language),
        Service::SmartHome => setup_fields::about_smart_home(language),
        Service::Parts => setup_fields::about_parts(language),
        Service::Spools => setup_fields::about_spools(language),
        _ => setup_fields::about_agent(language),
    }
}

/// Serves the page of the integrations step.
pub(super) async fn show(State(app): State<WizardHandles>, who: Caller) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    let content = content(&app, &visit, None);
    Ok(visit.page(StatusCode::OK, SetupStep::Integrations, &content))
}

/// Tests a system's connection and stores its settings if the test passes.
pub(super) async fn test(State(app): State<WizardHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let before = WizardRequest::new(&app, &sent.call.who).await?;
    if let Some(elsewhere) = before.instead() {
        return Ok(elsewhere);
    }
    let service = Service::WITH_TOKEN.into_iter().find(|service| service.word() == sent.text("service"));
    let service = service.ok_or_else(|| Refusal::field("service", "must be one of the listed services"))?;
    let trial = attempt(&app, &before, service, &sent).await?;
    let visit = WizardRequest::new(&app, &sent.call.who).await?;
    let content = content(&app, &visit, Some((service, &trial, &Form::submitted(&sent))));
    Ok(visit.page(trial.status(), SetupStep::Integrations, &content))
}

fn content(app: &WizardHandles, visit: &WizardRequest, tried: Option<(Service, &Trial, &Form)>) -> Markup {
    let of = |service: Service| tried.filter(|(one, ..)| *one == service).map(|(_, trial, sent)| (trial, sent));
    html! {
        p { (texts::integrations_text(visit.language)) }
        @for service in Service::WITH_TOKEN {
            (section(app, visit, service, (PATH, &about(visit.language, service)), of(service)))
        }
        (ways(visit.language, SetupStep::Printers, SetupStep::Commerce))
    }
}
