//! Effects of materials: inform orders that their claims are held, and ask orders to release reservations.
//!
//! When a material gets a vendor code, the printers that hold spools with that code are polled.

use std::sync::Arc;

use async_trait::async_trait;
use dashmap::DashMap;

use domain::aggregate::Versioned;
use domain::id::Id;
use domain::material::{ClaimId, ClaimNews, ClaimState, Material, MaterialEffect};
use domain::order::{Order, OrderNews, RecallClaims};
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
    /// poll binds the spools to the material; if it fails, a later poll does so.
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

    /// Notifies an order that its claims are held.
    async fn tell_held(&self, of: &Handle<Material>, order: Id, claims: Vec<ClaimId>) {
        let held = claims.iter().map(|claim| (*claim, ClaimState::Held, None)).collect();
        match self.orders.ask(order, CommandOrigin::system(), OrderNews::Stock(of.id(), held)).await {
            // Refused: no such order, so nobody uses these claims.
            Ok(_) | Err(AskError::Refused(_)) => record(of, ClaimNews::Heard { claims }).await,
            Err(error) => tracing::debug!(%order, %error, "notifying an order failed; retrying"),
        }
    }

    /// Asks an order to release reservations, and records which ones the order keeps. The order settles those it
    /// releases.
    async fn ask_back(&self, of: &Handle<Material>, order: Id, claims: Vec<ClaimId>) {
        let Some(words) = of.read().state.as_ref().map(Material::recall_words) else { return };
        match self.orders.ask(order, CommandOrigin::system(), RecallClaims(claims, words)).await {
            Ok(answered) if answered.answer.is_empty() => {}
            Ok(answered) => record(of, ClaimNews::Kept { claims: answered.answer }).await,
            // No such order: nobody uses these claims.
            Err(AskError::Refused(_)) => {}
            Err(error) => tracing::debug!(%order, %error, "notifying an order failed; retrying"),
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
        match effect {
            MaterialEffect::TellHeld { order, claims } => self.tell_held(&of, order, claims).await,
            MaterialEffect::AskBack { order, claims } => self.ask_back(&of, order, claims).await,
        }
    }
}

/// Records an order's information about its claims on the material.
async fn record(of: &Handle<Material>, news: ClaimNews) {
    if let Err(error) = of.ask(CommandOrigin::system(), news, ASK_TIMEOUT).await {
        tracing::debug!(material = %of.id(), %error, "recording a notification failed; retrying");
    }
}
