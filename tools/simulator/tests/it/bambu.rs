use rumqttc::{ConnectReturnCode, mqttbytes::v4::Packet};
use serde_json::{Value, json};
use simulator::{
    bambu::setup::{BambuModel, DeveloperMode, Hms, Tray},
    faults::FailAt,
    gcode::{gcode, orca_gcode, package, package::package_using, package_of},
    printer::PhysicalEvent,
};

use super::lan::{CODE, Lan, Mqtt, PART, SERIAL, lan, start_of, until};

/// Speed at which a print lasts until the test ends it.
const SLOW: f64 = 1.0;
/// Speed at which any print takes only a moment.
const FAST: f64 = 2_000.0;
const CANCELLED: u32 = 0x0300_400C;

#[tokio::test]
async fn nothing_is_reported_until_everything_is_asked_for() {
    let lan = lan(SLOW).await;
    let mut mqtt = lan.mqtt().await;
    lan.setup(|setup| setup.hms.push(Hms { attr: 0x0300_1200, code: 0x0002_0001 }));
    mqtt.send(Packet::PingReq).await;
    assert_eq!(mqtt.packet().await, Some(Packet::PingResp));
    let report = mqtt.everything().await;
    assert_eq!(report["gcode_state"], "IDLE");
    assert_eq!(report["hms"], json!([{"attr": 0x0300_1200, "code": 0x0002_0001}]));
    assert_eq!(report["ams"]["ams"][0]["tray"][2]["tray_color"], "FF7A1AFF");
    assert_eq!((&report["mc_percent"], &report["vt_tray"]["id"]), (&json!(0), &json!("254")));
    let version = mqtt.command("info", json!({"command": "get_version"})).await;
    assert_eq!((&version["module"][0]["name"], &version["module"][0]["sn"]), (&json!("ota"), &json!(SERIAL)));
}

#[tokio::test]
async fn a_package_is_uploaded_and_printed_and_its_ids_are_reported() {
    let lan = lan(FAST).await;
    let mut ftp = lan.ftp().await;
    let bytes = package("part", 600, 4.0, 1320.0);
    assert_eq!(ftp.upload(PART, &bytes).await, 226);
    assert_eq!(ftp.say(&format!("SIZE {PART}")).await, (213, bytes.len().to_string()));

    let mut mqtt = lan.mqtt().await;
    mqtt.everything().await;
    lan.printer.set_speed(SLOW);
    let answer = mqtt.start("4711").await;
    assert_eq!((&answer["result"], &answer["subtask_id"]), (&json!("success"), &json!("4711")));
    mqtt.until_state("PREPARE").await;
    assert_eq!((&mqtt.state["subtask_id"], &mqtt.state["gcode_file"]), (&json!("4711"), &json!(PART)));
    assert_eq!((&mqtt.state["mc_remaining_time"], &mqtt.state["total_layer_num"]), (&json!(10), &json!(10)));
    assert_eq!((&mqtt.state["bed_target_temper"], &mqtt.state["tray_now"]), (&json!(80.0), &Value::Null));
    assert_eq!(mqtt.state["ams"]["tray_now"], "254");
    lan.printer.set_speed(100.0);
    mqtt.until_state("RUNNING").await;
    mqtt.until("a layer", |report| report["layer_num"].as_u64().unwrap() > 1).await;
    mqtt.until_state("FINISH").await;
    assert_eq!((&mqtt.state["mc_percent"], &mqtt.state["subtask_id"]), (&json!(100), &json!("4711")));
    assert_eq!(lan.started(), 1);
    assert_eq!(lan.count(|what| matches!(what, PhysicalEvent::Finished { filename } if filename == PART)), 1);
    assert_eq!(ftp.say(&format!("DELE {PART}")).await.0, 250);
    assert!(!ftp.list("LIST").await.contains(PART));
}

#[tokio::test]
async fn a_print_that_is_over_at_once_is_told_nevertheless() {
    let lan = Lan::with_part(1e9, 600).await;
    let mut mqtt = lan.mqtt().await;
    mqtt.everything().await;
    // The reports may come before the answer.
    mqtt.request("print", start_of(PART, "5")).await;
    mqtt.until_state("RUNNING").await;
    assert_eq!(mqtt.state["subtask_id"], "5");
    mqtt.until_state("FINISH").await;
}

