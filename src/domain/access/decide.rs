//! Access rules: who may be added, edited and removed, and which sessions end as a result.
//!
//! The e-mail address of a deleted user may be reused for another user.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use crate::access::{
    Access, AccessAnswer, AccessCommand, AccessRow, ApiKey, CREDENTIALS_CHANGED, StaffSession, User, UserEdit, factor,
    normal_email,
};
use crate::aggregate::{Aggregate, AuditFacts, Decision, DecisionContext};
use crate::id::Id;
use crate::principal::{Principal, Role};
use crate::refusal::{Class, Faults, Refusal};
use crate::second_factor::SecondFactor;
use crate::time::Timestamp;

pub(super) type AccessDecision = Result<Decision<Access>, Refusal>;

impl Aggregate for Access {
    const KIND: &'static str = "access";
    type Command = AccessCommand;
    type Answer = AccessAnswer;
    type Row = AccessRow;
    type Created = Infallible;
    type Effect = ();

    fn decide(this: Option<&Self>, _: Id, cx: &DecisionContext<'_>, command: &AccessCommand) -> AccessDecision {
        use AccessCommand as C;
        let this = this.cloned().unwrap_or_default();
        match command {
            C::AddUser { email, name, password_hash, role } => add_user(this, cx, email, name, password_hash, *role),
            C::AddFirstAdmin { email, name, password_hash } => {
                if this.admins().next().is_some() {
                    return Err(Refusal::conflict("admin_exists", "an admin already exists; sign in"));
                }
                add_user(this, cx, email, name, password_hash, Role::Admin)
            }
            C::Configured { completes, .. } => {
                let completed = this.setup_completed_at.or(completes.then_some(cx.now));
                Ok(Decision::to(Self { setup_completed_at: completed, ..this }, AccessAnswer::Done))
            }
            C::UpdateUser { id, if_version, checked_hash, change, keep } => {
                let user = this.user(*id).ok_or_else(|| Refusal::not_found("user"))?;
                if checked_hash.as_ref().is_some_and(|checked| *checked != user.password_hash) {
                    return Err(credentials_changed());
                }
                if checked_hash.is_none() && change.password_hash.is_some() && is_own(cx, *id) {
                    let words = "you cannot set your own password this way; change it with your current password";
                    return Err(Refusal::forbidden("own_password", words));
                }
                update_user(this, cx, *id, *if_version, change, *keep)
            }
            C::RemoveUser(id) => remove_user(this, cx, *id),
            C::AddKey { .. } => add_key(this, cx, command),
            C::RevokeKey(id) => revoke_key(this, cx, *id),
            C::OpenSession { user, checked_hash, hash, agent, proof } => {
                let user = this.user(*user).filter(|user| user.active && user.password_hash == *checked_hash);
                let user = user.cloned().ok_or_else(credentials_changed)?;
                let factor = factor::check_sign_in(&user, proof.as_ref())?;
                open_session(this, cx, &user, factor, hash, agent.as_deref())
            }
            C::BeginSecondFactor { .. }
            | C::ConfirmSecondFactor { .. }
            | C::RemoveSecondFactor { .. }
            | C::CountFactorCode(_)
            | C::ResetSecondFactor(_) => factor::decide(this, cx, command),
            C::EndSession(id) => Ok(end(this, |session| session.id == *id)),
            C::Used { keys, sessions } => Ok(used(this, keys, sessions)),
            // An empty change: only the entry in the audit log is written.
            C::Asked { .. } | C::Configuring { .. } => Ok(Decision::to(this, AccessAnswer::Done)),
            C::Sweep { idle_ms, life_ms } => Ok(end(this, |session| session.over(cx.now, *idle_ms, *life_ms))),
        }
    }

