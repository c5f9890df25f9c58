//! All integrations hang, and the shop notices nothing but the words for it.

use simulator::peers::Mood;
use simulator::peers::broker::MqttBroker;
use simulator::peers::detector::Detector;
use simulator::peers::farm_ui::FarmUi;
use simulator::peers::workflow::WorkflowAutomation;
use simulator::sink::{Mode, Sink};
use simulator::{Fleet, FleetOptions, PrinterKind};

use super::{degraded, quick, runs_low};
use crate::support::{Db, until};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shop_works_while_all_of_them_hang() {
    let (flow, farm) = (WorkflowAutomation::start(None).await.unwrap(), FarmUi::start(None).await.unwrap());
    let (detector, broker) = (Detector::start(None).await.unwrap(), MqttBroker::start(None).await.unwrap());
    let (gateway, parts) = (Sink::start().await.unwrap(), Sink::start().await.unwrap());
    let hang = |mood: Mood, mode: Mode| {
        flow.set_mood(mood);
        farm.set_mood(mood);
        detector.set_mood(mood);
        broker.set_deaf(mood == Mood::Hanging);
        gateway.set_mode(mode.clone());
        parts.set_mode(mode);
    };
    hang(Mood::Hanging, Mode::Hang);
    let app = quick(Db::sqlite())
        .env("WORKFLOW_URL", flow.url())
        .env("FARM_UI_URL", farm.url())
        .env("FAILURE_DETECTION_URL", detector.url())
        .env("SMART_HOME_MQTT_URL", broker.url())
        .env("AGENT_URL", gateway.url())
        .env("AGENT_TOKEN", "t")
        .env("PARTS_URL", parts.url())
        .start()
        .await;
    let fleet = Fleet::start(FleetOptions { speed: 2_000.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 2) });
    let fleet = fleet.await.unwrap();
    for sim in &fleet.printers {
        app.printer(sim).await;
    }
    let material = app.material("PLA black", 1000.0).await;
    let file = app.gcode("part", 600, 10.0).await;
    let sku = app.sku("PART", &material, &file, 100).await;
    runs_low(&app, "PETG").await;
    for _ in 0..3 {
        let order = app.paid_order(&sku, 2).await;
        app.order_is(&order, "ready").await;
    }
    until("all to be named", || async {
        let words = degraded(&app).await;
        let named = ["(workflow)", "(farm_ui)", "(smart_home)", "(agent)", "(parts)"];
        named.iter().all(|name| words.iter().any(|words| words.contains(name))).then_some(())
    })
    .await;
    let ready = app.get("/readyz").await.expect(200);
    assert_eq!(ready["status"], "degraded");

    // Once they answer, what must not be lost has waited.
    hang(Mood::Well, Mode::Ok);
    until("every event", || async {
        let told = flow.received();
        (told.iter().filter(|event| event["event"] == "order.ready").count() == 3).then_some(())
    })
    .await;
    let told = flow.received();
    assert_eq!(told.iter().filter(|event| event["event"] == "LOW_STOCK").count(), 1);
    until("the states", || async {
        broker.retained().contains_key("homeassistant/device/printfloor_shop/config").then_some(())
    })
    .await;
}
