//! Authentication with the API key in its header, or by HTTP Digest.

use std::sync::PoisonError;

use axum::{
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::Response,
};
use md5::{Digest, Md5};

use super::{PrusalinkHost, error};

/// User name for HTTP Digest.
const USER: &str = "maker";
/// Realm for HTTP Digest.
const REALM: &str = "Printer API";

pub(super) async fn authorise(State(host): State<PrusalinkHost>, request: Request, next: Next) -> Response {
    if host.may(&request) {
        return next.run(request).await;
    }
    let mut refusal = error(StatusCode::UNAUTHORIZED, "Wrong or missing key");
    let nonce = uuid::Uuid::now_v7().simple().to_string();
    let challenge = format!("Digest realm=\"{REALM}\", nonce=\"{nonce}\", algorithm=MD5, qop=\"auth\", stale=false");
    host.state.nonces.lock().unwrap_or_else(PoisonError::into_inner).push(nonce);
    if let Ok(challenge) = HeaderValue::from_str(&challenge) {
        refusal.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    refusal
}

impl PrusalinkHost {
    fn may(&self, request: &Request) -> bool {
        if self.printer.with(|machine| machine.faults().wrong_key) {
            return false;
        }
        let Some(key) = self.api_key.as_deref() else { return true };
        let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
        if let Some(presented) = header("x-api-key") {
            return presented == key;
        }
        header("authorization").is_some_and(|answer| self.answers(answer, request, key))
    }

    /// Returns whether an `Authorization` header is a correct response to an issued challenge.
    fn answers(&self, answer: &str, request: &Request, password: &str) -> bool {
        let Some(answer) = answer.strip_prefix("Digest ") else { return false };
        let member = |name: &str| {
            let members = answer.split(", ").filter_map(|member| member.split_once('='));
            let value = members.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.trim_matches('"'));
            value.unwrap_or_default()
        };
        let nonce = member("nonce");
        let is_known_nonce =
            self.state.nonces.lock().unwrap_or_else(PoisonError::into_inner).iter().any(|issued| issued == nonce);
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let secret = md5(&format!("{USER}:{REALM}:{password}"));
        let request_hash = md5(&format!("{}:{target}", request.method()));
        let count = (member("nc"), member("cnonce"), member("qop"));
        let expected = md5(&format!("{secret}:{nonce}:{}:{}:{}:{request_hash}", count.0, count.1, count.2));
        is_known_nonce && member("username") == USER && member("uri") == target && member("response") == expected
    }
}

fn md5(text: &str) -> String {
    hex::encode(Md5::digest(text))
}
