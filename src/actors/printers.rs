//! Effects of printers: watch each printer, bring an attempt to a start or a verdict, cancel prints, report to orders.
//!
//! The start verdict lives here and in `domain/printer`: upload and start are separate calls, `start_sent` is durable
//! before the start goes out, and a start is sent by exactly the task whose `Uploaded` was answered with `Go`.

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
use std::time::Duration;

use async_trait::async_trait;

use crate::actors::dispatcher::Dispatcher;
use crate::actors::forecaster::Forecaster;
use crate::actors::kernel::directory::{ASK_TIMEOUT, Directory};
use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::handle::{AskError, Handle};
use crate::actors::restores::DispatchHold;
use crate::domain::aggregate::Versioned;
use crate::domain::file::File;
use crate::domain::id::Id;
use crate::domain::material::Material;
use crate::domain::order::{Order, OrderAnswer, OrderCommand};
use crate::domain::printer::{InHand, Printer, PrinterAnswer, PrinterCommand, PrinterEffect, SignedPrint, report_of};
use crate::files::blobs::Blobs;
use crate::printers::PrinterType;
use crate::printers::connections::PrinterConnections;
use crate::printers::registry::StoredAddress;
use crate::secrets::encryption::SecretCipher;

/// How printers are watched.
#[derive(Clone, Copy, Debug)]
pub struct WatchSettings {
    /// Pause between two looks at a printer that does not push its changes.
    pub poll: Duration,
    /// Silence after which a printer counts as offline.
    pub offline: Duration,
    /// Whether the files of prints that are over stay on the printers.
    pub keep_files: bool,
}

/// Speaks to the printers, and tells orders what became of their attempts.
pub struct PrinterEffects {
    /// Orders, which hear how far their attempts are.
    pub orders: Directory<Order>,
    /// All printers, which remember to which materials spools belong.
    pub printers: Directory<Printer>,
    /// Materials, whose vendors' codes and colours say which spools are theirs.
    pub materials: Directory<Material>,
    /// Files to be uploaded.
    pub files: Directory<File>,
    /// The contents of the files.
    pub blobs: Arc<Blobs>,
    /// Connections to the printers.
    pub connections: Arc<PrinterConnections>,
    /// Decrypts the API keys of printers.
    pub cipher: Arc<SecretCipher>,
    /// Hears of every commit, to propose jobs for free printers.
    pub dispatcher: Dispatcher,
    /// Hears of every commit, to make the forecast anew.
    pub forecaster: Forecaster,
    /// Clock and settings, handed in.
    pub environment: Arc<Environment>,
    /// How often printers are looked at.
    pub settings: WatchSettings,
    /// Holds back what was in hand when the shop was restored.
    pub hold: DispatchHold,
}

#[async_trait]
impl Effects<Printer> for PrinterEffects {
    async fn run(&self, effect: PrinterEffect, of: Handle<Printer>) {
        match effect {
            PrinterEffect::Watch { kind, base_url, encrypted_api_key, serial } => {
                let known_key = of.read().state.as_ref().and_then(|printer| printer.known_key.clone());
                let address = StoredAddress { kind, base_url, encrypted_api_key, serial, known_key };
                watch::watch(self, &of, &address).await;
            }
            PrinterEffect::Run { attempt } => run::run(self, &of, attempt).await,
            PrinterEffect::Manual { id } => manual::run(self, &of, id).await,
            PrinterEffect::CancelPrint { attempt } => cancel::cancel(self, &of, attempt).await,
            PrinterEffect::Report { attempt, step } => self.report(&of, attempt, step).await,
            PrinterEffect::TellSignOff { attempt } => self.tell_sign_off(&of, attempt).await,
            PrinterEffect::Photograph { attempt } => photo::photograph(self, &of, attempt).await,
        }
    }

    fn committed(&self, of: &Handle<Printer>, state: &Arc<Versioned<Printer>>) {
        self.dispatcher.printer_changed(of.id(), state);
        self.forecaster.changed();
    }
}

/// Asks the printer's own actor; what cannot be told now is told again while the effect stands.
async fn tell(of: &Handle<Printer>, command: PrinterCommand) -> Option<PrinterAnswer> {
    match of.ask(CommandOrigin::system(), command, ASK_TIMEOUT).await {
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

impl PrinterEffects {
    /// Time after which a start at this printer that was not confirmed is judged, in milliseconds: some types take
    /// longer than others to show a print.
    fn confirm_ms(&self, of: &Handle<Printer>) -> i64 {
        let printer = of.read();
        let declared = printer.state.as_ref().and_then(|printer| PrinterType::of_word(&printer.fields.kind));
        let factor = declared.map_or(1, |declared| declared.confirm_factor);
        self.environment.rules.confirm_ms.saturating_mul(i64::from(factor))
    }

    /// Tells the order how far the attempt is, until it has heard this step.
    async fn report(&self, of: &Handle<Printer>, attempt: Id, step: u32) {
        let Some(hand) = in_hand(of, attempt) else { return };
        if hand.step != step {
            return;
        }
        let news = OrderCommand::Attempt { job: hand.job, attempt, report: report_of(&hand) };
        let wanted = match self.orders.ask(hand.order, CommandOrigin::system(), news).await {
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

    /// Tells the order how the parts of a print were signed off, until it has heard it.
    async fn tell_sign_off(&self, of: &Handle<Printer>, attempt: Id) {
        let state = of.read();
        let signed = state.state.iter().flat_map(|printer| &printer.signed_prints);
        let Some(signed) = signed.into_iter().find(|signed| signed.print.attempt == attempt) else { return };
        let SignedPrint { print, said, by, at } = signed.clone();
        let news = OrderCommand::SignedAtPrinter { job: print.job, attempt, said, by, at };
        match self.orders.ask(print.order, CommandOrigin::system(), news).await {
            Ok(_) | Err(AskError::Refused(_)) => {}
            Err(error) => {
                return tracing::debug!(printer = %of.id(), %error, "order not told of a sign-off, is told again");
            }
        }
        tell(of, PrinterCommand::SignedOff(attempt)).await;
    }
}
