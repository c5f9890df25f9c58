//! Maintains the connection to a printer and polls it: immediately after each push, and otherwise every few seconds.
//!
//! The status from every poll is published on the connection, replacing the previous one; only changes that are
//! relevant to the rules become commands.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use super::look::{FailedPoll, poll, status_to_show};
use super::tidy::tidy;
use super::{PrinterEffects, pushed, tell};
use domain::printer::{FailedPolls, MAX_FAILED_POLLS, PollSettings, Printer, PrinterNews, SpoolBinding};
use domain::printer_status::{Connection, Status};
use domain::schedule::Delays;
use domain::time::Timestamp;
use kernel::handle::Handle;
use printers::connections::PrinterConnection;
use printers::registry::{MakeError, StoredAddress};

/// Interval at which a printer without a camera is queried for one.
const CAMERA_ASK_INTERVAL: Duration = Duration::from_secs(10 * 60);
const RECONNECT_DELAYS: Delays = Delays { first: Duration::from_millis(500), longest: Duration::from_secs(30) };

/// Guard that removes the connection when monitoring ends, whatever the reason.
struct WatchGuard<'a> {
    with: &'a PrinterEffects,
    of: &'a Handle<Printer>,
    connection: Arc<PrinterConnection>,
}

impl Drop for WatchGuard<'_> {
    fn drop(&mut self) {
        self.with.connections.remove(self.of.id(), &self.connection);
    }
}

/// Monitors the printer until the task is aborted because the effect is no longer called for.
pub(super) async fn watch(with: &PrinterEffects, of: &Handle<Printer>, address: StoredAddress) {
    let opened = with.connections.registry.open(&address, &with.cipher);
    drop(address);
    let adapter = match opened {
        Ok(adapter) => adapter,
        Err(error) => {
            tracing::error!(printer = %of.id(), %error, "cannot open a connection to the printer");
            let condition = match error {
                MakeError::Key(_) => Connection::WrongKey,
                MakeError::UnknownType(_)
                | MakeError::BadAddress(_)
                | MakeError::BadKey(_)
                | MakeError::BadSerial(_) => Connection::Unreachable,
            };
            tell(of, PrinterNews::Silent(condition, error.to_string(), None)).await;
            return;
        }
    };
    let watched = WatchGuard { with, of, connection: with.connections.insert(of.id(), adapter) };
    let connection = &watched.connection;
    let tidying = async {
        if with.settings.keep_files {
            std::future::pending::<()>().await;
        }
        tidy(of, connection).await;
    };
    tokio::select! {
        biased; // the look first: what it sees decides what may be tidied; a stop aborts both
        () = looking(with, of, connection) => {}
        () = tidying => {}
    }
}

