//! Names and states of a job and its attempts, and each step of a job's claims on its materials.

use super::*;
use crate::launch::MaterialNeed;
use crate::sign_off::SignOff;
use crate::testing::id;
use crate::testing::orders::{MATERIAL_ID, OrderDecider};
use crate::time::Timestamp;

const FIRST: u32 = MATERIAL_ID - 1;
const LAST: u32 = MATERIAL_ID + 1;

/// Builds a job that holds 100 g of its material and waits for a printer.
fn sliced() -> Job {
    (*OrderDecider::sliced().job()).clone()
}

/// Builds a job whose claims on three materials, in the order of their IDs, have the given states and numbers.
fn claiming(states: [(ClaimStatus, u32); 3]) -> Job {
    let further = |material: u32, (stock, claim): (ClaimStatus, u32)| FurtherNeed {
        stock,
        claim,
        ..FurtherNeed::new(MaterialNeed { material_id: id(material), need: Amount::units(10) })
    };
    let [first, (stock, claim), last] = states;
    // The primary material is in the middle.
    Job { stock, claim, further: vec![further(LAST, last), further(FIRST, first)], ..sliced() }
}

fn claims(job: &Job) -> Vec<(ClaimStatus, u32)> {
    job.claims().iter().map(|claim| (claim.stock, claim.number)).collect()
}

fn settling(job: &Job) -> Vec<Vec<(u32, Amount)>> {
    job.claims().iter().map(|claim| claim.settling.to_vec()).collect()
}

/// Builds an attempt in the given state whose print was never observed.
fn attempt(state: AttemptState) -> Attempt {
    let mut desk = OrderDecider::sliced();
    assert!(desk.dispatch().is_ok());
    Attempt { state, ..desk.last() }
}

#[test]
fn each_state_of_a_job_has_its_name_and_three_of_them_are_over() {
    let table = [
        (JobState::Created, "CREATED", false),
        (JobState::Validated, "VALIDATED", false),
        (JobState::AwaitingManualReview, "awaiting_manual_review", false),
        (JobState::Sliced, "SLICED", false),
        (JobState::Dispatching, "DISPATCHING", false),
        (JobState::Printing, "PRINTING", false),
        (JobState::Paused, "PAUSED", false),
        (JobState::Completed, "COMPLETED", true),
        (JobState::Failed, "FAILED", true),
        (JobState::Cancelled, "CANCELLED", true),
    ];
    for (state, name, is_over) in table {
        assert_eq!(state.to_string(), name);
        assert_eq!(serde_json::json!(state), name, "as it is stored");
        assert_eq!(Job { state, ..sliced() }.over(), is_over, "{name}");
    }
}

#[test]
fn an_attempt_is_over_in_its_last_states_and_printed_in_some_of_them() {
    use AttemptState as S;
    let table = [
        (S::Claimed, false, false),
        (S::Uploading, false, false),
        (S::StartSent, false, false),
        (S::Confirmed, false, false),
        (S::Finished, true, true),
        (S::Failed, true, true),
        (S::Cancelled, true, false),
        (S::Refused, true, false),
        (S::NotStarted, true, false),
        (S::Abandoned, true, true),
    ];
    for (state, is_over, printed) in table {
        assert_eq!((state.over(), attempt(state).printed()), (is_over, printed), "{state:?}");
    }
    let now = Timestamp(1_700_000_000_000);
    let cancelled = attempt(S::Cancelled);
    assert!(Attempt { started_at: Some(now), ..cancelled.clone() }.printed(), "it was seen before");
    assert!(Attempt { unseen: true, ..cancelled }.printed(), "it began while nobody saw it");
    let signed = |good, automatic| SignOff { automatic, ..SignOff::automatic(true, good, now) };
    for (good, automatic, printed) in [(1, false, true), (0, false, false), (1, true, false)] {
        let cleared = Attempt { sign_off: Some(signed(good, automatic)), ..attempt(S::NotStarted) };
        assert_eq!(cleared.printed(), printed, "{good} {automatic}");
    }
}

#[test]
fn a_print_took_the_time_between_its_seen_ends_and_came_as_far_as_was_told() {
    let (start, end) = (Timestamp(1_700_000_000_000), Timestamp(1_700_000_090_000));
    let print = Attempt { started_at: Some(start), ended_at: Some(end), ..attempt(AttemptState::Finished) };
    assert_eq!(print.took_ms(), Some(90_000));
    assert_eq!(Attempt { unseen: true, ..print.clone() }.took_ms(), None);
    assert_eq!(Attempt { ended_at: None, ..print.clone() }.took_ms(), None);
    for (last, progress) in [(0.25, Some(0.25)), (-1.0, Some(0.0)), (7.0, Some(1.0)), (f64::NAN, None)] {
        let mut print = print.clone();
        print.came_to(last);
        assert_eq!(print.progress, progress, "{last}");
    }
}

