//! Explanation of why a job is waiting: its causes as data, and a sentence that combines them.

use serde::{Deserialize, Serialize};

use crate::id::Id;
use crate::notation::list;
use crate::refusal::shortened;
use crate::time::Timestamp;
use words::Language;
use words::staff::waiting as texts;

/// Maximum length of the sentence, in characters.
pub const MAX_SENTENCE_CHARS: usize = 200;
/// Maximum number of causes listed for one job.
const MAX_CAUSES: usize = 8;
/// Maximum number of printers named per cause.
const MAX_PRINTERS_NAMED: usize = 10;
/// Maximum number of causes combined in the sentence.
const MAX_SENTENCE_CLAUSES: usize = 2;
/// Minimum length, in characters, to which the second clause may be truncated; if there is less space, it is omitted.
const LEAST_SECOND_CLAUSE_CHARS: usize = 60;
/// Maximum length of a printer's or material's name within a sentence, in characters.
const MAX_NAME_CHARS: usize = 40;

/// Kind of cause that a job waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingCode {
    /// A printer is ready; the job is next in line, or other jobs are ahead of it.
    Turn,
    /// A printer reports a spool that looks like the missing material; a person must confirm it.
    SpoolUnconfirmed,
    /// The bed of a suitable printer must be cleared.
    BedNotCleared,
    /// No suitable printer has the material loaded.
    MaterialNotLoaded,
    /// A material is loaded, but not in the slot that the file takes it from, or on a spool that the printer cannot
    /// select.
    MaterialMisplaced,
    /// Too little of a material is left on the spool.
    SpoolRunsOut,
    /// A suitable printer is printing, or is about to start or end a print.
    PrinterBusy,
    /// The print on a suitable printer is paused.
    PrinterPaused,
    /// A suitable printer rejects starts, or has rejected this job.
    PrinterRefuses,
    /// A suitable printer, or the printer of the job, cannot be reached.
    PrinterOffline,
    /// A suitable printer needs someone's attention: it is out of service, reports an error, or its last print is
    /// unverified.
    PrinterAttention,
    /// A different build plate is needed.
    BuildPlate,
    /// A different nozzle is needed.
    Nozzle,
    /// The file does not specify the material of each of its filaments.
    FilamentsUnknown,
    /// The part is larger than the build volume.
    BuildVolume,
    /// The file was sliced for a different printer model.
    PrinterModel,
    /// The format of the file is not accepted.
    FileFormat,
    /// No printer of the required machine type is registered.
    NoPrinter,
    /// Not enough material is in stock.
    Stock,
    /// The stock of a material is below its reorder point.
    ReorderPoint,
    /// The stock check is in progress.
    StockCheck,
    /// The SKU or its file is incomplete, or is being read.
    SkuFile,
    /// The model is being sliced.
    Slicing,
    /// The slicer could not process the model.
    SlicingFailed,
    /// It is unknown whether the print started, or how it ended.
    Unverified,
    /// The printer has yet to confirm the cancellation.
    Cancelling,
    /// The print has ended, and its outcome is being determined.
    Ending,
    /// The job is being sent to its printer.
    Sending,
    /// The print of the job is paused.
    Paused,
    /// No job is started until a restore has been reviewed.
    OnHold,
}

impl WaitingCode {
    /// Returns the rank of the cause. The lower the rank, the more quickly the cause is resolved.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::Turn | Self::SpoolUnconfirmed => 0,
            Self::BedNotCleared => 1,
            Self::MaterialNotLoaded | Self::MaterialMisplaced | Self::SpoolRunsOut => 2,
            Self::PrinterBusy => 4,
            Self::PrinterPaused => 5,
            Self::PrinterRefuses => 6,
            Self::PrinterAttention => 7,
            Self::PrinterOffline => 8,
            Self::BuildPlate => 9,
            Self::Nozzle => 10,
            Self::FilamentsUnknown => LASTING_RANK,
            Self::BuildVolume => LASTING_RANK + 1,
            Self::PrinterModel => LASTING_RANK + 2,
            Self::FileFormat => LASTING_RANK + 3,
            _ => u8::MAX,
        }
    }
}

/// Lowest rank of the causes that nothing done at a printer resolves.
const LASTING_RANK: u8 = 20;

/// Predicate of a clause, in the form for one printer and for several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Predicate {
    pub(super) one: String,
    pub(super) many: String,
}

