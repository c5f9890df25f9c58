//! Parts of a plan that can be left out, which is how a failing story is made shorter. Each keeps its number, whatever
//! else is left out.

use std::collections::BTreeSet;
use std::fmt;

use crate::faults::FaultKind;
use crate::plan::Plan;
use crate::workload::{Act, Task};

/// Part of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlanPart {
    /// Order with this number.
    Order(usize),
    /// Kind of fault.
    Fault(FaultKind),
    /// Task of the staff, or several that belong together.
    Task(usize),
    /// Change to the house rules.
    Rule(usize),
    /// Parcels of the order with this number, which then stays ready.
    Parcels(usize),
    /// Invoice without an order.
    Invoice(usize),
    /// Webhook endpoint.
    Endpoint(usize),
    /// Another shop.
    Shop(usize),
    /// Spool change.
    Spool(usize),
    /// Crash.
    Crash(usize),
    /// Spool manager, of which there is one at most, with the number 0.
    SpoolManager(usize),
}

impl PlanPart {
    /// Returns the option of the command line that leaves parts of this kind out.
    pub const fn flag(self) -> &'static str {
        match self {
            Self::Fault(_) => "--without",
            Self::Order(_) => "--without-orders",
            Self::Task(_) => "--without-tasks",
            Self::Rule(_) => "--without-rules",
            Self::Parcels(_) => "--without-parcels",
            Self::Invoice(_) => "--without-invoices",
            Self::Endpoint(_) => "--without-endpoints",
            Self::Shop(_) => "--without-shops",
            Self::Spool(_) => "--without-spools",
            Self::Crash(_) => "--without-crashes",
            Self::SpoolManager(_) => "--without-spool-managers",
        }
    }
}

/// Writes its value on the command line.
impl fmt::Display for PlanPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(kind) => write!(f, "{kind}"),
            Self::Order(number)
            | Self::Task(number)
            | Self::Rule(number)
            | Self::Parcels(number)
            | Self::Invoice(number)
            | Self::Endpoint(number)
            | Self::Shop(number)
            | Self::Spool(number)
            | Self::Crash(number)
            | Self::SpoolManager(number) => write!(f, "{number}"),
        }
    }
}

/// Parts of a plan to leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut(pub BTreeSet<PlanPart>);

impl Cut {
    /// Returns the faults that do not exist.
    pub fn faults(&self) -> impl Iterator<Item = FaultKind> + '_ {
        self.0.iter().filter_map(|part| match part {
            PlanPart::Fault(kind) => Some(*kind),
            _ => None,
        })
    }
}

/// Writes the options of the command line that leave its parts out.
impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<PlanPart> = self.0.iter().copied().collect();
        for (at, group) in parts.chunk_by(|one, next| one.flag() == next.flag()).enumerate() {
            let values: Vec<String> = group.iter().map(PlanPart::to_string).collect();
            let gap = if at == 0 { "" } else { " " };
            write!(f, "{gap}{} {}", group[0].flag(), values.join(","))?;
        }
        Ok(())
    }
}

impl Plan {
    /// Returns all parts that can be left out, in groups of one kind, of which those that save most are first.
    pub fn parts(&self) -> Vec<Vec<PlanPart>> {
        let tasks = |is_rule: bool| {
            let parts = self.work.tasks.iter().filter_map(|task| task.part);
            parts.filter(move |part| matches!(part, PlanPart::Rule(_)) == is_rule).collect::<BTreeSet<_>>()
        };
        vec![
            self.orders.iter().map(|order| PlanPart::Order(order.number)).collect(),
            self.faults.kinds().map(PlanPart::Fault).collect(),
            tasks(false).into_iter().collect(),
            tasks(true).into_iter().collect(),
            self.work.parcels.keys().copied().map(PlanPart::Parcels).collect(),
            self.invoices.iter().map(|invoice| PlanPart::Invoice(invoice.number)).collect(),
            self.endpoints.iter().map(|endpoint| PlanPart::Endpoint(endpoint.number)).collect(),
            self.shops.iter().map(|shop| PlanPart::Shop(shop.number)).collect(),
            self.spools.iter().map(|spool| PlanPart::Spool(spool.number)).collect(),
            self.crashes.iter().map(|crash| PlanPart::Crash(crash.number)).collect(),
            self.spool_manager.iter().map(|_| PlanPart::SpoolManager(0)).collect(),
        ]
    }

