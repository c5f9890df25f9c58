//! Numbers of cases of property tests.

/// Writes property tests in two variants: with some of the cases, which each run draws anew, in the module `drawn`, and
/// with all of them in the module `long`, for the long profile. `scripts/test` sets both seeds to the seed of the run.
///
/// A failing case is simplified four times as often as there are cases; `PROPTEST_MAX_SHRINK_ITERS` sets how often.
///
/// `1_000 of 10_000;` comes before the tests, or `1_000 of 10_000 in name;` where the module has other such tests: then
/// the variants are in a module of this name. Paths in the tests may not begin with `super`.
#[macro_export]
macro_rules! drawn_cases {
    (@tests $count:literal; $($tests:tt)+) => {
        proptest::proptest! {
            #![proptest_config(proptest::test_runner::Config::with_cases($count))]
            $($tests)+
        }
    };
    ($few:literal of $all:literal; $($tests:tt)+) => {
        mod drawn {
            use super::*;
            $crate::drawn_cases! { @tests $few; $($tests)+ }
        }
        mod long {
            use super::*;
            $crate::drawn_cases! { @tests $all; $($tests)+ }
        }
    };
    ($few:literal of $all:literal in $name:ident; $($tests:tt)+) => {
        mod $name {
            mod drawn {
                use super::super::*;
                $crate::drawn_cases! { @tests $few; $($tests)+ }
            }
            mod long {
                use super::super::*;
                $crate::drawn_cases! { @tests $all; $($tests)+ }
            }
        }
    };
}
