#![expect(clippy::unwrap_used, reason = "tests")]

mod clocks;
mod verdict;

use proptest::prelude::*;

use super::*;
use crate::domain::aggregate::{Aggregate, Decision};
use crate::domain::amount::Amount;
use crate::domain::launch::{LaunchNeeds, MaterialNeed};
use crate::domain::order::{Report, Resolution};
use crate::domain::printer_status::{PastPrint, ServerRun, Status};
use crate::domain::refusal::Refusal;
use crate::domain::sku::Dimensions;
use crate::domain::testing::{Bench, id};

/// The file was deleted, and the history covers the time since the start.
pub(super) const REVOKED: Evidence = Evidence::Revoked { server: ServerRun::Unbroken, unwatched_ms: None };

pub(super) const OURS: &str = "JOB-000001_x.gcode";

pub(super) struct PrinterFixture {
    pub(super) bench: Bench,
    printer: Option<Printer>,
}

fn fields() -> PrinterFields {
    PrinterFields {
        name: "one".into(),
        kind: "fw_rest".into(),
        machine_type: MachineType::FdmStandard,
        base_url: "http://printer:7125".into(),
        encrypted_api_key: String::new(),
        serial: None,
        build_volume: Some(Dimensions { x: 200.0, y: 200.0, z: 200.0 }),
        auto_clear: false,
        loaded_material_id: None,
        nozzle: None,
        plate_type: None,
        location: None,
        tags: Vec::new(),
    }
}

pub(super) fn take(attempt: u32) -> PrinterCommand {
    PrinterCommand::Take {
        attempt: id(attempt),
        job: id(21),
        order: id(22),
        file_id: id(23),
        file_name: OURS.into(),
        claimed_at: crate::domain::time::Timestamp(i64::MAX),
        needs: Box::new(needs(&[(24, 10)])),
        stated_mm: Some(1000.0),
        estimated_seconds: Some(600),
    }
}

/// What a job needs: grams of materials.
pub(super) fn needs(materials: &[(u32, i64)]) -> LaunchNeeds {
    let need =
        |(material, grams): &(u32, i64)| MaterialNeed { material_id: id(*material), need: Amount::units(*grams) };
    LaunchNeeds {
        machine_type: MachineType::FdmStandard,
        dimensions: None,
        form: Default::default(),
        sliced_for: Default::default(),
        materials: materials.iter().map(need).collect(),
    }
}

pub(super) const ATTEMPT: u32 = 20;

