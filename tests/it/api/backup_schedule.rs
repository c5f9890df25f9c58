//! Scheduled backups: when they are due, which are kept, and who is notified when one fails.

use std::fs;
use std::path::{Path, PathBuf};

use super::materials::mails;
use crate::support::app::Builder;
use crate::support::clock::HOUR;
use crate::support::{App, Clock, Db, until};

const EVERY: &str = "PRINTFLOOR_BACKUP__EVERY_HOURS";
const TO: &str = "PRINTFLOOR_BACKUP__TO";
const KEEP: &str = "PRINTFLOOR_BACKUP__KEEP";

/// Returns the settings of a server that creates a backup every hour and keeps the newest two.
fn scheduled(to: &Path) -> Builder {
    App::on(Db::sqlite()).env(EVERY, 1).env(TO, to.display()).env(KEEP, 2)
}

/// Returns the names of the backups in a folder, sorted.
fn backups(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with("Z.tar")).collect();
    names.sort();
    names
}

/// Creates a file that looks like a backup from January 2020.
fn old_backup(folder: &Path, day: u32) -> PathBuf {
    let file = folder.join(format!("printfloor-backup-2020-01-{day:02}T00-00-00Z.tar"));
    fs::write(&file, "old").unwrap();
    file
}

#[tokio::test]
async fn a_backup_is_made_when_it_is_due_and_the_oldest_go() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (old_backup(folder.path(), 1), old_backup(folder.path(), 2));
    let other = folder.path().join("printfloor-backup-2020-01-03.tar");
    fs::write(&other, "downloaded").unwrap();
    let clock = Clock::new();
    let mut app = scheduled(folder.path()).clock(&clock).start().await;
    until("a backup", || async { (!first.exists()).then_some(()) }).await;
    assert!(second.exists() && other.exists());
    let names = backups(folder.path());
    assert_eq!(names.len(), 2, "{names:?}");
    let file = folder.path().join(&names[1]);
    let words = app.command(&["backup", "verify", file.to_str().unwrap()], "");
    assert!(words.contains("records can be read"), "{words}");
    let checked = app.try_command(&["check"], "").unwrap_or_else(|output| output);
    assert!(checked.contains("2 backups in"), "{checked}");

    // A restart repeats none; an hour later, the next one is due.
    app.stop().await;
    app.start().await;
    clock.set(HOUR);
    until("the next backup", || async { (!second.exists()).then_some(()) }).await;
    let next = backups(folder.path());
    assert!(next.len() == 2 && next[0] == names[1], "{names:?} and {next:?}");
}

#[tokio::test]
async fn operators_are_told_once_when_backups_fail() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("unmounted");
    let clock = Clock::new();
    let app = scheduled(&to).env("PRINTFLOOR_MAIL__OPERATORS", "boss@example.org").clock(&clock).start().await;
    let is_degraded = async || {
        let ready = app.get("/readyz").await.json();
        ready["degraded"].to_string().contains("the last scheduled backup failed")
    };
    until("the failure", || async { is_degraded().await.then_some(()) }).await;
    until("the mail", || async { (!mails(&app, "Backup failed").is_empty()).then_some(()) }).await;
    assert!(app.log().iter().any(|line| line.contains("a scheduled backup failed")), "{:?}", app.log());
    // The disk is there again.
    fs::create_dir(&to).unwrap();
    clock.set(HOUR);
    until("a backup", || async { (backups(&to).len() == 1).then_some(()) }).await;
    until("the recovery", || async { (!is_degraded().await).then_some(()) }).await;
    assert_eq!(mails(&app, "Backup failed").len(), 1);
}

#[test]
fn check_tells_of_a_backup_that_is_overdue() {
    let folder = tempfile::tempdir().unwrap();
    old_backup(folder.path(), 1);
    let app = scheduled(folder.path()).prepare();
    let checked = app.try_command(&["check"], "").unwrap_err();
    assert!(checked.contains("1 backups in") && checked.contains("one is due"), "{checked}");
}

#[tokio::test]
async fn a_schedule_wants_a_place() {
    let app = App::on(Db::sqlite()).env(EVERY, 1).prepare();
    let refused = app.try_command(&["check"], "").unwrap_err();
    assert!(refused.contains("backup.to must be a directory or s3://BUCKET/PATH"), "{refused}");
}
