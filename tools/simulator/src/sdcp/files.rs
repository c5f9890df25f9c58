//! Chunked uploads, and the list of files on the printer.

use std::sync::Arc;

use axum::{
    Json,
    extract::{ConnectInfo, FromRequest, Multipart, Request, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use md5::{Digest, Md5};
use serde_json::{Value, json};

use super::SdcpHost;
use crate::{
    gcode::GcodeFacts,
    printer::Machine,
    wire::{ConnectionGate, MultipartUpload},
};

/// Maximum size of a chunk in bytes.
const MAX_PIECE_BYTES: usize = 1024 * 1024;

/// Chunks of an upload received so far.
pub(super) struct UploadChunks {
    id: String,
    bytes: Vec<u8>,
}

fn accepted() -> Response {
    Json(json!({"code": "000000", "messages": null, "data": {}, "success": true})).into_response()
}

/// Builds a rejection with an error number; its HTTP status is still 200.
fn refused(number: i64) -> Response {
    let messages = json!([{"field": "common_field", "message": number}]);
    Json(json!({"code": "111111", "messages": messages, "data": null, "success": false})).into_response()
}

/// Receives a chunk. The last chunk moves the file into place if the checksum over the whole file is correct.
pub(super) async fn upload(
    State(host): State<SdcpHost>,
    ConnectInfo(peer): ConnectInfo<ConnectionGate>,
    request: Request,
) -> Response {
    if host.printer.cuts_upload() {
        return peer.hang_up();
    }
    // Read before the file is stored, because a test that sees it arrive may switch the fault off.
    let drops = host.printer.faults().drop_after_upload;
    let Ok(form) = Multipart::from_request(request, &()).await else { return refused(-4) };
    let Ok(piece) = MultipartUpload::receive_as(&host.printer, form, "File").await else { return refused(-4) };
    let number = |name: &str| piece.field(name).and_then(|text| text.parse::<usize>().ok());
    let (Some(offset), Some(total), Some(id), Some(file)) =
        (number("Offset"), number("TotalSize"), piece.field("Uuid"), &piece.file)
    else {
        return refused(-4);
    };
    if host.printer.faults().disk_full {
        return refused(-3);
    }
    if file.bytes.len() > MAX_PIECE_BYTES {
        return (StatusCode::PAYLOAD_TOO_LARGE, "").into_response();
    }
    let whole = {
        let mut pieces = host.pieces();
        if offset == 0 {
            *pieces = Some(UploadChunks { id: id.to_owned(), bytes: Vec::new() });
        }
        let Some(under_way) = pieces.as_mut().filter(|current| current.id == id) else { return refused(-1) };
        if under_way.bytes.len() != offset {
            return refused(-2);
        }
        under_way.bytes.extend_from_slice(&file.bytes);
        if under_way.bytes.len() < total {
            return accepted();
        }
        pieces.take().map(|pieces| pieces.bytes).unwrap_or_default()
    };
    let sum = hex::encode(Md5::digest(&whole));
    if piece.field("S-File-MD5").is_none_or(|expected| !expected.eq_ignore_ascii_case(&sum)) {
        return refused(-4);
    }
    let facts = Arc::new(GcodeFacts::read(&whole));
    let stored = host.printer.with(|machine| {
        let free = !machine.in_use(&file.name);
        if free {
            machine.store(&file.name, whole.into(), facts);
        }
        free
    });
    if !stored {
        refused(-3)
    } else if drops {
        peer.hang_up()
    } else {
        accepted()
    }
}

/// Returns the list of files, each with its path.
pub(super) fn list(machine: &Machine) -> Value {
    let files = machine.files().iter().map(|(name, file)| {
        json!({
            "name": format!("/local/{name}"), "type": 1, "FileSize": file.bytes.len(),
            "CreateTime": file.modified.as_second(), "TotalLayers": file.facts.layers.unwrap_or(0),
        })
    });
    files.collect()
}
