//! Spools loaded in a printer, as shown on its card.

use maud::{Markup, html};

use super::board::BoardHandles;
use domain::amount::Amount;
use domain::material::{Material, stock_amount};
use domain::notation::decimal;
use domain::printer::{Printer, Slot};
use domain::slot_label::SlotLabel;
use printers::slot_label;
use words::Language;
use words::staff::cards;

/// Remaining amount below which a spool is considered low, in the material's unit, unless the material's reorder point
/// is lower.
const LOW_SPOOL: Amount = Amount::units(150);

/// Returns whether a spool is running low.
fn is_low(left: Amount, reorder_point: Amount) -> bool {
    left < LOW_SPOOL.min(reorder_point)
}

/// Renders a printer's spools, each with its colour, material and remaining amount; an empty line of the same height if
/// they are not tracked.
pub(super) fn slots(language: Language, app: &BoardHandles, printer: &Printer) -> Markup {
    if !printer.tracks_spools() {
        return html! { div class="slots" {} };
    }
    let all = printer.slots();
    html! {
        ul class="slots" aria-label=(cards::loaded_spools(language)) {
            @for slot in &all {
                @let versioned = slot.material_id.and_then(|id| Some(app.shop.materials.resident(id)?.read()));
                @let label = (all.len() > 1).then(|| slot_label(printer, slot.slot));
                (spool(language, slot, label, versioned.as_ref().and_then(|versioned| versioned.state.as_ref())))
            }
        }
    }
}

/// Renders a spool, with the label of its slot if the printer has several slots.
fn spool(language: Language, slot: &Slot, label: Option<SlotLabel>, material: Option<&Material>) -> Markup {
    let color = slot.color.as_deref().or_else(|| material?.fields.color.as_deref());
    let low = slot.remaining.zip(material).is_some_and(|(left, material)| is_low(left, material.fields.reorder_point));
    let name = material.map(|material| &*material.fields.name).or(slot.kind.as_deref());
    let left = slot.remaining.map(|left| match material {
        Some(material) => stock_amount(language, left, material.fields.kind),
        None => decimal(language, left),
    });
    // The text may be cut off.
    let whole: Vec<&str> = name.into_iter().chain(left.as_deref()).collect();
    html! {
        li title=[(!whole.is_empty()).then(|| whole.join(" "))] class=(if low { "slot low" } else { "slot" }) {
            svg class="swatch" viewBox="0 0 12 12" aria-hidden="true" {
                circle cx="6" cy="6" r="5.5" fill=(color.unwrap_or("none")) stroke="currentColor" stroke-opacity="0.4" {}
            }
            span class="spool" {
                @match label {
                    Some(SlotLabel::External) => { (cards::external_spool(language)) ": " },
                    Some(label) => { span class="hidden-words" { (cards::slot(language)) " " } (label) ": " },
                    None => {},
                }
                @match name {
                    Some(name) => { (name) },
                    None => { (cards::no_spool(language)) },
                }
                @if let Some(left) = &left {
                    " " span class="num" { (left) }
                }
                @if low { span class="hidden-words" { ", " (cards::running_low(language)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spool_is_low_below_both_bounds() {
        let of = |left, reorder| is_low(Amount::units(left), Amount::units(reorder));
        assert!(of(149, 1_000) && of(49, 50));
        assert!(!of(150, 1_000) && !of(120, 50) && !of(0, 0));
    }
}
