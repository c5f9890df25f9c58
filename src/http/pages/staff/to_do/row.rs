//! Row of the to-do page: a picture, what is to be done and for whom, and the acts that do it.

use maud::{Markup, html};

use crate::design::{Icon, icon};
use crate::staff::card_picture::view_picture;
use domain::id::Id;

/// Row with one task.
pub(super) struct TaskRow {
    thumb: Markup,
    title: Markup,
    detail: Markup,
    acts: Markup,
    more: Option<Markup>,
}

impl TaskRow {
    /// Creates a row with an icon and a title.
    pub(super) fn new(shape: Icon, title: Markup) -> Self {
        Self { thumb: icon(shape), title, detail: Markup::default(), acts: Markup::default(), more: None }
    }

    /// Sets what the row says below its title.
    pub(super) fn detail(self, detail: Markup) -> Self {
        Self { detail, ..self }
    }

    /// Sets the acts that do the task.
    pub(super) fn acts(self, acts: Markup) -> Self {
        Self { acts, ..self }
    }

    /// Sets what stands below the row, over its whole width.
    pub(super) fn more(self, more: Option<Markup>) -> Self {
        Self { more, ..self }
    }

    /// Replaces the icon by the picture of a file, if there is one.
    pub(super) fn picture(self, file: Option<Id>) -> Self {
        match file {
            Some(file) => Self { thumb: view_picture(file), ..self },
            None => self,
        }
    }

    /// Replaces the icon by a swatch of a colour, if there is one.
    pub(super) fn swatch(self, color: Option<&str>) -> Self {
        let Some(color) = color else { return self };
        let thumb = html! {
            svg class="swatch" viewBox="0 0 12 12" aria-hidden="true" {
                circle cx="6" cy="6" r="5.5" fill=(color) stroke="currentColor" stroke-opacity="0.4" {}
            }
        };
        Self { thumb, ..self }
    }

    /// Renders the row as an item of a list.
    pub(super) fn html(&self) -> Markup {
        html! {
            li class="row" {
                div class="thumb" { (self.thumb) }
                div class="task" {
                    div class="task-title" { (self.title) }
                    div class="muted small" { (self.detail) }
                }
                div class="acts" { (self.acts) }
                @if let Some(more) = &self.more { div class="full" { (more) } }
            }
        }
    }
}
