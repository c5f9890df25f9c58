//! A server of the simulated world, with its router, which requests reach without a socket.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use serde_json::Value;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use crate::acknowledgements::{AcknowledgedErrand, Acknowledgements, Errand, ShopReply};
use crate::adapter::MachineAdapter;
use crate::clock::WorldClock;
use crate::error::SimError;
use crate::ids::ServerIds;
use crate::peers::Peers;
use crate::plants::{Plant, Planter};
use crate::power::Power;
use crate::settings::settings;
use crate::world::World;
use actors::app::{App, KindsOverview, OutsideClients, Premises, ShopStartError, printer_registry};
use actors::restores::DispatchHold;
use http::AppState;
use http::access::LocalOwner;
use kernel::environment::Environment;
use platform::http::{LanSettings, lan};
use printers::adapter::Adapter;
use printers::registry::{AdapterFactory, AdapterParts, MakeError};
use services::object_storage::ObjectStorage;
use services::peer_client::PeerHttp;
use store::DomainQueries as _;
use store::outbox::Outbox;

/// URL of the folder for rendered documents; nothing reads it.
const DOCUMENTS_URL: &str = "https://shop.example/documents";
/// Boundary between the parts of an upload.
const BOUNDARY: &str = "simulated-boundary";
/// Interval at which an awaited condition is checked.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Commands that planted faults acknowledge without sending them, by the ends of their paths. The rest of the path is
/// that of the changed resource.
const LOSSES: [(&str, Plant); 4] = [
    ("/sign-off", Plant::LostSignOff),
    ("/cancel", Plant::LostCancel),
    ("/ship", Plant::LostParcel),
    ("/maintenance", Plant::LostMaintenance),
];

/// Running server.
pub struct Shop {
    router: Router,
    clock: Arc<WorldClock>,
    power: Arc<Power>,
    planter: Arc<Planter>,
    acknowledgements: Arc<Acknowledgements>,
    /// Overview of the server's actors.
    pub kinds: KindsOverview,
    /// Committed events with their subscribers.
    pub outbox: Arc<Outbox>,
}

/// Response to a request.
pub struct Answer {
    request: String,
    status: u16,
    body: Value,
}

impl Answer {
    /// Returns whether the outcome of the request is unknown, so that the request is repeated.
    pub fn is_failure(&self) -> bool {
        self.status == 429 || self.status >= 500
    }

    /// Returns whether the server has answered with this status.
    pub fn has_status(&self, status: u16) -> bool {
        self.status == status
    }

    /// Returns the body; fails if the status differs from the expected one.
    pub fn expect(self, expected: u16) -> Result<Value, SimError> {
        let Self { request, status, body } = self;
        if status == expected {
            return Ok(body);
        }
        Err(SimError::Answer { request, expected, status, body: body.to_string() })
    }
}

impl Shop {
    /// Starts a server on the world's disk. Must be called in a runtime whose clock the world follows.
    pub async fn open(world: &World) -> Result<Self, SimError> {
        let mut config = settings(world.folder.path(), world.begin_rules(), world.spool_manager.is_used);
        world.size.tune(world.seed, &mut config);
        let config = Arc::new(config);
        let disk = world.disk.open(&world.power, &world.store_faults);
        let last = disk.memory.highest_numbers().await.map_err(ShopStartError::from)?;
        let ids = ServerIds::new(world.ids.clone(), world.clock.clone(), last);
        let (clock, outbox) = (world.clock.clone(), disk.outbox.clone());
        let premises = Premises {
            environment: Environment::new(config.rules(), Box::new(ids), Box::new(move || clock.now())),
            store: disk.store,
            queries: disk.queries,
            outbox: disk.outbox,
            hold: DispatchHold::new(None),
            clients: OutsideClients {
                printers: printer_registry(&config)?.with_factory(adapters_of(world)),
                processor: Some(world.processor.clone()),
                mailer: world.post_office.clone(),
                documents: ObjectStorage::in_memory(DOCUMENTS_URL.to_owned()),
                webhooks: world.receivers.clone(),
                peers: PeerHttp::through(lan(&LanSettings::default())?, peers_of(world)),
            },
        };
        let story = world.story.clone();
        let leave = Arc::new(move || story.tell("the server cannot go on"));
        let app = Box::pin(App::start_on(&config, premises, leave)).await?;
        let kinds = app.overview();
        let stopping = CancellationToken::new();
        // As a server does. They end with the runtime.
        drop(app.integrations.start(&stopping));
        let state = AppState::new(app, config, stopping);
        Ok(Self {
            router: http_pages::router(state),
            clock: world.clock.clone(),
            power: world.power.clone(),
            planter: world.planter.clone(),
            acknowledgements: world.acknowledgements.clone(),
            kinds,
            outbox,
        })
    }

