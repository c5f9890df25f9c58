//! Sanitization of the file names of uploads, and their conversion to names that printers accept.

use crate::gcode_form::GcodeForm;
use crate::refusal::Refusal;

/// Maximum length of a file name, in characters.
const MAX_NAME_CHARS: usize = 200;
/// Maximum length, in characters, of a file extension that is preserved when a name is shortened, without the leading
/// dot.
const MAX_ENDING_CHARS: usize = 16;
/// Maximum length of a file name on a printer, in bytes. Printers add characters to it, and their file systems allow
/// 255 bytes.
const MAX_PRINTER_NAME_BYTES: usize = 180;

/// Returns whether a character reverses the text direction, so that `photo\u{202E}edocg.exe` is displayed with a
/// misleading extension.
const fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a character is invisible and can be omitted: control characters, line separators, and direction
/// marks, which some programs add at the start of names.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}')
}

/// Returns the last part of a path, without characters that some programs cannot handle. If it is too long, the part
/// before the extension is shortened.
///
/// # Errors
///
/// Rejects characters that reverse the direction of the text after them, because the displayed name would be
/// misleading.
pub fn clean_name(path: &str) -> Result<String, Refusal> {
    let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
    if last.contains(turns_direction) {
        let words = "has a name with invisible characters that change the text direction; rename it";
        return Err(Refusal::field("file", words));
    }
    let clean: String = last.chars().filter(|c| !is_invisible(*c)).collect();
    let clean = clean.trim_start_matches(|c: char| c == '.' || c.is_whitespace()).trim_end();
    Ok(if clean.is_empty() { "file".to_owned() } else { cut(clean, MAX_NAME_CHARS) })
}

/// Shortens a name to `most` characters, preserving its extension, such as `.gcode.3mf`.
fn cut(name: &str, most: usize) -> String {
    let count = name.chars().count();
    if count <= most {
        return name.to_owned();
    }
    let package = format!(".{}", GcodeForm::Package.ending());
    let at = name.len().checked_sub(package.len());
    let at = at.filter(|at| name.get(*at..).is_some_and(|end| end.eq_ignore_ascii_case(&package)));
    let at = at.or_else(|| name.rfind('.')).unwrap_or(name.len());
    let (stem, ending) = name.split_at(at);
    let suffix = if ending.chars().count() > MAX_ENDING_CHARS + 1 { "" } else { ending };
    let stem: String = stem.chars().take(most - suffix.chars().count()).collect();
    format!("{}{suffix}", stem.trim_end())
}

/// Returns the name to use on a printer for a file of the given format. Printers detect the format by the extension,
/// some of them case-sensitively, and accept names of limited length.
pub fn printer_name(name: &str, form: GcodeForm) -> String {
    let ending = format!(".{}", form.ending());
    let mut stem = name.trim();
    // What the firmware takes too, in small letters, stays.
    if form == GcodeForm::Text
        && [".g", ".gco"].iter().any(|short| stem.ends_with(short))
        && stem.len() <= MAX_PRINTER_NAME_BYTES
    {
        return stem.to_owned();
    }
    if let Some(shorter) = without_ending(stem, &ending) {
        stem = shorter;
    }
    let mut end = stem.len().min(MAX_PRINTER_NAME_BYTES - ending.len());
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    let stem = stem[..end].trim_end();
    format!("{}{ending}", if stem.is_empty() { "print" } else { stem })
}

