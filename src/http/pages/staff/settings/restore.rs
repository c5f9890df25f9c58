//! Restores from a backup: the review after a restore, and the button that lets the shop resume work.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value};

use super::SettingsPageHandles;
use crate::form::{Form, PageForm};
use crate::frame::{NEXT_SLOT, SLOT, see_other, time, with_parts};
use crate::staff::filled_form::field;
use crate::staff::job::state_label;
use crate::staff::shell::{StaffSection, StaffViewer, Tone, hidden};
use crate::staff::{ORDERS_PATH, SETTINGS_PATH};
use domain::id::Id;
use domain::restore::Restore;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::path_id::PathId;
use http_api::production::restores::{OpenJobView, RestoreHandles, open_jobs, review};
use store::queries::Page;
use words::Language;
use words::staff::{settings as texts, shell};

/// Path of the restore page.
pub(in crate::staff) const PATH: &str = "/shop/settings/restore";
/// Maximum number of past restores shown.
const MAX_SHOWN: u64 = 20;
/// Prefix of the form fields for number series.
const FIELD_PREFIX: &str = "next.";

handles! {
    /// Dependencies of the restore page.
    pub(crate) struct RestorePageHandles {
        settings: SettingsPageHandles,
        restores: RestoreHandles,
    }
}

/// Serves the restore page.
pub(super) async fn show(State(app): State<RestorePageHandles>, who: Caller) -> Result<Response, ApiError> {
    page(&app, &who, &Form::default()).await
}

/// Performs the action of a button in a restore's review.
pub(super) async fn act(
    State(app): State<RestorePageHandles>,
    PathId(id): PathId,
    sent: PageForm,
) -> Result<Response, ApiError> {
    match reviewed(&app, id, &sent).await {
        Ok(()) => Ok(see_other(PATH)),
        Err(error) => {
            let form = Form::submitted(&sent).with_refusal(error)?;
            Ok(form.answer(page(&app, &sent.call.who, &form).await?))
        }
    }
}

async fn reviewed(app: &RestorePageHandles, id: Id, sent: &PageForm) -> Result<(), ApiError> {
    let state = app.restores.restores.read(id).await?;
    let mut next = Map::new();
    for one in state.as_ref().and_then(|state| state.state.as_ref()).iter().flat_map(|restore| &restore.series) {
        let text = sent.text(&format!("{FIELD_PREFIX}{}", one.series)).trim();
        if !text.is_empty() {
            next.insert(one.series.clone(), text.parse::<i64>().map_or_else(|_| text.into(), Value::from));
        }
    }
    review(&app.restores, id, &sent.request_of(sent.body().with("next", next))).await.map(drop)
}

async fn page(app: &RestorePageHandles, who: &Caller, form: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let (language, title) = (viewer.language(), texts::restores(viewer.language()));
    let (all, _) = app.restores.queries.restores(Page { limit: MAX_SHOWN, offset: 0 }).await?;
    let all: Vec<&Restore> = all.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let content = html! {
        p { a href=(SETTINGS_PATH) { (shell::settings(language)) } }
        h1 { (title) }
        (form.alert())
        div id="restores" data-fresh="" {
            @if all.is_empty() { p { (texts::never_restored(language)) } }
            @for restore in all {
                @if restore.review.is_some() { (past(language, restore)) } @else {
                    (waiting(language, restore, &open_jobs(&app.restores.orders, restore.restored_at), form))
                }
            }
        }
    };
    Ok(viewer.page(StaffSection::Settings, &title, &app.settings.board.view(), &content))
}

fn heading(language: Language, restore: &Restore) -> Markup {
    with_parts(&texts::backup_from(language, SLOT), &[&time(language, restore.backup_made_at)])
}

fn past(language: Language, restore: &Restore) -> Markup {
    let restore_time = with_parts(&texts::restored(language, SLOT), &[&time(language, restore.restored_at)]);
    html! {
        section class="card" {
            h2 { (heading(language, restore)) }
            @if let Some(review) = &restore.review {
                @let (by, at) = (html! { (review.by) }, time(language, review.at));
                p { (restore_time) " " (with_parts(&texts::reviewed_by(language, SLOT, NEXT_SLOT), &[&by, &at])) }
                @if let Some(note) = &review.note { p { (note) } }
            }
        }
    }
}

fn waiting(language: Language, restore: &Restore, jobs: &[OpenJobView], form: &Form) -> Markup {
    html! {
        section class="card" aria-labelledby="waiting" {
            h2 id="waiting" {
                (heading(language, restore)) " "
                span class=(Tone::Attention.class()) { (texts::needs_review(language)) }
            }
            p { (texts::waiting_text(language)) }
            h3 { (texts::open_jobs(language, &jobs.len().to_string())) }
            @if jobs.is_empty() { p { (texts::no_open_jobs(language)) } } @else {
                p { (texts::open_jobs_text(language)) }
                ul class="rows" {
                    @for job in jobs {
                        li {
                            a href={ (ORDERS_PATH) "/" (job.order_id) "#job-" (job.id) } { (job.number) }
                            span { (texts::job_of(language, &job.order_number)) }
                            span class="soft" { (state_label(language, job.state).1) }
                        }
                    }
                }
            }
            h3 { (texts::next_numbers(language)) }
            p { (texts::next_numbers_text(language)) }
            form class="form" method="post" action={ (PATH) "/" (restore.id) } {
                (hidden())
                @for one in &restore.series {
                    @let name = format!("{FIELD_PREFIX}{}", one.series);
                    @let label = texts::next_number(language, &one.series, &one.restored.to_string());
                    (field(&name, &label, &html! {
                        input id=(name) name=(name) type="number" min=(one.restored + 1) inputmode="numeric"
                            value=(form.value(&name, &one.next.to_string()));
                    }))
                }
                (field("note", &texts::note(language), &html! {
                    input id="note" name="note" maxlength="1000" value=(form.value("note", ""));
                }))
                button type="submit" { (texts::finish_review(language)) }
            }
        }
    }
}
