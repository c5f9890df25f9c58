//! Connecting the accounting system: by an admin, in one session, once; tokens are never shown.

use serde_json::json;
use simulator::accounting::{AccountingSystem, TENANT};
use simulator::stock::NetworkCondition;

use super::customer;
use crate::api::staff;
use crate::integrations::accounting::{SECRET, begun, connected, keeping};
use crate::support::{App, Db, on_sqlite, until};

const CONNECT: &str = "/api/v1/integrations/accounting/connect";
const CALLBACK: &str = "/api/v1/integrations/accounting/callback";

on_sqlite! {
    async fn only_an_admin_connects_it_once_in_one_session(db: Db) {
        let books = AccountingSystem::start("shop", SECRET).await.unwrap();
        let app = keeping(&books, db).start().await;
        staff(&app, "boss@example.org", "admin").await;
        staff(&app, "op@example.org", "operator").await;
        let anything = format!("{CALLBACK}?code=x&state=01890a5d-ac96-774b-bcce-b302099a8057");
        for (email, why) in [("ann@example.org", "no staff"), ("op@example.org", "no admin")] {
            let client = customer(&app, email).await;
            assert_eq!(client.get(CONNECT).await.error(403), "not_an_admin", "{why}");
            assert_eq!(client.get(&anything).await.error(403), "not_an_admin", "{why}");
        }
        assert_eq!(app.nobody().get(CONNECT).await.status, 401);
        let (boss, elsewhere) = (customer(&app, "boss@example.org").await, customer(&app, "boss@example.org").await);
        assert_eq!(boss.get(&anything).await.error(400), "invalid_state", "never asked for");
        for malformed in ["", "?code=x", "?state=01890a5d-ac96-774b-bcce-b302099a8057", "?code=x&state=1"] {
            assert_eq!(boss.get(&format!("{CALLBACK}{malformed}")).await.error(400), "validation_failed", "{malformed}");
        }
        let denied = begun(&books, &boss, false).await;
        assert_eq!(boss.get(&denied).await.error(400), "consent_refused");
        let back = begun(&books, &boss, true).await;
        assert_eq!(elsewhere.get(&back).await.error(403), "other_session");
        let swapped = back.replace("code=", "code=x");
        let connection = boss.get(&back).await.expect(200);
        assert_eq!((&connection["success"], &connection["tenantId"]), (&json!(true), &json!(TENANT)));
        assert_eq!(boss.get(&back).await.error(400), "invalid_state", "twice");
        assert_eq!(boss.get(&swapped).await.error(400), "invalid_state");
        let link = app.get("/api/integrations/accounting").await.expect(200);
        assert_eq!((&link["connected"], &link["connectedBy"]), (&json!(true), &json!("boss@example.org")));
        assert!(!link.to_string().contains("access-"), "{link}");
        let log = app.log().join("\n");
        assert!(!log.contains("access-") && !log.contains("refresh-") && !log.contains(SECRET), "no secret is logged");

        // A code that is not that of the page gives nothing, and uses the state up.
        let wrong = begun(&books, &boss, true).await.replace("code=code", "code=other");
        assert_eq!(boss.get(&wrong).await.error(400), "code_refused");
        assert_eq!(boss.get(&wrong).await.error(400), "invalid_state");
        assert_eq!(app.get("/api/integrations/accounting").await.expect(200)["connected"], true, "the former stands");

        app.act("/api/integrations/accounting/disconnect").await.expect(204);
        assert_eq!(app.act("/api/integrations/accounting/disconnect").await.error(409), "accounting_not_connected");
        until("the provider to hear of it", || async { (books.connected() == 0).then_some(()) }).await;
    }
}

#[tokio::test]
async fn without_settings_or_a_provider_it_says_so() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "boss@example.org", "admin").await;
    let boss = customer(&app, "boss@example.org").await;
    assert_eq!(boss.get(CONNECT).await.error(500), "accounting_not_configured");
    assert_eq!(app.get("/api/integrations/accounting").await.expect(200)["configured"], false);
    drop(app);

    let books = AccountingSystem::start("shop", SECRET).await.unwrap();
    let app = keeping(&books, Db::sqlite()).start().await;
    staff(&app, "boss@example.org", "admin").await;
    let boss = customer(&app, "boss@example.org").await;
    let test = json!({"service": "accounting"});
    let tested = app.post("/api/setup/test-connection", &test).await.expect(200);
    assert_eq!(tested["ok"], true, "{tested}");
    let wrong = keeping(&books, Db::sqlite()).env("ACCOUNTING_CLIENT_SECRET", "wrong").start().await;
    let tested = wrong.post("/api/setup/test-connection", &test).await.expect(200);
    assert!(tested["ok"] == false && tested["message"].as_str().unwrap().contains("client_secret"), "{tested}");
    let back = begun(&books, &boss, true).await;
    books.weather(NetworkCondition::Hangs);
    assert_eq!(boss.get(&back).await.error(500), "provider_unavailable");
    assert_eq!(boss.get(&back).await.error(400), "invalid_state", "begin again");
    books.weather(NetworkCondition::Fair);
    until("it to be connected", || async {
        let back = begun(&books, &boss, true).await;
        (boss.get(&back).await.status == 200).then_some(())
    })
    .await;
    // Who is an admin no longer, may no longer.
    let users = app.get("/api/users").await.expect(200);
    let boss_id =
        users["users"].as_array().unwrap().iter().find(|user| user["email"] == "boss@example.org").unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned();
    staff(&app, "other@example.org", "admin").await;
    app.patch(&format!("/api/users/{boss_id}"), &json!({"role": "operator"})).await.expect(200);
    assert_eq!(boss.get(CONNECT).await.error(403), "not_an_admin");
    let other = customer(&app, "other@example.org").await;
    connected(&books, &other).await;
}
