//! Custom requests, from the operators' side.

use serde_json::json;

use super::files::bytes_in;
use super::{NOTHING, count, customer_of, paths, with_role};
use crate::billing::intake::{form, send, submit_request};
use crate::support::{App, Db, on_both, on_sqlite};

const LIST: &str = "/api/custom-requests";

on_both! {
    async fn requests_are_listed_by_what_is_known_of_them(db: Db) {
        let app = App::new(db).await;
        let (first, second) = (submit_request(&app).await, submit_request(&app).await);
        app.act(&format!("{LIST}/{first}/close")).await.expect(200);
        let listed = async |query: &str| {
            let list = app.get(&format!("{LIST}?{query}")).await.expect(200);
            let ids = list["customRequests"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned());
            ids.collect::<Vec<_>>()
        };
        assert_eq!(listed("").await, [second.as_str(), first.as_str()]);
        assert_eq!(listed("status=closed").await, [first.as_str()]);
        assert_eq!(listed("status=new&customerEmail=ann@example.org").await, [second.as_str()]);
        assert_eq!(listed("limit=1&offset=1").await, [first.as_str()]);
        assert!(listed("site=dev").await.is_empty());
        assert!(listed("q=bob").await.is_empty());
        assert_eq!(listed("q=Exam").await.len(), 2);
        for wrong in ["status=lunar", "site=mars", "color=blue", "limit=0"] {
            assert_eq!(app.get(&format!("{LIST}?{wrong}")).await.status, 400, "{wrong}");
        }
    }
}

on_sqlite! {
    async fn an_operator_notes_what_became_of_a_request(db: Db) {
        let app = App::new(db).await;
        let operator = with_role(&app, "operator").await;
        let path = format!("{LIST}/{}", submit_request(&app).await);
        let stale = operator.request("PATCH", &path).header("if-match", "\"7\"").json(&json!({"internalNotes": "x"}));
        assert_eq!(operator.send(stale).await.error(412), "stale_version");
        let noted = operator.request("PATCH", &path).header("if-match", "\"1\"");
        let noted = operator.send(noted.json(&json!({"internalNotes": "wants it blue", "status": "quoted"}))).await;
        assert_eq!(noted.header("etag"), Some("\"2\""));
        let noted = noted.expect(200);
        assert_eq!((&noted["internalNotes"], &noted["status"]), (&json!("wants it blue"), &json!("quoted")));
        assert_eq!(operator.get(&path).await.expect(200), noted);
        let back = operator.patch(&path, &json!({"status": "new"})).await;
        assert_eq!(back.error(409), "invalid_transition");
        let cleared = operator.patch(&path, &json!({"internalNotes": null, "status": "accepted"})).await.expect(200);
        assert_eq!((&cleared["internalNotes"], &cleared["version"]), (&json!(null), &json!(3)));
        let closed = operator.act(&format!("{path}/close")).await.expect(200);
        assert_eq!(closed["status"], "closed");
        assert_eq!(operator.act(&format!("{path}/close")).await.error(409), "invalid_transition");
        let events = app.get("/api/events?subject=custom_request").await.expect(200);
        let words: Vec<_> = events["events"].as_array().unwrap().iter().map(|event| event["event"].clone()).collect();
        let expected = ["created", "quoted", "accepted", "closed"].map(|word| json!(format!("custom_request.{word}")));
        assert!(expected.iter().all(|word| words.contains(word)) && words.len() == 4, "{words:?}");
    }

    async fn photos_are_kept_until_the_request_is_closed(db: Db) {
        let app = App::new(db).await;
        let path = format!("{LIST}/{}", submit_request(&app).await);
        let photo = app.get(&path).await.expect(200)["photos"][0]["fileId"].as_str().unwrap().to_owned();
        let file = format!("/api/files/{photo}");
        assert_eq!(app.get(&file).await.expect(200)["kind"], "image");
        assert_eq!(app.delete(&file).await.error(409), "file_in_use");
        app.act(&format!("{path}/close")).await.expect(200);
        app.delete(&file).await.expect(204);
        assert_eq!(app.get(&format!("{path}/photos/1")).await.error(404), "photo_not_found");
        assert_eq!(bytes_in(&app.data().join("files")), 0);
    }
}

#[tokio::test]
async fn requests_are_for_the_staff() {
    let app = App::new(Db::sqlite()).await;
    let request = submit_request(&app).await;
    let customer = customer_of(&app, "ann@example.org").await;
    for path in [LIST.to_owned(), format!("{LIST}/{request}"), format!("{LIST}/{request}/photos/1")] {
        assert_eq!(customer.get(&path).await.error(403), "insufficient_role", "{path}");
        assert_eq!(app.nobody().get(&path).await.error(401), "unauthorized", "{path}");
    }
    assert_eq!(app.get(&format!("{LIST}/{NOTHING}")).await.error(404), "custom_request_not_found");
    let path = format!("{LIST}/{request}");
    assert_eq!(
        paths(&app.patch(&path, &json!({"status": "open", "email": "x"})).await.expect(400)),
        ["email", "status"]
    );
    assert_eq!(
        paths(&app.patch(&path, &json!({"internalNotes": "x".repeat(1001)})).await.expect(400)),
        ["internalNotes"]
    );
    send(&app.nobody(), form()).await.expect(201);
    assert_eq!(count(&app, LIST).await, 2);
}