#[test]
fn a_job_names_itself_its_file_and_what_a_printer_must_meet() {
    let job = Job { number: 123, file_form: GcodeForm::Binary, ..sliced() };
    assert_eq!(job.number_text(), "JOB-000123");
    assert_eq!(job.file_name(id(7)), format!("JOB-000123_{}.bgcode", id(7)));
    let needs = job.launch_needs();
    assert_eq!((needs.machine_type, needs.form), (MachineType::FdmStandard, GcodeForm::Binary));
    assert_eq!(needs.materials, [MaterialNeed { material_id: id(MATERIAL_ID), need: Amount::units(100) }]);
    assert!((job.used(PrintEnd::Failed, None, 0.25) - 0.25).abs() < 1e-9);
    assert!((job.used(PrintEnd::Finished, Some(1500.0), 1.0) - 1.5).abs() < 1e-9, "of 1000 mm");
}

#[test]
fn the_last_print_is_the_latest_attempt_that_printed_and_the_live_one_is_named() {
    let numbered = |number: u32, state| Attempt { id: id(100 + number), number, ..attempt(state) };
    let attempts = vec![
        numbered(1, AttemptState::Failed),
        numbered(2, AttemptState::Finished),
        numbered(3, AttemptState::Refused),
        numbered(4, AttemptState::Claimed),
    ];
    let job = Job { attempts, attempt_id: Some(id(104)), ..sliced() };
    assert_eq!(job.last_print().map(|print| print.number), Some(2));
    assert_eq!(job.live().map(|live| live.number), Some(4));
    assert_eq!(Job { attempt_id: None, ..job.clone() }.live(), None);
    assert_eq!(Job { attempts: Vec::new(), ..job }.last_print(), None);
}

#[test]
fn a_model_is_sliced_once_all_material_is_held() {
    let source = SliceSource { model_file_id: id(15), profile: "fine".to_owned(), copies: 1 };
    let ready = Job { state: JobState::Validated, file_id: None, source: Some(source.clone()), ..sliced() };
    assert_eq!((ready.to_slice(), ready.has_source()), (Some(&source), true));
    let others = [
        (Job { state: JobState::Sliced, ..ready.clone() }, true),
        (Job { file_id: Some(id(11)), ..ready.clone() }, true),
        (Job { file_id: Some(id(11)), source: None, ..ready.clone() }, true),
        (Job { stock: ClaimStatus::Asked, ..ready.clone() }, true),
        (Job { source: None, ..ready }, false),
    ];
    for (job, has_source) in others {
        assert_eq!((job.to_slice(), job.has_source()), (None, has_source), "{job:?}");
    }
}

#[test]
fn claims_are_asked_for_in_the_order_of_their_materials() {
    use ClaimStatus as C;
    let mut job = claiming([(C::None, 0), (C::None, 1), (C::None, 0)]);
    let asks = [
        [(C::Asked, 2), (C::None, 1), (C::None, 0)],
        [(C::Held, 2), (C::Asked, 1), (C::None, 0)],
        [(C::Held, 2), (C::Held, 1), (C::Asked, 3)],
    ];
    for (n, expected) in asks.into_iter().enumerate() {
        job.ask_next();
        assert_eq!(claims(&job), expected);
        job.ask_next();
        assert_eq!(claims(&job), expected, "once");
        assert_eq!(job.waiting_claim().map(|claim| claim.number), Some(expected[n].1));
        assert!(!job.holds_all());
        *job.claims_mut()[n].stock = C::Held;
    }
    job.ask_next();
    assert!(job.holds_all() && job.waiting_claim().is_none());
    for (n, material) in [FIRST, MATERIAL_ID, LAST].into_iter().enumerate() {
        *job.claims_mut()[0].stock = C::InLine;
        assert_eq!(job.is_in_order(id(material)), n == 0, "{material}");
        assert!(!job.holds_all());
    }
}

