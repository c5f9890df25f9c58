//! The design of the pages: what they load, the shell around the staff's pages, and the page that shows every part.

use std::io::Read as _;

use super::settings::boss;
use super::{OPERATOR, is_sound, operator};
use crate::support::client::Answer;
use crate::support::{App, Db};

/// Returns the distinct addresses of assets in a text.
pub fn assets(text: &str) -> Vec<String> {
    let mut all: Vec<String> = text
        .split("/assets/")
        .skip(1)
        .filter_map(|rest| rest.split(['"', '#', ')']).next())
        .map(|name| format!("/assets/{name}"))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Checks the headers that let browsers cache an asset indefinitely.
#[track_caller]
pub fn is_lasting(path: &str, asset: &Answer) {
    assert_eq!(asset.status, 200, "{path}");
    assert_eq!(asset.header("cache-control"), Some("public, max-age=31536000, immutable"), "{path}");
    assert_eq!(asset.header("x-content-type-options"), Some("nosniff"), "{path}");
}

#[tokio::test]
async fn what_pages_load_is_small_is_kept_and_needs_no_sign_in() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let (sam, nobody) = (operator(&app).await, app.nobody());
    let pages = [sam.get("/floor").await, nobody.get("/sign-in").await];
    let mut kinds = Vec::new();
    for page in &pages {
        let mut to_load = assets(&page.text);
        while let Some(path) = to_load.pop() {
            let asset = nobody.get(&path).await;
            is_lasting(&path, &asset);
            kinds.push(asset.header("content-type").unwrap().to_owned());
            let ending = path.rsplit('.').next().unwrap_or_default();
            // A style names the font.
            to_load.extend(if ending == "css" { assets(&asset.text) } else { Vec::new() });
            let packed = nobody.open(nobody.request("GET", &path).header("accept-encoding", "gzip")).await;
            let is_packed = packed.headers().contains_key("content-encoding");
            assert_eq!(is_packed, ending != "woff2", "{path}");
            let bytes = packed.bytes().await.unwrap();
            assert!(bytes.len() < 50_000, "{path}: {}", bytes.len());
            if is_packed {
                let mut text = String::new();
                flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
                assert_eq!(text, asset.text, "{path}");
            }
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    let expected = ["font/woff2", "image/svg+xml", "text/css; charset=utf-8", "text/javascript; charset=utf-8"];
    assert_eq!(kinds, expected);
    for path in ["/assets/staff-000000000000.css", "/assets/", "/assets/staff.css", "/assets/..%2fconfig.toml"] {
        assert_eq!(nobody.get(path).await.error(404), "not_found", "{path}");
    }
}

#[tokio::test]
async fn the_shell_leads_everywhere_and_searches_the_whole_shop() {
    let app = App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(&app).await;
    let page = sam.get("/shop/jobs").await;
    is_sound(&page);
    let text = &page.text;
    assert!(text.contains("<nav id=\"pages\" class=\"rail\" aria-label=\"Pages\" popover=\"auto\">"), "{text}");
    assert!(text.contains("href=\"/shop/jobs\" aria-current=\"page\""), "{text}");
    // Few of the pages are in the bar of a phone too, and its last button opens the whole navigation.
    for (path, times) in [("/to-do", 2), ("/shop/stock", 2), ("/shop/insights", 1), ("/shop/webhooks", 1)] {
        assert_eq!(text.matches(&format!("<a href=\"{path}\"")).count(), times, "{path} in {text}");
    }
    assert!(text.contains("<button type=\"button\" popovertarget=\"pages\" aria-current=\"true\">"), "{text}");
    assert!(text.contains("sam@example.org") && text.contains("action=\"/logout\""), "{text}");
    // The skip link comes before the navigation, and the search is that of the whole shop.
    assert!(text.find("href=\"#content\"") < text.find("<nav"), "{text}");
    assert!(
        text.contains("action=\"/shop/search\" role=\"search\"") && text.contains("id=\"site-search\" name=\"q\""),
        "{text}"
    );
    is_sound(&sam.get("/shop/search?q=ORD-1").await);
}

#[tokio::test]
async fn admins_see_every_part_of_the_pages() {
    let app = App::new(Db::sqlite()).await;
    let boss = boss(&app).await;
    let page = boss.get("/design").await;
    assert_eq!(page.status, 200, "{}", page.text);
    is_sound(&page);
    for part in
        ["chip ok", "chip warn", "chip bad", "chip idle", "filters", "timeline", "kpis", "<dialog", "popover", "empty"]
    {
        assert!(page.text.contains(part), "{part} in {}", page.text);
    }
    for part in ["chip run", "class=\"ask\"", "class=\"options\""] {
        assert!(page.text.contains(part), "{part} in {}", page.text);
    }
    for part in [
        "table list pictured",
        "class=\"row aside\"",
        "panel tasks",
        "state attention",
        "slot low",
        "class=\"upload\"",
        "class=\"tabs\"",
        "count hot",
        "class=\"banner\"",
        "role=\"alert\"",
        " required",
        " disabled",
        "floor compact",
        "class=\"alone\"",
    ] {
        assert!(page.text.contains(part), "{part} in {}", page.text);
    }
    // An empty list says what it is for, with the act that begins it, and one without a match has a way back.
    let lists = page.text.split_once("id=\"empty\"").unwrap().1.split("</section>").next().unwrap();
    for part in ["<div class=\"empty\">", "No quotes yet.", "<a class=\"btn\"", "No quotes match. <a ", ">Show all</a>"]
    {
        assert!(lists.contains(part), "{part} in {lists}");
    }
    assert!(boss.get("/shop/settings").await.text.contains("href=\"/design\""));
    let sam = operator(&app).await;
    assert_eq!(sam.get("/design").await.status, 403);
    assert!(!sam.get("/shop/settings").await.text.contains("href=\"/design\""));
    let led = app.nobody().get("/design").await;
    assert_eq!((led.status, led.header("location")), (303, Some("/login?next=%2Fdesign")));
}
