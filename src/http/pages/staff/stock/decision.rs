//! Forms for resolving a stock conflict with an external system that counts the same material.

use maud::{Markup, html};

use super::material_path;
use crate::staff::shell::act;
use domain::material::{Material, exact_stock_amount};
use domain::parts_sync::{ConflictKind, RightSide, StockLink, StockSystem, total};
use domain::refusal::Refusal;
use words::Language;
use words::staff::stock as texts;

/// Returns the name of a system in forms, as spelled in the API.
pub(super) const fn system_word(system: StockSystem) -> &'static str {
    match system {
        StockSystem::Parts => "parts",
        StockSystem::Spools => "spools",
    }
}

/// Returns that a material is also counted in the system.
pub(in crate::staff) fn also_tracked_in(language: Language, system: StockSystem) -> String {
    texts::also_tracked_in(language, system_word(system))
}

/// Parses the system specified in a form; any other text is rejected as an unknown stock link.
pub(super) fn system_of(text: &str) -> Result<StockSystem, Refusal> {
    let system = StockSystem::ALL.into_iter().find(|system| system_word(*system) == text);
    system.ok_or_else(|| Refusal::not_found("link"))
}

/// Renders the forms for resolving a stock link's conflict, one for each side; renders nothing if there is no conflict
/// or the external system's count is not known yet. `back` is the page to return to; if `None`, it is the material's
/// page.
pub(in crate::staff) fn decision(
    language: Language,
    material: &Material,
    link: &StockLink,
    back: Option<&str>,
) -> Markup {
    let Some((conflict, theirs)) = link.conflict.as_ref().zip(link.last_amounts.as_ref().map(total)) else {
        return html! {};
    };
    let sides = if conflict.kind == ConflictKind::PrintNotBooked {
        [(RightSide::Ours, texts::record_print(language)), (RightSide::Theirs, texts::keep_count(language))]
    } else {
        let amount = |amount| exact_stock_amount(language, amount, material.fields.kind);
        [
            (RightSide::Ours, texts::use_our_count(language, &amount(material.quantity))),
            (RightSide::Theirs, texts::use_their_count(language, &amount(theirs))),
        ]
    };
    let path = format!("{}/agree", material_path(material.id));
    let form = |side: RightSide, label: &str| {
        let (right, class) = match side {
            RightSide::Ours => ("ours", ""),
            RightSide::Theirs => ("theirs", "second"),
        };
        let system = system_word(link.system);
        let fields = html! {
            input type="hidden" name="system" value=(system);
            input type="hidden" name="right" value=(right);
            input type="hidden" name="theirs" value=(theirs);
            @if let Some(back) = back { input type="hidden" name="back" value=(back); }
        };
        act(&path, &format!("{right}-{system}-{}", material.id), class, label, Some(&fields))
    };
    html! { @for (side, label) in &sides { (form(*side, label)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_name_the_systems_that_there_are() {
        for system in StockSystem::ALL {
            assert_eq!(system_of(system_word(system)).ok(), Some(system));
            assert_eq!(serde_json::json!(system), system_word(system), "as the API does");
        }
        assert!(system_of("").is_err());
    }
}
