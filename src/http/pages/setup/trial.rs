//! Test of a service with the settings from a form. Settings that pass are stored; failures are explained in plain
//! language.

use axum::http::StatusCode;
use maud::{Markup, html};

use super::{WizardHandles, WizardRequest, advice, change_draft, faults_of, fields, wrong};
use crate::form::PageForm;
use crate::refused::sentence;
use actors::app::service_tests::{Service, ServiceTest};
use http::error::ApiError;
use http_api::production::setup::tested_with;

/// Value stored for a service that the shop does not use.
pub(super) const UNUSED: &str = "not used";

/// Result of testing a service.
pub(super) enum Trial {
    /// The test passed and the settings were stored; contains the test's message.
    Kept(String),
    /// The test failed; contains the problem, and the message from the service or the network.
    Failed(String, Option<String>),
    /// The settings in the form are invalid, so they were not tested.
    Faulty(Vec<String>),
}

impl Trial {
    /// Returns whether the settings were stored.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self, Self::Kept(_))
    }

    /// Returns the HTTP status of the page that shows the result.
    pub(super) fn status(&self) -> StatusCode {
        if self.is_kept() { StatusCode::OK } else { StatusCode::BAD_REQUEST }
    }

    /// Renders the test result.
    pub(super) fn render(&self, service: Service) -> Markup {
        match self {
            Self::Kept(outcome) if outcome == UNUSED => html! { p role="status" { "The shop does without it." } },
            Self::Kept(outcome) => html! { p role="status" { strong { "It works. " } (sentence(outcome)) } },
            Self::Failed(message, detail) => failed(service, message, detail.as_deref()),
            Self::Faulty(lines) => wrong(lines),
        }
    }
}

/// Renders a failed test: the problem, advice, and the service's own message.
pub(crate) fn failed(service: Service, message: &str, detail: Option<&str>) -> Markup {
    html! {
        div role="alert" {
            p class="bad" { strong { "It does not work. " } (sentence(message)) }
            p { (advice::of(service, message, detail.unwrap_or_default())) }
            @if let Some(detail) = detail { p class="soft" { "What was answered: " (detail) } }
        }
    }
}

/// Tests a service with the settings from a form, and stores them if the test passes. For a service that the shop does
/// not use, the test passes as well.
pub(super) async fn attempt(
    app: &WizardHandles,
    visit: &WizardRequest,
    service: Service,
    sent: &PageForm,
) -> Result<Trial, ApiError> {
    let faulty = |error: ApiError| match error.status() {
        StatusCode::BAD_REQUEST => Ok(Trial::Faulty(faults_of(&error))),
        _ => Err(error),
    };
    let values = match fields::submitted_values(service, sent, &app.setup.config, &visit.draft) {
        Ok(values) => values,
        Err(error) => return faulty(error),
    };
    let settings = fields::as_settings(values.iter().map(|(key, text)| (key, text)));
    let (test, used) = match tested_with(&app.setup.config, service, settings).await {
        Ok(tested) => tested,
        Err(error) => return faulty(error),
    };
    let ServiceTest { ok, message, detail, .. } = test;
    let outcome = match (ok, used) {
        (true, _) => message,
        (false, false) => UNUSED.to_owned(),
        (false, true) => return Ok(Trial::Failed(message, detail)),
    };
    let saved_outcome = outcome.clone();
    change_draft(app, move |draft| {
        let keys: Vec<&str> = fields::fields_of(service).iter().map(|field| field.key).collect();
        draft.keep(service.word(), &keys, values, &saved_outcome);
    })
    .await?;
    Ok(Trial::Kept(outcome))
}

/// Renders a service with its fields and a button that tests and stores them. `tried` contains the last submitted form
/// and the result of its test.
pub(super) fn section(
    app: &WizardHandles,
    visit: &WizardRequest,
    service: Service,
    (path, about): (&str, &str),
    tried: Option<(&Trial, &PageForm)>,
) -> Markup {
    let (word, config) = (service.word(), &*app.setup.config);
    let again = tried.filter(|(trial, _)| !trial.is_kept()).map(|(_, sent)| sent);
    html! {
        form class="card" method="post" action=(path) aria-labelledby=(word) {
            h2 id=(word) { (fields::name_of(service)) " " span class="state" { (fields::state_of(service, config, &visit.draft)) } }
            p { (about) }
            @if let Some((trial, _)) = tried { (trial.render(service)) }
            (visit.hidden())
            input type="hidden" name="service" value=(word);
            (fields::inputs(service, config, &visit.draft, again))
            button class="second" type="submit" { "Test and save" }
        }
    }
}
