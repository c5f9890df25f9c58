//! PDFs in a bucket, on a real S3-compatible server.

use serde_json::{Value, json};

use super::{act, draft, show};
use crate::support::client::http;
use crate::support::moto::Moto;
use crate::support::{App, Db};

const BUCKET: &str = "papers";

#[tokio::test]
async fn pdfs_are_stored_in_a_bucket_and_read_there_by_everybody() {
    let Some(mut moto) = Moto::start(BUCKET).await else { return };
    let public = format!("{}/{BUCKET}", moto.url);
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_OBJECT_STORAGE__BUCKET", BUCKET)
        .env("PRINTFLOOR_OBJECT_STORAGE__ENDPOINT", &moto.url)
        .env("PRINTFLOOR_OBJECT_STORAGE__ACCESS_KEY_ID", "AKIATEST")
        .env("OBJECT_STORAGE_SECRET_KEY", "a secret of the test")
        .env("PRINTFLOOR_OBJECT_STORAGE__PUBLIC_URL", &public)
        .env("PRINTFLOOR_OBJECT_STORAGE__TIMEOUT_SECONDS", 20)
        .start()
        .await;
    let invoice = draft(&app, 10_000).await;
    act(&app, &invoice, "send", json!({})).await;
    let url = act(&app, &invoice, "pdf", json!({})).await["pdfUrl"].as_str().unwrap().to_owned();
    assert!(url.starts_with(&public), "{url}");
    let answer = http().get(&url).send().await.unwrap();
    assert_eq!(
        (answer.status().as_u16(), answer.headers()["content-type"].to_str().unwrap()),
        (200, "application/pdf")
    );
    assert!(answer.bytes().await.unwrap().starts_with(b"%PDF-"));
    assert_eq!(act(&app, &invoice, "pdf", json!({})).await["pdfUrl"], url.as_str(), "it is there already");
    assert_eq!(show(&app, &invoice).await["pdfUrl"], url.as_str());
    let path = url.rsplit('/').take(2).collect::<Vec<_>>();
    let own = app.get(&format!("/documents/{}/{}", path[1], path[0])).await;
    assert_eq!(own.error(404), "document_not_found", "the server hands out only what it stores itself");

    // Without storage nothing is lost but the address.
    moto.end();
    let other = draft(&app, 1).await;
    act(&app, &other, "send", json!({})).await;
    let refused = app.act(&format!("/api/invoices/{other}/pdf")).await;
    assert!(refused.header("retry-after").is_some());
    assert_eq!(refused.error(503), "storage_unavailable");
    assert_eq!(app.get(&format!("/api/invoices/{other}/pdf")).await.status, 200, "it is rendered all the same");
    assert_eq!(show(&app, &other).await["pdfUrl"], Value::Null);
}

/// Checks a bucket whose key may write but not list: like Amazon S3, it does not reveal that an object is missing.
#[tokio::test]
async fn a_key_that_may_only_store_stores() {
    use axum::http::{Method, StatusCode};
    let stored = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = stored.clone();
    let answer = move |method: Method| {
        let count = count.clone();
        async move {
            if method == Method::PUT {
                count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                (StatusCode::OK, [("etag", "\"one\"")])
            } else {
                (StatusCode::FORBIDDEN, [("etag", "\"\"")])
            }
        }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(answer)).await });
    let app = App::on(Db::sqlite())
        .env("PRINTFLOOR_OBJECT_STORAGE__BUCKET", BUCKET)
        .env("PRINTFLOOR_OBJECT_STORAGE__ENDPOINT", &url)
        .env("PRINTFLOOR_OBJECT_STORAGE__ACCESS_KEY_ID", "AKIATEST")
        .env("OBJECT_STORAGE_SECRET_KEY", "a secret of the test")
        .env("PRINTFLOOR_OBJECT_STORAGE__PUBLIC_URL", "https://papers.example")
        .start()
        .await;
    let invoice = draft(&app, 10_000).await;
    act(&app, &invoice, "send", json!({})).await;
    assert_eq!(show(&app, &invoice).await["pdfUrl"], Value::Null);
    let url = act(&app, &invoice, "pdf", json!({})).await["pdfUrl"].clone();
    assert!(url.as_str().unwrap().starts_with("https://papers.example/"), "{url}");
    assert_eq!(stored.load(std::sync::atomic::Ordering::Relaxed), 1);
    assert_eq!(show(&app, &invoice).await["pdfUrl"], url);
}
