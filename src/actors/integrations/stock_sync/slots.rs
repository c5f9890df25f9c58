//! Spools in printer slots: the spool that an amount was drawn from, and the amount left on each spool according to the
//! spool manager.

use std::collections::BTreeSet;

use super::{StockSyncWork, SyncError, call};
use crate::integrations::SystemLine;
use domain::id::Id;
use domain::parts_sync::{self, Quantities, SpoolRemainder, StockLink, StockSystem};
use domain::printer::{Printer, PrinterNews, Slot, SpoolBalance};
use kernel::envelope::CommandOrigin;
use kernel::handle::AskError;

/// Maximum number of unlinked spools whose remaining amount is queried per round.
const MAX_ASKED: usize = 64;

/// Returns the slots that hold a numbered spool, with the printer ID and the spool number. Omits printers that weigh
/// their spools themselves.
fn spooled(sync: &StockSyncWork) -> Vec<(Id, i64, Slot)> {
    let printers = sync.printers.all_resident();
    let present = printers.iter().filter_map(|(id, state)| Some((*id, state.state.as_ref()?)));
    let slots = present.filter(|(_, printer)| !printer.archived).flat_map(|(id, printer)| {
        printer.slots().into_iter().filter(|slot| !slot.weighed).filter_map(move |slot| Some((id, slot.spool?, slot)))
    });
    slots.collect()
}

/// Returns the amounts drawn from a link's items in printer slots that have not been recorded yet.
pub(super) fn drawn(sync: &StockSyncWork, link: &StockLink) -> Quantities {
    parts_sync::drawn(link, spooled(sync).into_iter().map(|(_, spool, slot)| (spool, slot.remaining)))
}

/// Returns the link's items from which printers themselves deduct the consumption of prints that this server started.
pub(super) fn in_use(sync: &StockSyncWork, link: &StockLink) -> BTreeSet<i64> {
    if link.system != StockSystem::Spools {
        return BTreeSet::new();
    }
    let printers = sync.printers.all_resident();
    printers.iter().filter_map(|(_, state)| state.state.as_ref()).flat_map(Printer::spools_in_use).collect()
}

/// Updates the remaining amounts of spools in slots. Skips spools with consumption that has not been recorded yet;
/// updates unlinked spools only if their remaining amount is unknown.
pub(super) async fn tell(sync: &StockSyncWork, line: &SystemLine) -> Result<(), SyncError> {
    let mut requests = 0;
    for (printer, spool, slot) in spooled(sync) {
        let (left, material) = match settled_on(sync, spool) {
            Some((SpoolRemainder::Settled(left), material)) => (left, Some(material)),
            Some((SpoolRemainder::Unsettled, _)) => continue,
            None if slot.remaining.is_some() || requests == MAX_ASKED => continue,
            None => {
                requests += 1;
                match call(line, sync.client.left(spool)).await? {
                    Some(left) => (left, None),
                    None => continue,
                }
            }
        };
        if slot.remaining == Some(left) && (slot.material_id.is_some() || material.is_none()) {
            continue;
        }
        let command =
            PrinterNews::SpoolLeft(SpoolBalance { slot: slot.slot, spool, was: slot.remaining, left, material });
        match sync.printers.ask(printer, CommandOrigin::system(), command).await {
            Ok(_) | Err(AskError::Refused(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Returns a link's record of a spool, and the link's material.
fn settled_on(sync: &StockSyncWork, spool: i64) -> Option<(SpoolRemainder, Id)> {
    sync.materials.all_resident().iter().find_map(|(id, state)| {
        let material = state.state.as_ref()?;
        Some((material.links.get(&StockSystem::Spools)?.knows(spool, material.quantity)?, *id))
    })
}
