//! Row on the to-do page: a picture, a description of the task, and the actions with which to complete it.

use maud::{Markup, PreEscaped, html};

use crate::design::{Icon, icon};
use crate::staff::card_picture::view_picture;
use crate::staff::swatch::material_swatch;
use domain::id::Id;
use domain::material::MaterialFields;

/// Class of a primary act. Text that people have entered cannot look like it, because quotation marks in such text are
/// escaped.
const PRIMARY: &str = "class=\"btn primary\"";
/// Class of any other act.
const SECONDARY: &str = "class=\"btn\"";

/// Row for one task.
pub(in crate::staff) struct TaskRow {
    thumb: Markup,
    title: Markup,
    detail: Markup,
    acts: Markup,
    more: Option<Markup>,
}

/// Level of detail needed about the tasks of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TaskDetail {
    /// Only the number of tasks.
    Number,
    /// The number and the rows.
    Rows,
}

impl TaskDetail {
    /// Renders the rows of tasks; none if only their number is needed.
    pub(super) fn rows<T>(self, tasks: impl Iterator<Item = T>, row: impl FnMut(T) -> TaskRow) -> Vec<TaskRow> {
        match self {
            Self::Number => Vec::new(),
            Self::Rows => tasks.map(row).collect(),
        }
    }
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

    /// Returns the row without a primary act, for a page on which another row has it.
    pub(super) fn demoted(self) -> Self {
        Self { acts: demoted(self.acts), more: self.more.map(demoted), ..self }
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

/// Returns acts with primary ones shown as secondary.
fn demoted(acts: Markup) -> Markup {
    PreEscaped(acts.0.replace(PRIMARY, SECONDARY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_a_primary_act_keeps_its_acts() {
        let acts = || html! { button class="btn primary" { "Retry" } button class="btn" { "Cancel" } };
        let more = || html! { a class="btn primary" href="/" { "class=\"btn primary\"" } };
        let row = || TaskRow::new(Icon::Clock, html! { "Job" }).acts(acts()).more(Some(more()));
        assert_eq!(row().html().0.matches("btn primary").count(), 3);
        let demoted = row().demoted().html().0;
        assert!(
            demoted.contains("<button class=\"btn\">Retry</button><button class=\"btn\">Cancel</button>"),
            "{demoted}"
        );
        assert_eq!(demoted.matches("btn primary").count(), 1, "that is text: {demoted}");
    }
}