#[tokio::test]
async fn the_old_end_stays_for_a_while_although_the_ids_are_new() {
    let lan = Lan::with_part(FAST, 600).await;
    let mut mqtt = lan.mqtt().await;
    mqtt.everything().await;
    mqtt.start("1").await;
    mqtt.until_state("FINISH").await;
    lan.setup(|setup| setup.old_state_ms = 600);
    mqtt.start("2").await;
    mqtt.until("the new id", |report| report["subtask_id"] == "2").await;
    assert_eq!(mqtt.state["gcode_state"], "FINISH");
    mqtt.until_state("RUNNING").await;
    mqtt.until_state("FINISH").await;
    assert_eq!(lan.started(), 2);
}

#[tokio::test]
async fn a_busy_printer_refuses_and_an_a1_mini_gives_its_print_up() {
    let lan = Lan::with_part(SLOW, 600).await;
    let mut mqtt = lan.mqtt().await;
    mqtt.everything().await;
    mqtt.start("1").await;
    let refused = mqtt.start("2").await;
    assert_eq!((&refused["result"], &refused["err_code"]), (&json!("failed"), &json!(0x0500_4004)));
    mqtt.until("the error", |report| report["print_error"] == 0x0500_4004).await;
    assert_eq!(mqtt.state["subtask_id"], "1");
    assert_eq!(mqtt.command("print", json!({"command": "clean_print_error"})).await["result"], "success");
    mqtt.until("no error", |report| report["print_error"] == 0).await;
    lan.setup(|setup| setup.model = BambuModel::A1Mini);
    assert_eq!(mqtt.start("3").await["result"], "failed");
    mqtt.until_state("FAILED").await;
    assert_eq!((lan.started(), lan.count(|what| matches!(what, PhysicalEvent::Cancelled { .. }))), (1, 1));
}

#[tokio::test]
async fn pause_resume_and_stop_are_answered_and_a_cancel_is_told_from_a_failure() {
    let lan = Lan::with_part(SLOW, 600).await;
    let mut mqtt = lan.mqtt().await;
    mqtt.everything().await;
    assert_eq!(mqtt.command("print", json!({"command": "pause", "param": ""})).await["result"], "failed");
    mqtt.start("1").await;
    assert_eq!(mqtt.command("print", json!({"command": "pause", "param": ""})).await["result"], "success");
    mqtt.until_state("PAUSE").await;
    assert_eq!(mqtt.command("print", json!({"command": "resume", "param": ""})).await["result"], "success");
    mqtt.until_state("PREPARE").await;
    assert_eq!(mqtt.command("print", json!({"command": "stop", "param": ""})).await["result"], "success");
    mqtt.until("a cancel", |report| report["gcode_state"] == "FAILED" && report["print_error"] == CANCELLED).await;
    mqtt.until("the error to pass", |report| report["print_error"] == 0).await;
    assert_eq!(mqtt.state["gcode_state"], "FAILED");

    lan.printer.update_faults(|faults| faults.fail_at = Some(FailAt { progress: 0.5 }));
    lan.printer.set_speed(FAST);
    mqtt.start("2").await;
    let failed = |report: &Value| report["gcode_state"] == "FAILED" && report["subtask_id"] == "2";
    mqtt.until("a failure", failed).await;
    assert!(![json!(0), json!(CANCELLED)].contains(&mqtt.state["print_error"]), "{}", mqtt.state["print_error"]);
}

