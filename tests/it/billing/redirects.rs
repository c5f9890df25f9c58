//! Redirects after a sign-in link: to a path of this server, or else to its front page.

use serde_json::json;

use super::{link, verify};
use crate::support::{App, Db};

/// Paths that could lead to other hosts, headers or schemes.
const ELSEWHERE: [&str; 12] = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "https://evil.example/",
    "javascript:alert(1)",
    "/%2Fevil.example",
    "/%5Cevil.example",
    "%2F%2Fevil.example",
    "/a\r\nSet-Cookie: a=1",
    "/\t/evil.example",
    "/.//evil.example",
];

fn query(next: &str) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("next", next).finish()
}

#[tokio::test]
async fn a_link_leads_nowhere_else() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_LIMITS__SIGN_IN_LINKS_OF_EMAIL_PER_15_MINUTES", 1000).start().await;
    let nobody = app.nobody();
    for next in ELSEWHERE {
        let browser = |path: String| nobody.request("GET", &path).header("accept", "text/html,*/*;q=0.8");
        // In the query of what redeems.
        let failed = nobody.send(browser(format!("/api/v1/auth/verify?token=x&{}", query(next)))).await;
        assert_eq!((failed.status, failed.header("location")), (302, Some("/?error=invalid_or_expired")), "{next:?}");
        assert!(failed.header("set-cookie").is_none());
        // In the query of the page.
        let page = nobody.get(&format!("/sign-in/confirm?token=x&{}", query(next))).await;
        assert!(page.status == 200 && !page.text.contains("evil") && !page.text.contains("alert"), "{}", page.text);
    }
    // In the request for the link.
    for next in ["//evil.example", "/a\\b"] {
        let mailed = link(&app, json!({"email": "ann@example.org", "next": next})).await;
        assert!(!mailed.contains("next="), "{mailed}");
        assert_eq!(nobody.get(&verify(&mailed)).await.header("location"), Some("/"));
    }
}

#[tokio::test]
async fn a_browser_with_a_dead_link_comes_back_to_its_page() {
    let app = App::new(Db::sqlite()).await;
    let nobody = app.nobody();
    let dead = nobody.request("GET", "/api/v1/auth/verify?token=x&next=/orders%3Fa%3D1").header("accept", "text/html");
    let answer = nobody.send(dead).await;
    assert_eq!(answer.header("location"), Some("/orders?a=1&error=invalid_or_expired"));
    let json = nobody.get("/api/v1/auth/verify?token=x&next=/orders").await;
    let body = json.expect(400);
    assert_eq!((&body["success"], body["message"].is_string()), (&json!(false), true));
}

#[tokio::test]
async fn the_page_shows_what_it_was_given_as_text() {
    let app = App::new(Db::sqlite()).await;
    let page = app.nobody().get("/sign-in/confirm?token=%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E").await;
    assert!(!page.text.contains("<script"), "{}", page.text);
    let incomplete = app.nobody().get("/sign-in/confirm").await;
    assert_eq!(incomplete.status, 400);
    assert!(!incomplete.text.contains("<button"));
}
