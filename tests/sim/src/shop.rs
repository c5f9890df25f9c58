//! A server of the world, and its router, which requests reach without a socket.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use serde_json::Value;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::adapter::MachineAdapter;
use crate::disk::OpenDisk;
use crate::error::SimError;
use crate::ids::ServerIds;
use crate::settings::settings;
use crate::world::World;
use actors::app::{App, OutsideClients, Premises, ShopStartError, printer_registry};
use actors::restores::DispatchHold;
use http::AppState;
use http::access::LocalOwner;
use kernel::environment::Environment;
use printers::adapter::Adapter;
use printers::registry::{AdapterFactory, AdapterParts, MakeError};
use store::DomainQueries as _;

/// Boundary between the parts of an upload.
const BOUNDARY: &str = "simulated-boundary";
/// Interval at which the story looks again for what it awaits.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Running server.
pub struct Shop {
    /// Store of this server.
    pub disk: OpenDisk,
    router: Router,
}

/// Response to a request.
pub struct Answer {
    request: String,
    status: u16,
    body: Value,
}

impl Answer {
    /// Returns the body; fails if the status is another one.
    pub fn expect(self, expected: u16) -> Result<Value, SimError> {
        let Self { request, status, body } = self;
        if status == expected {
            return Ok(body);
        }
        Err(SimError::Answer { request, expected, status, body: body.to_string() })
    }
}

impl Shop {
    /// Starts a server on the world's disk. Must be called within a runtime whose clock the world follows.
    pub async fn open(world: &World) -> Result<Self, SimError> {
        let config = Arc::new(settings(world.folder.path()));
        let disk = world.disk.open();
        let last = disk.memory.highest_numbers().await.map_err(ShopStartError::from)?;
        let ids = ServerIds::new(world.ids.clone(), world.clock.clone(), last);
        let clock = world.clock.clone();
        let premises = Premises {
            environment: Environment::new(config.rules(), Box::new(ids), Box::new(move || clock.now())),
            store: disk.store.clone(),
            queries: disk.queries.clone(),
            outbox: disk.outbox.clone(),
            hold: DispatchHold::new(None),
            clients: OutsideClients {
                printers: printer_registry(&config)?.with_factory(adapters_of(world)),
                processor: None,
                mailer: world.post_office.clone(),
            },
        };
        let story = world.story.clone();
        let leave = Arc::new(move || story.tell("the server cannot go on"));
        let app = Box::pin(App::start_on(&config, premises, leave)).await?;
        let state = AppState::new(app, config, CancellationToken::new());
        Ok(Self { disk, router: http_pages::router(state) })
    }

    /// Sends a request of the owner of the machine, who may do everything.
    pub async fn get(&self, path: &str) -> Result<Answer, SimError> {
        self.send(Method::GET, path, Request::builder(), Body::empty()).await
    }

    /// Sends JSON as [`Self::get`] does.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Answer, SimError> {
        let request = Request::builder().header(header::CONTENT_TYPE, "application/json");
        self.send(Method::POST, path, request, Body::from(body.to_string())).await
    }

    /// Uploads a file as [`Self::get`] does.
    pub async fn upload(&self, name: &str, contents: &str) -> Result<Answer, SimError> {
        let head =
            format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        let body = format!("{head}{contents}\r\n--{BOUNDARY}--\r\n");
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        let request = Request::builder().header(header::CONTENT_TYPE, content_type);
        self.send(Method::POST, "/api/files", request, Body::from(body)).await
    }

    /// Sends an event of the payment processor with its signature.
    pub async fn payment_event(&self, signature: &str, body: String) -> Result<Answer, SimError> {
        let request = Request::builder().header("stripe-signature", signature);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send(Method::POST, "/webhooks/payments", request, Body::from(body)).await
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        builder: axum::http::request::Builder,
        body: Body,
    ) -> Result<Answer, SimError> {
        let request = format!("{method} {path}");
        let message = builder.method(method).uri(path).extension(LocalOwner).body(body)?;
        let Ok(response) = self.router.clone().oneshot(message).await;
        let status = response.status().as_u16();
        let bytes = to_bytes(response.into_body(), usize::MAX).await?;
        let body = if bytes.is_empty() { Value::Null } else { bounded_json::read(&bytes, bounded_json::ANSWER)? };
        Ok(Answer { request, status, body })
    }

    /// Reads a resource again and again until a condition holds of it; fails if that takes longer than `within`.
    pub async fn until(
        &self,
        what: &str,
        path: &str,
        within: Duration,
        is_so: impl Fn(&Value) -> bool,
    ) -> Result<Value, SimError> {
        let mut waited = Duration::ZERO;
        loop {
            let state = self.get(path).await?.expect(200)?;
            if is_so(&state) {
                return Ok(state);
            }
            if waited >= within {
                return Err(SimError::Late {
                    what: what.to_owned(),
                    seconds: within.as_secs(),
                    last: state.to_string(),
                });
            }
            sleep(LOOK_INTERVAL).await;
            waited += LOOK_INTERVAL;
        }
    }
}

/// Returns the factory of adapters for the machines of the world.
fn adapters_of(world: &World) -> AdapterFactory {
    let machines = world.machines.clone();
    Box::new(move |parts: AdapterParts| {
        let base_url = &parts.address.base_url;
        let machine = machines.get(base_url).cloned();
        let machine = machine.ok_or_else(|| MakeError::BadAddress(format!("no printer has the address {base_url}")))?;
        Ok(Arc::new(MachineAdapter { declared: parts.declared, machine }) as Arc<dyn Adapter>)
    })
}
