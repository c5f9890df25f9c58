//! The components below the root: a crashed one restarts, and its siblings are unaffected.

use std::collections::HashSet;

use printfloor::actors::dispatcher::Dispatcher;
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::actors::kernel::restart_policy::RestartPolicy;
use printfloor::actors::restores::DispatchHold;
use printfloor::domain::dispatch::{DispatchRules, KnownTypes};
use ractor::{ActorId, ActorStatus};

use crate::store::rig::Rig;
use crate::store::tally::Do;
use crate::support::database::{TestDatabase, on_both_databases, until};

on_both_databases!(a_component_that_crashes_comes_back_alone);

fn children(rig: &Rig) -> HashSet<ActorId> {
    let children = rig.root.get_children().into_iter();
    children.filter(|child| child.get_status() == ActorStatus::Running).map(|child| child.get_id()).collect()
}

async fn a_component_that_crashes_comes_back_alone(database: TestDatabase) {
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, 2).await;
    let rules = DispatchRules { max_starts_per_minute: None, refusals_until_failed: 3, types: KnownTypes::default() };
    let policy = RestartPolicy::default;
    let (orders, printers) = (rig.directory(policy()), rig.directory(policy()));
    let dispatcher = Dispatcher::new(
        orders,
        printers,
        rig.directory(policy()),
        rig.environment.clone(),
        rules,
        DispatchHold::new(None),
    );
    dispatcher.start(&rig.root).await.unwrap();
    until("all are up", async || children(&rig).len() == 4).await;
    for round in 1..=2 {
        for component in ["dispatcher", "supervisor", "writer", "tally"] {
            let before = children(&rig);
            match component {
                "dispatcher" => dispatcher.crash(),
                "supervisor" => tallies.crash_supervisor(),
                "writer" => rig.writer_crashes(),
                _ => tallies.crash(ids[0]),
            }
            let replaced = usize::from(component != "tally");
            until("one was replaced", async || {
                let now = children(&rig);
                now.len() == 4 && now.difference(&before).count() == replaced
            })
            .await;
            for id in &ids {
                until("all answer again", async || tallies.ask(*id, CommandOrigin::system(), Do::Look).await.is_ok())
                    .await;
            }
        }
        tallies.ask(ids[0], CommandOrigin::system(), Do::Add(1)).await.unwrap();
        assert_eq!(rig.stored(&ids).await, round);
    }
    let restarts: Vec<_> = ids.iter().map(|id| super::crashes::observed(&tallies, *id).restarts).collect();
    assert_eq!(restarts, [2, 0]);
}
