//! An export: records as a table (CSV), which is made in the background and fetched by a link that lives seven days.
//!
//! The table is written row by row to a file, by an effect that reports how far it is: what was reported is on the
//! disk, and a restart goes on behind it. Of the link's token only the hash is kept; the address is encrypted in the
//! mail that carries it. Not for what a row says: that is known by those who read the records.

use std::convert::Infallible;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::id::Id;
use crate::domain::mail::Mail;
use crate::domain::mail::kind::{self, ExportReady};
use crate::domain::refusal::{Faults, Refusal};
use crate::domain::time::{DAY_MS, Timestamp};

/// How long a finished table can be fetched, in milliseconds: 7 days.
pub const EXPORT_LIFE_MS: i64 = 7 * DAY_MS;
/// Exports of one customer that may be waiting or under way at the same time.
pub const MAX_PENDING_EXPORTS: u64 = 3;
/// Tries after which an export is given up.
pub const MAX_EXPORT_TRIES: u32 = 8;
/// Pause before the second try, in milliseconds; doubled before each further one.
const FIRST_PAUSE_MS: i64 = 2_000;
/// Statuses of invoices that were issued, as they are shown.
const INVOICE_STATUSES: &[&str] = &["open", "partially_paid", "paid", "overdue", "refunded", "void"];
/// Statuses of quotes that were sent.
const QUOTE_STATUSES: &[&str] = &["sent", "accepted", "declined", "expired"];

/// Which records are exported.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportType {
    /// What was invoiced, with what was paid of it.
    Invoices,
    /// What was offered.
    Quotes,
}

impl ExportType {
    /// As the API writes it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Invoices => "invoices",
            Self::Quotes => "quotes",
        }
    }

    /// The statuses by which records can be chosen; drafts are never exported.
    pub const fn statuses(self) -> &'static [&'static str] {
        match self {
            Self::Invoices => INVOICE_STATUSES,
            Self::Quotes => QUOTE_STATUSES,
        }
    }
}

/// Which records are wanted; an absent member excludes none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportScope {
    /// The type of records.
    pub kind: ExportType,
    /// Those of the customer with this e-mail address, in lower case; `None`: of everybody.
    pub customer_email: Option<String>,
    /// Those made at this time or later.
    pub from: Option<Timestamp>,
    /// Those made before this time.
    pub to: Option<Timestamp>,
    /// Those with this status.
    pub status: Option<String>,
    /// Those of this site.
    pub site: Option<String>,
}

impl ExportScope {
    fn check(&self) -> Result<(), Refusal> {
        let mut faults = Faults::default();
        if let Some(status) = self.status.as_deref().filter(|status| !self.kind.statuses().contains(status)) {
            let words = self.kind.statuses().join(", ");
            faults.note("status", format!("{status:?} is none of {words}"));
        }
        if let (Some(from), Some(to)) = (self.from, self.to) {
            faults.check(from < to, "to", "must be later than from");
        }
        faults.refuse()
    }
}

/// How far an export is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportState {
    /// Nothing is written yet.
    Queued,
    /// Rows are being written.
    Running,
    /// It can be fetched.
    Ready,
    /// It was given up after several tries.
    Failed,
    /// Its time is over, and its file is deleted.
    Expired,
}

/// The record behind which the next page of rows begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportCursor {
    /// When that record was made.
    pub at: Timestamp,
    /// Among those that were made at the same time, by their ids.
    pub id: Id,
}

/// What is on the disk of an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportProgress {
    /// Rows without the head.
    pub rows: u64,
    /// Length of the file; what is behind it was not reported, and is written again.
    pub bytes: u64,
    /// The last record of these rows.
    pub after: Option<ExportCursor>,
}

