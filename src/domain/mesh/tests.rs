//! Tests with models whose size is known to the millimetre, and with malicious ones.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};

use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

/// Returns the facets of a box between two corners, oriented outwards.
fn cuboid(from: Corner, to: Corner) -> Vec<[Corner; 3]> {
    let corner = |n: usize| [0, 1, 2].map(|axis| if n >> axis & 1 == 1 { to[axis] } else { from[axis] });
    let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    faces.iter().flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]]).map(|facet| facet.map(corner)).collect()
}

fn binary(facets: &[[Corner; 3]]) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend(u32::try_from(facets.len()).unwrap().to_le_bytes());
    for facet in facets {
        bytes.extend([0; 12]);
        for coordinate in facet.iter().flatten() {
            bytes.extend((*coordinate as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn text(facets: &[[Corner; 3]]) -> Vec<u8> {
    let mut text = "solid a part\n".to_owned();
    for facet in facets {
        text.push_str(" facet normal 0 0 0\n  outer loop\n");
        for [x, y, z] in facet {
            writeln!(text, "   vertex {x} {y:e} {z}").unwrap();
        }
        text.push_str("  endloop\n endfacet\n");
    }
    (text + "endsolid a part").into_bytes()
}

/// Returns a mesh as the elements of a 3MF object.
fn mesh(facets: &[[Corner; 3]]) -> String {
    let mut corners = String::new();
    let mut triangles = String::new();
    for (n, facet) in facets.iter().enumerate() {
        for [x, y, z] in facet {
            write!(corners, "<vertex x=\"{x}\" y='{y}' z=\"{z}\"/>").unwrap();
        }
        let n = 3 * n;
        write!(triangles, "<triangle v1=\"{n}\" v2=\"{}\" v3=\"{}\"/>", n + 1, n + 2).unwrap();
    }
    format!("<mesh><vertices>{corners}</vertices><triangles>{triangles}</triangles></mesh>")
}

fn package(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

fn model(unit: &str, resources: &str, build: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<!-- a > comment, it isn't <vertex/> -->\n<model unit=\"{unit}\" xmlns:p=\"x\"><resources>{resources}</resources>\
         <build>{build}</build></model>\n"
    )
}

fn facts(bytes: Vec<u8>, content: ContentType) -> Result<MeshFacts, MeshFault> {
    match measure(Cursor::new(bytes), content, &mut || true) {
        Ok(facts) => Ok(facts),
        Err(MeasureError::Fault(fault)) => Err(fault),
        Err(MeasureError::Io(error)) => panic!("{error}"),
    }
}

fn three_mf(model: &str) -> Result<MeshFacts, MeshFault> {
    facts(package(&[("3D/3dmodel.model", model)]), ContentType::ThreeMf)
}

#[test]
fn a_cube_is_measured_to_the_millimetre_in_every_form() {
    let cube = cuboid([5.0, 5.0, 5.0], [15.0, 25.0, 35.0]);
    let expected = MeshFacts { size: Dimensions { x: 10.0, y: 20.0, z: 30.0 }, volume_mm3: 6000, facets: 12 };
    assert_eq!(facts(binary(&cube), ContentType::BinaryStl), Ok(expected));
    assert_eq!(facts(text(&cube), ContentType::AsciiStl), Ok(expected));
    let object = format!("<object id=\"1\" type=\"model\">{}</object>", mesh(&cube));
    assert_eq!(three_mf(&model("millimeter", &object, "<item objectid=\"1\"/>")), Ok(expected));
    // Turned inside out it is as large.
    let inside_out: Vec<_> = cube.iter().map(|[a, b, c]| [*c, *b, *a]).collect();
    assert_eq!(facts(binary(&inside_out), ContentType::BinaryStl), Ok(expected));
}

#[test]
fn parts_of_a_package_stand_where_they_are_put() {
    let cube = mesh(&cuboid([0.0; 3], [1.0, 1.0, 1.0]));
    let parts = format!(
        "<object id=\"1\">{cube}</object><object id=\"2\"><components>\
         <component objectid=\"1\"/><component p:path=\"/3D/Objects/other.model\" objectid=\"7\" transform=\"0 2 0 -2 0 0 0 0 2 5 0 0\"/>\
         </components></object><object id=\"3\" type=\"support\">{cube}</object>"
    );
    let strange = "<item objectid=\"7\" transform=\"1 0 0 0 1 0 0 0 1 500 0 0\"/>";
    let other = model("millimeter", &format!("<object id=\"7\" name=\"a > b\">{cube}</object>{strange}"), strange);
    let build = "<item objectid=\"2\" transform=\"1 0 0 0 1 0 0 0 1 10 0 0\"/><item objectid=\"3\"/>";
    let root = model("centimeter", &parts, build);
    let bytes = package(&[("3D/Objects/other.model", &other), ("/3D/3DModel.model", &root)]);
    let measured = facts(bytes, ContentType::ThreeMf).unwrap();
    // A cube of 10 mm at 100 mm, and beside it one of 1 mm, doubled and turned by a right angle.
    assert_eq!(measured.volume_mm3, 1000 + 8);
    assert_eq!(measured.size, Dimensions { x: 50.0, y: 10.0, z: 10.0 });
}

#[test]
fn what_is_no_mesh_is_refused_in_words() {
    let cube = cuboid([0.0; 3], [10.0; 3]);
    let with = |number: f64| {
        let mut broken = cube.clone();
        broken[3][1][2] = number;
        broken
    };
    for number in [f64::NAN, f64::INFINITY, 1e30] {
        assert_eq!(facts(binary(&with(number)), ContentType::BinaryStl), Err(MeshFault::NoLength), "{number}");
        assert_eq!(facts(text(&with(number)), ContentType::AsciiStl), Err(MeshFault::NoLength), "{number}");
    }
    let mut many = binary(&cube);
    many[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(facts(many, ContentType::BinaryStl), Err(MeshFault::Damaged), "more facets are told than there are");
    let cut = binary(&cube);
    assert_eq!(facts(cut[..cut.len() - 7].to_vec(), ContentType::BinaryStl), Err(MeshFault::Damaged));
    assert_eq!(facts(binary(&cuboid([0.0; 3], [10.0, 10.0, 0.0])), ContentType::BinaryStl), Err(MeshFault::Empty));
    assert_eq!(facts(b"solid x\nendsolid x\n".to_vec(), ContentType::AsciiStl), Err(MeshFault::Empty));
    let words = "solid x\nfacet\nvertex 1 2\nendfacet\n";
    assert_eq!(facts(words.into(), ContentType::AsciiStl), Err(MeshFault::Damaged));
    assert_eq!(facts(vec![0; 10], ContentType::Png), Err(MeshFault::NotAMesh));
    assert_eq!(facts(b"PK\x03\x04".to_vec(), ContentType::ThreeMf), Err(MeshFault::Damaged));
}

#[test]
fn a_mesh_that_ends_before_its_end_is_damaged() {
    let cube = text(&cuboid([0.0; 3], [10.0; 3]));
    let with =
        |rest: &str| facts([&cube[..], rest.as_bytes()].concat(), ContentType::AsciiStl).map(|facts| facts.facets);
    assert_eq!(with("\n"), Ok(12));
    let facet = "\nfacet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n";
    assert_eq!(with(&format!("{facet}endfacet")), Ok(13), "the last word needs no end of its line");
    assert_eq!(with(facet), Err(MeshFault::Damaged));
    assert_eq!(with("\nfacet\nvertex"), Err(MeshFault::Damaged));
    assert_eq!(with(&format!("{facet}vertex 1 1 0\nendfacet\n")), Err(MeshFault::Damaged), "a facet of four corners");
    assert_eq!(facts(vec![0; 83], ContentType::BinaryStl), Err(MeshFault::Damaged), "half a header");
    assert_eq!(three_mf("<model><build/>"), Err(MeshFault::Damaged), "an element that does not end");
    assert_eq!(three_mf("<model><build/></model><"), Err(MeshFault::Damaged), "a tag that does not end");
}

#[test]
fn a_text_of_any_length_is_read_until_its_time_is_over() {
    let long = text(&cuboid([0.0; 3], [10.0; 3]).repeat(100));
    assert!(long.len() > CHUNK_BYTES);
    assert_eq!(facts(long.clone(), ContentType::AsciiStl).map(|facts| facts.volume_mm3), Ok(100_000));
    let ended = measure(Cursor::new(long), ContentType::AsciiStl, &mut || false).unwrap_err();
    assert!(matches!(ended, MeasureError::Io(error) if error.kind() == io::ErrorKind::TimedOut));
}

#[test]
fn a_volume_has_a_bound() {
    let of_cube = |side: f64| facts(binary(&cuboid([0.0; 3], [side; 3])), ContentType::BinaryStl);
    assert_eq!(of_cube(2000.0).map(|facts| facts.volume_mm3), Ok(8_000_000_000));
    assert_eq!(of_cube(3000.0), Err(MeshFault::TooLarge));
    assert_eq!(of_cube(0.1).map(|facts| facts.volume_mm3), Ok(1), "something is never nothing");
    assert_eq!(Some(six_volumes([[2.0, 3.0, 5.0], [7.0, 11.0, 13.0], [17.0, 19.0, 23.0]])), Some(-78.0));
}

#[test]
fn packages_that_are_made_to_do_harm_end_early() {
    let item = "<item objectid=\"1\"/>";
    let object = |content: &str| format!("<object id=\"1\">{content}</object>");
    let deep = "<a>".repeat(1000);
    assert_eq!(three_mf(&model("millimeter", &object(&deep), item)), Err(MeshFault::TooLarge), "deep nesting");
    let entity = "<!DOCTYPE x [<!ENTITY e \"e\">]><model><build/></model>";
    assert_eq!(three_mf(entity), Err(MeshFault::Damaged), "entities");
    let long = format!("<model {}></model>", "x".repeat(100_000));
    assert_eq!(three_mf(&long), Err(MeshFault::Damaged), "a tag that does not end");
    let itself = object("<components><component objectid=\"1\"/><component objectid=\"1\"/></components>");
    assert_eq!(three_mf(&model("millimeter", &itself, item)), Err(MeshFault::TooLarge), "an object within itself");
    // Each object is twice the one before: 2^15 of the first.
    let mut doubling = object(&mesh(&cuboid([0.0; 3], [1.0; 3])));
    for n in 2..=60 {
        let part = format!("<component objectid=\"{}\"/>", n - 1);
        write!(doubling, "<object id=\"{n}\"><components>{part}{part}</components></object>").unwrap();
    }
    let bomb = model("millimeter", &doubling, "<item objectid=\"60\"/>");
    assert_eq!(three_mf(&bomb), Err(MeshFault::TooLarge), "objects that double");
    // An object of nothing within others, each put ten times: 100,000 places of less than a kilobyte.
    let mut many = object("<mesh><vertices/></mesh>");
    for n in 2..=6 {
        let parts = format!("<component objectid=\"{}\"/>", n - 1).repeat(10);
        write!(many, "<object id=\"{n}\"><components>{parts}</components></object>").unwrap();
    }
    let item_of_six = "<item objectid=\"6\"/>";
    assert_eq!(three_mf(&model("millimeter", &many, item_of_six)), Err(MeshFault::TooLarge), "too many places");
    let outside =
        object("<mesh><vertices/><triangles><triangle v1=\"0\" v2=\"1\" v3=\"4000000000\"/></triangles></mesh>");
    assert_eq!(three_mf(&model("millimeter", &outside, item)), Err(MeshFault::Damaged), "corners that are not there");
    assert_eq!(three_mf(&model("millimeter", "", item)), Err(MeshFault::Damaged), "an object that is not there");
    let nan = object("<mesh><vertices><vertex x=\"NaN\" y=\"0\" z=\"0\"/></vertices></mesh>");
    assert_eq!(three_mf(&model("millimeter", &nan, item)), Err(MeshFault::NoLength));
    assert_eq!(facts(package(&[("readme.txt", "x")]), ContentType::ThreeMf), Err(MeshFault::Damaged), "no model");
}

#[test]
fn a_zip_bomb_is_unpacked_to_a_bound_only() {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("3D/3dmodel.model", SimpleFileOptions::default()).unwrap();
    let blanks = vec![b' '; 1 << 20];
    for _ in 0..10 {
        archive.write_all(&blanks).unwrap();
    }
    let bytes = archive.finish().unwrap().into_inner();
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    assert_eq!(facts(bytes, ContentType::ThreeMf), Err(MeshFault::TooLarge));
}

#[test]
fn reading_ends_when_its_time_is_over() {
    let cube = binary(&cuboid([0.0; 3], [10.0; 3]).repeat(1000));
    let ended = measure(Cursor::new(cube), ContentType::BinaryStl, &mut || false).unwrap_err();
    assert!(matches!(ended, MeasureError::Io(error) if error.kind() == io::ErrorKind::TimedOut));
}

/// Returns a plate with the given number of equal cubes, in rows of 100, each a tenth of a millimetre wide, so that
/// they stay within every bound.
fn plate_of(cubes: usize) -> String {
    let object = format!("<object id=\"1\">{}</object>", mesh(&cuboid([0.0; 3], [0.1; 3])));
    let mut items = String::new();
    for n in 0..cubes {
        write!(items, "<item objectid=\"1\" transform=\"1 0 0 0 1 0 0 0 1 {} {} 0\"/>", n % 100, n / 100).unwrap();
    }
    model("millimeter", &object, &items)
}

#[test]
fn a_full_plate_is_measured_and_an_absurd_one_is_refused() {
    assert_eq!(three_mf(&plate_of(2000)).map(|facts| facts.facets), Ok(2000 * 12));
    assert_eq!(three_mf(&plate_of(10_001)), Err(MeshFault::TooLarge));
}

#[test]
fn reading_ends_while_objects_are_placed() {
    let bytes = package(&[("3D/3dmodel.model", &plate_of(2000))]);
    let mut questions = 0;
    let mut count = || {
        questions += 1;
        true
    };
    measure(Cursor::new(bytes.clone()), ContentType::ThreeMf, &mut count).unwrap();
    assert!(questions > 2000, "asked {questions} times for 2,000 places");
    let mut left = 1000;
    let mut some = || {
        left -= 1;
        left > 0
    };
    let ended = measure(Cursor::new(bytes), ContentType::ThreeMf, &mut some).unwrap_err();
    assert!(matches!(ended, MeasureError::Io(error) if error.kind() == io::ErrorKind::TimedOut));
    assert_eq!(left, 0, "the first no ends it");
}

proptest! {
    #[test]
    fn boxes_anywhere_have_their_volume(
        from in prop::array::uniform3(-500.0..500.0_f64), size in prop::array::uniform3(1.0..300.0_f64),
    ) {
        let from = from.map(f64::round);
        let size = size.map(f64::round);
        let to = [0, 1, 2].map(|axis| from[axis] + size[axis]);
        let facets = cuboid(from, to);
        let expected = (size[0] * size[1] * size[2]) as i64;
        for (bytes, content) in [(binary(&facets), ContentType::BinaryStl), (text(&facets), ContentType::AsciiStl)] {
            let measured = facts(bytes, content);
            prop_assert_eq!(measured.map(|facts| (facts.volume_mm3, facts.size)), Ok((expected, Dimensions { x: size[0], y: size[1], z: size[2] })));
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for content in [ContentType::BinaryStl, ContentType::AsciiStl, ContentType::ThreeMf] {
            let _ = facts(bytes.clone(), content);
        }
    }

    #[test]
    fn no_xml_makes_it_panic(inner in "[<>/a-z\"' =0-9.!-]{0,200}") {
        let _ = three_mf(&model("millimeter", &inner, "<item objectid=\"1\"/>"));
        let _ = three_mf(&inner);
    }
}
