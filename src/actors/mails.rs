//! What mails want of the outside: to be taken by the provider.

use crate::actors::kernel::directory::WITHIN;
use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::handle::Handle;
use crate::app::AppRef;
use crate::domain::mail::{Channel, Mail, MailCommand, Send};
use crate::services::mail::{MailError, Mailer, Message};
use async_trait::async_trait;
use std::sync::Arc;

/// The outside of mails.
pub struct MailWorld {
    /// For the clock.
    pub shop: AppRef,
    /// The provider.
    pub mailer: Arc<dyn Mailer>,
    /// The agent gateway, where there is one.
    pub agent: Option<Arc<dyn Mailer>>,
}

#[async_trait]
impl Effects<Mail> for MailWorld {
    async fn run(&self, want: Send, of: Handle<Mail>) {
        let Some(shop) = self.shop.get() else { return };
        shop.environment.wait_until(want.at).await;
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
        let tried = MailCommand::Tried { number: want.number, error, permanent };
        if let Err(error) = of.ask(CommandOrigin::system(), tried, WITHIN).await {
            tracing::debug!(mail = %of.id(), %error, "try not noted");
        }
    }
}
