#![expect(clippy::unwrap_used, reason = "tests")]
use std::fs;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::*;

mod enclosed;
mod injected;
mod service;

fn message(id: &str) -> Message {
    Message {
        id: id.into(),
        written_at: Timestamp::from_second(1_700_000_000).unwrap(),
        to: vec!["Anna <anna@example.com>".into(), "bob@example.org".into()],
        subject: "Your order is on its way è".into(),
        text: "Hello\n.\n.dot\nfrom us: è\n".into(),
        html: None,
        files: Vec::new(),
    }
}

fn from() -> &'static str {
    "Print Shop <shop@prints.example>"
}

fn permanent(result: Result<(), MailError>) -> String {
    match result {
        Err(MailError::Permanent { reason }) => reason,
        other => panic!("{other:?}"),
    }
}

fn rejected(result: Result<(), MailError>) -> String {
    match result {
        Err(MailError::Rejected { reason }) => reason,
        other => panic!("{other:?}"),
    }
}

fn transient(result: Result<(), MailError>) -> String {
    match result {
        Err(MailError::Transient { reason }) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_outbox_keeps_one_file_for_each_message() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("data/outbox");
    let mailer: Box<dyn Mailer> = Box::new(FileOutbox::new(&folder, from()).unwrap());
    mailer.send(&message("0190-a")).await.unwrap();
    let first = fs::read(folder.join("0190-a.eml")).unwrap();
    mailer.send(&message("0190-a")).await.unwrap();
    mailer.send(&message("0190-b")).await.unwrap();

    let mut names: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["0190-a.eml", "0190-b.eml"]);
    assert_eq!(fs::read(folder.join("0190-a.eml")).unwrap(), first, "a repeat is the same");
    let text = String::from_utf8(first).unwrap();
    for line in [
        "Message-ID: <0190-a@prints.example>\r\n",
        "From: \"Print Shop\" <shop@prints.example>\r\n",
        "To: Anna <anna@example.com>, bob@example.org\r\n",
        "Date: Tue, 14 Nov 2023 22:13:20 +0000\r\n",
        "Content-Type: text/plain; charset=utf-8\r\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[tokio::test]
async fn a_message_with_html_has_both_forms_and_is_the_same_on_every_try() {
    let folder = tempfile::tempdir().unwrap();
    let mailer = FileOutbox::new(folder.path(), from()).unwrap();
    let both =
        Message { html: Some("<p><a href=\"https://shop.example/docs/\">Add stock</a></p>".into()), ..message("b") };
    mailer.send(&both).await.unwrap();
    let first = fs::read_to_string(folder.path().join("b.eml")).unwrap();
    mailer.send(&both).await.unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("b.eml")).unwrap(), first);
    for line in ["multipart/alternative", "Content-Type: text/plain", "Content-Type: text/html", "boundary=\"part-b\""]
    {
        assert!(first.contains(line), "{line} in {first}");
    }
}

#[tokio::test]
async fn the_same_message_written_at_once_by_many_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mailer = FileOutbox::new(folder.path(), from()).unwrap();
    let message = message("0190-a");
    let results = futures::future::join_all((0..20).map(|_| mailer.send(&message))).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_a_transient_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("outbox");
    fs::write(&file, "in the way").unwrap();
    let mailer = FileOutbox::new(&file, from()).unwrap();
    assert!(transient(mailer.send(&message("a")).await).starts_with("the outbox directory is not writable"));
}

#[tokio::test]
async fn messages_that_nobody_could_send_are_permanent_errors() {
    let folder = tempfile::tempdir().unwrap();
    let mailer = FileOutbox::new(folder.path(), from()).unwrap();
    for id in ["", "../up", "a/b", ".hidden", "a b", "a>\r\nBcc: x", &"x".repeat(129)] {
        assert!(permanent(mailer.send(&message(id)).await).contains("not a valid message ID"), "{id}");
    }
    let bad = Message { subject: "Hi\r\nBcc: eve@example.com".into(), ..message("a") };
    assert_eq!(permanent(mailer.send(&bad).await), "the subject must be one line");
    let bad = Message { to: Vec::new(), ..message("a") };
    assert_eq!(permanent(mailer.send(&bad).await), "the message has no recipient");
    let bad = Message { to: vec!["nobody".into()], ..message("a") };
    assert_eq!(permanent(mailer.send(&bad).await), "\"nobody\" is not a valid email address");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(matches!(FileOutbox::new(folder.path(), "nobody"), Err(MailError::Settings { .. })));
}

