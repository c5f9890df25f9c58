//! The smart home with a real broker (Debian's Mosquitto), read by a third-party client. Skipped if the program is not
//! installed and services are not required.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rumqttc::{AsyncClient, Event, MqttOptions, Packet, QoS};
use serde_json::Value;

use super::quick;
use crate::support::database::services_wanted;
use crate::support::ports::free_port;
use crate::support::{Db, until};

/// Environment variable that is set if `mosquitto` is installed.
const LAN_SERVERS: &str = "PRINTFLOOR_TEST_LAN_SERVERS";

struct Mosquitto {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn mosquitto() -> Option<Mosquitto> {
    if std::env::var_os(LAN_SERVERS).is_none() {
        assert!(!services_wanted(), "{LAN_SERVERS} is not set");
        eprintln!("left out: no {LAN_SERVERS}");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let settings = folder.path().join("mosquitto.conf");
    std::fs::write(&settings, format!("listener {port} 127.0.0.1\nallow_anonymous true\nuser root\n")).unwrap();
    let mut command = Command::new("/usr/sbin/mosquitto");
    let process = command.arg("-c").arg(settings).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let running = Mosquitto { process, port, _folder: folder };
    until("mosquitto", || async { tokio::net::TcpStream::connect(("127.0.0.1", port)).await.ok() }).await;
    Some(running)
}

#[tokio::test]
async fn a_real_broker_takes_descriptions_states_and_the_last_word() {
    let Some(broker) = mosquitto().await else { return };
    let mut options = MqttOptions::new("foreign", "127.0.0.1", broker.port);
    options.set_keep_alive(Duration::from_secs(5));
    let (client, mut events) = AsyncClient::new(options, 100);
    client.subscribe("#", QoS::AtLeastOnce).await.unwrap();
    let messages: Arc<Mutex<BTreeMap<String, Bytes>>> = Arc::default();
    let keeps = messages.clone();
    tokio::spawn(async move {
        while let Ok(event) = events.poll().await {
            if let Event::Incoming(Packet::Publish(message)) = event {
                keeps.lock().unwrap().insert(message.topic, message.payload);
            }
        }
    });
    let payload = |topic: &str| messages.lock().unwrap().get(topic).cloned();
    let mut app =
        quick(Db::sqlite()).env("SMART_HOME_MQTT_URL", format!("mqtt://127.0.0.1:{}", broker.port)).start().await;
    let config = "homeassistant/device/printfloor_shop/config";
    let config = until("the description of the shop", || async { payload(config) }).await;
    let config: Value = bounded_json::read(&config, bounded_json::REQUEST).unwrap();
    let state = config["cmps"]["printing"]["stat_t"].as_str().unwrap().to_owned();
    let state = until("its state", || async { payload(&state) }).await;
    let state: Value = bounded_json::read(&state, bounded_json::REQUEST).unwrap();
    assert_eq!((&state["state"], &state["printing"]), (&Value::from("idle"), &Value::from(0)));
    let is = async |words: &str| {
        until(words, || async { (payload("printfloor/status")? == words).then_some(()) }).await;
    };
    is("online").await;
    app.kill_9();
    is("offline").await;
    app.start().await;
    is("online").await;
    drop(client);
}
