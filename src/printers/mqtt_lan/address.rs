//! Printer address: `mqtts://host[:port][?ftps=port]`. Real printers use the default ports.

use reqwest::Url;
use url::Host;

use crate::adapter_parts::MakeError;
use domain::printer::denied_host;

/// Default port of the printer's broker.
pub(super) const MQTT_PORT: u16 = 8883;
/// Default port of the printer's file server.
const FTPS_PORT: u16 = 990;

/// Address of one printer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct MqttLanAddress {
    host: Host,
    /// Broker port.
    pub(super) mqtt: u16,
    /// File server port.
    pub(super) ftps: u16,
}

impl MqttLanAddress {
    /// Parses the address entered by an operator. The scheme defaults to `mqtts`.
    pub(super) fn read(text: &str) -> Result<Self, MakeError> {
        let text = text.trim();
        let bad = |why: &str| MakeError::BadAddress(format!("base url {text:?}: {why}"));
        let whole = if text.contains("://") { text.to_owned() } else { format!("mqtts://{text}") };
        let url = Url::parse(&whole).map_err(|error| bad(&error.to_string()))?;
        if url.scheme() != "mqtts" {
            return Err(bad("the scheme must be mqtts, as in mqtts://192.168.1.20"));
        }
        // Only web addresses have their hosts read; an unknown scheme leaves them as they are written.
        let rest = url.as_str().strip_prefix("mqtts").unwrap_or_default();
        let read = Url::parse(&format!("http{rest}")).map_err(|error| bad(&error.to_string()))?;
        if let Some(range) = denied_host(&read) {
            return Err(bad(&format!("{range} is not the address of a printer")));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(MakeError::BadAddress(
                "base url: must not contain a user name or password, because it is displayed and logged".to_owned(),
            ));
        }
        let host = match read.host() {
            Some(Host::Domain(name)) if !name.is_empty() => Host::Domain(name.to_owned()),
            Some(Host::Ipv4(ip)) => Host::Ipv4(ip),
            Some(Host::Ipv6(ip)) => Host::Ipv6(ip),
            _ => return Err(bad("the host is missing")),
        };
        let mut ftps = FTPS_PORT;
        for (name, value) in url.query_pairs() {
            if name != "ftps" {
                return Err(bad("only ftps=PORT is allowed after the question mark"));
            }
            ftps = value.parse().ok().filter(|port| *port > 0).ok_or_else(|| bad("ftps must be a port"))?;
        }
        Ok(Self { host, mqtt: url.port().unwrap_or(MQTT_PORT), ftps })
    }

    /// Returns the host to connect to.
    pub(super) fn host(&self) -> Host<&str> {
        match &self.host {
            Host::Domain(name) => Host::Domain(name.as_str()),
            Host::Ipv4(ip) => Host::Ipv4(*ip),
            Host::Ipv6(ip) => Host::Ipv6(*ip),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn ports_are_the_usual_ones_unless_they_are_said() {
        let read = |text: &str| MqttLanAddress::read(text).map(|at| (at.host.to_string(), at.mqtt, at.ftps)).unwrap();
        assert_eq!(read("mqtts://192.168.1.20"), ("192.168.1.20".to_owned(), 8883, 990));
        assert_eq!(read(" 192.168.1.20 "), ("192.168.1.20".to_owned(), 8883, 990));
        assert_eq!(read("mqtts://printer.lan:18883?ftps=1990"), ("printer.lan".to_owned(), 18883, 1990));
        assert_eq!(read("mqtts://127.0.0.1:1/?ftps=2"), ("127.0.0.1".to_owned(), 1, 2));
        assert_eq!(read("mqtts://[fd00::7]:1"), ("[fd00::7]".to_owned(), 1, 990));
        assert!(matches!(MqttLanAddress::read("mqtts://127.0.0.1").unwrap().host(), Host::Ipv4(_)));
    }

    #[test]
    fn what_is_no_address_of_such_a_printer_is_refused() {
        for text in [
            "http://192.168.1.20",
            "mqtts://",
            "mqtts://u:p@host",
            "mqtts://host?ftp=1",
            "mqtts://host?ftps=0",
            "mqtts://host?ftps=99999",
            "mqtts://169.254.169.254",
        ] {
            assert!(matches!(MqttLanAddress::read(text), Err(MakeError::BadAddress(_))), "{text}");
        }
    }
}
