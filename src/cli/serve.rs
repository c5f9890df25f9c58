//! `printfloor serve`: runs the server until a signal stops it or another server takes over its database.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use super::{CliError, Global, Signals, office, settings};
use crate::config::{Config, Loaded};
use crate::observe::log;
use crate::server::{CONTROL_SOCKET, Server};

/// Time for closing files and sockets, after the time for requests and actors to complete.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

/// Runs the server to its end.
pub async fn run(global: &Global, listen: Option<SocketAddr>) -> Result<(), CliError> {
    let Loaded { config, warnings, generated } = settings::load(global, listen)?;
    log::start(&config.log, config.mode);
    for warning in &warnings {
        tracing::warn!("{warning}");
    }
    if !generated.is_empty() {
        tracing::info!(
            "generated {} and wrote them to .env: keep that file, stored data cannot be used without it",
            generated.join(", ")
        );
    }
    let mut signals = Signals::listen().map_err(CliError::io("the signals that stop the server cannot be caught"))?;
    let server = tokio::select! {
        biased; // a server that has started is stopped in order
        started = Server::start(config.clone()) => started?,
        () = signals.next() => return Err(CliError::Failed("stopped by a signal before the server had started".to_owned())),
    };
    let nobody = office::access(&server).await?.users.values().all(|user| user.archived);
    print!("{}", greeting(&config, server.address(), nobody, global.data.as_deref()));
    if let Some(address) = server.address() {
        tracing::info!(%address, "serving");
    }
    let fenced = tokio::select! {
        biased; // being fenced is an error, so it is not hidden by a signal at the same moment
        () = server.fenced() => true,
        () = signals.next() => false,
    };
    let within = config.server.shutdown_timeout_seconds.duration();
    if fenced {
        // At once and without draining: what is done from here on, the other server does too.
        return Err(CliError::Failed("another server has taken over the database".to_owned()));
    }
    eprintln!(
        "stopping: running requests have {} s to finish; a second signal stops the server at once",
        within.as_secs_f64()
    );
    tokio::select! {
        biased; // done before given up
        () = server.stop(within) => {}
        () = signals.next() => return Err(CliError::Failed("stopped at once by a second signal".to_owned())),
        () = tokio::time::sleep(within + CLOSE_GRACE) => {
            return Err(CliError::Failed("not all requests finished in time".to_owned()));
        }
    }
    tracing::info!("stopped");
    Ok(())
}

/// The lines printed when the server has started.
fn greeting(config: &Config, address: Option<SocketAddr>, nobody: bool, data: Option<&Path>) -> String {
    let mut text = format!("printfloor {}\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, words: String| _ = writeln!(text, "  {name:<9} {words}");
    if let Some(address) = address {
        line("address", format!("http://{address}"));
    }
    if !config.server.public_url.is_empty() {
        line("public", config.server.public_url.clone());
    }
    line("data", absolute(&config.server.data_dir));
    line("control", absolute(&config.server.data_dir.join(CONTROL_SOCKET)));
    line("database", database(config));
    if nobody {
        let data = data.map(|data| format!(" --data {}", data.display())).unwrap_or_default();
        text.push_str("\nThere are no accounts yet. To create one, and an API key, run in another terminal:\n");
        let _ = writeln!(text, "  printfloor user create{data} --email you@example.com --role admin");
        let _ = writeln!(text, "  printfloor key create{data} --name first --role admin");
    }
    text
}

/// Kind and location of the database, without its password.
pub fn database(config: &Config) -> String {
    let address = config.database_url();
    let place = address.expose();
    match url::Url::parse(place) {
        Ok(url) if url.scheme().starts_with("postgres") => {
            let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
            format!("PostgreSQL {}{port}{}", url.host_str().unwrap_or_default(), url.path())
        }
        _ => {
            let path = place.trim_start_matches("sqlite:").trim_start_matches("//");
            let path = path.split('?').next().unwrap_or_default();
            format!("SQLite {}", absolute(Path::new(path)))
        }
    }
}

/// The absolute path; without `..` and symbolic links if it exists.
fn absolute(path: &Path) -> String {
    let absolute = path.canonicalize().or_else(|_| std::path::absolute(path));
    absolute.unwrap_or_else(|_| path.to_owned()).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::values::Secret;

    #[test]
    fn the_greeting_says_how_to_get_in_while_nobody_can() {
        let config = Config::default();
        let address = Some(SocketAddr::from(([127, 0, 0, 1], 8787)));
        let first = greeting(&config, address, true, Some(Path::new("x")));
        assert!(first.contains("http://127.0.0.1:8787\n"), "{first}");
        assert!(first.contains("user create --data x --email"), "{first}");
        assert!(!greeting(&config, address, false, None).contains("user create"));
    }

    #[test]
    fn the_database_is_named_without_its_password() {
        let mut config = Config::default();
        assert!(database(&config).starts_with("SQLite /"), "{}", database(&config));
        assert!(database(&config).ends_with("/data/printfloor.db"), "{}", database(&config));
        config.database.url = Secret::new("postgres://me:hunter2@db.example:5433/shop?sslmode=require");
        assert_eq!(database(&config), "PostgreSQL db.example:5433/shop");
    }
}
