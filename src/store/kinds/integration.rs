//! Storage for integrations that follow events: only a snapshot row, which is read when the integration starts.

use sea_orm::sea_query::Condition;

use crate::load::Load;
use crate::rows::snapshot_row;
use domain::integration::Integration;

snapshot_row!(Integration in integrations unique name, |this, at_rest| {
    name: this.name.clone(),
    created_at: this.created_at.0,
});

impl Load for Integration {
    fn resident() -> Option<Condition> {
        None
    }
}
