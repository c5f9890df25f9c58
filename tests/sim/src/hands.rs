//! Manual work of people at a printer that makes it ready to print again.

use axum::http::Method;
use serde_json::json;
use simulator::printer::Controller;

use crate::error::SimError;
use crate::machine::FloorMachine;
use crate::shop::Shop;
use crate::world::World;

/// Makes a printer ready: restarts a controller that has shut down, once the cause has ended, and homes the axes if
/// necessary.
pub async fn set_right(
    world: &World,
    shop: &Shop,
    machine: &FloorMachine,
    id: &str,
    needs_home: bool,
) -> Result<(), SimError> {
    let is_halted = machine.with(|machine| {
        let is_halted = matches!(machine.controller(), Controller::Halted { .. });
        // One that shuts down again at once is nobody's to set right.
        is_halted && !machine.faults().firmware_shutdown && machine.restart().is_ok()
    });
    if is_halted {
        world.story.tell(format!("staff: the controller of {} is started again", machine.name));
    }
    let is_ready = machine.with(|machine| *machine.controller() == Controller::Ready && machine.job().is_none());
    if needs_home && is_ready {
        shop.request(Method::POST, &format!("/api/printers/{id}/home"), &json!({})).await?;
    }
    Ok(())
}
