//! The data folder: what is made in it and for whom, and the secrets that belong to it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use super::process::Place;
use super::{SERVE, served, status};
use crate::support::Db;

const NEW_KEY: &str = "key create --new --data data --name first --role admin";

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().mode() & 0o777
}

/// Lists all files and folders below a folder.
fn below(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(below(&path));
        }
        all.push(path);
    }
    all
}

#[test]
fn a_data_folder_is_made_for_its_owner_alone_and_one_that_is_there_stays_as_it_is() {
    let place = Place::new();
    let data = place.path().join("data");
    place.done(NEW_KEY);
    assert_eq!(mode(&data), 0o700);
    fs::set_permissions(&data, Permissions::from_mode(0o750)).unwrap();
    let (_server, _) = served(&place);
    assert_eq!(mode(&data), 0o750);
    let checked = place.done("check --data data");
    assert!(checked.contains("others on this machine may use data (mode 750): chmod 700 data"), "{checked}");
}

#[test]
fn check_tells_who_reaches_the_server_and_how_much_room_there_is() {
    let place = Place::new();
    place.done(NEW_KEY);
    let checked = place.done("check --data data");
    assert!(checked.contains("reached at http://127.0.0.1:8787 from this machine only"), "{checked}");
    assert!(checked.lines().any(|line| line.contains(" disk ") && line.contains(" free in ")), "{checked}");
    assert!(!checked.contains("others on this machine"), "{checked}");
    let opened = place.with_env("PRINTFLOOR_SERVER__PUBLIC_URL", "https://shop.example")("check --data data");
    assert!(opened.out.contains("server.trusted_proxies is empty"), "{opened:?}");
    // Nobody has a disk of 9 exabytes.
    let full = place.with_env("PRINTFLOOR_FILES__RESERVED_BYTES", "9000000000000000000")("check --data data");
    assert!(full.out.contains("less than files.reserved_bytes (9000000.0 TB)"), "{full:?}");
}

#[tokio::test]
async fn what_is_in_the_data_folder_is_closed_to_others_whatever_the_folder_is() {
    let place = Place::new();
    let data = place.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, Permissions::from_mode(0o755)).unwrap();
    let key = place.done(NEW_KEY);
    // As a copy from a backup may leave it.
    fs::set_permissions(data.join("printfloor.db"), Permissions::from_mode(0o644)).unwrap();
    let (_server, base) = served(&place);
    let form = reqwest::multipart::Part::bytes(b"G28\n".to_vec()).file_name("part.gcode");
    let form = reqwest::multipart::Form::new().part("file", form);
    let upload = crate::support::client::http().post(format!("{base}/api/files")).header("X-API-Key", key.trim());
    assert_eq!(upload.multipart(form).send().await.unwrap().status(), 201);
    let all = below(&data);
    for name in ["printfloor.db", "printfloor.db-wal", "secrets.env", "lock", "control.sock"] {
        assert!(all.contains(&data.join(name)), "{name}: {all:?}");
    }
    assert!(all.iter().any(|path| path.starts_with(data.join("files")) && path.is_file()), "{all:?}");
    for path in all {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
}

#[tokio::test]
async fn secrets_live_beside_the_data_so_that_it_can_be_used_from_any_folder() {
    let place = Place::new();
    let key = place.done(NEW_KEY);
    let data = place.path().join("data");
    let secrets = fs::read_to_string(data.join("secrets.env")).unwrap();
    for name in ["SESSION_SECRET=", "API_KEY_SALT=", "SECRETS_KEY="] {
        assert!(secrets.contains(name), "{name}");
    }
    assert!(!place.path().join(".env").exists());
    let elsewhere = Place::new();
    let mut server = elsewhere.start(&format!("serve --data {} --listen 127.0.0.1:0", data.display()));
    let base = server.line("address   http://").trim_start().trim_start_matches("address").trim().to_owned();
    assert_eq!(status(&base, key.trim()).await, 200);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_shop_without_its_secrets_does_not_start_and_gets_no_new_ones() {
    let place = Place::new();
    place.done(NEW_KEY);
    let (file, backup) = (place.path().join("data/secrets.env"), place.path().join("kept"));
    fs::rename(&file, &backup).unwrap();
    for line in [SERVE, "key list --data data"] {
        let ended = place.run(line);
        assert_eq!(ended.code, Some(1), "{line}: {ended:?}");
        assert!(ended.err.contains("printfloor.db contains a shop"), "{line}: {ended:?}");
        assert!(ended.err.contains("SESSION_SECRET, API_KEY_SALT, SECRETS_KEY are missing"), "{line}: {ended:?}");
        assert!(ended.err.contains("restore data/secrets.env"), "{line}: {ended:?}");
        assert!(!file.exists(), "{line} made new ones");
    }
    let checked = place.run("check --data data");
    assert_eq!((checked.code, checked.out.matches("WRONG").count()), (Some(1), 1), "{checked:?}");
    fs::rename(&backup, &file).unwrap();
    let (_server, _) = served(&place);
}

#[test]
fn other_secrets_than_those_of_the_data_are_refused_by_name() {
    let place = Place::new();
    place.done(NEW_KEY);
    for (name, value) in [("API_KEY_SALT", "pepper"), ("SECRETS_KEY", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")] {
        let other = place.with_env(name, value);
        let ended = other(SERVE);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let words = format!("printfloor.db was created with a different {name}");
        assert!(ended.err.contains(&words) && ended.err.contains("data/secrets.env"), "{ended:?}");
        let checked = other("check --data data");
        assert_eq!((checked.code, checked.out.matches(name).count()), (Some(1), 1), "told once: {checked:?}");
        assert!(checked.out.contains("different from the one the data was created with"), "{checked:?}");
    }
    // Links that were signed with it stop working; no data depends on it.
    let ended = place.with_env("SESSION_SECRET", "0123456789abcdef0123456789abcdef")("key list --data data");
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[tokio::test]
async fn a_postgresql_shop_keeps_its_secrets_too() {
    let Some(db) = Db::postgres().await else { return };
    let place = Place::new().env("DATABASE_URL", &db.url().unwrap());
    assert_eq!(place.run("key list --data data").code, Some(1), "it is empty");
    place.done(NEW_KEY);
    let ended = place.run("serve --data other --listen 127.0.0.1:0");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.err.contains("contains a shop, but") && ended.err.contains("other/secrets.env"), "{ended:?}");
    let ended = place.with_env("API_KEY_SALT", "pepper")(SERVE);
    assert!(ended.err.contains("created with a different API_KEY_SALT"), "{ended:?}");
    assert!(place.done("key list --data data").contains("first"));
}
