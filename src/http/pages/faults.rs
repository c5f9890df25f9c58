//! Errors in a rejected form: listed above its fields by their labels, and shown beside them.
//!
//! The label of a field is declared once, in its markup. A form therefore renders its errors as marks that contain the
//! paths of the API's members ([`alert`]). When a page is sent, [`place`] replaces each mark with the label of the
//! field, which it reads off the page, and puts the message beside the field. A field that is not named as the API's
//! member states the member in `data-member`.

mod translated;

use std::collections::BTreeSet;
use std::iter::once;

use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};

pub(super) use self::translated::{error_text, fault_text};
use super::sentences::sentence;
use domain::refusal::Fault;
use domain::typed_amount::{self, TypedAmountError};
use http::error::ApiError;
use words::Language;

/// Beginning of a mark. Text from users cannot contain it, because markup escapes angle brackets.
const MARK: &str = "<p data-fault=\"";
/// Attribute of a mark whose message is in English on a page in another language, and of the elements with the message.
const FOREIGN: &str = " lang=\"en\"";
/// Attribute of a mark whose message is translated. A name that stands in for the missing label of its field is not.
const TRANSLATED: &str = " data-translated";
/// End of a mark.
const MARK_END: &str = "</p>";
/// Path of an error that concerns all settings in a form together.
const ALL_SETTINGS: &str = "settings";
/// Elements of form fields, each with its closing tag.
const CONTROLS: [(&str, &str); 3] = [("<input", ""), ("<select", "</select>"), ("<textarea", "</textarea>")];
/// Ending of the names of API members that are amounts of money.
const MONEY_ENDING: &str = "Cents";
/// API message for a text where an integer is expected.
const NOT_WHOLE: &str = "must be a whole number";
/// Endings of the API's member names that state a unit or a type, which people are not shown.
const UNIT_ENDINGS: [&str; 5] = ["Cents", "Bps", "Ids", "Id", "At"];

/// Renders the errors for which a form was rejected, or the message if there are none. Screen readers announce them
/// immediately. The API's messages are in English; one that is not translated is marked as English.
pub(super) fn alert(language: Language, error: &ApiError) -> Markup {
    let foreign = language.foreign_tag();
    html! {
        div class="wrong bad" role="alert" {
            @if error.faults().is_empty() {
                @if let Some(text) = error_text(language, error.code(), error.message()) { p { (text) } }
                @else { p lang=[foreign] { (sentence(error.message())) } }
            }
            @for fault in error.faults() {
                @if let Some(text) = fault_text(language, &fault.message) {
                    p data-fault=(fault.path) data-translated { (text) }
                }
                @else { p data-fault=(fault.path) lang=[foreign] { (fault.message) } }
            }
        }
    }
}

/// Turns a page that shows an error into the response for it: with the error's status and `Retry-After`, and with the
/// details that the audit log and the limits read.
pub(super) fn with_refusal(error: ApiError, mut page: Response) -> Response {
    let (mut parts, _) = error.into_response().into_parts();
    *page.status_mut() = parts.status;
    if let Some(seconds) = parts.headers.remove(header::RETRY_AFTER) {
        page.headers_mut().insert(header::RETRY_AFTER, seconds);
    }
    page.extensions_mut().extend(parts.extensions);
    page
}

/// Returns the message for an amount of money that the API rejected because it is not a number; `None` for other
/// errors. `text` is the amount as typed.
pub(super) fn amount_message(fault: &Fault, text: &str) -> Option<String> {
    let is_unread = fault.path.ends_with(MONEY_ENDING) && fault.message == NOT_WHOLE;
    // An amount that is read with two decimals has too many for its currency.
    let reason = || typed_amount::parse(text, "").err().unwrap_or(TypedAmountError::TooPrecise);
    is_unread.then(|| reason().to_string())
}

/// Replaces the marks of [`alert`] in a page. A mark inside of a form is assigned to a field of this form; any other,
/// to the first field of the page that fits.
pub(super) fn place(page: String) -> String {
    if !page.contains(MARK) {
        return page;
    }
    let mut changes = Vec::new();
    let mut marked_controls = BTreeSet::new();
    for (start, _) in page.match_indices(MARK) {
        let Some(mark) = FaultMark::read(&page, start) else { continue };
        let controls = controls_around(&page, start);
        let control = control_of(&controls, mark.path);
        changes.push(PageChange { start, end: mark.end, text: mark.line(&page, control) });
        if let Some(control) = control.filter(|control| marked_controls.insert(control.start)) {
            changes.extend(control.with_message(&mark));
        }
    }
    apply_changes(&page, changes)
}

