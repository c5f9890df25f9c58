//! Printers and what they can be told (production spec §2, decisions §6, §7).

use super::operation::{Named, No, Resource, delete, get, patch, post};
use super::shape::{
    Member, Shape, anything, either, has, id, list, list_of, may, named, number, object, open_object, secret, taken,
    text, text_of, time, whole, word, yes_no,
};
use super::words::{word_of, words_of};
use crate::domain::printer::Attention;
use crate::domain::printer_status::{Activity, Connection, PrintEnd};
use crate::domain::sku::MachineType;
use crate::http::production::materials;
use crate::http::production::operate::{GCODE_LONGEST, GCODE_MOST, NAME_LONGEST};
use crate::http::production::printers::TAGS_MOST;
use crate::printers::registry::BUILT_IN;
use serde_json::{Value, json};

/// The id that examples use for a printer.
pub(super) const EXAMPLE: &str = "01890a5d-ac96-774b-bcce-b302099a8069";

/// What any operation on the wire may hear.
const WIRE: [No; 5] = [
    (409, "printer_disconnected", "The printer is disconnected; connect it first."),
    (409, "unsupported_by_printer", "This type of printer does not do that."),
    (409, "printer_in_use", "A print is in the way."),
    (502, "printer_refused", "The printer refused, in its own words."),
    (504, "printer_timeout", "The printer did not answer in time, or cannot be reached."),
];
const BUSY: No = (409, "printer_busy", "It has a job in hand, prints, or is about to.");
const NO_FILE: No = (404, "printer_file_not_found", "The printer has no such file.");

