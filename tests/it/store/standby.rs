//! A second server on the same PostgreSQL database that stands by for the first one, and takes over however that one
//! ends.

mod bucket;
mod chaos;
mod handover;
mod lease;
mod versions;

use std::path::Path;

use printfloor::store::lease::is_followed;
use serde_json::json;
use tempfile::TempDir;

use self::versions::BECOME_OLDER;
use crate::support::app::Builder;
use crate::support::database::TestDatabase;
use crate::support::{App, Db, until};

const MODE: &str = "PRINTFLOOR_DATABASE__STANDBY";
const FILES: &str = "PRINTFLOOR_FILES__DIR";
const DOCUMENTS: &str = "PRINTFLOOR_FILES__DOCUMENTS_DIR";

/// Two servers on one database, the first of which leads. The first one's value owns the database, so it is dropped
/// last.
struct Pair {
    second: App,
    first: App,
    _shared: TempDir,
}

/// Returns the settings for the folders that servers share.
fn shared_folders(shared: &Path) -> [(&'static str, String); 2] {
    [("files", FILES), ("documents", DOCUMENTS)].map(|(name, setting)| {
        let folder = shared.join(name);
        (setting, folder.display().to_string())
    })
}

fn with_settings(builder: Builder, settings: &[(&str, String)]) -> Builder {
    settings.iter().fold(builder, |builder, (name, value)| builder.env(name, value))
}

/// Prepares a server on the database of another one, with its secrets and these settings.
fn beside(first: &App, url: &str, settings: &[(&str, String)]) -> App {
    let builder = App::on(Db::sqlite()).env("DATABASE_URL", url);
    with_settings(builder, settings).with_public_url().secrets_of(first).prepare().with_key_of(first)
}

/// Waits until a server stands by for this leader.
async fn stands_by(server: &App, leader: &App) {
    until("the server to stand by", || async {
        let answer = server.try_send(server.request("GET", "/readyz")).await?;
        let body = answer.json();
        let address = &body["leader"]["address"];
        let is_so = answer.status == 503 && body["status"] == "standby" && address == leader.public_url();
        is_so.then_some(())
    })
    .await;
}

impl Pair {
    /// Starts both servers; `None` without PostgreSQL.
    async fn start() -> Option<Self> {
        Self::start_changed(&[]).await
    }

    /// Starts both servers, the first of which is of an older version.
    async fn start_older() -> Option<Self> {
        Self::start_changed(&BECOME_OLDER).await
    }

    /// Starts both servers, the second one after running the given statements.
    async fn start_changed(statements: &[&str]) -> Option<Self> {
        let db = Db::postgres_with_shop().await?;
        let (url, shared) = (db.url().unwrap(), tempfile::tempdir().unwrap());
        let settings = shared_folders(shared.path());
        let first = with_settings(App::on(db), &settings).with_public_url().start().await;
        for statement in statements {
            first.db.execute(&first, statement).await;
        }
        let mut second = beside(&first, &url, &settings);
        second.spawn();
        stands_by(&second, &first).await;
        Some(Self { second, first, _shared: shared })
    }

    /// Waits until the standby could take over.
    async fn is_followed(&self) {
        let database = TestDatabase::at(&self.first.db.url().unwrap());
        until("the standby to be ready", || async { is_followed(&database.settings).await.unwrap().then_some(()) })
            .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_server_stands_by_and_says_who_leads() {
    let Some(mut pair) = Pair::start().await else { return };
    let (second, first) = (&mut pair.second, &pair.first);
    second.get("/healthz").await.expect(200);
    let ready = second.get("/readyz").await;
    assert_eq!(ready.header("retry-after"), Some("5"));
    assert!(ready.json()["leader"]["since"].is_string(), "{}", ready.text);
    for answer in [second.get("/api/orders").await, second.post("/api/orders", &json!({})).await] {
        assert_eq!(answer.header("retry-after"), Some("5"));
        assert!(answer.text.contains(&first.base), "{}", answer.text);
        assert_eq!(answer.error(503), "unavailable");
    }
    for (language, title) in [("en", "This server is on standby"), ("de", "Dieser Server steht in Bereitschaft")] {
        let request = second.request("GET", "/floor").header("accept", "text/html").header("accept-language", language);
        let page = second.send(request).await;
        assert_eq!((page.status, page.header("retry-after")), (503, Some("5")));
        assert!(page.text.contains(title) && page.text.contains(&format!("href=\"{}\"", first.base)), "{}", page.text);
        let (_, rest) = page.text.split_once("href=\"/assets/").unwrap();
        let style = format!("/assets/{}", rest.split('"').next().unwrap());
        assert_eq!(second.get(&style).await.status, 200, "{style}");
    }
    let (Ok(checked) | Err(checked)) = second.try_command(&["check"], "");
    assert!(checked.contains("on standby"), "{checked}");
    assert!(checked.contains(&format!("{} is active", first.base)), "{checked}");
    // It is stopped like any other server, and the leader does not notice.
    second.stop().await;
    first.get("/readyz").await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_without_a_public_address_is_not_named() {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let (url, shared) = (db.url().unwrap(), tempfile::tempdir().unwrap());
    let settings = shared_folders(shared.path());
    let first = with_settings(App::on(db), &settings).start().await;
    let mut second = beside(&first, &url, &settings);
    second.spawn();
    stands_by(&second, &first).await;
    let answer = second.get("/api/orders").await;
    assert!(answer.text.contains("another server is active"), "{}", answer.text);
    let page = second
        .send(second.request("GET", "/floor").header("accept", "text/html").header("accept-language", "en"))
        .await;
    assert!(page.text.contains("Another server is running the shop"), "{}", page.text);
    let (Ok(checked) | Err(checked)) = second.try_command(&["check"], "");
    assert!(checked.contains("another server is active"), "{checked}");
    for text in [answer.text, page.text, second.get("/readyz").await.text] {
        assert!(!text.contains("127.0.0.1") && !text.contains("0.0.0.0"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_may_not_stand_by_refuses_to_start() {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let (url, shared) = (db.url().unwrap(), tempfile::tempdir().unwrap());
    let mut settings = shared_folders(shared.path()).to_vec();
    let first = with_settings(App::on(db), &settings).start().await;
    settings.push((MODE, "refuse".to_owned()));
    let mut second = beside(&first, &url, &settings);
    second.spawn();
    assert!(!second.ended().await, "it is an error");
    let log = second.log().join("\n");
    assert!(log.contains("another printfloor server uses this database"), "{log}");
    first.get("/readyz").await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_share_the_folders_does_not_stand_by() {
    let Some(db) = Db::postgres_with_shop().await else { return };
    let (url, shared) = (db.url().unwrap(), tempfile::tempdir().unwrap());
    let settings = shared_folders(shared.path());
    let first = with_settings(App::on(db), &settings).start().await;
    // A copy of the folder is none of the leader's, either.
    let copy = tempfile::tempdir().unwrap();
    std::fs::write(copy.path().join("leader#mark"), "of an earlier time").unwrap();
    let cases = [
        (vec![], "files.dir"),
        (vec![settings[0].clone()], "files.documents_dir"),
        (vec![(FILES, copy.path().display().to_string()), settings[1].clone()], "files.dir"),
    ];
    // Side by side: the leader has the same time to mark its folders for each of them.
    let begin = |(folders, setting): (Vec<(&'static str, String)>, &'static str)| {
        let mut second = beside(&first, &url, &folders);
        second.spawn();
        (second, setting)
    };
    for (mut second, setting) in cases.map(begin) {
        assert!(!second.ended().await, "it is an error");
        let log = second.log().join("\n");
        assert!(log.contains(&format!("{setting} (")) && log.contains("cannot be its standby"), "{log}");
        let checked = second.try_command(&["check"], "").unwrap_err();
        assert!(checked.contains(&format!("{setting} (")), "{checked}");
    }
    first.get("/readyz").await.expect(200);
}

/// Replaces the shop's encryption key in the database, as a leader with a new key does, while a standby server is ready
/// to take over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_whose_key_is_replaced_ends_in_words_before_it_is_needed() {
    let Some(mut pair) = Pair::start().await else { return };
    pair.is_followed().await;
    let replace = "UPDATE secret_checks SET value = 'another' WHERE name = 'SECRETS_KEY'";
    pair.first.db.execute(&pair.first, replace).await;
    assert!(!pair.second.ended().await, "it could not take over");
    let log = pair.second.log().join("\n");
    assert!(log.contains("was created with a different SECRETS_KEY"), "{log}");
    pair.first.get("/readyz").await.expect(200);
}
