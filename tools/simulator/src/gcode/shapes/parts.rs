//! Slabs that make up each part, in millimetres from the front left corner of its place on the bed.
//!
//! Parts with a profile (clips, brackets, hooks) lie on their side, as they are printed to be strong.

use std::f64::consts::TAU;

use super::PartShape;
use super::layers::{BedPoint, Slab};

/// Number of points on a full circle.
const CIRCLE_POINTS: f64 = 16.0;
/// Number of gear teeth.
const TEETH: u32 = 16;
/// Outline of a gear tooth: pairs of a fraction of the tooth's angle and a radius in millimetres.
const TOOTH: [(f64, f64); 4] = [(0.0, 13.5), (0.2, 18.0), (0.45, 18.0), (0.65, 13.5)];
/// Digit 2 on a grid of 3 × 5 units.
const DIGIT_TWO: [(f64, f64); 12] = [
    (0.0, 0.0),
    (3.0, 0.0),
    (3.0, 1.0),
    (1.0, 1.0),
    (1.0, 2.0),
    (3.0, 2.0),
    (3.0, 5.0),
    (0.0, 5.0),
    (0.0, 4.0),
    (2.0, 4.0),
    (2.0, 3.0),
    (0.0, 3.0),
];
/// Digit 4 on a grid of 3 × 5 units.
const DIGIT_FOUR: [(f64, f64); 10] = [
    (2.0, 0.0),
    (3.0, 0.0),
    (3.0, 5.0),
    (2.0, 5.0),
    (2.0, 3.0),
    (1.0, 3.0),
    (1.0, 5.0),
    (0.0, 5.0),
    (0.0, 2.0),
    (2.0, 2.0),
];
/// Letter H on a grid of 3 × 5 units.
const LETTER_H: [(f64, f64); 12] = [
    (0.0, 0.0),
    (1.0, 0.0),
    (1.0, 2.0),
    (2.0, 2.0),
    (2.0, 0.0),
    (3.0, 0.0),
    (3.0, 5.0),
    (2.0, 5.0),
    (2.0, 3.0),
    (1.0, 3.0),
    (1.0, 5.0),
    (0.0, 5.0),
];

/// Returns the slabs of a part.
pub(super) fn slabs(shape: PartShape) -> Vec<Slab> {
    match shape {
        PartShape::CableClip => cable_clip(),
        PartShape::ShelfBracket => shelf_bracket(),
        PartShape::PhoneStand => phone_stand(),
        PartShape::Gear => gear(),
        PartShape::Planter => planter(),
        PartShape::HouseSign => house_sign(),
        PartShape::NameBadge => name_badge(),
        PartShape::WallHook => wall_hook(),
    }
}

/// Returns a slab with upright walls, printed with the first tool.
fn upright(outlines: Vec<Vec<BedPoint>>, bottom: f64, top: f64) -> Slab {
    Slab { foot: outlines.clone(), head: outlines, bottom, top, tool: 0 }
}

fn rectangle(from: BedPoint, to: BedPoint) -> Vec<BedPoint> {
    vec![from, (to.0, from.1), to, (from.0, to.1)]
}

/// Returns the point at an angle, in turns, around a centre.
fn around(centre: BedPoint, radius: f64, turns: f64) -> BedPoint {
    let (sin, cos) = (turns * TAU).sin_cos();
    (centre.0 + radius * cos, centre.1 + radius * sin)
}

/// Returns points of a circle from one angle to another, in turns.
fn arc(centre: BedPoint, radius: f64, from: f64, to: f64) -> Vec<BedPoint> {
    let steps = ((to - from).abs() * CIRCLE_POINTS).ceil().max(1.0);
    let turns = |step: u32| from + (to - from) * f64::from(step) / steps;
    (0..=steps as u32).map(|step| around(centre, radius, turns(step))).collect()
}

fn polygon(centre: BedPoint, radius: f64, sides: u32) -> Vec<BedPoint> {
    (0..sides).map(|side| around(centre, radius, f64::from(side) / f64::from(sides))).collect()
}

/// Scales a character on the 3 × 5 grid, and places it with its corner at the given point.
fn sign(points: &[BedPoint], corner: BedPoint, scale: f64) -> Vec<BedPoint> {
    points.iter().map(|(x, y)| (corner.0 + x * scale, corner.1 + y * scale)).collect()
}

