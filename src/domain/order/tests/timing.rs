//! Orders that become late, which is published once for each time.

use proptest::prelude::*;

use super::*;
use crate::mail::alert::AlertKind;
use crate::mail::{Channel, Mail};
use crate::notation;
use crate::printer_status::PrintEnd;
use crate::promise::Promise;
use crate::remedy::{NamedRecord, OrderRecovery, Remedy, RemedyAct};
use crate::time::{HOUR_MS, Timestamp};
use crate::timing::Timing;

/// Builds an order for two parts, promised in ten hours, and returns it with the time of the promise.
fn promised() -> (OrderDecider, Timestamp, [Id; 2]) {
    let (mut desk, jobs) = pair();
    let now = desk.bench.now;
    let promised_at = now.plus_ms(10 * HOUR_MS);
    desk.ask(&OrderNews::Promise(Promise { made_at: now, expected_at: now, promised_at, met_at: None })).unwrap();
    (desk, now, jobs)
}

fn judge(desk: &mut OrderDecider, expected_at: Option<Timestamp>) -> Decision<Order, OrderNewsAnswer> {
    desk.ask(&OrderNews::Timing { expected_at, recovery: None }).unwrap()
}

fn alerts(decision: &Decision<Order, OrderNewsAnswer>) -> Vec<&Mail> {
    mails(decision).into_iter().filter(|mail| mail.channel == Channel::Mail).collect()
}

#[test]
fn a_late_order_is_published_once_until_it_is_on_time_again() {
    let (mut desk, start, _) = promised();
    let in_hours = |hours: i64| Some(start.plus_ms(hours * HOUR_MS));
    assert!(judge(&mut desk, in_hours(9)).next.is_none(), "nothing to record");
    let late = judge(&mut desk, in_hours(11));
    assert_eq!((names(&late), desk.o().late_since), (vec!["order.late"], Some(start)));
    let data = &late.events[0].data;
    assert_eq!((&data["orderId"], &data["dueAt"]), (&desk.o().id.to_string().into(), &serde_json::Value::Null));
    assert_eq!(data["expectedAt"], start.plus_ms(11 * HOUR_MS).to_string());
    for expected_at in [in_hours(12), None, Some(start.plus_ms(10 * HOUR_MS - 1)), in_hours(11)] {
        assert!(judge(&mut desk, expected_at).next.is_none(), "{expected_at:?} is close to the deadline or past it");
    }
    let on_time = judge(&mut desk, in_hours(5));
    assert_eq!((names(&on_time), desk.o().late_since), (vec![], None));
    assert_eq!(names(&judge(&mut desk, in_hours(11))), ["order.late"], "another delay");
}

#[test]
fn staff_hear_who_waits_and_until_when() {
    let (mut desk, start, _) = promised();
    let late = judge(&mut desk, Some(start.plus_ms(11 * HOUR_MS)));
    let [alert] = alerts(&late)[..] else { panic!("{:?}", mails(&late)) };
    let number = desk.o().number_text();
    assert_eq!((alert.alert, &alert.subject), (Some(AlertKind::OrderLate), &format!("{number} is late")));
    let (promise, expected) = (start.plus_ms(10 * HOUR_MS).to_string(), start.plus_ms(11 * HOUR_MS).to_string());
    let order_page = format!("/shop/orders/{}", desk.o().id);
    for words in [&*number, "ann@example.com", &promise[11..16], &expected[11..16], &order_page] {
        assert!(alert.text.contains(words), "{words} in {}", alert.text);
    }
    assert!(alert.link.as_ref().unwrap().url.ends_with("/shop/orders?timing=late"), "{:?}", alert.link);
}

