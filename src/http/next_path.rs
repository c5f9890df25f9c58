//! Redirect target after sign-in, which can only be a path on this server.

use url::Url;

/// Maximum length of the path, in characters.
pub const MAX_NEXT_CHARS: usize = 2000;

/// Returns the path (with query and fragment) given in `next` if it is on the same origin as `base`; `None` otherwise.
/// Browsers resolve `//host`, `/\host` and variants with tabs or line breaks to another host. Such paths are rejected,
/// as is any path that a second round of decoding would turn into one.
pub fn own_path(base: &str, next: &str) -> Option<String> {
    let suspicious = |c: char| c.is_control() || c == '\\' || c.is_whitespace();
    if next.chars().count() > MAX_NEXT_CHARS || next.contains(suspicious) {
        return None;
    }
    let rest = next.strip_prefix('/')?;
    if ["/", "%2f", "%2F", "%5c", "%5C"].iter().any(|slash| rest.starts_with(slash)) {
        return None;
    }
    let base = Url::parse(base).ok()?;
    let url = base.join(next).ok().filter(|url| url.origin() == base.origin())?;
    // Dots may have brought a second slash to the front.
    let path = url[url::Position::BeforePath..].to_owned();
    (path.starts_with('/') && !path.starts_with("//")).then_some(path)
}

/// Adds an error code to the given path's query.
pub fn with_error(base: &str, path: &str, word: &str) -> String {
    let Some(mut url) = Url::parse(base).ok().and_then(|base| base.join(path).ok()) else {
        return format!("/?error={word}");
    };
    url.query_pairs_mut().append_pair("error", word);
    url[url::Position::BeforePath..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://shop.example";

    #[test]
    fn paths_of_this_origin_are_kept() {
        for path in ["/", "/orders", "/orders?status=paid&limit=5#last", "/a/b-c_d~e", "/orders/%C3%A9"] {
            assert_eq!(own_path(BASE, path).as_deref(), Some(path));
        }
        assert_eq!(own_path(BASE, "/a/../b").as_deref(), Some("/b"));
    }

    #[test]
    fn nothing_leads_to_another_origin_or_into_a_header() {
        for next in [
            "",
            "orders",
            "https://evil.example/",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "/%2fevil.example",
            "/%2Fevil.example",
            "/%5cevil.example",
            "%2F%2Fevil.example",
            "/\t/evil.example",
            "/\n/evil.example",
            "/a\r\nSet-Cookie: a=1",
            "/a b",
            "javascript:alert(1)",
            "/./\\evil.example",
            "/.//evil.example",
            "/a/..//evil.example",
            " //evil.example",
        ] {
            assert_eq!(own_path(BASE, next), None, "{next:?}");
        }
        assert_eq!(own_path(BASE, &format!("/{}", "a".repeat(MAX_NEXT_CHARS))), None);
    }

    #[test]
    fn the_reason_joins_the_query() {
        assert_eq!(with_error(BASE, "/", "gone"), "/?error=gone");
        assert_eq!(with_error(BASE, "/orders?a=1#x", "gone"), "/orders?a=1&error=gone#x");
    }
}
