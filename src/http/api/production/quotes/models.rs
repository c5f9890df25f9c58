//! Quotes from models. A model is uploaded, measured and immediately priced by volume; once it has been sliced, a more
//! precise price follows automatically.

use api_derive::Request;
use axum::extract::{self, State};

use super::lines::{cost_of, title};
use super::operations::QuoteOutcome;
use super::view::QuoteView;
use super::{PATH, QuoteHandles, home_of, must_exist, view_of};
use crate::production::orders::site::{Site, SiteHeader};
use domain::bounds::MAX_QUANTITY;
use domain::id::Id;
use domain::quote::{DraftLine, DraftModel, DraftQuote, QuoteCommand};
use domain::refusal::Faults;
use domain::sku::MachineType;
use http::access::Caller;
use http::command_request::CommandTarget;
use http::error::ApiError;
use http::model_upload::{self, ModelUpload};
use http::openapi::shape::{Shape, bytes, closed_object, email, id, optional, required, text_of, whole};
use http::reply::Created;
use http::wire::{EmailAddress, Filled, MaxChars, ONE_LINE, ToSchema, Within, schema_of};

/// Form with a model file, which is streamed.
pub struct ModelForm;

impl ToSchema for ModelForm {
    const NAME: Option<&'static str> = Some("QuoteModelUpload");
    fn schema() -> Shape {
        let most = i64::from(MAX_QUANTITY);
        closed_object([
            required("file", bytes().about("Model file: STL or 3MF, with a file name.")),
            optional("quantity", whole(1..=most).about("Number of parts. Defaults to 1.")),
            optional("description", text_of(1..=500).about("Name of the model. Defaults to the file name.")),
            optional("customerEmail", email().about("Email address of the customer.")),
            optional("customRequestId", id().about("Custom request that the quote is for.")),
            optional("materialId", id().about("Material to print the model with.")),
            optional("machineType", schema_of::<MachineType>().about("Machine type to print the model on.")),
            optional("slicerProfile", text_of(1..=100).about("Slicer profile for the model.")),
            optional("notes", text_of(..=1000).about("Notes visible to the customer.")),
        ])
        .about("Model to quote, with its print settings.")
    }
}

/// Form fields besides the model.
#[derive(Request, Debug)]
struct ModelFields {
    /// Number of parts.
    #[api(Within(1..=MAX_QUANTITY), default = 1)]
    quantity: u32,
    /// Title of the line.
    #[api(Filled, ONE_LINE, MaxChars(500))]
    description: Option<String>,
    /// Email address of the customer.
    #[api(EmailAddress)]
    customer_email: Option<String>,
    /// Custom request that the quote is for.
    custom_request_id: Option<Id>,
    /// Material to print with.
    material_id: Option<Id>,
    /// Machine type to print on.
    machine_type: Option<MachineType>,
    /// Name of the slicer profile to slice the model with.
    #[api(Filled, ONE_LINE, MaxChars(100))]
    slicer_profile: Option<String>,
    /// Notes visible to the customer.
    #[api(MaxChars(1000))]
    notes: Option<String>,
}

/// Builds a draft with one line, which is to be printed from an uploaded model. Values omitted from the form are taken
/// from the settings.
pub fn draft_of_model<F>(app: &QuoteHandles, upload: &ModelUpload<F>, file: Id, quantity: u32) -> DraftQuote {
    let model = DraftModel {
        file_id: file,
        facts: Some(upload.facts),
        material_id: None,
        material_cents_per_kg: None,
        machine_type: app.config.pricing.machine_type,
        slicer_profile: app.config.pricing.profile(),
    };
    let line = DraftLine {
        description: title(&upload.name),
        quantity,
        unit_price_cents: None,
        sku_id: None,
        printed: true,
        model: Some(model),
    };
    DraftQuote { lines: vec![line], ..DraftQuote::default() }
}

/// Drafts a quote from a streamed form that contains a model. `site` is the site to which the quote belongs.
pub async fn quote_model(
    app: &QuoteHandles,
    who: Caller,
    site: Option<Site>,
    request: extract::Request,
) -> Result<QuoteOutcome, ApiError> {
    let upload = model_upload::take::<ModelFields>(&app.models, who, request).await?;
    let command = async {
        let fields = &upload.fields;
        let mut faults = Faults::default();
        let cost = cost_of(app, fields.material_id, 0, &mut faults).await?;
        faults.refuse()?;
        must_exist(app, fields.custom_request_id).await?;
        let home = home_of(app, fields.customer_email.as_deref()).await?;
        let file = upload.record(&app.files, upload.call.origin()).await?;
        let mut draft = draft_of_model(app, &upload, file, fields.quantity);
        for line in &mut draft.lines {
            if let Some(description) = &fields.description {
                line.description.clone_from(description);
            }
            if let Some(model) = &mut line.model {
                (model.material_id, model.material_cents_per_kg) = (fields.material_id, cost);
                model.machine_type = fields.machine_type.unwrap_or(model.machine_type);
                model.slicer_profile = fields.slicer_profile.clone().or(model.slicer_profile.take());
            }
        }
        draft.site = site.map(|site| site.0);
        draft.customer_email.clone_from(&fields.customer_email);
        draft.custom_request_id = fields.custom_request_id;
        draft.notes.clone_from(&fields.notes);
        draft.shipping_address = home;
        Ok(QuoteCommand::Create(Box::new(draft)))
    };
    upload.call.ask_hashed(&app.quotes, CommandTarget::New, upload.hash.clone(), command).await
}

/// Handles `POST /api/quotes/models`: drafts a quote from an uploaded model.
pub(super) async fn upload(
    State(app): State<QuoteHandles>,
    who: Caller,
    SiteHeader(site): SiteHeader,
    request: extract::Request,
) -> Result<Created<QuoteView>, ApiError> {
    let done = quote_model(&app, who, site, request).await?;
    Ok(Created::under(PATH, &done, view_of(&app, &done.answer).await?))
}
