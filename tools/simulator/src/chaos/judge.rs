//! Judge of a run: collects the final evidence from printers, processor, API and audit log.

use std::collections::BTreeMap;

use simulator::printer::PhysicalEvent;

use crate::catalogue::FIRST_STOCK_GRAMS;
use crate::client::{ApiFault, ChaosClient};
use crate::customers::ChaosSale;
use crate::events::{self, EventLine};
use crate::hall::{ChaosMachine, Deeds};
use crate::json::{items, text};
use crate::rest::jobs_of;
use crate::staff::StaffRecords;
use crate::verdict::{self, ChaosVerdict, Outcome};
use crate::world::ChaosWorld;

/// Records of everyone's actions and observations during the run.
#[derive(Debug, Default)]
pub struct Testimony {
    /// Orders all of whose steps have been acknowledged.
    pub sales: Vec<ChaosSale>,
    /// Records of the staff.
    pub records: StaffRecords,
    /// Events as followed during the run.
    pub events: Vec<EventLine>,
    /// Requests without a response, or with an unexpected one.
    pub faults: Vec<String>,
    /// Reasons why the shop did not become idle.
    pub unrest: Vec<String>,
}

/// Checks whether each promise was kept.
pub async fn judge(world: &ChaosWorld, api: &ChaosClient, testimony: Testimony) -> Result<ChaosVerdict, ApiFault> {
    let Testimony { sales, records, events, faults, unrest } = testimony;
    let mut verdict = ChaosVerdict::default();
    verdict.add("every command got an answer that it may get", faults);
    verdict.add(format!("{} orders came to rest", sales.len()), unrest);
    repeat_commands(api, &mut verdict).await?;
    judge_printers(world, &mut verdict);
    let outcomes = outcomes(world, api, &sales).await?;
    judge_orders(world, &outcomes, &records, &mut verdict);
    let material = api.get(&format!("/api/inventory/materials/{}", world.catalogue.material)).await?;
    let problems = verdict::stock_problems(&material, &outcomes, FIRST_STOCK_GRAMS, &records);
    let (spools, grams) = (records.spools, records.delivered_grams);
    verdict.add(format!("no stock was invented or lost: {spools} spools changed, {grams} g delivered"), problems);
    let all = events::read_all(api).await?;
    let problems = events::problems(&events, &all, &sales);
    let words = "events have no hole and no step twice, and none that was read is gone";
    verdict.add(format!("{words}: {} followed, {} in all", events.len(), all.len()), problems);
    match world.place.verify_audit_log().await {
        Ok(summary) => {
            let first = summary.lines().next().unwrap_or_default();
            verdict.add(format!("the audit log is a whole chain: {first}"), Vec::new());
        }
        Err(errors) => verdict.add("the audit log is a whole chain", vec![errors]),
    }
    verdict.add("nothing panicked", world.log.panics());
    Ok(verdict)
}

/// Repeats every acknowledged command with its key.
async fn repeat_commands(api: &ChaosClient, verdict: &mut ChaosVerdict) -> Result<(), ApiFault> {
    let (acknowledgements, mut problems) = (api.acknowledgements(), Vec::new());
    for past in &acknowledgements {
        problems.extend(api.repeat(past).await?);
    }
    let words = "acknowledged commands, repeated with their keys, have the same versions";
    verdict.add(format!("{} {words}", acknowledgements.len()), problems);
    Ok(())
}

fn judge_printers(world: &ChaosWorld, verdict: &mut ChaosVerdict) {
    let events: Vec<PhysicalEvent> = world.hall.machines.iter().flat_map(ChaosMachine::events).collect();
    let starts = events.iter().filter(|event| matches!(event, PhysicalEvent::Started { .. })).count();
    let machines = world.hall.machines.len();
    let words = format!("no file was started twice: {starts} starts on {machines} printers");
    verdict.add(words, verdict::repeated_starts(&events));
}

fn judge_orders(world: &ChaosWorld, outcomes: &[Outcome], records: &StaffRecords, verdict: &mut ChaosVerdict) {
    let mut deeds: BTreeMap<String, Deeds> = BTreeMap::new();
    for outcome in outcomes {
        for attempt in outcome.jobs.iter().flat_map(|job| items(job, "attempts")) {
            let id = text(attempt, "id");
            if let Some(machine) = world.hall.at(text(attempt, "printerId")) {
                deeds.insert(id.to_owned(), machine.deeds(id));
            }
        }
    }
    let all =
        |problems: &dyn Fn(&Outcome) -> Vec<String>| -> Vec<String> { outcomes.iter().flat_map(problems).collect() };
    verdict.add("the books of the processor and the till are those of the orders", all(&verdict::money_problems));
    verdict.add("as many parts are good as were ordered, and less than a plate more", all(&verdict::part_problems));
    let prints = |outcome: &Outcome| verdict::print_problems(outcome, &deeds, &records.decided_jobs);
    let decided = records.decided_jobs.len();
    verdict.add(format!("each completed job was printed once; people decided about {decided}"), all(&prints));
    let sign_offs = |outcome: &Outcome| verdict::sign_off_problems(outcome, &records.verdicts);
    verdict.add(format!("{} acknowledged sign-offs count", records.verdicts.len()), all(&sign_offs));
}

async fn outcomes(world: &ChaosWorld, api: &ChaosClient, sales: &[ChaosSale]) -> Result<Vec<Outcome>, ApiFault> {
    let mut outcomes = Vec::new();
    for sale in sales {
        let order = api.get(&format!("/api/orders/{}", sale.order)).await?;
        let jobs = jobs_of(api, &sale.order).await?;
        let balance = world.processor.balance(&sale.order);
        outcomes.push(Outcome { sale: sale.clone(), order, jobs, balance });
    }
    Ok(outcomes)
}
