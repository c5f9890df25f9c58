#![expect(clippy::unwrap_used, reason = "tests")]

use super::super::tests::{ATTEMPT, OURS, PrinterFixture, take};
use super::*;
use crate::aggregate::Aggregate as _;
use crate::printer::{AttemptCommand, PrinterCommand, PrinterEffect, PrinterNews, PrinterUpload};
use crate::printer_status::{Activity, PrintEnd};
use crate::testing::id;

/// Number of the attempt after [`ATTEMPT`].
const NEXT: u32 = 91;

fn due(shop: &PrinterFixture) -> Option<Id> {
    let due = shop.p().photo_due.as_ref().map(|due| due.attempt);
    let called: Vec<_> =
        shop.p().effects().into_iter().filter(|one| matches!(one, PrinterEffect::Photograph { .. })).collect();
    assert_eq!(called.len(), usize::from(due.is_some()), "{called:?}");
    due
}

#[test]
fn a_picture_is_due_from_the_end_of_a_print_until_the_next_begins() {
    for end in [PrintEnd::Finished, PrintEnd::Cancelled, PrintEnd::Failed] {
        let mut shop = PrinterFixture::printing();
        assert_eq!(due(&shop), None);
        shop.sees(Activity::Idle, Some(OURS), Some(end));
        assert_eq!(due(&shop), Some(id(ATTEMPT)), "{end:?}");
        shop.acknowledge(false);
        shop.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
        shop.ask(take(NEXT)).unwrap();
        assert_eq!(due(&shop), Some(id(ATTEMPT)), "nothing of the next print is on the bed yet");
        shop.ask(PrinterUpload::Attempt { attempt: id(NEXT), remote_name: "x".into(), server_mark: None }).unwrap();
        assert_eq!(due(&shop), None, "it would be a picture of the next print");
    }
}

#[test]
fn a_picture_is_over_once_and_only_its_own() {
    let mut shop = PrinterFixture::printing();
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    assert!(shop.ask(PrinterNews::PhotoOver(id(NEXT))).unwrap().next.is_none());
    assert_eq!(due(&shop), Some(id(ATTEMPT)));
    shop.ask(PrinterNews::PhotoOver(id(ATTEMPT))).unwrap();
    assert_eq!(due(&shop), None);
    assert!(shop.ask(PrinterNews::PhotoOver(id(ATTEMPT))).unwrap().next.is_none());
}

#[test]
fn what_never_began_is_not_photographed_and_a_strangers_print_takes_its_place() {
    let mut shop = PrinterFixture::with_attempt();
    shop.ask(AttemptCommand::Cancel(id(ATTEMPT))).unwrap();
    assert_eq!(due(&shop), None);
    let mut shop = PrinterFixture::with_attempt();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert_eq!(due(&shop), None, "nothing was sent");
    let mut shop = PrinterFixture::printing();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert_eq!(due(&shop), Some(id(ATTEMPT)), "an emergency stop is an end, too");
    let mut shop = PrinterFixture::printing();
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    shop.acknowledge(false);
    shop.sees(Activity::Printing, Some("somebodys.gcode"), None);
    assert_eq!(due(&shop), None);
}

#[test]
fn of_a_printer_without_a_camera_none_is_due_until_it_has_one() {
    let mut shop = PrinterFixture::printing();
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    assert_eq!(due(&shop), Some(id(ATTEMPT)), "nobody asked it yet");
    shop.ask(PrinterNews::CameraTold(false)).unwrap();
    assert_eq!(due(&shop), None);
    assert!(shop.ask(PrinterNews::CameraTold(false)).unwrap().next.is_none());
    let print = |shop: &mut PrinterFixture, before: u32, attempt: u32| {
        shop.heard_of(before);
        shop.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
        shop.ask(take(attempt)).unwrap();
        shop.ask(PrinterUpload::Attempt { attempt: id(attempt), remote_name: OURS.into(), server_mark: None }).unwrap();
        shop.sees(Activity::Printing, Some(OURS), None);
        shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    };
    print(&mut shop, ATTEMPT, NEXT);
    assert_eq!(due(&shop), None);
    shop.ask(PrinterNews::CameraTold(true)).unwrap();
    print(&mut shop, NEXT, NEXT + 1);
    assert_eq!(due(&shop), Some(id(NEXT + 1)));
    let mut shop = PrinterFixture::printing();
    shop.bench.rules.finish_photos = false;
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    assert_eq!(due(&shop), None, "the settings want none");
}
