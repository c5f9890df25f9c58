//! The disk is full, or cannot be written. Each runs in a mount namespace of its own.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use printfloor::actors::kernel::directory::{ASK_TIMEOUT, Directory};
use printfloor::actors::kernel::envelope::CommandOrigin;
use printfloor::actors::kernel::handle::AskError;
use printfloor::actors::kernel::restart_policy::Policy;
use printfloor::store::Unavailable;

use crate::store::rig::Rig;
use crate::store::tally::{Do, Tally};
use crate::support::database::{TestDatabase, services_wanted, until};

const INSIDE: &str = "PRINTFLOOR_TEST_INSIDE";

/// Whether this is the run inside; else runs this very test in namespaces of its own, where it may mount.
fn inside(test: &str) -> bool {
    if std::env::var(INSIDE).is_ok_and(|inside| inside == test) {
        return true;
    }
    let possible = Command::new("unshare").args(["-rm", "true"]).output();
    if !possible.is_ok_and(|output| output.status.success()) {
        assert!(!services_wanted(), "unshare -rm is not possible here");
        eprintln!("not run: unshare -rm is not possible here");
        return false;
    }
    let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
    let ran = Command::new("unshare")
        .arg("-rm")
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env(INSIDE, test)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{said}\n{}", String::from_utf8_lossy(&ran.stderr));
    assert!(said.contains("1 passed"), "{said}");
    false
}

fn run(program: &str, args: &[&str], at: &Path) {
    let ran = Command::new(program).args(args).arg(at).output().unwrap();
    assert!(ran.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

fn nobody_fell(tallies: &Directory<Tally>) {
    for line in tallies.observe() {
        assert_eq!((line.restarts, line.generation, line.status), (0, 1, "running"), "{line:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_full_disk_nothing_is_half_done_and_room_brings_it_back() {
    if !inside("with_a_full_disk_nothing_is_half_done_and_room_brings_it_back") {
        return;
    }
    let database = TestDatabase::sqlite();
    let folder = database.folder.path();
    run("mount", &["-t", "tmpfs", "-o", "size=6m", "tmpfs"], folder);
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(Policy::default()).await;
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
    nobody_fell(&tallies);
}

fn fill(ballast: &Path) {
    use std::io::Write;
    let mut file = fs::File::create(ballast).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_only_database_says_so_and_is_written_again_when_it_can_be() {
    if !inside("a_read_only_database_says_so_and_is_written_again_when_it_can_be") {
        return;
    }
    let database = TestDatabase::sqlite();
    let folder = database.folder.path();
    let rig = Rig::start(&database).await;
    let tallies = rig.tallies(Policy::default()).await;
    let ids = rig.make(&tallies, 2).await;
    run("mount", &["--bind", folder.to_str().unwrap()], folder);
    run("mount", &["-o", "remount,bind,ro"], folder);
    // The files that are open stay writable; whoever opens them anew finds them read-only.
    rig.writer_falls();
    until("it is noticed", async || rig.counters.unavailable() == Some(Unavailable::ReadOnly)).await;
    for id in &ids {
        let heard = tallies.ask(*id, CommandOrigin::system(), Do::Add(1)).await;
        assert!(matches!(heard, Err(AskError::Unavailable(Unavailable::ReadOnly))), "{heard:?}");
        assert_eq!(tallies.read(*id).await.unwrap().unwrap().state.as_ref().unwrap().count, 0);
    }
    run("umount", &["-l"], folder);
    until("it is back by itself", async || tallies.ask(ids[0], CommandOrigin::system(), Do::Add(1)).await.is_ok())
        .await;
    assert_eq!(rig.stored(&ids).await, 1);
    nobody_fell(&tallies);
}
