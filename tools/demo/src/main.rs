//! `printfloor-demo`: a real server with its own data directory, simulated printers in the demo's process, simulated
//! customers and staff who order, pay, ship and restock, and the other systems of a shop (`simulator::peers`). Now and
//! then something goes wrong on the floor (`mishaps.rs`), and the shop recovers.
//!
//! The server is `printfloor serve` in a separate process ([`server`]). The simulated customers and staff use only its
//! HTTP API. Their API key, and the link that signs in the user at the machine, are created over the control socket, as
//! the machine's owner would create them.

mod arguments;
mod bookkeeper;
mod catalogue;
mod clerk;
mod client;
mod customers;
mod error;
mod feed;
mod floor;
mod folder;
mod inspector;
mod lateness;
mod mishaps;
mod output;
mod payers;
mod random;
mod screen;
mod server;
mod settings;
mod setup;
mod shops;
mod sliced;
mod status;
mod story;
mod tally;
mod time;

use std::env;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser as _;
use rustix::fs::Mode;
use simulator::peers::all::AllPeers;
use stop_signals::StopSignals;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::sleep;

use self::arguments::DemoArguments;
use self::bookkeeper::AccountingAdmin;
use self::clerk::DemoClerk;
use self::customers::Customers;
use self::error::DemoError;
use self::feed::EventFeed;
use self::floor::DemoFloor;
use self::folder::Folder;
use self::inspector::Inspector;
use self::lateness::Lateness;
use self::mishaps::Mishaps;
use self::payers::Payers;
use self::screen::{LineTone, Screen};
use self::server::ServerProcess;
use self::shops::DemoShops;
use self::status::ShopStatus;
use self::story::DemoStory;
use self::tally::Tally;

/// Number of printers in a new demo.
const DEFAULT_PRINTERS: usize = 6;
/// Port to listen on if it is free.
const DEFAULT_PORT: u16 = 8787;
/// Path at which the server receives payment events.
const PAYMENT_EVENTS: &str = "/webhooks/payments";
/// Directory in the data directory for emails that are not actually sent.
const OUTBOX_FOLDER: &str = "outbox";
/// Maximum time to wait at exit for threads that are still running.
const THREAD_EXIT_TIMEOUT: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    // All files of this process and its server are readable only by the account that runs them: databases, mails,
    // secrets.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    install_tls_provider();
    // Exits the process with 2 on wrong usage and with 0 after --help and --version.
    let arguments = DemoArguments::parse();
    let runtime = match Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::note(&format!("printfloor-demo: the asynchronous runtime cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let ended = runtime.block_on(run(arguments));
    runtime.shutdown_timeout(THREAD_EXIT_TIMEOUT);
    match ended {
        Ok(()) | Err(DemoError::ReaderGone) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("printfloor-demo: {error}"));
            if let Some(advice) = error.advice() {
                output::note(&format!("  {advice}"));
            }
            error.exit_code()
        }
    }
}

