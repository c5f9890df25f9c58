//! A mail to be sent. It is made in the commit that causes it, so that none is lost, and sent by an effect until the
//! provider takes it or it is given up.

use std::convert::Infallible;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext, NewAggregate};
use crate::domain::id::Id;
use crate::domain::mail::alert::AlertKind;
use crate::domain::mail::part::{AttachedDocument, Link, MailPart, one_line};
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;

pub mod alert;
pub mod kind;
pub mod part;

/// Number of tries before a mail is given up: about two days with the delays of [`retry_ms`].
const MAX_TRIES: u32 = 12;

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
    /// E-mail, to the receivers that the mail names.
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
    /// E-mail addresses of the receivers. Empty for the agent gateway, and for an alert that goes to whoever is an
    /// active admin when it is sent.
    pub to: Vec<String>,
    /// The subject, one line without control characters.
    pub subject: String,
    /// What is read first: sentences in paragraphs, without the link.
    pub text: String,
    /// Tables and further links behind the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<MailPart>,
    /// What comes with it as PDF.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attached: Option<AttachedDocument>,
    /// For an alert to the operators: its kind, by which alerts are gathered into one mail.
    #[serde(default)]
    pub alert: Option<AlertKind>,
    /// Where the receiver can act.
    #[serde(default)]
    pub link: Option<Link>,
    /// A link that nobody but the receiver may read. It is gone from the record once the mail was sent or given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_link: Option<SealedLink>,
    /// From when on the mail helps nobody, so that it is given up; `None` never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub useless_at: Option<Timestamp>,
    /// How far the sending is.
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

/// A link whose address is a secret, such as one that signs somebody in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealedLink {
    /// What it does, in words for people.
    pub label: String,
    /// The address, encrypted with the server's key.
    pub encrypted_url: String,
}

impl Mail {
    /// A mail that is due now. Its subject is brought onto one line.
    pub fn new(cx: &DecisionContext<'_>, to: Vec<String>, subject: String, text: String) -> Self {
        Self {
            id: cx.ids.id(),
            channel: Channel::Mail,
            to,
            subject: one_line(&subject),
            text,
            parts: Vec::new(),
            attached: None,
            alert: None,
            link: None,
            sealed_link: None,
            useless_at: None,
            state: MailState::Queued,
            tries: 0,
            next_at: cx.now,
            error: None,
            created_at: cx.now,
        }
    }

    /// The longest time until the next try, whatever the wall clock says: a clock that steps back delays no
    /// mail beyond its own pause.
    pub fn longest_wait(&self) -> Duration {
        match self.tries {
            0 => Duration::ZERO,
            tries => Duration::from_millis(retry_ms(tries).unsigned_abs()),
        }
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
fn retry_ms(tries: u32) -> i64 {
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
        let next_at = cx.now.plus_ms(retry_ms(*number));
        let useless = mail.useless_at.is_some_and(|at| next_at >= at);
        let state = match error {
            None => MailState::Sent,
            Some(_) if *permanent || useless || *number >= MAX_TRIES => MailState::Failed,
            Some(_) => MailState::Queued,
        };
        let sealed_link = mail.sealed_link.clone().filter(|_| state == MailState::Queued);
        let tried = Self { state, tries: *number, next_at, error: error.clone(), sealed_link, ..mail.clone() };
        Ok(Decision::to(tried, ()))
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
