//! Oracle of the spool manager, which counts a material as well: both sides agree in the end, and each change has moved
//! stock on the other side once.

use super::demand;
use crate::error::SimError;
use crate::people::People;
use crate::world::World;
use domain::id::Id;
use domain::material::MovementKind;
use domain::parts_sync::StockLink;
use store::memory::Tables;

/// Both sides of the link, as they are on the disk and in the spool manager.
struct Sides<'a> {
    link: &'a StockLink,
    /// Thousandths of a gram that the shop has.
    ours: i64,
    /// The same in the spool manager.
    theirs: i64,
}

impl Sides<'_> {
    /// Returns whether both sides have the same, and nothing is under way between them.
    fn are_equal(&self) -> bool {
        let agreed = self.link.agreed.as_ref().map(|items| items.values().map(|amount| amount.0).sum::<i64>());
        let is_quiet = self.link.pending.is_none() && self.link.conflict.is_none();
        is_quiet && self.ours == self.theirs && agreed == Some(self.ours)
    }

    fn words(&self) -> String {
        format!("{} thousandths of a gram here, {} in the spool manager: {:?}", self.ours, self.theirs, self.link)
    }
}

/// Returns the linked material; `None` if the story has no spool manager.
fn material_of(people: &People) -> Option<Id> {
    people.keeper.as_ref()?;
    people.catalogue.materials.first()?.parse().ok()
}

fn sides<'a>(world: &World, tables: &'a Tables, material: Id) -> Option<Sides<'a>> {
    let link = tables.parts::<StockLink>().find(|link| link.material_id == material)?;
    let ours = tables.movements(material).last()?.quantity.0;
    Some(Sides { link, ours, theirs: world.spool_manager.left() })
}

/// Returns how the sides still differ; `None` if they do not.
pub fn unrest(world: &World, people: &People) -> Option<String> {
    let (tables, material) = (world.disk.tables(), material_of(people)?);
    match sides(world, &tables, material) {
        Some(sides) => (!sides.are_equal()).then(|| sides.words()),
        None => Some("the first material is not linked".to_owned()),
    }
}

/// Demands that both sides agree, and that stock has moved here by just what people used there, unless someone had to
/// decide.
pub fn agree(world: &World, tables: &Tables, people: &People) -> Result<(), SimError> {
    let Some(material) = material_of(people) else { return Ok(()) };
    let sides = sides(world, tables, material);
    let words = || sides.as_ref().map_or_else(|| "no link".to_owned(), Sides::words);
    demand(sides.as_ref().is_some_and(Sides::are_equal), words)?;
    if people.keeper.as_ref().is_some_and(|keeper| keeper.decisions > 0) {
        return Ok(());
    }
    let moved = tables.movements(material).filter(|movement| matches!(movement.kind, MovementKind::Sync));
    let moved: i64 = moved.map(|movement| movement.delta_quantity.0).sum();
    let used = world.spool_manager.used_by_people();
    demand(moved == -used, || format!("people used {used} there, and {moved} moved here; {}", words()))
}
