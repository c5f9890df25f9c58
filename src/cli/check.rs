//! `printfloor check`: tests the configuration and every configured service, and says how to mend what is wrong.
//!
//! Changes nothing but the `.env` that a first start would write too; runs beside a server as well as alone.

mod database;
mod printers;
mod report;
mod services;

use std::fs;
use std::io;
use std::path::Path;

use tokio::net::TcpListener;

use self::report::Report;
use super::api::Api;
use super::{CliError, Global, settings};
use crate::config::{Config, Loaded};
use crate::observe::log;
use crate::server::make_data_folder;

/// Checks everything; an error when something is wrong.
pub async fn run(global: &Global) -> Result<(), CliError> {
    log::start_for_command();
    let mut report = Report::default();
    let Loaded { config, warnings, generated } = settings::load(global, None)?;
    report.fine("settings", format!("{:?} mode, all values are usable", config.mode).to_lowercase());
    for warning in warnings {
        report.note("settings", warning);
    }
    if !generated.is_empty() {
        report.note("settings", format!("made {} and wrote them to .env", generated.join(", ")));
    }
    data_folder(&mut report, &config.server.data_dir);
    address(&mut report, &config).await;
    if let Some(reading) = database::check(&mut report, &config).await {
        printers::check(&mut report, &config, Some(&reading)).await;
        let _ = reading.close().await;
    } else {
        printers::check(&mut report, &config, None).await;
    }
    services::check(&mut report, &config).await;
    report.end()
}

/// It, or what it will be made in, takes files.
fn data_folder(report: &mut Report, data: &Path) {
    let tried = make_data_folder(data).and_then(|()| {
        let probe = data.join(format!(".check.{}", std::process::id()));
        fs::write(&probe, "check")?;
        fs::remove_file(probe)
    });
    match tried {
        Ok(()) => report.fine("data", format!("{} can be written", data.display())),
        Err(error) => report.wrong(
            "data",
            format!("{} cannot be written: {error}", data.display()),
            "make it writable for this user, or choose another folder with --data DIR",
        ),
    }
}

/// A server of ours runs over the data folder, or its address is free.
async fn address(report: &mut Report, config: &Config) {
    match Api::over_socket(&config.server.data_dir).await {
        Ok(Some(api)) => match api.get("/healthz").await {
            Ok(_) => return report.fine("server", "one runs over this data folder"),
            Err(error) => {
                let mend = "see its log; end and start it again when that does not help";
                return report.wrong("server", format!("one runs over this data folder, but: {error}"), mend);
            }
        },
        Ok(None) => {}
        Err(error) => return report.wrong("server", error.to_string(), "run this as the user that the server runs as"),
    }
    let listen = config.server.listen;
    match TcpListener::bind(listen).await {
        Ok(_) => report.fine("address", format!("{listen} is free")),
        Err(error) => {
            let mend = match error.kind() {
                io::ErrorKind::AddrInUse => "end what listens there, or set server.listen to another address",
                io::ErrorKind::AddrNotAvailable => "set server.listen to an address of this machine",
                _ => "set server.listen to another address",
            };
            report.wrong("address", format!("cannot listen on {listen}: {error}"), mend);
        }
    }
}
