//! The search for printers, told as it goes on or at its end.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use api_derive::Response;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response as HttpResponse};
use bytes::Bytes;
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{OwnedMutexGuard, mpsc};
use tokio_util::sync::CancellationToken;

use crate::actors::kernel::directory::Directory;
use crate::config::Config;
use crate::domain::printer::{MachineAddress, Printer};
use crate::http::access::RequiredAccess;
use crate::http::error::ApiError;
use crate::http::handles::handles;
use crate::http::openapi::operation::{DescribedContent, DescribedOperation};
use crate::http::reply;
use crate::http::routes::ResourceRoutes;
use crate::http::setup_desk::SetupDesk;
use crate::http::wire::{Components, Reply, ToSchema};
use crate::printers::discovery::{FoundPrinter, Search, SearchStep, own_address, scanned};
use crate::services::http::{LanSettings, searching};

const STREAM: &str = "text/event-stream";
const EXAMPLE: &str = "event: progress\ndata: {\"done\":3,\"total\":55}\n\nevent: result\ndata: {\"printers\":[]}\n\n";
/// Steps that wait to be sent; a reader that is slower holds up the search.
const MAX_WAITING_STEPS: usize = 64;

handles! {
    /// What the search for printers uses.
    pub(crate) struct DiscoveryHandles {
        config: Arc<Config>,
        setup: Arc<SetupDesk>,
        printers: Directory<Printer>,
    }
}

/// The route of the search.
pub(super) fn routes(routes: ResourceRoutes) -> ResourceRoutes {
    routes.post_long(RequiredAccess::Setup, "/api/setup/discover", discover, |op| {
        op.named("discoverPrinters", "Look for printers")
            .about(
                "Asks this machine and the first ten addresses of the local /24 network at the ports of printers, and listens \
                 for printers that announce themselves. With `Accept: text/event-stream` it tells of its `progress`, of each \
                 printer that is `found`, a `note` of what could not be done, and ends with the `result`; otherwise the answer \
                 comes at its end.",
            )
            .unkeyed()
            .error(409, "discovery_running", "Somebody looks for printers already.")
    })
}

/// A printer that was found.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "DiscoveredPrinter", example = json!({
    "type": "fw_rest", "baseUrl": "http://192.168.1.7:7125", "name": "left printer", "serial": null,
    "evidence": "it says what it is, its version, and that its state is ready", "registered": false,
}))]
pub(crate) struct DiscoveredPrinter {
    /// Its printer type.
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    /// Its address, as a printer is registered with it.
    pub(crate) base_url: String,
    /// Its own name, or what it is and where.
    pub(crate) name: String,
    /// Its serial number, where it says one.
    pub(crate) serial: Option<String>,
    /// What it answered, by which it was recognised.
    pub(crate) evidence: String,
    /// Whether a printer with this address or serial number is registered already.
    pub(crate) registered: bool,
}

/// What a search found.
#[derive(Response, Serialize)]
#[api(name = "Discovery", example = json!({"printers": [DiscoveredPrinter::example()]}))]
struct Discovery {
    /// The printers, in the order of their addresses.
    printers: Vec<DiscoveredPrinter>,
}

/// The result of a search, or the stream of what happens in it.
enum DiscoveryAnswer {
    Result(Discovery),
    Stream(Body),
}

impl IntoResponse for DiscoveryAnswer {
    fn into_response(self) -> HttpResponse {
        match self {
            Self::Result(result) => reply::json(StatusCode::OK, &result),
            Self::Stream(body) => {
                let headers = [
                    (CONTENT_TYPE.as_str(), STREAM),
                    (CACHE_CONTROL.as_str(), "no-cache"),
                    ("x-accel-buffering", "no"), // nginx would hold the events back
                ];
                (headers, body).into_response()
            }
        }
    }
}

impl Reply for DiscoveryAnswer {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add::<Discovery>();
        let name = Discovery::NAME.unwrap_or_default();
        operation.answer = (200, DescribedContent::NamedOrText(name, STREAM, EXAMPLE));
    }
}

/// What a search needs to tell of printers: which are registered.
pub(crate) struct Registered {
    addresses: Vec<MachineAddress>,
    serials: Vec<String>,
}

impl Registered {
    /// The printers that are registered now.
    pub(crate) fn of(printers: &Directory<Printer>) -> Self {
        let (mut addresses, mut serials) = (Vec::new(), Vec::new());
        for (_, state) in printers.all_resident() {
            let Some(printer) = state.state.as_ref().filter(|printer| !printer.archived) else { continue };
            addresses.extend(MachineAddress::of(&printer.fields.base_url));
            serials.extend(printer.fields.serial.iter().map(|serial| serial.trim().to_ascii_uppercase()));
        }
        Self { addresses, serials }
    }

