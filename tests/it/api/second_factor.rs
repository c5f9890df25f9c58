//! Second factors of the staff: set-up, the prompt at sign-in by API and page, codes that are valid once and hard to
//! guess, and removal.

use jiff::Timestamp;
use printfloor::domain::second_factor::code_at;
use serde_json::{Value, json};

use super::{PASSWORD, signed_in, staff};
use crate::billing::pages::{posted, token};
use crate::support::client::Answer;
use crate::support::{App, Client, Db, on_sqlite};

const ANN: &str = "ann@example.org";
const OWN: &str = "/api/auth/second-factor";
/// Validity of a code, in milliseconds.
const STEP_MS: i64 = 30_000;

/// Returns the code that an authenticator app shows `later` steps from now.
#[expect(clippy::disallowed_methods, reason = "the server's clock is that of the machine")]
fn code(secret: &str, later: i64) -> String {
    let at = Timestamp::now().as_millisecond() + later * STEP_MS;
    code_at(secret, printfloor::domain::time::Timestamp(at)).unwrap()
}

async fn login(app: &App, code: Option<&str>) -> Answer {
    let mut body = json!({"email": ANN, "password": PASSWORD});
    if let Some(code) = code {
        body["code"] = json!(code);
    }
    app.nobody().post("/api/auth/login", &body).await
}

/// Sets up a second factor; returns its secret and recovery codes.
pub async fn set_up(ann: &Client) -> (String, Vec<String>) {
    let begun = ann.post(OWN, &json!({"currentPassword": PASSWORD})).await.expect(200);
    let secret = begun["secret"].as_str().unwrap().to_owned();
    assert!(begun["url"].as_str().unwrap().starts_with("otpauth://totp/"), "{begun}");
    let confirmed = ann.post("/api/auth/second-factor/confirm", &json!({"code": code(&secret, 0)})).await.expect(200);
    let codes = confirmed["recoveryCodes"].as_array().unwrap().iter();
    (secret, codes.map(|code| code.as_str().unwrap().to_owned()).collect())
}

async fn audited(app: &App, action: &str) -> Vec<Value> {
    let log = app.get(&format!("/api/audit-log?action={action}")).await.expect(200);
    log["entries"].as_array().cloned().unwrap_or_default()
}

on_sqlite! {
    async fn a_sign_in_asks_for_a_code_once_a_first_one_confirmed_it(db: Db) {
        let mut app = App::on(db).env("PRINTFLOOR_LIMITS__LOGIN_ATTEMPTS_PER_15_MINUTES", 100).start().await;
        staff(&app, ANN, "operator").await;
        let (ann, there) = (signed_in(&app, ANN).await, signed_in(&app, ANN).await);
        assert_eq!(ann.get(OWN).await.expect(200), json!({"on": false, "confirmedAt": null, "recoveryCodesLeft": 0}));
        assert_eq!(ann.post(OWN, &json!({"currentPassword": "wrong"})).await.error(403), "wrong_password");
        let confirm = "/api/auth/second-factor/confirm";
        assert_eq!(ann.post(confirm, &json!({"code": "123456"})).await.error(409), "second_factor_not_begun");
        ann.post(OWN, &json!({"currentPassword": PASSWORD})).await.expect(200);
        assert_eq!(ann.post(confirm, &json!({"code": "nonsense"})).await.error(403), "wrong_factor_code");
        login(&app, None).await.expect(200);

        let (secret, recovery) = set_up(&ann).await;
        assert_eq!(recovery.len(), 10);
        assert_eq!(there.get("/api/orders").await.error(401), "unauthorized", "it was opened by the password alone");
        ann.get("/api/orders").await.expect(200);
        assert_eq!(ann.post(OWN, &json!({"currentPassword": PASSWORD})).await.error(409), "second_factor_on");

        app.kill_9();
        app.start().await;
        assert_eq!(login(&app, None).await.error(401), "second_factor_required");
        assert_eq!(login(&app, Some(&code(&secret, -3))).await.error(401), "wrong_factor_code");
        let next = code(&secret, 1);
        login(&app, Some(&next)).await.expect(200);
        assert_eq!(login(&app, Some(&next)).await.error(401), "wrong_factor_code", "each code is good once");
        login(&app, Some(&recovery[0])).await.expect(200);
        assert_eq!(login(&app, Some(&recovery[0])).await.error(401), "wrong_factor_code", "so is each recovery code");
        login(&app, Some(&recovery[1].to_lowercase().replace('-', " "))).await.expect(200);
        assert_eq!(ann.get(OWN).await.expect(200)["recoveryCodesLeft"], 8);

        // Nothing that anybody reads or that is stored has the secret or a code.
        let users = app.get("/api/users").await.expect(200).to_string();
        assert!(users.contains("\"secondFactor\":true") && !users.contains(&secret), "{users}");
        assert!(!app.log().iter().any(|line| line.contains(&secret) || line.contains(&recovery[2])), "in the log");

        let removal = |code: &str| json!({"currentPassword": PASSWORD, "code": code});
        let remove = "/api/auth/second-factor/remove";
        assert_eq!(ann.post(remove, &removal(&recovery[0])).await.error(403), "wrong_factor_code");
        ann.post(remove, &removal(&recovery[3])).await.expect(204);
        login(&app, None).await.expect(200);
        for action in ["second_factor.begin", "second_factor.confirm", "second_factor.code", "second_factor.remove"] {
            assert!(!audited(&app, action).await.is_empty(), "{action}");
        }
    }
}

