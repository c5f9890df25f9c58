//! Printers that report impossible numbers.

use super::*;

each_kind! {
    async fn a_server_that_heard_absurd_numbers_starts_again_and_shows_the_printer(kind: PrinterKind) {
        let mut floor = Floor::new(kind, 1, SLOW, &[]).await;
        let (order, job) = floor.one().await;
        floor.job_until("the print to be on", &job, |job| job["state"] == "PRINTING").await;
        floor.faults(0, |faults| faults.absurd_numbers = true);
        // It hears them by asking and by push, keeps what it keeps of them, and reads that again: twice, because what
        // is read is written once more.
        for _ in 0..2 {
            floor.wait_for_poll(0).await;
            floor.app.kill_9();
            floor.app.start().await;
            let ready = floor.app.get("/readyz").await.expect(200);
            assert_eq!(ready["status"], "ready", "{ready}");
            let listed = floor.app.get("/api/printers").await.expect(200);
            assert_eq!(listed["printers"][0]["id"], floor.printers[0].as_str(), "{listed}");
            floor.status_until("the printer to be seen printing", 0, |s| s["connection"] == "connected" && s["state"] == "printing").await;
            assert_eq!(floor.job(&job).await["state"], "PRINTING");
        }
        let status = floor.status(0).await;
        assert!(!status.to_string().contains("e300"), "what is not known is not shown: {status}");
        floor.faults(0, |faults| faults.absurd_numbers = false);
        floor.wait_for_poll(0).await;
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.truth().await;
    }
}
