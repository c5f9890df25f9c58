//! Passwords and email addresses of accounts: a password counts exactly as it was typed, fields for passwords can be
//! filled by programs that keep them, and an email address never changes.

use serde_json::json;

use super::{fault_paths, paths, signed_in, staff};
use crate::billing::customer;
use crate::staff::operator;
use crate::support::{App, Db};

/// Password with spaces at both ends, capital letters, letters of several scripts and a picture.
const TYPED: &str = "  Grüße 密码 🖨 Correct Horse ";

#[tokio::test]
async fn a_password_counts_exactly_as_it_was_typed() {
    let app = App::new(Db::sqlite()).await;
    // Longer than some algorithms read.
    let long = format!("{}end", "battery staple ".repeat(20));
    for (email, password) in [("ann@example.org", TYPED), ("bob@example.org", long.as_str())] {
        let user = json!({"email": email, "name": "Ann", "password": password, "role": "operator"});
        app.post("/api/users", &user).await.expect(201);
        let status = async |password: &str| {
            app.nobody().post("/api/auth/login", &json!({"email": email, "password": password})).await.status
        };
        assert_eq!(status(password).await, 200, "{password:?}");
        let without_last: String = password.chars().take(password.chars().count() - 1).collect();
        let others = [password.trim().to_owned(), password.to_lowercase(), password.to_uppercase(), without_last];
        for other in others.iter().filter(|other| other.as_str() != password) {
            assert_eq!(status(other.as_str()).await, 401, "{other:?} is not {password:?}");
        }
    }
}

#[tokio::test]
async fn fields_for_passwords_are_masked_and_can_be_filled_by_programs() {
    let app = App::new(Db::sqlite()).await;
    for (client, path, names) in [
        (app.nobody(), "/login", &["password"][..]),
        (operator(&app).await, "/shop/settings/password", &["currentPassword", "newPassword"][..]),
    ] {
        let page = client.get(path).await.text;
        for name in names {
            let named = format!("name=\"{name}\"");
            let field = page.split("<input ").find(|field| field.contains(&named)).expect("a field");
            let field = field.split('>').next().unwrap();
            assert!(field.contains("type=\"password\""), "{path}: {field}");
            let kinds = ["autocomplete=\"current-password\"", "autocomplete=\"new-password\""];
            assert!(kinds.iter().any(|kind| field.contains(kind)), "{path}: {field}");
        }
    }
}

#[tokio::test]
async fn nobody_changes_an_email_address() {
    let app = App::new(Db::sqlite()).await;
    let (sam, ann) = (staff(&app, "sam@example.org", "operator").await, customer(&app, "ann@example.org").await);
    let change = json!({"email": "other@example.org"});
    assert_eq!(paths(&app.patch(&format!("/api/users/{sam}"), &change).await.expect(400)), ["email"]);
    assert_eq!(fault_paths(&ann.patch("/api/v1/profile", &change).await.expect(400)), ["email"]);
    signed_in(&app, "sam@example.org").await.get("/api/orders").await.expect(200);
    let me = ann.get("/api/v1/me").await.expect(200);
    assert!(me.to_string().contains("ann@example.org"), "{me}");
}
