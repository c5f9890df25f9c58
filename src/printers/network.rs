//! Reasons for broken connections to printers, as short sentences. The full errors are in the log.

use std::error::Error;
use std::io;

use crate::error::PrinterError;
use platform::io_words::io_words;
use platform::network_fault::{NetworkFault, chain};

/// Returns the error for a connection that could not be opened, so that nothing was sent.
pub(crate) fn unreachable(error: &(dyn Error + 'static)) -> PrinterError {
    PrinterError::Unreachable(reason(error))
}

/// Returns the error for a connection that broke when something might have been sent.
pub(crate) fn lost(error: &(dyn Error + 'static)) -> PrinterError {
    let reason = reason(error);
    PrinterError::Lost(match NetworkFault::of(error) {
        // That it is lost says it all.
        NetworkFault::Closed => String::new(),
        _ => reason,
    })
}

/// Returns the reason for a broken connection as a sentence about the printer, and logs the error and its causes.
pub(crate) fn reason(error: &(dyn Error + 'static)) -> String {
    tracing::debug!(error = chain(error), "a connection to a printer failed");
    let words = match NetworkFault::of(error) {
        NetworkFault::Refused => "the printer refused the connection",
        NetworkFault::Closed => "the printer closed the connection",
        NetworkFault::TimedOut => "the printer did not accept a connection in time",
        NetworkFault::UnknownName => "the printer's host name is unknown",
        NetworkFault::Tls => "the TLS connection to the printer failed",
        NetworkFault::NoRoute => "there is no route to the printer",
        NetworkFault::Denied(words) => return words,
        NetworkFault::Request | NetworkFault::Other => {
            let system = error.downcast_ref::<io::Error>();
            return system.map_or_else(|| error.to_string(), io_words);
        }
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_sentences_without_error_numbers() {
        let system = io::Error::from_raw_os_error;
        let texts = |number| (unreachable(&system(number)).to_string(), lost(&system(number)).to_string());
        let (refused, lost_by_refusal) = texts(111);
        assert_eq!(refused, "the printer refused the connection");
        assert_eq!(lost_by_refusal, "the connection to the printer was lost: the printer refused the connection");
        let (closed, reset) = texts(104);
        assert_eq!(closed, "the printer closed the connection");
        assert_eq!(reset, "the connection to the printer was lost");
        for number in [5, 13, 32, 101, 104, 110, 111, 113] {
            let (unreachable, lost) = texts(number);
            assert!(!unreachable.contains("os error") && !lost.contains("os error"), "{unreachable}; {lost}");
        }
        assert!(texts(5).0.starts_with("the printer cannot be reached: "), "{}", texts(5).0);
    }
}
