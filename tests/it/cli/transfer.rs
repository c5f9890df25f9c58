//! Transfer of a shop from one database to another: all or nothing, whatever happens meanwhile.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::billing::invoices::sent;
use crate::support::db::query_number_at;
use crate::support::drawing::draw;
use crate::support::{App, Db, on_both, on_drawn};

/// Lists that show the shop's contents and nothing that a server computes at start-up.
const LISTS: [&str; 5] =
    ["/api/invoices", "/api/inventory/materials", "/api/skus", "/api/files", "/api/events?limit=200"];

/// SQL that makes a transfer long enough to be interrupted: 60,000 additional rows.
const FILLER: &str = "INSERT INTO audit (id, at, actor, action, subject_kind, subject_id, outcome) \
                      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) \
                      SELECT 'filler-' || i, 1893456000000 + i, 'machine', 'filler', 'order', 'x' || i, 'done' FROM n";
const ALL_AUDITED: &str = "SELECT COUNT(*) FROM audit";

/// Empty database to transfer to.
struct Destination {
    url: String,
    /// Database to drop with this value, if it is on PostgreSQL.
    db: Option<Db>,
}

impl Destination {
    fn sqlite(app: &App, name: &str) -> Self {
        Self { url: format!("sqlite://{}?mode=rwc", app.folder().join(name).display()), db: None }
    }

    async fn postgres() -> Option<Self> {
        let db = Db::postgres().await?;
        Some(Self { url: db.url().unwrap(), db: Some(db) })
    }

    /// Creates one of the other kind than the shop's database; `None` without PostgreSQL.
    async fn of_other_kind(app: &App, name: &str) -> Option<Self> {
        if app.db.url().is_some() { Some(Self::sqlite(app, name)) } else { Self::postgres().await }
    }

    /// Returns the number of tables in the database.
    async fn tables(&self) -> i64 {
        let query = if self.db.is_some() {
            "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'printfloor_leader'"
        } else {
            "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'"
        };
        query_number_at(&self.url, query).await
    }
}

/// Returns the URL of the shop's database.
pub fn origin(app: &App) -> String {
    app.db.url().unwrap_or_else(|| format!("sqlite://{}?mode=rw", app.data().join("printfloor.db").display()))
}

fn try_transfer(app: &App, from: &str, to: &str) -> Result<String, String> {
    app.try_command(&["transfer", "--from", from, "--to", to], "")
}

#[track_caller]
fn transfer(app: &App, from: &str, to: &str) {
    let words = try_transfer(app, from, to).unwrap_or_else(|output| panic!("{output}"));
    assert!(words.starts_with("transferred from ") && words.contains("all compared"), "{words}");
}

/// Returns a running server whose database has rows in many tables.
async fn filled_shop(db: Db) -> App {
    let mut app = App::new(db).await;
    fill(&app).await;
    // What follows from all this is done when the server has ended in order.
    app.stop().await;
    app.start().await;
    app
}

/// Adds a material, a file, a product and three invoices.
pub async fn fill(app: &App) {
    let material = app.material("PLA grün 'matt' \"🟩\"", 1000.0).await;
    let file = app.gcode("vase", 240, 14.5).await;
    app.sku("VASE", &material, &file, 2500).await;
    for n in 0..3 {
        sent(app, &format!("ann{n}@example.org")).await;
    }
}

async fn contents(app: &App) -> Vec<Value> {
    let mut lists = Vec::new();
    for path in LISTS {
        lists.push(app.get(path).await.expect(200));
    }
    lists
}

/// Restarts the server on another database.
async fn start_on(app: &mut App, url: &str) {
    app.set_env("DATABASE_URL", url);
    app.start().await;
}

