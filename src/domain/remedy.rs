//! Acts by people that get an order ready on time, and the messages that describe them.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::notation;
use crate::time::Timestamp;
use words::Language;
use words::staff::timing as texts;

/// Highest priority of an order and its jobs.
pub const MAX_PRIORITY: u8 = 9;

/// Act by a person, in order of increasing effort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemedyAct {
    /// Highest priority for the order.
    RaisePriority,
    /// Sign-off of the jobs' printed parts.
    SignOff,
    /// Resumption of the job's paused print on the printer.
    Resume,
    /// Clearing of the printer's bed.
    ClearBed,
    /// Retry of the failed jobs.
    Retry,
    /// Loading of full spools of the materials into the printer.
    Load,
    /// Return of the printer to service.
    ReturnToService,
}

/// Printer, material or job with its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamedRecord {
    /// Identifier of the record.
    pub id: Id,
    /// Name of a printer or material, or number of a job.
    pub name: String,
}

/// Act with the time by which the order is ready after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remedy {
    /// Act to perform.
    pub act: RemedyAct,
    /// Printer at which to perform it; `None` if it does not concern a printer.
    pub printer: Option<NamedRecord>,
    /// Materials to load, ordered by ID; empty unless spools are to be loaded.
    pub materials: Vec<NamedRecord>,
    /// Jobs to sign off, resume or retry; empty for other acts.
    pub jobs: Vec<NamedRecord>,
    /// Time by which the order is expected to be ready if this is done now, and nothing else.
    pub expected_at: Timestamp,
}

/// Ways to get an order that is late or at risk ready on time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OrderRecovery {
    /// Acts each of which gets the order ready by its deadline, soonest first. If there are none, no single act that
    /// can be performed now is known to do so.
    pub remedies: Vec<Remedy>,
    /// Act after which the order is ready soonest, although late; `None` if there is a remedy, or if no act helps.
    pub quickest: Option<Remedy>,
    /// Earliest time at which the order can be ready, with one act or with none; `None` if it cannot be forecast.
    pub earliest_at: Option<Timestamp>,
}

impl Remedy {
    /// Returns the act as a request in the given language, without a full stop: "Load PLA black into Ada 2".
    pub fn request(&self, language: Language) -> String {
        let names = |all: &[NamedRecord]| {
            let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
            notation::list(language, &names)
        };
        let printer = self.printer.as_ref().map_or("", |printer| printer.name.as_str());
        match self.act {
            RemedyAct::RaisePriority => texts::raise_priority(language, u32::from(MAX_PRIORITY)),
            RemedyAct::SignOff => texts::sign_off(language, &names(&self.jobs)),
            RemedyAct::Resume => texts::resume(language, &names(&self.jobs), printer),
            RemedyAct::ClearBed => texts::clear_bed(language, printer),
            RemedyAct::Retry => texts::retry(language, &names(&self.jobs)),
            RemedyAct::Load => texts::load(language, &names(&self.materials), printer),
            RemedyAct::ReturnToService => texts::return_to_service(language, printer),
        }
    }

    /// Returns the act and its effect as a sentence: "Load PLA black into Ada 2: the order is then expected today
    /// 17:40." `time` is [`Self::expected_at`], formatted.
    fn sentence(&self, language: Language, time: &str) -> String {
        texts::remedy(language, &self.request(language), time)
    }
}

impl OrderRecovery {
    /// Returns the act to suggest: the first remedy or, if there is none, the act after which the order is ready
    /// soonest.
    pub fn suggestion(&self) -> Option<&Remedy> {
        self.remedies.first().or(self.quickest.as_ref())
    }

    /// Returns the time stated in [`Self::words`]; `None` if they state none.
    pub fn stated_at(&self) -> Option<Timestamp> {
        self.suggestion().map(|remedy| remedy.expected_at).or(self.earliest_at)
    }

