//! Uploads a file to a printer, and aborts if the printer stops responding.

use domain::printer_status::Connection;
use printers::adapter::{PrinterError, Source};
use printers::connections::PrinterConnection;

/// Uploads a file and returns the printer's name for it. Aborts as soon as monitoring finds that the printer has
/// stopped responding, because waiting for the buffers of a dead connection would delay the print by minutes.
pub(super) async fn send(connection: &PrinterConnection, name: &str, source: &Source) -> Result<String, PrinterError> {
    let mut status = connection.status.subscribe();
    let silent = async {
        if status.wait_for(|status| status.connection == Connection::Unreachable).await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let uploaded = tokio::select! {
        biased; // a file that is there counts
        uploaded = connection.adapter.upload(name, source) => uploaded,
        () = silent => Err(PrinterError::Unreachable("it stopped responding".to_owned())),
    };
    connection.calm().await;
    uploaded
}
