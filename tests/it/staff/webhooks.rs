//! Webhooks on the staff's pages: failed deliveries are shown with their response and can be resent, and endpoints are
//! managed.

use serde_json::json;
use simulator::sink::{Sink, SinkMode};

use super::settings::{boss, shown_once};
use super::{is_sound, operator};
use crate::api::some_sku;
use crate::api::webhooks::{QUICK, endpoint_is, got, happen, newest_is, register};
use crate::billing::pages::{send, token};
use crate::support::{App, on_sqlite, until};

on_sqlite! {
    async fn a_delivery_that_failed_is_seen_with_its_answer_and_sent_again(db: Db) {
        let app = App::on(db).env("PRINTFLOOR_WEBHOOKS__RETRY_SCHEDULE_SECONDS", QUICK).start().await;
        let sku = some_sku(&app).await;
        let sink = Sink::start().await.unwrap();
        sink.set_mode(SinkMode::Status(503));
        let endpoint = register(&app, &sink, &["order.created"]).await;
        let order = happen(&app, &sku).await;
        endpoint_is(&app, &endpoint, "disabled").await;
        let boss = boss(&app).await;
        let list = boss.get("/shop/webhooks").await;
        is_sound(&list);
        let disabled = "<span class=\"state error\">Disabled</span>";
        assert!(list.text.contains(&sink.url()) && list.text.contains(disabled), "{}", list.text);
        let path = format!("/shop/webhooks/{endpoint}");
        let page = boss.get(&path).await;
        is_sound(&page);
        let failed = "<span class=\"state error\">Failed</span>";
        for words in [disabled, failed, "<strong>503</strong>", "6 attempts", &order, "Status 503", "X-Service-Event: order.created"] {
            assert!(page.text.contains(words), "{words} in {}", page.text);
        }
        for (query, is_listed) in [
            ("?state=failed&event=order.created", true), ("?state=delivered", false), ("?event=order.paid", false),
            ("?from=1", false), ("?state=odd", true),
        ] {
            let narrowed = boss.get(&format!("{path}{query}")).await;
            is_sound(&narrowed);
            assert_eq!(narrowed.text.contains(failed), is_listed, "{query}: {}", narrowed.text);
        }

        let past = newest_is(&app, &endpoint, "failed").await["id"].as_str().unwrap().to_owned();
        let own = token(&page);
        sink.set_mode(SinkMode::Ok);
        let again = send(&boss, &format!("/shop/deliveries/{past}/redeliver"), &[("form_token", &own)]).await;
        assert!(again.status == 200 && again.text.contains(", resent"), "{}", again.text);
        let enabled = send(&boss, &format!("{path}/enable"), &[("form_token", &own)]).await;
        assert!(!enabled.text.contains(disabled), "{}", enabled.text);
        // The delivery that disabled the endpoint, and the one that was asked for.
        got(&sink, 8).await;
        newest_is(&app, &endpoint, "delivered").await;
        until("the page to say so", || async {
            let page = boss.get(&path).await.text;
            let delivered = page.matches("<span class=\"state working\">Delivered</span>").count();
            (delivered == 2 && page.contains("Status 200") && page.contains("<span class=\"state working\">Active</span>")).then_some(())
        })
        .await;
        let unknown = send(&boss, &format!("/shop/deliveries/{}/redeliver", crate::api::NOTHING), &[("form_token", &own)]).await;
        assert_eq!(unknown.status, 404, "{}", unknown.text);
    }

    async fn an_endpoint_is_added_changed_and_removed_by_its_pages(db: Db) {
        let app = App::new(db).await;
        let (sku, boss, sink) = (some_sku(&app).await, boss(&app).await, Sink::start().await.unwrap());
        assert!(boss.get("/shop/webhooks").await.text.contains("No endpoints yet."));
        let form = boss.get("/shop/webhooks/new").await;
        is_sound(&form);
        let (own, url) = (token(&form), sink.url());
        let wrong = [("form_token", &*own), ("url", "ftp://example.org"), ("event-order.paid", "true")];
        let wrong = send(&boss, "/shop/webhooks/new", &wrong).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        let chosen = "name=\"event-order.paid\" type=\"checkbox\" value=\"true\" checked";
        for part in ["Endpoint URL: ", "value=\"ftp://example.org\"", chosen] {
            assert!(wrong.text.contains(part), "{part} in {}", wrong.text);
        }
        let right = [("form_token", &*own), ("url", &*url), ("event-order.created", "true")];
        let answer = send(&boss, "/shop/webhooks/new", &right).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        is_sound(&answer);
        let secret = shown_once(&answer);
        assert!(secret.starts_with("whsec_"), "{secret}");
        let endpoints = app.get("/api/webhooks/endpoints").await.expect(200);
        let id = endpoints["endpoints"][0]["id"].as_str().unwrap().to_owned();
        let path = |act: &str| format!("/shop/webhooks/{id}{act}");
        for page in ["/shop/webhooks".to_owned(), path("")] {
            let page = boss.get(&page).await;
            is_sound(&page);
            assert!(page.text.contains(&url) && !page.text.contains(&secret), "the secret is shown again: {}", page.text);
        }
        assert!(!app.log().iter().any(|line| line.contains(&secret)), "the secret is in the log");

        let token_of = [("form_token", &*own)];
        sink.verify_with(secret.clone());
        send(&boss, &path("/test"), &token_of).await;
        let test = &got(&sink, 1).await[0];
        assert_eq!((test.header("x-service-event"), test.verdict.service), (Some("webhook.test"), Some(true)));
        let paused = send(&boss, &path("/disable"), &token_of).await;
        assert!(paused.text.contains(">Disabled<") && paused.text.contains("disabled manually"), "{}", paused.text);
        assert_eq!(app.get(&format!("/api/webhooks/endpoints/{id}")).await.expect(200)["state"], "disabled");
        happen(&app, &sku).await;
        newest_is(&app, &id, "pending").await;
        assert_eq!(sink.received().len(), 1, "nothing is sent while it is paused");
        send(&boss, &path("/enable"), &token_of).await;
        newest_is(&app, &id, "delivered").await;

        let none = [("form_token", &*own), ("url", &*url)];
        let none = send(&boss, &path("/change"), &none).await;
        assert!(none.status == 400 && none.text.contains("Events: "), "{}", none.text);
        is_sound(&none);
        let change = [("form_token", &*own), ("url", &*url), ("event-order.paid", "true"), ("event-job.failed", "true")];
        send(&boss, &path("/change"), &change).await;
        let changed = app.get(&format!("/api/webhooks/endpoints/{id}")).await.expect(200);
        assert_eq!(changed["events"], json!(["job.failed", "order.paid"]));
        let rotated = send(&boss, &path("/rotate"), &token_of).await;
        is_sound(&rotated);
        assert!(shown_once(&rotated) != secret && boss.get(&path("")).await.text.contains("Previous secret"));
        let before = sink.received().len();
        let old = send(&boss, &path("/replay"), &[("form_token", &*own), ("since", "2020-01-01T00:00")]).await;
        assert!(old.status == 400 && old.text.contains("Since: must be within the last 30 days"), "{}", old.text);
        assert!(old.text.contains("value=\"2020-01-01T00:00\""), "{}", old.text);
        #[expect(clippy::disallowed_methods, reason = "a time of the present, as somebody types it")]
        let yesterday = (jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24)).to_string();
        send(&boss, &path("/replay"), &[("form_token", &*own), ("since", &yesterday[..16])]).await;
        got(&sink, before + 1).await;
        let gone = send(&boss, &path("/delete"), &token_of).await;
        assert!(gone.status == 200 && !gone.text.contains(&url), "{}", gone.text);
        assert_eq!(boss.get(&path("")).await.status, 404);
    }

    async fn operators_look_at_endpoints_and_admins_change_them(db: Db) {
        let app = App::new(db).await;
        let sink = Sink::start().await.unwrap();
        let (endpoint, sam) = (register(&app, &sink, &["order.created"]).await, operator(&app).await);
        let path = format!("/shop/webhooks/{endpoint}");
        let list = sam.get("/shop/webhooks").await;
        is_sound(&list);
        let page = sam.get(&path).await;
        is_sound(&page);
        assert!(!list.text.contains("/shop/webhooks/new") && !page.text.contains(&format!("{path}/")), "{}", page.text);
        assert_eq!(sam.get("/shop/webhooks/new").await.status, 403);
        let own = token(&page);
        for act in ["disable", "test", "rotate", "delete", "change", "replay"] {
            let refused = send(&sam, &format!("{path}/{act}"), &[("form_token", &own)]).await;
            assert_eq!(refused.status, 403, "{act}: {}", refused.text);
            is_sound(&refused);
        }
        endpoint_is(&app, &endpoint, "active").await;
        assert!(sink.received().is_empty());
        // Over the API, too, an endpoint is paused.
        assert_eq!(app.act(&format!("/api/webhooks/endpoints/{endpoint}/disable")).await.expect(200)["state"], "disabled");
        assert!(sam.get(&path).await.text.contains(">Disabled<"));
    }
}