    fn name(command: &AccessCommand) -> &'static str {
        match command {
            AccessCommand::AddUser { .. } | AccessCommand::AddFirstAdmin { .. } => "user.create",
            AccessCommand::Configuring { .. } => "settings.plan",
            AccessCommand::Configured { completes: true, .. } => "setup.complete",
            AccessCommand::Configured { .. } => "settings.write",
            AccessCommand::UpdateUser { .. } => "user.update",
            AccessCommand::RemoveUser(_) => "user.delete",
            AccessCommand::AddKey { .. } => "api_key.create",
            AccessCommand::RevokeKey(_) => "api_key.revoke",
            AccessCommand::OpenSession { .. } => "session.open",
            AccessCommand::BeginSecondFactor { .. } => "second_factor.begin",
            AccessCommand::ConfirmSecondFactor { .. } => "second_factor.confirm",
            AccessCommand::RemoveSecondFactor { .. } => "second_factor.remove",
            AccessCommand::CountFactorCode(_) => "second_factor.code",
            AccessCommand::ResetSecondFactor(_) => "second_factor.reset",
            AccessCommand::EndSession(_) => "session.end",
            AccessCommand::Used { .. } => "access.used",
            AccessCommand::Asked { skill, .. } => skill.action(),
            AccessCommand::Sweep { .. } => "session.sweep",
        }
    }

    fn subject(command: &AccessCommand, answer: &AccessAnswer) -> Option<(&'static str, Id)> {
        use AccessCommand as C;
        match (command, answer) {
            (C::UpdateUser { id, .. } | C::RemoveUser(id) | C::ResetSecondFactor(id), _) => Some(("user", *id)),
            (C::RevokeKey(id), _) => Some(("api_key", *id)),
            (C::EndSession(id), _) => Some(("session", *id)),
            (_, AccessAnswer::User(user)) => Some(("user", user.id)),
            (_, AccessAnswer::Key(key)) => Some(("api_key", key.id)),
            (_, AccessAnswer::Session(session)) => Some(("session", session.id)),
            (_, AccessAnswer::Done) => None,
        }
    }

    fn audit_facts(command: &AccessCommand) -> AuditFacts {
        match command {
            AccessCommand::Asked { refused: Some(code), .. } => AuditFacts { outcome: code.clone(), detail: None },
            AccessCommand::Configuring { variables } => {
                let detail = serde_json::json!({ "planned": variables }).to_string();
                AuditFacts { detail: Some(detail), ..AuditFacts::done() }
            }
            AccessCommand::Configured { variables, .. } => {
                let detail = serde_json::json!({ "written": variables }).to_string();
                AuditFacts { detail: Some(detail), ..AuditFacts::done() }
            }
            _ => AuditFacts::done(),
        }
    }

    fn clash(constraint: &str) -> Refusal {
        if constraint.contains("email") {
            email_taken()
        } else {
            Refusal::conflict("conflict", "this value is already in use by another record")
        }
    }

    /// Returns `false`: access stays in memory because every request needs it.
    fn at_rest(&self) -> bool {
        false
    }
}

/// Builds the refusal for a password that was correct when the edge checked it but no longer is.
pub(super) fn credentials_changed() -> Refusal {
    Refusal::conflict(CREDENTIALS_CHANGED, "the password was changed in the meantime; sign in with the new one")
}

/// Returns whether a staff member acts on their own account.
pub(super) fn is_own(cx: &DecisionContext<'_>, user: Id) -> bool {
    matches!(cx.by, Principal::User { id, .. } if *id == user)
}

fn email_taken() -> Refusal {
    Refusal::conflict("email_taken", "this e-mail address is already in use by another user")
}

fn staff_role(faults: &mut Faults, role: Role) {
    faults.check(role != Role::Customer, "role", "must be operator or admin");
}

/// Refuses a change of the user `but` that would leave no active admin.
fn keep_an_admin(this: &Access, but: Id) -> Result<(), Refusal> {
    let administers = this.user(but).is_some_and(|user| user.administers());
    if administers && !this.admins().any(|admin| admin.id != but) {
        return Err(Refusal::conflict(
            "last_admin",
            "the last active admin cannot be deleted, demoted or deactivated; make another user an admin first",
        ));
    }
    Ok(())
}

pub(super) fn with_user(mut this: Access, user: User) -> Decision<Access> {
    let user = Arc::new(user);
    this.users.insert_mut(user.id, user.clone());
    let row = AccessRow::User((*user).clone());
    Decision::to(this, AccessAnswer::User(user)).rows([row])
}

fn with_key(mut this: Access, key: ApiKey) -> Decision<Access> {
    let key = Arc::new(key);
    this.keys.insert_mut(key.hash.clone(), key.clone());
    let row = AccessRow::ApiKey((*key).clone());
    Decision::to(this, AccessAnswer::Key(key)).rows([row])
}

