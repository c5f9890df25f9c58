//! Effects of emails: hand each queued email to the email provider or the agent gateway, and combine pending alerts of
//! the same kind into one email.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use async_trait::async_trait;
use bytes::Bytes;
use dashmap::{DashMap, DashSet};
use futures::future::{BoxFuture, join_all};
use tokio::sync::Mutex;
use tokio::time::Instant;

use documents::mail::{LOGO_ID, Letter, MailFrame};
use domain::access::Access;
use domain::aggregate::Versioned;
use domain::id::Id;
use domain::invoice::DocumentKind;
use domain::mail::alert::{AlertDigest, AlertKind};
use domain::mail::part::{AttachedDocument, MailFact, MailLink, MailPart, plain};
use domain::mail::{Channel, Mail, MailCommand, MailState, SendMail, TryOutcome};
use domain::time::Timestamp;
use kernel::directory::Directory;
use kernel::effects::{Effects, report};
use kernel::environment::Environment;
use kernel::handle::Handle;
use platform::secrets::encryption::SecretCipher;
use services::mail::{MailError, MailFile, Mailer, Message};
use words::{Language, mails};

/// Maximum size of an attached PDF, in bytes. A larger PDF is available only through the link in the email, because
/// many mail servers reject large attachments.
const MAX_ATTACHED_BYTES: usize = 8 * 1024 * 1024;

/// Document attached to an email.
#[derive(Clone, Debug)]
pub struct EnclosedDocument {
    /// Document type.
    pub kind: DocumentKind,
    /// Human-readable document number.
    pub number: String,
    /// PDF of the document; `None` if PDFs are disabled in the settings.
    pub pdf: Option<Bytes>,
}

/// Source of the documents attached to emails, which are rendered when the email is sent.
pub trait DocumentSource: std::marker::Send + Sync {
    /// Returns the document; `None` if it does not exist or no longer exists. Fails if it cannot be rendered.
    fn enclosed(&self, which: AttachedDocument) -> BoxFuture<'_, Result<Option<EnclosedDocument>, String>>;
}

/// Record of when an email was last sent since the process started, and of how often emails were abandoned.
#[derive(Debug, Default)]
pub struct MailMeter {
    last_sent_at: ArcSwapOption<Timestamp>,
    undelivered_commits: AtomicI64,
}

impl MailMeter {
    /// Returns when an email was last accepted by the mail server or service, or written to the directory; `None` if
    /// none has been sent yet.
    pub fn last_sent_at(&self) -> Option<Timestamp> {
        self.last_sent_at.load().as_deref().copied()
    }

    /// Returns the number of commits since the process started that changed which emails are undelivered. They are not
    /// events of the shop.
    pub fn undelivered_commits(&self) -> i64 {
        self.undelivered_commits.load(Relaxed)
    }

    fn sent(&self, at: Timestamp) {
        self.last_sent_at.store(Some(Arc::new(at)));
    }
}

/// Content of a message, with the ID by which the mailer recognises duplicates.
struct MessageContent {
    id: String,
    written_at: Timestamp,
    to: Vec<String>,
    language: Language,
    subject: String,
    text: String,
    parts: Vec<MailPart>,
    link: Option<MailLink>,
}

/// Outcome of an email with alerts.
struct AlertsSent {
    /// Error if the email in any language failed.
    outcome: Result<(), MailError>,
    /// `true` if an email was sent in at least one language.
    any: bool,
}

