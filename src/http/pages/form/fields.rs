//! Form on a page for the staff or of the setup wizard: the values in its fields and, if it was rejected, the error.
//! The page of a rejected form is rendered again with the submitted values, and answered as the error would be.
//!
//! Most forms name their fields after the API's members, so that errors can be assigned to them, and render them with
//! [`Form::field`]. One of several forms of a page is a `FormSheet`, which renders fields as well.

use std::collections::BTreeSet;

use axum::response::Response;
use maud::{Markup, html};

use super::{FormBody, PageForm};
use crate::faults::{alert, amount_message, with_refusal};
use http::error::ApiError;
use http::wire::{FieldTexts, TICKED_WORD};
use words::Language;

/// Field of a row for which the form suggests a value.
const QUANTITY_MEMBER: &str = "quantity";

/// Fields whose name differs from that of the API field, with the name of the API field, by which errors are assigned
/// to them.
const MEMBERS: [(&str, &str); 1] = [("madeFrom", "skuId")];

/// Input control for a form field.
#[derive(Clone, Copy)]
pub(crate) enum FieldControl<'a> {
    /// Single-line text with the given maximum number of characters.
    Line(usize),
    /// Single-line text with suggestions from the list with the given ID.
    Suggested(&'a str),
    /// Email address.
    Email,
    /// Integer within the given range.
    Whole(i64, i64),
    /// Number that may have decimal places.
    Decimal,
    /// Date without a time.
    Day,
    /// Multi-line text with the given maximum number of characters.
    Lines(usize),
    /// Choice between options, each with its submitted value and label.
    Choice(&'a [(String, String)]),
    /// Checkbox.
    Tick,
}

/// Values in the fields of a form and, if it was rejected, the error.
#[derive(Default)]
pub(crate) struct Form {
    /// Name of the form among those of its page; empty if it needs none.
    name: String,
    values: FieldTexts,
    /// `true` if the values were submitted, so that fields without a value were left empty.
    is_submitted: bool,
    /// Language of the page, in which the errors are shown.
    language: Language,
    refusal: Option<ApiError>,
}

impl Form {
    /// Creates an empty form that shows its errors in the language of the page.
    pub(crate) fn empty(language: Language) -> Self {
        Self { language, ..Self::default() }
    }

    /// Creates a new form with initial values.
    pub(crate) fn prefilled<N: Into<String>>(values: impl IntoIterator<Item = (N, String)>) -> Self {
        let values = values.into_iter().map(|(name, text)| (name.into(), text)).collect();
        Self { values, ..Self::default() }
    }

    /// Creates the form from submitted input.
    pub(crate) fn submitted(sent: &PageForm) -> Self {
        let form = Self::prefilled(sent.members().map(|(name, text)| (name, text.to_owned())));
        Self { is_submitted: true, language: sent.call.who.language, ..form }
    }

    /// Creates the form from the submitted input of one of several forms of a page.
    pub(crate) fn named(name: &str, sent: &PageForm) -> Self {
        Self { name: name.to_owned(), ..Self::submitted(sent) }
    }

    /// Returns whether this form was rejected and has the given name.
    pub(crate) fn is_refusal_of(&self, name: &str) -> bool {
        self.is_refused() && self.name == name
    }

    /// Returns a field's text; empty if the field was not sent.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.values.get(name).map_or("", String::as_str)
    }

    /// Returns a field's text; `None` if empty.
    pub(crate) fn some(&self, name: &str) -> Option<&str> {
        Some(self.text(name)).filter(|text| !text.is_empty())
    }

    /// Returns the text of the field for an API member, given by its path; empty if it was not sent.
    fn text_at(&self, path: &str) -> &str {
        let member = path.rsplit('.').next().unwrap_or_default();
        let by_member = || self.values.iter().find(|(name, _)| member_of(name).unwrap_or(name) == member);
        self.values.get(path).or_else(|| by_member().map(|(_, text)| text)).map_or("", String::as_str)
    }

    /// Sets a field's value if the field is empty.
    pub(crate) fn preset(&mut self, name: String, text: &str) {
        if self.text(&name).is_empty() {
            self.values.insert(name, text.to_owned());
        }
    }

    /// Returns whether a checkbox was checked.
    pub(crate) fn ticked(&self, name: &str) -> bool {
        self.text(name) == TICKED_WORD
    }

    /// Renumbers rows of fields such as `lines.3.quantity` consecutively, as the API numbers them, and returns the
    /// number of rows. A row is kept if one of the given API fields is filled in, apart from the quantity, which the
    /// form suggests. If there is none, an empty field with the name of the list stands for the empty list.
    pub(crate) fn close_up(&mut self, of: &str, members: &[&str]) -> usize {
        let begins = format!("{of}.");
        let number = |name: &str| {
            let (number, member) = name.strip_prefix(&begins)?.split_once('.')?;
            number.parse::<usize>().ok().filter(|_| member != QUANTITY_MEMBER && members.contains(&member))
        };
        let rows = self.values.iter().filter(|(_, text)| !text.is_empty()).filter_map(|(name, _)| number(name));
        let rows: BTreeSet<usize> = rows.collect();
        let mut moved = Vec::new();
        for (to, from) in rows.iter().enumerate() {
            for member in members {
                let text = self.text(&format!("{of}.{from}.{member}")).to_owned();
                moved.push((format!("{of}.{to}.{member}"), text));
            }
        }
        self.values.retain(|name, _| !name.starts_with(&begins));
        self.values.extend(moved);
        if rows.is_empty() {
            self.values.insert(of.to_owned(), String::new());
        }
        rows.len()
    }

    /// Returns the text values of all fields.
    pub(crate) fn texts(&self) -> FieldTexts {
        self.values.clone()
    }

    /// Returns the body of the API operation that the form is for, as [`PageForm::body`] does.
    pub(crate) fn body(&self) -> FormBody {
        FormBody::new(self.texts())
    }

    /// Returns the body of the API operation of a form that changes something, as [`PageForm::change`] does.
    pub(crate) fn change(&self) -> FormBody {
        FormBody::change(self.texts())
    }

    /// Returns the value to be shown in a field: the submitted text or, in a form that was not submitted, the given
    /// one.
    pub(crate) fn value<'a>(&'a self, name: &str, otherwise: &'a str) -> &'a str {
        if self.is_submitted { self.text(name) } else { otherwise }
    }

    /// Sets the error with which the form was rejected.
    pub(crate) fn refuse(&mut self, error: ApiError) {
        let reworded = error.reword(|fault| amount_message(fault, self.text_at(&fault.path)));
        self.refusal = Some(reworded);
    }

    /// Returns the form with the error with which it was rejected. An error that people cannot correct in the form is
    /// returned instead, for a separate page.
    pub(crate) fn with_refusal(mut self, error: ApiError) -> Result<Self, ApiError> {
        if !is_of_form(&error) {
            return Err(error);
        }
        self.refuse(error);
        Ok(self)
    }

    /// Returns whether the form was rejected.
    pub(crate) fn is_refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// Turns the page into an error response if the form was rejected; otherwise, returns the page unchanged.
    pub(crate) fn answer(&self, page: Response) -> Response {
        match &self.refusal {
            Some(error) => with_refusal(error.clone(), page),
            None => page,
        }
    }

    /// Renders the form's errors in the language of the page on which it was submitted.
    pub(crate) fn alert(&self) -> Markup {
        html! { @if let Some(error) = &self.refusal { (alert(self.language, error)) } }
    }

    /// Renders an optional form field with its label and hint.
    pub(crate) fn field(&self, name: &str, label: &str, hint: &str, control: FieldControl<'_>) -> Markup {
        self.labelled((name, label, hint), control, false)
    }

    /// Renders a form field, as [`Self::field`] does, for a required value.
    pub(crate) fn required_field(&self, name: &str, label: &str, hint: &str, control: FieldControl<'_>) -> Markup {
        self.labelled((name, label, hint), control, true)
    }

    fn labelled(
        &self,
        (name, label, hint): (&str, &str, &str),
        control: FieldControl<'_>,
        is_required: bool,
    ) -> Markup {
        let (id, about) = (field_id(name), format!("{}-about", field_id(name)));
        let described_by = (!hint.is_empty()).then_some(about.as_str());
        let tick = matches!(control, FieldControl::Tick);
        html! {
            div class="field" {
                @if tick {
                    (self.control((name, &id), control, described_by, is_required))
                    " " label for=(id) class="inline" { (label) }
                } @else {
                    label for=(id) { (label) }
                    (self.control((name, &id), control, described_by, is_required))
                }
                @if described_by.is_some() {
                    p class="hint" id=(about) { (hint) }
                }
            }
        }
    }

    fn control(
        &self,
        (name, id): (&str, &str),
        control: FieldControl<'_>,
        described_by: Option<&str>,
        is_required: bool,
    ) -> Markup {
        let value = self.text(name);
        html! {
            @match control {
                FieldControl::Line(most) => {
                    input id=(id) name=(name) maxlength=(most) value=(value) required[is_required] aria-describedby=[described_by];
                },
                FieldControl::Suggested(list) => {
                    input id=(id) name=(name) maxlength="200" list=(list) autocomplete="off" spellcheck="false" value=(value)
                        required[is_required] aria-describedby=[described_by];
                },
                FieldControl::Email => {
                    input id=(id) name=(name) type="email" maxlength="254" autocomplete="off" value=(value)
                        required[is_required] aria-describedby=[described_by];
                },
                FieldControl::Whole(least, most) => {
                    input id=(id) name=(name) type="number" inputmode="numeric" min=(least) max=(most) step="1" value=(value)
                        required[is_required] aria-describedby=[described_by];
                },
                FieldControl::Decimal => {
                    input id=(id) name=(name) inputmode="decimal" maxlength="20" autocomplete="off" value=(value)
                        required[is_required] aria-describedby=[described_by];
                },
                FieldControl::Day => {
                    input id=(id) name=(name) type="date" value=(value) required[is_required] aria-describedby=[described_by];
                },
                FieldControl::Lines(most) => {
                    textarea id=(id) name=(name) rows="3" maxlength=(most) required[is_required] aria-describedby=[described_by] { (value) }
                },
                FieldControl::Choice(choices) => {
                    select id=(id) name=(name) required[is_required] aria-describedby=[described_by] {
                        @for (word, words) in choices { option value=(word) selected[word == value] { (words) } }
                    }
                },
                FieldControl::Tick => {
                    input id=(id) name=(name) type="checkbox" value=(TICKED_WORD) checked[value == TICKED_WORD]
                        required[is_required] aria-describedby=[described_by];
                },
            }
        }
    }
}

