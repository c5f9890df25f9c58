//! Assets of the pages: style sheets, scripts, the font and the icons, embedded in the binary. Each asset's name
//! contains the beginning of its hash, so that browsers can cache it indefinitely and fetch a new one when it has
//! changed.

use std::io::Write as _;
use std::sync::{LazyLock, OnceLock};

use axum::Router;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use http::compression::takes_gzip;
use http::error::{ApiResult, no_such_path};

/// Path under which the assets are served.
const FOLDER: &str = "/assets/";
/// Number of hash bytes in an asset's name.
const NAMED_HASH_BYTES: usize = 6;
const CACHE_CONTROL: &str = "public, max-age=31536000, immutable";
/// URL of the font in the style sheet, which is replaced by the asset's URL.
const FONT_IN_STYLE: &str = "inter-latin.woff2";

const STAFF_STYLE_TEXT: &str = concat!(
    include_str!("tokens.css"),
    include_str!("base.css"),
    include_str!("parts.css"),
    include_str!("shell.css"),
    include_str!("../staff/style/base.css"),
    include_str!("../staff/style/floor.css"),
    include_str!("../staff/style/wall.css"),
);
/// Style of the floor's comfortable cards, whose rules all name the class.
const COMFORTABLE_STYLE_TEXT: &str = include_str!("../staff/style/comfortable.css");
/// Style of the floor's compact cards, whose rules all name the class.
const COMPACT_STYLE_TEXT: &str = include_str!("../staff/style/compact.css");
/// Style of the floor's dense cards, which are used on wide screens only. Its rules come after those of compact cards
/// and override some of them.
const DENSE_STYLE_TEXT: &str = include_str!("../staff/style/dense.css");
const STAFF_AREAS_STYLE_TEXT: &str = concat!(
    include_str!("../staff/style/stock.css"),
    include_str!("../staff/style/products.css"),
    include_str!("list.css"),
    include_str!("../staff/style/commerce.css"),
    include_str!("../staff/style/settings.css"),
    include_str!("../staff/style/insights.css"),
);
const SITE_STYLE_TEXT: &str = concat!(
    include_str!("tokens.css"),
    include_str!("base.css"),
    include_str!("parts.css"),
    include_str!("site.css"),
    include_str!("customers.css"),
);
const SITE_SCRIPT_TEXT: &str = concat!(include_str!("site.js"), include_str!("../setup/script/zone.js"));
const STAFF_SCRIPT_TEXT: &str = concat!(
    include_str!("shell.js"),
    include_str!("../staff/script/live.js"),
    include_str!("../staff/script/floor.js"),
    include_str!("../staff/script/wall.js"),
    include_str!("../staff/script/settings.js"),
    include_str!("../staff/script/products.js"),
    include_str!("../staff/script/scan.js"),
);

/// Style sheet for the staff pages.
pub(crate) static STAFF_STYLE: LazyLock<PageAsset> =
    LazyLock::new(|| PageAsset::new("staff", AssetKind::Style, with_font(&staff_style())));
/// Script for the staff pages.
pub(crate) static STAFF_SCRIPT: LazyLock<PageAsset> =
    LazyLock::new(|| PageAsset::new("staff", AssetKind::Script, Bytes::from_static(STAFF_SCRIPT_TEXT.as_bytes())));
/// Style sheet for all other pages: customer pages, sign-in and setup.
pub(crate) static SITE_STYLE: LazyLock<PageAsset> =
    LazyLock::new(|| PageAsset::new("site", AssetKind::Style, with_font(SITE_STYLE_TEXT)));
/// Script for customer and setup pages with live updates.
pub(crate) static SITE_SCRIPT: LazyLock<PageAsset> =
    LazyLock::new(|| PageAsset::new("site", AssetKind::Script, Bytes::from_static(SITE_SCRIPT_TEXT.as_bytes())));
/// Sprite that contains the icons.
pub(super) static ICONS: LazyLock<PageAsset> = LazyLock::new(|| {
    let sprite = include_bytes!("../../../../assets/pages/icons.svg");
    PageAsset::new("icons", AssetKind::Picture, Bytes::from_static(sprite))
});
/// Latin letters of the pages' font. System fonts are used for other scripts.
static FONT: LazyLock<PageAsset> = LazyLock::new(|| {
    let font = include_bytes!("../../../../assets/pages/inter-latin.woff2");
    PageAsset::new("inter", AssetKind::Font, Bytes::from_static(font))
});
static ALL: [&LazyLock<PageAsset>; 6] = [&STAFF_STYLE, &STAFF_SCRIPT, &SITE_STYLE, &SITE_SCRIPT, &ICONS, &FONT];

/// Type of an asset, which determines its file name extension and content type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum AssetKind {
    Style,
    Script,
    Picture,
    Font,
}

impl AssetKind {
    /// Returns the file name extension and the content type.
    const fn forms(self) -> (&'static str, &'static str) {
        match self {
            Self::Style => ("css", "text/css; charset=utf-8"),
            Self::Script => ("js", "text/javascript; charset=utf-8"),
            Self::Picture => ("svg", "image/svg+xml"),
            Self::Font => ("woff2", "font/woff2"),
        }
    }
}

