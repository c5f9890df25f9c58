//! Operators' mistakes, and the messages about them.

use std::fs;
use std::time::{Duration, Instant};

use super::SERVE;
use super::process::Place;
use crate::support::Db;
use crate::support::ports::closed_address;

#[test]
fn no_command_makes_a_second_shop_by_accident() {
    let place = Place::new();
    let data = place.path().join("mistyped");
    let commands = [
        ("key create --data mistyped --name x --role admin", true),
        ("user create --data mistyped --email a@b.example --role admin", true),
        ("user passwd --data mistyped --email a@b.example", false),
        ("key list --data mistyped", false),
        ("user list --data mistyped", false),
        ("key revoke --data mistyped 018f0000-0000-7000-8000-000000000000", false),
    ];
    for (there, exists) in [("it does not exist", false), ("it is empty", true)] {
        if exists {
            fs::create_dir(&data).unwrap();
        }
        for (line, can_make) in commands {
            let ended = place.run_with(line, "correct horse\n");
            assert_eq!((ended.code, ended.out.as_str()), (Some(1), ""), "{line}: {ended:?}");
            let words = format!("no server is running on {} and {there}", data.display());
            assert!(ended.err.contains(&words), "{line}: {ended:?}");
            assert!(ended.err.contains("did you mean another --data?"), "{line}: {ended:?}");
            assert_eq!(ended.err.contains("--new creates a new shop there"), can_make, "{line}: {ended:?}");
        }
        assert_eq!(data.exists(), exists, "nothing was made");
    }
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0);
    place.done("key create --new --data mistyped --name x --role admin");
    place.done("key create --data mistyped --name y --role admin");
}

#[test]
fn a_data_folder_that_cannot_be_one_is_told_as_such() {
    let place = Place::new();
    fs::write(place.path().join("data"), "x").unwrap();
    let ended = place.run(SERVE);
    assert_eq!(ended.code, Some(1));
    assert!(ended.err.contains("/data is a file, not a directory") && ended.err.contains("--data DIR"), "{ended:?}");
    let checked = place.run("check --data data");
    assert!(checked.out.contains("/data is a file, not a directory"), "{checked:?}");
}

#[test]
fn a_file_that_is_no_database_is_told_as_such() {
    let place = Place::new();
    fs::create_dir(place.path().join("data")).unwrap();
    fs::write(place.path().join("data/printfloor.db"), "not a database\n".repeat(1000)).unwrap();
    for (line, out) in [(SERVE, false), ("key list --data data", false), ("check --data data", true)] {
        let ended = place.run(line);
        assert_eq!(ended.code, Some(1), "{line}: {ended:?}");
        let text = if out { &ended.out } else { &ended.err };
        assert!(text.contains("printfloor.db: the file is not a Printfloor database"), "{line}: {ended:?}");
        assert!(text.contains("restore it from a backup, or start with another --data"), "{line}: {ended:?}");
    }
    assert!(!place.path().join("data/secrets.env").exists());
}

#[test]
fn a_database_server_that_is_off_is_told_at_once() {
    let nobody = closed_address();
    let place = Place::new().env("DATABASE_URL", &format!("postgres://me:hunter2@{nobody}/shop"));
    for line in [SERVE, "key list --data data"] {
        // In one of some tries: the machine has other things to do.
        let is_quick = (0..5).any(|_| {
            let began = Instant::now();
            let ended = place.run(line);
            assert_eq!(ended.code, Some(1), "{line}: {ended:?}");
            let words = format!("no server responds at {nobody} (connection refused)");
            assert!(ended.err.contains(&words), "{line}: {ended:?}");
            assert!(!ended.err.contains("hunter2"), "{ended:?}");
            began.elapsed() < Duration::from_secs(4)
        });
        assert!(is_quick, "{line}: it used to take 5 s and more");
    }
}

#[tokio::test]
async fn postgresql_is_quoted_in_its_own_words() {
    let Some(db) = Db::postgres().await else { return };
    let url = db.url().unwrap();
    let (server, _) = url.rsplit_once('/').unwrap();
    let place = Place::new().env("DATABASE_URL", &format!("{server}/nowhere"));
    let ended = place.run(SERVE);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let first = ended.err.lines().find(|line| line.starts_with("printfloor: ")).unwrap();
    assert!(first.ends_with("/nowhere: database \"nowhere\" does not exist"), "{first}");
}

#[test]
fn a_settings_file_is_judged_as_a_whole() {
    let place = Place::new();
    fs::write(place.path().join("shop.toml"), "[server]\nlisen = \"x\"\nmax_headers = \"x\"\n[orders]\ncurrency = 1\n")
        .unwrap();
    let ended = place.run("--config shop.toml");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for words in [
        "server.lisen (shop.toml, line 2) is not a setting; did you mean server.listen?",
        "server.max_headers (shop.toml, line 3): must be a whole number, 0 or more",
        "orders.currency (shop.toml, line 5): must be text in quotes",
        "printfloor config --defaults",
    ] {
        assert!(ended.err.contains(words), "{words}: {}", ended.err);
    }
    let ended = place.run("--config nope.toml");
    assert!(ended.err.contains("nope.toml: there is no such file"), "{ended:?}");
    assert!(place.run("--config shop.toml config --defaults").out.contains("[server]"), "help works all the same");
}

#[test]
fn settings_that_do_nothing_are_told_at_start_and_by_check() {
    let place = Place::new().env("SMTP_PASS", "hunter2").env("PRINTFLOOR_SERVER__LISSEN", "x");
    let doubts = ["SMTP_PASS is set without SMTP_HOST", "did you mean PRINTFLOOR_SERVER__LISTEN?"];
    let checked = place.done("check --data data");
    let mut server = place.start(SERVE);
    for words in doubts {
        assert!(checked.contains(words), "{words}: {checked}");
    }
    // Variables are told first.
    server.line(doubts[1]);
    server.line(doubts[0]);
}

#[test]
fn former_names_of_settings_work_and_the_new_ones_are_told() {
    let place =
        Place::new().env("PRINTFLOOR_LIMITS__STAFF_PER_MINUTE", "77").env("PRINTFLOOR_SERVER__UPLOAD_LIMIT", "1000000");
    let file = "[server]\nmax_requests = 64\nupload_max_bytes = 2000000\n";
    fs::write(place.path().join("printfloor.toml"), file).unwrap();
    let in_file = "server.max_requests in printfloor.toml, line 2 is now named server.max_concurrent_requests";
    let checked = place.done("check --data data");
    for words in [
        in_file,
        "PRINTFLOOR_LIMITS__STAFF_PER_MINUTE in the environment is now named PRINTFLOOR_LIMITS__STAFF_REQUESTS_PER_MINUTE",
        "PRINTFLOOR_SERVER__UPLOAD_LIMIT in the environment has no effect: the setting is now named \
         PRINTFLOOR_SERVER__UPLOAD_MAX_BYTES and is set by printfloor.toml",
    ] {
        assert!(checked.contains(words), "{words}: {checked}");
    }
    let set = place.done("config --set");
    for line in [
        "server.max_concurrent_requests = 64 ",
        "server.upload_max_bytes = 2000000 ",
        "limits.staff_requests_per_minute = 77 ",
    ] {
        assert!(set.lines().any(|text| text.starts_with(line)), "{line}: {set}");
    }
    place.start(SERVE).line(in_file);
}

#[test]
fn check_changes_nothing() {
    let place = Place::new();
    let checked = place.done("check --data data");
    assert!(checked.contains("SESSION_SECRET, API_KEY_SALT, SECRETS_KEY: not set yet"), "{checked}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}