impl PrinterFixture {
    pub(super) fn idle() -> Self {
        let mut shop = Self { bench: Bench::new(), printer: None };
        shop.ask(PrinterCommand::Create(Box::new(fields()))).unwrap();
        shop.sees(Activity::Idle, None, None);
        shop
    }
    pub(super) fn taken() -> Self {
        let mut shop = Self::idle();
        assert!(matches!(shop.ask(take(ATTEMPT)).unwrap().answer, PrinterAnswer::Done));
        shop
    }
    pub(super) fn started() -> Self {
        let mut shop = Self::taken();
        assert!(matches!(shop.uploaded().answer, PrinterAnswer::Go));
        shop
    }
    pub(super) fn printing() -> Self {
        let mut shop = Self::started();
        shop.sees(Activity::Printing, Some(OURS), None);
        assert!(matches!(shop.phase(), Phase::Printing { .. }));
        shop
    }
    pub(super) fn ask(&mut self, command: PrinterCommand) -> Result<Decision<Printer>, Refusal> {
        self.bench.tell(&mut self.printer, id(1), &command)
    }
    pub(super) fn uploaded(&mut self) -> Decision<Printer> {
        self.ask(PrinterCommand::Uploaded {
            attempt: id(ATTEMPT),
            remote_name: format!("sub/{OURS}"),
            server_mark: Some("run 1".into()),
        })
        .unwrap()
    }
    pub(super) fn judged(&mut self, evidence: Evidence) -> Decision<Printer> {
        self.ask(PrinterCommand::Judged { attempt: id(ATTEMPT), evidence: Box::new(evidence) }).unwrap()
    }
    pub(super) fn status(&mut self, state: Activity, file: Option<&str>, ended: Option<PrintEnd>) -> Status {
        self.bench.now = self.bench.now.plus_ms(1000);
        let (file, connection) = (file.map(str::to_owned), Connection::Connected);
        Status { state, connection, file, ended, updated_at: self.bench.now, ..Status::default() }
    }
    pub(super) fn sees(&mut self, state: Activity, file: Option<&str>, ended: Option<PrintEnd>) -> Decision<Printer> {
        let status = self.status(state, file, ended);
        self.tell(status)
    }
    pub(super) fn tell(&mut self, status: Status) -> Decision<Printer> {
        let matters = self.p().matters(&status, self.bench.now);
        let decision = self.ask(PrinterCommand::Seen(Box::new(status))).unwrap();
        assert_eq!(matters, decision.next.is_some(), "what matters is what changes");
        decision
    }
    pub(super) fn silent(&mut self) -> Decision<Printer> {
        self.ask(PrinterCommand::Silent(Connection::Unreachable, "no answer".into(), Some(self.bench.now))).unwrap()
    }
    pub(super) fn now(&self) -> Timestamp {
        self.bench.now
    }
    /// Whether the print of the attempt in hand was seen and has not ended.
    pub(super) fn prints_ours(&self) -> bool {
        let phase = self.p().in_hand.as_ref().map(|in_hand| &in_hand.phase);
        matches!(phase, Some(Phase::Printing { .. } | Phase::Paused { .. }))
    }
    /// The order hears the latest report on this attempt.
    pub(super) fn heard_of(&mut self, attempt: u32) {
        let step = self.p().in_hand.as_ref().unwrap().step;
        self.ask(PrinterCommand::Heard { attempt: id(attempt), step, wanted: false }).unwrap();
    }
    pub(super) fn p(&self) -> &Printer {
        self.printer.as_ref().unwrap()
    }
    fn phase(&self) -> Phase {
        self.p().in_hand.as_ref().unwrap().phase.clone()
    }
    pub(super) fn report(&self) -> Report {
        report_of(self.p().in_hand.as_ref().unwrap())
    }
    pub(super) fn heard(&mut self, wanted: bool) {
        let step = self.p().in_hand.as_ref().unwrap().step;
        self.ask(PrinterCommand::Heard { attempt: id(ATTEMPT), step, wanted }).unwrap();
    }
    fn effects(&self, what: fn(&PrinterEffect) -> bool) -> bool {
        self.p().effects().iter().any(what)
    }
}

pub(super) fn refused(decision: &Decision<Printer>) -> bool {
    matches!(decision.answer, PrinterAnswer::NotTaken(_))
}

#[test]
fn the_whole_way_of_an_attempt() {
    let mut shop = PrinterFixture::printing();
    shop.heard(true);
    assert!(!shop.effects(|effect| matches!(effect, PrinterEffect::Report { .. } | PrinterEffect::Run { .. })));
    assert!(shop.sees(Activity::Printing, Some(OURS), None).next.is_none(), "telemetry costs no commit");
    shop.sees(Activity::Paused, Some(OURS), None);
    assert_eq!(shop.report(), Report::Paused);
    let mut status = shop.status(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    status.filament_mm = Some(1200.0);
    shop.tell(status);
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Finished, filament_mm: Some(1200.0), .. }));
    assert_eq!(shop.p().attention(), [Attention::BedNotCleared]);
    shop.heard(false);
    assert!(shop.p().in_hand.is_none());
    assert_eq!(shop.p().free(), Err("bed not cleared".into()));
    shop.ask(PrinterCommand::BedCleared).unwrap();
    assert_eq!(shop.p().free(), Ok(()));
    assert!(refused(&shop.ask(take(ATTEMPT)).unwrap()), "an attempt that is over is never taken again");
}