/// Scripted replies from a mail server, which accepts everything else.
#[derive(Clone, Copy)]
struct Script {
    offers: &'static str,
    auth: &'static str,
    rcpt: &'static str,
    end: &'static str,
}

const FRIENDLY: Script = Script { offers: "SMTPUTF8", auth: "235 ok", rcpt: "250 ok", end: "250 taken" };

/// Unencrypted fake mail server that records every command and message.
struct Server {
    address: SocketAddr,
    commands: Arc<Mutex<Vec<String>>>,
    mails: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(script: Script) -> Self {
        platform::tls::install_provider();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (commands, mails) = <(Arc<Mutex<Vec<String>>>, Arc<Mutex<Vec<String>>>)>::default();
        let (command_log, mail_log) = (commands.clone(), mails.clone());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, script, command_log.clone(), mail_log.clone()));
            }
        });
        Self { address, commands, mails }
    }

    fn count_commands(&self, start: &str) -> usize {
        self.commands.lock().unwrap().iter().filter(|line| line.starts_with(start)).count()
    }
}

async fn serve(
    mut socket: TcpStream,
    script: Script,
    command_log: Arc<Mutex<Vec<String>>>,
    mail_log: Arc<Mutex<Vec<String>>>,
) -> Option<()> {
    let (read, mut write) = socket.split();
    let mut lines = BufReader::new(read).lines();
    write.write_all(b"220 test\r\n").await.ok()?;
    while let Some(line) = lines.next_line().await.ok()? {
        command_log.lock().unwrap().push(line.clone());
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_uppercase();
        let answer = match verb.as_str() {
            "EHLO" => format!("250-test\r\n250 {}", script.offers),
            "AUTH" => script.auth.into(),
            "RCPT" => script.rcpt.into(),
            "STARTTLS" => "454 not now".into(),
            "DATA" => {
                write.write_all(b"354 go on\r\n").await.ok()?;
                let mut mail = Vec::new();
                loop {
                    match lines.next_line().await.ok()?? {
                        line if line == "." => break,
                        line => mail.push(line),
                    }
                }
                mail_log.lock().unwrap().push(mail.join("\n"));
                script.end.into()
            }
            _ => "250 ok".into(),
        };
        write.write_all(format!("{answer}\r\n").as_bytes()).await.ok()?;
    }
    None
}

fn settings(address: SocketAddr) -> SmtpSettings {
    SmtpSettings {
        host: "127.0.0.1".into(),
        port: address.port(),
        encryption: Encryption::WhenOffered,
        credentials: None,
        from: from().into(),
        timeout: Duration::from_secs(10),
    }
}

fn smtp(server: &Server) -> Smtp {
    Smtp::new(settings(server.address)).unwrap()
}

#[tokio::test]
async fn a_message_reaches_all_receivers_with_a_stable_id() {
    let server = Server::start(FRIENDLY).await;
    let mailer: Box<dyn Mailer> = Box::new(smtp(&server));
    mailer.send(&message("0190-a")).await.unwrap();
    mailer.send(&message("0190-a")).await.unwrap();
    let mails = server.mails.lock().unwrap().clone();
    assert_eq!(mails.len(), 2);
    assert_eq!(mails[0], mails[1]);
    assert!(mails[0].contains("Message-ID: <0190-a@prints.example>"), "{}", mails[0]);
    assert_eq!(server.count_commands("MAIL FROM:<shop@prints.example>"), 2);
    assert_eq!(server.count_commands("RCPT TO:<anna@example.com>"), 2);
    assert_eq!(server.count_commands("RCPT TO:<bob@example.org>"), 2);
    assert_eq!(server.count_commands("AUTH"), 0);
    smtp(&server).check().await.unwrap();
}

