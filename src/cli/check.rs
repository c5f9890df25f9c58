//! `printfloor check`: tests the settings and all configured services, and suggests how to fix problems.
//!
//! The command leaves nothing changed on disk, on printers or in services, so it can be used while the server is
//! running.

mod audit;
mod backup;
mod database;
mod exposure;
mod machine;
mod printers;
mod report;
mod secrets;
mod services;
mod standby;

use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::{io, process};

use tokio::net::TcpListener;

use self::report::CheckReport;
use super::api::ControlApi;
use super::{CliError, GlobalOptions, settings};
use crate::config::{Config, LoadedConfig};
use crate::observe::log;
use crate::server::{LOCK_FILE, absolute};
use platform::io_words::io_words;

/// Runs all checks; returns an error if any of them failed.
pub async fn run(global: &GlobalOptions) -> Result<(), CliError> {
    log::start_for_command();
    let mut report = CheckReport::default();
    let LoadedConfig { config, warnings, .. } = settings::load(global, None)?;
    report.fine("settings", format!("{:?} mode, all settings are valid", config.mode).to_lowercase());
    for warning in warnings {
        report.note("settings", warning);
    }
    data_folder(&mut report, &config.server.data_dir);
    address(&mut report, &config).await;
    exposure::check(&mut report, &config);
    let reading = database::check(&mut report, &config).await;
    if reading.is_some() {
        audit::check(&mut report, &config).await;
    }
    machine::check(&mut report, &config, reading.is_some()).await;
    // With other secrets than those of the data, no printer's key can be decrypted: that is told once, not for each.
    if secrets::check(&mut report, &config, reading.is_some()).await {
        printers::check(&mut report, &config, reading.as_ref()).await;
    }
    if let Some(reading) = reading {
        let _ = reading.close().await;
    }
    standby::check(&mut report, &config).await;
    services::check(&mut report, &config).await;
    backup::check(&mut report, &config).await;
    report.end()
}

/// Checks that the data directory, or its nearest existing ancestor, is writable.
fn data_folder(report: &mut CheckReport, data: &Path) {
    let data = absolute(data);
    let existing = data.ancestors().find(|folder| folder.exists()).unwrap_or(&data);
    let probe = existing.join(format!(".printfloor-check.{}", process::id()));
    let advice = "make it writable for this user, or choose another directory with --data DIR";
    match fs::write(&probe, "check").and_then(|()| fs::remove_file(probe)) {
        Ok(()) if existing == data => report.fine("data", format!("{} is writable", data.display())),
        Ok(()) => {
            report.fine("data", format!("{} does not exist yet; the first start creates it", data.display()));
        }
        Err(_) if existing.is_file() => {
            report.wrong("data", format!("{} is a file, not a directory", existing.display()), advice);
        }
        Err(error) => {
            let words = io_words(&error);
            report.wrong("data", format!("{} is not writable: {words}", existing.display()), advice);
        }
    }
}

/// Returns whether a process has locked the data directory.
fn is_locked(data: &Path) -> bool {
    let lock = File::open(data.join(LOCK_FILE));
    lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Checks that a server is running on the data directory and responds or, if none is running, that its address is free
/// to listen on.
async fn address(report: &mut CheckReport, config: &Config) {
    match ControlApi::open(&config.server.data_dir).await {
        Ok(Some(api)) => match api.get("/healthz").await {
            Ok(_) => return report.fine("server", "a server is running on this data directory"),
            Err(error) => {
                let advice = "check its log; if that does not help, restart it";
                return report.wrong(
                    "server",
                    format!("a server is running on this data directory but does not respond as expected: {error}"),
                    advice,
                );
            }
        },
        Ok(None) => {}
        Err(error) => {
            return report.wrong("server", error.to_string(), "run this command as the same user as the server");
        }
    }
    if is_locked(&config.server.data_dir) {
        return report.fine("server", "a server on this data directory is starting or on standby");
    }
    let listen = config.server.listen;
    match TcpListener::bind(listen).await {
        Ok(_) => report.fine("address", format!("{listen} is available")),
        Err(error) => {
            let advice = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "stop the program that uses this address, or set server.listen to another address"
                }
                io::ErrorKind::AddrNotAvailable => "set server.listen to one of this server's addresses",
                _ => "set server.listen to another address",
            };
            report.wrong("address", format!("cannot listen on {listen}: {}", io_words(&error)), advice);
        }
    }
}
