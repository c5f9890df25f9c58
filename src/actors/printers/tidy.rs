//! Deletes our files from a printer after each attempt, and files left over from earlier attempts whenever the printer
//! reconnects. A disk full of old files prevents a printer from working, and an operator could start a leftover file by
//! mistake.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use domain::id::Id;
use domain::printer::Printer;
use domain::printer_status::Connection;
use kernel::handle::Handle;
use printers::adapter::{Deleted, PrinterError};
use printers::connections::PrinterConnection;

/// Pause after a failed deletion.
const DELETION_RETRY_DELAY: Duration = Duration::from_secs(30);
/// Interval between checks for files to delete.
const ROUND_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of files queued for deletion; any others are found when the printer reconnects.
const MAX_DUE_FILES: usize = 64;

/// Deletes our files from a printer for as long as it is monitored.
pub(super) async fn tidy(of: &Handle<Printer>, connection: &Arc<PrinterConnection>) {
    let mut status = connection.status.subscribe();
    let mut work = PendingDeletions::default();
    loop {
        if status.changed().await.is_err() {
            return;
        }
        // The files of a printer that takes no commands can be deleted all the same.
        let connection_now = status.borrow_and_update().connection;
        let connected = matches!(connection_now, Connection::Connected | Connection::ReadOnly);
        let state = of.read();
        if let Some(printer) = state.state.as_ref() {
            work.note(printer, connected);
            work.carry_out(printer, connected, connection).await;
        }
        sleep(ROUND_INTERVAL).await;
    }
}

/// Pending deletions on a printer.
#[derive(Default)]
struct PendingDeletions {
    /// File of the current attempt at the last check.
    in_hand: Option<String>,
    /// Attempt that ended last.
    ended: Option<Id>,
    /// `true` once the printer's files have been listed. Reset when the printer reconnects, and when an attempt ends
    /// whose file was never observed as the current one.
    listed: bool,
    due: BTreeSet<String>,
    not_before: Option<Instant>,
}

impl PendingDeletions {
    /// Records that attempts have ended, including those that began and ended between two checks, or that the
    /// connection was lost.
    fn note(&mut self, printer: &Printer, connected: bool) {
        let now =
            printer.in_hand.as_ref().map(|hand| hand.remote_name.clone().unwrap_or_else(|| hand.file_name.clone()));
        if self.in_hand != now
            && let Some(ended) = std::mem::replace(&mut self.in_hand, now)
        {
            self.add(ended);
        }
        let ended = printer.past.last().copied();
        if self.ended != ended {
            self.ended = ended;
            let named = |attempt: Id| self.due.iter().any(|name| name.contains(&attempt.to_string()));
            self.listed &= ended.is_none_or(named);
        }
        self.listed &= connected;
    }

    fn add(&mut self, name: String) {
        if self.due.len() < MAX_DUE_FILES {
            self.due.insert(name);
        }
    }

    async fn carry_out(&mut self, printer: &Printer, connected: bool, connection: &PrinterConnection) {
        if !connected || self.not_before.is_some_and(|at| Instant::now() < at) {
            return;
        }
        if !self.listed {
            match connection.adapter.list_files().await {
                Ok(files) => {
                    let left = files.into_iter().map(|file| file.path).filter(|path| printer.is_leftover(path));
                    left.for_each(|path| self.add(path));
                    self.listed = true;
                }
                Err(PrinterError::Unsupported(_)) => self.listed = true,
                Err(error) => self.later(printer, &error),
            }
        }
        for name in std::mem::take(&mut self.due) {
            // It may be in hand again, or belong to somebody else by now.
            if !printer.is_leftover(&name) {
                continue;
            }
            match connection.adapter.delete_file(&name).await {
                Ok(Deleted::Gone) => {
                    tracing::debug!(printer = %printer.id, file = name, "deleted a file from the printer");
                }
                Ok(Deleted::NotFound) | Err(PrinterError::Unsupported(_)) => {}
                Err(error) => {
                    self.later(printer, &error);
                    self.add(name);
                }
            }
        }
    }

    fn later(&mut self, printer: &Printer, error: &PrinterError) {
        tracing::debug!(printer = %printer.id, %error, "cannot delete a file from the printer; retrying later");
        self.not_before = Some(Instant::now() + DELETION_RETRY_DELAY);
    }
}
