//! Killed backups, into a file and into a bucket.

use std::fs;

use super::source::Source;
use super::{Attempt, Kill, Remains, Round};
use crate::cli::backup_places::{BUCKET, names_in};
use crate::support::moto::Moto;
use crate::support::until;

/// File names of the backup, of an unfinished backup, and of another attempt.
const NAME: &str = "shop.tar";
const UNFINISHED: &str = "shop.tar.unfinished";
const OTHER_NAME: &str = "other.tar";

/// Backs up to a file; the first attempt is killed.
pub async fn to_file(source: &Source, kill: &Kill) -> Round {
    let folder = source.app.folder().join(format!("backups-{}", kill.round));
    fs::create_dir(&folder).unwrap();
    let [file, other] = [NAME, OTHER_NAME].map(|name| folder.join(name));
    let arguments = ["backup", file.to_str().unwrap()];
    kill.strike(&source.app, &arguments);
    let names = names_in(&folder);
    assert!(names.iter().all(|name| [NAME, UNFINISHED].contains(&name.as_str())), "{names:?}");
    let remains = match (file.exists(), names.is_empty()) {
        (true, _) => Remains::Whole,
        (false, true) => Remains::Nothing,
        (false, false) => Remains::Unfinished,
    };
    let attempt = Attempt::of(&source.app, &arguments);
    if remains == Remains::Whole {
        attempt.was_refused("already exists");
        source.must_be_backed_up(&file).await;
        let again = Attempt::of(&source.app, &["backup", other.to_str().unwrap()]);
        again.succeeded(&["all verified"]);
        source.must_be_backed_up(&other).await;
    } else {
        attempt.succeeded(&["all verified"]);
        source.must_be_backed_up(&file).await;
        assert_eq!(names_in(&folder), [NAME], "nothing else is left");
    }
    assert!(!source.app.data().join("backup.unfinished").exists(), "a copy of the database is left");
    fs::remove_dir_all(folder).unwrap();
    Round { remains, took: attempt.took }
}

/// Backs up to the bucket; the first attempt is killed.
pub async fn to_bucket(source: &Source, moto: &Moto, kill: &Kill) -> Round {
    let path = format!("killed-{}", kill.round);
    let place = format!("s3://{BUCKET}/{path}");
    let arguments = ["backup", "--to", &place];
    kill.strike(&source.app, &arguments);
    let left = keys_below(moto, &path).await;
    let is_unfinished = source.clear_temporary();
    let remains = match (left.is_empty(), is_unfinished) {
        (false, _) => Remains::Whole,
        (true, true) => Remains::Unfinished,
        (true, false) => Remains::Nothing,
    };
    // A name has the second in which its backup was made. The last request of what was killed may arrive after the
    // look.
    let attempt = until("another second", || async {
        let attempt = Attempt::of(&source.app, &arguments);
        if !attempt.is_done {
            assert!(attempt.words.contains("already exists"), "{}", attempt.words);
        }
        attempt.is_done.then_some(attempt)
    })
    .await;
    attempt.succeeded(&[&place, "all verified"]);
    assert!(!source.clear_temporary(), "nothing temporary is left");
    let keys = keys_below(moto, &path).await;
    assert!((left.len() + 1..=2).contains(&keys.len()), "{keys:?}");
    for key in keys {
        source.must_be_backed_up_in(&moto.object(&key).await).await;
        moto.remove(&key).await;
    }
    Round { remains, took: attempt.took }
}

/// Returns the keys of the objects in a folder of the bucket.
pub async fn keys_below(moto: &Moto, folder: &str) -> Vec<String> {
    let start = format!("{folder}/");
    moto.keys().await.into_iter().filter(|key| key.starts_with(&start)).collect()
}
