//! Draws the moves of a print as an isometric picture: a PNG with a transparent background. The same moves and colour
//! always yield the same bytes.
//!
//! Moves are drawn at twice the size into a relief, which holds the height of the uppermost move at each pixel. Because
//! the view is from above, the higher of two moves at a pixel is the nearer one. Steep parts of the relief are walls,
//! shaded by their direction; flat parts are lit from above.

use super::DrawError;
use domain::gcode::{PathSegment, Toolpath};

/// Width and height of the picture in pixels.
const PICTURE_SIDE: u32 = 256;
/// Number of relief pixels per picture pixel, in each direction.
const SAMPLES_ACROSS: usize = 2;
/// Width and height of the relief in pixels.
const RELIEF_SIDE: usize = PICTURE_SIDE as usize * SAMPLES_ACROSS;
/// Margin around the part, in relief pixels.
const MARGIN_PIXELS: f32 = 20.0;
/// Width, in millimetres, at which a line of filament is drawn. It is wider than the printed line, so that there are no
/// gaps between adjacent lines.
const LINE_MM: f32 = 0.6;
/// Minimum and maximum width of a drawn line, in relief pixels.
const LINE_PIXELS: (f32, f32) = (2.0, 16.0);
/// Cosine of 30°, the horizontal scale of the projected X and Y axes.
const ACROSS_SHARE: f32 = 0.866;
/// Sine of 30°, the vertical scale of the projected X and Y axes.
const UPWARD_SHARE: f32 = 0.5;
/// Number of moves drawn between two checks of the time limit.
const MOVES_PER_CHECK: usize = 1024;
/// Brightness of a wall that faces the viewer.
const WALL_TONE: f32 = 0.72;

/// Isometric view from the front right corner of the bed.
#[derive(Clone, Copy, Debug)]
struct IsometricView {
    scale: f32,
    left: f32,
    top: f32,
    line_width: usize,
}

/// Projects a 3D point onto the drawing; returns its offsets right and up, in millimetres.
fn project([x, y, z]: [f32; 3]) -> [f32; 2] {
    [(x + y) * ACROSS_SHARE, (y - x) * UPWARD_SHARE + z]
}

impl IsometricView {
    /// Creates a view that fits the moves into the picture.
    fn of(path: &Toolpath) -> Self {
        let (mut low, mut high) = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        for point in path.segments().iter().flat_map(|one| [one.from, one.to]).map(project) {
            for (axis, value) in point.into_iter().enumerate() {
                low[axis] = low[axis].min(value);
                high[axis] = high[axis].max(value);
            }
        }
        let (width, height) = (high[0] - low[0], high[1] - low[1]);
        let room = RELIEF_SIDE as f32 - 2.0 * MARGIN_PIXELS;
        let scale = room / width.max(height).max(LINE_MM);
        let line_width = (LINE_MM * scale).round().clamp(LINE_PIXELS.0, LINE_PIXELS.1) as usize;
        let left = (RELIEF_SIDE as f32 - width * scale) / 2.0 - low[0] * scale;
        let top = (RELIEF_SIDE as f32 - height * scale) / 2.0 + high[1] * scale;
        Self { scale, left, top, line_width }
    }

    /// Returns the relief pixel at which a position is drawn.
    fn pixel(&self, position: [f32; 3]) -> [f32; 2] {
        let [right, up] = project(position);
        [self.left + right * self.scale, self.top - up * self.scale]
    }
}

/// Height of the uppermost move at each pixel, and its brightness as a wall.
#[derive(Debug)]
struct Relief {
    height: Vec<f32>,
    tone: Vec<f32>,
}

impl Relief {
    fn new() -> Self {
        Self { height: vec![f32::NEG_INFINITY; RELIEF_SIDE * RELIEF_SIDE], tone: vec![0.0; RELIEF_SIDE * RELIEF_SIDE] }
    }

    /// Draws a move. The number of pixels is bounded by the size of the relief and the width of a line.
    fn draw(&mut self, view: &IsometricView, segment: &PathSegment) {
        let ([x0, y0], [x1, y1]) = (view.pixel(segment.from), view.pixel(segment.to));
        let is_flat = (x1 - x0).abs() >= (y1 - y0).abs();
        // Steps are shorter than a pixel, so that rounding passes over none.
        let steps = ((x1 - x0).abs().max((y1 - y0).abs()).ceil() + 1.0).clamp(1.0, RELIEF_SIDE as f32);
        let tone = wall_tone(segment);
        let half = (view.line_width / 2) as f32;
        for step in 0..=steps as usize {
            let share = step as f32 / steps;
            let height = segment.from[2] + (segment.to[2] - segment.from[2]) * share;
            let (across, down) = (x0 + (x1 - x0) * share, y0 + (y1 - y0) * share);
            for beside in 0..view.line_width {
                let beside = beside as f32 - half;
                let (across, down) = if is_flat { (across, down + beside) } else { (across + beside, down) };
                self.set(across, down, height, tone);
            }
        }
    }

