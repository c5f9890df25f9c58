//! Past events once more: a replay goes through the delivery log in parts, so that one of a month is as small in memory as one of
//! an hour, and goes on after a crash where it was.

use super::decide::again;
use crate::domain::aggregate::{Decision, DecisionContext};
use crate::domain::endpoint::{Delivery, DeliveryState, Endpoint, EndpointAnswer};
use crate::domain::event;
use crate::domain::id::Id;
use crate::domain::refusal::Refusal;
use crate::domain::time::Timestamp;
use serde::{Deserialize, Serialize};

/// A replay under way.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replaying {
    /// Its replay number.
    pub number: u32,
    /// First deliveries made since then.
    pub since: Timestamp,
    /// Up to when it was asked for.
    pub upto: Timestamp,
    /// The last one that was looked at.
    pub after: Option<(Timestamp, Id)>,
}

impl Delivery {
    /// Whether a replay sends its event again: the first delivery of an event of the shop, no longer to be sent.
    pub fn is_past(&self) -> bool {
        self.replay == 0 && self.state != DeliveryState::Pending && self.event != event::TEST
    }
}

/// Begins one, unless there is nothing to send again.
pub(super) fn begin(
    this: &Endpoint,
    cx: &DecisionContext<'_>,
    since: Timestamp,
    count: u32,
) -> Result<Decision<Endpoint>, Refusal> {
    if this.replaying.is_some() {
        return Err(Refusal::conflict("replay_running", "the replay before is not through yet"));
    }
    if count == 0 {
        return Ok(Decision::unchanged(EndpointAnswer::Count(0)));
    }
    let number = this.replays + 1;
    let replaying = Some(Replaying { number, since, upto: cx.now, after: None });
    Ok(Decision::to(Endpoint { replays: number, replaying, ..this.clone() }, EndpointAnswer::Count(count)))
}

/// The next part of the log: `past` after `after`, oldest first; `end` when there is no more.
pub(super) fn part(
    this: &Endpoint,
    cx: &DecisionContext<'_>,
    after: Option<(Timestamp, Id)>,
    past: &[Delivery],
    end: bool,
) -> Decision<Endpoint> {
    let Some(replaying) = this.replaying.as_ref().filter(|replaying| replaying.after == after) else {
        return Decision::unchanged(EndpointAnswer::Done);
    };
    let mut next = this.clone();
    let mut rows = Vec::new();
    for past in past.iter().filter(|past| past.endpoint_id == this.id && past.is_past()) {
        let delivery = again(cx, past, replaying.number);
        rows.push(delivery.clone());
        next.place(delivery);
    }
    let last = past.last().map(|last| (last.created_at, last.id));
    next.replaying = (!end && last.is_some()).then(|| Replaying { after: last, ..replaying.clone() });
    Decision::to(next, EndpointAnswer::Done).rows(rows)
}
