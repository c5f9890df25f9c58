//! Newest work at printers and on jobs, which the panel of the shift leads to.

use axum::extract::State;
use axum::response::Response;
use maud::html;

use super::ToDoHandles;
use crate::design::{Icon, icon};
use crate::staff::TO_DO_PATH;
use crate::staff::shell::{StaffSection, StaffViewer};
use domain::principal::Role;
use http::access::Caller;
use http::error::ApiError;
use words::staff::{common, to_do};

/// Path of the page.
pub(in crate::staff) const ACTIVITY_PATH: &str = "/to-do/activity";

/// Serves the page.
pub(in crate::staff) async fn show(State(app): State<ToDoHandles>, who: Caller) -> Result<Response, ApiError> {
    let viewer = StaffViewer::new(&who, &app.config)?;
    let language = viewer.language();
    let work = app.log.render_work(language, who.has(Role::Admin)).await?;
    let (title, back) = (common::recent_activity(language), to_do::title(language));
    let content = html! {
        div class="head" {
            a class="btn quiet square" href=(TO_DO_PATH) aria-label=(back) title=(back) { (icon(Icon::ArrowLeft)) }
            h1 { (title) }
        }
        div id="activity" data-fresh="" { (work) }
    };
    Ok(viewer.page(StaffSection::ToDo, &title, &app.board.view(), &content))
}