    /// Sends a GET with the permissions of the machine's owner, who may do everything.
    pub async fn get(&self, path: &str) -> Result<Answer, SimError> {
        self.send(Method::GET, path, Request::builder(), Body::empty()).await
    }

    /// Reads a resource; `None` if the server is currently unavailable.
    pub async fn read(&self, path: &str) -> Result<Option<Value>, SimError> {
        let answer = self.get(path).await?;
        if answer.status >= 500 { Ok(None) } else { answer.expect(200).map(Some) }
    }

    /// Sends JSON as [`Self::get`] does.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Answer, SimError> {
        let request = Request::builder().header(header::CONTENT_TYPE, "application/json");
        self.send(Method::POST, path, request, Body::from(body.to_string())).await
    }

    /// Sends a command that the server does not recognise when repeated. Its response may be a refusal.
    pub async fn request(&self, method: Method, path: &str, body: &Value) -> Result<Answer, SimError> {
        self.power.pass().await;
        let request = Request::builder().header(header::CONTENT_TYPE, "application/json");
        let answer = self.send(method, path, request, Body::from(body.to_string())).await?;
        self.power.pass().await;
        Ok(answer)
    }

    /// Executes a command exactly once, however often it is repeated with the same key. Fails if the response is
    /// neither a result, nor a refusal, nor a request to repeat the command.
    pub async fn ask(&self, errand: &Errand) -> Result<ShopReply, SimError> {
        let errand = &self.planter.alter_errand(errand);
        self.power.pass().await;
        if let Some(reply) = self.lose(errand).await? {
            return Ok(reply);
        }
        let reply = self.carry_out(errand).await?;
        if let ShopReply::Done(body) = &reply {
            self.acknowledge(errand, body);
            self.repeat(errand).await?;
        }
        Ok(reply)
    }

    /// Executes a command as [`Self::ask`] does, but one whose response contains no version.
    pub async fn ask_unversioned(&self, errand: &Errand) -> Result<ShopReply, SimError> {
        self.power.pass().await;
        self.carry_out(errand).await
    }

    async fn carry_out(&self, errand: &Errand) -> Result<ShopReply, SimError> {
        self.acknowledgements.note_key(errand);
        let request = Request::builder().header(header::CONTENT_TYPE, "application/json");
        let request = request.header("idempotency-key", &errand.key);
        let answer = self.send(Method::POST, &errand.path, request, Body::from(errand.body.to_string())).await?;
        self.power.pass().await;
        let code = answer.body["code"].as_str().unwrap_or_default().to_owned();
        match answer.status {
            200 | 201 => Ok(ShopReply::Done(answer.body)),
            409 if code == "idempotency_key_in_use" => Ok(ShopReply::Unanswered),
            409 => Ok(ShopReply::Refused(code)),
            429 | 500.. => Ok(ShopReply::Unanswered),
            _ => answer.expect(200).map(ShopReply::Done),
        }
    }

    /// Sends a command that the server recognises without a key when repeated. Fails as [`Self::ask`] does.
    pub async fn ask_without_key(&self, path: &str, body: &Value) -> Result<ShopReply, SimError> {
        self.power.pass().await;
        let answer = self.post(path, body).await?;
        self.power.pass().await;
        match answer.status {
            400 | 409 => Ok(ShopReply::Refused(answer.body["code"].as_str().unwrap_or_default().to_owned())),
            429 | 500.. => Ok(ShopReply::Unanswered),
            _ => answer.expect(200).map(ShopReply::Done),
        }
    }

    /// Changes or deletes a resource with a request that has no key, because it is safe to repeat.
    pub async fn change(&self, method: Method, path: &str, body: &Value) -> Result<ShopReply, SimError> {
        self.power.pass().await;
        let request = Request::builder().header(header::CONTENT_TYPE, "application/json");
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        let answer = self.send(method, path, request, body).await?;
        self.power.pass().await;
        match answer.status {
            200 | 204 => Ok(ShopReply::Done(answer.body)),
            404 | 409 => Ok(ShopReply::Refused(answer.body["code"].as_str().unwrap_or_default().to_owned())),
            429 | 500.. => Ok(ShopReply::Unanswered),
            _ => answer.expect(200).map(ShopReply::Done),
        }
    }

    /// Acknowledges a command without sending it, if a planted fault strikes.
    async fn lose(&self, errand: &Errand) -> Result<Option<ShopReply>, SimError> {
        if self.planter.has(Plant::LeakedTask) {
            drop(tokio::spawn(pending::<()>()));
        }
        let subject = LOSSES
            .into_iter()
            .find_map(|(act, plant)| errand.path.strip_suffix(act).filter(|_| self.planter.strikes(plant)));
        let Some(subject) = subject else { return Ok(None) };
        let answer = self.get(subject).await?;
        if answer.status != 200 {
            return Ok(Some(ShopReply::Unanswered));
        }
        self.acknowledge(errand, &answer.body);
        Ok(Some(ShopReply::Done(answer.body)))
    }

    /// Sends an acknowledged command again as a new one, if a planted fault strikes.
    async fn repeat(&self, errand: &Errand) -> Result<(), SimError> {
        if errand.path.ends_with("/ship") && self.planter.strikes(Plant::DoubledParcel) {
            let request = Request::builder().header(header::CONTENT_TYPE, "application/json");
            self.send(Method::POST, &errand.path, request, Body::from(errand.body.to_string())).await?;
        }
        Ok(())
    }

    /// Records that a command was acknowledged.
    fn acknowledge(&self, errand: &Errand, body: &Value) {
        self.acknowledgements.add(self.clock.elapsed_ms(), AcknowledgedErrand::new(errand, body));
    }

    /// Uploads a file as [`Self::get`] does.
    pub async fn upload(&self, name: &str, contents: &[u8]) -> Result<Answer, SimError> {
        let head =
            format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\r\n");
        let tail = format!("\r\n--{BOUNDARY}--\r\n");
        let body = [head.as_bytes(), contents, tail.as_bytes()].concat();
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        let request = Request::builder().header(header::CONTENT_TYPE, content_type);
        self.send(Method::POST, "/api/files", request, Body::from(body)).await
    }

    /// Sends a signed event from the payment processor. Returns the status.
    pub async fn payment_event(&self, signature: &str, body: String) -> Result<u16, SimError> {
        self.power.pass().await;
        self.acknowledgements.note_event(&body);
        let request = Request::builder().header("stripe-signature", signature);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let answer = self.send(Method::POST, "/webhooks/payments", request, Body::from(body)).await?;
        self.power.pass().await;
        Ok(answer.status)
    }

    /// Sends a signed message from another system. Returns the status.
    pub async fn message(&self, path: &str, headers: &[(&str, &str)], body: String) -> Result<u16, SimError> {
        self.power.pass().await;
        let request = Request::builder().header(header::CONTENT_TYPE, "application/json");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let answer = self.send(Method::POST, path, request, Body::from(body)).await?;
        self.power.pass().await;
        Ok(answer.status)
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        builder: axum::http::request::Builder,
        body: Body,
    ) -> Result<Answer, SimError> {
        self.power.hold().await;
        let request = format!("{method} {path}");
        let message = builder.method(method).uri(path).extension(LocalOwner).body(body)?;
        let Ok(response) = self.router.clone().oneshot(message).await;
        let status = response.status().as_u16();
        self.power.hold().await;
        let bytes = to_bytes(response.into_body(), usize::MAX).await?;
        let body = if bytes.is_empty() { Value::Null } else { bounded_json::read(&bytes, bounded_json::ANSWER)? };
        Ok(Answer { request, status, body })
    }

    /// Polls a resource until it meets a condition, and returns it; fails if that takes longer than `within`.
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

/// Returns the transport to the other systems of the world.
fn peers_of(world: &World) -> Arc<Peers> {
    let (other_shops, spool_manager) = (world.other_shops.clone(), world.spool_manager.clone());
    Arc::new(Peers { other_shops, spool_manager })
}

/// Returns a factory for adapters to the machines of the world.
fn adapters_of(world: &World) -> AdapterFactory {
    let (machines, power, planter) = (world.machines.clone(), world.power.clone(), world.planter.clone());
    Box::new(move |parts: AdapterParts| {
        let base_url = &parts.address.base_url;
        let machine = machines.get(base_url).cloned();
        let machine = machine.ok_or_else(|| MakeError::BadAddress(format!("no printer has the address {base_url}")))?;
        let (power, planter) = (power.clone(), planter.clone());
        Ok(Arc::new(MachineAdapter { declared: parts.declared, machine, power, planter }) as Arc<dyn Adapter>)
    })
}