/// Returns an API member in words, for an error without a field on the page: `unitPriceCents` becomes `Unit price`.
pub(super) fn words_of(path: &str) -> String {
    let is_index = |segment: &str| segment.bytes().all(|byte| byte.is_ascii_digit());
    let member = path.rsplit('.').find(|segment| !is_index(segment)).unwrap_or_default();
    let stem = UNIT_ENDINGS.iter().find_map(|ending| member.strip_suffix(ending)).filter(|stem| !stem.is_empty());
    let (mut words, mut after_capital) = (String::new(), true);
    for letter in stem.unwrap_or(member).chars() {
        if letter.is_ascii_uppercase() && !after_capital {
            words.push(' ');
        }
        after_capital = letter.is_ascii_uppercase();
        words.push(if letter == '_' { ' ' } else { letter.to_ascii_lowercase() });
    }
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Replacement for a part of a page.
struct PageChange {
    start: usize,
    end: usize,
    text: String,
}

/// Returns the page with the given changes, none of which overlap.
fn apply_changes(page: &str, mut changes: Vec<PageChange>) -> String {
    changes.sort_by_key(|change| change.start);
    let (mut text, mut from) = (String::with_capacity(page.len()), 0);
    for change in changes {
        text.push_str(slice(page, from, change.start));
        text.push_str(&change.text);
        from = change.end;
    }
    text.push_str(slice(page, from, page.len()));
    text
}

/// Returns the part of a text between two positions; empty if there is none.
fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// Error in a page, with the path of the API's member.
struct FaultMark<'a> {
    path: &'a str,
    message: &'a str,
    /// [`FOREIGN`], or nothing.
    lang: &'static str,
    is_translated: bool,
    /// Position after the mark.
    end: usize,
}

impl<'a> FaultMark<'a> {
    fn read(page: &'a str, start: usize) -> Option<Self> {
        let (path, rest) = slice(page, start, page.len()).strip_prefix(MARK)?.split_once('"')?;
        let (lang, rest) = rest.strip_prefix(FOREIGN).map_or(("", rest), |rest| (FOREIGN, rest));
        let (is_translated, rest) = rest.strip_prefix(TRANSLATED).map_or((false, rest), |rest| (true, rest));
        let (message, after) = rest.strip_prefix('>')?.split_once(MARK_END)?;
        Some(Self { path, message, lang, is_translated, end: page.len() - after.len() })
    }

    /// Renders the error's line in the list, as a link to its field if that is on the page.
    fn line(&self, page: &str, control: Option<&FormControl<'_>>) -> String {
        let (message, lang) = (self.message.trim_end_matches('.'), self.lang);
        let id = control.and_then(|control| control.id);
        let label = id.and_then(|id| label_of(page, id)).or_else(|| attribute(control?.tag, "aria-label"));
        // A label is in the language of the page.
        let beside_label =
            || if lang.is_empty() { message.to_owned() } else { format!("<span{lang}>{message}</span>") };
        match (label, id) {
            (Some(label), Some(id)) => {
                format!("<p><a class=\"bad\" href=\"#{id}\">{label}: {}.</a></p>", beside_label())
            }
            (Some(label), None) => format!("<p>{label}: {}.</p>", beside_label()),
            _ if self.path.is_empty() || self.path == ALL_SETTINGS => format!("<p{lang}>{}</p>", sentence(message)),
            _ if self.is_translated => format!("<p><span{FOREIGN}>{}</span>: {message}.</p>", words_of(self.path)),
            _ => format!("<p{lang}>{}: {message}.</p>", words_of(self.path)),
        }
    }
}

/// Field of a form in a page.
struct FormControl<'a> {
    /// Path of the corresponding API member, or the last part of that path; `None` if it is the same as the name.
    member: Option<&'a str>,
    name: &'a str,
    id: Option<&'a str>,
    /// Opening tag of the element.
    tag: &'a str,
    start: usize,
    /// Position after the element.
    end: usize,
}

