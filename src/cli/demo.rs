//! `printfloor demo`: the real server over a folder of its own, with virtual printers in the same process and people who
//! order, pay, ship and restock.
//!
//! Everything these people do goes through the server's HTTP API; the only thing they get that others do not is their
//! first key, from the control socket, as the owner of any machine does. Nothing here reads or changes the shop itself.

mod catalogue;
mod clerk;
mod customers;
mod feed;
mod floor;
mod folder;
mod setup;
mod story;
mod tally;

use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use self::clerk::Clerk;
use self::customers::Customers;
use self::feed::Feed;
use self::floor::Floor;
use self::folder::Folder;
use self::story::Story;
use self::tally::Tally;
use crate::actors::kernel::environment::fill_secret;
use crate::cli::api::Api;
use crate::cli::{CliError, Signals};
use crate::config::{Config, LoadOptions, process_env};
use crate::domain::time::Timestamp;
use crate::observe::log;
use crate::server::Server;

/// Where the demo keeps everything when no other folder is named.
const FOLDER: &str = "data/demo";
/// How many printers a new demo has.
const PRINTERS: usize = 6;
/// The usual port.
const PORT: u16 = 8787;
/// How long the server may take to finish when the demo ends.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// What the demo is started with.
#[derive(Clone, Debug, Default)]
pub struct DemoOptions {
    /// Its folder; none: `data/demo`. A folder that holds anything else is refused.
    pub data: Option<PathBuf>,
    /// How many printers; none: as many as last time, six at first.
    pub printers: Option<usize>,
    /// Where to listen; none: the usual port, or a free one.
    pub listen: Option<SocketAddr>,
    /// Ends by itself after this.
    pub end_after: Option<Duration>,
}

/// The clock of the people in the demo.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Runs the demo until a signal, or its time, ends it.
pub async fn run(options: DemoOptions) -> Result<(), CliError> {
    let mut signals = Signals::listen().map_err(CliError::io("signals cannot be heard"))?;
    let path = options.data.clone().unwrap_or_else(|| PathBuf::from(FOLDER));
    let mut folder = Folder::open(&path)?;
    folder.memory.printers = options.printers.unwrap_or(folder.memory.printers);
    let floor = Floor::start(&mut folder).await?;
    let config = config(&folder, options.listen.unwrap_or_else(usual_or_free))?;
    log::start(&config.log, config.mode);
    let server = tokio::select! {
        biased; // a server that has started is stopped in order
        started = Server::start(config) => started?,
        () = signals.next() => return Ok(()),
    };
    let tally = Arc::new(Tally::default());
    let mut people = JoinSet::new();
    let ended = {
        let shop = server.shop().clone();
        let clock: Clock = Arc::new(move || shop.environment.now());
        let opened = open(&server, &folder, &floor, clock, &tally, &mut people);
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
    tokio::select! {
        biased; // done before given up
        () = server.stop(STOP_WITHIN) => {}
        () = signals.next() => {}
    }
    floor.shutdown();
    println!("\n{}", tally.summary(floor.sink.received().iter().filter(|one| one.answered == Some(200)).count()));
    ended
}

/// Fills the shop, says how to get in, and sends the people to work.
async fn open(
    server: &Server,
    folder: &Folder,
    floor: &Floor,
    clock: Clock,
    tally: &Arc<Tally>,
    people: &mut JoinSet<CliError>,
) -> Result<(), CliError> {
    let machine = Api::over_socket(&folder.path).await?;
    let machine = machine.ok_or_else(|| CliError::Failed("the server has no control socket".to_owned()))?;
    let key = setup::key(&machine).await?;
    setup::admin(&machine, &folder.memory).await?;
    let address = server.address().ok_or_else(|| CliError::Failed("the server does not listen".to_owned()))?;
    let base = format!("http://{address}");
    let api = Api::over_tcp(&base, &key)?;
    let names = setup::shop(&api, &folder.memory, floor).await?;
    println!("{}", greeting(&base, &key, folder, floor));
    let feed = Feed::open(api.clone()).await?;
    let story = Story::new(api.clone(), names.clone(), tally.clone());
    people.spawn(async move { feed.tell(story).await });
    let secret = folder.memory.payment_secret.clone();
    people.spawn(Clerk::new(api.clone(), clock.clone(), secret, tally.clone()).work());
    people.spawn(Customers::new(api, names, clock, tally.clone()).work());
    Ok(())
}

/// Until a signal, the end of the time, a fault of the people, or another server.
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
        () = server.fenced() => Err(CliError::Failed("another server took over the database".to_owned())),
        Some(stopped) = people.join_next() => match stopped {
            Ok(error) => Err(error),
            Err(error) => Err(CliError::Failed(format!("the demo broke: {error}"))),
        },
    }
}

/// The demo's own settings: nothing of the environment but how to log, so that it never touches a real shop.
fn config(folder: &Folder, listen: SocketAddr) -> Result<Config, CliError> {
    let env: Vec<_> = process_env().into_iter().filter(|(name, _)| name.starts_with("PRINTFLOOR_LOG__")).collect();
    let given = |name: &str| env.iter().any(|(known, _)| known == name);
    let data = folder.path.to_str().ok_or_else(|| CliError::Usage("--data must be valid UTF-8".to_owned()))?;
    let mut overrides = vec![
        ("server.listen", listen.to_string()),
        ("server.data_dir", data.to_owned()),
        ("payments.webhook_secret", folder.memory.payment_secret.clone()),
        ("webhooks.allow_private_targets", "true".to_owned()),
        // One program plays all customers, staff and services.
        ("limits.staff_per_minute", "1000000".to_owned()),
        // Simulated prints last seconds, and so does the wait for one that did not start.
        ("dispatch.confirm_seconds", "10".to_owned()),
        ("printers.poll_seconds", "0.5".to_owned()),
    ];
    if !given("PRINTFLOOR_LOG__FILTER") {
        overrides.push(("log.filter", "warn,sqlx=error,sea_orm=error".to_owned()));
    }
    if !given("PRINTFLOOR_LOG__FORMAT") {
        overrides.push(("log.format", "text".to_owned()));
    }
    let loaded = Config::load(LoadOptions {
        file: None,
        env,
        // Its secrets go to a `.env` in its own folder.
        cwd: folder.path.clone(),
        overrides,
        random: &mut fill_secret,
    })?;
    Ok(loaded.config)
}

/// The usual port, or a free one when something listens there already.
fn usual_or_free() -> SocketAddr {
    let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    let free = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let bound = TcpListener::bind(usual).or_else(|_| TcpListener::bind(free));
    bound.and_then(|listener| listener.local_addr()).unwrap_or(usual)
}

fn greeting(base: &str, key: &str, folder: &Folder, floor: &Floor) -> String {
    format!(
        "Printfloor demo: a real server, {count} simulated printers at {speed} times their speed\n\
         \n  address   {base}\
         \n  key       {key}\
         \n  admin     {email}, password {password}\
         \n  data      {data}\n\
         \n  try       curl -H 'X-API-Key: {key}' {base}/api/orders\n\
         \nPeople order, pay and receive by themselves. Ctrl-C ends it; started again, it goes on.\n",
        count = floor.printers().count(),
        speed = floor::SPEED,
        email = setup::ADMIN,
        password = folder.memory.password,
        data = shown(&folder.path),
    )
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
