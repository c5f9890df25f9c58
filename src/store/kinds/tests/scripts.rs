//! Tests with random scripts of commands for access, printers, endpoints and stored payment events. In whatever order
//! commands are accepted, the state and all additional rows must read back unchanged.

use proptest::prelude::*;

use super::{any_text, any_time, decided, id, up_to};
use domain::access::{Access, AccessCommand, AddKey, OpenStaffSession, RevokeKey, StaffCommand, UserEdit};
use domain::amount::Amount;
use domain::bounds::{MAX_AMOUNT, MAX_CENTS};
use domain::endpoint::{
    Delivery, DeliveryAttempt, DeliveryCommand, DueEvent, Endpoint, EndpointCommand, EndpointNews, ReplayEvents,
};
use domain::id::Id;
use domain::kept_payment_event::{KeptPaymentEvent, KeptPaymentEventCommand, Unmatched, UnmatchedKind};
use domain::launch::{FilamentSlot, LaunchNeeds, MaterialNeed, SlicingTarget};
use domain::order::Resolution;
use domain::principal::Role;
use domain::printer::{
    ActRecord, AttemptCommand, DirectAction, Evidence, PrintManually, Printer, PrinterCommand, PrinterNews,
    PrinterUpload, Spool, SpoolBinding, StartFailure, TakeAttempt,
};
use domain::printer_status::{Activity, Connection, PastPrint, PrintEnd, ReportedSlot, ServerRun, Status};
use domain::sign_off::Inspection;
use domain::sku::MachineType;
use domain::testing::commands::{AnyAccessCommand, AnyEndpointCommand, AnyPrinterCommand};
use domain::testing::samples::printer_fields;
use domain::testing::{Bench, id as one};
use domain::time::Timestamp;

/// Step of a script: the action, its target, and the values of the command.
#[derive(Clone, Debug)]
struct Step {
    what: u8,
    which: usize,
    yes: bool,
    text: String,
    number: i64,
    fraction: f64,
    at: Timestamp,
}

prop_compose! {
    fn any_step()(
        what: u8, which: usize, yes: bool, text in any_text(), number in prop_oneof![up_to(MAX_AMOUNT.0), any::<i64>()],
        fraction in prop_oneof![Just(1e300), Just(f64::NAN), Just(-1.0), 0.0..100.0_f64], at in any_time(),
    ) -> Step {
        Step { what, which, yes, text, number, fraction, at }
    }
}

fn any_script() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(any_step(), 1..40)
}

impl Step {
    /// Picks one of the given IDs; returns an unknown ID if there are none.
    fn pick(&self, ids: impl Iterator<Item = Id>) -> Id {
        let mut ids: Vec<Id> = ids.collect();
        ids.sort_unstable();
        ids.get(self.which % ids.len().max(1)).copied().unwrap_or(Id::ONLY)
    }
    fn text_if(&self, condition: bool) -> Option<String> {
        condition.then(|| self.text.clone())
    }
    fn one_of<T: Clone>(&self, these: &[T]) -> T {
        these[self.which % these.len()].clone()
    }
}

fn access_command(step: &Step, access: Option<&Access>) -> AnyAccessCommand {
    let now = access.cloned().unwrap_or_default();
    let user = step.pick(now.users.keys().copied());
    let session = step.pick(now.sessions.values().map(|session| session.id));
    let key = step.pick(now.keys.values().map(|key| key.id));
    let role = step.one_of(&[Role::Admin, Role::Operator, Role::Customer]);
    let hash = format!("{}-{}", step.which, step.text);
    match step.what % 9 {
        0 => {
            let email = format!("u{}@example.com", step.which % 7);
            StaffCommand::Add { email, name: step.text.clone(), password_hash: hash, role }.into()
        }
        1 => {
            let change = UserEdit {
                name: step.text_if(step.yes),
                language: (step.number % 3 == 0).then(|| step.yes.then_some(words::Language::German)),
                role: step.yes.then_some(role),
                active: Some(step.fraction > 50.0),
                password_hash: (step.number % 2 == 0).then_some(hash),
            };
            StaffCommand::Update { id: user, if_version: None, checked_hash: None, change, keep: Some(session) }.into()
        }
        2 => StaffCommand::Remove(user).into(),
        3 => AddKey {
            name: step.text.clone(),
            hash,
            prefix: "key_test_".to_owned(),
            last4: step.text.chars().take(4).collect(),
            role,
            customer_email: step.yes.then(|| "C@Example.com".to_owned()),
            expires_at: (step.number % 2 == 0).then_some(step.at),
        }
        .into(),
        4 => RevokeKey(key).into(),
        5 | 6 => {
            let checked_hash = now.user(user).map(|user| user.password_hash.clone()).unwrap_or_default();
            OpenStaffSession { user, checked_hash, hash, agent: step.text_if(step.yes), proof: None }.into()
        }
        7 => AccessCommand::Used { keys: vec![(key, step.at)], sessions: vec![(session, step.at)] }.into(),
        _ => AccessCommand::Sweep { idle_ms: step.number, life_ms: step.number }.into(),
    }
}