#[tokio::test]
async fn a_mapping_that_the_spools_do_not_serve_pauses_the_print() {
    let lan = lan(SLOW).await;
    let code = orca_gcode("sign", 600, 4.0, 1320.0);
    lan.printer.put_file(PART, package_using(&[(&code, &[1, 3])]));
    lan.setup(|setup| setup.ams[0].trays[1] = None);
    let mut mqtt = lan.mqtt().await;
    mqtt.everything().await;
    // Filament 3 is unresolved: that is not the outside spool.
    for (mapping, error) in
        [(json!([0, -1, -1]), 0x0700_8012), (json!([0, -1, 1]), 0x0700_8012), (json!([0, 9, 5]), 0x0701_8012)]
    {
        let mut start = start_of(PART, "1");
        (start["use_ams"], start["ams_mapping"]) = (true.into(), mapping);
        assert_eq!(mqtt.command("print", start).await["result"], "success");
        mqtt.until("a pause", |report| report["gcode_state"] == "PAUSE" && report["print_error"] == error).await;
        mqtt.command("print", json!({"command": "stop"})).await;
        mqtt.until_state("FAILED").await;
    }
    let mut start = start_of(PART, "2");
    (start["use_ams"], start["ams_mapping"]) = (true.into(), json!([0, -1, 1]));
    mqtt.command("print", start).await;
    mqtt.until_state("PAUSE").await;
    lan.setup(|setup| setup.ams[0].trays[1] = Some(Tray::default()));
    mqtt.command("print", json!({"command": "resume"})).await;
    mqtt.until("it to go on", |report| report["gcode_state"] == "PREPARE" && report["print_error"] == 0).await;
    assert_eq!(mqtt.state["ams"]["tray_now"], "0");
}

#[tokio::test]
async fn some_models_report_only_what_has_changed() {
    let lan = Lan::with_part(SLOW, 600).await;
    lan.setup(|setup| setup.model = BambuModel::P1);
    let mut mqtt = lan.mqtt().await;
    let whole = mqtt.everything().await;
    assert!(whole.get("fun").is_none());
    mqtt.request("system", json!({"command": "ledctrl", "led_node": "chamber_light", "led_mode": "off"})).await;
    let change = loop {
        let message = mqtt.message().await;
        if message["print"]["lights_report"].is_array() {
            break message["print"].clone();
        }
    };
    assert_eq!((&change["msg"], change.get("gcode_state")), (&json!(1), None));
    assert_eq!(mqtt.start("1").await["result"], "SUCCESS");
    mqtt.until_state("PREPARE").await;
    assert_eq!(mqtt.state["subtask_id"], "1");
    let tray = &mqtt.state["ams"]["ams"][0]["tray"][0];
    assert_eq!(tray["tray_info_idx"], "GFA00", "what did not change is still there");
}

#[tokio::test]
async fn without_developer_mode_commands_are_refused_or_dropped() {
    let lan = Lan::with_part(SLOW, 600).await;
    let needs_signature =
        |report: &Value| u64::from_str_radix(report["fun"].as_str().unwrap(), 16).unwrap() & 0x2000_0000 != 0;
    let mut mqtt = lan.mqtt().await;
    assert!(!needs_signature(&mqtt.everything().await));
    lan.setup(|setup| setup.developer_mode = DeveloperMode::Refused);
    assert!(needs_signature(&mqtt.everything().await));
    let refused = mqtt.start("1").await;
    assert_eq!((&refused["result"], &refused["reason"]), (&json!("failed"), &json!("mqtt message verify failed")));
    mqtt.until("the message", |report| report["hms"] == json!([{"attr": 0x0500_0500, "code": 0x0001_0007}])).await;
    lan.setup(|setup| setup.developer_mode = DeveloperMode::Dropped);
    let dropped = mqtt.request("print", start_of(PART, "2")).await;
    let number = mqtt.request("info", json!({"command": "get_version"})).await;
    loop {
        let message = mqtt.message().await;
        assert!(message["print"]["command"] == "push_status" || message["print"]["sequence_id"] != *dropped);
        if message["info"]["sequence_id"] == *number {
            break;
        }
    }
    assert_eq!(lan.started(), 0);
}

#[tokio::test]
async fn a_wrong_code_is_refused_and_a_wrong_serial_number_stays_silent() {
    let lan = Lan::with_part(SLOW, 600).await;
    assert_eq!(Mqtt::connect(&lan, "87654321").await.err(), Some(ConnectReturnCode::NotAuthorized));
    lan.setup(|setup| setup.refusal = 4);
    assert_eq!(Mqtt::connect(&lan, "87654321").await.err(), Some(ConnectReturnCode::BadUserNamePassword));
    let mut wrong = Mqtt::connect(&lan, CODE).await.unwrap();
    wrong.subscribe("01S00A999999").await;
    let mut right = lan.mqtt().await;
    right.everything().await;
    right.start("1").await;
    wrong.send(Packet::PingReq).await;
    assert_eq!(wrong.packet().await, Some(Packet::PingResp));

    lan.setup(|setup| setup.max_clients = Some(2));
    assert_eq!(Mqtt::connect(&lan, CODE).await.err(), Some(ConnectReturnCode::ServiceUnavailable));
    drop(wrong);
    until("the place to be free", || lan.bambu.clients() == 1).await;
    let mut other = lan.mqtt().await;
    lan.printer.update_faults(|faults| faults.wrong_key = true);
    assert_eq!(other.packet().await, None, "sessions end with the code");
}

