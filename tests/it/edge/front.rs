//! Health checks and emergency stops while nothing else in the server responds, and bodies that do not arrive.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use futures::stream::{FuturesUnordered, StreamExt as _};
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::config::{Config, LoadOptions};
use printfloor::domain::access::AddKey;
use printfloor::domain::id::Id;
use printfloor::domain::principal::Role;
use printfloor::platform::watch::WatchSender;
use printfloor::secrets::credentials::{api_key_hash, last4, new_api_key};
use printfloor::server::Server;
use serde_json::json;
use simulator::PrinterKind;
use simulator::fleet::{Fleet, FleetOptions, SimPrinter};
use simulator::printer::PhysicalEvent;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::{Builder, Runtime};

use super::{MAX_STOP, app};
use crate::api::PASSWORD;
use crate::support::wire::Wire;
use crate::support::{Client, until};

/// A server in this process, on its own runtime with a single thread, and an admin's client.
struct Stuck {
    runtime: Runtime,
    server: Option<Server>,
    client: Client,
    _folder: tempfile::TempDir,
}

impl Stuck {
    fn new() -> Self {
        Self::with(&[])
    }

    /// Starts the server with additional settings.
    fn with(further: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let settings = [
            ("PRINTFLOOR_SERVER__DATA_DIR", data.to_str().unwrap()),
            ("PRINTFLOOR_SERVER__LISTEN", "127.0.0.1:0"),
            ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "0.1"),
            ("API_KEY_SALT", "a salt of tests that is long enough"),
            ("SESSION_SECRET", "a secret of tests that is long enough"),
            ("SECRETS_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="),
        ];
        let options = LoadOptions {
            file: None,
            env: settings.iter().chain(further).map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect(),
            cwd: folder.path().to_owned(),
            overrides: Vec::new(),
        };
        let config = Config::load(options).unwrap().config;
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let key = new_api_key("key_test_");
        let command = AddKey {
            name: "tests".to_owned(),
            hash: api_key_hash(config.auth.api_key_salt.expose(), &key),
            prefix: "key_test_".to_owned(),
            last4: last4(&key),
            role: Role::Admin,
            customer_email: None,
            expires_at: None,
        };
        let server = runtime.block_on(async {
            let server = Server::start(config).await.unwrap();
            server.shop().access.ask(Id::ONLY, CommandOrigin::system(), command).await.unwrap();
            server
        });
        let client = Client::new(&format!("http://{}", server.address().unwrap()), Some(&key));
        Self { runtime, server: Some(server), client, _folder: folder }
    }

    /// Blocks the only thread until the returned sender is dropped.
    fn take_the_thread(&self) -> mpsc::Sender<()> {
        let (release, released) = mpsc::channel();
        let (notice, is_taken) = mpsc::channel();
        self.runtime.spawn(async move {
            notice.send(()).unwrap();
            let _ = released.recv();
        });
        is_taken.recv().unwrap();
        release
    }
}

impl Drop for Stuck {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.stop(Duration::from_secs(10)));
        }
    }
}

