//! The fields of the form beside the photos: read from texts, with all faults at once.

use api_derive::Request;
use serde_json::{Map, Value, json};

use super::form::PHOTOS;
use crate::domain::access::normal_email;
use crate::domain::custom_request::MAX_PHOTOS;
use crate::domain::intake_prices::{MAX_COLORS, Wishes};
use crate::domain::refusal::{Faults, Refusal};
use crate::http::error::ApiError;
use crate::http::openapi::shape::{Member, Shape, bytes, list_of, required, taken};
use crate::http::wire::{
    EmailAddress, Filled, FromJson, MaxChars, ONE_LINE, Request as _, TextList, ToSchema, ValuePath, Within,
};

/// Most further things that one request asks for.
const MAX_ADDONS: usize = 10;
/// Longest id of a choice, in characters.
const MAX_ID_CHARS: usize = 64;
/// Whatever else is wanted.
const ADDON_IDS: TextList = TextList { max_items: MAX_ADDONS, max_chars: MAX_ID_CHARS };

/// The fields of the form that are texts.
#[derive(Request, Clone, Debug)]
#[api(name = "CustomBuildFields", example = json!({
    "customerName": "Ann Example", "email": "ann@example.org", "productType": "figurine", "subjectType": "pet",
    "styleId": "cartoon", "sizeId": "medium", "baseOptionId": "wood", "colorCount": 2,
}))]
pub(super) struct IntakeFields {
    /// What the customer is called.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    customer_name: String,
    /// Where the quote is sent.
    #[api(EmailAddress)]
    email: String,
    /// Telephone number for questions.
    #[api(ONE_LINE, MaxChars(50))]
    phone: Option<String>,
    /// What is made.
    #[api(Filled, ONE_LINE, MaxChars(MAX_ID_CHARS))]
    product_type: String,
    /// What it shows.
    #[api(Filled, ONE_LINE, MaxChars(MAX_ID_CHARS))]
    subject_type: String,
    /// In which manner.
    #[api(Filled, ONE_LINE, MaxChars(MAX_ID_CHARS))]
    style_id: String,
    /// How large.
    #[api(Filled, ONE_LINE, MaxChars(MAX_ID_CHARS))]
    size_id: String,
    /// What it stands on.
    #[api(Filled, ONE_LINE, MaxChars(MAX_ID_CHARS))]
    base_option_id: String,
    /// Number of colours.
    #[api(Within(1..=MAX_COLORS))]
    color_count: u8,
    /// A coating against sunlight.
    #[api(default = false)]
    uv_coating: bool,
    /// Whatever else is wanted: the field once for each, as `addonIds` or `addonIds[]`.
    #[api(ADDON_IDS, default = Vec::new())]
    addon_ids: Vec<String>,
    /// What is to be written on it.
    #[api(MaxChars(200))]
    inscription: Option<String>,
    /// Whatever else there is to say.
    #[api(MaxChars(1000))]
    notes: Option<String>,
}

/// The whole form, which is read as it comes.
pub(super) struct IntakeForm;

impl ToSchema for IntakeForm {
    const NAME: Option<&'static str> = Some("CustomBuildIntake");
    fn schema() -> Shape {
        let photos = list_of(bytes(), 1..=MAX_PHOTOS).about("JPEG, PNG, WebP or HEIC: the field once for each.");
        let fields = IntakeFields::members().into_iter().map(Member::from);
        taken(fields.chain([required(PHOTOS, photos)])).about("What is wanted, with photos.")
    }
}

/// The texts of a form by their fields, as they come.
#[derive(Debug, Default)]
pub(super) struct FormTexts {
    single: Map<String, Value>,
    addons: Vec<Value>,
    /// Fields of addons that were left empty: they say nothing, and count among those that may be sent.
    empty_addons: usize,
    faults: Faults,
}

impl FormTexts {
    /// A field with its bytes.
    pub(super) fn add(&mut self, name: &str, bytes: Vec<u8>) {
        let of_addons = matches!(name, "addonIds" | "addonIds[]");
        self.empty_addons += usize::from(of_addons && bytes.is_empty());
        let value = match String::from_utf8(bytes) {
            Ok(text) => json_of(name, text),
            // Whatever the field should be: it is no text, no number and no word.
            Err(_) => Some(Value::Array(Vec::new())),
        };
        let Some(value) = value else { return };
        if of_addons {
            self.addons.push(value);
        } else if self.single.insert(name.to_owned(), value).is_some() {
            self.faults.note(name, "is there more than once");
        }
    }

    /// A fault of the form outside the texts.
    pub(super) fn fault(&mut self, path: &str, message: impl Into<String>) {
        self.faults.note(path, message);
    }

    /// All fields, or all that is wrong with the form.
    pub(super) fn read(self) -> Result<IntakeFields, ApiError> {
        let Self { mut single, addons, empty_addons, mut faults } = self;
        if addons.len() <= MAX_ADDONS && addons.len() + empty_addons > MAX_ADDONS {
            faults.note("addonIds", format!("must be there at most {MAX_ADDONS} times"));
        }
        single.insert("addonIds".to_owned(), Value::Array(addons));
        let whole = ValuePath { path: "", in_query: false };
        let fields = IntakeFields::from_json(Value::Object(single), &whole, &mut faults);
        faults.refuse()?;
        fields.ok_or_else(|| ApiError::internal("a form was not read, and nobody said why"))
    }
}

/// The JSON that the text of a field stands for; `None` for a field that may be left out and is empty, as pages send
/// it.
fn json_of(name: &str, text: String) -> Option<Value> {
    match name {
        "phone" | "inscription" | "notes" | "uvCoating" | "addonIds" | "addonIds[]" if text.is_empty() => None,
        "colorCount" => Some(u8::from_text(text)),
        "uvCoating" => Some(bool::from_text(text)),
        _ => Some(Value::String(text)),
    }
}

impl IntakeFields {
    /// All of it, for comparing a repeated request with the first one.
    pub(super) fn told(&self) -> Value {
        json!([
            [&self.customer_name, &self.email, &self.product_type, &self.subject_type, &self.style_id],
            [&self.size_id, &self.base_option_id],
            [&self.phone, &self.inscription, &self.notes],
            [self.color_count, u8::from(self.uv_coating)],
            self.addon_ids,
        ])
    }

    /// E-mail address in its normal form, name, telephone number, and what is wanted; each further thing once.
    pub(super) fn into_parts(self) -> Result<(String, String, Option<String>, Wishes), Refusal> {
        let mut addon_ids: Vec<String> = Vec::with_capacity(self.addon_ids.len());
        for id in self.addon_ids {
            if !addon_ids.contains(&id) {
                addon_ids.push(id);
            }
        }
        let wishes = Wishes {
            product_type: self.product_type,
            subject_type: self.subject_type,
            style_id: self.style_id,
            size_id: self.size_id,
            base_option_id: self.base_option_id,
            color_count: self.color_count,
            uv_coating: self.uv_coating,
            addon_ids,
            inscription: self.inscription,
            notes: self.notes,
        };
        Ok((normal_email(&self.email)?, self.customer_name.trim().to_owned(), self.phone, wishes))
    }
}