impl Predicate {
    /// Builds the predicate "is …" or "are …".
    pub(super) fn state(language: Language, words: &str) -> Self {
        Self { one: texts::is_state(language, words), many: texts::are_state(language, words) }
    }
}

/// Human-readable clause about a cause.
#[derive(Clone, PartialEq, Eq, Debug)]
enum CauseText {
    /// Complete clause.
    Clause(String),
    /// Predicate that follows the printers' names or their number.
    OfPrinters(Predicate),
}

/// Cause that a job waits for.
#[derive(Clone, PartialEq, Debug)]
pub struct WaitingCause {
    /// Kind of the cause.
    pub code: WaitingCode,
    /// Missing materials.
    pub materials: Vec<Id>,
    /// Printers with this cause and their names, in the dispatcher's order of preference; at most ten.
    pub printers: Vec<(Id, String)>,
    /// Number of printers with this cause, including those that are not listed.
    pub printer_count: usize,
    /// Time at which the cause is expected to end by itself; `None` if it does not depend on time alone.
    pub ends_at: Option<Timestamp>,
    text: CauseText,
    /// Language of the text.
    language: Language,
    /// Additional rank within the same code.
    later: u8,
}

impl WaitingCause {
    /// Builds a cause that does not concern printers in general. The text is a clause.
    pub fn new(language: Language, code: WaitingCode, clause: impl Into<String>) -> Self {
        Self {
            code,
            materials: Vec::new(),
            printers: Vec::new(),
            printer_count: 0,
            ends_at: None,
            text: CauseText::Clause(clause.into()),
            language,
            later: 0,
        }
    }

    /// Builds a cause that concerns printers, without any printers yet.
    pub(super) fn of_printers(language: Language, code: WaitingCode, predicate: Predicate) -> Self {
        Self { text: CauseText::OfPrinters(predicate), ..Self::new(language, code, "") }
    }

    /// Sets the missing materials.
    #[must_use]
    pub(super) fn lacking(mut self, materials: Vec<Id>) -> Self {
        self.materials = materials;
        self
    }

    /// Sets the time at which the cause is expected to end by itself.
    #[must_use]
    pub(super) fn ending(mut self, at: Option<Timestamp>) -> Self {
        self.ends_at = at;
        self
    }

    /// Moves the cause behind others of the same rank, by `later` ranks.
    #[must_use]
    pub(super) fn placed_later(mut self, later: u8) -> Self {
        self.later = later;
        self
    }

    /// Adds a printer with this cause.
    pub(super) fn add(&mut self, id: Id, name: &str) {
        self.printer_count += 1;
        if self.printers.len() < MAX_PRINTERS_NAMED {
            self.printers.push((id, name_in_sentence(name)));
        }
    }

    /// Returns the rank of the cause. The lower the rank, the more quickly the cause is resolved.
    pub(super) fn rank(&self) -> u8 {
        self.code.rank().saturating_add(self.later)
    }

    /// Returns the cause as a sentence that lists its printers.
    pub fn message(&self) -> String {
        match &self.text {
            CauseText::Clause(clause) => sentence(clause),
            CauseText::OfPrinters(predicate) if self.printer_count == 1 => sentence(&self.clause_of(predicate)),
            CauseText::OfPrinters(predicate) => {
                let names: Vec<&str> = self.printers.iter().map(|(_, name)| name.as_str()).collect();
                let names = listed(self.language, &names, self.printer_count);
                sentence(&format!("{names} {}", predicate.many))
            }
        }
    }

    /// Returns the cause as a short clause, with the number of its printers if there are several.
    fn clause(&self) -> String {
        match &self.text {
            CauseText::Clause(clause) => clause.clone(),
            CauseText::OfPrinters(predicate) => self.clause_of(predicate),
        }
    }

    fn clause_of(&self, predicate: &Predicate) -> String {
        match &self.printers[..] {
            [(_, name)] if self.printer_count == 1 => format!("{name} {}", predicate.one),
            _ => texts::printers_with(self.language, self.printer_count, &predicate.many),
        }
    }
}

/// Explanation of why a job is waiting.
#[derive(Clone, PartialEq, Debug)]
pub struct Waiting {
    /// Causes, starting with the one that is resolved most quickly; at least one.
    pub causes: Vec<WaitingCause>,
    /// Introductions to choose from, without a full stop; the last one is the shortest. Empty if the causes need no
    /// introduction.
    headlines: Vec<String>,
}

