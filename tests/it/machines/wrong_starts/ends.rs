//! Printers that fall silent, reject the shop, or end a print unobserved: reported by name, once, and without guesses.

use serde_json::{Value, json};
use simulator::bambu::Bambu;
use simulator::bambu::setup::{BambuModel, DeveloperMode};
use simulator::printer::PhysicalEvent;

use super::super::delays::HELD;
use super::super::{FAST, Floor, JUDGE_LATE, JUDGE_SOON, PrinterKind, SLOW, attempts, judge_calmly, keyless, words};
use super::uploaded;
use crate::api::materials::mails;
use crate::support::{Db, until};

/// Setting that makes the server email each alert immediately and separately.
const NOT_GATHERED: (&str, &str) = ("PRINTFLOOR_MAIL__ALERT_INTERVAL_SECONDS", "0");
/// Setting with the recipient of alerts.
pub(super) const TO_SOMEBODY: (&str, &str) = ("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org");

each_kind! {
    #[drawn]
    async fn story_14_a_wrong_key_and_a_silent_printer_are_said_by_name_and_once(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_LATE, NOT_GATHERED, TO_SOMEBODY]).await;
        // Where no key is asked for, none can be wrong.
        let silent = usize::from(!keyless(kind));
        if silent == 1 {
            floor.faults(0, |faults| faults.wrong_key = true);
            floor.attention(0, "wrong_key", true).await;
        }
        for n in silent..2 {
            floor.faults(n, |faults| faults.disconnect = true);
            floor.attention(n, "unreachable", true).await;
        }
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        let reason = words(&waits, "waitingReason");
        if silent == 1 {
            assert!(reason.contains("is rejecting the API key") && reason.contains("is offline"), "{reason}");
            assert!(floor.status(0).await["message"].is_string(), "in the printer's own words");
        } else {
            assert!(reason.contains("2 printers are offline"), "{reason}");
        }
        // Tried on and on, and not told again.
        let name = |n: usize| format!("{} {}", kind.as_str(), floor.sim(n).serial);
        let mail = |n: usize| mails(&floor.app, &format!("Printer unreachable: {}", name(n))).len();
        until("both to be alerted", || async { (mail(0) == 1 && mail(1) == 1).then_some(()) }).await;
        for n in 0..2 {
            let before = floor.status(n).await["updatedAt"].clone();
            floor.status_until("another try", n, |status| status["updatedAt"] != before).await;
        }
        assert_eq!((mail(0), mail(1)), (1, 1), "once for each");
        assert_eq!(floor.events("printer.offline").await.len(), 2, "once for each");
        floor.faults(0, |faults| (faults.wrong_key, faults.disconnect) = (false, false));
        floor.faults(1, |faults| faults.disconnect = false);
        floor.app.order_is(&order, "ready").await;
        for n in 0..2 {
            floor.connection_is(n, "connected").await;
        }
        assert_eq!((mail(0), mail(1)), (1, 1));
        floor.truth().await;
    }

    #[long]
    async fn story_15_a_printer_that_refuses_everything_is_taken_out_and_says_so(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_SOON]).await;
        floor.faults(0, |faults| faults.refuse_start = true);
        let order = floor.order(2).await;
        floor.attention(0, "start_refused", true).await;
        let status = floor.status(0).await;
        assert!(words(&status, "attentionReason").contains("rejected 2 print starts in a row"), "{status}");
        // No job is lost to it.
        let waits = |job: &Value| {
            let why = job["waitingReason"].as_str();
            job["state"] == "SLICED" && why.is_some_and(|why| why.contains("is rejecting print starts"))
        };
        until("both jobs to wait and say why", || async {
            floor.app.jobs(&order).await.iter().all(waits).then_some(())
        })
        .await;
        assert_eq!(floor.started(0), 0);
        floor.faults(0, |faults| faults.refuse_start = false);
        floor.app.act(&floor.path(0, "/clear-attention")).await.expect(200);
        floor.physically("a part to be made", 0, |what| matches!(what, PhysicalEvent::Finished { .. })).await;
    }

    #[drawn]
    async fn story_16_a_finish_that_was_missed_is_found_and_nothing_is_invented(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        floor.hurry(0);
        floor.physically("the part to be done", 0, |what| matches!(what, PhysicalEvent::Finished { .. })).await;
        assert_eq!(floor.job(&job).await["state"], "PRINTING", "nobody knows yet");
        floor.faults(0, |faults| faults.disconnect = false);
        floor.app.order_is(&order, "ready").await;
        assert!((floor.used().await - 10.0).abs() < 0.001, "what the file and the printer say");
        // How long it took nobody saw, and the outage was no printing: its scrap counts no time.
        let scrap = async || {
            let insights = floor.app.get("/api/insights").await.expect(200);
            insights["quality"]["total"]["scrapSeconds"].clone()
        };
        let bad = json!({"goodCount": 0, "reason": "warping"});
        floor.app.post(&format!("/api/jobs/{job}/sign-off"), &bad).await.expect(200);
        assert_eq!(scrap().await, 0);
        // The part is made again.
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }

    #[long]
    async fn story_16_a_print_that_nobody_saw_has_no_beginning(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[judge_calmly(kind)]).await;
        floor.faults(0, |faults| faults.start_late = HELD);
        let (order, job) = floor.one().await;
        floor.start_arrived(0).await;
        floor.faults(0, |faults| faults.disconnect = true);
        // A report that is on its way when the connection ends would show the print after all.
        floor.connection_is(0, "unreachable").await;
        floor.end_delays(0);
        floor.physically("the part to be done", 0, |what| matches!(what, PhysicalEvent::Finished { .. })).await;
        floor.faults(0, |faults| faults.disconnect = false);
        if kind == PrinterKind::MqttLan {
            // That this type shows a print of ours as ended does not prove that it was this one: a person is asked.
            let doubted = |job: &Value| job["attempts"][0]["unverified"] == true;
            let asks = floor.job_until("a person to be asked", &job, doubted).await;
            assert_eq!(asks["attempts"][0]["startedAt"], Value::Null, "{asks}");
            return;
        }
        floor.app.order_is(&order, "ready").await;
        let done = floor.job(&job).await;
        assert_eq!((&done["attempts"][0]["state"], &done["attempts"][0]["startedAt"]), (&json!("finished"), &Value::Null), "{done}");
        assert!((floor.used().await - 10.0).abs() < 0.001);
        floor.truth().await;
    }
}