impl<'a> FormControl<'a> {
    /// Reads the element at the given position; `None` if it is not a field that people fill in.
    fn read(page: &'a str, start: usize) -> Option<Self> {
        let rest = slice(page, start, page.len());
        let (_, closing) = CONTROLS
            .iter()
            .find(|(opening, _)| rest.strip_prefix(opening).is_some_and(|rest| rest.starts_with([' ', '>'])))?;
        let tag = opening_tag(rest)?;
        let name = attribute(tag, "name")?;
        if attribute(tag, "type") == Some("hidden") {
            return None;
        }
        let length = if closing.is_empty() { tag.len() } else { rest.find(closing)? + closing.len() };
        Some(Self {
            member: attribute(tag, "data-member"),
            name,
            id: attribute(tag, "id"),
            tag,
            start,
            end: start + length,
        })
    }

    /// Returns the changes to a page that mark the field as invalid and put the message after it.
    fn with_message(&self, mark: &FaultMark<'_>) -> Vec<PageChange> {
        let (message, lang) = (sentence(mark.message), mark.lang);
        let at = |position: usize, text: String| PageChange { start: position, end: position, text };
        let Some(id) = self.id else {
            return vec![at(self.end, format!("<span class=\"fault bad\"{lang}>{message}</span>"))];
        };
        let fault_id = format!("fault-{id}");
        let name_end = self.start + self.tag.find(' ').unwrap_or_default();
        let described_by = " aria-describedby=\"";
        let description = match self.tag.find(described_by) {
            Some(before) => at(self.start + before + described_by.len(), format!("{fault_id} ")),
            None => at(name_end, format!("{described_by}{fault_id}\"")),
        };
        vec![
            at(name_end, " aria-invalid=\"true\"".to_owned()),
            description,
            at(self.end, format!("<span class=\"fault bad\" id=\"{fault_id}\"{lang}>{message}</span>")),
        ]
    }
}

/// Returns the tag at the beginning of a text. An angle bracket in a value, as in the mark of a time, does not end it.
fn opening_tag(text: &str) -> Option<&str> {
    let mut in_value = false;
    let end = text.find(|letter: char| {
        in_value ^= letter == '"';
        letter == '>' && !in_value
    })?;
    text.get(..=end)
}

/// Returns the value of an element's attribute.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"').map(|(value, _)| value)
}

/// Returns the text of a field's label, up to the first element in it.
fn label_of<'a>(page: &'a str, id: &str) -> Option<&'a str> {
    let (_, rest) = page.split_once(&format!("<label for=\"{id}\""))?;
    let (text, _) = rest.split_once('>')?.1.split_once('<')?;
    Some(text.trim()).filter(|text| !text.is_empty())
}

/// Returns the fields of the form that contains the given position or, if there is none, of the page after it.
fn controls_around(page: &str, position: usize) -> Vec<FormControl<'_>> {
    let before = slice(page, 0, position);
    let opening = before.rfind("<form ").filter(|opening| !slice(page, *opening, position).contains("</form>"));
    let start = opening.unwrap_or(position);
    let form_end = opening.and_then(|_| slice(page, start, page.len()).find("</form>"));
    let end = form_end.map_or(page.len(), |length| start + length);
    let tags = slice(page, start, end).match_indices('<');
    tags.filter_map(|(at, _)| FormControl::read(page, start + at)).collect()
}

/// Returns the field of an API member: by its whole path, by the end of the path (`lines.0.quantity` is the quantity in
/// the form of a line), or by its beginning (`collections.3` is in the field for all collections).
fn control_of<'a, 'b>(controls: &'b [FormControl<'a>], path: &str) -> Option<&'b FormControl<'a>> {
    let dots = || path.match_indices('.').map(|(at, _)| at);
    let ends = dots().map(|at| slice(path, at + 1, path.len()));
    let beginnings = dots().rev().map(|at| slice(path, 0, at));
    let named = |name: &str| {
        let is_named = |control: &&FormControl<'_>| control.member.unwrap_or(control.name) == name;
        controls.iter().find(is_named).or_else(|| controls.iter().find(|control| control.name == name))
    };
    once(path).chain(ends).chain(beginnings).find_map(named)
}

#[cfg(test)]
mod tests;
