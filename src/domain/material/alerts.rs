//! Alerts about a material, as emails and events: low stock, and stock that does not match the records.

use crate::aggregate::DecisionContext;
use crate::amount::Amount;
use crate::event::data::{DiscrepancyData, EventData, LowStockData};
use crate::event::{Event, LOW_STOCK};
use crate::mail::Mail;
use crate::mail::alert::AlertKind;
use crate::material::{ClaimState, Material, exact_stock_amount, stock_amount};
use words::staff::alerts as texts;

impl Material {
    /// Returns whether the material must be reordered: less is available than the reorder point, or than a waiting job
    /// needs.
    pub fn runs_low(&self) -> bool {
        let short = || self.waiting().any(|claim| claim.state == ClaimState::Short);
        self.available() < self.fields.reorder_point || short()
    }

    /// Returns the amount to order, in the material's unit: the usual reorder quantity, or more if that quantity would
    /// not be enough both to serve the waiting jobs and to bring the available amount to the reorder point.
    pub fn to_order(&self) -> Amount {
        let waiting: Amount = self.waiting().map(|claim| claim.need).sum();
        let missing = waiting + self.fields.reorder_point - (self.quantity - self.reserved);
        missing.max(self.fields.reorder_quantity)
    }
}

/// Events and emails that make up an alert.
pub(super) struct Alert {
    pub(super) events: Vec<Event>,
    pub(super) messages: Vec<Mail>,
}

/// Builds the low-stock alert. `inventory.low` is the event for webhook subscribers; `LOW_STOCK` is the same event for
/// workflow automation, email and the agent gateway, which expect that name.
pub(super) fn low(cx: &DecisionContext<'_>, material: &Material) -> Alert {
    let (fields, available) = (&material.fields, material.available());
    let data = LowStockData::from(material);
    let events = ["inventory.low", LOW_STOCK].map(|event| event_of(cx, material, event, &data));
    let (on_hand, point) = (material.quantity, fields.reorder_point);
    let messages = Mail::alert(cx, AlertKind::LowStock, |language| {
        let amount = |amount: Amount| exact_stock_amount(language, amount, fields.kind);
        let (has, of) = (amount(available), amount(on_hand));
        let mut sentences = vec![if available < point {
            texts::low_stock(language, &fields.name, &has, &of, &amount(point))
        } else {
            texts::short_stock(language, &fields.name, &has, &of)
        }];
        if cx.rules.block_below_reorder_point && on_hand < point {
            sentences.push(texts::jobs_held(language));
        }
        if fields.reorder_quantity > Amount::ZERO {
            sentences.push(texts::usual_order(language, &amount(fields.reorder_quantity)));
        }
        let left = stock_amount(language, Amount::units(available.rounded()), fields.kind);
        (texts::low_stock_subject(language, &fields.name, &left), sentences.join(" "))
    });
    Alert { events: events.into(), messages }
}

/// Builds the alert that the stock on hand does not match the records. Prints consumed `beyond` more than was on hand
/// or, if `beyond` is zero, less is on hand than is reserved. `beyond` is in the material's unit.
pub(super) fn discrepancy(cx: &DecisionContext<'_>, material: &Material, beyond: Amount) -> Alert {
    let (name, unit) = (&material.fields.name, material.fields.kind.unit());
    let data = DiscrepancyData {
        material_id: material.id,
        name: name.clone(),
        quantity: material.quantity,
        reserved: material.reserved,
        consumed_beyond_stock: beyond,
        unit,
    };
    let missing = if beyond > Amount::ZERO { beyond } else { Amount(material.reserved.0 - material.quantity.0) };
    let messages = Mail::alert(cx, AlertKind::StockDiscrepancy, |language| {
        let amount = |amount: Amount| exact_stock_amount(language, amount, material.fields.kind);
        let text = if beyond > Amount::ZERO {
            texts::used_beyond_stock(language, &amount(beyond), name)
        } else {
            texts::reserved_beyond_stock(language, &amount(material.quantity), name, &amount(material.reserved))
        };
        (texts::discrepancy_subject(language, name, &amount(missing)), text)
    });
    Alert { events: vec![event_of(cx, material, "inventory.discrepancy", &data)], messages }
}

impl From<&Material> for LowStockData {
    fn from(material: &Material) -> Self {
        let fields = &material.fields;
        Self {
            material_id: material.id,
            name: fields.name.clone(),
            available: material.available(),
            reorder_point: fields.reorder_point,
            reorder_quantity: fields.reorder_quantity,
            unit: fields.kind.unit(),
        }
    }
}

