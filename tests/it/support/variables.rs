//! Environment variables of the processes that tests start.

use std::ffi::OsString;

/// Variable for every process of a test's server that disables transparent huge pages from the first allocation on. The
/// server disables them by itself at start-up; in the command-line tools, zeroing them took a seventh of a test's CPU
/// time.
const NO_HUGE_PAGES: (&str, &str) = ("MIMALLOC_ALLOW_THP", "0");
/// Environment variable with the path of the file of trusted certificates. `scripts/test` names one with a single
/// certificate, because each HTTP client of a server reads all of them when it is created, and no test calls a server
/// that they certify.
const CERTIFICATES: &str = "SSL_CERT_FILE";

/// Returns the environment variables for every process of a test's server.
pub fn process_variables() -> impl Iterator<Item = (&'static str, OsString)> {
    let (name, setting) = NO_HUGE_PAGES;
    let certificates = std::env::var_os(CERTIFICATES).map(|file| (CERTIFICATES, file));
    std::iter::once((name, OsString::from(setting))).chain(certificates)
}
