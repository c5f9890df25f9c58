//! Slicers that are missing, fail, hang, write nonsense or use too many resources; profiles that are missing or would
//! run scripts.

use super::*;

/// Waits until the job's waiting reason contains this text; returns the job.
async fn job_says(app: &App, job: &str, words: &str) -> Value {
    until(&format!("the job to say {words:?}"), || async {
        let view = app.get(&format!("/api/jobs/{job}")).await.expect(200);
        view["waitingReason"].as_str().is_some_and(|reason| reason.contains(words)).then_some(view)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_failure_is_told_in_the_slicers_words_and_frees_the_material() {
    let fake = FakeSlicer::new(12.5);
    let builder = fake.shop(Db::sqlite());
    let builder = builder.env("PRINTFLOOR_SERVER__UPLOAD_MAX_BYTES", 1_000_000);
    let app = builder.env("PRINTFLOOR_SLICING__MEMORY_MAX_BYTES", 100_000_000).start().await;
    let (material, sku) = stocked(&app, 200.0).await;
    let mut job = None::<String>;
    for (does, says) in [
        (
            "echo \"terminate called\" >&2; echo \"  what():  Objects could not fit on the bed\" >&2; kill -ABRT $$",
            "Objects could not fit on the bed",
        ),
        ("exit 3", "exit status: 3"),
        ("exit 0", "the slicer created no file"),
        ("head -c 50000 /dev/urandom > sliced.gcode", "did not produce G-code"),
        ("echo 'G28' > sliced.gcode", "did not produce G-code"),
        ("yes G1 > sliced.gcode || exit 1", "Slicing failed"),
        ("head -c 400000000 /dev/zero | tail > sliced.gcode", "memory"),
        ("yes noise >&2 & sleep 1; echo 'Loading of a model file failed.' >&2; exit 1", "Slicing failed"),
    ] {
        fake.does(does);
        let before = fake.runs().len();
        match &job {
            Some(job) => drop(app.post(&format!("/api/jobs/{job}/release"), &json!({})).await.expect(200)),
            None => job = Some(only_job(&app, &app.paid_order(&sku, 1).await).await),
        }
        let job = job.as_ref().unwrap();
        until("the slicer to run", || async { (fake.runs().len() > before).then_some(()) }).await;
        let view = app.job_is(job, "awaiting_manual_review").await;
        let reason = view["waitingReason"].as_str().unwrap();
        assert!(view["blockedBy"] == "slicing" && reason.contains(says), "{does}: {view}");
        until("its material to be free", || async { (reserved(&app, &material).await == 0.0).then_some(()) }).await;
    }
    assert!(gcode_files(&app).await.is_empty());
    // Whatever the slicer left running is gone with it.
    until("nothing of the slicer to run", || async { (fake.running() == 0).then_some(()) }).await;
    fake.does(GOOD);
    let job = job.unwrap();
    app.post(&format!("/api/jobs/{job}/release"), &json!({})).await.expect(200);
    assert_eq!(app.job_is(&job, "SLICED").await["need"], 12.5);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slicer_that_takes_too_long_is_ended_with_all_that_it_left_running() {
    let fake = FakeSlicer::new(12.5);
    fake.does("(sleep 600; touch $HOME_OF_TEST/survivor) & sleep 600");
    let app = fake.shop(Db::sqlite()).env("PRINTFLOOR_SLICING__TIMEOUT_SECONDS", 5).start().await;
    let (material, sku) = stocked(&app, 200.0).await;
    let job = only_job(&app, &app.paid_order(&sku, 1).await).await;
    let view = app.job_is(&job, "awaiting_manual_review").await;
    assert!(view["blockedBy"] == "slicing" && fake.runs().len() == 1, "{view}");
    assert!(view["waitingReason"].as_str().unwrap().contains("longer than 5 s"), "{view}");
    until("its material to be free", || async { (reserved(&app, &material).await == 0.0).then_some(()) }).await;
    assert!(gcode_files(&app).await.is_empty());
    until("nothing of the slicer to run", || async { (fake.running() == 0).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_waits_for_a_slicer_and_a_profile_and_goes_on_once_they_are_there() {
    let fake = FakeSlicer::new(12.5);
    let aside = fake.folder.path().join("aside");
    std::fs::rename(fake.program(), &aside).unwrap();
    let app = fake.shop(Db::sqlite()).start().await;
    let material = app.material("PLA", 200.0).await;
    let sku = model_sku(&app, &material, &upload_cube(&app).await, json!({})).await;
    let job = only_job(&app, &app.paid_order(&sku, 1).await).await;
    let view = job_says(&app, &job, "There is no slicer profile \"PLA 0.2\"").await;
    assert_eq!(
        (&view["state"], &view["blockedBy"], &view["reserved"]),
        (&json!("VALIDATED"), &Value::Null, &json!(true))
    );
    profile(&app, PROFILE, "layer_height = 0.2\n");
    job_says(&app, &job, "No slicer is installed").await;
    let degraded = || async {
        app.get("/readyz").await.expect(200)["degraded"].to_string().contains("models are waiting to be sliced")
    };
    until("the operators to read so", || async { degraded().await.then_some(()) }).await;
    std::fs::rename(&aside, fake.program()).unwrap();
    app.job_is(&job, "SLICED").await;
    until("it to be over", || async { (!degraded().await).then_some(()) }).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_with_scripts_or_a_path_for_a_name_is_refused_before_anything_runs() {
    let fake = FakeSlicer::new(12.5);
    let app = fake.shop(Db::sqlite()).start().await;
    let material = app.material("PLA", 200.0).await;
    let model = upload_cube(&app).await;
    profile(&app, "scripted", "layer_height = 0.2\npost_process = /bin/false\n");
    std::fs::write(app.data().join("outside.ini"), "layer_height = 0.2\n").unwrap();
    for (code, name, says) in [("A", "scripted", "post_process"), ("B", "../outside", "not a valid file name")] {
        let sku = model_sku(&app, &material, &model, json!({"code": code, "slicerProfile": name})).await;
        let job = app.job_is(&only_job(&app, &app.paid_order(&sku, 1).await).await, "awaiting_manual_review").await;
        let reason = job["waitingReason"].as_str().unwrap();
        assert!(job["blockedBy"] == "slicing" && reason.contains(says), "{job}");
    }
    assert!(fake.runs().is_empty(), "{:?}", fake.runs());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_print_that_takes_more_than_was_thought_waits_for_material() {
    let fake = FakeSlicer::new(80.0);
    let app = fake.shop(Db::sqlite()).start().await;
    let (material, sku) = stocked(&app, 60.0).await;
    let job = only_job(&app, &app.paid_order(&sku, 1).await).await;
    app.job_is(&job, "awaiting_manual_review").await;
    // What was held for the estimate becomes free a moment later.
    let view = job_says(&app, &job, "Needs 80 g of PLA, 60 g free").await;
    assert_eq!((&view["blockedBy"], &view["need"]), (&json!("material"), &json!(80)), "{view}");
    assert!(reserved(&app, &material).await.abs() < 0.001);
    let delivery = json!({"delta": 100, "reason": "delivery"});
    app.post(&format!("/api/inventory/materials/{material}/adjustments"), &delivery).await.expect(200);
    app.job_is(&job, "SLICED").await;
    assert_eq!((reserved(&app, &material).await, fake.runs().len()), (80.0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_plate_of_a_mesh_is_sliced_and_a_cancelled_job_stops_the_slicer() {
    let fake = FakeSlicer::new(12.5);
    fake.does("sleep 600");
    let app = fake.shop(Db::sqlite()).start().await;
    profile(&app, PROFILE, "layer_height = 0.2\n");
    let material = app.material("PLA", 200.0).await;
    let sku = model_sku(&app, &material, &upload_cube(&app).await, json!({"unitsPerPlate": 4})).await;
    let job = only_job(&app, &app.paid_order(&sku, 4).await).await;
    until("the slicer to run", || async { (fake.runs().len() == 1).then_some(()) }).await;
    assert!(fake.runs()[0].contains("--duplicate 4"), "{:?}", fake.runs());
    assert!(fake.running() > 0);
    app.post(&format!("/api/jobs/{job}/cancel"), &json!({})).await.expect(200);
    until("the slicer to be gone", || async { (fake.running() == 0).then_some(()) }).await;
    until("its material to be free", || async { (reserved(&app, &material).await == 0.0).then_some(()) }).await;
    let report = app.command(&["check"], "");
    assert!(report.contains("FakeSlicer-1.0") && report.contains("1 profiles"), "{report}");
}
