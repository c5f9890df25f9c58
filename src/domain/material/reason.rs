//! Reasons that the shop itself records for movements. They are stored as the API returns them, and shown on pages as
//! the catalogue has them in the language of the page.

use crate::amount::Amount;
use crate::material::{Movement, MovementKind};
use crate::notation::decimal;
use crate::parts_sync::StockSystem;
use words::Language;
use words::staff::stock;

/// Reason for received stock, unless a different one is entered.
pub const DELIVERY: &str = "delivery";
/// Reason for the stock with which a material is added.
pub(super) const INITIAL_STOCK: &str = "initial stock";
/// Reason for a correction by a stock count.
pub(super) const STOCK_COUNT: &str = "stock-take";
/// Reason for a reservation that slicing corrects.
pub(super) const SLICED: &str = "sliced";
/// Reason for a change that was made in an outside system.
pub(super) const CHANGED_THERE: &str = "changed there";
/// Reason for a change with which an operator resolved a conflict.
pub(super) const ACCEPTED: &str = "an operator accepted the count of the other system";

/// Returns the reason for stock written off with a retired spool.
pub fn retirement_reason(spool: i64) -> String {
    format!("spool {spool} was retired")
}

/// Returns the reason for consumption that was only partly covered by the stock on hand.
pub(super) fn excess_reason(consumed: Amount, on_hand: Amount) -> String {
    format!("{consumed} used, {on_hand} on hand")
}

/// Returns the reason for a change to the entry `name` of an outside system. `why` is [`CHANGED_THERE`] or
/// [`ACCEPTED`].
pub(super) fn sync_reason(system: StockSystem, name: &str, why: &str) -> String {
    format!("{}, {name}: {why}", system.words())
}

impl Movement {
    /// Returns the reason in the language of a page. A reason that was typed in is returned unchanged.
    pub fn reason_in(&self, language: Language) -> Option<String> {
        let reason = self.reason.as_deref()?;
        Some(translate(language, self.kind, reason).unwrap_or_else(|| reason.to_owned()))
    }
}

/// Returns how pages show a reason that the shop records for this kind of movement; `None` for any other reason.
fn translate(language: Language, kind: MovementKind, reason: &str) -> Option<String> {
    match (kind, reason) {
        (MovementKind::Receive, DELIVERY) => Some(stock::delivery(language)),
        (MovementKind::Receive, INITIAL_STOCK) => Some(stock::reason_initial(language)),
        (MovementKind::Adjust, STOCK_COUNT) => Some(stock::reason_count(language)),
        (MovementKind::Adjust, _) => {
            let spool = reason.strip_prefix("spool ")?.strip_suffix(" was retired")?;
            spool.parse::<i64>().is_ok().then(|| stock::reason_retired(language, spool))
        }
        (MovementKind::Reserve | MovementKind::Release, SLICED) => Some(stock::reason_sliced(language)),
        (MovementKind::Consume, _) => {
            let (consumed, on_hand) = reason.strip_suffix(" on hand")?.split_once(" used, ")?;
            Some(stock::reason_exceeded(language, &decimal(language, consumed), &decimal(language, on_hand)))
        }
        (MovementKind::Sync, _) => StockSystem::ALL.into_iter().find_map(|system| linked(language, system, reason)),
        _ => None,
    }
}

/// Returns how pages show the reason for a change to a linked entry of the system.
fn linked(language: Language, system: StockSystem, reason: &str) -> Option<String> {
    let rest = reason.strip_prefix(system.words())?.strip_prefix(", ")?;
    let name_before = |why: &str| rest.strip_suffix(why)?.strip_suffix(": ");
    let word = match system {
        StockSystem::Parts => "parts",
        StockSystem::Spools => "spools",
    };
    if let Some(name) = name_before(CHANGED_THERE) {
        return Some(stock::reason_changed_there(language, word, name));
    }
    name_before(ACCEPTED).map(|name| stock::reason_accepted(language, word, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;
    use crate::time::Timestamp;

    #[test]
    fn reasons_of_the_shop_are_in_the_catalogue_and_those_of_people_stay() {
        let german = |kind, reason: &str| translate(Language::German, kind, reason).unwrap_or_default();
        let excess = excess_reason(Amount(12_500), Amount::units(10));
        for (kind, reason, text) in [
            (MovementKind::Receive, INITIAL_STOCK, "Anfangsbestand"),
            (MovementKind::Adjust, STOCK_COUNT, "Inventur"),
            (MovementKind::Receive, DELIVERY, "Lieferung"),
            (MovementKind::Adjust, retirement_reason(4711).as_str(), "Spule 4711 ausgesondert"),
            (MovementKind::Reserve, SLICED, "Bedarf nach dem Slicen"),
            (MovementKind::Consume, excess.as_str(), "12,5 verbraucht, 10 vorhanden"),
            (MovementKind::Receive, "delivery on Monday", ""),
            (MovementKind::Adjust, DELIVERY, ""),
            (MovementKind::Adjust, "spool of Sam was retired", ""),
            (MovementKind::Adjust, INITIAL_STOCK, ""),
            (MovementKind::Sync, "sliced", ""),
        ] {
            assert_eq!(german(kind, reason), text, "{reason}");
        }
        for (why, text) in [(CHANGED_THERE, "dort geändert"), (ACCEPTED, "Bestand von dort übernommen")] {
            let reason = sync_reason(StockSystem::Spools, "PLA: black", why);
            assert_eq!(german(MovementKind::Sync, &reason), format!("Spulenverwaltung, PLA: black: {text}"));
        }
        let english = |kind, reason: &str| translate(Language::English, kind, reason).unwrap_or_default();
        assert_eq!(english(MovementKind::Adjust, STOCK_COUNT), "stock count");
        assert_eq!(english(MovementKind::Consume, &excess), "12.5 used, 10 on hand");
        let there = sync_reason(StockSystem::Parts, "PLA: black", CHANGED_THERE);
        assert_eq!(english(MovementKind::Sync, &there), "changed in the parts system, PLA: black");
    }

    #[test]
    fn a_movement_has_its_reason_in_the_language_of_the_page() {
        let reason_in = |kind, reason: Option<&str>| {
            let movement = Movement {
                id: Id::ONLY,
                material_id: Id::ONLY,
                kind,
                delta_quantity: Amount::ZERO,
                delta_reserved: Amount::ZERO,
                quantity: Amount::ZERO,
                reserved: Amount::ZERO,
                job_id: None,
                reason: reason.map(str::to_owned),
                actor: "system".to_owned(),
                created_at: Timestamp(0),
            };
            movement.reason_in(Language::German)
        };
        assert_eq!(reason_in(MovementKind::Receive, Some(DELIVERY)).as_deref(), Some("Lieferung"));
        assert_eq!(reason_in(MovementKind::Adjust, Some("broken spool")).as_deref(), Some("broken spool"));
        assert_eq!(reason_in(MovementKind::Reserve, None), None);
        let accepted = sync_reason(StockSystem::Parts, "PLA", ACCEPTED);
        let spools = sync_reason(StockSystem::Spools, "PLA", ACCEPTED);
        assert_ne!(reason_in(MovementKind::Sync, Some(&accepted)), reason_in(MovementKind::Sync, Some(&spools)));
        assert_eq!(reason_in(MovementKind::Release, Some(SLICED)).as_deref(), Some("Bedarf nach dem Slicen"));
    }
}