/// Returns the name of the API field for a form field whose name differs from it.
pub(crate) fn member_of(name: &str) -> Option<&'static str> {
    MEMBERS.iter().find(|(field, _)| *field == name).map(|(_, member)| *member)
}

/// Returns whether the error is shown next to the form, for example if a file is too large or has the wrong type. Other
/// errors have a separate page.
fn is_of_form(error: &ApiError) -> bool {
    matches!(error.status().as_u16(), 400 | 409 | 412 | 413 | 415 | 422)
}

/// Returns the ID of the HTML element for an API field.
fn field_id(name: &str) -> String {
    format!("field-{name}")
}

#[cfg(test)]
impl Form {
    /// Returns the form of this name, one of several forms of a page, as if this text had been submitted in a field.
    pub(crate) fn with_text(name: &str, field: &str, text: &str) -> Self {
        let form = Self::prefilled([(field, text.to_owned())]);
        Self { name: name.to_owned(), is_submitted: true, ..form }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::place;
    use domain::refusal::{Faults, Refusal};

    fn form(values: &[(&str, &str)]) -> Form {
        Form::prefilled(values.iter().map(|(name, text)| (*name, (*text).to_owned())))
    }

    #[test]
    fn rows_close_up_and_empty_ones_go() {
        let mut form = form(&[
            ("lines.0.skuId", ""),
            ("lines.0.quantity", "1"),
            ("lines.2.skuId", "B"),
            ("lines.2.quantity", "4"),
            ("lines.10.skuId", "C"),
            ("lines.x.skuId", "D"),
            ("lines.11.note", "E"),
        ]);
        assert_eq!(form.close_up("lines", &["skuId", "quantity"]), 2);
        assert_eq!((form.text("lines.0.skuId"), form.text("lines.0.quantity")), ("B", "4"));
        assert_eq!((form.text("lines.1.skuId"), form.text("lines.1.quantity")), ("C", ""));
        assert_eq!(form.text("lines.2.skuId"), "");
        let mut form = self::form(&[("materials.1.estimatedConsumption", "5")]);
        assert_eq!(form.close_up("materials", &["materialId", "estimatedConsumption"]), 1, "for the API to refuse");
    }

    #[test]
    fn a_fault_stands_beside_its_field_and_what_was_typed_stays() {
        let mut form = form(&[("name", "<b>"), ("priceCents", "much")]);
        form.refuse(Refusal::field("priceCents", "must be a whole number").into());
        let price = html! { (form.alert()) (form.field("priceCents", "Price", "Net.", FieldControl::Decimal)) };
        let price = place(price.into_string());
        assert!(price.contains("Price: must be an amount such as 2.50") && !price.contains("priceCents:"), "{price}");
        assert!(price.contains("Must be an amount such as 2.50") && price.contains("aria-invalid=\"true\""), "{price}");
        assert!(
            price.contains("value=\"much\"")
                && price.contains("aria-describedby=\"fault-field-priceCents field-priceCents-about\""),
            "{price}"
        );
        let name = form.field("name", "Name", "", FieldControl::Line(9)).into_string();
        assert!(name.contains("&lt;b&gt;") && !name.contains("aria-invalid"), "{name}");
        assert!(form.alert().into_string().contains("role=\"alert\""));
    }

    #[test]
    fn errors_are_in_the_language_of_the_page() {
        let mut form = Form { language: Language::German, ..form(&[("priceCents", "much")]) };
        form.refuse(Refusal::field("priceCents", "must be a whole number").into());
        let price = html! { (form.alert()) (form.field("priceCents", "Preis", "", FieldControl::Decimal)) };
        let price = place(price.into_string());
        assert!(price.contains("Preis: muss ein Betrag sein, zum Beispiel 2,50"), "{price}");
        assert!(!price.contains("lang="), "{price}");
    }

    #[test]
    fn what_was_refused_is_said_beside_the_form_unless_nobody_could_mend_it() {
        let mut faults = Faults::default();
        faults.note("name", "is required");
        assert!(is_of_form(&Refusal::faults(faults).into()));
        assert!(is_of_form(&Refusal::conflict("last_admin", "make another one first").into()));
        assert!(!is_of_form(&ApiError::forbidden("insufficient_role", "this requires the role admin")));
        assert!(!is_of_form(&ApiError::internal("broken")));
    }
}
