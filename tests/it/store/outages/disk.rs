//! A disk that is full or read-only. Each test runs in its own mount namespace.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use printfloor::actors::kernel::directory::{ASK_TIMEOUT, Directory};
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::actors::kernel::handle::AskError;
use printfloor::actors::kernel::restart_policy::RestartPolicy;
use printfloor::store::Unavailable;
use serde_json::json;
use simulator::PrinterKind;
use simulator::printer::PhysicalEvent;

use super::answered::UnderWay;
use crate::chaos::from_env;
use crate::machines::delays::HELD;
use crate::machines::{FAST, Floor, IMPATIENT, JUDGE_LATE, OWN, SLOW};
use crate::store::rig::Rig;
use crate::store::tally::{Do, Tally};
use crate::support::database::{TestDatabase, services_wanted, until};
use crate::support::{App, Db};

const INSIDE: &str = "PRINTFLOOR_TEST_INSIDE";

/// Returns `true` inside the namespaces; otherwise runs the same test in new namespaces, where it may mount, and
/// returns `false`.
fn inside(module: &str, test: &str) -> bool {
    if std::env::var(INSIDE).is_ok_and(|inside| inside == test) {
        return true;
    }
    let possible = Command::new("unshare").args(["-rm", "true"]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        assert!(!services_wanted(), "unshare -rm is not possible here");
        eprintln!("not run: unshare -rm is not possible here");
        return false;
    }
    let name = format!("{}::{test}", module.split_once("::").unwrap().1);
    let ran = Command::new("unshare")
        .arg("-rm")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env(INSIDE, test)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{output}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(output.contains("1 passed"), "{output}");
    false
}