#[test]
fn exactly_one_caller_hears_go() {
    let mut shop = PrinterFixture::started();
    assert!(matches!(shop.uploaded().answer, PrinterAnswer::Done));
    assert!(matches!(shop.ask(take(ATTEMPT)).unwrap().answer, PrinterAnswer::Done));
    assert!(matches!(shop.uploaded().answer, PrinterAnswer::Done));
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. })));
}

#[test]
fn standby_after_the_start_proves_nothing() {
    let mut shop = PrinterFixture::started();
    shop.sees(Activity::Idle, None, None);
    shop.sees(Activity::Idle, Some("other.gcode"), Some(PrintEnd::Finished));
    shop.sees(Activity::Idle, Some(OURS), None);
    assert!(matches!(shop.phase(), Phase::StartSent { .. }));
}

fn past(ended: Option<PrintEnd>) -> PastPrint {
    PastPrint { file: OURS.into(), ended, cut_off: false, filament_mm: None, started_at: None, ended_at: None }
}

#[test]
fn the_verdict_goes_by_evidence() {
    let mut shop = PrinterFixture::started();
    shop.judged(REVOKED);
    assert!(matches!(shop.report(), Report::NotStarted { start_sent: true, counts: true, .. }));
    let mut shop = PrinterFixture::started();
    shop.judged(Evidence::Remembers(past(Some(PrintEnd::Failed))));
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, .. }));
    let mut shop = PrinterFixture::started();
    shop.judged(Evidence::Remembers(past(None)));
    assert_eq!(shop.report(), Report::Printing);
    shop.judged(REVOKED);
    assert_eq!(shop.report(), Report::Printing, "a print that was seen is not revoked");
    let mut shop = PrinterFixture::started();
    shop.judged(Evidence::Unclear("no answer".into()));
    assert_eq!(shop.p().attention(), [Attention::Unverified]);
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. })), "it is judged again");
    assert!(refused(&shop.ask(take(99)).unwrap()));
    shop.sees(Activity::Printing, Some(OURS), None);
    assert_eq!(shop.report(), Report::Printing);
}

#[test]
fn a_print_that_is_gone_has_failed() {
    for (state, file) in [(Activity::Idle, None), (Activity::Printing, Some("other.gcode")), (Activity::Error, None)] {
        let mut shop = PrinterFixture::printing();
        let mut late = shop.status(state, file, None);
        late.updated_at = late.updated_at.plus_ms(-60_000);
        shop.tell(late);
        assert_eq!(shop.report(), Report::Printing, "a look from before proves nothing");
        shop.sees(state, file, None);
        assert_eq!(shop.report(), Report::Printing, "its history is asked first");
        assert!(shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. })));
        shop.judged(Evidence::Forgets);
        assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, reason: Some(_), .. }));
        assert!(shop.p().print_failed && shop.p().bed_not_cleared);
    }
}

#[test]
fn progress_is_kept_by_tenths_and_never_taken_back() {
    let mut shop = PrinterFixture::printing();
    for (told, changes) in [(12.0, true), (15.0, false), (47.0, true)] {
        let mut status = shop.status(Activity::Printing, Some(OURS), None);
        status.progress = told;
        assert_eq!(shop.tell(status).next.is_some(), changes);
    }
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Cancelled));
    assert!(matches!(shop.report(), Report::Ended { progress, .. } if (progress - 0.47).abs() < 1e-9));
}

