//! Simulated bucket with Amazon's S3 protocol, in memory. It does not verify signatures. Individual requests can be
//! made to fail as with a real service: refused, executed without a response, or hanging.

use std::collections::{BTreeMap, HashMap};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use jiff::Timestamp;

use super::{SharedState, System};

/// Name of the bucket.
const NAME: &str = "files";
/// Maximum size of a request in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// Failure of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BucketFault {
    /// Responds with this status without executing the request.
    Refused(u16),
    /// Executes the request, but responds with a server error.
    AnswerLost,
    /// Never responds and does not execute the request.
    Hanging,
    /// The request to store an object is answered as if it had been carried out, and changes nothing.
    Forgotten,
}

/// State of a bucket.
#[derive(Debug, Default)]
pub struct BucketState {
    objects: BTreeMap<String, BucketObject>,
    /// Parts of each multipart upload, by part number.
    uploads: HashMap<String, BTreeMap<u32, Bytes>>,
    upload_count: usize,
    /// Method and URL substring of requests that fail, each once, with the failure.
    faults: Vec<(String, String, BucketFault)>,
    /// Method and URL of all requests so far.
    calls: Vec<String>,
}

#[derive(Debug)]
struct BucketObject {
    content: Bytes,
    modified_at: Timestamp,
}

/// Running simulated bucket; stops when dropped.
pub type SimBucket = System<BucketState>;

impl SimBucket {
    /// Name of the bucket.
    pub const NAME: &'static str = NAME;

    /// Starts an empty bucket on a free loopback port.
    pub async fn start() -> std::io::Result<Self> {
        Self::serve(BucketState::default(), "", |shared| Router::new().fallback(answer).with_state(shared)).await
    }

    /// Makes the next request with this method and a URL that contains `url` fail.
    pub fn fail(&self, method: &str, url: &str, fault: BucketFault) {
        self.shared.with(|inside| inside.faults.push((method.to_owned(), url.to_owned(), fault)));
    }

    /// Returns the method and the URL of all requests so far, in order.
    pub fn calls(&self) -> Vec<String> {
        self.shared.with(|inside| inside.calls.clone())
    }

    /// Returns the keys of all objects, sorted.
    pub fn keys(&self) -> Vec<String> {
        self.shared.with(|inside| inside.objects.keys().cloned().collect())
    }

    /// Stores an object.
    pub fn insert(&self, key: &str, content: &[u8]) {
        let content = Bytes::copy_from_slice(content);
        self.shared.with(|inside| inside.insert(key.to_owned(), content));
    }

    /// Removes an object.
    pub fn remove(&self, key: &str) {
        self.shared.with(|inside| inside.objects.remove(key));
    }

    /// Sets the modification time of all objects.
    pub fn set_modified(&self, modified_at: Timestamp) {
        self.shared.with(|inside| {
            inside.objects.values_mut().for_each(|object| object.modified_at = modified_at);
        });
    }
}

impl BucketState {
    fn insert(&mut self, key: String, content: Bytes) {
        self.objects.insert(key, BucketObject { content, modified_at: Timestamp::now() });
    }

    /// Returns the fault for this request and removes it, so that it applies only once; `None` if there is none.
    fn fault(&mut self, method: &Method, url: &str) -> Option<BucketFault> {
        let is_meant =
            |(of, text, _): &(String, String, BucketFault)| method == of.as_str() && url.contains(text.as_str());
        let position = self.faults.iter().position(is_meant)?;
        Some(self.faults.remove(position).2)
    }

    /// Lists the objects whose keys have this prefix.
    fn list(&self, prefix: &str) -> Response {
        let entries = self.objects.iter().filter(|(key, _)| key.starts_with(prefix)).map(|(key, object)| {
            let (modified_at, size) = (object.modified_at, object.content.len());
            format!(
                "<Contents><Key>{key}</Key><LastModified>{modified_at}</LastModified><Size>{size}</Size></Contents>"
            )
        });
        xml("ListBucketResult", &entries.collect::<String>())
    }

    /// Removes the objects that a request lists.
    fn remove_all(&mut self, body: &[u8]) -> Response {
        let body = String::from_utf8_lossy(body);
        let keys = body.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
        let removed = keys.map(|key| {
            self.objects.remove(key);
            format!("<Deleted><Key>{key}</Key></Deleted>")
        });
        let removed: String = removed.collect();
        xml("DeleteResult", &removed)
    }

    fn begin_upload(&mut self) -> Response {
        self.upload_count += 1;
        let id = format!("upload-{}", self.upload_count);
        self.uploads.insert(id.clone(), BTreeMap::new());
        xml("InitiateMultipartUploadResult", &format!("<UploadId>{id}</UploadId>"))
    }