    fn set(&mut self, across: f32, down: f32, height: f32, tone: f32) {
        // A number below zero or beyond the range becomes its limit.
        let (column, row) = (across as usize, down as usize);
        if column >= RELIEF_SIDE || row >= RELIEF_SIDE {
            return;
        }
        let at = row * RELIEF_SIDE + column;
        if let (Some(of_height), Some(of_tone)) = (self.height.get_mut(at), self.tone.get_mut(at))
            && height >= *of_height
        {
            (*of_height, *of_tone) = (height, tone);
        }
    }

    /// Returns the height at a pixel; `None` if nothing is drawn there.
    fn height(&self, column: usize, row: usize) -> Option<f32> {
        let is_inside = column < RELIEF_SIDE && row < RELIEF_SIDE;
        is_inside.then(|| self.height.get(row * RELIEF_SIDE + column).copied())?.filter(|height| height.is_finite())
    }

    /// Returns the brightness of a pixel; `None` if nothing is drawn there.
    fn brightness(&self, view: &IsometricView, top: f32, column: usize, row: usize) -> Option<f32> {
        let height = self.height(column, row)?;
        let reach = view.line_width.max(4);
        let above = row.checked_sub(reach).and_then(|row| self.height(column, row));
        let below = self.height(column, row + reach);
        let rows = (usize::from(above.is_some()) + usize::from(below.is_some())) * reach;
        let rise = (above.unwrap_or(height) - below.unwrap_or(height)) * view.scale;
        // 0 on a flat surface, 1 on a wall, whose height grows as fast as the picture's.
        let slope = if rows == 0 { 0.5 } else { (rise / rows as f32).clamp(0.0, 1.0) };
        let tone = self.tone.get(row * RELIEF_SIDE + column).copied().unwrap_or(WALL_TONE);
        let flat = 1.0 + 0.4 * (tone - WALL_TONE);
        let of_height = if top > 0.0 { (height / top).clamp(0.0, 1.0) } else { 1.0 };
        Some((flat * (1.0 - slope) + tone * slope) * (0.86 + 0.14 * of_height))
    }
}

/// Returns the brightness of the wall along a move: the side that the viewer sees is darker the further it faces to the
/// right.
fn wall_tone(PathSegment { from, to }: &PathSegment) -> f32 {
    let (x, y) = (to[0] - from[0], to[1] - from[1]);
    let length = x.hypot(y).max(f32::EPSILON);
    let normal = [y / length, -x / length];
    // The viewer stands in the direction of X and against that of Y.
    let side = if normal[0] - normal[1] < 0.0 { -1.0 } else { 1.0 };
    WALL_TONE - 0.12 * side * (normal[0] + normal[1])
}

/// Draws the moves in the given colour, as a PNG.
///
/// # Errors
///
/// Fails if `may_go_on` stops the drawing, or the picture cannot be encoded.
pub(super) fn draw(path: &Toolpath, color: [u8; 3], may_go_on: &mut dyn FnMut() -> bool) -> Result<Vec<u8>, DrawError> {
    let (view, mut relief) = (IsometricView::of(path), Relief::new());
    for some in path.segments().chunks(MOVES_PER_CHECK) {
        if !may_go_on() {
            return Err(DrawError::Cancelled);
        }
        some.iter().for_each(|segment| relief.draw(&view, segment));
    }
    Ok(encode(&pixels(&relief, &view, color))?)
}

