//! The six steps of the setup wizard, and the progress bar shown with each step.

use maud::{Markup, html};

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
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Welcome => "Welcome",
            Self::Database => "Database and Queue",
            Self::Printers => "Printer Discovery",
            Self::Integrations => "Integrations",
            Self::Commerce => "Commerce",
            Self::Review => "Review and Launch",
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

/// Renders a step's page together with the list of all steps.
pub(super) fn around(step: SetupStep, has_admin: bool, may_go_on: bool, content: &Markup) -> Markup {
    let number = STEPS.iter().position(|one| *one == step).unwrap_or_default() + 1;
    html! {
        a class="skip" href="#content" { "Skip to content" }
        header {
            nav aria-label="Setup steps" {
                @for one in STEPS {
                    @if one.is_open(has_admin, may_go_on) {
                        a href=(one.path()) aria-current=[(one == step).then_some("step")] { (one.title()) }
                    } @else {
                        a aria-disabled="true" class="soft" { (one.title()) }
                    }
                }
            }
        }
        main id="content" {
            p class="soft" { "Setup, step " (number) " of " (STEPS.len()) }
            h1 { (step.title()) }
            (content)
        }
    }
}

/// Renders links to the next and previous steps.
pub(super) fn ways(back: SetupStep, on: SetupStep) -> Markup {
    html! {
        p class="acts" {
            a class="button" href=(on.path()) { "Next: " (on.title()) }
            a class="button second" href=(back.path()) { "Back" }
        }
        p class="soft" { "You can leave at any time. Settings that passed their tests are saved, and you can continue at this address." }
    }
}
