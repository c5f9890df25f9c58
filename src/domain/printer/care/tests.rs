#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::super::tests::{ATTEMPT, OURS, PrinterFixture, take};
use super::*;
use crate::amount::Amount;
use crate::printer::{
    AttemptCommand, Attention, LogMaintenance, PrinterCommand, PrinterNews, PrinterUpload, ReminderCommand, TakeAnswer,
    UploadAnswer,
};
use crate::printer_status::{Activity, PrintEnd};
use crate::testing::id;

fn every_prints(prints: i64, blocking: bool) -> ReminderFields {
    ReminderFields {
        name: "Clean the bed".to_owned(),
        note: None,
        every_hours: None,
        every_prints: Some(prints),
        every_grams: None,
        every_failures: None,
        blocking,
    }
}

fn work_entry(done: &str) -> EntryFields {
    EntryFields { done: done.to_owned(), note: None, parts: Vec::new(), cost_cents: None }
}

impl PrinterFixture {
    fn reminded(&mut self, fields: ReminderFields) -> Id {
        self.ask(ReminderCommand::Remind(fields)).unwrap().answer.reminder.0.id
    }

    fn log_work(&mut self, resets: &[Id]) -> Result<Decision<Printer, MaintenanceAnswer>, Refusal> {
        self.ask(LogMaintenance { fields: work_entry("Cleaned"), done_at: None, resets: resets.to_vec() })
    }

    /// Runs a print from its offer to the cleared bed and returns the decision that ended it.
    fn print_to_its_end(&mut self, attempt: u32, end: PrintEnd, progress: f64) -> Decision<Printer> {
        self.ask(take(attempt)).unwrap();
        let uploaded = PrinterUpload::Attempt { attempt: id(attempt), remote_name: OURS.to_owned(), server_mark: None };
        assert_eq!(self.ask(uploaded).unwrap().answer, UploadAnswer::Go);
        let mut status = self.status(Activity::Printing, Some(OURS), None);
        status.progress = progress * 100.0;
        self.tell(status);
        let decision = self.sees(Activity::Idle, Some(OURS), Some(end));
        self.heard_of(attempt);
        self.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
        decision
    }
}

#[test]
fn maintenance_that_is_due_is_told_once_and_holds_the_printer_until_it_is_logged() {
    let mut shop = PrinterFixture::idle();
    let blocking = shop.reminded(every_prints(2, true));
    let other = shop.reminded(every_prints(2, false));
    assert!(shop.print_to_its_end(90, PrintEnd::Finished, 1.0).events.is_empty());
    assert_eq!(shop.p().free(), Ok(()));
    let due = shop.print_to_its_end(91, PrintEnd::Failed, 0.5);
    let event_names: Vec<&str> = due.events.iter().map(|event| event.event.as_str()).collect();
    assert_eq!(event_names, ["printer.maintenance_due"; 2]);
    assert_eq!(due.events[0].data["reason"], "2 of 2 prints");
    assert_eq!(due.created.len(), 2, "each is mailed");
    assert!(due.created[0].subject.starts_with("Maintenance due on one: "), "{}", due.created[0].subject);
    assert_eq!(shop.p().free(), Err("due for maintenance (Clean the bed)".to_owned()));
    assert_eq!(shop.p().attention(), [Attention::MaintenanceDue]);
    assert!(!shop.p().goes_on());
    assert!(matches!(shop.ask(take(92)).unwrap().answer, TakeAnswer::NotTaken(_)));
    let again = shop.sees(Activity::Idle, Some("other.gcode"), None);
    assert!(again.events.is_empty() && again.created.is_empty());

    shop.log_work(&[other]).unwrap();
    assert!(shop.p().free().is_err(), "the other one was done");
    assert!(shop.ask(PrinterCommand::ClearAttention(None)).unwrap().next.is_none(), "only the work clears it");
    let logged = shop.log_work(&[blocking]).unwrap();
    assert_eq!(logged.events[0].event, "printer.maintenance_logged");
    let entry = logged.rows.iter().find_map(|row| match row {
        PrinterRow::Entry(entry) => Some(entry),
        _ => None,
    });
    assert_eq!(entry.unwrap().resets, [(blocking, "Clean the bed".to_owned())]);
    assert_eq!(entry.unwrap().odometer, shop.p().odometer);
    assert_eq!((shop.p().free(), shop.p().attention()), (Ok(()), vec![]));
}

