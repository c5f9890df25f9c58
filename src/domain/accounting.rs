//! The connection to the accounting system: who may connect it, and its tokens, which are replaced now and then.
//!
//! There is one. An admin asks for it, which notes a request with a `state` that is used once, by the same session and
//! within ten minutes; what the provider gives for it are two tokens. The first works for a short time. The second
//! gives a new pair, once: that it is about to be used is committed before, and the new pair before any of it is used.
//! A server that ends in between tries the second token again, and says in words when the provider no longer takes it.
//! Tokens are encrypted by those who hand them in. What is told there is in [`paper`], how far that is in
//! [`crate::domain::posting`].

pub mod paper;

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::{Aggregate, Decision, DecisionContext};
use crate::domain::id::Id;
use crate::domain::mail::Mail;
use crate::domain::mail::alert::AlertKind;
use crate::domain::refusal::{Class, Refusal};
use crate::domain::time::Timestamp;

/// How long somebody may take at the provider's page, in milliseconds: 10 minutes.
const REQUEST_LIFE_MS: i64 = 10 * 60_000;
/// Requests that are kept; an older one is forgotten.
const MAX_REQUESTS: usize = 10;
/// Longest token that is kept, encrypted, in characters.
const MAX_SEALED_CHARS: usize = 8_000;

/// Refusal of a state that was used, has expired, or never was.
pub const INVALID_STATE: &str = "invalid_state";
/// Refusal of what takes a connection while there is none.
pub const NOT_CONNECTED: &str = "accounting_not_connected";

/// The two tokens of a connection, encrypted with the server's key.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SealedTokens {
    /// The one that calls show.
    pub access: String,
    /// The one that gives the next two, once.
    pub refresh: String,
    /// From when on the first is refused.
    pub expires_at: Timestamp,
}

/// Somebody who is at the provider's page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConnectRequest {
    /// SHA-256 of the state in hexadecimal.
    pub state_hash: String,
    /// The session that asked.
    pub session: Id,
    /// What proves to the provider that the same server asks, encrypted.
    pub sealed_verifier: String,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

/// The organisation whose books are kept there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// The provider's id of it.
    pub id: String,
    /// What people call it.
    pub name: String,
}

/// A connection that stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountingLink {
    /// Whose books.
    pub tenant: Tenant,
    /// The address of the admin who made it.
    pub connected_by: String,
    /// When it was made.
    pub connected_at: Timestamp,
    /// Its tokens, encrypted.
    pub tokens: SealedTokens,
    /// How often the tokens were replaced; names the present ones.
    pub renewals: u32,
    /// The second token was about to be used; what came of it is not known yet.
    pub renewing: bool,
}

/// The connection to the accounting system.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accounting {
    /// Always [`Id::ONLY`].
    pub id: Id,
    /// Those who are at the provider's page, oldest first.
    pub requests: Vec<ConnectRequest>,
    /// The connection; `None` while there is none.
    pub link: Option<AccountingLink>,
    /// Why it must be connected anew; `None` while it stands or nobody connected it.
    pub lost: Option<String>,
    /// The second token of a connection that was ended here, encrypted, until the provider was told.
    pub to_revoke: Option<String>,
    /// What was issued earlier is not told: when it was first connected.
    pub since: Option<Timestamp>,
}

/// What can be asked of the connection.
#[derive(Clone, Debug)]
pub enum AccountingCommand {
    /// Somebody goes to the provider's page.
    Begin {
        /// SHA-256 of the state in hexadecimal.
        state_hash: String,
        /// Their session.
        session: Id,
        /// Encrypted by the edge.
        sealed_verifier: String,
    },
    /// They come back; uses the state up.
    Redeem {
        /// SHA-256 of the state in hexadecimal.
        state_hash: String,
        /// Their session.
        session: Id,
    },
    /// The provider gave tokens. A connection before is replaced.
    Connect {
        /// Whose books.
        tenant: Tenant,
        /// The address of the admin who made it.
        by: String,
        /// The first pair.
        tokens: SealedTokens,
    },
    /// The second token is about to be used.
    Renew(u32),
    /// The provider gave a new pair for the second token of these renewals.
    Renewed {
        /// [`AccountingLink::renewals`] of the pair before.
        renewals: u32,
        /// The new pair.
        tokens: SealedTokens,
    },
    /// The provider takes the second token of these renewals no more.
    Lost {
        /// [`AccountingLink::renewals`] of the pair.
        renewals: u32,
        /// What it said.
        words: String,
    },
    /// Ends the connection; the provider is told later.
    Disconnect,
    /// The provider was told.
    Revoked,
}

/// What the connection answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum AccountingAnswer {
    /// So it is now.
    Done,
    /// To whoever came back: what proves who asked, encrypted.
    Verifier(String),
}

impl Aggregate for Accounting {
    const KIND: &'static str = "accounting";
    type Command = AccountingCommand;
    type Answer = AccountingAnswer;
    type Row = Infallible;
    type Created = Mail;
    type Effect = Infallible;

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &AccountingCommand,
    ) -> Result<Decision<Self>, Refusal> {
        let nothing = || Self { id, requests: Vec::new(), link: None, lost: None, to_revoke: None, since: None };
        this.cloned().unwrap_or_else(nothing).after(cx, command)
    }

    fn name(command: &AccountingCommand) -> &'static str {
        match command {
            AccountingCommand::Begin { .. } => "accounting.begin",
            AccountingCommand::Redeem { .. } => "accounting.redeem",
            AccountingCommand::Connect { .. } => "accounting.connect",
            AccountingCommand::Renew(_) => "accounting.renew",
            AccountingCommand::Renewed { .. } => "accounting.renewed",
            AccountingCommand::Lost { .. } => "accounting.lost",
            AccountingCommand::Disconnect => "accounting.disconnect",
            AccountingCommand::Revoked => "accounting.revoked",
        }
    }

    fn effects(&self) -> Vec<Infallible> {
        Vec::new()
    }
}

