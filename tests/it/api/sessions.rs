//! Staff sessions: signing in and out, cookies, requests from other sites, passwords, and the last admin.

use serde_json::json;

use super::{PASSWORD, count, id, paths, sign_in, signed_in, staff, with_cookie};
use crate::support::{App, Client, Db, on_sqlite};

async fn login(app: &App, email: &str, password: &str) -> crate::support::client::Answer {
    app.nobody().post("/api/auth/login", &json!({"email": email, "password": password})).await
}

#[tokio::test]
async fn signing_in_gives_a_cookie_that_scripts_and_other_sites_do_not_get() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, " Ann@Example.org", "admin").await;
    let answer = login(&app, "ANN@example.org ", PASSWORD).await;
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    let (token, flags) = cookie.split_once("; ").unwrap();
    assert!(token.strip_prefix("service_session=").is_some_and(|token| token.len() >= 43), "{cookie}");
    let flags: Vec<&str> = flags.split("; ").collect();
    for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(flags.contains(&flag), "{flag} in {cookie}");
    }
    assert!(!flags.iter().any(|flag| flag.starts_with("Domain")), "{cookie}");
    let body = answer.expect(200);
    assert_eq!((&body["user"]["email"], &body["user"]["role"]), (&json!("ann@example.org"), &json!("admin")), "{body}");
    assert!(!body.to_string().contains("argon") && !body.to_string().contains("password"), "{body}");

    let again = sign_in(&app, "ann@example.org", PASSWORD).await;
    assert_ne!(again, token, "a new token at each sign-in");
    let ann = with_cookie(&app, token);
    assert_eq!(ann.get("/api/auth/me").await.expect(200)["user"]["email"], "ann@example.org");
    let dashboard = ann.get("/api/dashboard").await.expect(200);
    for member in ["orders", "jobs", "printers", "lowStock", "deliveries", "queueLength", "nextFreeAt", "at"] {
        assert!(dashboard.get(member).is_some(), "{member} in {dashboard}");
    }
    assert!(!app.log().iter().any(|line| line.contains(token)), "a token in the log");
}

#[tokio::test]
async fn a_sign_in_takes_no_session_from_the_browser() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "ann@example.org", "operator").await;
    let mut cookie = format!("service_session={}", "a".repeat(43));
    // The first cookie was planted, the second is that of an open session.
    for status in [401, 200] {
        let browser = with_cookie(&app, &cookie);
        assert_eq!(browser.get("/api/orders").await.status, status);
        let answer = browser.post("/api/auth/login", &json!({"email": "ann@example.org", "password": PASSWORD})).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let new = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        assert_ne!(new, cookie);
        assert_eq!(browser.get("/api/orders").await.status, status, "the sign-in opened another session");
        cookie = new;
    }
}

#[tokio::test]
async fn the_cookie_is_for_https_alone_wherever_the_public_address_is() {
    for (public, secure) in [("https://shop.example", true), ("http://shop.example", false)] {
        let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__PUBLIC_URL", public).start().await;
        staff(&app, "ann@example.org", "admin").await;
        let answer = login(&app, "ann@example.org", PASSWORD).await;
        let cookie = answer.header("set-cookie").unwrap();
        assert_eq!(cookie.split("; ").any(|flag| flag == "Secure"), secure, "{public}: {cookie}");
    }
}

#[tokio::test]
async fn common_and_blank_passwords_and_the_own_address_are_refused() {
    const REFUSED: [&str; 5] = ["Password123", "qwertyuiop", "            ", "Ann.Miller@example.org", "ann.miller"];
    let app = App::new(Db::sqlite()).await;
    let user = |password: &str| json!({"email": "ann.miller@example.org", "name": "Ann", "password": password, "role": "operator"});
    for password in REFUSED {
        assert_eq!(paths(&app.post("/api/users", &user(password)).await.expect(400)), ["password"], "{password}");
    }
    let id = id(&app.post("/api/users", &user(PASSWORD)).await.expect(201));
    let ann = signed_in(&app, "ann.miller@example.org").await;
    for password in REFUSED {
        let change = json!({"currentPassword": PASSWORD, "newPassword": password});
        assert_eq!(paths(&ann.post("/api/auth/password", &change).await.expect(400)), ["newPassword"], "{password}");
        let change = json!({"password": password});
        assert_eq!(
            paths(&app.patch(&format!("/api/users/{id}"), &change).await.expect(400)),
            ["password"],
            "{password}"
        );
    }
    ann.get("/api/orders").await.expect(200);
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_address_are_told_the_same() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "ann@example.org", "operator").await;
    let wrong = login(&app, "ann@example.org", "wrong password").await;
    let unknown = login(&app, "nobody@example.org", PASSWORD).await;
    assert_eq!(wrong.text, unknown.text);
    assert!(wrong.header("set-cookie").is_none() && unknown.header("set-cookie").is_none());
    assert_eq!(wrong.error(401), "wrong_credentials");
    assert_eq!(unknown.error(401), "wrong_credentials");
    assert_eq!(login(&app, "ann@example.org", &"x".repeat(5000)).await.error(401), "wrong_credentials");
    assert_eq!(
        paths(&app.nobody().post("/api/auth/login", &json!({"email": 1})).await.expect(400)),
        ["email", "password"]
    );
}

