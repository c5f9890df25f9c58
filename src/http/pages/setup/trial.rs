//! Trying a service with what was typed: what passes its test is kept, what does not is said in plain words.

use axum::http::StatusCode;
use maud::{Markup, html};

use super::{Visit, WizardHandles, advice, change_draft, faults_of, fields, wrong};
use crate::app::service_tests::{Service, ServiceTest};
use crate::http::error::ApiError;
use crate::http::pages::form::PageForm;
use crate::http::pages::refused::sentence;
use crate::http::production::setup::tested_with;

/// What is kept of a service that the shop does without.
pub(super) const UNUSED: &str = "not used";

/// What came of trying a service.
pub(super) enum Trial {
    /// It passed, and was kept.
    Kept(String),
    /// It failed: what is wrong, and what the service or the network said.
    Failed(String, Option<String>),
    /// What was typed cannot be tried.
    Faulty(Vec<String>),
}

impl Trial {
    /// Whether it was kept.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self, Self::Kept(_))
    }

    /// The status of the page that says it.
    pub(super) fn status(&self) -> StatusCode {
        if self.is_kept() { StatusCode::OK } else { StatusCode::BAD_REQUEST }
    }

    /// Says it on a page.
    pub(super) fn told(&self, service: Service) -> Markup {
        match self {
            Self::Kept(said) if said == UNUSED => html! { p role="status" { "The shop does without it." } },
            Self::Kept(said) => html! { p role="status" { strong { "It works. " } (sentence(said)) } },
            Self::Failed(said, detail) => failed(service, said, detail.as_deref()),
            Self::Faulty(lines) => wrong(lines),
        }
    }
}

/// Says what is wrong with a service, what to try, and what it said itself.
pub(in crate::http::pages) fn failed(service: Service, said: &str, detail: Option<&str>) -> Markup {
    html! {
        div role="alert" {
            p class="bad" { strong { "It does not work. " } (sentence(said)) }
            p { (advice::of(service, said, detail.unwrap_or_default())) }
            @if let Some(detail) = detail { p class="soft" { "What was answered: " (detail) } }
        }
    }
}

/// Tests a service with what a form gives, and keeps that if it passes. What the shop does without passes as well.
pub(super) async fn attempt(
    app: &WizardHandles,
    visit: &Visit,
    service: Service,
    sent: &PageForm,
) -> Result<Trial, ApiError> {
    let faulty = |error: ApiError| match error.status() {
        StatusCode::BAD_REQUEST => Ok(Trial::Faulty(faults_of(&error))),
        _ => Err(error),
    };
    let values = match fields::given(service, sent, &app.setup.config, &visit.draft) {
        Ok(values) => values,
        Err(error) => return faulty(error),
    };
    let settings = fields::as_settings(values.iter().map(|(key, text)| (key, text)));
    let (test, used) = match tested_with(&app.setup.config, service, settings).await {
        Ok(tested) => tested,
        Err(error) => return faulty(error),
    };
    let ServiceTest { ok, message, detail, .. } = test;
    let said = match (ok, used) {
        (true, _) => message,
        (false, false) => UNUSED.to_owned(),
        (false, true) => return Ok(Trial::Failed(message, detail)),
    };
    let kept = said.clone();
    change_draft(app, move |draft| {
        let keys: Vec<&str> = fields::fields_of(service).iter().map(|field| field.key).collect();
        draft.keep(service.word(), &keys, values, &kept);
    })
    .await?;
    Ok(Trial::Kept(said))
}

/// A service with its fields and a button that tests and keeps them. `tried`: what came of it just now, with the form.
pub(super) fn section(
    app: &WizardHandles,
    visit: &Visit,
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
            @if let Some((trial, _)) = tried { (trial.told(service)) }
            (visit.hidden())
            input type="hidden" name="service" value=(word);
            (fields::inputs(service, config, &visit.draft, again))
            button class="second" type="submit" { "Test and save" }
        }
    }
}
