//! Pay links: anyone who has the link can view and pay the invoice.
//!
//! The link's token contains the invoice ID and the link number, and is signed with the server's secret. It cannot be
//! guessed, no part of it is stored, and it can be shown again to those who may see the invoice.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::change::InvoiceChange;
use super::{Invoice, InvoiceStatus, PayLink};
use crate::id::Id;
use crate::ledger::LedgerStage;
use crate::refusal::{Class, Refusal};
use crate::signing::{hmac_sha256, same};
use crate::time::Timestamp;

/// Length of the invoice ID in a token, in bytes.
const ID_BYTES: usize = 16;
/// Length of the invoice ID and the link number in a token, in bytes; they are followed by the 256-bit signature.
const NAMED_BYTES: usize = ID_BYTES + 4;
/// Maximum length of a token, in characters.
const MAX_TOKEN_CHARS: usize = 80;

fn signature(secret: &str, named: &[u8]) -> [u8; 32] {
    hmac_sha256(secret.as_bytes(), &[b"pay-link\0", named])
}

/// Returns the token for a pay link to an invoice.
pub fn pay_token(secret: &str, invoice: Id, number: u32) -> String {
    let named = [invoice.0.as_bytes().as_slice(), &number.to_be_bytes()].concat();
    let signed = signature(secret, &named);
    URL_SAFE_NO_PAD.encode([named.as_slice(), &signed].concat())
}

/// Returns the invoice and the link number contained in a token, or `None` if the token was not signed by the server.
pub fn read_pay_token(secret: &str, token: &str) -> Option<(Id, u32)> {
    if token.len() > MAX_TOKEN_CHARS {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (named, tag) = bytes.split_at_checked(NAMED_BYTES)?;
    if !same(&signature(secret, named), tag) {
        return None;
    }
    let (id, number) = named.split_at_checked(ID_BYTES)?;
    Some((Id(uuid::Uuid::from_slice(id).ok()?), u32::from_be_bytes(number.try_into().ok()?)))
}

impl Invoice {
    /// Returns the number of the currently valid link, if any.
    pub fn standing_link(&self, now: Timestamp) -> Option<u32> {
        let link = self.pay_link.as_ref()?;
        (self.status != InvoiceStatus::Void && !link.is_over(now)).then_some(link.number)
    }

    /// Checks that the link with the given number is valid. Rejects it with 404 if it was never created, and as gone if
    /// it was revoked or has expired, or if the invoice is void.
    pub fn linked_by(&self, number: u32, now: Timestamp) -> Result<(), Refusal> {
        if !(1..=self.pay_links).contains(&number) {
            return Err(Refusal::not_found("pay_link"));
        }
        let gone = |why: &str| Err(Refusal::new(Class::Gone, "pay_link_gone", why));
        match &self.pay_link {
            _ if self.status == InvoiceStatus::Void => gone("the invoice is void and cannot be paid"),
            Some(link) if link.number == number && link.is_over(now) => gone(
                "this link has expired; request a new \
                 one",
            ),
            Some(link) if link.number == number => Ok(()),
            _ => gone("this link was revoked; request a new one"),
        }
    }
}

impl PayLink {
    fn is_over(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

impl InvoiceChange<'_> {
    /// Creates a pay link, replacing the current one, if any.
    pub(super) fn open_pay_link(&mut self, expires_at: Option<Timestamp>) -> Result<(), Refusal> {
        if self.invoice.issued_at.is_none() {
            return Err(Refusal::conflict("not_issued", "the invoice is a draft; issue it first"));
        }
        if self.invoice.stage() != LedgerStage::Payable {
            return Err(Refusal::transition("the invoice cannot have a payment link", self.invoice.status));
        }
        if expires_at.is_some_and(|at| at <= self.cx.now) {
            return Err(Refusal::field("expiresAt", "must be in the future"));
        }
        self.invoice.pay_links = self.invoice.pay_links.saturating_add(1);
        self.invoice.pay_link = Some(PayLink { number: self.invoice.pay_links, expires_at });
        Ok(())
    }

    /// Revokes the link, if any.
    pub(super) fn close_pay_link(&mut self) {
        self.invoice.pay_link = None;
    }
}
