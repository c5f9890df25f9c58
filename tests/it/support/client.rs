//! A client for the API: a base URL, a key, and JSON.

use serde_json::Value;

use super::contract;
use super::waiting::LONG;

/// A complete response.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    /// Parses the body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        bounded_json::read(self.text.as_bytes(), bounded_json::ANSWER)
            .unwrap_or_else(|e| panic!("not JSON ({e}): {} {}", self.status, self.text))
    }
    /// Asserts the status; returns the body, `Null` if it is empty.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        if self.text.is_empty() { Value::Null } else { self.json() }
    }
    /// Asserts an error response of the standard shape; returns its code.
    #[track_caller]
    pub fn error(self, status: u16) -> String {
        let body = self.expect(status);
        assert_eq!(body["success"], false, "{body}");
        assert!(body["message"].is_string(), "{body}");
        body["code"].as_str().unwrap_or_else(|| panic!("no code: {body}")).to_owned()
    }
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Returns the HTTP client that all tests use.
#[expect(clippy::disallowed_methods, reason = "a test's own client")]
pub fn http() -> reqwest::Client {
    let no_redirects = reqwest::redirect::Policy::none();
    let client = reqwest::Client::builder().no_proxy().redirect(no_redirects);
    client.timeout(LONG).build().unwrap()
}

/// Sends a request; returns its method and path, and the response. `None` if there was no response.
async fn sent(request: reqwest::RequestBuilder) -> Option<(String, String, reqwest::Response)> {
    let (http, request) = request.build_split();
    let request = request.unwrap();
    let (method, path) = (request.method().to_string(), request.url().path().to_owned());
    Some((method, path, http.execute(request).await.ok()?))
}

/// Client of one server with one key.
#[derive(Clone)]
pub struct Client {
    pub base: String,
    pub key: Option<String>,
    pub http: reqwest::Client,
}

impl Client {
    pub fn new(base: &str, key: Option<&str>) -> Self {
        Self { base: base.to_owned(), key: key.map(str::to_owned), http: http() }
    }

    /// Builds a request for a path, with the client's key.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.request(method.parse().unwrap(), format!("{}{path}", self.base));
        match &self.key {
            Some(key) => request.header("X-API-Key", key),
            None => request,
        }
    }

    /// Sends a request; `None` if there was no complete response. The response must match the API description.
    pub async fn try_send(&self, request: reqwest::RequestBuilder) -> Option<Answer> {
        let (method, path, response) = sent(request).await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let answer = Answer { status, headers, text: response.text().await.ok()? };
        contract::check(&method, &path, answer.status, &answer.headers, Some(&answer.text));
        Some(answer)
    }

    /// Sends a request; returns the response before its body, which may never end. The response must match the API
    /// description.
    pub async fn open(&self, request: reqwest::RequestBuilder) -> reqwest::Response {
        let (method, path, response) = sent(request).await.expect("an answer");
        contract::check(&method, &path, response.status().as_u16(), response.headers(), None);
        response
    }

    /// Sends; there must be an answer.
    pub async fn send(&self, request: reqwest::RequestBuilder) -> Answer {
        self.try_send(request).await.expect("an answer")
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request("GET", path)).await
    }
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request("POST", path).json(body)).await
    }
    /// Sends a POST without a body.
    pub async fn act(&self, path: &str) -> Answer {
        self.send(self.request("POST", path)).await
    }
    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.send(self.request("PATCH", path).json(body)).await
    }
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(self.request("DELETE", path)).await
    }
    /// Sends a POST with an idempotency key.
    pub async fn post_keyed(&self, path: &str, key: &str, body: &Value) -> Answer {
        self.send(self.request("POST", path).header("Idempotency-Key", key).json(body)).await
    }
    /// Uploads a file, which must get a response.
    pub async fn upload(&self, name: &str, bytes: Vec<u8>) -> Answer {
        self.try_upload(name, bytes).await.expect("an answer")
    }
    /// Uploads a file as [`Self::upload`] does; `None` if there was no complete response.
    pub async fn try_upload(&self, name: &str, bytes: Vec<u8>) -> Option<Answer> {
        let part = reqwest::multipart::Part::bytes(bytes).file_name(name.to_owned());
        let form = reqwest::multipart::Form::new().part("file", part);
        self.try_send(self.request("POST", "/api/files").multipart(form)).await
    }
}
