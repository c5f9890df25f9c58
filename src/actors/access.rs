//! Nothing is wanted of access; but streams must hear of its changes.

use crate::actors::handle::Handle;
use crate::actors::world::World;
use crate::domain::access::Access;
use crate::domain::durable::Versioned;
use crate::shop::ShopRef;
use async_trait::async_trait;
use std::sync::Arc;

/// The outside of access.
pub struct AccessWorld(pub ShopRef);

#[async_trait]
impl World<Access> for AccessWorld {
    async fn pursue(&self, (): (), _: Handle<Access>) {}

    fn committed(&self, _: &Handle<Access>, state: &Arc<Versioned<Access>>) {
        if let Some(shop) = self.0.get() {
            shop.access_changes.send_replace(state.version.unsigned_abs());
        }
    }
}
