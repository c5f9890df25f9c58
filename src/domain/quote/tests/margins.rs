//! Tests of margins: the final cost of lines printed from models, compared with the quote.

use std::sync::Arc;

use super::*;
use crate::job::{AttemptState, Job};
use crate::material::{ClaimId, ClaimState};
use crate::order::{Order, OrderNews};
use crate::pricing::{Costs, PrintWork};
use crate::printer_status::PrintEnd;
use crate::testing::orders::{self, MATERIAL_ID, OrderDecider, new_order, print};

/// Builds the paid order for one part of the first line and two of the second, with all material reserved, and returns
/// it with the IDs of the second line's jobs.
fn ordered() -> (OrderDecider, [Id; 2]) {
    let mut desk = OrderDecider::with(new_order(vec![orders::line(1, 1000, true), orders::line(2, 409, true)]));
    desk.pay();
    let held = |job: &Arc<Job>| (ClaimId { job: job.id, number: job.claim }, ClaimState::Held, None);
    let all = desk.o().jobs.values().map(held).collect();
    desk.ask(&OrderNews::Stock(id(MATERIAL_ID), all)).unwrap();
    let jobs: Vec<Id> = desk.o().jobs.values().filter(|job| job.line == 1).map(|job| job.id).collect();
    (desk, [jobs[0], jobs[1]])
}

fn edit(order: &mut Order, job: Id, change: impl FnOnce(&mut Job)) {
    let mut edited = (**order.jobs.get(&job).unwrap()).clone();
    change(&mut edited);
    order.jobs.insert_mut(job, Arc::new(edited));
}

#[test]
fn a_line_costs_what_all_its_prints_took_and_its_margin_is_final_once_all_are_over() {
    let desk = Desk::with(vec![line(1, 1000), cube(2, None)]);
    let quote = desk.q();
    // 12.4 g cost 31; 0.14 kWh cost 4.2; 70 minutes cost 70; 9 minutes cost 450; 5 % of 555 is 27.75. With 40 %, 583 is
    // 816.2, which is 409 for each of two.
    let quoted = Costs { material_cents: 31, energy_cents: 4, wear_cents: 70, labour_cents: 450, failure_cents: 28 };
    assert_eq!(quote.lines[1].amount_cents(), 818);
    assert_eq!((quote.lines[1].margin_cents(), quote.lines[0].margin_cents()), (Some(235), None));

    let (mut production, [one, other]) = ordered();
    print(&mut production, one, PrintEnd::Finished);
    let begun = margins(quote, production.o());
    assert_eq!(begun.iter().map(|margin| (margin.line, margin.is_final)).collect::<Vec<_>>(), [(1, false)]);
    print(&mut production, other, PrintEnd::Failed);
    let mut order = production.o().clone();
    let now = production.bench.now;
    edit(&mut order, one, |job| {
        let mut refused = job.attempts[0].clone();
        (refused.state, refused.used) = (AttemptState::Refused, Amount::units(5));
        let print = &mut job.attempts[0];
        (print.started_at, print.ended_at, print.unseen) = (Some(now), Some(now.plus_ms(3_000_999)), false);
        print.used = Amount::units(10);
        job.attempts.push(refused);
    });
    edit(&mut order, other, |job| {
        // Its duration was not observed, so the time in its file counts.
        (job.attempts[0].started_at, job.attempts[0].used) = (None, Amount::units(6));
        job.estimated_seconds = Some(600);
    });
    // 16 g cost 40; 0.12 kWh cost 3.6; an hour costs 60; and 9 minutes cost 450.
    let actual = Costs { material_cents: 40, energy_cents: 4, wear_cents: 60, labour_cents: 450, failure_cents: 0 };
    let work = PrintWork { grams: Amount::units(16), seconds: 3600, parts: 2 };
    let expected = LineMargin { line: 1, price_cents: 818, quoted, work, actual, is_final: true };
    let all = margins(quote, &order);
    assert_eq!(all, [expected]);
    assert_eq!((all[0].quoted_margin_cents(), all[0].actual_margin_cents()), (235, 264));
}

#[test]
fn of_an_order_that_is_unpaid_nothing_is_final() {
    let desk = Desk::with(vec![line(1, 1000), cube(2, None)]);
    let production = OrderDecider::with(new_order(vec![orders::line(1, 1000, true), orders::line(2, 409, true)]));
    let all = margins(desk.q(), production.o());
    assert_eq!(all.len(), 1);
    let margin = all[0];
    assert_eq!((margin.is_final, margin.work.parts, margin.work.seconds), (false, 0, 0));
}
