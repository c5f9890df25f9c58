//! Groups of equal acts in the audit log, each of which is displayed as one: "Ada added 14 printers".

use super::AuditedAct;
use crate::time::Timestamp;

/// Maximum time between two acts of one group, in milliseconds.
const MAX_GAP_MS: i64 = 3_600_000;

/// Act of an entry, without its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupedAct<'a> {
    /// Actor, as named in the log.
    pub actor: &'a str,
    /// Stored name of the act.
    pub action: &'a str,
    /// Outcome, as stored.
    pub outcome: &'a str,
}

impl GroupedAct<'_> {
    /// Returns whether readers see more of the act than its target, such as the spool that was loaded.
    fn has_details(&self) -> bool {
        matches!(AuditedAct::parse(self.action), Some(AuditedAct::PrinterLoadSlot))
    }
}

impl AuditedAct {
    /// Returns whether the act sets up the shop, rather than being work at a printer or on a job.
    const fn is_setup(self) -> bool {
        matches!(
            self,
            Self::PrinterCreate
                | Self::PrinterUpdate
                | Self::PrinterDelete
                | Self::PrinterConnect
                | Self::PrinterDisconnect
                | Self::PrinterAddReminder
                | Self::PrinterChangeReminder
                | Self::PrinterRemoveReminder
                | Self::PrinterRemoveSlot
        )
    }
}

/// Groups equal acts that state nothing but their target and that follow each other within an hour. `entries` are
/// sorted from newest to oldest; returns their positions, group by group, with each group in the place of its latest
/// entry.
fn act_groups(entries: &[(GroupedAct<'_>, Timestamp)]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (position, (act, at)) in entries.iter().enumerate() {
        let is_of = |group: &&mut Vec<usize>| {
            let oldest = group.last().and_then(|last| entries.get(*last));
            let is_equal = |other: &GroupedAct<'_>| other == act && !act.has_details();
            oldest.is_some_and(|(other, then)| is_equal(other) && then.since(*at) <= MAX_GAP_MS)
        };
        match groups.iter_mut().rev().find(is_of) {
            Some(group) => group.push(position),
            None => groups.push(vec![position]),
        }
    }
    groups
}

/// Chooses at most `max` groups, in their order: work comes before the setup of the shop.
pub fn chosen_groups(entries: &[(GroupedAct<'_>, Timestamp)], max: usize) -> Vec<Vec<usize>> {
    let is_setup = |group: &Vec<usize>| {
        let newest = group.first().and_then(|position| entries.get(*position));
        newest.and_then(|(act, _)| AuditedAct::parse(act.action)).is_some_and(AuditedAct::is_setup)
    };
    let (setup, mut chosen): (Vec<_>, Vec<_>) = act_groups(entries).into_iter().partition(is_setup);
    chosen.truncate(max);
    let room = max - chosen.len();
    chosen.extend(setup.into_iter().take(room));
    chosen.sort_by_key(|group| group.first().copied());
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_MS: i64 = 3_600_000;

    fn entry(actor: &'static str, action: &'static str, at: i64) -> (GroupedAct<'static>, Timestamp) {
        (GroupedAct { actor, action, outcome: "done" }, Timestamp(at))
    }

    #[test]
    fn equal_acts_within_an_hour_are_one_group() {
        let entries = [
            entry("Ada", "printer.create", 9 * HOUR_MS),
            entry("Sam", "printer.pause", 8 * HOUR_MS + 9),
            entry("Ada", "printer.create", 8 * HOUR_MS),
            entry("Sam", "printer.create", 8 * HOUR_MS - 1),
            entry("Ada", "printer.create", 7 * HOUR_MS - 1),
        ];
        assert_eq!(act_groups(&entries), [vec![0, 2], vec![1], vec![3], vec![4]]);
        assert_eq!(act_groups(&[]), Vec::<Vec<usize>>::new());
        let spools = [entry("Ada", "printer.load_slot", 2), entry("Ada", "printer.load_slot", 1)];
        assert_eq!(act_groups(&spools), [[0], [1]]);
    }

    #[test]
    fn work_is_chosen_before_setup() {
        let entries = [
            entry("Ada", "printer.create", 50),
            entry("Sam", "printer.update", 40),
            entry("Sam", "printer.signed_off", 30),
            entry("Ada", "printer.create", 20),
            entry("Sam", "job.retry", 10),
        ];
        assert_eq!(chosen_groups(&entries, 2), [[2], [4]]);
        assert_eq!(chosen_groups(&entries, 3), [vec![0, 3], vec![2], vec![4]]);
        assert_eq!(chosen_groups(&entries, 9), [vec![0, 3], vec![1], vec![2], vec![4]]);
    }

    #[test]
    fn a_group_goes_on_for_an_hour_and_setup_comes_last() {
        for (gap_ms, groups) in [(HOUR_MS, 1), (HOUR_MS + 1, 2)] {
            let entries =
                [entry("Ada", "printer.pause", 9 * HOUR_MS), entry("Ada", "printer.pause", 9 * HOUR_MS - gap_ms)];
            assert_eq!(act_groups(&entries).len(), groups);
        }
        for setup in [
            "printer.create",
            "printer.update",
            "printer.delete",
            "printer.connect",
            "printer.disconnect",
            "printer.add_reminder",
            "printer.change_reminder",
            "printer.remove_reminder",
            "printer.remove_slot",
        ] {
            let entries = [entry("Ada", setup, 2), entry("Ada", "printer.load_slot", 1)];
            assert_eq!(chosen_groups(&entries, 1), [[1]], "{setup}");
        }
        let unknown = [entry("Ada", "moon.land", 2), entry("Ada", "printer.pause", 1)];
        assert_eq!(chosen_groups(&unknown, 1), [[0]], "what is not known may be work");
        assert!(chosen_groups(&unknown, 0).is_empty());
    }
}