fn run(program: &str, args: &[&str], at: &Path) {
    let ran = Command::new(program).args(args).arg(at).output().unwrap();
    assert!(ran.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn nobody_crashed(tallies: &Directory<Tally>) {
    for line in tallies.observe() {
        assert_eq!((line.restarts, line.generation, line.status), (0, 1, "running"), "{line:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_full_disk_nothing_is_half_done_and_room_brings_it_back() {
    if !inside(module_path!(), "with_a_full_disk_nothing_is_half_done_and_room_brings_it_back") {
        return;
    }
    let database = TestDatabase::sqlite();
    let folder = database.folder.path();
    run("mount", &["-t", "tmpfs", "-o", "size=6m", "tmpfs"], folder);
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, 4).await;
    for round in 0..3 {
        fill(&folder.join("ballast"));
        // Until the last free page of the log is used up.
        let mut done = 0;
        let why = loop {
            match tallies.ask(ids[round], CommandOrigin::system(), Do::Add(1)).await {
                Ok(_) => done += 1,
                Err(AskError::Unavailable(why)) => break why,
                Err(other) => panic!("{other:?}"),
            }
            assert!(done < 20_000, "the disk is not full");
        };
        assert_eq!(why, Unavailable::DiskFull);
        for id in &ids {
            let began = Instant::now();
            match tallies.ask(*id, CommandOrigin::system(), Do::Add(1)).await {
                Ok(_) | Err(AskError::Unavailable(Unavailable::DiskFull)) => {}
                other => panic!("{other:?}"),
            }
            assert!(began.elapsed() < ASK_TIMEOUT / 3, "{:?}", began.elapsed());
            assert!(tallies.read(*id).await.unwrap().is_some(), "reads go on");
            assert!(rig.on_disk(*id).await.state.is_some(), "reads from the pool too");
        }
        fs::remove_file(folder.join("ballast")).unwrap();
        until("it is back by itself", async || tallies.ask(ids[3], CommandOrigin::system(), Do::Add(1)).await.is_ok())
            .await;
        assert_eq!(rig.counters.unavailable(), None);
    }
    let mut counted = 0;
    for id in &ids {
        counted += tallies.ask(*id, CommandOrigin::system(), Do::Look).await.unwrap().answer;
    }
    assert_eq!(rig.stored(&ids).await, counted);
    nobody_crashed(&tallies);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_full_disk_nothing_that_was_answered_is_done_again() {
    if !inside(module_path!(), "with_a_full_disk_nothing_that_was_answered_is_done_again") {
        return;
    }
    let temporary = std::env::temp_dir();
    run("mount", &["-t", "tmpfs", "-o", "size=64m", "tmpfs"], &temporary);
    let shop = UnderWay::on(App::on(Db::sqlite())).await;
    let ballast = temporary.join("ballast");
    fill(&ballast);
    shop.until_refused("disk_full").await;
    shop.answered().await;
    fs::remove_file(&ballast).unwrap();
    shop.was_done_once().await;
}

/// Cancels a print while the network is cut, and then fills the disk, so that the outcome cannot be recorded; when the
/// printer comes back, it is printing a person's file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_full_disk_a_persons_own_print_survives_a_cancel() {
    if !inside(module_path!(), "with_a_full_disk_a_persons_own_print_survives_a_cancel") {
        return;
    }
    let kinds = [PrinterKind::FwRest, PrinterKind::ServerRest];
    let seed = from_env("PRINTFLOOR_TEST_SEED", 0) as usize;
    own_print_survives_a_cancel(&[kinds[seed % kinds.len()]]).await;
}

mod long {
    use simulator::PrinterKind;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn with_a_full_disk_a_persons_own_print_survives_a_cancel() {
        if super::inside(module_path!(), "with_a_full_disk_a_persons_own_print_survives_a_cancel") {
            super::own_print_survives_a_cancel(&[PrinterKind::FwRest, PrinterKind::ServerRest]).await;
        }
    }
}

async fn own_print_survives_a_cancel(kinds: &[PrinterKind]) {
    let temporary = std::env::temp_dir();
    run("mount", &["-t", "tmpfs", "-o", "size=64m", "tmpfs"], &temporary);
    let ballast = temporary.join("ballast");
    for kind in kinds {
        let floor = Floor::new(*kind, 1, SLOW, &[JUDGE_LATE, IMPATIENT]).await;
        let (_, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        // The second is cancelled at once, and the printer takes its time over it.
        for cut in [true, false] {
            floor.faults(0, |faults| {
                faults.disconnect = cut;
                faults.slow_commands = HELD;
            });
            let job = if cut { job.clone() } else { next_after_own_print(&floor).await };
            floor.app.act(&format!("/api/jobs/{job}/cancel")).await.expect(200);
            if !cut {
                until("the cancel to arrive", async || floor.sim(0).handle.with(|machine| machine.cancels()) == 1)
                    .await;
            }
            fill(&ballast);
            refused_for_a_full_disk(&floor).await;
            floor.end_delays(0);
            if cut {
                floor.hurry(0);
                floor.physically("the part to be done", 0, |what| matches!(what, PhysicalEvent::Finished { .. })).await;
            } else {
                floor
                    .physically("the part to be cancelled", 0, |what| matches!(what, PhysicalEvent::Cancelled { .. }))
                    .await;
            }
            floor.own_print(0);
            floor.faults(0, |faults| faults.disconnect = false);
            // Its own rules cannot record that while nothing can be written.
            floor.status_until("the printer to answer", 0, |status| status["connection"] == "connected").await;
            for _ in 0..3 {
                floor.wait_for_poll(0).await;
            }
            let cancels = usize::from(!cut);
            let all = |floor: &Floor| floor.sim(0).handle.with(|machine| machine.cancels() as usize);
            assert_eq!(all(&floor), cancels, "while nothing can be written");
            fs::remove_file(&ballast).unwrap();
            floor.app.job_is(&job, if cut { "COMPLETED" } else { "CANCELLED" }).await;
            floor.free(0).await;
            floor.attention(0, "foreign_print", true).await;
            assert_eq!(all(&floor), cancels, "nor after that");
            assert_eq!(floor.count(0, |what| matches!(what, PhysicalEvent::Cancelled { .. })), cancels);
        }
    }
}

async fn refused_for_a_full_disk(floor: &Floor) {
    let path = format!("/api/inventory/materials/{}/adjustments", floor.material);
    until("the disk to be full", async || {
        let answer = floor.app.post(&path, &json!({"delta": 1, "reason": "fill"})).await;
        answer.status == 503 && answer.json()["code"] == "disk_full"
    })
    .await;
}

/// Waits until the person's print has ended and the next job is printing; returns the job's ID.
async fn next_after_own_print(floor: &Floor) -> String {
    floor.sim(0).handle.set_speed(FAST);
    let own = |what: &PhysicalEvent| matches!(what, PhysicalEvent::Finished { filename } if filename == OWN);
    floor.physically("the person's print to be done", 0, own).await;
    floor.attention(0, "foreign_print", false).await;
    floor.sim(0).handle.set_speed(SLOW);
    let (_, job) = floor.one().await;
    floor.app.job_is(&job, "PRINTING").await;
    job
}

fn fill(ballast: &Path) {
    use std::io::Write;
    let mut file = fs::File::create(ballast).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_database_says_so_and_is_written_again_when_it_can_be() {
    if !inside(module_path!(), "a_read_only_database_says_so_and_is_written_again_when_it_can_be") {
        return;
    }
    let database = TestDatabase::sqlite();
    let folder = database.folder.path();
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(RestartPolicy::default()).await;
    let ids = rig.make(&tallies, 2).await;
    run("mount", &["--bind", folder.to_str().unwrap()], folder);
    run("mount", &["-o", "remount,bind,ro"], folder);
    // The files that are open stay writable; whoever opens them anew finds them read-only.
    rig.writer_crashes();
    until("it is noticed", async || rig.counters.unavailable() == Some(Unavailable::ReadOnly)).await;
    for id in &ids {
        let answer = tallies.ask(*id, CommandOrigin::system(), Do::Add(1)).await;
        assert!(matches!(answer, Err(AskError::Unavailable(Unavailable::ReadOnly))), "{answer:?}");
        assert_eq!(tallies.read(*id).await.unwrap().unwrap().state.as_ref().unwrap().count, 0);
    }
    run("umount", &["-l"], folder);
    until("it is back by itself", async || tallies.ask(ids[0], CommandOrigin::system(), Do::Add(1)).await.is_ok())
        .await;
    assert_eq!(rig.stored(&ids).await, 1);
    nobody_crashed(&tallies);
}
