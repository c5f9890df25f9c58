#![expect(clippy::unwrap_used, reason = "tests")]
use proptest::prelude::*;

use super::*;
use crate::testing::{Bench, id};

fn scope() -> ExportScope {
    let kind = ExportType::Invoices;
    let customer_email = Some("ann@example.org".to_owned());
    ExportScope { kind, customer_email, from: None, to: None, status: None, site: None }
}

fn requested_export(bench: &Bench) -> Option<Export> {
    let mut export = None;
    let mail_to = Some("ann@example.org".to_owned());
    let request = ExportCommand::Request { scope: scope(), mail_to, language: Language::German };
    bench.tell(&mut export, id(1), &request).unwrap();
    export
}

fn progress(rows: u64) -> ExportProgress {
    ExportProgress { rows, bytes: rows * 10, after: Some(ExportCursor { at: Timestamp(5), id: id(9) }) }
}

fn finished(rows: u64) -> ExportCommand {
    ExportCommand::Finished {
        progress: progress(rows),
        token_hash: "hash".to_owned(),
        encrypted_url: "sealed".to_owned(),
    }
}

#[test]
fn a_finished_export_is_mailed_once_and_lives_seven_days() {
    let mut bench = Bench::new();
    let mut export = requested_export(&bench);
    bench.tell(&mut export, id(1), &ExportCommand::Progress(progress(500))).unwrap();
    assert_eq!(export.as_ref().map(|export| (export.state, export.progress.rows)), Some((ExportState::Running, 500)));
    let done = bench.tell(&mut export, id(1), &finished(700)).unwrap();
    let [mail] = &done.created[..] else { panic!("{:?}", done.created) };
    assert_eq!((&mail.to[..], mail.useless_at), (&["ann@example.org".to_owned()][..], done.answer.expires_at));
    assert_eq!((&*mail.subject, mail.language), ("Ihr Export „Rechnungen“ ist fertig", Language::German));
    assert!(mail.sealed_link.is_some() && mail.link.is_none(), "the address is sealed");
    let again = bench.tell(&mut export, id(1), &finished(700)).unwrap();
    assert!(again.next.is_none() && again.created.is_empty(), "told twice");
    let ready = export.clone().unwrap();
    assert_eq!(ready.effects(), [ExportEffect::Delete { at: bench.now.plus_ms(EXPORT_LIFE_MS) }]);
    assert!(ready.is_open(bench.now.plus_ms(EXPORT_LIFE_MS - 1)) && !ready.is_open(bench.now.plus_ms(EXPORT_LIFE_MS)));
    bench.now = bench.now.plus_ms(EXPORT_LIFE_MS);
    bench.tell(&mut export, id(1), &ExportCommand::Deleted).unwrap();
    let over = export.unwrap();
    assert!(over.state == ExportState::Expired && over.at_rest() && !over.is_open(bench.now));
}

#[test]
fn it_is_tried_again_and_given_up_with_a_word() {
    let bench = Bench::new();
    let mut export = requested_export(&bench);
    for number in 1..=MAX_EXPORT_TRIES {
        let failed = ExportCommand::Failed { number, words: "no space left".to_owned() };
        let done = bench.tell(&mut export, id(1), &failed).unwrap();
        assert_eq!(done.created.len(), usize::from(number == MAX_EXPORT_TRIES));
        assert!(bench.tell(&mut export, id(1), &failed).unwrap().next.is_none(), "the same try");
    }
    let given_up = export.clone().unwrap();
    assert_eq!(given_up.state, ExportState::Failed);
    assert_eq!(given_up.effects(), [ExportEffect::Delete { at: bench.now }], "what was written goes");
    bench.tell(&mut export, id(1), &ExportCommand::Deleted).unwrap();
    assert!(export.unwrap().at_rest());
}

#[test]
fn what_makes_no_sense_is_refused_with_all_faults() {
    let bench = Bench::new();
    let (from, to) = (Some(Timestamp(2)), Some(Timestamp(2)));
    let scope = ExportScope { status: Some("draft".to_owned()), from, to, ..scope() };
    let request = ExportCommand::Request { scope, mail_to: None, language: Language::English };
    let refused = bench.tell(&mut None::<Export>, id(1), &request).unwrap_err();
    let paths: Vec<&str> = refused.faults.iter().map(|fault| fault.path.as_str()).collect();
    assert_eq!(paths, ["status", "to"]);
}

proptest! {
    /// Checks that, for any reports in any order, the data on disk never shrinks while it is written, and exactly one
    /// email is sent.
    #[test]
    fn progress_only_grows_and_one_mail_ends_it(steps in prop::collection::vec((0u8..4, 0u64..50, 1u32..10), 0..40)) {
        let bench = Bench::new();
        let mut export = requested_export(&bench);
        let (mut rows, mut mails) = (0, 0);
        for (what, count, number) in steps {
            let command = match what {
                0 => ExportCommand::Progress(progress(count)),
                1 => ExportCommand::Failed { number, words: "x".to_owned() },
                2 => ExportCommand::Deleted,
                _ => finished(rows + count),
            };
            mails += bench.tell(&mut export, id(1), &command).unwrap().created.len();
            let now = export.as_ref().unwrap();
            prop_assert!(now.progress.rows >= rows);
            rows = now.progress.rows;
            prop_assert_eq!(mails, usize::from(!now.is_pending()));
            prop_assert_eq!(now.is_pending(), now.effects().iter().any(|one| matches!(one, ExportEffect::Write { .. })));
        }
    }
}

