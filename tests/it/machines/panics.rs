//! Panics of the actors of a printer and of an order in each phase of a print, and of the effects that restart
//! afterwards: the part is printed once, whatever state was lost.

use std::path::Path;

use serde_json::json;
use simulator::faults::SlowUpload;

use super::delays::HELD;
use super::{FAST, Floor, JUDGE_LATE, PrinterKind, SLOW, attempts};
use crate::support::until;

/// Plants one panic in the kind's actor and, if the kind always has effects, one in its next effect. Sends commands
/// until both have occurred.
async fn falls(floor: &Floor, folder: &Path, kind: &str, job: &str) {
    let points = if kind == "printer" { ["effect", "decide"].as_slice() } else { &["decide"] };
    let mines: Vec<_> = points.iter().map(|point| folder.join(format!("{kind}.{point}"))).collect();
    for mine in &mines {
        std::fs::write(mine, "").unwrap();
    }
    let order = floor.job(job).await["orderId"].as_str().unwrap().to_owned();
    until(&format!("the {kind} to panic"), || async {
        let answer = match kind {
            "order" => floor.app.patch(&format!("/api/orders/{order}"), &json!({"notes": "soon"})).await,
            _ => floor.app.post(&floor.path(0, "/maintenance"), &json!({"on": false})).await,
        };
        assert!(matches!(answer.status, 200 | 500 | 503), "{}", answer.text);
        mines.iter().all(|mine| !mine.exists()).then_some(())
    })
    .await;
}

each_kind! {
    #[drawn]
    async fn a_part_is_made_once_though_actors_panic_in_every_phase(kind: PrinterKind) {
        for (phase, slow) in [("uploading", FAST), ("start_sent", SLOW), ("confirmed", SLOW), ("paused", SLOW)] {
            let folder = tempfile::tempdir().unwrap();
            let panics = ("PRINTFLOOR_TEST_PANICS", folder.path().to_str().unwrap());
            let mut floor = Floor::new(kind, 1, slow, &[JUDGE_LATE, panics]).await;
            floor.app.may_crash = true;
            let file = floor.big_file("big", 200_000).await;
            let sku = floor.app.sku("BIG", &floor.material, file["id"].as_str().unwrap(), 900).await;
            floor.faults(0, |faults| match phase {
                "uploading" => faults.slow_upload = Some(SlowUpload { bytes_per_second: 30_000 }),
                "start_sent" => faults.start_late = HELD,
                _ => {}
            });
            let order = floor.app.paid_order(&sku, 1).await;
            let job = floor.app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
            floor.attempt_is(&job, if phase == "paused" { "confirmed" } else { phase }).await;
            if phase == "start_sent" {
                // A start that is lost on its way is judged late here.
                floor.start_arrived(0).await;
            }
            if phase == "paused" {
                floor.app.act(&format!("/api/jobs/{job}/pause")).await.expect(200);
                floor.app.job_is(&job, "PAUSED").await;
            }
            for actor in ["printer", "order"] {
                falls(&floor, folder.path(), actor, &job).await;
            }
            if phase == "paused" {
                assert_eq!(floor.job(&job).await["state"], "PAUSED");
                // Its connection is made anew after the crash.
                until("the print to go on", || async {
                    let resumed = floor.app.act(&format!("/api/jobs/{job}/resume")).await;
                    (resumed.status == 200).then_some(())
                })
                .await;
            }
            floor.faults(0, |faults| faults.slow_upload = None);
            floor.end_delays(0);
            if phase == "start_sent" {
                floor.app.job_is(&job, "PRINTING").await;
            }
            floor.hurry(0);
            floor.app.order_is(&order, "ready").await;
            assert_eq!(attempts(&floor.job(&job).await), ["finished"], "{phase}");
            assert_eq!(floor.started(0), 1, "{phase}");
            floor.truth().await;
        }
    }
}
