#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::alert::{AlertDigest, flag_name};
use super::kind::{QuoteSent, quote_sent};
use super::part::{MailItem, first_items, plain};
use super::*;
use crate::attention_flag::AttentionFlag;
use crate::testing::{Bench, id};

mod kinds;

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
    let mut alert = Mail::alert(&bench.cx(), AlertKind::LowStock, |language| match language {
        Language::English => (format!("Low stock: {name}, 9 g left"), "9 g free.\n".to_owned()),
        Language::German => (format!("Knapper Bestand: {name}, noch 9 g"), "9 g frei.\n".to_owned()),
    });
    alert.remove(0)
}

#[test]
fn an_alert_goes_to_the_operators_with_a_link_made_from_the_public_address() {
    let mut bench = Bench::new();
    let alert = low(&bench, "PLA");
    assert_eq!(alert.to, ["floor@example.com"]);
    let url = &alert.link.as_ref().unwrap().url;
    assert_eq!(url, "https://shop.example/docs/#/Materials/adjustMaterial");
    assert_eq!(plain(&alert.text, &[], alert.link.as_ref()), format!("9 g free.\n\nAdd stock: {url}\n"));
    bench.rules.operator_mail.clear();
    bench.rules.agent_gateway = true;
    let hostile = |_: Language| ("a\r\nBcc: eve@example.com".to_owned(), "text".to_owned());
    let both = Mail::alert(&bench.cx(), AlertKind::LowStock, hostile);
    assert_eq!(
        both.iter().map(|one| (one.channel, one.to.len())).collect::<Vec<_>>(),
        [(Channel::Mail, 0), (Channel::Agent, 0)]
    );
    assert_ne!(both[0].id, both[1].id);
    assert!(!both[0].subject.contains(char::is_control));
    assert!(!both[0].translations[0].subject.contains(char::is_control));
    assert!(both[1].translations.is_empty(), "the gateway gets the English texts");
}

#[test]
fn an_alert_is_in_the_language_of_those_who_get_it() {
    let bench = Bench::new();
    let alerts = ["PLA", "PETG"].map(|name| low(&bench, name));
    let [english, german] = Language::ALL.map(|language| AlertDigest::of(AlertKind::LowStock, language, [&alerts[0]]));
    let (english, german) = (english.unwrap(), german.unwrap());
    assert_eq!((&*german.subject, &*german.text), ("Knapper Bestand: PLA, noch 9 g", "9 g frei.\n"));
    assert_eq!((english.id.as_str(), german.id), (&*alerts[0].id.to_string(), format!("{}-de", english.id)));
    assert_eq!((german.written_at, german.link.unwrap().label), (english.written_at, "Bestand hinzufügen".to_owned()));
    let both = AlertDigest::of(AlertKind::LowStock, Language::German, &alerts).unwrap();
    assert_eq!(both.subject, "Knapper Bestand: 2 Meldungen");
    let text = "Knapper Bestand: PLA, noch 9 g\n9 g frei.\n\nKnapper Bestand: PETG, noch 9 g\n9 g frei.\n";
    assert_eq!(both.text, text);
    assert!(both.id.ends_with("-de") && both.id.len() <= 128, "{}", both.id);
    // Alerts of earlier versions have no translation.
    let old = Mail { translations: Vec::new(), ..alerts[0].clone() };
    let old = AlertDigest::of(AlertKind::LowStock, Language::German, [&old]).unwrap();
    assert_eq!((old.subject, old.link), (alerts[0].subject.clone(), alerts[0].link.clone()));
}

#[test]
fn another_link_is_labelled_in_each_language() {
    let alert = low(&Bench::new(), "PLA").with_link(words::staff::alerts::late_orders_link, "https://shop.example/x");
    for (language, label) in
        [(Language::English, "Show the late orders"), (Language::German, "Verspätete Bestellungen anzeigen")]
    {
        let link = AlertDigest::of(AlertKind::LowStock, language, [&alert]).unwrap().link.unwrap();
        assert_eq!((link.label.as_str(), link.url.as_str()), (label, "https://shop.example/x"));
    }
}

