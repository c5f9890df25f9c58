//! Replacement of the key that encrypts stored secrets.

use simulator::sink::{Sink, verify};

use super::some_sku;
use super::webhooks::{SECRET, got, happen, register};
use crate::support::{App, on_both};

/// Encryption keys of a shop, oldest first; each replaces the previous one.
const KEYS: [&str; 3] = [
    "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "BAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "CAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
];

/// Starts a stopped server with a key and the former key that it replaces.
async fn start_with(app: &mut App, key: &str, former: &str) {
    app.set_env("SECRETS_KEY", key);
    app.set_env("SECRETS_KEY_OLD", former);
    app.start().await;
}

/// Triggers delivery number `number` and checks that it is signed with the endpoint's secret, which the server has to
/// decrypt.
async fn signs_delivery(app: &App, sku: &str, sink: &Sink, number: usize) {
    happen(app, sku).await;
    let one = &got(sink, number).await[number - 1];
    assert_eq!(verify(SECRET, &one.headers, &one.body, one.at.as_second()).service, Some(true));
}

/// Returns the lines of `printfloor check` about secrets.
fn checked(app: &App) -> String {
    let (Ok(output) | Err(output)) = app.try_command(&["check"], "");
    output.lines().filter(|line| line.contains(" secrets ")).collect()
}

on_both! {
    async fn stored_secrets_move_to_the_new_key_at_the_next_start(db: Db) {
        let mut app = App::on(db).with_own_shop().env("SECRETS_KEY", KEYS[0]).start().await;
        let sku = some_sku(&app).await;
        let sink = Sink::start().await.unwrap();
        register(&app, &sink, &["order.created"]).await;
        signs_delivery(&app, &sku, &sink, 1).await;
        app.stop().await;
        app.set_env("SECRETS_KEY", KEYS[1]);
        let refused = app.try_command(&["key", "list"], "").unwrap_err();
        assert!(refused.contains("was created with a different SECRETS_KEY"), "{refused}");
        app.set_env("SECRETS_KEY_OLD", KEYS[0]);
        assert!(checked(&app).contains("the next start encrypts all stored secrets with it"), "{}", checked(&app));

        start_with(&mut app, KEYS[1], KEYS[0]).await;
        assert!(app.log().iter().any(|line| line.contains("encrypted all stored secrets with the new SECRETS_KEY")));
        signs_delivery(&app, &sku, &sink, 2).await;
        assert!(checked(&app).contains("no stored secret needs it any more"), "{}", checked(&app));
        // The old key is good for nothing now, and a third one replaces the second as the second replaced the first.
        app.kill_9();
        app.set_env("SECRETS_KEY_OLD", "");
        app.set_env("SECRETS_KEY", KEYS[0]);
        app.try_command(&["key", "list"], "").unwrap_err();
        start_with(&mut app, KEYS[1], "").await;
        signs_delivery(&app, &sku, &sink, 3).await;
        assert!(checked(&app).contains("they match the data"), "{}", checked(&app));
        app.stop().await;
        start_with(&mut app, KEYS[2], KEYS[1]).await;
        signs_delivery(&app, &sku, &sink, 4).await;
        let log = app.get("/api/audit-log?action=secrets.rotate").await.expect(200);
        assert_eq!(log["pagination"]["total"], 2, "{log}");
        app.command(&["audit", "verify"], "");
    }
}
