#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;
use crate::domain::testing::{Bench, id};

fn mail(bench: &Bench) -> Mail {
    Mail::new(&bench.cx(), vec!["a@example.com".to_owned()], "Subject".to_owned(), "Text".to_owned())
}

#[test]
fn tries_are_further_and_further_apart_up_to_eight_hours() {
    let waits: Vec<i64> = (1..=MAX_TRIES).map(retry_ms).collect();
    assert_eq!(waits[..3], [60_000, 120_000, 240_000]);
    assert!(waits.windows(2).all(|two| two[0] <= two[1]));
    assert_eq!(waits.last(), Some(&(8 * 3_600_000)));
}

#[derive(Clone, Debug)]
enum Step {
    /// The outcome of this try (0 is the next one): accepted, refused for now, refused for good.
    Tried(u32, u8),
    Later(i64),
    Restart,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u32..3, 0u8..8).prop_map(|(back, how)| Step::Tried(back, how)),
        2 => (0i64..40_000_000).prop_map(Step::Later),
        1 => Just(Step::Restart),
    ]
}

proptest! {
    #[test]
    fn a_mail_is_wanted_until_it_is_sent_or_given_up_and_then_never_again(
        steps in proptest::collection::vec(any_step(), 1..80),
    ) {
        let mut bench = Bench::new();
        let mut it = Some(mail(&bench));
        for step in steps {
            let was = it.clone().unwrap();
            match step {
                Step::Tried(back, how) => {
                    let number = (was.tries + 1).saturating_sub(back);
                    let error = (how > 0).then(|| "421 later".to_owned());
                    let report = MailCommand::Tried { number, error, permanent: how == 7 };
                    let decided = bench.tell(&mut it, id(1), &report).unwrap();
                    let counts = back == 0 && was.state == MailState::Queued;
                    prop_assert_eq!(decided.next.is_some(), counts, "a late or repeated report changes nothing");
                }
                Step::Later(ms) => bench.now = bench.now.plus_ms(ms),
                Step::Restart => {
                    let doc = serde_json::to_string(it.as_ref().unwrap()).unwrap();
                    it = Some(serde_json::from_str(&doc).unwrap());
                }
            }
            let now = it.as_ref().unwrap();
            prop_assert!(now.tries <= MAX_TRIES && now.tries >= was.tries);
            if was.state != MailState::Queued {
                prop_assert_eq!(now, &was, "sent and given up are the end");
            }
            let queued = now.state == MailState::Queued;
            prop_assert_eq!((now.effects().len(), now.at_rest()), (usize::from(queued), !queued));
            for effect in now.effects() {
                prop_assert_eq!((effect.number, effect.at), (now.tries + 1, now.next_at));
            }
            if queued && now.tries > was.tries {
                prop_assert_eq!(now.next_at.since(bench.now), retry_ms(now.tries));
            }
            if now.state == MailState::Sent {
                prop_assert!(now.error.is_none());
            }
        }
    }
}
