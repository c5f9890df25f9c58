//! Second-factor rules: activation and deactivation by the user, one-time use of each proof, and a limit on guesses.
//!
//! Each attempt is counted before the HTTP layer checks its code, and the commit of a correct code undoes the count.
//! Concurrent attempts therefore cannot check more codes than the limit on wrong codes allows.

use super::decide::{UserDecision, credentials_changed, is_own, with_user, without};
use crate::access::{Access, FactorCommand, User, UserAnswer};
use crate::aggregate::{Command, Decision, DecisionContext};
use crate::audit::AuditedAct;
use crate::id::Id;
use crate::refusal::Refusal;
use crate::second_factor::{FactorProof, SECOND_FACTOR_REQUIRED, SecondFactor, TOO_MANY_CODES, WRONG_CODE};

/// Checks the second factor of a sign-in. Returns the factor with the proof marked as used, or `None` if the account
/// requires no second factor.
pub(super) fn check_sign_in(user: &User, proof: Option<&FactorProof>) -> Result<Option<SecondFactor>, Refusal> {
    let Some(factor) = user.second_factor.as_ref().filter(|factor| factor.is_on()) else { return Ok(None) };
    match proof {
        None => Err(Refusal::conflict(SECOND_FACTOR_REQUIRED, "enter the code from your authenticator app as well")),
        Some(proof) => factor.with_used(proof).map(Some).ok_or_else(wrong_code),
    }
}

fn wrong_code() -> Refusal {
    Refusal::conflict(WRONG_CODE, "the code is incorrect or was already used; wait for the next one")
}

fn with_factor(cx: &DecisionContext<'_>, user: &User, factor: Option<SecondFactor>) -> User {
    User { second_factor: factor, version: user.version + 1, updated_at: cx.now, ..user.clone() }
}

impl Command<Access> for FactorCommand {
    type Answer = UserAnswer;

    fn decide(&self, this: Option<&Access>, _: Id, cx: &DecisionContext<'_>) -> UserDecision {
        use FactorCommand as C;
        let mut this = this.cloned().unwrap_or_default();
        let user_of = |this: &Access, id: Id| this.user(id).cloned().ok_or_else(|| Refusal::not_found("user"));
        match self {
            C::Begin { user, checked_hash, encrypted_secret } => {
                let user = user_of(&this, *user)?;
                if user.password_hash != *checked_hash {
                    return Err(credentials_changed());
                }
                if user.second_factor.as_ref().is_some_and(SecondFactor::is_on) {
                    let words = "two-step sign-in is already on; turn it off first";
                    return Err(Refusal::conflict("second_factor_on", words));
                }
                let next = with_factor(cx, &user, Some(SecondFactor::unconfirmed(encrypted_secret.clone())));
                Ok(with_user(this, next))
            }
            C::Confirm { user, encrypted_secret, step, recovery_hashes, keep } => {
                let user = user_of(&this, *user)?;
                let pending = user.second_factor.as_ref().filter(|factor| factor.encrypted_secret == *encrypted_secret);
                let Some(pending) = pending.filter(|factor| !factor.is_on()) else {
                    let words = "two-step sign-in is not being set up; start again";
                    return Err(Refusal::conflict("second_factor_not_begun", words));
                };
                let factor = SecondFactor {
                    confirmed_at: Some(cx.now),
                    last_step: *step,
                    recovery_hashes: recovery_hashes.clone(),
                    ..SecondFactor::unconfirmed(pending.encrypted_secret.clone())
                };
                // Whoever is signed in by the password alone signs in again.
                let gone = without(&mut this, |session| session.user_id == user.id && Some(session.id) != *keep);
                let next = with_factor(cx, &user, Some(factor));
                Ok(with_user(this, next).rows(gone))
            }
            C::Remove { user, checked_hash, proof } => {
                let user = user_of(&this, *user)?;
                if user.password_hash != *checked_hash {
                    return Err(credentials_changed());
                }
                check_sign_in(&user, Some(proof))?;
                let next = with_factor(cx, &user, None);
                Ok(with_user(this, next))
            }
            C::CountCode(id) => {
                let user = user_of(&this, *id)?;
                let Some(factor) = &user.second_factor else {
                    return Ok(Decision::unchanged(UserAnswer { user: user.clone() }));
                };
                let counted = factor.with_guess(cx.now).ok_or_else(|| {
                    Refusal::conflict(
                        TOO_MANY_CODES,
                        "too many incorrect codes were entered; wait before you try again",
                    )
                })?;
                // No change that anybody would edit over: the version stays.
                Ok(with_user(this, User { second_factor: Some(counted), ..(*user).clone() }))
            }
            C::Reset(id) => {
                // Else whoever has somebody's session could switch theirs off without their password.
                if is_own(cx, *id) {
                    let words = "you cannot reset your own two-step sign-in; turn it off with your password and a code, or ask another admin";
                    return Err(Refusal::forbidden("own_second_factor", words));
                }
                let user = user_of(&this, *id)?;
                if user.second_factor.is_none() {
                    return Ok(Decision::unchanged(UserAnswer { user }));
                }
                let gone = without(&mut this, |session| session.user_id == user.id);
                let next = with_factor(cx, &user, None);
                Ok(with_user(this, next).rows(gone))
            }
        }
    }

