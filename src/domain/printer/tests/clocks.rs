//! Tests in which the wall clock is set back or forward by an hour midway: nothing waits for it.

use super::*;
use crate::time::HOUR_MS;

fn steps() -> [i64; 2] {
    [-HOUR_MS, HOUR_MS]
}

#[test]
fn in_mid_print() {
    for step in steps() {
        let mut shop = PrinterFixture::printing();
        shop.bench.now = shop.bench.now.plus_ms(step);
        shop.sees(Activity::Paused, Some(OURS), None);
        assert_eq!(shop.report(), Report::Paused, "{step}");
        shop.sees(Activity::Printing, Some(OURS), None);
        assert_eq!(shop.report(), Report::Printing, "{step}");
        shop.sees(Activity::Idle, Some(OURS), Some(PrintEnd::Finished));
        assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Finished, .. }), "{step}");
        // And when the print is gone without a word.
        let mut shop = PrinterFixture::printing();
        shop.bench.now = shop.bench.now.plus_ms(step);
        shop.sees(Activity::Idle, None, None);
        assert!(shop.effects(|effect| matches!(effect, PrinterEffect::Run { .. })), "{step}");
        shop.judged(Evidence::Forgets { server: ServerRun::Unknown, stopped: false, unseen_ms: Some(1_000) });
        assert!(matches!(shop.report(), Report::Ended { end: PrintEnd::Failed, .. }), "{step}");
    }
}

#[test]
fn between_start_and_confirmation() {
    for step in steps() {
        let mut shop = PrinterFixture::started();
        shop.bench.now = shop.bench.now.plus_ms(step);
        shop.sees(Activity::Printing, Some(OURS), None);
        assert_eq!(shop.report(), Report::Printing, "{step}");
        let mut shop = PrinterFixture::started();
        shop.bench.now = shop.bench.now.plus_ms(step);
        shop.judged(REVOKED);
        assert!(matches!(shop.report(), Report::NotStarted { .. }), "{step}");
    }
}

#[test]
fn between_an_outage_and_its_end() {
    for step in steps() {
        let mut shop = PrinterFixture::printing();
        shop.silent();
        shop.bench.now = shop.bench.now.plus_ms(step);
        let last_seen = shop.bench.now.plus_ms(1000);
        assert_eq!(shop.sees(Activity::Printing, Some(OURS), None).events[0].event, "printer.online");
        assert_eq!(shop.p().last_seen_at, Some(last_seen));
        shop.silent();
        assert_eq!(shop.p().last_seen_at, Some(shop.bench.now), "not the future that the clock came from");
    }
}

#[test]
fn between_an_emergency_stop_and_homing() {
    for step in steps() {
        let mut shop = PrinterFixture::idle();
        shop.ask(PrinterCommand::EmergencyStopped).unwrap();
        shop.bench.now = shop.bench.now.plus_ms(step);
        let homed = shop.status(Activity::Idle, None, None);
        shop.tell(Status { homed: Some(true), ..homed });
        assert_eq!(shop.p().free(), Ok(()), "{step}");
        shop.ask(take(ATTEMPT)).unwrap();
        assert!(shop.p().in_hand.is_some(), "{step}");
    }
}
