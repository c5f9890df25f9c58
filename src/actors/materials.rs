//! Effects of materials: inform orders that their claims are held, and ask orders to return reservations.
//!
//! When a material's vendor code becomes known, the printers that hold spools of it are polled.

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

/// Effects of materials: coordinates a material with the orders that hold claims on it.
pub struct MaterialEffects {
    /// Orders that claim stock.
    pub orders: Directory<Order>,
    /// Printers that may hold spools of an unidentified material.
    pub printers: Directory<Printer>,
    /// Connections to these printers.
    pub connections: Arc<PrinterConnections>,
    /// Spool binding of each material as of its last commit; materials without a vendor code have none.
    pub spools: DashMap<Id, SpoolBinding>,
}

impl MaterialEffects {
    /// Requests a status poll of the printers that reported such spools before their material was known. The poll binds
    /// the spools; if it fails, a later one does.
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

    /// Notifies an order that claims are held.
    async fn tell_held(&self, of: &Handle<Material>, order: Id, claims: Vec<ClaimId>) {
        let held = claims.iter().map(|claim| (*claim, ClaimState::Held, None)).collect();
        match self.orders.ask(order, CommandOrigin::system(), OrderNews::Stock(of.id(), held)).await {
            // Refused: no such order, so nobody uses these claims.
            Ok(_) | Err(AskError::Refused(_)) => record(of, ClaimNews::Heard { claims }).await,
            Err(error) => tracing::debug!(%order, %error, "notifying an order failed; retrying"),
        }
    }

    /// Requests an order to give reservations up, and records which ones it retains. It settles those that it gives up.
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

/// Records what an order knows of the material's claims.
async fn record(of: &Handle<Material>, news: ClaimNews) {
    if let Err(error) = of.ask(CommandOrigin::system(), news, ASK_TIMEOUT).await {
        tracing::debug!(material = %of.id(), %error, "recording a notification failed; retrying");
    }
}
