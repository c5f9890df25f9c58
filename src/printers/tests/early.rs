//! Printers that reject an upload early: they close the connection while the file is being sent, so that their response
//! is lost.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{adapter, by_requests, file, serve_raw};
use crate::adapter::PrinterError;

/// Starts a fake printer of any type that closes the connection of each upload. It has this much free space, and may
/// reject the key from the first upload on.
async fn closes_uploads(free: u64, rejects_key: bool) -> String {
    let has_begun = AtomicBool::new(false);
    serve_raw(move |head| {
        if head.starts_with("put ") || head.starts_with("post ") {
            has_begun.store(true, Ordering::SeqCst);
            return None;
        }
        if rejects_key && has_begun.load(Ordering::SeqCst) {
            return Some((401, "{}".to_owned()));
        }
        let path = head.split([' ', '?']).nth(1).unwrap_or_default();
        Some(match path {
            "/api/version" => (200, r#"{"api": "2.0.0", "capabilities": {"upload-by-put": true}}"#.to_owned()),
            "/api/v1/storage" => {
                (200, format!(r#"{{"storage_list": [{{"path": "/usb", "available": true, "free_space": {free}}}]}}"#))
            }
            "/server/files/directory" => (200, format!(r#"{{"result": {{"disk_usage": {{"free": {free}}}}}}}"#)),
            "/api/files/local" => (200, format!(r#"{{"files": [], "free": {free}}}"#)),
            _ => (404, "{}".to_owned()),
        })
    })
    .await
}

#[tokio::test]
async fn the_reason_of_an_early_rejection_is_asked_for() {
    const SIZE: usize = 2_000_000;
    let (_kept, source) = file(SIZE);
    let size = SIZE as u64;
    for kind in by_requests() {
        let upload = async |free, rejects_key| {
            let printer = adapter(kind, &closes_uploads(free, rejects_key).await);
            printer.upload("a.gcode", &source).await.unwrap_err()
        };
        let error = upload(size, true).await;
        assert!(matches!(error, PrinterError::WrongKey(_)), "{kind}: {error:?}");
        let error = upload(size - 1, false).await;
        assert!(error.disk_full(), "{kind}: {error:?}");
        let error = upload(size, false).await;
        assert!(matches!(error, PrinterError::Lost(_)), "{kind}: {error:?}");
        let text = error.to_string();
        assert!(!text.contains("error sending") && !text.contains("os error"), "{kind}: {text}");
    }
}

#[tokio::test]
async fn a_file_that_is_larger_than_a_server_accepts_is_named_as_the_reason() {
    let url = serve_raw(|head| {
        if head.starts_with("post ") {
            return None;
        }
        let json = if head.starts_with("get /server/config") {
            r#"{"result": {"config": {"server": {"max_upload_size": 1}}}}"#
        } else {
            r#"{"result": {}}"#
        };
        Some((200, json.to_owned()))
    })
    .await;
    for (size, is_larger) in [(2_000_000, true), (1_000_000, false)] {
        let (_kept, source) = file(size);
        let error = adapter("fw_rest", &url).upload("a.gcode", &source).await.unwrap_err();
        assert_eq!(matches!(error, PrinterError::Refused { status: 413, .. }), is_larger, "{error:?}");
    }
}
