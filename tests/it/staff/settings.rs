//! The pages of the settings: keys, users, sessions, the audit log, integrations and the server.

use serde_json::{Value, json};

use super::{SAM, is_sound, operator};
use crate::api::settings::smart_home;
use crate::api::{PASSWORD, sign_in, signed_in, staff};
use crate::billing::pages::{send, token};
use crate::support::browser::Browser;
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_sqlite};

/// Email address of the admin in these tests.
pub const BOSS: &str = "boss@example.org";

/// Returns a client of an admin who has just signed in.
pub async fn boss(app: &App) -> Client {
    staff(app, BOSS, "admin").await;
    signed_in(app, BOSS).await
}

/// Returns the secret that a page shows once.
#[track_caller]
pub fn shown_once(page: &Answer) -> String {
    let (_, rest) = page.text.split_once("readonly value=\"").unwrap_or_else(|| panic!("{}", page.text));
    rest.split('"').next().unwrap().to_owned()
}

/// Returns the only entry in a list of the API whose member has this text.
#[track_caller]
fn the_one(list: &Value, of: &str, member: &str, text: &str) -> String {
    let all = list[of].as_array().unwrap();
    let one = all.iter().find(|one| one[member] == text).unwrap_or_else(|| panic!("no {text}: {list}"));
    one["id"].as_str().unwrap().to_owned()
}

