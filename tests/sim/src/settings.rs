//! Settings for the simulated shop.

use std::path::Path;
use std::time::Duration;

use crate::spool_manager::SPOOLS_HOST;
use config::Config;
use config::sections::SignOffMode;
use config::values::Secret;

/// Secret used by the simulated payment processor to sign its events.
pub const PAYMENT_SECRET: &str = "whsec_simulated_payments_secret_0123456789";

/// Address to which alerts are sent.
const OPERATOR: &str = "staff@example.org";

/// Delays before the retries of a delivery, in seconds: short enough for a story to reach the last one.
pub const RETRY_SECONDS: [u64; 4] = [5, 30, 120, 600];
/// Maximum random delay added to each retry.
const RETRY_JITTER: Duration = Duration::from_secs(2);
/// Maximum number of replacement jobs for rejected parts of a line; more than a story needs.
const MAX_REPRINTS: u32 = 20;

/// Returns the default settings, with secrets, an operator and a seller, and perhaps a spool manager, for a server
/// whose files are in `folder`. PDFs and photos are off: both are made on threads.
pub fn settings(folder: &Path, sign_off_required: bool, has_spool_manager: bool) -> Config {
    let mut config = Config::default();
    folder.clone_into(&mut config.server.data_dir);
    config.auth.session_secret = Secret::new("simulated session secret of 32 bytes and more");
    config.auth.api_key_salt = Secret::new("simulated salt of 32 bytes and more, for keys");
    // 32 bytes of zeros.
    config.auth.secrets_key = Secret::new("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
    config.payments.webhook_secret = Secret::new(PAYMENT_SECRET);
    config.mail.operators = vec![OPERATOR.to_owned()];
    "Simulated Parts".clone_into(&mut config.invoices.seller_name);
    "1 Main Street".clone_into(&mut config.invoices.seller_line1);
    "Springfield".clone_into(&mut config.invoices.seller_city);
    "US".clone_into(&mut config.invoices.seller_country);
    let retries = RETRY_SECONDS.into_iter().map(|seconds| Duration::from_secs(seconds).into());
    config.webhooks.retry_schedule_seconds = retries.collect();
    config.webhooks.retry_jitter_seconds = RETRY_JITTER.into();
    config.quality.max_reprints = MAX_REPRINTS;
    if sign_off_required {
        config.quality.sign_off = SignOffMode::Required;
    }
    if has_spool_manager {
        config.spools.url = format!("https://{SPOOLS_HOST}");
    }
    config.pdf.enabled = false;
    config.printers.finish_photos = false;
    config
}