#[tokio::test]
async fn an_admin_removes_the_second_factor_of_whoever_has_lost_theirs() {
    let app = App::new(Db::sqlite()).await;
    let id = staff(&app, ANN, "operator").await;
    let ann = signed_in(&app, ANN).await;
    set_up(&ann).await;
    let path = format!("/api/users/{id}/second-factor");
    assert_eq!(ann.delete(&path).await.error(403), "insufficient_role");
    app.delete(&path).await.expect(204);
    assert_eq!(ann.get("/api/orders").await.error(401), "unauthorized", "the sessions end");
    login(&app, None).await.expect(200);
    assert_eq!(audited(&app, "second_factor.reset").await.len(), 1);
}

#[tokio::test]
async fn an_admin_does_not_reset_their_own_second_factor_nor_set_their_own_password() {
    let app = App::new(Db::sqlite()).await;
    let (own, other) = (staff(&app, ANN, "admin").await, staff(&app, "bob@example.org", "admin").await);
    let (ann, bob) = (signed_in(&app, ANN).await, signed_in(&app, "bob@example.org").await);
    set_up(&ann).await;
    let factor = format!("/api/users/{own}/second-factor");
    assert_eq!(ann.delete(&factor).await.error(403), "own_second_factor");
    let change = json!({"password": "another long password"});
    assert_eq!(ann.patch(&format!("/api/users/{own}"), &change).await.error(403), "own_password");
    ann.patch(&format!("/api/users/{own}"), &json!({"name": "Ann"})).await.expect(200);
    ann.patch(&format!("/api/users/{other}"), &json!({"name": "Bob"})).await.expect(200);

    // The page of oneself leads to where the password is asked for, and does no more by hand.
    let page = format!("/shop/settings/users/{own}");
    let (own_page, others) = (ann.get(&page).await, bob.get(&page).await);
    for act in ["second-factor", "password"] {
        let action = format!("action=\"{page}/{act}\"");
        assert!(!own_page.text.contains(&action) && others.text.contains(&action), "{act}: {}", own_page.text);
        let form_token = token(&own_page);
        let fields = [("form_token", &*form_token), ("password", "another long password")];
        let refused = posted(&ann, &format!("{page}/{act}"), &fields).await;
        assert!(refused.status == 403 && refused.text.contains("our own"), "{act}: {}", refused.text);
    }
    assert!(own_page.text.contains("href=\"/shop/settings/second-factor\""), "{}", own_page.text);
    assert_eq!(ann.get(OWN).await.expect(200)["on"], true);
    assert_eq!(login(&app, None).await.error(401), "second_factor_required", "and the password is the same");
    bob.delete(&factor).await.expect(204);
    login(&app, None).await.expect(200);
}

