//! Mail, payments, and the other services that are configured.

use std::time::Duration;

use super::report::Report;
use crate::config::Config;
use crate::services::http::{LanSettings, lan};
use crate::services::mail::{Encryption, Smtp, SmtpSettings};
use crate::services::redis::Redis;

/// Longest that one service is waited for.
const WITHIN: Duration = Duration::from_secs(10);

/// Checks all that are configured.
pub async fn check(report: &mut Report, config: &Config) {
    mail(report, config).await;
    payments(report, config);
    redis(report, config).await;
    answers(report, "parts", &config.parts.url, "PARTS_URL").await;
    answers(report, "agent", &config.agent.url, "AGENT_URL").await;
    if !config.agent.url.is_empty() && config.agent.token.is_empty() {
        report.wrong("agent", "AGENT_URL is set without AGENT_TOKEN", "set AGENT_TOKEN, or commands are answered 503");
    }
}

async fn mail(report: &mut Report, config: &Config) {
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
            timeout: WITHIN,
        });
        let checked = match smtp {
            Ok(smtp) => smtp.check().await,
            Err(error) => Err(error),
        };
        match checked {
            Ok(()) => report.fine("mail", format!("{place} accepts us")),
            Err(error) => {
                let mend = "are SMTP_HOST, SMTP_PORT, SMTP_USER and SMTP_PASS right, and is the port open from here?";
                report.wrong("mail", format!("{place}: {error}"), mend);
            }
        }
    } else if !mail.api_key.is_empty() {
        answers(report, "mail", &mail.api_url, "mail.api_url").await;
    } else {
        let folder = config.outbox_dir();
        report.note("mail", format!("nothing is sent: messages are written to {}", folder.display()));
    }
    if mail.operators.is_empty() {
        report.note("mail", "mail.operators is empty: nobody hears of low stock or disabled endpoints");
    }
}

fn payments(report: &mut Report, config: &Config) {
    let payments = &config.payments;
    match (payments.webhook_secret.is_empty(), payments.secret_key.is_empty()) {
        (false, _) => report.fine("payments", "events are accepted when signed with PAYMENT_WEBHOOK_SECRET"),
        (true, true) => {
            report.note("payments", "PAYMENT_WEBHOOK_SECRET is not set: payment events are answered 503");
        }
        (true, false) => report.wrong(
            "payments",
            "PAYMENT_SECRET_KEY is set without PAYMENT_WEBHOOK_SECRET: payments are made and never heard of",
            "set PAYMENT_WEBHOOK_SECRET to the signing secret that the processor shows for the webhook",
        ),
    }
}

async fn redis(report: &mut Report, config: &Config) {
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
        Ok(()) => report.fine("redis", "answers in time and takes writes"),
        Err(error) => {
            let mend = "is it running and reachable from here, and is REDIS_URL right? the server goes on without it";
            report.wrong("redis", error.to_string(), mend);
        }
    }
}

/// Something answers there; what it answers needs no rights.
async fn answers(report: &mut Report, what: &str, url: &str, setting: &str) {
    if url.is_empty() {
        return;
    }
    let client = match lan(&LanSettings { timeout: WITHIN, ..LanSettings::default() }) {
        Ok(client) => client,
        Err(error) => return report.wrong(what, error.to_string(), "install the system's certificates"),
    };
    match client.get(url).send().await {
        Ok(answer) if answer.status().is_server_error() => {
            let mend = format!("see the log of that service; is {setting} right?");
            report.wrong(what, format!("{url} answers {}", answer.status()), &mend);
        }
        Ok(_) => report.fine(what, format!("{url} answers")),
        Err(error) => {
            let mend = format!("is it running and reachable from here, and is {setting} right?");
            report.wrong(what, format!("{url}: {}", without_url(error)), &mend);
        }
    }
}

/// The error and its causes, without the address, which stands before it.
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