/// Effects of emails, which send queued emails and combine alerts of the same kind.
pub struct MailEffects {
    /// Clock used to determine when the next attempt to send an email is due.
    pub environment: Arc<Environment>,
    /// Cipher that decrypts links that only the recipient may read.
    pub cipher: Arc<SecretCipher>,
    /// Transport for emails: a mail server, an email service or a directory.
    pub mailer: Arc<dyn Mailer>,
    /// Record of when an email was last sent.
    pub meter: Arc<MailMeter>,
    /// Email layout.
    pub frame: Arc<MailFrame>,
    /// Source of attached documents.
    pub documents: Arc<dyn DocumentSource>,
    /// Agent gateway; `None` if `AGENT_URL` is not set.
    pub agent: Option<Arc<dyn Mailer>>,
    /// All emails in memory, including the alerts to combine.
    pub mails: Directory<Mail>,
    /// Access aggregate, which lists the admins who receive alerts if `mail.operators` is empty.
    pub access: Directory<Access>,
    /// Minimum time between two emails about the same kind of alert; if zero, each alert is sent as a separate email.
    pub alert_interval: Duration,
    /// Time at which this process last sent an email about each kind of alert. Locked while such an email is being
    /// sent.
    pub last_alerts: DashMap<AlertKind, Arc<Mutex<Option<Instant>>>>,
    /// Pending alerts that this process has sent in one language, while the email in another one is repeated. They are
    /// recorded with each attempt. After a restart before that, the mail service recognises the repeat by its ID; a
    /// mail server sends it again.
    pub sent_alerts: DashSet<(Id, Language)>,
    /// `true` if the last attempt to send an email failed, so that a provider outage is logged only once.
    pub failing: AtomicBool,
}

#[async_trait]
impl Effects<Mail> for MailEffects {
    async fn run(&self, effect: SendMail, of: Handle<Mail>) {
        let state = of.read();
        let Some(mail) = &state.state else { return };
        self.environment.wait_until(effect.at, mail.longest_wait()).await;
        let sent = match mail.alert {
            // The agent gateway is a program and gets each alert by itself.
            Some(kind) if mail.channel == Channel::Mail && !self.alert_interval.is_zero() => {
                self.send_gathered(&of, kind, &mail.to).await;
                return;
            }
            Some(kind) if mail.channel == Channel::Mail => {
                self.send_alerts(kind, mail, std::slice::from_ref(mail)).await.outcome
            }
            _ => match self.link_of(mail) {
                Ok(link) => {
                    let (subject, text, parts) = (mail.subject.clone(), mail.text.clone(), mail.parts.clone());
                    let (id, written_at, language) = (mail.key(), mail.created_at, mail.language);
                    let to = mail.to.clone();
                    self.send(mail, MessageContent { id, written_at, to, language, subject, text, parts, link }).await
                }
                Err(error) => Err(error),
            },
        };
        let _ = report(&of, self.tried(mail.id, effect.number, &sent)).await;
    }

    fn committed(&self, _: &Handle<Mail>, state: &Arc<Versioned<Mail>>) {
        if state.state.as_ref().is_some_and(Mail::changes_undelivered) {
            self.meter.undelivered_commits.fetch_add(1, Relaxed);
        }
    }
}

impl MailEffects {
    /// Waits until the next email about the given kind of alert may be sent, and then sends all pending alerts of that
    /// kind for the same recipients together.
    async fn send_gathered(&self, of: &Handle<Mail>, kind: AlertKind, to: &[String]) {
        let gate = self.last_alerts.entry(kind).or_default().clone();
        let mut last = gate.lock().await;
        if let Some(last) = *last {
            tokio::time::sleep_until(last + self.alert_interval).await;
        }
        let alike = |mail: &Mail| {
            let same = mail.alert == Some(kind) && mail.channel == Channel::Mail && mail.to == to;
            same && mail.state == MailState::Queued
        };
        let waiting: Vec<Mail> =
            self.mails.all_resident().into_iter().filter_map(|(_, state)| state.state.clone()).filter(alike).collect();
        let Some(own) = waiting.iter().find(|mail| mail.id == of.id()) else {
            return; // was part of the mail before
        };
        let AlertsSent { outcome: sent, any } = self.send_alerts(kind, own, &waiting).await;
        // The interval also counts from an email in one language while that in another one fails.
        if any {
            *last = Some(Instant::now());
        }
        if sent.is_ok() {
            // Telling itself ends this task, so it comes last. A failure counts for this alert alone: the others have
            // tries of their own, and would be given up early by the failures of all.
            let others = waiting.iter().filter(|mail| mail.id != of.id()).filter_map(|mail| {
                let handle = self.mails.resident(mail.id)?;
                let tried = self.tried(mail.id, mail.tries + 1, &sent);
                Some(async move { report(&handle, tried).await })
            });
            join_all(others).await;
        }
        let _ = report(of, self.tried(own.id, own.tries + 1, &sent)).await;
    }

