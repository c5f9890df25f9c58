//! Keeper of the spools: the staff member who links the first material to the spool manager and decides what no one
//! else can, and anyone who uses filament outside the shop. Unacknowledged requests are repeated.

use axum::http::Method;
use serde_json::json;

use crate::acknowledgements::ShopReply;
use crate::agenda::Agenda;
use crate::error::SimError;
use crate::shop::Shop;
use crate::size::Size;
use crate::spool_manager::{FILAMENT, SpoolPlan};
use crate::world::World;

/// Name of the link on the agenda.
const LINK: &str = "link";

/// Keeper of the spools.
pub struct SpoolKeeper {
    plan: SpoolPlan,
    /// The material is linked.
    is_linked: bool,
    /// The link has begun to move stock.
    is_agreed: bool,
    /// Number of uses that took place.
    uses: usize,
    /// Number of decisions by which the stock there was set to the shop's, regardless of what had been used there.
    pub decisions: u32,
    looks: Agenda,
}

impl SpoolKeeper {
    /// Creates the keeper of a plan.
    pub fn new(plan: SpoolPlan, size: Size) -> Self {
        let looks = Agenda::new(size.look_every_ms());
        Self { plan, is_linked: false, is_agreed: false, uses: 0, decisions: 0, looks }
    }

    /// Returns whether the link moves stock, and all uses took place.
    pub fn is_done(&self) -> bool {
        self.is_agreed && self.uses == self.plan.uses.len()
    }

    /// Does what is due with the link of a material.
    pub async fn step(&mut self, world: &World, shop: &Shop, material: &str) -> Result<(), SimError> {
        let now = world.clock.elapsed_ms();
        if now < self.plan.link_ms {
            return Ok(());
        }
        if !self.is_linked {
            return self.link(world, shop, material).await;
        }
        while let Some((_, grams)) = self.plan.uses.get(self.uses).filter(|(at, _)| self.is_agreed && *at <= now) {
            world.spool_manager.use_up(*grams);
            self.uses += 1;
        }
        if self.looks.is_due(LINK, now, 0) { self.look_after(world, shop, material).await } else { Ok(()) }
    }

    /// Links the material, once the server has read the entries of the spool manager.
    async fn link(&mut self, world: &World, shop: &Shop, material: &str) -> Result<(), SimError> {
        let path = format!("/api/inventory/materials/{material}/links");
        let body = json!({"system": "spools", "entryId": FILAMENT});
        let answer = shop.request(Method::POST, &path, &body).await?;
        // A server that has just started has not read them.
        if answer.is_failure() || answer.has_status(400) {
            return Ok(());
        }
        answer.expect(201)?;
        world.story.tell("staff: the first material is linked to the spool manager");
        self.is_linked = true;
        Ok(())
    }

    /// Decides that the shop is right, before the link moves anything, and when no one can determine what became of a
    /// change.
    async fn look_after(&mut self, world: &World, shop: &Shop, material: &str) -> Result<(), SimError> {
        let Some(all) = shop.read("/api/inventory/stock-links").await? else { return Ok(()) };
        let now = world.clock.elapsed_ms();
        self.looks.look(LINK, now, 0);
        let links = all["links"].as_array().map(Vec::as_slice).unwrap_or_default();
        let Some(link) = links.iter().find(|link| link["materialId"] == material) else {
            return Err(SimError::Broken(format!("the link to the spool manager is gone: {all}")));
        };
        let is_conflict = link["state"] == "conflict";
        if !is_conflict && link["state"] != "preview" {
            self.is_agreed = true;
            return Ok(());
        }
        self.looks.wake(LINK, now);
        if link["theirs"].is_null() {
            return Ok(());
        }
        // Whether or not it is answered.
        self.decisions += u32::from(is_conflict);
        let path = format!("/api/inventory/materials/{material}/links/spools/agree");
        if let ShopReply::Done(_) = shop.change(Method::POST, &path, &json!({"right": "ours"})).await? {
            world.story.tell(format!("staff: the shop is right, and not the spool manager: {}", link["conflict"]));
        }
        Ok(())
    }
}
