//! Random commands to an order, in any order and repeated: its states follow the transition tables.

use proptest::prelude::*;

use super::*;
use crate::job::{ClaimStatus, Job, PrinterRecord};
use crate::printer_status::PrintEnd;
use crate::sign_off::Inspection;
use crate::testing::commands::AnyOrderCommand;
use crate::time::Timestamp;

fn report(n: u8) -> Report {
    let end = [PrintEnd::Finished, PrintEnd::Cancelled, PrintEnd::Failed][usize::from(n) % 3];
    match n % 11 {
        0 => Report::Uploading,
        1 => Report::StartSent,
        2 => Report::Printing,
        3 => Report::Paused,
        4 => Report::Unverified("no answer".into()),
        5 | 6 => {
            let (filament_mm, reason, booked_on) = (None, None, Vec::new());
            Report::Ended { end, filament_mm, progress: 0.5, reason, began_at: None, unseen: false, booked_on }
        }
        7 => Report::NotStarted { start_sent: true, counts: true, pardons: None, reason: "no".into() },
        8 => Report::NotStarted { start_sent: false, counts: false, pardons: None, reason: "no".into() },
        9 => Report::Stopped { reason: "emergency stop".into() },
        _ => Report::CancelledBeforeStart,
    }
}

/// Builds an inspection: a number of good parts, or none.
fn inspection(how: u8) -> Inspection {
    Inspection { good_count: (how % 4 < 3).then_some(u32::from(how % 4)), ..Inspection::default() }
}

/// Builds a command to an order without jobs.
fn command_without_jobs(what: u8, how: u8) -> OrderCommand {
    match what % 4 {
        0 => OrderCommand::Confirm,
        1 => OrderCommand::Ledger(LedgerCommand::Payment(PaymentUpdate::Failed {
            reason: None,
            intent: None,
            session: None,
        })),
        2 => OrderCommand::Ledger(LedgerCommand::Payment(PaymentUpdate::Refunded {
            amount_cents: i64::from(how),
            whole: how.is_multiple_of(8),
            currency: None,
            intent: None,
        })),
        _ => OrderCommand::MarkPaid { amount_cents: None, method: "cash".into(), reference: None },
    }
}

/// Builds a command from three random numbers, about jobs and claims that exist.
fn command(order: &Order, (what, which, how): (u8, u8, u8)) -> AnyOrderCommand {
    let jobs: Vec<_> = order.jobs.values().cloned().collect();
    let Some(job) = jobs.get(usize::from(which) % jobs.len().max(1)) else {
        return command_without_jobs(what, how).into();
    };
    let id_of = job.id;
    let state =
        [ClaimState::Held, ClaimState::Held, ClaimState::Short, ClaimState::BelowReorderPoint][usize::from(how) % 4];
    let claims = job.claims();
    let numbered_claims: Vec<_> = claims.iter().filter(|claim| claim.number > 0).collect();
    let claim = numbered_claims[usize::from(how / 16) % numbered_claims.len()];
    let (material, number) = (claim.material_id, claim.number.saturating_sub(u32::from(how % 5 == 4)).max(1));
    match what % 30 {
        0..=3 => OrderNews::Stock(material, vec![(ClaimId { job: id_of, number }, state, None)]).into(),
        4 => OrderNews::Settled(vec![ClaimId { job: id_of, number }]).into(),
        5..=8 => JobCommand::Dispatch { job: id_of, printer: id(PRINTER_ID + u32::from(how % 3)) }.into(),
        9..=15 => {
            let attempt = job.attempts.iter().rev().nth(usize::from(how / 10 % 4) / 3).map_or(id(99), |one| one.id);
            OrderNews::Attempt { job: id_of, attempt, report: report(how) }.into()
        }
        16 => JobCommand::Cancel { job: id_of, force: how.is_multiple_of(3), prints: PrinterRecords::new() }.into(),
        17 => JobCommand::Retry(id_of).into(),
        18 => JobCommand::Release { job: id_of, stock: free(i64::from(how)) }.into(),
        19 => {
            let outcome = [Resolution::NotStarted, Resolution::Finished, Resolution::Failed][usize::from(how) % 3];
            JobCommand::Resolve { job: id_of, outcome, print: PrinterRecord::default() }.into()
        }
        20 if how.is_multiple_of(4) => {
            OrderCommand::Cancel { force: how.is_multiple_of(8), prints: PrinterRecords::new() }.into()
        }
        21 => JobCommand::Update { job: id_of, if_version: None, priority: Some(how % 10), due_at: None }.into(),
        22 if how.is_multiple_of(4) => {
            let intent = how.is_multiple_of(8).then(|| format!("pi_{}", how % 3));
            let back = PaymentUpdate::Refunded { amount_cents: 2_000, whole: true, currency: None, intent };
            OrderCommand::Ledger(LedgerCommand::Payment(back)).into()
        }
        22 => {
            let intent = Some(format!("pi_{}", how % 3));
            let payment = PaymentUpdate::Paid { amount_cents: None, currency: None, session: None, intent };
            OrderCommand::Ledger(LedgerCommand::Payment(payment)).into()
        }
        23 | 24 => {
            let mut make = Box::new(order.lines[0].make.clone().unwrap());
            make.file_id = make.file_id.filter(|_| !how.is_multiple_of(4));
            OrderNews::Prepared { sku: job.sku_id, make }.into()
        }
        26 => JobCommand::SignOff { job: id_of, inspection: inspection(how) }.into(),
        27 => {
            let attempt = job.attempts.iter().rev().nth(usize::from(how / 10 % 4) / 3).map_or(id(99), |one| one.id);
            let at = Timestamp(1_700_000_000_000 + i64::from(how % 3));
            OrderNews::SignedAtPrinter { job: id_of, attempt, inspection: inspection(how), by: "ann".into(), at }.into()
        }
        25 => RecallClaims(vec![ClaimId { job: id_of, number }], "counted".into()).into(),
        _ => OrderCommand::Ship {
            shipment: Shipment {
                carrier: "UPS".into(),
                tracking_number: "1Z".into(),
                estimated_delivery: "2026-12-01".into(),
            },
            lines: how.is_multiple_of(3).then(|| vec![SentLine { line: u32::from(how % 2), quantity: 1 }]),
            accept_short: how.is_multiple_of(2),
        }
        .into(),
    }
}