fn cable_clip() -> Vec<Slab> {
    let centre = (13.0, 17.0);
    // Open at the top.
    let mut ring = arc(centre, 10.0, 0.33, 1.17);
    ring.extend(arc(centre, 6.5, 1.17, 0.33));
    vec![upright(vec![ring], 0.0, 7.0), upright(vec![rectangle((2.0, 3.0), (24.0, 7.5))], 0.0, 7.0)]
}

fn shelf_bracket() -> Vec<Slab> {
    let legs = vec![(0.0, 0.0), (76.0, 0.0), (76.0, 6.0), (64.0, 6.0), (6.0, 48.0), (6.0, 56.0), (0.0, 56.0)];
    let opening = vec![(6.0, 6.0), (53.0, 6.0), (6.0, 40.0)];
    vec![upright(vec![legs, opening], 0.0, 20.0)]
}

fn phone_stand() -> Vec<Slab> {
    vec![
        upright(vec![rectangle((0.0, 4.0), (76.0, 56.0))], 0.0, 5.0),
        upright(vec![rectangle((69.0, 4.0), (76.0, 56.0))], 5.0, 13.0),
        Slab {
            foot: vec![rectangle((38.0, 10.0), (46.0, 50.0))],
            head: vec![rectangle((24.0, 10.0), (30.0, 50.0))],
            bottom: 5.0,
            top: 40.0,
            tool: 0,
        },
    ]
}

fn gear() -> Vec<Slab> {
    let centre = (20.0, 30.0);
    let tooth =
        |tooth: u32| TOOTH.map(|(part, radius)| around(centre, radius, (f64::from(tooth) + part) / f64::from(TEETH)));
    let teeth = (0..TEETH).flat_map(tooth).collect();
    let bore = || polygon(centre, 4.0, 12);
    vec![upright(vec![teeth, bore()], 0.0, 8.0), upright(vec![polygon(centre, 8.0, 16), bore()], 8.0, 12.0)]
}

fn planter() -> Vec<Slab> {
    let circle = |radius: f64| polygon((140.0, 120.0), radius, 8);
    vec![
        upright(vec![circle(82.0)], 0.0, 6.0),
        Slab {
            foot: vec![circle(82.0), circle(76.0)],
            head: vec![circle(110.0), circle(104.0)],
            bottom: 0.0,
            top: 102.0,
            tool: 0,
        },
        upright(vec![circle(118.0), circle(104.0)], 100.0, 118.0),
    ]
}

fn house_sign() -> Vec<Slab> {
    let frame = vec![rectangle((0.0, 0.0), (300.0, 200.0)), rectangle((12.0, 12.0), (288.0, 188.0))];
    let digits = vec![sign(&DIGIT_TWO, (54.0, 35.0), 26.0), sign(&DIGIT_FOUR, (168.0, 35.0), 26.0)];
    let ground = vec![rectangle((0.0, 0.0), (300.0, 200.0))];
    vec![upright(ground, 0.0, 12.0), upright(frame, 12.0, 20.0), upright(digits, 12.0, 28.0)]
}

fn name_badge() -> Vec<Slab> {
    let ground = vec![
        vec![(4.0, 8.0), (76.0, 8.0), (80.0, 12.0), (80.0, 48.0), (76.0, 52.0), (4.0, 52.0), (0.0, 48.0), (0.0, 12.0)],
        // Hole for a cord.
        rectangle((32.0, 45.0), (48.0, 49.0)),
    ];
    let letters = vec![
        sign(&LETTER_H, (16.0, 14.0), 5.6),
        rectangle((44.0, 14.0), (49.6, 42.0)),
        rectangle((58.0, 14.0), (63.6, 19.6)),
        rectangle((58.0, 23.0), (63.6, 42.0)),
    ];
    vec![upright(ground, 0.0, 4.0), Slab { tool: 1, ..upright(letters, 4.0, 7.0) }]
}

fn wall_hook() -> Vec<Slab> {
    let centre = (27.0, 14.5);
    let mut profile = vec![(1.0, 25.5)];
    profile.extend(arc(centre, 11.0, 0.25, -0.25));
    profile.extend([(19.0, 3.5), (19.0, 8.0)]);
    profile.extend(arc(centre, 6.5, -0.25, 0.25));
    profile.push((1.0, 21.0));
    vec![upright(vec![profile], 0.0, 9.0)]
}
