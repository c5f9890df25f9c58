//! Effects of printers: monitor each printer, carry out attempts until their prints start or a verdict is reached,
//! cancel prints, and report to orders.
//!
//! The verdict on a start is implemented in this module and in `domain/printer`. Upload and start are separate calls,
//! `start_sent` is durable before the start command is sent, and the command is sent only by the task whose
//! [`domain::printer::PrinterUpload`] returned `Go`.

mod cancel;
mod emergency;
mod look;
mod manual;
mod photo;
mod pushed;
mod run;
mod send;
mod tidy;
mod watch;

pub use emergency::{StopRoute, emergency_stop};
pub use manual::{MANUAL_PLATE, StartOutcome, await_start, unused_name};

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep_until};

use crate::dispatcher::Dispatcher;
use crate::forecaster::Forecaster;
use crate::restores::DispatchHold;
use domain::aggregate::Versioned;
use domain::file::File;
use domain::id::Id;
use domain::material::Material;
use domain::order::{Order, OrderNews};
use domain::printer::{CurrentAttempt, Printer, PrinterEffect, PrinterNews, SignedPrint, report_of};
use domain::time::Timestamp;
use files::blobs::Blobs;
use kernel::directory::{ASK_TIMEOUT, Directory};
use kernel::effects::Effects;
use kernel::envelope::CommandOrigin;
use kernel::environment::Environment;
use kernel::handle::{AskError, Handle};
use platform::secrets::encryption::SecretCipher;
use printers::PrinterType;
use printers::connections::PrinterConnections;
use printers::registry::StoredAddress;

/// Settings for monitoring printers.
#[derive(Clone, Copy, Debug)]
pub struct WatchSettings {
    /// Interval between status polls of a printer that does not push changes.
    pub poll: Duration,
    /// Time without a response after which a printer is considered offline.
    pub offline: Duration,
    /// If `true`, files of finished prints stay on the printers instead of being deleted.
    pub keep_files: bool,
}

/// Effects of printers, which communicate with printers and report attempt progress to the orders.
pub struct PrinterEffects {
    /// Orders, which receive notifications about their attempts.
    pub orders: Directory<Order>,
    /// All printers, which record the materials of spools.
    pub printers: Directory<Printer>,
    /// Materials, whose vendor codes and colours identify spools.
    pub materials: Directory<Material>,
    /// Files to upload.
    pub files: Directory<File>,
    /// Contents of the files.
    pub blobs: Arc<Blobs>,
    /// Connections to the printers.
    pub connections: Arc<PrinterConnections>,
    /// Cipher that decrypts printers' API keys.
    pub cipher: Arc<SecretCipher>,
    /// Dispatcher, which is notified of every commit so that it can propose jobs for free printers.
    pub dispatcher: Dispatcher,
    /// Forecaster, which is notified of every commit so that it can update the forecast.
    pub forecaster: Forecaster,
    /// Injected clock and settings.
    pub environment: Arc<Environment>,
    /// Intervals and timeouts for monitoring printers.
    pub settings: WatchSettings,
    /// Hold on attempts that were in progress when the shop was restored.
    pub hold: DispatchHold,
    /// Number of commits of all printers.
    pub commits: AtomicU64,
}

#[async_trait]
impl Effects<Printer> for PrinterEffects {
    async fn run(&self, effect: PrinterEffect, of: Handle<Printer>) {
        // Each on the heap by itself: an effect that runs for as long as its printer exists, as the watch does, must
        // not hold room for the largest of them.
        match effect {
            PrinterEffect::Watch { kind, base_url, encrypted_api_key, serial } => {
                let known_key = of.read().state.as_ref().and_then(|printer| printer.known_key.clone());
                let address = StoredAddress { kind, base_url, encrypted_api_key, serial, known_key };
                Box::pin(watch::watch(self, &of, address)).await;
            }
            PrinterEffect::Run { attempt } => Box::pin(run::run(self, &of, attempt)).await,
            PrinterEffect::Manual { id } => Box::pin(manual::run(self, &of, id)).await,
            PrinterEffect::CancelPrint { attempt } => Box::pin(cancel::cancel(self, &of, attempt)).await,
            PrinterEffect::Report { attempt, step } => Box::pin(self.report(&of, attempt, step)).await,
            PrinterEffect::TellSignOff { attempt } => Box::pin(self.tell_sign_off(&of, attempt)).await,
            PrinterEffect::Photograph { attempt } => Box::pin(photo::photograph(self, &of, attempt)).await,
        }
    }

