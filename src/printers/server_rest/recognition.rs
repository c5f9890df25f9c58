//! Recognises `OctoPrint` by its responses, whether or not it requires an API key.

use crate::probes::{PrinterIdentity, WebAnswer, WebProbe};

/// Ports of `OctoPrint` itself and of reverse proxies in front of it.
const PORTS: &[u16] = &[80, 443, 5000];

/// Probes for `OctoPrint`: the version endpoint for slicers, if it responds without a key; otherwise the sign-in page.
pub(super) const PROBES: &[WebProbe] = &[
    WebProbe { ports: PORTS, path: "/api/version", recognise: api },
    WebProbe { ports: PORTS, path: "/login/", recognise: page },
];

fn api(answer: &WebAnswer) -> Option<PrinterIdentity> {
    // Moonraker calls itself so as well, for the sake of slicers.
    let program = answer.program().filter(|text| text.starts_with("OctoPrint") && !text.contains("Moonraker"))?;
    Some(PrinterIdentity { evidence: format!("identifies itself as {program}"), ..PrinterIdentity::default() })
}

fn page(answer: &WebAnswer) -> Option<PrinterIdentity> {
    let title = answer.text.split_once("<title>")?.1.split_once("</title>")?.0;
    title.contains("OctoPrint").then(|| PrinterIdentity {
        evidence: "its sign-in page identifies it as OctoPrint, and it requires an API key".to_owned(),
        ..PrinterIdentity::default()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn it_is_known_by_what_only_it_says() {
        let answer = |text: &str| WebAnswer {
            status: 200,
            challenge: String::new(),
            json: json!({"api": "0.1", "text": text}),
            text: String::new(),
        };
        assert!(
            api(&answer("OctoPrint 1.11.8"))
                .is_some_and(|recognised| recognised.evidence.ends_with("OctoPrint 1.11.8"))
        );
        for other in ["OctoPrint (Moonraker v0.10.0)", "PrusaLink 0.7.2", "Printfloor (for OctoPrint)"] {
            assert_eq!(api(&answer(other)), None, "{other}");
        }
        let html =
            |text: &str| WebAnswer { status: 200, challenge: String::new(), json: Value::Null, text: text.to_owned() };
        assert!(page(&html("<html><head><title>OctoPrint Login</title>")).is_some());
        assert_eq!(page(&html("<title>Router</title> works with OctoPrint")), None);
    }
}
