#![expect(clippy::unwrap_used, reason = "tests")]
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::read;
use super::*;
use config::Config;
use domain::invoice::DocumentKind;
use platform::http::{LanSettings, lan};

fn client(change: impl Fn(&mut AccountingSettings)) -> Result<AccountingClient, PeerSettingError> {
    platform::tls::install_provider();
    let mut settings = AccountingSettings::of(&Config::default().accounting);
    settings.client_id = "shop".to_owned();
    change(&mut settings);
    AccountingClient::new(lan(&LanSettings::default()).unwrap(), settings, "https://shop.example/back")
}

#[test]
fn the_page_is_asked_with_a_challenge_and_never_with_its_secret() {
    let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
    let page = client(|_| {}).unwrap().consent_page("state-1", verifier);
    let query: BTreeMap<String, String> = page.query_pairs().into_owned().collect();
    assert!(page.as_str().starts_with("https://login.xero.com/identity/connect/authorize?"), "{page}");
    assert_eq!(query["code_challenge"], "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "as RFC 7636 has it");
    assert_eq!((query["code_challenge_method"].as_str(), query["state"].as_str()), ("S256", "state-1"));
    assert_eq!(query["redirect_uri"], "https://shop.example/back");
    assert!(query["scope"].contains("offline_access") && !page.as_str().contains(verifier));
}

#[test]
fn addresses_that_may_not_be_called_are_refused_at_once() {
    let hidden = "http://169.254.169.254/token";
    assert!(client(|settings| settings.token_url = hidden.to_owned()).is_err());
    assert!(client(|settings| settings.url = hidden.to_owned()).is_err());
    assert!(client(|settings| settings.revocation_url = hidden.to_owned()).is_err());
    assert!(client(|settings| settings.revocation_url = String::new()).is_ok());
}

#[test]
fn what_was_refused_is_told_in_its_own_words() {
    let answer = json!({"ErrorNumber": 10, "Message": "A validation exception occurred", "Elements": [
        {"ValidationErrors": [{"Message": "Account code '200' is not a valid code"}, {"Message": "Date is locked"}]},
    ]});
    assert_eq!(read::refusal(400, &answer, b""), "status 400: Account code '200' is not a valid code; Date is locked");
    assert_eq!(
        read::refusal(403, &json!({"Detail": "AuthenticationUnsuccessful"}), b""),
        "status 403: AuthenticationUnsuccessful"
    );
    assert_eq!(read::refusal(404, &Value::Null, b"no\nsuch"), "status 404: no such");
}

#[test]
fn only_documents_that_count_are_found() {
    let gone = json!({"Invoices": [{"InvoiceID": "1", "Status": "VOIDED"}]});
    assert_eq!(read::paper(&gone, DocumentKind::Invoice).unwrap(), None);
    let there = json!({"Invoices": [{"InvoiceID": "1", "Status": "DELETED"}, {"InvoiceID": "2", "Status": "PAID", "Total": 12.3}]});
    let actual = read::paper(&there, DocumentKind::Invoice).unwrap().unwrap();
    assert_eq!((actual.id.as_str(), actual.total), ("2", Some(12.3)));
    assert!(read::paper(&json!({}), DocumentKind::Invoice).is_err(), "no list is no answer");
    let wrong = json!({"CreditNotes": [{"HasErrors": true, "ValidationErrors": [{"Message": "no"}]}]});
    assert_eq!(read::paper(&wrong, DocumentKind::CreditNote), Err(AccountingError::Refused("no".to_owned())));
}
