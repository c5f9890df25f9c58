//! The shop's clock: the one time zone in which pages show times and read them.

use serde_json::json;

use super::products::sent;
use super::{is_sound, operator};
use crate::billing::pages::token;
use crate::support::{App, on_sqlite};

/// Time zone without daylight saving, given as a rule, so that the test needs no time zone database.
const TOKYO: &str = "JST-9";

on_sqlite! {
    async fn pages_show_and_read_times_in_the_time_zone_of_the_shop(db: Db) {
        let app = App::on(db).env("PRINTFLOOR_SHOP__TIME_ZONE", TOKYO).start().await;
        let sam = operator(&app).await;
        let sku = crate::api::some_sku(&app).await;
        let order = app.order(&sku, 1).await;
        let (api, path) = (format!("/api/orders/{order}"), format!("/shop/orders/{order}"));
        app.patch(&api, &json!({"dueAt": "2030-05-06T16:40:05.000Z"})).await.expect(200);
        let page = sam.get(&path).await;
        is_sound(&page);
        let exact = "datetime=\"2030-05-06T16:40:05.000Z\" title=\"Tuesday 7 May 2030, 01:40:05 JST\"";
        for part in [&*format!("<time {exact}>7 May 2030 01:40</time>"), "name=\"dueAt\" type=\"date\" value=\"2030-05-07\""] {
            assert!(page.text.contains(part), "{part} in {}", page.text);
        }
        assert!(!page.text.contains(" UTC"), "{}", page.text);
        // The day that the form showed keeps its moment; another is read by the shop's clock.
        let (own, change) = (token(&page), format!("{path}/change"));
        for (day, moment) in [("2030-05-07", "2030-05-06T16:40:05.000Z"), ("2030-05-08", "2030-05-08T14:59:59.999Z")] {
            let fields = [("dayShown", "2030-05-07"), ("dueAt", day), ("priority", "5")];
            assert_eq!(sent(&sam, &own, &change, &fields).await.status, 200, "{day}");
            assert_eq!(app.get(&api).await.expect(200)["dueAt"], moment, "{day}");
        }
    }
}
