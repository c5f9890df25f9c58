//! The one table that comes out.

/// A line of it.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was measured.
    pub what: String,
    /// What came out, with its unit.
    pub measured: String,
    /// What it is compared with, and that one's figure.
    pub against: String,
    /// The ratio, where there is one.
    pub ratio: String,
    /// What was aimed at, and whether it was reached.
    pub aim: String,
}

impl Row {
    /// A figure alone.
    pub fn figure(what: impl Into<String>, measured: impl Into<String>) -> Self {
        let [against, ratio, aim] = [const { String::new() }; 3];
        Self { what: what.into(), measured: measured.into(), against, ratio, aim }
    }

    /// A figure per second beside the one that it is compared with, and the ratio to reach, if there is one.
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

    /// With an upper bound for the figure.
    pub fn at_most(mut self, figure: f64, bound: f64, unit: &str) -> Self {
        self.aim = format!("< {bound} {unit} {}", verdict(figure < bound));
        self
    }

    fn cells(&self) -> [&str; 5] {
        [&self.what, &self.measured, &self.against, &self.ratio, &self.aim]
    }

    /// For another process.
    pub fn raw(&self) -> String {
        self.cells().join("\t")
    }

    /// From [`Self::raw`].
    pub fn read(raw: &str) -> Self {
        let mut cells = raw.split('\t').map(str::to_owned);
        let mut next = || cells.next().unwrap_or_default();
        Self { what: next(), measured: next(), against: next(), ratio: next(), aim: next() }
    }
}

fn verdict(reached: bool) -> &'static str {
    if reached { "reached" } else { "MISSED" }
}

/// Prints it as Markdown, so that it can be kept as it is.
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
