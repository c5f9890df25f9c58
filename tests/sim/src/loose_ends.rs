//! Work that is left over outside of production: events on their way to the server.

use crate::error::SimError;
use crate::world::World;

/// Returns something that is not done yet; `None` if all is.
pub fn first(world: &World) -> Result<Option<String>, SimError> {
    Ok(world.processor.first_event().map(|event| format!("{} is on its way to the server", event.name)))
}
