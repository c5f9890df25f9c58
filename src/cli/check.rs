//! `printfloor check`: tests the settings and all configured services, and says how to fix what is wrong.
//!
//! It changes nothing, except that it writes missing secrets to `.env` as a first start does. It may run while the
//! server runs.

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

/// Runs all checks; an error if any of them failed.
pub async fn run(global: &Global) -> Result<(), CliError> {
    log::start_for_command();
    let mut report = Report::default();
    let Loaded { config, warnings, generated } = settings::load(global, None)?;
    report.fine("settings", format!("{:?} mode, all settings are valid", config.mode).to_lowercase());
    for warning in warnings {
        report.note("settings", warning);
    }
    if !generated.is_empty() {
        report.note("settings", format!("{} were missing: generated and written to .env", generated.join(", ")));
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

/// The data directory exists or can be created, and files can be written to it.
fn data_folder(report: &mut Report, data: &Path) {
    let tried = make_data_folder(data).and_then(|()| {
        let probe = data.join(format!(".check.{}", std::process::id()));
        fs::write(&probe, "check")?;
        fs::remove_file(probe)
    });
    match tried {
        Ok(()) => report.fine("data", format!("{} is writable", data.display())),
        Err(error) => report.wrong(
            "data",
            format!("{} is not writable: {error}", data.display()),
            "make it writable for this user, or choose another directory with --data DIR",
        ),
    }
}

/// Either a server runs on the data directory and answers, or its address is free to listen on.
async fn address(report: &mut Report, config: &Config) {
    match Api::over_socket(&config.server.data_dir).await {
        Ok(Some(api)) => match api.get("/healthz").await {
            Ok(_) => return report.fine("server", "a server runs on this data directory"),
            Err(error) => {
                let advice = "read its log; if that does not help, restart it";
                return report.wrong(
                    "server",
                    format!("a server runs on this data directory but does not answer as it should: {error}"),
                    advice,
                );
            }
        },
        Ok(None) => {}
        Err(error) => {
            return report.wrong("server", error.to_string(), "run this command as the user that the server runs as");
        }
    }
    let listen = config.server.listen;
    match TcpListener::bind(listen).await {
        Ok(_) => report.fine("address", format!("{listen} is free to listen on")),
        Err(error) => {
            let advice = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "stop the program that listens there, or set server.listen to another address"
                }
                io::ErrorKind::AddrNotAvailable => "set server.listen to an address of this machine",
                _ => "set server.listen to another address",
            };
            report.wrong("address", format!("cannot listen on {listen}: {error}"), advice);
        }
    }
}
