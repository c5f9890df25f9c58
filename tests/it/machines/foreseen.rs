//! Forecasts and promises: forecasts of the whole queue, which follow events, and promises, which never change.

use serde_json::{Value, json};
use simulator::PrinterKind;

use super::{FAST, Floor, SLOW};
use crate::support::{Clock, on_drawn, on_sqlite, until};

/// Returns a member's timestamp, in milliseconds; `None` if it is null.
fn moment(of: &Value, member: &str) -> Option<i64> {
    let text = of[member].as_str()?;
    Some(text.parse::<jiff::Timestamp>().unwrap_or_else(|error| panic!("{member} {text}: {error}")).as_millisecond())
}

async fn order(floor: &Floor, order: &str) -> Value {
    floor.app.get(&format!("/api/orders/{order}")).await.expect(200)
}

/// Waits until the order has a forecast and a promise; returns the order.
async fn promised(floor: &Floor, id: &str) -> Value {
    until("the order to be promised", || async {
        let order = order(floor, id).await;
        (moment(&order, "expectedAt").is_some() && moment(&order, "promisedAt").is_some()).then_some(order)
    })
    .await
}

async fn forecast(floor: &Floor) -> Value {
    floor.app.get("/api/forecast").await.expect(200)
}

/// Reads a value that depends on the forecast, retrying until the forecast stays unchanged during the read. Returns the
/// forecast and the value.
async fn of_one_forecast<T>(floor: &Floor, read: impl AsyncFn() -> T) -> (Value, T) {
    until("a forecast that stays while it is read", || async {
        let before = forecast(floor).await;
        let result = read().await;
        (forecast(floor).await["at"] == before["at"]).then_some((before, result))
    })
    .await
}

/// Returns the expected times of an order's jobs in ascending order, in milliseconds.
fn expected_jobs(jobs: &[Value]) -> Vec<i64> {
    let mut moments: Vec<i64> = jobs.iter().filter_map(|job| moment(job, "expectedAt")).collect();
    moments.sort_unstable();
    moments
}

on_drawn! {
    async fn what_prints_took_is_learnt_and_survives_a_power_cut(db: Db) {
        let mut floor = Floor::on(db, PrinterKind::FwRest, 1, FAST, &[]).await;
        let done = floor.order(6).await;
        until("the bed to be cleared as often as it takes", || async {
            floor.app.act(&floor.path(0, "/bed-cleared")).await;
            (order(&floor, &done).await["status"] == "ready").then_some(())
        })
        .await;
        floor.app.act(&floor.path(0, "/bed-cleared")).await.expect(200);
        floor.app.kill_9();
        floor.sim(0).handle.set_speed(SLOW);
        floor.app.start().await;
        let next = floor.order(1).await;
        let lead = until("less than the file says to be expected", || async {
            let (forecast, order) = (forecast(&floor).await, order(&floor, &next).await);
            let lead = moment(&order, "expectedAt")? - moment(&forecast, "at")?;
            (lead < 500_000).then_some(lead)
        })
        .await;
        assert!(lead > 0, "{lead}");
    }
}

