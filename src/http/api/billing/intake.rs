//! Requests for custom pieces, with photos. The form is processed as a stream: photos are written to disk without their
//! location metadata, and nothing is stored unless the whole form is accepted.

mod fields;
mod form;

use std::sync::Arc;

use api_derive::Response;
use axum::extract::{self, State};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use self::fields::IntakeForm;
use self::form::IntakeSubmission;
use super::blocked::UnblockedCaller;
use super::reply::{CreatedReply, Success};
use super::site::RequestSite;
use crate::production::custom_requests::EXAMPLE_ID;
use crate::production::customers::customer_of;
use crate::production::orders::site::Site;
use actors::app::ContentSweep;
use actors::app::customer_space::{CustomerSpace, SpaceShare};
use domain::custom_request::{CustomRequest, CustomRequestCommand, NewCustomRequest, NewPhoto};
use domain::customer::Customer;
use domain::id::Id;
use domain::limits::LimitKind;
use domain::notation;
use domain::principal::Role;
use domain::time::Timestamp;
use files::blobs::{Blobs, Recording};
use http::access::{Caller, RequiredAccess};
use http::command_request::{CommandOutcome, CommandRequest, CommandTarget, RequestHandles};
use http::error::ApiError;
use http::handles::handles;
use http::idempotency;
use http::limits::layer::ClientAddress;
use http::limits::{LimitedReply, RateLimiter, WindowKey, within};
use http::photo_form::ReceivedPhoto;
use http::routes::ResourceRoutes;
use http::wire::schema_of;
use kernel::directory::Directory;
use kernel::environment::Environment;
use store::queries::Queries;
use words::Language;

const PATH: &str = "/api/v1/custom-builds/intakes";

handles! {
    /// Dependencies of the intake route.
    pub struct IntakeHandles {
        custom_requests: Directory<CustomRequest>,
        customers: Directory<Customer>,
        queries: Queries,
        blobs: Arc<Blobs>,
        content_sweep: Arc<ContentSweep>,
        space: Arc<CustomerSpace>,
        limits: Arc<RateLimiter>,
        environment: Arc<Environment>,
        request: RequestHandles,
    }
}

/// Returns the route that receives requests for custom pieces.
pub fn routes() -> ResourceRoutes {
    ResourceRoutes::new("Custom Requests", "Requests for products made to order.", "custom_request")
        .post_long(RequiredAccess::Open, PATH, take_in, |op| {
            op.named("createCustomBuildIntake", "Submit a custom request")
                .about(
                    "Requires 1 to 10 photos (JPEG, PNG, WebP or HEIC, detected from their content) of at most 15 MiB \
                     each and 60 MiB in total. Location metadata is removed from the photos. For IDs that are not in \
                     the shop's price tables, the estimate uses a default price. The response is an estimate; a quote \
                     follows.",
                )
                .takes_form(schema_of::<IntakeForm>())
                .keyed()
                .error(400, "too_many_parts", "The form has too many parts.")
                .error(507, "storage_full", "The shop has no storage space for more customer files.")
        })
        .schema::<IntakeForm>()
}

/// Currencies whose prices have a symbol in responses.
const SYMBOL_CURRENCIES: [&str; 3] = ["usd", "eur", "gbp"];

/// Formats a price for programs that show it as it is: `$1,234.50`, or `1,234.50 CHF` if the currency has no symbol
/// here. This form is part of the API, so it is independent of the notation on pages.
fn price(cents: i64, currency: &str) -> String {
    if SYMBOL_CURRENCIES.iter().any(|one| one.eq_ignore_ascii_case(currency)) {
        return notation::amount(Language::English, cents, currency);
    }
    format!("{} {}", notation::figure(Language::English, cents, currency), currency.to_uppercase())
}

/// Confirmation of a request for a custom piece.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomBuildIntakeResponse", example = json!({
    "success": true, "requestId": EXAMPLE_ID, "validUntil": "2026-12-07T10:00:00.000Z", "estimatedTotalCents": 12345,
    "estimatedTotalFormatted": "$123.45", "uploadCount": 3,
}))]
struct IntakeReply {
    success: Success,
    /// ID of the request. Quote the ID when you contact the shop.
    request_id: Id,
    /// Time until which the estimate is valid.
    valid_until: Timestamp,
    /// Estimated price of the piece, in minor units of the shop's currency.
    estimated_total_cents: i64,
    /// Estimated price, formatted for display.
    estimated_total_formatted: String,
    /// Number of photos accepted.
    upload_count: usize,
}

