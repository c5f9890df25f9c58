#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

/// Line as a database stores it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct StoredLine {
    number: i64,
    hash: String,
    at: i64,
    texts: [String; 6],
    options: [Option<String>; 2],
}

impl StoredLine {
    fn line(&self) -> ChainLine<'_> {
        let [id, actor, action, subject_kind, subject_id, outcome] = &self.texts;
        let [request_id, detail] = &self.options;
        ChainLine {
            id,
            at: self.at,
            actor,
            action,
            subject_kind,
            subject_id,
            request_id: request_id.as_deref(),
            outcome,
            detail: detail.as_deref(),
        }
    }
}

/// Returns lines with the numbers and hashes that follow from their contents and order.
fn chained(mut log: Vec<StoredLine>) -> Vec<StoredLine> {
    let mut head = ChainHead::default();
    for line in &mut log {
        head = head.append(&line.line());
        (line.number, line.hash) = (head.number, head.hash.clone());
    }
    log
}

fn head_of(log: &[StoredLine]) -> ChainHead {
    let last = log.last().map(|line| ChainHead { number: line.number, hash: line.hash.clone() });
    last.unwrap_or_default()
}

/// Checks lines as they are read: by their number. Also returns the number of the last one that fits.
fn verified(log: &[StoredLine], stored: ChainHead, elsewhere: &[ChainHead]) -> (i64, Result<(), ChainFault>) {
    let mut log = log.to_vec();
    log.sort_by_key(|line| line.number);
    let mut check = ChainCheck::new(stored, elsewhere.to_vec());
    let fit = log.iter().try_for_each(|line| check.check(line.number, &line.hash, &line.line()));
    (check.head().number, fit.and_then(|()| check.finish()))
}

/// Returns a log with the given number of lines, which differ in their time.
fn log(count: i64) -> Vec<StoredLine> {
    let line = |at| StoredLine {
        number: 0,
        hash: String::new(),
        at,
        texts: ["id", "user:1", "printer.pause", "printer", "x", "done"].map(str::to_owned),
        options: [None, Some("{}".to_owned())],
    };
    chained((0..count).map(line).collect())
}

/// Change behind the server's back.
#[derive(Clone, Copy, Debug)]
enum Tampering {
    Time,
    Text(usize),
    Absence(usize),
    Hash,
    Removal,
    RemovalWithNumbers,
    Copy(i64),
    SwapOfContents(usize),
    SwapOfPlaces(usize),
}

impl Tampering {
    fn change(self, log: &mut Vec<StoredLine>, at: usize) {
        let len = log.len();
        match self {
            Self::Time => log[at].at += 1,
            Self::Text(which) => log[at].texts[which].push('x'),
            Self::Absence(which) => {
                let option = &mut log[at].options[which];
                *option = if option.is_some() { None } else { Some(String::new()) };
            }
            Self::Hash => log[at].hash = "0".repeat(HASH_DIGITS),
            Self::Removal => drop(log.remove(at)),
            Self::RemovalWithNumbers => {
                log.remove(at);
                log[at..].iter_mut().for_each(|line| line.number -= 1);
            }
            Self::Copy(number) => log.push(StoredLine { number, ..log[at].clone() }),
            Self::SwapOfContents(other) => {
                let other = other % len;
                let (one, two) = (log[at].clone(), log[other].clone());
                (log[at].at, log[at].texts, log[at].options) = (two.at, two.texts, two.options);
                (log[other].at, log[other].texts, log[other].options) = (one.at, one.texts, one.options);
            }
            Self::SwapOfPlaces(other) => {
                let other = other % len;
                let (one, two) = (log[at].number, log[other].number);
                (log[at].number, log[other].number) = (two, one);
            }
        }
    }
}

fn tampering() -> impl Strategy<Value = Tampering> {
    prop_oneof![
        Just(Tampering::Time),
        (0_usize..6).prop_map(Tampering::Text),
        (0_usize..2).prop_map(Tampering::Absence),
        Just(Tampering::Hash),
        Just(Tampering::Removal),
        Just(Tampering::RemovalWithNumbers),
        (-2_i64..14).prop_map(Tampering::Copy),
        (0_usize..12).prop_map(Tampering::SwapOfContents),
        (0_usize..12).prop_map(Tampering::SwapOfPlaces),
    ]
}

fn lines() -> impl Strategy<Value = Vec<StoredLine>> {
    let text = || "[abé]{0,2}";
    let line = (0_i64..3, prop::array::uniform6(text()), prop::array::uniform2(prop::option::of(text())));
    let line = line.prop_map(|(at, texts, options)| StoredLine { number: 0, hash: String::new(), at, texts, options });
    prop::collection::vec(line, 1..12).prop_map(chained)
}

