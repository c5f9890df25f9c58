//! Numbers of cases of property tests.

/// Writes property tests in two variants: with some of the cases, which each run draws anew, in the module `drawn`, and
/// with all of them in the module `long`, for the long profile. `scripts/test` sets the seed of both to that of the
/// run.
///
/// A failing case is simplified four times as often as there are cases; `PROPTEST_MAX_SHRINK_ITERS` sets how often.
///
/// A module can contain this once; paths in the tests may not begin with `super`.
#[macro_export]
macro_rules! drawn_cases {
    ($few:literal of $all:literal; $($tests:tt)+) => {
        mod drawn {
            use super::*;

            proptest::proptest! {
                #![proptest_config(proptest::test_runner::Config::with_cases($few))]
                $($tests)+
            }
        }

        mod long {
            use super::*;

            proptest::proptest! {
                #![proptest_config(proptest::test_runner::Config::with_cases($all))]
                $($tests)+
            }
        }
    };
}
