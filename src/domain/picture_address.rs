//! Validation of image addresses that customers' browsers load.

use url::Url;

use crate::id::Id;

/// Returns whether the text is an image address: the ID of an uploaded file, a web address (`http`, `https`), or a path
/// on the shop's own site. Anything else, such as `javascript:` or `data:`, is rejected.
pub fn is_picture_address(text: &str) -> bool {
    if text.parse::<Id>().is_ok() {
        return true;
    }
    let is_odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
    if text.contains(is_odd) {
        return false;
    }
    let web = ["https://", "http://"];
    let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    if web.iter().any(|scheme| begins(scheme)) {
        return Url::parse(text).is_ok_and(|url| url.has_host());
    }
    // A path, and no other scheme: that would end at a colon before the first slash.
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    !text.is_empty() && !first.contains(':') && !text.starts_with("//")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_web_addresses_paths_and_files_are_pictures() {
        let fine = [
            "https://cdn.example/a.png",
            "HTTP://cdn.example/a%20b.png?x=1",
            "/pictures/a.png",
            "a.png",
            "01890a5d-ac96-774b-bcce-b302099a8064",
        ];
        for text in fine {
            assert!(is_picture_address(text), "{text}");
        }
        let refused = [
            "javascript:alert(1)",
            " javascript:alert(1)",
            "java\tscript:alert(1)",
            "JAVASCRIPT://example.com/%0aalert(1)",
            "data:image/svg+xml,<svg onload=alert(1)>",
            "vbscript:x",
            "file:///etc/passwd",
            "//evil.example/a.png",
            "/\\evil.example/a.png",
            "https://",
            "https://exa mple/a.png",
            "",
        ];
        for text in refused {
            assert!(!is_picture_address(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_a_browser_runs_is_never_a_picture(scheme in "(?i)(javascript|data|vbscript|blob)", rest in ".{0,40}") {
            let text = format!("{scheme}:{rest}");
            prop_assert!(!is_picture_address(&text));
        }
    }
}
