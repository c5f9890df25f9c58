//! API representation of custom requests.

use api_derive::Response;
use serde::Serialize;
use serde_json::json;

use super::EXAMPLE_ID;
use crate::production::customers::EXAMPLE_ID as EXAMPLE_CUSTOMER;
use crate::production::orders::site::Site;
use domain::custom_request::{CustomRequest, CustomRequestStatus, Photo};
use domain::id::Id;
use domain::intake_prices::EstimateItem;
use domain::picture_format::PictureFormat;
use domain::time::Timestamp;

/// Custom request in a list.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomRequestSummary", many = "customRequests", example = json!({
    "id": EXAMPLE_ID, "status": "new", "site": "support", "customerId": EXAMPLE_CUSTOMER,
    "customerEmail": "ann@example.org", "customerName": "Ann Example", "productType": "figurine",
    "estimatedTotalCents": 12345, "currency": "usd", "validUntil": "2026-12-07T10:00:00.000Z", "photoCount": 1,
    "quoteId": null, "createdAt": "2026-11-23T10:00:00.000Z", "updatedAt": "2026-11-23T10:00:00.000Z", "version": 1,
}))]
pub(super) struct CustomRequestSummary {
    /// ID of the request.
    id: Id,
    /// Status of the request.
    status: CustomRequestStatus,
    /// Site through which the request was submitted.
    site: Site,
    /// ID of the customer who submitted the request.
    customer_id: Id,
    /// Email address of the customer.
    customer_email: String,
    /// Customer's name, as entered with the request.
    customer_name: String,
    /// Type of product requested.
    product_type: String,
    /// Estimated total, in the currency's smallest unit.
    estimated_total_cents: i64,
    /// Three-letter ISO 4217 currency code, in lowercase.
    currency: String,
    /// Time until which the estimate is valid.
    valid_until: Timestamp,
    /// Number of photos.
    photo_count: usize,
    /// ID of the newest quote for the request, if any.
    quote_id: Option<Id>,
    /// Time at which the request was submitted.
    created_at: Timestamp,
    /// Time at which the request last changed.
    updated_at: Timestamp,
    /// Version number of the request: starts at 1 and increases with each manual change; also its `ETag`.
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

/// Custom request with all details available to staff.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomRequest", example = json!({
    "id": EXAMPLE_ID, "status": "new", "site": "support", "customerId": EXAMPLE_CUSTOMER,
    "customerEmail": "ann@example.org", "customerName": "Ann Example", "productType": "figurine",
    "estimatedTotalCents": 12345, "currency": "usd", "validUntil": "2026-12-07T10:00:00.000Z", "photoCount": 1,
    "quoteId": null, "createdAt": "2026-11-23T10:00:00.000Z", "updatedAt": "2026-11-23T10:00:00.000Z", "version": 1,
    "phone": null, "subjectType": "pet", "styleId": "cartoon", "sizeId": "medium", "baseOptionId": "wood",
    "colorCount": 2, "uvCoating": false, "addonIds": [], "inscription": "Rex", "notes": null,
    "photos": [PhotoView::example_json(1)], "estimate": [EstimateItemView::example_json()], "unknownIds": [], "internalNotes": null,
}))]
pub(super) struct CustomRequestView {
    #[serde(flatten)]
    summary: CustomRequestSummary,
    /// Customer's phone number, as entered with the request.
    phone: Option<String>,
    /// Type of subject to depict.
    subject_type: String,
    /// Style of the product.
    style_id: String,
    /// Size of the product.
    size_id: String,
    /// Base for the product.
    base_option_id: String,
    /// Number of colours.
    color_count: u8,
    /// `true` if a UV-protective coating is requested.
    uv_coating: bool,
    /// Selected add-ons.
    addon_ids: Vec<String>,
    /// Inscription on the product.
    inscription: Option<String>,
    /// Additional notes from the customer.
    notes: Option<String>,
    /// Photos, stripped of location metadata.
    photos: Vec<PhotoView>,
    /// Estimated price of each selected option.
    estimate: Vec<EstimateItemView>,
    /// Fields whose values are not in the price tables; the estimate uses a default for each of them.
    unknown_ids: Vec<String>,
    /// Internal notes, not visible to customers.
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

/// Photo attached to a custom request.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomRequestPhoto", example = json!(PhotoView::example_json(1)))]
struct PhotoView {
    /// Number of the photo within the request, starting at 1.
    number: u32,
    /// ID of the stored file.
    file_id: Id,
    /// Image format, detected from the content.
    format: PictureFormat,
    /// Size of the file, in bytes.
    size: i64,
}

impl PhotoView {
    fn new(number: u32, photo: &Photo) -> Self {
        Self { number, file_id: photo.file_id, format: photo.format, size: photo.size }
    }

    /// Returns an example photo.
    fn example_json(number: u32) -> serde_json::Value {
        json!({"number": number, "fileId": "01890a5d-ac96-774b-bcce-b302099a8064", "format": "jpeg", "size": 2_097_152})
    }
}

/// Estimated price of a selected option.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomRequestEstimateItem", example = json!(EstimateItemView::example_json()))]
struct EstimateItemView {
    /// Field that selected the option, such as `styleId` or `addonIds.0`.
    path: String,
    /// Price in the currency's smallest unit.
    cents: i64,
    /// `true` if the price tables contain the option; otherwise, a default was used.
    #[serde(rename = "known")]
    is_listed: bool,
}

impl EstimateItemView {
    fn new(item: &EstimateItem) -> Self {
        let EstimateItem { path, cents, is_listed } = item.clone();
        Self { path, cents, is_listed }
    }

    /// Returns an example item.
    fn example_json() -> serde_json::Value {
        json!({"path": "styleId", "cents": 1000, "known": true})
    }
}
