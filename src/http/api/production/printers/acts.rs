//! Operator actions that are carried out on a printer and recorded with the actor and the outcome.

use std::sync::Arc;

use super::connection;
use domain::id::Id;
use domain::printer::{ActRecord, DirectAction, Printer, PrinterNews};
use http::command_request::find_present;
use http::error::ApiError;
use kernel::directory::Directory;
use kernel::envelope::CommandOrigin;
use printers::adapter::PrinterError;
use printers::connections::{PrinterConnection, PrinterConnections};

/// Action to be carried out on a printer.
pub struct PrinterAct {
    /// Target printer.
    pub printer: Id,
    /// Actor and origin of the request, for the audit log and the order's timeline.
    pub origin: CommandOrigin,
    /// Action to carry out.
    pub act: DirectAction,
    /// G-code lines or file name; `None` if the action needs no detail.
    pub detail: Option<String>,
}

impl PrinterAct {
    /// Carries out the action with `wire` and records it, even if the caller disconnects.
    pub async fn carry_out<T, F>(
        self,
        printers: &Directory<Printer>,
        connections: &PrinterConnections,
        wire: impl FnOnce(Arc<PrinterConnection>) -> F,
    ) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, PrinterError>> + Send + 'static,
    {
        let (_, printer) = find_present(printers, self.printer).await?;
        let connection = connection(connections, self.printer, &printer).await?;
        let (work, printers) = (wire(connection.clone()), printers.clone());
        let going_on = tokio::spawn(async move {
            let done = work.await;
            connection.look.notify_one();
            self.record(&printers, &printer, done.as_ref().err()).await;
            done
        });
        Ok(going_on.await.map_err(ApiError::internal)??)
    }

    /// Records the outcome of the action. If the database does not respond, the outcome is only logged, because the
    /// printer has already carried out the action and the request must not be retried.
    pub async fn record(self, printers: &Directory<Printer>, printer: &Printer, error: Option<&PrinterError>) {
        let Self { printer: id, origin, act, detail } = self;
        // Success is recorded by the commands that change the printer.
        if error.is_none() && matches!(act, DirectAction::Home | DirectAction::EmergencyStop) {
            return;
        }
        let of = printer.in_hand.as_ref().map(|in_hand| (in_hand.order, in_hand.job));
        let error = error.map(|error| (ApiError::from(error.clone()).code().to_owned(), error.to_string()));
        let record = ActRecord { act, detail, of, error };
        if let Err(error) = printers.ask(id, origin, PrinterNews::Acted(Box::new(record))).await {
            tracing::warn!(printer = %id, act = act.action().name(), %error, "an action carried out at a printer could not be \
                 recorded");
        }
    }
}