/// File that pages load from this server.
pub(crate) struct PageAsset {
    /// Path, which includes the beginning of the content's hash: `/assets/staff-0123456789ab.css`.
    pub(crate) path: String,
    /// Uncompressed content.
    pub(crate) content: Bytes,
    /// Compressed content, unset until a client accepts it; `None` if it could not be compressed.
    packed: OnceLock<Option<Bytes>>,
    kind: AssetKind,
}

impl PageAsset {
    fn new(name: &str, kind: AssetKind, content: Bytes) -> Self {
        let hash = Sha256::digest(&content);
        let hash = hash.iter().take(NAMED_HASH_BYTES).fold(0_u64, |hash, byte| (hash << 8) | u64::from(*byte));
        let path = format!("{FOLDER}{name}-{hash:012x}.{}", kind.forms().0);
        Self { path, content, packed: OnceLock::new(), kind }
    }

    /// Returns the compressed content, which the first call makes; `None` if the format is already compressed.
    fn packed(&self) -> Option<&Bytes> {
        if self.kind == AssetKind::Font {
            return None;
        }
        self.packed.get_or_init(|| compress(&self.content).ok()).as_ref()
    }

    /// Builds the response that contains the asset, compressed if the client accepts it.
    fn response(&self, request_headers: &HeaderMap) -> Response {
        let packed = if takes_gzip(request_headers) { self.packed() } else { None };
        let headers = [(header::CONTENT_TYPE, self.kind.forms().1), (header::CACHE_CONTROL, CACHE_CONTROL)];
        let mut response = (headers, packed.unwrap_or(&self.content).clone()).into_response();
        if self.kind != AssetKind::Font {
            response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        }
        if packed.is_some() {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

fn compress(content: &[u8]) -> std::io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    Ok(Bytes::from(encoder.finish()?))
}

/// Returns the style sheet for the staff pages. Cards of the class `auto` are compact on wide screens and comfortable
/// on others, so they have the rules of both; these repeat the rules just before them, and cost little once compressed.
fn staff_style() -> String {
    let compact = COMPACT_STYLE_TEXT.replace(".compact", ".auto");
    let comfortable = COMFORTABLE_STYLE_TEXT.replace(".comfortable", ".auto");
    let automatic = format!("@media(width>900px){{{compact}}}\n@media(width<=900px){{{comfortable}}}\n");
    let dense = format!("@media(width>900px){{{DENSE_STYLE_TEXT}}}\n");
    let [automatic, dense] = [automatic.as_str(), dense.as_str()];
    [STAFF_STYLE_TEXT, COMFORTABLE_STYLE_TEXT, COMPACT_STYLE_TEXT, automatic, dense, STAFF_AREAS_STYLE_TEXT].concat()
}

fn with_font(style: &str) -> Bytes {
    Bytes::from(style.replace(FONT_IN_STYLE, &FONT.path))
}

/// Returns the route that serves the assets. It requires no credentials: the assets are part of the program and the
/// same for everyone.
pub(crate) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route("/assets/{name}", get(asset))
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> ApiResult {
    let Some(asset) = ALL.iter().find(|asset| asset.path.strip_prefix(FOLDER) == Some(name.as_str())) else {
        return Err(no_such_path().await);
    };
    Ok(asset.response(&headers))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Returns the two colours of a token, light and dark.
    fn token(name: &str) -> [[f64; 3]; 2] {
        let (_, rest) = STAFF_STYLE_TEXT.split_once(&format!("{name}:light-dark(")).unwrap();
        let mut colors = rest.split(')').next().unwrap().split(',').map(|color| {
            let digits = color.trim_start_matches('#');
            let part = |at: usize| f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0;
            [part(0), part(2), part(4)]
        });
        [colors.next().unwrap(), colors.next().unwrap()]
    }

    /// Returns the contrast of two colours, as WCAG defines it.
    fn contrast(text: [f64; 3], ground: [f64; 3]) -> f64 {
        let linear = |part: f64| if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) };
        let brightness =
            |[red, green, blue]: [f64; 3]| 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
        let (text, ground) = (brightness(text) + 0.05, brightness(ground) + 0.05);
        text.max(ground) / text.min(ground)
    }

    #[test]
    fn text_can_be_read_in_both_schemes() {
        let grounds = ["--bg", "--panel", "--sunken"];
        let texts = ["--ink", "--ink-2", "--ink-3", "--accent", "--run", "--ok", "--warn", "--bad", "--info"];
        let on_ground = texts.iter().flat_map(|text| grounds.map(|ground| (*text, ground, 4.5)));
        let on_own = [
            ("--accent-ink", "--accent", 4.5),
            ("--accent", "--accent-soft", 4.5),
            ("--run", "--run-soft", 4.5),
            ("--ok", "--ok-soft", 4.5),
            ("--warn", "--warn-soft", 4.5),
            ("--bad", "--bad-soft", 4.5),
            ("--bad-ink", "--bad", 4.5),
            ("--info", "--info-soft", 4.5),
            ("--panel", "--warn", 4.5),
            ("--bg", "--ink", 4.5),
            ("--edge", "--panel", 3.0),
            ("--edge", "--bg", 3.0),
        ];
        for (text, ground, least) in on_ground.chain(on_own) {
            for (above, below) in token(text).into_iter().zip(token(ground)) {
                let contrast = contrast(above, below);
                assert!(contrast >= least, "{text} on {ground}: {contrast:.2}");
            }
        }
    }