#[test]
fn an_outage_is_told_once_and_holds_the_attempt() {
    let mut shop = PrinterFixture::printing();
    let outage = shop.silent();
    let events = outage.events;
    assert!(matches!(&outage.created[..], [mail] if mail.subject.starts_with("Printer lost: ")), "a person is told");
    assert_eq!((events[0].event.as_str(), &events[0].data["jobId"]), ("printer.offline", &serde_json::json!(id(21))));
    assert!(events[0].data["lastSeenAt"].is_string());
    assert!(shop.silent().next.is_none());
    assert_eq!(shop.p().attention(), [Attention::Unreachable]);
    assert_eq!(shop.report(), Report::Printing);
    assert_eq!(shop.sees(Activity::Printing, Some(OURS), None).events[0].event, "printer.online");
}

#[test]
fn a_foreign_print_is_shown_and_never_overridden() {
    let mut shop = PrinterFixture::idle();
    shop.sees(Activity::Printing, Some("theirs.gcode"), None);
    assert_eq!(shop.p().attention(), [Attention::ForeignPrint]);
    assert!(refused(&shop.ask(take(ATTEMPT)).unwrap()));
    let mut shop = PrinterFixture::taken();
    shop.sees(Activity::Printing, Some("theirs.gcode"), None);
    assert!(matches!(shop.uploaded().answer, PrinterAnswer::Done));
    assert!(matches!(shop.report(), Report::NotStarted { start_sent: false, counts: false, .. }));
}

#[test]
fn a_cancel_acts_at_once_before_the_start_and_at_the_printer_after_it() {
    let mut shop = PrinterFixture::taken();
    shop.ask(PrinterCommand::CancelAttempt(id(ATTEMPT))).unwrap();
    assert_eq!(shop.report(), Report::CancelledBeforeStart);
    assert!(matches!(shop.uploaded().answer, PrinterAnswer::Done));
    let mut shop = PrinterFixture::started();
    shop.ask(PrinterCommand::CancelAttempt(id(ATTEMPT))).unwrap();
    assert!(!shop.effects(|effect| matches!(effect, PrinterEffect::CancelPrint { .. })));
    shop.sees(Activity::Printing, Some(OURS), None);
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::CancelPrint { .. })));
    let mut shop = PrinterFixture::idle();
    let decision = shop.ask(PrinterCommand::CancelAttempt(id(ATTEMPT))).unwrap();
    assert!(matches!(decision.answer, PrinterAnswer::NotInHand));
    assert!(refused(&shop.ask(take(ATTEMPT)).unwrap()), "also when it comes later");
}

#[test]
fn an_operators_word_ends_what_nobody_can_verify() {
    for outcome in [Resolution::NotStarted, Resolution::Finished, Resolution::Failed] {
        let mut shop = PrinterFixture::started();
        shop.judged(Evidence::Unclear("no answer".into()));
        shop.ask(PrinterCommand::Resolved { attempt: id(ATTEMPT), outcome }).unwrap();
        assert_eq!(matches!(shop.report(), Report::NotStarted { .. }), outcome == Resolution::NotStarted);
        assert_eq!(shop.p().bed_not_cleared, outcome != Resolution::NotStarted);
        shop.heard(false);
        assert!(shop.p().in_hand.is_none());
    }
    // Given up while it is shown: cancelled, and over once the printer is not reachable.
    let mut shop = PrinterFixture::printing();
    shop.ask(PrinterCommand::Resolved { attempt: id(ATTEMPT), outcome: Resolution::Failed }).unwrap();
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::CancelPrint { .. })));
    shop.silent();
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, .. }));
}

#[test]
fn what_the_order_does_not_want_is_dropped_before_the_start_and_stopped_after_it() {
    let mut shop = PrinterFixture::taken();
    shop.heard(false);
    assert!(shop.p().in_hand.is_none());
    let mut shop = PrinterFixture::printing();
    shop.heard(false);
    assert!(shop.effects(|effect| matches!(effect, PrinterEffect::CancelPrint { .. })));
}

