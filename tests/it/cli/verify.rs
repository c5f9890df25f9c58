//! Verification of a backup: it is restored to a temporary place and read completely.

use std::fs;

use super::transfer::fill;
use crate::support::{App, Db, on_both};

/// Returns a stopped server on a database with a product and invoices, and a folder for temporary files.
async fn stopped_shop(db: Db) -> App {
    let mut app = App::new(db).await;
    fill(&app).await;
    app.stop().await;
    let temporary = app.folder().join("temporary");
    fs::create_dir(&temporary).unwrap();
    app.set_env("TMPDIR", temporary.to_str().unwrap());
    app
}

/// Creates a backup with this name, and verifies it.
fn verify(app: &App, name: &str) -> Result<String, String> {
    let file = app.folder().join(name);
    let file = file.to_str().unwrap();
    app.command(&["backup", file], "");
    app.try_command(&["backup", "verify", file], "")
}

#[track_caller]
fn nothing_is_left(app: &App) {
    let left: Vec<_> = fs::read_dir(app.folder().join("temporary")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

on_both! {
    async fn a_backup_is_restored_and_read_to_the_last_record(db: Db) {
        let mut app = stopped_shop(db).await;
        let epoch = app.db.query_number(&app, "SELECT epoch FROM writer").await;
        let words = verify(&app, "shop.tar").unwrap();
        assert!(words.contains("all verified") && words.contains("records can be read"), "{words}");
        for line in ["  invoice: 3\n", "  sku: 1\n", "  material: 1\n"] {
            assert!(words.contains(line), "{line:?} in {words}");
        }
        nothing_is_left(&app);
        assert_eq!(app.db.query_number(&app, "SELECT epoch FROM writer").await, epoch, "the shop is not touched");

        // A database of several hosts, of which the first one does not answer, on the one that writes.
        if let Some(address) = app.db.url() {
            app.set_env("DATABASE_URL", &address.replacen("@127.0.0.1:", "@127.0.0.1:1,127.0.0.1:", 1));
            let words = verify(&app, "hosts.tar").unwrap();
            assert!(words.contains("records can be read"), "{words}");
            nothing_is_left(&app);
        }

        // What a start would notice only when somebody asks for it.
        app.db.execute(&app, "UPDATE skus SET doc = '{'").await;
        let words = verify(&app, "damaged.tar").unwrap_err();
        assert!(words.contains("1 of its records cannot be read") && words.contains("skus "), "{words}");
        nothing_is_left(&app);

        // A file that was cut short is no backup.
        let bytes = fs::read(app.folder().join("shop.tar")).unwrap();
        let cut = app.folder().join("cut.tar");
        fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
        let words = app.try_command(&["backup", "verify", cut.to_str().unwrap()], "").unwrap_err();
        assert!(words.contains("the backup is damaged") || words.contains("incomplete download"), "{words}");
        nothing_is_left(&app);
    }
}