#[test]
fn an_interval_that_was_reached_already_makes_it_due_at_once_and_a_longer_one_ends_that() {
    let mut shop = PrinterFixture::idle();
    let reminder = shop.reminded(every_prints(5, true));
    for attempt in 90..93 {
        shop.print_to_its_end(attempt, PrintEnd::Finished, 1.0);
    }
    let mut change = |prints| {
        let fields = every_prints(prints, true);
        shop.ask(ReminderCommand::Change { id: reminder, if_version: None, fields }).unwrap();
        shop.p().due_reminders().len()
    };
    assert_eq!([change(3), change(4), change(2), change(5)], [1, 0, 1, 0]);
    assert_eq!(shop.ask(PrinterCommand::ForgetReminder(id(77))).unwrap_err().code, "reminder_not_found");
    let gone = shop.ask(PrinterCommand::ForgetReminder(reminder)).unwrap();
    assert!(matches!(gone.rows[..], [PrinterRow::ReminderGone(one)] if one == reminder));
    assert_eq!(shop.p().reminders.size(), 0);
}

#[test]
fn words_about_what_is_not_there_are_refused() {
    let mut shop = PrinterFixture::idle();
    assert_eq!(shop.log_work(&[id(77)]).unwrap_err().faults[0].path, "resets.0");
    let later = Some(shop.now().plus_ms(60_000));
    let log = LogMaintenance { fields: work_entry("Oiled"), done_at: later, resets: Vec::new() };
    assert_eq!(shop.ask(log).unwrap_err().faults[0].path, "doneAt");
    for _ in 0..MAX_REMINDERS {
        shop.reminded(every_prints(1, false));
    }
    assert_eq!(shop.ask(ReminderCommand::Remind(every_prints(1, false))).unwrap_err().code, "too_many_reminders");
}

#[test]
fn only_prints_that_began_are_counted() {
    let mut shop = PrinterFixture::with_attempt();
    shop.ask(AttemptCommand::Cancel(id(ATTEMPT))).unwrap();
    assert!(shop.p().odometer.is_zero(), "nothing was started");
    let mut shop = PrinterFixture::started();
    shop.ask(PrinterNews::StartRefused { attempt: id(ATTEMPT), reason: "no".to_owned() }).unwrap();
    assert!(shop.p().odometer.is_zero(), "nor here");
    let mut shop = PrinterFixture::printing();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert_eq!((shop.p().odometer.prints, shop.p().odometer.failures), (1, 1));
    let mut shop = PrinterFixture::started();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert_eq!((shop.p().odometer.prints, shop.p().odometer.failures), (0, 1), "whether it began nobody knows");
    let mut shop = PrinterFixture::with_attempt();
    shop.ask(PrinterCommand::EmergencyStopped).unwrap();
    assert!(shop.p().odometer.is_zero());
}

