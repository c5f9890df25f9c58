use super::*;
use crate::job::{AttemptState, Block, ClaimStatus, PrinterRecord};
use crate::principal::{Principal, Role};
use crate::printer_status::PrintEnd;
use crate::promise::Promise;
use crate::refusal::Class;

fn ended(end: PrintEnd, progress: f64) -> Report {
    let (filament_mm, reason, booked_on) = (None, None, Vec::new());
    Report::Ended { end, filament_mm, progress, reason, began_at: None, unseen: false, booked_on }
}

#[test]
fn the_whole_way_to_the_customer() {
    let mut desk = OrderDecider::sliced();
    desk.dispatch().unwrap();
    desk.report(Report::Uploading);
    desk.report(Report::StartSent);
    assert_eq!(names(&desk.report(Report::Printing)), ["job.printing", "order.printing"]);
    desk.report(Report::Paused);
    assert_eq!(desk.state(), JobState::Paused);
    assert_eq!(names(&desk.report(Report::Printing)), ["job.resumed"]);
    let mut report = ended(PrintEnd::Finished, 1.0);
    let Report::Ended { filament_mm, .. } = &mut report else { panic!() };
    *filament_mm = Some(1100.0);
    assert_eq!(names(&desk.report(report.clone())), ["job.completed", "order.ready"]);
    assert_eq!(desk.job().consumed, Amount::units(110));
    assert!(desk.report(report).next.is_none());
    let ship = |date: &str| {
        let (carrier, tracking_number, estimated_delivery) = ("UPS".to_owned(), "1Z".to_owned(), date.to_owned());
        OrderCommand::Ship {
            shipment: Shipment { carrier, tracking_number, estimated_delivery },
            lines: None,
            accept_short: false,
        }
    };
    assert_eq!(desk.ask(&ship("tomorrow")).unwrap_err().faults[0].path, "estimatedDelivery");
    let shipped = desk.ask(&ship("2026-12-01")).unwrap();
    assert_eq!(shipped.events[0].data["trackingNumber"], "1Z");
    assert_eq!(code(desk.ask(&JobCommand::Retry(desk.job().id))), "invalid_transition");
}

#[test]
fn finished_before_we_saw_it_print_tells_all_events_in_between() {
    let mut desk = OrderDecider::sliced();
    desk.dispatch().unwrap();
    let decision = desk.report(ended(PrintEnd::Finished, 1.0));
    assert_eq!(names(&decision), ["job.printing", "order.printing", "job.completed", "order.ready"]);
    assert_eq!(decision.rows.iter().filter(|row| matches!(row, OrderRow::Job(_))).count(), 1);
    assert!(
        decision.rows.iter().any(|row| matches!(row, OrderRow::Attempt(one) if one.state == AttemptState::Finished))
    );
}

#[test]
fn three_tries_that_did_not_start_fail_the_job_and_refusals_do_not_count() {
    let mut desk = OrderDecider::sliced();
    let no = |counts: bool| {
        let pardons = counts.then_some(3);
        Report::NotStarted { start_sent: counts, counts, pardons, reason: "busy".into() }
    };
    let give_up = |desk: &OrderDecider, printers: &[Id]| JobCommand::FailRefused {
        job: desk.job().id,
        printers: printers.to_vec(),
    };
    for _ in 0..5 {
        desk.dispatch().unwrap();
        desk.report(no(false));
        assert_eq!((desk.state(), desk.last().state), (JobState::Sliced, AttemptState::Refused));
        assert_eq!((desk.last().counts_as_refusal, desk.last().pardons), (false, None));
    }
    assert!(desk.ask(&give_up(&desk, &[])).is_err(), "nobody refused it");
    for _ in 0..3 {
        desk.dispatch().unwrap();
        desk.report(no(true));
        assert_eq!(desk.state(), JobState::Sliced);
        assert_eq!(desk.job().tried_on, [id(PRINTER_ID)], "each printer counts once");
        assert_eq!((desk.last().counts_as_refusal, desk.last().pardons), (true, Some(3)));
    }
    assert!(desk.ask(&give_up(&desk, &[id(PRINTER_ID), id(PRINTER_ID + 1)])).is_err(), "the other did not refuse it");
    desk.ask(&give_up(&desk, &[id(PRINTER_ID)])).unwrap();
    assert_eq!(desk.job().error.as_deref(), Some("refused by 1 printer; the last reason was: busy"));
    assert!(desk.ask(&give_up(&desk, &[id(PRINTER_ID)])).is_err(), "once");
    assert_eq!(desk.job().stock, ClaimStatus::Settling { consumed: Amount::ZERO });
    desk.ask(&JobCommand::Retry(desk.job().id)).unwrap();
    let job = desk.job();
    assert_eq!((job.claim, job.stock, job.tried_on.len()), (2, ClaimStatus::Asked, 0));
    assert_eq!(job.settling, [(1, Amount::ZERO)]);
    assert!(matches!(&desk.o().effects()[..], [OrderEffect::Claim { asks, .. }, OrderEffect::Settle { claims, .. }]
        if asks[0].id.number == 2 && claims[0].id.number == 1));
}