#[test]
fn an_emergency_stop_fails_the_job_and_waits_for_homing() {
    let mut shop = PrinterFixture::printing();
    let before = shop.status(Activity::Idle, None, None);
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, reason: Some(_), .. }));
    shop.heard(false);
    shop.ask(PrinterCommand::BedCleared).unwrap();
    shop.tell(Status { homed: Some(true), ..before });
    assert_eq!(shop.p().attention(), [Attention::NeedsHome], "homed before the stop does not count");
    let after = shop.status(Activity::Idle, None, None);
    shop.tell(Status { homed: Some(true), ..after });
    assert_eq!(shop.p().free(), Ok(()));
    // A stop before the print was seen: the attempt is stopped, and the bed is dirty only if the print may have
    // begun.
    for (mut shop, may_have_begun) in [(PrinterFixture::taken(), false), (PrinterFixture::started(), true)] {
        shop.ask(PrinterCommand::EmergencyStopped).unwrap();
        assert!(matches!(shop.report(), Report::Stopped { .. }));
        assert!(matches!(shop.uploaded().answer, PrinterAnswer::Done), "no start goes out");
        shop.sees(Activity::Printing, Some(OURS), None);
        assert!(matches!(shop.report(), Report::Stopped { .. }), "an end stays");
        assert_eq!(shop.p().bed_not_cleared, may_have_begun);
        shop.heard(false);
        assert!(shop.p().free().is_err());
    }
    let mut shop = PrinterFixture::started();
    shop.judged(Evidence::Unclear("no answer".into()));
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert!(matches!(shop.report(), Report::Stopped { .. }));
    // Claimed for this printer before the stop, but not offered to it yet.
    let mut shop = PrinterFixture::idle();
    let claimed_at = shop.bench.now;
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    let mut late = take(ATTEMPT);
    if let PrinterCommand::Take { claimed_at: at, .. } = &mut late {
        *at = claimed_at;
    }
    assert!(matches!(shop.ask(late).unwrap().answer, PrinterAnswer::Stopped(_)));
    assert!(refused(&shop.ask(take(ATTEMPT)).unwrap()), "and never taken");
    let mut shop = PrinterFixture::idle();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    shop.ask(PrinterCommand::Homed).unwrap();
    assert_eq!(shop.p().free(), Ok(()), "nothing was on, nothing lies on the bed");
}

#[test]
fn a_printer_with_work_in_hand_stays_where_it_is() {
    let mut shop = PrinterFixture::taken();
    let busy = |refused: Result<Decision<Printer>, Refusal>| refused.unwrap_err().code == "printer_busy";
    let elsewhere = PrinterFields { base_url: "http://other".into(), ..fields() };
    assert!(busy(shop.ask(PrinterCommand::Update { if_version: None, fields: Box::new(elsewhere) })));
    assert!(busy(shop.ask(PrinterCommand::Archive)));
    assert!(busy(shop.ask(PrinterCommand::Connect(false))));
    let named = PrinterFields { name: "two".into(), ..fields() };
    shop.ask(PrinterCommand::Update { if_version: None, fields: Box::new(named) }).unwrap();
    let mut shop = PrinterFixture::idle();
    shop.ask(PrinterCommand::Connect(false)).unwrap();
    assert!(shop.p().effects().is_empty());
    assert!(shop.sees(Activity::Idle, None, None).next.is_none());
    shop.ask(PrinterCommand::Archive).unwrap();
    assert!(shop.p().at_rest());
    assert_eq!(shop.ask(PrinterCommand::BedCleared).unwrap_err().code, "printer_not_found");
}

