//! Messages that printers push over WebSockets.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use serde_json::Value;
use tokio::time::{Interval, MissedTickBehavior};

use crate::{VirtualPrinter, faults::make_absurd};

/// Builds the interval at which a printer pushes messages on its own. After a late tick, the next one follows a full
/// period later.
pub(crate) fn push_interval(period: Duration) -> Interval {
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Sends messages, applying [`make_absurd`] while the printer has that fault. Returns `false` if the peer has
/// disconnected.
pub(crate) async fn push(
    printer: &VirtualPrinter,
    socket: &mut WebSocket,
    messages: impl IntoIterator<Item = Value>,
) -> bool {
    for mut message in messages {
        if printer.faults().absurd_numbers {
            make_absurd(&mut message);
        }
        if socket.send(Message::Text(message.to_string().into())).await.is_err() {
            return false;
        }
    }
    true
}
