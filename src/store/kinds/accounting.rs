//! Storage for the accounting connection: one snapshot row, which is always in memory.

use sea_orm::sea_query::Condition;

use crate::load::Load;
use crate::rows::snapshot_row;
use domain::accounting::Accounting;

snapshot_row!(Accounting in accounting, |this, at_rest| {
    connected: this.link.is_some(),
});

impl Load for Accounting {
    fn resident() -> Option<Condition> {
        Some(Condition::all())
    }
}