/// Returns whether one command may cause the given transition of a job (several steps in a row count as one, from the
/// first state to the last).
fn job_may(from: JobState, to: JobState) -> bool {
    use JobState::{
        AwaitingManualReview, Cancelled, Completed, Created, Dispatching, Failed, Paused, Printing, Sliced, Validated,
    };
    from == to
        || match from {
            Created => matches!(to, Validated | Cancelled),
            Validated => matches!(to, Sliced | AwaitingManualReview | Cancelled),
            AwaitingManualReview => matches!(to, Validated | Sliced | Cancelled),
            Sliced => matches!(to, Dispatching | AwaitingManualReview | Cancelled),
            Dispatching => {
                matches!(to, Printing | Paused | Completed | Failed | Sliced | AwaitingManualReview | Cancelled)
            }
            Printing => matches!(to, Paused | Completed | Failed | Cancelled),
            Paused => matches!(to, Printing | Completed | Failed | Cancelled),
            Completed => to == Validated,
            Failed => matches!(to, Validated | Cancelled),
            Cancelled => matches!(to, Validated | Created),
        }
}

fn order_may(from: OrderStatus, to: OrderStatus) -> bool {
    use OrderStatus::{Cancelled, Created, Draft, Paid, PaymentFailed, Printing, Ready, Refunded, Shipped};
    from == to
        || match from {
            Draft => matches!(to, Created | Paid | Cancelled | Refunded),
            Created => matches!(to, Paid | PaymentFailed | Cancelled | Refunded),
            PaymentFailed => matches!(to, Paid | Cancelled | Refunded),
            Paid => matches!(to, Printing | Ready | Cancelled | Refunded),
            Printing => matches!(to, Ready | Shipped | Cancelled | Refunded),
            Ready => matches!(to, Printing | Shipped | Cancelled | Refunded),
            Shipped => matches!(to, Printing | Ready | Refunded),
            Cancelled => to == Refunded,
            Refunded => false,
        }
}

