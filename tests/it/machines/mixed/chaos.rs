//! Faults in a hall with printers of every type, and the operators who handle them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use fastrand::Rng;
use serde_json::json;
use simulator::SimPrinter;
use simulator::faults::{Delay, Echo, FailAt, PrinterFaults, RebootAt, SlowUpload};

use crate::support::Client;

mod five_types;

/// Durations for which faults come and go: in each run, with different faults every time, and in the long profile.
const TROUBLE: [Duration; 2] = [Duration::from_secs(12), Duration::from_secs(20)];

/// Causes one fault at a time on a random printer, each for a moment.
async fn trouble(sims: Vec<SimPrinter>, mut rng: Rng, over: Arc<AtomicBool>) {
    while !over.load(Relaxed) {
        let sim = &sims[rng.usize(..sims.len())].handle;
        let ms = |rng: &mut Rng| Delay { after_ms: rng.u64(50..1_500) };
        let mut faults = PrinterFaults::default();
        match rng.u8(..13) {
            0 | 1 => faults.disconnect = true,
            2 => faults.hang = true,
            3 => faults.refuse_start = true,
            4 => faults.accept_but_never_start = true,
            5 => faults.start_late = Some(ms(&mut rng)),
            6 => faults.slow_upload = Some(SlowUpload { bytes_per_second: rng.u64(3_000..30_000) }),
            7 => faults.drop_after_upload = true,
            8 => faults.every_second_answer_an_error = true,
            9 => faults.fail_at = Some(FailAt { progress: rng.f64() }),
            10 => faults.reboot_at = Some(RebootAt { progress: rng.f64(), forget: rng.bool() }),
            11 => faults.duplicate_finish = Some(Echo { after_ms: 300, for_ms: 700 }),
            _ => faults.disk_full = true,
        }
        sim.set_faults(faults);
        tokio::time::sleep(Duration::from_millis(rng.u64(20..300))).await;
        if rng.bool() {
            sim.set_faults(PrinterFaults::default());
        }
    }
    for sim in sims {
        sim.handle.set_faults(PrinterFaults::default());
    }
}

async fn say(client: &Client, path: String) {
    let _ = client.try_send(client.request("POST", &path).json(&json!({}))).await;
}

/// Clears beds and resets printers that refused starts, as operators do; leaves unconfirmed prints alone.
async fn people(client: Client, over: Arc<AtomicBool>) {
    while !over.load(Relaxed) {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let Some(listed) = client.try_send(client.request("GET", "/api/printers?limit=100")).await else { continue };
        let listed = listed.json();
        for printer in listed["printers"].as_array().into_iter().flatten() {
            let id = printer["id"].as_str().unwrap();
            let attention = printer["status"]["attention"].to_string();
            let asks = |word: &str| attention.contains(word);
            if asks("bed_not_cleared") || asks("print_failed") {
                say(&client, format!("/api/printers/{id}/bed-cleared")).await;
            }
            if asks("start_refused") || asks("disk_full") || asks("firmware_error") {
                say(&client, format!("/api/printers/{id}/clear-attention")).await;
            }
            if printer["status"]["connection"] == "firmware_disconnected" {
                say(&client, format!("/api/printers/{id}/connect")).await;
            }
            if asks("needs_home") {
                say(&client, format!("/api/printers/{id}/home")).await;
            }
        }
    }
}