/// Removes the sessions that match `over` and returns the rows that record it.
pub(super) fn without(this: &mut Access, over: impl Fn(&StaffSession) -> bool) -> Vec<AccessRow> {
    let mut ended: Vec<Arc<StaffSession>> = this.sessions.values().filter(|session| over(session)).cloned().collect();
    // The map has no order of its own, and the rows reach the store.
    ended.sort_unstable_by_key(|session| session.id);
    for session in &ended {
        this.sessions.remove_mut(&session.hash);
    }
    ended.iter().map(|session| AccessRow::SessionGone(session.id)).collect()
}

fn end(mut this: Access, over: impl Fn(&StaffSession) -> bool) -> Decision<Access> {
    let gone = without(&mut this, over);
    if gone.is_empty() {
        return Decision::unchanged(AccessAnswer::Done);
    }
    Decision::to(this, AccessAnswer::Done).rows(gone)
}

fn add_user(
    this: Access,
    cx: &DecisionContext<'_>,
    email: &str,
    name: &str,
    password_hash: &str,
    role: Role,
) -> AccessDecision {
    let email = normal_email(email)?;
    let mut faults = Faults::default();
    faults.check(!name.trim().is_empty(), "name", "must not be empty");
    staff_role(&mut faults, role);
    faults.refuse()?;
    if this.user_by_email(&email).is_some() {
        return Err(email_taken());
    }
    let user = User {
        id: cx.ids.id(),
        email,
        name: name.trim().to_owned(),
        password_hash: password_hash.to_owned(),
        second_factor: None,
        role,
        active: true,
        archived: false,
        version: 1,
        created_at: cx.now,
        updated_at: cx.now,
    };
    Ok(with_user(this, user))
}

fn update_user(
    mut this: Access,
    cx: &DecisionContext<'_>,
    id: Id,
    if_version: Option<i64>,
    change: &UserEdit,
    keep: Option<Id>,
) -> AccessDecision {
    let user = this.user(id).cloned().ok_or_else(|| Refusal::not_found("user"))?;
    if if_version.is_some_and(|expected| expected != user.version) {
        return Err(Refusal::new(
            Class::Stale,
            "stale_version",
            "the user has changed since you read it; reload it and repeat the change",
        ));
    }
    let next = User {
        name: change.name.as_ref().map_or_else(|| user.name.clone(), |name| name.trim().to_owned()),
        role: change.role.unwrap_or(user.role),
        active: change.active.unwrap_or(user.active),
        password_hash: change.password_hash.clone().unwrap_or_else(|| user.password_hash.clone()),
        ..(*user).clone()
    };
    let mut faults = Faults::default();
    faults.check(!next.name.is_empty(), "name", "must not be empty");
    staff_role(&mut faults, next.role);
    faults.refuse()?;
    if !next.administers() {
        keep_an_admin(&this, id)?;
    }
    if next == *user {
        return Ok(Decision::unchanged(AccessAnswer::User(user)));
    }
    let (other_powers, new_password) =
        (next.role != user.role || !next.active, next.password_hash != user.password_hash);
    let gone = without(&mut this, |session| {
        session.user_id == id && (other_powers || (new_password && Some(session.id) != keep))
    });
    Ok(with_user(this, User { version: user.version + 1, updated_at: cx.now, ..next }).rows(gone))
}

fn remove_user(mut this: Access, cx: &DecisionContext<'_>, id: Id) -> AccessDecision {
    let user = this.user(id).cloned().ok_or_else(|| Refusal::not_found("user"))?;
    keep_an_admin(&this, id)?;
    let gone = without(&mut this, |session| session.user_id == id);
    Ok(with_user(this, User { archived: true, version: user.version + 1, updated_at: cx.now, ..(*user).clone() })
        .rows(gone))
}

