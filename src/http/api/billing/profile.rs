//! The customer's own profile.

use api_derive::{Request, Response};
use axum::extract::State;
use serde::Serialize;
use serde_json::json;

use super::reply::Success;
use crate::billing::preflight::preflight;
use crate::production::customers::{CustomerDetails, EXAMPLE_ID};
use actors::subscribers::{StoredCard, Subscribers};
use domain::customer::{AddressKind, AddressUpdate, Customer, CustomerCommand, MAX_ADDRESSES, ProfileChange};
use domain::id::Id;
use domain::order::Address;
use domain::time::Timestamp;
use http::access::{Caller, RequiredAccess};
use http::command_request::{CommandRequest, CommandTarget, find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http::reply::Plain;
use http::routes::ResourceRoutes;
use http::wire::{ItemsWithin, MaxChars, ONE_LINE, Optional, like};
use kernel::directory::Directory;
use services::payments::PaymentMethod;

like!(LOCALE, "^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$", "must be a language tag such as en or de-CH");

const EXAMPLE_ADDRESS: &str = "01890a5d-ac96-774b-bcce-b302099a8081";

handles! {
    /// Dependencies of the profile routes.
    pub struct ProfileHandles {
        customers: Directory<Customer>,
        subscribers: Subscribers,
    }
}

/// Returns the profile routes.
pub fn routes() -> ResourceRoutes {
    let customer = RequiredAccess::Customer;
    ResourceRoutes::new("Profile", "The customer's contact data and addresses.", "customer")
        .get(customer, "/api/v1/me", me, |op| op.named("getProfile", "Retrieve your profile"))
        .options(RequiredAccess::Open, "/api/v1/me", preflight, |op| {
            op.named("preflightMe", "CORS preflight request").about(
                "Browsers send it automatically to any path of this API. It does not count towards the rate limit.",
            )
        })
        .patch(customer, "/api/v1/profile", update, |op| {
            op.named("updateProfile", "Update your profile").about(
                "Omitted fields are left unchanged; null clears a field. A list of addresses replaces the existing \
                 one: to keep an address, send its `id`. The first address of each kind is the default unless another \
                 one is marked as such.",
            )
        })
}

/// Address to add to the profile, or replacement for an existing one.
#[derive(Request, Clone, Debug)]
#[api(name = "ProfileAddressInput", example = json!({
    "kind": "shipping", "line1": "1 Main Street", "city": "Springfield", "region": "IL", "postalCode": "62701",
    "country": "US", "isDefault": true,
}))]
pub struct AddressInput {
    /// ID of the existing address to replace. Omit it for a new address.
    id: Option<Id>,
    /// Purpose of the address.
    kind: AddressKind,
    #[api(flatten)]
    address: Address,
    /// `true` if this is the default address of its kind. At most one address of each kind can be the default.
    #[api(default = false)]
    is_default: bool,
}

impl From<AddressInput> for AddressUpdate {
    fn from(input: AddressInput) -> Self {
        let AddressInput { id, kind, address, is_default } = input;
        Self { id, kind, address, is_default }
    }
}

/// Changes to a profile. Omitted fields are left unchanged.
#[derive(Request, Debug)]
#[api(name = "UpdateProfileRequest", example = json!({"name": "Sam Baker", "company": null}))]
pub struct ProfileUpdate {
    /// Name of the customer.
    #[api(ONE_LINE, MaxChars(200))]
    name: Optional<Option<String>>,
    /// Telephone number, in free form.
    #[api(ONE_LINE, MaxChars(50))]
    phone: Optional<Option<String>>,
    /// Company that the customer buys for.
    #[api(ONE_LINE, MaxChars(200))]
    company: Optional<Option<String>>,
    /// Tax ID of the company.
    #[api(ONE_LINE, MaxChars(50))]
    tax_id: Optional<Option<String>>,
    /// Language and region, such as `en` or `de-CH`.
    #[api(&LOCALE, MaxChars(35))]
    locale: Optional<Option<String>>,
    /// Complete list of addresses. Replaces the existing list.
    #[api(ItemsWithin(0..=MAX_ADDRESSES))]
    addresses: Optional<Vec<AddressInput>>,
}