on_sqlite! {
    async fn five_wrong_codes_lock_the_codes_and_leave_the_password_its_tries(db: Db) {
        // The sign-in and the password of the setup are two of these.
        let mut app = App::on(db).env("PRINTFLOOR_LIMITS__LOGIN_ATTEMPTS_PER_15_MINUTES", 4).start().await;
        let id = staff(&app, ANN, "operator").await;
        let ann = signed_in(&app, ANN).await;
        let (secret, recovery) = set_up(&ann).await;
        for wrong in ["nonsense", "000000 wrong", "ABCD-EFGH-JKLM", "12", "nonsense"] {
            assert_eq!(login(&app, Some(wrong)).await.error(401), "wrong_factor_code", "{wrong}");
            assert_eq!(login(&app, None).await.error(401), "second_factor_required");
        }
        for code in [code(&secret, 1), recovery[0].clone()] {
            let locked = login(&app, Some(&code)).await;
            let wait: i64 = locked.header("retry-after").unwrap().parse().unwrap();
            assert!((1..=900).contains(&wait), "{wait}");
            assert_eq!(locked.error(429), "too_many_factor_codes", "a right one too");
        }
        let removal = json!({"currentPassword": PASSWORD, "code": recovery[0]});
        let removed = ann.post("/api/auth/second-factor/remove", &removal).await;
        assert_eq!(removed.error(429), "too_many_factor_codes", "wherever it is shown");
        let wrong = app.nobody().post("/api/auth/login", &json!({"email": ANN, "password": "wrong password"})).await;
        assert_eq!(wrong.error(401), "wrong_credentials", "the tries of the password are left");

        app.kill_9();
        app.start().await;
        assert_eq!(login(&app, Some(&recovery[0])).await.error(429), "too_many_factor_codes", "a restart forgets none");
        app.delete(&format!("/api/users/{id}/second-factor")).await.expect(204);
        login(&app, None).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_codes_that_are_shown_at_once_no_more_than_five_are_checked() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__LOGIN_ATTEMPTS_PER_15_MINUTES", 100).start().await;
    staff(&app, ANN, "operator").await;
    set_up(&signed_in(&app, ANN).await).await;
    let answers = futures::future::join_all((0..20).map(|_| login(&app, Some("nonsense")))).await;
    let checked = answers.iter().filter(|answer| answer.status == 401).count();
    assert!((1..=5).contains(&checked), "{checked}");
    assert!(answers.iter().all(|answer| matches!(answer.status, 401 | 429 | 503)), "{answers:?}");
    // Whatever was refused for the load: after five they are locked.
    let mut more = 0;
    while login(&app, Some("nonsense")).await.status == 401 {
        more += 1;
    }
    assert_eq!(checked + more, 5);
}

#[tokio::test]
async fn the_page_of_the_sign_in_asks_for_the_code_and_the_settings_set_it_up() {
    let app = App::new(Db::sqlite()).await;
    staff(&app, ANN, "operator").await;
    let ann = signed_in(&app, ANN).await;
    let path = "/shop/settings/second-factor";
    let own = token(&ann.get(path).await);
    let answer = posted(&ann, path, &[("form_token", &own), ("currentPassword", PASSWORD)]).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(answer.text.contains("QR code for an authenticator app"), "{}", answer.text);
    let secret = answer.text.split_once("into the app: <code>").unwrap().1.split('<').next().unwrap().to_owned();
    let confirm = "/shop/settings/second-factor/confirm";
    let wrong = posted(&ann, confirm, &[("form_token", &own), ("code", "wrong")]).await;
    assert!(wrong.status == 403 && wrong.text.contains("The code is incorrect"), "{}", wrong.text);
    let on = posted(&ann, confirm, &[("form_token", &own), ("code", &code(&secret, 0))]).await;
    assert!(on.status == 200 && on.text.contains("Recovery codes"), "{}", on.text);

    let sign_in = |code: Option<String>| {
        let app = &app;
        async move {
            let mut fields = vec![("email", ANN.to_owned()), ("password", PASSWORD.to_owned())];
            fields.extend(code.map(|code| ("code", code)));
            let fields: Vec<(&str, &str)> = fields.iter().map(|(name, text)| (*name, text.as_str())).collect();
            posted(&app.nobody(), "/login", &fields).await
        }
    };
    let prompt = sign_in(None).await;
    assert!(prompt.status == 401 && prompt.text.contains("name=\"code\""), "{}", prompt.text);
    assert!(prompt.text.contains("Code from your authenticator app, or a recovery code"), "{}", prompt.text);
    assert!(prompt.header("set-cookie").is_none());
    let entered = sign_in(Some(code(&secret, 1))).await;
    assert!(entered.status == 303 && entered.header("set-cookie").is_some(), "{}", entered.text);
}
