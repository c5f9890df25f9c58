//! `printfloor demo`: the real server on its own data directory, with simulated printers in the same process, simulated
//! customers and staff who order, pay, ship and restock, and the other systems of a shop (`simulator::peers`). Now and
//! then something goes wrong on the floor (`demo/mishaps.rs`), and the shop recovers.
//!
//! The simulated customers and staff use the HTTP API only. Their API key is created over the control socket, as the
//! owner of a machine would do it. Nothing here accesses the server's state directly, except for the link that signs in
//! the person at this machine: the server of this process creates it.

mod bookkeeper;
mod catalogue;
mod clerk;
mod customers;
mod feed;
mod floor;
mod folder;
mod inspector;
mod lateness;
mod mishaps;
mod payers;
mod screen;
mod setup;
mod shops;
mod status;
mod story;
mod tally;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use simulator::peers::all::AllPeers;
use tokio::task::JoinSet;
use tokio::time::sleep;

use self::bookkeeper::Bookkeeper;
use self::clerk::Clerk;
use self::customers::Customers;
use self::feed::Feed;
use self::floor::DemoFloor;
use self::folder::Folder;
use self::inspector::Inspector;
use self::lateness::Lateness;
use self::mishaps::Mishaps;
use self::payers::Payers;
use self::screen::{Screen, Tone};
use self::shops::OtherShops;
use self::status::ShopStatus;
use self::story::Story;
use self::tally::Tally;
use crate::cli::api::Api;
use crate::cli::{CliError, Signals, output};
use crate::config::{Config, LoadOptions, process_env};
use crate::domain::id::Id;
use crate::domain::time::Timestamp;
use crate::observe::log;
use crate::server::Server;

/// Default data directory.
const DEFAULT_DIRECTORY: &str = "data/demo";
/// Number of printers in a new demo.
const DEFAULT_PRINTERS: usize = 6;
/// Port to listen on if it is free.
const DEFAULT_PORT: u16 = 8787;
/// Filter for log lines; events of the shop are excluded because the demo prints them itself.
const LOG_FILTER: &str = "warn,sqlx=error,sea_orm=error,printfloor::observe::story=off";
/// Path at which the server receives payment events.
const PAYMENT_EVENTS: &str = "/webhooks/payments";
/// Maximum time for the server to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Options of a demo run, from the command line.
#[derive(Clone, Debug, Default)]
pub struct DemoOptions {
    /// Data directory; `None`: `data/demo`. A directory with other content is refused.
    pub data: Option<PathBuf>,
    /// Number of printers; `None`: as many as in the previous run, six in a new demo.
    pub printers: Option<usize>,
    /// Address to listen on; `None`: port 8787 or a free one.
    pub listen: Option<SocketAddr>,
    /// First port of the simulated printers of a new demo; `None`: the first free range. An existing demo keeps its
    /// ports.
    pub base_port: Option<u16>,
    /// Time after which the demo stops; `None`: it runs until a signal.
    pub end_after: Option<Duration>,
}

/// Server clock, shared with the simulated customers and staff.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Runs the demo until a signal or its time limit stops it.
pub async fn run(options: DemoOptions) -> Result<(), CliError> {
    let mut signals = Signals::listen().map_err(CliError::io("the signals that stop the demo cannot be caught"))?;
    let path = options.data.clone().unwrap_or_else(|| PathBuf::from(DEFAULT_DIRECTORY));
    let mut folder = Folder::open(&path)?;
    folder.memory.printers = options.printers.unwrap_or(folder.memory.printers);
    folder.choose_base_port(options.base_port)?;
    let floor = DemoFloor::start(&mut folder).await?;
    let peers = AllPeers::start().await.map_err(CliError::io("the simulated systems of the shop cannot start"))?;
    floor.printers().for_each(|printer| printer.handle.set_camera(Some(&peers.camera())));
    let config = config(&folder, &floor, &peers, options.listen.unwrap_or_else(usual_or_free))?;
    log::start(&config.log, config.mode);
    let server = tokio::select! {
        biased; // a server that has started is stopped in order
        started = Server::start(config) => started?,
        () = signals.next() => return Ok(()),
    };
    let tally = Arc::new(Tally::default());
    let screen = Screen::new();
    let mut people = JoinSet::new();
    let ended = {
        let shop = server.shop().clone();
        let clock: Clock = Arc::new(move || shop.environment.now());
        let systems = (&floor, &peers);
        let opened = open(&server, &folder, systems, clock, &screen, &tally, &mut people);
        let begun = tokio::select! {
            biased; // a finished opening before a signal, which is looked at again afterwards
            opened = opened => opened.map(|()| false),
            () = signals.next() => Ok(true),
        };
        match begun {
            Ok(false) => wait(&mut signals, &server, options.end_after, &mut people).await,
            Ok(true) => Ok(()),
            Err(error) => Err(error),
        }
    };
    people.shutdown().await;
    screen.end_block();
    tokio::select! {
        biased; // done before given up
        () = server.stop(STOP_TIMEOUT) => {}
        () = signals.next() => {}
    }
    floor.shutdown();
    let received = floor.sink.received().iter().filter(|one| one.answered == Some(200)).count();
    let printed = output::print(&format!("\n{}\n", tally.summary(received)));
    ended.and(printed)
}

