//! Selection of events, for all implementations of the store.

use domain::id::Id;

/// Filter for events; absent fields match all.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct EventFilter {
    /// Event names, such as `order.paid`; empty for all events.
    pub events: Vec<String>,
    /// Kind of the event's subject.
    pub subject_kind: Option<String>,
    /// ID of the event's subject.
    pub subject_id: Option<Id>,
}
