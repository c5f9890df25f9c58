//! The six steps of the setup wizard, and the progress bar shown with each step.

use maud::{Markup, html};

use words::Language;
use words::staff::setup as texts;

/// Step of the setup wizard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SetupStep {
    Welcome,
    Database,
    Printers,
    Integrations,
    Commerce,
    Review,
}

/// All steps in order.
const STEPS: [SetupStep; 6] = [
    SetupStep::Welcome,
    SetupStep::Database,
    SetupStep::Printers,
    SetupStep::Integrations,
    SetupStep::Commerce,
    SetupStep::Review,
];

impl SetupStep {
    /// Returns the step's title.
    pub(super) fn title(self, language: Language) -> String {
        match self {
            Self::Welcome => texts::welcome(language),
            Self::Database => texts::database(language),
            Self::Printers => texts::printers(language),
            Self::Integrations => texts::integrations(language),
            Self::Commerce => texts::commerce(language),
            Self::Review => texts::review(language),
        }
    }

    /// Returns the step's path.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Welcome => super::PATH,
            Self::Database => super::database::PATH,
            Self::Printers => super::printers::PATH,
            Self::Integrations => super::integrations::PATH,
            Self::Commerce => super::commerce::PATH,
            Self::Review => super::review::PATH,
        }
    }

    /// Returns whether the step is currently available.
    const fn is_open(self, has_admin: bool, may_go_on: bool) -> bool {
        match self {
            Self::Welcome => true,
            Self::Database => has_admin,
            _ => may_go_on,
        }
    }
}

/// Renders a step's page together with the list of all steps, of which those after the first are available once there
/// is an admin, and those after the second once the tests have passed.
pub(super) fn around(
    language: Language,
    step: SetupStep,
    (has_admin, may_go_on): (bool, bool),
    content: &Markup,
) -> Markup {
    let number = STEPS.iter().position(|one| *one == step).unwrap_or_default() + 1;
    html! {
        a class="skip" href="#content" { (texts::skip_link(language)) }
        header {
            nav aria-label=(texts::steps(language)) {
                @for one in STEPS {
                    @if one.is_open(has_admin, may_go_on) {
                        a href=(one.path()) aria-current=[(one == step).then_some("step")] { (one.title(language)) }
                    } @else {
                        a aria-disabled="true" class="soft" { (one.title(language)) }
                    }
                }
            }
        }
        main id="content" {
            p class="soft" { (texts::step_count(language, number, STEPS.len())) }
            h1 { (step.title(language)) }
            (content)
        }
    }
}

/// Renders links to the next and previous steps.
pub(super) fn ways(language: Language, back: SetupStep, on: SetupStep) -> Markup {
    html! {
        p class="acts" {
            a class="button" href=(on.path()) { (texts::next(language, &on.title(language))) }
            a class="button second" href=(back.path()) { (texts::back(language)) }
        }
        p class="soft" { (texts::leave_note(language)) }
    }
}
