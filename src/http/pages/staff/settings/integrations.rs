//! Page for the shop's integrations: the status of each, a connection test, and a form for changing the address or
//! token, which is tested before it is saved. Fields and tests are the same as in the setup wizard. Redis and the mail
//! server are shown, but cannot be changed on the page.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::SettingsPageHandles;
use crate::form::{Form, FormBody, PageForm};
use crate::frame::{NEXT_SLOT, SLOT, THIRD_SLOT, time, with_parts};
use crate::setup::fields::{as_settings, inputs, name_of, submitted_values};
use crate::setup::integrations::about;
use crate::setup::trial::{failed, render_result};
use crate::staff::SETTINGS_PATH;
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden};
use actors::app::service_tests::{Service, ServiceTest};
use config::Config;
use domain::refusal::Refusal;
use domain::setup::draft::SetupDraft;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::setup_desk::WrittenSettings;
use http::wire::FieldTexts;
use http_api::production::integrations::{IntegrationHandles, IntegrationView, save, views};
use http_api::production::settings::waiting_settings;
use http_api::production::setup::tested_with;
use words::Language;
use words::staff::{integrations as texts, shell};

/// Path of the integrations page.
pub(super) const PATH: &str = "/shop/settings/integrations";
/// Form value of the button that runs a test but does not save.
const TEST_WORD: &str = "test";

handles! {
    /// Dependencies of the integrations page.
    pub(crate) struct IntegrationPageHandles {
        settings: SettingsPageHandles,
        integrations: IntegrationHandles,
    }
}

/// Outcome of submitting an integration's form.
enum TrialOutcome {
    Tested(ServiceTest),
    Written(WrittenSettings),
    /// The input is invalid; the form has the error.
    Faulty,
}

/// Integration whose form was submitted, with the outcome.
struct IntegrationTrial {
    kind: Service,
    form: Form,
    outcome: TrialOutcome,
}

impl IntegrationTrial {
    /// Returns whether the test or the change succeeded, so that the input needs no correction.
    fn is_kept(&self) -> bool {
        match &self.outcome {
            TrialOutcome::Tested(test) => test.ok,
            TrialOutcome::Written(_) => true,
            TrialOutcome::Faulty => false,
        }
    }

    fn render(&self, language: Language) -> Markup {
        match &self.outcome {
            TrialOutcome::Tested(test) if test.ok => {
                let result = render_result(language, &test.message);
                html! { p role="status" { strong { (texts::success(language)) " " } (result) } }
            }
            TrialOutcome::Tested(test) => failed(language, self.kind, &test.message, test.detail.as_deref()),
            TrialOutcome::Faulty => html! { (self.form.alert()) p { (texts::nothing_saved(language)) } },
            TrialOutcome::Written(written) => html! {
                div role="status" {
                    @if written.written.is_empty() { p { (texts::nothing_to_save(language)) } } @else {
                        p {
                            strong { (texts::saved(language, written.file)) " " }
                            (texts::restart_to_apply(language))
                        }
                    }
                    @for one in &written.tested { p { (render_result(language, &one.message)) } }
                    @for one in &written.shadowed {
                        @let name = html! { code { (one.name) } };
                        p class="bad" { (with_parts(&texts::shadowed(language, SLOT, &one.by), &[&name])) }
                    }
                }
            },
        }
    }
}

/// Serves the integrations page.
pub(super) async fn list(State(app): State<IntegrationPageHandles>, who: Caller) -> Result<Response, ApiError> {
    page(&app, &who, None).await
}

