//! Tests of each system with its own responses: the system is available, rejects a wrong token, or is replaced by
//! something else.
#![expect(clippy::unwrap_used, reason = "tests")]

use axum::http::{HeaderMap, StatusCode as Status};
use axum::routing::get as route;
use axum::{Json, Router};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use platform::http::{LanSettings, lan};

async fn serve(router: Router) -> String {
    platform::tls::install_provider();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

fn client() -> Client {
    lan(&LanSettings::default()).unwrap()
}

fn shows(headers: &HeaderMap, expected: &str) -> Status {
    let authorization = headers.get("authorization").and_then(|value| value.to_str().ok());
    if authorization == Some(expected) { Status::OK } else { Status::UNAUTHORIZED }
}

async fn flow(client: &Client, url: &str, token: &str) -> ConnectionTestResult {
    workflow(client, url, "Authorization", token).await
}

/// Builds a fake of all systems, which accepts the token `t0k`.
fn systems() -> Router {
    Router::new()
        .route(
            "/api/",
            route(|headers: HeaderMap| async move {
                // InvenTree says this to everybody, Home Assistant to whoever shows the token.
                let message = (shows(&headers, "Bearer t0k") == Status::OK).then_some("API running.");
                Json(json!({"server": "InvenTree", "version": "1.0.1", "message": message}))
            }),
        )
        .route("/api/user/me/", route(|headers: HeaderMap| async move { shows(&headers, "Token t0k") }))
        .route("/healthz", route(|| async { Json(json!({"status": "ok"})) }))
        .route("/api/v2/auth/login-required", route(|| async { Json(json!({"loginRequired": true})) }))
        .route(
            "/api/v2/printer/",
            route(|headers: HeaderMap| async move { (shows(&headers, "Bearer t0k"), Json(json!([{}, {}]))) }),
        )
        .route("/hc/", route(|| async { "ok" }))
        .route(
            "/p/",
            route(|headers: HeaderMap| async move {
                // Without a picture it has nothing to look at.
                if shows(&headers, "Bearer t0k") == Status::OK {
                    Status::UNPROCESSABLE_ENTITY
                } else {
                    Status::UNAUTHORIZED
                }
            }),
        )
        .route(
            "/domains",
            route(|headers: HeaderMap| async move {
                let name = if headers["authorization"] == "Bearer sends" { "restricted_api_key" } else { "wrong" };
                (shows(&headers, "Bearer t0k"), Json(json!({ "name": name })))
            }),
        )
}

#[tokio::test]
async fn each_system_is_known_by_its_own_answers() {
    let (client, url) = (client(), serve(systems()).await);
    assert_eq!(parts(&client, &url, "t0k").await.unwrap(), "InvenTree 1.0.1 responds and accepts the token");
    assert_eq!(flow(&client, &format!("{url}webhook/orders"), "").await.unwrap(), "n8n responds and is healthy");
    assert!(farm_ui(&client, &url, "t0k").await.unwrap().contains("has 2 printers"));
    assert!(failure_detection(&client, &url, "t0k").await.unwrap().ends_with("accepts the token"));
    assert!(smart_home(&client, &url, "t0k").await.is_ok());
    assert_eq!(agent(&client, &url, "").await.unwrap(), "the gateway responds");
    assert!(mail_api(&client, &url, "t0k").await.is_ok() && mail_api(&client, &url, "sends").await.is_ok());
}

#[tokio::test]
async fn a_wrong_token_is_told_as_such_or_that_it_was_not_tested() {
    let (client, url) = (client(), serve(systems()).await);
    for outcome in [
        parts(&client, &url, "other").await,
        farm_ui(&client, &url, "other").await,
        failure_detection(&client, &url, "other").await,
        smart_home(&client, &url, "other").await,
        mail_api(&client, &url, "other").await,
        flow(&client, &url, "other").await,
        agent(&client, &url, "other").await,
    ] {
        match outcome {
            Ok(words) => assert!(words.ends_with(TOKEN_NOT_TESTED), "{words}"),
            Err(fault) => {
                assert!(
                    fault.message.contains("rejects the")
                        || fault.message.contains("the service at this address is not"),
                    "{fault}"
                );
            }
        }
    }
    for outcome in [
        parts(&client, &url, "").await,
        farm_ui(&client, &url, "").await,
        smart_home(&client, &url, "").await,
        failure_detection(&client, &url, "").await,
    ] {
        assert!(outcome.unwrap_err().message.contains("requires a"));
    }
}

/// Starts a fake FDM Monster whose response declares `length` bytes but ends after `list`.
async fn cut_off(list: &str, length: usize) -> String {
    platform::tls::install_provider();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let answer = |length: usize, body: &str| {
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
    };
    let open = r#"{"loginRequired": false}"#;
    let (login, printers) = (answer(open.len(), open), answer(length, list));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let read = stream.read(&mut request).await.unwrap_or(0);
            let asks_login = String::from_utf8_lossy(&request[..read]).contains("login-required");
            let answer = if asks_login { &login } else { &printers };
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    url
}

#[tokio::test]
async fn of_a_list_with_keys_nothing_is_told_wherever_it_is_cut() {
    let list = json!([{"id": 1, "name": "Left", "apiKey": "hunter2-key", "password": "hunter2-code"}]).to_string();
    for end in 0..list.len() {
        let broken = farm_ui(&client(), &cut_off(&list[..end], list.len()).await, "").await.unwrap_err();
        assert_eq!(broken.message, "FDM Monster did not finish its response", "{broken:?}");
        let short = farm_ui(&client(), &cut_off(&list[..end], end).await, "").await.unwrap_err();
        assert!(short.message.contains("is not FDM Monster's list"), "{short:?}");
        for fault in [broken, short] {
            assert!(!fault.in_one_line().contains("hunter2"), "{}", fault.in_one_line());
        }
    }
    let url = cut_off(&list, list.len()).await;
    assert_eq!(farm_ui(&client(), &url, "").await.unwrap(), "FDM Monster responds and has 1 printers");
}

#[tokio::test]
async fn something_else_in_its_place_is_told_as_such() {
    let (client, url) = (client(), serve(Router::new().fallback(|| async { "a page" })).await);
    for outcome in [
        parts(&client, &url, "t0k").await,
        farm_ui(&client, &url, "t0k").await,
        failure_detection(&client, &url, "").await,
        smart_home(&client, &url, "t0k").await,
    ] {
        let fault = outcome.unwrap_err();
        assert!(fault.message.starts_with("the service at this address is not"), "{fault}");
        assert_eq!(fault.detail.as_deref(), Some("200 OK a page"));
    }
}

#[tokio::test]
async fn nobody_there_is_told_with_the_networks_words() {
    let client = client();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fault = agent(&client, &format!("http://{free}"), "").await.unwrap_err();
    assert!(fault.message.contains("does not respond") && fault.detail.unwrap().contains("refused"));
    let fault = agent(&client, &format!("http://{free}"), "").await.unwrap_err();
    assert_eq!(fault.detail.as_deref(), Some("it refused the connection"), "and with nothing of what is below them");
    let metadata = agent(&client, "http://169.254.169.254/latest", "").await.unwrap_err();
    assert!(metadata.message.contains("must be the address of one of the shop's own systems"), "{metadata}");
    assert!(agent(&client, "ftp://127.0.0.1", "").await.unwrap_err().message.contains("must be an http"));
}

#[tokio::test]
async fn a_connection_that_breaks_is_told_in_a_short_sentence() {
    let client = client();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(stream);
        }
    });
    let fault = agent(&client, &url, "").await.unwrap_err();
    assert_eq!(fault.detail.as_deref(), Some("it closed the connection"));
}