    /// A find, with whether it is registered.
    pub(crate) fn view(&self, found: FoundPrinter) -> DiscoveredPrinter {
        let FoundPrinter { kind, base_url, name, serial, evidence, .. } = found;
        let address = MachineAddress::of(&base_url);
        let registered = address.is_some_and(|address| self.addresses.contains(&address))
            || serial.as_ref().is_some_and(|serial| self.serials.contains(serial));
        DiscoveredPrinter { kind, base_url, name, serial, evidence, registered }
    }
}

/// A search that goes on while its steps are read. Whoever drops it ends it.
struct Telling {
    search: Option<BoxFuture<'static, Vec<FoundPrinter>>>,
    steps: mpsc::Receiver<SearchStep>,
    result: Option<Vec<FoundPrinter>>,
    registered: Registered,
    _turn: OwnedMutexGuard<()>,
}

impl Telling {
    /// The next event of the stream; `None` after the result.
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        loop {
            tokio::select! {
                biased; // steps before the result, which comes last
                step = self.steps.recv() => {
                    let block = match step {
                        Some(step) => self.told(step),
                        None => {
                            let found = self.result.take()?;
                            let printers = found.into_iter().map(|printer| self.registered.view(printer)).collect();
                            block("result", &Discovery { printers })
                        }
                    };
                    return Some((Ok(block), self));
                }
                found = ended(&mut self.search) => {
                    self.search = None;
                    self.result = Some(found);
                }
            }
        }
    }

    fn told(&self, step: SearchStep) -> Bytes {
        match step {
            SearchStep::Asked { done, total } => block("progress", &json!({ "done": done, "total": total })),
            SearchStep::Found(printer) => block("found", &self.registered.view(printer)),
            SearchStep::Note(words) => block("note", &json!({ "message": words })),
        }
    }
}

/// The result of the search; never, once it was given.
async fn ended(search: &mut Option<BoxFuture<'static, Vec<FoundPrinter>>>) -> Vec<FoundPrinter> {
    match search {
        Some(search) => search.await,
        None => std::future::pending().await,
    }
}

/// One event as the stream writes it; JSON in one piece has no line breaks.
fn block(event: &str, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_value(data).unwrap_or(Value::Null);
    format!("event: {event}\ndata: {data}\n\n").into()
}

/// A search by the settings, with the turn at it; refused while somebody else searches.
fn prepared(app: &DiscoveryHandles) -> Result<(Search, OwnedMutexGuard<()>), ApiError> {
    let running = || ApiError::conflict("discovery_running", "somebody looks for printers already; wait for the end");
    let turn = app.setup.search().ok_or_else(running)?;
    let client = searching(&LanSettings {
        connect_timeout: Duration::from_secs(1),
        read_timeout: Duration::from_secs(3),
        timeout: Duration::from_secs(3),
    })
    .map_err(ApiError::internal)?;
    let settings = &app.config.discovery;
    let own = if settings.local_network { own_address() } else { None };
    Ok((Search::new(client, scanned(own), settings.listen_seconds.duration()), turn))
}

/// Begins a search that goes on by itself, in a task of its own, and is told on the board. It ends with the server.
pub(crate) fn begin_search(app: &DiscoveryHandles, leaving: CancellationToken) -> Result<(), ApiError> {
    let (search, turn) = prepared(app)?;
    let desk = app.setup.clone();
    desk.begin_board();
    let (told, mut steps) = mpsc::channel(MAX_WAITING_STEPS);
    tokio::spawn(async move {
        let follow = async {
            while let Some(step) = steps.recv().await {
                desk.tell(step);
            }
        };
        let searched = futures::future::join(search.run(told), follow);
        tokio::select! {
            biased; // the end of the server before the end of the search
            () = leaving.cancelled() => {}
            (found, ()) = searched => desk.end_board(found),
        }
        drop(turn);
    });
    Ok(())
}

async fn discover(State(app): State<DiscoveryHandles>, headers: HeaderMap) -> Result<DiscoveryAnswer, ApiError> {
    let (search, turn) = prepared(&app)?;
    let (told, mut steps) = mpsc::channel(MAX_WAITING_STEPS);
    let registered = Registered::of(&app.printers);
    let wants_stream =
        headers.get(ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|all| all.contains(STREAM));
    if wants_stream {
        let search: BoxFuture<'static, _> = Box::pin(async move { search.run(told).await });
        let telling = Telling { search: Some(search), steps, result: None, registered, _turn: turn };
        return Ok(DiscoveryAnswer::Stream(Body::from_stream(futures::stream::unfold(telling, Telling::next))));
    }
    let drained = async { while steps.recv().await.is_some() {} };
    let (found, ()) = futures::join!(search.run(told), drained);
    let printers = found.into_iter().map(|printer| registered.view(printer)).collect();
    Ok(DiscoveryAnswer::Result(Discovery { printers }))
}