fn without_ending<'a>(name: &'a str, ending: &str) -> Option<&'a str> {
    let at = name.len().checked_sub(ending.len())?;
    let (stem, end) = name.split_at_checked(at)?;
    end.eq_ignore_ascii_case(ending).then_some(stem)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_never_a_path() {
        assert_eq!(clean_name(". . a").unwrap(), "a");
        assert_eq!(clean_name("../../etc/passwd").unwrap(), "passwd");
        assert_eq!(clean_name("C:\\prints\\vase.gcode").unwrap(), "vase.gcode");
        assert_eq!(clean_name("...").unwrap(), "file");
        assert_eq!(clean_name("a\u{0}b\n.gcode").unwrap(), "ab.gcode");
    }

    #[test]
    fn a_name_that_turns_its_direction_is_refused_and_marks_are_left_out() {
        for turning in ['\u{202A}', '\u{202B}', '\u{202C}', '\u{202D}', '\u{202E}', '\u{2066}', '\u{2069}'] {
            assert_eq!(clean_name(&format!("photo{turning}lts.exe")).unwrap_err().faults[0].path, "file");
        }
        assert_eq!(clean_name("\u{200E}WhatsApp Image.jpg").unwrap(), "WhatsApp Image.jpg");
        assert_eq!(clean_name("\u{5d0}\u{5d1}.stl").unwrap(), "\u{5d0}\u{5d1}.stl", "letters of any script stay");
    }

    #[test]
    fn a_long_name_keeps_its_ending() {
        for ending in [".gcode", ".gcode.3mf", ".STL"] {
            let name = clean_name(&format!("{}{ending}", "x".repeat(300))).unwrap();
            assert_eq!(name.chars().count(), MAX_NAME_CHARS);
            assert!(name.ends_with(ending), "{name}");
        }
        assert_eq!(clean_name(&format!("a.{}", "x".repeat(300))).unwrap(), "a", "what is that long is no ending");
    }

    #[test]
    fn printers_take_the_ending_by_its_letters() {
        assert_eq!(printer_name("Vase.GCODE", GcodeForm::Text), "Vase.gcode");
        assert_eq!(printer_name("vase.gcode", GcodeForm::Text), "vase.gcode");
        assert_eq!(printer_name("vase.gco", GcodeForm::Text), "vase.gco");
        assert_eq!(printer_name("vase", GcodeForm::Text), "vase.gcode");
        assert_eq!(printer_name("vase.txt", GcodeForm::Text), "vase.txt.gcode");
        assert_eq!(printer_name("Vase.GCODE.3MF", GcodeForm::Package), "Vase.gcode.3mf");
        assert_eq!(printer_name("vase.bgcode", GcodeForm::Binary), "vase.bgcode");
        assert_eq!(printer_name(".gcode", GcodeForm::Text), "print.gcode");
    }

    proptest! {
        #[test]
        fn names_are_bounded_and_have_their_ending(name in ".{0,400}") {
            if let Ok(clean) = clean_name(&name) {
                let count = clean.chars().count();
                prop_assert!((1..=MAX_NAME_CHARS).contains(&count), "{}", count);
                prop_assert!(!clean.contains(|c| turns_direction(c) || is_invisible(c) || c == '/'));
                prop_assert_eq!(clean_name(&clean).unwrap().chars().count() <= count, true);
                for form in [GcodeForm::Text, GcodeForm::Binary, GcodeForm::Package] {
                    let on_printer = printer_name(&clean, form);
                    prop_assert!(on_printer.len() <= MAX_PRINTER_NAME_BYTES, "{}", on_printer);
                    let has_ending = [form.ending(), "g", "gco"].into_iter().any(|ending| {
                        on_printer.strip_suffix(ending).is_some_and(|stem| stem.ends_with('.'))
                    });
                    prop_assert!(has_ending, "{}", on_printer);
                    prop_assert_eq!(printer_name(&on_printer, form), on_printer);
                }
            }
        }
    }

    #[test]
    fn names_are_cut_at_their_limits_and_not_before() {
        let clean = |name: String| clean_name(&name).unwrap();
        let [y, z] = ["y", "z"].map(|letter| letter.repeat(MAX_NAME_CHARS));
        assert_eq!(clean(z.clone()), z);
        let ending = format!(".{}", "x".repeat(MAX_ENDING_CHARS));
        assert_eq!(clean(format!("{y}{ending}")), format!("{}{ending}", &y[..MAX_NAME_CHARS - ending.len()]));
        assert_eq!(clean(format!("{y}{ending}x")), y, "what is that long is no ending");
        let long = "x".repeat(300);
        assert_eq!(printer_name(&long, GcodeForm::Text), format!("{}.gcode", &long[..174]));
        assert_eq!(printer_name(&long, GcodeForm::Package), format!("{}.gcode.3mf", &long[..170]));
        let short = |letters: usize| format!("{}.gco", &long[..letters]);
        assert_eq!(printer_name(&short(176), GcodeForm::Text), short(176));
        assert_eq!(printer_name(&short(177), GcodeForm::Text), format!("{}.gcode", &long[..174]));
        assert_eq!(printer_name("vase.gco", GcodeForm::Binary), "vase.gco.bgcode");
    }
}
