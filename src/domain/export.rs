//! Export: records as a table (CSV), generated in the background and downloaded through a link that is valid for seven
//! days.
//!
//! An effect writes the table row by row to a file and reports its progress: reported rows are on disk, so a restart
//! continues after them. Only a hash of the link's token is stored; the link's URL is encrypted in the email that
//! contains it. The contents of a row are defined by the code that reads the records.

use std::convert::Infallible;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::mail::Mail;
use crate::mail::kind::{self, ExportReady};
use crate::refusal::{Faults, Refusal};
use crate::time::{DAY_MS, Timestamp};
use words::{Language, mails};

/// Time for which a finished table can be downloaded, in milliseconds: 7 days.
pub const EXPORT_LIFE_MS: i64 = 7 * DAY_MS;
/// Maximum number of queued or running exports per customer.
pub const MAX_PENDING_EXPORTS: u64 = 3;
/// Number of attempts after which an export fails permanently.
pub const MAX_EXPORT_TRIES: u32 = 8;
/// Delay before the second attempt, in milliseconds; doubled before each subsequent attempt.
const FIRST_PAUSE_MS: i64 = 2_000;
/// Statuses of issued invoices as displayed.
const INVOICE_STATUSES: &[&str] = &["open", "partially_paid", "paid", "overdue", "refunded", "void"];
/// Statuses of quotes that have been sent.
const QUOTE_STATUSES: &[&str] = &["sent", "accepted", "declined", "expired"];

/// Type of records to export.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportType {
    /// Invoices with the payments they received.
    Invoices,
    /// Sent quotes.
    Quotes,
}

impl ExportType {
    /// Returns the type's name in the API.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Invoices => "invoices",
            Self::Quotes => "quotes",
        }
    }

    /// Returns the statuses to filter by; drafts are never exported.
    pub const fn statuses(self) -> &'static [&'static str] {
        match self {
            Self::Invoices => INVOICE_STATUSES,
            Self::Quotes => QUOTE_STATUSES,
        }
    }
}

/// Filter for the records to export; a field that is `None` does not restrict the export.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportScope {
    /// Type of the records.
    pub kind: ExportType,
    /// Customer's email address in lowercase, to export only the records of that customer; `None` for all customers.
    pub customer_email: Option<String>,
    /// Start of the range: only records created at or after this time.
    pub from: Option<Timestamp>,
    /// End of the range: only records created before this time.
    pub to: Option<Timestamp>,
    /// Status of the records to export; `None` for any status.
    pub status: Option<String>,
    /// Site of the records to export; `None` for all sites.
    pub site: Option<String>,
}

impl ExportScope {
    fn check(&self) -> Result<(), Refusal> {
        let mut faults = Faults::default();
        if let Some(status) = self.status.as_deref().filter(|status| !self.kind.statuses().contains(status)) {
            let words = self.kind.statuses().join(", ");
            faults.note("status", format!("must be one of {words}, not {status:?}"));
        }
        if let (Some(from), Some(to)) = (self.from, self.to) {
            faults.check(from < to, "to", "must be later than `from`");
        }
        faults.refuse()
    }
}

/// State of an export, from its request to its deletion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportState {
    /// Queued: nothing has been written yet.
    Queued,
    /// Running: rows are being written.
    Running,
    /// Ready for download.
    Ready,
    /// Failed permanently after several attempts.
    Failed,
    /// Expired: the file is deleted.
    Expired,
}

/// Position of a record; the next page of rows starts after the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportCursor {
    /// Creation time of the record.
    pub at: Timestamp,
    /// ID of the record, used to order records created at the same time.
    pub id: Id,
}

/// Part of an export that is on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportProgress {
    /// Number of rows, excluding the header.
    pub rows: u64,
    /// Length of the file in bytes; anything beyond this length was not reported and is overwritten.
    pub bytes: u64,
    /// Position of the last record written.
    pub after: Option<ExportCursor>,
}

/// Requested export.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Export {
    /// Identifier of the export, which is also the name of the file.
    pub id: Id,
    /// Filter for the records.
    pub scope: ExportScope,
    /// Email address to which the download link is sent, if any.
    pub mail_to: Option<String>,
    /// Language of the email.
    #[serde(default, skip_serializing_if = "Language::is_english")]
    pub language: Language,
    /// State of the export.
    pub state: ExportState,
    /// Part of the table that is on disk.
    pub progress: ExportProgress,
    /// Number of failed attempts.
    pub tries: u32,
    /// Time at which the next attempt is due.
    pub next_at: Timestamp,
    /// Error of the last failed attempt.
    pub error: Option<String>,
    /// SHA-256 of the link's token in hexadecimal; `None` until the export is ready.
    pub token_hash: Option<String>,
    /// Time of the request; records created later are not included.
    pub created_at: Timestamp,
    /// Time at which the last row was written or the export failed permanently.
    pub finished_at: Option<Timestamp>,
    /// Time from which the export can no longer be downloaded; `None` until it is ready. For a failed export, the time
    /// at which its partial file is deleted.
    pub expires_at: Option<Timestamp>,
}

impl Export {
    /// Returns whether the export is queued or running.
    pub fn is_pending(&self) -> bool {
        matches!(self.state, ExportState::Queued | ExportState::Running)
    }