/// Returns the picture's pixels, each as red, green, blue and opacity.
fn pixels(relief: &Relief, view: &IsometricView, color: [u8; 3]) -> Vec<u8> {
    // Black and white keep room for their shades.
    let color = color.map(|part| 44.0 + f32::from(part) * 190.0 / 255.0);
    let top = relief.height.iter().copied().filter(|height| height.is_finite()).fold(0.0, f32::max);
    let side = PICTURE_SIDE as usize;
    let mut pixels = Vec::with_capacity(side * side * 4);
    for at in 0..side * side {
        let (column, row) = (at % side * SAMPLES_ACROSS, at / side * SAMPLES_ACROSS);
        let (mut sum, mut count) = (0.0, 0_usize);
        for part in 0..SAMPLES_ACROSS * SAMPLES_ACROSS {
            let (column, row) = (column + part % SAMPLES_ACROSS, row + part / SAMPLES_ACROSS);
            if let Some(brightness) = relief.brightness(view, top, column, row) {
                sum += brightness;
                count += 1;
            }
        }
        let brightness = sum / count.max(1) as f32;
        pixels.extend(color.map(|part| (part * brightness).clamp(0.0, 255.0) as u8));
        pixels.push((count * 255 / (SAMPLES_ACROSS * SAMPLES_ACROSS)) as u8);
    }
    pixels
}

fn encode(pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, PICTURE_SIDE, PICTURE_SIDE);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::collections::HashSet;
    use std::fmt::Write as _;

    use super::super::NEUTRAL;
    use super::*;
    use domain::gcode::ToolpathReader;

    /// Moves of a cube of 10 mm, with walls and filled layers.
    fn cube() -> Toolpath {
        let mut text = "M83\n".to_owned();
        for layer in 1..=20 {
            let height = f64::from(layer) * 0.5;
            write!(text, "G0 X0 Y0 Z{height}\nG1 X10 E1\nG1 Y10 E1\nG1 X0 E1\nG1 Y0 E1\n").unwrap();
            for line in 1..25 {
                let at = f64::from(line) * 0.4;
                write!(text, "G0 X{at} Y0.5\nG1 X{at} Y9.5 E1\n").unwrap();
            }
        }
        let mut reader = ToolpathReader::default();
        reader.push(text.as_bytes());
        reader.finish()
    }

    /// Returns a picture's pixels: red, green, blue and opacity each.
    fn decoded(png: &[u8]) -> Vec<[u8; 4]> {
        let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        assert_eq!((info.width, info.height, info.color_type), (256, 256, png::ColorType::Rgba));
        pixels.as_chunks::<4>().0.to_vec()
    }

    #[test]
    fn a_cube_has_three_sides_on_a_clear_background() {
        let path = cube();
        let png = draw(&path, [200, 40, 40], &mut || true).unwrap();
        assert_eq!(draw(&path, [200, 40, 40], &mut || true).unwrap(), png, "the same moves, the same bytes");
        let pixels = decoded(&png);
        let at = |column: usize, row: usize| pixels[row * 256 + column];
        assert!([at(0, 0), at(255, 0), at(0, 255), at(255, 255)].iter().all(|[.., opacity]| *opacity == 0));
        // Below the middle are the walls, above it is the top.
        let (top, left, right) = (at(128, 70), at(80, 160), at(176, 160));
        assert!([top, left, right].iter().all(|[red, green, _, opacity]| *opacity == 255 && red > green));
        assert!(top[0] > left[0] && left[0] > right[0], "{top:?} {left:?} {right:?}");
        let colors: HashSet<[u8; 4]> = pixels.into_iter().collect();
        assert!(colors.len() > 8, "{}", colors.len());
    }

    #[test]
    fn a_wall_has_no_holes() {
        let mut reader = ToolpathReader::default();
        reader.push(b"M83\nG0 X10 Y10\n");
        for layer in 1..=20 {
            let height = f64::from(layer) * 0.2;
            reader.push(format!("G0 Z{height}\nG1 X40 E1\nG1 Y40 E1\nG1 X10 E1\nG1 Y10 E1\n").as_bytes());
        }
        let pixels = decoded(&draw(&reader.finish(), NEUTRAL, &mut || true).unwrap());
        let rows: Vec<&[[u8; 4]]> = pixels.chunks(256).collect();
        let opaque = |column: usize| rows.iter().filter(|row| row[column][3] == 255).count();
        let thinnest = (14..242).map(opaque).min();
        assert!(thinnest > Some(10), "{thinnest:?}");
    }

    #[test]
    fn another_color_is_another_picture_and_a_drawing_can_be_ended() {
        let path = cube();
        let of = |color: [u8; 3]| draw(&path, color, &mut || true).unwrap();
        assert_ne!(of([0, 0, 0]), of([255, 255, 255]));
        assert!(matches!(draw(&path, [0, 0, 0], &mut || false), Err(DrawError::Cancelled)));
    }
}
