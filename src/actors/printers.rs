//! What printers want of the outside: to be watched, an attempt brought to a start or a verdict, prints cancelled,
//! orders told.
//!
//! The start verdict lives here and in `domain/printer`: upload and start are separate calls, `start_sent` is durable
//! before the start goes out, and a start is sent by exactly the task whose `Uploaded` was answered with `Go`.

mod emergency;
mod manual;
mod run;
mod watch;

pub use emergency::{StopRoute, emergency_stop};
pub use manual::{StartOutcome, await_start};

use crate::actors::kernel::directory::WITHIN;
use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::handle::{AskError, Handle};
use crate::app::{App, AppRef};
use crate::domain::aggregate::Versioned;
use crate::domain::id::Id;
use crate::domain::order::{OrderAnswer, OrderCommand};
use crate::domain::printer::{InHand, Printer, PrinterAnswer, PrinterCommand, PrinterEffect, report_of};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;

/// How printers are watched.
#[derive(Clone, Copy, Debug)]
pub struct WatchSettings {
    /// Between two looks, where the printer does not push.
    pub poll: Duration,
    /// Silence after which it is offline.
    pub offline: Duration,
}

/// The outside of printers.
pub struct PrinterWorld {
    /// Orders, files, the fleet.
    pub shop: AppRef,
    /// How they are watched.
    pub settings: WatchSettings,
}

#[async_trait]
impl Effects<Printer> for PrinterWorld {
    async fn run(&self, want: PrinterEffect, of: Handle<Printer>) {
        let Some(shop) = self.shop.get() else { return };
        match want {
            PrinterEffect::Watch { kind, base_url, encrypted_api_key, serial } => {
                let address = watch::Address { kind, base_url, encrypted_api_key, serial };
                watch::watch(&shop, &of, &address, self.settings).await;
            }
            PrinterEffect::Run { attempt } => run::run(&shop, &of, attempt).await,
            PrinterEffect::Manual { id } => manual::run(&shop, &of, id).await,
            PrinterEffect::CancelPrint { attempt } => cancel(&shop, &of, attempt).await,
            PrinterEffect::Report { attempt, step } => report(&shop, &of, attempt, step).await,
        }
    }

    fn committed(&self, of: &Handle<Printer>, state: &Arc<Versioned<Printer>>) {
        if let Some(shop) = self.shop.get() {
            shop.dispatcher.printer_changed(of.id(), state);
        }
    }
}

/// Asks the printer's own actor; what cannot be told now is told again by the want that stands.
async fn tell(of: &Handle<Printer>, command: PrinterCommand) -> Option<PrinterAnswer> {
    match of.ask(CommandOrigin::system(), command, WITHIN).await {
        Ok(answered) => Some(answered.answer),
        Err(AskError::Refused(refusal)) => {
            tracing::debug!(printer = %of.id(), %refusal, "refused");
            None
        }
        Err(error) => {
            tracing::debug!(printer = %of.id(), %error, "not told, is told again");
            None
        }
    }
}

/// The attempt in hand, if it is this one.
fn in_hand(of: &Handle<Printer>, attempt: Id) -> Option<InHand> {
    of.read().state.as_ref()?.in_hand.clone().filter(|hand| hand.attempt == attempt)
}

/// Cancels the print of our file; the watch sees the end. Says nothing by itself: a printer that answers "ok" may still print.
async fn cancel(shop: &App, of: &Handle<Printer>, attempt: Id) {
    if in_hand(of, attempt).is_none() {
        return;
    }
    let Some(link) = shop.printer_connections.link(of.id()) else { return };
    match link.adapter.cancel().await {
        Ok(()) => link.look.notify_one(),
        Err(error) => tracing::info!(printer = %of.id(), %error, "print not cancelled, is tried again"),
    }
}

/// Tells the order how far the attempt is, until it has heard this step.
async fn report(shop: &App, of: &Handle<Printer>, attempt: Id, step: u32) {
    let Some(hand) = in_hand(of, attempt) else { return };
    if hand.step != step {
        return;
    }
    let news = OrderCommand::Attempt { job: hand.job, attempt, report: report_of(&hand) };
    let wanted = match shop.orders.ask(hand.order, CommandOrigin::system(), news).await {
        Ok(answered) => match answered.answer {
            OrderAnswer::Heard { wanted } => wanted,
            _ => true,
        },
        // No such order or job: nobody wants it.
        Err(AskError::Refused(_)) => false,
        Err(error) => {
            tracing::debug!(printer = %of.id(), %error, "order not told, is told again");
            return;
        }
    };
    tell(of, PrinterCommand::Heard { attempt, step, wanted }).await;
}
