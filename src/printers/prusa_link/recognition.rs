//! Recognises `PrusaLink` by its responses, whether or not it requires an API key.

use crate::probes::{PrinterIdentity, WebAnswer, WebProbe};

/// Probe for `PrusaLink`: its version endpoint.
pub(super) const PROBES: &[WebProbe] = &[WebProbe { ports: &[80, 443], path: "/api/version", recognise: api }];

/// Authentication realm of printers whose own firmware includes `PrusaLink`.
const REALM: &str = "realm=\"Printer API\"";

fn api(answer: &WebAnswer) -> Option<PrinterIdentity> {
    let program = answer.program().filter(|text| text.starts_with("PrusaLink"));
    let evidence = match program {
        Some(program) => format!("identifies itself as {program}"),
        None if answer.status == 401 && answer.challenge.contains(REALM) => {
            "requires a key or password, as PrusaLink does".to_owned()
        }
        None => return None,
    };
    let name = answer.text_at("/hostname").filter(|_| answer.status == 200).map(str::to_owned);
    Some(PrinterIdentity { name, evidence, ..PrinterIdentity::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn it_is_known_by_what_only_it_says() {
        let answer = |json: Value| WebAnswer { status: 200, challenge: String::new(), json, text: String::new() };
        let recognised = api(&answer(json!({"text": "PrusaLink 0.8.1", "hostname": "mk4-left"})));
        assert!(recognised.is_some_and(|recognised| recognised.name.as_deref() == Some("mk4-left")));
        assert_eq!(api(&answer(json!({"text": "OctoPrint 1.11.8"}))), None);
        let challenged = |realm: &str| WebAnswer {
            status: 401,
            challenge: format!("Digest realm=\"{realm}\", nonce=\"1\""),
            json: Value::Null,
            text: String::new(),
        };
        assert!(api(&challenged("Printer API")).is_some());
        assert_eq!(api(&challenged("router")), None);
    }
}
