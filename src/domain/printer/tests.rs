#![expect(clippy::unwrap_used, reason = "tests")]

mod attempt;
mod clocks;
mod evidence;
mod readiness;
mod registration;
mod spools;
mod statuses;
mod suspected;
mod verdict;

use super::*;
use crate::aggregate::{Aggregate, Command, Decision};
use crate::amount::Amount;
use crate::launch::{LaunchNeeds, MaterialNeed, SlicingTarget, UsedFilament};
use crate::order::{Report, Resolution};
use crate::printer_status::{PastPrint, PrintEnd, ServerRun, Status};
use crate::refusal::Refusal;
use crate::sku::Dimensions;
use crate::testing::samples::printer_fields;
use crate::testing::{Bench, id};

/// Evidence that the file was deleted while the history covers the time since the start.
pub(super) const REVOKED: Evidence = Evidence::Revoked { server: ServerRun::Unbroken, unwatched_ms: None };

pub(super) const OURS: &str = "JOB-000001_x.gcode";

pub(super) struct PrinterFixture {
    pub(super) bench: Bench,
    pub(super) printer: Option<Printer>,
}

fn fields() -> PrinterFields {
    let build_volume = Some(Dimensions { x: 200.0, y: 200.0, z: 200.0 });
    PrinterFields { build_volume, ..printer_fields("one", MachineType::FdmStandard) }
}

pub(super) fn take(attempt: u32) -> TakeAttempt {
    TakeAttempt {
        attempt: id(attempt),
        job: id(21),
        order: id(22),
        file_id: id(23),
        file_name: OURS.into(),
        claimed_at: crate::time::Timestamp(i64::MAX),
        needs: Box::new(needs(&[(24, 10)])),
        types: Default::default(),
        stated_mm: Some(1000.0),
        estimated_seconds: Some(600),
    }
}