    /// Leaves parts out, other than faults: those do not exist while a plan is drawn.
    pub fn leave_out(&mut self, cut: &Cut) {
        let stays = |part: PlanPart| !cut.0.contains(&part);
        self.orders.retain(|order| stays(PlanPart::Order(order.number)));
        self.invoices.retain(|invoice| stays(PlanPart::Invoice(invoice.number)));
        self.endpoints.retain(|endpoint| stays(PlanPart::Endpoint(endpoint.number)));
        self.shops.retain(|shop| stays(PlanPart::Shop(shop.number)));
        self.spools.retain(|spool| stays(PlanPart::Spool(spool.number)));
        self.crashes.retain(|crash| stays(PlanPart::Crash(crash.number)));
        self.spool_manager.take_if(|_| !stays(PlanPart::SpoolManager(0)));
        // Nobody does anything with an order that is not placed.
        let is_placed = |order: usize| stays(PlanPart::Order(order));
        self.work.parcels.retain(|order, _| is_placed(*order) && stays(PlanPart::Parcels(*order)));
        let remains = |task: &Task| task.part.is_none_or(stays) && task.act.order().is_none_or(is_placed);
        self.work.tasks.retain(remains);
        // Each change is still one.
        let mut is_required = self.sign_off_required;
        for task in &mut self.work.tasks {
            if let Act::SignOff(required) = &mut task.act {
                is_required = !is_required;
                *required = is_required;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Size;

    /// Returns all parts of a seed's plan without the given ones.
    fn parts_without(size: Size, seed: u64, cut: &Cut) -> BTreeSet<PlanPart> {
        Plan::draw_sized(size, seed, cut).parts().into_iter().flatten().collect()
    }

    #[test]
    fn a_part_that_is_left_out_changes_no_other() {
        for (size, seeds) in [(Size::Story, 1..=40), (Size::Day, 1..=4)] {
            for seed in seeds {
                let all = parts_without(size, seed, &Cut::default());
                for part in &all {
                    let left = parts_without(size, seed, &Cut(BTreeSet::from([*part])));
                    let gone: Vec<&PlanPart> = all.difference(&left).collect();
                    let belongs = |other: &PlanPart| match part {
                        PlanPart::Order(number) => {
                            matches!(other, PlanPart::Task(_)) || *other == PlanPart::Parcels(*number)
                        }
                        // With a fault, everything goes that is only there because of it.
                        PlanPart::Fault(_) => !matches!(other, PlanPart::Fault(_)),
                        _ => false,
                    };
                    assert!(gone.contains(&part), "seed {seed}: {part:?}");
                    assert!(gone.iter().all(|one| *one == part || belongs(one)), "seed {seed}: {part:?}: {gone:?}");
                    assert!(left.is_subset(&all), "seed {seed}: {part:?}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_left_without_all_parts() {
        for seed in 1..=40 {
            let plan = Plan::draw_sized(Size::Story, seed, &Cut(parts_without(Size::Story, seed, &Cut::default())));
            assert!(plan.orders.is_empty() && plan.work.parcels.is_empty() && plan.crashes.is_empty(), "seed {seed}");
            let mut tasks = plan.work.tasks.iter();
            assert!(tasks.all(|task| matches!(task.act, Act::Receive { .. })), "seed {seed}: only what must be there");
        }
    }

    #[test]
    fn a_cut_is_written_as_the_command_line_has_it() {
        let parts = [PlanPart::Crash(2), PlanPart::Order(3), PlanPart::Fault(FaultKind::Outage), PlanPart::Order(11)];
        assert_eq!(
            Cut(BTreeSet::from(parts)).to_string(),
            "--without-orders 3,11 --without outage --without-crashes 2"
        );
        assert_eq!(Cut::default().to_string(), "");
    }
}
