//! Temperatures of a printer over the last day, held in memory only: the minimum and maximum for every ten seconds of
//! the last half hour, and for every five minutes of the last day.
//!
//! Memory usage grows over time, and only for heaters that have been reported, to at most 3 kB each: a printer with one
//! tool, a bed and a chamber takes less than 9 kB, a printer with all tools less than 24 kB. Current temperatures are
//! not held here; they are part of a printer's status.

use std::collections::VecDeque;

use crate::heaters::{Heat, Heaters, MAX_TOOLS};
use crate::time::{DAY_MS, HOUR_MS, Timestamp};

/// Length of a span within the last half hour, in milliseconds.
const FINE_STEP_MS: i64 = 10_000;
/// Length of a span within the last day, in milliseconds.
const COARSE_STEP_MS: i64 = 300_000;
/// Time for which the finer spans are retained, in milliseconds.
const FINE_MS: i64 = HOUR_MS / 2;
/// Maximum number of heaters per printer: all tools, the bed and the chamber.
const MAX_HEATERS: usize = MAX_TOOLS + 2;
/// Number of spans by which the capacity grows.
const ROOM_STEP: usize = 32;
/// Sentinel for an unknown temperature.
const UNKNOWN_TENTHS: i16 = i16::MIN;

/// Temperatures of a heater within a span of time, in tenths of a degree Celsius.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeatSpan {
    /// Start of the span.
    pub at: Timestamp,
    /// Lowest measured temperature.
    pub lowest: i16,
    /// Highest measured temperature.
    pub highest: i16,
    /// Target temperature at the end of the span, if the printer reports it.
    pub target: Option<i16>,
}

/// Temperature curve of one heater over the requested period.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaterCourse {
    /// Name of the heater: `tool0`, `bed`, `chamber`.
    pub heater: String,
    /// Spans with at least one measurement, oldest first.
    pub spans: Vec<HeatSpan>,
}

/// Minimum and maximum within a span, and the most recent target temperature.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Extremes {
    lowest: i16,
    highest: i16,
    target: i16,
}

impl Extremes {
    /// Span without measurements.
    const NOTHING: Self = Self { lowest: UNKNOWN_TENTHS, highest: UNKNOWN_TENTHS, target: UNKNOWN_TENTHS };

    fn with(self, later: Self) -> Self {
        let target = if later.target == UNKNOWN_TENTHS { self.target } else { later.target };
        match (self.lowest, later.lowest) {
            (_, UNKNOWN_TENTHS) => Self { target, ..self },
            (UNKNOWN_TENTHS, _) => Self { target, ..later },
            _ => Self { lowest: self.lowest.min(later.lowest), highest: self.highest.max(later.highest), target },
        }
    }
}

/// Consecutive spans of equal length without gaps; the oldest are dropped.
#[derive(Clone, Debug)]
struct SpanRow {
    spans: VecDeque<Extremes>,
    /// Number of the newest span, counted from 1970.
    newest: i64,
    step_ms: i64,
    most: usize,
}

impl SpanRow {
    fn new(step_ms: i64, kept_ms: i64) -> Self {
        let most = usize::try_from(kept_ms / step_ms).unwrap_or_default();
        Self { spans: VecDeque::new(), newest: 0, step_ms, most }
    }

    fn take(&mut self, at: Timestamp, extremes: Extremes) {
        let number = at.0.div_euclid(self.step_ms);
        let missed = usize::try_from(number.saturating_sub(self.newest)).unwrap_or_default();
        if self.spans.is_empty() || missed >= self.most {
            self.spans.clear();
            self.push(extremes);
        } else {
            for _ in 1..missed {
                self.push(Extremes::NOTHING);
            }
            match self.spans.back_mut().filter(|_| missed == 0) {
                Some(newest) => *newest = newest.with(extremes),
                None => self.push(extremes),
            }
        }
        self.newest = self.newest.max(number);
    }

