//! Layers of a plate: the walls of the parts, and lines that fill each top.

use super::PlateLayout;

/// Distance between the parts and the bed's edges, in millimetres.
const BED_MARGIN_MM: f64 = 20.0;
/// Minimum distance between layers, and between the lines of a top, in millimetres.
const MIN_SPACING_MM: f64 = 0.45;
/// Number of lines across the longer side of a picture at which no gaps remain.
const LINES_PER_PICTURE: f64 = 320.0;
/// Height tolerance in millimetres.
const HEIGHT_TOLERANCE_MM: f64 = 1e-6;

/// X and Y of a point in millimetres.
pub(super) type BedPoint = (f64, f64);

/// Solid between two heights, with straight walls from the outlines of its foot to those of its head.
#[derive(Clone, Debug)]
pub(super) struct Slab {
    /// Closed outlines at the lower end; an outline within another is a hole.
    pub(super) foot: Vec<Vec<BedPoint>>,
    /// The same outlines, with as many points each, at the upper end.
    pub(super) head: Vec<Vec<BedPoint>>,
    /// Height of the lower end, in millimetres.
    pub(super) bottom: f64,
    /// Height of the upper end, in millimetres.
    pub(super) top: f64,
    /// Tool that prints the slab.
    pub(super) tool: u32,
}

impl Slab {
    /// Returns the outlines at a height.
    fn outlines(&self, height: f64) -> Vec<Vec<BedPoint>> {
        let share = ((height - self.bottom) / (self.top - self.bottom)).clamp(0.0, 1.0);
        let between =
            |(from, to): (&BedPoint, &BedPoint)| (from.0 + (to.0 - from.0) * share, from.1 + (to.1 - from.1) * share);
        self.foot.iter().zip(&self.head).map(|(foot, head)| foot.iter().zip(head).map(between).collect()).collect()
    }

    /// Returns the slab shifted by the given distances.
    fn shifted(&self, (x, y): BedPoint) -> Self {
        let shift = |outlines: &[Vec<BedPoint>]| -> Vec<Vec<BedPoint>> {
            outlines.iter().map(|outline| outline.iter().map(|point| (point.0 + x, point.1 + y)).collect()).collect()
        };
        Self { foot: shift(&self.foot), head: shift(&self.head), ..*self }
    }
}

/// Line of filament through two or more points.
#[derive(Debug)]
pub(super) struct FilamentLine {
    /// Tool that prints the line.
    pub(super) tool: u32,
    /// Points of the line, in the order in which they are printed.
    pub(super) points: Vec<BedPoint>,
}

/// Layer of a print.
#[derive(Debug)]
pub(super) struct PrintLayer {
    /// Nozzle height in millimetres.
    pub(super) height: f64,
    /// Lines in the order in which they are printed, sorted by tool.
    pub(super) lines: Vec<FilamentLine>,
}

/// Returns the layers of a plate, from the lowest to the highest. The part consists of the given slabs.
pub(super) fn layers(plate: &PlateLayout, part: &[Slab]) -> Vec<PrintLayer> {
    let slabs = slabs_on_bed(plate, part);
    let spacing = spacing(&slabs);
    let top = slabs.iter().map(|slab| slab.top).fold(0.0, f64::max);
    let count = (top / spacing).ceil().max(1.0) as u32;
    let layer_height = top / f64::from(count);
    let layer = |number: u32| {
        let height = layer_height * f64::from(number);
        let limit = height - HEIGHT_TOLERANCE_MM;
        let mut lines = Vec::new();
        for slab in slabs.iter().filter(|slab| slab.bottom < limit && limit < slab.top) {
            let outlines = slab.outlines(height);
            let line = |points: Vec<BedPoint>| FilamentLine { tool: slab.tool, points };
            lines.extend(outlines.iter().map(|outline| line(outline.iter().chain(outline.first()).copied().collect())));
            if limit + layer_height >= slab.top {
                lines.extend(filling(&outlines, spacing).into_iter().map(line));
            }
        }
        lines.sort_by_key(|line| line.tool);
        PrintLayer { height, lines }
    };
    (1..=count).map(layer).collect()
}