on_sqlite! {
    async fn a_key_that_is_made_by_page_works_and_is_shown_once(db: Db) {
        let app = App::new(db).await;
        let boss = boss(&app).await;
        let empty = boss.get("/shop/settings/keys").await;
        is_sound(&empty);
        assert!(empty.text.contains(">New Key</a>"), "{}", empty.text);
        let form = boss.get("/shop/settings/keys/new").await;
        is_sound(&form);
        let own = token(&form);
        let fields = [("form_token", &*own), ("name", ""), ("role", "admin"), ("expiresAt", "1999-12-31")];
        let wrong = send(&boss, "/shop/settings/keys/new", &fields).await;
        assert_eq!(wrong.status, 400, "{}", wrong.text);
        is_sound(&wrong);
        for part in ["role=\"alert\"", "Name: ", "value=\"1999-12-31\"", "<option value=\"admin\" selected"] {
            assert!(wrong.text.contains(part), "{part} in {}", wrong.text);
        }
        let past = [("form_token", &*own), ("name", "till"), ("role", "operator"), ("expiresAt", "1999-12-31")];
        let past = send(&boss, "/shop/settings/keys/new", &past).await;
        assert!(past.status == 400 && past.text.contains("Expiry: must be in the future"), "{}", past.text);

        let right = [("form_token", &*own), ("name", "web shop"), ("role", "operator"), ("expiresAt", "2031-01-31")];
        let page = send(&boss, "/shop/settings/keys/new", &right).await;
        assert_eq!(page.status, 200, "{}", page.text);
        is_sound(&page);
        let key = shown_once(&page);
        assert!(key.starts_with("key_test_") && page.text.contains("data-copy=\"secret\""), "{}", page.text);
        let program = app.with_key(&key);
        program.get("/api/orders").await.expect(200);
        assert_eq!(program.get("/api/users").await.error(403), "insufficient_role");
        let list = boss.get("/shop/settings/keys").await;
        is_sound(&list);
        assert!(list.text.contains("web shop") && list.text.contains("2031-01-31"), "{}", list.text);
        assert!(!list.text.contains(&key), "the key is shown again");
        assert!(!app.log().iter().any(|line| line.contains(&key)), "the key is in the log");
        let keys = app.get("/api/auth/api-keys").await.expect(200);
        let id = the_one(&keys, "apiKeys", "name", "web shop");
        assert!(keys.to_string().contains("\"expiresAt\":\"2031-01-31T23:59:59.999Z\""), "{keys}");

        let revoked = send(&boss, &format!("/shop/settings/keys/{id}/revoke"), &[("form_token", &own)]).await;
        assert!(revoked.status == 200 && revoked.text.contains(">Revoked<"), "{}", revoked.text);
        assert_eq!(program.get("/api/orders").await.status, 401);
    }

    async fn an_operator_is_refused_what_is_the_admins(db: Db) {
        let app = App::new(db).await;
        let sam = operator(&app).await;
        let settings = sam.get("/shop/settings").await;
        is_sound(&settings);
        assert!(settings.text.contains("href=\"/shop/settings/sessions\""), "{}", settings.text);
        let program = crate::api::with_role(&app, "admin").await;
        let own = token(&settings);
        for page in ["keys", "keys/new", "users", "users/new", "audit", "integrations", "backup"] {
            let path = format!("/shop/settings/{page}");
            assert!(!settings.text.contains(&format!("href=\"{path}\"")), "{path} in {}", settings.text);
            let refused = sam.get(&path).await;
            assert!(refused.status == 403 && refused.text.contains("Admin access required"), "{path}: {}", refused.text);
            is_sound(&refused);
            assert_eq!(program.get(&path).await.status, 403, "{path} is for people");
        }
        let key = [("form_token", &*own), ("name", "mine"), ("role", "admin")];
        let person = [("form_token", &*own), ("name", "K"), ("email", "k@example.org"), ("role", "admin"), ("password", PASSWORD)];
        let system = [("form_token", &*own), ("service", "parts"), ("PARTS_URL", ""), ("act", "save")];
        let forms: [(&str, &[(&str, &str)]); 3] =
            [("keys/new", &key), ("users/new", &person), ("integrations", &system)];
        for (page, fields) in forms {
            let refused = send(&sam, &format!("/shop/settings/{page}"), fields).await;
            assert_eq!(refused.status, 403, "{page}: {}", refused.text);
        }
        assert!(!app.get("/api/users").await.text.contains("k@example.org"));
        for page in ["password", "sessions", "system"] {
            let answer = sam.get(&format!("/shop/settings/{page}")).await;
            assert_eq!(answer.status, 200, "{}", answer.text);
            is_sound(&answer);
        }
        let boss = boss(&app).await;
        for page in ["", "/keys", "/users", "/sessions", "/audit", "/integrations", "/system", "/backup"] {
            let answer = boss.get(&format!("/shop/settings{page}")).await;
            assert_eq!(answer.status, 200, "{page}: {}", answer.text);
            is_sound(&answer);
        }
    }

    async fn a_session_that_is_ended_by_page_is_out_at_once(db: Db) {
        let app = App::new(db).await;
        let (sam, boss) = (operator(&app).await, boss(&app).await);
        let of = async |client: &Client| {
            let sessions = client.get("/api/auth/sessions").await.expect(200);
            sessions["sessions"][0]["id"].as_str().unwrap().to_owned()
        };
        let (of_sam, of_boss) = (of(&sam).await, of(&boss).await);
        let sam_page = sam.get("/shop/settings/sessions").await;
        let boss_page = boss.get("/shop/settings/sessions").await;
        assert!(sam_page.text.contains(&of_sam) && !sam_page.text.contains(BOSS), "{}", sam_page.text);
        for part in [&*of_sam, &*of_boss, SAM] {
            assert!(boss_page.text.contains(part), "{part} in {}", boss_page.text);
        }
        let path = |id: &str| format!("/shop/settings/sessions/{id}/end");
        let foreign = send(&sam, &path(&of_boss), &[("form_token", &token(&sam_page))]).await;
        assert_eq!(foreign.status, 404, "{}", foreign.text);
        boss.get("/api/auth/me").await.expect(200);
        let ended = send(&boss, &path(&of_sam), &[("form_token", &token(&boss_page))]).await;
        assert!(ended.status == 200 && !ended.text.contains(&of_sam), "{}", ended.text);
        assert_eq!(sam.get("/api/auth/me").await.status, 401);
        let out = sam.get("/floor").await;
        assert!(out.status == 303 || out.text.contains("action=\"/login\""), "{}", out.text);
    }

    async fn everybody_changes_their_own_password(db: Db) {
        let app = App::new(db).await;
        let (sam, other) = (operator(&app).await, signed_in(&app, SAM).await);
        let form = sam.get("/shop/settings/password").await;
        is_sound(&form);
        let (own, new) = (token(&form), "battery horse correct");
        for (current, new_password, status, words) in [
            ("wrong password", new, 403, "The current password is incorrect."),
            (PASSWORD, "short", 400, "New password: "),
        ] {
            let fields = [("form_token", &*own), ("currentPassword", current), ("newPassword", new_password)];
            let wrong = send(&sam, "/shop/settings/password", &fields).await;
            assert!(wrong.status == status && wrong.text.contains(words), "{}", wrong.text);
            is_sound(&wrong);
            let shows_new = wrong.text.contains(&format!("value=\"{new_password}\""));
            assert!(!wrong.text.contains(current) && !shows_new, "{}", wrong.text);
        }
        let fields = [("form_token", &*own), ("currentPassword", PASSWORD), ("newPassword", new)];
        let done = send(&sam, "/shop/settings/password", &fields).await;
        assert!(done.status == 200 && done.text.contains("<h1>Sessions</h1>"), "{}", done.text);
        assert_eq!(other.get("/api/auth/me").await.status, 401, "other sessions end");
        sign_in(&app, SAM, new).await;
    }

    async fn people_are_added_changed_and_removed_by_their_pages(db: Db) {
        let app = App::new(db).await;
        let boss = boss(&app).await;
        let form = boss.get("/shop/settings/users/new").await;
        is_sound(&form);
        let own = token(&form);
        let kim = |password: &'static str| {
            [("name", "Kim"), ("email", "kim@example.org"), ("role", "operator"), ("password", password)]
        };
        let with_token = |fields: &[(&'static str, &'static str)]| {
            let mut all = vec![("form_token", own.as_str())];
            all.extend_from_slice(fields);
            all
        };
        let short = send(&boss, "/shop/settings/users/new", &with_token(&kim("short"))).await;
        assert_eq!(short.status, 400, "{}", short.text);
        is_sound(&short);
        assert!(short.text.contains("Password: ") && short.text.contains("value=\"kim@example.org\""), "{}", short.text);
        assert!(!short.text.contains("value=\"short\""), "{}", short.text);
        let added = send(&boss, "/shop/settings/users/new", &with_token(&kim(PASSWORD))).await;
        assert!(added.status == 200 && added.text.contains("kim@example.org"), "{}", added.text);
        let client = signed_in(&app, "kim@example.org").await;
        let users = app.get("/api/users").await.expect(200);
        let (id, admin) = (the_one(&users, "users", "email", "kim@example.org"), the_one(&users, "users", "email", BOSS));
        let path = |act: &str| format!("/shop/settings/users/{id}{act}");
        is_sound(&boss.get(&path("")).await);

        let last = [("name", "Boss"), ("role", "operator")];
        let last = send(&boss, &format!("/shop/settings/users/{admin}/change"), &with_token(&last)).await;
        assert!(last.status == 409 && last.text.contains("last active admin"), "{}", last.text);
        is_sound(&last);
        let raised = send(&boss, &path("/change"), &with_token(&[("name", "Kim K"), ("role", "admin")])).await;
        assert!(raised.status == 200 && raised.text.contains("Kim K"), "{}", raised.text);
        assert_eq!(client.get("/api/auth/me").await.status, 401, "another role ends the sessions");
        let disabled = send(&boss, &path("/disable"), &with_token(&[])).await;
        assert!(disabled.text.contains(">Disabled<"), "{}", disabled.text);
        let login = json!({"email": "kim@example.org", "password": PASSWORD});
        assert_eq!(app.nobody().post("/api/auth/login", &login).await.status, 401);
        assert!(send(&boss, &path("/enable"), &with_token(&[])).await.text.contains(">Active<"));
        send(&boss, &path("/password"), &with_token(&[("password", "battery horse correct")])).await;
        assert_eq!(app.nobody().post("/api/auth/login", &login).await.status, 401);
        sign_in(&app, "kim@example.org", "battery horse correct").await;
        let gone = send(&boss, &path("/remove"), &with_token(&[])).await;
        assert!(gone.status == 200 && !gone.text.contains("kim@example.org"), "{}", gone.text);
        assert_eq!(boss.get(&path("")).await.status, 404);
        for page in [&short, &added, &raised, &gone] {
            assert!(!page.text.contains("argon") && !page.text.contains(PASSWORD), "{}", page.text);
        }
    }

    async fn the_audit_log_is_narrowed_and_shown_in_parts(db: Db) {
        let app = App::new(db).await;
        let boss = boss(&app).await;
        for n in 0..60 {
            let body = json!({"name": format!("key {n}"), "role": "customer"});
            app.post("/api/auth/api-keys", &body).await.expect(201);
        }
        let users = app.get("/api/users").await.expect(200);
        let by_boss = format!("?actor=user:{}", the_one(&users, "users", "email", BOSS));
        for (query, present, hidden) in [
            ("?action=user.create", "</b> added <a", "</b> signed in"),
            ("?subject=user&first=2020-01-01&last=2999-12-30", "</b> added <a", "</b> created <a"),
            (&*by_boss, "</b> signed in", "</b> added <a"),
            ("?first=2999-01-01", "No entries match.", "<summary>"),
            ("?first=nonsense&last=", "</b> created <a", "No entries match"),
        ] {
            let page = boss.get(&format!("/shop/settings/audit{query}")).await;
            is_sound(&page);
            assert!(page.text.contains(present) && !page.text.contains(hidden), "{query}: {}", page.text);
        }
        let first = boss.get("/shop/settings/audit?action=api_key.create").await;
        assert_eq!(first.text.matches("</b> created <a").count(), 50, "{}", first.text);
        let (before, _) = first.text.split_once("\">Older</a>").expect("a link to older entries");
        let (_, older) = before.rsplit_once("href=\"").unwrap();
        assert!(older.starts_with("/shop/settings/audit?action=api_key.create&amp;before="), "{older}");
        let second = boss.get(&older.replace("&amp;", "&")).await;
        is_sound(&second);
        assert!(second.text.contains(">Newest</a>") && !second.text.contains(">Older</a>"), "{}", second.text);
        let rest = second.text.matches("</b> created <a").count();
        assert!((10..50).contains(&rest), "{rest}");
        for name in ["key 0", "key 59"] {
            let quoted = format!(">API key “{name}”</a>");
            assert!(first.text.contains(&quoted) != second.text.contains(&quoted), "{name} once");
        }
    }

    async fn the_server_is_shown_with_its_parts(db: Db) {
        let app = App::new(db).await;
        let (sam, boss) = (operator(&app).await, boss(&app).await);
        let (sam_page, whole) = (sam.get("/shop/settings/system").await, boss.get("/shop/settings/system").await);
        is_sound(&whole);
        let readiness = app.get("/readyz").await.expect(200);
        for name in readiness["components"].as_object().unwrap().keys() {
            assert!(whole.text.contains(&format!("<th scope=\"row\">{name}</th>")), "{name} in {}", whole.text);
        }
        let kind = if whole.text.contains("PostgreSQL") { "PostgreSQL" } else { "SQLite" };
        for words in [env!("CARGO_PKG_VERSION"), kind, " free ", "Not used", "Actors by kind"] {
            assert!(whole.text.contains(words), "{words} in {}", whole.text);
        }
        let folder = app.folder().display().to_string();
        assert!(sam_page.text.contains(kind), "{}", sam_page.text);
        assert!(!sam_page.text.contains(&folder), "where it is on the machine is for admins");
    }
}