#[test]
fn alerts_of_a_kind_are_told_in_one_mail_that_has_bounds() {
    let bench = Bench::new();
    let alerts: Vec<Mail> = (0..70).map(|n| low(&bench, &format!("PLA {n}"))).collect();
    let AlertDigest { id, subject, text, link, .. } =
        AlertDigest::of(AlertKind::LowStock, Language::English, &alerts).unwrap();
    assert_eq!(subject, "Low stock: 70 alerts");
    assert!(id.len() <= 128, "{id}");
    assert!(text.contains("PLA 0,") && text.contains("PLA 49,") && !text.contains("PLA 50,"), "{text}");
    assert!(text.ends_with("Plus 20 more not listed here.\n"), "{text}");
    assert_eq!(link, alerts[0].link);
    let only = AlertDigest::of(AlertKind::LowStock, Language::English, [&alerts[3]]).unwrap();
    assert_eq!((only.subject, only.text), (alerts[3].subject.clone(), alerts[3].text.clone()));
    assert_eq!(only.id, alerts[3].id.to_string());
    assert_eq!(AlertDigest::of(AlertKind::LowStock, Language::English, []), None);
}

#[test]
fn a_long_table_ends_with_how_many_are_left_out() {
    let item = |n: usize| MailItem { quantity: 1, what: format!("Part {n}\r\nCarrier: none"), amount: None };
    let (items, more) = first_items(Language::English, (0..103).map(item));
    assert_eq!((items.len(), more.as_deref()), (100, Some("and 3 more items")));
    assert_eq!(items[0].what, "Part 0  Carrier: none");
    assert_eq!(first_items(Language::English, (0..101).map(item)).1.as_deref(), Some("and 1 more item"));
    assert_eq!(first_items(Language::English, (0..100).map(item)).1, None);
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
    /// Outcome of an attempt to send (0 is the next one): accepted, refused for now, refused permanently.
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
    /// Checks that an idempotency key never comes with two bodies: a mail service remembers the key and the body of an
    /// accepted email for a day.
    #[test]
    fn a_set_of_alerts_is_one_message_and_another_set_another(
        one in proptest::collection::vec(0usize..60, 1..60), other in proptest::collection::vec(0usize..60, 1..60),
    ) {
        let bench = Bench::new();
        // All say the same, so that only the set can tell them apart.
        let alerts: Vec<Mail> = (0..60).map(|_| low(&bench, "PLA")).collect();
        let digest_in = |language: Language, set: &[usize]| {
            AlertDigest::of(AlertKind::LowStock, language, set.iter().map(|at| &alerts[*at])).unwrap()
        };
        let digest = |set: &[usize]| digest_in(Language::English, set);
        prop_assert_ne!(digest(&one).id, digest_in(Language::German, &one).id, "a language has a key of its own");
        prop_assert_ne!(digest(&one).id, digest_in(Language::German, &other).id);
        let set = |of: &[usize]| of.iter().copied().collect::<std::collections::BTreeSet<_>>();
        prop_assert_eq!(set(&one) == set(&other), digest(&one).id == digest(&other).id);
        let sorted: Vec<usize> = set(&one).into_iter().collect();
        prop_assert_eq!(digest(&one), digest(&sorted), "neither order nor repetition matters");
    }

    #[test]
    fn what_people_wrote_adds_neither_a_header_nor_a_line_of_the_shops_own(
        number in any::<String>(), what in any::<String>(), message in any::<String>(),
        language in prop::sample::select(Language::ALL.to_vec()),
    ) {
        let bench = Bench::new();
        let mail = quote_sent(&bench.cx(), QuoteSent {
            to: "buyer@example.org".to_owned(),
            language,
            quote: id(1),
            number,
            items: vec![MailItem { quantity: 1, what, amount: Some("$1.00".to_owned()) }],
            sums: Vec::new(),
            valid_until: None,
            message: Some(message.clone()),
        });
        prop_assert!(!mail.subject.contains(char::is_control), "{:?}", mail.subject);
        let items = plain("", &mail.parts, None);
        prop_assert_eq!(items.trim_end().lines().count(), 1, "{:?}", items);
        prop_assert!(mail.text.lines().count() <= 2 + message.lines().count());
    }

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
                    let outcome = match how {
                        0 => TryOutcome::Sent,
                        7 => TryOutcome::Rejected("550 no".to_owned()),
                        _ => TryOutcome::Deferred("421 later".to_owned()),
                    };
                    let report = MailCommand::Tried { number, outcome, sent_in: Vec::new() };
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

#[test]
fn each_flag_has_a_name_in_the_subject_of_its_alert() {
    for language in Language::ALL {
        let unknown = flag_name(language, "unheard_of");
        for flag in AttentionFlag::ALL {
            let name = flag_name(language, flag.word());
            assert!(name != unknown && !name.contains('_'), "{flag:?}: {name}");
            assert_eq!(AttentionFlag::parse(flag.word()), Some(flag));
        }
    }
}

#[test]
fn the_kind_of_an_alert_follows_from_the_flag_and_has_a_page() {
    use AlertKind as K;
    for (flag, kind, name) in [
        ("job_failed", K::JobFailed, "job failed"),
        ("refund_due", K::MoneyDue, "refund due"),
        ("amount_mismatch", K::MoneyDue, "payment amount differs"),
        ("refund_failed", K::MoneyDue, "refund failed"),
        ("disputed", K::MoneyDue, "disputed"),
        ("dispute_lost", K::MoneyDue, "dispute lost"),
        ("short", K::Order, "fewer good parts than ordered"),
        ("odd_flag", K::Order, "needs attention"),
    ] {
        assert_eq!((K::of_flag(flag), flag_name(Language::English, flag).as_str()), (kind, name));
    }
    let bench = Bench::new();
    for language in Language::ALL {
        let subjects = K::ALL.map(|kind| {
            let of_kind = || Mail::alert(&bench.cx(), kind, |_| ("a".to_owned(), "b".to_owned())).remove(0);
            AlertDigest::of(kind, language, &[of_kind(), of_kind()]).unwrap().subject
        });
        let unique: std::collections::BTreeSet<&String> = subjects.iter().collect();
        assert_eq!(unique.len(), K::ALL.len(), "{subjects:?}");
        assert!(subjects.iter().all(|subject| subject.contains('2')), "{subjects:?}");
    }
}

#[test]
fn an_alert_is_shown_in_the_language_of_the_page_and_else_in_its_own() {
    let alert = low(&Bench::new(), "PLA");
    let german = ("Knapper Bestand: PLA, noch 9 g", Language::German);
    assert_eq!(alert.subject_for(Language::German), german);
    assert_eq!(alert.subject_for(Language::English), ("Low stock: PLA, 9 g left", Language::English));
    let old = Mail { translations: Vec::new(), ..alert };
    assert_eq!(old.subject_for(Language::German), ("Low stock: PLA, 9 g left", Language::English));
}

#[test]
fn a_mail_is_a_new_record_about_each_topic_once() {
    let bench = Bench::new();
    let topics = [MailTopic::Order(id(1)), MailTopic::Invoice(id(2)), MailTopic::Quote(id(3)), MailTopic::Order(id(1))];
    let mail = topics.into_iter().fold(mail(&bench), Mail::about);
    assert_eq!(mail.topics, topics[..3]);
    assert_eq!(topics.map(MailTopic::id), [1, 2, 3, 1].map(id));
    assert_eq!((NewAggregate::kind(&mail), NewAggregate::id(&mail)), ("mail", mail.id));
    assert_eq!(
        (mail.key(), Mail { key_number: 2, ..mail.clone() }.key()),
        (mail.id.to_string(), format!("{}-2", mail.id))
    );
    let written = serde_json::to_value(&mail).unwrap();
    assert!(["earlierTries", "keyNumber"].iter().all(|name| written.get(name).is_none()), "{written}");
    let again = serde_json::to_value(Mail { earlier_tries: 1, ..mail }).unwrap();
    assert_eq!(again["earlierTries"], 1);
}

#[test]
fn a_mail_that_cannot_arrive_in_time_is_given_up() {
    let bench = Bench::new();
    let unsendable = || TryOutcome::Unsendable("no address".to_owned());
    let deferred = || TryOutcome::Deferred("421 later".to_owned());
    // The next attempt would be a minute later.
    for (outcome, useless_in_ms, failure) in [
        (unsendable(), 0, Some(MailFailure::Expired)),
        (unsendable(), 1, Some(MailFailure::Unsendable)),
        (deferred(), 60_000, Some(MailFailure::Expired)),
        (deferred(), 60_001, None),
        (TryOutcome::Rejected("550".to_owned()), 0, Some(MailFailure::Rejected)),
        (TryOutcome::Sent, 0, None),
    ] {
        let useless_at = Some(bench.now.plus_ms(useless_in_ms));
        let mut mail = Some(Mail { useless_at, ..mail(&bench) });
        let report = MailCommand::Tried { number: 1, outcome: outcome.clone(), sent_in: Vec::new() };
        bench.tell(&mut mail, id(1), &report).unwrap();
        assert_eq!(mail.unwrap().failure, failure, "{outcome:?} {useless_in_ms}");
    }
    let report = MailCommand::Tried { number: 1, outcome: TryOutcome::Sent, sent_in: Vec::new() };
    assert_eq!(bench.tell(&mut None::<Mail>, id(1), &report).unwrap_err().code, "mail_not_found");
}