/// Kills a transfer at random times, `kills` times; each time the source is unchanged, and the target is empty or
/// complete.
async fn kill_transfers(db: Db, kills: u64) {
    let mut app = filled_shop(db).await;
    let before = contents(&app).await;
    app.stop().await;
    app.db.execute(&app, FILLER).await;
    let audited = app.db.query_number(&app, ALL_AUDITED).await;
    let from = origin(&app);
    let Some(first) = Destination::of_other_kind(&app, "first.db").await else { return };
    let began = Instant::now();
    transfer(&app, &from, &first.url);
    let (whole, all_tables) = (began.elapsed().as_millis() as u64, first.tables().await);

    let mut target = Destination::of_other_kind(&app, "killed.db").await.unwrap();
    for kill in 0..kills {
        let after = Duration::from_millis(draw(("transfer", kill), whole));
        app.command_killed(&["transfer", "--from", &from, "--to", &target.url], after);
        let tables = target.tables().await;
        eprintln!("killed after {after:?} of {whole} ms with {tables} tables");
        assert_eq!(app.db.query_number(&app, ALL_AUDITED).await, audited, "the source");
        if tables == all_tables {
            assert_eq!(query_number_at(&target.url, ALL_AUDITED).await, audited, "killed behind its end");
            target = Destination::of_other_kind(&app, &format!("killed{kill}.db")).await.unwrap();
        } else {
            assert_eq!(tables, 0, "nothing in between");
        }
    }
    if let Err(output) = try_transfer(&app, &from, &target.url) {
        // The last one was killed while the database was committing it.
        assert!(output.contains("is not empty"), "{output}");
    }
    assert_eq!(query_number_at(&target.url, ALL_AUDITED).await, audited);
    for url in [&target.url, &from] {
        start_on(&mut app, url).await;
        assert_eq!(contents(&app).await, before);
        app.stop().await;
    }
}

on_both! {
    async fn a_shop_moves_to_the_other_kind_of_database_and_back(db: Db) {
        let mut app = filled_shop(db).await;
        let Some(other) = Destination::of_other_kind(&app, "other.db").await else { return };
        let before = contents(&app).await;
        app.stop().await;
        let head = app.command(&["audit", "head"], "");
        transfer(&app, &origin(&app), &other.url);
        start_on(&mut app, &other.url).await;
        assert_eq!(contents(&app).await, before);
        // It goes on there: its numbers and events follow those of before.
        sent(&app, "later@example.org").await;
        let since = contents(&app).await;
        assert_eq!(since[0]["pagination"]["total"], 4, "{}", since[0]);
        app.stop().await;
        let back = match app.db.url() {
            Some(_) => Destination::postgres().await.unwrap(),
            None => Destination::sqlite(&app, "back.db"),
        };
        transfer(&app, &other.url, &back.url);
        start_on(&mut app, &back.url).await;
        assert_eq!(contents(&app).await, since);
        // Its audit log is the same, and goes on.
        let words = app.command(&["audit", "verify", "--head", head.trim()], "");
        assert!(words.contains(" lines verified, from "), "{words}");
        sent(&app, "last@example.org").await;
        let numbering = app.get("/api/invoices/numbering").await.expect(200);
        assert_eq!(numbering["gapless"], true, "{numbering}");
    }

    async fn nothing_is_transferred_while_a_server_runs_or_over_data(db: Db) {
        let mut app = filled_shop(db).await;
        let Some(target) = Destination::of_other_kind(&app, "target.db").await else { return };
        let (from, data) = (origin(&app), app.data().display().to_string());
        let refused = try_transfer(&app, &from, &target.url).unwrap_err();
        assert!(refused.contains("in use by another printfloor server"), "{refused}");
        // Also from elsewhere, and under another name of the file.
        let elsewhere = App::on(Db::sqlite()).secrets_of(&app).prepare();
        let link = app.folder().join("link.db");
        let mut sources = vec![from.clone()];
        if app.db.url().is_none() {
            symlink(app.data().join("printfloor.db"), &link).unwrap();
            sources.extend([data.clone(), link.display().to_string()]);
        }
        for source in &sources {
            for (from, to) in [(source, &target.url), (&target.url, source)] {
                let refused = try_transfer(&elsewhere, from, to).unwrap_err();
                let in_use = refused.contains("another printfloor server");
                assert!(in_use || refused.contains("contains no shop"), "{from} to {to}: {refused}");
                assert!(in_use || *from == target.url, "{from} to {to}: {refused}");
            }
        }
        app.stop().await;

        transfer(&app, &from, &target.url);
        let again = try_transfer(&app, &from, &target.url).unwrap_err();
        assert!(again.contains("nothing was transferred") && again.contains("is not empty"), "{again}");
        let same = try_transfer(&app, &from, &from).unwrap_err();
        assert!(same.contains("are the same database"), "{same}");
        let none = elsewhere.data().display().to_string();
        let nothing = try_transfer(&elsewhere, &none, &app.folder().join("x.db").display().to_string()).unwrap_err();
        assert!(nothing.contains("contains no shop"), "{nothing}");
        assert!(!app.folder().join("x.db").exists());
    }
}

on_drawn! {
    async fn a_transfer_that_is_killed_leaves_the_source_whole_and_the_target_empty_or_whole(db: Db) {
        kill_transfers(db, 3).await;
    }
}

mod long {
    use super::*;

    on_both! {
        async fn transfers_are_killed_at_many_moments(db: Db) {
            kill_transfers(db, 40).await;
        }
    }
}
