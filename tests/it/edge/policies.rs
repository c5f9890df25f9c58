//! Content security policies: pages run only scripts of this server and stand in no frame; JSON, tables and files load
//! and run nothing.

use serde_json::json;

use crate::api::{NOTHING, new_key};
use crate::billing::customer;
use crate::staff::operator;
use crate::support::client::Answer;
use crate::support::{App, Client, Db};

/// Returns the sources that a policy allows for a directive; `None` if it does not have the directive.
fn sources<'a>(policy: &'a str, directive: &str) -> Option<&'a str> {
    let mut directives = policy.split(';').filter_map(|part| part.trim().split_once(' '));
    directives.find_map(|(name, sources)| (name == directive).then_some(sources))
}

/// Checks the headers with which a page is bound to this server.
fn is_bound(path: &str, page: &Answer) {
    assert!(page.header("content-type").unwrap_or_default().starts_with("text/html"), "{path}: {}", page.text);
    let policy = page.header("content-security-policy").unwrap_or_else(|| panic!("{path}: no policy"));
    for directive in ["default-src", "base-uri", "frame-ancestors"] {
        assert_eq!(sources(policy, directive), Some("'none'"), "{path}: {directive} in {policy}");
    }
    // Of what is not there, `default-src` allows nothing.
    for directive in ["script-src", "connect-src"] {
        assert!(matches!(sources(policy, directive), None | Some("'self'")), "{path}: {directive} in {policy}");
    }
    assert!(matches!(sources(policy, "form-action"), Some("'self'" | "'none'")), "{path}: {policy}");
    assert_eq!(sources(policy, "object-src"), None, "{path}: {policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"), "{path}");
    assert!(matches!(page.header("referrer-policy"), Some("same-origin" | "no-referrer")), "{path}");
}

#[tokio::test]
async fn no_page_runs_code_of_others_or_stands_in_a_frame() {
    let app = App::new(Db::sqlite()).await;
    let (sam, ann) = (operator(&app).await, customer(&app, "ann@example.org").await);
    let missing = format!("/orders/{NOTHING}");
    for (client, paths) in [
        (app.nobody(), &["/", "/docs/", "/docs/events", "/login", "/sign-in", "/pay/nothing"][..]),
        (sam, &["/floor", "/to-do", "/shop/orders", "/shop/nothing", "/shop/settings/sessions"][..]),
        (ann, &["/orders", "/profile", &missing][..]),
    ] {
        for path in paths {
            is_bound(path, &client.get(path).await);
        }
    }
}

/// Returns a path with the response to a GET.
async fn read(client: &Client, path: &str) -> (String, Answer) {
    (path.to_owned(), client.get(path).await)
}

#[tokio::test]
async fn data_load_and_run_nothing_and_stand_in_no_frame() {
    let app = App::new(Db::sqlite()).await;
    let file = app.gcode("part", 60, 10.0).await;
    let (id, _) = new_key(&app, &json!({"name": "spare", "role": "operator"})).await;
    let content = format!("/api/files/{file}/content");
    for (path, answer) in [
        read(&app, "/api/orders").await,
        read(&app, "/api/openapi.json").await,
        read(&app, "/healthz").await,
        read(&app, "/metrics").await,
        read(&app, &content).await,
        read(&app, "/api/nothing").await,
        read(&app.nobody(), "/api/orders").await,
        read(&app.nobody(), "/api/v1/me").await,
        ("a key that is revoked".to_owned(), app.delete(&format!("/api/auth/api-keys/{id}")).await),
    ] {
        let policy = answer.header("content-security-policy").unwrap_or_else(|| panic!("{path}: no policy"));
        for directive in ["default-src", "base-uri", "form-action", "frame-ancestors"] {
            assert_eq!(sources(policy, directive), Some("'none'"), "{path}: {directive} in {policy}");
        }
    }
    // Scripts and styles run under the policy of their page.
    let page = app.nobody().get("/login").await.text;
    let style = page.split('"').find(|part| part.starts_with("/assets/")).expect("a style");
    let style = app.nobody().get(style).await;
    assert_eq!((style.status, style.header("content-security-policy")), (200, None));
}
