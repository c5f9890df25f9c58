//! Variables of the processes that tests start.

use std::ffi::OsString;

/// Variable that every process of a test's server gets: it takes no transparent huge pages, from its first allocation
/// on. A server refuses them by itself at its start; for the tools beside it, zeroing them took a seventh of a test's
/// processor time.
const NO_HUGE_PAGES: (&str, &str) = ("MIMALLOC_ALLOW_THP", "0");
/// Variable with the file of the certificates that clients trust. `scripts/test` names one with a single certificate:
/// each HTTP client of a server reads all of them when it is made, and no test calls a server that they vouch for.
const CERTIFICATES: &str = "SSL_CERT_FILE";

/// Returns the variables that every process of a test's server gets.
pub fn process_variables() -> impl Iterator<Item = (&'static str, OsString)> {
    let (name, setting) = NO_HUGE_PAGES;
    let certificates = std::env::var_os(CERTIFICATES).map(|file| (CERTIFICATES, file));
    std::iter::once((name, OsString::from(setting))).chain(certificates)
}