/// Uses a printer type that rejects commands until its owner allows other programs to send them: status reports and
/// uploads work, commands do not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn story_15_a_printer_that_can_only_be_read_is_given_nothing_and_says_why() {
    for mode in [DeveloperMode::Refused, DeveloperMode::Dropped] {
        let mut floor = Floor::empty(Db::sqlite(), PrinterKind::MqttLan, 1, FAST, &[JUDGE_LATE]).await;
        let bambu = Bambu::of(&floor.sim(0).handle).unwrap();
        bambu.change(|setup| (setup.model, setup.developer_mode) = (BambuModel::X1, mode));
        floor.printers.push(super::super::register(&floor.app, floor.sim(0), json!({})).await);
        floor.connection_is(0, "read_only").await;
        floor.attention(0, "read_only", true).await;
        let status = floor.status(0).await;
        assert!(words(&status, "message").contains("Developer Mode"), "{status}");
        let (order, job) = floor.one().await;
        let waits = floor.app.job_is(&job, "SLICED").await;
        assert!(words(&waits, "waitingReason").contains("is read-only"), "{waits}");
        assert_eq!((floor.count(0, uploaded), floor.started(0)), (0, 0));
        bambu.change(|setup| setup.developer_mode = DeveloperMode::On);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 1);
    }
}

/// Uses a model that does not report this mode: only a rejected command reveals it, until another one is accepted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn story_15_a_printer_that_refused_a_command_is_used_again_once_it_takes_them() {
    let floor = Floor::new(PrinterKind::MqttLan, 1, FAST, &[JUDGE_LATE]).await;
    let bambu = Bambu::of(&floor.sim(0).handle).unwrap();
    bambu.change(|setup| (setup.model, setup.developer_mode) = (BambuModel::A1Mini, DeveloperMode::Refused));
    let (order, job) = floor.one().await;
    floor.connection_is(0, "read_only").await;
    floor.attention(0, "read_only", true).await;
    let waits = floor.job(&job).await;
    assert!(!words(&waits, "waitingReason").contains("has not responded"), "{waits}");
    assert_eq!(floor.started(0), 0);
    let clients = bambu.clients();
    bambu.change(|setup| setup.developer_mode = DeveloperMode::On);
    floor.connection_is(0, "connected").await;
    assert_eq!(bambu.clients(), clients, "over the same connection");
    floor.app.act(&floor.path(0, "/clear-attention")).await.expect(200);
    floor.app.order_is(&order, "ready").await;
    assert_eq!(floor.started(0), 1);
}

/// Checks that a printer known to reject commands receives none, because its print could not be cancelled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn story_15_a_printer_that_refused_a_command_in_mid_print_takes_them_again_before_its_end() {
    let floor = Floor::new(PrinterKind::MqttLan, 1, SLOW, &[JUDGE_LATE]).await;
    let bambu = Bambu::of(&floor.sim(0).handle).unwrap();
    bambu.change(|setup| setup.model = BambuModel::A1Mini);
    let (_, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    // It is no longer prepared.
    floor.stands_at(0, 0.155);
    floor.status_until("the print to be on", 0, |status| status["progress"].as_f64() >= Some(15.0)).await;
    bambu.change(|setup| setup.developer_mode = DeveloperMode::Refused);
    let refused = floor.app.act(&floor.path(0, "/pause")).await;
    assert!(refused.status >= 400, "{}", refused.status);
    floor.connection_is(0, "read_only").await;
    let clients = bambu.clients();
    bambu.change(|setup| setup.developer_mode = DeveloperMode::On);
    floor.connection_is(0, "connected").await;
    assert_eq!(bambu.clients(), clients, "over the same connection");
    assert_eq!((floor.job(&job).await["state"].as_str(), floor.finished(0)), (Some("PRINTING"), 0));
    floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
    let cancelled = floor.app.job_is(&job, "CANCELLED").await;
    assert_eq!(attempts(&cancelled), ["cancelled"], "{cancelled}");
    floor.physically("its print to be cancelled", 0, |what| matches!(what, PhysicalEvent::Cancelled { .. })).await;
    assert_eq!(floor.started(0), 1);
}
