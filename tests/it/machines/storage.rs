//! Files on a printer: listed with their owner, and deletable except for the one in use.

use serde_json::Value;
use simulator::printer::PhysicalEvent;

use super::files::printable;
use super::{Floor, JUDGE_LATE, OWN, PrinterKind, SLOW, words};

async fn listed(floor: &Floor) -> Vec<Value> {
    let body = floor.app.get(&floor.path(0, "/files")).await.expect(200);
    assert_eq!(body["leftOut"], 0, "{body}");
    body["files"].as_array().unwrap().clone()
}

async fn outcomes(floor: &Floor) -> Vec<String> {
    let body = floor.app.get("/api/audit-log?action=printer.delete_file&limit=200").await.expect(200);
    let entries = body["entries"].as_array().unwrap().iter().rev();
    entries.map(|entry| words(entry, "outcome").to_owned()).collect()
}

each_kind! {
    async fn the_files_on_it_are_listed_and_deleted_but_for_the_one_that_prints(kind: PrinterKind) {
        let floor = Floor::new(kind, 1, SLOW, &[JUDGE_LATE]).await;
        let (name, content) = printable(kind, "theirs", 60, 1.0);
        let bytes = content.len();
        floor.sim(0).handle.put_file(&name, content);
        let (order, job) = floor.one().await;
        floor.app.job_is(&job, "PRINTING").await;
        let files = listed(&floor).await;
        let theirs = files.iter().find(|file| file["path"] == name.as_str()).unwrap_or_else(|| panic!("{files:?}"));
        assert!(theirs["size"].is_null() || theirs["size"] == bytes, "{theirs}");
        assert!(theirs["ours"] == false && theirs["inUse"] == false, "{theirs}");
        let ours: Vec<&Value> = files.iter().filter(|file| file["ours"] == true).collect();
        assert!(ours.len() == 1 && ours[0]["inUse"] == true, "{files:?}");
        let in_use = floor.path(0, &format!("/files/{}", words(ours[0], "path")));
        assert_eq!(floor.app.delete(&in_use).await.error(409), "printer_in_use");

        let path = floor.path(0, &format!("/files/{name}"));
        floor.app.delete(&path).await.expect(204);
        floor.physically("the file to be gone", 0, |what| matches!(what, PhysicalEvent::Deleted { filename } if *filename == name)).await;
        assert!(listed(&floor).await.iter().all(|file| file["path"] != name.as_str()));
        assert_eq!(floor.app.delete(&path).await.error(404), "printer_file_not_found");
        assert_eq!(outcomes(&floor).await, ["done", "printer_file_not_found"]);
        assert_eq!(floor.job(&job).await["state"], "PRINTING", "nothing happened to the print");

        // What is left of the job is deleted by itself; a person's own print keeps its file.
        floor.hurry(0);
        floor.app.order_is(&order, "ready").await;
        floor.free(0).await;
        floor.own_print(0);
        floor.attention(0, "foreign_print", true).await;
        let own = floor.path(0, &format!("/files/{OWN}"));
        assert_eq!(floor.app.delete(&own).await.error(409), "printer_in_use");
        assert!(floor.sim(0).handle.with(|machine| machine.files().get(OWN).is_some()));
    }
}
