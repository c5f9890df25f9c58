//! Work of people since the shift began, grouped by person: beds cleared, parts signed off, deliveries and shipments.

use std::collections::HashSet;

use serde::Deserialize;

use crate::amount::Amount;
use crate::event::Event;
use crate::id::Id;
use crate::material::{Movement, MovementKind};
use crate::principal::Principal;
use crate::time::Timestamp;

/// Name of the event with the sign-off of a print.
const SIGNED_OFF: &str = "job.signed_off";
/// Name of the event with a cleared bed.
const BED_CLEARED: &str = "printer.bed_cleared";
/// Names of the events that record people's work. Deliveries are stock movements, not events.
pub const WORK_EVENTS: [&str; 4] = [SIGNED_OFF, BED_CLEARED, "order.shipped", "order.part_shipped"];

/// Parts of a print that a person has signed off.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignedParts {
    /// Attempt that made the parts.
    pub attempt_id: Id,
    /// Printed job.
    pub job_id: Id,
    /// Order that the job belongs to.
    pub order_id: Id,
    /// Number of good parts.
    pub good_count: u32,
    /// Number of parts on the plate.
    pub plate_parts: u32,
    /// Reason why the other parts were rejected, if one was recorded.
    pub reason: Option<String>,
}

impl SignedParts {
    /// Returns the number of rejected parts.
    pub fn bad_count(&self) -> u32 {
        self.plate_parts.saturating_sub(self.good_count)
    }
}

/// Piece of a person's work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// A bed was cleared.
    Cleared,
    /// Parts were signed off.
    Signed(SignedParts),
    /// A delivery of a material was booked.
    Received(Id, Amount),
    /// Parts of an order were shipped or picked up.
    Shipped,
}

/// Piece of work with the person who did it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShiftEntry {
    /// Person, as named in the audit log.
    pub actor: String,
    /// Time at which it was done.
    pub at: Timestamp,
    /// Work done.
    pub work: Work,
}

impl ShiftEntry {
    /// Returns the work that an event records; `None` for any other event and for work that the server does
    /// automatically.
    pub fn of_event(event: &Event) -> Option<Self> {
        let work = match event.event.as_str() {
            SIGNED_OFF => Work::Signed(SignedParts::deserialize(&event.data).ok()?),
            BED_CLEARED => Work::Cleared,
            name if WORK_EVENTS.contains(&name) => Work::Shipped,
            _ => return None,
        };
        Self::of_person(&event.actor, event.timestamp, work)
    }

    /// Returns the work that a stock movement records: a delivery. `None` for any other movement.
    pub fn of_movement(movement: &Movement) -> Option<Self> {
        let work = Work::Received(movement.material_id, movement.delta_quantity);
        Self::of_person(&movement.actor, movement.created_at, work).filter(|_| movement.kind == MovementKind::Receive)
    }

    fn of_person(actor: &str, at: Timestamp, work: Work) -> Option<Self> {
        let is_person = actor != Principal::System.to_string();
        is_person.then(|| Self { actor: actor.to_owned(), at, work })
    }
}

/// Work of one person since the shift began.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PersonWork {
    /// Person, as named in the audit log.
    pub actor: String,
    /// Time of the person's last piece of work.
    pub last_at: Timestamp,
    /// Number of beds cleared.
    pub beds: usize,
    /// Number of parts signed off as good.
    pub good: u64,
    /// Number of parts signed off.
    pub parts: u64,
    /// Prints with rejected parts, latest first.
    pub rejected: Vec<SignedParts>,
    /// Delivered materials, each with the total of its deliveries, latest first.
    pub received: Vec<(Id, Amount)>,
    /// Number of shipments.
    pub shipments: usize,
}

impl PersonWork {
    fn new(actor: &str, last_at: Timestamp) -> Self {
        Self {
            actor: actor.to_owned(),
            last_at,
            beds: 0,
            good: 0,
            parts: 0,
            rejected: Vec::new(),
            received: Vec::new(),
            shipments: 0,
        }
    }

    fn add(&mut self, work: &Work) {
        match work {
            Work::Cleared => self.beds += 1,
            Work::Signed(signed) => {
                self.good += u64::from(signed.good_count);
                self.parts += u64::from(signed.plate_parts);
                if signed.bad_count() > 0 {
                    self.rejected.push(signed.clone());
                }
            }
            Work::Received(material, amount) => match self.received.iter_mut().find(|(own, _)| own == material) {
                Some((_, sum)) => *sum += *amount,
                None => self.received.push((*material, *amount)),
            },
            Work::Shipped => self.shipments += 1,
        }
    }
}

