//! Tests with random scripts of commands for emails: in whatever order attempts and commands of the staff are accepted,
//! the state must read back unchanged.

use proptest::prelude::*;

use super::{any_text, any_time, decided, id};
use domain::mail::alert::AlertKind;
use domain::mail::undelivered::UndeliveredCommand;
use domain::mail::{Mail, MailCommand, TryOutcome};
use domain::testing::Bench;
use words::Language;

/// Step of a script.
#[derive(Clone, Debug)]
enum MailStep {
    Try(TryOutcome),
    Act(UndeliveredCommand),
}

fn any_mail_step() -> impl Strategy<Value = MailStep> {
    let acts = [UndeliveredCommand::SendAgain, UndeliveredCommand::Dismiss, UndeliveredCommand::Reopen];
    prop_oneof![
        1 => Just(MailStep::Try(TryOutcome::Sent)),
        4 => any_text().prop_map(|reason| MailStep::Try(TryOutcome::Deferred(reason))),
        3 => any_text().prop_map(|reason| MailStep::Try(TryOutcome::Rejected(reason))),
        2 => any_text().prop_map(|reason| MailStep::Try(TryOutcome::Unsendable(reason))),
        8 => prop::sample::select(acts.to_vec()).prop_map(MailStep::Act),
    ]
}

proptest! {
    #[test]
    fn mails_read_back(
        script in prop::collection::vec((any_mail_step(), any_time()), 1..40), text in any_text(),
        created_at in any_time(),
    ) {
        let mut bench = Bench::new();
        bench.now = created_at;
        let alert = Mail::alert(&bench.cx(), AlertKind::LowStock, |_| (text.clone(), text.clone()));
        let plain = Mail::new(&bench.cx(), vec![text.clone()], text.clone(), text.clone());
        for mail in alert.into_iter().chain([plain]) {
            let mut mail = Some(mail);
            for (step, at) in &script {
                bench.now = *at;
                let number = mail.as_ref().map_or(1, |mail| mail.tries + 1);
                match step {
                    MailStep::Act(act) => drop(decided(&bench, &mut mail, id(1), act)),
                    MailStep::Try(outcome) => {
                        let (outcome, sent_in) = (outcome.clone(), vec![Language::German]);
                        decided(&bench, &mut mail, id(1), &MailCommand::Tried { number, outcome, sent_in });
                    }
                }
            }
        }
    }
}
