//! 3MF: a zip archive with meshes and their placement. An object is either a mesh or composed of further objects, which
//! may be in different files of the archive; the model lists the objects to build.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};

use zip::ZipArchive;

use super::xml::{XmlTag, tags};
use super::{Corner, MAX_FACETS, MeasureError, MeshFacts, MeshFault, Solid, checked, six_volumes};
use crate::gcode::open_archive;

/// Path of the root model. The package's relationships could name a different path, but no known program does so.
const ROOT: &str = "3d/3dmodel.model";
/// Maximum total of unpacked bytes across all models in a package. Tests unpack without optimisation, so their limit is
/// lower.
const MAX_UNPACKED_BYTES: u64 = if cfg!(test) { 8 << 20 } else { 512 << 20 };
/// Maximum number of corners across all meshes; each takes 12 bytes.
const MAX_CORNERS: usize = 5_000_000;
/// Maximum number of objects and, separately, of build items.
const MAX_PARTS: usize = 10_000;
/// Maximum nesting depth of objects.
const MAX_LEVELS: usize = 16;
/// Maximum number of visited corners, counting each object once per placement.
const MAX_PLACED_CORNERS: usize = 50_000_000;
/// Maximum number of final placements, counting nested objects once per placement of their parent. A full plate has a
/// few hundred; without the limit, objects that each contain two copies of the next could reach millions of placements.
const MAX_PLACEMENTS: usize = MAX_PARTS;
/// Number of corners between two checks of whether the caller has cancelled.
const CORNERS_BETWEEN_QUESTIONS: usize = 64 * 1024;
/// Maximum number of model files in a package.
const MAX_FILES: usize = 256;

/// Placement of an object: three rows of rotation and scale, and one of translation.
type Transform = [f64; 12];

const UNMOVED: Transform = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];

/// File and number of an object.
type ObjectKey = (String, u32);

/// Object with its placement.
#[derive(Clone, Debug)]
struct PlacedObject {
    object: ObjectKey,
    transform: Transform,
}

/// Mesh of an object, and the objects that it is composed of.
#[derive(Default, Debug)]
struct Object {
    /// Corners in millimetres, stored in single precision, as in most programs.
    corners: Vec<[f32; 3]>,
    six_volumes: f64,
    facets: u64,
    parts: Vec<PlacedObject>,
    /// `true` for support structures and similar objects, which are not part of the model.
    is_support: bool,
}

/// Parsed content of a package.
#[derive(Default, Debug)]
struct Package {
    objects: BTreeMap<ObjectKey, Object>,
    build: Vec<PlacedObject>,
    corners: usize,
    facets: u64,
    places: usize,
}

/// Measures a package.
pub(super) fn measure(file: impl Read + Seek, may_go_on: &mut dyn FnMut() -> bool) -> Result<MeshFacts, MeasureError> {
    let mut archive = open_archive(file).map_err(|_| MeshFault::Damaged)?;
    let (mut package, mut left) = (Package::default(), MAX_UNPACKED_BYTES);
    let (mut waiting, mut visited) = (vec![ROOT.to_owned()], BTreeSet::from([ROOT.to_owned()]));
    while let Some(path) = waiting.pop() {
        left = read(&mut archive, &path, &mut package, left, may_go_on)?;
        let named = package.objects.values().flat_map(|object| &object.parts).chain(&package.build);
        let new: BTreeSet<String> =
            named.map(|one| &one.object.0).filter(|path| !visited.contains(*path)).cloned().collect();
        if visited.len() + new.len() > MAX_FILES {
            return Err(MeshFault::TooLarge.into());
        }
        visited.extend(new.iter().cloned());
        waiting.extend(new);
    }
    let mut assembly = Assembly { package: &package, solid: Solid::new(), placements: 0, corners: 0, may_go_on };
    for one in &package.build {
        assembly.place(one, &UNMOVED, 0)?;
    }
    Ok(assembly.solid.facts()?)
}

/// Reads a file in the package, and returns the number of bytes that may still be unpacked.
fn read(
    archive: &mut ZipArchive<impl Read + Seek>,
    path: &str,
    package: &mut Package,
    left: u64,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Result<u64, MeasureError> {
    let name = {
        let mut names = archive.file_names().filter_map(Result::ok);
        names.find(|name| normal(name) == path).map(std::borrow::Cow::into_owned)
    };
    let name = name.ok_or(MeshFault::Damaged)?;
    let entry = archive.by_name(&name).map_err(|_| MeshFault::Damaged)?;
    let mut bounded = entry.take(left + 1);
    let mut reader = ModelReader { path, package, unit: 1.0, object: None, in_build: false };
    tags(&mut bounded, may_go_on, |tag| reader.tag(tag))?;
    let left = bounded.limit();
    if left == 0 { Err(MeshFault::TooLarge.into()) } else { Ok(left - 1) }
}

/// Normalises a path in the archive for comparison.
fn normal(path: &str) -> String {
    path.trim_start_matches('/').replace('\\', "/").to_ascii_lowercase()
}

/// Parser for a single 3MF model.
struct ModelReader<'a> {
    path: &'a str,
    package: &'a mut Package,
    /// Millimetres per unit.
    unit: f64,
    /// Number and content of the object being read.
    object: Option<(u32, Object)>,
    in_build: bool,
}

