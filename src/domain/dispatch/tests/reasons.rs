//! Tests of what a job waits for in each of its states, and of the sentence that describes it.

use std::collections::HashMap;

use super::causes::{explain, loaded, material, printing};
use super::*;
use crate::job::{BEING_READ_REASON, Block, ClaimStatus, NO_FILE_REASON};
use crate::printer::{AttemptPhase, Nozzle, Slot, SlotSource};
use crate::slice_source::SliceSource;
use words::Language;

fn job_with(change: impl FnOnce(&mut Job)) -> Job {
    let mut one = order(1, &[5]);
    edit(&mut one, 0, change);
    (**one.jobs.get(&id(1000)).unwrap()).clone()
}

/// Returns the job whose attempt on printer 7 is in the given state.
fn attempted(state: AttemptState, unverified: bool, reason: Option<&str>) -> Job {
    job_with(|job| {
        let reason = reason.map(str::to_owned);
        (job.state, job.attempt_id) = (JobState::Dispatching, Some(id(900)));
        job.attempts = vec![Attempt { unverified, reason, ..attempt(state, id(7)) }];
    })
}

/// Makes a job different in one respect.
type JobChange = fn(&mut Job);

#[test]
fn each_state_has_its_reason() {
    let cases: [(JobChange, Option<&str>); 16] = [
        (|job| job.state = JobState::Created, Some("The product is incomplete.")),
        (
            |job| (job.state, job.block_reason) = (JobState::Created, Some(NO_FILE_REASON.to_owned())),
            Some("Its product has neither a G-code file nor a model with a slicer profile."),
        ),
        (
            |job| (job.state, job.block_reason) = (JobState::Created, Some(BEING_READ_REASON.to_owned())),
            Some("Reading its product and file."),
        ),
        (
            |job| (job.state, job.block_reason) = (JobState::Created, Some("its file is gone".to_owned())),
            Some("Its file is gone."),
        ),
        (|job| job.state = JobState::Validated, Some("Waiting for the stock check.")),
        (
            |job| {
                let source = SliceSource { model_file_id: id(4), profile: "fine".to_owned(), copies: 1 };
                (job.state, job.file_id, job.source) = (JobState::Validated, None, Some(source));
            },
            Some("The model is being sliced."),
        ),
        (|job| job.state = JobState::AwaitingManualReview, Some("Not enough material is available.")),
        (|job| job.state = JobState::Sliced, Some("No large filament printer has been added.")),
        (|job| job.state = JobState::Dispatching, Some("Being sent to the printer.")),
        (|job| job.state = JobState::Paused, Some("Paused at the printer.")),
        (|job| job.cancel_requested_at = Some(NOW), Some("Waiting for the printer to confirm the cancellation.")),
        (|job| job.state = JobState::Printing, None),
        (|job| job.state = JobState::Completed, None),
        (|job| job.state = JobState::Failed, None),
        (|job| job.state = JobState::Cancelled, None),
        (|job| (job.state, job.cancel_requested_at) = (JobState::Cancelled, Some(NOW)), None),
    ];
    for (change, expected) in cases {
        let job = job_with(change);
        assert_eq!(why(&job, &[]).as_deref(), expected, "{} {:?}", job.state, job.block_reason);
    }
}

#[test]
fn a_review_names_its_reason_and_who_holds_the_material() {
    let holders: Vec<String> = (1..=4).map(|n| format!("JOB-00000{n}")).collect();
    let review = |blocked_by, reason: Option<&str>, holders: &[String]| {
        let job = job_with(|job| {
            (job.state, job.blocked_by, job.stock) = (JobState::AwaitingManualReview, blocked_by, ClaimStatus::InLine);
            job.block_reason = reason.map(str::to_owned);
        });
        let types = KnownTypes::default();
        let waits = waiting(&job, &WaitContext { holders, ..around(&[], &types) }).unwrap();
        let cause = &waits.causes[0];
        (cause.code, cause.materials.clone(), waits.sentence())
    };
    let short = "The material's stock is below the reorder point.".to_owned();
    assert_eq!(review(Some(Block::ReorderPoint), None, &[]), (WaitingCode::ReorderPoint, vec![id(2)], short));
    let failed = "Slicing failed.".to_owned();
    assert_eq!(review(Some(Block::Slicing), None, &[]), (WaitingCode::SlicingFailed, vec![], failed));
    let stock = |words: &str| (WaitingCode::Stock, vec![id(2)], words.to_owned());
    let needs = Some("needs 120 g");
    assert_eq!(review(Some(Block::Material), None, &holders), stock("Not enough material is available."));
    assert_eq!(review(Some(Block::Material), needs, &[]), stock("Needs 120 g."));
    let held = stock("Needs 120 g; held by JOB-000001, JOB-000002, JOB-000003 and 1 more.");
    assert_eq!(review(Some(Block::Material), needs, &holders), held);
    assert_eq!(review(None, needs, &holders), stock("Needs 120 g."), "nobody holds what it waits for");
}

