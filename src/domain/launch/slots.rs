//! Selection of the slots from which a printer takes the materials for a job.
//!
//! A printer with one slot takes everything from that slot. On a printer type that maps slots, the start command
//! includes the slot for each filament; a slot that was entered by an operator, rather than reported by the printer, is
//! an external spool that the printer cannot select. On a printer type that does not map slots, filament n of the file
//! (its tool number) is always taken from slot n, and materials in other slots cannot be used.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::{LaunchFacts, LaunchNeeds, MAX_FILAMENTS, MaterialNeed, Mismatch, SlicingTarget, SlotFacts, UsedFilament};
use crate::amount::Amount;
use crate::id::Id;

/// Slot from which a job takes a material.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChosenSlot {
    /// Material and amount taken from the slot.
    pub needed: MaterialNeed,
    /// Slot number.
    pub slot: u32,
    /// Amount left in the slot before the print, if known.
    pub remaining: Option<Amount>,
    /// `true` if the slot is known to hold the material; `false` if it fits only because its content is unknown.
    pub loaded: bool,
    /// Filament of the file that the slot is used for; `None` if all of the material is taken from the slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filament: Option<u32>,
}

/// Content of a slot, as reported by the printer, at the time the slot was chosen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportedSpool {
    /// The vendor's code for the spool.
    pub vendor_code: Option<String>,
    /// Colour as `#rrggbb`.
    pub color: Option<String>,
}

/// Slot that a filament of a file is taken from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FilamentSlot {
    /// Slot number.
    pub slot: u32,
    /// Spool in the slot; `None` if the content of the slot was entered by an operator rather than reported by the
    /// printer.
    pub spool: Option<ReportedSpool>,
}

/// Stored form of [`FilamentSlot`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredFilamentSlot {
    slot: u32,
    spool: Option<ReportedSpool>,
}

impl<'de> Deserialize<'de> for FilamentSlot {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NumberOrSlot)
    }
}

/// Deserializer for both stored forms: attempts stored before spools were recorded contain only the slot number.
struct NumberOrSlot;

