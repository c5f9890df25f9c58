//! Virtual printer that speaks the protocol of Moonraker (printer type `fw_rest`), the host program for Klipper, with
//! HTTP and WebSocket on one port.
//!
//! Envelopes, status codes and quirks are those of the real program. There are no users and no trusted addresses: if
//! there is an API key, every call requires it (or a one-shot token); otherwise, every caller is trusted. The only file
//! root is `gcodes`.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
};

use axum::{
    Router,
    extract::{DefaultBodyLimit, Form, FromRequest, Query, Request, State},
    http::{HeaderMap, Method, StatusCode, Uri, header},
    middleware::{self, Next},
    response::Response,
    routing::{MethodFilter, get, on, post},
};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::{Protocol, wire};

mod error;
mod files;
mod history;
mod methods;
mod objects;
mod socket;
mod spoolman;

pub use error::MoonrakerError;
pub use spoolman::SpoolmanComponent;

/// Call arguments, by name.
type RpcParams = Map<String, Value>;

/// Moonraker protocol declaration.
pub(crate) const PROTOCOL: Protocol = Protocol {
    word: "fw_rest",
    about: "printers with the firmware web API (Moonraker)",
    serial_prefix: "SIMFW",
    key_chars: 32,
    prints_packages: false,
    // Klipper comes back by itself.
    reconnects: true,
    serve: |printer, options| MoonrakerHost::serve(printer, options, MoonrakerHost::router, error_of),
};

type MoonrakerHost = wire::Host<MoonrakerState>;

/// State that the request handlers need besides the printer.
#[derive(Clone, Default)]
struct MoonrakerState {
    /// One-shot tokens that have been issued but not used yet.
    oneshots: Arc<Mutex<Vec<String>>>,
    sockets: Arc<AtomicU64>,
    /// Open sockets, by the connection ID assigned to clients that identify themselves.
    connections: Arc<Mutex<HashMap<u64, mpsc::UnboundedSender<RpcParams>>>>,
}

const ANY: MethodFilter = MethodFilter::GET.or(MethodFilter::POST);

/// Path, HTTP method and JSON-RPC name of the calls that depend only on their arguments.
const CALLS: &[(&str, MethodFilter, &str)] = &[
    ("/server/info", MethodFilter::GET, "server.info"),
    ("/server/files/list", MethodFilter::GET, "server.files.list"),
    ("/server/files/directory", MethodFilter::GET, "server.files.get_directory"),
    ("/server/files/metadata", MethodFilter::GET, "server.files.metadata"),
    ("/server/files/metascan", MethodFilter::POST, "server.files.metadata"),
    ("/server/gcode_store", MethodFilter::GET, "server.gcode_store"),
    ("/server/history/list", MethodFilter::GET, "server.history.list"),
    ("/server/history/job", MethodFilter::GET, "server.history.get_job"),
    ("/server/history/totals", MethodFilter::GET, "server.history.totals"),
    ("/server/job_queue/status", MethodFilter::GET, "server.job_queue.status"),
    ("/server/spoolman/status", MethodFilter::GET, "server.spoolman.status"),
    ("/server/spoolman/spool_id", MethodFilter::POST, "server.spoolman.post_spool_id"),
    ("/server/webcams/list", MethodFilter::GET, "server.webcams.list"),
    ("/machine/system_info", MethodFilter::GET, "machine.system_info"),
    ("/access/oneshot_token", MethodFilter::GET, "access.oneshot_token"),
    ("/access/api_key", MethodFilter::GET, "access.get_api_key"),
    ("/printer/info", ANY, "printer.info"),
    ("/printer/objects/list", ANY, "printer.objects.list"),
    ("/printer/objects/query", ANY, "printer.objects.query"),
    ("/printer/gcode/script", ANY, "printer.gcode.script"),
    ("/printer/emergency_stop", ANY, "printer.emergency_stop"),
    ("/printer/print/start", MethodFilter::POST, "printer.print.start"),
    ("/printer/print/pause", MethodFilter::POST, "printer.print.pause"),
    ("/printer/print/resume", MethodFilter::POST, "printer.print.resume"),
    ("/printer/print/cancel", MethodFilter::POST, "printer.print.cancel"),
    ("/printer/restart", MethodFilter::POST, "printer.restart"),
    ("/printer/firmware_restart", MethodFilter::POST, "printer.firmware_restart"),
];

impl MoonrakerHost {
    fn router(self) -> Router {
        let mut router = Router::new();
        for (path, verbs, method) in CALLS {
            let call = move |State(host): State<Self>, request: Request| http_call(host, method, request);
            router = router.route(path, on(*verbs, call));
        }
        router
            .route("/server/jsonrpc", post(socket::over_http))
            .route("/printer/objects/subscribe", on(ANY, socket::subscribe_over_http))
            // What programs ask that upload to OctoPrint; in no envelope.
            .route("/api/version", get(octoprint_version))
            .route(
                "/server/files/upload",
                post(files::upload).layer(DefaultBodyLimit::disable()),
            )
            .route(
                "/server/files/gcodes/{*path}",
                get(files::download).delete(files::delete),
            )
            .fallback(|| async { MoonrakerError::new(404, "Not Found").respond() })
            .method_not_allowed_fallback(|| async {
                MoonrakerError::new(405, "Method Not Allowed").respond()
            })
            .layer(middleware::from_fn_with_state(self.clone(), authorise))
            // Not guarded, because a client may authenticate after the upgrade.
            .route("/websocket", get(socket::upgrade))
            .with_state(self)
    }