#[test]
fn a_replacement_leads_from_ready_back_to_printing() {
    let mut desk = OrderDecider::sliced();
    desk.dispatch().unwrap();
    desk.report(ended(PrintEnd::Finished, 1.0));
    desk.ask(&JobCommand::Retry(desk.job().id)).unwrap();
    assert_eq!(desk.o().status, OrderStatus::Printing);
    desk.stock(ClaimState::Held);
    desk.dispatch().unwrap();
    assert_eq!(names(&desk.report(ended(PrintEnd::Finished, 1.0))), ["job.printing", "job.completed", "order.ready"]);
    assert_eq!(desk.job().consumed, Amount::units(200));
}

#[test]
fn a_job_cancelled_while_asked_is_settled_only_after_the_answer() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.pay();
    let decision =
        desk.ask(&JobCommand::Cancel { job: desk.job().id, force: false, prints: PrinterRecords::new() }).unwrap();
    assert_eq!(names(&decision), ["job.cancelled", "order.flagged"]);
    assert!(matches!(desk.o().effects()[..], [OrderEffect::Claim { .. }]));
    desk.stock(ClaimState::Held);
    assert_eq!(desk.state(), JobState::Cancelled);
    assert!(matches!(desk.o().effects()[..], [OrderEffect::Settle { .. }]));
    assert!(!desk.o().at_rest());
    let claim = ClaimId { job: desk.job().id, number: 1 };
    desk.ask(&OrderNews::Settled(vec![claim])).unwrap();
    assert!(desk.o().at_rest());
}

#[test]
fn a_cancel_waits_for_the_printer_and_completion_wins() {
    for (report, state) in [
        (ended(PrintEnd::Finished, 1.0), JobState::Completed),
        (ended(PrintEnd::Cancelled, 0.3), JobState::Cancelled),
        (Report::CancelledBeforeStart, JobState::Cancelled),
    ] {
        let mut desk = OrderDecider::sliced();
        desk.dispatch().unwrap();
        desk.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() }).unwrap();
        assert_eq!((desk.o().status, desk.state()), (OrderStatus::Cancelled, JobState::Dispatching));
        assert!(desk.job().cancel_requested_at.is_some());
        // Besides, its invoice is told.
        let mut effects = desk.o().effects();
        effects.retain(|effect| !matches!(effect, OrderEffect::TellInvoice { .. }));
        assert!(matches!(effects[..], [OrderEffect::CancelAt { .. }]));
        desk.report(report);
        assert_eq!((desk.o().status, desk.state()), (OrderStatus::Cancelled, state));
    }
}

#[test]
fn a_forced_cancel_waits_for_nobody_and_the_printer_is_told_until_it_is_over() {
    let mut desk = OrderDecider::sliced();
    desk.dispatch().unwrap();
    desk.report(Report::Printing);
    desk.ask(&OrderCommand::Cancel { force: true, prints: PrinterRecords::new() }).unwrap();
    assert_eq!((desk.state(), desk.last().state), (JobState::Cancelled, AttemptState::Abandoned));
    assert!(desk.o().effects().iter().any(|effect| matches!(effect, OrderEffect::TellResolution { .. })));
    desk.report(ended(PrintEnd::Cancelled, 0.5));
    assert!(!desk.o().effects().iter().any(|effect| matches!(effect, OrderEffect::TellResolution { .. })));
}

#[test]
fn a_forced_cancel_uses_up_what_was_seen_of_the_print() {
    let prints_of = |desk: &OrderDecider, began, progress| {
        PrinterRecords::from([(desk.last().id, PrinterRecord { began, progress, ..PrinterRecord::default() })])
    };
    for (printing, observed, used) in [
        (true, Some((true, 0.3)), 30),
        // The printer saw it begin, and the order has not heard of it yet.
        (false, Some((true, 0.1)), 10),
        (false, Some((false, 0.0)), 0),
        (false, None, 0),
        // The printer has dropped it: how far it came is unknown.
        (true, None, 100),
    ] {
        for whole_order in [false, true] {
            let mut desk = OrderDecider::sliced();
            desk.dispatch().unwrap();
            if printing {
                desk.report(Report::Printing);
            }
            let prints = observed.map(|(began, progress)| prints_of(&desk, began, progress)).unwrap_or_default();
            let job = desk.job().id;
            if whole_order {
                desk.ask(&OrderCommand::Cancel { force: true, prints }).unwrap();
            } else {
                desk.ask(&JobCommand::Cancel { job, force: true, prints }).unwrap();
            }
            let job = desk.job();
            assert_eq!((job.state, job.consumed), (JobState::Cancelled, Amount::units(used)), "{observed:?}");
            assert_eq!(job.stock, ClaimStatus::Settling { consumed: Amount::units(used) });
        }
    }
}