impl<'de> Visitor<'de> for NumberOrSlot {
    type Value = FilamentSlot;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the number of a slot, or a slot with what was in it")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<FilamentSlot, E> {
        let slot = u32::try_from(number).map_err(|_| E::custom("no number of a slot"))?;
        Ok(FilamentSlot { slot, spool: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<FilamentSlot, A::Error> {
        let StoredFilamentSlot { slot, spool } = Deserialize::deserialize(MapAccessDeserializer::new(members))?;
        Ok(FilamentSlot { slot, spool })
    }
}

impl SlicingTarget {
    /// Returns the slot chosen for each filament of the file, by filament index; `None` for filaments that the plate
    /// does not use. Empty if the assignment is unknown.
    pub fn slots(&self, chosen: &[ChosenSlot]) -> Vec<Option<u32>> {
        if self.filaments.is_empty() {
            // One material needs no telling which.
            return if let [only] = chosen { vec![Some(only.slot)] } else { Vec::new() };
        }
        let used = || self.filaments.iter().filter(|used| used.filament < MAX_FILAMENTS);
        let mut slots = vec![None; used().map(|used| used.filament as usize + 1).max().unwrap_or_default()];
        for used in used() {
            let of_it = |one: &&ChosenSlot| {
                one.needed.material_id == used.material_id
                    && one.filament.is_none_or(|filament| filament == used.filament)
            };
            slots[used.filament as usize] = chosen.iter().find(of_it).map(|one| one.slot);
        }
        slots
    }

    /// Returns the filaments assigned to a material in `needs`. A file with a single material needs no assignment,
    /// because its only filament is the first one.
    fn assigned(&self, needs: &[MaterialNeed]) -> Vec<UsedFilament> {
        if let (true, [only]) = (self.filaments.is_empty(), needs) {
            return vec![UsedFilament { filament: 0, material_id: only.material_id, grams: None }];
        }
        let needed = |used: &&UsedFilament| needs.iter().any(|one| one.material_id == used.material_id);
        self.filaments.iter().filter(needed).copied().collect()
    }
}

/// Chooses the slots and adds mismatches to `missing`.
pub(super) fn choose_all(needs: &LaunchNeeds, facts: &LaunchFacts, missing: &mut Vec<Mismatch>) -> Vec<ChosenSlot> {
    let several = needs.materials.len() > 1;
    if several && facts.slots.len() > 1 && needs.sliced_for.filaments.is_empty() {
        missing.push(Mismatch::UnknownFilaments);
        return Vec::new();
    }
    let mut chosen = Vec::with_capacity(needs.materials.len());
    let mut take = |choice: Result<ChosenSlot, Mismatch>| match choice {
        Ok(one) => chosen.push(one),
        Err(mismatch) if missing.contains(&mismatch) => {}
        Err(mismatch) => missing.push(mismatch),
    };
    if let [only] = &facts.slots[..] {
        needs.materials.iter().for_each(|needed| take(from_the_only_one(*needed, several, only)));
    } else if facts.maps_slots {
        let beside = facts.slots.iter().filter(|one| !one.reported).count();
        let within_reach = |one: &&SlotFacts| one.reported || (!several && beside == 1);
        let within: Vec<SlotFacts> = facts.slots.iter().filter(within_reach).copied().collect();
        for needed in &needs.materials {
            take(from_any(*needed, &within).map_err(|mismatch| match mismatch {
                Mismatch::NotLoaded(material) if holds(&facts.slots, material) => Mismatch::OutOfReach(material),
                other => other,
            }));
        }
    } else {
        let assigned = needs.sliced_for.assigned(&needs.materials);
        for needed in &needs.materials {
            let of_it: Vec<&UsedFilament> =
                assigned.iter().filter(|used| used.material_id == needed.material_id).collect();
            // What is needed and in no filament of the plate is held ready all the same.
            if of_it.is_empty() {
                take(from_any(*needed, &facts.slots));
            }
            for (used, need) in of_it.iter().zip(shares(needed.need, &of_it)) {
                take(from_its_number(MaterialNeed { need, ..*needed }, used.filament, facts));
            }
        }
    }
    chosen
}

fn holds(slots: &[SlotFacts], material: Id) -> bool {
    slots.iter().any(|one| one.material_id == Some(material))
}

fn enough(one: &SlotFacts, needed: MaterialNeed) -> bool {
    one.remaining.is_none_or(|left| left >= needed.need)
}

fn chosen(one: &SlotFacts, needed: MaterialNeed, loaded: bool) -> ChosenSlot {
    ChosenSlot { needed, slot: one.slot, remaining: one.remaining, loaded, filament: None }
}

/// Chooses the only slot. The slot's content may be unknown if the job needs only one material.
fn from_the_only_one(needed: MaterialNeed, several: bool, only: &SlotFacts) -> Result<ChosenSlot, Mismatch> {
    if only.material_id.is_none() && !several && enough(only, needed) {
        return Ok(chosen(only, needed, false));
    }
    from_any(needed, std::slice::from_ref(only))
}

/// Chooses the slot with the least material among those that hold enough; slots with an unknown amount come last.
fn from_any(needed: MaterialNeed, slots: &[SlotFacts]) -> Result<ChosenSlot, Mismatch> {
    let of_it = || slots.iter().filter(|one| one.material_id == Some(needed.material_id));
    let best =
        of_it().filter(|one| enough(one, needed)).min_by_key(|one| (one.remaining.is_none(), one.remaining, one.slot));
    if let Some(best) = best {
        return Ok(chosen(best, needed, true));
    }
    match of_it().filter_map(|one| one.remaining).max() {
        Some(left) => Err(Mismatch::TooLittle { needed, left }),
        None => Err(Mismatch::NotLoaded(needed.material_id)),
    }
}

/// Chooses the slot that has the filament's number; the slot must hold the material.
fn from_its_number(needed: MaterialNeed, filament: u32, facts: &LaunchFacts) -> Result<ChosenSlot, Mismatch> {
    let slots = &facts.slots;
    let material = needed.material_id;
    let Some(one) = slots.iter().find(|one| one.slot == filament && one.material_id == Some(material)) else {
        let elsewhere = holds(slots, material);
        return Err(if elsewhere {
            Mismatch::OtherSlot { material, slot: facts.labels.label(filament) }
        } else {
            Mismatch::NotLoaded(material)
        });
    };
    match one.remaining {
        Some(left) if left < needed.need => Err(Mismatch::TooLittle { needed, left }),
        _ => Ok(ChosenSlot { filament: Some(filament), ..chosen(one, needed, true) }),
    }
}

/// Distributes the need for a material over its filaments, by the weights stated in the file or, if none are stated,
/// evenly. The sum equals the need.
fn shares(need: Amount, of_it: &[&UsedFilament]) -> Vec<Amount> {
    let stated: Option<Vec<i64>> = of_it.iter().map(|used| used.grams.map(|grams| grams.0.max(0))).collect();
    let weights = stated.filter(|all| all.iter().any(|grams| *grams > 0)).unwrap_or_else(|| vec![1; of_it.len()]);
    let total: i128 = weights.iter().map(|weight| i128::from(*weight)).sum();
    let mut before = 0i128;
    let up_to = |weight: i128| (i128::from(need.0) * weight / total.max(1)) as i64;
    weights
        .iter()
        .map(|weight| {
            let from = up_to(before);
            before += i128::from(*weight);
            Amount(up_to(before) - from)
        })
        .collect()
}