/// Builds a job's needs: grams by material, where material 25 is filament 1 of the file, 26 is filament 2, and so on.
pub(super) fn needs(materials: &[(u32, i64)]) -> LaunchNeeds {
    let need =
        |(material, grams): &(u32, i64)| MaterialNeed { material_id: id(*material), need: Amount::units(*grams) };
    let used = |(material, _): &(u32, i64)| UsedFilament {
        filament: material.saturating_sub(24),
        material_id: id(*material),
        grams: None,
    };
    LaunchNeeds {
        machine_type: MachineType::FdmStandard,
        dimensions: None,
        form: Default::default(),
        sliced_for: SlicingTarget { filaments: materials.iter().map(used).collect(), ..SlicingTarget::default() },
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
    pub(super) fn with_attempt() -> Self {
        let mut shop = Self::idle();
        assert!(matches!(shop.ask(take(ATTEMPT)).unwrap().answer, TakeAnswer::Accepted));
        shop
    }
    pub(super) fn started() -> Self {
        let mut shop = Self::with_attempt();
        assert!(matches!(shop.uploaded().answer, UploadAnswer::Go));
        shop
    }
    pub(super) fn printing() -> Self {
        let mut shop = Self::started();
        shop.sees(Activity::Printing, Some(OURS), None);
        assert!(matches!(shop.phase(), AttemptPhase::Printing { .. }));
        shop
    }
    pub(super) fn ask<C: Command<Printer>>(&mut self, command: C) -> Result<Decision<Printer, C::Answer>, Refusal> {
        self.bench.tell(&mut self.printer, id(1), &command)
    }
    pub(super) fn uploaded(&mut self) -> Decision<Printer, UploadAnswer> {
        self.ask(PrinterUpload::Attempt {
            attempt: id(ATTEMPT),
            remote_name: format!("sub/{OURS}"),
            server_mark: Some("run 1".into()),
        })
        .unwrap()
    }
    pub(super) fn judged(&mut self, evidence: Evidence) -> Decision<Printer> {
        self.ask(PrinterNews::Judged { attempt: id(ATTEMPT), evidence: Box::new(evidence) }).unwrap()
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
        let decision = self.ask(PrinterNews::Seen(Box::new(status))).unwrap();
        assert_eq!(matters, decision.next.is_some(), "what matters is what changes");
        decision
    }
    pub(super) fn silent(&mut self) -> Decision<Printer> {
        self.ask(PrinterNews::Silent(Connection::Unreachable, "no answer".into(), Some(self.bench.now))).unwrap()
    }
    pub(super) fn now(&self) -> Timestamp {
        self.bench.now
    }
    /// Returns whether the print of the attempt in hand was observed and has not ended.
    pub(super) fn prints_ours(&self) -> bool {
        let phase = self.p().in_hand.as_ref().map(|in_hand| &in_hand.phase);
        matches!(phase, Some(AttemptPhase::Printing { .. } | AttemptPhase::Paused { .. }))
    }
    /// Acknowledges the latest report on the given attempt on behalf of the order.
    pub(super) fn heard_of(&mut self, attempt: u32) {
        let step = self.p().in_hand.as_ref().unwrap().step;
        self.ask(PrinterNews::Heard { attempt: id(attempt), step, is_wanted: false }).unwrap();
    }
    pub(super) fn p(&self) -> &Printer {
        self.printer.as_ref().unwrap()
    }
    fn phase(&self) -> AttemptPhase {
        self.p().in_hand.as_ref().unwrap().phase.clone()
    }
    pub(super) fn report(&self) -> Report {
        report_of(self.p().in_hand.as_ref().unwrap())
    }
    pub(super) fn acknowledge(&mut self, is_wanted: bool) {
        let step = self.p().in_hand.as_ref().unwrap().step;
        self.ask(PrinterNews::Heard { attempt: id(ATTEMPT), step, is_wanted }).unwrap();
    }
    fn effects(&self, what: fn(&PrinterEffect) -> bool) -> bool {
        self.p().effects().iter().any(what)
    }
}

pub(super) fn refused(decision: &Decision<Printer, TakeAnswer>) -> bool {
    matches!(decision.answer, TakeAnswer::NotTaken(_))
}

fn past(ended: Option<PrintEnd>) -> PastPrint {
    let (filament_mm, started_at, ended_at) = (None, None, None);
    PastPrint { file: OURS.into(), ended, cut_off: false, filament_mm, started_at, ended_at, booked_on: Vec::new() }
}

#[test]
fn an_outage_is_told_once_and_holds_the_attempt() {
    let mut shop = PrinterFixture::printing();
    let outage = shop.silent();
    let events = outage.events;
    assert!(
        matches!(&outage.created[..], [mail] if mail.subject.starts_with("Printer unreachable: ")),
        "a person is told"
    );
    assert_eq!((events[0].event.as_str(), &events[0].data["jobId"]), ("printer.offline", &serde_json::json!(id(21))));
    assert!(events[0].data["lastSeenAt"].is_string());
    assert!(shop.silent().next.is_none());
    assert_eq!(shop.p().attention(), [Attention::Unreachable]);
    assert_eq!(shop.report(), Report::Printing);
    assert_eq!(shop.sees(Activity::Printing, Some(OURS), None).events[0].event, "printer.online");
}

#[test]
fn a_printer_that_comes_back_read_only_answers_again() {
    let mut shop = PrinterFixture::idle();
    shop.silent();
    let status = Status { connection: Connection::ReadOnly, ..shop.status(Activity::Idle, None, None) };
    let answered = shop.tell(status);
    assert_eq!(answered.events[0].event, "printer.online");
    assert_eq!(shop.p().attention(), [Attention::ReadOnly]);
    assert_eq!(shop.p().last_seen_at, Some(shop.now()));
    assert_eq!(shop.silent().events[0].event, "printer.offline", "the next outage is told as well");
}

#[test]
fn a_foreign_print_is_shown_and_never_overridden() {
    let mut shop = PrinterFixture::idle();
    shop.sees(Activity::Printing, Some("theirs.gcode"), None);
    assert_eq!(shop.p().attention(), [Attention::ForeignPrint]);
    assert!(refused(&shop.ask(take(ATTEMPT)).unwrap()));
    let mut shop = PrinterFixture::with_attempt();
    shop.sees(Activity::Printing, Some("theirs.gcode"), None);
    assert!(matches!(shop.uploaded().answer, UploadAnswer::Done));
    assert!(matches!(shop.report(), Report::NotStarted { start_sent: false, counts: false, .. }));
}

#[test]
fn an_emergency_stop_fails_the_job_and_waits_for_homing() {
    let mut shop = PrinterFixture::printing();
    let before = shop.status(Activity::Idle, None, None);
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, reason: Some(_), .. }));
    shop.acknowledge(false);
    shop.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
    shop.tell(Status { homed: Some(true), ..before });
    assert_eq!(shop.p().attention(), [Attention::NeedsHome], "homed before the stop does not count");
    let after = shop.status(Activity::Idle, None, None);
    shop.tell(Status { homed: Some(true), ..after });
    assert_eq!(shop.p().free(), Ok(()));
    // A stop before the print was seen: the attempt is stopped, and the bed is dirty only if the print may have
    // begun.
    for (mut shop, may_have_begun) in [(PrinterFixture::with_attempt(), false), (PrinterFixture::started(), true)] {
        shop.ask(PrinterCommand::EmergencyStopped).unwrap();
        assert!(matches!(shop.report(), Report::Stopped { .. }));
        assert!(matches!(shop.uploaded().answer, UploadAnswer::Done), "no start goes out");
        shop.sees(Activity::Printing, Some(OURS), None);
        assert!(matches!(shop.report(), Report::Stopped { .. }), "an end stays");
        assert_eq!(shop.p().bed_not_cleared, may_have_begun);
        shop.acknowledge(false);
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
    let late = TakeAttempt { claimed_at, ..take(ATTEMPT) };
    assert!(matches!(shop.ask(late).unwrap().answer, TakeAnswer::Stopped(_)));
    assert!(refused(&shop.ask(take(ATTEMPT)).unwrap()), "and never taken");
    let mut shop = PrinterFixture::idle();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    shop.ask(PrinterCommand::Homed).unwrap();
    assert_eq!(shop.p().free(), Ok(()), "nothing was on, nothing lies on the bed");
}