#[test]
fn a_cancelled_job_is_made_after_all() {
    // With its reservation given back, or its claim never answered: the material is asked with a claim that it knows.
    for (answered, claim, settles) in [(true, 2, vec![(1, Amount::ZERO)]), (false, 1, vec![])] {
        let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
        desk.pay();
        if answered {
            desk.stock(ClaimState::Held);
        }
        let job = desk.job().id;
        desk.ask(&JobCommand::Cancel { job, force: false, prints: PrinterRecords::new() }).unwrap();
        assert_eq!(desk.o().flags, ["all_jobs_cancelled"]);
        let retried = desk.ask(&JobCommand::Retry(job)).unwrap();
        assert_eq!(names(&retried), ["job.retried", "job.validated"]);
        let job = desk.job();
        assert_eq!((job.state, job.stock, job.claim), (JobState::Validated, ClaimStatus::Asked, claim));
        assert_eq!((&job.settling, desk.o().flags.len()), (&settles, 0));
        desk.stock(ClaimState::Held);
        desk.dispatch().unwrap();
        assert_eq!(names(&desk.report(ended(PrintEnd::Finished, 1.0))).last(), Some(&"order.ready"));
    }
}

#[test]
fn a_cancelled_job_without_a_file_waits_for_it_again() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, false)]));
    desk.pay();
    let job = desk.job().id;
    assert_eq!(desk.state(), JobState::Created);
    desk.ask(&JobCommand::Cancel { job, force: false, prints: PrinterRecords::new() }).unwrap();
    assert!(desk.o().at_rest());
    desk.ask(&JobCommand::Retry(job)).unwrap();
    assert_eq!((desk.state(), desk.job().stock), (JobState::Created, ClaimStatus::None));
    assert!(desk.job().block_reason.as_ref().is_some_and(|why| why.contains("neither a G-code file")));
    let make = Box::new(line(1, 500, true).make.unwrap());
    desk.ask(&OrderNews::Prepared { sku: desk.job().sku_id, make }).unwrap();
    assert_eq!((desk.state(), desk.job().stock, desk.job().claim), (JobState::Validated, ClaimStatus::Asked, 1));
}

#[test]
fn a_job_that_was_printed_keeps_its_material_and_sku() {
    let mut desk = OrderDecider::sliced();
    desk.dispatch().unwrap();
    desk.report(ended(PrintEnd::Failed, 0.5));
    let printed = desk.o().clone();
    desk.ask(&JobCommand::Retry(desk.job().id)).unwrap();
    let mut make = line(1, 500, true).make.unwrap();
    make.material_id = id(MATERIAL_ID + 1);
    desk.ask(&OrderNews::Prepared { sku: desk.job().sku_id, make: Box::new(make) }).unwrap();
    keeps_what_prints_are_summed_by(&printed, desk.o());
}

#[test]
fn nothing_is_made_again_for_an_order_that_is_over() {
    for pay_back in [false, true] {
        let mut desk = OrderDecider::sliced();
        let job = desk.job().id;
        desk.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() }).unwrap();
        if pay_back {
            let refund = OrderCommand::Refund {
                payment: Some(desk.o().ledger.payments[0].id),
                amount_cents: None,
                at_processor: false,
            };
            desk.ask(&refund).unwrap();
            assert_eq!(desk.o().status, OrderStatus::Refunded);
        }
        assert_eq!(desk.state(), JobState::Cancelled);
        assert_eq!(code(desk.ask(&JobCommand::Retry(job))), "invalid_transition");
    }
}

#[test]
fn cancelled_at_the_printer_is_failed() {
    let mut desk = OrderDecider::sliced();
    desk.dispatch().unwrap();
    let decision = desk.report(ended(PrintEnd::Cancelled, 0.25));
    let failed = decision.events.iter().find(|event| event.event == "job.failed").unwrap();
    assert_eq!(failed.data["error"], "cancelled at the printer");
    assert_eq!((desk.state(), desk.job().consumed), (JobState::Failed, Amount::units(25)));
    assert_eq!(desk.o().status, OrderStatus::Printing);
}

