//! Tests of jobs whose SKU has a model: sliced while the reservation is held, corrected by the result, freed by a
//! failure.

use super::*;
use crate::job::{Block, ClaimStatus};

/// Builds a desk with one paid job that has a model and has all its material reserved.
fn held() -> OrderDecider {
    let mut of_model = line(1, 500, false);
    let source = SliceSource { model_file_id: id(11), profile: "fine".into(), copies: 1 };
    of_model.make.as_mut().unwrap().source = Some(source);
    let make = Box::new(of_model.make.clone().unwrap());
    let mut desk = OrderDecider::with(new_order(vec![of_model]));
    desk.pay();
    desk.ask(&OrderNews::Prepared { sku: id(10), make }).unwrap();
    assert_eq!((desk.state(), slices(&desk)), (JobState::Validated, 0), "it asks for its material first");
    desk.stock(ClaimState::Held);
    desk
}

fn slices(desk: &OrderDecider) -> usize {
    desk.o().effects().iter().filter(|effect| matches!(effect, OrderEffect::Slice { .. })).count()
}

fn tell(desk: &mut OrderDecider, news: JobSlicingOutcome) -> Decision<Order, OrderNewsAnswer> {
    let source = desk.job().source.clone().unwrap();
    desk.ask(&OrderNews::Slicing { sku: id(10), source, news }).unwrap()
}

fn slicing_done(grams: i64) -> JobSlicingOutcome {
    let mut make = line(1, 500, true).make.unwrap();
    make.need = Amount::units(grams);
    JobSlicingOutcome::Done(Box::new(make))
}

#[test]
fn with_all_material_reserved_the_model_is_sliced_and_the_amount_corrected() {
    let mut desk = held();
    assert_eq!((desk.state(), slices(&desk)), (JobState::Validated, 1));
    tell(&mut desk, JobSlicingOutcome::Waits("no slicer is installed".into()));
    assert_eq!((desk.job().block_reason.as_deref(), slices(&desk)), (Some("no slicer is installed"), 1));
    let number = desk.job().claim;
    tell(&mut desk, slicing_done(70));
    assert_eq!((desk.state(), desk.job().stock, desk.job().claim), (JobState::Validated, ClaimStatus::Asked, number));
    assert_eq!((desk.job().need, slices(&desk)), (Amount::units(70), 0));
    desk.stock(ClaimState::Held);
    assert_eq!((desk.state(), desk.job().file_id), (JobState::Sliced, Some(id(11))));
    tell(&mut desk, slicing_done(90));
    assert_eq!(desk.job().need, Amount::units(70), "news that come twice change nothing");
}

#[test]
fn a_result_that_takes_as_much_as_was_reserved_goes_on_at_once() {
    let mut desk = held();
    tell(&mut desk, slicing_done(100));
    assert_eq!((desk.state(), desk.job().stock), (JobState::Sliced, ClaimStatus::Held));
}

#[test]
fn a_failure_frees_the_material_until_somebody_releases_the_job() {
    let mut desk = held();
    let decision = tell(&mut desk, JobSlicingOutcome::Failed("no manifold".into()));
    assert_eq!(mails(&decision).len(), 1, "the operators are told");
    let job = desk.job();
    assert_eq!(
        (job.state, job.blocked_by, job.stock),
        (JobState::AwaitingManualReview, Some(Block::Slicing), ClaimStatus::None)
    );
    assert_eq!(job.block_reason.as_deref(), Some("slicing failed: no manifold"));
    assert_eq!((job.settling.len(), slices(&desk)), (1, 0));
    let release = JobCommand::Release { job: job.id, stock: free(0) };
    desk.ask(&release).unwrap();
    assert_eq!((desk.state(), desk.job().stock, desk.job().released), (JobState::Validated, ClaimStatus::Asked, false));
    desk.stock(ClaimState::Held);
    assert_eq!(slices(&desk), 1);
}

#[test]
fn a_reservation_that_is_taken_back_while_it_is_sliced_stops_it() {
    let mut desk = held();
    let claim = ClaimId { job: desk.job().id, number: desk.job().claim };
    desk.ask(&RecallClaims(vec![claim], "counted".into())).unwrap();
    assert_eq!((desk.job().blocked_by, slices(&desk)), (Some(Block::Material), 0));
    tell(&mut desk, slicing_done(70));
    assert_eq!((desk.state(), desk.job().file_id), (JobState::AwaitingManualReview, None), "late news are not heard");
    desk.stock(ClaimState::Held);
    assert_eq!((desk.state(), slices(&desk)), (JobState::Validated, 1));
}
