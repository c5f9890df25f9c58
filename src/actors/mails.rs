//! Effects of mails: hand each queued mail to the mail provider or to the agent gateway. Alerts of one kind that wait
//! at the same time go out as one mail.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use async_trait::async_trait;
use dashmap::DashMap;
use futures::future::join_all;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::actors::kernel::directory::Directory;
use crate::actors::kernel::effects::{Effects, report};
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::handle::Handle;
use crate::domain::access::Access;
use crate::domain::id::Id;
use crate::domain::mail::alert::{AlertKind, Link, gathered, html, plain};
use crate::domain::mail::{Channel, Mail, MailCommand, MailState, Send};
use crate::services::mail::{MailError, Mailer, Message};

/// Sends each queued mail, and alerts of one kind together.
pub struct MailEffects {
    /// The clock that a mail's next try is due by.
    pub environment: Arc<Environment>,
    /// Takes mails: a mail server, a mail service, or a folder.
    pub mailer: Arc<dyn Mailer>,
    /// The agent gateway; `None` when `AGENT_URL` is not set.
    pub agent: Option<Arc<dyn Mailer>>,
    /// All mails in memory, among which alerts are gathered.
    pub mails: Directory<Mail>,
    /// Knows the admins, who get alerts when `mail.operators` is empty.
    pub access: Directory<Access>,
    /// Shortest time between two mails of one kind of alert; zero: each alert is a mail of its own.
    pub alert_interval: Duration,
    /// For each kind of alert, when the last mail of it went out in this process. Locked while one is being sent.
    pub last_alerts: DashMap<AlertKind, Arc<Mutex<Option<Instant>>>>,
    /// Whether the last try of any mail failed, so that an outage of the provider is one line in the log.
    pub failing: AtomicBool,
}

#[async_trait]
impl Effects<Mail> for MailEffects {
    async fn run(&self, effect: Send, of: Handle<Mail>) {
        let state = of.read();
        let Some(mail) = &state.state else { return };
        self.environment.wait_until(effect.at, mail.longest_wait()).await;
        match mail.alert {
            // The agent gateway is a program and gets each alert by itself.
            Some(kind) if mail.channel == Channel::Mail && !self.alert_interval.is_zero() => {
                self.send_gathered(&of, kind).await;
            }
            _ => {
                let text = (mail.subject.clone(), mail.text.clone(), mail.link.clone());
                let sent = self.send(mail, mail.id, text).await;
                let _ = report(&of, tried(effect.number, &sent)).await;
            }
        }
    }
}

impl MailEffects {
    /// Waits until a mail of this kind may go out again, and then sends all alerts of the kind that wait as one.
    async fn send_gathered(&self, of: &Handle<Mail>, kind: AlertKind) {
        let gate = self.last_alerts.entry(kind).or_default().clone();
        let mut last = gate.lock().await;
        if let Some(last) = *last {
            tokio::time::sleep_until(last + self.alert_interval).await;
        }
        let alike =
            |mail: &Mail| mail.alert == Some(kind) && mail.channel == Channel::Mail && mail.state == MailState::Queued;
        let mut waiting: Vec<Mail> =
            self.mails.all_resident().into_iter().filter_map(|(_, state)| state.state.clone()).filter(alike).collect();
        waiting.sort_by_key(|mail| (mail.created_at, mail.id));
        if !waiting.iter().any(|mail| mail.id == of.id()) {
            return; // was part of the mail before
        }
        let Some(first) = waiting.first() else { return };
        let text = gathered(kind, &waiting.iter().collect::<Vec<_>>());
        let sent = self.send(first, first.id, text).await;
        if sent.is_ok() {
            *last = Some(Instant::now());
            // Telling itself ends this task, so it comes last. A failure counts for this alert alone: the others have
            // tries of their own, and would be given up early by the failures of all.
            let others = waiting.iter().filter(|mail| mail.id != of.id()).filter_map(|mail| {
                let handle = self.mails.resident(mail.id)?;
                let tried = tried(mail.tries + 1, &sent);
                Some(async move { report(&handle, tried).await })
            });
            join_all(others).await;
        }
        if let Some(own) = waiting.iter().find(|mail| mail.id == of.id()) {
            let _ = report(of, tried(own.tries + 1, &sent)).await;
        }
    }

    /// Hands one message over. `id` names it for ever, so that a provider recognises a repeat.
    async fn send(
        &self,
        mail: &Mail,
        id: Id,
        (subject, text, link): (String, String, Option<Link>),
    ) -> Result<(), MailError> {
        let sent = match mail.channel {
            Channel::Mail => match self.receivers(mail).await {
                Ok(to) => {
                    let message = Message {
                        id: id.to_string(),
                        written_at: mail.created_at.jiff(),
                        to,
                        subject,
                        html: Some(html(&text, link.as_ref())),
                        text: plain(&text, link.as_ref()),
                    };
                    self.mailer.send(&message).await
                }
                Err(error) => Err(error),
            },
            Channel::Agent => match &self.agent {
                Some(agent) => {
                    let text = plain(&text, link.as_ref());
                    let (id, written_at) = (id.to_string(), mail.created_at.jiff());
                    agent.send(&Message { id, written_at, to: Vec::new(), subject, text, html: None }).await
                }
                None => Err(MailError::Permanent { reason: "no agent gateway is configured any more".to_owned() }),
            },
        };
        match &sent {
            Ok(()) => {
                if self.failing.swap(false, Relaxed) {
                    tracing::info!("mail goes out again");
                }
            }
            Err(error) => {
                if !self.failing.swap(true, Relaxed) {
                    tracing::warn!(mail = %mail.id, %error, "a mail was not sent; told once until one is sent again");
                }
            }
        }
        sent
    }

    /// The mail's own receivers; those of an alert without any are the active admins.
    async fn receivers(&self, mail: &Mail) -> Result<Vec<String>, MailError> {
        if !mail.to.is_empty() || mail.alert.is_none() {
            return Ok(mail.to.clone());
        }
        let transient = |reason: String| MailError::Transient { reason };
        let access = self.access.read(Id::ONLY).await.map_err(|error| transient(error.to_string()))?;
        let admins = access.as_ref().and_then(|access| access.state.as_ref()).map(Access::admin_emails);
        admins
            .filter(|admins| !admins.is_empty())
            .ok_or_else(|| transient("nobody to tell: mail.operators is empty and there is no active admin".to_owned()))
    }
}

fn tried(number: u32, sent: &Result<(), MailError>) -> MailCommand {
    MailCommand::Tried {
        number,
        error: sent.as_ref().err().map(ToString::to_string),
        permanent: matches!(sent, Err(MailError::Permanent { .. })),
    }
}
