//! Tests of the machine on its own, with time controlled by the test.

use std::{sync::Arc, time::Duration};

use simulator::{
    faults::{HostDisconnect, PrinterFaults},
    gcode::{GcodeFacts, gcode},
    printer::{Machine, PhysicalEvent},
};
use tokio::time::Instant;

/// Builds a machine on which a print of `seconds` is stored as `a.gcode`; returns it with its clock.
fn machine(seed: u64, speed: f64, seconds: u64) -> (Machine, Instant) {
    let now = Instant::now();
    let mut machine = Machine::new(seed, speed, true, now);
    let bytes = gcode("a", seconds, 5.0, 1000.0).into_bytes();
    let facts = Arc::new(GcodeFacts::read(&bytes));
    machine.store("a.gcode", bytes.into(), facts);
    (machine, now)
}

fn after(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds)
}

#[test]
fn heat_comes_and_goes_with_a_print() {
    let (mut machine, zero) = machine(5, 1.0, 600);
    assert!((21.0..23.0).contains(&machine.temperatures().nozzle));
    machine.start("a.gcode").unwrap();
    machine.advance(zero + after(20.0));
    assert!((50.0..150.0).contains(&machine.temperatures().nozzle), "on its way");
    machine.advance(zero + after(300.0));
    let heat = machine.temperatures();
    assert!((214.0..216.0).contains(&heat.nozzle) && (59.0..61.0).contains(&heat.bed), "{heat:?}");
    machine.advance(zero + after(605.0));
    assert_eq!(machine.temperatures().nozzle_target, 0.0);
    machine.advance(zero + after(4000.0));
    assert!((21.0..23.0).contains(&machine.temperatures().nozzle));
}

#[test]
fn progress_time_and_filament_grow_together() {
    let (mut machine, zero) = machine(5, 2.0, 600);
    machine.start("a.gcode").unwrap();
    machine.advance(zero + after(75.0));
    let job = machine.job().unwrap();
    assert!((job.progress() - 0.25).abs() < 1e-9 && (job.filament_mm() - 250.0).abs() < 1e-6);
    machine.set_speed(10.0);
    machine.advance(zero + after(119.9));
    assert!(machine.job().is_some());
    machine.advance(zero + after(120.1));
    assert!(machine.job().is_none());
    assert_eq!(machine.shown_job().unwrap().printing.as_secs(), 120, "real time, not G-code time");
}

#[test]
fn a_pause_takes_no_print_time() {
    let (mut machine, zero) = machine(5, 1.0, 100);
    machine.start("a.gcode").unwrap();
    machine.advance(zero + after(50.0));
    assert_eq!(machine.pause(), Ok(true));
    machine.advance(zero + after(1050.0));
    assert_eq!(machine.resume(), Ok(true));
    machine.advance(zero + after(1099.0));
    assert!(machine.job().is_some());
    machine.advance(zero + after(1101.0));
    let ended = machine.shown_job().unwrap();
    assert_eq!((ended.printing.as_secs(), ended.total(machine.now()).as_secs()), (100, 1100));
}

#[test]
fn what_faults_delay_happens_when_the_delay_is_ended() {
    let (mut machine, zero) = machine(5, 1.0, 100);
    let delay = Some(simulator::faults::Delay { after_ms: 600_000 });
    machine.set_faults(simulator::PrinterFaults { start_late: delay, slow_commands: delay, ..Default::default() });
    machine.start("a.gcode").unwrap();
    machine.advance(zero + after(10.0));
    assert!(machine.job().is_none());
    machine.end_delays();
    machine.advance(zero + after(10.0));
    assert!(machine.job().is_some());
    assert_eq!(machine.cancel(), Ok(true));
    machine.advance(zero + after(20.0));
    assert!(machine.job().is_some());
    machine.end_delays();
    machine.advance(zero + after(20.0));
    assert!(machine.job().is_none());
}

#[test]
fn a_long_silence_is_worked_out_in_order_and_with_true_times() {
    let (mut machine, zero) = machine(5, 1.0, 100);
    let faults = simulator::PrinterFaults {
        start_late: Some(simulator::faults::Delay { after_ms: 10_000 }),
        reboot_at: Some(simulator::faults::RebootAt { progress: 0.5, forget: false }),
        ..Default::default()
    };
    machine.set_faults(faults);
    assert_eq!(machine.withheld_starts(), 0);
    machine.start("a.gcode").unwrap();
    assert_eq!(machine.withheld_starts(), 1, "it is awaited");
    machine.advance(zero + after(100_000.0));
    assert_eq!(machine.withheld_starts(), 1, "it was executed");
    let log = machine.log();
    let seconds = |index: usize| log[index].at.duration_since(log[0].at).as_secs_f64().round();
    assert!(matches!(log[1].what, PhysicalEvent::Started { .. }) && seconds(1) == 10.0);
    assert!(log[2].what == PhysicalEvent::Rebooted && seconds(2) == 60.0);
    assert!(matches!(log[3].what, PhysicalEvent::Interrupted { .. }));
    assert!(log[4].what == PhysicalEvent::Restarted && (80.0..=100.0).contains(&seconds(4)));
    assert_eq!(log.len(), 5);
}

#[test]
fn the_same_seed_behaves_the_same() {
    let run = |seed| {
        let (mut machine, zero) = machine(seed, 1.0, 600);
        machine.start("a.gcode").unwrap();
        (1..20)
            .map(|step| {
                machine.advance(zero + after(f64::from(step) * 3.0));
                machine.temperatures().nozzle
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(run(9), run(9));
    assert_ne!(run(9), run(10));
}

#[test]
fn a_printer_that_loses_its_controller_while_it_boots_answers_again() {
    let (mut machine, zero) = machine(5, 1.0, 600);
    machine.reboot(false);
    assert!(!machine.reachable());
    machine.set_faults(PrinterFaults { away: Some(HostDisconnect::Disconnected), ..PrinterFaults::default() });
    machine.advance(zero + after(60.0));
    assert!(machine.reachable(), "it has booted");
    machine.set_faults(PrinterFaults::default());
    machine.advance(zero + after(120.0));
    assert!(machine.reachable() && machine.start("a.gcode").is_ok());
}
