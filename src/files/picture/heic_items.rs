//! Items in the description of a HEIC picture: determines which items are pictures, and the locations of the others.
//! The others contain EXIF and XMP data, and are overwritten in place: nothing moves, so all offsets in the file remain
//! valid.

use std::collections::BTreeSet;
use std::ops::Range;

use super::boxes::{BigEndian, BoxPart, VERSION_BYTES, parts};
use super::{PictureFault, check_pixels};

/// Boxes of the description that pictures need; all others are overwritten with zeros.
const NEEDED: [&[u8; 4]; 9] = [b"hdlr", b"pitm", b"iinf", b"iref", b"iprp", b"iloc", b"idat", b"grpl", b"dinf"];
/// Item types that are pictures or describe how pictures are composed.
const PICTURES: [&[u8; 4]; 9] = [b"hvc1", b"hev1", b"lhv1", b"av01", b"jpeg", b"grid", b"iden", b"iovl", b"tmap"];
/// Properties that reveal details about the photo: the author's description, times, and program-specific data.
const TELLING: [&[u8; 4]; 5] = [b"udes", b"uuid", b"crtt", b"mdft", b"altt"];
/// Box type that readers ignore.
const FREE: &[u8; 4] = b"free";

/// Removes the metadata from the body of a description that starts at the file offset `at`. Returns the ranges after
/// the body that contain metadata, sorted and disjoint.
pub(super) fn clean(body: &mut [u8], at: u64) -> Result<Vec<Range<u64>>, PictureFault> {
    let boxes = parts(body, VERSION_BYTES..body.len())?;
    let pictures = match only(&boxes, *b"iinf")? {
        Some(place) => pictures(&body[place])?,
        None => return Err(PictureFault::Damaged),
    };
    let extents = match only(&boxes, *b"iloc")? {
        Some(place) => foreign_extents(&body[place], &pictures)?,
        None => return Err(PictureFault::Damaged),
    };
    let inside = only(&boxes, *b"idat")?;
    let end = at + body.len() as u64;
    let (mut within, mut behind) = (Vec::new(), Vec::new());
    for Extent { in_description, range } in extents {
        if in_description {
            let inside = inside.as_ref().ok_or(PictureFault::Damaged)?;
            if range.end > inside.len() as u64 {
                return Err(PictureFault::Damaged);
            }
            let begin = at + inside.start as u64;
            within.push(begin + range.start..begin + range.end);
        } else if range.start >= end {
            behind.push(range);
        } else {
            // It lies before, where all has gone by already, or in the description itself.
            return Err(PictureFault::Damaged);
        }
    }
    for one in &boxes {
        if !NEEDED.contains(&&one.kind) {
            empty(body, one);
        } else if &one.kind == b"iprp" {
            for list in parts(body, one.body.clone())?.iter().filter(|list| &list.kind == b"ipco") {
                let telling = parts(body, list.body.clone())?;
                for size in telling.iter().filter(|one| &one.kind == b"ispe") {
                    let mut sides = BigEndian(&body[size.body.clone()]);
                    sides.next(VERSION_BYTES)?;
                    check_pixels(sides.next(4)?, sides.next(4)?)?;
                }
                let telling = telling.iter().filter(|one| TELLING.contains(&&one.kind));
                telling.for_each(|one| empty(body, one));
            }
        }
    }
    overwrite(body, at, &apart(within));
    Ok(apart(behind))
}

/// Overwrites with zeros the parts of `bytes` that lie in the ranges; `bytes` starts at the file offset `at`.
pub(super) fn overwrite(bytes: &mut [u8], at: u64, ranges: &[Range<u64>]) {
    let end = at + bytes.len() as u64;
    let first = ranges.partition_point(|range| range.end <= at);
    for range in ranges[first..].iter().take_while(|range| range.start < end) {
        let (from, to) = (range.start.max(at) - at, range.end.min(end) - at);
        if let (Ok(from), Ok(to)) = (usize::try_from(from), usize::try_from(to)) {
            bytes[from..to].fill(0);
        }
    }
}