#[test]
fn the_head_survives_its_json_and_stays_small() {
    let mut shop = PrinterFixture::printing();
    for n in 100..200 {
        shop.ask(PrinterCommand::CancelAttempt(id(n))).unwrap();
    }
    let text = serde_json::to_string(shop.p()).unwrap();
    assert!(text.len() < 4096, "{}", text.len());
    assert_eq!(&serde_json::from_str::<Printer>(&text).unwrap(), shop.p());
    for (state, ended) in [(Activity::Paused, None), (Activity::Idle, Some(PrintEnd::Failed))] {
        shop.sees(state, Some(OURS), ended);
        let text = serde_json::to_string(shop.p()).unwrap();
        assert_eq!(&serde_json::from_str::<Printer>(&text).unwrap(), shop.p());
    }
    for mut shop in [PrinterFixture::taken(), PrinterFixture::started()] {
        let text = serde_json::to_string(shop.p()).unwrap();
        assert_eq!(&serde_json::from_str::<Printer>(&text).unwrap(), shop.p());
        shop.judged(Evidence::Unclear("no answer".into()));
        shop.ask(PrinterCommand::CancelAttempt(id(ATTEMPT))).unwrap();
        let text = serde_json::to_string(shop.p()).unwrap();
        assert_eq!(&serde_json::from_str::<Printer>(&text).unwrap(), shop.p());
    }
}

proptest! {
    /// Reports, statuses, verdicts and acknowledgements in any order: each attempt gets one `Go`, steps only grow,
    /// and an end stays.
    #[test]
    fn an_attempt_gets_one_go_and_its_end_stays(script in prop::collection::vec(any::<(u8, u8)>(), 0..80)) {
        let mut shop = PrinterFixture::idle();
        let (mut gos, mut attempt) = (0, ATTEMPT);
        for (what, how) in script {
            let before = shop.p().in_hand.clone();
            let file = [Some(OURS), None, Some("other.gcode")][usize::from(how) % 3];
            let state = [Activity::Idle, Activity::Printing, Activity::Paused, Activity::Error][usize::from(how / 3) % 4];
            let ended = [None, Some(PrintEnd::Finished), Some(PrintEnd::Failed)][usize::from(how / 12) % 3];
            let held = id(attempt);
            let decision = match what % 12 {
                0 => shop.ask(take(attempt)).unwrap(),
                1 => shop.ask(PrinterCommand::Uploaded { attempt: held, remote_name: OURS.into(), server_mark: None }).unwrap(),
                2 => shop.ask(PrinterCommand::StartRefused { attempt: held, reason: "no".into() }).unwrap(),
                3 => shop.ask(PrinterCommand::UploadFailed { attempt: held, why: StartFailure::Refused, reason: "no".into() }).unwrap(),
                4 => shop.judged(if how.is_multiple_of(2) { REVOKED } else { Evidence::Unclear("?".into()) }),
                5 => shop.ask(PrinterCommand::CancelAttempt(held)).unwrap(),
                6 => shop.ask(PrinterCommand::Heard { attempt: held, step: u32::from(how % 6), wanted: !how.is_multiple_of(4) }).unwrap(),
                7 => shop.silent(),
                8 => shop.ask(PrinterCommand::Resolved { attempt: held, outcome: Resolution::Finished }).unwrap(),
                9 if how.is_multiple_of(4) => shop.ask(PrinterCommand::EmergencyStopped).unwrap(),
                9 => {
                    shop.ask(PrinterCommand::Homed).unwrap();
                    shop.ask(PrinterCommand::BedCleared).unwrap()
                }
                _ => shop.sees(state, file, ended),
            };
            gos += u32::from(matches!(decision.answer, PrinterAnswer::Go));
            prop_assert!(gos <= 1);
            match (before, &shop.p().in_hand) {
                (Some(before), Some(after)) if before.attempt == after.attempt => {
                    prop_assert!(after.step >= before.step && after.heard >= before.heard && after.heard <= after.step);
                    prop_assert!(!before.over() || before.phase == after.phase);
                    prop_assert!(before.phase == after.phase || after.step > before.step);
                }
                (Some(_), None) => (attempt, gos) = (attempt + 1, 0),
                _ => {}
            }
            if shop.p().past.contains(&id(attempt)) {
                (attempt, gos) = (attempt + 1, 0);
            }
        }
    }
}
