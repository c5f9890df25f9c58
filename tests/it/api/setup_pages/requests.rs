//! Requests to the wizard: the printer search with and without JavaScript, forms from other sites, and another address.

use serde_json::json;
use tokio::sync::Mutex;

use super::{Browser, code, is_sound};
use crate::support::{App, Db, until};

#[tokio::test]
async fn a_search_is_followed_on_its_page_with_script_and_without() {
    let app = App::new(Db::sqlite()).await;
    let mut browser = Browser::new(&app);
    browser.begin(&app).await;
    assert_eq!(Browser::led(&browser.send("/setup/printers/search", &[]).await), "/setup/printers");
    let cookies = format!("setup_session={}", browser.cookies["setup_session"]);
    let request = browser.client.request("GET", "/setup/printers/live").header("cookie", cookies);
    let stream = browser.client.send(request).await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert!(stream.text.starts_with("event: part\ndata: {"), "{}", stream.text);
    assert!(stream.text.ends_with("event: over\ndata: {}\n\n"), "{}", stream.text);
    let page = browser.get("/setup/printers").await;
    assert!(page.text.contains("Search complete:") && !page.text.contains("data-stream"), "{}", page.text);
    let form = browser.get("/setup/printers/new?found=7777").await;
    assert!(form.status == 200 && form.text.contains("Test and add"), "{}", form.text);
}

#[tokio::test]
async fn a_search_is_cancelled_on_its_page() {
    // It listens for so long that somebody can cancel it.
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_DISCOVERY__LISTEN_SECONDS", 60).start().await;
    let mut browser = Browser::new(&app);
    browser.begin(&app).await;
    let browser = Mutex::new(browser);
    // The search is over at once if another test listens at the port at the same time.
    let cancelled = until("a search to be cancelled", || async {
        let mut browser = browser.lock().await;
        browser.send("/setup/printers/search", &[]).await;
        let running = browser.get("/setup/printers").await;
        if !running.text.contains("data-stream") {
            return None;
        }
        assert!(running.text.contains(">Cancel search</button>"), "{}", running.text);
        let cancelled = browser.send("/setup/printers/search/cancel", &[]).await;
        assert_eq!(Browser::led(&cancelled), "/setup/printers");
        // The stream ends with the search.
        let cookies = format!("setup_session={}", browser.cookies["setup_session"]);
        let request = browser.client.request("GET", "/setup/printers/live").header("cookie", cookies);
        let stream = browser.client.send(request).await;
        assert!(stream.text.ends_with("event: over\ndata: {}\n\n"), "{}", stream.text);
        let page = browser.get("/setup/printers").await;
        page.text.contains("Search cancelled: no printers found.").then_some(page)
    })
    .await;
    assert!(!cancelled.text.contains(">Cancel search</button>"), "{}", cancelled.text);
}

#[tokio::test]
async fn no_other_site_sends_a_form_of_the_wizard() {
    let app = App::new(Db::sqlite()).await;
    let mut browser = Browser::new(&app);
    browser.begin(&app).await;
    for path in ["/setup", "/setup/enter", "/setup/database", "/setup/printers/search", "/setup/review"] {
        let request = browser.client.request("POST", path).header("content-type", "application/x-www-form-urlencoded");
        let request = request.header("sec-fetch-site", "cross-site").body("code=x");
        let refused = browser.answered(request).await;
        assert_eq!(refused.status, 403, "{path}: {}", refused.text);
        is_sound(&refused);
    }
    let json = browser.client.request("POST", "/setup/database").json(&json!({}));
    assert_eq!(browser.answered(json).await.status, 415);
    // Whoever has no session sees nothing of it.
    let stranger = app.nobody().get("/setup/printers/live").await;
    assert_eq!((stranger.status, stranger.header("location")), (303, Some("/setup/enter")));
}

/// Checks the wizard at an address on the local network: over plain HTTP, browsers identify the source of a form only
/// by its origin.
#[tokio::test]
async fn the_wizard_is_used_at_another_address_than_the_public_one() {
    let app = App::on(Db::sqlite()).env("PRINTFLOOR_SERVER__PUBLIC_URL", "https://shop.example").start().await;
    let printed = code(&app, 1).await;
    let enter = async |origin: &str, host: &str| {
        let client = app.nobody();
        let form = client.request("POST", "/setup/enter").header("content-type", "application/x-www-form-urlencoded");
        client.send(form.header("origin", origin).header("host", host).body(format!("code={printed}"))).await
    };
    for (origin, host) in [("http://evil.example", "192.168.1.5:8787"), ("http://shop.example", "shop.example")] {
        assert_eq!(enter(origin, host).await.status, 403, "{origin} asks {host}");
    }
    assert_eq!(Browser::led(&enter("http://192.168.1.5:8787", "192.168.1.5:8787").await), "/setup");
}
