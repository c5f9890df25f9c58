//! Access rules: who may be added, edited and removed, and which sessions end as a result.
//!
//! The email address of a deleted user may be reused for another user.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use crate::access::{
    Access, AccessCommand, AccessRow, ApiKey, CREDENTIALS_CHANGED, OpenStaffSession, SessionAnswer, StaffCommand,
    StaffSession, User, UserAnswer, UserEdit, factor, normal_email,
};
use crate::aggregate::{Aggregate, AuditFacts, Command, Confirmation, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::principal::{Principal, Role};
use crate::refusal::{Class, Faults, Refusal};
use crate::second_factor::SecondFactor;
use crate::time::Timestamp;

pub(super) type UserDecision = Result<Decision<Access, UserAnswer>, Refusal>;

impl Aggregate for Access {
    const KIND: &'static str = "access";
    type Row = AccessRow;
    type Created = Infallible;
    type Effect = ();

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

impl Command<Access> for StaffCommand {
    type Answer = UserAnswer;

    fn decide(&self, this: Option<&Access>, _: Id, cx: &DecisionContext<'_>) -> UserDecision {
        let this = this.cloned().unwrap_or_default();
        match self {
            StaffCommand::Add { email, name, password_hash, role } => {
                add_user(this, cx, email, name, password_hash, *role)
            }
            StaffCommand::AddFirstAdmin { email, name, password_hash } => {
                if this.admins().next().is_some() {
                    return Err(Refusal::conflict("admin_exists", "an admin already exists; sign in"));
                }
                add_user(this, cx, email, name, password_hash, Role::Admin)
            }
            StaffCommand::Update { id, if_version, checked_hash, change, keep } => {
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
            StaffCommand::Remove(id) => remove_user(this, cx, *id),
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            StaffCommand::Add { .. } | StaffCommand::AddFirstAdmin { .. } => AuditedAct::UserCreate,
            StaffCommand::Update { .. } => AuditedAct::UserUpdate,
            StaffCommand::Remove(_) => AuditedAct::UserDelete,
        }
    }

    fn subject(&self, answer: &UserAnswer) -> Option<(&'static str, Id)> {
        Some(("user", answer.user.id))
    }
}

impl Command<Access> for OpenStaffSession {
    type Answer = SessionAnswer;

    fn decide(&self, this: Option<&Access>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Access, Self::Answer> {
        let this = this.cloned().unwrap_or_default();
        let user = this.user(self.user).filter(|user| user.active && user.password_hash == self.checked_hash);
        let user = user.cloned().ok_or_else(credentials_changed)?;
        let factor = factor::check_sign_in(&user, self.proof.as_ref())?;
        open_session(this, cx, &user, factor, &self.hash, self.agent.as_deref())
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::SessionOpen
    }

    fn subject(&self, answer: &SessionAnswer) -> Option<(&'static str, Id)> {
        Some(("session", answer.session.id))
    }
}

impl Command<Access> for AccessCommand {
    type Answer = Confirmation;

    fn decide(&self, this: Option<&Access>, _: Id, cx: &DecisionContext<'_>) -> DecisionResult<Access> {
        let this = this.cloned().unwrap_or_default();
        Ok(match self {
            AccessCommand::EndSession(id) => end(this, |session| session.id == *id),
            AccessCommand::Used { keys, sessions } => used(this, keys, sessions),
            AccessCommand::Sweep { idle_ms, life_ms } => end(this, |session| session.over(cx.now, *idle_ms, *life_ms)),
            AccessCommand::Configured { completes, .. } => {
                let completed = this.setup_completed_at.or(completes.then_some(cx.now));
                Decision::to(Access { setup_completed_at: completed, ..this }, Confirmation::Done)
            }
            // An empty change: only the entry in the audit log is written.
            AccessCommand::Asked { .. } | AccessCommand::Configuring { .. } => Decision::to(this, Confirmation::Done),
        })
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            AccessCommand::Configuring { .. } => AuditedAct::SettingsPlan,
            AccessCommand::Configured { completes: true, .. } => AuditedAct::SetupComplete,
            AccessCommand::Configured { .. } => AuditedAct::SettingsWrite,
            AccessCommand::EndSession(_) => AuditedAct::SessionEnd,
            AccessCommand::Used { .. } => AuditedAct::AccessUsed,
            AccessCommand::Asked { skill, .. } => skill.action(),
            AccessCommand::Sweep { .. } => AuditedAct::SessionSweep,
        }
    }

    fn subject(&self, _: &Confirmation) -> Option<(&'static str, Id)> {
        match self {
            AccessCommand::EndSession(id) => Some(("session", *id)),
            _ => None,
        }
    }

    fn audit_facts(&self) -> AuditFacts {
        match self {
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
}

/// Builds the refusal for a password that was correct when the HTTP layer checked it but no longer is.
pub(super) fn credentials_changed() -> Refusal {
    Refusal::conflict(CREDENTIALS_CHANGED, "the password was changed in the meantime; sign in with the new one")
}

/// Returns whether the user being changed is the caller.
pub(super) fn is_own(cx: &DecisionContext<'_>, user: Id) -> bool {
    matches!(cx.by, Principal::User { id, .. } if *id == user)
}

fn email_taken() -> Refusal {
    Refusal::conflict("email_taken", "this email address is already in use by another user")
}

fn staff_role(faults: &mut Faults, role: Role) {
    faults.check(role != Role::Customer, "role", "must be operator or admin");
}

/// Rejects a change to the user `but` that would leave no active admin.
fn keep_an_admin(this: &Access, but: Id) -> Result<(), Refusal> {
    let administers = this.user(but).is_some_and(|user| user.administers());
    if administers && !this.admins().any(|admin| admin.id != but) {
        return Err(Refusal::conflict(
            "last_admin",
            "the last active admin cannot be removed, demoted or disabled; make another user an admin first",
        ));
    }
    Ok(())
}

pub(super) fn with_user(mut this: Access, user: User) -> Decision<Access, UserAnswer> {
    let user = Arc::new(user);
    this.users.insert_mut(user.id, user.clone());
    let row = AccessRow::User((*user).clone());
    Decision::to(this, UserAnswer { user }).rows([row])
}

/// Removes the sessions that match `over` and returns the rows that delete them.
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
        return Decision::unchanged(Confirmation::Done);
    }
    Decision::to(this, Confirmation::Done).rows(gone)
}

fn add_user(
    this: Access,
    cx: &DecisionContext<'_>,
    email: &str,
    name: &str,
    password_hash: &str,
    role: Role,
) -> UserDecision {
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
        language: None,
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
) -> UserDecision {
    let user = this.user(id).cloned().ok_or_else(|| Refusal::not_found("user"))?;
    if if_version.is_some_and(|expected| expected != user.version) {
        return Err(Refusal::new(
            Class::Stale,
            "stale_version",
            "the user account has changed since you read it; reload it and repeat the change",
        ));
    }
    let next = User {
        name: change.name.as_ref().map_or_else(|| user.name.clone(), |name| name.trim().to_owned()),
        language: change.language.unwrap_or(user.language),
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
        return Ok(Decision::unchanged(UserAnswer { user }));
    }
    let (other_powers, new_password) =
        (next.role != user.role || !next.active, next.password_hash != user.password_hash);
    let gone = without(&mut this, |session| {
        session.user_id == id && (other_powers || (new_password && Some(session.id) != keep))
    });
    Ok(with_user(this, User { version: user.version + 1, updated_at: cx.now, ..next }).rows(gone))
}

fn remove_user(mut this: Access, cx: &DecisionContext<'_>, id: Id) -> UserDecision {
    let user = this.user(id).cloned().ok_or_else(|| Refusal::not_found("user"))?;
    keep_an_admin(&this, id)?;
    let gone = without(&mut this, |session| session.user_id == id);
    Ok(with_user(this, User { archived: true, version: user.version + 1, updated_at: cx.now, ..(*user).clone() })
        .rows(gone))
}

/// Opens a session; `factor` is the user's second factor after this sign-in, if it changes.
fn open_session(
    mut this: Access,
    cx: &DecisionContext<'_>,
    user: &User,
    factor: Option<SecondFactor>,
    hash: &str,
    agent: Option<&str>,
) -> Result<Decision<Access, SessionAnswer>, Refusal> {
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
    Ok(Decision::to(this, SessionAnswer { session }).rows(rows))
}

/// Records when keys and sessions were last used. Times only move forward; keys and sessions that no longer exist are
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
        return Decision::unchanged(Confirmation::Done);
    }
    Decision::to(this, Confirmation::Done).rows(rows)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::testing::Bench;
    use words::Language;

    #[test]
    fn a_language_is_chosen_and_left_to_the_browser_again() {
        let (bench, mut access) = (Bench::new(), None);
        let [email, name, password_hash] = ["ada@example.org", "Ada", "$argon2id$"].map(str::to_owned);
        let ada = StaffCommand::Add { email, name, password_hash, role: Role::Admin };
        let id = bench.tell(&mut access, Id::ONLY, &ada).unwrap().answer.user.id;
        for language in [Some(Language::German), Some(Language::English), None] {
            for chosen in [Some(language), None] {
                let change = UserEdit { language: chosen, ..UserEdit::default() };
                let change = StaffCommand::Update { id, if_version: None, checked_hash: None, change, keep: None };
                let user = bench.tell(&mut access, Id::ONLY, &change).unwrap().answer.user;
                assert_eq!(user.language, language, "a language that is omitted stays");
                assert_eq!(serde_json::to_value(&*user).unwrap().get("language").is_some(), language.is_some());
            }
        }
    }
}