    /// Returns whether a request or upgrade carries the correct API key or an unused one-shot token.
    fn is_authorised(&self, headers: &HeaderMap, uri: &Uri) -> bool {
        if headers.contains_key(header::AUTHORIZATION) {
            // A bearer token is the JWT of a user, and there are no users; it is refused even from trusted callers.
            return false;
        }
        let token = query_pairs(uri).into_iter().find_map(|(name, value)| (name == "token").then_some(value));
        if let Some(token) = token.filter(|_| self.api_key.is_some()) {
            let mut oneshots = self.state.oneshots.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(index) = oneshots.iter().position(|oneshot| *oneshot == token) {
                oneshots.swap_remove(index);
                return true;
            }
        }
        self.is_key(headers.get("x-api-key").and_then(|value| value.to_str().ok()))
    }

    fn oneshot_token(&self) -> String {
        let token = uuid::Uuid::now_v7().simple().to_string();
        self.state.oneshots.lock().unwrap_or_else(PoisonError::into_inner).push(token.clone());
        token
    }
}

/// Builds an error response in Moonraker's format.
fn error_of(status: StatusCode, message: &str) -> Response {
    MoonrakerError::new(status.as_u16(), message).respond()
}

async fn authorise(State(host): State<MoonrakerHost>, request: Request, next: Next) -> Response {
    if host.is_authorised(request.headers(), request.uri()) {
        next.run(request).await
    } else {
        MoonrakerError::new(401, "Unauthorized").respond()
    }
}

async fn octoprint_version() -> Response {
    answer(
        StatusCode::OK,
        &json!({"server": "1.5.0", "api": "0.1", "text": "OctoPrint (Moonraker v0.10.0-1-gd5ee171)"}),
    )
}

async fn http_call(host: MoonrakerHost, method: &'static str, request: Request) -> Response {
    let called = match arguments(method, request).await {
        Ok(params) => host.call(method, &params).await,
        Err(error) => Err(error),
    };
    match called {
        Ok(result) => answer(StatusCode::OK, &json!({"result": result})),
        Err(error) => error.respond(),
    }
}

/// Builds a JSON response with the content type that Moonraker sends.
fn answer(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(body.to_string().into());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json; charset=UTF-8"));
    response
}

fn query_pairs(uri: &Uri) -> Vec<(String, String)> {
    Query::<Vec<(String, String)>>::try_from_uri(uri).map(|Query(pairs)| pairs).unwrap_or_default()
}

/// Parses the arguments from the query and the body; the body takes precedence.
async fn arguments(method: &str, request: Request) -> Result<RpcParams, MoonrakerError> {
    let mut pairs = query_pairs(request.uri());
    let kind = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_owned();
    let mut body = RpcParams::new();
    if request.method() == Method::POST && kind.starts_with("application/json") {
        let bytes = axum::body::to_bytes(request.into_body(), 1024 * 1024)
            .await
            .map_err(|_| MoonrakerError::new(413, "Request Entity Too Large"))?;
        if !bytes.is_empty() {
            let Ok(Value::Object(members)) = bounded_json::read(&bytes, bounded_json::REQUEST) else {
                return Err(MoonrakerError::new(400, "Invalid JSON body"));
            };
            body = members;
        }
    } else if request.method() == Method::POST && kind.starts_with("application/x-www-form-urlencoded") {
        let Form(form) = Form::<Vec<(String, String)>>::from_request(request, &())
            .await
            .map_err(|_| MoonrakerError::new(400, "Bad Request"))?;
        pairs.extend(form);
    }
    let mut params = RpcParams::new();
    if method == "printer.objects.subscribe" {
        // Of the query string only this is no object.
        let number = pairs.extract_if(.., |(name, _)| name == "connection_id").last();
        params.extend(
            number.map(|(name, number)| (name, number.parse::<u64>().map_or(Value::String(number), Value::from))),
        );
    }
    if method.starts_with("printer.objects.") && !body.contains_key("objects") {
        let objects: RpcParams = pairs
            .into_iter()
            .map(|(name, fields)| (name, if fields.is_empty() { Value::Null } else { fields.split(',').collect() }))
            .collect();
        params.insert("objects".to_owned(), Value::Object(objects));
    } else {
        for (name, value) in pairs {
            let (name, value) = hinted(&name, value)?;
            params.insert(name, value);
        }
    }
    params.extend(body);
    Ok(params)
}

/// Parses a query argument with its type hint, as in `limit:int=5`.
fn hinted(name: &str, value: String) -> Result<(String, Value), MoonrakerError> {
    let Some((name, hint)) = name.split_once(':') else {
        return Ok((name.to_owned(), Value::String(value)));
    };
    let typed = match hint {
        "int" => value.parse::<i64>().ok().map(Value::from),
        "float" => value.parse::<f64>().ok().map(Value::from),
        "bool" => Some(Value::Bool(value.eq_ignore_ascii_case("true"))),
        "json" => bounded_json::read(value.as_bytes(), bounded_json::REQUEST).ok(),
        _ => Some(Value::String(value)),
    };
    typed
        .map(|value| (name.to_owned(), value))
        .ok_or_else(|| MoonrakerError::new(400, format!("Argument [{name}] can not be read as {hint}")))
}