fn done(next: Accounting) -> Decision<Accounting> {
    Decision::to(next, AccountingAnswer::Done)
}

impl Accounting {
    fn after(mut self, cx: &DecisionContext<'_>, command: &AccountingCommand) -> Result<Decision<Self>, Refusal> {
        match command {
            AccountingCommand::Begin { state_hash, session, sealed_verifier } => {
                self.requests.retain(|one| cx.now < one.expires_at);
                let surplus = (self.requests.len() + 1).saturating_sub(MAX_REQUESTS);
                self.requests.drain(..surplus);
                self.requests.push(ConnectRequest {
                    state_hash: state_hash.clone(),
                    session: *session,
                    sealed_verifier: sealed_verifier.clone(),
                    expires_at: cx.now.plus_ms(REQUEST_LIFE_MS),
                });
                Ok(done(self))
            }
            AccountingCommand::Redeem { state_hash, session } => {
                let known = |one: &ConnectRequest| one.state_hash == *state_hash && cx.now < one.expires_at;
                let at = self.requests.iter().position(known).ok_or_else(invalid_state)?;
                if self.requests.get(at).is_some_and(|one| one.session != *session) {
                    // It stays: a stranger who learnt it ends nobody's way.
                    return Err(Refusal::forbidden("other_session", "another session asked for this connection"));
                }
                let request = self.requests.remove(at);
                Ok(Decision::to(self, AccountingAnswer::Verifier(request.sealed_verifier)))
            }
            AccountingCommand::Connect { tenant, by, tokens } => {
                fits(tokens)?;
                self.link = Some(AccountingLink {
                    tenant: tenant.clone(),
                    connected_by: by.clone(),
                    connected_at: cx.now,
                    tokens: tokens.clone(),
                    renewals: 0,
                    renewing: false,
                });
                (self.lost, self.since) = (None, self.since.or(Some(cx.now)));
                Ok(done(self))
            }
            AccountingCommand::Disconnect => {
                let link = self.link.take();
                if link.is_none() && self.lost.is_none() {
                    return Err(Refusal::conflict(NOT_CONNECTED, "the accounting system is not connected"));
                }
                self.lost = None;
                self.to_revoke = link.map(|link| link.tokens.refresh).or(self.to_revoke);
                Ok(done(self))
            }
            AccountingCommand::Revoked if self.to_revoke.is_some() => Ok(done(Self { to_revoke: None, ..self })),
            AccountingCommand::Renew(renewals) => self.renew(*renewals),
            AccountingCommand::Renewed { renewals, tokens } => self.renewed(*renewals, tokens),
            AccountingCommand::Lost { renewals, words } => Ok(self.lose(cx, *renewals, words)),
            AccountingCommand::Revoked => Ok(Decision::unchanged(AccountingAnswer::Done)),
        }
    }

    /// The link whose tokens were replaced so often.
    fn link_of(&mut self, renewals: u32) -> Option<&mut AccountingLink> {
        self.link.as_mut().filter(|link| link.renewals == renewals)
    }

    fn renew(mut self, renewals: u32) -> Result<Decision<Self>, Refusal> {
        let link = self.link_of(renewals).ok_or_else(other_tokens)?;
        link.renewing = true;
        Ok(done(self))
    }

    fn renewed(mut self, renewals: u32, tokens: &SealedTokens) -> Result<Decision<Self>, Refusal> {
        fits(tokens)?;
        let link = self.link_of(renewals).ok_or_else(other_tokens)?;
        (link.tokens, link.renewals, link.renewing) = (tokens.clone(), renewals.saturating_add(1), false);
        Ok(done(self))
    }

    fn lose(mut self, cx: &DecisionContext<'_>, renewals: u32, words: &str) -> Decision<Self> {
        if self.link_of(renewals).is_none() {
            return Decision::unchanged(AccountingAnswer::Done);
        }
        let reason = format!("the accounting system must be connected anew: {words}");
        let text = format!(
            "Paid invoices and credit notes are no longer sent to the accounting system: {reason}.\n\nAn admin who signs \
             in with the same e-mail address as customer connects it at {}/api/v1/integrations/accounting/connect. What \
             was issued meanwhile is sent then.\n",
            cx.rules.public_url
        );
        let mails = Mail::alert(cx, AlertKind::Accounting, "The accounting system must be connected anew", &text);
        (self.link, self.lost) = (None, Some(reason));
        done(self).created(mails)
    }
}

fn fits(tokens: &SealedTokens) -> Result<(), Refusal> {
    if tokens.access.len() <= MAX_SEALED_CHARS && tokens.refresh.len() <= MAX_SEALED_CHARS {
        return Ok(());
    }
    Err(Refusal::new(Class::Invalid, "token_too_long", "the provider's tokens are too long to be kept"))
}

fn invalid_state() -> Refusal {
    Refusal::new(
        Class::Invalid,
        INVALID_STATE,
        "this connection was asked for too long ago, was made already, or was never asked for; begin again",
    )
}

/// Somebody connected or disconnected in between.
fn other_tokens() -> Refusal {
    Refusal::conflict("other_tokens", "there are other tokens now")
}

#[cfg(test)]
mod tests;