/// Fills the shop, prints how to sign in, and starts the simulated customers and staff.
async fn open(
    server: &Server,
    folder: &Folder,
    (floor, peers): (&DemoFloor, &AllPeers),
    clock: Clock,
    screen: &Screen,
    tally: &Arc<Tally>,
    people: &mut JoinSet<CliError>,
) -> Result<(), CliError> {
    let machine = Api::over_socket(&folder.path).await?;
    let machine = machine.ok_or_else(|| CliError::Failed("the server has not opened its control socket".to_owned()))?;
    let key = setup::key(&machine).await?;
    let admin = setup::admin(&machine, &folder.memory).await?;
    let address =
        server.address().ok_or_else(|| CliError::Failed("the server does not listen on an address".to_owned()))?;
    let base = format!("http://{address}");
    let api = Api::over_tcp(&base, &key)?;
    let (names, machines) = setup::shop(&api, &folder.memory, floor).await?;
    screen.begin_block()?;
    // Made at last, so that it opens into a shop that is filled.
    let path = admin.parse::<Id>().ok().and_then(|admin| server.make_sign_in_path(admin)).unwrap_or_default();
    let link = format!("http://{}{path}", reached(address));
    screen.line(Tone::Plain, &greeting((&base, &link), &key, folder, floor))?;
    let feed = Feed::open(api.clone()).await?;
    let story = Story::new(api.clone(), names.clone(), screen.clone(), tally.clone());
    people.spawn(async move { feed.tell(story).await });
    people.spawn(ShopStatus::new(api.clone(), base.clone(), screen.clone(), tally.clone()).show());
    people.spawn(Inspector::new(api.clone(), names.clone(), screen.clone(), tally.clone()).work());
    people.spawn(Lateness::new(api.clone(), machines.clone(), screen.clone()).happen());
    people.spawn(Mishaps::new(api.clone(), machines, screen.clone(), tally.clone()).happen());
    floor.processor.events_go_to(reached(address), PAYMENT_EVENTS, &folder.memory.payment_secret);
    people.spawn(Payers::new(api.clone(), floor.processor.clone(), screen.clone()).work());
    people.spawn(Clerk::new(api.clone(), clock.clone(), tally.clone()).work());
    let outbox = server.config().outbox_dir();
    people.spawn(Bookkeeper::new(api.clone(), peers.accounting.clone(), outbox, screen.clone()).work());
    let shops = OtherShops::new(api.clone(), peers.shops.clone(), names.clone(), &clock, tally.clone());
    people.spawn(shops.work(reached(address)));
    people.spawn(Customers::new(api, names, clock, tally.clone()).work());
    Ok(())
}