#[test]
fn an_attempt_that_nobody_can_verify_says_what_is_unknown() {
    let reason = |state, why_unknown| why(&attempted(state, true, why_unknown), &[printer(7)]).unwrap();
    assert_eq!(
        reason(AttemptState::StartSent, Some("no answer")),
        "It is unknown whether the print started (no answer); an operator must resolve it."
    );
    assert_eq!(
        reason(AttemptState::Confirmed, None),
        "It is unknown how the print ended (the printer reports no reason); an operator must resolve it."
    );
}

#[test]
fn a_print_that_cannot_be_observed_says_since_when() {
    let job = attempted(AttemptState::StartSent, false, None);
    let with = |connection, last_seen_at| Printer { connection, last_seen_at, ..printer(7) };
    let reason = |job: &Job, seven: Printer| why(job, &[printer(6), seven]).unwrap();
    for connection in [Connection::Connected, Connection::Connecting, Connection::ReadOnly] {
        assert_eq!(reason(&job, with(connection, None)), "Being sent to the printer.", "{connection:?}");
    }
    let silent = || with(Connection::Unreachable, Some(NOW));
    let words = format!("he printer has not responded since {NOW}.");
    assert_eq!(reason(&job, silent()), format!("T{words}"));
    assert_eq!(reason(&job, with(Connection::Unreachable, None)), "The printer has not responded yet.");
    let locked = "The printer rejects the API key; enter the correct key in the printer's settings.";
    assert_eq!(reason(&job, with(Connection::WrongKey, None)), locked);
    let cancelled = Job { cancel_requested_at: Some(NOW), ..job };
    let cancelling = format!("Waiting for the printer to confirm the cancellation; t{words}");
    assert_eq!(reason(&cancelled, silent()), cancelling);
}

#[test]
fn a_print_that_is_gone_from_its_printer_is_ending() {
    let job = attempted(AttemptState::Confirmed, false, None);
    let reason = |in_hand: u32, gone: Option<&str>| {
        let mut seven = printing(7, in_hand);
        seven.in_hand.as_mut().unwrap().gone = gone.map(str::to_owned);
        why(&job, &[seven]).unwrap()
    };
    assert_eq!(reason(1000, Some("x")), "The print has ended; asking the printer for its outcome.");
    assert_eq!(reason(1000, None), "Being sent to the printer.");
    assert_eq!(reason(71, Some("x")), "Being sent to the printer.", "another job is in hand");
}

#[test]
fn a_spool_that_looks_like_the_missing_material_is_to_be_confirmed() {
    let [first, second]: [Slot; 2] = loaded(7, &[2, 3]).slots().try_into().unwrap();
    let (kind, color) = (Some("PLA".to_owned()), Some("#000000".to_owned()));
    let unbound = Slot { material_id: None, kind, color, source: SlotSource::Printer, ..first };
    let seven = printer(7).with_slots(vec![unbound, second]);
    let job = job_with(|_| {});
    let black = material(2, "PLA black");
    let waits = explain(&job, &[&seven], &[&material(9, "PETG"), &black], None);
    let clause = "rinter 7 has PLA #000000 in slot 1: confirm that it is PLA black.";
    assert_eq!(waits.sentence(), format!("Waiting for a printer. p{clause}"));
    let cause = &waits.causes[0];
    assert_eq!((cause.code, cause.message()), (WaitingCode::SpoolUnconfirmed, format!("P{clause}")));
    let (printers, types) = ([&seven], KnownTypes::default());
    let context = WaitContext { materials: &[&black], ..around(&printers, &types) };
    let missing = match_printers(&job, &context)[0].missing_words(&context);
    let offer = "(slot 1 holds PLA #000000, which is not assigned to a material yet; confirm that it is PLA black)";
    assert_eq!(missing, [format!("PLA black is not loaded {offer}")]);
}

#[test]
fn what_a_printer_lacks_counts_more_than_what_it_does_at_the_moment() {
    let dirty = Printer { bed_not_cleared: true, ..loaded(7, &[3]) };
    let waits = explain(&job_with(|_| {}), &[&dirty, &loaded(8, &[3])], &[&material(2, "PLA")], None);
    let codes: Vec<_> = waits.causes.iter().map(|cause| (cause.code, cause.message())).collect();
    let lacks = |name: &str| (WaitingCode::MaterialNotLoaded, format!("{name} needs PLA loaded."));
    assert_eq!(codes, [lacks("Printer 8"), lacks("Printer 7")], "the one that is not ready comes later");
}