/// Groups work by person, most recently active first. If a print was signed off several times, only the last sign-off
/// counts.
pub fn work_by_person(mut entries: Vec<ShiftEntry>) -> Vec<PersonWork> {
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
    let mut signed: HashSet<Id> = HashSet::new();
    let mut people: Vec<PersonWork> = Vec::new();
    for ShiftEntry { actor, at, work } in &entries {
        if let Work::Signed(parts) = work
            && !signed.insert(parts.attempt_id)
        {
            continue;
        }
        match people.iter_mut().find(|person| person.actor == *actor) {
            Some(person) => person.add(work),
            None => {
                let mut person = PersonWork::new(actor, *at);
                person.add(work);
                people.push(person);
            }
        }
    }
    people
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;
    use crate::testing::id;

    fn event(name: &str, actor: &str, at: i64) -> Event {
        let data = json!({
            "jobId": id(1), "orderId": id(2), "skuId": id(3), "printerId": id(4), "error": null, "attemptId": id(5),
            "goodCount": 5, "plateParts": 6, "reason": "layer_shift",
        });
        serde_json::from_value(json!({
            "id": id(9), "event": name, "timestamp": Timestamp(at), "subjectKind": "job", "subjectId": id(1),
            "orderId": id(2), "actor": actor, "data": data,
        }))
        .unwrap()
    }

    fn entry(actor: &str, at: i64, work: Work) -> ShiftEntry {
        ShiftEntry { actor: actor.to_owned(), at: Timestamp(at), work }
    }

    fn signed(attempt: u32, good_count: u32, plate_parts: u32) -> Work {
        Work::Signed(SignedParts {
            attempt_id: id(attempt),
            job_id: id(1),
            order_id: id(2),
            good_count,
            plate_parts,
            reason: None,
        })
    }

    #[test]
    fn events_tell_of_the_work_of_people() {
        let signed = ShiftEntry::of_event(&event("job.signed_off", "user:1", 7)).unwrap();
        assert_eq!((signed.actor.as_str(), signed.at), ("user:1", Timestamp(7)));
        let Work::Signed(parts) = signed.work else { panic!("{signed:?}") };
        assert_eq!((parts.bad_count(), parts.reason.as_deref()), (1, Some("layer_shift")));
        for (name, work) in [
            ("printer.bed_cleared", Work::Cleared),
            ("order.shipped", Work::Shipped),
            ("order.part_shipped", Work::Shipped),
        ] {
            assert_eq!(ShiftEntry::of_event(&event(name, "user:1", 7)), Some(entry("user:1", 7, work)));
        }
        assert_eq!(ShiftEntry::of_event(&event("job.completed", "user:1", 7)), None);
        assert_eq!(ShiftEntry::of_event(&event("printer.bed_cleared", "system", 7)), None);
    }

    #[test]
    fn movements_tell_of_deliveries() {
        let movement = |kind: &str, actor: &str| {
            let text = json!({
                "id": id(9), "materialId": id(3), "kind": kind, "deltaQuantity": 1000, "deltaReserved": 0,
                "quantity": 1000, "reserved": 0, "jobId": null, "reason": null, "actor": actor, "createdAt": Timestamp(7),
            });
            ShiftEntry::of_movement(&serde_json::from_value(text).unwrap())
        };
        let delivery = entry("user:1", 7, Work::Received(id(3), Amount::units(1000)));
        assert_eq!(movement("receive", "user:1"), Some(delivery));
        assert_eq!((movement("adjust", "user:1"), movement("receive", "system")), (None, None));
    }

    #[test]
    fn work_is_gathered_by_person_and_whoever_worked_last_comes_first() {
        let people = work_by_person(vec![
            entry("mia", 1, Work::Cleared),
            entry("mia", 2, signed(5, 12, 12)),
            entry("sam", 3, Work::Received(id(3), Amount::units(1000))),
            entry("sam", 4, Work::Received(id(3), Amount::units(500))),
            entry("mia", 5, Work::Shipped),
            entry("mia", 6, signed(6, 5, 6)),
        ]);
        let names: Vec<(&str, Timestamp)> = people.iter().map(|one| (one.actor.as_str(), one.last_at)).collect();
        assert_eq!(names, [("mia", Timestamp(6)), ("sam", Timestamp(4))]);
        let [mia, sam] = &people[..] else { panic!("{people:?}") };
        assert_eq!((mia.beds, mia.good, mia.parts, mia.rejected.len(), mia.shipments), (1, 17, 18, 1, 1));
        assert_eq!(sam.received, [(id(3), Amount::units(1500))]);
        assert!(work_by_person(Vec::new()).is_empty());
    }

    #[test]
    fn a_sign_off_that_was_corrected_counts_as_its_correction() {
        let people = work_by_person(vec![entry("mia", 1, signed(5, 6, 6)), entry("sam", 2, signed(5, 4, 6))]);
        let [sam] = &people[..] else { panic!("{people:?}") };
        assert_eq!((sam.actor.as_str(), sam.good, sam.parts, sam.rejected.len()), ("sam", 4, 6, 1));
    }
}
