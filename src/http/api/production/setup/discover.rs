//! Printer discovery on the network, reported as a stream or as a single result.

use std::sync::Arc;
use std::time::Duration;

use api_derive::Response;
use axum::extract::State;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response as HttpResponse};
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use config::Config;
use domain::printer::{MachineAddress, Printer};
use http::access::RequiredAccess;
use http::error::ApiError;
use http::handler::Reply;
use http::handles::handles;
use http::operation::{DescribedContent, DescribedOperation};
use http::reply;
use http::routes::ResourceRoutes;
use http::setup_desk::{SearchTurn, SetupService};
use http::sse::{self, Sse, SseSource};
use http::wire::{Components, ToSchema};
use kernel::directory::Directory;
use platform::http::{LanSettings, searching};
use printers::discovery::{FoundPrinter, Search, SearchStep, own_addresses, scanned};

const EXAMPLE: &str = "event: progress\ndata: {\"done\":3,\"total\":55}\n\nevent: result\ndata: {\"printers\":[]}\n\n";
/// Maximum number of steps queued for sending; if the reader cannot keep up, the search waits.
const MAX_WAITING_STEPS: usize = 64;

handles! {
    /// Dependencies of the printer search.
    pub struct DiscoveryHandles {
        config: Arc<Config>,
        setup: Arc<SetupService>,
        printers: Directory<Printer>,
    }
}

/// Adds the search route.
pub(super) fn routes(routes: ResourceRoutes) -> ResourceRoutes {
    routes.post_long(RequiredAccess::Setup, "/api/setup/discover", discover, |op| {
        op.named("discoverPrinters", "Search for printers")
            .about(
                "Probes the ports of printers on this server and at all addresses of its private networks (at most \
                 /24), and listens for printers that announce themselves. With `Accept: text/event-stream`, the \
                 response is a stream of events: `progress`, `found` for each printer, `note` for each problem, and \
                 finally `result`; closing the stream ends the search. Otherwise the response is sent when the search \
                 is finished, after about a minute at most.",
            )
            .unkeyed()
            .error(409, "discovery_running", "A search is already in progress.")
    })
}

/// Printer found by the search.
#[derive(Response, Serialize)]
#[serde(rename_all = "camelCase")]
#[api(name = "DiscoveredPrinter", example = json!({
    "type": "fw_rest", "baseUrl": "http://192.168.1.7:7125", "name": "left printer", "serial": null,
    "evidence": "identifies itself, its version v0.9.3 and the state ready", "registered": false,
}))]
pub struct DiscoveredPrinter {
    /// Printer type.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Address at which to register the printer.
    pub base_url: String,
    /// Name reported by the printer or, failing that, its type and address.
    pub name: String,
    /// Serial number, if the printer reports one.
    pub serial: Option<String>,
    /// Response by which the printer was identified.
    pub evidence: String,
    /// `true` if a printer with the same address or serial number is already registered.
    pub registered: bool,
}

/// Result of a search.
#[derive(Response, Serialize)]
#[api(name = "Discovery", example = json!({"printers": [DiscoveredPrinter::example()]}))]
struct Discovery {
    /// Printers found, sorted by address.
    printers: Vec<DiscoveredPrinter>,
}

/// Result of a search, or the stream of its events.
enum DiscoveryAnswer {
    Result(Discovery),
    Stream(Sse<SearchReport>),
}

impl IntoResponse for DiscoveryAnswer {
    fn into_response(self) -> HttpResponse {
        match self {
            Self::Result(result) => reply::json(StatusCode::OK, &result),
            Self::Stream(stream) => stream.into_response(),
        }
    }
}

impl Reply for DiscoveryAnswer {
    fn describe(operation: &mut DescribedOperation, components: &mut Components) {
        components.add::<Discovery>();
        let name = Discovery::NAME.unwrap_or_default();
        operation.answer = (200, DescribedContent::NamedOrText(name, sse::MEDIA, EXAMPLE));
    }
}

/// Addresses and serial numbers of registered printers.
pub struct RegisteredAddresses {
    addresses: Vec<MachineAddress>,
    serials: Vec<String>,
}

impl RegisteredAddresses {
    /// Collects the addresses and serial numbers of all registered printers.
    pub fn of(printers: &Directory<Printer>) -> Self {
        let (mut addresses, mut serials) = (Vec::new(), Vec::new());
        for (_, state) in printers.all_resident() {
            let Some(printer) = state.present() else { continue };
            addresses.extend(MachineAddress::of(&printer.fields.base_url));
            serials.extend(printer.fields.serial.iter().map(|serial| serial.trim().to_ascii_uppercase()));
        }
        Self { addresses, serials }
    }

    /// Builds the view of a printer found by the search, including whether it is already registered.
    pub fn view(&self, printer: FoundPrinter) -> DiscoveredPrinter {
        let FoundPrinter { kind, base_url, name, serial, evidence, .. } = printer;
        let address = MachineAddress::of(&base_url);
        let registered = address.is_some_and(|address| self.addresses.contains(&address))
            || serial.as_ref().is_some_and(|serial| self.serials.contains(serial));
        DiscoveredPrinter { kind, base_url, name, serial, evidence, registered }
    }
}

