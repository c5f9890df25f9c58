//! Fonts: the built-in fonts, and fonts installed on this machine for scripts that the built-in ones lack. Fonts for
//! Chinese, Japanese and Korean are too large to be built in.
//!
//! Of the installed fonts, only Noto families are used, which are recognised by their file names, because they may be
//! embedded in any document. The fonts are located when the server starts, and read when a document needs them.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Regular font for Latin, Greek and Cyrillic.
pub static REGULAR: &[u8] = include_bytes!("../../assets/fonts/NotoSans-Regular.ttf");
/// Bold font for Latin, Greek and Cyrillic.
pub static BOLD: &[u8] = include_bytes!("../../assets/fonts/NotoSans-Bold.ttf");
/// Fonts for additional scripts, in regular weight only, which is also used for bold text.
pub static FURTHER: [&[u8]; 6] = [
    include_bytes!("../../assets/fonts/NotoSansArabic-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansArmenian-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansDevanagari-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansGeorgian-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansHebrew-Regular.ttf"),
    include_bytes!("../../assets/fonts/NotoSansThai-Regular.ttf"),
];

/// Maximum number of files and directories visited when searching the font directories.
const MAX_ENTRIES: usize = 20_000;
/// Maximum depth of the directories that are searched.
const MAX_DEPTH: usize = 6;
/// Maximum size of a font file in bytes.
const MAX_FONT_BYTES: u64 = 64 * 1024 * 1024;

/// Script in which customers may write their names.
struct Script {
    /// Name of the script.
    name: &'static str,
    /// Character that every font for the script has.
    sample: char,
    /// Ranges that contain most characters of the script.
    ranges: &'static [RangeInclusive<char>],
    /// Font family names, without spaces, in order of preference.
    families: &'static [&'static str],
}

const IDEOGRAPHS: &[RangeInclusive<char>] =
    &['\u{2e80}'..='\u{9fff}', '\u{f900}'..='\u{ffef}', '\u{20000}'..='\u{3ffff}'];
const HANGUL: &[RangeInclusive<char>] = &['\u{1100}'..='\u{11ff}', '\u{3130}'..='\u{318f}', '\u{ac00}'..='\u{d7af}'];

static SCRIPTS: [Script; 19] = [
    Script {
        name: "Chinese",
        sample: '中',
        ranges: IDEOGRAPHS,
        families: &[
            "NotoSansCJK",
            "NotoSansCJKsc",
            "NotoSansSC",
            "NotoSansCJKtc",
            "NotoSansTC",
            "NotoSansCJKjp",
            "NotoSansJP",
        ],
    },
    Script {
        name: "Japanese",
        sample: 'あ',
        ranges: IDEOGRAPHS,
        families: &["NotoSansCJK", "NotoSansCJKjp", "NotoSansJP", "NotoSansCJKsc", "NotoSansSC"],
    },
    Script { name: "Korean", sample: '한', ranges: HANGUL, families: &["NotoSansCJK", "NotoSansCJKkr", "NotoSansKR"] },
    Script { name: "Arabic", sample: 'ع', ranges: &['\u{600}'..='\u{6ff}'], families: &["NotoSansArabic"] },
    Script { name: "Armenian", sample: 'Ա', ranges: &['\u{530}'..='\u{58f}'], families: &["NotoSansArmenian"] },
    Script { name: "Bengali", sample: 'ক', ranges: &['\u{980}'..='\u{9ff}'], families: &["NotoSansBengali"] },
    Script { name: "Devanagari", sample: 'क', ranges: &['\u{900}'..='\u{97f}'], families: &["NotoSansDevanagari"] },
    Script { name: "Ethiopic", sample: 'ሀ', ranges: &['\u{1200}'..='\u{139f}'], families: &["NotoSansEthiopic"] },
    Script { name: "Georgian", sample: 'ა', ranges: &['\u{10a0}'..='\u{10ff}'], families: &["NotoSansGeorgian"] },
    Script { name: "Gujarati", sample: 'ક', ranges: &['\u{a80}'..='\u{aff}'], families: &["NotoSansGujarati"] },
    Script { name: "Gurmukhi", sample: 'ਕ', ranges: &['\u{a00}'..='\u{a7f}'], families: &["NotoSansGurmukhi"] },
    Script { name: "Hebrew", sample: 'א', ranges: &['\u{590}'..='\u{5ff}'], families: &["NotoSansHebrew"] },
    Script { name: "Kannada", sample: 'ಕ', ranges: &['\u{c80}'..='\u{cff}'], families: &["NotoSansKannada"] },
    Script { name: "Khmer", sample: 'ក', ranges: &['\u{1780}'..='\u{17ff}'], families: &["NotoSansKhmer"] },
    Script { name: "Malayalam", sample: 'ക', ranges: &['\u{d00}'..='\u{d7f}'], families: &["NotoSansMalayalam"] },
    Script { name: "Sinhala", sample: 'ක', ranges: &['\u{d80}'..='\u{dff}'], families: &["NotoSansSinhala"] },
    Script { name: "Tamil", sample: 'க', ranges: &['\u{b80}'..='\u{bff}'], families: &["NotoSansTamil"] },
    Script { name: "Telugu", sample: 'క', ranges: &['\u{c00}'..='\u{c7f}'], families: &["NotoSansTelugu"] },
    Script { name: "Thai", sample: 'ก', ranges: &['\u{e00}'..='\u{e7f}'], families: &["NotoSansThai"] },
];

