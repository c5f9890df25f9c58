//! Printers that refuse starts or have no storage left: they do not affect other printers.

use printfloor::domain::file::GcodeForm;
use serde_json::{Value, json};

use super::{FAST, Floor, JUDGE_SOON, PrinterKind, attempts, prints, words};
use crate::api::files::package;
use crate::support::until;

/// Builds a small file of binary G-code, without checksums.
pub fn binary_gcode() -> Vec<u8> {
    let block = |kind: u16, data: &[u8]| {
        let mut block = [kind.to_le_bytes(), 0u16.to_le_bytes()].concat();
        block.extend((data.len() as u32).to_le_bytes());
        block.extend(0u16.to_le_bytes());
        block.extend(data);
        block
    };
    let head = [b"GCDE".as_slice(), &1u32.to_le_bytes(), &0u16.to_le_bytes()].concat();
    let meta = b"Producer=PrusaSlicer 2.8.1\n".as_slice();
    [head, block(0, meta), block(4, b"filament used [g]=2.5\n"), block(1, b"G28\n")].concat()
}

each_kind! {
    #[drawn]
    async fn one_that_refuses_every_start_fails_none_of_forty_jobs(kind: PrinterKind) {
        let floor = Floor::new(kind, 3, FAST, &[JUDGE_SOON]).await;
        floor.faults(0, |faults| faults.refuse_start = true);
        // Some are left alone for a second after each upload.
        let jobs = if kind == PrinterKind::Sdcp { 16 } else { 40 };
        let order = floor.order(jobs).await;
        floor.app.all_made(&order).await;
        assert_eq!(floor.started(0), 0);
        assert_eq!(floor.started(1) + floor.started(2), jobs as usize, "the others do them");
        assert!(floor.events("job.failed").await.is_empty());
        let refused = floor.events("job.not_started").await.len();
        assert!((1..=4).contains(&refused), "it rests after each refusal: {refused}");
        floor.truth().await;
    }

    async fn one_with_a_full_disk_says_so_and_the_others_do_its_jobs(kind: PrinterKind) {
        let floor = Floor::new(kind, 3, FAST, &[JUDGE_SOON]).await;
        floor.faults(0, |faults| faults.disk_full = true);
        // Some are left alone for a second after each upload.
        let jobs = if kind == PrinterKind::Sdcp { 6 } else { 12 };
        let order = floor.order(jobs).await;
        floor.app.all_made(&order).await;
        assert_eq!(floor.started(1) + floor.started(2), jobs as usize);
        assert!(floor.events("job.failed").await.is_empty());
        floor.attention(0, "disk_full", true).await;
        let status = floor.status(0).await;
        assert!(words(&status, "attentionReason").contains("storage is full"), "{status}");
        let own = if kind == PrinterKind::MqttLan { "553 Could not create file" } else { "No space left on device" };
        assert!(words(&status, "attentionReason").contains(own), "its own words: {status}");
        floor.truth().await;
    }

    #[drawn]
    async fn the_only_one_that_fits_is_waited_for_and_the_job_says_why(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_SOON]).await;
        floor.faults(0, |faults| faults.refuse_start = true);
        let (order, job) = floor.one().await;
        let refused = |job: &Value| job["waitingReason"].as_str().is_some_and(|why| why.contains("is rejecting print starts"));
        let waits = floor.job_until("the refusal to be told", &job, refused).await;
        assert_eq!((&waits["state"], attempts(&waits)), (&json!("SLICED"), vec!["not_started"]), "{waits}");
        assert!(words(&waits, "waitingReason").contains("rejected the job: "), "{waits}");
        assert!(words(&waits, "waitingReason").contains("next attempt in"), "{waits}");
        // Nothing else waits: the same job is tried again after the rest.
        floor.attention(0, "start_refused", true).await;
        let twice = |job: &Value| job["state"] == "SLICED" && attempts(job).len() == 2;
        floor.job_until("the job to wait after its second refusal", &job, twice).await;
        assert_eq!(floor.app.get("/api/printers?attention=start_refused").await.expect(200)["pagination"]["total"], 1);
        floor.faults(0, |faults| faults.refuse_start = false);
        floor.app.act(&floor.path(0, "/clear-attention")).await.expect(200);
        floor.app.order_is(&order, "ready").await;
        floor.attention(0, "start_refused", false).await;
        floor.truth().await;
    }

    #[drawn]
    async fn where_two_fit_a_job_that_both_refuse_has_failed(kind: PrinterKind) {
        let floor = Floor::new(kind, 2, FAST, &[JUDGE_SOON]).await;
        for n in 0..2 {
            floor.faults(n, |faults| faults.refuse_start = true);
        }
        let (_, job) = floor.one().await;
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert!(words(&failed, "error").contains("refused by 2 printers"), "{failed}");
        assert_eq!(attempts(&failed), ["not_started", "not_started"], "{failed}");
    }

    #[drawn]
    async fn a_short_outage_uses_up_no_attempt(kind: PrinterKind) {
        // One refusal that counts would fail the job.
        let strict = ("PRINTFLOOR_DISPATCH__REFUSALS_UNTIL_FAILED", "1");
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_SOON, strict]).await;
        let file = floor.big_file("big", 200_000).await;
        let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
        let slow = simulator::faults::SlowUpload { bytes_per_second: 30_000 };
        floor.faults(0, |faults| faults.slow_upload = Some(slow));
        let order = floor.app.paid_order(&sku, 1).await;
        let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
        floor.attempt_is(&job, "uploading").await;
        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        floor.faults(0, |faults| (faults.disconnect, faults.slow_upload) = (false, None));
        floor.app.order_is(&order, "ready").await;
        assert!(floor.events("job.failed").await.is_empty());
        floor.attention(0, "start_refused", false).await;
        floor.truth().await;
    }

    #[drawn]
    async fn a_form_of_file_that_no_printer_prints_waits_with_its_reason(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_SOON]).await;
        let mut waiting = Vec::new();
        for (form, bytes) in [(GcodeForm::Binary, binary_gcode()), (GcodeForm::Package, package())] {
            if prints(kind, form) {
                continue;
            }
            let form = form.ending();
            let file = floor.app.upload(&format!("part.{form}"), bytes).await.expect(201);
            assert_eq!(file["metadata"]["form"], form, "{file}");
            let sku = floor.app.sku(form, &floor.material, file["id"].as_str().unwrap(), 900).await;
            let order = floor.app.paid_order(&sku, 1).await;
            let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
            // Whether no type prints it, or none of the printers that are registered.
            let waits = floor.app.job_is(&job, "SLICED").await;
            let why = words(&waits, "waitingReason");
            assert!(why.contains(&format!(" .{form} files")) && why.starts_with("No "), "{waits}");
            waiting.push(job);
        }
        // Other jobs pass them.
        let (other, _) = floor.one().await;
        floor.app.order_is(&other, "ready").await;
        for job in waiting {
            let waits = floor.job(&job).await;
            assert_eq!((&waits["state"], attempts(&waits).len()), (&json!("SLICED"), 0), "{waits}");
        }
        assert!(floor.events("job.failed").await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stock_in_a_waiting_reason_is_that_of_now() {
    let floor = Floor::new(PrinterKind::FwRest, 1, FAST, &[JUDGE_SOON]).await;
    let material = format!("/api/inventory/materials/{}", floor.material);
    floor.app.patch(&material, &json!({"quantity": 4})).await.expect(200);
    let (order, job) = floor.one().await;
    let short = floor.app.job_is(&job, "awaiting_manual_review").await;
    assert!(words(&short, "waitingReason").contains("4 g free"), "{short}");
    floor.app.patch(&material, &json!({"quantity": 7})).await.expect(200);
    let says = |job: &Value| job["waitingReason"].as_str().is_some_and(|why| why.contains("7 g free"));
    floor.job_until("the stock of now", &job, says).await;
    floor.app.patch(&material, &json!({"quantity": 50})).await.expect(200);
    floor.app.order_is(&order, "ready").await;
    until("the claim to be settled", || async {
        (floor.app.get(&material).await.expect(200)["reserved"] == 0).then_some(())
    })
    .await;
}
