//! Tests with random scripts of commands for emails: in whatever order attempts and acts of the staff are accepted, the
//! state must read back unchanged.

use proptest::prelude::*;

use super::{any_text, any_time, decided, id};
use domain::mail::alert::AlertKind;
use domain::mail::undelivered::UndeliveredAct;
use domain::mail::{Mail, MailCommand, TryOutcome};
use domain::testing::Bench;
use domain::time::Timestamp;
use words::Language;

/// Builds a command for an email; an attempt has the given number.
type MailStep = fn(u32, String) -> MailCommand;

fn any_mail_step() -> impl Strategy<Value = (MailStep, String, Timestamp)> {
    let sent: MailStep = |number, _| tried(number, TryOutcome::Sent);
    let deferred: MailStep = |number, reason| tried(number, TryOutcome::Deferred(reason));
    let rejected: MailStep = |number, reason| tried(number, TryOutcome::Rejected(reason));
    let unsendable: MailStep = |number, reason| tried(number, TryOutcome::Unsendable(reason));
    let send_again: MailStep = |_, _| MailCommand::Undelivered(UndeliveredAct::SendAgain);
    let dismiss: MailStep = |_, _| MailCommand::Undelivered(UndeliveredAct::Dismiss);
    let reopen: MailStep = |_, _| MailCommand::Undelivered(UndeliveredAct::Reopen);
    let step = prop_oneof![
        1 => Just(sent), 4 => Just(deferred), 3 => Just(rejected), 2 => Just(unsendable), 4 => Just(send_again),
        2 => Just(dismiss), 2 => Just(reopen),
    ];
    (step, any_text(), any_time())
}

fn tried(number: u32, outcome: TryOutcome) -> MailCommand {
    MailCommand::Tried { number, outcome, sent_in: vec![Language::German] }
}

proptest! {
    #[test]
    fn mails_read_back(
        script in prop::collection::vec(any_mail_step(), 1..40), text in any_text(), created_at in any_time(),
    ) {
        let mut bench = Bench::new();
        bench.now = created_at;
        let alert = Mail::alert(&bench.cx(), AlertKind::LowStock, |_| (text.clone(), text.clone()));
        let plain = Mail::new(&bench.cx(), vec![text.clone()], text.clone(), text.clone());
        for mail in alert.into_iter().chain([plain]) {
            let mut mail = Some(mail);
            for (step, reason, at) in &script {
                bench.now = *at;
                let number = mail.as_ref().map_or(1, |mail| mail.tries + 1);
                decided(&bench, &mut mail, id(1), &step(number, reason.clone()));
            }
        }
    }
}
