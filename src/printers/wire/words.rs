//! Extracts a human-readable message from a printer's error response. Pure.

use reqwest::StatusCode;
use serde_json::Value;

/// Maximum length of the text taken from an error response that is not JSON, in characters.
const MAX_WORDS_CHARS: usize = 300;

/// Extracts the printer's message from an error response: `{"error": {"message": text, "traceback": text}}`, `{"error":
/// text}`, `{"title": text, "text": text}`, or the plain text; for an HTML page, only its status.
pub(super) fn words(answer: Option<&Value>, body: &[u8], status: StatusCode) -> String {
    let reason = answer.and_then(|json| {
        let Some(error) = json.get("error") else { return titled(json) };
        let message = error.as_str().or_else(|| error.get("message")?.as_str())?;
        // A message of several lines is no reason phrase of HTTP: it then stands in the traceback only, as what uploads
        // and deletions refuse always does.
        let bare = message == "Unknown" || Some(message) == status.canonical_reason();
        let inner = error.get("traceback").and_then(Value::as_str).filter(|_| bare).and_then(raised);
        Some(inner.unwrap_or_else(|| message.to_owned()))
    });
    let text = reason.unwrap_or_else(|| String::from_utf8_lossy(body).trim().to_owned());
    let text: String = text.chars().take(MAX_WORDS_CHARS).collect();
    if text.is_empty() || text.starts_with('<') { status.to_string() } else { text }
}

/// Returns the message from `{"title": text, "text": text}`: the text or, if there is none, the title.
fn titled(json: &Value) -> Option<String> {
    let words = ["text", "title"].into_iter().filter_map(|member| json.get(member)?.as_str());
    words.map(str::trim).find(|words| !words.is_empty()).map(str::to_owned)
}

/// Extracts the exception message from a Python traceback: the text after the exception's name, with its lines joined.
fn raised(traceback: &str) -> Option<String> {
    let last = traceback.rsplit("Traceback (most recent call last):").next()?;
    let mut lines = last.lines().skip_while(|line| line.trim().is_empty() || line.starts_with(' '));
    let (_, first) = lines.next()?.split_once(": ")?;
    let text = std::iter::once(first).chain(lines).map(str::trim).filter(|line| !line.is_empty());
    let text = text.collect::<Vec<_>>().join(" ");
    // `HTTP 403: Forbidden (File is loaded)`: what is in the brackets.
    let inner = text.strip_prefix("HTTP ").and_then(|rest| rest.split_once(" (")?.1.strip_suffix(')'));
    Some(inner.unwrap_or(&text).to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn errors_of_several_lines_are_told_from_the_traceback() {
        let text_of = |status: u16, message: &str, traceback: &str| {
            let body = json!({"error": {"code": status, "message": message, "traceback": traceback}});
            words(Some(&body), b"{}", StatusCode::from_u16(status).unwrap_or_default())
        };
        let frames =
            "Traceback (most recent call last):\n\n  File \"application.py\", line 734, in _process\n    await x()\n\n";
        let shutdown = format!(
            "{frames}moonraker.utils.exceptions.ServerError: Lost communication with MCU 'mcu'\nOnce the underlying issue is corrected,\n\nPrinter is shutdown\n"
        );
        assert_eq!(
            text_of(400, "Unknown", &shutdown),
            "Lost communication with MCU 'mcu' Once the underlying issue is corrected, Printer is shutdown"
        );
        let loaded =
            format!("{frames}tornado.web.HTTPError: HTTP 403: Forbidden (File is loaded, upload not permitted)\n");
        assert_eq!(text_of(403, "Forbidden", &loaded), "File is loaded, upload not permitted");
        assert_eq!(text_of(400, "SD busy", &loaded), "SD busy", "a message of its own");
        assert_eq!(text_of(400, "Unknown", "…"), "Unknown");
    }

    #[test]
    fn a_page_is_never_passed_on() {
        let page = b"<html><head><title>502 Bad Gateway</title></head></html>";
        assert_eq!(words(None, page, StatusCode::BAD_GATEWAY), "502 Bad Gateway");
        assert_eq!(words(None, b"", StatusCode::BAD_GATEWAY), "502 Bad Gateway");
        assert_eq!(words(Some(&json!({"error": "no"})), b"", StatusCode::CONFLICT), "no");
        let answer = json!({"title": "Conflict", "text": "a transfer is under way"});
        assert_eq!(words(Some(&answer), b"{}", StatusCode::CONFLICT), "a transfer is under way");
        assert_eq!(words(Some(&json!({"title": "Conflict", "text": ""})), b"{}", StatusCode::CONFLICT), "Conflict");
    }
}