#[test]
fn a_card_names_two_of_the_reminders_that_hold_the_printer_and_counts_the_others() {
    let mut shop = PrinterFixture::idle();
    let [_, nozzle, rods] = ["Belts", "Nozzle", "Rods"]
        .map(|name| shop.reminded(ReminderFields { name: name.to_owned(), ..every_prints(1, true) }));
    shop.reminded(every_prints(1, false));
    let words = |shop: &PrinterFixture| shop.p().attention_words(Language::English);
    assert_eq!(words(&shop), None);
    shop.print_to_its_end(90, PrintEnd::Finished, 1.0);
    assert_eq!(words(&shop).unwrap(), "due for maintenance (Belts, Nozzle and 1 more)");
    shop.log_work(&[rods]).unwrap();
    assert_eq!(words(&shop).unwrap(), "due for maintenance (Belts, Nozzle)");
    shop.log_work(&[nozzle]).unwrap();
    assert_eq!(shop.p().attention_words(Language::German).unwrap(), "Wartung fällig (Belts)");
}

#[test]
fn a_commit_writes_the_reminders_that_it_changes() {
    let mut shop = PrinterFixture::idle();
    let rows = shop.ask(ReminderCommand::Remind(every_prints(1, true))).unwrap().rows;
    assert!(matches!(&rows[..], [PrinterRow::Reminder(one)] if one.fields.name == "Clean the bed"), "{rows:?}");
    let rows = shop.ask(PrinterCommand::Maintenance { on: true, note: None }).unwrap().rows;
    assert!(rows.is_empty(), "{rows:?}");
    let done_at = Some(shop.now());
    let log = LogMaintenance { fields: work_entry("Oiled"), done_at, resets: Vec::new() };
    assert_eq!(shop.ask(log).unwrap().answer.entry.done_at, shop.now(), "work that is done just now");
}

proptest! {
    /// Checks the odometer with messages that arrive twice and with a server that is killed and reloads the printer at
    /// any point.
    #[test]
    fn the_odometer_is_the_sum_over_the_prints_that_ended(
        prints in prop::collection::vec((0u8..3, 0u8..=10, any::<[bool; 4]>()), 0..12),
    ) {
        let mut shop = PrinterFixture::idle();
        shop.reminded(every_prints(1000, false));
        let mut sum = Odometer::ZERO;
        for (n, (end, tenths, replayed)) in prints.into_iter().enumerate() {
            let (attempt, progress) = (100 + n as u32, f64::from(tenths) / 10.0);
            let end = [PrintEnd::Finished, PrintEnd::Failed, PrintEnd::Cancelled][usize::from(end)];
            let killed = |shop: &mut PrinterFixture| {
                let text = serde_json::to_string(shop.p()).unwrap();
                let reminders: Vec<Reminder> = shop.p().reminders.values().cloned().collect();
                shop.printer = Some(serde_json::from_str::<Printer>(&text).unwrap().hydrate(reminders));
            };
            for _ in 0..=usize::from(replayed[0]) {
                shop.ask(take(attempt)).unwrap();
            }
            let uploaded =
                PrinterUpload::Attempt { attempt: id(attempt), remote_name: OURS.to_owned(), server_mark: None };
            shop.ask(uploaded).unwrap();
            let mut status = shop.status(Activity::Printing, Some(OURS), None);
            status.progress = progress * 100.0;
            shop.tell(status);
            let began = shop.now();
            if replayed[1] {
                killed(&mut shop);
            }
            shop.sees(Activity::Idle, Some(OURS), Some(end));
            let share = if end == PrintEnd::Finished { 1.0 } else { progress };
            sum = sum + Odometer {
                printing_ms: shop.now().since(began),
                prints: 1,
                grams: Amount::units(10).scaled(share),
                failures: i64::from(end == PrintEnd::Failed),
            };
            prop_assert_eq!(shop.p().odometer, sum);
            if replayed[2] {
                killed(&mut shop);
                shop.sees(Activity::Idle, Some(OURS), Some(end));
            }
            shop.heard_of(attempt);
            shop.ask(PrinterCommand::BedCleared(Default::default())).unwrap();
            if replayed[3] {
                killed(&mut shop);
                shop.ask(take(attempt)).unwrap();
                shop.sees(Activity::Idle, Some(OURS), Some(end));
            }
            prop_assert_eq!(shop.p().odometer, sum);
        }
    }
}
