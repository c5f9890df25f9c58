//! A shop written by a newer version: every command refuses it with a message that names the version to use, and
//! changes nothing.

use super::transfer::{fill, origin};
use crate::support::{App, Db, on_both};

/// SQL that records a migration which no version has yet.
pub const PLANT_NEWER: &str = "INSERT INTO seaql_migrations (version, applied_at) \
                               VALUES ('m29990101_900001_v9_8_7_expand_add_colour', 0)";
const REMOVE_NEWER: &str = "DELETE FROM seaql_migrations WHERE version LIKE 'm2999%'";

/// Asserts that this output refuses the shop and names the version to use.
#[track_caller]
pub fn refuses_newer(words: &str) {
    let expected = "does not have its migration m29990101_900001_v9_8_7_expand_add_colour; use version 9.8.7 or newer";
    assert!(words.contains(expected), "{words}");
}

/// Returns the epoch and the term of the leader.
async fn claims(app: &App) -> (i64, i64) {
    let leaders = if app.db.url().is_some() { "SELECT term FROM printfloor_leader" } else { "SELECT 0" };
    (app.db.query_number(app, "SELECT epoch FROM writer").await, app.db.query_number(app, leaders).await)
}

on_both! {
    async fn an_older_version_refuses_in_words_and_leaves_everything_as_it_is(db: Db) {
        let mut app = App::new(db).await;
        fill(&app).await;
        app.db.execute(&app, PLANT_NEWER).await;
        let path = |name: &str| app.folder().join(name).display().to_string();
        let (backup, second, target) = (path("newer.tar"), path("second.tar"), path("target.db"));
        // Written by the server, which runs, and knows what it found when it started.
        app.command(&["backup", &backup], "");
        app.stop().await;
        let before = claims(&app).await;

        app.spawn();
        assert!(!app.ended().await, "it does not start");
        refuses_newer(&app.log().join("\n"));
        let from = origin(&app);
        for command in [
            &["check"][..],
            &["key", "list"],
            &["user", "list"],
            &["audit", "verify"],
            &["audit", "head"],
            &["backup", second.as_str()],
            &["backup", "verify", backup.as_str()],
            &["transfer", "--from", from.as_str(), "--to", target.as_str()],
        ] {
            refuses_newer(&app.try_command(command, "").expect_err("a shop of a newer version"));
        }
        assert!(!app.folder().join("target.db").exists());
        let empty = if app.db.url().is_some() { Db::postgres().await.unwrap() } else { Db::sqlite() };
        let elsewhere = App::on(empty).secrets_of(&app).prepare();
        refuses_newer(&elsewhere.try_command(&["restore", &backup], "").unwrap_err());
        assert!(!elsewhere.data().join("printfloor.db").exists());
        assert_eq!(claims(&app).await, before, "no server is fenced off");

        app.db.execute(&app, REMOVE_NEWER).await;
        app.start().await;
        let invoices = app.get("/api/invoices").await.expect(200);
        assert_eq!(invoices["pagination"]["total"], 3, "{invoices}");
    }
}