    /// Sends alerts of one kind to their recipients, as one email for each language that recipients read. If the email
    /// in one language fails, those in others are not repeated with it.
    async fn send_alerts(&self, kind: AlertKind, own: &Mail, alerts: &[Mail]) -> AlertsSent {
        // Entries of emails that are no longer pending are forgotten: their attempts are recorded.
        self.sent_alerts.retain(|(id, _)| self.mails.resident(*id).is_some_and(|mail| is_queued(&mail)));
        let groups = match self.receivers(own).await {
            Ok(groups) => groups,
            Err(error) => {
                self.note_failure(own, &error);
                return AlertsSent { outcome: Err(error), any: false };
            }
        };
        let mut sent = AlertsSent { outcome: Ok(()), any: false };
        for (language, to) in groups {
            let is_due =
                |alert: &&Mail| !self.sent_alerts.contains(&(alert.id, language)) && !alert.sent_in.contains(&language);
            let due: Vec<&Mail> = alerts.iter().filter(is_due).collect();
            let digest = AlertDigest::of(kind, language, due.iter().copied());
            let Some(AlertDigest { id, written_at, subject, text, link }) = digest else { continue };
            let parts = Vec::new();
            let content = MessageContent { id, written_at, to, language, subject, text, parts, link };
            match self.send(own, content).await {
                Ok(()) => {
                    sent.any = true;
                    for alert in due {
                        self.sent_alerts.insert((alert.id, language));
                    }
                }
                // As long as one of them may still succeed, all that failed are tried again.
                Err(error) if weight(&error) > sent.outcome.as_ref().err().map_or(0, weight) => {
                    sent.outcome = Err(error);
                }
                Err(_) => {}
            }
        }
        sent
    }

    /// Returns the link at the end of an email, decrypted if it is secret. If the email has expired, fails permanently
    /// even before the first attempt to send it, because the provider or this server may have been unavailable.
    fn link_of(&self, mail: &Mail) -> Result<Option<MailLink>, MailError> {
        if mail.useless_at.is_some_and(|at| self.environment.now() >= at) {
            return Err(MailError::Permanent { reason: "the link expired before the email could be sent".to_owned() });
        }
        let Some(sealed) = &mail.sealed_link else { return Ok(mail.link.clone()) };
        let url = self.cipher.decrypt(&sealed.encrypted_url);
        let url =
            url.map_err(|error| MailError::Permanent { reason: format!("the link cannot be decrypted: {error}") })?;
        Ok(Some(MailLink { label: sealed.label.clone(), url }))
    }

    /// Sends a message that carries `mail`. Its ID never changes, so that the provider recognises duplicates.
    async fn send(&self, mail: &Mail, words: MessageContent) -> Result<(), MailError> {
        let sent = match mail.channel {
            Channel::Mail => self.send_mail(mail, words).await,
            Channel::Agent => match &self.agent {
                Some(agent) => {
                    let message = Message {
                        written_at: words.written_at.jiff(),
                        to: Vec::new(),
                        text: plain(&words.text, &words.parts, words.link.as_ref()),
                        id: words.id,
                        subject: words.subject,
                        html: None,
                        files: Vec::new(),
                    };
                    agent.send(&message).await
                }
                None => Err(MailError::Permanent { reason: "the agent gateway is no longer configured".to_owned() }),
            },
        };
        match &sent {
            Ok(()) => {
                if mail.channel == Channel::Mail {
                    self.meter.sent(self.environment.now());
                }
                if self.failing.swap(false, Relaxed) {
                    tracing::info!("emails can be sent again");
                }
            }
            Err(error) => self.note_failure(mail, error),
        }
        sent
    }

    /// Logs that an email could not be sent, unless this is logged already.
    fn note_failure(&self, mail: &Mail, error: &MailError) {
        if !self.failing.swap(true, Relaxed) {
            tracing::warn!(mail = %mail.id, %error, "sending an email failed; further failures are not logged \
                 until an email is sent");
        }
    }