/// Makes aws-lc-rs the TLS provider of this process; repeated calls have no effect.
fn install_tls_provider() {
    // An error means that it was installed before.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

/// Runs the demo until it is stopped by a signal or by its time limit.
async fn run(arguments: DemoArguments) -> Result<(), DemoError> {
    let mut signals = StopSignals::listen().map_err(DemoError::io("the demo's signal handlers cannot be installed"))?;
    let program = server::program(arguments.server)?;
    let mut folder = Folder::open(&arguments.data)?;
    folder.memory.printers = arguments.printers.map_or(folder.memory.printers, usize::from);
    folder.choose_base_port(arguments.base_port)?;
    // From here, the path of the control socket is short, however long the path of the directory is.
    let failed = DemoError::io(format!("{} cannot be entered", folder.path.display()));
    env::set_current_dir(&folder.path).map_err(failed)?;
    let floor = DemoFloor::start(&mut folder).await?;
    let peers = AllPeers::start().await.map_err(DemoError::io("the shop's simulated systems cannot start"))?;
    floor.printers().for_each(|printer| printer.handle.set_camera(Some(&peers.camera())));
    let screen = Screen::new();
    let environment = settings::environment(env::vars_os(), &folder.memory, &floor, &peers);
    let listen = arguments.listen.unwrap_or_else(|| usual_or_free().to_string());
    let mut server = tokio::select! {
        biased; // a server that has started is stopped in order
        started = ServerProcess::start(&program, &folder.path, &listen, environment, &screen) => started?,
        () = signals.next() => return Ok(()),
    };
    let tally = Arc::new(Tally::default());
    let mut people = JoinSet::new();
    let opened = tokio::select! {
        biased; // a finished opening before a signal, which is looked at again afterwards
        opened = open(server.address(), &folder, (&floor, &peers), &screen, &tally, &mut people) => opened.map(|()| true),
        () = signals.next() => Ok(false),
    };
    let ended = match opened {
        Ok(true) => wait(&mut signals, &mut server, arguments.end_after, &mut people).await,
        Ok(false) => Ok(()),
        Err(error) => Err(error),
    };
    people.shutdown().await;
    screen.end_block();
    server.stop(&mut signals).await;
    floor.shutdown();
    let received = floor.sink.received().iter().filter(|one| one.answered == Some(200)).count();
    let printed = output::print(&format!("\n{}\n", tally.summary(received)));
    ended.and(printed)
}

/// Fills the shop, prints how to sign in, and starts the simulated customers and staff.
async fn open(
    address: SocketAddr,
    folder: &Folder,
    (floor, peers): (&DemoFloor, &AllPeers),
    screen: &Screen,
    tally: &Arc<Tally>,
    people: &mut JoinSet<DemoError>,
) -> Result<(), DemoError> {
    let machine = client::over_socket()?;
    let key = setup::key(&machine).await?;
    let admin = setup::admin(&machine, &folder.memory).await?;
    let base = format!("http://{address}");
    let api = client::over_tcp(&base, &key)?;
    let (names, machines) = setup::shop(&api, &folder.memory, floor).await?;
    screen.begin_block()?;
    // Created last, so that it leads into a shop with data.
    let path = setup::sign_in_path(&machine, &admin).await?;
    let link = format!("http://{}{path}", reached(address));
    screen.line(LineTone::Plain, &greeting((&base, &link), &key, folder, floor))?;
    let clock = time::machine_clock();
    let feed = EventFeed::open(api.clone()).await?;
    let story = DemoStory::new(api.clone(), names.clone(), screen.clone(), tally.clone());
    people.spawn(async move { feed.tell(story).await });
    people.spawn(ShopStatus::new(api.clone(), base.clone(), screen.clone(), tally.clone()).show());
    people.spawn(Inspector::new(api.clone(), names.clone(), screen.clone(), tally.clone()).work());
    people.spawn(Lateness::new(api.clone(), machines.clone(), screen.clone()).happen());
    people.spawn(Mishaps::new(api.clone(), machines, screen.clone(), tally.clone()).happen());
    floor.processor.events_go_to(reached(address), PAYMENT_EVENTS, &folder.memory.payment_secret);
    people.spawn(Payers::new(api.clone(), floor.processor.clone(), screen.clone()).work());
    people.spawn(DemoClerk::new(api.clone(), clock.clone(), tally.clone()).work());
    let outbox = folder.path.join(OUTBOX_FOLDER);
    people.spawn(AccountingAdmin::new(api.clone(), peers.accounting.clone(), outbox, screen.clone()).work());
    let shops = DemoShops::new(api.clone(), peers.shops.clone(), names.clone(), &clock, tally.clone());
    people.spawn(shops.work(reached(address)));
    people.spawn(Customers::new(api, names, clock, tally.clone()).work());
    Ok(())
}

/// Waits for a signal, the time limit, the end of the server process, or a failure of the simulation.
async fn wait(
    signals: &mut StopSignals,
    server: &mut ServerProcess,
    end_after: Option<Duration>,
    people: &mut JoinSet<DemoError>,
) -> Result<(), DemoError> {
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
        status = server.ended() => Err(DemoError::ServerEnded(status?)),
        Some(stopped) = people.join_next() => match stopped {
            Ok(error) => Err(error),
            Err(error) => Err(DemoError::Failed(format!("the simulation of customers and staff crashed: {error}"))),
        },
    }
}

/// Returns the address at which programs on this machine can reach a server that listens on `address`.
fn reached(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() { SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())) } else { address }
}

/// Returns an address with port 8787, or with a free port if that one is in use.
fn usual_or_free() -> SocketAddr {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT));
    let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let bound = TcpListener::bind(usual).or_else(|_| TcpListener::bind(free));
    bound.and_then(|listener| listener.local_addr()).unwrap_or(usual)
}

/// Formats the first lines of output. `link` signs the user in as the admin and works once.
fn greeting((base, link): (&str, &str), key: &str, folder: &Folder, floor: &DemoFloor) -> String {
    format!(
        "Printfloor demo: a real server with {count} simulated printers, whose prints take seconds instead of hours\n\
         \n  address   {base}\
         \n  key       {key}\
         \n  admin     {email}, password {password}\
         \n  data      {data}\n\
         \n  Open {link}\
         \n  in a browser on this machine to see the floor live, signed in as the admin. The link works once and expires in\
         \n  an hour.\n\
         \n  Open {base}/docs, press Authorize and enter the key to try any request, or run:\
         \n  curl -H 'X-API-Key: {key}' {base}/api/orders\
         \n  curl -H 'X-API-Key: {key}' {base}/api/integrations    # the shop's other systems, also simulated\n\
         \nSimulated customers order and pay, and simulated staff ship and restock, so you can just watch. If you place an\
         \norder yourself, the demo prints the simulated payment page on which to pay it. Now and then something goes wrong\
         \non the floor (MISHAP) and the shop recovers (RESCUED), a bad part is reprinted (BAD PART, MADE GOOD), and\
         \npromises to customers are kept or missed. Press Ctrl-C to stop the demo; the next start resumes it.\n",
        count = floor.printers().count(),
        email = setup::ADMIN,
        password = folder.memory.password,
        data = display_path(&folder.path),
    )
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}