on_sqlite! {
    async fn signing_out_ends_the_session_for_good(db: Db) {
        let mut app = App::new(db).await;
        staff(&app, "ann@example.org", "operator").await;
        let (gone, other) = (signed_in(&app, "ann@example.org").await, signed_in(&app, "ann@example.org").await);
        let answer = gone.act("/api/auth/logout").await;
        assert_eq!(answer.status, 204);
        let cookie = answer.header("set-cookie").unwrap();
        assert!(cookie.starts_with("service_session=;") && cookie.contains("Max-Age=0"), "{cookie}");
        assert_eq!(gone.get("/api/orders").await.error(401), "unauthorized");
        gone.act("/api/auth/logout").await.expect(204);
        app.kill_9();
        app.start().await;
        assert_eq!(gone.get("/api/orders").await.error(401), "unauthorized");
        other.get("/api/orders").await.expect(200);
    }
}

#[tokio::test]
async fn other_sites_cannot_ride_on_the_cookie() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "ann@example.org", "admin").await;
    let ann = signed_in(&app, "ann@example.org").await;
    let material = app.material("PLA", 5.0).await;
    let path = format!("/api/inventory/materials/{material}");
    let attempt = |client: &Client, header: &'static str, value: String| {
        client.request("PATCH", &path).header(header, value).json(&json!({"quantity": 5}))
    };
    for (header, value) in [
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        let refused = ann.send(attempt(&ann, header, value.to_owned())).await;
        assert_eq!(refused.error(403), "cross_site", "{header}: {value}");
        // A key is no cookie: a page of another site cannot know it.
        app.send(attempt(&app, header, value.to_owned())).await.expect(200);
    }
    for (header, value) in [
        ("Origin", ann.base.clone()),
        ("Sec-Fetch-Site", "same-origin".to_owned()),
        ("Sec-Fetch-Site", "none".to_owned()),
    ] {
        ann.send(attempt(&ann, header, value)).await.expect(200);
    }
    // Reading is free, and nobody is signed in or out from elsewhere.
    ann.send(ann.request("GET", "/api/orders").header("Origin", "https://evil.example")).await.expect(200);
    for path in ["/api/auth/login", "/api/auth/logout"] {
        let from_elsewhere = ann.request("POST", path).header("Origin", "https://evil.example");
        let body = json!({"email": "ann@example.org", "password": PASSWORD});
        assert_eq!(ann.send(from_elsewhere.json(&body)).await.error(403), "cross_site", "{path}");
    }
    ann.get("/api/orders").await.expect(200);
}

#[tokio::test]
async fn the_key_wins_when_both_are_shown() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "op@example.org", "operator").await;
    let op = signed_in(&app, "op@example.org").await;
    assert_eq!(op.get("/api/users").await.error(403), "insufficient_role");
    let both = Client { key: app.key.clone(), ..op.clone() };
    both.get("/api/users").await.expect(200);
    let bad_key = Client { key: Some("key_test_wrong".to_owned()), ..op.clone() };
    assert_eq!(bad_key.get("/api/orders").await.error(401), "unauthorized");
}

#[tokio::test]
async fn a_new_password_ends_all_other_sessions() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "ann@example.org", "operator").await;
    let (here, there) = (signed_in(&app, "ann@example.org").await, signed_in(&app, "ann@example.org").await);
    let change = |current: &str, new: &str| json!({"currentPassword": current, "newPassword": new});
    let new = "another long password";
    assert_eq!(here.post("/api/auth/password", &change("wrong", new)).await.error(403), "wrong_password");
    assert_eq!(paths(&here.post("/api/auth/password", &change(PASSWORD, "short")).await.expect(400)), ["newPassword"]);
    there.get("/api/orders").await.expect(200);
    here.post("/api/auth/password", &change(PASSWORD, new)).await.expect(204);
    here.get("/api/orders").await.expect(200);
    assert_eq!(there.get("/api/orders").await.error(401), "unauthorized");
    assert_eq!(login(&app, "ann@example.org", PASSWORD).await.error(401), "wrong_credentials");
    login(&app, "ann@example.org", new).await.expect(200);
}

