//! Files left on printers, truncated, or in a format that the printer does not accept.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sim::{Floor, Hall, SimError, file_of, has_words};
use simulator::faults::FailAt;
use simulator::gcode::GcodeFacts;
use simulator::printer::{FilamentGate, PhysicalEvent};

use crate::{LONG, SLOW, on_every_type, one_uploading};
use domain::file::GcodeForm;

#[test]
fn story_04_our_files_are_gone_before_a_power_cycle_could_start_one() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        let is_empty = || floor.with(0, |machine| machine.files().iter().next().is_none());
        floor.serve(async |hall| {
            let (order, _) = hall.one().await?;
            hall.order_is(&order, "ready").await?;
            hall.physically("no file after a print that finished", is_empty).await?;
            floor.faults(0, |faults| faults.fail_at = Some(FailAt { progress: 0.5 }));
            let (_, failed) = hall.one().await?;
            hall.job_is(&failed, "FAILED").await?;
            hall.physically("no file after a print that failed", is_empty).await?;
            floor.faults(0, |faults| faults.fail_at = None);
            hall.clear_bed(0).await?;
            hall.clear_attention(0).await?;
            let (_, cancelled) = hall.one().await?;
            hall.job_is(&cancelled, "PRINTING").await?;
            hall.post(&format!("/api/jobs/{cancelled}/cancel"), &json!({}), 200).await?;
            hall.job_is(&cancelled, "CANCELLED").await?;
            hall.physically("no file after a print that was cancelled", is_empty).await?;
            assert_eq!((floor.started(0), floor.cancelled(0)), (3, 1));
            hall.power_cycle(0).await?;
            hall.pass(LONG).await;
            hall.attention(0, "foreign_print", false).await
        })?;
        assert_eq!((floor.started(0), floor.finished(0)), (3, 1), "nothing starts by itself");
        Ok(())
    })
}

#[test]
fn story_04_a_file_of_ours_that_starts_by_itself_is_foreign_and_counts_for_nothing() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.serve(async |hall| {
            let (order, _) = hall.one().await?;
            hall.order_is(&order, "ready").await?;
            hall.free(0).await?;
            // The file is on the printer once more, as one that was left there, and is printed by nobody's command.
            let left = floor.starts().concat();
            let (_, contents) = floor.printable("part");
            let is_printed = floor.with(0, |machine| {
                let facts = GcodeFacts::read(&contents).into();
                machine.store(&left, contents.into(), facts);
                machine.start(&left).is_ok()
            });
            assert!(is_printed, "{left}");
            hall.attention(0, "foreign_print", true).await?;
            let (next, waiting) = hall.one().await?;
            hall.waits_for(&waiting, "is printing something else").await?;
            assert_eq!((floor.published("job.completed"), floor.started(0)), (1, 2));
            hall.attention(0, "foreign_print", false).await?;
            hall.post(&hall.path(0, "/bed-cleared"), &json!({}), 200).await?;
            hall.order_is(&next, "ready").await?;
            assert_eq!(floor.published("job.completed"), 2, "the two that were ordered");
            assert!((hall.used().await? - 20.0).abs() < 0.001);
            Ok(())
        })?;
        assert_eq!((floor.started(0), floor.finished(0)), (3, 3), "the two, and the one by itself");
        Ok(())
    })
}

#[test]
fn story_10_a_slow_upload_is_waited_for_and_sent_once() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.slow_upload = SLOW);
        floor.serve(async |hall| {
            let order = hall.order(2).await?;
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!((floor.uploaded(0), floor.started(0)), (2, 2), "one for each job, one after the other");
        Ok(())
    })
}

#[test]
fn story_11_an_upload_that_was_cut_off_is_not_started() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.faults(0, |faults| faults.slow_upload = SLOW);
        floor.serve(async |hall| {
            let (order, _) = one_uploading(hall).await?;
            floor.faults(0, |faults| faults.disconnect = true);
            hall.connection_is(0, "unreachable").await?;
            assert_eq!((floor.started(0), floor.uploaded(0)), (0, 0));
            // The next ones break off at once.
            floor.faults(0, |faults| (faults.disconnect, faults.slow_upload, faults.cut_uploads) = (false, None, 2));
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        let size = |what: PhysicalEvent| match what {
            PhysicalEvent::Uploaded { bytes, .. } => Some(bytes),
            _ => None,
        };
        let sizes: BTreeSet<u64> = floor.log(0).into_iter().filter_map(size).collect();
        assert_eq!(sizes.len(), 1, "whole, or not there: {sizes:?}");
        assert_eq!(floor.started(0), 1);
        Ok(())
    })
}

