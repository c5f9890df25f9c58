//! Rules for API keys: adding and revoking them.

use std::sync::Arc;

use crate::access::{Access, AccessRow, AddKey, ApiKey, KeyAnswer, RevokeKey, normal_email};
use crate::aggregate::{Command, Decision, DecisionContext};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::principal::Role;
use crate::refusal::{Faults, Refusal};

type KeyDecision = Result<Decision<Access, KeyAnswer>, Refusal>;

impl Command<Access> for AddKey {
    type Answer = KeyAnswer;

    fn decide(&self, this: Option<&Access>, _: Id, cx: &DecisionContext<'_>) -> KeyDecision {
        let this = this.cloned().unwrap_or_default();
        let customer = self.customer_email.as_deref().map(normal_email).transpose();
        let is_for_customer = self.role == Role::Customer;
        let mut faults = Faults::default();
        faults
            .check(!self.name.trim().is_empty(), "name", "must not be empty")
            .check(self.expires_at.is_none_or(|at| at > cx.now), "expiresAt", "must be in the future")
            .check(customer.is_ok(), "customerEmail", "must be an email address")
            .check(
                self.customer_email.is_none() || is_for_customer,
                "customerEmail",
                "is only allowed for customer keys",
            );
        faults.refuse()?;
        if this.keys.contains_key(&self.hash) {
            return Err(Refusal::conflict("exists", "this key already exists; create a new one"));
        }
        let key = ApiKey {
            id: cx.ids.id(),
            name: self.name.trim().to_owned(),
            hash: self.hash.clone(),
            prefix: self.prefix.clone(),
            last4: self.last4.clone(),
            role: self.role,
            customer_email: customer?,
            expires_at: self.expires_at,
            revoked_at: None,
            last_used_at: None,
            created_at: cx.now,
        };
        Ok(with_key(this, key))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::ApiKeyCreate
    }

    fn subject(&self, answer: &KeyAnswer) -> Option<(&'static str, Id)> {
        Some(("api_key", answer.key.id))
    }
}

impl Command<Access> for RevokeKey {
    type Answer = KeyAnswer;

    fn decide(&self, this: Option<&Access>, _: Id, cx: &DecisionContext<'_>) -> KeyDecision {
        let this = this.cloned().unwrap_or_default();
        let key = this.key(self.0).cloned().ok_or_else(|| Refusal::not_found("api_key"))?;
        if key.revoked_at.is_some() {
            return Ok(Decision::unchanged(KeyAnswer { key }));
        }
        Ok(with_key(this, ApiKey { revoked_at: Some(cx.now), ..(*key).clone() }))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::ApiKeyRevoke
    }

    fn subject(&self, answer: &KeyAnswer) -> Option<(&'static str, Id)> {
        Some(("api_key", answer.key.id))
    }
}

fn with_key(mut this: Access, key: ApiKey) -> Decision<Access, KeyAnswer> {
    let key = Arc::new(key);
    this.keys.insert_mut(key.hash.clone(), key.clone());
    let row = AccessRow::ApiKey((*key).clone());
    Decision::to(this, KeyAnswer { key }).rows([row])
}
