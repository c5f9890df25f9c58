//! A mail to be sent. It is made in the commit that causes it, so that none is lost, and sent by an effect until the
//! provider takes it or it is given up.

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext, NewAggregate};
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;

/// Number of tries before a mail is given up: about two days with the delays of [`retry_ms`].
pub const MAX_TRIES: u32 = 12;

/// How far the sending of a mail is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailState {
    /// Waiting to be sent.
    Queued,
    /// Accepted by the provider.
    Sent,
    /// Given up: refused for good, or tried too often.
    Failed,
}

/// The channel by which a message goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// E-mail.
    #[default]
    Mail,
    /// The agent gateway (`AGENT_URL`), which knows its own receivers.
    Agent,
}

/// A mail, or a message to the agent gateway.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mail {
    /// Identifier; also the `Message-ID`, so that a mail sent twice is recognised.
    pub id: Id,
    /// The channel by which it goes.
    #[serde(default)]
    pub channel: Channel,
    /// E-mail addresses of the receivers; empty for the agent gateway.
    pub to: Vec<String>,
    /// Subject line.
    pub subject: String,
    /// Body, plain text.
    pub text: String,
    /// Where it stands.
    pub state: MailState,
    /// Number of tries made.
    pub tries: u32,
    /// When the next try is due.
    pub next_at: Timestamp,
    /// The provider's answer to the last failed try; `None` if none failed.
    pub error: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl Mail {
    /// A mail that is due now.
    pub fn new(cx: &DecisionContext<'_>, to: Vec<String>, subject: String, text: String) -> Self {
        Self {
            id: cx.ids.id(),
            channel: Channel::Mail,
            to,
            subject,
            text,
            state: MailState::Queued,
            tries: 0,
            next_at: cx.now,
            error: None,
            created_at: cx.now,
        }
    }

    /// One message to the operators for each configured channel: mail, agent gateway, or none.
    pub fn to_operators(cx: &DecisionContext<'_>, subject: &str, text: &str) -> Vec<Self> {
        let to = cx.rules.operator_mail.clone();
        let mail = (!to.is_empty()).then(|| Self::new(cx, to, subject.to_owned(), text.to_owned()));
        let agent = cx.rules.agent_gateway.then(|| {
            let message = Self::new(cx, Vec::new(), subject.to_owned(), text.to_owned());
            Self { channel: Channel::Agent, ..message }
        });
        mail.into_iter().chain(agent).collect()
    }
}

impl NewAggregate for Mail {
    fn kind(&self) -> &'static str {
        <Self as Aggregate>::KIND
    }
    fn id(&self) -> Id {
        self.id
    }
}

/// What can be asked of a mail.
#[derive(Clone, Debug)]
pub enum MailCommand {
    /// The outcome of a try.
    Tried {
        /// Number of the try, from 1; an outcome that is reported twice is recognised by it.
        number: u32,
        /// The provider's answer; `None` if it accepted the mail.
        error: Option<String>,
        /// Whether further tries are useless.
        permanent: bool,
    },
}

/// The effect: try to send the mail.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Send {
    /// Number of the try, from 1.
    pub number: u32,
    /// When it is due.
    pub at: Timestamp,
}

/// Delay in milliseconds before the next try: 1 minute, doubled each time up to 8 hours.
pub fn retry_ms(tries: u32) -> i64 {
    60_000i64.saturating_mul(1 << tries.saturating_sub(1).min(9)).min(8 * 3_600_000)
}

impl Aggregate for Mail {
    const KIND: &'static str = "mail";
    type Command = MailCommand;
    type Answer = ();
    type Row = Infallible;
    type Created = Infallible;
    type Effect = Send;

    fn decide(
        this: Option<&Self>,
        _: Id,
        cx: &DecisionContext<'_>,
        command: &MailCommand,
    ) -> Result<Decision<Self>, Refusal> {
        let mail = this.ok_or_else(|| Refusal::not_found(Self::KIND))?;
        let MailCommand::Tried { number, error, permanent } = command;
        if mail.state != MailState::Queued || *number != mail.tries + 1 {
            return Ok(Decision::unchanged(()));
        }
        let state = match error {
            None => MailState::Sent,
            Some(_) if *permanent || *number >= MAX_TRIES => MailState::Failed,
            Some(_) => MailState::Queued,
        };
        let next_at = cx.now.plus_ms(retry_ms(*number));
        Ok(Decision::to(Self { state, tries: *number, next_at, error: error.clone(), ..mail.clone() }, ()))
    }

    fn name(_: &MailCommand) -> &'static str {
        "mail.tried"
    }

    fn effects(&self) -> Vec<Send> {
        match self.state {
            MailState::Queued => vec![Send { number: self.tries + 1, at: self.next_at }],
            MailState::Sent | MailState::Failed => Vec::new(),
        }
    }

    fn at_rest(&self) -> bool {
        self.state != MailState::Queued
    }
}

#[cfg(test)]
mod tests;