    /// Describes the act that would get the order ready on time, or states that none does and the earliest time, in one
    /// or two sentences. `time` is [`Self::stated_at`], formatted.
    pub fn words(&self, language: Language, time: &str) -> String {
        if let Some(remedy) = self.remedies.first() {
            return remedy.sentence(language, time);
        }
        match (&self.quickest, self.earliest_at) {
            (Some(quickest), _) => {
                format!("{} {}", texts::hopeless(language), quickest.sentence(language, time))
            }
            (None, Some(_)) => texts::hopeless_earliest(language, time),
            (None, None) => texts::hopeless(language),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::id;

    const TIME: Timestamp = Timestamp(1_700_000_000_000);
    /// All acts, in order of increasing effort.
    const ACTS: [RemedyAct; 7] = [
        RemedyAct::RaisePriority,
        RemedyAct::SignOff,
        RemedyAct::Resume,
        RemedyAct::ClearBed,
        RemedyAct::Retry,
        RemedyAct::Load,
        RemedyAct::ReturnToService,
    ];

    fn record(number: u32, name: &str) -> NamedRecord {
        NamedRecord { id: id(number), name: name.to_owned() }
    }

    fn remedy(act: RemedyAct) -> Remedy {
        Remedy {
            act,
            printer: Some(record(5, "Ada 2")),
            materials: vec![record(2, "PLA black"), record(3, "PLA white")],
            jobs: vec![record(11, "JOB-000011")],
            expected_at: TIME,
        }
    }

    #[test]
    fn each_act_is_a_request() {
        let requests = |language| ACTS.map(|act| remedy(act).request(language));
        assert_eq!(
            requests(Language::English),
            [
                "Raise the order's priority to 9",
                "Sign off JOB-000011",
                "Resume JOB-000011 on Ada 2",
                "Clear the bed of Ada 2",
                "Retry JOB-000011",
                "Load PLA black and PLA white into Ada 2",
                "Return Ada 2 to service",
            ]
        );
        let german = requests(Language::German);
        assert_eq!(german[0], "Setzen Sie die Priorität der Bestellung auf 9");
        assert_eq!(german[3], "Räumen Sie das Druckbett von Ada 2 ab");
        assert_eq!(german[4], "Versuchen Sie es mit JOB-000011 erneut");
        assert_eq!(german[5], "Legen Sie PLA black und PLA white in Ada 2 ein");
    }

    #[test]
    fn acts_are_ordered_by_effort() {
        assert!(ACTS.is_sorted());
    }

    #[test]
    fn a_recovery_says_what_helps_or_that_nothing_does() {
        let recovery = |remedies: &[Remedy], quickest: Option<Remedy>, earliest_at| OrderRecovery {
            remedies: remedies.to_vec(),
            quickest,
            earliest_at,
        };
        let words = |recovery: &OrderRecovery| recovery.words(Language::English, "today 17:40");
        let load = remedy(RemedyAct::Load);
        let with_remedy = recovery(&[load.clone(), remedy(RemedyAct::Retry)], None, Some(TIME));
        assert_eq!(
            words(&with_remedy),
            "Load PLA black and PLA white into Ada 2: the order is then expected today 17:40."
        );
        let german = with_remedy.words(Language::German, "heute 17:40");
        assert!(
            german.ends_with(" in Ada 2 ein, dann wird die Bestellung voraussichtlich heute 17:40 fertig."),
            "{german}"
        );
        assert_eq!((with_remedy.suggestion(), with_remedy.stated_at()), (Some(&load), Some(TIME)));
        let late = recovery(&[], Some(load.clone()), Some(TIME));
        assert_eq!(
            words(&late),
            "No single step will get the order ready in time now. Load PLA black and PLA white into Ada 2: the order \
             is then expected today 17:40."
        );
        assert_eq!(late.suggestion(), Some(&load));
        let earliest = recovery(&[], None, Some(TIME));
        assert_eq!(
            words(&earliest),
            "No single step will get the order ready in time now; it is expected today 17:40 at the earliest."
        );
        assert_eq!((earliest.suggestion(), earliest.stated_at()), (None, Some(TIME)));
        let unknown = recovery(&[], None, None);
        assert_eq!(words(&unknown), "No single step will get the order ready in time now.");
        let german = earliest.words(Language::German, "heute 17:40");
        assert_eq!(
            german,
            "Mit keinem einzelnen Schritt wird die Bestellung noch rechtzeitig fertig, sondern frühestens heute 17:40."
        );
    }
}
