//! Checks mail, payments and the other configured services.

use std::time::Duration;

use super::report::CheckReport;
use crate::config::Config;
use crate::services::http::{LanSettings, lan};
use crate::services::mail::{Encryption, Smtp, SmtpSettings};
use crate::services::redis::Redis;
use crate::services::slicer::{SliceError, Slicer, SlicerSettings, profile};

/// Longest time for the answer of one service.
const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

/// Checks all services that the settings name.
pub async fn check(report: &mut CheckReport, config: &Config) {
    mail(report, config).await;
    payments(report, config);
    slicer(report, config).await;
    redis(report, config).await;
    answers(report, "parts", &config.parts.url, "PARTS_URL").await;
    answers(report, "spools", &config.spools.url, "SPOOLS_URL").await;
    answers(report, "agent", &config.agent.url, "AGENT_URL").await;
    if !config.agent.url.is_empty() && config.agent.token.is_empty() {
        report.wrong(
            "agent",
            "AGENT_URL is set without AGENT_TOKEN",
            "set AGENT_TOKEN; without it, commands from the gateway are answered 503",
        );
    }
}

async fn mail(report: &mut CheckReport, config: &Config) {
    let mail = &config.mail;
    if !mail.smtp_host.is_empty() {
        let credentials =
            (!mail.smtp_user.is_empty()).then(|| (mail.smtp_user.clone(), mail.smtp_password.expose().to_owned()));
        let place = format!("{}:{}", mail.smtp_host, mail.smtp_port);
        let smtp = Smtp::new(SmtpSettings {
            host: mail.smtp_host.clone(),
            port: mail.smtp_port,
            encryption: Encryption::for_port(mail.smtp_port),
            credentials,
            from: mail.from.clone(),
            timeout: CHECK_TIMEOUT,
        });
        let checked = match smtp {
            Ok(smtp) => smtp.check().await,
            Err(error) => Err(error),
        };
        match checked {
            Ok(()) => report.fine("mail", format!("{place} accepts connections and the sign-in")),
            Err(error) => {
                let advice =
                    "are SMTP_HOST, SMTP_PORT, SMTP_USER and SMTP_PASS right, and can this machine reach the port?";
                report.wrong("mail", format!("{place}: {error}"), advice);
            }
        }
    } else if !mail.api_key.is_empty() {
        answers(report, "mail", &mail.api_url, "mail.api_url").await;
    } else {
        let folder = config.outbox_dir();
        report.note(
            "mail",
            format!("no mail server is configured: mails are not sent but written to {}", folder.display()),
        );
    }
    if mail.operators.is_empty() {
        report.note("mail", "mail.operators is empty: nobody is told about low stock or disabled webhook endpoints");
    }
}

fn payments(report: &mut CheckReport, config: &Config) {
    let payments = &config.payments;
    match (payments.webhook_secret.is_empty(), payments.secret_key.is_empty()) {
        (false, _) => report.fine("payments", "payment events signed with PAYMENT_WEBHOOK_SECRET are accepted"),
        (true, true) => {
            report.note("payments", "PAYMENT_WEBHOOK_SECRET is not set: payment events are answered 503, so no order becomes paid by them");
        }
        (true, false) => report.wrong(
            "payments",
            "PAYMENT_SECRET_KEY is set without PAYMENT_WEBHOOK_SECRET: customers could pay, but the server would not learn of it",
            "set PAYMENT_WEBHOOK_SECRET to the signing secret that the processor shows for the webhook",
        ),
    }
}

/// The slicer may be missing: only SKUs with a model and without G-code need it.
async fn slicer(report: &mut CheckReport, config: &Config) {
    let settings = config.slicer_settings();
    let names = profile::names(&settings.profiles).await;
    let folder = settings.profiles.display().to_string();
    // The folder of the runs belongs to the server.
    let work = std::env::temp_dir().join(format!("printfloor-check-{}", std::process::id()));
    let said = match Slicer::new(SlicerSettings { work: work.clone(), ..settings }) {
        Ok(slicer) => slicer.version().await,
        Err(error) => Err(error.into()),
    };
    let _ = std::fs::remove_dir_all(work);
    match said {
        Ok(version) => report.fine("slicer", format!("{version}, {} profiles in {folder}", names.len())),
        Err(SliceError::Absent(words)) => {
            report.note("slicer", format!("{words}; SKUs with a model and no G-code file wait for it"));
        }
        Err(error) => report.wrong("slicer", error.to_string(), "is slicing.program right?"),
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
        Ok(()) => report.fine("redis", "answers in time and accepts writes"),
        Err(error) => {
            let advice = "is Redis running and reachable from here, and is REDIS_URL right? meanwhile, the server works without it";
            report.wrong("redis", error.to_string(), advice);
        }
    }
}

/// Checks that a web service answers at an address. Any answer but a server error will do, since none is authorised.
async fn answers(report: &mut CheckReport, what: &str, url: &str, setting: &str) {
    if url.is_empty() {
        return;
    }
    let client = match lan(&LanSettings { timeout: CHECK_TIMEOUT, ..LanSettings::default() }) {
        Ok(client) => client,
        Err(error) => return report.wrong(what, error.to_string(), "install the system's certificates"),
    };
    match client.get(url).send().await {
        Ok(answer) if answer.status().is_server_error() => {
            let advice = format!("read the log of that service; is {setting} right?");
            report.wrong(what, format!("{url} answers {}", answer.status()), &advice);
        }
        Ok(_) => report.fine(what, format!("{url} answers")),
        Err(error) => {
            let advice = format!("is the service running and reachable from here, and is {setting} right?");
            report.wrong(what, format!("{url}: {}", without_url(error)), &advice);
        }
    }
}

/// The error and its causes, without the address, which the report names already.
fn without_url(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}
