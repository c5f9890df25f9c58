//! Recognises Moonraker by its responses, whether or not it requires an API key.

use crate::probes::{PrinterIdentity, WebAnswer, WebProbe};

/// Probes for Moonraker: its own API on its own port, and the API for slicers behind a web front end.
pub(super) const PROBES: &[WebProbe] = &[
    WebProbe { ports: &[7125], path: "/server/info", recognise: api },
    WebProbe { ports: &[80, 443], path: "/api/version", recognise: facade },
];

fn recognised(evidence: String) -> PrinterIdentity {
    PrinterIdentity { evidence, ..PrinterIdentity::default() }
}

fn api(answer: &WebAnswer) -> Option<PrinterIdentity> {
    if answer.status == 401 {
        // The one shape of its errors.
        let refused = answer.json.pointer("/error/code")?.as_u64() == Some(401);
        return refused.then(|| recognised("responds as Moonraker and requires an API key".to_owned()));
    }
    let version = answer.text_at("/result/moonraker_version")?;
    let state = answer.text_at("/result/klippy_state")?;
    Some(recognised(format!("identifies itself as Moonraker {version} with Klipper in the state {state}")))
}

fn facade(answer: &WebAnswer) -> Option<PrinterIdentity> {
    let program = answer.program().filter(|program| program.contains("Moonraker"))?;
    Some(recognised(format!("identifies itself as {program}")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn answer(status: u16, json: Value) -> WebAnswer {
        WebAnswer { status, challenge: String::new(), text: json.to_string(), json }
    }

    #[test]
    fn it_is_known_by_what_only_it_says() {
        let info =
            json!({"result": {"klippy_connected": true, "klippy_state": "ready", "moonraker_version": "v0.9.3"}});
        let evidence = api(&answer(200, info)).map(|recognised| recognised.evidence);
        assert_eq!(evidence.as_deref(), Some("identifies itself as Moonraker v0.9.3 with Klipper in the state ready"));
        let locked = json!({"error": {"code": 401, "message": "Unauthorized"}});
        assert!(
            api(&answer(401, locked.clone()))
                .is_some_and(|recognised| recognised.evidence.contains("requires an API key"))
        );
        for (status, other) in [(200, json!({})), (200, Value::Null), (401, json!({"error": "no"})), (404, locked)] {
            assert_eq!(api(&answer(status, other.clone())), None, "{status} {other}");
        }
        assert!(facade(&answer(200, json!({"text": "OctoPrint (Moonraker v0.10.0)"}))).is_some());
        assert_eq!(facade(&answer(200, json!({"text": "OctoPrint 1.11.8"}))), None);
    }
}
