//! Effects of exports: write tables page by page, and delete the files when they expire.
//!
//! Each page is on disk before it is reported, so writing resumes after the last reported page when the server
//! restarts. The row contents come from the injected [`ExportRows`].

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use domain::csv::{Cell, Csv};
use domain::export::{
    EXPORT_LIFE_MS, Export, ExportCommand, ExportCursor, ExportEffect, ExportProgress, ExportScope, ExportType,
};
use domain::time::Timestamp;
use files::exports::{ExportFile, ExportFiles};
use kernel::effects::{Effects, report};
use kernel::environment::Environment;
use kernel::handle::Handle;
use platform::secrets::credentials;
use platform::secrets::encryption::SecretCipher;
use services::object_storage::large::SINGLE_TIME;
use store::rows::LoadError;

/// Maximum number of rows per page. Each page is read, written and reported as a unit, and only one page is in memory
/// at a time.
const ROWS_PER_PAGE: u64 = 500;
/// Path of the download link, without the token.
const LINK_PATH: &str = "/api/v1/exports/";

/// Table cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExportCell {
    /// Empty cell, because the value is unknown or not applicable.
    Empty,
    /// Formatted number, which cannot be mistaken for a spreadsheet formula.
    Number(String),
    /// Text from an untrusted source.
    Text(String),
}

impl ExportCell {
    /// Returns a text cell; an empty cell for `None`.
    pub fn words(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Empty, |text| Self::Text(text.into()))
    }
}

/// Page of rows, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExportPage {
    /// Rows, each with as many cells as there are columns.
    pub rows: Vec<Vec<ExportCell>>,
    /// Cursor for the next page; `None` on the last page.
    pub after: Option<ExportCursor>,
}

/// Source of exported records.
#[async_trait]
pub trait ExportRows: Send + Sync + 'static {
    /// Returns the column names for a type of record.
    fn columns(&self, kind: ExportType) -> &'static [&'static str];
    /// Returns the next records, oldest first: at most `limit`, and none created after `upto`.
    async fn page(
        &self,
        scope: &ExportScope,
        upto: Timestamp,
        after: Option<ExportCursor>,
        limit: u64,
    ) -> Result<ExportPage, LoadError>;
}

/// Effects of exports, which write tables and delete expired ones.
pub struct ExportEffects {
    /// Clock used to determine when retries and deletions are due.
    pub environment: Arc<Environment>,
    /// Storage for export files.
    pub files: ExportFiles,
    /// Source of the rows.
    pub rows: Arc<dyn ExportRows>,
    /// Cipher that encrypts download links until they are sent by email.
    pub cipher: Arc<SecretCipher>,
}

/// Reason that writing an export stopped early.
#[derive(Debug, thiserror::Error)]
enum WriteFault {
    #[error("the records cannot be read: {0}")]
    Load(#[from] LoadError),
    #[error("the table cannot be written: {0}")]
    Disk(#[from] std::io::Error),
    /// The export could not record the outcome, for example because the server is shutting down.
    #[error("the outcome of the export cannot be recorded")]
    Untold,
}

#[async_trait]
impl Effects<Export> for ExportEffects {
    async fn run(&self, effect: ExportEffect, of: Handle<Export>) {
        let state = of.read();
        let Some(export) = &state.state else { return };
        match effect {
            ExportEffect::Write { number, at } => {
                self.environment.wait_until(at, export.longest_wait()).await;
                let fault = match self.write(&of, export).await {
                    Ok(()) | Err(WriteFault::Untold) => return,
                    Err(fault) => fault,
                };
                tracing::warn!(export = %export.id, number, %fault, "writing an export failed; retrying");
                let _ = report(&of, ExportCommand::Failed { number, words: fault.to_string() }).await;
            }
            ExportEffect::Delete { at } => {
                self.environment.wait_until(at, Duration::from_millis(EXPORT_LIFE_MS.unsigned_abs())).await;
                match self.files.delete(export.id, || self.confirm_removal()).await {
                    Ok(()) => drop(report(&of, ExportCommand::Deleted).await),
                    Err(error) => {
                        tracing::warn!(export = %export.id, %error, "cannot delete an expired export from disk");
                    }
                }
            }
        }
    }
}

impl ExportEffects {
    async fn write(&self, of: &Handle<Export>, export: &Export) -> Result<(), WriteFault> {
        let (mut file, mut progress) = self.resume(of, export).await?;
        let columns = self.rows.columns(export.scope.kind);
        let mut csv = if progress.bytes == 0 { Csv::for_spreadsheets(columns) } else { Csv::further() };
        loop {
            let page = self.rows.page(&export.scope, export.created_at, progress.after, ROWS_PER_PAGE).await?;
            for row in &page.rows {
                csv.row(row.iter().map(cell));
            }
            progress.rows += page.rows.len() as u64;
            // Another server that has taken over meanwhile writes the same file.
            self.environment.leadership().wait_until_confirmed().await;
            progress.bytes = file.append(csv.take()).await?;
            if page.after.is_none() {
                break;
            }
            progress.after = page.after;
            report(of, ExportCommand::Progress(progress)).await.map_err(|_| WriteFault::Untold)?;
        }
        drop(file);
        let token = credentials::session_token();
        let url = format!("{}{LINK_PATH}{token}", self.environment.rules.public_url);
        let finished = ExportCommand::Finished {
            progress,
            token_hash: credentials::session_hash(&token),
            encrypted_url: self.cipher.encrypt_or_empty(&url),
        };
        report(of, finished).await.map(drop).map_err(|_| WriteFault::Untold)
    }

    /// Waits until no other server can write the same table before the removal of a piece has taken effect.
    async fn confirm_removal(&self) {
        self.environment.leadership().wait_until_confirmed_for(SINGLE_TIME).await;
    }

    /// Opens the table at the last reported position; starts a new table if the file is shorter than that.
    async fn resume(&self, of: &Handle<Export>, export: &Export) -> Result<(ExportFile, ExportProgress), WriteFault> {
        let confirm = || self.confirm_removal();
        if let Some(file) = self.files.resume(export.id, export.progress.bytes, confirm).await? {
            return Ok((file, export.progress));
        }
        report(of, ExportCommand::Vanished).await.map_err(|_| WriteFault::Untold)?;
        let anew = self.files.resume(export.id, 0, confirm).await?;
        let anew = anew.ok_or_else(|| std::io::Error::other("cannot start the export's file over"))?;
        Ok((anew, ExportProgress::default()))
    }
}

fn cell(cell: &ExportCell) -> Cell<'_> {
    match cell {
        ExportCell::Empty => Cell::Empty,
        ExportCell::Number(number) => Cell::Number(number),
        ExportCell::Text(text) => Cell::Text(text),
    }
}
