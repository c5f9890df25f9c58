//! Kinds of network errors. The errors of HTTP clients and sockets name their layers and error numbers; people are
//! shown the kind, and the log has the rest.

use std::error::Error;
use std::io;

use crate::http::BlockedHost;

/// Beginning of a resolver's message for an unknown name, for which the standard library has no error kind.
const UNKNOWN_NAME_WORDS: &str = "failed to lookup address";

/// Kind of a network error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NetworkFault {
    /// The address is not allowed; contains the message.
    Denied(String),
    /// Nothing accepts connections at the address.
    Refused,
    /// The other side closed the connection, or it broke.
    Closed,
    /// The other side did not respond in time.
    TimedOut,
    /// The host name has no address.
    UnknownName,
    /// The TLS handshake failed, usually because of the certificate.
    Tls,
    /// There is no route to the address.
    NoRoute,
    /// The request was not sent, because it could not be built.
    Request,
    /// Any other error.
    Other,
}

impl NetworkFault {
    /// Returns the kind of an error, which may be a cause of it.
    pub fn of(error: &(dyn Error + 'static)) -> Self {
        if let Some(blocked) = causes(error).find_map(|cause| cause.downcast_ref::<BlockedHost>()) {
            return Self::Denied(blocked.to_string());
        }
        if causes(error).any(<dyn Error>::is::<rustls::Error>) {
            return Self::Tls;
        }
        let request = error.downcast_ref::<reqwest::Error>();
        match request {
            Some(request) if request.is_timeout() => return Self::TimedOut,
            Some(request) if request.is_dns() => return Self::UnknownName,
            Some(request) if request.is_builder() => return Self::Request,
            _ => {}
        }
        let kind = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>()).find_map(of_system);
        // A request that broke off after it was sent.
        let is_broken = request.is_some_and(|request| !request.is_connect());
        kind.unwrap_or(if is_broken { Self::Closed } else { Self::Other })
    }
}

/// Returns the kind of an operating system error; `None` if it is none of the network.
fn of_system(error: &io::Error) -> Option<NetworkFault> {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(NetworkFault::Refused),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::NotConnected
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => Some(NetworkFault::Closed),
        io::ErrorKind::TimedOut => Some(NetworkFault::TimedOut),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => Some(NetworkFault::NoRoute),
        io::ErrorKind::NotFound => Some(NetworkFault::UnknownName),
        _ if error.to_string().starts_with(UNKNOWN_NAME_WORDS) => Some(NetworkFault::UnknownName),
        _ => None,
    }
}

/// Formats an error with its causes, for the log. The outermost message of an HTTP client's error contains little
/// information.
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

/// Iterates over the error and all its causes. An I/O error does not return the error that it contains as its source.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        match inner {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_sockets_are_told_apart_by_their_kind() {
        let of = |number| NetworkFault::of(&io::Error::from_raw_os_error(number));
        assert_eq!((of(111), of(104), of(32)), (NetworkFault::Refused, NetworkFault::Closed, NetworkFault::Closed));
        assert_eq!((of(110), of(113), of(101)), (NetworkFault::TimedOut, NetworkFault::NoRoute, NetworkFault::NoRoute));
        assert_eq!(of(28), NetworkFault::Other, "the disk is full");
        let lookup = "failed to lookup address information: Name or service not known";
        assert_eq!(NetworkFault::of(&io::Error::other(lookup)), NetworkFault::UnknownName);
        let empty = io::Error::new(io::ErrorKind::UnexpectedEof, "early eof");
        assert_eq!(NetworkFault::of(&empty), NetworkFault::Closed);
    }

    #[test]
    fn an_error_is_found_within_others() {
        let tls = || rustls::Error::General("no such certificate".to_owned());
        let nested = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, tls()));
        assert_eq!(NetworkFault::of(&nested), NetworkFault::Tls);
        let blocked = BlockedHost { range: "cloud metadata" };
        let denied = NetworkFault::of(&io::Error::other(blocked));
        assert_eq!(denied, NetworkFault::Denied("the host's address is not allowed: cloud metadata".to_owned()));
        let refused = io::Error::other(io::Error::from_raw_os_error(111));
        assert_eq!(NetworkFault::of(&refused), NetworkFault::Refused);
    }
}