    /// Returns whether this text, which follows a number sign in a style, is a colour.
    fn is_color(text: &str) -> bool {
        let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
        [3, 4, 6, 8].contains(&end) && text[end..].starts_with([';', ',', ')', '}', ' '])
    }

    #[test]
    fn areas_take_their_colours_from_the_tokens() {
        assert!(is_color("fff;") && is_color("a1b2c3}") && !is_color("cards{") && !is_color("add-this,"));
        let of_floor = [include_str!("../staff/style/base.css"), include_str!("../staff/style/floor.css")];
        let cards = [COMFORTABLE_STYLE_TEXT, COMPACT_STYLE_TEXT, include_str!("list.css"), STAFF_AREAS_STYLE_TEXT];
        for style in of_floor.into_iter().chain(cards) {
            assert!(!style.contains("rgb(") && !style.contains("hsl("), "{style}");
            let colors: Vec<&str> = style.split('#').skip(1).filter(|text| is_color(text)).collect();
            assert!(colors.is_empty(), "{colors:?}");
        }
    }

    #[test]
    fn what_runs_is_blue_and_what_is_done_is_green() {
        let is_blue = |[red, green, blue]: [f64; 3]| blue > red && blue > green;
        let is_green = |[red, green, blue]: [f64; 3]| green > red && green > blue;
        assert!(token("--run").into_iter().all(is_blue) && token("--ok").into_iter().all(is_green));
    }

    #[test]
    fn cards_of_many_printers_are_compact_on_wide_screens_and_comfortable_on_others() {
        let style = staff_style();
        let (_, automatic) = style.split_once("@media(width>900px){").unwrap();
        let (wide, rest) = automatic.split_once("@media(width<=900px){").unwrap();
        let rules = |text: &str| text.matches('{').count();
        assert_eq!(rules(wide), rules(COMPACT_STYLE_TEXT));
        assert!(rest.starts_with(&COMFORTABLE_STYLE_TEXT.replace(".comfortable", ".auto")), "{rest}");
        for line in [COMPACT_STYLE_TEXT, COMFORTABLE_STYLE_TEXT].iter().flat_map(|text| text.lines()) {
            let is_rule = line.contains('{') && !line.starts_with("  ");
            assert!(!is_rule || line.contains(".compact") || line.contains(".comfortable"), "{line}");
        }
        // The rules of dense cards come after those of compact ones, and also apply on wide screens only.
        let (_, dense) = rest.split_once("@media(width>900px){").unwrap();
        assert!(dense.starts_with(DENSE_STYLE_TEXT), "{dense}");
        assert!(DENSE_STYLE_TEXT.lines().all(|line| !line.contains('{') || line.contains(".dense")), "{dense}");
    }

    #[test]
    fn an_asset_is_named_by_its_content() {
        let style =
            |text: &'static str| PageAsset::new("x", AssetKind::Style, Bytes::from_static(text.as_bytes())).path;
        assert_eq!(style(""), "/assets/x-e3b0c44298fc.css");
        assert_ne!(style("a{}"), style("b{}"));
    }

    #[test]
    fn the_style_loads_nothing_but_its_font() {
        for style in [&STAFF_STYLE, &SITE_STYLE] {
            let text = std::str::from_utf8(&style.content).unwrap();
            assert_eq!(text.matches("url(").count(), 1, "{text}");
            assert!(text.contains(&format!("url(\"{}\")", FONT.path)) && !text.contains("@import"), "{text}");
        }
    }

    #[test]
    fn an_asset_is_compressed_for_the_first_client_that_accepts_it() {
        let style = PageAsset::new("x", AssetKind::Style, Bytes::from_static(b"a{}"));
        let plain = style.response(&HeaderMap::new());
        assert!(!plain.headers().contains_key(header::CONTENT_ENCODING) && style.packed.get().is_none());
        let accepts: HeaderMap = [(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"))].into_iter().collect();
        let packed = style.response(&accepts);
        assert_eq!(packed.headers()[header::CONTENT_ENCODING], "gzip");
        assert!([plain, packed].iter().all(|response| response.headers()[header::VARY] == "Accept-Encoding"));
        let font = FONT.response(&accepts);
        assert!([header::CONTENT_ENCODING, header::VARY].iter().all(|name| !font.headers().contains_key(name)));
    }

    #[test]
    fn assets_are_small() {
        for asset in ALL {
            let sent = asset.packed().unwrap_or(&asset.content).len();
            let most = if asset.kind == AssetKind::Font { 50_000 } else { 20_000 };
            assert!(sent <= most, "{}: {sent}", asset.path);
        }
    }
}
