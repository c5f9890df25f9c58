//! Last step of the setup wizard: a summary of the input, and a button that tests all settings again and writes them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::fields::{FieldKind, SELLER, ZONE, as_settings, fields_of, name_of, state_of, zone_shown};
use super::steps::SetupStep;
use super::titles::{title_of, titled};
use super::{WizardHandles, WizardRequest, advice, done, draft_file, faults_of, seller};
use crate::form::PageForm;
use crate::frame::see_other;
use actors::app::service_tests::Service;
use http::access::Caller;
use http::error::ApiError;
use http_api::production::setup::save_settings;

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
    let config = &*app.setup.config;
    let draft = &visit.draft;
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
                p class="bad" { strong { "Nothing was saved." } }
                @for words in faults_of(error) { p class="bad" { (titled(&words)) } p { (advised(&words)) } }
            }
        }
        section class="card" aria-labelledby="services" {
            h2 id="services" { "Summary" }
            ul class="rows" {
                @for service in Service::OF_SETTINGS {
                    li { span { (name_of(service)) } span class="state" { (state_of(service, config, draft)) } }
                }
                li { span { (ZONE.label) } span class="state" { (zone_shown(config, draft)) } }
                li { span { "Shop details on invoices" } span class="state" { (seller::state(config, draft)) } }
            }
        }
        section class="card" aria-labelledby="values" {
            h2 id="values" { "Changes to .env" }
            @if changed.is_empty() { p { "No changes." } }
            dl class="left" {
                @for (field, value) in &changed {
                    dt { (title_of(field.key).unwrap_or_default()) " " code class="soft" { (field.variable) } }
                    dd {
                        @if value.is_empty() { "removed" }
                        @else if field.kind == FieldKind::Secret { "set, not shown" }
                        @else { (value) }
                    }
                }
            }
            p class="soft" { "The previous file is kept as .env.bak. New values take effect after a restart." }
        }
        form method="post" action=(PATH) {
            (visit.hidden())
            p { button type="submit" { "Write .env and finish" } }
        }
        p class="soft" { "All settings are tested again before they are written. After that, only admins can open the setup." }
        (ways_back())
    }
}

/// Renders the link to the previous step; there is no step after the last one.
fn ways_back() -> Markup {
    html! { p class="acts" { a class="button second" href=(SetupStep::Commerce.path()) { "Back" } } }
}

/// Returns the advice for an error message that starts with the name of a service.
fn advised(words: &str) -> &'static str {
    let named = words.split(':').next().unwrap_or_default();
    let service = Service::OF_SETTINGS.into_iter().find(|service| service.word() == named);
    service.map_or("Go back to the step with this value and correct it.", |service| advice::of(service, words, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_given_by_the_service_that_is_named() {
        assert!(advised("redis: Redis cannot be used (connection refused).").starts_with("Nothing is listening"));
        assert!(advised("Mail: odd.").starts_with("Go back"));
    }
}
