#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::alert::{gathered, html, plain};
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

fn low(bench: &Bench, name: &str) -> Mail {
    let mut alert =
        Mail::alert(&bench.cx(), AlertKind::LowStock, &format!("Low stock: {name}, 9 g left"), "9 g free.\n");
    alert.remove(0)
}

#[test]
fn an_alert_goes_to_the_operators_with_a_link_made_from_the_public_address() {
    let mut bench = Bench::new();
    let alert = low(&bench, "PLA");
    assert_eq!(alert.to, ["floor@example.com"]);
    let url = &alert.link.as_ref().unwrap().url;
    assert_eq!(url, "https://shop.example/docs/#/Materials/adjustMaterial");
    assert_eq!(plain(&alert.text, alert.link.as_ref()), format!("9 g free.\n\nAdd stock: {url}\n"));
    assert!(html(&alert.text, alert.link.as_ref()).contains(&format!("<a href=\"{url}\">Add stock</a>")));
    bench.rules.operator_mail.clear();
    bench.rules.agent_gateway = true;
    let both = Mail::alert(&bench.cx(), AlertKind::LowStock, "a\r\nBcc: eve@example.com", "text");
    assert_eq!(
        both.iter().map(|one| (one.channel, one.to.len())).collect::<Vec<_>>(),
        [(Channel::Mail, 0), (Channel::Agent, 0)]
    );
    assert_ne!(both[0].id, both[1].id);
    assert!(!both[0].subject.contains(char::is_control));
}

#[test]
fn alerts_of_a_kind_are_told_in_one_mail_that_has_bounds() {
    let bench = Bench::new();
    let alerts: Vec<Mail> = (0..70).map(|n| low(&bench, &format!("PLA {n}"))).collect();
    let (subject, text, link) = gathered(AlertKind::LowStock, &alerts.iter().collect::<Vec<_>>());
    assert_eq!(subject, "Low stock: 70 alerts");
    assert!(text.contains("PLA 0,") && text.contains("PLA 49,") && !text.contains("PLA 50,"), "{text}");
    assert!(text.ends_with("20 more are not listed here.\n"), "{text}");
    assert_eq!(link, alerts[0].link);
    let only = gathered(AlertKind::LowStock, &[&alerts[3]]);
    assert_eq!((only.0, only.1), (alerts[3].subject.clone(), alerts[3].text.clone()));
}

#[test]
fn names_of_strangers_are_no_html() {
    assert!(
        html("<script>alert(1)</script> & \"", None).contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;")
    );
}

#[test]
fn no_clock_delays_a_mail_beyond_its_own_pause() {
    let bench = Bench::new();
    let fresh = mail(&bench);
    assert_eq!(fresh.longest_wait(), Duration::ZERO);
    assert_eq!(Mail { tries: 2, ..fresh }.longest_wait(), Duration::from_mins(2));
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
