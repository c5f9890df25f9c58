//! `printfloor serve`: runs the server until a signal stops it or a different server takes over its database.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use std::{io, process};

use stop_signals::{HandoverSignal, StopSignals};

use super::{CliError, GlobalOptions, api_client, output, settings};
use crate::actors::kernel::environment::machine_clock;
use crate::config::{Config, LoadedConfig};
use crate::observe::log;
use crate::server::{CONTROL_SOCKET, FAREWELL_TIME, LeadLoss, Server, absolute};
use crate::store::connect;

/// Additional time to close files and sockets, on top of the time for requests and actors to finish.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

/// Time from the beginning of a start after which the end of standard input ends the start as well. Within this time, a
/// refused start reports the reason.
const START_TIME: Duration = Duration::from_secs(30);

/// Reason that a running server ends.
enum StopReason {
    /// It no longer leads.
    Lost(LeadLoss),
    /// A signal stops it.
    Signal,
    /// It was asked to hand over to the standby server.
    Handover,
}

/// Signals that a server listens to.
struct ServerSignals {
    stop: StopSignals,
    handover: HandoverSignal,
}

impl ServerSignals {
    fn listen() -> io::Result<Self> {
        Ok(Self { stop: StopSignals::listen()?, handover: HandoverSignal::listen()? })
    }
}

/// Exits the process as soon as standard input closes, without an orderly shutdown. Nothing is lost, because
/// acknowledged data is on disk. A server that is still starting is waited for, for at most `START_TIME`: it sends
/// through the channel once it has started; if it is refused, the channel closes, and the process ends with that error.
/// A start that is not over by then has failed.
pub fn end_with_stdin() -> Sender<()> {
    let (started, start) = mpsc::channel();
    let deadline = Instant::now() + START_TIME;
    std::thread::spawn(move || {
        // A failed read counts as the end.
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        let left = deadline.saturating_duration_since(Instant::now());
        let Some((what, code)) = end_of(start.recv_timeout(left)) else { return };
        output::last_note(format!("printfloor: {what}, because standard input was closed"));
        process::exit(code)
    });
    started
}

/// Returns the message and the exit code for a server whose standard input has closed, depending on whether it has
/// started. `start` is the result of waiting for the start; returns `None` if the start was refused.
fn end_of(start: Result<(), RecvTimeoutError>) -> Option<(&'static str, i32)> {
    match start {
        Ok(()) => Some(("ended", 0)),
        Err(RecvTimeoutError::Timeout) => Some(("ended before it had started", 1)),
        Err(RecvTimeoutError::Disconnected) => None,
    }
}

/// Runs the server to completion. Sends through `started` once it serves, and closes it when it ends.
pub async fn run(
    global: &GlobalOptions,
    listen: Option<SocketAddr>,
    started: Option<Sender<()>>,
) -> Result<(), CliError> {
    let LoadedConfig { config, warnings, .. } = settings::load(global, listen)?;
    log::start(&config.log.filter, config.has_json_log());
    for warning in &warnings {
        tracing::warn!("{warning}");
    }
    let mut signals =
        ServerSignals::listen().map_err(CliError::io("the server's signal handlers cannot be installed"))?;
    let within = config.server.shutdown_timeout_seconds.duration();
    let Some(server) = Box::pin(start(config, &mut signals)).await? else { return Ok(()) };
    if let Some(file) = server.made_secrets() {
        let file = absolute(file);
        tracing::info!("created new secrets; keep {} with the data, which cannot be used without it", file.display());
    }
    let nobody = api_client::access(&server).await?.users.values().all(|user| user.archived);
    let program = shell_word(&program(env::args_os().next(), env::current_dir().ok().as_deref()));
    // A server goes on when nobody reads what it prints.
    let _ = output::print(&greeting(server.config(), server.address(), (nobody, server.setup_code()), &program));
    if let Some(started) = started {
        // Its receiver lives as long as the process. Sent before the log is written, which nobody may read.
        let _ = started.send(());
    }
    if let Some(address) = server.address() {
        tracing::info!(%address, "serving");
    }
    let reason = tokio::select! {
        biased; // the loss of the lead is an error, so it is not hidden by a signal at the same moment
        loss = server.lead_lost() => StopReason::Lost(loss),
        () = signals.stop.next() => StopReason::Signal,
        () = server.handover_requested() => StopReason::Handover,
        () = request_on_signal(&server, &mut signals.handover) => StopReason::Handover,
    };
    // At once and without draining: what is done from here on, the other server does too.
    if let StopReason::Lost(loss) = reason {
        return Err(CliError::Failed(loss.to_string()));
    }
    let hands_over = matches!(reason, StopReason::Handover);
    output::note(&format!(
        "{}; running requests have {} s to finish; a second signal stops the server immediately",
        if hands_over { "handing over to another server" } else { "stopping" },
        within.as_secs_f64()
    ));
    let ended = async {
        if hands_over {
            server.hand_over(within).await;
        } else {
            server.stop(within).await;
        }
    };
    let farewell = if hands_over { FAREWELL_TIME } else { Duration::ZERO };
    tokio::select! {
        biased; // done before given up
        () = ended => {}
        () = signals.stop.next() => return Err(CliError::Failed("stopped immediately by a second signal".to_owned())),
        () = tokio::time::sleep(within + farewell + CLOSE_GRACE) => {
            return Err(CliError::Failed("not all requests finished in time".to_owned()));
        }
    }
    tracing::info!("stopped");
    Ok(())
}

/// Waits for a SIGUSR2 that arrives while a standby server is ready to take over. The server logs and ignores others.
async fn request_on_signal(server: &Server, signal: &mut HandoverSignal) {
    loop {
        signal.next().await;
        match server.request_handover().await {
            Ok(()) => return,
            Err(error) => tracing::warn!(%error, "cannot hand over on SIGUSR2"),
        }
    }
}

