//! Brings one manual print to its start: upload, ask for `Go`, start, once. After a crash that left a start unconfirmed
//! it only waits for the watch to see the print.

use super::{PrinterEffects, tell};
use crate::actors::kernel::handle::Handle;
use crate::domain::id::Id;
use crate::domain::printer::{Manual, ManualPhase, Printer, PrinterAnswer, PrinterCommand};
use crate::printers::adapter::{PrinterError, Source};

fn under_way(of: &Handle<Printer>, id: Id) -> Option<Manual> {
    of.read().state.as_ref()?.manual.clone().filter(|manual| manual.id == id)
}

/// One try; the effect stands until the rules have an answer.
pub(super) async fn run(with: &PrinterEffects, of: &Handle<Printer>, id: Id) {
    let Some(manual) = under_way(of, id) else { return };
    if manual.phase == ManualPhase::Taken {
        match begin(with, of, &manual).await {
            Some(Ok(name)) => {
                tell(of, PrinterCommand::ManualOver { id, error: None }).await;
                with.connections.manual_is(id, Ok(name));
            }
            // A start without an answer may have happened: the watch tells, or nobody can.
            Some(Err(error)) => {
                let sent = under_way(of, id).is_some_and(|manual| manual.phase != ManualPhase::Taken);
                if !sent || error.certainly_not_done() {
                    tell(of, PrinterCommand::ManualOver { id, error: Some(error.to_string()) }).await;
                }
                with.connections.manual_is(id, Err(error));
            }
            None => {}
        }
    }
    if let Some(Manual { phase: ManualPhase::StartSent { at }, .. }) = under_way(of, id) {
        if let Some(link) = with.connections.link(of.id()) {
            link.look.notify_one();
        }
        with.environment.wait_until(at.plus_ms(with.environment.rules.confirm_ms)).await;
        tell(of, PrinterCommand::ManualUnclear(id)).await;
    }
}

/// What the printer said to the start (or to the upload before it), with the name it gave the file; `None` when nothing was asked of it.
async fn begin(with: &PrinterEffects, of: &Handle<Printer>, manual: &Manual) -> Option<Result<String, PrinterError>> {
    let Some(link) = with.connections.linked(of.id()).await else {
        return Some(Err(PrinterError::Unreachable("it is not connected".to_owned())));
    };
    let name = match manual.file_id {
        None => manual.file_name.clone(),
        Some(file) => {
            let state = match with.files.read(file).await {
                Ok(state) => state,
                Err(error) => {
                    tracing::warn!(printer = %of.id(), %error, "file not read, is read again");
                    return None;
                }
            };
            let Some(file) = state.as_ref().and_then(|state| state.state.as_ref()) else {
                return Some(Err(PrinterError::Invalid("the file is gone".to_owned())));
            };
            let source = Source {
                path: with.blobs.path(&file.sha256),
                size: file.size.unsigned_abs(),
                sha256: Some(file.sha256.clone()),
            };
            let uploaded = link.adapter.upload(&manual.file_name, &source).await;
            link.calm().await;
            match uploaded {
                Ok(name) => name,
                Err(error) => return Some(Err(error)),
            }
        }
    };
    let uploaded = PrinterCommand::ManualUploaded { id: manual.id, remote_name: name.clone() };
    if !matches!(tell(of, uploaded).await, Some(PrinterAnswer::Go)) {
        return None; // not durable, or not ours to send any more
    }
    let started = link.adapter.start(&name).await;
    link.look.notify_one();
    Some(started.map(|()| name))
}
