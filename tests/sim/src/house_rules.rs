//! House rules, which the owner changes during the story. Like a server setting, a change takes effect at the next
//! start.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::error::SimError;

/// House rules, with the rule in effect for each server that ran.
pub struct HouseRules(Mutex<RuleState>);

struct RuleState {
    /// `true` if parts count only after a sign-off, according to the rule for the next server.
    is_sign_off_required: bool,
    /// Start of each server, in milliseconds since the start of the simulation, with its rule.
    servers: Vec<(i64, bool)>,
}

impl HouseRules {
    /// Creates house rules without changes.
    pub fn new(is_sign_off_required: bool) -> Self {
        Self(Mutex::new(RuleState { is_sign_off_required, servers: Vec::new() }))
    }

    /// Sets whether parts count only after a sign-off, effective from the next start.
    pub fn require_sign_off(&self, is_required: bool) {
        self.state().is_sign_off_required = is_required;
    }

    /// Records the start of a server at this time, and returns whether its parts count only after a sign-off.
    pub fn begin(&self, now: i64) -> bool {
        let mut state = self.state();
        let is_required = state.is_sign_off_required;
        state.servers.push((now, is_required));
        is_required
    }

    /// Returns whether the server that ran at this time required a sign-off.
    pub fn was_sign_off_required(&self, at: i64) -> bool {
        let state = self.state();
        let ran = state.servers.iter().rev().find(|(start, _)| *start <= at);
        ran.is_some_and(|(_, is_required)| *is_required)
    }

    /// Checks that a job whose last print ended at this time and has no sign-off awaits one exactly if the server that
    /// ran at that time required it.
    pub fn check(&self, ended: i64, job: &Value) -> Result<(), SimError> {
        let is_required = self.was_sign_off_required(ended);
        if job["awaitsSignOff"] == is_required {
            return Ok(());
        }
        Err(SimError::Broken(format!("sign-offs are required: {is_required}, but {job}")))
    }

    /// Returns whether every server so far required a sign-off.
    pub fn was_always_required(&self) -> bool {
        self.state().servers.iter().all(|(_, is_required)| *is_required)
    }

    /// Returns whether the rule was changed, for which the owner restarted the server.
    pub fn were_changed(&self) -> bool {
        self.state().servers.windows(2).any(|servers| servers[0].1 != servers[1].1)
    }

    fn state(&self) -> MutexGuard<'_, RuleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
