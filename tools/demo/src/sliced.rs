//! Files for the demo's parts, as a slicer would write them.

use simulator::gcode::shapes::{PlateLayout, shaped_gcode, shaped_package};

use super::catalogue::{MATERIALS, SamplePart};

/// Returns the name and the content of a part's file: G-code or a package, whose moves draw the copies of the part on
/// one plate.
pub fn sliced_file(part: &SamplePart) -> (String, Vec<u8>) {
    let color = |material: usize| MATERIALS.get(material).map_or("", |material| material.color);
    let mut filaments = vec![(part.grams, color(part.material))];
    filaments.extend(part.second.map(|(material, grams)| (grams, color(material))));
    let plate = PlateLayout { shape: part.shape, copies: part.per_plate, area: (part.size.0, part.size.1) };
    let name = part.code.to_ascii_lowercase();
    if part.package {
        let content = shaped_package(part.name, part.seconds, &filaments, &plate);
        return (format!("{name}.gcode.3mf"), content);
    }
    let text = shaped_gcode(part.name, part.seconds, &filaments, &plate);
    (format!("{name}.gcode"), text.into_bytes())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use simulator::gcode::GcodeFacts;
    use simulator::gcode::package::{first_code, is_package};

    use super::super::catalogue::PARTS;
    use super::*;

    /// Maximum size of a file in bytes.
    const MAX_BYTES: usize = 150_000;

    /// Returns the G-code of a part.
    fn code(part: &SamplePart) -> String {
        let (name, content) = sliced_file(part);
        assert_eq!(
            (is_package(&content), name.rsplit('.').next() == Some("3mf")),
            (part.package, part.package),
            "{name}"
        );
        String::from_utf8(if part.package { first_code(&content).unwrap() } else { content }).unwrap()
    }

    #[test]
    fn each_part_has_a_shape_of_its_own() {
        for (number, part) in PARTS.iter().enumerate() {
            assert!(PARTS.iter().skip(number + 1).all(|other| other.shape != part.shape), "{}", part.code);
        }
    }

    #[test]
    fn files_are_small_and_state_time_and_filament_of_the_catalogue() {
        for part in &PARTS {
            let code = code(part);
            assert!(code.len() < MAX_BYTES, "{}: {} bytes", part.code, code.len());
            let facts = GcodeFacts::read(code.as_bytes());
            let grams = part.grams + part.second.map_or(0.0, |(_, grams)| grams);
            assert!((facts.seconds - part.seconds as f64).abs() < 0.5, "{}: {}", part.code, facts.seconds);
            assert!(facts.filament_g.is_some_and(|stated| (stated - grams).abs() < 0.01), "{}", part.code);
            assert_eq!((facts.layers, facts.thumbnails), (Some(10), Vec::new()), "{}", part.code);
            assert_eq!(code.contains("\nT1\n"), part.second.is_some(), "{}", part.code);
        }
    }
}