#[test]
fn a_printer_goes_on_after_a_print_unless_somebody_has_to_set_it_right() {
    let mut shop = PrinterFixture::printing();
    for activity in [Activity::Printing, Activity::Paused] {
        shop.sees(activity, Some(OURS), None);
        assert!(shop.p().goes_on() && !shop.p().is_free(), "{activity:?}");
    }
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    shop.acknowledge(false);
    assert!(shop.p().bed_not_cleared && shop.p().goes_on() && !shop.p().is_free(), "the bed is cleared anyway");
    shop.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
    assert!(shop.p().goes_on() && shop.p().is_free());
    shop.sees(Activity::Printing, Some("theirs.gcode"), None);
    assert!(shop.p().goes_on() && !shop.p().is_free(), "another print ends as well");
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert!(!shop.p().goes_on(), "it must be homed");
}

#[test]
fn a_printer_with_work_in_hand_stays_where_it_is() {
    let mut shop = PrinterFixture::with_attempt();
    let busy = |refused: Result<Decision<Printer, PrinterAnswer>, Refusal>| refused.unwrap_err().code == "printer_busy";
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
    assert_eq!(shop.ask(PrinterCommand::BedCleared(Default::default())).unwrap_err().code, "printer_not_found");
}

#[test]
fn the_head_survives_its_json_and_stays_small() {
    let mut shop = PrinterFixture::printing();
    for n in 100..200 {
        shop.ask(AttemptCommand::Cancel(id(n))).unwrap();
    }
    let text = serde_json::to_string(shop.p()).unwrap();
    assert!(text.len() < 4096, "{}", text.len());
    assert_eq!(&serde_json::from_str::<Printer>(&text).unwrap(), shop.p());
    for (state, ended) in [(Activity::Paused, None), (Activity::Idle, Some(PrintEnd::Failed))] {
        shop.sees(state, Some(OURS), ended);
        let text = serde_json::to_string(shop.p()).unwrap();
        assert_eq!(&serde_json::from_str::<Printer>(&text).unwrap(), shop.p());
    }
    for mut shop in [PrinterFixture::with_attempt(), PrinterFixture::started()] {
        let text = serde_json::to_string(shop.p()).unwrap();
        assert_eq!(&serde_json::from_str::<Printer>(&text).unwrap(), shop.p());
        shop.judged(Evidence::Unclear("no answer".into()));
        shop.ask(AttemptCommand::Cancel(id(ATTEMPT))).unwrap();
        let text = serde_json::to_string(shop.p()).unwrap();
        assert_eq!(&serde_json::from_str::<Printer>(&text).unwrap(), shop.p());
    }
}