impl From<ProfileUpdate> for ProfileChange {
    fn from(update: ProfileUpdate) -> Self {
        let ProfileUpdate { name, phone, company, tax_id, locale, addresses } = update;
        Self {
            name: name.present(),
            phone: phone.present(),
            company: company.present(),
            tax_id: tax_id.present(),
            locale: locale.present(),
            addresses: addresses.present().map(|all| all.into_iter().map(Into::into).collect()),
        }
    }
}

/// Payment method that the payment processor stores for the customer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "PaymentMethod")]
pub struct PaymentMethodView {
    /// ID of the payment method at the payment processor.
    pub id: String,
    /// Brand of the card.
    pub brand: String,
    /// Last four digits of the card number.
    pub last4: String,
    /// Expiry month of the card, from 1 to 12.
    pub exp_month: u8,
    /// Expiry year of the card.
    pub exp_year: u32,
    /// `true` if this is the default payment method.
    pub is_default: bool,
}

impl PaymentMethodView {
    /// Builds the view of a stored card; returns `None` for other payment methods, which have no card number or expiry
    /// date.
    pub fn of(card: &PaymentMethod, is_default: bool) -> Option<Self> {
        let (exp_month, exp_year) = (card.exp_month?, card.exp_year?.into());
        let (id, brand, last4) = (card.id.clone(), card.brand.clone(), card.last4.clone());
        Some(Self { id, brand, last4, exp_month, exp_year, is_default })
    }
}

/// Profile of a customer.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "CustomerProfile", example = json!({
    "id": EXAMPLE_ID, "email": "buyer@example.org", "name": "Sam Baker", "phone": null, "company": null, "taxId": null,
    "locale": "en", "addresses": [{
        "id": EXAMPLE_ADDRESS, "kind": "shipping", "line1": "1 Main Street", "line2": null, "city": "Springfield",
        "region": "IL", "postalCode": "62701", "country": "US", "isDefault": true,
    }], "paymentMethods": [], "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-01T08:05:00.000Z",
}))]
pub struct Profile {
    #[serde(flatten)]
    details: CustomerDetails,
    /// Payment methods stored at the payment processor. Empty if the processor is not configured or does not respond.
    payment_methods: Vec<PaymentMethodView>,
    /// Time at which the customer record was created.
    created_at: Timestamp,
    /// Time of the last change to the profile.
    updated_at: Timestamp,
}

impl Profile {
    /// Builds the profile with the given payment methods.
    fn new(customer: &Customer, payment_methods: Vec<PaymentMethodView>) -> Self {
        let &Customer { created_at, updated_at, .. } = customer;
        Self { details: customer.into(), payment_methods, created_at, updated_at }
    }
}

/// Profile of the signed-in customer.
#[derive(Response, Serialize)]
#[api(name = "ProfileResponse", example = json!({"success": true, "profile": Profile::example()}))]
pub struct ProfileReply {
    success: Success,
    profile: Profile,
}

impl ProfileReply {
    fn new(customer: &Customer, cards: &[StoredCard]) -> Self {
        let cards = cards.iter().filter_map(|one| PaymentMethodView::of(&one.card, one.is_default));
        Self { success: Success, profile: Profile::new(customer, cards.collect()) }
    }
}

async fn me(State(app): State<ProfileHandles>, who: Caller) -> Result<Plain<ProfileReply>, ApiError> {
    let customer = who.customer()?.0;
    let (_, state) = find_existing(&app.customers, customer).await?;
    let cards = app.subscribers.cards(customer).await;
    Ok(Plain(ProfileReply::new(state_of(&state)?, &cards)))
}

async fn update(
    State(app): State<ProfileHandles>,
    call: CommandRequest<ProfileUpdate>,
) -> Result<Plain<ProfileReply>, ApiError> {
    let customer = call.who.customer()?.0;
    let change = CustomerCommand::Update(Box::new(call.read_body()?.into()));
    let done = call.ask(&app.customers, CommandTarget::Id(customer), change).await?;
    let customer = &done.answer.customer;
    let cards = app.subscribers.cards(customer.id).await;
    Ok(Plain(ProfileReply::new(customer, &cards)))
}