#[test]
fn staff_hear_what_would_have_the_order_ready_in_time() {
    let remedy = |ready_at: Timestamp| Remedy {
        act: RemedyAct::Load,
        printer: Some(NamedRecord { id: id(5), name: "Ada 2".to_owned() }),
        materials: vec![NamedRecord { id: id(2), name: "PLA black".to_owned() }],
        jobs: Vec::new(),
        expected_at: ready_at,
    };
    let (mut desk, start, _) = promised();
    let (ready_at, expected_at) = (start.plus_ms(9 * HOUR_MS), Some(start.plus_ms(11 * HOUR_MS)));
    let recovery = OrderRecovery { remedies: vec![remedy(ready_at)], quickest: None, earliest_at: Some(ready_at) };
    let late = desk.ask(&OrderNews::Timing { expected_at, recovery: Some(Arc::new(recovery)) }).unwrap();
    let words = "Load PLA black into Ada 2: the order is then expected ";
    let (event, text) = (late.events[0].data["remedy"].as_str().unwrap(), &alerts(&late)[0].text);
    assert!(event.starts_with(words) && event.contains(&ready_at.to_string()[11..16]), "{event}");
    assert!(text.contains(&format!("\n{words}")), "{text}");

    let (mut desk, ..) = promised();
    let recovery = OrderRecovery { remedies: Vec::new(), quickest: None, earliest_at: None };
    let late = desk.ask(&OrderNews::Timing { expected_at, recovery: Some(Arc::new(recovery)) }).unwrap();
    let hopeless = "No single step will get the order ready in time now.";
    assert_eq!(late.events[0].data["remedy"], hopeless);
    assert!(alerts(&late)[0].text.contains(&format!("\n{hopeless}\n")), "{}", alerts(&late)[0].text);

    let (mut desk, ..) = promised();
    assert!(judge(&mut desk, expected_at).events[0].data["remedy"].is_null(), "nothing was searched for");
}

#[test]
fn time_alone_makes_an_order_late_and_an_earlier_due_date_counts() {
    let (mut desk, start, _) = promised();
    desk.bench.now = start.plus_ms(10 * HOUR_MS);
    assert!(judge(&mut desk, None).next.is_none(), "the promised moment is in time");
    desk.bench.now = start.plus_ms(10 * HOUR_MS + 1);
    let late = judge(&mut desk, None);
    assert_eq!(names(&late), ["order.late"]);
    assert!(alerts(&late)[0].text.contains("no forecast available"), "{}", alerts(&late)[0].text);

    let (mut desk, start, _) = promised();
    desk.order.as_mut().unwrap().due_at = Some(start.plus_ms(2 * HOUR_MS));
    let late = judge(&mut desk, Some(start.plus_ms(3 * HOUR_MS)));
    assert_eq!(names(&late), ["order.late"]);
    assert!(alerts(&late)[0].text.contains(": due "), "{}", alerts(&late)[0].text);
}

#[test]
fn what_is_late_is_said_with_its_deadline_and_forecast_and_for_whom() {
    let (_, start, _) = promised();
    let clock = Bench::new().rules.clock;
    let in_hours = |hours: i64| start.plus_ms(hours * HOUR_MS);
    let table = [
        (None, Some(11), true, "promised for", in_hours(10)),
        (Some(10), Some(11), true, "promised for", in_hours(10)),
        (Some(9), Some(11), true, "due", in_hours(9)),
        (Some(9), None, true, "due", in_hours(9)),
        (None, None, false, "promised for", in_hours(10)),
    ];
    for (due, expected, has_email, words, deadline) in table {
        let (mut desk, ..) = promised();
        let order = desk.order.as_mut().unwrap();
        order.due_at = due.map(in_hours);
        order.customer_email = order.customer_email.take().filter(|_| has_email);
        desk.bench.now = in_hours(10).plus_ms(1);
        let late = judge(&mut desk, expected.map(in_hours));
        let event = match expected {
            Some(hours) => format!("now expected {}", clock.date_and_time(in_hours(hours))),
            None => "no forecast available".to_owned(),
        };
        assert_eq!(late.events[0].data["message"], format!("{words} {}, {event}", clock.date_and_time(deadline)));
        let time = |at| notation::date_and_time(Language::English, &clock, at);
        let forecast = expected.map_or(event, |hours| format!("now expected {}", time(in_hours(hours))));
        let of = if has_email { " for ann@example.com" } else { "" };
        let text = format!("Order {}{of}: {words} {}, {forecast}.\n", desk.o().number_text(), time(deadline));
        assert!(alerts(&late)[0].text.starts_with(&text), "{text} in {}", alerts(&late)[0].text);
    }
}