/// Returns the slabs of all copies of a part, each copy in its cell of a grid.
fn slabs_on_bed(plate: &PlateLayout, part: &[Slab]) -> Vec<Slab> {
    let columns = f64::from(plate.copies).sqrt().ceil().max(1.0) as u32;
    let rows = plate.copies.div_ceil(columns).max(1);
    let cell = (plate.area.0 / f64::from(columns), plate.area.1 / f64::from(rows));
    let copy = |number: u32| {
        let (column, row) = (f64::from(number % columns), f64::from(number / columns));
        let corner = (BED_MARGIN_MM + column * cell.0, BED_MARGIN_MM + row * cell.1);
        part.iter().map(move |slab| slab.shifted(corner))
    };
    (0..plate.copies).flat_map(copy).collect()
}

/// Returns the distance between layers, and between the lines of a top, at which an isometric picture has no gaps.
fn spacing(slabs: &[Slab]) -> f64 {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for (outlines, height) in slabs.iter().flat_map(|slab| [(&slab.foot, slab.bottom), (&slab.head, slab.top)]) {
        for (x, y) in outlines.iter().flatten() {
            let drawn = [(x + y) * 0.866, (y - x) * 0.5 + height];
            for ((low, high), value) in low.iter_mut().zip(&mut high).zip(drawn) {
                *low = low.min(value);
                *high = high.max(value);
            }
        }
    }
    let longer_side = low.iter().zip(high).map(|(low, high)| high - low).fold(0.0, f64::max);
    (longer_side / LINES_PER_PICTURE).max(MIN_SPACING_MM)
}

/// Returns lines along the X axis that fill the area within the outlines.
fn filling(outlines: &[Vec<BedPoint>], spacing: f64) -> Vec<Vec<BedPoint>> {
    let edges = || outlines.iter().flat_map(|outline| outline.iter().zip(outline.iter().cycle().skip(1)));
    let depths = || edges().map(|(from, _)| from.1);
    let (front, back) = (depths().fold(f64::INFINITY, f64::min), depths().fold(f64::NEG_INFINITY, f64::max));
    let rows = ((back - front) / spacing).max(0.0) as u32;
    let mut lines = Vec::new();
    for row in 0..=rows {
        let y = front + (f64::from(row) + 0.5) * spacing;
        let crossed = edges().filter(|(from, to)| (from.1 <= y) != (to.1 <= y));
        let mut crossings: Vec<f64> =
            crossed.map(|(from, to)| from.0 + (to.0 - from.0) * (y - from.1) / (to.1 - from.1)).collect();
        crossings.sort_by(f64::total_cmp);
        lines.extend(crossings.as_chunks::<2>().0.iter().map(|[from, to]| vec![(*from, y), (*to, y)]));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::PartShape;
    use super::super::parts::slabs;
    use super::*;

    #[test]
    fn a_square_with_a_hole_is_filled_beside_the_hole() {
        let square = |from: f64, to: f64| vec![(from, from), (to, from), (to, to), (from, to)];
        let lines = filling(&[square(0.0, 4.0), square(1.0, 3.0)], 1.0);
        let at = |y: f64| lines.iter().filter(|line| line.iter().all(|point| (point.1 - y).abs() < 0.01)).count();
        assert_eq!((at(0.5), at(1.5), at(2.5), at(3.5), lines.len()), (1, 2, 2, 1, 6));
    }

    #[test]
    fn each_copy_is_in_its_own_cell_of_the_area() {
        let copies = [(PartShape::CableClip, 6), (PartShape::Gear, 2), (PartShape::WallHook, 4)];
        let larger = [(PartShape::Planter, (280.0, 240.0)), (PartShape::HouseSign, (300.0, 200.0))];
        let plates = PartShape::ALL.iter().map(|shape| {
            let copies = copies.iter().find(|(of, _)| of == shape).map_or(1, |(_, copies)| *copies);
            let area = larger.iter().find(|(of, _)| of == shape).map_or((80.0, 60.0), |(_, area)| *area);
            PlateLayout { shape: *shape, copies, area }
        });
        for plate in plates {
            let slabs = slabs_on_bed(&plate, &slabs(plate.shape));
            let points = slabs.iter().flat_map(|slab| slab.foot.iter().chain(&slab.head)).flatten();
            let (width, depth) = (plate.area.0 + BED_MARGIN_MM, plate.area.1 + BED_MARGIN_MM);
            for (x, y) in points {
                assert!((BED_MARGIN_MM..=width).contains(x) && (BED_MARGIN_MM..=depth).contains(y), "{plate:?}");
            }
            let firsts = slabs.iter().filter_map(|slab| slab.foot.first()?.first());
            let mut places: Vec<String> = firsts.map(|point| format!("{point:?}")).collect();
            places.sort();
            places.dedup();
            assert!(places.len() >= plate.copies as usize, "{plate:?}");
        }
    }
}
