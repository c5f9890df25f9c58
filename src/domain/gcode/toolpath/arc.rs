//! Arcs (G2, G3) in the XY plane, divided into straight moves.

use std::f64::consts::TAU;

/// Length of the straight moves that approximate an arc, in millimetres.
const STEP_MM: f64 = 1.0;
/// Maximum number of straight moves that approximate an arc.
const MAX_STEPS: f64 = 64.0;
/// Largest radius that is approximated, in millimetres; a larger arc is drawn as a straight move.
const MAX_RADIUS_MM: f64 = 10_000.0;
/// Shortest length that is not treated as zero, in millimetres.
const SHORTEST_MM: f64 = 1e-6;

/// Words of a line that define the centre of an arc (`I`, `J`) or its radius (`R`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArcShape {
    centre: [Option<f64>; 2],
    radius: Option<f64>,
}

impl ArcShape {
    pub(super) fn take(&mut self, letter: u8, value: f64) {
        match letter {
            b'I' => self.centre[0] = Some(value),
            b'J' => self.centre[1] = Some(value),
            b'R' => self.radius = Some(value),
            _ => {}
        }
    }

    /// Returns the points between the ends of the arc; empty if the arc cannot be approximated.
    pub(super) fn points(&self, from: [f64; 3], to: [f64; 3], clockwise: bool) -> Vec<[f64; 3]> {
        let Some(offset) = self.offset([to[0] - from[0], to[1] - from[1]], clockwise) else { return Vec::new() };
        let radius = offset[0].hypot(offset[1]);
        if !(SHORTEST_MM..=MAX_RADIUS_MM).contains(&radius) {
            return Vec::new();
        }
        let centre = [from[0] + offset[0], from[1] + offset[1]];
        let angle = |at: [f64; 3]| (at[1] - centre[1]).atan2(at[0] - centre[0]);
        let begin = angle(from);
        let turn = if clockwise { begin - angle(to) } else { angle(to) - begin }.rem_euclid(TAU);
        // An arc that ends where it begins is a whole circle.
        let turn = if turn < SHORTEST_MM { TAU } else { turn };
        let steps = (turn * radius / STEP_MM).ceil().clamp(1.0, MAX_STEPS);
        let point = |step: u32| {
            let share = f64::from(step) / steps;
            let at = if clockwise { begin - turn * share } else { begin + turn * share };
            [centre[0] + radius * at.cos(), centre[1] + radius * at.sin(), from[2] + (to[2] - from[2]) * share]
        };
        (1..steps as u32).map(point).collect()
    }

    /// Returns the centre relative to the start of the arc; `None` if the words do not define one.
    fn offset(&self, [across, along]: [f64; 2], clockwise: bool) -> Option<[f64; 2]> {
        let Some(radius) = self.radius else {
            let is_given = self.centre.iter().any(Option::is_some);
            return is_given.then(|| self.centre.map(Option::unwrap_or_default));
        };
        let length = across.hypot(along);
        let square = (radius - length / 2.0) * (radius + length / 2.0);
        if length < SHORTEST_MM || square < 0.0 {
            return None;
        }
        let side = if clockwise ^ (radius < 0.0) { -1.0 } else { 1.0 };
        let height = side * square.sqrt() / length;
        Some([across / 2.0 - along * height, along / 2.0 + across * height])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[(u8, f64)], to: [f64; 2], clockwise: bool) -> Vec<[f64; 3]> {
        let mut shape = ArcShape::default();
        words.iter().for_each(|(letter, value)| shape.take(*letter, *value));
        shape.points([0.0; 3], [to[0], to[1], 0.0], clockwise)
    }

    #[test]
    fn both_forms_of_an_arc_stay_on_its_circle() {
        // Half a circle around (5, 0), above the line from its beginning to its end.
        for words in [&[(b'I', 5.0)][..], &[(b'R', 5.0)]] {
            let points = of(words, [10.0, 0.0], true);
            assert_eq!(points.len(), 15, "{points:?}");
            assert!(points.iter().all(|[x, y, _]| ((x - 5.0).hypot(*y) - 5.0).abs() < 1e-9 && *y > 0.0), "{points:?}");
            assert!(of(words, [10.0, 0.0], false).iter().all(|[_, y, _]| *y < 0.0));
        }
    }

    /// Returns whether all points are on the circle around this centre.
    fn are_around(points: &[[f64; 3]], centre: [f64; 2], radius: f64) -> bool {
        points.iter().all(|[x, y, _]| ((x - centre[0]).hypot(y - centre[1]) - radius).abs() < 1e-9)
    }

    #[test]
    fn an_arc_rises_evenly_around_its_centre() {
        // Half a circle around (4, 6).
        for (clockwise, middle) in [(true, [0.0, 9.0]), (false, [8.0, 3.0])] {
            let mut shape = ArcShape::default();
            shape.take(b'I', 3.0);
            shape.take(b'J', 4.0);
            let points = shape.points([1.0, 2.0, 3.0], [7.0, 10.0, 5.0], clockwise);
            assert!(points.len() == 15 && are_around(&points, [4.0, 6.0], 5.0), "{points:?}");
            let [x, y, z] = points[7];
            assert!(
                (x - middle[0]).abs() < 1e-9 && (y - middle[1]).abs() < 1e-9 && (z - 4.0).abs() < 1e-9,
                "{points:?}"
            );
            assert!(points.windows(2).all(|pair| (pair[1][2] - pair[0][2] - 0.125).abs() < 1e-9), "{points:?}");
        }
    }

    #[test]
    fn a_radius_below_zero_goes_the_long_way() {
        for (radius, clockwise, centre, count) in [
            (5.0, true, [5.0, 0.0], 7),
            (5.0, false, [0.0, 5.0], 7),
            (-5.0, true, [0.0, 5.0], 23),
            (-5.0, false, [5.0, 0.0], 23),
        ] {
            let points = of(&[(b'R', radius)], [5.0, 5.0], clockwise);
            assert!(points.len() == count && are_around(&points, centre, 5.0), "{radius} {clockwise}: {points:?}");
        }
    }

    #[test]
    fn an_arc_to_its_own_beginning_is_a_circle_and_a_wrong_one_is_straight() {
        assert_eq!(of(&[(b'I', 5.0)], [0.0; 2], true).len(), 31);
        assert_eq!(of(&[(b'R', 2.0)], [10.0, 0.0], true), Vec::<[f64; 3]>::new());
        assert_eq!(of(&[(b'I', 1e9)], [10.0, 0.0], true), Vec::<[f64; 3]>::new());
        assert_eq!(of(&[], [10.0, 0.0], true), Vec::<[f64; 3]>::new());
        assert_eq!(of(&[(b'J', 5_000.0)], [10.0, 5.0], true).len(), 63, "the number of moves is bounded");
    }
}
