//! Components of the staff pages, as functions. They are styled in `parts.css` and `base.css`, which contain more
//! classes than there are functions: a component becomes a function if it needs more than a class.

use maud::{Markup, html};

use super::icons::{Icon, icon};

/// Severity of a state, always indicated by a shape and a label in addition to a colour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Tone {
    /// Something is wrong or unreachable.
    Error,
    /// An operator has to act.
    Attention,
    /// A print or another process is under way.
    Running,
    /// In order, or done.
    Working,
    /// Nothing is happening.
    Idle,
}

impl Tone {
    /// Returns the tone's name in URLs and page fragments.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Attention => "attention",
            // As links to the floor have it.
            Self::Running => "working",
            Self::Working => "ok",
            Self::Idle => "idle",
        }
    }

    /// Returns the CSS class for a state in a part with live updates.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Error => "state error",
            Self::Attention => "state attention",
            Self::Running => "state running",
            Self::Working => "state working",
            Self::Idle => "state idle",
        }
    }

    /// Returns the CSS class for the tone in all other parts.
    const fn part_class(self) -> &'static str {
        match self {
            Self::Error => "bad",
            Self::Attention => "warn",
            Self::Running => "run",
            Self::Working => "ok",
            Self::Idle => "idle",
        }
    }
}

/// Renders a chip: a state as a shape, a colour and a word.
pub(crate) fn chip(tone: Tone, text: &str) -> Markup {
    html! { span class={ "chip " (tone.part_class()) } { (text) } }
}

/// Renders a panel with a heading.
pub(crate) fn panel(id: &str, title: &str, content: &Markup) -> Markup {
    html! {
        section class="panel pad" aria-labelledby=(id) {
            h2 id=(id) { (title) }
            (content)
        }
    }
}

/// Filter of a list, with the number of matching entries.
pub(crate) struct FilterTab<'a> {
    /// Label, shown after the number.
    pub(crate) label: &'a str,
    /// Number of entries.
    pub(crate) count: usize,
    /// Severity of the entries.
    pub(crate) tone: Tone,
    /// URL of the list with this filter.
    pub(crate) path: &'a str,
    /// `true` if the filter is currently applied.
    pub(crate) is_current: bool,
}

/// Renders a list's filters.
pub(crate) fn filters(label: &str, tabs: &[FilterTab<'_>]) -> Markup {
    html! {
        nav class="filters" aria-label=(label) {
            @for tab in tabs {
                a class={ "filter " (tab.tone.part_class()) } href=(tab.path) aria-current=[tab.is_current.then_some("true")] {
                    b { (tab.count) } " " (tab.label)
                }
            }
        }
    }
}

/// Renders the placeholder for an empty area: an explanation and an action to get started.
pub(crate) fn empty_place(picture: Icon, text: &str, act: &Markup) -> Markup {
    html! {
        div class="empty" {
            (icon(picture))
            p { (text) }
            (act)
        }
    }
}

/// Renders the steps of a process; those before `current` are done.
pub(crate) fn steps(labels: &[&str], current: usize) -> Markup {
    html! {
        ol class="steps course" {
            @for (n, label) in labels.iter().enumerate() {
                li class=[(n < current).then_some("done")] aria-current=[(n == current).then_some("step")] { (label) }
            }
        }
    }
}

/// Entry in a timeline.
pub(crate) struct CourseEntry<'a> {
    /// Severity.
    pub(crate) tone: Tone,
    /// Text of the entry.
    pub(crate) text: &'a str,
    /// Time and person, in smaller type.
    pub(crate) note: &'a str,
}

/// Renders a timeline, with the first entry at the top.
pub(crate) fn course(entries: &[CourseEntry<'_>]) -> Markup {
    html! {
        ol class="timeline" {
            @for entry in entries {
                li class=(entry.tone.part_class()) { (entry.text) " " span class="small muted" { (entry.note) } }
            }
        }
    }
}

/// Key figure with its label and a comparison.
pub(crate) struct KeyFigure<'a> {
    /// Label above the figure.
    pub(crate) label: &'a str,
    /// Figure with its unit.
    pub(crate) value: &'a str,
    /// Comparison below the figure.
    pub(crate) note: &'a str,
}

/// Renders a row of key figures.
pub(crate) fn figures(all: &[KeyFigure<'_>]) -> Markup {
    html! {
        div class="kpis" {
            @for figure in all {
                div class="panel kpi" {
                    span class="muted" { (figure.label) }
                    b { (figure.value) }
                    span class="small muted" { (figure.note) }
                }
            }
        }
    }
}

/// Renders a menu with further actions. Its button opens it even without a script.
pub(crate) fn menu(id: &str, label: &str, items: &Markup) -> Markup {
    html! {
        button class="btn quiet square" type="button" popovertarget=(id) aria-label=(label) { (icon(Icon::Ellipsis)) }
        div id=(id) class="menu" popover="auto" { (items) }
    }
}

/// Renders a dialog that asks for confirmation before something is lost, and the button that opens it.
pub(crate) fn dialog(id: &str, opener: &str, title: &str, content: &Markup) -> Markup {
    let title_id = format!("{id}-title");
    html! {
        button class="btn bad" type="button" commandfor=(id) command="show-modal" { (icon(Icon::Trash2)) (opener) }
        dialog id=(id) aria-labelledby=(title_id) {
            h2 id=(title_id) { (title) }
            (content)
        }
    }
}

/// Renders a short message about a completed action, as it appears at the bottom of a page.
pub(crate) fn toast(text: &str) -> Markup {
    html! { p class="toast" { (icon(Icon::Check)) (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tone_has_a_look_of_its_own() {
        let tones = [Tone::Error, Tone::Attention, Tone::Running, Tone::Working, Tone::Idle];
        let (chips, states) = (tones.map(|tone| chip(tone, "x").0), tones.map(|tone| tone.class().to_owned()));
        for looks in [chips, states] {
            for (n, one) in looks.iter().enumerate() {
                assert!(!looks.iter().skip(n + 1).any(|other| other == one), "{one}");
            }
        }
    }

    #[test]
    fn one_step_is_current_and_those_before_it_are_done() {
        let html = steps(&["Paid", "Printed", "Shipped"], 1).0;
        assert_eq!(html.matches("class=\"done\"").count(), 1, "{html}");
        assert!(html.contains("<li aria-current=\"step\">Printed</li>"), "{html}");
    }
}
