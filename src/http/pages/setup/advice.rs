//! Plain-language advice for services that fail with their current configuration.

use actors::app::service_tests::Service;

/// Substrings that identify network errors, with advice for each error.
const BY_SIGN: [(&[&str], &str); 8] = [
    (
        &["connection refused", "refused the connection"],
        "Nothing listens at that address and port. Is the service running, and is the port right? In a container, `localhost` is the container itself.",
    ),
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
        "It answers, but does not accept who asks. Copy user name, password or key again, without spaces around them.",
    ),
    (
        &["dns error", "failed to lookup", "name or service not known", "no address"],
        "The name of the machine is not known. Check it for typing mistakes, or use its IP address.",
    ),
    (
        &["does not exist", "no such database"],
        "The server answers, but what the address names is not there. Make it, or correct the name at the end of the address.",
    ),
    (
        &["certificate", "tls", "ssl"],
        "The connection cannot be made secure. Is it http:// instead of https://, or a certificate that nobody signed?",
    ),
    (
        &["no response within", "no answer within", "timed out", "timeout", "unreachable", "no route"],
        "The machine did not answer in time. Is it switched on and in the same network, and does a firewall between let the port through?",
    ),
    (
        &["not allowed"],
        "That address is none at which a service of a shop can be. Use the one that it has in your network.",
    ),
    (
        &["firmware does not"],
        "The web server of the printer runs, but its firmware is not connected to it. Look at the printer: switch it on, check its USB cable, and restart the firmware from its own page.",
    ),
];

/// Returns advice for a failed service, based on the network error if it is recognised, otherwise on the service.
pub(super) fn of(service: Service, message: &str, detail: &str) -> &'static str {
    let text = format!("{message} {detail}").to_lowercase();
    let has_sign = |signs: &[&str]| signs.iter().any(|sign| text.contains(sign));
    BY_SIGN.iter().find(|(signs, _)| has_sign(signs)).map_or_else(|| by_service(service), |(_, words)| *words)
}

const fn by_service(service: Service) -> &'static str {
    match service {
        Service::Database => {
            "The address has the form postgres://user:password@machine:5432/name. Leave it empty to begin with the built-in database."
        }
        Service::Redis => {
            "The address has the form redis://machine:6379, or redis://:password@machine:6379. Leave it empty to do without."
        }
        Service::Smtp => "Check server, port, user name and password in the settings of your mail account.",
        Service::Payments => {
            "Copy the keys again from the processor's page for developers; all three are of the same account."
        }
        Service::Printer => {
            "Open the address in a browser on this machine: the printer's own page must show. Is the type of the printer right, and its key?"
        }
        _ => {
            "Open the address in a browser on this machine: the page of that system must show. Then copy its key again."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_follows_what_is_wrong() {
        let refused = of(Service::Database, "x cannot be used", "Connection refused (os error 111)");
        assert!(refused.starts_with("Nothing listens"), "{refused}");
        let firmware = of(Service::Printer, "its server responds, but the printer's firmware does not", "");
        assert!(firmware.contains("restart the firmware"), "{firmware}");
        assert!(of(Service::Smtp, "it is odd", "").starts_with("Check server"));
    }

    #[test]
    fn there_is_advice_for_every_service() {
        for service in Service::OF_SETTINGS {
            assert!(of(service, "", "").ends_with('.'), "{}", service.word());
        }
    }
}
