//! Transfer sizes of the staff's pages, as Chromium loads them: the first page with everything that it references,
//! later ones with what is not cached yet, and a floor of two hundred printers. Pictures of prints are content and are
//! not counted; the benchmark `live_pages` measures a floor with running prints.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read as _;

use futures::StreamExt as _;
use serde_json::json;

use super::browser::shop::filled;
use super::design::{assets, is_lasting};
use super::{OPERATOR, operator};
use crate::api::with_cookie;
use crate::support::{App, Client, Db, until};

/// Value of Chromium's `Accept-Encoding` header.
const CHROMIUM_TAKES: &str = "gzip, deflate, br, zstd";
/// Maximum transfer size of the first page with its style, script, font and icons, in bytes.
const MAX_FIRST_BYTES: usize = 120_000;
/// Maximum transfer size of each later page, in bytes.
const MAX_LATER_BYTES: usize = 30_000;
/// Maximum transfer size of the floor with [`PRINTERS`] printers, in bytes.
const MAX_FLOOR_BYTES: usize = 70_000;
const PRINTERS: usize = 200;
/// Number of printers added concurrently.
const ADDED_AT_ONCE: usize = 8;
/// Number of measured pages per path pattern.
const SOME: usize = 2;
/// Limit above the number of pages, which stops an endless crawl.
const MAX_PAGES: usize = 200;
/// First path segments of the staff's pages.
const OF_STAFF: [&str; 4] = ["floor", "to-do", "shop", "design"];

/// Document as received over the network.
struct Document {
    /// Number of bytes on the wire, compressed.
    bytes: usize,
    /// Content type.
    kind: String,
    /// Text before compression.
    text: String,
}

/// Loads a page or an asset as Chromium does; `None` if the path redirects, or leads to a file.
async fn load(client: &Client, path: &str) -> Option<Document> {
    let response = client.open(client.request("GET", path).header("accept-encoding", CHROMIUM_TAKES)).await;
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (kind, coding) = (header("content-type").unwrap_or_default(), header("content-encoding"));
    let is_wanted = path.starts_with("/assets/") || kind.starts_with("text/html");
    if response.status() != 200 || !is_wanted {
        return None;
    }
    let body = response.bytes().await.unwrap();
    let mut text = String::from_utf8_lossy(&body).into_owned();
    if coding.as_deref() == Some("gzip") {
        text.clear();
        flate2::read::GzDecoder::new(&body[..]).read_to_string(&mut text).unwrap();
    }
    Some(Document { bytes: body.len(), kind, text })
}

/// Loads those assets of a page that have not been loaded before, and the assets that they reference; returns their
/// transfer size, in bytes.
async fn load_assets(client: &Client, page: &Document, loaded: &mut BTreeMap<String, usize>) -> usize {
    let (mut to_load, mut bytes) = (assets(&page.text), 0);
    while let Some(path) = to_load.pop() {
        if loaded.contains_key(&path) {
            continue;
        }
        let asset = load(client, &path).await.unwrap_or_else(|| panic!("no {path}"));
        // The style names the font.
        if asset.kind.starts_with("text/css") {
            to_load.extend(assets(&asset.text));
        }
        bytes += asset.bytes;
        loaded.insert(path, asset.bytes);
    }
    bytes
}

/// Returns a path with a placeholder for each id in it.
fn shape(path: &str) -> String {
    let is_name = |part: &str| part.len() <= 30 && !part.contains(|c: char| c.is_ascii_digit());
    let parts: Vec<&str> = path.split('/').map(|part| if is_name(part) { part } else { "{id}" }).collect();
    parts.join("/")
}

/// Returns the targets of a page's links to staff pages, except filtered lists.
fn links(page: &str) -> Vec<String> {
    let targets = page.split("href=\"").skip(1).filter_map(|rest| rest.split(['"', '#']).next());
    let own = |path: &&str| path.split('/').nth(1).is_some_and(|first| OF_STAFF.contains(&first));
    targets.filter(|path| !path.contains('?')).filter(own).map(str::to_owned).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_light_and_load_what_they_share_once() {
    let shop = filled().await;
    let app = &shop.floor.app;
    let admin = with_cookie(app, &shop.admin);
    let mut loaded = BTreeMap::new();
    let first = load(&admin, "/floor").await.expect("a page");
    let whole = first.bytes + load_assets(&admin, &first, &mut loaded).await;
    assert!(whole <= MAX_FIRST_BYTES, "{whole} bytes: {} of the page, {loaded:?}", first.bytes);
    for ending in [".css", ".js", ".woff2", ".svg"] {
        assert!(loaded.keys().any(|path| path.contains(ending)), "no {ending} among {loaded:?}");
    }

    let mut to_see: VecDeque<String> = ["/to-do", "/floor?wall=1", "/floor?view=plan", "/shop/search?q=or"]
        .map(str::to_owned)
        .into_iter()
        .chain(links(&first.text))
        .collect();
    let mut queued: BTreeSet<String> = to_see.iter().cloned().collect();
    let (mut passed, mut heavy) = (BTreeMap::<String, usize>::new(), Vec::new());
    while let Some(path) = to_see.pop_front() {
        let times = passed.get(&shape(&path)).copied().unwrap_or_default();
        if times >= SOME {
            continue;
        }
        let Some(page) = load(&admin, &path).await else { continue };
        passed.insert(shape(&path), times + 1);
        assert!(passed.len() < MAX_PAGES, "there is no end of pages: {passed:?}");
        let bytes = page.bytes + load_assets(&admin, &page, &mut loaded).await;
        if bytes > MAX_LATER_BYTES {
            heavy.push(format!("{path}: {bytes} bytes, {} before compression", page.text.len()));
        }
        to_see.extend(links(&page.text).into_iter().filter(|link| queued.insert(link.clone())));
    }
    assert!(heavy.is_empty(), "{}", heavy.join("\n"));
    for page in ["/to-do", "/shop/orders/{id}", "/floor/printers/{id}", "/shop/stock", "/shop/settings", "/design"] {
        assert!(passed.contains_key(page), "{page} is not among {passed:?}");
    }
    for path in loaded.keys() {
        is_lasting(path, &app.nobody().get(path).await);
    }
}

/// Registers a printer at an address at which nothing listens.
pub async fn add(app: &App, n: usize) {
    let body = json!({
        "name": format!("Printer {n}"), "type": "fw_rest", "machineType": "fdm_standard",
        "baseUrl": format!("http://127.0.0.1:9/{n}"), "buildVolume": {"x": 220, "y": 220, "z": 250},
        "location": format!("Hall {}", n % 4), "model": "MK4", "tags": ["left"],
    });
    app.post("/api/printers", &body).await.expect(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_floor_of_two_hundred_printers_is_light() {
    let app = &App::new(Db::sqlite().with_staff(OPERATOR)).await;
    let sam = operator(app).await;
    futures::stream::iter(0..PRINTERS).for_each_concurrent(ADDED_AT_ONCE, |n| add(app, n)).await;
    let page = until("a card of each, which does not answer", || async {
        let page = load(&sam, "/floor").await?;
        (page.text.matches("data-group=\"offline\"").count() == PRINTERS).then_some(page)
    })
    .await;
    assert!(page.bytes <= MAX_FLOOR_BYTES, "{} bytes, {} before compression", page.bytes, page.text.len());
}
