//! Firmware that shuts down, and hosts that lose their printer.

use simulator::faults::Away;

use super::{Floor, JUDGE_LATE, PrinterKind, SLOW, words};

each_kind! {
    async fn a_firmware_shutdown_fails_the_job_and_a_restart_mends_it(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.sim(0).handle.set_speed(50.0);
        floor.faults(0, |faults| faults.firmware_shutdown = true);
        let failed = floor.app.job_is(&job, "FAILED").await;
        assert!(words(&failed, "error").contains("Timer too close"), "the printer's own words: {failed}");
        floor.attention(0, "print_failed", true).await;
        floor.status_until("the printer to say so", 0, |status| status["state"] == "error").await;

        floor.free(0).await;
        floor.faults(0, |faults| faults.firmware_shutdown = false);
        match kind {
            PrinterKind::FwRest => {
                floor.app.act(&floor.path(0, "/restart-firmware")).await.expect(200);
            }
            PrinterKind::ServerRest => {
                let code = floor.app.act(&floor.path(0, "/restart-firmware")).await.error(409);
                assert_eq!(code, "unsupported_by_printer");
                floor.app.act(&floor.path(0, "/connect")).await.expect(200);
            }
        }
        floor.connection_is(0, "connected").await;
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        assert_eq!(floor.started(0), 2);
        floor.truth().await;
    }

    async fn a_host_that_loses_its_printer_loses_the_print(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        floor.sim(0).handle.set_speed(50.0);
        floor.faults(0, |faults| faults.away = Some(Away::Disconnected));
        floor.connection_is(0, "firmware_disconnected").await;
        floor.faults(0, |faults| faults.away = None);
        floor.app.job_is(&job, "FAILED").await;
        floor.connection_is(0, "connected").await;
        floor.app.act(&format!("/api/jobs/{job}/retry")).await.expect(200);
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }
}
