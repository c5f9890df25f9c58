//! Lines of a draft: a form for each line, a form for adding a line, and the list of lines after one of the forms has
//! been applied.

use maud::{Markup, html};
use serde_json::Value;

use super::FormSheet;
use crate::form::{Form, PageForm};
use words::Language;
use words::staff::common;

/// Form field with the index of the edited line, starting at 0; absent when a line is added.
const LINE_FIELD: &str = "line";
/// Name of the form for adding a line.
const NEW_LINE: &str = "line-new";

/// Actions of line forms, used as the last segment of the path: change or add a line, and remove a line.
pub(in super::super) const LINE_ACTS: [&str; 2] = ["line", "remove-line"];

/// Returns the name of the line form that was submitted.
pub(in super::super) fn line_form(sent: &PageForm) -> String {
    sent.text(LINE_FIELD).parse::<usize>().map_or_else(|_| NEW_LINE.to_owned(), |at| format!("line-{at}"))
}

/// Returns the lines with `new_line` in place of the line specified in the form, or appended if the form does not
/// specify a line. If `new_line` is `None`, the specified line is removed.
pub(in super::super) fn edited(mut lines: Vec<Value>, form: &Form, new_line: Option<Value>) -> Vec<Value> {
    let at = form.text(LINE_FIELD).parse::<usize>().ok().filter(|at| *at < lines.len());
    match (at, new_line) {
        (Some(at), new_line) => {
            lines.splice(at..=at, new_line);
        }
        (None, Some(new_line)) => lines.push(new_line),
        (None, None) => {}
    }
    lines
}

/// Lines of a draft at a certain version, with the path to which their forms are posted.
pub(in super::super) struct DraftLines<'a> {
    pub(in super::super) path: String,
    pub(in super::super) version: i64,
    /// Titles of the lines.
    pub(in super::super) titles: Vec<&'a str>,
    pub(in super::super) refused: &'a Form,
}

impl DraftLines<'_> {
    /// Renders the line forms. `fields` renders the fields for the line at the given index or, if `None`, for a new
    /// line.
    pub(in super::super) fn forms(
        &self,
        language: Language,
        fields: &dyn Fn(&FormSheet<'_>, Option<usize>) -> Markup,
    ) -> Markup {
        let Self { path, version, titles, refused } = self;
        let [change, remove] = LINE_ACTS.map(|act| format!("{path}/{act}"));
        let one = |sheet: &FormSheet<'_>, at: Option<usize>, button: &str| {
            html! {
                form method="post" action=(change) {
                    (sheet.head(Some(*version)))
                    @if let Some(at) = at { input type="hidden" name=(LINE_FIELD) value=(at); }
                    (fields(sheet, at))
                    button class="second" type="submit" { (button) }
                }
            }
        };
        let new = FormSheet::new(NEW_LINE, refused);
        html! {
            @for (at, title) in titles.iter().enumerate() {
                @let name = format!("line-{at}");
                @let sheet = FormSheet::new(&name, refused);
                details open[sheet.is_refused()] {
                    summary { (common::edit_line(language, at + 1, title)) }
                    (one(&sheet, Some(at), &common::save_line(language)))
                    @if titles.len() > 1 {
                        form method="post" action=(remove) {
                            (FormSheet::new("", &Form::default()).head(Some(*version)))
                            input type="hidden" name=(LINE_FIELD) value=(at);
                            button class="second" type="submit" { (common::remove_line(language, at + 1)) }
                        }
                    }
                }
            }
            details open[new.is_refused()] {
                summary { (common::add_line_title(language)) }
                (one(&new, None, &common::add_line(language)))
            }
        }
    }
}
