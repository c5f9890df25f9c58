//! The smart home: states over HTTP, which are restored after its restart, and devices through MQTT discovery.

use serde_json::{Value, json};
use simulator::peers::broker::MqttBroker;
use simulator::peers::smart_home::SimSmartHome;
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::{degraded, quick};
use crate::support::{App, Db, until};

const TOKEN: &str = "long-lived";

async fn one_printer(app: &App) -> (Fleet, String) {
    let fleet = Fleet::start(FleetOptions { speed: 1.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) });
    let fleet = fleet.await.unwrap();
    let printer = app.printer(&fleet.printers[0]).await;
    app.patch(&format!("/api/printers/{printer}"), &json!({"name": "Left"})).await.expect(200);
    (fleet, printer)
}

fn key(printer: &str) -> String {
    printer[printer.len() - 12..].to_owned()
}

#[tokio::test]
async fn states_are_shown_changed_taken_away_and_shown_anew_after_a_restart() {
    let home = SimSmartHome::start(TOKEN).await.unwrap();
    let app = quick(Db::sqlite()).env("SMART_HOME_URL", home.url()).env("SMART_HOME_TOKEN", TOKEN).start().await;
    let (_fleet, printer) = one_printer(&app).await;
    let entity = format!("sensor.printfloor_{}", key(&printer));
    let shows = async |state: &str| {
        until(state, || async {
            let entry = home.states().get(&entity).cloned()?;
            (entry["state"] == state && entry["attributes"]["friendly_name"] == "Left").then_some(entry)
        })
        .await
    };
    let idle = shows("idle").await;
    assert_eq!(idle["attributes"]["connection"], "connected");
    until("the shop", || async { home.states().get("sensor.printfloor_shop").cloned() }).await;
    let material = app.material("PLA black", 100.0).await;
    let file = app.gcode("part", 600, 10.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    app.paid_order(&sku, 1).await;
    shows("printing").await;
    until("the shop to print", || async {
        let shop = home.states().get("sensor.printfloor_shop").cloned()?;
        (shop["state"] == "printing" && shop["attributes"]["printing"] == 1).then_some(())
    })
    .await;

    home.restart();
    shows("printing").await;
    let other =
        json!({"name": "Right", "type": "fw_rest", "machineType": "fdm_standard", "baseUrl": "http://127.0.0.1:9"});
    let other = crate::api::id(&app.post("/api/printers", &other).await.expect(201));
    let gone = format!("sensor.printfloor_{}", key(&other));
    until("another printer", || async { home.states().get(&gone).cloned() }).await;
    app.send(app.request("DELETE", &format!("/api/printers/{other}"))).await.expect(204);
    until("it to be gone", || async { (!home.states().contains_key(&gone)).then_some(()) }).await;
}

#[tokio::test]
async fn a_wrong_token_is_said_in_words() {
    let home = SimSmartHome::start(TOKEN).await.unwrap();
    let app = quick(Db::sqlite()).env("SMART_HOME_URL", home.url()).env("SMART_HOME_TOKEN", "other").start().await;
    until("words", || async { degraded(&app).await.into_iter().find(|words| words.contains("rejects the token")) })
        .await;
    assert!(home.states().is_empty());
}

#[tokio::test]
async fn a_wrong_path_is_said_in_words() {
    let home = SimSmartHome::start(TOKEN).await.unwrap();
    let wrong = format!("{}/elsewhere", home.url().trim_end_matches('/'));
    let app = quick(Db::sqlite()).env("SMART_HOME_URL", wrong).env("SMART_HOME_TOKEN", TOKEN).start().await;
    until("words", || async { degraded(&app).await.into_iter().find(|words| words.contains("accepts no states")) })
        .await;
}

fn read_topic(broker: &MqttBroker, topic: &str) -> Option<Value> {
    broker.retained().get(topic).map(|payload| bounded_json::read(payload, bounded_json::REQUEST).unwrap())
}

#[tokio::test]
async fn devices_are_discovered_follow_the_printer_and_disappear() {
    let broker = MqttBroker::start(Some(("shop", "secret"))).await.unwrap();
    // Left behind by a printer that was deleted while the server was off, and somebody else's.
    let stale = "homeassistant/device/printfloor_0123456789ab/config";
    broker.publish(stale, b"{}", true);
    broker.publish("homeassistant/device/lamp/config", b"{}", true);
    let mut app = quick(Db::sqlite())
        .env("SMART_HOME_MQTT_URL", broker.url())
        .env("PRINTFLOOR_SMART_HOME__MQTT_USER", "shop")
        .env("SMART_HOME_MQTT_PASSWORD", "secret")
        .start()
        .await;
    let (_fleet, printer) = one_printer(&app).await;
    let key = key(&printer);
    let config = format!("homeassistant/device/printfloor_{key}/config");
    let device =
        until("the device", || async { read_topic(&broker, &config).filter(|config| config["dev"]["name"] == "Left") })
            .await;
    assert_eq!(device["cmps"]["progress"]["p"], "sensor");
    let state = device["cmps"]["state"]["stat_t"].as_str().unwrap().to_owned();
    until("its state", || async { read_topic(&broker, &state).filter(|message| message["state"] == "idle") }).await;
    let availability = device["cmps"]["state"]["avty_t"].as_str().unwrap().to_owned();
    let is = async |words: &str| {
        until(words, || async { (broker.retained().get(&availability)? == words).then_some(()) }).await;
    };
    is("online").await;
    until("what was left behind to be gone", || async { (!broker.retained().contains_key(stale)).then_some(()) }).await;
    assert!(broker.retained().contains_key("homeassistant/device/lamp/config"));

    // The smart home has started and may have forgotten everything: all is told anew.
    broker.publish(&config, b"", true);
    broker.publish("homeassistant/status", b"online", false);
    until("the device again", || async { read_topic(&broker, &config) }).await;

    // The broker forgets everything too.
    broker.restart();
    until("the device in a new session", || async { read_topic(&broker, &config).and(read_topic(&broker, &state)) })
        .await;
    is("online").await;

    app.kill_9();
    is("offline").await;
    app.start().await;
    is("online").await;
    app.send(app.request("DELETE", &format!("/api/printers/{printer}"))).await.expect(204);
    until("it to disappear", || async { (!broker.retained().contains_key(&config)).then_some(()) }).await;
}

#[tokio::test]
async fn a_broker_that_refuses_us_is_said_in_words() {
    let broker = MqttBroker::start(Some(("shop", "secret"))).await.unwrap();
    let app = quick(Db::sqlite()).env("SMART_HOME_MQTT_URL", broker.url()).start().await;
    until("words", || async {
        degraded(&app).await.into_iter().find(|words| words.contains("rejects the user name or password"))
    })
    .await;
}