fn event_of(cx: &DecisionContext<'_>, material: &Material, event: &str, data: &impl EventData) -> Event {
    Event::new(cx, event, ("material", material.id), None, data)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::aggregate::Command;
    use crate::id::Id;
    use crate::material::{
        ClaimId, ClaimNews, ClaimRequest, ClaimStock, MaterialCommand, MaterialFields, SettledClaim,
    };
    use crate::testing::samples::pla;
    use crate::testing::{Bench, id};
    use crate::time::Timestamp;

    fn tell<C: Command<Material>>(shelf: &mut Option<Material>, command: &C) {
        Bench::new().tell(shelf, id(7), command).unwrap();
    }

    fn claims(job: Id, need: i64) -> ClaimStock {
        let id = ClaimId { job, number: 1 };
        let ask = ClaimRequest {
            need: Amount::units(need),
            released: false,
            priority: 5,
            due_at: None,
            since: Timestamp(1),
            id,
        };
        ClaimStock { order: job, asks: vec![ask] }
    }

    #[test]
    fn what_is_ordered_serves_those_who_wait() {
        let (reorder_point, reorder_quantity) = (Amount::units(100), Amount::units(500));
        let fields = Box::new(MaterialFields { reorder_point, reorder_quantity, ..pla() });
        let mut shelf = None;
        tell(&mut shelf, &MaterialCommand::Create { fields, quantity: Amount::units(120) });
        assert!(!shelf.as_ref().unwrap().runs_low());
        tell(&mut shelf, &claims(id(1), 50));
        let material = shelf.clone().unwrap();
        assert!(material.runs_low() && material.available() == Amount::units(70), "below its reorder point");
        assert_eq!(material.to_order(), Amount::units(500), "the usual order");
        tell(&mut shelf, &claims(id(2), 900));
        assert_eq!(shelf.unwrap().to_order(), Amount::units(900 + 100 - 70), "more than usual");
    }

    /// Returns the subject and the text of the only alert of a command.
    fn alert<C: Command<Material>>(bench: &Bench, shelf: &mut Option<Material>, command: &C) -> (String, String) {
        let mails = bench.tell(shelf, id(7), command).unwrap().created;
        let [mail] = &mails[..] else { panic!("{mails:?}") };
        (mail.subject.clone(), mail.text.trim_end().to_owned())
    }

    fn create(quantity: i64, reorder_point: i64, reorder_quantity: i64) -> MaterialCommand {
        let (reorder_point, reorder_quantity) = (Amount::units(reorder_point), Amount::units(reorder_quantity));
        let fields = Box::new(MaterialFields { reorder_point, reorder_quantity, ..pla() });
        MaterialCommand::Create { fields, quantity: Amount::units(quantity) }
    }

    #[test]
    fn low_stock_is_told_with_what_is_missing_and_what_it_stops() {
        let mut bench = Bench::new();
        let created = |bench: &Bench, quantity, usual| alert(bench, &mut None, &create(quantity, 100, usual));
        let (subject, text) = created(&bench, 99, 500);
        assert_eq!(subject, "Low stock: PLA, 99 g left");
        let low = "PLA: 99 g available of 99 g on hand, below the reorder point of 100 g.";
        let held = "New jobs that need it are on hold until stock is added.";
        assert_eq!(text, format!("{low} {held} The reorder quantity is 500 g."));
        assert_eq!(created(&bench, 99, 0).1, format!("{low} {held}"));
        bench.rules.block_below_reorder_point = false;
        assert_eq!(created(&bench, 99, 0).1, low);
        let bench = Bench::new();
        let mut shelf = None;
        tell(&mut shelf, &create(120, 100, 0));
        let low = "PLA: 70 g available of 120 g on hand, below the reorder point of 100 g.";
        assert_eq!(alert(&bench, &mut shelf, &claims(id(1), 50)).1, low, "no job is held");
        let mut shelf = None;
        tell(&mut shelf, &create(100, 100, 0));
        assert!(!shelf.as_ref().unwrap().runs_low(), "at its reorder point");
        let short = "PLA: 100 g available of 100 g on hand, less than a waiting job needs.";
        assert_eq!(alert(&bench, &mut shelf, &claims(id(1), 300)).1, short);
        let material = shelf.unwrap();
        assert!(material.runs_low() && material.available() == Amount::units(100));
        assert_eq!(material.to_order(), Amount::units(300));
    }

    #[test]
    fn a_discrepancy_is_told_with_what_is_missing() {
        let bench = Bench::new();
        let mut shelf = None;
        tell(&mut shelf, &create(100, 0, 0));
        tell(&mut shelf, &claims(id(1), 80));
        let count = MaterialCommand::Update { if_version: None, fields: None, quantity: Some(Amount::units(50)) };
        let reserved = "PLA: 50 g on hand, but 80 g reserved for jobs. Please count the stock and reorder.";
        let expected = ("Stock discrepancy: PLA, 30 g missing".to_owned(), reserved.to_owned());
        assert_eq!(alert(&bench, &mut shelf, &count), expected);
        let settled =
            SettledClaim { id: ClaimId { job: id(1), number: 1 }, consumed: Amount::units(62), booked_on: Vec::new() };
        let used = "Prints used 12 g more of PLA than was on hand. Please count the stock.";
        let expected = ("Stock discrepancy: PLA, 12 g missing".to_owned(), used.to_owned());
        assert_eq!(alert(&bench, &mut shelf, &ClaimNews::Settle { claims: vec![settled] }), expected);
    }
}
