//! Files on printers: ours are deleted, those of people stay.

use sim::{Floor, SimError};
use simulator::gcode::{GcodeFacts, gcode};

use crate::on_every_type;

/// Puts a file on the printer, as a person does there.
fn add_file(floor: &Floor, name: &str) {
    let code = gcode("theirs", 60, 1.0, 300.0).into_bytes();
    let facts = GcodeFacts::read(&code).into();
    floor.with(0, |machine| machine.store(name, code.into(), facts));
}

#[test]
fn our_files_leave_the_printer_and_those_of_people_stay() -> Result<(), SimError> {
    // A person's, and one that another server left there.
    const THEIRS: [&str; 2] = ["JOB-000001_01890000-0000-7000-8000-00000000dead.gcode", "mine.gcode"];
    on_every_type(|kind| {
        let floor = Floor::new(kind, 1)?;
        THEIRS.iter().for_each(|name| add_file(&floor, name));
        let is_tidy = || floor.with(0, |machine| machine.files().iter().map(|(name, _)| name.as_str()).eq(THEIRS));
        floor.serve(async |hall| {
            let order = hall.order(2).await?;
            hall.order_is(&order, "ready").await?;
            hall.physically("no file of ours", is_tidy).await?;
            // One that a crash left there is found when the printer comes back.
            add_file(&floor, &floor.starts().remove(0));
            floor.faults(0, |faults| faults.disconnect = true);
            hall.connection_is(0, "unreachable").await?;
            assert!(!is_tidy(), "nobody has seen it yet");
            floor.faults(0, |faults| faults.disconnect = false);
            hall.physically("no file that a crash left", is_tidy).await?;
            hall.truth().await
        })?;
        assert_eq!(floor.started(0), 2);
        Ok(())
    })
}
