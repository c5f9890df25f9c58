//! Checks email, payments and the other configured services.

use std::time::Duration;

use super::report::CheckReport;
use crate::app::service_tests::{self, Service, ServiceTest};
use crate::app::storage::{bucket, check_files_storage};
use crate::config::Config;
use crate::documents::Renderer;
use crate::services::mail::{Smtp, SmtpSettings};
use crate::services::object_storage::StorageError;
use crate::services::redis::Redis;
use crate::services::slicer::{SliceError, Slicer, SlicerSettings, profile};

/// Advice if the bucket for files cannot be used.
const FILES_ADVICE: &str = "are files.dir and the endpoint, region and keys of object_storage correct, may the key store, \
                            read, list and delete objects, and can this server reach the service?";
/// Maximum time to wait for a service's response.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// Checks all services in the settings.
pub async fn check(report: &mut CheckReport, config: &Config) {
    mail(report, config).await;
    payments(report, config).await;
    documents(report, config).await;
    files(report, config).await;
    slicer(report, config).await;
    redis(report, config).await;
    others(report, config).await;
}

async fn mail(report: &mut CheckReport, config: &Config) {
    let mail = &config.mail;
    if let Some(settings) = SmtpSettings::of(config, CHECK_TIMEOUT) {
        let place = format!("{}:{}", settings.host, settings.port);
        let smtp = Smtp::new(settings);
        let checked = match smtp {
            Ok(smtp) => smtp.check().await,
            Err(error) => Err(error),
        };
        match checked {
            Ok(()) => report.fine("mail", format!("{place} accepts connections and the credentials")),
            Err(error) => {
                let advice =
                    "are SMTP_HOST, SMTP_PORT, SMTP_USER and SMTP_PASS correct, and can this server reach the port?";
                report.wrong("mail", format!("{place}: {error}"), advice);
            }
        }
    } else if mail.api_key.is_empty() {
        let folder = config.outbox_dir();
        report.note(
            "mail",
            format!("no mail server is configured; emails are not sent but written to {}", folder.display()),
        );
    }
    if mail.operators.is_empty() {
        report.fine("mail", "alerts, such as low stock, go to the active admins, because mail.operators is empty");
    }
}

async fn payments(report: &mut CheckReport, config: &Config) {
    let payments = &config.payments;
    match (payments.webhook_secret.is_empty(), payments.secret_key.is_empty()) {
        (false, true) => {
            report.fine("payments", "payment events signed with PAYMENT_WEBHOOK_SECRET are accepted");
            report
                .note("payments", "PAYMENT_SECRET_KEY is not set: orders cannot be paid through the payment processor");
        }
        (false, false) => {
            let ServiceTest { ok, message, .. } = service_tests::test(config, Service::Payments).await;
            if ok {
                report.fine("payments", message);
            } else {
                let advice = "is PAYMENT_SECRET_KEY correct, and can this server reach payments.api_base?";
                report.wrong("payments", message, advice);
            }
        }
        (true, true) => {
            report.note(
                "payments",
                "PAYMENT_WEBHOOK_SECRET is not set: payment events are rejected with 503, so they cannot mark orders \
                 as paid",
            );
        }
        (true, false) => report.wrong(
            "payments",
            "PAYMENT_SECRET_KEY is set without PAYMENT_WEBHOOK_SECRET: customers could pay, but the server would not \
             be notified",
            "set PAYMENT_WEBHOOK_SECRET to the webhook's signing secret at the processor",
        ),
    }
}