/// A table that was asked for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    /// Identifier of the export, and the name of its file.
    pub id: Id,
    /// Which records.
    pub scope: ExportScope,
    /// The address that the link is mailed to; `None`: nobody's.
    pub mail_to: Option<String>,
    /// How far it is.
    pub state: ExportState,
    /// What is on the disk.
    pub progress: ExportProgress,
    /// Tries that failed.
    pub tries: u32,
    /// When the next try is due.
    pub next_at: Timestamp,
    /// What was wrong with the last try that failed.
    pub error: Option<String>,
    /// SHA-256 of the token of its link in hexadecimal; `None` until it is ready.
    pub token_hash: Option<String>,
    /// When it was asked for: records that were made later are not in it.
    pub created_at: Timestamp,
    /// When its last row was written, or it was given up.
    pub finished_at: Option<Timestamp>,
    /// From when on it cannot be fetched; `None` until it is ready. Of one that was given up: until what was written
    /// of it is deleted.
    pub expires_at: Option<Timestamp>,
}

impl Export {
    /// Whether it waits or is under way.
    pub fn is_pending(&self) -> bool {
        matches!(self.state, ExportState::Queued | ExportState::Running)
    }

    /// Whether it can be fetched at this time.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.state == ExportState::Ready && self.expires_at.is_some_and(|over| now < over)
    }

    /// The longest time until the next try, whatever the wall clock says.
    pub fn longest_wait(&self) -> Duration {
        let ms = if self.tries == 0 { 0 } else { pause_ms(self.tries) };
        Duration::from_millis(ms.unsigned_abs())
    }

    /// The name under which it is saved: `invoices-2026-11-23.csv`.
    pub fn file_name(&self) -> String {
        let day = self.created_at.to_string();
        format!("{}-{}.csv", self.scope.kind.word(), day.get(..10).unwrap_or("export"))
    }
}

/// What can be asked of an export.
#[derive(Clone, Debug)]
pub enum ExportCommand {
    /// Makes it.
    Request {
        /// Which records; refused with 400 where it makes no sense.
        scope: ExportScope,
        /// The address that the link is mailed to.
        mail_to: Option<String>,
    },
    /// So much is on the disk.
    Progress(ExportProgress),
    /// What was reported is not on the disk: all is written anew.
    Vanished,
    /// A try failed.
    Failed {
        /// Number of the try, from 1; an outcome that is reported twice is recognised by it.
        number: u32,
        /// What was wrong.
        words: String,
    },
    /// All is on the disk.
    Finished {
        /// What is on the disk.
        progress: ExportProgress,
        /// SHA-256 of the token of its link in hexadecimal.
        token_hash: String,
        /// The address of the link, encrypted.
        encrypted_url: String,
    },
    /// Its file is deleted.
    Deleted,
}

/// Outside work that an export calls for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ExportEffect {
    /// Write what is missing.
    Write {
        /// Number of the try, from 1.
        number: u32,
        /// When it is due.
        at: Timestamp,
    },
    /// Delete its file.
    Delete {
        /// When it is due.
        at: Timestamp,
    },
}

impl Aggregate for Export {
    const KIND: &'static str = "export";
    type Command = ExportCommand;
    type Answer = Box<Export>;
    type Row = Infallible;
    type Created = Mail;
    type Effect = ExportEffect;

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &ExportCommand,
    ) -> Result<Decision<Self>, Refusal> {
        match (this, command) {
            (None, ExportCommand::Request { scope, mail_to }) => {
                scope.check()?;
                let export = Self {
                    id,
                    scope: scope.clone(),
                    mail_to: mail_to.clone(),
                    state: ExportState::Queued,
                    progress: ExportProgress::default(),
                    tries: 0,
                    next_at: cx.now,
                    error: None,
                    token_hash: None,
                    created_at: cx.now,
                    finished_at: None,
                    expires_at: None,
                };
                Ok(to(export))
            }
            (None, _) => Err(Refusal::not_found(Self::KIND)),
            (Some(_), ExportCommand::Request { .. }) => Err(Refusal::conflict("exists", "this export exists already")),
            (Some(this), command) => Ok(this.after(cx, command)),
        }
    }

    fn name(command: &ExportCommand) -> &'static str {
        match command {
            ExportCommand::Request { .. } => "export.request",
            ExportCommand::Progress(_) => "export.progress",
            ExportCommand::Vanished => "export.vanished",
            ExportCommand::Failed { .. } => "export.failed",
            ExportCommand::Finished { .. } => "export.finished",
            ExportCommand::Deleted => "export.deleted",
        }
    }

    fn effects(&self) -> Vec<ExportEffect> {
        match (self.state, self.expires_at) {
            (ExportState::Queued | ExportState::Running, _) => {
                vec![ExportEffect::Write { number: self.tries.saturating_add(1), at: self.next_at }]
            }
            (ExportState::Ready | ExportState::Failed, Some(at)) => vec![ExportEffect::Delete { at }],
            _ => Vec::new(),
        }
    }

    fn at_rest(&self) -> bool {
        self.effects().is_empty()
    }
}