    /// Renders an email in its layout, with its attachments, and sends it.
    async fn send_mail(&self, mail: &Mail, mut words: MessageContent) -> Result<(), MailError> {
        let mut files: Vec<MailFile> = Vec::new();
        if let Some(logo) = self.frame.logo() {
            let (name, bytes) = (logo.name.to_owned(), logo.bytes.clone());
            files.push(MailFile { name, content_type: logo.content_type, bytes, shown_as: Some(LOGO_ID) });
        }
        if let Some(which) = mail.attached {
            let enclosed = self.documents.enclosed(which).await;
            if let Some(enclosed) = enclosed.map_err(|reason| MailError::Transient { reason })? {
                let label = match enclosed.kind {
                    DocumentKind::Invoice => mails::invoice_label(words.language),
                    DocumentKind::CreditNote => mails::credit_note_label(words.language),
                };
                words.parts.push(MailPart::Facts(vec![MailFact::new(&label, &enclosed.number)]));
                let pdf = enclosed.pdf.filter(|pdf| pdf.len() <= MAX_ATTACHED_BYTES);
                files.extend(pdf.map(|bytes| MailFile {
                    name: format!("{}.pdf", enclosed.number),
                    content_type: "application/pdf",
                    bytes,
                    shown_as: None,
                }));
            }
        }
        let letter = Letter {
            subject: &words.subject,
            text: &words.text,
            parts: &words.parts,
            link: words.link.as_ref(),
            language: words.language,
            to_staff: mail.alert.is_some(),
        };
        let message = Message {
            written_at: words.written_at.jiff(),
            to: words.to,
            html: Some(self.frame.html(&letter)),
            text: self.frame.text(&letter),
            id: words.id,
            subject: words.subject.clone(),
            files,
        };
        self.mailer.send(&message).await
    }

    /// Builds the command that records an attempt to send an email.
    fn tried(&self, id: Id, number: u32, sent: &Result<(), MailError>) -> MailCommand {
        let is_sent = |language: &Language| self.sent_alerts.contains(&(id, *language));
        let sent_in = Language::ALL.into_iter().filter(is_sent).collect();
        MailCommand::Tried { number, outcome: outcome(sent), sent_in }
    }

    /// Returns the recipients of an alert by the language that they read; the active admins if the alert names nobody.
    async fn receivers(&self, alert: &Mail) -> Result<Vec<(Language, Vec<String>)>, MailError> {
        let transient = |reason: String| MailError::Transient { reason };
        let access = match self.access.read(Id::ONLY).await {
            Ok(access) => access,
            // Addresses from the settings are written to even if nobody can say in which language.
            Err(_) if !alert.to.is_empty() => None,
            Err(error) => return Err(transient(error.to_string())),
        };
        let access = access.as_ref().and_then(|access| access.state.as_ref());
        let to = match access {
            Some(access) if alert.to.is_empty() => access.admin_emails(),
            _ => alert.to.clone(),
        };
        if to.is_empty() {
            let reason = "no recipients: mail.operators is empty and there is no active admin";
            return Err(transient(reason.to_owned()));
        }
        Ok(match access {
            Some(access) => access.group_by_language(&to),
            None => vec![(Language::English, to)],
        })
    }
}

fn is_queued(mail: &Handle<Mail>) -> bool {
    mail.read().state.as_ref().is_some_and(|mail| mail.state == MailState::Queued)
}

/// Returns how much an error counts among those of an alert in several languages.
fn weight(error: &MailError) -> u8 {
    match error {
        MailError::Permanent { .. } => 1,
        MailError::Rejected { .. } => 2,
        MailError::Transient { .. } | MailError::Settings { .. } => 3,
    }
}

/// Returns the outcome of an attempt, as it is recorded.
fn outcome(sent: &Result<(), MailError>) -> TryOutcome {
    let Err(error) = sent else { return TryOutcome::Sent };
    let reason = error.reason().to_owned();
    match error {
        MailError::Permanent { .. } => TryOutcome::Unsendable(reason),
        MailError::Rejected { .. } => TryOutcome::Rejected(reason),
        MailError::Transient { .. } | MailError::Settings { .. } => TryOutcome::Deferred(reason),
    }
}
