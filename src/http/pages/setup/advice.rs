//! Plain-language advice for services that fail with their current configuration.

use actors::app::service_tests::Service;

/// Substrings that identify network errors, with advice for each error.
const BY_SIGN: [(&[&str], &str); 8] = [
    (
        &["connection refused", "refused the connection"],
        "Nothing is listening at that address and port. Check that the service is running and the port is right. In a container, `localhost` is the container itself.",
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
        "The service responded but rejected the credentials. Copy the user name, password or key again, without spaces around them.",
    ),
    (
        &["dns error", "failed to lookup", "name or service not known", "no address"],
        "The host name can't be resolved. Check it for typing mistakes, or use the IP address.",
    ),
    (
        &["does not exist", "no such database"],
        "The server responded, but the name at the end of the address doesn't exist there. Create it, or correct the name.",
    ),
    (
        &["certificate", "tls", "ssl"],
        "The secure connection failed. Check whether the address must begin with http:// instead of https://, and whether the certificate is self-signed.",
    ),
    (
        &["no response within", "no answer within", "timed out", "timeout", "unreachable", "no route"],
        "The machine didn't respond in time. Check that it is switched on and on the same network, and that no firewall blocks the port.",
    ),
    (&["not allowed"], "A service can't use that address. Enter its address in your network."),
    (
        &["firmware does not"],
        "The printer's web server is running, but its firmware isn't connected. Switch the printer on, check its USB cable, and restart the firmware from the printer's web page.",
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
            "The address has the form postgres://user:password@machine:5432/name. Leave it empty to use the built-in database."
        }
        Service::Redis => {
            "The address has the form redis://machine:6379, or redis://:password@machine:6379. Leave it empty to run without Redis."
        }
        Service::Smtp => "Check the server, port, user name and password in the settings of your email account.",
        Service::Payments => {
            "Copy the keys again from the processor's developer page. All three must belong to the same account."
        }
        Service::Printer => {
            "Open the address in a browser on this server. If the printer's web page opens, check the printer type and its key."
        }
        _ => "Open the address in a browser on this server. If the system's web page opens, copy its key again.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_follows_what_is_wrong() {
        let refused = of(Service::Database, "x cannot be used", "Connection refused (os error 111)");
        assert!(refused.starts_with("Nothing is listening"), "{refused}");
        let firmware = of(Service::Printer, "its server responds, but the printer's firmware does not", "");
        assert!(firmware.contains("restart the firmware"), "{firmware}");
        assert!(of(Service::Smtp, "it is odd", "").starts_with("Check the server"));
    }

    #[test]
    fn there_is_advice_for_every_service() {
        for service in Service::OF_SETTINGS {
            assert!(of(service, "", "").ends_with('.'), "{}", service.word());
        }
    }
}