/// Polls the printer in an endless loop.
async fn looking(with: &PrinterEffects, of: &Handle<Printer>, connection: &Arc<PrinterConnection>) {
    if !of.read().state.as_ref().is_some_and(Printer::has_work_in_hand) {
        tokio::select! {
            biased; // whoever asks for the status ends the wait
            () = connection.look.notified() => {}
            () = with.connections.pace.turn() => {}
        }
    }
    let settings = PollSettings { poll: with.settings.poll, offline: with.settings.offline };
    let (mut failed, mut last_heard, mut reopen) = (FailedPolls::default(), Instant::now(), ReopenSchedule::default());
    let (mut timer, mut camera_asked, mut spools_checked) = (pushed::PollTimer::default(), None, None);
    // When the printer itself was heard last, and since when only its server has been heard.
    let (mut seen_at, mut firmware_gone): (Option<Timestamp>, Option<Instant>) = (None, None);
    loop {
        let patience = settings.patience(pushed::last_heard(connection, last_heard).elapsed());
        let looked = match poll(with, of, connection, patience).await {
            Ok(status) => {
                (failed, last_heard) = (FailedPolls::default(), Instant::now());
                if status.connection == Connection::FirmwareDisconnected {
                    let since = *firmware_gone.get_or_insert(last_heard);
                    if since.elapsed() >= with.settings.offline {
                        let words =
                            status.message.clone().unwrap_or_else(|| "the firmware is not connected".to_owned());
                        silent(of, status.connection, words, seen_at).await;
                    }
                } else {
                    (seen_at, firmware_gone) = (Some(status.updated_at), None);
                }
                slots(with, of, &status, &mut spools_checked).await;
                key(of, connection).await;
                // On the heap, as they are seldom due.
                Box::pin(camera(with, of, &mut camera_asked)).await;
                if !connection.is_stopping() {
                    Box::pin(open_again(with, of, connection, &status, &mut reopen)).await;
                }
                true
            }
            Err(FailedPoll { error, requests }) => {
                failed = failed.with_poll(requests);
                last_heard = pushed::last_heard(connection, last_heard);
                let condition = error.connection();
                if settings.is_offline(failed, last_heard.elapsed()) || condition == Connection::WrongKey {
                    let unavailable = Status::unavailable(condition, error.to_string(), with.environment.now());
                    let before = connection.status.borrow().clone();
                    connection.status.send_replace(status_to_show(&before, unavailable));
                    silent(of, condition, error.to_string(), seen_at).await;
                }
                false
            }
        };
        let pause = if looked {
            timer.pause(with, of, connection)
        } else {
            backoff(failed.polls, with.environment.chance()).min(with.settings.poll * 15)
        };
        let paused = async {
            tokio::time::sleep(pause).await;
            if failed.polls > MAX_FAILED_POLLS {
                with.connections.pace.turn().await;
            }
        };
        tokio::select! {
            biased; // all of them only end the pause
            () = paused => {}
            () = connection.adapter.changed(), if looked => {}
            () = connection.look.notified() => {}
            () = pushed::take_over(with, of, connection), if looked => {}
        }
    }
}

/// Sends the spools that the printer reports to its actor if they differ from the recorded ones or if their material
/// has just been identified. The message includes the shop's own information about such spools: operators' assignments
/// at other printers, and the codes and colours of materials.
///
/// `checked` is the state of printers and materials for which spools without a material were last looked up, because
/// that reads all printers.
async fn slots(with: &PrinterEffects, of: &Handle<Printer>, status: &Status, checked: &mut Option<(u64, i64)>) {
    if status.slots.is_empty() {
        return;
    }
    let slots = status.clone().bounded().slots;
    // Before the state is read, so that a change in between is looked at the next time.
    let commits = with.commits.load(Ordering::Acquire);
    let own = of.read();
    let Some(printer) = own.state.as_ref() else { return };
    let news = printer.slots_matter(&slots);
    if !news && !printer.has_unbound_spools() {
        return;
    }
    let materials = with.materials.all_resident();
    // Versions only grow, so each change of a material changes their sum.
    let now = Some((commits, materials.iter().map(|(_, state)| state.version).sum::<i64>()));
    if !news && *checked == now {
        return;
    }
    *checked = now;
    let printers = with.printers.all_resident();
    let others = printers.iter().filter(|(id, _)| *id != of.id()).map(|(_, state)| state);
    let reported =
        std::iter::once(&own).chain(others).filter_map(|state| state.state.as_ref()).flat_map(Printer::bindings);
    let coded = materials.iter().filter_map(|(_, state)| SpoolBinding::of(state.state.as_ref()?));
    let present = |binding: &SpoolBinding| {
        let of_it = materials.iter().find(|(id, _)| *id == binding.material_id);
        of_it.is_some_and(|(_, state)| state.present().is_some())
    };
    let bindings: Vec<SpoolBinding> = reported.cloned().chain(coded).filter(present).collect();
    if news || printer.binds(&bindings) {
        // If this fails, it is due again.
        *checked = None;
        tell(of, PrinterNews::SlotsReported { slots, bindings }).await;
    }
}

