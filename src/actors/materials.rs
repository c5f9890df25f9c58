//! What materials want of the outside: tell orders that their claims are held, and ask reservations back.

use crate::actors::kernel::directory::WITHIN;
use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::handle::{AskError, Handle};
use crate::app::AppRef;
use crate::domain::material::{ClaimState, Material, MaterialCommand, MaterialEffect};
use crate::domain::order::{OrderAnswer, OrderCommand};
use async_trait::async_trait;

/// The outside of materials.
pub struct MaterialWorld(pub AppRef);

#[async_trait]
impl Effects<Material> for MaterialWorld {
    async fn run(&self, want: MaterialEffect, of: Handle<Material>) {
        let Some(shop) = self.0.get() else { return };
        let (order, news) = match &want {
            MaterialEffect::TellHeld { order, claims } => {
                let held = claims.iter().map(|claim| (*claim, ClaimState::Held, None)).collect();
                (*order, OrderCommand::Stock(held))
            }
            MaterialEffect::AskBack { order, claims } => {
                let state = of.read();
                let Some(material) = &state.state else { return };
                (*order, OrderCommand::Recall(claims.clone(), material.recall_words()))
            }
        };
        let answer = match shop.orders.ask(order, CommandOrigin::system(), news).await {
            Ok(answered) => Some(answered.answer),
            // No such order: nobody uses it.
            Err(AskError::Refused(_)) => None,
            Err(error) => return tracing::debug!(%order, %error, "order not told, is told again"),
        };
        let noted = match (want, answer) {
            (MaterialEffect::TellHeld { claims, .. }, _) => MaterialCommand::Heard { claims },
            (MaterialEffect::AskBack { .. }, Some(OrderAnswer::Kept(claims))) if !claims.is_empty() => {
                MaterialCommand::Kept { claims }
            }
            // Given up: the order settles it.
            (MaterialEffect::AskBack { .. }, _) => return,
        };
        if let Err(error) = of.ask(CommandOrigin::system(), noted, WITHIN).await {
            tracing::debug!(material = %of.id(), %error, "not noted, is told again");
        }
    }
}
