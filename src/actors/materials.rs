//! What materials want of the outside: tell orders that their claims are held, until they acknowledge.

use crate::actors::envelope::Caller;
use crate::actors::handle::{AskError, Handle};
use crate::actors::things::WITHIN;
use crate::actors::world::World;
use crate::domain::material::{ClaimState, Material, MaterialCommand, TellOrder};
use crate::domain::order::OrderCommand;
use crate::shop::ShopRef;
use async_trait::async_trait;

/// The outside of materials.
pub struct MaterialWorld(pub ShopRef);

#[async_trait]
impl World<Material> for MaterialWorld {
    async fn pursue(&self, want: TellOrder, of: Handle<Material>) {
        let Some(shop) = self.0.get() else { return };
        let news = want.claims.iter().map(|claim| (*claim, ClaimState::Held, None)).collect();
        match shop.orders.ask(want.order, Caller::system(), OrderCommand::Stock(news)).await {
            Ok(_) | Err(AskError::Refused(_)) => {
                let heard = MaterialCommand::Heard { claims: want.claims };
                if let Err(error) = of.ask(Caller::system(), heard, WITHIN).await {
                    tracing::debug!(material = %of.id(), %error, "not noted, is told again");
                }
            }
            Err(error) => tracing::debug!(order = %want.order, %error, "order not told, is told again"),
        }
    }
}