/// Tests an integration with the submitted values, or tests and saves them.
pub(super) async fn change(State(app): State<IntegrationPageHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let who = &sent.call.who;
    who.user()?;
    let kind = Service::WITH_TOKEN.into_iter().find(|kind| kind.word() == sent.text("service"));
    let kind = kind.ok_or_else(|| Refusal::field("service", "must be one of the listed services"))?;
    let form = Form::submitted(&sent);
    let (form, outcome) = match Box::pin(outcome(&app, kind, &sent)).await {
        Ok(outcome) => (form, outcome),
        Err(error) => (form.with_refusal(error)?, TrialOutcome::Faulty),
    };
    let tried = IntegrationTrial { kind, form, outcome };
    let mut response = page(&app, who, Some(&tried)).await?;
    if matches!(&tried.outcome, TrialOutcome::Tested(test) if !test.ok) {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    Ok(tried.form.answer(response))
}

async fn outcome(app: &IntegrationPageHandles, kind: Service, sent: &PageForm) -> Result<TrialOutcome, ApiError> {
    let config = &app.settings.config;
    let next = waiting_settings(config).await;
    let values = submitted_values(kind, sent, next.as_ref().unwrap_or(config), &SetupDraft::default())?;
    if sent.text("act") == TEST_WORD {
        let settings = as_settings(values.iter().map(|(key, text)| (key, text)));
        return Ok(TrialOutcome::Tested(tested_with(config, kind, settings).await?.0));
    }
    let body = FormBody::new(FieldTexts::new()).with(&kind.member(), members_of(&values));
    Ok(TrialOutcome::Written(save(&app.integrations, &sent.request_of(body)).await?))
}

/// Returns the values of the settings (`section.key`) as the API takes them. An empty value removes the setting.
fn members_of(values: &[(String, String)]) -> Map<String, Value> {
    let member = |(key, text): &(String, String)| {
        let name = key.rsplit('.').next().unwrap_or_default().to_owned();
        (name, Value::from(Some(text.clone()).filter(|text| !text.is_empty())))
    };
    values.iter().map(member).collect()
}

async fn page(
    app: &IntegrationPageHandles,
    who: &Caller,
    tried: Option<&IntegrationTrial>,
) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let (language, title) = (viewer.language(), texts::title(viewer.language()));
    let next = waiting_settings(&app.settings.config).await;
    let config = next.as_ref().unwrap_or(&app.settings.config);
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        h1 { (title) }
        p { (texts::text(language)) }
        div id="restart-now" data-fresh="" {
            @if next.is_some() {
                p {
                    span class=(Tone::Attention.class()) { (texts::restart_needed(language)) } " "
                    (texts::restart_text(language))
                }
            }
        }
        @for view in views(&app.integrations) {
            (section(language, &view, config, tried.filter(|tried| tried.kind == view.kind)))
        }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

/// Returns the tone and label for an integration's status.
fn state_of(language: Language, view: &IntegrationView) -> (Tone, String) {
    match (view.configured, &view.error) {
        (true, None) if view.last_ok_at.is_some() => (Tone::Working, texts::connected(language)),
        (true, None) => (Tone::Idle, texts::no_calls(language)),
        (true, Some(_)) => (Tone::Error, texts::failing(language)),
        (false, Some(_)) => (Tone::Error, texts::off(language)),
        (false, None) => (Tone::Idle, texts::not_set_up(language)),
    }
}

fn section(language: Language, view: &IntegrationView, config: &Config, tried: Option<&IntegrationTrial>) -> Markup {
    let (word, (tone, words)) = (view.kind.word(), state_of(language, view));
    let foreign = language.foreign_tag();
    let again = tried.filter(|tried| !tried.is_kept()).map(|tried| &tried.form);
    html! {
        section class="card" aria-labelledby=(word) {
            div id={ (word) "-now" } data-fresh="" {
                h2 id=(word) { (name_of(language, view.kind)) " " span class=(tone.class()) { (words) } }
                @if let Some(error) = &view.error { p class="bad" lang=[foreign] { (error) } }
                @if let Some(note) = &view.note { p lang=[foreign] { (note) } }
                p class="soft" {
                    @if view.failures > 0 { (texts::failures_in_row(language, view.failures)) " " }
                    @match view.last_ok_at {
                        Some(at) => { (with_parts(&texts::last_response(language, SLOT), &[&time(language, at)])) },
                        None if view.configured => { (texts::no_response(language)) },
                        None => { (texts::works_without(language)) },
                    }
                }
            }
            @if let Some(tried) = tried { (tried.render(language)) }
            @if view.kind == Service::Accounting {
                (accounting(language))
            } @else if let Some((about, section)) = set_in_settings(language, view.kind) {
                (settings_section(language, &about, section))
            } @else {
                (form(language, view.kind, config, tried.is_some(), again))
            }
        }
    }
}

/// Returns the purpose of a system that has no form on the page, and the settings section in which it is configured;
/// `None` for all other systems.
fn set_in_settings(language: Language, kind: Service) -> Option<(String, &'static str)> {
    match kind {
        Service::Redis => Some((texts::redis_about(language), "redis")),
        Service::Smtp => Some((texts::smtp_about(language), "mail")),
        _ => None,
    }
}

/// Renders a sentence with the names of the files with settings and of their section in place of its variables.
fn with_files(sentence: &str, section: &str) -> Markup {
    let [file, environment, section] = ["config.toml", ".env", section].map(|name| html! { code { (name) } });
    with_parts(sentence, &[&file, &environment, &section])
}

fn accounting(language: Language) -> Markup {
    let text = texts::accounting_text(language, SLOT, NEXT_SLOT, THIRD_SLOT);
    html! { p { (with_files(&text, "accounting")) " " a href="/docs/" { (texts::api_documentation(language)) } } }
}

/// Renders the purpose of a system that has no form on the page, and where it is configured.
fn settings_section(language: Language, about: &str, section: &str) -> Markup {
    let text = texts::configure(language, SLOT, NEXT_SLOT, THIRD_SLOT);
    html! {
        p {
            (about) " " (with_files(&text, section)) " "
            a href="/docs/#/Settings/changeSettings" { (texts::api_documentation(language)) }
        }
    }
}

fn form(language: Language, kind: Service, config: &Config, open: bool, again: Option<&Form>) -> Markup {
    html! {
        p { (about(language, kind)) }
        details open[open] {
            summary { (texts::edit(language)) }
            form class="form" method="post" action=(PATH) {
                (hidden())
                input type="hidden" name="service" value=(kind.word());
                (inputs(language, kind, config, &SetupDraft::default(), again))
                p class="acts" {
                    button class="second" type="submit" name="act" value=(TEST_WORD) { (texts::test_only(language)) }
                    button type="submit" name="act" value="save" { (texts::test_and_save(language)) }
                }
            }
        }
    }
}
