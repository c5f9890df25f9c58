//! Bookings in another system that does not report them.

use super::{adjust, agree, link_is, linked, links, parts, quantity, server, status};
use crate::support::{Db, until};

/// Uses a token that may book but not read bookings: the outcome of a booking is unknown, so the booking is not sent
/// again.
#[tokio::test]
async fn what_is_booked_there_is_booked_once_though_its_history_cannot_be_read() {
    let there = parts().await;
    let part = there.add_part("ASA", "g");
    there.add_item(part, 1_000_000);
    let app = server(Db::sqlite(), "PARTS", &there.url()).await;
    let material = app.material("ASA", 1_000.0).await;
    linked(&app, "parts", &material, part).await;
    agree(&app, "parts", &material, "theirs").await;
    there.hide_tracking(true);
    assert!(adjust(&app, &material, -100_000).await);
    until("words for what cannot be read", || async {
        let body = links(&app).await;
        status(&body, "parts")["error"]
            .as_str()
            .filter(|words| words.contains("ASA: ") && words.contains("403"))
            .map(drop)
    })
    .await;
    assert!(adjust(&app, &material, 50_000).await);
    assert_eq!((quantity(&app, &material).await, there.total(part)), (950_000, 900_000));
    there.hide_tracking(false);
    link_is(&app, "both sides to agree", &material, |link| link["state"] == "in_step" && link["theirs"] == 950).await;
    assert_eq!((quantity(&app, &material).await, there.total(part)), (950_000, 950_000));
    app.ledger_is_even(&material).await;
}
