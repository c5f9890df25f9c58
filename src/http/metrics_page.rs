//! Metrics page: families of samples, encoded with `prometheus-client`. The values are collected elsewhere.

use std::fmt::{self, Write as _};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use platform::observe::meters::HistogramSnapshot;

/// Prefix of every metric name.
const PREFIX: &str = "printfloor";

/// Type of a metric, with its value.
#[derive(Clone, PartialEq, Debug)]
enum MetricKind {
    /// Integer that only increases; `_total` is appended to its name.
    Counter(u64),
    /// Value that goes up and down.
    Gauge(i64),
    /// Floating-point number that only increases.
    Fraction(f64),
    /// Number of observations per bucket.
    Histogram(HistogramSnapshot),
}

type Labels = Vec<(&'static str, String)>;

#[derive(Debug)]
struct Family {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    samples: Vec<(Labels, MetricKind)>,
}

/// Metric families that `/metrics` exposes.
#[derive(Debug, Default)]
pub struct MetricsPage {
    own: Families,
    /// Families without the prefix, which have the conventional names for process metrics.
    plain: Families,
}

#[derive(Debug, Default)]
struct Families(Vec<Family>);

impl MetricsPage {
    /// Adds a family of counters.
    pub fn counter<L, S>(&mut self, name: &'static str, help: &'static str, all: impl IntoIterator<Item = (L, u64)>)
    where
        L: IntoIterator<Item = (&'static str, S)>,
        S: Into<String>,
    {
        let all = all.into_iter().map(|(labels, number)| (labels, MetricKind::Counter(number)));
        self.add(name, help, MetricType::Counter, all);
    }
    /// Adds a family of gauges.
    pub fn gauge<L, S>(&mut self, name: &'static str, help: &'static str, all: impl IntoIterator<Item = (L, i64)>)
    where
        L: IntoIterator<Item = (&'static str, S)>,
        S: Into<String>,
    {
        let all = all.into_iter().map(|(labels, number)| (labels, MetricKind::Gauge(number)));
        self.add(name, help, MetricType::Gauge, all);
    }
    /// Adds a family of histograms.
    pub fn histogram<L, S>(
        &mut self,
        name: &'static str,
        help: &'static str,
        all: impl IntoIterator<Item = (L, HistogramSnapshot)>,
    ) where
        L: IntoIterator<Item = (&'static str, S)>,
        S: Into<String>,
    {
        let all = all.into_iter().map(|(labels, counted)| (labels, MetricKind::Histogram(counted)));
        self.add(name, help, MetricType::Histogram, all);
    }

    /// Adds a family of gauges without the name prefix.
    pub fn plain<L, S>(&mut self, name: &'static str, help: &'static str, all: impl IntoIterator<Item = (L, i64)>)
    where
        L: IntoIterator<Item = (&'static str, S)>,
        S: Into<String>,
    {
        let all = all.into_iter().map(|(labels, number)| (labels, MetricKind::Gauge(number)));
        self.plain.0.push(family(name, help, MetricType::Gauge, all));
    }
    /// Adds a floating-point counter without the name prefix.
    pub fn plain_counter(&mut self, name: &'static str, help: &'static str, number: Option<f64>) {
        let all = number.map(|number| ([] as [(&'static str, String); 0], MetricKind::Fraction(number)));
        self.plain.0.push(family(name, help, MetricType::Counter, all));
    }

    fn add<L, S>(
        &mut self,
        name: &'static str,
        help: &'static str,
        kind: MetricType,
        all: impl Iterator<Item = (L, MetricKind)>,
    ) where
        L: IntoIterator<Item = (&'static str, S)>,
        S: Into<String>,
    {
        self.own.0.push(family(name, help, kind, all));
    }

    /// Encodes the page in the `OpenMetrics` text format.
    pub fn open_metrics(self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        for (mut registry, families) in [(Registry::with_prefix(PREFIX), self.own), (Registry::default(), self.plain)] {
            registry.register_collector(Box::new(families));
            encode_registry(&mut text, &registry)?;
        }
        encode_eof(&mut text)?;
        Ok(text)
    }

    /// Encodes the page in the Prometheus text format, version 0.0.4. It differs from `OpenMetrics` in two ways: the
    /// help and type of a counter appear under the name of its samples, which ends with `_total`, and there is no end
    /// marker.
    pub fn prometheus(self) -> Result<String, fmt::Error> {
        let counters: Vec<String> = (self.own.0.iter().map(|family| (PREFIX, family)))
            .chain(self.plain.0.iter().map(|family| ("", family)))
            .filter(|(_, family)| matches!(family.kind, MetricType::Counter))
            .map(|(prefix, family)| {
                [prefix, family.name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
            })
            .collect();
        let mut text = String::new();
        for line in self.open_metrics()?.lines().filter(|line| *line != "# EOF") {
            let mut words = line.splitn(4, ' ');
            match (words.next(), words.next(), words.next(), words.next()) {
                (Some("#"), Some(what), Some(name), Some(rest)) if counters.iter().any(|counter| counter == name) => {
                    let _ = writeln!(text, "# {what} {name}_total {rest}");
                }
                _ => {
                    let _ = writeln!(text, "{line}");
                }
            }
        }
        Ok(text)
    }
}

fn family<L, S>(
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    all: impl IntoIterator<Item = (L, MetricKind)>,
) -> Family
where
    L: IntoIterator<Item = (&'static str, S)>,
    S: Into<String>,
{
    let owned = |labels: L| labels.into_iter().map(|(name, label)| (name, escaped(label.into()))).collect();
    let samples = all.into_iter().map(|(labels, number)| (owned(labels), number)).collect();
    Family { name, help, kind, samples }
}

/// Escapes a label value, because the library writes labels verbatim.
fn escaped(label: String) -> String {
    if label.contains(['\\', '"', '\n']) {
        return label.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    }
    label
}

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for family in &self.0 {
            let mut descriptor = encoder.encode_descriptor(family.name, family.help, None, family.kind)?;
            for (labels, number) in &family.samples {
                if labels.is_empty() {
                    sample(&mut descriptor, number)?;
                } else {
                    sample(&mut descriptor.encode_family(labels)?, number)?;
                }
            }
        }
        Ok(())
    }
}

fn sample(encoder: &mut MetricEncoder<'_>, number: &MetricKind) -> Result<(), fmt::Error> {
    match number {
        MetricKind::Counter(number) => encoder.encode_counter::<NoLabelSet, u64, u64>(number, None),
        MetricKind::Fraction(number) => encoder.encode_counter::<NoLabelSet, f64, u64>(number, None),
        MetricKind::Gauge(number) => encoder.encode_gauge(number),
        MetricKind::Histogram(counted) => {
            encoder.encode_histogram::<NoLabelSet>(counted.sum, counted.count, &counted.buckets, None)
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_page_is_open_metrics() {
        let mut page = MetricsPage::default();
        page.counter("seen", "What was seen", [([("kind", "a \"b\"")], 3)]);
        page.gauge("now", "What is", [([] as [(&'static str, String); 0], -2)]);
        let counted = HistogramSnapshot { sum: 1.5, count: 3, buckets: vec![(1.0, 2), (f64::MAX, 1)] };
        page.histogram("took", "How long", [([("kind", "a")], counted)]);
        page.plain_counter("process_cpu_seconds", "Processor time", Some(1.5));
        let expected = "\
# HELP printfloor_seen What was seen
# TYPE printfloor_seen counter
printfloor_seen_total{kind=\"a \\\"b\\\"\"} 3
# HELP printfloor_now What is
# TYPE printfloor_now gauge
printfloor_now -2
# HELP printfloor_took How long
# TYPE printfloor_took histogram
printfloor_took_sum{kind=\"a\"} 1.5
printfloor_took_count{kind=\"a\"} 3
printfloor_took_bucket{le=\"1.0\",kind=\"a\"} 2
printfloor_took_bucket{le=\"+Inf\",kind=\"a\"} 3
# HELP process_cpu_seconds Processor time
# TYPE process_cpu_seconds counter
process_cpu_seconds_total 1.5
# EOF
";
        assert_eq!(page.open_metrics().unwrap(), expected);
    }

    #[test]
    fn each_sample_of_the_older_format_has_help_and_type_under_its_own_name() {
        let mut page = MetricsPage::default();
        page.counter("seen", "What was seen", [([("kind", "a")], 3)]);
        page.gauge("now", "What is", [([] as [(&'static str, String); 0], 2)]);
        page.plain_counter("process_cpu_seconds", "Processor time", Some(0.25));
        let expected = "\
# HELP printfloor_seen_total What was seen
# TYPE printfloor_seen_total counter
printfloor_seen_total{kind=\"a\"} 3
# HELP printfloor_now What is
# TYPE printfloor_now gauge
printfloor_now 2
# HELP process_cpu_seconds_total Processor time
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total 0.25
";
        assert_eq!(page.prometheus().unwrap(), expected);
    }
}