#[tokio::test]
async fn one_sees_and_ends_ones_own_sessions_only() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "ann@example.org", "operator").await;
    staff(&app, "bob@example.org", "admin").await;
    let (ann, bob) = (signed_in(&app, "ann@example.org").await, signed_in(&app, "bob@example.org").await);
    let other = signed_in(&app, "ann@example.org").await;
    let list = ann.get("/api/auth/sessions").await.expect(200);
    let sessions = list["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 2, "{list}");
    assert_eq!(sessions.iter().filter(|session| session["current"] == true).count(), 1, "{list}");
    let current = sessions.iter().find(|session| session["current"] == true).unwrap();
    let bobs = bob.delete(&format!("/api/auth/sessions?id={}", id(current))).await;
    assert_eq!(bobs.error(404), "session_not_found");
    ann.delete("/api/auth/sessions").await.expect(204);
    ann.get("/api/orders").await.expect(200);
    assert_eq!(other.get("/api/orders").await.error(401), "unauthorized");
    bob.get("/api/orders").await.expect(200);
}

#[tokio::test]
async fn a_new_role_or_the_end_of_a_user_ends_their_sessions() {
    let app = App::new(Db::sqlite()).await;
    let ann = staff(&app, "ann@example.org", "operator").await;
    staff(&app, "boss@example.org", "admin").await;
    let session = signed_in(&app, "ann@example.org").await;
    app.patch(&format!("/api/users/{ann}"), &json!({"name": "Anna"})).await.expect(200);
    session.get("/api/orders").await.expect(200);
    app.patch(&format!("/api/users/{ann}"), &json!({"role": "admin"})).await.expect(200);
    assert_eq!(session.get("/api/orders").await.error(401), "unauthorized");
    let session = signed_in(&app, "ann@example.org").await;
    session.get("/api/users").await.expect(200);
    app.delete(&format!("/api/users/{ann}")).await.expect(204);
    assert_eq!(session.get("/api/orders").await.error(401), "unauthorized");
    assert_eq!(login(&app, "ann@example.org", PASSWORD).await.error(401), "wrong_credentials");
    assert_eq!(app.patch(&format!("/api/users/{ann}"), &json!({"name": "x"})).await.error(404), "user_not_found");
}

#[tokio::test]
async fn the_last_admin_stays() {
    let app = App::new(Db::sqlite()).await;
    let first = staff(&app, "first@example.org", "admin").await;
    staff(&app, "op@example.org", "operator").await;
    let path = format!("/api/users/{first}");
    assert_eq!(app.delete(&path).await.error(409), "last_admin");
    assert_eq!(app.patch(&path, &json!({"role": "operator"})).await.error(409), "last_admin");
    assert_eq!(count(&app, "/api/users").await, 2);
    let second = staff(&app, "second@example.org", "admin").await;
    app.patch(&path, &json!({"role": "operator"})).await.expect(200);
    assert_eq!(app.delete(&format!("/api/users/{second}")).await.error(409), "last_admin");
    let same = json!({"email": "Second@example.org", "name": "x", "password": PASSWORD, "role": "admin"});
    assert_eq!(app.post("/api/users", &same).await.error(409), "email_taken");
    let customer = json!({"email": "c@example.org", "name": "x", "password": PASSWORD, "role": "customer"});
    assert_eq!(paths(&app.post("/api/users", &customer).await.expect(400)), ["role"]);
}