/// Builds a printer status with all sorts of numbers and texts.
fn status(step: &Step, files: &[String]) -> Status {
    let slot = ReportedSlot {
        slot: step.which as u32 % 5,
        vendor_code: step.text_if(step.yes),
        kind: step.text_if(!step.yes),
        color: Some("#A0B0C0".to_owned()),
        remaining: Some(Amount(step.number)),
    };
    Status {
        state: step.one_of(&[Activity::Printing, Activity::Idle, Activity::Paused, Activity::Error, Activity::Offline]),
        connection: if step.which.is_multiple_of(7) { Connection::FirmwareDisconnected } else { Connection::Connected },
        file: step.yes.then(|| step.one_of(files)),
        ended: step.one_of(&[None, Some(PrintEnd::Finished), Some(PrintEnd::Cancelled), Some(PrintEnd::Failed)]),
        progress: step.fraction,
        cancelling: step.number % 3 == 0,
        remaining_seconds: Some(step.number),
        layer: None,
        filament_mm: Some(step.fraction),
        nozzle: step.fraction,
        bed: step.fraction,
        heaters: Default::default(),
        homed: Some(step.yes),
        message: Some(step.text.clone()),
        slots: if step.number % 2 == 0 { vec![slot] } else { Vec::new() },
        books_on: None,
        runs: None,
        updated_at: step.at,
    }
}

fn needs(step: &Step) -> LaunchNeeds {
    LaunchNeeds {
        machine_type: MachineType::FdmStandard,
        dimensions: None,
        form: Default::default(),
        sliced_for: SlicingTarget::default(),
        materials: vec![MaterialNeed { material_id: one(24), need: Amount(step.number.clamp(0, MAX_AMOUNT.0)) }],
    }
}

/// Builds a command about an attempt.
fn attempt_command(step: &Step, at: Id, files: &[String], printer_status: Status) -> AnyPrinterCommand {
    let text = step.text.clone();
    match step.what % 24 {
        0 | 1 => TakeAttempt {
            attempt: at,
            job: one(21),
            order: one(22),
            file_id: one(23),
            file_name: files[0].clone(),
            claimed_at: Timestamp(i64::MAX),
            needs: Box::new(needs(step)),
            stated_mm: (0.0..1e9).contains(&step.fraction).then_some(step.fraction),
            estimated_seconds: Some(step.number.clamp(0, 31_622_400)),
            types: Default::default(),
        }
        .into(),
        2 | 3 => {
            PrinterUpload::Attempt { attempt: at, remote_name: files[0].clone(), server_mark: step.text_if(step.yes) }
                .into()
        }
        4 => PrinterNews::UploadFailed {
            attempt: at,
            why: step.one_of(&[
                StartFailure::Refused,
                StartFailure::DiskFull,
                StartFailure::Unreachable,
                StartFailure::Busy,
            ]),
            reason: text,
        }
        .into(),
        5 => PrinterNews::StartRefused { attempt: at, reason: text }.into(),
        6 => PrinterNews::Progressed { attempt: at, progress: step.fraction / 100.0 }.into(),
        7 => {
            let past = PastPrint {
                file: files[0].clone(),
                ended: Some(PrintEnd::Finished),
                cut_off: step.yes,
                filament_mm: Some(step.fraction),
                started_at: Some(step.at),
                ended_at: Some(step.at),
                booked_on: Vec::new(),
            };
            let server = step.one_of(&[ServerRun::Unbroken, ServerRun::Unknown, ServerRun::Restarted]);
            let evidence = step.one_of(&[
                Evidence::Shows(printer_status),
                Evidence::Remembers(past),
                Evidence::Forgets { server, stopped: step.number % 2 == 0, unseen_ms: Some(step.number) },
                Evidence::Revoked { server, unwatched_ms: Some(step.number) },
                Evidence::Unclear(text),
            ]);
            PrinterNews::Judged { attempt: at, evidence: Box::new(evidence) }.into()
        }
        8 => AttemptCommand::Cancel(at).into(),
        9 => {
            let outcome = step.one_of(&[Resolution::NotStarted, Resolution::Finished, Resolution::Failed]);
            AttemptCommand::Resolve { attempt: at, outcome }.into()
        }
        _ => PrinterNews::Heard { attempt: at, step: step.which as u32 % 6, is_wanted: step.yes }.into(),
    }
}

