//! Wrong starts caused by files: left on the printer, truncated, or in a format that it does not print.

use printfloor::domain::file::GcodeForm;
use serde_json::{Value, json};
use simulator::bambu::Bambu;
use simulator::faults::{FailAt, SlowUpload};
use simulator::printer::PhysicalEvent;

use super::super::{FAST, Floor, JUDGE_LATE, JUDGE_SOON, KEEP_FILES, PrinterKind, SECONDS, SLOW, prints, words};
use super::ends::TO_SOMEBODY;
use super::{reboot, slow_uploads, uploaded};
use crate::api::materials::mails;
use crate::support::until;

/// Waits until there is no file on the printer.
async fn nothing_left(floor: &Floor, after: &str) {
    until(&format!("no file to be left after {after}"), || async {
        floor.sim(0).handle.with(|machine| machine.files().iter().next().is_none()).then_some(())
    })
    .await;
}

/// Power-cycles the printer while it is disconnected; its later prints take a while.
async fn power_cycle(floor: &Floor) {
    floor.faults(0, |faults| faults.disconnect = true);
    floor.connection_is(0, "unreachable").await;
    reboot(floor);
    floor.physically("the power to be cut", 0, |what| matches!(what, PhysicalEvent::Rebooted)).await;
    floor.faults(0, |faults| faults.disconnect = false);
    floor.connection_is(0, "connected").await;
}

/// Makes the printer start the files left in its storage when power returns; returns `false` if its type never does.
fn starts_left_files(floor: &Floor) -> bool {
    let bambu = Bambu::of(&floor.sim(0).handle);
    bambu.as_ref().map(|bambu| bambu.change(|setup| setup.starts_left_files = true)).is_some()
}

/// Builds a file in this format; its name shows which.
fn of_form(form: GcodeForm) -> (&'static str, Vec<u8>) {
    match form {
        GcodeForm::Text => ("text.gcode", simulator::gcode::gcode("text", SECONDS, 10.0, 3300.0).into_bytes()),
        // Its name lies; its content tells.
        GcodeForm::Binary => ("binary.gcode", crate::machines::sick::binary_gcode()),
        GcodeForm::Package => ("package.gcode.3mf", simulator::gcode::package("package", SECONDS, 10.0, 3300.0)),
    }
}

