//! Result table of the benchmarks.

/// Result for a target that was missed.
const MISSED: &str = "MISSED";

/// Row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// Description of the measurement.
    pub what: String,
    /// Result with its unit.
    pub measured: String,
    /// Baseline of the comparison, and its result.
    pub against: String,
    /// Ratio to the baseline; empty if there is none.
    pub ratio: String,
    /// Target, and whether it was met.
    pub aim: String,
}

impl Row {
    /// Builds a row with a single figure.
    pub fn figure(what: impl Into<String>, measured: impl Into<String>) -> Self {
        let [against, ratio, aim] = [const { String::new() }; 3];
        Self { what: what.into(), measured: measured.into(), against, ratio, aim }
    }

    /// Builds a row of a rate compared with its baseline, and the target ratio, if any.
    pub fn ratio(what: impl Into<String>, (of, measured): (&str, f64), aim: Option<f64>, own: f64) -> Self {
        let ratio = own / measured;
        Self {
            what: what.into(),
            measured: format!("{own:.0}/s"),
            against: format!("{of}: {measured:.0}/s"),
            ratio: format!("{ratio:.2}"),
            aim: aim.map(|aim| format!(">= {aim} {}", verdict(ratio >= aim))).unwrap_or_default(),
        }
    }

    /// Sets an upper bound for the figure.
    pub fn at_most(mut self, figure: f64, bound: f64, unit: &str) -> Self {
        self.aim = format!("< {bound} {unit} {}", verdict(figure < bound));
        self
    }

    /// Sets the baseline, the ratio to it and the target of the ratio.
    pub fn at_least(mut self, (of, measured): (&str, String), ratio: f64, aim: f64) -> Self {
        self.against = format!("{of}: {measured}");
        self.ratio = format!("{ratio:.2}");
        self.aim = format!(">= {aim} {}", verdict(ratio >= aim));
        self
    }

    /// Returns whether the row has a target that was not reached.
    pub fn is_missed(&self) -> bool {
        self.aim.ends_with(MISSED)
    }

    fn cells(&self) -> [&str; 5] {
        [&self.what, &self.measured, &self.against, &self.ratio, &self.aim]
    }

    /// Serializes the row for another process.
    pub fn raw(&self) -> String {
        self.cells().join("\t")
    }

    /// Parses the output of [`Self::raw`].
    pub fn read(raw: &str) -> Self {
        let mut cells = raw.split('\t').map(str::to_owned);
        let mut next = || cells.next().unwrap_or_default();
        Self { what: next(), measured: next(), against: next(), ratio: next(), aim: next() }
    }
}

fn verdict(reached: bool) -> &'static str {
    if reached { "reached" } else { MISSED }
}

/// Prints the rows as a Markdown table.
pub fn print(rows: &[Row]) {
    let heads = ["measured", "figure", "against", "ratio", "aim"];
    let width = |at: usize, head: &str| {
        rows.iter().map(|row| row.cells()[at].chars().count()).chain([head.chars().count()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = heads.iter().enumerate().map(|(at, head)| width(at, head)).collect();
    let line = |cells: [&str; 5]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        println!("| {} |", cells.collect::<Vec<_>>().join(" | "));
    };
    line(heads);
    println!("|{}|", widths.iter().map(|width| "-".repeat(width + 2)).collect::<Vec<_>>().join("|"));
    rows.iter().for_each(|row| line(row.cells()));
}
