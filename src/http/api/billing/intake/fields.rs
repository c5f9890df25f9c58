//! Text fields that accompany the photos in the form: parsed and validated, with all errors reported together.

use api_derive::Request;
use serde_json::{Map, Value, json};

use domain::access::normal_email;
use domain::custom_request::MAX_PHOTOS;
use domain::intake_prices::{MAX_COLORS, PieceRequirements};
use domain::refusal::{Faults, Refusal};
use http::error::ApiError;
use http::openapi::shape::{Shape, ShapeMember, bytes, closed_object, list_of, required};
use http::photo_form::PHOTOS;
use http::wire::{
    EmailAddress, Filled, FromJson, MaxChars, ONE_LINE, Request as _, TextList, ToSchema, ValuePath, Within,
};

/// Maximum number of add-ons per request.
const MAX_ADDONS: usize = 10;
/// Maximum length of an option ID, in characters.
const MAX_ID_CHARS: usize = 64;
/// Limits on the add-on list.
const ADDON_IDS: TextList = TextList { max_items: MAX_ADDONS, max_chars: MAX_ID_CHARS };

/// Text fields of the form.
#[derive(Request, Clone, Debug)]
#[api(name = "CustomBuildFields", example = json!({
    "customerName": "Ann Example", "email": "ann@example.org", "productType": "figurine", "subjectType": "pet",
    "styleId": "cartoon", "sizeId": "medium", "baseOptionId": "wood", "colorCount": 2,
}))]
pub(super) struct IntakeFields {
    /// Full name of the customer.
    #[api(Filled, ONE_LINE, MaxChars(200))]
    customer_name: String,
    /// Email address to which the quote is sent.
    #[api(EmailAddress)]
    email: String,
    /// Telephone number for questions about the request.
    #[api(ONE_LINE, MaxChars(50))]
    phone: Option<String>,
    /// Type of product to make.
    #[api(Filled, ONE_LINE, MaxChars(MAX_ID_CHARS))]
    product_type: String,
    /// Subject that the piece depicts.
    #[api(Filled, ONE_LINE, MaxChars(MAX_ID_CHARS))]
    subject_type: String,
    /// Style in which the piece is made.
    #[api(Filled, ONE_LINE, MaxChars(MAX_ID_CHARS))]
    style_id: String,
    /// Size of the piece.
    #[api(Filled, ONE_LINE, MaxChars(MAX_ID_CHARS))]
    size_id: String,
    /// Base for the piece.
    #[api(Filled, ONE_LINE, MaxChars(MAX_ID_CHARS))]
    base_option_id: String,
    /// Number of colours.
    #[api(Within(1..=MAX_COLORS))]
    color_count: u8,
    /// `true` to add a UV-protective coating.
    #[api(default = false)]
    uv_coating: bool,
    /// IDs of add-ons. Repeat the field for each add-on, as `addonIds` or `addonIds[]`.
    #[api(ADDON_IDS, default = Vec::new())]
    addon_ids: Vec<String>,
    /// Text of the inscription on the piece.
    #[api(MaxChars(200))]
    inscription: Option<String>,
    /// Additional notes for the shop.
    #[api(MaxChars(1000))]
    notes: Option<String>,
}

/// Schema of the whole form, which is processed as a stream.
pub(super) struct IntakeForm;

impl ToSchema for IntakeForm {
    const NAME: Option<&'static str> = Some("CustomBuildIntake");
    fn schema() -> Shape {
        let photos =
            list_of(bytes(), 1..=MAX_PHOTOS).about("Photos as JPEG, PNG, WebP or HEIC; repeat the field for each one.");
        let fields = IntakeFields::members().into_iter().map(ShapeMember::from);
        closed_object(fields.chain([required(PHOTOS, photos)])).about("Custom request with photos.")
    }
}

/// Raw text fields of a form, with the faults of the form.
#[derive(Debug, Default)]
pub(super) struct FormTexts {
    single: Map<String, Value>,
    addons: Vec<Value>,
    /// Number of empty add-on fields. They have no effect but count towards the limit.
    empty_addons: usize,
    faults: Faults,
}

impl FormTexts {
    /// Creates an empty collection for a form that already has the given faults.
    pub(super) fn with(faults: Faults) -> Self {
        Self { faults, ..Self::default() }
    }

    /// Adds a field from its raw bytes.
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
            self.faults.note(name, "is present more than once");
        }
    }

    /// Returns the parsed fields, or all validation errors in the form.
    pub(super) fn read(self) -> Result<IntakeFields, ApiError> {
        let Self { mut single, addons, empty_addons, mut faults } = self;
        if addons.len() <= MAX_ADDONS && addons.len() + empty_addons > MAX_ADDONS {
            faults.note("addonIds", format!("must be present at most {MAX_ADDONS} times"));
        }
        single.insert("addonIds".to_owned(), Value::Array(addons));
        let whole = ValuePath { path: "", in_query: false };
        let fields = IntakeFields::from_json(Value::Object(single), &whole, &mut faults);
        faults.refuse()?;
        fields.ok_or_else(|| ApiError::internal("a form was rejected without an error"))
    }
}

/// Converts a field's text to a JSON value; returns `None` for an empty optional field, because pages send empty
/// fields, too.
fn json_of(name: &str, text: String) -> Option<Value> {
    match name {
        "phone" | "inscription" | "notes" | "uvCoating" | "addonIds" | "addonIds[]" if text.is_empty() => None,
        "colorCount" => Some(u8::from_text(text)),
        "uvCoating" => Some(bool::from_text(text)),
        _ => Some(Value::String(text)),
    }
}

impl IntakeFields {
    /// Returns all fields as JSON, to compare a retried request with the first one.
    pub(super) fn hashed_fields(&self) -> Value {
        json!([
            [&self.customer_name, &self.email, &self.product_type, &self.subject_type, &self.style_id],
            [&self.size_id, &self.base_option_id],
            [&self.phone, &self.inscription, &self.notes],
            [self.color_count, u8::from(self.uv_coating)],
            self.addon_ids,
        ])
    }

    /// Returns the normalized email address, the name, the telephone number and the requirements, with duplicate
    /// add-ons removed.
    pub(super) fn into_parts(self) -> Result<(String, String, Option<String>, PieceRequirements), Refusal> {
        let mut addon_ids: Vec<String> = Vec::with_capacity(self.addon_ids.len());
        for id in self.addon_ids {
            if !addon_ids.contains(&id) {
                addon_ids.push(id);
            }
        }
        let wishes = PieceRequirements {
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
