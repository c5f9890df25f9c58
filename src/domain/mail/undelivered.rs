//! Emails that were abandoned: the reason, and what the staff can do about them. Nothing else reports them: an alert
//! about an email that cannot be sent would be another such email.

use serde::{Deserialize, Serialize};

use super::{MAX_TRIES, Mail, MailState, retry_ms};
use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::refusal::Refusal;
use crate::time::{DAY_MS, Timestamp};

/// Time for which mail services remember an idempotency key, in milliseconds.
const KEY_LIFE_MS: i64 = DAY_MS;

/// Reason why an email was abandoned.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailFailure {
    /// The mail server or service rejected it permanently.
    Rejected,
    /// It cannot be sent as it is, for example because an address is invalid.
    Unsendable,
    /// It would have been useless by the time of the next attempt.
    Expired,
    /// All attempts failed, each for a reason that might have passed.
    Exhausted,
}

/// Command of the staff about an email that was abandoned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UndeliveredCommand {
    /// Queues the same email again, with the original number of attempts.
    SendAgain,
    /// Removes the email from the to-do list.
    Dismiss,
    /// Returns a dismissed email to the to-do list.
    Reopen,
}

impl Mail {
    /// Returns whether the email was abandoned, dismissed or not.
    fn is_abandoned(&self) -> bool {
        matches!(self.state, MailState::Failed | MailState::Dismissed)
    }

    /// Returns whether the commit that led to this state may have changed which emails are undelivered: the email was
    /// abandoned, the staff acted on it, or it has just been queued again.
    pub fn changes_undelivered(&self) -> bool {
        self.is_abandoned() || (self.earlier_tries > 0 && self.tries_of_round() == 0)
    }

    /// Returns the reason why the email was abandoned; `None` if it was not. Earlier versions did not store it: theirs
    /// were rejected unless their time or their attempts were over.
    pub fn reason_to_abandon(&self) -> Option<MailFailure> {
        let inferred = || match self.useless_at {
            Some(at) if self.next_at >= at => MailFailure::Expired,
            _ if self.tries >= MAX_TRIES => MailFailure::Exhausted,
            _ => MailFailure::Rejected,
        };
        self.is_abandoned().then(|| self.failure.unwrap_or_else(inferred))
    }

    /// Returns the time of the last attempt; `None` if there was none since the email was queued.
    pub fn last_tried_at(&self) -> Option<Timestamp> {
        let tries = self.tries_of_round();
        (tries > 0).then(|| self.next_at.plus_ms(-retry_ms(tries)))
    }

    /// Returns whether the email can be sent again: it was abandoned, and its link, if it expires, still works.
    pub fn can_be_sent_again(&self, now: Timestamp) -> bool {
        let is_over = self.useless_at.is_some_and(|at| now >= at);
        // A secret link is removed from an email that expires, and was from every one that earlier versions abandoned.
        let is_without_link = self.useless_at.is_some() && self.link.is_none() && self.sealed_link.is_none();
        self.is_abandoned() && !is_over && !is_without_link
    }

    /// Returns the email as it is queued again. It keeps its key as long as the provider may remember it from one of
    /// the attempts, so that an email that arrived after all does not arrive twice. A provider that rejected the email
    /// may give the same answer to the same key again, so the email then gets a new key.
    fn queued_again(&self, now: Timestamp) -> Self {
        let is_forgotten = self.last_tried_at().is_none_or(|at| now >= at.plus_ms(KEY_LIFE_MS));
        let gets_new_key = is_forgotten || self.reason_to_abandon() == Some(MailFailure::Rejected);
        Self {
            state: MailState::Queued,
            next_at: now,
            earlier_tries: self.tries,
            key_number: self.key_number.saturating_add(u32::from(gets_new_key)),
            failure: None,
            ..self.clone()
        }
    }
}

impl UndeliveredCommand {
    /// Returns the email after the command; `None` if it is already as the command would leave it.
    fn apply(self, mail: &Mail, now: Timestamp) -> Result<Option<Mail>, Refusal> {
        let state = match (self, mail.state) {
            (Self::SendAgain, MailState::Queued)
            | (Self::Dismiss, MailState::Dismissed)
            | (Self::Reopen, MailState::Failed) => return Ok(None),
            (_, MailState::Sent) => return Err(Refusal::conflict("email_sent", "this email was sent")),
            (_, MailState::Queued) => {
                return Err(Refusal::conflict("email_queued", "this email is still being sent"));
            }
            (Self::SendAgain, _) if !mail.can_be_sent_again(now) => {
                return Err(Refusal::conflict("email_expired", "this email has expired; its link no longer works"));
            }
            (Self::SendAgain, _) => return Ok(Some(mail.queued_again(now))),
            (Self::Dismiss, _) => MailState::Dismissed,
            (Self::Reopen, _) => MailState::Failed,
        };
        Ok(Some(Mail { state, ..mail.clone() }))
    }
}

impl Command<Mail> for UndeliveredCommand {
    /// State of the email after the command.
    type Answer = Box<Mail>;

    fn decide(&self, this: Option<&Mail>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Mail, Box<Mail>> {
        let mail = this.ok_or_else(|| Refusal::not_found(Mail::KIND))?;
        Ok(match self.apply(mail, cx.now)? {
            Some(next) => Decision::to(next.clone(), Box::new(next)),
            None => Decision::unchanged(Box::new(mail.clone())),
        })
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            Self::SendAgain => AuditedAct::MailSendAgain,
            Self::Dismiss => AuditedAct::MailDismiss,
            Self::Reopen => AuditedAct::MailReopen,
        }
    }
}

#[cfg(test)]
mod tests;