#[tokio::test]
async fn a_user_has_a_version_and_a_stale_change_is_refused() {
    let app = App::new(Db::sqlite()).await;
    let body = json!({"email": "ann@example.org", "name": "Ann", "password": PASSWORD, "role": "operator"});
    let answer = app.post("/api/users", &body).await;
    assert_eq!(answer.header("etag"), Some("\"1\""));
    let path = format!("/api/users/{}", id(&answer.expect(201)));
    let rename = |tag: &str, name: &str| {
        app.send(app.request("PATCH", &path).header("If-Match", tag.to_owned()).json(&json!({ "name": name })))
    };
    let changed = rename("\"1\"", "Anna").await;
    assert_eq!(changed.header("etag"), Some("\"2\""));
    assert_eq!(changed.expect(200)["version"], 2);
    assert_eq!(rename("\"1\"", "Annika").await.error(412), "stale_version");
    assert_eq!(rename("rubbish", "Annika").await.error(412), "stale_version");
    rename("*", "Annika").await.expect(200);
    let one = app.get(&path).await;
    assert_eq!(one.header("etag"), Some("\"3\""));
    assert_eq!(one.expect(200)["name"], "Annika");
    // Another user's change is none of hers.
    staff(&app, "bob@example.org", "operator").await;
    rename("\"3\"", "Ann").await.expect(200);
}

#[tokio::test]
async fn who_is_not_active_may_not_sign_in() {
    let app = App::new(Db::sqlite()).await;
    let ann = staff(&app, "ann@example.org", "admin").await;
    let path = format!("/api/users/{ann}");
    assert_eq!(app.patch(&path, &json!({"active": false})).await.error(409), "last_admin");
    staff(&app, "boss@example.org", "admin").await;
    let session = signed_in(&app, "ann@example.org").await;
    assert_eq!(app.patch(&path, &json!({"active": false})).await.expect(200)["active"], false);
    assert_eq!(session.get("/api/orders").await.error(401), "unauthorized");
    assert_eq!(login(&app, "ann@example.org", PASSWORD).await.error(401), "wrong_credentials");
    app.patch(&path, &json!({"active": true})).await.expect(200);
    login(&app, "ann@example.org", PASSWORD).await.expect(200);
    assert_eq!(session.get("/api/orders").await.error(401), "unauthorized", "an ended session stays ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn time_does_not_tell_which_addresses_are_known() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, "ann@example.org", "operator").await;
    // The quickest of some, and of some more where that is not enough: the machine has other things to do.
    let mut quickest = [f64::MAX; 2];
    for round in 0..60 {
        for (email, quickest) in ["ann@example.org", "nobody@example.org"].into_iter().zip(&mut quickest) {
            let began = std::time::Instant::now();
            login(&app, email, "a wrong password").await.error(401);
            *quickest = f64::min(*quickest, began.elapsed().as_secs_f64());
        }
        let [user, stranger] = quickest;
        if round >= 5 && (0.4..2.5).contains(&(user / stranger)) {
            return;
        }
    }
    panic!("user and stranger: {quickest:?} seconds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sign_ins_at_once_hold_nobody_else_up() {
    let app = App::new(Db::sqlite()).await;
    let body = json!({"email": "nobody@example.org", "password": PASSWORD});
    let nobody = app.nobody();
    let many = futures::future::join_all((0..120).map(|_| nobody.post("/api/auth/login", &body)));
    let meanwhile = async {
        for _ in 0..50 {
            app.get("/api/orders").await.expect(200);
        }
        std::time::Instant::now()
    };
    let done = async { (many.await, std::time::Instant::now()) };
    let ((answers, all_done), others_done) = tokio::join!(done, meanwhile);
    let refused = answers.iter().filter(|one| one.status == 503).count();
    assert!(answers.iter().all(|one| matches!(one.status, 401 | 429 | 503)), "{answers:?}");
    assert!(others_done < all_done || refused > 0, "reading waited for hashing");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sign_in_that_waited_while_the_password_changed_opens_no_session() {
    let app = App::new(Db::sqlite()).await;
    let ann = staff(&app, "ann@example.org", "operator").await;
    for round in 0..3 {
        let (old, new) = (format!("old password {round}"), format!("new password {round}"));
        app.patch(&format!("/api/users/{ann}"), &json!({"password": old})).await.expect(200);
        // So many that some wait for their password to be checked while it is changed.
        let body = json!({"email": "ann@example.org", "password": old});
        let waiting: Vec<_> = (0..12)
            .map(|_| {
                let (nobody, body) = (app.nobody(), body.clone());
                tokio::spawn(async move { nobody.post("/api/auth/login", &body).await })
            })
            .collect();
        app.patch(&format!("/api/users/{ann}"), &json!({"password": new})).await.expect(200);
        for answer in waiting {
            let answer = answer.await.unwrap();
            let Some(cookie) = answer.header("set-cookie").filter(|_| answer.status == 200) else { continue };
            let session = with_cookie(&app, cookie.split(';').next().unwrap());
            assert_eq!(session.get("/api/orders").await.error(401), "unauthorized", "opened with the old password");
        }
    }
}
