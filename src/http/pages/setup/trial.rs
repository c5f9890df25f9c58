//! Test of a service with the settings in a form. If the test passes, the settings are stored; failures are explained
//! in plain language.

use axum::http::StatusCode;
use maud::{Markup, html};

use super::fields::{Field, WizardState};
use super::titles::titled;
use super::{FaultLine, WizardHandles, WizardRequest, advice, change_draft, faults_of, fields, wrong};
use crate::form::{Form, PageForm};
use crate::frame::in_english;
use crate::sentences::sentence;
use actors::app::service_tests::{Service, ServiceTest};
use http::error::ApiError;
use http_api::production::setup::tested_with;
use words::Language;
use words::staff::setup as texts;

/// Value stored for a service that the shop does not use.
pub(super) const UNUSED: &str = "not used";

/// Result of testing a service.
pub(super) enum Trial {
    /// The test passed and the settings were stored; contains the test's message.
    Kept(String),
    /// The test failed; contains the problem, and the message from the service or the network.
    Failed(String, Option<String>),
    /// The settings in the form are invalid, so they were not tested.
    Faulty(Vec<FaultLine>),
    /// The form contains a token but no address, so there was nothing to test.
    NoAddress,
}

impl Trial {
    /// Returns whether the settings were stored.
    pub(super) fn is_kept(&self) -> bool {
        matches!(self, Self::Kept(_))
    }

    /// Returns whether the service was tested and works.
    fn is_connected(&self) -> bool {
        matches!(self, Self::Kept(outcome) if outcome != UNUSED)
    }

    /// Returns a remark on the form's first field; `None` if the field was tested.
    fn remark(&self, language: Language) -> Option<String> {
        match self {
            Self::Kept(outcome) if outcome == UNUSED => Some(texts::not_tested(language)),
            Self::NoAddress => Some(texts::fill_in_first(language)),
            _ => None,
        }
    }

    /// Returns the HTTP status of the page that shows the result.
    pub(super) fn status(&self) -> StatusCode {
        if self.is_kept() { StatusCode::OK } else { StatusCode::BAD_REQUEST }
    }

    /// Renders the test result.
    pub(super) fn render(&self, language: Language, service: Service) -> Markup {
        match self {
            Self::Kept(outcome) if outcome == UNUSED => {
                html! { p role="status" { (texts::unused_text(language)) } }
            }
            Self::Kept(outcome) => {
                html! { p role="status" { strong { (texts::test_passed(language)) " " } (render_result(language, outcome)) } }
            }
            Self::Failed(message, detail) => failed(language, service, message, detail.as_deref()),
            Self::Faulty(lines) => wrong(language, lines),
            Self::NoAddress => wrong(language, &[FaultLine::of(texts::enter_address(language))]),
        }
    }
}

/// Renders the message about the result of a test as a sentence. Messages without a translation are marked as English.
pub(crate) fn render_result(language: Language, message: &str) -> Markup {
    html! {
        @if let Some(text) = advice::result_text(language, message) { (sentence(&text)) }
        @else { (in_english(language, &sentence(message))) }
    }
}

/// Renders a failed test: the problem, advice, and the service's own message.
pub(crate) fn failed(language: Language, service: Service, message: &str, detail: Option<&str>) -> Markup {
    html! {
        div role="alert" {
            p class="bad" { strong { (texts::test_failed(language)) " " } (render_result(language, message)) }
            p { (advice::of(language, service, message, detail.unwrap_or_default())) }
            @if let Some(detail) = detail {
                p class="soft" { (texts::test_details(language)) " " (in_english(language, detail)) }
            }
        }
    }
}

/// Tests a service with the settings in a form, and stores them if the test passes. If the shop does not use the
/// service, the test passes as well.
pub(super) async fn attempt(
    app: &WizardHandles,
    visit: &WizardRequest,
    service: Service,
    sent: &PageForm,
) -> Result<Trial, ApiError> {
    let language = visit.language;
    let faulty = |error: ApiError| match error.status() {
        StatusCode::BAD_REQUEST => {
            let lines = faults_of(language, &error);
            Ok(Trial::Faulty(lines.iter().map(|line| titled(language, line)).collect()))
        }
        _ => Err(error),
    };
    if Service::WITH_TOKEN.contains(&service) && lacks_address(fields::fields_of(service), &|name| sent.text(name)) {
        return Ok(Trial::NoAddress);
    }
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

/// Returns whether the address, which is the first of the fields, is the only empty field.
fn lacks_address<'a>(fields: &[Field], typed: &dyn Fn(&str) -> &'a str) -> bool {
    let is_typed = |field: &Field| !typed(field.variable).is_empty();
    fields.split_first().is_some_and(|(address, rest)| !is_typed(address) && rest.iter().any(is_typed))
}

/// Renders a service with its fields and a button that tests and stores them. The fields are collapsed, because the
/// service is optional. `tried` contains the last submitted form and the result of its test.
pub(super) fn section(
    app: &WizardHandles,
    visit: &WizardRequest,
    service: Service,
    (path, about): (&str, &str),
    tried: Option<(&Trial, &Form)>,
) -> Markup {
    let (language, word, config) = (visit.language, service.word(), &*app.setup.config);
    let again = tried.filter(|(trial, _)| !trial.is_kept()).map(|(_, sent)| sent);
    let state = fields::state_of(service, config, &visit.draft);
    let is_open = state == WizardState::Begun || tried.is_some_and(|(trial, _)| !trial.is_connected());
    let remark = tried.and_then(|(trial, _)| trial.remark(language));
    let name = fields::name_of(language, service);
    html! {
        form class="card" method="post" action=(path) aria-labelledby=(word) {
            h2 id=(word) { (name) " " span class="state" { (state.label(language)) } }
            p { (about) }
            @if let Some((trial, _)) = tried { (trial.render(language, service)) }
            (visit.hidden())
            input type="hidden" name="service" value=(word);
            details open[is_open] {
                summary {
                    @if matches!(state, WizardState::NotUsed | WizardState::LeftOut) { (texts::set_up_service(language)) }
                    @else { (texts::change_service(language)) }
                    span class="hidden-words" { " " (name) }
                }
                (fields::inputs_of(language, fields::fields_of(service), (config, &visit.draft), again, remark.as_deref()))
                button class="second" type="submit" { (texts::test_and_save(language)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_without_an_address_is_not_tested() {
        let fields = fields::fields_of(Service::SmartHome);
        let lacks = |url: &'static str, token: &'static str| {
            lacks_address(fields, &|name| if name.ends_with("_URL") { url } else { token })
        };
        assert!(lacks("", "hunter2"));
        assert!(!lacks("", "") && !lacks("http://a", "") && !lacks("http://a", "hunter2"));
        assert_eq!(Trial::NoAddress.status(), StatusCode::BAD_REQUEST);
    }

    #[test]
    fn an_empty_form_is_answered_beside_its_field() {
        let unused = Trial::Kept(UNUSED.to_owned());
        assert!(unused.remark(Language::English).is_some() && !unused.is_connected());
        let works = Trial::Kept("it responds".to_owned());
        assert!(works.remark(Language::English).is_none() && works.is_connected());
    }
}
