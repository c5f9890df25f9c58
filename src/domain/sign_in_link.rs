//! A link that signs a customer in. It is sent by email, is valid for ten minutes, and works once.
//!
//! Each link is an aggregate, created in the same way whether or not a customer has the address, so that requesting a
//! link reveals nothing. Only the hash of its token is stored; the link itself is encrypted in its email, and is erased
//! once the email has been sent. Sessions belong to the customer ([`crate::customer`]).

use std::convert::Infallible;

use serde::{Deserialize, Serialize};

use crate::access::normal_email;
use crate::aggregate::{Aggregate, Command, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::mail::{Mail, kind};
use crate::refusal::{Class, Refusal};
use crate::time::Timestamp;
use words::Language;

/// Lifetime of a link, in milliseconds: 10 minutes.
const LINK_LIFE_MS: i64 = 10 * 60_000;

/// Error code for a link that was redeemed, has expired, or never existed.
pub const INVALID_OR_EXPIRED: &str = "invalid_or_expired";

/// Requested sign-in link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignInLink {
    /// Identifier of the link.
    pub id: Id,
    /// Email address that the link was sent to, in normalised form; redeeming the link signs in the customer with this
    /// address.
    pub email: String,
    /// SHA-256 of the link's token, in hexadecimal.
    pub hash: String,
    /// Time at which the link expires.
    pub expires_at: Timestamp,
    /// Time at which the link was redeemed, if it has been.
    #[serde(default)]
    pub redeemed_at: Option<Timestamp>,
    /// Time at which the link was requested.
    pub created_at: Timestamp,
}

/// Command that creates a link and its email.
#[derive(Clone, Debug)]
pub struct CreateSignInLink {
    /// Email address of the recipient, not yet normalised; rejected with 400 if malformed.
    pub email: String,
    /// Language of the email.
    pub language: Language,
    /// SHA-256 of the link's token, in hexadecimal.
    pub hash: String,
    /// URL of the link, encrypted by the HTTP layer.
    pub encrypted_url: String,
}

/// Response to [`CreateSignInLink`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum SignInLinkAnswer {
    /// The link was created, and its email is queued.
    Mailed,
}

/// Command that redeems a link, which succeeds once.
#[derive(Clone, Copy, Debug)]
pub struct RedeemSignInLink;

impl Aggregate for SignInLink {
    const KIND: &'static str = "sign_in_link";
    type Row = Infallible;
    type Created = Mail;
    type Effect = ();
}

impl Command<SignInLink> for CreateSignInLink {
    type Answer = SignInLinkAnswer;

    fn decide(
        &self,
        this: Option<&SignInLink>,
        id: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<SignInLink, Self::Answer> {
        if this.is_some() {
            return Err(Refusal::conflict("exists", "this link already exists"));
        }
        let link = SignInLink {
            id,
            email: normal_email(&self.email)?,
            hash: self.hash.clone(),
            expires_at: cx.now.plus_ms(LINK_LIFE_MS),
            redeemed_at: None,
            created_at: cx.now,
        };
        let mail = kind::sign_in(cx, self.language, &link.email, &self.encrypted_url, link.expires_at);
        Ok(Decision::to(link, SignInLinkAnswer::Mailed).created([mail]))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::SignInLinkCreate
    }
}

impl Command<SignInLink> for RedeemSignInLink {
    /// Email address of the customer that the link signs in.
    type Answer = String;

    fn decide(&self, this: Option<&SignInLink>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<SignInLink, String> {
        let link = this.ok_or_else(|| Refusal::not_found(SignInLink::KIND))?;
        if link.redeemed_at.is_some() || cx.now >= link.expires_at {
            return Err(invalid_or_expired());
        }
        Ok(Decision::to(SignInLink { redeemed_at: Some(cx.now), ..link.clone() }, link.email.clone()))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::SignInLinkRedeem
    }
}

/// Returns the refusal for a link that does not work, regardless of the reason.
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
        let create = CreateSignInLink {
            email: "Ann@example.org".to_owned(),
            language: Language::German,
            hash: "hash".to_owned(),
            encrypted_url: "sealed".to_owned(),
        };
        let decision = bench.tell(&mut link, id(1), &create).unwrap();
        let [mail]: &[Mail] = &decision.created[..] else { panic!("{:?}", decision.created) };
        assert_eq!((&mail.to[..], &*mail.subject), (&["ann@example.org".to_owned()][..], "Ihr Anmeldelink"));
        assert_eq!(mail.useless_at, Some(bench.now.plus_ms(LINK_LIFE_MS)));
        link
    }

    #[test]
    fn a_link_works_once() {
        let bench = Bench::new();
        let mut link = new_link(&bench);
        let redeemed = bench.tell(&mut link, id(1), &RedeemSignInLink).unwrap();
        assert_eq!(redeemed.answer, "ann@example.org");
        let again = bench.tell(&mut link, id(1), &RedeemSignInLink).unwrap_err();
        assert_eq!(again.code, INVALID_OR_EXPIRED);
    }

    #[test]
    fn a_link_lives_ten_minutes() {
        let mut bench = Bench::new();
        let mut link = new_link(&bench);
        bench.now = bench.now.plus_ms(LINK_LIFE_MS);
        assert_eq!(bench.tell(&mut link, id(1), &RedeemSignInLink).unwrap_err().code, INVALID_OR_EXPIRED);
        bench.now = bench.now.plus_ms(-1);
        assert!(bench.tell(&mut link, id(1), &RedeemSignInLink).is_ok());
    }
}