on_sqlite! {
    async fn the_queue_has_dates_and_a_promise_does_not_move(db: Db) {
        let mut floor = Floor::on(db, PrinterKind::FwRest, 1, SLOW, &[]).await;
        floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
        let first = floor.order(3).await;
        until("its first part to print", || async {
            floor.app.jobs(&first).await.iter().any(|job| job["state"] == "PRINTING").then_some(())
        })
        .await;
        let before = promised(&floor, &first).await;
        let (expected, promise) = (moment(&before, "expectedAt"), moment(&before, "promisedAt"));
        assert!(promise > expected, "a promise leaves room: {before}");
        let (dates, jobs) = of_one_forecast(&floor, async || expected_jobs(&floor.app.jobs(&first).await)).await;
        // One printer, three prints of ten minutes, and the bed to be cleared by hand between them.
        assert!(jobs.len() == 3 && jobs.windows(2).all(|two| two[1] - two[0] >= 600_000), "{jobs:?}");
        assert_eq!(moment(&dates, "doneAt"), jobs.last().copied(), "{dates}");
        assert!(moment(&dates["printers"][0], "freeAt") > moment(&dates, "doneAt"), "{dates}");
        assert_eq!((&dates["late"], &dates["untold"]), (&json!([]), &json!(0)), "{dates}");

        // A more urgent order of a working day goes before what has not begun.
        let urgent = json!({"lines": [{"skuId": floor.sku, "quantity": 30}], "priority": 9});
        let urgent = floor.app.post("/api/orders", &urgent).await.expect(201)["id"].as_str().unwrap().to_owned();
        floor.app.post(&format!("/api/orders/{urgent}/mark-paid"), &json!({"method": "cash"})).await.expect(200);
        let late = until("the first order to be late", || async {
            let dates = forecast(&floor).await;
            let late = dates["late"].as_array().unwrap().first().cloned();
            late.filter(|late| late["id"] == first.as_str())
        })
        .await;
        assert!(moment(&late, "expectedAt") > moment(&late, "promisedAt"), "{late}");
        until("that it is late to be recorded", || async { floor.events("order.late").await.pop() }).await;
        let after = order(&floor, &first).await;
        assert_eq!(moment(&after, "promisedAt"), promise, "{after}");
        assert!(moment(&after, "expectedAt") > expected, "{after}");
        assert_eq!(after["updatedAt"], order(&floor, &first).await["updatedAt"]);

        // Only the promise is kept: what is expected is told anew after a power cut.
        floor.app.kill_9();
        floor.app.start().await;
        let again = promised(&floor, &first).await;
        assert_eq!(moment(&again, "promisedAt"), promise, "{again}");
        assert!(moment(&again, "expectedAt") > promise, "{again}");
    }

    async fn a_job_that_waits_for_stock_has_no_date_and_its_order_no_promise(db: Db) {
        let floor = Floor::on(db, PrinterKind::FwRest, 1, SLOW, &[]).await;
        let ready = floor.order(1).await;
        let short = floor.order(150).await; // each part takes 10 g of 1000 g
        let untold = until("what lacks stock to be told", || async {
            let dates = forecast(&floor).await;
            (dates["untold"] == 51).then_some(dates)
        })
        .await;
        assert!(moment(&untold, "doneAt").is_some(), "{untold}");
        let ready = promised(&floor, &ready).await;
        assert!(moment(&ready, "expectedAt").is_some());
        let short = order(&floor, &short).await;
        assert_eq!((&short["expectedAt"], &short["promisedAt"]), (&Value::Null, &Value::Null), "{short}");
    }

    async fn what_needs_a_person_is_expected_in_opening_hours(db: Db) {
        const MINUTE: i64 = 60_000;
        // Friday, 17:30 in the shop's zone, which closes at 18:00 and not again before Tuesday: Monday is a holiday.
        let zone = jiff::tz::TimeZone::posix("<+03>-3").unwrap();
        let clock = Clock::new();
        let now = jiff::Timestamp::from_second(clock.unix_now()).unwrap();
        let friday = now.to_zoned(zone.clone()).date().nth_weekday(1, jiff::civil::Weekday::Friday).unwrap();
        let monday = friday.nth_weekday(1, jiff::civil::Weekday::Monday).unwrap();
        let at = |day: jiff::civil::Date, hour: i8, minute: i8| {
            day.at(hour, minute, 0, 0).to_zoned(zone.clone()).unwrap().timestamp().as_millisecond()
        };
        clock.set(at(friday, 17, 30) - now.as_millisecond());
        let closed = monday.to_string();
        let env = [
            ("PRINTFLOOR_SHOP__TIME_ZONE", "<+03>-3"),
            ("PRINTFLOOR_SHOP__HOURS", "mon-fri 08:00-18:00,sat 09:00-09:10"),
            ("PRINTFLOOR_SHOP__CLOSED_DAYS", closed.as_str()),
        ];
        let floor = Floor::at_on(db, &clock, PrinterKind::FwRest, 1, SLOW, &env).await;
        floor.app.patch(&floor.path(0, ""), &json!({"autoClear": false})).await.expect(200);
        let id = floor.order(4).await;
        let read = async || (promised(&floor, &id).await, expected_jobs(&floor.app.jobs(&id).await));
        let (_, (order, jobs)) = of_one_forecast(&floor, read).await;
        let [first, second, third, fourth] = jobs[..] else { panic!("{jobs:?}") };
        // Ten minutes each. Somebody clears the first bed on Friday; the second print ends in the evening.
        assert!((at(friday, 17, 40)..at(friday, 17, 45)).contains(&first), "{order}");
        assert!((at(friday, 18, 0)..at(friday, 18, 20)).contains(&second), "printers go on when nobody is there: {order}");
        // Ten minutes on Saturday are too short to count on a clear bed before Tuesday, 8:05.
        let tuesday = monday.tomorrow().unwrap();
        assert!((at(tuesday, 8, 10)..at(tuesday, 8, 25)).contains(&third), "not on Monday: {order}");
        assert!((third + 20 * MINUTE..third + 35 * MINUTE).contains(&fourth), "{order}");
        assert_eq!(moment(&order, "expectedAt"), Some(fourth));
        assert!(moment(&order, "promisedAt") > Some(fourth), "{order}");
    }
}