    fn push(&mut self, span: Extremes) {
        if self.spans.len() == self.most {
            self.spans.pop_front();
        }
        if self.spans.len() == self.spans.capacity() {
            self.spans.reserve_exact(ROOM_STEP.min(self.most - self.spans.len()));
        }
        self.spans.push_back(span);
    }

    /// Returns the measurements since a point in time, in at most `points` spans of equal length.
    fn course(&self, since: Timestamp, points: usize) -> Vec<HeatSpan> {
        let first = self.newest - self.spans.len() as i64 + 1;
        let from = since.0.div_euclid(self.step_ms).max(first);
        let count = usize::try_from(self.newest - from + 1).unwrap_or_default().min(self.spans.len());
        let group = count.div_ceil(points.max(1)).max(1);
        let recent: Vec<Extremes> = self.spans.iter().skip(self.spans.len() - count).copied().collect();
        let spans = recent.chunks(group).enumerate().filter_map(|(at, group_of)| {
            let all = group_of.iter().fold(Extremes::NOTHING, |all, one| all.with(*one));
            let number = self.newest - count as i64 + 1 + (at * group) as i64;
            (all.lowest != UNKNOWN_TENTHS).then_some(HeatSpan {
                at: Timestamp(number * self.step_ms),
                lowest: all.lowest,
                highest: all.highest,
                target: Some(all.target).filter(|target| *target != UNKNOWN_TENTHS),
            })
        });
        spans.collect()
    }
}

/// Fine and coarse history of one heater.
#[derive(Clone, Debug)]
struct Series {
    fine: SpanRow,
    coarse: SpanRow,
}

/// Temperatures of one printer over the last day.
#[derive(Clone, Debug, Default)]
pub struct TemperatureHistory {
    heaters: [Option<Box<Series>>; MAX_HEATERS],
    latest: Timestamp,
}

impl TemperatureHistory {
    /// Records measured temperatures. If the clock was set back by at least five minutes, the history restarts; if it
    /// was set back by less, measurements are ignored until the clock catches up.
    pub fn take(&mut self, at: Timestamp, reading: &Heaters) {
        if at < self.latest {
            if self.latest.since(at) < COARSE_STEP_MS {
                return;
            }
            self.heaters = Default::default();
        }
        self.latest = at;
        for (series, heat) in self.heaters.iter_mut().zip(reading.each()) {
            let Some(extremes) = extremes(heat) else { continue };
            let fresh =
                || Series { fine: SpanRow::new(FINE_STEP_MS, FINE_MS), coarse: SpanRow::new(COARSE_STEP_MS, DAY_MS) };
            let series = series.get_or_insert_with(|| Box::new(fresh()));
            series.fine.take(at, extremes);
            series.coarse.take(at, extremes);
        }
    }

    /// Returns the temperature curve of each heater since a point in time, in at most `points` spans, without omitting
    /// any peak. For times within the last half hour, the finer spans are used.
    pub fn courses(&self, since: Timestamp, now: Timestamp, points: usize) -> Vec<HeaterCourse> {
        let fine = now.since(since) <= FINE_MS;
        let measured = self.heaters.iter().enumerate().filter_map(|(at, series)| Some((at, series.as_deref()?)));
        let course = |(at, series): (usize, &Series)| HeaterCourse {
            heater: name(at),
            spans: if fine { series.fine.course(since, points) } else { series.coarse.course(since, points) },
        };
        measured.map(course).collect()
    }
}

/// Returns the measurement of a heater as a span, if it was measured.
fn extremes(heat: Heat) -> Option<Extremes> {
    let actual = heat.actual()?;
    Some(Extremes { lowest: actual, highest: actual, target: heat.target().unwrap_or(UNKNOWN_TENTHS) })
}