pub(super) fn resource() -> Resource {
    let tell = |path, id, summary| post(path, id, summary).takes_nothing().answers(done(), json!({"ok": true}));
    let wire = |path, id, summary| tell(path, id, summary).unkeyed().nos(&WIRE);
    Resource {
        tag: "Printers",
        about: "Registered, watched, commanded. What the printer answers is told as it is.",
        thing: "printer",
        shapes: vec![
            Named { name: "Printer", shape: shape(), example: example() },
            Named { name: "PrinterStatus", shape: status(), example: status_example() },
        ],
        operations: vec![
            get("/api/printers", "listPrinters", "List printers")
                .query("type", text(), "Of this type.")
                .query("machineType", word_of::<MachineType>(), "Such machines.")
                .query("state", word_of::<Activity>(), "That do this.")
                .query("tag", text(), "With this tag.")
                .query(
                    "attention",
                    word(words_of::<Attention>().into_iter().chain(["true"])),
                    "That want this, or with `true` anything, looked at.",
                )
                .query("q", text(), "Whose name has this in it.")
                .lists("printers", "Printer"),
            post("/api/printers", "createPrinter", "Register a printer")
                .about("Also while it does not answer. Secrets are never shown again.")
                .takes(taken(fields(true)), said())
                .creates("Printer"),
            get("/api/printers/{id}", "getPrinter", "Show a printer").shows("Printer"),
            patch("/api/printers/{id}", "updatePrinter", "Change a printer")
                .takes(taken(fields(false)), json!({"loadedMaterialId": materials::EXAMPLE_ID}))
                .shows("Printer")
                .no(409, "printer_busy", "Type and address cannot change while it has a job in hand."),
            delete("/api/printers/{id}", "deletePrinter", "Remove a printer").about("Its history stays.").nos(&[BUSY]),
            get("/api/printers/{id}/status", "getPrinterStatus", "Show what a printer does").shows("PrinterStatus"),
            get("/api/printers/{id}/info", "getPrinterInfo", "Ask what a printer says of itself")
                .about("Its server and its firmware, as far as the type tells.")
                .answers(
                    object([has("server", anything()), has("printer", anything())]),
                    json!({"server": {"klippy_connected": true}, "printer": {"state": "ready"}}),
                )
                .nos(&WIRE),
            get("/api/printers/{id}/history", "getPrinterHistory", "Ask what a printer remembers of a file")
                .query("file", text(), "A file on the printer; without it, the last one that was shown.")
                .answers(object([has("history", list(past()))]), json!({"history": [past_example()]}))
                .nos(&WIRE),
            get("/api/printers/{id}/webcams", "listWebcams", "Ask for a printer's cameras")
                .answers(object([has("webcams", list(webcam()))]), json!({"webcams": [webcam_example()]}))
                .nos(&WIRE),
            get("/api/printers/{id}/system-info", "getSystemInfo", "Ask about a printer's computer")
                .about("In the printer's own words.")
                .answers(open_object(), json!({"cpu_info": {"cpu_count": 4}}))
                .nos(&WIRE),
            get("/api/printers/{id}/files", "listPrinterFiles", "List the files on a printer")
                .answers(
                    object([has("files", list(remote()))]),
                    json!({"files": [{"path": "vase.gcode", "size": 1_048_576, "modifiedAt": null}]}),
                )
                .nos(&WIRE),
            post("/api/printers/{id}/files", "uploadToPrinter", "Put one of our files on a printer")
                .about("Nothing is started. The printer may give it another name.")
                .takes(
                    taken([has("fileId", id().about("A G-code file of ours."))]),
                    json!({"fileId": super::files::EXAMPLE_ID}),
                )
                .answers_with(201, put(), json!({"ok": true, "filename": "vase.gcode"}))
                .unkeyed()
                .nos(&WIRE),
            delete("/api/printers/{id}/files/{*name}", "deletePrinterFile", "Delete a file on a printer")
                .nos(&WIRE)
                .nos(&[NO_FILE]),
            post("/api/printers/{id}/connect", "connectPrinter", "Watch a printer again")
                .takes_nothing()
                .shows("Printer"),
            post("/api/printers/{id}/disconnect", "disconnectPrinter", "Leave a printer alone")
                .takes_nothing()
                .shows("Printer")
                .nos(&[BUSY]),
            wire("/api/printers/{id}/pause", "pausePrinter", "Pause whatever a printer prints"),
            wire("/api/printers/{id}/resume", "resumePrinter", "Go on with a paused print"),
            wire("/api/printers/{id}/cancel", "cancelPrint", "Cancel whatever a printer prints"),
            post("/api/printers/{id}/emergency-stop", "emergencyStop", "Cut motors and heaters at once")
                .about("Past everything that is queued. Afterwards the printer must be homed, and its bed cleared.")
                .takes_nothing()
                .answers(
                    object([has("ok", yes_no()), has("recorded", yes_no().about("It could also be written down."))]),
                    json!({"ok": true, "recorded": true}),
                )
                .unkeyed()
                .nos(&WIRE[3..]),
            wire("/api/printers/{id}/restart-firmware", "restartFirmware", "Restart a printer's firmware").nos(&[BUSY]),
            post("/api/printers/{id}/home", "homePrinter", "Home all axes")
                .takes_nothing()
                .shows("Printer")
                .nos(&WIRE)
                .nos(&[BUSY]),
            post("/api/printers/{id}/gcode", "runGcode", "Run G-code")
                .takes(
                    taken([has(
                        "commands",
                        list_of(text_of(1..=GCODE_LONGEST), 1..=GCODE_MOST).about("Single lines."),
                    )]),
                    json!({"commands": ["M117 hello"]}),
                )
                .answers(done(), json!({"ok": true}))
                .unkeyed()
                .nos(&WIRE),
            post("/api/printers/{id}/print", "printFile", "Print a file that is no job")
                .about("One of ours, which is uploaded first, or one that is on the printer. It must be idle.")
                .takes(
                    either([
                        taken([has("fileId", id().about("A G-code file of ours."))]),
                        taken([has("filename", text_of(1..=NAME_LONGEST).about("A file on the printer."))]),
                    ]),
                    json!({"fileId": super::files::EXAMPLE_ID}),
                )
                .answers(put(), json!({"ok": true, "filename": "vase.gcode"}))
                .or(
                    202,
                    "It lasts longer: the print is still to begin.",
                    object([has("ok", yes_no()), may("filename", text())]),
                    json!({"ok": true, "filename": "vase.gcode"}),
                )
                .nos(&WIRE)
                .nos(&[BUSY, NO_FILE]),
            post("/api/printers/{id}/bed-cleared", "bedCleared", "Say that the bed is clear")
                .takes_nothing()
                .shows("Printer"),
            post("/api/printers/{id}/maintenance", "setMaintenance", "Take a printer out of service, or back")
                .takes(
                    taken([has("on", yes_no()), may("note", text_of(..=500).or_null())]),
                    json!({"on": true, "note": "new nozzle"}),
                )
                .shows("Printer"),
        ],
    }
}

fn put() -> Shape {
    object([has("ok", yes_no()), has("filename", text().about("Its name on the printer."))])
}

fn done() -> Shape {
    object([has("ok", yes_no())])
}

fn fields(new: bool) -> Vec<Member> {
    let must = |name, shape| if new { has(name, shape) } else { may(name, shape) };
    vec![
        must("name", text_of(1..=200)),
        must("type", word(BUILT_IN)),
        must("machineType", word_of::<MachineType>()),
        may("baseUrl", text_of(1..=500).about("With its port. The server's settings may fill it.")),
        may("apiKey", secret(0..=500).or_null().about("Empty where the printer wants none.")),
        may("serial", text_of(..=100).or_null()),
        may("buildVolume", named("Dimensions").or_null()),
        may("autoClear", yes_no().by_default(false).about("The bed clears itself after a print.")),
        may("loadedMaterialId", id().or_null().about("Null takes any.")),
        may("location", text_of(..=200).or_null()),
        may("tags", list_of(text_of(..=50), ..=TAGS_MOST)),
    ]
}