#[test]
fn a_retry_settles_what_was_claimed_and_claims_anew_under_other_numbers() {
    use ClaimStatus as C;
    let consumed = Amount::units(4);
    let mut job = claiming([(C::Settling { consumed }, 2), (C::Held, 1), (C::InLine, 3)]);
    job.recalled = true;
    job.claim_anew();
    assert_eq!(claims(&job), [(C::Asked, 4), (C::None, 5), (C::None, 6)]);
    assert_eq!(settling(&job), [vec![(2, consumed)], vec![(1, Amount::ZERO)], vec![(3, Amount::ZERO)]]);
    assert!(!job.recalled);
    // A claim that awaits an answer continues to do so; one that was never requested gets no number.
    let mut job = claiming([(C::Asked, 2), (C::None, 1), (C::None, 0)]);
    job.claim_anew();
    assert_eq!(claims(&job), [(C::Asked, 2), (C::None, 3), (C::None, 0)]);
    assert!(settling(&job).iter().all(Vec::is_empty));
}

#[test]
fn a_claim_is_given_up_with_all_that_come_after_it() {
    use ClaimStatus as C;
    let mut job = claiming([(C::Held, 2), (C::Held, 1), (C::InLine, 3)]);
    job.give_up_claim(1);
    assert_eq!(claims(&job), [(C::Held, 2), (C::Asked, 4), (C::None, 5)]);
    assert_eq!(settling(&job), [vec![], vec![(1, Amount::ZERO)], vec![(3, Amount::ZERO)]]);
    let mut job = claiming([(C::Held, 2), (C::Held, 1), (C::Asked, 3)]);
    job.give_up_all();
    assert_eq!(claims(&job), [(C::None, 4), (C::None, 5), (C::Asked, 3)], "what is not answered stays");
    let mut job = claiming([(C::Held, 2), (C::Held, 1), (C::Held, 3)]);
    job.ask_again(id(MATERIAL_ID));
    assert_eq!(claims(&job), [(C::Held, 2), (C::Asked, 1), (C::None, 4)]);
}

#[test]
fn needs_that_the_g_code_corrects_are_asked_for_again_under_the_same_number() {
    use ClaimStatus as C;
    let need = |material: u32, units| MaterialNeed { material_id: id(material), need: Amount::units(units) };
    let mut job = claiming([(C::Held, 2), (C::Held, 1), (C::Held, 3)]);
    job.correct_needs(&[need(FIRST, 10), need(MATERIAL_ID, 100), need(99, 5)]);
    assert_eq!(claims(&job), [(C::Held, 2), (C::Held, 1), (C::Held, 3)], "as it was reserved");
    job.correct_needs(&[need(FIRST, 11), need(LAST, 10)]);
    assert_eq!(claims(&job), [(C::Asked, 2), (C::Held, 1), (C::Held, 3)]);
    job.correct_needs(&[need(MATERIAL_ID, 99)]);
    assert_eq!(claims(&job), [(C::Asked, 2), (C::Asked, 1), (C::Held, 3)]);
    assert_eq!(job.material_needs(), [need(FIRST, 11), need(MATERIAL_ID, 99), need(LAST, 10)]);
}

#[test]
fn what_is_held_or_in_line_is_settled_with_its_share() {
    use ClaimStatus as C;
    let settled = |units| C::Settling { consumed: Amount::units(units) };
    let mut job = claiming([(C::Held, 2), (C::InLine, 1), (C::Asked, 3)]);
    job.consumed = Amount::units(7);
    job.attempts = vec![Attempt { id: id(101), booked_on: vec![8], ..attempt(AttemptState::Finished) }];
    job.attempt_id = Some(id(101));
    job.settle(0.5);
    assert_eq!(claims(&job), [(settled(5), 2), (settled(50), 1), (C::Asked, 3)]);
    let consumed: Vec<Amount> = job.claims().iter().map(|claim| claim.consumed).collect();
    assert_eq!(consumed, [Amount::units(5), Amount::units(57), Amount::ZERO]);
    assert_eq!(job.booked_on, BTreeMap::from([(1, vec![8]), (2, vec![8])]));
    let before = job.clone();
    job.settle(1.0);
    assert_eq!(job, before, "settled once");
    let mut unused = claiming([(C::Held, 2), (C::Held, 1), (C::None, 0)]);
    (unused.attempts, unused.attempt_id) = (before.attempts, before.attempt_id);
    unused.settle(0.0);
    assert_eq!(claims(&unused), [(settled(0), 2), (settled(0), 1), (C::None, 0)]);
    assert!(unused.booked_on.is_empty(), "nothing was used");
}
