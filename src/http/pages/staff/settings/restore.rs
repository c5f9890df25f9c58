//! Restores from a backup: the review after a restore, and the button that lets the shop resume work.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Map, Value, json};

use super::SettingsPageHandles;
use crate::form::PageForm;
use crate::frame::see_other;
use crate::staff::filled_form::field;
use crate::staff::form::Form;
use crate::staff::shell::{StaffSection, StaffViewer, Tone, clock, hidden};
use crate::staff::{ORDERS_PATH, SETTINGS_PATH};
use domain::id::Id;
use domain::restore::Restore;
use http::access::Caller;
use http::error::ApiError;
use http::handles::handles;
use http::path_id::PathId;
use http_api::production::restores::{OpenJobView, RestoreHandles, open_jobs, review};
use store::queries::Page;

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
    let body = json!({"next": next, "note": Some(sent.text("note").trim()).filter(|note| !note.is_empty())});
    review(&app.restores, id, &sent.call.of_form(&body)).await.map(drop)
}

async fn page(app: &RestorePageHandles, who: &Caller, form: &Form) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(who, &app.settings.config)?;
    let (all, _) = app.restores.queries.restores(Page { limit: MAX_SHOWN, offset: 0 }).await?;
    let all: Vec<&Restore> = all.iter().filter_map(|versioned| versioned.state.as_ref()).collect();
    let content = html! {
        p { a href=(SETTINGS_PATH) { "Settings" } }
        h1 { "Restores" }
        (form.alert())
        div id="restores" data-fresh="" {
            @if all.is_empty() { p { "This shop has never been restored from a backup." } }
            @for restore in all {
                @if restore.review.is_some() { (past(restore)) } @else {
                    (waiting(restore, &open_jobs(&app.restores.orders, restore.restored_at), form))
                }
            }
        }
    };
    Ok(viewer.page(StaffSection::Settings, "Restores", &app.settings.board.view(), &content))
}

fn heading(restore: &Restore) -> Markup {
    html! { "Backup from " (clock(restore.backup_made_at)) }
}

fn past(restore: &Restore) -> Markup {
    html! {
        section class="card" {
            h2 { (heading(restore)) }
            @if let Some(review) = &restore.review {
                p { "Restored " (clock(restore.restored_at)) ". Reviewed by " (review.by) ", " (clock(review.at)) "." }
                @if let Some(note) = &review.note { p { (note) } }
            }
        }
    }
}

fn waiting(restore: &Restore, jobs: &[OpenJobView], form: &Form) -> Markup {
    html! {
        section class="card" aria-labelledby="waiting" {
            h2 id="waiting" { (heading(restore)) " " span class=(Tone::Attention.class()) { "needs review" } }
            p {
                "Your shop is in the state of this backup. Since then, it may have printed jobs, received payments and issued \
                 numbers that are missing here. Print jobs don't start until you finish this review."
            }
            h3 { "Jobs that may already be printed (" (jobs.len()) ")" }
            @if jobs.is_empty() { p { "No jobs were open." } } @else {
                p { "Check the printers and the shelf. Cancel jobs whose parts are already printed. The other jobs print after the review." }
                ul class="rows" {
                    @for job in jobs {
                        li {
                            a href={ (ORDERS_PATH) "/" (job.order_id) "#job-" (job.id) } { (job.number) }
                            span { "of " (job.order_number) }
                            span class="soft" { (job.state) }
                        }
                    }
                }
            }
            h3 { "Next numbers" }
            p {
                "Check sent emails and customer documents for the last number issued in each series. Skipped numbers are recorded \
                 as a gap with a reason."
            }
            form class="form" method="post" action={ (PATH) "/" (restore.id) } {
                (hidden())
                @for one in &restore.series {
                    @let name = format!("{FIELD_PREFIX}{}", one.series);
                    (field(&name, &format!("Next {} number (last in the backup: {})", one.series, one.restored), &html! {
                        input id=(name) name=(name) type="number" min=(one.restored + 1) inputmode="numeric"
                            value=(form.value(&name, &one.next.to_string()));
                    }))
                }
                (field("note", "Note", &html! {
                    input id="note" name="note" maxlength="1000" value=(form.value("note", ""));
                }))
                button type="submit" { "Finish review and start jobs" }
            }
        }
    }
}
