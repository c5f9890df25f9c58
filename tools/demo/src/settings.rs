//! Environment variables of the demo's server, which contain the demo's settings but none of a real shop's.

use std::ffi::OsString;

use simulator::peers::all::AllPeers;

use super::floor::DemoFloor;
use super::folder::DemoState;

/// Variables that the server inherits, to find programs, certificates, time zones and the directory for temporary
/// files. All others are removed, so that the demo never touches a real shop.
const INHERITED: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "TZ",
    "TZDIR",
    "TMPDIR",
    "TERM",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "RUST_BACKTRACE",
];
/// Log setting prefix. The server inherits only settings with this prefix.
const LOG_PREFIX: &str = "PRINTFLOOR_LOG__";
/// Filter for log lines. Shop events are excluded, because the demo prints them itself.
const LOG_FILTER: &str = "warn,sqlx=error,sea_orm=error,platform::observe::story=off";

/// Settings shared by all demos.
const SETTINGS: [(&str, &str); 17] = [
    ("PRINTFLOOR_LOG__FILTER", LOG_FILTER),
    ("PRINTFLOOR_LOG__FORMAT", "text"),
    ("PRINTFLOOR_SERVER__SHUTDOWN_TIMEOUT_SECONDS", "10"),
    ("PRINTFLOOR_WEBHOOKS__ALLOW_PRIVATE_TARGETS", "true"),
    ("PRINTFLOOR_INVOICES__SELLER_NAME", "Printfloor Demo Shop"),
    ("PRINTFLOOR_INVOICES__SELLER_LINE1", "1 Demo Street"),
    ("PRINTFLOOR_INVOICES__SELLER_POSTAL_CODE", "80331"),
    ("PRINTFLOOR_INVOICES__SELLER_CITY", "Munich"),
    ("PRINTFLOOR_INVOICES__SELLER_COUNTRY", "DE"),
    ("PRINTFLOOR_INVOICES__SELLER_VAT_ID", "DE123456789"),
    // One client plays all customers, staff and services.
    ("PRINTFLOOR_LIMITS__STAFF_REQUESTS_PER_MINUTE", "1000000"),
    // Simulated prints take seconds, so a start that fails is to be noticed as fast.
    ("PRINTFLOOR_DISPATCH__CONFIRM_SECONDS", "10"),
    ("PRINTFLOOR_PRINTERS__POLL_INTERVAL_SECONDS", "0.5"),
    ("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS", "4"),
    ("PRINTFLOOR_FAILURE_DETECTION__LOOK_INTERVAL_SECONDS", "1"),
    // So is a promise made in seconds.
    ("PRINTFLOOR_FORECAST__STARTING_SECONDS", "2"),
    ("PRINTFLOOR_FORECAST__LEAST_MARGIN_SECONDS", "12"),
];

/// Returns the environment of the server process. Inherited log settings override those of the demo.
pub fn environment(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    memory: &DemoState,
    floor: &DemoFloor,
    peers: &AllPeers,
) -> Vec<(OsString, OsString)> {
    let own = [
        ("PRINTFLOOR_PAYMENTS__WEBHOOK_SECRET", memory.payment_secret.clone()),
        ("PRINTFLOOR_PAYMENTS__SECRET_KEY", floor.payment_key.clone()),
        ("PRINTFLOOR_PAYMENTS__API_BASE", floor.processor.url()),
    ];
    let own = own.into_iter().chain(peers.variables());
    all(inherited, own.map(|(name, value)| (name.into(), value.into())))
}

/// Combines the variables; if a name occurs more than once, the last value applies.
fn all(
    inherited: impl IntoIterator<Item = (OsString, OsString)>,
    own: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let is_inherited =
        |name: &OsString| name.to_str().is_some_and(|name| INHERITED.contains(&name) || name.starts_with(LOG_PREFIX));
    let settings = SETTINGS.map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let inherited = inherited.into_iter().filter(|(name, _)| is_inherited(name));
    settings.into_iter().chain(inherited).chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_environment_only_the_machine_and_the_log_are_taken() {
        let inherited = [
            ("PATH", "/bin"),
            ("DATABASE_URL", "postgres://shop"),
            ("PRINTFLOOR_MAIL__SMTP_HOST", "mail.shop.example"),
            ("PRINTFLOOR_LOG__FILTER", "debug"),
        ];
        let inherited = inherited.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let all = all(inherited, std::iter::empty());
        let last =
            |name: &str| all.iter().rev().find(|(variable, _)| variable == name).and_then(|(_, value)| value.to_str());
        assert_eq!((last("PATH"), last("PRINTFLOOR_LOG__FILTER")), (Some("/bin"), Some("debug")));
        assert_eq!((last("DATABASE_URL"), last("PRINTFLOOR_MAIL__SMTP_HOST")), (None, None));
        assert_eq!(last("PRINTFLOOR_PRINTERS__OFFLINE_SECONDS"), Some("4"));
    }
}
