//! Tests with fake cameras that send fixed responses.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::get;

use super::*;
use crate::tests::{registry, serve, settings};
use domain::testing::id;

/// Shortest byte sequence that is recognised as a JPEG.
const JPEG: [u8; 10] = [0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 0, 0, 0xFF, 0xD9];

fn set(url: &str, credentials: &str) -> CameraSource {
    CameraSource::Set { url: url.to_owned(), credentials: credentials.to_owned() }
}

fn cameras() -> Cameras {
    registry(settings()).cameras()
}

#[tokio::test]
async fn one_call_is_made_for_all_and_pictures_are_held_no_longer_than_they_are_fresh() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let camera = Router::new().fallback(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { ([(header::CONTENT_TYPE, "text/plain")], JPEG) }
    });
    let (url, cameras) = (serve(camera).await, cameras());
    let all = futures::future::join_all((0..20).map(|_| cameras.picture(id(1), set(&url, ""), false))).await;
    assert!(all.iter().all(|one| one.as_ref().is_ok_and(|one| one.kind == PictureKind::Jpeg && one.bytes == JPEG[..])));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
    cameras.picture(id(1), set(&url, ""), true).await.unwrap();
    assert_eq!(calls.load(Ordering::SeqCst), 2, "a new one was asked for");
    drop(all);
    for _ in 0..3_000 {
        if cameras.room.available_permits() == MAX_HELD_BYTES {
            return;
        }
        sleep(Duration::from_millis(20)).await;
    }
    panic!("bytes are held for ever: {}", MAX_HELD_BYTES - cameras.room.available_permits());
}

#[tokio::test]
async fn who_hangs_up_takes_the_picture_from_nobody() {
    let camera = Router::new().fallback(|| async {
        sleep(Duration::from_millis(200)).await;
        JPEG
    });
    let (url, cameras) = (serve(camera).await, Arc::new(cameras()));
    let first = {
        let (cameras, url) = (cameras.clone(), url.clone());
        tokio::spawn(async move { cameras.picture(id(1), set(&url, ""), false).await })
    };
    sleep(Duration::from_millis(50)).await;
    let second = cameras.picture(id(1), set(&url, ""), false);
    first.abort();
    assert!(second.await.is_ok());
}

#[tokio::test]
async fn the_safer_way_of_credentials_is_taken_where_both_are_offered() {
    let digest = "Digest realm=\"cam\", qop=\"auth\", nonce=\"n0nce\"";
    let authorizations = Arc::new(Mutex::new(Vec::new()));
    let noted = authorizations.clone();
    let camera = Router::new().route(
        "/snap",
        get(move |headers: HeaderMap| async move {
            let authorization =
                headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
            noted.lock().unwrap().push(authorization.to_owned());
            if authorization.starts_with("Digest ") && authorization.contains("username=\"ann\"") {
                return JPEG.into_response();
            }
            let mut answer = StatusCode::UNAUTHORIZED.into_response();
            answer.headers_mut().append(header::WWW_AUTHENTICATE, "Basic realm=\"cam\"".parse().unwrap());
            answer.headers_mut().append(header::WWW_AUTHENTICATE, digest.parse().unwrap());
            answer
        }),
    );
    let (url, cameras) = (format!("{}/snap", serve(camera).await), cameras());
    cameras.picture(id(1), set(&url, "ann:secret"), false).await.unwrap();
    let wrong = cameras.picture(id(2), set(&url, ""), false).await;
    assert!(matches!(wrong, Err(CameraFault::Refused(_))), "{wrong:?}");
    let authorizations = authorizations.lock().unwrap();
    assert!(authorizations.iter().all(|value| !value.starts_with("Basic")), "{authorizations:?}");
}