#[test]
fn a_release_passes_the_reorder_point_but_no_shortage() {
    let mut desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    desk.pay();
    let job = desk.job().id;
    let release = |units| JobCommand::Release { job, stock: free(units) };
    assert_eq!(names(&desk.stock(ClaimState::Short)), ["job.blocked"]);
    assert_eq!(desk.job().blocked_by, Some(Block::Material));
    let short = desk.ask(&release(99)).unwrap_err();
    assert_eq!(
        (short.code.as_str(), short.message.as_str()),
        ("insufficient_material", "needs 100 g of PLA black, 99 g free")
    );
    desk.stock(ClaimState::BelowReorderPoint);
    // What blocked it then is not what counts: since then, something else took the stock, or more came.
    assert_eq!(code(desk.ask(&release(99))), "insufficient_material");
    desk.stock(ClaimState::Short);
    desk.ask(&release(100)).unwrap();
    assert_eq!(desk.state(), JobState::Validated);
    assert!(
        matches!(&desk.o().effects()[..], [OrderEffect::Claim { asks, .. }] if asks[0].released && asks[0].id.number == 1)
    );
    assert_eq!(names(&desk.stock(ClaimState::Held)), ["job.sliced"]);
}

#[test]
fn a_customer_cancels_only_while_unpaid_and_sees_only_its_own() {
    let key = |customer_email: Option<&str>| Principal::Key {
        id: id(77),
        name: "shop".into(),
        role: Role::Customer,
        customer_email: customer_email.map(str::to_owned),
    };
    let bench = Bench::new();
    let mut desk = OrderDecider::sliced();
    let by = key(None);
    let cx = crate::aggregate::DecisionContext { by: &by, ..bench.cx() };
    let cancel = OrderCommand::Cancel { force: false, prints: PrinterRecords::new() };
    let refused = cancel.decide(desk.order.as_ref(), id(ORDER_ID), &cx).unwrap_err();
    assert_eq!(refused.class, Class::Forbidden);
    assert!(!desk.o().visible_to(&by));
    assert!(desk.o().visible_to(&key(Some("ann@example.com"))));
    desk = OrderDecider::with(new_order(vec![line(1, 500, true)]));
    assert!(cancel.decide(desk.order.as_ref(), id(ORDER_ID), &cx).is_ok());
    let by = key(Some("bob@example.com"));
    let cx = crate::aggregate::DecisionContext { by: &by, ..bench.cx() };
    let other = OrderCommand::Create(Box::new(new_order(vec![line(1, 500, true)])));
    assert_eq!(other.decide(None, id(ORDER_ID), &cx).unwrap_err().class, Class::Forbidden);
}

#[test]
fn an_answer_that_contradicts_a_held_claim_is_asked_again() {
    let mut desk = OrderDecider::sliced();
    desk.stock(ClaimState::Short);
    assert_eq!((desk.state(), desk.job().stock), (JobState::AwaitingManualReview, ClaimStatus::Asked));
    desk.stock(ClaimState::Held);
    desk.dispatch().unwrap();
    assert!(desk.stock(ClaimState::Short).next.is_none());
}

#[test]
fn the_head_survives_its_json() {
    let desk = OrderDecider::sliced();
    let text = serde_json::to_string(desk.o()).unwrap();
    let back: Order = serde_json::from_str(&text).unwrap();
    let ledger = Ledger { payments: Vec::new(), ..desk.o().ledger.clone() };
    assert_eq!(back, Order { jobs: Default::default(), ledger, ..desk.o().clone() });
    let job: Job = serde_json::from_str(&serde_json::to_string(&*desk.job()).unwrap()).unwrap();
    assert_eq!(job, *desk.job());
}

#[test]
fn nothing_is_promised_while_a_stock_check_is_under_way() {
    let mut desk = OrderDecider::with(new_order(vec![line(2, 500, true)]));
    desk.pay();
    let now = desk.bench.now;
    let promise = Promise { made_at: now, expected_at: now, promised_at: now.plus_ms(60_000), met_at: None };
    desk.ask(&OrderNews::Promise(promise)).unwrap();
    assert_eq!(desk.o().promise, None, "both jobs wait for the answer");
    let jobs: Vec<_> = desk.o().jobs.values().map(|job| ClaimId { job: job.id, number: job.claim }).collect();
    let held = |claim| OrderNews::Stock(id(MATERIAL_ID), vec![(claim, ClaimState::Held, None)]);
    desk.ask(&held(jobs[0])).unwrap();
    desk.ask(&OrderNews::Promise(promise)).unwrap();
    assert_eq!(desk.o().promise, None, "one job still waits");
    desk.ask(&held(jobs[1])).unwrap();
    desk.ask(&OrderNews::Promise(promise)).unwrap();
    assert_eq!(desk.o().promise, Some(promise));
}
