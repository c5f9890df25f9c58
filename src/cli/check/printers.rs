//! Checks the registered printers and the one in the settings by requesting their statuses concurrently.

use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use sea_orm::DatabaseConnection;

use super::report::CheckReport;
use crate::actors::kernel::environment::Environment;
use crate::app::{own_secrets, printer_registry};
use crate::config::Config;
use crate::domain::aggregate::LastNumbers;
use crate::domain::printer::Printer;
use crate::domain::printer_status::{Connection, Status};
use crate::printers::PRINTER_TYPES;
use crate::printers::adapter::Adapter;
use crate::printers::registry::PrinterAddress;
use crate::store::reader::Reader;

/// Maximum time to wait for a printer's response.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// Connection to a printer, or the reason why none could be opened.
type CheckedAdapter = Result<Arc<dyn Adapter>, String>;

/// Checks all registered printers and the one in the settings.
pub async fn check(report: &mut CheckReport, config: &Config, reading: Option<&DatabaseConnection>) {
    let registry = match printer_registry(config) {
        Ok(registry) => registry,
        Err(error) => return report.wrong("printers", error.to_string(), "install the system's CA certificates"),
    };
    let cipher = own_secrets::cipher(config);
    let mut candidates: Vec<(String, CheckedAdapter)> = Vec::new();
    if let Some(reading) = reading {
        match Reader::Database(reading.clone()).load_resident::<Printer>().await {
            Ok(printers) => {
                for printer in printers {
                    let printer = match printer.state {
                        Ok(versioned) => versioned.state,
                        Err(damaged) => {
                            report.wrong("printers", damaged.to_string(), "restore a backup, or delete this row");
                            continue;
                        }
                    };
                    let Some(printer) = printer else { continue };
                    if printer.disconnected {
                        report.note(
                            "printer",
                            format!("{} was disconnected by an operator; not checked", printer.fields.name),
                        );
                        continue;
                    }
                    let name = format!("{} ({})", printer.fields.name, printer.fields.base_url);
                    let opened = cipher.as_ref().map_err(ToString::to_string).and_then(|cipher| {
                        registry.open(&(&printer).into(), cipher).map_err(|error| error.to_string())
                    });
                    candidates.push((name, opened));
                }
            }
            Err(error) => report.wrong("printers", error.to_string(), "is the database damaged?"),
        }
    }
    for declared in PRINTER_TYPES {
        let Some((url, key)) = declared.defaults.map(|defaults| defaults(&config.printers)) else { continue };
        if !url.is_empty() {
            let name = format!("the {} printer in the settings ({url})", declared.word);
            let address = PrinterAddress {
                base_url: url.to_owned(),
                api_key: key.expose().to_owned(),
                ..PrinterAddress::default()
            };
            candidates.push((name, registry.make(declared.word, address).map_err(|error| error.to_string())));
        }
    }
    let now = Environment::of_the_machine(config.rules(), LastNumbers::default()).now();
    let looks = candidates.into_iter().map(|(name, adapter)| async move {
        let status = match adapter {
            Err(error) => Err(error),
            Ok(adapter) => {
                // A look changes nothing at the printer; neither may anything else here.
                let looked = tokio::time::timeout(CHECK_TIMEOUT, adapter.look(now)).await;
                looked.map_err(|_| "no response within 10 s".to_owned())
            }
        };
        (name, status)
    });
    for (name, status) in join_all(looks).await {
        tell(report, &name, status);
    }
}

fn tell(report: &mut CheckReport, name: &str, status: Result<Status, String>) {
    let status = match status {
        Ok(status) => status,
        Err(words) => {
            return report.wrong("printer", format!("{name}: {words}"), "correct the address or type of this printer");
        }
    };
    let words = status.message.unwrap_or_default();
    match status.connection {
        Connection::Connected => {
            report.fine("printer", format!("{name} is {}", format!("{:?}", status.state).to_lowercase()));
        }
        Connection::WrongKey => {
            report.wrong(
                "printer",
                format!("{name} rejects the API key: {words}"),
                "set this printer's apiKey to the key shown by the printer",
            );
        }
        Connection::ReadOnly => report.wrong(
            "printer",
            format!("{name} does not accept commands: {words}"),
            "allow control by other programs in the printer's own settings",
        ),
        Connection::FirmwareDisconnected => report.wrong(
            "printer",
            format!("{name}: the print server responds, but the printer's firmware does not: {words}"),
            "is the printer on and its USB cable connected? if so, restart its firmware",
        ),
        _ => report.wrong(
            "printer",
            format!("{name} cannot be reached: {words}"),
            "is the printer on and connected to the network, and is its address correct?",
        ),
    }
}