#[test]
fn only_a_suitable_print_that_goes_on_says_when_its_printer_is_free() {
    let is_told = |change: fn(&mut Printer), ends_ms: i64| {
        let mut seven = printing(7, 71);
        change(&mut seven);
        let job_ends = HashMap::from([(id(71), NOW.plus_ms(ends_ms))]);
        explain(&job_with(|_| {}), &[&seven], &[], Some(&job_ends)).sentence().contains("free from")
    };
    assert!(is_told(|_| {}, 1));
    assert!(!is_told(|_| {}, 0) && !is_told(|_| {}, -1), "it should be over");
    assert!(!is_told(|seven| seven.fields.loaded_material_id = Some(id(3)), 1), "it lacks the material");
    let paused = |seven: &mut Printer| {
        seven.in_hand.as_mut().unwrap().phase = AttemptPhase::Paused { at: NOW };
    };
    assert!(!is_told(paused, 1), "nobody knows when it goes on");
}

#[test]
fn only_two_requirements_are_named_and_more_are_hinted_at() {
    let job = job_with(|job| {
        (job.sliced_for.nozzle_diameter, job.sliced_for.bed_type) = (Some(0.4), Some("Cool_Plate".to_owned()));
    });
    let other = |number, material| {
        let mut other = loaded(number, &[material]);
        other.fields.nozzle = Some(Nozzle { diameter: 0.6, kind: None });
        other.fields.plate_type = Some("Textured PEI Plate".to_owned());
        other
    };
    let waits = explain(&job, &[&other(1, 2), &other(2, 3)], &[], None);
    let mut messages: Vec<String> = waits.causes.iter().map(WaitingCause::message).collect();
    messages.sort_unstable();
    let needs = "needs a 0.4 mm nozzle and the build plate Cool Plate";
    assert_eq!(messages, [format!("Printer 1 {needs}."), format!("Printer 2 {needs}, among other things.")]);
}

#[test]
fn a_rejection_that_counts_is_named_also_of_a_printer_that_is_gone() {
    let last = |is_counted: bool| {
        let mut one = order(1, &[5]);
        refused(&mut one, 0, &[7]);
        edit(&mut one, 0, |job| job.tried_on.retain(|_| is_counted));
        explain(one.jobs.get(&id(1000)).unwrap(), &[&loaded(8, &[3])], &[], None).causes.pop().unwrap().message()
    };
    assert_eq!(last(true), "A deleted printer rejected the job: Must home first.");
    assert_eq!(last(false), "Printer 8 needs its material loaded.");
}

#[test]
fn causes_are_ranked_by_how_quickly_they_are_resolved() {
    use WaitingCode as W;
    let quickest_first = [
        W::Turn,
        W::BedNotCleared,
        W::MaterialNotLoaded,
        W::PrinterBusy,
        W::PrinterPaused,
        W::PrinterRefuses,
        W::PrinterAttention,
        W::PrinterOffline,
        W::BuildPlate,
        W::Nozzle,
        W::FilamentsUnknown,
        W::BuildVolume,
        W::PrinterModel,
        W::FileFormat,
        W::NoPrinter,
    ];
    assert!(quickest_first.windows(2).all(|pair| pair[0].rank() < pair[1].rank()), "{quickest_first:?}");
    assert_eq!(W::SpoolUnconfirmed.rank(), W::Turn.rank());
    assert_eq!([W::MaterialMisplaced, W::SpoolRunsOut].map(WaitingCode::rank), [W::MaterialNotLoaded.rank(); 2]);
    // A printer that lacks something and is also not ready comes after those that only lack it.
    let small = WaitingCause::new(Language::English, W::BuildVolume, "x");
    assert_eq!(small.placed_later(4).rank(), W::BuildVolume.rank() + 4);
}

/// Returns the sentence for causes whose clauses have the given numbers of characters.
fn sentence_of(letters: &[usize], material: Option<&str>) -> String {
    let cause = |count: &usize| WaitingCause::new(Language::English, WaitingCode::PrinterBusy, "x".repeat(*count));
    Waiting::for_printer(Language::English, letters.iter().map(cause).collect(), material).sentence()
}

#[test]
fn a_sentence_has_as_much_as_fits_into_two_hundred_characters() {
    let x = |count: usize| "x".repeat(count);
    let head = "Waiting for a printer. X";
    assert_eq!(sentence_of(&[100, 74, 9], None), format!("{head}{}; {}.", x(99), x(74)), "200, and no third clause");
    assert_eq!(sentence_of(&[100, 75], None), format!("{head}{}; {}…", x(99), x(74)), "cut");
    assert_eq!(sentence_of(&[116, 150], None), format!("{head}{}; {}…", x(115), x(58)), "60 are room enough");
    assert_eq!(sentence_of(&[117, 150], None), format!("{head}{}.", x(116)), "59 are not");
    assert_eq!(sentence_of(&[10], Some("PLA")), format!("Waiting for a printer with PLA. X{}.", x(9)));
    assert_eq!(sentence_of(&[100, 70], Some("PLA")), format!("{head}{}; {}.", x(99), x(70)), "the shorter headline");
    let long = "a name ".repeat(9);
    let cut = "a name ".repeat(5) + "a na…";
    assert_eq!(sentence_of(&[10], Some(&long)), format!("Waiting for a printer with {cut}. X{}.", x(9)));
}
