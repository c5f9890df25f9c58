//! The mail server among the integrations: its state follows from the emails that it accepts.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use super::runs_low;
use crate::api::{signed_in, staff};
use crate::support::{App, Db, until};

/// A mail server that takes mails, or refuses them for a while.
struct MailServer {
    address: SocketAddr,
    refuses: Arc<AtomicBool>,
}

impl MailServer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, refuses) = (listener.local_addr().unwrap(), Arc::new(AtomicBool::new(false)));
        let refusing = refuses.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, refusing.clone()));
            }
        });
        Self { address, refuses }
    }
}

async fn serve(mut socket: TcpStream, refuses: Arc<AtomicBool>) -> Option<()> {
    let (read, mut write) = socket.split();
    let mut lines = BufReader::new(read).lines();
    write.write_all(b"220 test\r\n").await.ok()?;
    while let Some(line) = lines.next_line().await.ok()? {
        let answer = match line.split([' ', ':']).next().unwrap_or_default() {
            "RCPT" if refuses.load(Relaxed) => "451 later",
            "DATA" => {
                write.write_all(b"354 go on\r\n").await.ok()?;
                while lines.next_line().await.ok()?? != "." {}
                "250 taken"
            }
            _ => "250 ok",
        };
        write.write_all(format!("{answer}\r\n").as_bytes()).await.ok()?;
    }
    None
}

/// Returns the mail server as the API shows it.
async fn view_of(app: &App) -> Value {
    let body = app.get("/api/integrations").await.expect(200);
    body["integrations"].as_array().unwrap().iter().find(|one| one["kind"] == "smtp").unwrap().clone()
}

#[tokio::test]
async fn the_mail_server_is_shown_with_when_it_last_took_a_mail() {
    let post = MailServer::start().await;
    let app = App::on(Db::sqlite())
        .env("SMTP_HOST", post.address.ip())
        .env("SMTP_PORT", post.address.port())
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
        .env("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", 0)
        .start()
        .await;
    let view = view_of(&app).await;
    assert_eq!((&view["configured"], &view["lastOkAt"]), (&json!(true), &Value::Null), "nothing was sent: {view}");
    runs_low(&app, "PLA red").await;
    let after_first = until("a mail to be taken", || async {
        let view = view_of(&app).await;
        view["lastOkAt"].is_string().then_some(view)
    })
    .await;
    assert_eq!((&after_first["failures"], &after_first["error"]), (&json!(0), &Value::Null), "{after_first}");
    post.refuses.store(true, Relaxed);
    runs_low(&app, "PLA blue").await;
    let failing = until("the refusal to be shown", || async {
        let view = view_of(&app).await;
        view["error"].is_string().then_some(view)
    })
    .await;
    assert_eq!((&failing["failures"], &failing["lastOkAt"]), (&json!(1), &after_first["lastOkAt"]), "{failing}");
    staff(&app, "boss@example.org", "admin").await;
    let page = signed_in(&app, "boss@example.org").await.get("/shop/settings/integrations").await;
    for words in [
        "Mail server",
        "Failing",
        "Last successful response: ",
        "transient error (451): later",
        "Queue and shared store",
    ] {
        assert!(page.text.contains(words), "{words} in {}", page.text);
    }
}
