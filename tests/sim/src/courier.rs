//! Courier between the payment processor and the server: delivers each event when it is due, even while the server
//! waits for the response to the call that caused the event.

use std::time::Duration;

use simulator::payments::signature;
use tokio::time::sleep;

use crate::error::SimError;
use crate::processor::WaitingEvent;
use crate::settings::PAYMENT_SECRET;
use crate::shop::Shop;
use crate::world::World;

/// Runs `act` on a server while payment events are delivered to it.
pub async fn while_events_come<T>(
    world: &World,
    shop: &Shop,
    act: impl Future<Output = Result<T, SimError>>,
) -> Result<T, SimError> {
    tokio::select! {
        biased; // an event that is due comes before whatever people do at the same time
        error = bring_events(world, shop) => Err(error),
        result = act => result,
    }
}

/// Delivers events as they become due, one after another. Returns only on an error.
async fn bring_events(world: &World, shop: &Shop) -> SimError {
    loop {
        let Some(event) = world.processor.first_event() else {
            world.processor.departure().await;
            continue;
        };
        let wait_ms = event.due_ms - world.clock.elapsed_ms();
        if wait_ms > 0 {
            tokio::select! {
                biased; // another event may be due earlier
                () = world.processor.departure() => {}
                () = sleep(Duration::from_millis(wait_ms.unsigned_abs())) => {}
            }
            continue;
        }
        match bring(world, shop, &event).await {
            Ok(is_taken) => world.processor.settle_event(event.number, is_taken),
            Err(error) => return error,
        }
    }
}

/// Delivers an event. Returns whether the server has accepted it.
async fn bring(world: &World, shop: &Shop, event: &WaitingEvent) -> Result<bool, SimError> {
    let signed = signature(PAYMENT_SECRET, world.clock.now().0 / 1000, event.body.as_bytes());
    let status = shop.payment_event(&signed, event.body.clone()).await?;
    world.story.tell(format!("processor: {} is answered with {status}", event.name));
    match status {
        200 => Ok(true),
        409 | 429 | 500.. => Ok(false),
        other => Err(SimError::Broken(format!("{} was answered with {other}", event.name))),
    }
}
