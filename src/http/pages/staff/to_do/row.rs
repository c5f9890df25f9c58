//! Row on the to-do page: a picture, a description of the task, and the actions with which to complete it.

use maud::{Markup, PreEscaped, html};

use crate::design::{Icon, icon};
use crate::staff::card_picture::view_picture;
use crate::staff::shell::{compact_since, since};
use crate::staff::swatch::material_swatch;
use domain::id::Id;
use domain::material::MaterialFields;
use domain::time::Timestamp;
use words::Language;

/// Class of a primary act. Text that people have entered cannot look like it, because quotation marks in such text are
/// escaped.
const PRIMARY: &str = "class=\"btn primary\"";
/// Class of any other act.
const SECONDARY: &str = "class=\"btn\"";

/// Row for one task.
pub(in crate::staff) struct TaskRow {
    /// Checkbox before the picture, for a task that can be done together with others.
    choice: Option<Markup>,
    thumb: Markup,
    title: Markup,
    /// Order that the task is for, before the time.
    lead: Option<Markup>,
    /// Time from which the task has been waiting, in the language of the page.
    since: Option<(Language, Timestamp)>,
    detail: Markup,
    /// `true` if title and detail take one line each; what does not fit is on the page to which the row leads.
    is_brief: bool,
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
        let (detail, acts) = (Markup::default(), Markup::default());
        let (thumb, is_brief) = (icon(shape), false);
        Self { choice: None, thumb, title, lead: None, since: None, detail, is_brief, acts, more: None }
    }

    /// Sets the checkbox that selects the task, if any.
    pub(super) fn choice(self, choice: Option<Markup>) -> Self {
        Self { choice, ..self }
    }

    /// Sets the order that the task is for, if any. It is shown before the time.
    pub(super) fn lead(self, lead: Option<Markup>) -> Self {
        Self { lead, ..self }
    }

    /// Sets the time from which the task has been waiting, if it is known. It is shown before the text below the title,
    /// in a brief row in few letters.
    pub(in crate::staff) fn since(self, language: Language, at: impl Into<Option<Timestamp>>) -> Self {
        Self { since: at.into().map(|at| (language, at)), ..self }
    }

    /// Sets the text below the row's title: sentences, which are shown whole.
    pub(in crate::staff) fn detail(self, detail: Markup) -> Self {
        Self { detail, ..self }
    }

    /// Sets the facts below the row's title, the most important first: those that do not fit into the line are cut off.
    pub(in crate::staff) fn facts(self, facts: Markup) -> Self {
        Self { detail: facts, is_brief: true, ..self }
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
                @match &self.choice {
                    Some(choice) => { div class="pick" { (choice) div class="thumb" { (self.thumb) } } },
                    None => { div class="thumb" { (self.thumb) } },
                }
                div class=(if self.is_brief { "task brief" } else { "task" }) {
                    div class="task-title" { (self.title) }
                    div class="muted small" { (self.line()) }
                }
                div class="acts" { (self.acts) }
                @if let Some(more) = &self.more { div class="full" { (more) } }
            }
        }
    }

    /// Renders the line below the title: the order, the time, and the detail.
    fn line(&self) -> Markup {
        let short = if self.is_brief { compact_since } else { since };
        let time = self.since.map(|(language, at)| html! { span class="faint" { (short(language, at)) } });
        let detail = (!self.detail.0.is_empty()).then_some(&self.detail);
        dotted([self.lead.as_ref(), time.as_ref(), detail])
    }
}

/// Renders the parts of a line that there are, with a dot between them.
pub(super) fn dotted<const N: usize>(parts: [Option<&Markup>; N]) -> Markup {
    html! { @for (n, part) in parts.iter().flatten().enumerate() { @if n > 0 { " · " } (part) } }
}

/// Returns acts with primary ones shown as secondary.
fn demoted(acts: Markup) -> Markup {
    PreEscaped(acts.0.replace(PRIMARY, SECONDARY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_stands_before_the_facts_or_alone() {
        let row = || TaskRow::new(Icon::Clock, html! { b { "Job" } }).since(Language::English, Timestamp(60_000));
        let since = "<span class=\"faint\"><shop-time elapsed 60000></span>";
        let short = "<span class=\"faint\"><shop-time short 60000></span>";
        let brief = row().facts(html! { "4 parts" }).html().0;
        assert!(brief.contains("<div class=\"task brief\"><div class=\"task-title\"><b>Job</b></div>"), "{brief}");
        assert!(brief.contains(&format!("<div class=\"muted small\">{short} · 4 parts</div>")), "{brief}");
        let led = row().lead(Some(html! { "ORD-1" })).facts(html! { "4 parts" }).html().0;
        assert!(led.contains(&format!("<div class=\"muted small\">ORD-1 · {short} · 4 parts</div>")), "{led}");
        let whole = row().html().0;
        assert!(whole.contains("<div class=\"task\">") && whole.contains(&format!("\">{since}</div>")), "{whole}");
    }

    #[test]
    fn a_checkbox_stands_before_the_picture() {
        let row = || TaskRow::new(Icon::Clock, html! { b { "Ada" } });
        let chosen = row().choice(Some(html! { input type="checkbox"; })).html().0;
        let before = "<li class=\"row\"><div class=\"pick\"><input type=\"checkbox\"><div class=\"thumb\">";
        assert!(chosen.starts_with(before), "{chosen}");
        assert!(chosen.contains("<div class=\"task-title\"><b>Ada</b></div>"), "{chosen}");
        assert!(row().choice(None).html().0.starts_with("<li class=\"row\"><div class=\"thumb\">"));
    }

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