/// Pause behind the failed try of this number, in milliseconds.
fn pause_ms(number: u32) -> i64 {
    FIRST_PAUSE_MS.saturating_mul(1 << number.saturating_sub(1).min(10))
}

fn to(export: Export) -> Decision<Export> {
    let answer = Box::new(export.clone());
    Decision::to(export, answer)
}

impl Export {
    /// The outcomes of its effects. What comes twice or late changes nothing.
    fn after(&self, cx: &DecisionContext<'_>, command: &ExportCommand) -> Decision<Self> {
        let same = || Decision::unchanged(Box::new(self.clone()));
        match command {
            ExportCommand::Progress(progress) if self.is_pending() && progress.rows > self.progress.rows => {
                // The number of the try stays: it names the task that writes.
                to(Self { state: ExportState::Running, progress: *progress, error: None, ..self.clone() })
            }
            ExportCommand::Vanished if self.is_pending() && self.progress.bytes > 0 => {
                to(Self { progress: ExportProgress::default(), ..self.clone() })
            }
            ExportCommand::Failed { number, words } if self.is_pending() && *number == self.tries.saturating_add(1) => {
                let pause = pause_ms(*number);
                let (next_at, error) = (cx.now.plus_ms(pause), Some(words.clone()));
                let tried = Self { tries: *number, next_at, error, ..self.clone() };
                if *number < MAX_EXPORT_TRIES {
                    return to(tried);
                }
                let (state, now) = (ExportState::Failed, Some(cx.now));
                to(Self { state, finished_at: now, expires_at: now, ..tried }).created(self.mail_of_failure(cx))
            }
            ExportCommand::Finished { progress, token_hash, encrypted_url } if self.is_pending() => {
                let ready = Self {
                    state: ExportState::Ready,
                    progress: *progress,
                    error: None,
                    token_hash: Some(token_hash.clone()),
                    finished_at: Some(cx.now),
                    expires_at: Some(cx.now.plus_ms(EXPORT_LIFE_MS)),
                    ..self.clone()
                };
                let mail = ready.mail_of_link(cx, encrypted_url);
                to(ready).created(mail)
            }
            ExportCommand::Deleted if self.state == ExportState::Ready => {
                to(Self { state: ExportState::Expired, ..self.clone() })
            }
            ExportCommand::Deleted if self.state == ExportState::Failed && self.expires_at.is_some() => {
                to(Self { expires_at: None, ..self.clone() })
            }
            _ => same(),
        }
    }

    fn mail_of_link(&self, cx: &DecisionContext<'_>, encrypted_url: &str) -> Option<Mail> {
        let ready = ExportReady {
            to: self.mail_to.clone()?,
            what: self.scope.kind.word().to_owned(),
            rows: self.progress.rows,
            encrypted_url: encrypted_url.to_owned(),
            expires_at: self.expires_at?,
        };
        Some(kind::export_ready(cx, ready))
    }

    fn mail_of_failure(&self, cx: &DecisionContext<'_>) -> Option<Mail> {
        let word = self.scope.kind.word();
        let text = format!(
            "The table of {word} that you asked for could not be made, though it was tried {MAX_EXPORT_TRIES} times. \
             Please ask for it again later.\n"
        );
        Some(Mail::new(cx, vec![self.mail_to.clone()?], format!("Your export of {word} failed"), text))
    }
}

#[cfg(test)]
mod tests;