/// Returns the body of the only box of the given type. A second box of the type is an error, because it would be
/// ambiguous.
fn only(boxes: &[BoxPart], kind: [u8; 4]) -> Result<Option<Range<usize>>, PictureFault> {
    let mut matching = boxes.iter().filter(|one| one.kind == kind);
    let first = matching.next().map(|one| one.body.clone());
    if matching.next().is_some() { Err(PictureFault::Damaged) } else { Ok(first) }
}

fn empty(bytes: &mut [u8], one: &BoxPart) {
    bytes[one.start + 4..one.start + 8].copy_from_slice(FREE);
    bytes[one.body.clone()].fill(0);
}

/// Returns the numbers of the items that are pictures.
fn pictures(list: &[u8]) -> Result<BTreeSet<u64>, PictureFault> {
    let mut head = BigEndian(list);
    let version = head.next(1)?;
    head.next(3)?;
    head.next(if version == 0 { 2 } else { 4 })?;
    let first = list.len() - head.0.len();
    let mut items = BTreeSet::new();
    for entry in parts(list, first..list.len())?.into_iter().filter(|entry| &entry.kind == b"infe") {
        let mut numbers = BigEndian(&list[entry.body]);
        let version = numbers.next(1)?;
        numbers.next(3)?;
        // Older versions have no type, only a media type: they are no pictures.
        if version < 2 {
            continue;
        }
        let item = numbers.next(if version == 2 { 2 } else { 4 })?;
        numbers.next(2)?;
        let kind = numbers.kind()?;
        if PICTURES.contains(&&kind) {
            items.insert(item);
        }
    }
    Ok(items)
}

/// Location of one part of an item's data.
struct Extent {
    /// `true` if the offset is relative to the data inside the description, `false` if it is relative to the file.
    in_description: bool,
    range: Range<u64>,
}

/// Returns the locations of all items that are not pictures.
fn foreign_extents(list: &[u8], pictures: &BTreeSet<u64>) -> Result<Vec<Extent>, PictureFault> {
    let mut numbers = BigEndian(list);
    let version = numbers.next(1)?;
    numbers.next(3)?;
    let widths = numbers.next(2)?;
    let width = |at: u32| match (widths >> at) & 15 {
        width @ (0 | 4 | 8) => Ok(usize::try_from(width).unwrap_or(0)),
        _ => Err(PictureFault::Damaged),
    };
    let (offset, length, base) = (width(12)?, width(8)?, width(4)?);
    let index = if version == 0 { 0 } else { width(0)? };
    let wide = if version < 2 { 2 } else { 4 };
    let count = numbers.next(wide)?;
    let mut ranges = Vec::new();
    for _ in 0..count {
        let item = numbers.next(wide)?;
        let construction = if version == 0 { 0 } else { numbers.next(2)? & 15 };
        numbers.next(2)?;
        let base = numbers.next(base)?;
        let extents = numbers.next(2)?;
        let foreign = !pictures.contains(&item);
        if offset + length + index == 0 {
            // They take no room, so there may be any number of them; all are the whole file.
            if foreign && extents > 0 {
                return Err(PictureFault::Damaged);
            }
            continue;
        }
        for _ in 0..extents {
            numbers.next(index)?;
            let (start, bytes) = (numbers.next(offset)?, numbers.next(length)?);
            if !foreign {
                continue;
            }
            let start = base.checked_add(start).ok_or(PictureFault::Damaged)?;
            let end = start.checked_add(bytes).ok_or(PictureFault::Damaged)?;
            // A length of 0 is all that there is; a construction of 2 is a part of another item.
            if bytes == 0 || construction > 1 {
                return Err(PictureFault::Damaged);
            }
            ranges.push(Extent { in_description: construction == 1, range: start..end });
        }
    }
    Ok(ranges)
}

/// Sorts ranges and merges those that touch or overlap.
fn apart(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}
