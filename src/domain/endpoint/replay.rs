//! Replay of past events. A replay reads the delivery log in parts, so that replaying a month needs no more memory than
//! replaying an hour. It records its progress, so that it can resume after a crash.

use serde::{Deserialize, Serialize};

use super::decide::{again, existing};
use crate::aggregate::{Command, Confirmation, Decision, DecisionContext, DecisionResult};
use crate::audit::AuditedAct;
use crate::endpoint::{Delivery, DeliveryState, Endpoint, ReplayAnswer, ReplayEvents};
use crate::event;
use crate::id::Id;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// Position in the delivery log that a replay has reached.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReplayProgress {
    /// Replay number of the deliveries that the replay creates.
    pub number: u32,
    /// Start of the range, by creation time of the first delivery.
    pub since: Timestamp,
    /// End of the range: the time at which the replay was requested.
    pub upto: Timestamp,
    /// Last delivery in the log that was processed; `None` at the beginning.
    pub after: Option<(Timestamp, Id)>,
}

impl Delivery {
    /// Returns whether a replay sends the delivery's event again: the delivery must be the event's first, no longer
    /// pending, and not a test.
    pub fn is_past(&self) -> bool {
        self.replay == 0 && self.state != DeliveryState::Pending && self.event != event::TEST
    }
}

impl Command<Endpoint> for ReplayEvents {
    type Answer = ReplayAnswer;

    /// Starts a replay; does nothing if there are no events.
    fn decide(
        &self,
        this: Option<&Endpoint>,
        _: Id,
        cx: &DecisionContext<'_>,
    ) -> DecisionResult<Endpoint, Self::Answer> {
        let this = existing(this)?;
        let Self { since, count } = *self;
        if this.replaying.is_some() {
            return Err(Refusal::conflict("replay_running", "another replay is in progress; wait until it ends"));
        }
        if count == 0 {
            return Ok(Decision::unchanged(ReplayAnswer { count }));
        }
        let number = this.replays + 1;
        let replaying = Some(ReplayProgress { number, since, upto: cx.now, after: None });
        Ok(Decision::to(Endpoint { replays: number, replaying, ..this.clone() }, ReplayAnswer { count }))
    }

    fn audited_act(&self) -> AuditedAct {
        AuditedAct::EndpointReplay
    }
}

/// Creates deliveries for the next part of the log: `past` was read after `after`, oldest first; `end` marks the final
/// part.
pub(super) fn part(
    this: &Endpoint,
    cx: &DecisionContext<'_>,
    after: Option<(Timestamp, Id)>,
    past: &[Delivery],
    end: bool,
) -> Decision<Endpoint> {
    let Some(replaying) = this.replaying.as_ref().filter(|replaying| replaying.after == after) else {
        return Decision::unchanged(Confirmation::Done);
    };
    let mut next = this.clone();
    let mut rows = Vec::new();
    for past in past.iter().filter(|past| past.endpoint_id == this.id && past.is_past()) {
        let delivery = again(cx, past, replaying.number);
        rows.push(delivery.clone());
        next.place(delivery, cx.now);
    }
    let last = past.last().map(|last| (last.created_at, last.id));
    next.replaying = (!end && last.is_some()).then(|| ReplayProgress { after: last, ..replaying.clone() });
    Decision::to(next, Confirmation::Done).rows(rows)
}