/// Fonts installed on this machine, by script.
#[derive(Default)]
pub struct SystemFonts {
    /// Font files in the order of [`SCRIPTS`]; `None` if this machine has no font for the script.
    files: Vec<Option<PathBuf>>,
}

impl SystemFonts {
    /// Searches the given directories and their subdirectories for fonts. Directories that do not exist are ignored.
    pub fn find(folders: &[PathBuf]) -> Self {
        let (mut candidates, mut left) = (Vec::new(), MAX_ENTRIES);
        for folder in folders {
            look_into(folder, MAX_DEPTH, &mut left, &mut candidates);
        }
        candidates.sort();
        let of_script = |script: &Script| {
            let of_family = |family: &str| candidates.iter().find(|(stem, _)| is_of_family(stem, family));
            script.families.iter().find_map(|family| Some(of_family(family)?.1.clone()))
        };
        Self { files: SCRIPTS.iter().map(of_script).collect() }
    }

    /// Returns the font files that may contain the given characters, without duplicates.
    pub fn files_for(&self, characters: &[char]) -> Vec<&Path> {
        let wants = |script: &Script| characters.iter().any(|c| script.ranges.iter().any(|range| range.contains(c)));
        let files = SCRIPTS.iter().zip(&self.files).filter(|(script, _)| wants(script));
        let mut files: Vec<&Path> = files.filter_map(|(_, file)| file.as_deref()).collect();
        let mut once: Vec<&Path> = Vec::with_capacity(files.len());
        files.retain(|file| {
            let is_new = !once.contains(file);
            once.push(*file);
            is_new
        });
        files
    }

    /// Returns the names of the scripts that no font covers: neither an installed font nor, according to `has`, any
    /// other.
    pub fn lacking(&self, has: impl Fn(char) -> bool) -> Vec<&'static str> {
        let all = SCRIPTS.iter().zip(&self.files);
        all.filter(|(script, file)| file.is_none() && !has(script.sample)).map(|(script, _)| script.name).collect()
    }

    /// Returns an identifier for these fonts, composed of their paths and sizes.
    pub fn look(&self) -> String {
        let entry = |path: &PathBuf| {
            let length = fs::metadata(path).map_or(0, |file| file.len());
            format!(" {} {length}", path.display())
        };
        self.files.iter().flatten().map(entry).collect()
    }
}

/// Reads a font; `None` if it cannot be read or is larger than any Noto font.
pub(super) fn read_font(path: &Path) -> Option<Vec<u8>> {
    let length = fs::metadata(path).ok()?.len();
    if length > MAX_FONT_BYTES { None } else { fs::read(path).ok() }
}

/// Collects Noto fonts, with their file name stems, from a directory and its subdirectories.
fn look_into(folder: &Path, depth: usize, left: &mut usize, candidates: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth > 0 {
            look_into(&path, depth - 1, left, candidates);
            continue;
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_font = ["ttf", "otf", "ttc"].iter().any(|one| ending.eq_ignore_ascii_case(one));
        let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|stem| stem.starts_with("NotoSans"));
        if let Some(stem) = stem.filter(|_| is_font) {
            candidates.push((stem.to_owned(), path.clone()));
        }
    }
}

/// Returns whether a file is the upright regular font of a family, such as `NotoSansThai-Regular` or
/// `NotoSansThai[wdth,wght]`.
fn is_of_family(stem: &str, family: &str) -> bool {
    stem.strip_prefix(family)
        .is_some_and(|rest| matches!(rest, "" | "-Regular" | "-VF" | "-VariableFont_wght") || rest.starts_with('['))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn fonts_of_the_machine_are_found_by_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("noto/cjk");
        fs::create_dir_all(&below).unwrap();
        for name in ["NotoSansCJK-Regular.ttc", "NotoSansCJK-Bold.ttc", "NotoSerifCJK-Regular.ttc", "notes.txt"] {
            fs::write(below.join(name), "font").unwrap();
        }
        fs::write(folder.path().join("NotoSansTamil[wdth,wght].ttf"), "font").unwrap();
        let fonts = SystemFonts::find(&[folder.path().to_owned(), "/nowhere/at/all".into()]);
        let cjk = below.join("NotoSansCJK-Regular.ttc");
        assert_eq!(fonts.files_for(&['中', 'あ', '한']), [cjk.as_path()], "one font for all three, once");
        assert_eq!(fonts.files_for(&['த'])[0].file_name().unwrap(), "NotoSansTamil[wdth,wght].ttf");
        assert!(fonts.files_for(&['a', 'ก']).is_empty());
        let lacking = fonts.lacking(|c| c == 'א');
        assert!(
            lacking.contains(&"Thai") && !lacking.contains(&"Chinese") && !lacking.contains(&"Hebrew"),
            "{lacking:?}"
        );
        assert!(fonts.look().contains("NotoSansCJK-Regular.ttc 4"), "{}", fonts.look());
    }

    #[test]
    fn the_sample_of_each_script_is_one_of_its_characters() {
        for Script { name, sample, ranges, families } in &SCRIPTS {
            assert!(ranges.iter().any(|range| range.contains(sample)) && !families.is_empty(), "{name}");
        }
    }
}