fn add_key(this: Access, cx: &DecisionContext<'_>, command: &AccessCommand) -> AccessDecision {
    let AccessCommand::AddKey { name, hash, prefix, last4, role, customer_email, expires_at } = command else {
        return Ok(Decision::unchanged(AccessAnswer::Done));
    };
    let customer = customer_email.as_deref().map(normal_email).transpose();
    let mut faults = Faults::default();
    faults
        .check(!name.trim().is_empty(), "name", "must not be empty")
        .check(expires_at.is_none_or(|at| at > cx.now), "expiresAt", "must be in the future")
        .check(customer.is_ok(), "customerEmail", "must be an e-mail address")
        .check(
            customer_email.is_none() || *role == Role::Customer,
            "customerEmail",
            "is only allowed for customer keys",
        );
    faults.refuse()?;
    if this.keys.contains_key(hash) {
        return Err(Refusal::conflict("exists", "this key already exists; create a new one"));
    }
    let key = ApiKey {
        id: cx.ids.id(),
        name: name.trim().to_owned(),
        hash: hash.clone(),
        prefix: prefix.clone(),
        last4: last4.clone(),
        role: *role,
        customer_email: customer?,
        expires_at: *expires_at,
        revoked_at: None,
        last_used_at: None,
        created_at: cx.now,
    };
    Ok(with_key(this, key))
}

fn revoke_key(this: Access, cx: &DecisionContext<'_>, id: Id) -> AccessDecision {
    let key = this.key(id).cloned().ok_or_else(|| Refusal::not_found("api_key"))?;
    if key.revoked_at.is_some() {
        return Ok(Decision::unchanged(AccessAnswer::Key(key)));
    }
    Ok(with_key(this, ApiKey { revoked_at: Some(cx.now), ..(*key).clone() }))
}

/// Opens a session; `factor` is the user's second factor after this sign-in, if it changes.
fn open_session(
    mut this: Access,
    cx: &DecisionContext<'_>,
    user: &User,
    factor: Option<SecondFactor>,
    hash: &str,
    agent: Option<&str>,
) -> AccessDecision {
    if this.sessions.contains_key(hash) {
        return Err(Refusal::conflict("exists", "this session already exists; sign in again"));
    }
    let session = Arc::new(StaffSession {
        id: cx.ids.id(),
        user_id: user.id,
        hash: hash.to_owned(),
        created_at: cx.now,
        seen_at: cx.now,
        agent: agent.map(str::to_owned),
    });
    this.sessions.insert_mut(session.hash.clone(), session.clone());
    let mut rows = vec![AccessRow::Session((*session).clone())];
    if factor.is_some() {
        // No change that anybody would edit over: the version stays.
        let user = User { second_factor: factor, ..user.clone() };
        rows.push(AccessRow::User(user.clone()));
        this.users.insert_mut(user.id, Arc::new(user));
    }
    Ok(Decision::to(this, AccessAnswer::Session(session)).rows(rows))
}

/// Records the last use of keys and sessions. Times only move forward; keys and sessions that no longer exist are
/// skipped.
fn used(mut this: Access, keys: &[(Id, Timestamp)], sessions: &[(Id, Timestamp)]) -> Decision<Access> {
    let latest = |uses: &[(Id, Timestamp)]| {
        let mut latest = HashMap::<Id, Timestamp>::new();
        for (id, at) in uses {
            latest.entry(*id).and_modify(|previous| *previous = (*previous).max(*at)).or_insert(*at);
        }
        latest
    };
    let (key_uses, session_uses) = (latest(keys), latest(sessions));
    let mut rows = Vec::new();
    for key in this.keys.clone().values() {
        if let Some(at) = key_uses.get(&key.id).filter(|at| key.last_used_at.is_none_or(|last_used| last_used < **at)) {
            let key = ApiKey { last_used_at: Some(*at), ..(**key).clone() };
            rows.push(AccessRow::ApiKey(key.clone()));
            this.keys.insert_mut(key.hash.clone(), Arc::new(key));
        }
    }
    for session in this.sessions.clone().values() {
        if let Some(at) = session_uses.get(&session.id).filter(|at| session.seen_at < **at) {
            let session = StaffSession { seen_at: *at, ..(**session).clone() };
            rows.push(AccessRow::Session(session.clone()));
            this.sessions.insert_mut(session.hash.clone(), Arc::new(session));
        }
    }
    if rows.is_empty() {
        return Decision::unchanged(AccessAnswer::Done);
    }
    Decision::to(this, AccessAnswer::Done).rows(rows)
}