/// Returns an address of this machine that other machines can use; `None` if it has none. Sends nothing.
fn address_among_others() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|address| !address.is_loopback())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_address_cannot_hold_all_connections() {
    // Callers on this machine itself are exempt.
    let Some(own) = address_among_others() else { return eprintln!("left out: this machine has no other address") };
    let few = [
        ("PRINTFLOOR_SERVER__LISTEN", "0.0.0.0:0"),
        ("PRINTFLOOR_SERVER__MAX_CONNECTIONS", "100"),
        ("PRINTFLOOR_SERVER__MAX_CONNECTIONS_PER_ADDRESS", "4"),
        ("PRINTFLOOR_SERVER__KEEP_ALIVE_TIMEOUT_SECONDS", "600"),
    ];
    let stuck = tokio::task::spawn_blocking(move || Stuck::with(&few)).await.unwrap();
    let key = stuck.client.key.clone().unwrap();
    let port = stuck.client.base.rsplit(':').next().unwrap().parse().unwrap();
    let address = SocketAddr::new(own, port);
    let mut held = Vec::new();
    let refused = loop {
        let mut wire = Wire::at(address).await;
        let (status, text) = wire.get_with(&key, "/api/orders").await.expect("an answer");
        if status == 503 {
            break text;
        }
        assert_eq!(status, 200, "{text}");
        held.push(wire);
        assert!(held.len() <= 4, "too many were let in");
    };
    assert!(held.len() == 4 && refused.contains(r#""code":"overloaded""#), "{} before {refused}", held.len());
    let mut flood = Vec::new();
    for _ in 0..200 {
        let mut wire = Wire::at(address).await;
        wire.say("GET /api/orders HTTP/1.1\r\nx-slow: ").await;
        flood.push(wire);
    }
    // Others find their places, and this address is still heard where it must be.
    for _ in 0..6 {
        let other = Client::new(&stuck.client.base, Some(&key));
        other.get("/api/orders").await.expect(200);
    }
    let (status, _) = Wire::at(address).await.get_with(&key, "/healthz").await.expect("an answer");
    assert_eq!(status, 200);
    for wire in &mut held {
        assert_eq!(wire.get_with(&key, "/api/orders").await.expect("still open").0, 200);
    }
    drop((held, flood));
    let free = || async {
        let answer = Wire::at(address).await.get_with(&key, "/api/orders").await;
        answer.filter(|(status, _)| *status == 200).map(drop)
    };
    until("a place to be free", free).await;
    tokio::task::spawn_blocking(move || drop(stuck)).await.unwrap();
}

fn stopped(sim: &SimPrinter) -> bool {
    sim.handle.log().iter().any(|entry| matches!(entry.what, PhysicalEvent::EmergencyStop))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_printer_is_stopped_and_health_is_told_while_every_other_thread_is_taken() {
    let stuck = tokio::task::spawn_blocking(Stuck::new).await.unwrap();
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 1)).await.unwrap();
    let sim = &fleet.printers[0];
    let printer = stuck.client.printer(sim).await;
    let release = stuck.take_the_thread();

    let newcomer = || Client::new(&stuck.client.base, stuck.client.key.as_deref());
    for _ in 0..20 {
        newcomer().get("/healthz").await.expect(200);
    }
    // What is recorded needs the rest of the server: the stop and its answer do not.
    let answer = newcomer().act(&format!("/api/printers/{printer}/emergency-stop")).await.expect(200);
    assert!(answer["ok"] == true && answer["recorded"] == false && stopped(sim), "{answer}");
    drop(release);
    until("the stop to be recorded", || async {
        let status = newcomer().get(&format!("/api/printers/{printer}/status")).await.expect(200);
        status["attention"].as_array().unwrap().iter().any(|one| one == "needs_home").then_some(())
    })
    .await;
    tokio::task::spawn_blocking(move || drop(stuck)).await.unwrap();
}

fn begun(path: &str, credentials: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\n{credentials}content-type: application/json\r\ncontent-length: 1000\r\n\r\n{{"
    )
}

#[tokio::test]
async fn unfinished_bodies_of_strangers_hold_no_place_and_are_bounded() {
    let app = app(&[
        ("SERVER__MAX_CONCURRENT_REQUESTS", "4"),
        ("SERVER__MAX_UNFINISHED_BODIES_PER_CLIENT", "16"),
        ("SERVER__REQUEST_TIMEOUT_SECONDS", "600"),
        ("SERVER__BODY_IDLE_TIMEOUT_SECONDS", "600"),
    ])
    .await;
    let (mut held, mut refused) = (Vec::new(), 0);
    for path in ["/api/auth/login", "/webhooks/agent", "/webhooks/payments"].iter().cycle().take(48) {
        let mut wire = Wire::to(&app).await;
        wire.say(begun(path, "")).await;
        held.push(wire);
    }
    for _ in 0..20 {
        app.get("/api/orders").await.expect(200);
    }
    // A stranger whose body is there is heard as ever.
    let body = json!({"email": "nobody@example.org", "password": "wrong password"});
    assert_eq!(app.nobody().post("/api/auth/login", &body).await.error(401), "wrong_credentials");
    // Those beyond the bound were told so.
    let mut answers = held.iter_mut().map(Wire::answer).collect::<FuturesUnordered<_>>().take(32);
    while let Some(answer) = answers.next().await {
        let (status, text) = answer.expect("an answer");
        assert_eq!(status, 503, "{text}");
        assert!(
            text.contains(r#""code":"overloaded""#) && text.contains("too many requests with incomplete bodies"),
            "{text}"
        );
        refused += 1;
    }
    assert_eq!(refused, 32);
}

#[tokio::test]
async fn a_body_that_drips_is_ended_on_every_route() {
    let app = app(&[("SERVER__REQUEST_TIMEOUT_SECONDS", "1")]).await;
    let key = format!("x-api-key: {}\r\n", app.key.as_deref().unwrap());
    let printer = format!("/api/printers/{}/gcode", crate::api::NOTHING);
    for (path, credentials) in [("/webhooks/agent", ""), ("/api/auth/login", ""), (&*printer, &*key)] {
        let mut wire = Wire::to(&app).await;
        wire.say(begun(path, credentials)).await;
        let mut drops = tokio::time::interval(Duration::from_millis(50));
        drops.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut byte_count = 0;
        let answer = loop {
            tokio::select! {
                biased; // an answer ends it
                answer = wire.answer() => break answer,
                _ = drops.tick() => byte_count += 1,
            }
            wire.say(" ").await;
            assert!(byte_count < 600, "{path}: the body drips on");
        };
        let (status, text) = answer.expect("an answer");
        assert_eq!(status, 408, "{path}: {text}");
    }
}

#[tokio::test]
async fn connections_that_say_nothing_keep_nobody_from_health_and_stops() {
    let app = app(&[("SERVER__MAX_CONNECTIONS", "8"), ("SERVER__HEADER_TIMEOUT_SECONDS", "600")]).await;
    let mut silent = Vec::new();
    for n in 0..1200 {
        let mut wire = Wire::to(&app).await;
        // Some say nothing, some the beginning of what might become a health check, some of anything.
        wire.say(["", "GET /healt", "GET /api/orders HTTP/1.1\r\nx-slow: "][n % 3]).await;
        silent.push(wire);
    }
    for _ in 0..20 {
        let newcomer = Client::new(&app.base, app.key.as_deref());
        newcomer.get("/healthz").await.expect(200);
        newcomer.get("/readyz").await.expect(200);
        let stop = format!("/api/printers/{}/emergency-stop", crate::api::NOTHING);
        assert_eq!(newcomer.act(&stop).await.error(404), "printer_not_found");
    }
    drop(silent);
}

/// Start of an emergency stop over the API, and of one through a page's form.
const BEGUN_STOP: &str =
    "POST /api/printers/01890a5d-ac96-774b-bcce-b302099a8069/emergency-stop HTTP/1.1\r\nhost: x\r\n";
const BEGUN_STOP_BY_FORM: &str =
    "POST /floor/printers/01890a5d-ac96-774b-bcce-b302099a8069/emergency-stop HTTP/1.1\r\nhost: x\r\n";

/// Time after which an unfinished emergency stop request is aborted, whoever sent it.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
/// Time limit for a printer's response to a stop. On a machine that is too busy, it expires before the storm begins.
const PRINTER_STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Starts `count` emergency stops that anonymous clients never finish; waits until the first one is aborted.
async fn storm_of_stops(address: SocketAddr, count: usize) -> Vec<Wire> {
    // All at once: a stop that is not finished in time is ended, also one that is not part of the storm.
    let begin = |n: usize| async move {
        let mut wire = Wire::at(address).await;
        wire.say([BEGUN_STOP, BEGUN_STOP_BY_FORM][n % 2]).await;
        wire
    };
    let mut storm = futures::future::join_all((0..count).map(begin)).await;
    storm[0].ended().await;
    storm
}

/// Starts a printer that accepts everything but responds to an emergency stop only with permission. Returns its
/// address, the number of stops so far, and the permission.
async fn slow_printer() -> (SocketAddr, WatchSender<u32>, WatchSender<bool>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stops, permission) = (WatchSender::new(0), WatchSender::new(false));
    let (tell, allow) = (stops.clone(), permission.subscribe());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (tell, mut allow) = (tell.clone(), allow.clone());
            tokio::spawn(async move {
                let mut request = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut request).await {
                    if request[..read].starts_with(b"POST /printer/emergency_stop") {
                        tell.send_modify(|count| *count += 1);
                        allow.wait_for(|is_allowed| *is_allowed).await.unwrap();
                        let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n";
                        stream.write_all(format!("{answer}{{\"result\":\"ok\"}}").as_bytes()).await.unwrap();
                    }
                }
            });
        }
    });
    (address, stops, permission)
}