#[tokio::test]
async fn the_overview_has_its_pages_in_groups_and_says_how_things_stand() {
    let app = App::new(Db::sqlite()).await;
    let (sam, boss) = (operator(&app).await, boss(&app).await);
    let page = boss.get("/shop/settings").await;
    is_sound(&page);
    let place = |words: &str| page.text.find(words).unwrap_or_else(|| panic!("{words} in {}", page.text));
    let groups = ["Your account</h2>", "People and access</h2>", "Shop and connections</h2>", "Server</h2>"].map(place);
    assert!(groups.is_sorted(), "{}", page.text);
    let users = app.get("/api/users").await.expect(200)["pagination"]["total"].clone();
    for words in [format!(">{users} users</p>"), ">2 sessions</p>".to_owned(), ">Off</p>".to_owned()] {
        assert!(page.text.contains(&words), "{words} in {}", page.text);
    }
    // A group of which nothing is theirs is not there for operators.
    let own = sam.get("/shop/settings").await;
    is_sound(&own);
    assert!(own.text.contains("Your account</h2>") && own.text.contains("Server</h2>"), "{}", own.text);
    assert!(!own.text.contains("People and access") && !own.text.contains("Shop and connections"), "{}", own.text);
}

#[tokio::test]
async fn another_system_is_tested_and_changed_by_its_page() {
    let app = App::new(Db::sqlite()).await;
    let boss = boss(&app).await;
    let page = boss.get("/shop/settings/integrations").await;
    is_sound(&page);
    assert!(page.text.contains("Smart home") && page.text.contains("Accounting"), "{}", page.text);
    let (own, url) = (token(&page), smart_home().await);
    let form = |secret: &'static str, act: &'static str| {
        let (own, url) = (own.clone(), url.clone());
        vec![
            ("form_token", own),
            ("service", "smart_home".to_owned()),
            ("SMART_HOME_URL", url),
            ("SMART_HOME_TOKEN", secret.to_owned()),
            ("act", act.to_owned()),
        ]
    };
    let sent = async |secret: &'static str, act: &'static str| {
        let fields = form(secret, act);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let page = send(&boss, "/shop/settings/integrations", &fields).await;
        is_sound(&page);
        page
    };
    let wrong = sent("other", "test").await;
    assert!(wrong.status == 400 && wrong.text.contains("Test failed."), "{}", wrong.text);
    let unsaved = sent("other", "save").await;
    assert!(unsaved.status == 400 && unsaved.text.contains("Nothing was saved."), "{}", unsaved.text);
    assert!(unsaved.text.contains(&format!("value=\"{url}\"")), "{}", unsaved.text);
    for page in [&wrong, &unsaved] {
        assert!(!page.text.contains("value=\"other\""), "a secret is sent back: {}", page.text);
    }
    let right = sent("t0k", "test").await;
    assert!(right.status == 200 && right.text.contains("Connection successful."), "{}", right.text);
    assert!(!app.folder().join(".env").exists(), "a test writes nothing");
    assert!(boss.get("/shop/settings").await.text.contains("No restart needed."));

    let saved = sent("t0k", "save").await;
    assert!(saved.status == 200 && saved.text.contains("Saved to .env."), "{}", saved.text);
    let settings = boss.get("/shop/settings").await;
    is_sound(&settings);
    assert!(settings.text.contains("<code>smart_home.url</code>"), "{}", settings.text);
    assert_eq!(app.get("/api/settings").await.expect(200)["restartNeeded"], true);
    // What is saved is what the page goes on with; the token stays without being typed again.
    let again = boss.get("/shop/settings/integrations").await;
    assert!(again.text.contains(&format!("value=\"{url}\"")), "{}", again.text);
    let test_page = sent("", "test").await;
    assert!(test_page.status == 200 && test_page.text.contains("Connection successful."), "{}", test_page.text);
    for page in [&saved, &again, &settings, &test_page] {
        assert!(!page.text.contains("t0k"), "the token is shown: {}", page.text);
    }
    assert!(!app.log().iter().any(|line| line.contains("t0k")), "the token is in the log");
    let unknown = send(&boss, "/shop/settings/integrations", &[("form_token", &own), ("service", "coffee")]).await;
    assert_eq!(unknown.status, 400, "{}", unknown.text);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chromium_makes_a_key_and_copies_it() {
    let Some(mut browser) = Browser::start().await else { return };
    let app = App::new(Db::sqlite()).await;
    staff(&app, BOSS, "admin").await;
    let cookie = sign_in(&app, BOSS, PASSWORD).await;
    let tab = browser.open(&app.base, "/shop/settings/keys/new", Some(&cookie)).await;
    browser.until(&tab, "the form", "document.getElementById('name')").await;
    let send = "document.getElementById('name').value = 'till'; document.querySelector('main form').requestSubmit()";
    browser.eval(&tab, send).await;
    browser.until(&tab, "the key", "(document.getElementById('secret') || {}).readOnly").await;
    let key = browser.eval(&tab, "document.getElementById('secret').value").await;
    app.with_key(key.as_str().unwrap()).get("/api/orders").await.expect(200);
    let copied = "document.getElementById('said').textContent";
    assert_eq!(browser.eval(&tab, &format!("{copied} + document.getElementById('secret-copy').hidden")).await, "false");
    browser.mouse(&tab, "#secret-copy", true).await;
    browser.mouse(&tab, "#secret-copy", false).await;
    browser.until(&tab, "a word that it is copied, or how to", &format!("{copied} !== ''")).await;
    let chosen = "document.activeElement.id === 'secret' && document.activeElement.selectionEnd > 40";
    assert_eq!(browser.eval(&tab, chosen).await, true, "the key is not chosen");
    browser.width(&tab, 360).await;
    let fits = "document.documentElement.scrollWidth <= window.innerWidth";
    browser.until(&tab, "the page to fit a phone", fits).await;
    for page in [
        "/shop/settings",
        "/shop/settings/keys",
        "/shop/settings/users",
        "/shop/settings/sessions",
        "/shop/settings/audit",
        "/shop/settings/integrations",
        "/shop/settings/system",
        "/shop/settings/backup",
        "/shop/webhooks",
        "/shop/webhooks/new",
    ] {
        browser.go(&tab, &format!("{}{page}", app.base)).await;
        browser.until(&tab, page, &format!("location.pathname === '{page}' && document.querySelector('h1')")).await;
        browser.until(&tab, "the page to fit a phone", fits).await;
    }
    assert_eq!(browser.faults(&app.base), Vec::<String>::new());
}
