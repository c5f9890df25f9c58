//! A custom request as it is shown.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::EXAMPLE_ID;
use crate::domain::custom_request::{CustomRequest, CustomRequestStatus, Photo};
use crate::domain::id::Id;
use crate::domain::intake_prices::EstimateItem;
use crate::domain::picture_format::PictureFormat;
use crate::domain::time::Timestamp;
use crate::http::billing::profile::EXAMPLE_ID as EXAMPLE_CUSTOMER;
use crate::http::production::orders::site::Site;
use crate::http::wire::readable;

readable!(PictureFormat);

/// A custom request in a list.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomRequestSummary", many = "customRequests", example = json!({
    "id": EXAMPLE_ID, "status": "new", "site": "support", "customerId": EXAMPLE_CUSTOMER,
    "customerEmail": "ann@example.org", "customerName": "Ann Example", "productType": "figurine",
    "estimatedTotalCents": 12345, "currency": "usd", "validUntil": "2026-12-07T10:00:00.000Z", "photoCount": 1,
    "quoteId": null, "createdAt": "2026-11-23T10:00:00.000Z", "updatedAt": "2026-11-23T10:00:00.000Z", "version": 1,
}))]
pub(super) struct CustomRequestSummary {
    /// Id of the request.
    id: Id,
    /// Where it stands.
    status: CustomRequestStatus,
    /// The site that it came from.
    site: Site,
    /// Id of the customer who asked.
    customer_id: Id,
    /// The customer's e-mail address.
    customer_email: String,
    /// The name that was given with the request.
    customer_name: String,
    /// What is to be made.
    product_type: String,
    /// What it was estimated to cost, in minor units of the currency.
    estimated_total_cents: i64,
    /// ISO 4217, in lower case.
    currency: String,
    /// Until when the estimate is good.
    valid_until: Timestamp,
    /// How many photos it has.
    photo_count: usize,
    /// The newest quote that answers it; null while there is none.
    quote_id: Option<Id>,
    /// When it came in.
    created_at: Timestamp,
    /// When it last changed.
    updated_at: Timestamp,
    /// Counts the changes that people made, from 1; also its `ETag`.
    version: i64,
}

impl CustomRequestSummary {
    pub(super) fn new(request: &CustomRequest) -> Self {
        Self {
            id: request.id,
            status: request.status,
            site: Site(request.site.clone()),
            customer_id: request.customer_id,
            customer_email: request.customer_email.clone(),
            customer_name: request.customer_name.clone(),
            product_type: request.wishes.product_type.clone(),
            estimated_total_cents: request.estimate.total_cents,
            currency: request.estimate.currency.clone(),
            valid_until: request.valid_until,
            photo_count: request.photos.len(),
            quote_id: request.quote_id,
            created_at: request.created_at,
            updated_at: request.updated_at,
            version: request.revision,
        }
    }
}

/// A custom request with all that the staff may know of it.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomRequest", example = json!({
    "id": EXAMPLE_ID, "status": "new", "site": "support", "customerId": EXAMPLE_CUSTOMER,
    "customerEmail": "ann@example.org", "customerName": "Ann Example", "productType": "figurine",
    "estimatedTotalCents": 12345, "currency": "usd", "validUntil": "2026-12-07T10:00:00.000Z", "photoCount": 1,
    "quoteId": null, "createdAt": "2026-11-23T10:00:00.000Z", "updatedAt": "2026-11-23T10:00:00.000Z", "version": 1,
    "phone": null, "subjectType": "pet", "styleId": "cartoon", "sizeId": "medium", "baseOptionId": "wood",
    "colorCount": 2, "uvCoating": false, "addonIds": [], "inscription": "Rex", "notes": null,
    "photos": [PhotoView::shown(1)], "estimate": [EstimateItemView::shown()], "unknownIds": [], "internalNotes": null,
}))]
pub(super) struct CustomRequestView {
    #[serde(flatten)]
    summary: CustomRequestSummary,
    /// The telephone number that was given with it.
    phone: Option<String>,
    /// What it shows.
    subject_type: String,
    /// In which manner.
    style_id: String,
    /// How large.
    size_id: String,
    /// What it stands on.
    base_option_id: String,
    /// Number of colours.
    color_count: u8,
    /// Whether it is coated against sunlight.
    uv_coating: bool,
    /// Whatever else is wanted.
    addon_ids: Vec<String>,
    /// What is to be written on it.
    inscription: Option<String>,
    /// Whatever else the customer said.
    notes: Option<String>,
    /// The photos, without what told where they were taken.
    photos: Vec<PhotoView>,
    /// Every choice with what it was estimated at.
    estimate: Vec<EstimateItemView>,
    /// Fields whose ids the price tables did not have: they were estimated by a default.
    unknown_ids: Vec<String>,
    /// Notes of the staff, which customers do not read.
    internal_notes: Option<String>,
}

impl CustomRequestView {
    pub(super) fn new(request: &CustomRequest) -> Self {
        let wishes = request.wishes.clone();
        Self {
            summary: CustomRequestSummary::new(request),
            phone: request.phone.clone(),
            subject_type: wishes.subject_type,
            style_id: wishes.style_id,
            size_id: wishes.size_id,
            base_option_id: wishes.base_option_id,
            color_count: wishes.color_count,
            uv_coating: wishes.uv_coating,
            addon_ids: wishes.addon_ids,
            inscription: wishes.inscription,
            notes: wishes.notes,
            photos: (1..).zip(&request.photos).map(|(number, photo)| PhotoView::new(number, photo)).collect(),
            estimate: request.estimate.items.iter().map(EstimateItemView::new).collect(),
            unknown_ids: request.estimate.unknown().map(str::to_owned).collect(),
            internal_notes: request.internal_notes.clone(),
        }
    }
}

/// A photo of a custom request.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomRequestPhoto", example = json!(PhotoView::shown(1)))]
struct PhotoView {
    /// Counts the photos of the request from 1.
    number: u32,
    /// The file that it is.
    file_id: Id,
    /// Its format, found from its content.
    format: PictureFormat,
    /// The length of the file, in bytes.
    size: i64,
}

impl PhotoView {
    fn new(number: u32, photo: &Photo) -> Self {
        Self { number, file_id: photo.file_id, format: photo.format, size: photo.size }
    }

    /// One for examples.
    fn shown(number: u32) -> serde_json::Value {
        json!({"number": number, "fileId": "01890a5d-ac96-774b-bcce-b302099a8064", "format": "jpeg", "size": 2_097_152})
    }
}

/// What one choice was estimated at.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomRequestEstimateItem", example = json!(EstimateItemView::shown()))]
struct EstimateItemView {
    /// The field that chose it, such as `styleId` or `addonIds.0`.
    path: String,
    /// Its price in minor units of the currency.
    cents: i64,
    /// Whether the price tables had it; else it was estimated by a default.
    known: bool,
}

impl EstimateItemView {
    fn new(item: &EstimateItem) -> Self {
        let EstimateItem { path, cents, known } = item.clone();
        Self { path, cents, known }
    }

    /// One for examples.
    fn shown() -> serde_json::Value {
        json!({"path": "styleId", "cents": 1000, "known": true})
    }
}
