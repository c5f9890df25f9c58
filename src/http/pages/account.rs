//! Customer's profile page, with the fields that the customer can change, and sign-out.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::Response;
use maud::{Markup, html};
use serde_json::{Value, json};

use super::faults::alert;
use super::form::{FormBody, PageForm};
use super::frame::{PageLanguage, SLOT, Section, Viewer, see_other, with_parts};
use super::paths::PROFILE;
use super::sign_in;
use config::Config;
use domain::customer::{AddressKind, Customer, CustomerAddress, CustomerCommand};
use http::access::Caller;
use http::command_request::{CommandTarget, find_existing, state_of};
use http::error::ApiError;
use http::handles::handles;
use http_api::billing::profile::ProfileUpdate;
use http_api::billing::session::{SignInHandles, end_session};
use kernel::directory::Directory;
use words::{Language, pages};

handles! {
    /// Dependencies of the profile pages.
    pub(crate) struct AccountHandles {
        customers: Directory<Customer>,
        config: Arc<Config>,
    }
}

/// Name of the field for the language, as in the API.
const LANGUAGE_FIELD: &str = "locale";
/// Value of the field for the language if the profile has none.
const OF_BROWSER: &str = "browser";

/// Form field: name (as in the API), label, `autocomplete` value, and maximum length in characters, enforced by
/// browsers.
type ProfileField = (&'static str, fn(Language) -> String, &'static str, usize);

const PERSON: [ProfileField; 4] = [
    ("name", pages::name_field, "name", 200),
    ("phone", pages::phone_field, "tel", 50),
    ("company", pages::company_field, "organization", 200),
    ("taxId", pages::tax_id_field, "off", 50),
];
const PARCELS: [ProfileField; 6] = [
    ("line1", pages::line1_field, "shipping address-line1", 200),
    ("line2", pages::line2_field, "shipping address-line2", 200),
    ("city", pages::city_field, "shipping address-level2", 100),
    ("region", pages::region_field, "shipping address-level1", 100),
    ("postalCode", pages::postal_code_field, "shipping postal-code", 20),
    ("country", pages::country_field, "shipping country", 2),
];