/// Waits for a signal, the time limit, a failure of the simulation, or a takeover by another server.
async fn wait(
    signals: &mut Signals,
    server: &Server,
    end_after: Option<Duration>,
    people: &mut JoinSet<CliError>,
) -> Result<(), CliError> {
    let end = async {
        match end_after {
            Some(span) => sleep(span).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        biased; // what a person asks for comes first
        () = signals.next() => Ok(()),
        () = end => Ok(()),
        () = server.fenced() => Err(CliError::Failed("another server has taken over the database".to_owned())),
        Some(stopped) = people.join_next() => match stopped {
            Ok(error) => Err(error),
            Err(error) => Err(CliError::Failed(format!("the simulation of customers and staff crashed: {error}"))),
        },
    }
}

/// Builds the settings of the demo. From the environment it takes only the log settings, so that it never touches a
/// real shop.
fn config(folder: &Folder, floor: &DemoFloor, peers: &AllPeers, listen: SocketAddr) -> Result<Config, CliError> {
    let mut env: Vec<_> = process_env().into_iter().filter(|(name, _)| name.starts_with("PRINTFLOOR_LOG__")).collect();
    let is_set = |name: &str| env.iter().any(|(variable, _)| variable == name);
    let data = folder.path.to_str().ok_or_else(|| CliError::Usage("--data must be valid UTF-8".to_owned()))?;
    let mut overrides = vec![
        ("server.listen", listen.to_string()),
        ("server.data_dir", data.to_owned()),
        ("payments.webhook_secret", folder.memory.payment_secret.clone()),
        ("payments.secret_key", floor.payment_key.clone()),
        ("payments.api_base", floor.processor.url()),
        ("webhooks.allow_private_targets", "true".to_owned()),
        ("invoices.seller_name", "Printfloor Demo Shop".to_owned()),
        ("invoices.seller_line1", "1 Demo Street".to_owned()),
        ("invoices.seller_postal_code", "80331".to_owned()),
        ("invoices.seller_city", "Munich".to_owned()),
        ("invoices.seller_country", "DE".to_owned()),
        ("invoices.seller_vat_id", "DE123456789".to_owned()),
        // One client plays all customers, staff and services.
        ("limits.staff_requests_per_minute", "1000000".to_owned()),
        // Simulated prints take seconds, so a start that fails is to be noticed as fast.
        ("dispatch.confirm_seconds", "10".to_owned()),
        ("printers.poll_interval_seconds", "0.5".to_owned()),
        ("printers.offline_seconds", "4".to_owned()),
        ("failure_detection.look_interval_seconds", "1".to_owned()),
        // So is a promise made in seconds.
        ("forecast.starting_seconds", "2".to_owned()),
        ("forecast.least_margin_seconds", "12".to_owned()),
    ];
    if !is_set("PRINTFLOOR_LOG__FILTER") {
        overrides.push(("log.filter", LOG_FILTER.to_owned()));
    }
    if !is_set("PRINTFLOOR_LOG__FORMAT") {
        overrides.push(("log.format", "text".to_owned()));
    }
    env.extend(peers.variables().into_iter().map(|(name, value)| (name.to_owned(), value)));
    let loaded = Config::load(LoadOptions {
        file: None,
        env,
        // A `.env` or `printfloor.toml` of a real shop in the working directory is not its own.
        cwd: folder.path.clone(),
        overrides,
    })?;
    Ok(loaded.config)
}

/// Returns the address at which a program on this machine reaches a server that listens on `address`.
fn reached(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() { SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())) } else { address }
}

/// Returns port 8787, or a free one if it is in use.
fn usual_or_free() -> SocketAddr {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT));
    let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let bound = TcpListener::bind(usual).or_else(|_| TcpListener::bind(free));
    bound.and_then(|listener| listener.local_addr()).unwrap_or(usual)
}

/// Formats the first lines of output. `link` signs in as the admin, once.
fn greeting((base, link): (&str, &str), key: &str, folder: &Folder, floor: &DemoFloor) -> String {
    format!(
        "Printfloor demo: a real server and {count} simulated printers, whose prints take seconds instead of hours\n\
         \n  address   {base}\
         \n  key       {key}\
         \n  admin     {email}, password {password}\
         \n  data      {data}\n\
         \n  Open {link}\
         \n  in a browser on this machine: it is signed in as the admin, and shows the floor live. The link works once, within an hour.\n\
         \n  Open {base}/docs, press Authorize and enter the key to try every request, or:\
         \n  curl -H 'X-API-Key: {key}' {base}/api/orders\
         \n  curl -H 'X-API-Key: {key}' {base}/api/integrations    # other systems of a shop, simulated as well\n\
         \nSimulated customers order and pay, simulated staff ship and restock; nothing for you to do. Place an order yourself,\
         \nand you are told the page of a simulated payment processor on which you pay it. Every now and then\
         \nsomething goes wrong on the floor (MISHAP): watch how it is RESCUED, how a part that is signed off as bad is made\
         \nagain (BAD PART, MADE GOOD), and which promises to customers are kept. Ctrl-C stops the demo; started again, it goes on.\n",
        count = floor.printers().count(),
        email = setup::ADMIN,
        password = folder.memory.password,
        data = display_path(&folder.path),
    )
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}