/// Builds a command for the printer. `attempt` is the last one offered to the printer.
fn printer_command(step: &Step, attempt: u32) -> AnyPrinterCommand {
    let files = [format!("JOB-000001_{attempt}.gcode"), step.text.clone(), "theirs.gcode".to_owned()];
    let (at, text) = (one(attempt), step.text.clone());
    let printer_status = Box::new(status(step, &files));
    match step.what % 24 {
        0..=10 => attempt_command(step, at, &files, *printer_status),
        11 => PrintManually {
            id: one(attempt + 1000),
            file_id: step.yes.then(|| one(23)),
            file_name: text,
            slots: if step.yes { vec![None, Some(FilamentSlot { slot: 1, spool: None })] } else { Vec::new() },
        }
        .into(),
        12 => PrinterUpload::Manual { id: one(attempt + 1000), remote_name: text }.into(),
        13 => PrinterNews::ManualOver { id: one(attempt + 1000), error: step.text_if(step.yes) }.into(),
        14 => PrinterCommand::EmergencyStopped.into(),
        15 => PrinterCommand::BedCleared(Inspection {
            good_count: Some(step.which as u32),
            reason: Some("adhesion".to_owned()),
            note: step.text_if(step.yes),
            photo_file_id: step.yes.then(|| one(23)),
        })
        .into(),
        16 => PrinterNews::Acted(Box::new(ActRecord {
            act: step.one_of(&[DirectAction::Gcode, DirectAction::PutFile, DirectAction::Pause]),
            detail: Some(text.clone()),
            of: step.yes.then(|| (one(22), one(21))),
            error: (!step.yes).then(|| ("printer_refused".to_owned(), text)),
        }))
        .into(),
        17 => PrinterCommand::Maintenance { on: step.yes, note: Some(text) }.into(),
        18 => {
            let (material_id, remaining) = (Some(one(24)), Some(Amount(step.number.clamp(0, MAX_AMOUNT.0))));
            let spool = step.yes.then_some(step.which as i64);
            let spool = Spool { material_id, spool, color: Some("#a0b0c0".to_owned()), remaining };
            PrinterCommand::LoadSlot { slot: step.which as u32 % 5, spool, expected: None }.into()
        }
        19 => {
            let binding = SpoolBinding { vendor_code: Some(text), color: None, material_id: one(24) };
            PrinterNews::SlotsReported { slots: printer_status.bounded().slots, bindings: vec![binding] }.into()
        }
        20 => PrinterNews::Silent(Connection::Unreachable, text, Some(step.at)).into(),
        21 => step.one_of(&[
            AnyPrinterCommand::from(PrinterCommand::Homed),
            PrinterCommand::ClearAttention(None).into(),
            PrinterCommand::Connect(step.yes).into(),
            PrinterNews::KeyShown(format!("{:08x}", step.number)).into(),
            PrinterNews::SignedOff(at).into(),
            PrinterCommand::RemoveSlot(step.which as u32 % 5).into(),
            PrinterNews::ManualUnclear(one(attempt + 1000)).into(),
        ]),
        _ => PrinterNews::Seen(printer_status).into(),
    }
}

