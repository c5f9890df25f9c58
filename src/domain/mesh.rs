//! Measurement of models: the bounding box of a mesh and its enclosed volume, from STL (binary and text) and 3MF.
//!
//! A mesh is untrusted input, so everything about it is limited: numbers must be plausible lengths, and facets,
//! corners, parts, nesting and unpacked bytes have maximums. An STL file is streamed in constant memory; for 3MF, the
//! corners are held in memory. The mesh is not repaired, and slicer behaviour is not considered.

mod stl;
#[cfg(test)]
mod tests;
mod three_mf;
mod xml;

use std::io::{self, Read, Seek};

use crate::bounds::MAX_LENGTH_MM;
use crate::gcode::ContentType;
use crate::sku::Dimensions;

/// Number of bytes per read; the caller may cancel between two reads.
const CHUNK_BYTES: usize = 64 * 1024;
/// Maximum number of facets per mesh, across all its parts.
const MAX_FACETS: u64 = 50_000_000;
/// Largest supported volume, in cubic millimetres: ten cubic metres. It keeps price calculations from overflowing.
const MAX_VOLUME_MM3: f64 = 1e10;

/// Measurements of a mesh.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeshFacts {
    /// Bounding box in millimetres, to the nearest micrometre.
    pub size: Dimensions,
    /// Enclosed volume in cubic millimetres, at least 1.
    pub volume_mm3: i64,
    /// Number of facets.
    pub facets: u64,
}

/// Reason why a model cannot be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshFault {
    /// The file is not in a supported mesh format.
    #[error("is neither an STL nor a 3MF file")]
    NotAMesh,
    /// The file is truncated, or its content is not a mesh.
    #[error("is damaged: export it again")]
    Damaged,
    /// A coordinate is not a number, or is far beyond the range of any machine.
    #[error("has coordinates that are not valid numbers")]
    NoLength,
    /// The mesh has more facets, corners, parts or levels than any print needs.
    #[error("has too many facets or parts")]
    TooLarge,
    /// The surface does not enclose a volume: it is open, turned inside out, or flat.
    #[error("does not enclose a volume; its surface is open or flat")]
    Empty,
}

/// Reason why measuring ended without a result.
#[derive(Debug)]
pub enum MeasureError {
    /// The model is invalid.
    Fault(MeshFault),
    /// Reading the file failed.
    Io(io::Error),
}

impl From<MeshFault> for MeasureError {
    fn from(fault: MeshFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<io::Error> for MeasureError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // What an unpacker says of a damaged archive.
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof => {
                Self::Fault(MeshFault::Damaged)
            }
            _ => Self::Io(error),
        }
    }
}

/// Measures a model. `may_go_on` is called after each chunk; if it returns `false`, measuring ends with a timeout
/// error.
///
/// # Errors
///
/// Returns an error if the file is not a mesh, is damaged, exceeds a limit, or cannot be read.
pub fn measure(
    file: impl Read + Seek,
    content: ContentType,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Result<MeshFacts, MeasureError> {
    match content {
        ContentType::BinaryStl => stl::binary(file, may_go_on),
        ContentType::AsciiStl => stl::text(file, may_go_on),
        ContentType::ThreeMf => three_mf::measure(file, may_go_on),
        _ => Err(MeshFault::NotAMesh.into()),
    }
}

fn timed_out() -> MeasureError {
    MeasureError::Io(io::Error::new(io::ErrorKind::TimedOut, "reading the model takes too long"))
}

/// Corner coordinates in millimetres.
type Corner = [f64; 3];

/// Returns the corner if its coordinates are plausible lengths, otherwise the error.
fn checked(corner: Corner) -> Result<Corner, MeshFault> {
    // Written so that what is no number is refused too.
    if corner.iter().all(|one| one.abs() <= MAX_LENGTH_MM) { Ok(corner) } else { Err(MeshFault::NoLength) }
}

/// Returns six times the signed volume of the tetrahedron that a facet forms with the origin.
fn six_volumes([a, b, c]: [Corner; 3]) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])
}

/// Bounding box and volume, accumulated facet by facet.
#[derive(Clone, Copy, Debug)]
struct Solid {
    least: Corner,
    most: Corner,
    /// First corner. Volumes are measured relative to it, so that small parts far from the origin are measured
    /// accurately.
    origin: Option<Corner>,
    six_volumes: f64,
    facets: u64,
}

impl Solid {
    const fn new() -> Self {
        let (least, most) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        Self { least, most, origin: None, six_volumes: 0.0, facets: 0 }
    }

    fn facet(&mut self, corners: [Corner; 3]) -> Result<(), MeshFault> {
        let origin = *self.origin.get_or_insert(corners[0]);
        self.facets += 1;
        if self.facets > MAX_FACETS {
            return Err(MeshFault::TooLarge);
        }
        for corner in corners {
            self.reach(checked(corner)?);
        }
        let from = |corner: Corner| [corner[0] - origin[0], corner[1] - origin[1], corner[2] - origin[2]];
        self.six_volumes += six_volumes(corners.map(from));
        Ok(())
    }

    fn reach(&mut self, corner: Corner) {
        for (axis, at) in corner.into_iter().enumerate() {
            self.least[axis] = self.least[axis].min(at);
            self.most[axis] = self.most[axis].max(at);
        }
    }

    fn facts(&self) -> Result<MeshFacts, MeshFault> {
        let volume = (self.six_volumes / 6.0).abs();
        let length = |axis: usize| crate::bounds::length_mm(self.most[axis] - self.least[axis]);
        let size = (length(0), length(1), length(2));
        let (Some(x), Some(y), Some(z)) = size else { return Err(MeshFault::Empty) };
        // A volume that is no number fails the comparison.
        if !(volume > 1e-6 && volume <= MAX_VOLUME_MM3) {
            return Err(if volume > MAX_VOLUME_MM3 { MeshFault::TooLarge } else { MeshFault::Empty });
        }
        Ok(MeshFacts { size: Dimensions { x, y, z }, volume_mm3: (volume.round() as i64).max(1), facets: self.facets })
    }
}
