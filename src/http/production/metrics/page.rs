//! The page that monitoring reads: families of samples, written by `prometheus-client`.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::observe::meters::Counted;

/// In front of every name.
const PREFIX: &str = "printfloor";

/// What kind of number a family has.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// Only counts up; `_total` is added to its name.
    Counter(u64),
    /// Goes up and down.
    Gauge(i64),
    /// How often below each bound.
    Histogram(Counted),
}

type Labels = Vec<(&'static str, String)>;

#[derive(Debug)]
struct Family {
    name: &'static str,
    help: &'static str,
    kind: MetricType,
    samples: Vec<(Labels, Kind)>,
}

/// The families of metrics that `/metrics` shows.
#[derive(Debug, Default)]
pub struct Page(Vec<Family>);

impl Page {
    /// Numbers that only count up.
    pub fn counter<L, S>(&mut self, name: &'static str, help: &'static str, all: impl IntoIterator<Item = (L, u64)>)
    where
        L: IntoIterator<Item = (&'static str, S)>,
        S: Into<String>,
    {
        self.add(
            name,
            help,
            MetricType::Counter,
            all.into_iter().map(|(labels, number)| (labels, Kind::Counter(number))),
        );
    }
    /// Numbers of now.
    pub fn gauge<L, S>(&mut self, name: &'static str, help: &'static str, all: impl IntoIterator<Item = (L, i64)>)
    where
        L: IntoIterator<Item = (&'static str, S)>,
        S: Into<String>,
    {
        self.add(name, help, MetricType::Gauge, all.into_iter().map(|(labels, number)| (labels, Kind::Gauge(number))));
    }
    /// What was measured.
    pub fn histogram<L, S>(
        &mut self,
        name: &'static str,
        help: &'static str,
        all: impl IntoIterator<Item = (L, Counted)>,
    ) where
        L: IntoIterator<Item = (&'static str, S)>,
        S: Into<String>,
    {
        let all = all.into_iter().map(|(labels, counted)| (labels, Kind::Histogram(counted)));
        self.add(name, help, MetricType::Histogram, all);
    }

    fn add<L, S>(
        &mut self,
        name: &'static str,
        help: &'static str,
        kind: MetricType,
        all: impl Iterator<Item = (L, Kind)>,
    ) where
        L: IntoIterator<Item = (&'static str, S)>,
        S: Into<String>,
    {
        let owned = |labels: L| labels.into_iter().map(|(name, label)| (name, escaped(label.into()))).collect();
        let samples = all.map(|(labels, number)| (owned(labels), number)).collect();
        self.0.push(Family { name, help, kind, samples });
    }

    /// As text.
    pub fn text(self) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix(PREFIX);
        registry.register_collector(Box::new(self));
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }
}

/// The library writes labels as they are.
fn escaped(label: String) -> String {
    if label.contains(['\\', '"', '\n']) {
        return label.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    }
    label
}

impl Collector for Page {
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

fn sample(encoder: &mut MetricEncoder<'_>, number: &Kind) -> Result<(), fmt::Error> {
    match number {
        Kind::Counter(number) => encoder.encode_counter::<NoLabelSet, u64, u64>(number, None),
        Kind::Gauge(number) => encoder.encode_gauge(number),
        Kind::Histogram(counted) => {
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
        let mut page = Page::default();
        page.counter("seen", "What was seen", [([("kind", "a \"b\"")], 3)]);
        page.gauge("now", "What is", [([] as [(&'static str, String); 0], -2)]);
        let counted = Counted { sum: 1.5, count: 3, buckets: vec![(1.0, 2), (f64::MAX, 1)] };
        page.histogram("took", "How long", [([("kind", "a")], counted)]);
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
# EOF
";
        assert_eq!(page.text().unwrap(), expected);
    }
}
