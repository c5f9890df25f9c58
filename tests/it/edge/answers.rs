//! Response headers for browsers, caches and unauthenticated callers, and rejected request heads.

use std::io::Read as _;

use super::app;
use crate::billing::pages::followed;
use crate::support::wire::Wire;
use crate::support::{App, Db};

async fn refused(app: &App, head: &str) -> String {
    let mut wire = Wire::to(app).await;
    wire.say(head).await;
    let (status, text) = wire.answer().await.expect("an answer");
    assert_eq!(status, 400, "{head:?}: {text}");
    wire.ended().await;
    text
}

#[tokio::test]
async fn a_head_that_two_programs_might_read_differently_is_refused() {
    let app = app(&[("SERVER__HEADER_MAX_BYTES", "8192")]).await;
    for head in [
        "GET /api/openapi.json HTTP/1.1\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        "GET /healthz HTTP/1.1\nhost: a\n\n",
        "GET /api/openapi.json HTTP/1.1\r\nhost: a\nx-one: 1\r\n\r\n",
    ] {
        let text = refused(&app, head).await;
        assert!(text.contains(r#""code":"malformed_request""#), "{text}");
    }
    // A body may hold what a head may not, and a second request behind it is heard.
    let body = "{\n\"email\":\n\"a@example.org\",\n\"password\":\"x\"\n}";
    let post = format!(
        "POST /api/auth/login HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut wire = Wire::to(&app).await;
    wire.say(format!("{post}{post}")).await;
    assert_eq!(wire.answer().await.expect("an answer").0, 401);
    // Heads just below the limit pass, those just above do not.
    for (size, status) in [(7000, 200), (8200, 431)] {
        let mut wire = Wire::to(&app).await;
        wire.say(format!("GET /api/openapi.json HTTP/1.1\r\nhost: a\r\nx-large: {}\r\n\r\n", "a".repeat(size))).await;
        assert!(wire.begins(&format!("HTTP/1.1 {status}")).await, "{size}");
    }
}

#[tokio::test]
async fn answers_are_neither_kept_nor_guessed_at() {
    let app = App::new(Db::sqlite()).await;
    for path in ["/api/orders", "/api/nothing", "/healthz", "/metrics"] {
        let answer = app.get(path).await;
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
    let description = app.nobody().get("/api/openapi.json").await;
    assert_eq!(description.header("cache-control"), Some("public, max-age=3600"));
}

#[tokio::test]
async fn large_json_is_compressed_for_those_who_take_it() {
    let app = App::new(Db::sqlite()).await;
    let plain = app.get("/api/openapi.json").await;
    assert!(plain.header("content-encoding").is_none());
    let request = app.request("GET", "/api/openapi.json").header("accept-encoding", "br, gzip");
    let answer = app.http.execute(request.build().unwrap()).await.unwrap();
    assert_eq!(answer.headers()["content-encoding"], "gzip");
    assert!(answer.headers().get_all("vary").iter().any(|value| value == "Accept-Encoding"));
    let bytes = answer.bytes().await.unwrap();
    assert!(bytes.len() < plain.text.len() / 3, "{} of {}", bytes.len(), plain.text.len());
    let mut text = String::new();
    flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, plain.text);
    let small = app.send(app.request("GET", "/healthz").header("accept-encoding", "gzip")).await;
    assert_eq!((small.status, small.header("content-encoding")), (200, None));
}

/// Checks that the static files of the API documentation, which the program contains in compressed form, are sent
/// compressed or uncompressed as requested.
#[tokio::test]
async fn files_of_the_docs_are_sent_compressed_or_as_they_were() {
    let app = App::new(Db::sqlite()).await;
    let nobody = app.nobody();
    for path in ["/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js"] {
        let plain = nobody.get(path).await;
        assert!(plain.status == 200 && plain.header("content-encoding").is_none(), "{path}");
        assert_eq!(plain.header("vary"), Some("Accept-Encoding"), "{path}");
        let packed = nobody.open(nobody.request("GET", path).header("accept-encoding", "gzip, br")).await;
        assert_eq!(packed.headers()["content-encoding"], "gzip", "{path}");
        assert_eq!(packed.headers()["content-type"], plain.headers["content-type"], "{path}");
        let (bytes, mut text) = (packed.bytes().await.unwrap(), String::new());
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, plain.text, "{path}");
        assert!(bytes.len() < text.len() / 2, "{path}: {} of {}", bytes.len(), text.len());
    }
    // What is made of the settings is not among them.
    let own = nobody.get("/docs/swagger-initializer.js").await;
    assert!(own.status == 200 && own.text.contains("/api/openapi.json"), "{}", own.text);
}

#[tokio::test]
async fn pages_of_listed_origins_may_use_the_api_and_others_may_not() {
    let app = app(&[("SERVER__CORS_ORIGINS", "https://shop.example")]).await;
    let ask = |method: &str, origin: &'static str| app.request(method, "/api/orders").header("origin", origin);
    let first = |origin| ask("OPTIONS", origin).header("access-control-request-method", "POST");
    let allowed = app.http.execute(first("https://shop.example").build().unwrap()).await.unwrap();
    assert_eq!(allowed.status(), 200);
    assert_eq!(allowed.headers()["access-control-allow-origin"], "https://shop.example");
    assert!(allowed.headers()["access-control-allow-headers"].to_str().unwrap().contains("X-API-Key"));
    let answer = app.send(ask("GET", "https://shop.example")).await;
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://shop.example"));
    assert!(answer.header("access-control-expose-headers").unwrap().contains("ETag"));
    let other = app.send(ask("GET", "https://evil.example")).await;
    assert_eq!((other.status, other.header("access-control-allow-origin")), (200, None));
    let other = app.http.execute(first("https://evil.example").build().unwrap()).await.unwrap();
    assert_eq!((other.status().as_u16(), other.headers().get("access-control-allow-origin")), (405, None));
}

#[tokio::test]
async fn a_browser_finds_a_page_that_needs_nobody_else() {
    let app = App::new(Db::sqlite()).await;
    let page = app.nobody().get("/").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").unwrap().starts_with("text/html"));
    assert!(!page.text.contains("://"), "no address elsewhere: {}", page.text);
    assert!(page.text.contains("<a href=\"/docs/\">"), "{}", page.text);
    for link in page.text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        let answer = followed(&app.nobody(), app.nobody().get(link).await).await;
        assert_eq!(answer.status, 200, "{link}");
    }
    let docs = app.nobody().get("/docs/").await.text;
    assert!(docs.contains("<title>Printfloor API</title>") && !docs.contains("Swagger UI</title>"), "{docs}");
    let description = app.get("/api/openapi.json").await.json();
    let schemes: Vec<&str> =
        description["components"]["securitySchemes"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(schemes.first(), Some(&"apiKey"), "{schemes:?}");
}

#[tokio::test]
async fn strangers_learn_whether_the_server_works_and_not_what_it_is_made_of() {
    let app = App::new(Db::sqlite()).await;
    let answer = app.nobody().get("/readyz").await.expect(200);
    assert_eq!(answer, serde_json::json!({"status": "ready", "database": "ok", "components": {}, "degraded": []}));
    let all = app.get("/readyz").await.expect(200);
    assert_eq!(all["components"]["store"]["state"], "up", "{all}");
}

#[tokio::test]
async fn what_is_no_id_is_told_in_words() {
    let app = App::new(Db::sqlite()).await;
    for (path, words) in [
        ("/api/orders/ORD-000001", "this is a number, not an ID; to search for the number, use ?q="),
        ("/api/orders/nothing", "this is not an ID (a UUID)"),
    ] {
        let answer = app.get(path).await;
        assert_eq!(answer.json()["message"], words);
        assert_eq!(answer.error(404), "not_found");
    }
}

/// Checks that the server leads nobody from HTTP to HTTPS, which would hide that a key was sent unencrypted before.
#[tokio::test]
async fn nothing_is_redirected_to_https() {
    let app = app(&[("SERVER__PUBLIC_URL", "https://shop.example")]).await;
    let nobody = app.nobody();
    for (path, status) in [("/api/orders", 401), ("/healthz", 200), ("/docs/", 200), ("/login", 200), ("/floor", 303)] {
        let answer = nobody.send(nobody.request("GET", path).header("x-forwarded-proto", "http")).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
        let to = answer.header("location").unwrap_or("/");
        assert!(to.starts_with('/'), "{path}: {to}");
    }
}