    /// Returns whether the export can be downloaded at the given time.
    pub fn is_open(&self, now: Timestamp) -> bool {
        self.state == ExportState::Ready && self.expires_at.is_some_and(|over| now < over)
    }

    /// Returns the longest possible wait until the next attempt, regardless of the wall clock.
    pub fn longest_wait(&self) -> Duration {
        let ms = if self.tries == 0 { 0 } else { pause_ms(self.tries) };
        Duration::from_millis(ms.unsigned_abs())
    }

    /// Returns the file name for the download: `invoices-2026-11-23.csv`.
    pub fn file_name(&self) -> String {
        let day = self.created_at.to_string();
        format!("{}-{}.csv", self.scope.kind.word(), day.get(..10).unwrap_or("export"))
    }
}

/// Commands that change an export.
#[derive(Clone, Debug)]
pub enum ExportCommand {
    /// Creates the export.
    Request {
        /// Filter for the records; rejected with 400 if inconsistent.
        scope: ExportScope,
        /// Email address to which the link is sent.
        mail_to: Option<String>,
        /// Language of the email.
        language: Language,
    },
    /// Records the part of the table that is on disk.
    Progress(ExportProgress),
    /// Records that data reported as written is missing on disk, so that everything is written again.
    Vanished,
    /// Records a failed attempt.
    Failed {
        /// Number of the attempt, starting at 1; used to ignore duplicate reports.
        number: u32,
        /// Error message.
        words: String,
    },
    /// Records that all rows are on disk.
    Finished {
        /// Part of the table that is on disk.
        progress: ExportProgress,
        /// SHA-256 of the link's token in hexadecimal.
        token_hash: String,
        /// URL of the link, encrypted.
        encrypted_url: String,
    },
    /// Records that the file has been deleted.
    Deleted,
}

/// External work required by the state of an export.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ExportEffect {
    /// Writes the missing rows.
    Write {
        /// Number of the attempt, starting at 1.
        number: u32,
        /// Time at which the attempt is due.
        at: Timestamp,
    },
    /// Deletes the file.
    Delete {
        /// Time at which the deletion is due.
        at: Timestamp,
    },
}

impl Aggregate for Export {
    const KIND: &'static str = "export";
    type Row = Infallible;
    type Created = Mail;
    type Effect = ExportEffect;

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

impl Command<Export> for ExportCommand {
    type Answer = Box<Export>;

    fn decide(&self, this: Option<&Export>, id: Id, cx: &DecisionContext<'_>) -> DecisionResult<Export, Self::Answer> {
        match (this, self) {
            (None, ExportCommand::Request { scope, mail_to, language }) => {
                scope.check()?;
                let export = Export {
                    id,
                    scope: scope.clone(),
                    mail_to: mail_to.clone(),
                    language: *language,
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
            (None, _) => Err(Refusal::not_found(Export::KIND)),
            (Some(_), ExportCommand::Request { .. }) => Err(Refusal::conflict("exists", "this export already exists")),
            (Some(this), command) => Ok(this.after(cx, command)),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            ExportCommand::Request { .. } => AuditedAct::ExportRequest,
            ExportCommand::Progress(_) => AuditedAct::ExportProgress,
            ExportCommand::Vanished => AuditedAct::ExportVanished,
            ExportCommand::Failed { .. } => AuditedAct::ExportFailed,
            ExportCommand::Finished { .. } => AuditedAct::ExportFinished,
            ExportCommand::Deleted => AuditedAct::ExportDeleted,
        }
    }
}

/// Returns the delay after the given failed attempt, in milliseconds.
fn pause_ms(number: u32) -> i64 {
    FIRST_PAUSE_MS.saturating_mul(1 << number.saturating_sub(1).min(10))
}

fn to(export: Export) -> Decision<Export, Box<Export>> {
    let answer = Box::new(export.clone());
    Decision::to(export, answer)
}

impl Export {
    /// Applies the outcome of an effect. A duplicate or outdated report changes nothing.
    fn after(&self, cx: &DecisionContext<'_>, command: &ExportCommand) -> Decision<Self, Box<Self>> {
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

    /// Returns the type of the records as the email names it.
    fn records(&self) -> String {
        match self.scope.kind {
            ExportType::Invoices => mails::exported_invoices(self.language),
            ExportType::Quotes => mails::exported_quotes(self.language),
        }
    }

    fn mail_of_link(&self, cx: &DecisionContext<'_>, encrypted_url: &str) -> Option<Mail> {
        let ready = ExportReady {
            to: self.mail_to.clone()?,
            language: self.language,
            records: self.records(),
            rows: self.progress.rows,
            encrypted_url: encrypted_url.to_owned(),
            expires_at: self.expires_at?,
        };
        Some(kind::export_ready(cx, ready))
    }

    fn mail_of_failure(&self, cx: &DecisionContext<'_>) -> Option<Mail> {
        let (language, records) = (self.language, self.records());
        let text = format!("{}\n", mails::failed_export_text(language, &records, MAX_EXPORT_TRIES));
        let subject = mails::failed_export_subject(language, &records);
        Some(Mail { language, ..Mail::new(cx, vec![self.mail_to.clone()?], subject, text) })
    }
}

#[cfg(test)]
mod tests;