#[test]
fn story_11_what_a_printer_stored_is_compared_before_it_is_started() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        // It says that all is well, and has only the beginning.
        floor.faults(0, |faults| faults.keeps_bytes = Some(500));
        floor.serve(async |hall| {
            let (order, job) = hall.one().await?;
            let is_back = |job: &Value| job["attempts"][0]["endedAt"].is_string();
            let back = hall.job_until("the end of the attempt", &job, is_back).await?;
            assert!(has_words(&back["attempts"][0]["reason"], "differs from the one sent"), "{back}");
            assert_eq!(floor.started(0), 0);
            floor.faults(0, |faults| faults.keeps_bytes = None);
            hall.clear_attention(0).await?;
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!(floor.started(0), 1);
        Ok(())
    })
}

#[test]
fn story_12_a_printer_is_never_sent_a_form_of_file_that_it_does_not_print() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        floor.serve(async |hall| {
            for (code, form) in [("TEXT", GcodeForm::Text), ("PACKAGE", GcodeForm::Package)] {
                let (name, contents) = file_of(form, "form");
                let file = hall.upload(&name, &contents).await?;
                let order = hall.order_of(&hall.product(code, &floor.material, &file).await?, 1).await?;
                if floor.declared.prints(form) {
                    hall.order_is(&order, "ready").await?;
                    hall.free(0).await?;
                    continue;
                }
                let job = hall.jobs(&order).await?.concat();
                hall.waits_for(&job, &format!(".{} files", form.ending())).await?;
                // Nor by a person's word.
                hall.post(&hall.path(0, "/print"), &json!({"fileId": file}), 400).await?;
                hall.post(&hall.path(0, "/files"), &json!({"fileId": file}), 400).await?;
                hall.pass(LONG).await;
                hall.post(&format!("/api/orders/{order}/cancel"), &json!({}), 200).await?;
            }
            hall.truth().await
        })?;
        let starts = floor.starts();
        let form = if floor.declared.prints(GcodeForm::Text) { GcodeForm::Text } else { GcodeForm::Package };
        assert!(starts.len() == 1 && starts[0].ends_with(&format!(".{}", form.ending())), "{starts:?}");
        assert_eq!(floor.uploaded(0), 1, "what it prints alone");
        Ok(())
    })
}

/// Waits until a job waits for its material, and checks that nothing is uploaded for it.
async fn waits_for_material(floor: &Floor, hall: &Hall<'_>, job: &str, words: &str) -> Result<(), SimError> {
    hall.waits_for(job, words).await?;
    hall.pass(LONG).await;
    assert_eq!((floor.uploaded(0), floor.uploaded(1)), (0, 0));
    Ok(())
}

#[test]
fn story_13_the_spool_decides_and_nobody_knows_is_no_spool() -> Result<(), SimError> {
    on_every_type(|kind| {
        let floor = Floor::new(kind, 2)?;
        let is_mapped = floor.declared.maps_slots;
        for printer in 0..2 {
            let gate = |slot| FilamentGate::filled("Acme", "PLA", &format!("Shade {printer}{slot}"), [0.5, 0.5, 0.5]);
            floor.with(printer, |machine| machine.set_gates((0..2).map(gate).collect()));
        }
        floor.serve(async |hall| {
            let matte =
                json!({"name": "PLA black", "type": "filament", "variant": "matte", "quantity": 500, "unit": "g"});
            let matte = hall.post("/api/inventory/materials", &matte, 201).await?;
            // The same name and colour in another variant, and slots of which nobody knows what they hold.
            for (printer, material) in [matte["id"].clone(), Value::Null].into_iter().enumerate() {
                hall.load(printer, 0, &json!({"materialId": material})).await?;
                hall.load(printer, 1, &json!({"materialId": material})).await?;
            }
            let (order, job) = hall.one().await?;
            waits_for_material(&floor, hall, &job, "PLA black loaded").await?;
            // The file prints with its first tool, which takes the second slot only where the start can say so.
            let spool = json!({"materialId": floor.material});
            hall.load(1, 1, &spool).await?;
            if !is_mapped {
                let first = floor.declared.slot_labels.label(0);
                waits_for_material(&floor, hall, &job, &format!("PLA black in slot {first}")).await?;
                hall.load(1, 0, &spool).await?;
            }
            hall.order_is(&order, "ready").await?;
            hall.truth().await
        })?;
        assert_eq!((floor.started(0), floor.started(1)), (0, 1));
        assert_eq!(floor.fed(1), [[(0, i64::from(is_mapped))]]);
        Ok(())
    })
}
