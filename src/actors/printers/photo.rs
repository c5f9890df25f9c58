//! Effect `Photograph`, which takes a picture of a finished print and stores it as a file in the library, linked to the
//! attempt.
//!
//! The file ID is derived from the attempt, so that no second file is created if the server is killed halfway. Nothing
//! waits for the picture; if the next print begins first, no picture is taken.

use std::time::Duration;

use tokio::time::sleep;
use uuid::Uuid;

use super::{PrinterEffects, tell};
use domain::file::{FileCommand, FileKind, FileMetadata, PhotoSubject};
use domain::id::Id;
use domain::order::OrderNews;
use domain::printer::{PhotoDue, Printer, PrinterNews};
use domain::schedule::Delays;
use kernel::envelope::CommandOrigin;
use kernel::handle::{AskError, Handle};
use printers::cameras::{CameraFault, Picture};

/// Maximum number of attempts to take the picture.
const MAX_TRIES: u32 = 6;
/// Backoff between attempts to take the picture.
const RETRY_DELAYS: Delays = Delays { first: Duration::from_secs(1), longest: Duration::from_secs(15) };
/// Maximum age of a finished print, in milliseconds. After that, a picture might no longer show the print, so none is
/// taken.
const MAX_AGE_MS: i64 = 10 * 60 * 1000;

/// Takes the picture for the given attempt, unless it is no longer due.
pub(super) async fn photograph(with: &PrinterEffects, of: &Handle<Printer>, attempt: Id) {
    let state = of.read();
    let due = state.state.as_ref().and_then(|printer| printer.photo_due.clone());
    let Some(due) = due.filter(|due| due.attempt == attempt) else { return };
    let id = Id(Uuid::new_v5(&due.attempt.0, b"finish photo"));
    let is_stored = match with.files.read(id).await {
        Ok(photo) => photo.is_some(),
        Err(error) => {
            return tracing::debug!(printer = %of.id(), %error, "cannot look up the picture of a print; retrying");
        }
    };
    if !is_stored {
        let picture = match take(with, of, &due).await {
            CaptureOutcome::Picture(picture) => picture,
            CaptureOutcome::Nothing => {
                tell(of, PrinterNews::PhotoOver(attempt)).await;
                return;
            }
            CaptureOutcome::NoCamera => {
                tell(of, PrinterNews::CameraTold(false)).await;
                // One that a person set and that cannot be asked is over, too.
                tell(of, PrinterNews::PhotoOver(attempt)).await;
                return;
            }
        };
        if let Err(words) = keep(with, id, &due, picture).await {
            return tracing::warn!(printer = %of.id(), words, "cannot store the picture of a print; retrying");
        }
    }
    let news = OrderNews::Photographed { job: due.job, attempt, file: Some(id) };
    match with.orders.ask(due.order, CommandOrigin::system(), news).await {
        // No such order or job: nobody will ask for it.
        Ok(_) | Err(AskError::Refused(_)) => {}
        Err(error) => {
            let printer = of.id();
            return tracing::debug!(%printer, %error, "cannot record a print's picture in its order; retrying");
        }
    }
    tell(of, PrinterNews::PhotoOver(attempt)).await;
}

/// Result of taking a picture.
enum CaptureOutcome {
    Picture(Picture),
    /// No picture of the print will be taken.
    Nothing,
    /// No camera is available.
    NoCamera,
}

/// Takes a picture of the finished print.
async fn take(with: &PrinterEffects, of: &Handle<Printer>, due: &PhotoDue) -> CaptureOutcome {
    let mut why = None;
    for tries in 0..MAX_TRIES {
        if with.environment.now().since(due.ended_at) > MAX_AGE_MS {
            break;
        }
        let state = of.read();
        let Some(printer) = &state.state else { return CaptureOutcome::Nothing };
        match with.connections.picture(printer, &with.cipher, true).await {
            Ok(picture) => return CaptureOutcome::Picture(picture),
            Err(CameraFault::None(_)) => return CaptureOutcome::NoCamera,
            Err(fault) => why = Some(fault),
        }
        sleep(RETRY_DELAYS.next(tries, with.environment.chance())).await;
    }
    if let Some(fault) = why {
        tracing::info!(printer = %of.id(), attempt = %due.attempt, %fault, "no picture of the finished print");
    }
    CaptureOutcome::Nothing
}

/// Stores the picture as a file.
async fn keep(with: &PrinterEffects, id: Id, due: &PhotoDue, picture: Picture) -> Result<(), String> {
    let words = |error: &dyn std::fmt::Display| error.to_string();
    let recording = with.blobs.recording();
    let content = with.blobs.store(&picture.bytes, &recording).await.map_err(|error| words(&error))?;
    let stem = due.file_name.split_once('.').map_or(due.file_name.as_str(), |(stem, _)| stem);
    let create = FileCommand::Create {
        name: format!("{stem}.{}", picture.kind.ending()),
        kind: FileKind::Image,
        size: i64::try_from(content.size).unwrap_or(i64::MAX),
        sha256: content.sha256,
        metadata: Box::new(FileMetadata::default()),
        photo_of: Some(PhotoSubject { order: due.order, job: due.job, attempt: due.attempt }),
        sliced_from: None,
    };
    match with.files.create_as(id, CommandOrigin::system(), create).await {
        // Recorded by a try of which nobody heard.
        Ok(_) | Err(AskError::Refused(_)) => Ok(()),
        Err(error) => Err(words(&error)),
    }
}
