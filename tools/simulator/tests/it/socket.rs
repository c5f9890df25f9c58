//! Tests of the push sockets, with a minimal WebSocket client.

use serde_json::{Value, json};
use simulator::printer::PhysicalEvent;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::lab::{Lab, PATIENCE, fw, octo};

/// WebSocket connection that exchanges JSON text frames.
struct Socket(TcpStream);

impl Socket {
    async fn open(lab: &Lab, path: &str, key: Option<&str>) -> Self {
        let host = lab.base.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(host).await.unwrap();
        let key = key.map(|key| format!("X-Api-Key: {key}\r\n")).unwrap_or_default();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\n{key}Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        assert!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Self(stream)
    }

    async fn send(&mut self, message: Value) {
        let text = message.to_string();
        // A final text frame with a 16-bit length, masked with zeros, which leaves the text as it is.
        let mut frame = vec![0x81, 0xfe];
        frame.extend_from_slice(&u16::try_from(text.len()).unwrap().to_be_bytes());
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(text.as_bytes());
        self.0.write_all(&frame).await.unwrap();
    }

    async fn receive(&mut self) -> std::io::Result<Value> {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).await?;
        let length = match head[1] & 0x7f {
            126 => usize::from(self.0.read_u16().await?),
            127 => usize::try_from(self.0.read_u64().await?).unwrap(),
            short => usize::from(short),
        };
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await?;
        Ok(serde_json::from_slice(&body).unwrap_or(Value::Null))
    }

    /// Returns the next matching message.
    async fn expect(&mut self, condition: impl Fn(&Value) -> bool) -> Value {
        let search = async {
            loop {
                let message = self.receive().await.unwrap();
                if condition(&message) {
                    return message;
                }
            }
        };
        tokio::time::timeout(PATIENCE, search).await.unwrap()
    }

    async fn call(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params, "id": id})).await;
        self.expect(|message| message["id"] == id).await
    }

    /// Reads until the connection breaks.
    async fn broken(mut self) {
        let end = async { while self.receive().await.is_ok() {} };
        tokio::time::timeout(PATIENCE, end).await.unwrap();
    }
}

const ME: (&str, &str) = ("client_name", "test");

fn identity(key: &str) -> Value {
    json!({ME.0: ME.1, "version": "1", "type": "other", "url": "http://localhost", "api_key": key})
}

#[tokio::test]
async fn moonraker_pushes_what_changes_to_whom_it_knows() {
    let lab = fw(1000.0).await;
    let mut socket = Socket::open(&lab, "/websocket", None).await;
    assert_eq!(socket.call(1, "server.info", json!({})).await["error"]["code"], -32602, "who are you?");
    assert_eq!(socket.call(2, "server.connection.identify", identity("wrong")).await["error"]["code"], -32602);
    assert!(
        socket.call(3, "server.connection.identify", identity(&lab.printer.api_key)).await["result"]["connection_id"]
            .is_number()
    );
    assert!(
        socket.call(4, "server.connection.identify", identity(&lab.printer.api_key)).await.get("error").is_some(),
        "only once"
    );
    let snapshot = socket.call(5, "printer.objects.subscribe", json!({"objects": {"print_stats": null}})).await;
    assert_eq!(snapshot["result"]["status"]["print_stats"]["state"], "standby");
    lab.upload("a.gcode", 500).await;
    socket
        .expect(|message| {
            message["method"] == "notify_filelist_changed" && message["params"][0]["item"]["path"] == "a.gcode"
        })
        .await;
    assert_eq!(socket.call(6, "printer.print.start", json!({"filename": "a.gcode"})).await["result"], "ok");
    let state = |expected: &'static str| {
        move |message: &Value| {
            message["method"] == "notify_status_update" && message["params"][0]["print_stats"]["state"] == expected
        }
    };
    socket.expect(state("complete")).await;
    let history = lab.get("/server/history/list").await.1;
    assert_eq!(history["result"]["jobs"][0]["status"], "completed");
    lab.post("/printer/emergency_stop").await;
    socket.expect(|message| message["method"] == "notify_klippy_shutdown").await;
    lab.post("/printer/firmware_restart").await;
    socket.expect(|message| message["method"] == "notify_klippy_ready").await;
}

#[tokio::test]
async fn moonraker_sockets_break_with_the_connection() {
    let lab = fw(1.0).await;
    let mut socket = Socket::open(&lab, "/websocket", Some(&lab.printer.api_key)).await;
    assert_eq!(socket.call(1, "printer.info", json!({})).await["result"]["state"], "ready");
    lab.faults(|faults| faults.disconnect = true);
    socket.broken().await;
}

#[tokio::test]
async fn octoprint_pushes_after_a_passive_login() {
    let lab = octo(1000.0).await;
    let login = lab.post_json("/api/login", json!({"passive": true})).await.1;
    let mut socket = Socket::open(&lab, "/sockjs/websocket", None).await;
    socket.expect(|message| message.get("connected").is_some()).await;
    socket.send(json!({"auth": "lab:nonsense"})).await;
    socket.expect(|message| message.get("reauthRequired").is_some()).await;
    socket
        .send(json!({"auth": format!("{}:{}", login["name"].as_str().unwrap(), login["session"].as_str().unwrap())}))
        .await;
    socket.expect(|message| message.get("history").is_some()).await;
    lab.upload("a.gcode", 100).await;
    lab.start("a.gcode").await;
    socket.expect(|message| message["event"]["type"] == "PrintStarted").await;
    socket.expect(|message| message["event"]["type"] == "PrintDone").await;
    let current = socket
        .expect(|message| message.get("current").is_some() && message["current"]["progress"]["completion"] == 100.0)
        .await;
    assert_eq!(current["current"]["state"]["text"], "Operational");
    lab.logged(|what| matches!(what, PhysicalEvent::Finished { .. })).await;
}

#[tokio::test]
async fn a_call_over_http_subscribes_an_open_socket() {
    let lab = fw(1000.0).await;
    let mut socket = Socket::open(&lab, "/websocket", None).await;
    let identified = socket.call(1, "server.connection.identify", identity(&lab.printer.api_key)).await;
    let number = identified["result"]["connection_id"].as_u64().unwrap();
    let path = |number: u64| format!("/printer/objects/subscribe?connection_id={number}&print_stats=state&webhooks");
    let (status, body) = lab.post(&path(number)).await;
    assert_eq!((status.as_u16(), &body["result"]["status"]["print_stats"]), (200, &json!({"state": "standby"})));
    lab.upload("a.gcode", 500).await;
    lab.start("a.gcode").await;
    socket
        .expect(|message| {
            message["method"] == "notify_status_update" && message["params"][0]["print_stats"]["state"] == "printing"
        })
        .await;
    assert_eq!(lab.post(&path(number + 1_000_000)).await.0.as_u16(), 400, "no such connection");
    assert_eq!(lab.post("/printer/objects/subscribe?print_stats").await.0.as_u16(), 400, "which connection?");
}
