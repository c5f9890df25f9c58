//! Storage of the accounting system connection: one snapshot row, always in memory.

use sea_orm::sea_query::Condition;

use crate::domain::accounting::Accounting;
use crate::store::load::Load;
use crate::store::rows::snapshot_row;

snapshot_row!(Accounting in accounting, |this, at_rest| {
    connected: this.link.is_some(),
});

impl Load for Accounting {
    fn resident() -> Option<Condition> {
        Some(Condition::all())
    }
}
