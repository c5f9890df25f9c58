//! Command line of `chaos`.

use std::time::Duration;

use clap::{Parser, ValueEnum};

/// Maximum duration of a run, in minutes: the server remembers acknowledged commands for a day.
const MAX_MINUTES: f64 = 12.0 * 60.0;

/// Run the real server among simulated printers, customers and staff, kill and cut what it depends on, and judge from
/// outside whether it kept its promises.
#[derive(Clone, Debug, Parser)]
#[command(name = "chaos", version, max_term_width = 100)]
pub struct ChaosArguments {
    /// Seed from which the workload and the faults are drawn
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Minutes of faults; after them, the shop has three minutes to come to rest
    #[arg(long, value_name = "M", default_value_t = 1.0, value_parser = minutes)]
    pub minutes: f64,
    /// Database of the server; with `sqlite`, programs that are not installed are left out
    #[arg(long, value_name = "DATABASE", value_enum, default_value_t = DatabaseKind::Postgres)]
    pub database: DatabaseKind,
}

/// Database of the server under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DatabaseKind {
    /// File in the server's data directory.
    Sqlite,
    /// Private PostgreSQL server, which is killed too.
    Postgres,
}

impl DatabaseKind {
    /// Returns the display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }

    /// Returns the value of the option.
    fn word(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

impl ChaosArguments {
    /// Returns the duration of the faults.
    pub fn length(&self) -> Duration {
        Duration::from_secs_f64(self.minutes * 60.0)
    }

    /// Returns the command line that repeats the run.
    pub fn repeat_command(&self) -> String {
        let Self { seed, minutes, database } = self;
        let database = database.word();
        format!("cargo run -p simulator --bin chaos -- --seed {seed} --minutes {minutes} --database {database}")
    }
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| *minutes > 0.0 && *minutes <= MAX_MINUTES);
    minutes.ok_or_else(|| format!("must be a number greater than 0 and at most {MAX_MINUTES}"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;

    fn parse(line: &str) -> Result<ChaosArguments, clap::Error> {
        ChaosArguments::try_parse_from(line.split_whitespace())
    }

    #[test]
    fn the_definition_holds_together() {
        ChaosArguments::command().debug_assert();
    }

    #[test]
    fn the_command_repeats_the_run() {
        let arguments = parse("chaos --seed 7 --minutes 0.5 --database sqlite").unwrap();
        assert_eq!(arguments.length(), Duration::from_secs(30));
        let command = arguments.repeat_command();
        let (_, options) = command.split_once(" -- ").unwrap();
        let again = parse(&format!("chaos {options}")).unwrap();
        assert_eq!((again.seed, again.length(), again.database), (7, arguments.length(), DatabaseKind::Sqlite));
        assert_eq!(parse("chaos").unwrap().database, DatabaseKind::Postgres, "as in production");
    }

    #[test]
    fn wrong_usage_is_refused() {
        for line in ["--minutes 0", "--minutes NaN", "--minutes 9999", "--database mysql"] {
            let kind = parse(&format!("chaos {line}")).unwrap_err().kind();
            assert!(matches!(kind, ErrorKind::ValueValidation | ErrorKind::InvalidValue), "{line}: {kind:?}");
        }
    }
}
