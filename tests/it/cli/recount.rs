//! Manually corrupted counters: a command finds them alongside a running server, and corrects them while none is
//! running.

use crate::support::{App, on_both};

/// SQL that corrupts the numbers of movements, as a person editing the tables might.
const MAKE_WRONG: &str = "UPDATE row_counts SET entries = entries + 40 WHERE list LIKE 'movements %'";

on_both! {
    async fn wrong_numbers_are_found_and_corrected_by_command(db: Db) {
        let mut app = App::new(db).await;
        let material = app.material("PLA", 1000.0).await;
        assert_eq!(app.command(&["recount"], "").trim(), "all totals are correct");

        app.stop().await;
        app.db.tamper(&app, MAKE_WRONG).await;
        app.start().await;
        let words = app.try_command(&["recount"], "").unwrap_err();
        assert!(words.contains(": 41 is stored, but the rows have 1"), "{words}");
        assert!(words.contains("printfloor recount --correct"), "{words}");
        let words = app.try_command(&["recount", "--correct"], "").unwrap_err();
        assert!(!words.contains("corrected"), "a server runs: {words}");
        // Until then, lists show what there is.
        let listed = app.get(&format!("/api/inventory/materials/{material}/movements")).await.expect(200);
        assert_eq!(listed["pagination"]["total"], 1, "{listed}");

        app.stop().await;
        let words = app.command(&["recount", "--correct"], "");
        assert!(words.contains("corrected 1 total"), "{words}");
        assert_eq!(app.command(&["recount"], "").trim(), "all totals are correct");
        app.start().await;
        assert_eq!(app.command(&["recount"], "").trim(), "all totals are correct");
    }
}
