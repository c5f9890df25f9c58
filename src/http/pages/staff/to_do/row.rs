//! Row on the to-do page: a picture, a description of the task, and the actions with which to complete it.

use maud::{Markup, html};

use crate::design::{Icon, icon};
use crate::staff::card_picture::view_picture;
use crate::staff::swatch::material_swatch;
use domain::id::Id;
use domain::material::MaterialFields;

/// Row for one task.
pub(in crate::staff) struct TaskRow {
    thumb: Markup,
    title: Markup,
    detail: Markup,
    acts: Markup,
    more: Option<Markup>,
}

impl TaskRow {
    /// Creates a row with an icon and a title.
    pub(in crate::staff) fn new(shape: Icon, title: Markup) -> Self {
        Self { thumb: icon(shape), title, detail: Markup::default(), acts: Markup::default(), more: None }
    }

    /// Sets the text below the row's title.
    pub(in crate::staff) fn detail(self, detail: Markup) -> Self {
        Self { detail, ..self }
    }

    /// Sets the actions with which to complete the task.
    pub(in crate::staff) fn acts(self, acts: Markup) -> Self {
        Self { acts, ..self }
    }

    /// Sets the content below the row, over its full width.
    pub(super) fn more(self, more: Option<Markup>) -> Self {
        Self { more, ..self }
    }

    /// Replaces the icon with the picture of a file, if any.
    pub(super) fn picture(self, file: Option<Id>) -> Self {
        match file {
            Some(file) => Self { thumb: view_picture(file), ..self },
            None => self,
        }
    }

    /// Replaces the icon with the colour of a material.
    pub(super) fn swatch(self, material: &MaterialFields) -> Self {
        Self { thumb: material_swatch(material), ..self }
    }

    /// Renders the row as a list item.
    pub(in crate::staff) fn html(&self) -> Markup {
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
