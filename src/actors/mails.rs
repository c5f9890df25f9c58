//! Effects of mails: hand each queued mail to the mail provider or to the agent gateway.

use std::sync::Arc;

use async_trait::async_trait;

use crate::actors::kernel::directory::ASK_TIMEOUT;
use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::environment::Environment;
use crate::actors::kernel::handle::Handle;
use crate::domain::mail::{Channel, Mail, MailCommand, Send};
use crate::services::mail::{MailError, Mailer, Message};

/// Sends mails.
pub struct MailEffects {
    /// The clock that a mail's next try is due by.
    pub environment: Arc<Environment>,
    /// The mail provider.
    pub mailer: Arc<dyn Mailer>,
    /// The agent gateway; `None` when `AGENT_URL` is not set.
    pub agent: Option<Arc<dyn Mailer>>,
}

#[async_trait]
impl Effects<Mail> for MailEffects {
    async fn run(&self, effect: Send, of: Handle<Mail>) {
        self.environment.wait_until(effect.at).await;
        let state = of.read();
        let Some(mail) = &state.state else { return };
        let message = Message {
            id: mail.id.to_string(),
            written_at: mail.created_at.jiff(),
            to: mail.to.clone(),
            subject: mail.subject.clone(),
            text: mail.text.clone(),
        };
        let way = match mail.channel {
            Channel::Mail => Some(&self.mailer),
            Channel::Agent => self.agent.as_ref(),
        };
        let sent = match way {
            Some(way) => way.send(&message).await,
            None => Err(MailError::Permanent { reason: "there is no agent gateway any more".to_owned() }),
        };
        let (error, permanent) = match sent {
            Ok(()) => (None, false),
            Err(error) => {
                tracing::warn!(mail = %mail.id, %error, "mail not taken");
                (Some(error.to_string()), matches!(error, MailError::Permanent { .. }))
            }
        };
        let tried = MailCommand::Tried { number: effect.number, error, permanent };
        if let Err(error) = of.ask(CommandOrigin::system(), tried, ASK_TIMEOUT).await {
            tracing::debug!(mail = %of.id(), %error, "try not noted");
        }
    }
}
