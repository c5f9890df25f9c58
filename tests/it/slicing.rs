//! SKUs with a model and a slicer profile, sliced by a fake program controlled by the test, and by the real slicer if
//! it is installed.

mod failures;
mod projects;
mod quotes;
mod turns;

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};
use simulator::{Fleet, FleetOptions};

use crate::support::app::Builder;
use crate::support::{App, Db, on_sqlite, until};
use crate::whole::{SLICER, cube};

/// Name of the slicer profile.
pub const PROFILE: &str = "PLA 0.2";
/// Shell command that makes the program slice successfully.
const GOOD: &str = "cp \"$HOME_OF_TEST/good.gcode\" sliced.gcode";

/// A fake slicer that reports its version, counts its runs, and otherwise runs a shell script set by the test.
pub struct FakeSlicer {
    folder: tempfile::TempDir,
}

impl FakeSlicer {
    /// Creates a slicer whose G-code takes this many grams.
    pub fn new(grams: f64) -> Self {
        let fake = Self { folder: tempfile::tempdir().unwrap() };
        let home = fake.folder.path().display();
        let text = format!(
            "#!/bin/sh\nHOME_OF_TEST={home}\ncase \"$*\" in *--help*) echo 'FakeSlicer-1.0 based on nothing'; exit 0;; esac\n\
             echo \"$*\" >> $HOME_OF_TEST/runs\ncat profile.ini > $HOME_OF_TEST/profile\n. $HOME_OF_TEST/does\n"
        );
        fake.does(GOOD);
        fake.makes(grams);
        std::fs::write(fake.program(), text).unwrap();
        std::fs::set_permissions(fake.program(), std::fs::Permissions::from_mode(0o755)).unwrap();
        fake
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("slicer")
    }

    /// Sets the shell script that the program runs from now on.
    fn does(&self, shell: &str) {
        let new = self.folder.path().join("new");
        std::fs::write(&new, shell).unwrap();
        std::fs::rename(new, self.folder.path().join("does")).unwrap();
    }

    fn makes(&self, grams: f64) {
        let code = simulator::gcode::gcode("cube", 240, grams, grams * 330.0);
        std::fs::write(self.folder.path().join("good.gcode"), code).unwrap();
    }