fn sound<A>(before: &Order, after: &Order, decision: &Decision<Order, A>) {
    assert!(order_may(before.status, after.status), "{} → {}", before.status, after.status);
    for job in after.jobs.values() {
        let rows = decision.rows.iter().filter(|row| matches!(row, OrderRow::Job(one) if one == job)).count();
        match before.jobs.get(&job.id) {
            Some(old) => {
                assert!(job_may(old.state, job.state), "{} → {}", old.state, job.state);
                assert_eq!(usize::from(old != job), rows, "a changed job is one row");
                assert_eq!(job.version, old.version, "the server is no person");
                for attempt in &job.attempts {
                    let same = old.attempts.contains(attempt);
                    let row = decision.rows.iter().any(|row| matches!(row, OrderRow::Attempt(one) if one == attempt));
                    assert!(same || row, "a changed attempt is a row");
                }
            }
            None => assert_eq!(rows, 1),
        }
        let on_printer = matches!(job.state, JobState::Dispatching | JobState::Printing | JobState::Paused);
        let live: Vec<_> = job.attempts.iter().filter(|one| !one.state.over()).map(|one| one.id).collect();
        assert_eq!(live, job.attempt_id.into_iter().collect::<Vec<_>>(), "at most one live attempt");
        assert_eq!(on_printer, job.attempt_id.is_some());
        assert_eq!(on_printer || job.state == JobState::Sliced, job.holds_all());
        numbered(job);
        assert!(job.file_id.is_some() || matches!(job.state, JobState::Created | JobState::Cancelled));
        assert!(job.file_id.is_none() || job.state != JobState::Created);
        assert!(job.cancel_requested_at.is_none() || on_printer || job.state == JobState::Cancelled);
    }
    let sent = after.lines.iter().zip(after.shipped_parts());
    for (line, left) in sent {
        assert!(left <= u64::from(line.quantity), "no more leaves than was ordered");
    }
    if after.status == OrderStatus::Ready {
        assert!(after.jobs.values().all(|job| matches!(job.state, JobState::Completed | JobState::Cancelled)));
        assert!(after.jobs.values().any(|job| job.state == JobState::Completed));
        assert!(after.jobs.values().all(|job| !job.unsigned), "ready means signed off");
    }
    let is_over = |job: &Job| job.state == JobState::Cancelled || (job.state == JobState::Completed && !job.unsigned);
    let is_made =
        after.jobs.values().all(|job| is_over(job)) && after.jobs.values().any(|job| job.state == JobState::Completed);
    assert!(after.status != OrderStatus::Printing || !is_made, "an order is printed for as long as something is made");
    let flagged = |flag: &str| after.flags.iter().filter(|one| *one == flag).count();
    let going = !matches!(after.status, OrderStatus::Shipped | OrderStatus::Cancelled | OrderStatus::Refunded);
    let any = |state| after.jobs.values().any(|job| job.state == state);
    assert_eq!(flagged("job_failed"), usize::from(going && any(JobState::Failed)));
    let lacks = after.lines.iter().zip(after.parts()).any(|(line, parts)| parts.good < u64::from(line.quantity));
    assert!(after.status != OrderStatus::Ready || flagged("short") == usize::from(lacks));
    let missing = after.lines.iter().zip(after.parts()).any(|(line, parts)| parts.missing(line.quantity) > 0);
    let in_production = matches!(after.status, OrderStatus::Printing | OrderStatus::Ready);
    assert_eq!(flagged("needs_attention"), usize::from(in_production && missing));
    assert!(after.flags.iter().all(|flag| flagged(flag) == 1));
    let failures = decision.events.iter().filter(|event| event.event == "job.failed").count();
    let alerts = mails(decision).into_iter().filter(|mail| mail.subject.contains(" failed: ")).count();
    assert_eq!(failures, alerts, "each failed job is told to people");
    let owes = !decision.rows.is_empty() || !decision.events.is_empty();
    assert!(!owes || decision.next.is_some(), "rows and events are part of a change");
}

/// Asserts that no two claims of a job have the same number, and that no claim is held while an earlier one is not.
fn numbered(job: &Job) {
    let claims = job.claims();
    let mut all: Vec<u32> = claims.iter().map(|claim| claim.number).filter(|number| *number > 0).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "{job:#?}");
    if !job.over() {
        let behind = claims.iter().skip_while(|claim| claim.stock == ClaimStatus::Held);
        assert!(behind.into_iter().all(|claim| claim.stock != ClaimStatus::Held), "{job:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_tables_are_never_left(script in prop::collection::vec(any::<(u8, u8, u8)>(), 0..120), draft: bool, required: bool, plate in 1u32..3) {
        let mut of_two = line(2, 500, true);
        let make = of_two.make.as_mut().unwrap();
        make.further = vec![need(MATERIAL_ID + 70, 5), need(1, 7)];
        make.units_per_plate = plate;
        let mut new = new_order(vec![of_two, line(1, 100, false)]);
        new.draft = draft;
        let mut desk = OrderDecider::with(new);
        desk.bench.rules.quality.sign_off_required = required;
        for step in script {
            let command = command(desk.o(), step);
            let before = desk.o().clone();
            let news = matches!(
                command,
                AnyOrderCommand::Order(OrderCommand::Ledger(LedgerCommand::Payment(_)))
                    | AnyOrderCommand::News(_)
                    | AnyOrderCommand::Recall(_)
            );
            match desk.ask(&command) {
                Ok(decision) => {
                    sound(&before, desk.o(), &decision);
                    makes_no_more_than_missing(&desk.bench, &before, desk.o());
                    keeps_what_prints_are_summed_by(&before, desk.o());
                }
                Err(refusal) => prop_assert!(!news, "{command:?} was refused: {refusal}"),
            }
        }
    }
}