impl IntakeReply {
    fn new(request: &CustomRequest) -> Self {
        let estimate = &request.estimate;
        Self {
            success: Success,
            request_id: request.id,
            valid_until: request.valid_until,
            estimated_total_cents: estimate.total_cents,
            estimated_total_formatted: price(estimate.total_cents, &estimate.currency),
            upload_count: request.photos.len(),
        }
    }
}

async fn take_in(
    State(app): State<IntakeHandles>,
    _: UnblockedCaller,
    RequestSite(site): RequestSite,
    ClientAddress(client): ClientAddress,
    who: Caller,
    request: extract::Request,
) -> Result<LimitedReply<CreatedReply<IntakeReply>>, ApiError> {
    let charge = WindowKey::of_address(LimitKind::Intake, client);
    let operation = Box::pin(async {
        let (parts, body) = request.into_parts();
        let call = CommandRequest::without_body(&app.request, who, &parts)?;
        // Staff work is never refused for what customers have sent.
        let mut share = if call.who.has(Role::Operator) { None } else { Some(app.space.admit().await??) };
        let request = extract::Request::from_parts(parts, body);
        let form = form::receive(&app.blobs, request, share.as_mut()).await?;
        let done = record(&app, &call, site, form).await?;
        share.iter().for_each(SpaceShare::keep);
        Ok(CreatedReply::after(&done, IntakeReply::new(&done.answer)))
    });
    within(&app.limits, app.environment.now(), &[charge], operation).await
}

/// Returns the hash used to compare a retried request with the first one. It covers the text fields and the photos'
/// digests.
fn hash(form: &IntakeSubmission<'_>) -> String {
    let digests: Vec<&str> = form.photos.iter().map(|photo| photo.digest.as_str()).collect();
    idempotency::short(&Sha256::digest(json!([form.fields.hashed_fields(), digests]).to_string()))
}

/// Stores the photos and records the request in the same commit as the references to its photos.
async fn record(
    app: &IntakeHandles,
    call: &CommandRequest,
    site: Option<Site>,
    form: IntakeSubmission<'_>,
) -> Result<CommandOutcome<CustomRequest>, ApiError> {
    let hash = hash(&form);
    // Until the request is recorded, what it names is not removed.
    let recording = app.blobs.recording();
    let mut new_photos = Vec::with_capacity(form.photos.len());
    let command = async {
        keep(form.photos, &recording, &mut new_photos).await?;
        let (customer_email, customer_name, phone, wishes) = form.fields.into_parts()?;
        let customer_id = customer_of(&app.queries, &app.customers, call.origin(), &customer_email).await?;
        Ok(CustomRequestCommand::Create(Box::new(NewCustomRequest {
            site: site.map(|site| site.0),
            customer_id,
            customer_email,
            customer_name,
            phone,
            wishes,
            photos: new_photos.clone(),
        })))
    };
    let done = call.ask_hashed(&app.custom_requests, CommandTarget::New, hash, command).await;
    drop(recording);
    if done.is_err() {
        let contents = new_photos.into_iter().map(|photo| photo.sha256);
        // What stays behind, by an error, a crash or a doubt, is found at the next look through all contents.
        if let Err(error) = app.content_sweep.remove(app.environment.leadership(), contents).await {
            tracing::warn!(%error, "photos for a custom request that was not recorded are still on disk");
        }
    }
    done
}

async fn keep(
    photos: Vec<ReceivedPhoto<'_>>,
    recording: &Recording,
    new_photos: &mut Vec<NewPhoto>,
) -> Result<(), ApiError> {
    for ReceivedPhoto { content, format, .. } in photos {
        let content = content.keep(recording).await?;
        let size = i64::try_from(content.size).map_err(ApiError::internal)?;
        new_photos.push(NewPhoto { sha256: content.sha256, size, format });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_keep_their_form_in_responses() {
        for (cents, currency, expected) in [
            (12_345, "usd", "$123.45"),
            (123_456, "EUR", "€1,234.56"),
            (5, "gbp", "£0.05"),
            (12_345, "chf", "123.45 CHF"),
            (1500, "jpy", "1,500 JPY"),
        ] {
            assert_eq!(price(cents, currency), expected);
        }
    }
}
