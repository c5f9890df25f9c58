//! Tests of attachments, for each of the three transports: messages are parsed as mail programs parse them.

use mail_parser::{MessageParser, MimeHeaders as _};

use super::service::service;
use super::*;

/// Builds a message with both bodies, an inline picture and a PDF.
fn enclosing(id: &str) -> Message {
    let file = |name: &str, content_type, bytes: &'static [u8], shown_as| MailFile {
        name: name.into(),
        content_type,
        bytes: Bytes::from_static(bytes),
        shown_as,
    };
    Message {
        html: Some("<p>Hello <img src=\"cid:logo\" alt=\"è\"></p>".into()),
        files: vec![
            file("logo.png", "image/png", b"\x89PNG picture", Some("logo")),
            file("INV-2026-000001.pdf", "application/pdf", b"%PDF-1.7\r\n\0\xff", None),
        ],
        ..message(id)
    }
}

/// Verifies that a message, parsed as mail programs do, contains all attachments intact.
fn is_whole(raw: &[u8]) {
    let message = MessageParser::default().parse(raw).unwrap();
    let kinds: Vec<String> = message
        .parts
        .iter()
        .map(|part| {
            let kind = part.content_type().unwrap();
            format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default())
        })
        .collect();
    let nested = [
        "multipart/mixed",
        "multipart/alternative",
        "text/plain",
        "multipart/related",
        "text/html",
        "image/png",
        "application/pdf",
    ];
    assert_eq!(kinds, nested);
    // The line ends of mails.
    let text = message.body_text(0).unwrap().replace("\r\n", "\n");
    assert_eq!(text, self::message("x").text);
    assert!(message.body_html(0).unwrap().contains("cid:logo"));
    let picture = &message.parts[5];
    assert_eq!((picture.content_id(), picture.contents()), (Some("logo"), &b"\x89PNG picture"[..]));
    let pdf = &message.parts[6];
    assert_eq!((pdf.attachment_name(), pdf.contents()), (Some("INV-2026-000001.pdf"), &b"%PDF-1.7\r\n\0\xff"[..]));
}

#[tokio::test]
async fn what_is_enclosed_comes_whole_into_the_folder_and_to_a_mail_server_and_to_a_service() {
    let folder = tempfile::tempdir().unwrap();
    let mailer = FileOutbox::new(folder.path(), from()).unwrap();
    mailer.send(&enclosing("a")).await.unwrap();
    let first = fs::read(folder.path().join("a.eml")).unwrap();
    is_whole(&first);
    mailer.send(&enclosing("a")).await.unwrap();
    assert_eq!(fs::read(folder.path().join("a.eml")).unwrap(), first, "a repeat is the same");

    let server = Server::start(FRIENDLY).await;
    smtp(&server).send(&enclosing("a")).await.unwrap();
    let sent = server.mails.lock().unwrap()[0].replace("\n..", "\n.");
    is_whole(sent.replace('\n', "\r\n").as_bytes());

    let (mailer, calls) = service(200, r#"{"id":"1"}"#).await;
    mailer.send(&enclosing("a")).await.unwrap();
    let expected = serde_json::json!([
        {"filename": "logo.png", "content": "iVBORyBwaWN0dXJl", "content_type": "image/png", "content_id": "logo"},
        {"filename": "INV-2026-000001.pdf", "content": "JVBERi0xLjcNCgD/", "content_type": "application/pdf"},
    ]);
    let calls = calls.lock().unwrap();
    assert_eq!(calls[0].1["attachments"], expected);
    assert!(calls[0].1["html"].as_str().unwrap().contains("cid:logo"));
}

#[tokio::test]
async fn a_name_of_a_file_cannot_add_a_header() {
    let folder = tempfile::tempdir().unwrap();
    let mailer = FileOutbox::new(folder.path(), from()).unwrap();
    for name in ["", "../x.pdf", "a\r\nBcc: eve@example.com", "a\"b.pdf", "a b.pdf"] {
        let mut bad = enclosing("a");
        name.clone_into(&mut bad.files[1].name);
        assert!(permanent(mailer.send(&bad).await).contains("not a valid file name"), "{name:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