impl Waiting {
    /// Builds the explanation for a job that waits for one cause, given as a clause.
    pub fn of(language: Language, code: WaitingCode, clause: impl Into<String>) -> Self {
        Self { causes: vec![WaitingCause::new(language, code, clause)], headlines: Vec::new() }
    }

    /// Adds the missing material to the first cause.
    #[must_use]
    pub(super) fn lacking(mut self, material: Option<Id>) -> Self {
        if let Some(first) = self.causes.first_mut() {
            first.materials = material.into_iter().collect();
        }
        self
    }

    /// Builds the explanation for a job that waits for a printer. `material` is the name of the material that the job
    /// needs, if it needs only one. Without causes, the job waits for its turn.
    pub(super) fn for_printer(language: Language, mut causes: Vec<WaitingCause>, material: Option<&str>) -> Self {
        causes.sort_by_key(WaitingCause::rank);
        causes.truncate(MAX_CAUSES);
        let Some(first) = causes.first() else {
            return Self::of(language, WaitingCode::Turn, texts::turn(language));
        };
        let mut headlines = Vec::new();
        if first.rank() >= LASTING_RANK {
            headlines.push(texts::no_printer_can(language));
        } else {
            let name = material.filter(|_| first.materials.is_empty());
            headlines.extend(name.map(|name| texts::for_printer_with(language, &name_in_sentence(name))));
            headlines.push(texts::for_printer(language));
        }
        Self { causes, headlines }
    }

    /// Writes the explanation as text of at most [`MAX_SENTENCE_CHARS`] characters: it states what the job waits for,
    /// and what resolves this most quickly.
    pub fn sentence(&self) -> String {
        let clauses: Vec<String> = self.causes.iter().take(MAX_SENTENCE_CLAUSES).map(WaitingCause::clause).collect();
        let Some(shortest) = self.headlines.last() else {
            return clipped(sentence(&clauses.join("; ")));
        };
        let with = |headline: &str, count: usize| {
            let clauses: Vec<&str> = clauses.iter().take(count).map(String::as_str).collect();
            sentence(&format!("{headline}. {}", upper_first(&clauses.join("; "), self.begins_with_name())))
        };
        let mut texts = self.headlines.iter().map(|headline| with(headline, MAX_SENTENCE_CLAUSES));
        let fitting = texts.find(|text| text.chars().count() <= MAX_SENTENCE_CHARS);
        clipped(fitting.unwrap_or_else(|| {
            let first = with(shortest, 1);
            let has_room = first.chars().count() + LEAST_SECOND_CLAUSE_CHARS <= MAX_SENTENCE_CHARS;
            if has_room { with(shortest, MAX_SENTENCE_CLAUSES) } else { first }
        }))
    }

    /// Returns whether the first clause begins with a printer's name, which must not be capitalised.
    fn begins_with_name(&self) -> bool {
        self.causes.first().is_some_and(|first| first.printer_count == 1)
    }
}

/// Returns the name of a printer or material as it appears in a sentence: on one line and truncated if long.
pub(super) fn name_in_sentence(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    shortened(words.join(" "), MAX_NAME_CHARS - 1)
}

/// Lists names: "A", "A and B", "A, B and C", "A, B and 7 more".
pub(super) fn listed(language: Language, names: &[&str], total: usize) -> String {
    let more = total.saturating_sub(names.len());
    let more = (more > 0).then(|| texts::more_names(language, more));
    let entries: Vec<&str> = names.iter().copied().chain(more.as_deref()).collect();
    list(language, &entries)
}

fn upper_first(text: &str, is_name: bool) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) if !is_name => first.to_uppercase().chain(chars).collect(),
        _ => text.to_owned(),
    }
}

/// Returns the text with an initial capital letter and a final full stop.
fn sentence(text: &str) -> String {
    let text = upper_first(text.trim(), false);
    if text.ends_with(['.', '!', '?', '…']) { text } else { text + "." }
}

/// Truncates the text to [`MAX_SENTENCE_CHARS`] characters, including the mark for the omitted rest.
fn clipped(text: String) -> String {
    if text.chars().count() <= MAX_SENTENCE_CHARS { text } else { shortened(text, MAX_SENTENCE_CHARS - 1) }
}
