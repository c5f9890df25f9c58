//! Tests of suspected print failures: operators are alerted, and nothing else follows.

use super::*;

fn suspect(shop: &mut PrinterFixture, attempt: u32, paused: Option<bool>) -> Decision<Printer> {
    shop.ask(PrinterNews::FailureSuspected { attempt: id(attempt), percent: 71, paused }).unwrap()
}

#[test]
fn people_are_told_how_sure_it_is_and_what_was_done() {
    let cases = [(Some(true), "The print was paused"), (Some(false), "could not be paused"), (None, "print continues")];
    for (paused, done) in cases {
        let mut shop = PrinterFixture::printing();
        shop.bench.rules.agent_gateway = true;
        let before = shop.p().clone();
        let decision = suspect(&mut shop, ATTEMPT, paused);
        assert_eq!(decision.next.as_ref(), Some(&before), "the print itself is left as it is");
        assert_eq!(decision.created.len(), 2, "a mail, and a message to the agent gateway");
        for mail in &decision.created {
            assert_eq!(mail.subject, "Possible print failure: one");
            assert!(mail.text.contains("71% sure") && mail.text.contains(done), "{}", mail.text);
        }
        let [event] = &decision.events[..] else { panic!("{:?}", decision.events) };
        assert_eq!(event.event, "printer.failure_suspected");
        let data = (&event.data["percent"], &event.data["paused"], &event.data["jobId"]);
        assert_eq!(data, (&serde_json::json!(71), &serde_json::json!(paused), &serde_json::json!(id(21))));
    }
}

#[test]
fn a_print_that_is_over_or_another_is_nobodys_concern() {
    let is_silent = |decision: Decision<Printer>| {
        decision.next.is_none() && decision.events.is_empty() && decision.created.is_empty()
    };
    let mut shop = PrinterFixture::printing();
    assert!(is_silent(suspect(&mut shop, ATTEMPT + 1, Some(true))), "another attempt");
    shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
    assert!(is_silent(suspect(&mut shop, ATTEMPT, Some(true))), "it has ended, which the order has still to hear");
    shop.acknowledge(true);
    assert!(is_silent(suspect(&mut shop, ATTEMPT, None)), "nothing is in hand");
}