/// Logs each SIGUSR2 that a server receives before it leads. Never ends.
async fn ignore_handovers<T>(signal: &mut HandoverSignal) -> T {
    loop {
        signal.next().await;
        tracing::info!("ignored SIGUSR2: this server is not active, so it has nothing to hand over");
    }
}

/// Starts the server as soon as it may use the database. Returns `None` if a signal stops it while another server does.
async fn start(config: Config, signals: &mut ServerSignals) -> Result<Option<Server>, CliError> {
    let early = || Err(CliError::Failed("stopped by a signal before the server had started".to_owned()));
    let mut prepared = Server::prepare(config).await?;
    let lead = tokio::select! {
        biased; // whoever leads is stopped in order
        lead = prepared.lead() => lead?,
        lead = ignore_handovers(&mut signals.handover) => lead,
        () = signals.stop.next() => {
            if !prepared.stands_by() {
                return early();
            }
            tracing::info!("stopped while standing by");
            return Ok(None);
        }
    };
    tokio::select! {
        biased; // a server that has started is stopped in order
        started = prepared.start(lead, Box::new(machine_clock)) => Ok(Some(started?)),
        () = signals.stop.next() => early(),
    }
}

/// Formats the message printed when the server has started. `nobody` is `true` if no account exists, `code` is the
/// setup code, and `program` is the shell command that runs this program.
fn greeting(
    config: &Config,
    address: Option<SocketAddr>,
    (nobody, setup_code): (bool, Option<&str>),
    program: &str,
) -> String {
    let mut text = format!("printfloor {}\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, words: String| _ = writeln!(text, "  {name:<9} {words}");
    let data = absolute(&config.server.data_dir);
    let base = address.map(|address| format!("http://{address}"));
    if let Some(base) = &base {
        line("address", base.clone());
    }
    if !config.server.public_url.is_empty() {
        line("public", config.server.public_url.clone());
    }
    line("data", data.display().to_string());
    line("database", connect::display_url(config.database_url().expose()));
    line("control", data.join(CONTROL_SOCKET).display().to_string());
    if let Some(code) = setup_code {
        let place = base.as_ref().map(|base| format!("open {base}/setup in a browser; ")).unwrap_or_default();
        line("setup", format!("{place}the one-time code is {code}; it is valid for 24 hours"));
    }
    if nobody {
        let data = shell_word(&data.display().to_string());
        text.push_str(
            "\nThere are no accounts yet. The setup creates one; without a browser, run in another terminal:\n",
        );
        let _ = writeln!(text, "  {program} user create --data {data} --email you@example.com --role admin");
        let _ = writeln!(text, "  {program} key create --data {data} --name first --role admin");
        if let Some(base) = &base {
            let _ = writeln!(text, "Then open {base}/docs, press Authorize and enter the key to try any request.");
        }
    }
    text
}

/// Returns a name for running this program from any directory: a name on the search path is returned unchanged, and a
/// path is made absolute.
fn program(called: Option<OsString>, folder: Option<&Path>) -> String {
    let called = called.map_or_else(|| PathBuf::from("printfloor"), PathBuf::from);
    let absolute = match folder {
        Some(folder) if called.components().count() > 1 => folder.join(called.strip_prefix(".").unwrap_or(&called)),
        _ => called,
    };
    absolute.display().to_string()
}

/// Quotes a string as a single word for a shell command line.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greeting_says_how_to_get_in_while_nobody_can() {
        let config = Config::default();
        let address = Some(SocketAddr::from(([127, 0, 0, 1], 8787)));
        let first = greeting(&config, address, (true, Some("K7QM-2XDP-9RTV")), "/opt/printfloor");
        assert!(first.contains("http://127.0.0.1:8787\n"), "{first}");
        assert!(first.contains("/opt/printfloor user create --data /"), "{first}");
        assert!(first.contains("/data --email"), "{first}");
        assert!(first.contains("http://127.0.0.1:8787/docs"), "{first}");
        assert!(first.contains("open http://127.0.0.1:8787/setup in a browser"), "{first}");
        assert!(first.contains("code is K7QM-2XDP-9RTV;"), "{first}");
        let later = greeting(&config, address, (false, None), "printfloor");
        assert!(!later.contains("user create") && !later.contains("code"), "{later}");
    }

    #[test]
    fn who_is_cut_off_while_starting_has_failed() {
        assert_eq!(end_of(Ok(())), Some(("ended", 0)));
        assert!(end_of(Err(RecvTimeoutError::Timeout)).is_some_and(|(_, code)| code == 1));
        assert_eq!(end_of(Err(RecvTimeoutError::Disconnected)), None, "it says why by itself");
    }

    #[test]
    fn the_program_is_named_so_that_it_is_found_from_elsewhere() {
        let named = |called: &str| program(Some(called.into()), Some(Path::new("/home/ada")));
        assert_eq!(named("printfloor"), "printfloor");
        assert_eq!(named("./printfloor"), "/home/ada/printfloor");
        assert_eq!(named("target/debug/printfloor"), "/home/ada/target/debug/printfloor");
        assert_eq!(named("/usr/bin/printfloor"), "/usr/bin/printfloor");
        assert_eq!(program(None, None), "printfloor");
    }

    #[test]
    fn a_word_for_a_shell_is_quoted_when_it_must_be() {
        assert_eq!(shell_word("/srv/data-1"), "/srv/data-1");
        assert_eq!(shell_word("/srv/my data"), "'/srv/my data'");
        assert_eq!(shell_word("it's"), "'it'\\''s'");
    }
}
