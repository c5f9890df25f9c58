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
use serde_json::json;
use simulator::faults::SlowUpload;
use simulator::printer::What;
use simulator::sink::{Mode, Received, Sink};
use simulator::{Fleet, FleetOptions, PrinterKind};

use crate::api::webhooks::{newest_is, register};
use crate::machines::big_gcode;
use crate::store::rig::Rig;
use crate::store::tally::{Do, Tally};
use crate::support::database::{TestDatabase, services_wanted, until};
use crate::support::waiting::LONG;
use crate::support::{App, Db};

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

/// Adjusts stock until the server says that the disk is full.
async fn until_the_disk_is_full(app: &App, material: &str, ballast: &Path) {
    fill(ballast);
    let path = format!("/api/inventory/materials/{material}/adjustments");
    until("the disk to be full", async || {
        let answer = app.post(&path, &json!({"delta": 1, "reason": "fill"})).await;
        answer.status == 503 && answer.json()["code"] == "disk_full"
    })
    .await;
}

/// A delivery, a mail and an upload are under way when the disk becomes full. Each is answered, none can be written down:
/// only the telling may be repeated, not the act.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_full_disk_nothing_that_was_answered_is_done_again() {
    if !inside("with_a_full_disk_nothing_that_was_answered_is_done_again") {
        return;
    }
    let temporary = std::env::temp_dir();
    run("mount", &["-t", "tmpfs", "-o", "size=64m", "tmpfs"], &temporary);
    let (hook, post) = (Sink::start().await.unwrap(), Sink::start().await.unwrap());
    let options = FleetOptions { speed: 2000.0, seed: 3, ..FleetOptions::of(PrinterKind::FwRest, 1) };
    let fleet = Fleet::start(options).await.unwrap();
    let app = App::on(Db::sqlite())
        .env("EMAIL_API_KEY", "key")
        .env("PRINTFLOOR_MAIL__API_URL", post.url())
        .env("PRINTFLOOR_MAIL__OPERATORS", "ops@example.org")
        .env("PRINTFLOOR_DISPATCH__START_CONFIRM_TIMEOUT_SECONDS", 300)
        .env("PRINTFLOOR_LOG__FILTER", "info,printfloor::actors::kernel::effects=debug")
        .start()
        .await;
    app.printer(&fleet.printers[0]).await;
    let endpoint = register(&app, &hook, &["order.paid"]).await;
    let material = app.material("PLA", 1000.0).await;
    let file = app.upload("big.gcode", big_gcode(400_000)).await.expect(201);
    let sku = app.sku("BIG", &material, file["id"].as_str().unwrap(), 900).await;

    hook.set_mode(Mode::Hold);
    post.set_mode(Mode::Hold);
    fleet.printers[0].handle.update_faults(|faults| {
        faults.slow_upload = Some(SlowUpload { bytes_per_second: 20_000 });
    });
    let order = app.paid_order(&sku, 1).await;
    let low = json!({
        "name": "PETG", "type": "filament", "color": "#000000", "brand": "Acme", "quantity": 1, "unit": "g",
        "reorderPoint": 500, "reorderQuantity": 1000,
    });
    app.post("/api/inventory/materials", &low).await.expect(201);
    hook.wait_until(|all| all.len() == 1, LONG).await.expect("the delivery to be under way");
    post.wait_until(|all| all.len() == 1, LONG).await.expect("the mail to be under way");
    let job = app.jobs(&order).await[0]["id"].as_str().unwrap().to_owned();
    app.job_is(&job, "DISPATCHING").await;
    let ballast = temporary.join("ballast");
    until_the_disk_is_full(&app, &material, &ballast).await;

    // All three are answered now, and cannot be written down.
    hook.set_mode(Mode::Ok);
    post.set_mode(Mode::Ok);
    fleet.printers[0].handle.update_faults(|faults| faults.slow_upload = None);
    for kind in ["endpoint", "mail", "printer"] {
        until("the outcome to be told again and again", async || {
            let told = app.log().into_iter().filter(|line| {
                line.contains("an outcome is not written yet") && line.contains(&format!("kind=\"{kind}\""))
            });
            told.count() >= 4
        })
        .await;
    }
    fs::remove_file(&ballast).unwrap();
    newest_is(&app, &endpoint, "delivered").await;
    app.order_is(&order, "ready").await;
    until("the mail to be noted", async || {
        app.get("/metrics").await.text.lines().any(|line| line == "printfloor_mails_pending 0")
    })
    .await;
    let uploads = fleet.printers[0].handle.log().iter().filter(|one| matches!(one.what, What::Uploaded { .. })).count();
    let low =
        |one: &&Received| one.json()["subject"].as_str().is_some_and(|subject| subject.contains("Low stock: PETG"));
    assert_eq!((hook.received().len(), post.received().iter().filter(low).count(), uploads), (1, 1, 1));
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
