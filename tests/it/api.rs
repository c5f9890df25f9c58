//! The shop's half of the API, as a client program uses it: one file for each area.

mod after_payment;
mod agent;
pub mod alerts;
mod allowed;
mod arrival;
mod audit;
pub mod backup;
mod backup_schedule;
pub mod checkout;
mod custom_requests;
mod description;
mod emails;
mod errors;
pub mod files;
mod idempotency;
mod invoices;
mod jobs;
mod key_rotation;
mod keys;
mod lists;
pub mod materials;
mod orders;
mod own_orders;
mod passwords;
pub mod payments;
pub mod quotes;
mod refunds;
mod restores;
mod roles;
pub mod sales_channels;
pub mod second_factor;
mod sessions;
pub mod settings;
mod setup;
mod setup_pages;
mod signals;
mod skus;
mod slicer;
mod stock_links;
mod streams;
mod versions;
pub mod webhooks;

use serde_json::{Value, json};

use crate::support::{App, Client, StaffMember};

/// Password that meets the length requirement.
pub const PASSWORD: &str = "correct horse battery";

/// ID that belongs to no resource.
pub const NOTHING: &str = "01890000-0000-7000-8000-00000000dead";

/// Returns the `id` of a response.
#[track_caller]
pub fn id(body: &Value) -> String {
    body["id"].as_str().unwrap_or_else(|| panic!("no id: {body}")).to_owned()
}

/// Returns the paths of the faults in a validation error, sorted.
#[track_caller]
pub fn paths(body: &Value) -> Vec<String> {
    assert_eq!(body["code"], "validation_failed", "{body}");
    fault_paths(body)
}

/// Returns the paths of the faults in an error with any code, sorted.
#[track_caller]
pub fn fault_paths(body: &Value) -> Vec<String> {
    let faults = body["errors"].as_array().unwrap_or_else(|| panic!("no errors: {body}"));
    let mut paths: Vec<String> = faults.iter().map(|fault| fault["path"].as_str().unwrap().to_owned()).collect();
    paths.sort();
    paths
}

/// Creates an API key; returns its ID and a client that sends the key.
pub async fn new_key(app: &App, body: &Value) -> (String, Client) {
    let key = app.post("/api/auth/api-keys", body).await.expect(201);
    (id(&key), app.with_key(key["key"].as_str().unwrap()))
}

/// Returns a client with a new key of this role.
pub async fn with_role(app: &App, role: &str) -> Client {
    new_key(app, &json!({"name": role, "role": role})).await.1
}

/// Returns a client with a new key of a customer.
pub async fn customer_of(app: &App, email: &str) -> Client {
    new_key(app, &json!({"name": "shop", "role": "customer", "customerEmail": email})).await.1
}

/// Creates a staff member and returns their ID.
pub async fn staff(app: &App, email: &str, role: &str) -> String {
    let body = json!({"email": email, "name": "Sam", "password": PASSWORD, "role": role});
    id(&app.post("/api/users", &body).await.expect(201))
}

/// Signs in; returns the session cookie as `name=value`.
pub async fn sign_in(app: &App, email: &str, password: &str) -> String {
    let answer = app.nobody().post("/api/auth/login", &json!({"email": email, "password": password})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let cookie = answer.header("set-cookie").expect("a cookie").to_owned();
    cookie.split(';').next().unwrap().to_owned()
}

/// Returns the session cookie of a staff member, whom it creates and signs in unless the shop has them from the
/// beginning.
pub async fn session_of(app: &App, member: StaffMember) -> String {
    if let Some(cookie) = app.cookie_of(member) {
        return cookie.to_owned();
    }
    staff(app, member.email, member.role).await;
    sign_in(app, member.email, PASSWORD).await
}

/// Returns a client that sends this cookie with every request, and no key.
#[expect(clippy::disallowed_methods, reason = "a test's own client")]
pub fn with_cookie(app: &App, cookie: &str) -> Client {
    let headers = [(reqwest::header::COOKIE, cookie.parse().unwrap())].into_iter().collect();
    let no_redirects = reqwest::redirect::Policy::none();
    let http = reqwest::Client::builder().no_proxy().redirect(no_redirects).default_headers(headers).build().unwrap();
    Client { http, ..app.nobody() }
}

/// Returns a client of a staff member who has just signed in.
pub async fn signed_in(app: &App, email: &str) -> Client {
    with_cookie(app, &sign_in(app, email, PASSWORD).await)
}

/// Creates a SKU that costs 12.50 and takes 10 g of a material that does not run out; returns the SKU's ID.
pub async fn some_sku(app: &App) -> String {
    let material = app.material("PLA", 1_000_000.0).await;
    let file = app.gcode("part", 60, 10.0).await;
    app.sku("PART", &material, &file, 1250).await
}

/// Returns the body of an order for one piece of a SKU.
pub fn one_of(sku: &str) -> Value {
    json!({"lines": [{"skuId": sku, "quantity": 1}]})
}

/// Returns the total number of entries that a list reports.
pub async fn count(client: &Client, path: &str) -> u64 {
    let list = client.get(path).await.expect(200);
    list["pagination"]["total"].as_u64().unwrap_or_else(|| panic!("no total: {list}"))
}