    fn audited_act(&self) -> AuditedAct {
        match self {
            FactorCommand::Begin { .. } => AuditedAct::SecondFactorBegin,
            FactorCommand::Confirm { .. } => AuditedAct::SecondFactorConfirm,
            FactorCommand::Remove { .. } => AuditedAct::SecondFactorRemove,
            FactorCommand::CountCode(_) => AuditedAct::SecondFactorCode,
            FactorCommand::Reset(_) => AuditedAct::SecondFactorReset,
        }
    }

    fn subject(&self, answer: &UserAnswer) -> Option<(&'static str, Id)> {
        Some(("user", answer.user.id))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;
    use crate::access::{CREDENTIALS_CHANGED, OpenStaffSession, StaffCommand};
    use crate::principal::{Principal, Role};
    use crate::refusal::Class;
    use crate::testing::Bench;

    const HASH: &str = "$argon2id$";

    fn tell<C: Command<Access>>(
        bench: &mut Bench,
        access: &mut Option<Access>,
        command: &C,
    ) -> Result<C::Answer, Refusal> {
        bench.tell(access, Id::ONLY, command).map(|decided| decided.answer)
    }

    fn sign_in(user: Id, n: usize, proof: Option<FactorProof>) -> OpenStaffSession {
        OpenStaffSession { user, checked_hash: HASH.to_owned(), hash: format!("session {n}"), agent: None, proof }
    }

    /// Returns a user with an active second factor, confirmed by the code of step 10, and with three recovery codes.
    fn with_factor_on() -> (Bench, Option<Access>, Id) {
        let (mut bench, mut access) = (Bench::new(), None);
        let add = StaffCommand::Add {
            email: "ann@example.org".to_owned(),
            name: "Ann".to_owned(),
            password_hash: HASH.to_owned(),
            role: Role::Operator,
        };
        let user = tell(&mut bench, &mut access, &add).unwrap().user.id;
        tell(&mut bench, &mut access, &sign_in(user, 1_000, None)).unwrap();
        let (checked_hash, encrypted_secret) = (HASH.to_owned(), "v1:secret".to_owned());
        let begin = FactorCommand::Begin { user, checked_hash, encrypted_secret: encrypted_secret.clone() };
        tell(&mut bench, &mut access, &begin).unwrap();
        // Until a first code was right, nothing is asked.
        tell(&mut bench, &mut access, &sign_in(user, 1_001, None)).unwrap();
        let recovery_hashes = (0..3).map(|n| format!("hash {n}")).collect();
        let confirm = FactorCommand::Confirm { user, encrypted_secret, step: 10, recovery_hashes, keep: None };
        tell(&mut bench, &mut access, &confirm).unwrap();
        assert_eq!(access.as_ref().unwrap().sessions.size(), 0, "sessions of the password alone end");
        (bench, access, user)
    }

    #[test]
    fn a_factor_is_confirmed_with_the_secret_that_was_checked_and_set_up_once() {
        let (mut bench, mut access, user) = with_factor_on();
        let begin =
            FactorCommand::Begin { user, checked_hash: HASH.to_owned(), encrypted_secret: "v1:another".to_owned() };
        assert_eq!(tell(&mut bench, &mut access, &begin).unwrap_err().code, "second_factor_on");
        tell(&mut bench, &mut access, &FactorCommand::Reset(user)).unwrap();
        tell(&mut bench, &mut access, &begin).unwrap();
        let encrypted_secret = "v1:secret".to_owned();
        let outdated = FactorCommand::Confirm { user, encrypted_secret, step: 11, recovery_hashes: vec![], keep: None };
        assert_eq!(tell(&mut bench, &mut access, &outdated).unwrap_err().code, "second_factor_not_begun");
    }

    #[test]
    fn a_session_resets_the_factor_of_others_only() {
        let (bench, access, user) = with_factor_on();
        let by = |id: Id| Principal::User { id, email: "ann@example.org".to_owned(), role: Role::Admin };
        let reset = |by: &Principal| {
            let cx = DecisionContext { by, ..bench.cx() };
            FactorCommand::Reset(user).decide(access.as_ref(), Id::ONLY, &cx)
        };
        let refusal = reset(&by(user)).unwrap_err();
        assert_eq!((refusal.class, refusal.code.as_str()), (Class::Forbidden, "own_second_factor"));
        for by in [by(Id::ONLY), Principal::Machine] {
            let next = reset(&by).unwrap().next.unwrap();
            assert_eq!(next.user(user).unwrap().second_factor, None, "{by:?}");
        }
    }

    #[test]
    fn five_wrong_codes_lock_the_factor_and_a_right_one_is_taken_back() {
        let (mut bench, mut access, user) = with_factor_on();
        let count = FactorCommand::CountCode(user);
        for n in 0..10 {
            tell(&mut bench, &mut access, &count).unwrap();
            tell(&mut bench, &mut access, &sign_in(user, n, Some(FactorProof::Step(11 + n as i64)))).unwrap();
        }
        for _ in 0..5 {
            tell(&mut bench, &mut access, &count).unwrap();
        }
        assert_eq!(tell(&mut bench, &mut access, &count).unwrap_err().code, TOO_MANY_CODES);
        assert_eq!(access.as_ref().unwrap().user(user).unwrap().version, 3, "added, begun, confirmed");
        bench.now = bench.now.plus_ms(15 * 60_000);
        tell(&mut bench, &mut access, &count).unwrap();
    }

    #[test]
    fn no_answer_that_is_kept_has_the_secret_or_the_codes() {
        let (_, access, user) = with_factor_on();
        let json = serde_json::to_string(&UserAnswer { user: access.unwrap().user(user).unwrap().clone() }).unwrap();
        assert!(!json.contains("v1:secret") && !json.contains("hash 1") && json.contains("confirmedAt"), "{json}");
    }

    proptest! {
        #[test]
        fn each_proof_opens_one_session_and_none_is_opened_without(
            proofs in proptest::collection::vec((0i64..30, 0usize..3), 1..60),
        ) {
            let (mut bench, mut access, user) = with_factor_on();
            let mut opened: Vec<FactorProof> = Vec::new();
            for (n, (step, how)) in proofs.into_iter().enumerate() {
                let proof = match how {
                    0 => None,
                    1 => Some(FactorProof::Step(step)),
                    _ => Some(FactorProof::Recovery(format!("hash {step}"))),
                };
                let answer = tell(&mut bench, &mut access, &sign_in(user, n, proof.clone()));
                match (proof, answer) {
                    (None, answer) => prop_assert_eq!(answer.unwrap_err().code, SECOND_FACTOR_REQUIRED),
                    (Some(proof), Err(refusal)) => {
                        prop_assert_eq!(refusal.code, WRONG_CODE);
                        let fresh = match &proof {
                            FactorProof::Step(step) => *step > 10 && !opened.iter().any(|one| matches!(one, FactorProof::Step(other) if other >= step)),
                            FactorProof::Recovery(hash) => ["hash 0", "hash 1", "hash 2"].contains(&hash.as_str()) && !opened.contains(&proof),
                        };
                        prop_assert!(!fresh, "{:?} after {:?}", proof, opened);
                    }
                    (Some(proof), Ok(_)) => {
                        prop_assert!(!opened.contains(&proof), "{:?} twice", proof);
                        opened.push(proof);
                    }
                }
            }
            prop_assert_eq!(access.unwrap().sessions.size(), opened.len());
        }
    }

    #[test]
    fn a_factor_is_turned_off_with_the_password_and_a_proof() {
        let (mut bench, mut access, user) = with_factor_on();
        let remove = |hash: &str, step: i64| {
            let (checked_hash, proof) = (hash.to_owned(), FactorProof::Step(step));
            FactorCommand::Remove { user, checked_hash, proof }
        };
        for (command, code) in [(remove("$old", 11), CREDENTIALS_CHANGED), (remove(HASH, 10), WRONG_CODE)] {
            assert_eq!(tell(&mut bench, &mut access, &command).unwrap_err().code, code);
        }
        let off = tell(&mut bench, &mut access, &remove(HASH, 11)).unwrap().user;
        assert_eq!((off.second_factor.is_none(), off.version), (true, 4));
        for command in [FactorCommand::CountCode(user), FactorCommand::Reset(user)] {
            let decision = bench.tell(&mut access, Id::ONLY, &command).unwrap();
            assert!(decision.next.is_none() && decision.answer.user == off, "there is no factor: {command:?}");
        }
        let begin = |checked_hash: &str| FactorCommand::Begin {
            user,
            checked_hash: checked_hash.to_owned(),
            encrypted_secret: "v1:new".to_owned(),
        };
        assert_eq!(tell(&mut bench, &mut access, &begin("$old")).unwrap_err().code, CREDENTIALS_CHANGED);
        let unknown = FactorCommand::CountCode(Id::ONLY);
        assert_eq!(tell(&mut bench, &mut access, &unknown).unwrap_err().code, "user_not_found");
    }

    #[test]
    fn sessions_end_when_a_factor_is_confirmed_or_reset_except_the_one_that_confirms() {
        let (mut bench, mut access, user) = with_factor_on();
        let [one, two] = [1, 2].map(|n| {
            let proof = Some(FactorProof::Step(10 + n as i64));
            tell(&mut bench, &mut access, &sign_in(user, n, proof)).unwrap().session.id
        });
        let reset = bench.tell(&mut access, Id::ONLY, &FactorCommand::Reset(user)).unwrap();
        assert_eq!((reset.rows.len(), access.as_ref().unwrap().sessions.size()), (3, 0), "the user and both sessions");
        assert_ne!(one, two);
        let first = tell(&mut bench, &mut access, &sign_in(user, 3, None)).unwrap().session.id;
        tell(&mut bench, &mut access, &sign_in(user, 4, None)).unwrap();
        let (checked_hash, encrypted_secret) = (HASH.to_owned(), "v1:new".to_owned());
        let begin = FactorCommand::Begin { user, checked_hash, encrypted_secret: encrypted_secret.clone() };
        tell(&mut bench, &mut access, &begin).unwrap();
        let keep = Some(first);
        let confirm = FactorCommand::Confirm { user, encrypted_secret, step: 20, recovery_hashes: vec![], keep };
        tell(&mut bench, &mut access, &confirm).unwrap();
        let left: Vec<Id> = access.as_ref().unwrap().sessions.values().map(|session| session.id).collect();
        assert_eq!(left, [first]);
        assert_eq!(tell(&mut bench, &mut access, &confirm).unwrap_err().code, "second_factor_not_begun", "twice");
    }
}
