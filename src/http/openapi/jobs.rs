//! Jobs (decisions §4).

use super::operation::{Named, No, Resource, get, patch, post};
use super::orders::priority;
use super::shape::{Shape, amount, has, id, list, may, number, object, taken, text, text_like, time, whole, yes_no};
use super::words::word_of;
use crate::domain::job::{AttemptState, Block, JobState};
use crate::domain::order::Resolution;
use crate::http::production::printers;
use crate::http::production::{materials, skus};
use serde_json::{Value, json};

/// The id that examples use for a job.
pub(super) const EXAMPLE: &str = "01890a5d-ac96-774b-bcce-b302099a8067";

const STATE: &str = "invalid_transition";
const AT_PRINTER: [No; 5] = [
    (409, STATE, "The job does not stand so."),
    (409, "not_on_printer", "The printer does not have this job in hand."),
    (409, "printer_disconnected", "The printer is disconnected."),
    (502, "printer_refused", "The printer refused, in its own words."),
    (504, "printer_timeout", "The printer did not answer in time, or cannot be reached."),
];

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Jobs",
        about: "Each plate of each line of a paid order: why it waits, where it prints, and every attempt.",
        thing: "job",
        shapes: vec![Named { name: "Job", shape: shape(), example: example() }],
        operations: vec![
            get("/api/jobs", "listJobs", "List jobs")
                .query("state", word_of::<JobState>(), "That stand so.")
                .query("waiting", yes_no(), "That wait, or do not.")
                .query("orderId", id(), "Of this order.")
                .query("printerId", id(), "On this printer.")
                .query("skuId", id(), "Of this product.")
                .query("materialId", id(), "Of this material.")
                .lists("jobs", "Job"),
            get("/api/jobs/{id}", "getJob", "Show a job").shows("Job"),
            patch("/api/jobs/{id}", "updateJob", "Change when a job is made")
                .takes(taken([may("priority", priority()), may("dueAt", time().or_null())]), json!({"priority": 9}))
                .shows("Job")
                .no(409, STATE, "It is over."),
            post("/api/jobs/{id}/pause", "pauseJob", "Pause a job at its printer")
                .about("The state changes when the printer says so.")
                .takes_nothing()
                .shows("Job")
                .unkeyed()
                .nos(&AT_PRINTER),
            post("/api/jobs/{id}/resume", "resumeJob", "Go on with a paused job")
                .about("The state changes when the printer says so.")
                .takes_nothing()
                .shows("Job")
                .unkeyed()
                .nos(&AT_PRINTER),
            post("/api/jobs/{id}/cancel", "cancelJob", "Cancel a job")
                .about("One on a printer waits for the printer's word, unless it is forced.")
                .may_take(taken([may("force", yes_no().by_default(false))]), json!({}))
                .shows("Job")
                .no(409, STATE, "It is completed or cancelled."),
            post("/api/jobs/{id}/retry", "retryJob", "Make a job again")
                .about("After it failed, or as a replacement of one that is completed. Stock is reserved anew.")
                .takes_nothing()
                .shows("Job")
                .no(409, STATE, "It is neither failed nor completed, or its order is cancelled, refunded or shipped."),
            post("/api/jobs/{id}/release", "releaseJob", "Release a job past the reorder point")
                .takes_nothing()
                .shows("Job")
                .no(409, "insufficient_material", "There is not enough material; that is never overridden.")
                .no(409, STATE, "It does not await review for the reorder point."),
            post("/api/jobs/{id}/resolve", "resolveJob", "Say what became of an unverified start")
                .about("For a job that nobody can verify: whether its print never began, is finished, or failed.")
                .takes(taken([has("outcome", word_of::<Resolution>())]), json!({"outcome": "not_started"}))
                .shows("Job")
                .no(409, STATE, "No start of it is unverified."),
        ],
    }
}

fn attempt() -> Shape {
    object([
        has("id", id().about("Also part of the file's name on the printer.")),
        has("number", whole(1..)),
        has("printerId", id()),
        has("state", word_of::<AttemptState>()),
        has("unverified", yes_no().about("Nobody can say whether the start happened.")),
        has("reason", text().or_null().about("Why it ended, in plain words.")),
        has("startedAt", time().or_null().about("When the printer showed the file.")),
        has("endedAt", time().or_null()),
    ])
}

fn shape() -> Shape {
    object([
        has("id", id()),
        has("number", text_like("^JOB-[0-9]{6,}$")),
        has("orderId", id()),
        has("orderNumber", text_like("^ORD-[0-9]{6,}$")),
        has("line", whole(0..).about("Index of the order's line.")),
        has("skuId", id()),
        has("materialId", id()),
        has("need", amount().about("Material that one plate takes.")),
        has("reserved", yes_no().about("The need is reserved.")),
        has("state", word_of::<JobState>()),
        has("blockedBy", word_of::<Block>().or_null()),
        has("waitingReason", text().or_null().about("Why it waits, in plain words.")),
        has("priority", priority()),
        has("dueAt", time().or_null()),
        has("printerId", id().or_null()),
        has("progress", number(0.0..=100.0)),
        has("remainingSeconds", whole(..).or_null().about("As the printer says.")),
        has("fileId", id().or_null()),
        has("attempts", list(attempt()).about("Oldest first.")),
        has("cancelRequestedAt", time().or_null().about("A cancel waits for the printer.")),
        has("error", text().or_null().about("Why it failed.")),
        has("consumed", amount().about("What it used up.")),
        has("createdAt", time()),
        has("updatedAt", time()),
        has("version", whole(1..).about("Counts the job's own changes.")),
    ])
}

fn example() -> Value {
    json!({
        "id": EXAMPLE, "number": "JOB-000245", "orderId": super::orders::EXAMPLE, "orderNumber": "ORD-000123", "line": 0,
        "skuId": skus::EXAMPLE_ID, "materialId": materials::EXAMPLE_ID, "need": 20.5, "reserved": true, "state": "PRINTING",
        "blockedBy": null, "waitingReason": null, "priority": 5, "dueAt": null, "printerId": printers::EXAMPLE_ID,
        "progress": 42.5, "remainingSeconds": 3100, "fileId": super::files::EXAMPLE,
        "attempts": [{
            "id": "01890a5d-ac96-774b-bcce-b302099a8068", "number": 1, "printerId": printers::EXAMPLE_ID, "state": "confirmed",
            "unverified": false, "reason": null, "startedAt": "2026-11-02T10:16:00.000Z", "endedAt": null,
        }],
        "cancelRequestedAt": null, "error": null, "consumed": 0, "createdAt": "2026-11-02T10:00:00.000Z",
        "updatedAt": "2026-11-02T10:16:00.000Z", "version": 6,
    })
}
