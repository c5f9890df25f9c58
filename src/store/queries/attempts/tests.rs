#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use super::*;
use crate::rows::Batch;
use crate::rows::samples::{at, attempt, id, job, on_each, write};
use domain::order::OrderRow;
use domain::sign_off::SignOff;

const PRINTER: u128 = 700;

/// Builds attempt number `n` on the printer, in the given state.
fn on_it(n: u128, state: AttemptState, reason: Option<&str>) -> Attempt {
    let own = attempt(n, 1, 1, n as u32);
    let reason = reason.map(str::to_owned);
    Attempt { printer_id: id(PRINTER), state, reason, started_at: None, created_at: at(n as i64), ..own }
}

#[tokio::test]
async fn reasons_of_rejected_parts_are_those_of_the_last_prints() {
    on_each(async |db| {
        let judged = |n: u128, good: u32, reason: Option<&str>| {
            let sign_off = serde_json::json!({
                "good": good, "parts": 3, "reason": reason, "automatic": false, "by": "system", "at": at(n as i64),
            });
            let sign_off = Some(serde_json::from_value::<SignOff>(sign_off).unwrap());
            Attempt { sign_off, ended_at: Some(at(n as i64)), ..on_it(n, AttemptState::Finished, None) }
        };
        let mut batch = Batch::default();
        batch.push_row(&OrderRow::Job(Arc::new(job(1, 1)))).unwrap();
        for (n, good, reason) in
            [(1, 2, Some("warping")), (2, 0, None), (3, 3, Some("other")), (4, 1, Some("adhesion"))]
        {
            batch.push_row(&OrderRow::Attempt(judged(n, good, reason))).unwrap();
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        assert_eq!(queries.last_reject_reasons(9).await.unwrap(), ["adhesion", "warping"]);
        assert_eq!(queries.last_reject_reasons(2).await.unwrap(), ["adhesion"]);
    })
    .await;
}

#[tokio::test]
async fn the_attempts_of_a_printer_are_listed_and_summed_up_by_how_they_ended() {
    on_each(async |db| {
        use AttemptState as S;
        let printed = |n: u128, state: AttemptState, reason: Option<&str>| Attempt {
            started_at: Some(at(n as i64)),
            ended_at: Some(at(n as i64).plus_ms(60_000)),
            used: Amount::units(10),
            ..on_it(n, state, reason)
        };
        let mut all = vec![
            printed(1, S::Finished, None),
            printed(2, S::Finished, None),
            printed(3, S::Failed, Some("nozzle too hot")),
            printed(4, S::Failed, Some("nozzle too hot")),
            printed(5, S::Abandoned, None),
            printed(6, S::Cancelled, None),
            on_it(7, S::Cancelled, None),
            on_it(8, S::Refused, Some("busy")),
            on_it(9, S::NotStarted, None),
            printed(10, S::Confirmed, None),
        ];
        all.push(Attempt { printer_id: id(1), ..printed(11, S::Finished, None) });
        let mut batch = Batch::default();
        batch.push_row(&OrderRow::Job(Arc::new(job(1, 1)))).unwrap();
        for attempt in &all {
            batch.push_row(&OrderRow::Attempt(attempt.clone())).unwrap();
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());

        let page = Page { limit: 3, offset: 1 };
        let (some, total) = queries.attempts_on(id(PRINTER), None, page).await.unwrap();
        let ids: Vec<Id> = some.iter().map(|(attempt, _)| attempt.id).collect();
        assert_eq!((ids, total), (vec![all[8].id, all[7].id, all[6].id], 10));
        assert_eq!(some[0].1.as_ref().map(|job| job.id), Some(id(1)));
        let (failed, total) = queries.attempts_on(id(PRINTER), Some(S::Failed), page).await.unwrap();
        assert_eq!((failed.len(), total), (1, 2));

        let totals = queries.attempt_totals(id(PRINTER), at(0), at(100)).await.unwrap();
        let expected = AttemptTotals {
            finished: 2,
            failed: 3,
            cancelled: 1,
            not_started: 3,
            print_ms: 6 * 60_000,
            used: Amount::units(60),
            reasons: vec![(Some("nozzle too hot".to_owned()), 2), (None, 1)],
        };
        assert_eq!(totals, expected);
        let some = queries.attempt_totals(id(PRINTER), at(2), at(4)).await.unwrap();
        assert_eq!((some.finished, some.failed, some.print_ms), (1, 1, 120_000), "from on, and before");
    })
    .await;
}

#[tokio::test]
async fn rare_reasons_are_counted_together() {
    on_each(async |db| {
        let mut batch = Batch::default();
        for n in 0..30 {
            let reason = if n < 5 { "jammed".to_owned() } else { format!("error {n}") };
            batch.push_row(&OrderRow::Attempt(on_it(n, AttemptState::Failed, Some(&reason)))).unwrap();
        }
        write(db, batch).await.unwrap();
        let queries = Queries::new(db.clone());
        let totals = queries.attempt_totals(id(PRINTER), at(0), at(100)).await.unwrap();
        assert_eq!(totals.reasons.len(), MAX_REASONS + 1);
        assert_eq!(totals.reasons[0], (Some("jammed".to_owned()), 5));
        assert_eq!(totals.reasons[MAX_REASONS], (None, 25 - (MAX_REASONS as i64 - 1)));
    })
    .await;
}
