//! Spools in slots of printers: from which spool our use was drawn, and how much the spool system says is left on each.

use super::{RoundError, StockSync, call};
use crate::actors::kernel::envelope::CommandOrigin;
use crate::actors::kernel::handle::AskError;
use crate::domain::amount::Amount;
use crate::domain::id::Id;
use crate::domain::parts_sync::{Quantities, StockLink, StockSystem, total};
use crate::domain::printer::{PrinterCommand, Slot, SpoolLeft};
use crate::integrations::Line;

/// Most spools that no link knows, of which what is left is asked in one round.
const MAX_ASKED: usize = 64;

/// The slots that hold a numbered spool, with their printers. Those whose printers weigh their spools by themselves are
/// left alone.
fn spooled(sync: &StockSync) -> Vec<(Id, i64, Slot)> {
    let printers = sync.printers.all_resident();
    let present = printers.iter().filter_map(|(id, state)| Some((*id, state.state.as_ref()?)));
    let slots = present.filter(|(_, printer)| !printer.archived).flat_map(|(id, printer)| {
        printer.slots().into_iter().filter(|slot| !slot.weighed).filter_map(move |slot| Some((id, slot.spool?, slot)))
    });
    slots.collect()
}

/// What was drawn from the items of a link that are in slots, and is not booked yet.
pub(super) fn drawn(sync: &StockSync, link: &StockLink) -> Quantities {
    let Some(agreed) = link.agreed.as_ref().filter(|_| link.system == StockSystem::Spools) else {
        return Quantities::new();
    };
    let drawn = spooled(sync).into_iter().filter_map(|(_, spool, slot)| {
        let held = *agreed.get(&spool)?;
        Some((spool, (held - slot.remaining.unwrap_or(held)).max(Amount::ZERO)))
    });
    drawn.collect()
}

/// Tells the slots what is left on their spools: where nothing of ours is still to be booked, or where nobody knows
/// yet.
pub(super) async fn tell(sync: &StockSync, line: &Line) -> Result<(), RoundError> {
    let mut asked = 0;
    for (printer, spool, slot) in spooled(sync) {
        let (left, material) = match settled_on(sync, spool) {
            Some(Known::Settled { left, material }) => (left, Some(material)),
            Some(Known::Unsettled) => continue,
            None if slot.remaining.is_some() || asked == MAX_ASKED => continue,
            None => {
                asked += 1;
                match call(line, sync.client.left(spool)).await? {
                    Some(left) => (left, None),
                    None => continue,
                }
            }
        };
        if slot.remaining == Some(left) && (slot.material_id.is_some() || material.is_none()) {
            continue;
        }
        let said = PrinterCommand::SpoolLeft(SpoolLeft { slot: slot.slot, spool, was: slot.remaining, left, material });
        match sync.printers.ask(printer, CommandOrigin::system(), said).await {
            Ok(_) | Err(AskError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What a link knows of a spool.
enum Known {
    /// Both sides agree, and nothing of ours is to be booked.
    Settled { left: Amount, material: Id },
    /// Something is still on its way.
    Unsettled,
}

fn settled_on(sync: &StockSync, spool: i64) -> Option<Known> {
    sync.materials.all_resident().iter().find_map(|(id, state)| {
        let material = state.state.as_ref()?;
        let link = material.links.get(&StockSystem::Spools)?;
        let agreed = link.agreed.as_ref()?;
        let held = agreed.get(&spool)?;
        let quiet = link.pending.is_none() && link.conflict.is_none() && total(agreed) == material.quantity;
        Some(if quiet { Known::Settled { left: (*held).max(Amount::ZERO), material: *id } } else { Known::Unsettled })
    })
}
