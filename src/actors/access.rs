//! Nothing is wanted of access; but streams must hear of its changes.

use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::handle::Handle;
use crate::app::AppRef;
use crate::domain::access::Access;
use crate::domain::aggregate::Versioned;
use async_trait::async_trait;
use std::sync::Arc;

/// The outside of access.
pub struct AccessWorld(pub AppRef);

#[async_trait]
impl Effects<Access> for AccessWorld {
    async fn run(&self, (): (), _: Handle<Access>) {}

    fn committed(&self, _: &Handle<Access>, state: &Arc<Versioned<Access>>) {
        if let Some(shop) = self.0.get() {
            shop.access_changes.send_replace(state.version.unsigned_abs());
        }
    }
}
