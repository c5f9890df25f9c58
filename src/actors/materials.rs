//! Effects of materials: tell orders that their claims are held, and ask for reservations to be given back.

use async_trait::async_trait;

use crate::actors::kernel::directory::{ASK_TIMEOUT, Directory};
use crate::actors::kernel::effects::Effects;
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::handle::{AskError, Handle};
use crate::domain::material::{ClaimState, Material, MaterialCommand, MaterialEffect};
use crate::domain::order::{Order, OrderAnswer, OrderCommand};

/// Talks to the orders that hold claims on a material.
pub struct MaterialEffects {
    /// Orders that claim stock.
    pub orders: Directory<Order>,
}

#[async_trait]
impl Effects<Material> for MaterialEffects {
    async fn run(&self, effect: MaterialEffect, of: Handle<Material>) {
        let (order, news) = match &effect {
            MaterialEffect::TellHeld { order, claims } => {
                let held = claims.iter().map(|claim| (*claim, ClaimState::Held, None)).collect();
                (*order, OrderCommand::Stock(of.id(), held))
            }
            MaterialEffect::AskBack { order, claims } => {
                let state = of.read();
                let Some(material) = &state.state else { return };
                (*order, OrderCommand::Recall(claims.clone(), material.recall_words()))
            }
        };
        let answer = match self.orders.ask(order, CommandOrigin::system(), news).await {
            Ok(answered) => Some(answered.answer),
            // No such order: nobody uses these claims.
            Err(AskError::Refused(_)) => None,
            Err(error) => return tracing::debug!(%order, %error, "order not told, is told again"),
        };
        let noted = match (effect, answer) {
            (MaterialEffect::TellHeld { claims, .. }, _) => MaterialCommand::Heard { claims },
            (MaterialEffect::AskBack { .. }, Some(OrderAnswer::Kept(claims))) if !claims.is_empty() => {
                MaterialCommand::Kept { claims }
            }
            // Given up: the order settles it.
            (MaterialEffect::AskBack { .. }, _) => return,
        };
        if let Err(error) = of.ask(CommandOrigin::system(), noted, ASK_TIMEOUT).await {
            tracing::debug!(material = %of.id(), %error, "not noted, is told again");
        }
    }
}
