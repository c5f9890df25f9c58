//! Measures models: the box that a mesh fills and the volume that it encloses, from STL (binary and text) and 3MF.
//!
//! A mesh may come from anybody, so everything of it is bounded: numbers must be lengths, and facets, corners, parts,
//! nesting and unpacked bytes have limits. An STL streams by and costs no memory; of a 3MF the corners are held.
//! Nothing is repaired, and what a slicer would make of it is not known here.

mod stl;
#[cfg(test)]
mod tests;
mod three_mf;
mod xml;

use std::io::{self, Read, Seek};

use crate::domain::bounds::MAX_LENGTH_MM;
use crate::domain::gcode::Content;
use crate::domain::sku::Dimensions;

/// Bytes that are read at a time; between two of them the caller may end the reading.
const CHUNK_BYTES: usize = 64 * 1024;
/// Most facets of a mesh, in all its parts together.
const MAX_FACETS: u64 = 50_000_000;
/// Largest volume in cubic millimetres: ten cubic metres. Prices of it are no sums that overflow.
const MAX_VOLUME_MM3: f64 = 1e10;

/// What a mesh measures.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MeshFacts {
    /// The box that it fills, in millimetres, to the micrometre.
    pub size: Dimensions,
    /// What it encloses, in cubic millimetres, at least 1.
    pub volume_mm3: i64,
    /// Number of its facets.
    pub facets: u64,
}

/// Why a model cannot be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshFault {
    /// The file is of another kind.
    #[error("is no STL and no 3MF")]
    NotAMesh,
    /// The file ends early, or says something that is no mesh.
    #[error("is damaged: export it again")]
    Damaged,
    /// A coordinate is no number, or far outside any machine.
    #[error("has coordinates that are no lengths")]
    NoLength,
    /// It has more facets, corners, parts or levels than any print needs.
    #[error("has too many facets or parts")]
    TooLarge,
    /// Its surface is open or turned inside out so that nothing is enclosed, or it is flat.
    #[error("encloses no volume: its surface is open or flat")]
    Empty,
}

/// Why measuring ended without a result.
#[derive(Debug)]
pub enum MeasureError {
    /// The model is at fault.
    Fault(MeshFault),
    /// The disk is.
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

/// Measures a model. `may_go_on` is asked after each chunk; when it says no, this ends as a time-out.
///
/// # Errors
///
/// When it is no mesh, a damaged or a boundless one, or cannot be read.
pub fn measure(
    file: impl Read + Seek,
    content: Content,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Result<MeshFacts, MeasureError> {
    match content {
        Content::BinaryStl => stl::binary(file, may_go_on),
        Content::AsciiStl => stl::text(file, may_go_on),
        Content::ThreeMf => three_mf::measure(file, may_go_on),
        _ => Err(MeshFault::NotAMesh.into()),
    }
}

fn timed_out() -> MeasureError {
    MeasureError::Io(io::Error::new(io::ErrorKind::TimedOut, "the model takes too long to read"))
}

/// A corner in millimetres.
type Corner = [f64; 3];

/// A corner whose coordinates are lengths, or the fault.
fn checked(corner: Corner) -> Result<Corner, MeshFault> {
    // Written so that what is no number is refused too.
    if corner.iter().all(|one| one.abs() <= MAX_LENGTH_MM) { Ok(corner) } else { Err(MeshFault::NoLength) }
}

/// Six times the signed volume of the tetrahedron that a facet makes with the origin.
fn six_volumes([a, b, c]: [Corner; 3]) -> f64 {
    a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])
}

/// A box and a volume that grow with each facet.
#[derive(Clone, Copy, Debug)]
struct Solid {
    least: Corner,
    most: Corner,
    /// The first corner: volumes are measured from there, so that a small part far from the origin stays exact.
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
        let length = |axis: usize| crate::domain::bounds::length_mm(self.most[axis] - self.least[axis]);
        let size = (length(0), length(1), length(2));
        let (Some(x), Some(y), Some(z)) = size else { return Err(MeshFault::Empty) };
        // A volume that is no number fails the comparison.
        if !(volume > 1e-6 && volume <= MAX_VOLUME_MM3) {
            return Err(if volume > MAX_VOLUME_MM3 { MeshFault::TooLarge } else { MeshFault::Empty });
        }
        Ok(MeshFacts { size: Dimensions { x, y, z }, volume_mm3: (volume.round() as i64).max(1), facets: self.facets })
    }
}