fn said() -> Value {
    json!({
        "name": "Left", "type": BUILT_IN[0], "machineType": "fdm_standard", "baseUrl": "http://192.168.1.20:7125",
        "apiKey": "", "buildVolume": {"x": 220, "y": 220, "z": 250},
    })
}

fn shape() -> Shape {
    object([
        has("id", id()),
        has("name", text()),
        has("type", text()),
        has("machineType", word_of::<MachineType>()),
        has("baseUrl", text()),
        has("hasApiKey", yes_no()),
        has("serial", text().or_null()),
        has("buildVolume", named("Dimensions").or_null()),
        has("autoClear", yes_no()),
        has("loadedMaterialId", id().or_null()),
        has("location", text().or_null()),
        has("tags", list(text())),
        has("status", named("PrinterStatus")),
        has("maintenance", text().or_null().about("Why it is out of service.")),
        has("jobId", id().or_null().about("The job that it has in hand.")),
        has("createdAt", time()),
        has("updatedAt", time()),
        has("version", whole(1..)),
    ])
}

fn example() -> Value {
    json!({
        "id": EXAMPLE, "name": "Left", "type": BUILT_IN[0], "machineType": "fdm_standard",
        "baseUrl": "http://192.168.1.20:7125", "hasApiKey": false, "serial": null,
        "buildVolume": {"x": 220, "y": 220, "z": 250}, "autoClear": false, "loadedMaterialId": null, "location": null,
        "tags": [], "status": status_example(), "maintenance": null, "jobId": crate::http::production::jobs::EXAMPLE_ID,
        "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-02T10:16:00.000Z", "version": 12,
    })
}

fn status() -> Shape {
    let celsius = || number(..).about("Degrees Celsius; 0 when unknown.");
    object([
        has("state", word_of::<Activity>()),
        has("progress", number(0.0..=100.0)),
        has("temperatures", object([has("nozzle", celsius()), has("bed", celsius())])),
        has("connection", word_of::<Connection>()),
        has("file", text().or_null().about("The file that prints, or was printed last.")),
        has("remainingSeconds", whole(..).or_null()),
        has("message", text().or_null().about("The printer's own words.")),
        has("updatedAt", time().or_null()),
        has("lastSeenAt", time().or_null()),
        has("attention", list(word_of::<Attention>()).about("What keeps it from the next job.")),
        has("manualPrint", text().or_null().about("The file of a print that is no job, and that is about to begin.")),
        has("jobId", id().or_null()),
    ])
}

fn status_example() -> Value {
    json!({
        "state": "printing", "progress": 42.5, "temperatures": {"nozzle": 214.8, "bed": 60}, "connection": "connected",
        "file": "JOB-000245_01890a5d-ac96-774b-bcce-b302099a8068.gcode", "remainingSeconds": 3100, "message": null,
        "updatedAt": "2026-11-02T10:59:58.000Z", "lastSeenAt": "2026-11-02T10:59:58.000Z", "attention": [],
        "manualPrint": null, "jobId": crate::http::production::jobs::EXAMPLE_ID,
    })
}

fn past() -> Shape {
    object([
        has("file", text()),
        has("ended", word_of::<PrintEnd>().or_null().about("Null while it is on, or when the printer does not say.")),
        has("filamentMm", number(..).or_null()),
        has("startedAt", time().or_null()),
        has("endedAt", time().or_null()),
    ])
}

fn past_example() -> Value {
    json!({
        "file": "vase.gcode", "ended": "finished", "filamentMm": 6765.3, "startedAt": "2026-11-01T09:00:00.000Z",
        "endedAt": "2026-11-01T10:31:00.000Z",
    })
}

fn webcam() -> Shape {
    object([
        has("name", text()),
        has("streamUrl", text().or_null()),
        has("snapshotUrl", text().or_null()),
        has("enabled", yes_no()),
    ])
}

fn webcam_example() -> Value {
    json!({
        "name": "bed", "streamUrl": "http://192.168.1.20/webcam/?action=stream",
        "snapshotUrl": "http://192.168.1.20/webcam/?action=snapshot", "enabled": true,
    })
}

fn remote() -> Shape {
    object([has("path", text()), has("size", whole(0..).or_null()), has("modifiedAt", time().or_null())])
}