proptest! {
    /// Checks that a log fits until it is changed, removed from, inserted into or reordered, and that no line from the
    /// first change on is taken for one that fits.
    #[test]
    fn each_change_is_found(original in lines(), at in 0_usize..12, tampering in tampering()) {
        let stored = head_of(&original);
        let whole = verified(&original, stored.clone(), std::slice::from_ref(&stored));
        prop_assert_eq!(whole, (original.len() as i64, Ok(())));

        let mut log = original.clone();
        tampering.change(&mut log, at % original.len());
        log.sort_by_key(|line| line.number);
        let fitting = log.iter().zip(&original).take_while(|(line, before)| line == before).count();
        let (last, outcome) = verified(&log, stored, &[]);
        if log == original {
            prop_assert_eq!(outcome, Ok(()));
        } else {
            prop_assert!(outcome.is_err(), "{:?}", log);
            prop_assert_eq!(last, fitting as i64);
        }
    }

    /// Checks that a log that was recomputed after a change differs from a head stored elsewhere.
    #[test]
    fn a_log_that_is_computed_anew_does_not_have_the_old_head(original in lines(), at in 0_usize..12) {
        let (at, elsewhere) = (at % original.len(), head_of(&original));
        let mut log = original;
        log[at].at += 1;
        let log = chained(log);
        prop_assert_eq!(verified(&log, head_of(&log), &[]).1, Ok(()));
        let outcome = verified(&log, head_of(&log), std::slice::from_ref(&elsewhere)).1;
        prop_assert_eq!(outcome, Err(ChainFault::Rewritten(elsewhere.number)));
        // The end alone is gone.
        let shorter = &log[..log.len() - 1];
        let outcome = verified(shorter, head_of(shorter), std::slice::from_ref(&elsewhere)).1;
        let last = elsewhere.number;
        prop_assert_eq!(outcome, Err(ChainFault::Missing { first: last, last }));
    }
}

/// Checks that the hashes are those that released versions wrote: they can never change.
#[test]
fn the_bytes_of_a_hash_stay() {
    let subject_id = "01890a5d-ac96-774b-bcce-b302099a8074";
    let first = ChainHead::default().append(&ChainLine {
        id: "01890a5d-ac96-774b-bcce-b302099a8073",
        at: 1_893_456_000_000,
        actor: "user:1",
        action: "printer.pause",
        subject_kind: "printer",
        subject_id,
        request_id: Some("r1"),
        outcome: "done",
        detail: Some(r#"{"name":"Curie"}"#),
    });
    assert_eq!(first.to_string(), "1:1524ec374d38e5503e42d63843b60abaf4cd420f8fca493bc3c795c108222669");
    let second = first.append(&ChainLine {
        id: "01890a5d-ac96-774b-bcce-b302099a8075",
        at: 1_893_456_000_001,
        actor: "machine",
        action: "restore.begin",
        subject_kind: "restore",
        subject_id: "x",
        request_id: None,
        outcome: "done",
        detail: None,
    });
    assert_eq!(second.to_string(), "2:6e0a450d4b21061fc126245bb29858789455f24790d747b5385b9643537ba146");
}

#[test]
fn the_first_fault_is_named_with_its_place() {
    let (whole, stored) = (log(5), head_of(&log(5)));
    let fault = |change: &dyn Fn(&mut Vec<StoredLine>)| {
        let mut log = whole.clone();
        change(&mut log);
        verified(&log, stored.clone(), &[]).1.unwrap_err()
    };
    assert_eq!(fault(&|log| log[2].at = 9), ChainFault::Changed(3));
    assert_eq!(fault(&|log| drop(log.drain(1..3))), ChainFault::Missing { first: 2, last: 3 });
    assert_eq!(fault(&|log| log.truncate(3)), ChainFault::Missing { first: 4, last: 5 });
    assert_eq!(fault(&Vec::clear), ChainFault::Missing { first: 1, last: 5 });
    assert_eq!(fault(&|log| log.push(StoredLine { number: 0, ..log[4].clone() })), ChainFault::Extra(0));
    // A line that fits behind the last one, but which the server did not write.
    assert_eq!(verified(&log(6), stored, &[]).1, Err(ChainFault::Extra(6)));
    let other = ChainHead { number: 5, hash: String::new() };
    assert_eq!(verified(&whole, other, &[]).1, Err(ChainFault::Head(5)));
    assert_eq!(verified(&[], ChainHead::default(), &[]).1, Ok(()));
    for (fault, words) in [
        (ChainFault::Missing { first: 4, last: 4 }, "line 4 is missing"),
        (ChainFault::Missing { first: 4, last: 5 }, "lines 4 to 5 are missing"),
        (ChainFault::Extra(7), "a line with the number 7 was inserted"),
    ] {
        assert_eq!(fault.to_string(), words);
    }
}

#[test]
fn a_head_reads_back_as_it_is_written() {
    for head in [ChainHead::default(), head_of(&log(3))] {
        assert_eq!(head.to_string().parse(), Ok(head));
    }
    let hash = "a".repeat(HASH_DIGITS);
    for text in
        ["", "3", "3:", "0:0", "3:abc", &format!("-3:{hash}"), &format!("0:{hash}"), &format!("3:A{}", &hash[1..])]
    {
        assert_eq!(text.parse::<ChainHead>(), Err(ChainHeadError), "{text}");
    }
}