fn endpoint_command(step: &Step, endpoint: &Endpoint, sent: &[Delivery]) -> AnyEndpointCommand {
    let due = |n: i64| DueEvent {
        event_id: Id(uuid::Uuid::from_u128(5_000_000 + (step.which as u128 % 100_000) * 10 + n as u128)),
        seq: endpoint.cursor + n,
        event: "order.paid".to_owned(),
        body: step.text.clone(),
    };
    match step.what % 12 {
        0 | 1 => EndpointNews::Follow { upto: endpoint.cursor + 3, due: (1..=3).map(due).collect() }.into(),
        2..=5 => {
            let delivery = step.pick(endpoint.window.keys().copied());
            let number = endpoint.window.get(&delivery).map_or(1, |delivery| delivery.attempts + 1);
            DeliveryAttempt {
                delivery,
                number,
                ok: step.which.is_multiple_of(3),
                status: step.yes.then_some(u16::MAX),
                error: step.text_if(step.yes),
                excerpt: Some(step.text.clone()),
                duration_ms: step.number,
            }
            .into()
        }
        6 => EndpointCommand::Enable.into(),
        7 => EndpointCommand::Rotate { encrypted_secret: step.text.clone() }.into(),
        8 => DeliveryCommand::Test(due(7)).into(),
        9 => ReplayEvents { since: step.at, count: step.which as u32 }.into(),
        10 => EndpointCommand::Update { if_version: None, url: step.text_if(step.yes), events: None, newest: 0 }.into(),
        _ => match sent.get(step.which % sent.len().max(1)) {
            Some(past) => DeliveryCommand::Redeliver(Box::new(past.clone())).into(),
            None => EndpointCommand::Enable.into(),
        },
    }
}

fn unmatched(step: &Step) -> Unmatched {
    Unmatched {
        kind: step.one_of(&[UnmatchedKind::Payment, UnmatchedKind::Refund, UnmatchedKind::PaymentFailed]),
        amount_cents: step.yes.then(|| step.number.clamp(0, MAX_CENTS)),
        currency: Some("usd".to_owned()),
        client_reference_id: Some(step.text.clone()),
        invoice_id: None,
        order_id: None,
        payment_intent: step.text_if(step.yes),
        session: step.text_if(!step.yes),
    }
}

proptest! {
    #[test]
    fn access_reads_back(script in any_script()) {
        let (mut bench, mut access, mut accepted) = (Bench::new(), None, 0);
        let first = StaffCommand::Add {
            email: "a@example.com".to_owned(), name: "A".to_owned(), password_hash: "h".to_owned(), role: Role::Admin,
        };
        prop_assert!(decided::<Access, _>(&bench, &mut access, Id::ONLY, &first).is_some());
        for step in script {
            bench.now = step.at;
            let command = access_command(&step, access.as_ref());
            accepted += u32::from(decided(&bench, &mut access, Id::ONLY, &command).is_some());
        }
        prop_assert!(access.is_some_and(|access| access.users.size() > 0) || accepted == 0);
    }

    #[test]
    fn printers_read_back(script in any_script()) {
        let (mut bench, mut printer, mut attempt) = (Bench::new(), None, 20);
        let mut fields = printer_fields("one", MachineType::FdmStandard);
        let Step { text, yes, .. } = script[0].clone();
        (fields.name, fields.serial, fields.auto_clear) = (text.clone(), Some(text), yes);
        prop_assert!(decided::<Printer, _>(&bench, &mut printer, id(1), &PrinterCommand::Create(Box::new(fields))).is_some());
        for step in script {
            bench.now = step.at;
            decided(&bench, &mut printer, id(1), &printer_command(&step, attempt));
            attempt += u32::from(printer.as_ref().is_some_and(|printer| printer.past.contains(&one(attempt))));
        }
    }

    #[test]
    fn endpoints_read_back(script in any_script()) {
        let (mut bench, mut endpoint, mut sent) = (Bench::new(), None, Vec::new());
        let create = EndpointCommand::Create {
            url: "https://example.com/hook".to_owned(), events: vec!["order.paid".to_owned()], encrypted_secret: script[0].text.clone(), cursor: 10,
        };
        prop_assert!(decided::<Endpoint, _>(&bench, &mut endpoint, id(1), &create).is_some());
        for step in script {
            bench.now = step.at;
            let Some(now) = &endpoint else { break };
            let command = endpoint_command(&step, now, &sent);
            sent.extend(decided(&bench, &mut endpoint, id(1), &command).into_iter().flat_map(|decided| decided.rows));
        }
    }

    #[test]
    fn kept_payment_events_read_back(script in any_script()) {
        let (mut bench, mut event) = (Bench::new(), None);
        for step in script {
            bench.now = step.at;
            let command = if event.is_none() {
                let about = (step.number % 5 != 0).then(|| Box::new(unmatched(&step)));
                KeptPaymentEventCommand::Keep { event_id: step.text.clone(), body: step.text.clone(), about }
            } else {
                KeptPaymentEventCommand::Tried { matched: step.which.is_multiple_of(10) }
            };
            decided::<KeptPaymentEvent, _>(&bench, &mut event, id(1), &command);
        }
    }
}