/// Checks the seller details for invoices, the PDF renderer and the PDF bucket, if one is configured.
async fn documents(report: &mut CheckReport, config: &Config) {
    // What the seller lacks is among the notes on the settings.
    if config.rules().seller_gaps().is_empty() {
        let seller = &config.invoices;
        let words = format!("issued by {}, {}, {}", seller.seller_name, seller.seller_city, seller.seller_country);
        report.fine("invoices", words);
    }
    if config.pdf.enabled {
        match Renderer::new(&config.pdf) {
            Ok(renderer) => fonts(report, &renderer),
            Err(error) => {
                let advice = "choose another pdf.logo_file (PNG, or JPEG in RGB or grey) or other pdf.fonts";
                report.wrong("documents", error.to_string(), advice);
            }
        }
    }
    let probed = match bucket(config) {
        Ok(None) => return,
        Ok(Some(storage)) => storage.probe().await.map_err(|error| (error.to_string(), error)),
        Err(error) => return report.wrong("storage", error.to_string(), "are the settings of object_storage correct?"),
    };
    let name = &config.object_storage.bucket;
    match probed {
        Ok(()) => report.fine("storage", format!("the storage service responds for the bucket {name}")),
        Err((words, StorageError::Denied(_))) => report.note(
            "storage",
            format!(
                "{words}; this is fine if the key may store objects but not list them; it is a problem if storing PDFs \
                 fails"
            ),
        ),
        Err((words, _)) => {
            let advice =
                "are the bucket, endpoint, region and keys of object_storage correct, and can this server reach it?";
            report.wrong("storage", words, advice);
        }
    }
}

/// Checks that the bucket for files can be read and written, if files are in one. Leaves nothing in it.
async fn files(report: &mut CheckReport, config: &Config) {
    let Some(place) = config.files_bucket() else { return };
    match check_files_storage(config).await {
        Ok(()) => report.fine("files", format!("files can be stored in {place}, read, listed and deleted")),
        Err(error) => report.wrong("files", error.to_string(), FILES_ADVICE),
    }
}

/// Reports which scripts can be printed on invoices and labels.
fn fonts(report: &mut CheckReport, renderer: &Renderer) {
    let lacking = renderer.scripts_without_fonts();
    if lacking.is_empty() {
        return report.fine("fonts", "fonts for all common scripts are available");
    }
    let words = format!(
        "no font for {}; names in that script are printed as ?; install the Noto fonts (Debian: fonts-noto-cjk, \
         fonts-noto-core), or set others in pdf.fonts",
        lacking.join(", ")
    );
    report.note("fonts", words);
}

/// Checks the slicer. The slicer is optional: it is needed only for SKUs with a model but no G-code.
async fn slicer(report: &mut CheckReport, config: &Config) {
    let settings = SlicerSettings::of(config);
    let names = profile::names(&settings.profiles).await;
    let folder = settings.profiles.display().to_string();
    // The directory of the runs belongs to the server.
    let work = std::env::temp_dir().join(format!("printfloor-check-{}", std::process::id()));
    let outcome = match Slicer::new(SlicerSettings { work: work.clone(), ..settings }) {
        Ok(slicer) => slicer.version().await,
        Err(error) => Err(error.into()),
    };
    let _ = std::fs::remove_dir_all(work);
    match outcome {
        Ok(version) => report.fine("slicer", format!("{version}, {} profiles in {folder}", names.len())),
        Err(SliceError::Absent(words)) => {
            report.note(
                "slicer",
                format!("{words}; jobs for SKUs with a model but no G-code file are on hold until it works"),
            );
        }
        Err(error) => report.wrong("slicer", error.to_string(), "is slicing.program correct?"),
    }
}

async fn redis(report: &mut CheckReport, config: &Config) {
    let settings = &config.redis;
    if settings.url.is_empty() {
        return;
    }
    let redis = Redis::new(settings.url.expose(), settings.timeout_seconds.duration(), settings.stream_max_entries);
    let tried = match redis {
        Ok(redis) => redis.check().await,
        Err(error) => Err(error),
    };
    match tried {
        Ok(()) => report.fine("redis", "responds in time and accepts writes"),
        Err(error) => {
            let advice = "is Redis running and reachable from here, and is REDIS_URL correct? the server works \
                          without it in the meantime";
            report.wrong("redis", error.to_string(), advice);
        }
    }
}

/// Checks the shop's other systems concurrently.
async fn others(report: &mut CheckReport, config: &Config) {
    let services = Service::INTEGRATIONS.into_iter().chain([Service::Email]);
    let configured = services.filter(|service| service.is_configured(config));
    for ServiceTest { service, ok, message, detail, .. } in service_tests::test_all(config, configured).await {
        let (what, detail) = (service.word(), detail.map(|detail| format!(" ({detail})")).unwrap_or_default());
        if ok {
            report.fine(what, message);
        } else {
            let advice =
                "are its URL and token correct, and can this server reach it? `printfloor config --set` shows both";
            report.wrong(what, format!("{message}{detail}"), advice);
        }
    }
}