impl ModelReader<'_> {
    fn tag(&mut self, tag: &XmlTag<'_>) -> Result<(), MeshFault> {
        match (tag.name, tag.ends) {
            ("model", false) => self.unit = unit(tag.get("unit"))?,
            ("object", false) => {
                let is_support = matches!(tag.get("type"), Some("support" | "solidsupport" | "surface" | "other"));
                self.object = Some((tag.index("id")?, Object { is_support, ..Object::default() }));
            }
            ("object", true) => {
                if let Some((id, object)) = self.object.take() {
                    if self.package.objects.len() >= MAX_PARTS {
                        return Err(MeshFault::TooLarge);
                    }
                    self.package.objects.insert((self.path.to_owned(), id), object);
                }
            }
            ("vertex", false) => self.corner(tag)?,
            ("triangle", false) => self.facet(tag)?,
            ("component", false) => {
                let placed = self.placed(tag)?;
                let (_, object) = self.object.as_mut().ok_or(MeshFault::Damaged)?;
                object.parts.push(placed);
            }
            ("build", ends) => self.in_build = !ends && self.path == ROOT,
            ("item", false) if self.in_build => {
                let placed = self.placed(tag)?;
                self.package.build.push(placed);
            }
            _ => {}
        }
        Ok(())
    }

    fn corner(&mut self, tag: &XmlTag<'_>) -> Result<(), MeshFault> {
        let at = [tag.number("x")?, tag.number("y")?, tag.number("z")?];
        let corner = checked(at.map(|one| one * self.unit))?;
        self.package.corners += 1;
        if self.package.corners > MAX_CORNERS {
            return Err(MeshFault::TooLarge);
        }
        let (_, object) = self.object.as_mut().ok_or(MeshFault::Damaged)?;
        object.corners.push(corner.map(|one| one as f32));
        Ok(())
    }

    fn facet(&mut self, tag: &XmlTag<'_>) -> Result<(), MeshFault> {
        let (_, object) = self.object.as_mut().ok_or(MeshFault::Damaged)?;
        let corner = |name: &str| {
            let corner = object.corners.get(tag.index(name)? as usize).ok_or(MeshFault::Damaged)?;
            Ok::<Corner, MeshFault>(corner.map(f64::from))
        };
        let corners = [corner("v1")?, corner("v2")?, corner("v3")?];
        // From the object's own first corner, as far as it is from the origin.
        let origin = object.corners.first().map_or([0.0; 3], |corner| corner.map(f64::from));
        let from = |corner: Corner| [corner[0] - origin[0], corner[1] - origin[1], corner[2] - origin[2]];
        object.six_volumes += six_volumes(corners.map(from));
        object.facets += 1;
        self.package.facets += 1;
        if self.package.facets > MAX_FACETS { Err(MeshFault::TooLarge) } else { Ok(()) }
    }

    fn placed(&mut self, tag: &XmlTag<'_>) -> Result<PlacedObject, MeshFault> {
        self.package.places += 1;
        if self.package.places > MAX_PARTS {
            return Err(MeshFault::TooLarge);
        }
        let path = tag.get("path").map_or_else(|| self.path.to_owned(), normal);
        let mut transform = match tag.get("transform") {
            Some(text) => transform(text)?,
            None => UNMOVED,
        };
        for shift in &mut transform[9..] {
            *shift *= self.unit;
        }
        Ok(PlacedObject { object: (path, tag.index("objectid")?), transform })
    }
}

/// Returns the number of millimetres per unit.
fn unit(name: Option<&str>) -> Result<f64, MeshFault> {
    Ok(match name {
        None | Some("millimeter") => 1.0,
        Some("micron") => 0.001,
        Some("centimeter") => 10.0,
        Some("inch") => 25.4,
        Some("foot") => 304.8,
        Some("meter") => 1000.0,
        Some(_) => return Err(MeshFault::Damaged),
    })
}

fn transform(text: &str) -> Result<Transform, MeshFault> {
    let mut numbers = UNMOVED;
    let mut words = text.split_ascii_whitespace();
    for number in &mut numbers {
        let word = words.next().ok_or(MeshFault::Damaged)?;
        *number = word.parse().map_err(|_| MeshFault::Damaged)?;
        if !number.is_finite() {
            return Err(MeshFault::NoLength);
        }
    }
    if words.next().is_some() { Err(MeshFault::Damaged) } else { Ok(numbers) }
}

/// Applies the transform to a corner.
fn moved(corner: Corner, by: &Transform) -> Corner {
    let [x, y, z] = corner;
    [0, 1, 2].map(|axis| x * by[axis] + y * by[3 + axis] + z * by[6 + axis] + by[9 + axis])
}