/// Reports the key with which the printer proved its identity to the printer's actor, once. From then on, no other key
/// is accepted, even after a server restart.
async fn key(of: &Handle<Printer>, connection: &PrinterConnection) {
    if of.read().state.as_ref().is_some_and(|printer| printer.known_key.is_none())
        && let Some(key) = connection.adapter.shown_key()
    {
        tell(of, PrinterNews::KeyShown(key)).await;
    }
}

/// Queries a printer that had no camera again, when it connects and at intervals, because a camera may have been added.
async fn camera(with: &PrinterEffects, of: &Handle<Printer>, last_asked: &mut Option<Instant>) {
    let state = of.read();
    let Some(printer) = state.state.as_ref().filter(|printer| printer.camera_absent) else { return };
    if last_asked.is_some_and(|at| at.elapsed() < CAMERA_ASK_INTERVAL) {
        return;
    }
    *last_asked = Some(Instant::now());
    if with.connections.tells_camera(printer).await {
        tell(of, PrinterNews::CameraTold(true)).await;
    }
}

/// Reports to the printer's actor that the printer has not responded for too long, unless this is already recorded.
async fn silent(of: &Handle<Printer>, condition: Connection, words: String, seen_at: Option<Timestamp>) {
    let current = of.read().state.as_ref().map(|printer| (printer.connection, printer.outage));
    if current != Some((condition, true)) {
        tell(of, PrinterNews::Silent(condition, words, seen_at)).await;
    }
}

/// Requests that a closed serial port be opened. The printer's web server only acknowledges the request; the next
/// status shows whether the port is open. Ports closed by an error, an operator or an emergency stop are left to an
/// operator.
async fn open_again(
    with: &PrinterEffects,
    of: &Handle<Printer>,
    connection: &PrinterConnection,
    status: &Status,
    reopen: &mut ReopenSchedule,
) {
    let closed = status.connection == Connection::FirmwareDisconnected;
    let may_reopen = closed && of.read().state.as_ref().is_some_and(Printer::may_open_connection);
    if reopen.due(closed, Instant::now()) && may_reopen {
        if let Err(error) = connection.adapter.connect().await {
            tracing::debug!(printer = %of.id(), %error, "connecting the firmware failed");
        }
        reopen.tried(Instant::now(), with.environment.chance());
    }
}

/// Schedule for reopening a closed serial port: immediately, and then after increasing pauses while it remains closed.
#[derive(Default)]
struct ReopenSchedule {
    tries: u32,
    not_before: Option<Instant>,
}

impl ReopenSchedule {
    /// Returns whether reopening is now due. An open port resets the pauses.
    fn due(&mut self, closed: bool, now: Instant) -> bool {
        if !closed {
            *self = Self::default();
        }
        closed && self.not_before.is_none_or(|at| now >= at)
    }

    /// Records a request to reopen the port; the next status shows whether it succeeded.
    fn tried(&mut self, now: Instant, chance: f64) {
        self.not_before = Some(now + RECONNECT_DELAYS.next(self.tries, chance));
        self.tries += 1;
    }
}

/// Returns the pause after consecutive failed polls. The first retries use the usual interval, so that three failures
/// are detected soon; later pauses increase.
fn backoff(failed: u32, chance: f64) -> Duration {
    RECONNECT_DELAYS.next(failed.saturating_sub(1), chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_port_is_asked_to_open_ever_more_seldom_until_it_was_open() {
        let (mut reopen, mut now, mut tried) = (ReopenSchedule::default(), Instant::now(), Vec::new());
        for second in 0..600 {
            if reopen.due(true, now) {
                reopen.tried(now, 0.5);
                tried.push(second);
            }
            now += Duration::from_secs(1);
        }
        assert_eq!(tried[0], 0, "at once");
        assert!((15..60).contains(&tried.len()), "{tried:?}");
        assert!(tried[tried.len() - 1] - tried[tried.len() - 2] >= 20, "{tried:?}");
        assert!(!reopen.due(false, now));
        assert!(reopen.due(true, now), "anew");
    }
}
