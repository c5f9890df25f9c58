//! Names of migrations: what each says about the release that brought it, and about the release before.
//!
//! A name is a row of the database, so a program that does not know the migration can still say which version does.
//! Names of migrations after release 0.1.0 are `mDATE_NUMBER_vX_Y_Z_expand_…` or `…_contract_…`.

use std::fmt::{self, Display, Formatter};

/// Version of Printfloor: major, minor, patch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Release {
    major: u32,
    minor: u32,
    patch: u32,
}

impl Release {
    /// Parses a version as Cargo writes it; what follows the three numbers is ignored.
    pub fn parse(text: &str) -> Option<Self> {
        Self::of_parts(text.split(['-', '+']).next()?.split('.'))
    }

    fn of_parts<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Self> {
        let numbers: Vec<u32> = parts.map(str::parse).collect::<Result<_, _>>().ok()?;
        let [major, minor, patch] = *numbers.as_slice() else { return None };
        Some(Self { major, minor, patch })
    }
}

impl Display for Release {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { major, minor, patch } = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Effect of a migration on the release before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MigrationKind {
    /// Everything that the release before reads and writes stays as it is.
    Expand,
    /// Something goes that the release before no longer uses.
    Contract,
}

/// Declaration in the name of a migration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MigrationLabel {
    /// Release that brought the migration.
    pub release: Release,
    /// Effect on the release before.
    pub kind: MigrationKind,
}

impl MigrationLabel {
    /// Reads the label in a name; `None` if there is none.
    pub fn of(name: &str) -> Option<Self> {
        let mut words = name.split('_').skip(2);
        let major = words.next()?.strip_prefix('v')?;
        let release = Release::of_parts([major, words.next()?, words.next()?].into_iter())?;
        let kind = match words.next()? {
            "expand" => MigrationKind::Expand,
            "contract" => MigrationKind::Contract,
            _ => return None,
        };
        words.next().map(|_| Self { release, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Migrator, MigratorTrait as _};

    /// Number of the last migration whose name carries no label.
    const LAST_UNLABELLED: u32 = 64;

    /// Returns the number in the name of a migration.
    fn number(name: &str) -> u32 {
        name.split('_').nth(1).and_then(|number| number.parse().ok()).unwrap_or_default()
    }

    fn release(text: &str) -> Option<Release> {
        Release::parse(text)
    }

    #[test]
    fn a_name_says_which_release_brought_the_migration_and_what_becomes_of_the_one_before() {
        let label = |name: &str| MigrationLabel::of(name).map(|label| (label.release.to_string(), label.kind));
        assert_eq!(
            label("m20270115_000043_v0_2_0_expand_add_colour"),
            Some(("0.2.0".to_owned(), MigrationKind::Expand))
        );
        assert_eq!(
            label("m20270115_000044_v1_10_3_contract_drop_notes"),
            Some(("1.10.3".to_owned(), MigrationKind::Contract))
        );
        for name in [
            "m20261130_000042_files_by_kind",
            "m20270115_000043_v0_2_expand_add_colour",
            "m20270115_000043_v0_2_0_add_colour",
            "m20270115_000043_v0_2_0_expand",
            "m20270115_000043_0_2_0_expand_add_colour",
            "m29990101_000001_newer",
            "",
        ] {
            assert_eq!(label(name), None, "{name}");
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(release("0.10.0") > release("0.9.9") && release("1.0.0") > release("0.99.0"));
        assert_eq!(release("0.2.0-dev.1"), release("0.2.0"));
        for text in ["", "1", "1.2", "1.2.3.4", "a.b.c"] {
            assert_eq!(release(text), None, "{text}");
        }
    }

    #[test]
    fn migrations_are_numbered_in_order_and_those_after_the_first_release_say_what_they_are() {
        let names: Vec<String> = Migrator::migrations().iter().map(|one| one.name().to_owned()).collect();
        let mut last = 0;
        let mut last_release = None;
        for name in &names {
            let current = number(name);
            assert!(current > last, "{name} does not follow number {last}");
            last = current;
            if current <= LAST_UNLABELLED {
                continue;
            }
            let label = MigrationLabel::of(name);
            let words = "is to be named mDATE_NUMBER_vX_Y_Z_expand_… or …_contract_… (CONTRIBUTING.md)";
            assert!(label.is_some(), "{name} {words}");
            let release = label.map(|label| label.release);
            assert!(release >= last_release, "{name} is of an older release than the one before");
            assert!(
                release <= Release::parse(env!("CARGO_PKG_VERSION")),
                "{name} is of a later version than Cargo.toml"
            );
            last_release = release;
        }
        // Databases and backups compare names as text.
        assert!(names.is_sorted(), "{names:?}");
    }
}
