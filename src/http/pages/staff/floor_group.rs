//! Groups of the floor: by state, the sections in which printers stand, the most urgent first; or by place or model.

use super::shell::Tone;
use domain::printer::{Attention, Printer};
use domain::printer_status::Activity;
use http_api::production::printers::{PrinterHandles, activity};
use words::Language;
use words::staff::floor as texts;

/// Printers that call for the same from people, in the order of the floor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum FloorGroup {
    /// A person has to act.
    NeedsYou,
    /// The printer does not answer, or is out of service.
    Offline,
    /// A print is running or about to start.
    Printing,
    /// The printer waits for work.
    Ready,
}

impl FloorGroup {
    /// All groups, in the order of the floor.
    pub(super) const ALL: [Self; 4] = [Self::NeedsYou, Self::Offline, Self::Printing, Self::Ready];

    /// Returns the group of a printer with the given tone; `is_out` if it does not answer or is out of service.
    fn from_state(tone: Tone, is_out: bool) -> Self {
        match tone {
            _ if is_out => Self::Offline,
            Tone::Error | Tone::Attention => Self::NeedsYou,
            Tone::Running | Tone::Working => Self::Printing,
            Tone::Idle => Self::Ready,
        }
    }

    /// Returns the group that a printer with the given tone belongs to now. A print that belongs to no job is mentioned
    /// on the card, but requires no action.
    pub(super) fn of(shop: &PrinterHandles, printer: &Printer, tone: Tone) -> Self {
        let doing = activity(shop, printer);
        let is_out = printer.disconnected || printer.maintenance.is_some() || doing == Activity::Offline;
        let is_foreign = doing == Activity::Printing && printer.attention() == [Attention::ForeignPrint];
        Self::from_state(if is_foreign { Tone::Running } else { tone }, is_out)
    }

    /// Returns the group's name in URLs and page fragments.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::NeedsYou => "need-you",
            Self::Printing => "printing",
            Self::Ready => "ready",
            Self::Offline => "offline",
        }
    }

    /// Returns the heading of the group's section.
    pub(super) fn title(self, language: Language) -> String {
        match self {
            Self::NeedsYou => texts::group_attention(language),
            Self::Printing => texts::group_printing(language),
            Self::Ready => texts::group_ready(language),
            Self::Offline => texts::group_offline(language),
        }
    }

    /// Returns the label of the group's filter, to follow a number.
    pub(super) fn label(self, language: Language) -> String {
        match self {
            Self::NeedsYou => texts::filter_attention(language),
            Self::Printing => texts::filter_printing(language),
            Self::Ready => texts::filter_ready(language),
            Self::Offline => texts::filter_offline(language),
        }
    }
}

/// Label of a choice of how the floor is shown, in the given language.
pub(super) type ViewLabel = fn(Language) -> String;

/// Property by which the sections of the floor are formed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FloorGrouping {
    /// By the printers' states.
    State,
    /// By the printers' locations.
    Place,
    /// By the printers' models.
    Model,
}

impl FloorGrouping {
    /// All groupings, with their names in URLs and their labels; the default is first.
    pub(super) const ALL: [(Self, &str, ViewLabel); 3] = [
        (Self::State, "", texts::by_state),
        (Self::Place, "place", texts::by_place),
        (Self::Model, "model", texts::by_model),
    ];

