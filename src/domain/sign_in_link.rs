//! A link that signs a customer in: sent by email, valid for ten minutes, works once.
//!
//! Each link is an aggregate, created in the same way whether or not a customer has the address, so that requesting a
//! link reveals nothing. Only the hash of its token is stored; the link itself is encrypted in its email, and is erased
//! once the email has been sent. Sessions belong to the customer ([`crate::customer`]).

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::access::normal_email;
use crate::aggregate::{Aggregate, Decision, DecisionContext};
use crate::id::Id;
use crate::mail::{Mail, kind};
use crate::refusal::{Class, Refusal};
use crate::time::Timestamp;

/// Lifetime of a link, in milliseconds: 10 minutes.
const LINK_LIFE_MS: i64 = 10 * 60_000;

/// Refusal code for a link that was redeemed, has expired, or never existed.
pub const INVALID_OR_EXPIRED: &str = "invalid_or_expired";

/// Requested sign-in link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignInLink {
    /// Identifier of the link.
    pub id: Id,
    /// Email address to which the link was sent, in normalised form; redeeming the link signs in the customer with this
    /// address.
    pub email: String,
    /// SHA-256 of the link's token, in hexadecimal.
    pub hash: String,
    /// Time from which the link is refused.
    pub expires_at: Timestamp,
    /// Time at which the link was redeemed; `None` if not yet redeemed.
    #[serde(default)]
    pub redeemed_at: Option<Timestamp>,
    /// Time at which the link was requested.
    pub created_at: Timestamp,
}

/// Change that a sign-in link accepts.
#[derive(Clone, Debug)]
pub enum SignInLinkCommand {
    /// Creates the link and its email.
    Create {
        /// Email address of the recipient, not normalised; refused with 400 if malformed.
        email: String,
        /// SHA-256 of the link's token, in hexadecimal.
        hash: String,
        /// URL of the link, encrypted by the HTTP layer.
        encrypted_url: String,
    },
    /// Redeems the link; only the first request is answered with the address.
    Redeem,
}

/// A sign-in link's answer to a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum SignInLinkAnswer {
    /// The link was created, and its email is queued.
    Mailed,
    /// The caller redeemed the link as the customer with the given address.
    Redeemed(String),
}

impl Aggregate for SignInLink {
    const KIND: &'static str = "sign_in_link";
    type Command = SignInLinkCommand;
    type Answer = SignInLinkAnswer;
    type Row = Infallible;
    type Created = Mail;
    type Effect = ();

    fn decide(
        this: Option<&Self>,
        id: Id,
        cx: &DecisionContext<'_>,
        command: &SignInLinkCommand,
    ) -> Result<Decision<Self>, Refusal> {
        match (this, command) {
            (None, SignInLinkCommand::Create { email, hash, encrypted_url }) => {
                let link = Self {
                    id,
                    email: normal_email(email)?,
                    hash: hash.clone(),
                    expires_at: cx.now.plus_ms(LINK_LIFE_MS),
                    redeemed_at: None,
                    created_at: cx.now,
                };
                let mail = kind::sign_in(cx, &link.email, encrypted_url, link.expires_at);
                Ok(Decision::to(link, SignInLinkAnswer::Mailed).created([mail]))
            }
            (Some(link), SignInLinkCommand::Redeem) if link.redeemed_at.is_none() && cx.now < link.expires_at => {
                let answer = SignInLinkAnswer::Redeemed(link.email.clone());
                Ok(Decision::to(Self { redeemed_at: Some(cx.now), ..link.clone() }, answer))
            }
            (Some(_), SignInLinkCommand::Redeem) => Err(invalid_or_expired()),
            (None, SignInLinkCommand::Redeem) => Err(Refusal::not_found(Self::KIND)),
            (Some(_), SignInLinkCommand::Create { .. }) => Err(Refusal::conflict("exists", "this link already exists")),
        }
    }

    fn name(command: &SignInLinkCommand) -> &'static str {
        match command {
            SignInLinkCommand::Create { .. } => "sign_in_link.create",
            SignInLinkCommand::Redeem => "sign_in_link.redeem",
        }
    }
}

/// Returns the refusal for any link that does not work, whatever the reason.
pub fn invalid_or_expired() -> Refusal {
    Refusal::new(
        Class::Invalid,
        INVALID_OR_EXPIRED,
        "the link is invalid, was already used or has expired; request a new one",
    )
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::testing::{Bench, id};

    fn new_link(bench: &Bench) -> Option<SignInLink> {
        let mut link = None;
        let create = SignInLinkCommand::Create {
            email: "Ann@example.org".to_owned(),
            hash: "hash".to_owned(),
            encrypted_url: "sealed".to_owned(),
        };
        let decision = bench.tell(&mut link, id(1), &create).unwrap();
        let [mail]: &[Mail] = &decision.created[..] else { panic!("{:?}", decision.created) };
        assert_eq!(mail.to, ["ann@example.org"]);
        assert_eq!(mail.useless_at, Some(bench.now.plus_ms(LINK_LIFE_MS)));
        link
    }

    #[test]
    fn a_link_works_once() {
        let bench = Bench::new();
        let mut link = new_link(&bench);
        let redeemed = bench.tell(&mut link, id(1), &SignInLinkCommand::Redeem).unwrap();
        assert!(matches!(redeemed.answer, SignInLinkAnswer::Redeemed(email) if email == "ann@example.org"));
        let again = bench.tell(&mut link, id(1), &SignInLinkCommand::Redeem).unwrap_err();
        assert_eq!(again.code, INVALID_OR_EXPIRED);
    }

    #[test]
    fn a_link_lives_ten_minutes() {
        let mut bench = Bench::new();
        let mut link = new_link(&bench);
        bench.now = bench.now.plus_ms(LINK_LIFE_MS);
        assert_eq!(bench.tell(&mut link, id(1), &SignInLinkCommand::Redeem).unwrap_err().code, INVALID_OR_EXPIRED);
        bench.now = bench.now.plus_ms(-1);
        assert!(bench.tell(&mut link, id(1), &SignInLinkCommand::Redeem).is_ok());
    }
}
