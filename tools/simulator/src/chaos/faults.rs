//! Execution of the faults: each affects its system for its duration.

use std::sync::Arc;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::fault_plan::{ChaosFault, ChaosFaultKind, FaultTarget, FaultTargets};
use crate::keeper::Keeper;
use crate::network::NetworkState;
use crate::server::set_writable;
use crate::story::{ChaosStory, seconds};
use crate::world::ChaosWorld;

/// Returns the systems that can be affected.
pub fn targets(world: &ChaosWorld) -> FaultTargets {
    FaultTargets {
        database: world.services.postgres.is_some(),
        redis: world.services.redis.is_some(),
        broker: world.services.broker.is_some(),
        files: world.prlimit.is_some(),
        networks: world.networks.len(),
    }
}

/// Executes all faults. Returns when the last one has ended.
pub async fn happen(world: Arc<ChaosWorld>, faults: Vec<ChaosFault>, story: ChaosStory) {
    let began = Instant::now();
    let mut lasting = JoinSet::new();
    for fault in faults {
        sleep_until(began + fault.at).await;
        let world = world.clone();
        lasting.spawn(async move { hit(&world, fault, story).await });
    }
    while lasting.join_next().await.is_some() {}
}

async fn hit(world: &ChaosWorld, fault: ChaosFault, story: ChaosStory) {
    let (name, span) = (name_of(world, fault.target), seconds(fault.lasts));
    match (fault.kind, keeper_of(world, fault.target)) {
        (ChaosFaultKind::Kill, Some(keeper)) => {
            story.tell(&format!("kill -9 of {name}, started again after {span}"));
            keeper.kill().await;
            sleep(fault.lasts).await;
            keeper.release();
        }
        (ChaosFaultKind::Freeze, Some(keeper)) => {
            if let Some(pid) = keeper.freeze() {
                story.tell(&format!("{name} is frozen for {span}"));
                sleep(fault.lasts).await;
                keeper.thaw(pid);
            }
        }
        (ChaosFaultKind::Unwritable, Some(keeper)) => {
            let Some(prlimit) = &world.prlimit else { return };
            story.tell(&format!("{name} can write to no file for {span}"));
            set_writable(keeper, prlimit, false).await;
            sleep(fault.lasts).await;
            set_writable(keeper, prlimit, true).await;
        }
        (ChaosFaultKind::Cut, _) => disturb(world, fault, NetworkState::Cut, story).await,
        (ChaosFaultKind::Stall, _) => disturb(world, fault, NetworkState::Stalled, story).await,
        (ChaosFaultKind::Kill | ChaosFaultKind::Freeze | ChaosFaultKind::Unwritable, None) => {}
    }
}

/// Sets the state of a network for the duration of the fault.
async fn disturb(world: &ChaosWorld, fault: ChaosFault, state: NetworkState, story: ChaosStory) {
    let FaultTarget::Network(number) = fault.target else { return };
    let Some(network) = world.networks.get(number) else { return };
    let word = if state == NetworkState::Cut { "cut" } else { "stalled" };
    story.tell(&format!("the network to {} is {word} for {}", network.name, seconds(fault.lasts)));
    network.set(state);
    sleep(fault.lasts).await;
    network.set(NetworkState::Whole);
}

fn keeper_of(world: &ChaosWorld, target: FaultTarget) -> Option<&Keeper> {
    match target {
        FaultTarget::Server => Some(&world.server),
        FaultTarget::Database => world.services.postgres.as_ref().map(|postgres| &postgres.keeper),
        FaultTarget::Redis => world.services.redis.as_ref(),
        FaultTarget::Broker => world.services.broker.as_ref(),
        FaultTarget::Network(_) => None,
    }
}

fn name_of(world: &ChaosWorld, target: FaultTarget) -> String {
    match target {
        FaultTarget::Server => "the server".to_owned(),
        FaultTarget::Database => "PostgreSQL".to_owned(),
        FaultTarget::Redis => "Redis".to_owned(),
        FaultTarget::Broker => "Mosquitto".to_owned(),
        FaultTarget::Network(number) => {
            world.networks.get(number).map(|network| network.name.clone()).unwrap_or_default()
        }
    }
}
