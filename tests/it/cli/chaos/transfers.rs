//! Killed transfers to the other kind of database.

use std::fs;

use super::source::Source;
use super::{Attempt, Kill, Remains, Round};
use crate::cli::transfer::origin;
use crate::support::Db;
use crate::support::contents::{Contents, contents_at};
use crate::support::db::until_unused;

/// Transfers the shop to a new database of the other kind; the first attempt is killed.
pub async fn transfer(source: &Source, kill: &Kill) -> Round {
    let folder = source.app.folder().join(format!("transfer-{}", kill.round));
    fs::create_dir(&folder).unwrap();
    let file = folder.join("target.db");
    let db = if source.is_sqlite() { Some(Db::postgres().await.unwrap()) } else { None };
    let url = match &db {
        Some(db) => db.url().unwrap(),
        None => format!("sqlite://{}?mode=rwc", file.display()),
    };
    let from = origin(&source.app);
    let arguments = ["transfer", "--from", &from, "--to", &url];
    kill.strike(&source.app, &arguments);
    if db.is_some() {
        until_unused(&url).await;
    }
    let contents = if db.is_some() || file.exists() { contents_at(&url).await } else { Contents::new() };
    let remains = if contents.is_empty() { Remains::Nothing } else { Remains::Whole };
    let attempt = Attempt::of(&source.app, &arguments);
    if remains == Remains::Whole {
        source.must_equal(&contents);
        attempt.was_refused("is not empty");
    } else {
        attempt.succeeded(&["transferred from ", "all compared"]);
    }
    source.must_equal(&contents_at(&url).await);
    fs::remove_dir_all(folder).unwrap();
    Round { remains, took: attempt.took }
}