#[test]
fn nothing_is_owed_before_a_promise_and_once_all_is_made() {
    let (mut unpromised, _) = pair();
    unpromised.order.as_mut().unwrap().due_at = Some(unpromised.bench.now.plus_ms(-1));
    assert_eq!(unpromised.o().timing(None, unpromised.bench.now), None);
    assert!(judge(&mut unpromised, None).next.is_none());

    let (mut desk, start, [one, two]) = promised();
    judge(&mut desk, Some(start.plus_ms(11 * HOUR_MS)));
    print(&mut desk, one, PrintEnd::Finished);
    assert_eq!(desk.o().timing(None, start), Some(Timing::AtRisk));
    print(&mut desk, two, PrintEnd::Finished);
    assert_eq!((desk.o().status, desk.o().late_since), (OrderStatus::Ready, None));
    assert_eq!((desk.o().timing(None, LONG_AFTER), desk.o().deadline()), (None, None));
    assert!(judge(&mut desk, None).next.is_none());

    let (mut desk, start, _) = promised();
    judge(&mut desk, Some(start.plus_ms(11 * HOUR_MS)));
    desk.ask(&OrderCommand::Cancel { force: false, prints: PrinterRecords::new() }).unwrap();
    assert_eq!((desk.o().timing(None, LONG_AFTER), desk.o().late_since), (None, None));
}

/// Moment after every deadline of these tests.
const LONG_AFTER: Timestamp = crate::time::LATEST;

#[test]
fn an_order_with_nothing_but_failed_jobs_stays_in_memory_while_it_is_promised() {
    let (mut desk, _, jobs) = promised();
    for job in jobs {
        print(&mut desk, job, PrintEnd::Failed);
    }
    let all_over = desk.o().jobs.values().all(|job| job.over());
    assert!(all_over && !desk.o().at_rest(), "it can still become late");
}

#[test]
fn an_order_of_an_older_release_is_not_late_yet() {
    let (mut desk, start, _) = promised();
    let text = serde_json::to_string(desk.o()).unwrap();
    assert!(!text.contains("lateSince"), "{text}");
    assert_eq!(serde_json::from_str::<Order>(&text).unwrap().late_since, None);
    judge(&mut desk, Some(start.plus_ms(11 * HOUR_MS)));
    let text = serde_json::to_string(desk.o()).unwrap();
    assert_eq!(serde_json::from_str::<Order>(&text).unwrap().late_since, Some(start), "a restart repeats nothing");
}

proptest! {
    /// Checks for any forecasts that an order is published as late only when it is, and not again before it was on
    /// time.
    #[test]
    fn each_delay_is_published_once(forecasts in prop::collection::vec((prop::option::of(0i64..15), 0i64..3), 1..30)) {
        let (mut desk, start, _) = promised();
        let mut is_published = false;
        for (hours, wait) in forecasts {
            desk.bench.now = desk.bench.now.plus_ms(wait * HOUR_MS / 2);
            let expected_at = hours.map(|hours| start.plus_ms(hours * HOUR_MS));
            let timing = desk.o().timing(expected_at, desk.bench.now);
            let decision = judge(&mut desk, expected_at);
            let is_new = timing == Some(Timing::Late) && !is_published;
            prop_assert_eq!(names(&decision), if is_new { vec!["order.late"] } else { vec![] });
            prop_assert_eq!(alerts(&decision).len(), usize::from(is_new));
            is_published = match timing {
                Some(Timing::Late) => true,
                Some(Timing::OnTime) => false,
                _ => is_published,
            };
        }
    }
}