#[tokio::test]
async fn the_certificate_names_the_printer_and_stays_until_it_is_renewed() {
    let lan = lan(SLOW).await;
    let (first, again) = (lan.mqtt().await.certificate(), lan.mqtt().await.certificate());
    assert_eq!(first, again);
    assert!(first.windows(SERIAL.len()).any(|part| part == SERIAL.as_bytes()));
    lan.setup(|setup| setup.other_certificate = true);
    assert_ne!(lan.mqtt().await.certificate(), first);
}

#[tokio::test]
async fn a_project_that_is_no_good_fails_before_anything_moves() {
    let lan = Lan::with_part(SLOW, 600).await;
    lan.printer.put_file("text.gcode.3mf", gcode("text", 60, 1.0, 300.0));
    let mut mqtt = lan.mqtt().await;
    mqtt.everything().await;
    let mut other_plate = start_of(PART, "1");
    other_plate["param"] = "Metadata/plate_2.gcode".into();
    let mut wrong_sum = start_of(PART, "2");
    wrong_sum["md5"] = "0".repeat(32).into();
    let cases = [
        (other_plate, 0x0500_4003),
        (wrong_sum, 0x0500_4003),
        (start_of("text.gcode.3mf", "3"), 0x0500_4003),
        (start_of("my part.gcode.3mf", "4"), 0x0500_4002),
    ];
    for (start, error) in cases {
        let id = start["subtask_id"].clone();
        assert_eq!(mqtt.command("print", start).await["result"], "success");
        mqtt.until("preparation", |report| report["gcode_state"] == "PREPARE" && report["subtask_id"] == id).await;
        mqtt.until("the error", |report| report["gcode_state"] == "FAILED" && report["print_error"] == error).await;
    }
    let mut number = start_of(PART, "5");
    number["use_ams"] = 0.into();
    assert_eq!(mqtt.command("print", number).await["result"], "failed");
    assert_eq!(lan.started(), 0);
}

#[tokio::test]
async fn the_chosen_plate_is_printed() {
    let lan = lan(SLOW).await;
    let (lid, sign) = (orca_gcode("lid", 600, 4.0, 1320.0), orca_gcode("sign", 1200, 12.5, 4125.0));
    lan.printer.put_file(PART, package_of(&[&lid, &sign]));
    let mut mqtt = lan.mqtt().await;
    mqtt.everything().await;
    let mut start = start_of(PART, "1");
    start["param"] = "Metadata/plate_2.gcode".into();
    mqtt.command("print", start).await;
    mqtt.until("its time", |report| report["mc_remaining_time"] == 20).await;
}

#[tokio::test]
async fn a_file_that_was_left_starts_by_itself_after_a_power_cycle() {
    let lan = Lan::with_part(FAST, 600).await;
    lan.setup(|setup| setup.starts_left_files = true);
    let mut mqtt = lan.mqtt().await;
    mqtt.everything().await;
    mqtt.start("77").await;
    mqtt.until_state("FINISH").await;
    lan.printer.set_speed(200.0);
    lan.printer.reboot(false);
    // The connection is cut with the power.
    while mqtt.packet().await.is_some() {}
    until("the start", || lan.started() == 2).await;
    let mut again = lan.mqtt().await;
    let report = again.everything().await;
    assert_eq!((&report["subtask_id"], &report["gcode_file"]), (&json!("0"), &json!(PART)));
}

#[tokio::test]
async fn a_connection_that_hangs_is_over_when_it_no_longer_does() {
    let lan = Lan::with_part(SLOW, 600).await;
    let mut mqtt = lan.mqtt().await;
    mqtt.everything().await;
    lan.printer.update_faults(|faults| faults.hang = true);
    while mqtt.pongs().await {}
    mqtt.request("print", start_of(PART, "1")).await;
    lan.printer.update_faults(|faults| faults.hang = false);
    while mqtt.packet().await.is_some() {}
    assert_eq!(lan.started(), 0);
}
