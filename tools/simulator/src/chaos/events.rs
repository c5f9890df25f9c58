//! Events of the shop, read with a cursor during the run, and completely at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use serde_json::Value;
use tokio::time::sleep;

use crate::client::{ApiFault, ChaosClient};
use crate::customers::ChaosSale;
use crate::json::{items, number, text};

/// Pause after all available events have been read.
const READ_PAUSE: Duration = Duration::from_millis(200);
/// Number of events per request.
const PAGE_EVENTS: usize = 200;

/// Event with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLine {
    number: i64,
    id: String,
    name: String,
    subject: String,
}

impl EventLine {
    fn new(event: &Value) -> Self {
        let subject = text(&event["subject"], "id").to_owned();
        let (id, name) = (text(event, "id").to_owned(), text(event, "event").to_owned());
        Self { number: number(event, "seq"), id, name, subject }
    }
}

fn path(after: i64) -> String {
    format!("/api/events?after={after}&limit={PAGE_EVENTS}")
}

/// Follows the events until `closed` is set. A cursor from the server must stay valid forever.
pub async fn follow(api: ChaosClient, closed: Arc<AtomicBool>) -> Result<Vec<EventLine>, ApiFault> {
    let (mut lines, mut cursor) = (Vec::new(), 0);
    while !closed.load(Relaxed) {
        match api.peek(&path(cursor)).await {
            Some(Ok(page)) if !items(&page, "events").is_empty() => {
                lines.extend(items(&page, "events").iter().map(EventLine::new));
                cursor = number(&page, "next");
            }
            Some(Err(refusal)) => {
                return Err(ApiFault(format!("events up to {cursor} were read, and the cursor is refused: {refusal}")));
            }
            _ => sleep(READ_PAUSE).await,
        }
    }
    Ok(lines)
}

/// Reads all events from the first one on.
pub async fn read_all(api: &ChaosClient) -> Result<Vec<EventLine>, ApiFault> {
    let (mut lines, mut cursor) = (Vec::new(), 0);
    loop {
        let page = api.get(&path(cursor)).await?;
        if items(&page, "events").is_empty() {
            return Ok(lines);
        }
        lines.extend(items(&page, "events").iter().map(EventLine::new));
        cursor = number(&page, "next");
    }
}

/// Returns the problems with the followed events, and with the complete list.
pub fn problems(followed: &[EventLine], all: &[EventLine], sales: &[ChaosSale]) -> Vec<String> {
    let mut problems = Vec::new();
    for lines in [followed, all] {
        let hole = lines.windows(2).find(|pair| pair[1].number != pair[0].number + 1);
        problems.extend(hole.map(|pair| format!("after event {} comes {}", pair[0].number, pair[1].number)));
    }
    let changed = followed.iter().find(|line| !contains(all, line));
    problems.extend(changed.map(|line| format!("an event that was read is another one or gone: {line:?}")));
    for ChaosSale { order, plan, .. } in sales {
        for (name, expected) in [("order.created", 1), ("order.paid", usize::from(plan.is_paid()))] {
            let count = all.iter().filter(|line| line.subject == *order && line.name == name).count();
            if count != expected {
                problems.push(format!("{name} of the order {order} ({plan:?}) was published {count} times"));
            }
        }
    }
    problems
}

/// Returns whether exactly this event is in a list sorted by number.
fn contains(lines: &[EventLine], line: &EventLine) -> bool {
    lines.binary_search_by_key(&line.number, |one| one.number).is_ok_and(|at| lines[at] == *line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::PurchasePlan;

    fn line(number: i64, name: &str) -> EventLine {
        EventLine { number, id: format!("e{number}"), name: name.to_owned(), subject: "o".to_owned() }
    }

    fn sale() -> ChaosSale {
        ChaosSale { order: "o".to_owned(), plan: PurchasePlan::Card, cash_cents: 0 }
    }

    #[test]
    fn whole_events_have_no_problem() {
        let all = [line(3, "order.created"), line(4, "order.paid"), line(5, "order.ready")];
        assert_eq!(problems(&all[..2], &all, &[sale()]), Vec::<String>::new());
    }

    #[test]
    fn holes_changes_and_repeats_are_noticed() {
        let all = [line(3, "order.created"), line(5, "order.paid"), line(6, "order.paid")];
        let followed = [line(3, "order.created"), line(4, "order.paid")];
        let problems = problems(&followed, &all, &[sale()]);
        let expected =
            ["after event 3 comes 5", "is another one or gone", "order.paid of the order o (Card) was published 2"];
        assert_eq!(problems.len(), expected.len(), "{problems:?}");
        for (problem, words) in problems.iter().zip(expected) {
            assert!(problem.contains(words), "{problem}");
        }
    }
}