    /// Lists the arguments of each run so far.
    fn runs(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("runs")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Counts the running processes of the program.
    fn running(&self) -> usize {
        let processes =
            std::process::Command::new("pgrep").args(["-f", &self.program().display().to_string()]).output();
        processes.unwrap().stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count()
    }

    /// Returns the settings of a server that slices with the program.
    fn shop(&self, db: Db) -> Builder {
        self.slices_for(App::on(db))
    }

    /// Configures a server to slice with the program.
    pub fn slices_for(&self, server: Builder) -> Builder {
        server
            .env("PRINTFLOOR_SLICING__PROGRAM", self.program().display())
            .env("PRINTFLOOR_SLICING__RECHECK_SECONDS", 0.2)
    }
}

/// Creates a slicer profile in the folder where the server expects it.
pub fn profile(app: &App, name: &str, text: &str) {
    let folder = app.data().join("slicer-profiles");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.ini")), text).unwrap();
}

/// Creates a SKU with a model and a profile; its estimate is 50 g.
async fn model_sku(app: &App, material: &str, model: &str, more: Value) -> String {
    let mut body = json!({
        "code": "CUBE", "name": "Cube", "materialId": material, "estimatedConsumption": 50, "machineType": "fdm_standard",
        "priceCents": 900, "modelFileId": model, "slicerProfile": PROFILE,
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    app.post("/api/skus", &body).await.expect(201)["id"].as_str().unwrap().to_owned()
}

async fn upload_cube(app: &App) -> String {
    let model = app.upload("cube.stl", cube().into_bytes()).await.expect(201);
    assert_eq!(model["kind"], "model", "{model}");
    model["id"].as_str().unwrap().to_owned()
}

/// Creates a profile, a material with this stock in grams and a SKU with a model; returns the IDs of the material and
/// the SKU.
async fn stocked(app: &App, stock: f64) -> (String, String) {
    profile(app, PROFILE, "layer_height = 0.2\nfilament_density = 1.24\n");
    let material = app.material("PLA", stock).await;
    let sku = model_sku(app, &material, &upload_cube(app).await, json!({})).await;
    (material, sku)
}

async fn only_job(app: &App, order: &str) -> String {
    app.jobs(order).await[0]["id"].as_str().unwrap().to_owned()
}

async fn reserved(app: &App, material: &str) -> f64 {
    app.get(&format!("/api/inventory/materials/{material}")).await.expect(200)["reserved"].as_f64().unwrap()
}

/// Lists the G-code files.
async fn gcode_files(app: &App) -> Vec<Value> {
    let files = app.get("/api/files?kind=gcode").await.expect(200);
    files["files"].as_array().unwrap().clone()
}

on_sqlite! {
    async fn a_model_becomes_parts_and_is_sliced_once(db: Db) {
        let fake = FakeSlicer::new(12.5);
        let mut app = fake.shop(db).start().await;
        let (material, sku) = stocked(&app, 160.0).await;
        // Three estimates of 50 g fit; what the G-code says leaves room for a fourth.
        let order = app.paid_order(&sku, 4).await;
        until("all four to be sliced", || async {
            let jobs = app.jobs(&order).await;
            jobs.iter().all(|job| job["state"] == "SLICED" && job["need"] == 12.5).then_some(())
        })
        .await;
        until("the reservations to be corrected", || async { ((reserved(&app, &material).await - 50.0).abs() < 0.001).then_some(()) }).await;
        assert_eq!(fake.runs().len(), 1, "{:?}", fake.runs());
        let files = gcode_files(&app).await;
        assert_eq!((files.len(), &files[0]["name"]), (1, &json!(format!("cube ({PROFILE}).gcode"))), "{files:?}");
        let settings = std::fs::read_to_string(fake.folder.path().join("profile")).unwrap();
        assert!(settings.contains("layer_height = 0.2") && settings.contains("post_process = \n"), "{settings}");

        // The result outlives the process.
        app.stop().await;
        app.start().await;
        let later = app.paid_order(&sku, 1).await;
        let job = app.job_is(&only_job(&app, &later).await, "SLICED").await;
        assert_eq!((&job["fileId"], &job["need"]), (&files[0]["id"], &json!(12.5)), "{job}");
        assert_eq!((fake.runs().len(), gcode_files(&app).await.len()), (1, 1));

        let fleet = Fleet::start(FleetOptions { speed: 300.0, seed: 7, ..FleetOptions::of_each(1) }).await.unwrap();
        for sim in &fleet.printers {
            app.printer(sim).await;
        }
        app.order_is(&order, "ready").await;
        app.order_is(&later, "ready").await;
        until("the claims to be settled", || async { (reserved(&app, &material).await == 0.0).then_some(()) }).await;
        app.ledger_is_even(&material).await;
        let left = app.get(&format!("/api/inventory/materials/{material}")).await.expect(200);
        let used = 160.0 - left["quantity"].as_f64().unwrap();
        assert!((used - 5.0 * 12.5).abs() < 5.0, "{left}");
    }

    async fn killed_in_the_middle_it_begins_again_and_makes_one_file(db: Db) {
        let fake = FakeSlicer::new(12.5);
        fake.does("sleep 600");
        let mut app = fake.shop(db).start().await;
        let (_, sku) = stocked(&app, 200.0).await;
        let order = app.paid_order(&sku, 2).await;
        until("the slicer to run", || async { (fake.runs().len() == 1).then_some(()) }).await;
        let job = app.get(&format!("/api/jobs/{}", only_job(&app, &order).await)).await.expect(200);
        assert_eq!((&job["state"], &job["waitingReason"]), (&json!("VALIDATED"), &json!("The model is being sliced.")), "{job}");
        app.kill_9();
        fake.does(GOOD);
        app.start().await;
        until("both to be sliced", || async {
            app.jobs(&order).await.iter().all(|job| job["state"] == "SLICED").then_some(())
        })
        .await;
        assert_eq!((fake.runs().len(), gcode_files(&app).await.len()), (2, 1));
        until("what the killed server left running to be gone", || async { (fake.running() == 0).then_some(()) }).await;
        until("the folders of the runs to be gone", || async {
            let left = std::fs::read_dir(app.data().join("slicing")).map_or(0, Iterator::count);
            (left == 0).then_some(())
        })
        .await;
    }

    async fn the_real_slicer_makes_a_cube_that_is_printed(db: Db) {
        let Some(program) = std::env::var_os(SLICER) else {
            assert!(std::env::var_os(crate::support::db::SERVICES).is_none(), "{SLICER} is not set");
            return;
        };
        let app = App::on(db).env("PRINTFLOOR_SLICING__PROGRAM", program.display()).start().await;
        let (material, sku) = stocked(&app, 60.0).await;
        let fleet = Fleet::start(FleetOptions { speed: 300.0, seed: 7, ..FleetOptions::of_each(1) }).await.unwrap();
        for sim in &fleet.printers {
            app.printer(sim).await;
        }
        let order = app.paid_order(&sku, 2).await;
        app.order_is(&order, "ready").await;
        for job in app.jobs(&order).await {
            let need = job["need"].as_f64().unwrap();
            assert!(need > 0.5 && need < 5.0, "the slicer's own grams: {job}");
        }
        let files = gcode_files(&app).await;
        assert_eq!(files.len(), 1, "{files:?}");
        assert!(files[0]["metadata"]["seconds"].as_f64().unwrap() > 60.0, "{files:?}");
        app.ledger_is_even(&material).await;
    }
}
