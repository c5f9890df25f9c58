//! Storage for exports: only a snapshot row. An export stays in memory while its file still has to be written, or to be
//! deleted after it expires.

use sea_orm::ColumnTrait;
use sea_orm::sea_query::Condition;

use crate::load::Load;
use crate::rows::{snapshot_row, word};
use domain::export::{Export, ExportState};
use entities::exports;

snapshot_row!(Export in exports, |this, at_rest| {
    state: word(&this.state)?,
    customer_email: this.scope.customer_email.clone(),
    token_hash: this.token_hash.clone(),
    created_at: this.created_at.0,
});

impl Load for Export {
    fn resident() -> Option<Condition> {
        let with_file = [ExportState::Queued, ExportState::Running, ExportState::Ready, ExportState::Failed];
        let words = with_file.iter().map(word).collect::<Result<Vec<_>, _>>().ok()?;
        Some(Condition::all().add(exports::Column::State.is_in(words)))
    }
}