each_kind! {
    #[long]
    async fn story_04_our_files_are_gone_before_a_power_cycle_could_start_one(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        starts_left_files(&floor);
        let (order, _) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        nothing_left(&floor, "a print that finished").await;
        floor.faults(0, |faults| faults.fail_at = Some(FailAt { progress: 0.5 }));
        let (_, failed) = floor.one().await;
        floor.app.job_is(&failed, "FAILED").await;
        nothing_left(&floor, "a print that failed").await;
        floor.clear_bed(0).await;
        floor.app.act(&floor.path(0, "/clear-attention")).await;
        floor.sim(0).handle.set_speed(SLOW);
        let (_, cancelled) = floor.one().await;
        floor.app.job_is(&cancelled, "PRINTING").await;
        floor.app.act(&format!("/api/jobs/{cancelled}/cancel")).await.expect(200);
        floor.app.job_is(&cancelled, "CANCELLED").await;
        nothing_left(&floor, "a print that was cancelled").await;
        assert_eq!(floor.started(0), 3);
        power_cycle(&floor).await;
        floor.wait_for_poll(0).await;
        assert_eq!(floor.started(0), 3, "nothing starts by itself");
        floor.attention(0, "foreign_print", false).await;
    }

    #[drawn]
    async fn story_04_a_file_of_ours_that_starts_by_itself_is_foreign_and_alerted_and_counts_for_nothing(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE, KEEP_FILES, TO_SOMEBODY]).await;
        let by_itself = starts_left_files(&floor);
        let (order, job) = floor.one().await;
        floor.app.order_is(&order, "ready").await;
        floor.free(0).await;
        let job = floor.job(&job).await;
        let own = format!("{}_{}.", job["number"].as_str().unwrap(), job["attempts"][0]["id"].as_str().unwrap());
        let left = floor.sim(0).handle.with(|machine| {
            machine.files().iter().map(|(name, _)| name.clone()).find(|name| name.contains(&own)).expect("kept there")
        });
        if by_itself {
            power_cycle(&floor).await;
        } else {
            floor.sim(0).handle.set_speed(SLOW);
            floor.sim(0).handle.with(|machine| machine.start(&left)).unwrap();
        }
        floor.attention(0, "foreign_print", true).await;
        let subject = "Unexpected print of an old file";
        until("the operators to be told", || async { (!mails(&floor.app, subject).is_empty()).then_some(()) }).await;
        let (next, waiting) = floor.one().await;
        let why = |job: &Value| job["waitingReason"].as_str().unwrap_or_default().contains("is printing something else");
        floor.job_until("the next to wait", &waiting, why).await;
        assert_eq!(floor.events("job.completed").await.len(), 1);
        floor.hurry(0);
        floor.attention(0, "foreign_print", false).await;
        floor.app.act(&floor.path(0, "/bed-cleared")).await.expect(200);
        floor.app.order_is(&next, "ready").await;
        assert_eq!(floor.events("job.completed").await.len(), 2, "the two that were ordered");
        assert!((floor.used().await - 20.0).abs() < 0.001);
    }

    #[long]
    async fn story_11_an_upload_that_was_cut_off_is_not_started(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        floor.faults(0, |faults| faults.slow_upload = Some(SlowUpload { bytes_per_second: 10_000 }));
        let (order, jobs) = slow_uploads(&floor, 1).await;
        floor.attempt_is(jobs[0]["id"].as_str().unwrap(), "uploading").await;
        floor.faults(0, |faults| faults.disconnect = true);
        floor.connection_is(0, "unreachable").await;
        assert_eq!(floor.started(0), 0);
        floor.faults(0, |faults| (faults.disconnect, faults.slow_upload) = (false, None));
        floor.app.order_is(&order, "ready").await;
        let size = floor.app.get("/api/files?q=big.gcode").await.expect(200)["files"][0]["size"].clone();
        let log = floor.sim(0).handle.log();
        let sizes = log.into_iter().filter_map(|entry| match entry.what {
            PhysicalEvent::Uploaded { bytes, .. } => Some(bytes),
            _ => None,
        });
        let sizes: std::collections::BTreeSet<u64> = sizes.collect();
        // Its name on the printer stands in it, too.
        assert_eq!(sizes.len(), 1, "whole, or not there: {sizes:?}");
        assert!(sizes.iter().all(|bytes| *bytes >= size.as_u64().unwrap()), "{sizes:?}");
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
    }

    async fn story_11_what_a_printer_stored_is_compared_with_what_was_sent_before_it_is_started(kind: PrinterKind) {
        if matches!(kind, PrinterKind::ServerRest | PrinterKind::Sdcp) {
            // The first may rewrite what it stores, so that nothing can be compared; the second compares a sum itself.
            return;
        }
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_SOON]).await;
        // It says that all is well, and has kept the beginning alone.
        floor.faults(0, |faults| faults.keeps_bytes = Some(1_000));
        let (order, job) = floor.one().await;
        let given_back = |job: &Value| job["attempts"][0]["endedAt"].is_string();
        let back = floor.job_until("the attempt to be given back", &job, given_back).await;
        assert!(words(&back["attempts"][0], "reason").contains("differs from the one sent"), "{back}");
        assert_eq!(floor.started(0), 0);
        floor.faults(0, |faults| faults.keeps_bytes = None);
        floor.app.act(&floor.path(0, "/clear-attention")).await;
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 1);
        floor.truth().await;
    }

    #[drawn]
    async fn story_12_a_printer_is_never_sent_a_form_of_file_that_it_does_not_print(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, FAST, &[JUDGE_LATE]).await;
        let mut sent = 0;
        for (n, form) in [GcodeForm::Text, GcodeForm::Binary, GcodeForm::Package].into_iter().enumerate() {
            let (name, content) = of_form(form);
            let file = floor.app.upload(name, content).await.expect(201)["id"].as_str().unwrap().to_owned();
            let sku = floor.app.sku(&format!("FORM-{n}"), &floor.material, &file, 900).await;
            let order = floor.app.paid_order(&sku, 1).await;
            let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
            let ending = format!(".{}", form.ending());
            if prints(kind, form) {
                // Sent as it is, under a name that tells its form.
                floor.app.order_is(&order, "ready").await;
                let named = |what: &PhysicalEvent| matches!(what, PhysicalEvent::Started { filename } if filename.ends_with(&ending));
                assert_eq!(floor.count(0, named), 1, "{ending}");
                floor.free(0).await;
                sent += 1;
                continue;
            }
            let waits = floor.app.job_is(&job, "SLICED").await;
            assert!(words(&waits, "waitingReason").contains(&format!("{ending} files")), "{waits}");
            let comparison = floor.app.get(&format!("/api/jobs/{job}/match")).await.expect(200);
            let missing = &comparison["printers"][0]["missing"];
            assert_eq!(missing, &json!([format!("{ending} files are not accepted")]), "{comparison}");
            // Nor by a person's word.
            let by_hand = floor.app.post(&floor.path(0, "/print"), &json!({"fileId": file})).await;
            assert!(by_hand.expect(400)["errors"][0]["message"].as_str().unwrap().contains(&ending));
            let put = floor.app.post(&floor.path(0, "/files"), &json!({"fileId": file})).await;
            assert!(put.expect(400)["errors"][0]["message"].as_str().unwrap().contains(&ending));
            floor.app.act(&format!("/api/orders/{order}/cancel")).await.expect(200);
        }
        let (other, _) = floor.one().await;
        floor.app.order_is(&other, "ready").await;
        assert_eq!((floor.count(0, uploaded), floor.started(0)), (sent + 1, sent + 1), "what it prints alone");
    }
}