#[tokio::test]
async fn refusals_of_the_message_are_rejections_and_postponements_transient() {
    for (script, fatal) in [
        (Script { rcpt: "550 no such user", ..FRIENDLY }, true),
        (Script { rcpt: "450 mailbox busy", ..FRIENDLY }, false),
        (Script { end: "554 looks like spam", ..FRIENDLY }, true),
        (Script { end: "452 out of space", ..FRIENDLY }, false),
    ] {
        let server = Server::start(script).await;
        let result = smtp(&server).send(&message("a")).await;
        let reason = if fatal { rejected(result) } else { transient(result) };
        let reply = if script.rcpt.starts_with("250") { script.end } else { script.rcpt };
        assert!(reason.contains(&reply[4..]), "{reason}");
    }
}

#[tokio::test]
async fn credentials_are_used_and_a_refused_login_does_not_cost_the_message() {
    let offers = Script { offers: "AUTH PLAIN LOGIN", ..FRIENDLY };
    for script in [offers, Script { auth: "535 bad credentials", ..offers }] {
        let server = Server::start(script).await;
        let credentials = Some(("shop".into(), "pw".into()));
        let mailer = Smtp::new(SmtpSettings { credentials, ..settings(server.address) }).unwrap();
        let result = mailer.send(&message("a")).await;
        // The base64 of \0shop\0pw.
        assert_eq!(server.count_commands("AUTH PLAIN AHNob3AAcHc="), 1);
        if script.auth.starts_with("235") {
            result.unwrap();
        } else {
            assert!(transient(result).contains("rejected the sign-in"));
            assert!(transient(mailer.check().await).contains("rejected the sign-in"));
        }
    }
}

#[tokio::test]
async fn nothing_is_sent_in_the_clear_where_encryption_is_required_or_was_offered() {
    let server = Server::start(FRIENDLY).await;
    let mailer = Smtp::new(SmtpSettings { encryption: Encryption::Required, ..settings(server.address) }).unwrap();
    let reason = transient(mailer.send(&message("a")).await);
    assert!(reason.contains("does not offer STARTTLS"), "{reason}");
    assert_eq!(server.count_commands("MAIL"), 0);

    let server = Server::start(Script { offers: "STARTTLS", ..FRIENDLY }).await;
    transient(smtp(&server).send(&message("a")).await);
    assert_eq!(server.count_commands("STARTTLS"), 1);
    assert_eq!(server.count_commands("MAIL"), 0);
}

#[tokio::test]
async fn implicit_tls_begins_with_a_handshake() {
    platform::tls::install_provider();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let first = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        socket.read_u8().await.unwrap()
    });
    let mailer = Smtp::new(SmtpSettings { encryption: Encryption::Implicit, ..settings(address) }).unwrap();
    transient(mailer.send(&message("a")).await);
    assert_eq!(first.await.unwrap(), 0x16, "the first byte of a TLS handshake");
}

#[tokio::test]
async fn a_server_that_is_away_or_silent_is_a_transient_error() {
    platform::tls::install_provider();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let quick = SmtpSettings { timeout: Duration::from_millis(200), ..settings(address) };
    let reason = transient(Smtp::new(quick.clone()).unwrap().send(&message("a")).await);
    assert!(reason.contains("within 0.2 s"), "{reason}");
    drop(listener);
    transient(Smtp::new(quick).unwrap().send(&message("a")).await);
}

#[test]
fn the_usual_ports_choose_their_encryption() {
    assert_eq!(Encryption::for_port(465), Encryption::Implicit);
    assert_eq!(Encryption::for_port(587), Encryption::Required);
    assert_eq!(Encryption::for_port(25), Encryption::WhenOffered);
}