    /// Executes a request that belongs to a multipart upload.
    fn upload(&mut self, method: &Method, key: &str, id: &str, query: &str, body: Bytes) -> Response {
        if *method == Method::DELETE {
            self.uploads.remove(id);
            return StatusCode::NO_CONTENT.into_response();
        }
        let Some(parts) = self.uploads.get_mut(id) else { return missing("NoSuchUpload") };
        if *method == Method::PUT {
            let number = parameter(query, "partNumber").and_then(|number| number.parse().ok()).unwrap_or(1);
            parts.insert(number, body);
            return stored();
        }
        let content: Vec<u8> = parts.values().flatten().copied().collect();
        self.uploads.remove(id);
        self.insert(key.to_owned(), content.into());
        xml("CompleteMultipartUploadResult", "<ETag>\"whole\"</ETag>")
    }

    /// Executes a request and returns its response.
    fn act(&mut self, method: &Method, key: &str, query: &str, range: Option<(usize, usize)>, body: Bytes) -> Response {
        if let Some(id) = parameter(query, "uploadId") {
            return self.upload(method, key, id, query, body);
        }
        match *method {
            Method::GET if key.is_empty() => self.list(&decode(parameter(query, "prefix").unwrap_or_default())),
            Method::POST if key.is_empty() => self.remove_all(&body),
            Method::POST => self.begin_upload(),
            Method::PUT => {
                self.insert(key.to_owned(), body);
                stored()
            }
            Method::DELETE => {
                self.objects.remove(key);
                StatusCode::NO_CONTENT.into_response()
            }
            _ => match self.objects.get(key) {
                Some(object) if *method == Method::HEAD => head(object),
                Some(object) => content(object, range),
                None => missing("NoSuchKey"),
            },
        }
    }
}

async fn answer(State(shared): State<SharedState<BucketState>>, request: Request) -> Response {
    if let Some(answer) = shared.mood().await {
        return answer;
    }
    let (parts, body) = request.into_parts();
    let url = parts.uri.to_string();
    let fault = shared.with(|inside| {
        inside.calls.push(format!("{} {url}", parts.method));
        inside.fault(&parts.method, &url)
    });
    let Ok(body) = axum::body::to_bytes(body, MAX_BODY_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    match fault {
        Some(BucketFault::Refused(status)) => return refusal(status),
        Some(BucketFault::Hanging) => std::future::pending().await,
        Some(BucketFault::Forgotten) => return stored(),
        Some(BucketFault::AnswerLost) | None => {}
    }
    let path = decode(parts.uri.path());
    let key = match path.trim_start_matches('/').split_once('/') {
        Some((NAME, key)) => key,
        None if path.trim_start_matches('/') == NAME => "",
        _ => return missing("NoSuchBucket"),
    };
    let query = parts.uri.query().unwrap_or_default();
    let done = shared.with(|inside| inside.act(&parts.method, key, query, range(&parts.headers), body));
    if fault == Some(BucketFault::AnswerLost) { refusal(500) } else { done }
}

fn xml(name: &str, content: &str) -> Response {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?><{name}>{content}</{name}>").into_response()
}

fn missing(code: &str) -> Response {
    (StatusCode::NOT_FOUND, xml("Error", &format!("<Code>{code}</Code>"))).into_response()
}

fn refusal(status: u16) -> Response {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR).into_response()
}

fn stored() -> Response {
    [(header::ETAG, "\"stored\"")].into_response()
}

fn head(object: &BucketObject) -> Response {
    ([(header::CONTENT_LENGTH, object.content.len().to_string())], Body::empty()).into_response()
}

fn content(object: &BucketObject, range: Option<(usize, usize)>) -> Response {
    let total = object.content.len();
    let Some((first, last)) = range else { return object.content.clone().into_response() };
    let end = total.min(last.saturating_add(1));
    if first >= end {
        return StatusCode::RANGE_NOT_SATISFIABLE.into_response();
    }
    let place = format!("bytes {first}-{}/{total}", end - 1);
    (StatusCode::PARTIAL_CONTENT, [(header::CONTENT_RANGE, place)], object.content.slice(first..end)).into_response()
}

/// Returns the first and last byte of the requested range; `None` if the request has none.
fn range(headers: &HeaderMap) -> Option<(usize, usize)> {
    let text = headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?;
    let (first, last) = text.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Returns the value of a query parameter; `None` if it is missing.
fn parameter<'a>(query: &'a str, name: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name)).map(|(_, value)| value)
}

/// Decodes the percent-encoded characters in a part of a URL.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