/// Signs the customer out and redirects to the sign-in page.
pub(super) async fn sign_out(State(app): State<SignInHandles>, sent: PageForm) -> Result<Response, ApiError> {
    let cookie = end_session(&app, &sent.call.who).await?;
    let mut response = see_other(sign_in::PATH);
    response.headers_mut().insert(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Serves the profile page.
pub(super) async fn show(
    State(app): State<AccountHandles>,
    who: Caller,
    language: PageLanguage,
) -> Result<Response, ApiError> {
    let (_, state) = find_existing(&app.customers, who.customer()?.0).await?;
    let customer = state_of(&state)?;
    let viewer = Viewer::new(&who, &app.config, language)?;
    let (values, title) = (|name: &str| value_of(customer, name), pages::profile_title(viewer.language()));
    Ok(viewer.page(Section::Profile, &title, &form(&viewer, &customer.email, &values, None)))
}

/// Handles the profile form, using the same validation and command as the API.
pub(super) async fn change(
    State(app): State<AccountHandles>,
    language: PageLanguage,
    sent: PageForm,
) -> Result<Response, ApiError> {
    let (id, email) = sent.call.who.customer()?;
    let viewer = Viewer::new(&sent.call.who, &app.config, language)?;
    let (_, state) = find_existing(&app.customers, id).await?;
    let update = sent.request_of::<ProfileUpdate>(profile_body(&sent, state_of(&state)?));
    let changed = match update.read_body() {
        Ok(update) => {
            let change = CustomerCommand::Update(Box::new(update.into()));
            sent.call.ask(&app.customers, CommandTarget::Id(id), change).await.map(|_| ())
        }
        Err(error) => Err(error),
    };
    match changed {
        Ok(()) => Ok(see_other(PROFILE)),
        Err(error) if error.status().is_client_error() => {
            let values = |name: &str| sent.text(name).to_owned();
            let wrong = alert(viewer.language(), &error);
            let content = form(&viewer, email, &values, Some(&wrong));
            Ok(viewer.again(Section::Profile, &pages::profile_title(viewer.language()), &content))
        }
        Err(error) => Err(error),
    }
}

/// Reads the body of the API operation from the form, with the addresses that the form does not show.
fn profile_body(sent: &PageForm, customer: &Customer) -> FormBody {
    let own = shipping_of(customer);
    let others = customer.addresses.iter().filter(|one| own.is_none_or(|own| own.id != one.id));
    let others = others.map(|one| json!({
        "id": one.id, "kind": one.kind, "isDefault": one.is_default && one.kind != AddressKind::Shipping,
        "line1": one.address.line1, "line2": one.address.line2, "city": one.address.city, "region": one.address.region,
        "postalCode": one.address.postal_code, "country": one.address.country,
    }));
    let mut addresses: Vec<Value> = others.collect();
    if PARCELS.iter().any(|(name, ..)| !sent.text(name).is_empty()) {
        addresses.push(json!({
            "id": own.map(|own| own.id), "kind": AddressKind::Shipping, "isDefault": true, "line1": sent.text("line1"),
            "line2": sent.some("line2"), "city": sent.text("city"), "region": sent.some("region"),
            "postalCode": sent.text("postalCode"), "country": sent.text("country"),
        }));
    }
    let body = sent.change().with("addresses", addresses);
    // A language that stays keeps its region: `de-AT`.
    let chosen = sent.text(LANGUAGE_FIELD);
    if chosen == value_of(customer, LANGUAGE_FIELD) {
        return body.without("locale");
    }
    body.converted("locale", |tag| (tag == OF_BROWSER).then_some(Value::Null)).unless_empty(&["locale"])
}

/// Returns the customer's shipping address, if any.
fn shipping_of(customer: &Customer) -> Option<&CustomerAddress> {
    customer.addresses.iter().find(|one| one.kind == AddressKind::Shipping && one.is_default)
}

fn value_of(customer: &Customer, name: &str) -> String {
    let address = shipping_of(customer).map(|one| &one.address);
    let value = match name {
        "name" => customer.name.clone(),
        "phone" => customer.phone.clone(),
        "company" => customer.company.clone(),
        LANGUAGE_FIELD => Some(language_value(customer.locale.as_deref())),
        "taxId" => customer.tax_id.clone(),
        "line1" => address.map(|one| one.line1.clone()),
        "line2" => address.and_then(|one| one.line2.clone()),
        "city" => address.map(|one| one.city.clone()),
        "region" => address.and_then(|one| one.region.clone()),
        "postalCode" => address.map(|one| one.postal_code.clone()),
        "country" => address.map(|one| one.country.clone()),
        _ => None,
    };
    value.unwrap_or_default()
}

/// Returns the value of the field for the language; empty for a language in which there are no pages.
fn language_value(locale: Option<&str>) -> String {
    match locale {
        None => OF_BROWSER.to_owned(),
        Some(tag) => Language::of_tag(tag).map(|language| language.tag().to_owned()).unwrap_or_default(),
    }
}

/// Renders the field for the language, with each language's name in the language itself. Another one, which only the
/// API sets, stays unless one of these is chosen.
fn language_field(language: Language, value: &str) -> Markup {
    let option = |option_value: &str, lang: Option<&str>, label: &str| {
        html! { option value=(option_value) lang=[lang] selected[option_value == value] { (label) } }
    };
    html! {
        div class="field" {
            label for=(LANGUAGE_FIELD) { (pages::language_field(language)) }
            select id=(LANGUAGE_FIELD) name=(LANGUAGE_FIELD) {
                @if value.is_empty() { (option("", None, &pages::other_language(language))) }
                (option(OF_BROWSER, None, &pages::language_of_browser(language)))
                @for one in Language::ALL {
                    (option(one.tag(), Some(one.tag()).filter(|_| one != language), one.own_name()))
                }
            }
        }
    }
}

fn form(viewer: &Viewer, email: &str, values: &dyn Fn(&str) -> String, wrong: Option<&Markup>) -> Markup {
    let language = viewer.language();
    let member = |(name, label, filled, most): &ProfileField| {
        html! {
            div class="field" {
                label for=(name) { (label(language)) }
                input id=(name) name=(name) autocomplete=(filled) maxlength=(most) value=(values(name));
            }
        }
    };
    html! {
        h1 { (pages::profile_title(language)) }
        @if let Some(wrong) = wrong { (wrong) }
        p { (with_parts(&pages::signed_in_as(language, SLOT), &[&html! { strong { (email) } }])) }
        form method="post" action=(PROFILE) {
            (viewer.hidden())
            section class="panel pad" aria-labelledby="person" {
                h2 id="person" { (pages::about_you(language)) }
                @for one in &PERSON { (member(one)) }
                (language_field(language, &values(LANGUAGE_FIELD)))
            }
            section class="panel pad" aria-labelledby="parcels" {
                h2 id="parcels" { (pages::shipping_address(language)) }
                p class="hint" { (pages::address_hint(language)) }
                @for one in &PARCELS { (member(one)) }
            }
            button type="submit" { (pages::save(language)) }
        }
    }
}
