//! Models uploaded by customers: measured and priced immediately, while the draft quote remains visible only to the
//! shop.

use api_derive::{Request, Response};
use axum::extract::{self, State};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::reply::{CreatedReply, Success};
use super::super::site::RequestSite;
use super::OwnQuoteHandles;
use crate::production::quotes::{ModelSlicing, draft_of_model, home_of};
use domain::bounds::MAX_QUANTITY;
use domain::id::Id;
use domain::limits::LimitKind;
use domain::quote::{Quote, QuoteCommand, QuoteLine, QuoteModel};
use domain::refusal::Refusal;
use domain::sku::Dimensions;
use http::access::Caller;
use http::command_request::{CommandOutcome, CommandTarget};
use http::error::ApiError;
use http::limits::{LimitedReply, WindowKey, within};
use http::model_upload;
use http::openapi::shape::{Shape, bytes, closed_object, optional, required, text_of, whole};
use http::path_id::NamedId;
use http::reply::Plain;
use http::wire::{MaxChars, ToSchema, Within};

const EXAMPLE_MODEL: &str = "01890a5d-ac96-774b-bcce-b302099a8064";

/// Schema of the customer's model form, which is processed as a stream.
pub(super) struct OwnModelForm;

impl ToSchema for OwnModelForm {
    const NAME: Option<&'static str> = Some("QuoteModelUpload");
    fn schema() -> Shape {
        closed_object([
            required("file", bytes().about("Model file: STL or 3MF, with a file name.")),
            optional("quantity", whole(1..=i64::from(MAX_QUANTITY)).about("Number of parts. Defaults to 1.")),
            optional("notes", text_of(..=1000).about("Notes for the shop.")),
        ])
        .about("Model for which to calculate a price, with the number of parts.")
    }
}

/// Form fields besides the model file.
#[derive(Request, Debug)]
struct OwnModelFields {
    /// Number of parts to print.
    #[api(Within(1..=MAX_QUANTITY), default = 1)]
    quantity: u32,
    /// Notes for the shop.
    #[api(MaxChars(1000))]
    notes: Option<String>,
}

fn model_example() -> Value {
    json!({
        "id": EXAMPLE_MODEL, "name": "Bracket", "quantity": 2, "size": {"x": 20, "y": 20, "z": 25}, "volumeMm3": 10000,
        "unitPriceCents": 593, "amountCents": 1186, "currency": "usd", "slicing": "pending", "quoteId": null,
    })
}

/// Price of a model uploaded by the customer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "QuoteModel", example = model_example())]
struct OwnModel {
    /// ID of the model.
    id: Id,
    /// Name of the model.
    name: String,
    /// Number of parts to print.
    quantity: u32,
    /// Bounding box of one part, in millimetres.
    size: Dimensions,
    /// Volume of one part, in cubic millimetres.
    volume_mm3: i64,
    /// Current net unit price, in minor units of the currency. Only the quote that the shop sends is binding.
    unit_price_cents: i64,
    /// Net price of all parts, in minor units of the currency.
    amount_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: String,
    /// State of slicing, which makes the price more precise.
    slicing: ModelSlicing,
    /// ID of the quote; null until the shop has sent it.
    quote_id: Option<Id>,
}

/// Model with its price.
#[derive(Response, Serialize)]
#[api(name = "QuoteModelResponse", example = json!({"success": true, "model": model_example()}))]
pub(super) struct ModelReply {
    success: Success,
    model: OwnModel,
}

/// Returns the first model of a quote with its line; `None` if the quote has no model.
pub fn first_model(quote: &Quote) -> Option<(&QuoteLine, &QuoteModel)> {
    quote.lines.iter().find_map(|line| Some((line, line.model.as_ref()?)))
}

impl ModelReply {
    /// Builds the view of a quote's first model; returns `None` if the quote has no model.
    fn of(quote: &Quote) -> Option<Self> {
        let (line, model) = first_model(quote)?;
        let model = OwnModel {
            id: model.file_id,
            name: line.description.clone(),
            quantity: line.quantity,
            size: model.size,
            volume_mm3: model.volume_mm3,
            unit_price_cents: line.unit_price_cents,
            amount_cents: line.unit_price_cents.saturating_mul(i64::from(line.quantity)),
            currency: quote.currency.clone(),
            slicing: ModelSlicing::of(model),
            quote_id: quote.is_known_to_customers().then_some(quote.id),
        };
        Some(Self { success: Success, model })
    }
}

pub(super) async fn upload(
    State(app): State<OwnQuoteHandles>,
    who: Caller,
    RequestSite(site): RequestSite,
    request: extract::Request,
) -> Result<LimitedReply<CreatedReply<ModelReply>>, ApiError> {
    let reply = |done: &CommandOutcome<Box<Quote>>| {
        let reply = ModelReply::of(&done.answer).ok_or_else(|| ApiError::internal("a quote without its model"))?;
        Ok(CreatedReply::after(done, reply))
    };
    take_model(&app, who, site.map(|site| site.0), request, reply).await
}

/// Receives a customer's model and drafts a quote for it. Used by both the API and the pages, which build their own
/// responses with `answer`.
pub async fn take_model<R>(
    app: &OwnQuoteHandles,
    who: Caller,
    site: Option<String>,
    request: extract::Request,
    answer: impl FnOnce(&CommandOutcome<Box<Quote>>) -> Result<R, ApiError>,
) -> Result<LimitedReply<R>, ApiError> {
    let (_, email) = who.customer().map(|(id, email)| (id, email.to_owned()))?;
    let charge = WindowKey::of_mailbox(LimitKind::DraftOrder, &email);
    let quotes = &app.quotes;
    let operation = Box::pin(async {
        let upload = model_upload::take::<OwnModelFields>(&quotes.models, who, request).await?;
        let command = async {
            let home = home_of(quotes, Some(&email)).await?;
            let file = upload.record(&quotes.files, upload.call.origin()).await?;
            let mut draft = draft_of_model(quotes, &upload, file, upload.fields.quantity);
            draft.site = site;
            draft.customer_email = Some(email);
            draft.shipping_address = home;
            draft.notes.clone_from(&upload.fields.notes);
            Ok(QuoteCommand::Create(Box::new(draft)))
        };
        let hash = upload.hash.clone();
        let done = upload.call.ask_hashed(&quotes.quotes, CommandTarget::New, hash, command).await?;
        answer(&done)
    });
    within(&app.limits, quotes.environment.now(), &[charge], operation).await
}

pub(super) async fn model(
    State(app): State<OwnQuoteHandles>,
    NamedId(id): NamedId,
    who: Caller,
) -> Result<Plain<ModelReply>, ApiError> {
    let (_, email) = who.customer()?;
    let quote = app.quotes.queries.quote_of_model(id).await?.filter(|quote| quote.is_for(email));
    let reply = quote.as_ref().and_then(ModelReply::of).filter(|reply| reply.model.id == id);
    Ok(Plain(reply.ok_or_else(|| Refusal::not_found("quote"))?))
}
