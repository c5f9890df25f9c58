//! Cancels the print of an attempt that its order no longer needs.
//!
//! A printer cancels whatever it is printing, so each cancel command follows a status poll that shows the attempt's own
//! file being printed. This ensures that a print started by an operator in the meantime or the next job is never
//! cancelled. Each poll allows one cancel command. The polled status is passed to the rules first; when the print is
//! over, they no longer call for a cancellation, and the task ends.

use tokio::time::Instant;

use super::look::look;
use super::{PrinterEffects, in_hand};
use domain::id::Id;
use domain::printer::{AttemptPhase, Printer};
use kernel::handle::Handle;

/// Polls the printer once and, if the status shows the attempt's print, sends one cancel command. Reports no result,
/// because a printer that responds with "ok" may still be printing; the next poll will show it.
pub(super) async fn cancel(with: &PrinterEffects, of: &Handle<Printer>, attempt: Id) {
    let Some(connection) = with.connections.get(of.id()) else { return };
    connection.wait_until_no_stop().await;
    let began = Instant::now();
    let status = match look(with, of, &connection, with.settings.offline).await {
        Ok(status) => status,
        Err(error) => {
            return tracing::debug!(printer = %of.id(), %error, "cannot read the printer's status; not cancelling the \
                 print");
        }
    };
    let Some(hand) = in_hand(of, attempt) else { return };
    let on = matches!(hand.phase, AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. }) && hand.gone.is_none();
    if !on || !hand.cancel || status.cancelling || !Printer::shows_attempt(&hand, &status) {
        return;
    }
    // Another server may lead since it asked, and print something else by now.
    with.environment.leadership().wait_until_confirmed().await;
    // The process was frozen since it asked: something else may print by now.
    if began.elapsed() > with.settings.offline {
        return;
    }
    match connection.adapter.cancel().await {
        Ok(()) => connection.look.notify_one(),
        Err(error) => tracing::info!(printer = %of.id(), %error, "cancelling the print failed; checking again"),
    }
}
