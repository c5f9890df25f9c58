//! Effects of materials, which inform orders that their claims are held, and ask orders to return reservations.
//!
//! When a material gets a vendor code, the printers that hold spools with that code are polled.

use std::sync::Arc;

use async_trait::async_trait;
use dashmap::DashMap;

use domain::aggregate::Versioned;
use domain::id::Id;
use domain::material::{ClaimState, Material, MaterialCommand, MaterialEffect};
use domain::order::{Order, OrderAnswer, OrderCommand};
use domain::printer::{Printer, SpoolBinding};
use kernel::directory::{ASK_TIMEOUT, Directory};
use kernel::effects::Effects;
use kernel::envelope::CommandOrigin;
use kernel::handle::{AskError, Handle};
use printers::connections::PrinterConnections;

/// Effects of materials, which coordinate a material with the orders that have claims on it.
pub struct MaterialEffects {
    /// Orders that claim stock.
    pub orders: Directory<Order>,
    /// Printers that may hold spools of an unidentified material.
    pub printers: Directory<Printer>,
    /// Connections to the printers.
    pub connections: Arc<PrinterConnections>,
    /// Spool binding of each material as of its last commit; materials without a vendor code have none.
    pub spools: DashMap<Id, SpoolBinding>,
}

impl MaterialEffects {
    /// Requests a status poll of the printers that reported matching spools before the material was identified. The
    /// poll binds the spools to the material; if it fails, a later poll does.
    fn look_for(&self, spools: SpoolBinding) {
        let bindings = [spools];
        for (id, printer) in self.printers.all_resident() {
            if printer.state.as_ref().is_some_and(|printer| printer.binds(&bindings))
                && let Some(connection) = self.connections.get(id)
            {
                connection.look.notify_one();
            }
        }
    }
}

#[async_trait]
impl Effects<Material> for MaterialEffects {
    fn committed(&self, of: &Handle<Material>, state: &Arc<Versioned<Material>>) {
        match state.state.as_ref().and_then(SpoolBinding::of) {
            Some(spools) => {
                if self.spools.insert(of.id(), spools.clone()).as_ref() != Some(&spools) {
                    self.look_for(spools);
                }
            }
            None => {
                self.spools.remove(&of.id());
            }
        }
    }

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
            Err(error) => return tracing::debug!(%order, %error, "notifying an order failed; retrying"),
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
            tracing::debug!(material = %of.id(), %error, "recording a notification failed; retrying");
        }
    }
}
