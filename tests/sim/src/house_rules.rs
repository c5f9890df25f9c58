//! Rules of the house, which its owner changes in the course of the story. As settings of a server do, a change takes
//! effect at the next start.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::error::SimError;

/// Rules of the house, with those of each server that ran.
pub struct HouseRules(Mutex<RuleState>);

struct RuleState {
    /// Parts count only once they are signed off, by the rules of the next server.
    is_sign_off_required: bool,
    /// Start of each server in milliseconds since the beginning, with its rule.
    servers: Vec<(i64, bool)>,
}

impl HouseRules {
    /// Creates the rules of a house in which nothing has been changed yet.
    pub fn new(is_sign_off_required: bool) -> Self {
        Self(Mutex::new(RuleState { is_sign_off_required, servers: Vec::new() }))
    }

    /// Decides whether parts count only once they are signed off, from the next start on.
    pub fn require_sign_off(&self, is_required: bool) {
        self.state().is_sign_off_required = is_required;
    }

    /// Notes the start of a server at this time, and returns whether its parts count only once they are signed off.
    pub fn begin(&self, now: i64) -> bool {
        let mut state = self.state();
        let is_required = state.is_sign_off_required;
        state.servers.push((now, is_required));
        is_required
    }

    /// Returns whether parts counted only once they were signed off, by the server that ran at this time.
    pub fn was_sign_off_required(&self, at: i64) -> bool {
        let state = self.state();
        let ran = state.servers.iter().rev().find(|(start, _)| *start <= at);
        ran.is_some_and(|(_, is_required)| *is_required)
    }

    /// Demands that a job whose last print ended at this time, and of which nobody has said anything, awaits a sign-off
    /// just if the server that ran then required one.
    pub fn check(&self, ended: i64, job: &Value) -> Result<(), SimError> {
        let is_required = self.was_sign_off_required(ended);
        if job["awaitsSignOff"] == is_required {
            return Ok(());
        }
        Err(SimError::Broken(format!("sign-offs are required: {is_required}, but {job}")))
    }

    /// Returns whether parts counted only once they were signed off, as long as any server ran.
    pub fn was_always_required(&self) -> bool {
        self.state().servers.iter().all(|(_, is_required)| *is_required)
    }

    /// Returns whether the rules were changed, for which the owner restarted the server.
    pub fn were_changed(&self) -> bool {
        self.state().servers.windows(2).any(|servers| servers[0].1 != servers[1].1)
    }

    fn state(&self) -> MutexGuard<'_, RuleState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
