//! Fifth step of the setup wizard: the invoice issuer, payments, and email to customers.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::seller::{self, SELLER_WORD};
use super::steps::{SetupStep, ways};
use super::trial::{Trial, attempt, section};
use super::{FaultLine, WizardHandles, WizardRequest, WizardText};
use crate::form::{Form, PageForm};
use actors::app::service_tests::Service;
use domain::refusal::Refusal;
use http::access::Caller;
use http::error::ApiError;
use words::staff::{setup as texts, setup_fields};

/// Path of the commerce step.
pub(super) const PATH: &str = "/setup/commerce";

const OFFERED_SERVICES: [(Service, WizardText); 3] = [
    (Service::Payments, setup_fields::about_payments),
    (Service::Email, setup_fields::about_email),
    (Service::Smtp, setup_fields::about_smtp),
];

/// Serves the page of the commerce step.
pub(super) async fn show(State(app): State<WizardHandles>, who: Caller) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    let content = content(&app, &visit, None, None);
    Ok(visit.page(StatusCode::OK, SetupStep::Commerce, &content))
}

/// Tests one of the services, and stores its settings if the test passes.
pub(super) async fn test(State(app): State<WizardHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let before = WizardRequest::new(&app, &sent.call.who).await?;
    if let Some(elsewhere) = before.instead() {
        return Ok(elsewhere);
    }
    if sent.text("service") == SELLER_WORD {
        let faults = seller::keep(&app, &before, &sent).await?;
        let visit = WizardRequest::new(&app, &sent.call.who).await?;
        let status = if faults.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
        let content = content(&app, &visit, None, Some((&faults, &Form::submitted(&sent))));
        return Ok(visit.page(status, SetupStep::Commerce, &content));
    }
    let service =
        OFFERED_SERVICES.into_iter().map(|(service, _)| service).find(|one| one.word() == sent.text("service"));
    let service = service.ok_or_else(|| Refusal::field("service", "must be one of the listed services"))?;
    let trial = attempt(&app, &before, service, &sent).await?;
    let visit = WizardRequest::new(&app, &sent.call.who).await?;
    let content = content(&app, &visit, Some((service, &trial, &Form::submitted(&sent))), None);
    Ok(visit.page(trial.status(), SetupStep::Commerce, &content))
}

fn content(
    app: &WizardHandles,
    visit: &WizardRequest,
    tried: Option<(Service, &Trial, &Form)>,
    seller: Option<(&[FaultLine], &Form)>,
) -> Markup {
    let of = |service: Service| tried.filter(|(one, ..)| *one == service).map(|(_, trial, sent)| (trial, sent));
    html! {
        p { (texts::commerce_text(visit.language)) }
        (seller::section(app, visit, seller))
        @for (service, about) in OFFERED_SERVICES {
            (section(app, visit, service, (PATH, &about(visit.language)), of(service)))
        }
        (ways(visit.language, SetupStep::Integrations, SetupStep::Review))
    }
}