#[tokio::test]
async fn a_stop_that_was_admitted_outlives_a_storm_of_unfinished_ones() {
    let app = app(&[("PRINTERS__REQUEST_TIMEOUT_SECONDS", "60"), ("PRINTERS__POLL_INTERVAL_SECONDS", "60")]).await;
    let (at, stops, permission) = slow_printer().await;
    let printer = json!({
        "name": "Slow", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": format!("http://{at}"),
    });
    let printer = crate::api::id(&app.post("/api/printers", &printer).await.expect(201));
    let path = format!("/api/printers/{printer}/emergency-stop");
    let address: SocketAddr = app.base.strip_prefix("http://").unwrap().parse().unwrap();
    until("the stop to be answered", || async {
        permission.send_replace(false);
        let before = *stops.borrow();
        let (begun, client, path) = (Instant::now(), Client::new(&app.base, app.key.as_deref()), path.clone());
        let stop = tokio::spawn(async move { client.act(&path).await.status });
        stops.subscribe().wait_for(|count| *count > before).await.unwrap();
        let _storm = storm_of_stops(address, 600).await;
        let is_late = || begun.elapsed() >= PRINTER_STOP_TIMEOUT;
        assert!(!stop.is_finished() || is_late(), "the printer has not answered");
        permission.send_replace(true);
        let status = stop.await.unwrap();
        assert!(status == 200 || is_late(), "{status}");
        (status == 200).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_unfinished_stops_takes_the_places_of_its_own_address_alone() {
    // Many stand behind this machine's own address.
    let Some(own) = address_among_others() else { return eprintln!("left out: this machine has no other address") };
    let everywhere = [("PRINTFLOOR_SERVER__LISTEN", "0.0.0.0:0")];
    let stuck = tokio::task::spawn_blocking(move || Stuck::with(&everywhere)).await.unwrap();
    let port = stuck.client.base.rsplit(':').next().unwrap().parse().unwrap();
    let key = stuck.client.key.clone().unwrap();
    until("the stop of somebody else to be heard", || async {
        let (begun, mut slow) = (Instant::now(), Wire::at(("127.0.0.1", port)).await);
        slow.say(BEGUN_STOP).await;
        let _storm = storm_of_stops(SocketAddr::new(own, port), 300).await;
        slow.say(format!("x-api-key: {key}\r\ncontent-length: 0\r\n\r\n")).await;
        let answer = slow.answer().await;
        let is_heard =
            answer.as_ref().is_some_and(|(status, text)| *status == 404 && text.contains("printer_not_found"));
        // Where the machine is too busy, its own time is over.
        assert!(is_heard || begun.elapsed() >= STOP_TIMEOUT, "{answer:?}");
        is_heard.then_some(())
    })
    .await;
    tokio::task::spawn_blocking(move || drop(stuck)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_by_form_is_heard_while_every_other_thread_is_taken_and_strangers_storm() {
    let stuck = tokio::task::spawn_blocking(Stuck::new).await.unwrap();
    let fleet = Fleet::start(FleetOptions::of(PrinterKind::FwRest, 1)).await.unwrap();
    let sim = &fleet.printers[0];
    let printer = stuck.client.printer(sim).await;
    let mut account = json!({"email": "sam@example.org", "name": "Sam", "password": PASSWORD, "role": "operator"});
    stuck.client.post("/api/users", &account).await.expect(201);
    account.as_object_mut().unwrap().retain(|name, _| ["email", "password"].contains(&name.as_str()));
    let login = Client::new(&stuck.client.base, None).post("/api/auth/login", &account).await;
    let cookie = login.header("set-cookie").expect("a cookie").split(';').next().unwrap().to_owned();
    let address: SocketAddr = stuck.client.base.strip_prefix("http://").unwrap().parse().unwrap();
    let form = format!(
        "POST /floor/printers/{printer}/emergency-stop HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\n\
         sec-fetch-site: same-origin\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 12\r\n\r\n\
         form_token=x"
    );
    let release = stuck.take_the_thread();
    let storm = storm_of_stops(address, 400).await;
    let (mut wire, begun) = (Wire::at(address).await, Instant::now());
    wire.say(form).await;
    let (status, text) = wire.answer().await.expect("an answer");
    assert!(status == 303 && text.contains(&format!("location: /floor/printers/{printer}\r\n")), "{text}");
    assert!(stopped(sim) && begun.elapsed() < MAX_STOP, "after {:?}", begun.elapsed());
    drop((release, storm));
    tokio::task::spawn_blocking(move || drop(stuck)).await.unwrap();
}
