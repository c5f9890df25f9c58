//! Last step of the setup wizard: a summary of the input, and a button that tests all settings again and writes them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::fields::{FieldKind, SELLER, ZONE, as_settings, fields_of, name_of, state_of, zone_shown};
use super::steps::SetupStep;
use super::titles::{title_of, titled};
use super::{FaultLine, WizardHandles, WizardRequest, advice, done, draft_file, faults_of, seller};
use crate::form::PageForm;
use crate::frame::see_other;
use actors::app::service_tests::Service;
use http::access::Caller;
use http::error::ApiError;
use http_api::production::setup::save_settings;
use words::Language;
use words::staff::setup as texts;

/// Path of the review step.
pub(super) const PATH: &str = "/setup/review";

/// Serves the page of the review step.
pub(super) async fn show(State(app): State<WizardHandles>, who: Caller) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    let content = content(&app, &visit, None);
    Ok(visit.page(StatusCode::OK, SetupStep::Review, &content))
}

/// Tests all settings again, writes them, and redirects to the final page.
pub(super) async fn save(State(app): State<WizardHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let visit = WizardRequest::new(&app, &sent.call.who).await?;
    if let Some(elsewhere) = visit.instead() {
        return Ok(elsewhere);
    }
    match save_settings(&app.setup, sent.call.origin(), as_settings(visit.draft.values())).await {
        Ok(written) => {
            app.setup.setup.keep_written(Arc::new(written));
            let file = draft_file(&app);
            tokio::task::spawn_blocking(move || file.remove()).await.map_err(ApiError::internal)??;
            Ok(see_other(done::PATH))
        }
        Err(error) if error.status() == StatusCode::BAD_REQUEST => {
            let content = content(&app, &visit, Some(&error));
            Ok(visit.page(StatusCode::BAD_REQUEST, SetupStep::Review, &content))
        }
        Err(error) => Err(error),
    }
}

fn content(app: &WizardHandles, visit: &WizardRequest, refused: Option<&ApiError>) -> Markup {
    let (language, config, draft) = (visit.language, &*app.setup.config, &visit.draft);
    let changed: Vec<_> = Service::OF_SETTINGS
        .into_iter()
        .flat_map(|service| fields_of(service).iter())
        .chain(&SELLER)
        .chain([&ZONE])
        .filter_map(|field| Some((field, draft.value(field.key)?)))
        .collect();
    html! {
        @if let Some(error) = refused {
            div role="alert" {
                p class="bad" { strong { (texts::nothing_saved(language)) } }
                @for line in faults_of(language, error) {
                    p class="bad" { (titled(language, &line).render(language)) }
                    p { (advised(language, &line)) }
                }
            }
        }
        section class="card" aria-labelledby="services" {
            h2 id="services" { (texts::summary_heading(language)) }
            ul class="rows" {
                @for service in Service::OF_SETTINGS {
                    li {
                        span { (name_of(language, service)) }
                        span class="state" { (state_of(service, config, draft).label(language)) }
                    }
                }
                li { span { ((ZONE.label)(language)) } span class="state" { (zone_shown(config, draft)) } }
                li {
                    span { (texts::seller_heading(language)) }
                    span class="state" { (seller::state(language, config, draft)) }
                }
            }
        }
        section class="card" aria-labelledby="values" {
            h2 id="values" { (texts::changes_heading(language)) }
            @if changed.is_empty() { p { (texts::no_changes(language)) } }
            dl class="left" {
                @for (field, value) in &changed {
                    dt { (title_of(language, field.key).unwrap_or_default()) " " code class="soft" { (field.variable) } }
                    dd {
                        @if value.is_empty() { (texts::removed(language)) }
                        @else if field.kind == FieldKind::Secret { (texts::set_not_shown(language)) }
                        @else { (value) }
                    }
                }
            }
            p class="soft" { (texts::backup_text(language)) }
        }
        form method="post" action=(PATH) {
            (visit.hidden())
            p { button type="submit" { (texts::write(language)) } }
        }
        p class="soft" { (texts::write_text(language)) }
        (ways_back(language))
    }
}

/// Renders the link to the previous step; there is no step after the last one.
fn ways_back(language: Language) -> Markup {
    html! { p class="acts" { a class="button second" href=(SetupStep::Commerce.path()) { (texts::back(language)) } } }
}

/// Returns the advice for an error message that starts with the name of a service.
fn advised(language: Language, line: &FaultLine) -> String {
    let words = line.text();
    let named = words.split(':').next().unwrap_or_default();
    match Service::OF_SETTINGS.into_iter().find(|service| service.word() == named) {
        Some(service) => advice::of(language, service, &words, ""),
        None => texts::correct_value(language),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_given_by_the_service_that_is_named() {
        let advised = |line: &str| advised(Language::English, &FaultLine::of(line.to_owned()));
        assert!(advised("redis: Redis cannot be used (connection refused).").starts_with("Nothing is listening"));
        assert!(advised("Mail: odd.").starts_with("Go back"));
    }
}