    fn committed(&self, of: &Handle<Printer>, state: &Arc<Versioned<Printer>>) {
        self.commits.fetch_add(1, Ordering::Release);
        self.dispatcher.printer_changed(of.id(), state);
        self.forecaster.changed();
    }
}

/// Sends a message to the printer's own actor. If this fails, the effect sends the message again.
async fn tell(of: &Handle<Printer>, news: PrinterNews) {
    match of.ask(CommandOrigin::system(), news, ASK_TIMEOUT).await {
        Ok(_) => {}
        Err(AskError::Refused(refusal)) => tracing::debug!(printer = %of.id(), %refusal, "refused"),
        Err(error) => tracing::debug!(printer = %of.id(), %error, "recording an outcome failed; retrying"),
    }
}

/// Returns the printer's current attempt if it is the given one.
fn in_hand(of: &Handle<Printer>, attempt: Id) -> Option<CurrentAttempt> {
    of.read().state.as_ref()?.in_hand.clone().filter(|hand| hand.attempt == attempt)
}

impl PrinterEffects {
    /// Returns the time, in milliseconds, after which an unconfirmed start is judged; some printer types take longer
    /// than others to report a print.
    fn confirm_ms(&self, of: &Handle<Printer>) -> i64 {
        let printer = of.read();
        let declared = printer.state.as_ref().and_then(|printer| PrinterType::of_word(&printer.fields.kind));
        let factor = declared.map_or(1, |declared| declared.confirm_factor);
        self.environment.rules.confirm_ms.saturating_mul(i64::from(factor))
    }

    /// Waits as long as a start may remain unconfirmed. `at` is the wall-clock time of its permission. The clock may
    /// have been set since, so `at` counts only if a restart left no `permitted_at`.
    async fn wait_for_confirmation(&self, of: &Handle<Printer>, at: Timestamp, permitted_at: Option<Instant>) {
        let confirm_ms = self.confirm_ms(of);
        let longest = Duration::from_millis(confirm_ms.unsigned_abs());
        match permitted_at {
            Some(permitted_at) => sleep_until(permitted_at + longest).await,
            None => self.environment.wait_until(at.plus_ms(confirm_ms), longest).await,
        }
    }

    /// Reports a step of the attempt to the order, retrying until the order has acknowledged it.
    async fn report(&self, of: &Handle<Printer>, attempt: Id, step: u32) {
        let Some(hand) = in_hand(of, attempt) else { return };
        if hand.step != step {
            return;
        }
        let news = OrderNews::Attempt { job: hand.job, attempt, report: report_of(&hand) };
        let is_wanted = match self.orders.ask(hand.order, CommandOrigin::system(), news).await {
            Ok(answered) => answered.answer.is_wanted,
            // No such order or job: nobody wants it.
            Err(AskError::Refused(_)) => false,
            Err(error) => {
                tracing::debug!(printer = %of.id(), %error, "notifying the order failed; retrying");
                return;
            }
        };
        tell(of, PrinterNews::Heard { attempt, step, is_wanted }).await;
    }

    /// Reports the sign-off of a print's parts to the order, retrying until the order has acknowledged it.
    async fn tell_sign_off(&self, of: &Handle<Printer>, attempt: Id) {
        let state = of.read();
        let signed = state.state.iter().flat_map(|printer| &printer.signed_prints);
        let Some(signed) = signed.into_iter().find(|signed| signed.print.attempt == attempt) else { return };
        let SignedPrint { print, inspection, by, at } = signed.clone();
        let news = OrderNews::SignedAtPrinter { job: print.job, attempt, inspection, by, at };
        match self.orders.ask(print.order, CommandOrigin::system(), news).await {
            Ok(_) | Err(AskError::Refused(_)) => {}
            Err(error) => {
                return tracing::debug!(printer = %of.id(), %error, "notifying the order of a sign-off failed; retrying");
            }
        }
        tell(of, PrinterNews::SignedOff(attempt)).await;
    }
}