#[test]
fn attempts_are_further_and_further_apart() {
    let bench = Bench::new();
    let mut export = requested_export(&bench);
    let fresh = export.clone().unwrap();
    assert_eq!(fresh.effects(), [ExportEffect::Write { number: 1, at: bench.now }]);
    assert_eq!(fresh.longest_wait(), Duration::ZERO);
    let mut waits = Vec::new();
    for number in 1..MAX_EXPORT_TRIES {
        let failed = ExportCommand::Failed { number, words: "no space left".to_owned() };
        let tried = bench.tell(&mut export, id(1), &failed).unwrap().answer;
        let wait = tried.next_at.since(bench.now);
        assert_eq!(tried.longest_wait(), Duration::from_millis(wait.unsigned_abs()));
        assert_eq!(tried.effects(), [ExportEffect::Write { number: number + 1, at: tried.next_at }]);
        waits.push(wait / 1000);
    }
    assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128]);
    assert_eq!([10, 11, 12, u32::MAX].map(pause_ms), [1_024_000, 2_048_000, 2_048_000, 2_048_000]);
}

#[test]
fn what_says_nothing_new_is_not_written() {
    let bench = Bench::new();
    let mut export = requested_export(&bench);
    for (command, is_written) in [
        (ExportCommand::Vanished, false),
        (ExportCommand::Deleted, false),
        (ExportCommand::Progress(progress(0)), false),
        (ExportCommand::Progress(progress(5)), true),
        (ExportCommand::Progress(progress(5)), false),
        (ExportCommand::Vanished, true),
        (ExportCommand::Vanished, false),
        (ExportCommand::Failed { number: 2, words: "x".to_owned() }, false),
        (finished(5), true),
        (ExportCommand::Progress(progress(6)), false),
        (ExportCommand::Vanished, false),
        (ExportCommand::Failed { number: 1, words: "x".to_owned() }, false),
        (ExportCommand::Deleted, true),
        (ExportCommand::Deleted, false),
    ] {
        let decision = bench.tell(&mut export, id(1), &command).unwrap();
        assert_eq!(decision.next.is_some(), is_written, "{command:?}");
    }
    let again = ExportCommand::Request { scope: scope(), mail_to: None, language: Language::English };
    assert_eq!(bench.tell(&mut export, id(1), &again).unwrap_err().code, "exists");
    assert_eq!(bench.tell(&mut None::<Export>, id(1), &ExportCommand::Deleted).unwrap_err().code, "export_not_found");
}

#[test]
fn an_export_that_failed_has_no_link_and_is_cleared_once() {
    let bench = Bench::new();
    let mut export = requested_export(&bench);
    let mut subjects = Vec::new();
    for number in 1..=MAX_EXPORT_TRIES {
        let failed = ExportCommand::Failed { number, words: "no space left".to_owned() };
        let mails = bench.tell(&mut export, id(1), &failed).unwrap().created;
        subjects.extend(mails.into_iter().map(|mail| (mail.to, mail.subject, mail.language)));
    }
    let subject = "Ihr Export „Rechnungen“ ist fehlgeschlagen".to_owned();
    assert_eq!(subjects, [(vec!["ann@example.org".to_owned()], subject, Language::German)]);
    assert!(!export.as_ref().unwrap().is_open(bench.now.plus_ms(-1)));
    assert!(bench.tell(&mut export, id(1), &ExportCommand::Deleted).unwrap().next.is_some());
    assert!(bench.tell(&mut export, id(1), &ExportCommand::Deleted).unwrap().next.is_none());
}

#[test]
fn quotes_and_invoices_are_filtered_by_their_own_statuses() {
    let bench = Bench::new();
    let request = |kind: ExportType, status: &str, to: i64| {
        let (from, to) = (Some(Timestamp(2)), Some(Timestamp(to)));
        let scope = ExportScope { kind, status: Some(status.to_owned()), from, to, ..scope() };
        let request = ExportCommand::Request { scope, mail_to: None, language: Language::English };
        let mut export = None::<Export>;
        bench.tell(&mut export, id(1), &request).map(|_| export.unwrap())
    };
    for (kind, statuses, other) in [
        (ExportType::Invoices, &["open", "partially_paid", "paid", "overdue", "refunded", "void"][..], "sent"),
        (ExportType::Quotes, &["sent", "accepted", "declined", "expired"][..], "paid"),
    ] {
        assert!(statuses.iter().all(|status| request(kind, status, 3).is_ok()), "{kind:?}");
        assert_eq!(request(kind, other, 3).unwrap_err().faults.len(), 1, "{kind:?}");
        assert_eq!(request(kind, statuses[0], 2).unwrap_err().faults[0].path, "to");
    }
    let quotes = request(ExportType::Quotes, "sent", 3).unwrap();
    assert_eq!((quotes.file_name().as_str(), quotes.records().as_str()), ("quotes-2023-11-14.csv", "quotes"));
    let mut quotes = Some(quotes);
    assert!(bench.tell(&mut quotes, id(1), &finished(1)).unwrap().created.is_empty(), "to nobody");
}