/// Search in progress, which advances as its steps are read. Dropping the report ends the search.
struct SearchReport {
    search: Option<BoxFuture<'static, Vec<FoundPrinter>>>,
    steps: mpsc::Receiver<SearchStep>,
    result: Option<Vec<FoundPrinter>>,
    /// Event to send next.
    event: Option<String>,
    over: bool,
    registered: RegisteredAddresses,
    _turn: SearchTurn,
}

impl SseSource for SearchReport {
    fn may_continue(&mut self) -> bool {
        // A search ends by itself in little more than a minute, and its turn with it.
        true
    }

    async fn due(&mut self) -> Option<String> {
        match self.event.take() {
            None if self.over => None,
            event => Some(event.unwrap_or_default()),
        }
    }

    async fn wait(&mut self) {
        tokio::select! {
            biased; // steps before the result, which comes last
            step = self.steps.recv() => {
                self.over = step.is_none();
                self.event = match step {
                    Some(step) => Some(self.step_event(step)),
                    None => self.result.take().map(|results| self.result_event(results)),
                };
            }
            results = ended(&mut self.search) => {
                self.search = None;
                self.result = Some(results);
            }
        }
    }
}

impl SearchReport {
    fn result_event(&self, results: Vec<FoundPrinter>) -> String {
        let printers = results.into_iter().map(|printer| self.registered.view(printer)).collect();
        event("result", &Discovery { printers })
    }

    fn step_event(&self, step: SearchStep) -> String {
        match step {
            SearchStep::Asked { done, total } => event("progress", &json!({ "done": done, "total": total })),
            SearchStep::Found(printer) => event("found", &self.registered.view(printer)),
            SearchStep::Note(words) => event("note", &json!({ "message": words })),
        }
    }
}

/// Returns the result of the search; never completes if the result has already been returned.
async fn ended(search: &mut Option<BoxFuture<'static, Vec<FoundPrinter>>>) -> Vec<FoundPrinter> {
    match search {
        Some(search) => search.await,
        None => std::future::pending().await,
    }
}

/// Formats an event in the stream.
fn event(name: &str, data: &impl Serialize) -> String {
    sse::event(name, &serde_json::to_value(data).unwrap_or(Value::Null))
}

/// Prepares a search with the current settings and takes the turn to search; fails while another search is running.
fn prepared(app: &DiscoveryHandles) -> Result<(Search, SearchTurn), ApiError> {
    let running =
        || ApiError::conflict("discovery_running", "a search is already in progress; wait until it has finished");
    let turn = app.setup.search().ok_or_else(running)?;
    let client = searching(&LanSettings {
        connect_timeout: Duration::from_secs(1),
        read_timeout: Duration::from_secs(3),
        timeout: Duration::from_secs(3),
        ..LanSettings::default()
    })
    .map_err(ApiError::internal)?;
    let settings = &app.config.discovery;
    let own = if settings.local_network { own_addresses() } else { Vec::new() };
    Ok((Search::new(client, scanned(&own), settings.listen_seconds.duration()), turn))
}

/// Starts a search in its own task, which reports its progress to the setup page. The search ends early if the server
/// shuts down.
pub fn begin_search(app: &DiscoveryHandles, leaving: CancellationToken) -> Result<(), ApiError> {
    let (search, turn) = prepared(app)?;
    let (desk, cancel) = (app.setup.clone(), turn.cancel_token());
    desk.begin_board();
    let (sender, mut steps) = mpsc::channel(MAX_WAITING_STEPS);
    tokio::spawn(async move {
        let follow = async {
            while let Some(step) = steps.recv().await {
                desk.tell(step);
            }
        };
        let searched = futures::future::join(search.run(sender, &cancel), follow);
        tokio::select! {
            biased; // the end of the server before the end of the search
            () = leaving.cancelled() => {}
            (results, ()) = searched => desk.end_board(results, cancel.is_cancelled()),
        }
        drop(turn);
    });
    Ok(())
}

async fn discover(State(app): State<DiscoveryHandles>, headers: HeaderMap) -> Result<DiscoveryAnswer, ApiError> {
    let (search, turn) = prepared(&app)?;
    let (cancel, (sender, mut steps)) = (turn.cancel_token(), mpsc::channel(MAX_WAITING_STEPS));
    let registered = RegisteredAddresses::of(&app.printers);
    let wants_stream =
        headers.get(ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|all| all.contains(sse::MEDIA));
    if wants_stream {
        let search: BoxFuture<'static, _> = Box::pin(async move { search.run(sender, &cancel).await });
        let search = Some(search);
        let report = SearchReport { search, steps, result: None, event: None, over: false, registered, _turn: turn };
        return Ok(DiscoveryAnswer::Stream(Sse::new(report)));
    }
    let drained = async { while steps.recv().await.is_some() {} };
    let (results, ()) = futures::join!(search.run(sender, &cancel), drained);
    let printers = results.into_iter().map(|printer| registered.view(printer)).collect();
    Ok(DiscoveryAnswer::Result(Discovery { printers }))
}