/// Composes two transforms: `inner` is applied first, then `outer`.
fn joined(inner: &Transform, outer: &Transform) -> Transform {
    let mut both = [0.0; 12];
    for row in 0..4 {
        for axis in 0..3 {
            let sum: f64 = (0..3).map(|k| inner[row * 3 + k] * outer[k * 3 + axis]).sum();
            both[row * 3 + axis] = if row == 3 { sum + outer[9 + axis] } else { sum };
        }
    }
    both
}

/// Returns the factor by which the transform scales a volume.
fn scale(by: &Transform) -> f64 {
    six_volumes([[by[0], by[1], by[2]], [by[3], by[4], by[5]], [by[6], by[7], by[8]]])
}

/// Model being assembled by placing its objects.
struct Assembly<'a> {
    package: &'a Package,
    solid: Solid,
    placements: usize,
    corners: usize,
    may_go_on: &'a mut dyn FnMut() -> bool,
}

impl Assembly<'_> {
    /// Places an object and its components.
    ///
    /// # Errors
    ///
    /// Returns an error if an object is missing, is placed beyond the range of any machine or too often, or if the
    /// caller cancels.
    fn place(&mut self, one: &PlacedObject, outer: &Transform, level: usize) -> Result<(), MeasureError> {
        let package = self.package;
        let object = package.objects.get(&one.object).ok_or(MeshFault::Damaged)?;
        // An object of nothing counts too: a few of them within each other make very many.
        self.placements += 1;
        self.corners += object.corners.len();
        if level > MAX_LEVELS || self.placements > MAX_PLACEMENTS || self.corners > MAX_PLACED_CORNERS {
            return Err(MeshFault::TooLarge.into());
        }
        if object.is_support {
            return Ok(());
        }
        self.go_on()?;
        let by = joined(&one.transform, outer);
        for corners in object.corners.chunks(CORNERS_BETWEEN_QUESTIONS) {
            for corner in corners {
                self.solid.reach(checked(moved(corner.map(f64::from), &by))?);
            }
            self.go_on()?;
        }
        self.solid.six_volumes += (object.six_volumes * scale(&by)).abs();
        self.solid.facets = self.solid.facets.saturating_add(object.facets);
        object.parts.iter().try_for_each(|part| self.place(part, &by, level + 1))
    }

    fn go_on(&mut self) -> Result<(), MeasureError> {
        if (self.may_go_on)() { Ok(()) } else { Err(super::timed_out()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Right-angle rotation about Z, doubling along X, and translation.
    const PLACED: &str = "0 2 0 -3 0 0 0 0 5 7 11 13";

    #[test]
    fn a_placement_has_twelve_finite_numbers() {
        assert_eq!(transform(PLACED), Ok([0.0, 2.0, 0.0, -3.0, 0.0, 0.0, 0.0, 0.0, 5.0, 7.0, 11.0, 13.0]));
        assert_eq!(transform("1 0 0 0 1 0 0 0 1 0 0"), Err(MeshFault::Damaged));
        assert_eq!(transform("1 0 0 0 1 0 0 0 1 0 0 0 0"), Err(MeshFault::Damaged));
        assert_eq!(transform("1 0 0 0 1 0 0 0 1 0 0 inf"), Err(MeshFault::NoLength));
    }

    #[test]
    fn a_corner_is_turned_stretched_and_shifted() {
        let by = transform(PLACED).unwrap_or(UNMOVED);
        assert_eq!((moved([1.0, 10.0, 100.0], &by), scale(&by)), ([-23.0, 13.0, 513.0], 30.0));
        assert_eq!((moved([1.0, 10.0, 100.0], &UNMOVED), scale(&UNMOVED)), ([1.0, 10.0, 100.0], 1.0));
    }

    #[test]
    fn lengths_are_in_millimetres() {
        let all = ["micron", "millimeter", "centimeter", "inch", "foot", "meter"].map(|name| unit(Some(name)));
        assert_eq!(all, [0.001, 1.0, 10.0, 25.4, 304.8, 1000.0].map(Ok));
        assert_eq!((unit(None), unit(Some("ell"))), (Ok(1.0), Err(MeshFault::Damaged)));
    }

    proptest! {
        /// Checks with whole numbers, whose arithmetic is exact.
        #[test]
        fn one_placement_within_another_is_one_after_the_other(
            inner in prop::array::uniform12(-9i32..9), outer in prop::array::uniform12(-9i32..9),
            corner in prop::array::uniform3(-9i32..9),
        ) {
            let [inner, outer] = [inner, outer].map(|all| all.map(f64::from));
            let corner = corner.map(f64::from);
            let both = joined(&inner, &outer);
            prop_assert_eq!(Some(moved(corner, &both)), Some(moved(moved(corner, &inner), &outer)));
            prop_assert_eq!(Some(scale(&both)), Some(scale(&inner) * scale(&outer)));
        }
    }
}
