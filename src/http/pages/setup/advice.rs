//! Plain-language advice for services that fail with their current configuration.

use super::WizardText;
use actors::app::service_tests::Service;
use words::Language;
use words::staff::setup_fields as texts;

/// Function that writes advice on a name.
type AdviceText = fn(Language, &str) -> String;

/// Substrings that identify network errors, with advice for each error.
const BY_SIGN: [(&[&str], WizardText); 8] = [
    (&["connection refused", "refused the connection"], texts::advice_refused),
    (
        &[
            "password authentication",
            "authentication failed",
            "wrongpass",
            "noauth",
            "unauthorized",
            "forbidden",
            "token",
            "rejects the key",
            "sign-in",
        ],
        texts::advice_credentials,
    ),
    (
        &["dns error", "failed to lookup", "name or service not known", "no address", "host name is unknown"],
        texts::advice_host,
    ),
    (&["does not exist", "no such database"], texts::advice_name),
    (&["certificate", "tls", "ssl"], texts::advice_tls),
    (
        &[
            "no response within",
            "no answer within",
            "respond in time",
            "connection in time",
            "timed out",
            "timeout",
            "unreachable",
            "no route",
        ],
        texts::advice_time,
    ),
    (&["not allowed"], texts::advice_address),
    (&["firmware does not"], texts::advice_firmware),
];

/// Returns advice for a failed service, based on the network error if it is recognised, otherwise on the service. The
/// messages are those in English.
pub(super) fn of(language: Language, service: Service, message: &str, detail: &str) -> String {
    let text = format!("{message} {detail}").to_lowercase();
    let has_sign = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    match BY_SIGN.iter().find(|(signs, _)| has_sign(signs)) {
        Some((_, advice)) => advice(language),
        None => by_service(language, service),
    }
}

fn by_service(language: Language, service: Service) -> String {
    match service {
        Service::Database => texts::advice_database(language),
        Service::Redis => texts::advice_redis(language),
        Service::Smtp => texts::advice_smtp(language),
        Service::Payments => texts::advice_payments(language),
        Service::Printer => texts::advice_printer(language),
        _ => texts::advice_other(language),
    }
}

/// Returns the message about the result of a test in another language than English; `None` for English, and for
/// messages that have no translation.
pub(super) fn result_text(language: Language, message: &str) -> Option<String> {
    if language.is_english() {
        return None;
    }
    let text: WizardText = match message {
        "it responds in time and accepts writes" => texts::result_works,
        "not configured: rate limits and the event stream stay in this process" => texts::result_memory,
        "the printer rejects the key" => texts::result_key,
        "the printer does not accept commands" => texts::result_read_only,
        "its server responds, but the printer's firmware does not" => texts::result_firmware,
        "the printer does not respond" => texts::result_silent,
        _ => return result_with_name(language, message),
    };
    Some(text(language))
}

fn result_with_name(language: Language, message: &str) -> Option<String> {
    let named: [(&str, AdviceText); 4] = [
        (" responds", texts::result_responds),
        (" does not exist yet; the next start creates it", texts::result_created),
        (" cannot be used", texts::result_unusable),
        (" accepts connections and the credentials", texts::result_smtp),
    ];
    named.into_iter().find_map(|(end, text)| {
        let name = message.strip_suffix(end).filter(|name| !name.is_empty() && !name.contains(' '))?;
        Some(text(language, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_follows_what_is_wrong() {
        let of = |service, message: &str, detail: &str| of(Language::English, service, message, detail);
        let refused = of(Service::Database, "x cannot be used", "Connection refused (os error 111)");
        assert!(refused.starts_with("Nothing is listening"), "{refused}");
        let firmware = of(Service::Printer, "its server responds, but the printer's firmware does not", "");
        assert!(firmware.contains("restart the firmware"), "{firmware}");
        assert!(of(Service::Smtp, "it is odd", "").starts_with("Check the server"));
    }

    #[test]
    fn there_is_advice_for_every_service() {
        for service in Service::OF_SETTINGS {
            for language in Language::ALL {
                assert!(of(language, service, "", "").ends_with('.'), "{}", service.word());
            }
        }
    }

    #[test]
    fn results_of_tests_are_translated() {
        let german = |message: &str| result_text(Language::German, message);
        assert_eq!(german("the printer rejects the key").as_deref(), Some("der Drucker lehnt den Schlüssel ab"));
        assert_eq!(german("Redis cannot be used").as_deref(), Some("Redis lässt sich nicht verwenden"));
        assert_eq!((german("it is odd"), german("the gateway responds; the token was not tested")), (None, None));
        assert_eq!(result_text(Language::English, "the printer rejects the key"), None);
    }
}