    /// Returns the grouping with the given name; the default if there is none.
    pub(super) fn from_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|(_, name, _)| *name == word).map_or(Self::State, |(grouping, ..)| grouping)
    }

    /// Returns the suffix of the `data-` attribute of a card that holds the key of its section.
    pub(super) fn member(self) -> &'static str {
        match self {
            Self::State => "group",
            Self::Place => "place",
            Self::Model => "model",
        }
    }

    /// Returns the heading of the section with the given key.
    pub(super) fn title(self, language: Language, key: &str) -> String {
        let group = FloorGroup::ALL.into_iter().find(|group| self == Self::State && group.word() == key);
        match (self, group) {
            (_, Some(group)) => group.title(language),
            (Self::Place, None) if key.is_empty() => texts::no_place(language),
            (Self::Model, None) if key.is_empty() => texts::no_model(language),
            (_, None) => key.to_owned(),
        }
    }

    /// Returns the key of the section that a printer belongs to.
    pub(super) fn key(self, printer: &Printer, group: FloorGroup) -> &str {
        match self {
            Self::State => group.word(),
            Self::Place => place(printer),
            Self::Model => model(printer),
        }
    }

    /// Returns the keys of the floor's sections in their order, each once: all states, or the given names in the order
    /// of the alphabet, with the printers that have none last.
    pub(super) fn sections<'a>(self, keys: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        if self == Self::State {
            return FloorGroup::ALL.map(FloorGroup::word).to_vec();
        }
        let mut keys: Vec<&str> = keys.collect();
        keys.sort_by_key(|key| (key.is_empty(), key.to_lowercase(), *key));
        keys.dedup();
        keys
    }
}

/// Returns the location of a printer; empty if it has none.
pub(super) fn place(printer: &Printer) -> &str {
    printer.fields.location.as_deref().map(str::trim).unwrap_or_default()
}

/// Returns the model of a printer; empty if it is not set.
pub(super) fn model(printer: &Printer) -> &str {
    printer.fields.model.as_deref().map(str::trim).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_person_comes_first_and_then_what_does_not_answer_or_is_out_of_service() {
        let of = |tone| FloorGroup::from_state(tone, false);
        assert_eq!(
            [Tone::Error, Tone::Attention, Tone::Running, Tone::Idle].map(of),
            [FloorGroup::NeedsYou, FloorGroup::NeedsYou, FloorGroup::Printing, FloorGroup::Ready]
        );
        for tone in [Tone::Error, Tone::Attention, Tone::Running, Tone::Idle] {
            assert_eq!(FloorGroup::from_state(tone, true), FloorGroup::Offline, "{tone:?}");
        }
        let order = [FloorGroup::NeedsYou, FloorGroup::Offline, FloorGroup::Printing, FloorGroup::Ready];
        assert_eq!(FloorGroup::ALL, order);
        assert!(FloorGroup::ALL.is_sorted());
    }

    #[test]
    fn sections_by_state_are_always_all_there_and_others_stand_in_the_order_of_the_alphabet() {
        let names = ["cellar", "", "Attic", "cellar", "Bench"];
        assert_eq!(
            FloorGrouping::State.sections(names.into_iter()),
            ["need-you", "offline", "printing", "ready"],
            "an empty section can fill up while the page is open"
        );
        assert_eq!(FloorGrouping::Place.sections(names.into_iter()), ["Attic", "Bench", "cellar", ""]);
        assert!(FloorGrouping::Model.sections([].into_iter()).is_empty());
    }

    #[test]
    fn sections_have_headings_also_where_nothing_is_set() {
        let titles = |grouping: FloorGrouping, key: &str| Language::ALL.map(|language| grouping.title(language, key));
        assert_eq!(titles(FloorGrouping::State, "need-you"), ["Needing attention", "Mit Handlungsbedarf"]);
        assert_eq!(titles(FloorGrouping::Place, ""), ["No location", "Ohne Standort"]);
        assert_eq!(titles(FloorGrouping::Place, "ready"), ["ready", "ready"]);
        assert_eq!(titles(FloorGrouping::Model, ""), ["No model", "Ohne Modell"]);
        assert_eq!(titles(FloorGrouping::Model, "X1C"), ["X1C", "X1C"]);
    }

    #[test]
    fn a_word_that_names_no_grouping_means_the_default() {
        let of = FloorGrouping::from_word;
        assert_eq!((of("place"), of("model")), (FloorGrouping::Place, FloorGrouping::Model));
        assert_eq!((of(""), of("purple")), (FloorGrouping::State, FloorGrouping::State));
    }
}