/// Returns the name of the heater with the given index.
fn name(at: usize) -> String {
    match at.checked_sub(MAX_TOOLS) {
        None => format!("tool{at}"),
        Some(0) => "bed".to_owned(),
        Some(_) => "chamber".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Maximum size of the whole history of a printer with all its heaters: the benchmark allows a connected printer
    /// 40,000 bytes.
    const MAX_BYTES: usize = 24_000;

    fn bytes(history: &TemperatureHistory) -> usize {
        let row = |row: &SpanRow| row.spans.capacity() * size_of::<Extremes>();
        let series = |series: &Series| size_of::<Series>() + row(&series.fine) + row(&series.coarse);
        size_of::<TemperatureHistory>() + history.heaters.iter().flatten().map(|one| series(one)).sum::<usize>()
    }

    fn heaters_at(celsius: f64) -> Heaters {
        Heaters::of(Heat::new(Some(celsius), Some(210.0)), Heat::new(Some(60.0), None), Heat::default())
    }

    #[test]
    fn two_days_of_all_heaters_take_no_more_than_was_allowed() {
        let heat = Heat::new(Some(200.0), Some(210.0));
        let all = Heaters { tools: [heat; MAX_TOOLS], bed: heat, chamber: heat };
        let (mut whole, mut usual) = (TemperatureHistory::default(), TemperatureHistory::default());
        let three = Heaters { chamber: heat, ..Heaters::of(heat, heat, heat) };
        assert!(bytes(&whole) < 200);
        for second in (0..2 * 86_400).step_by(2) {
            whole.take(Timestamp(second * 1000), &all);
            usual.take(Timestamp(second * 1000), &three);
        }
        assert!(bytes(&whole) < MAX_BYTES, "{}", bytes(&whole));
        assert!(bytes(&usual) < 9_000, "{}", bytes(&usual));
        let now = Timestamp(2 * 86_400_000);
        let courses = whole.courses(Timestamp(0), now, 1_000);
        assert_eq!(courses.len(), MAX_HEATERS);
        assert!(courses.iter().all(|course| course.spans.len() == 288), "{courses:?}");
        let fine = usual.courses(Timestamp(now.0 - FINE_MS), now, 1_000);
        let names: Vec<&str> = fine.iter().map(|course| course.heater.as_str()).collect();
        assert_eq!(names, ["tool0", "bed", "chamber"]);
        assert!(fine.iter().all(|course| course.spans.len() >= 179), "{fine:?}");
    }

    #[test]
    fn a_gap_stays_a_gap_and_a_clock_that_is_set_back_begins_anew() {
        let mut history = TemperatureHistory::default();
        history.take(Timestamp(1_000_000), &heaters_at(200.0));
        history.take(Timestamp(1_600_000), &heaters_at(190.0));
        let courses = history.courses(Timestamp(900_000), Timestamp(1_600_000), 1_000);
        let tool: Vec<(i64, i16)> = courses[0].spans.iter().map(|span| (span.at.0, span.lowest)).collect();
        assert_eq!(tool, [(1_000_000, 2000), (1_600_000, 1900)]);
        assert_eq!((courses[0].spans[0].target, courses[1].spans[0].target), (Some(2100), None));
        assert_eq!(courses.len(), 2, "nothing is said of a chamber");
        history.take(Timestamp(1_599_000), &heaters_at(1.0));
        history.take(Timestamp(100_000), &heaters_at(20.0));
        let anew = history.courses(Timestamp(0), Timestamp(100_000), 10);
        assert_eq!(anew[0].spans.len(), 1);
        assert_eq!(anew[0].spans[0].highest, 200);
    }

    proptest! {
        #[test]
        fn no_peak_is_lost_however_few_points_are_asked_for(
            steps in prop::collection::vec((1_i64..400_000, -10.0..400.0_f64), 1..80), points in 1_usize..50,
        ) {
            let (mut history, mut at, mut all) = (TemperatureHistory::default(), 0, Vec::new());
            for (step, celsius) in steps {
                at += step;
                history.take(Timestamp(at), &heaters_at(celsius));
                all.push((at, (celsius * 10.0).round() as i16));
            }
            let courses = history.courses(Timestamp(0), Timestamp(at.max(FINE_MS + 1)), points);
            let tool = &courses[0].spans;
            prop_assert!(tool.len() <= points);
            prop_assert!(tool.is_sorted_by_key(|span| span.at));
            let recent = all.iter().filter(|(time, _)| *time > at - DAY_MS + COARSE_STEP_MS).map(|(_, heat)| *heat);
            let (lowest, highest) = (recent.clone().min(), recent.max());
            prop_assert!(tool.iter().map(|span| span.lowest).min() <= lowest);
            prop_assert!(tool.iter().map(|span| span.highest).max() >= highest);
        }
    }

    /// Returns the start, the lowest and the highest temperature of each span of the first tool.
    fn spans(history: &TemperatureHistory, since: i64, now: i64, points: usize) -> Vec<(i64, i16, i16)> {
        let courses = history.courses(Timestamp(since), Timestamp(now), points);
        courses[0].spans.iter().map(|span| (span.at.0, span.lowest, span.highest)).collect()
    }

    #[test]
    fn spans_are_joined_until_they_are_as_few_as_asked_for() {
        let mut history = TemperatureHistory::default();
        for (at, celsius) in [(0, 200.0), (5_000, 190.0), (10_000, 210.0), (30_000, 220.0)] {
            history.take(Timestamp(at), &heaters_at(celsius));
        }
        let [first, second, last] = [(0, 1900, 2000), (10_000, 2100, 2100), (30_000, 2200, 2200)];
        assert_eq!(spans(&history, 0, 30_000, 1_000), [first, second, last]);
        assert_eq!(spans(&history, 0, 30_000, 4), [first, second, last]);
        assert_eq!(spans(&history, 0, 30_000, 2), [(0, 1900, 2100), (20_000, 2200, 2200)]);
        assert_eq!(spans(&history, 0, 30_000, 1), [(0, 1900, 2200)]);
        assert_eq!(spans(&history, 0, 30_000, 0), [(0, 1900, 2200)]);
        assert_eq!(spans(&history, 15_000, 30_000, 9), [second, last]);
        assert_eq!(spans(&history, 20_000, 30_000, 9), [last]);
        assert_eq!(spans(&history, -20_000, 30_000, 9), [first, second, last]);
        assert_eq!(spans(&history, 0, FINE_MS, 9), [first, second, last], "half an hour is fine");
        assert_eq!(spans(&history, 0, FINE_MS + 1, 9), [(0, 1900, 2200)], "five minutes are one span");
    }

    #[test]
    fn the_oldest_spans_make_room_and_a_long_gap_begins_anew() {
        let mut history = TemperatureHistory::default();
        history.take(Timestamp(0), &heaters_at(200.0));
        history.take(Timestamp(FINE_MS - FINE_STEP_MS), &heaters_at(210.0));
        assert_eq!(spans(&history, 0, FINE_MS, 999), [(0, 2000, 2000), (1_790_000, 2100, 2100)]);
        history.take(Timestamp(FINE_MS), &heaters_at(220.0));
        assert_eq!(spans(&history, 0, FINE_MS, 999), [(1_790_000, 2100, 2100), (1_800_000, 2200, 2200)]);
        history.take(Timestamp(2 * FINE_MS), &heaters_at(230.0));
        assert_eq!(spans(&history, 2 * FINE_MS, 2 * FINE_MS, 999), [(3_600_000, 2300, 2300)]);
        assert_eq!(spans(&history, FINE_MS, 2 * FINE_MS, 999).len(), 1);
    }

    #[test]
    fn a_clock_that_is_set_back_by_less_than_five_minutes_is_waited_for() {
        let at = |set_back_ms: i64| {
            let mut history = TemperatureHistory::default();
            for (ms, celsius) in [(400_000, 200.0), (400_000 - set_back_ms, 210.0)] {
                history.take(Timestamp(ms), &heaters_at(celsius));
            }
            spans(&history, 0, 400_000, 9)
        };
        assert_eq!(at(COARSE_STEP_MS - 1), [(400_000, 2000, 2000)]);
        assert_eq!(at(COARSE_STEP_MS), [(100_000, 2100, 2100)]);
        assert_eq!(at(0), [(400_000, 2000, 2100)]);
    }
}
