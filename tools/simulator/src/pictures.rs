//! Small pictures like those taken by phones, with many kinds of metadata, such as location, time and author.
//!
//! [`SECRET`] is placed wherever a picture has room for it, so that tests can search for data that should have been
//! removed. The pictures have the structure of real ones, but only the PNG can be displayed.

/// Text contained in all metadata.
pub const SECRET: &[u8] = b"N48.85837 E2.29448";

/// Bytes of the image itself, which must be preserved; some of them look like markers.
const IMAGE_DATA: &[u8] = b"\x12\x34\xff\x00\x56shown\xff\xd3\x78";

/// Builds a rotated JPEG with JFIF, EXIF, XMP and IPTC data, a colour profile and a comment, followed by a video.
/// `scan` is the size of the image data, in bytes.
pub fn jpeg(scan: usize) -> Vec<u8> {
    let mut picture = b"\xff\xd8".to_vec();
    let mut segment = |marker: u8, parts: &[&[u8]]| {
        let data = parts.concat();
        picture.extend_from_slice(&[0xff, marker]);
        picture.extend_from_slice(&u16::try_from(data.len() + 2).unwrap_or(u16::MAX).to_be_bytes());
        picture.extend_from_slice(&data);
    };
    segment(0xe0, &[b"JFIF\0\x01\x02\0\0\x48\0\x48\x01\x01", &SECRET[..3]]);
    segment(0xe1, &[&exif(6)]);
    segment(0xe1, &[b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>", SECRET]);
    segment(0xe2, &[b"ICC_PROFILE\0\x01\x01profile"]);
    segment(0xe2, &[b"MPF\0", SECRET]);
    segment(0xed, &[b"Photoshop 3.0\08BIM\x04\x04", SECRET]);
    segment(0xee, &[b"Adobe\0\x64\0\0\0\0\x01"]);
    segment(0xfe, &[b"taken at ", SECRET]);
    segment(0xdb, &[b"\0", &[16; 64]]);
    segment(0xc0, &[b"\x08\0\x08\0\x08\x01\x01\x11\0"]);
    segment(0xc4, &[b"\0", &[0; 16]]);
    segment(0xda, &[b"\x01\x01\0\0\x3f\0"]);
    picture.extend(filled(scan));
    picture.extend_from_slice(b"\xff\xd9");
    picture.extend_from_slice(b"ftypmp4 behind the end ");
    picture.extend_from_slice(SECRET);
    picture
}

/// Builds a PNG of a single pixel with text chunks, a time, EXIF and a proprietary chunk.
pub fn png() -> Vec<u8> {
    let mut picture = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8; 4], data: &[u8]| {
        picture.extend_from_slice(&u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
        let body = [kind.as_slice(), data].concat();
        picture.extend_from_slice(&body);
        picture.extend_from_slice(&checksum(&body).to_be_bytes());
    };
    chunk(b"IHDR", &[0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0]);
    chunk(b"tEXt", &[b"Location\0", SECRET].concat());
    chunk(b"eXIf", &exif(1)[6..]);
    chunk(b"pHYs", &[0, 0, 0x0b, 0x13, 0, 0, 0x0b, 0x13, 1]);
    chunk(b"IDAT", b"\x78\x9c\x63\x60\0\0\0\x02\0\x01");
    chunk(b"tIME", &[7, 234, 11, 23, 1, 2, 3]);
    chunk(b"caBX", SECRET);
    chunk(b"IEND", b"");
    picture.extend_from_slice(SECRET);
    picture
}

/// Builds an extended WebP with a colour profile, EXIF, XMP and a proprietary chunk.
pub fn webp() -> Vec<u8> {
    let mut chunks = Vec::new();
    let mut chunk = |name: &[u8; 4], data: &[u8]| {
        chunks.extend_from_slice(name);
        chunks.extend_from_slice(&u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
        chunks.extend_from_slice(data);
        chunks.resize(chunks.len().next_multiple_of(2), 0);
    };
    chunk(b"VP8X", &[0x2c, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    chunk(b"ICCP", b"profile");
    chunk(b"VP8L", IMAGE_DATA);
    chunk(b"EXIF", &exif(3)[6..]);
    chunk(b"XMP ", SECRET);
    chunk(b"MINE", SECRET);
    let length = u32::try_from(chunks.len() + 4).unwrap_or(u32::MAX);
    [b"RIFF".as_slice(), &length.to_le_bytes(), b"WEBP", &chunks, SECRET].concat()
}

/// Builds a HEIC with an image, its EXIF and XMP, a description by its author, and a proprietary box.
pub fn heic() -> Vec<u8> {
    let ftyp = bounded("ftyp", &[b"heic", &[0; 4], b"mif1heic"]);
    let exif = [&[0, 0, 0, 6][..], &exif(6)].concat();
    let lengths = [IMAGE_DATA.len(), exif.len(), SECRET.len()];
    // Offsets are known once the length of the description is, which does not depend on them.
    let length = description(0, lengths).len();
    let data = ftyp.len() + length + 8;
    let mine = bounded("uuid", &[SECRET]);
    let mdat = bounded("mdat", &[IMAGE_DATA, &exif, SECRET]);
    [ftyp, description(data, lengths), mdat, mine].concat()
}

/// Builds the location table for three items stored one after another, starting at `from`; the last one is XMP.
fn description(from: usize, lengths: [usize; 3]) -> Vec<u8> {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes();
    let item = |id: u8, kind: &[u8; 4], more: &[u8]| bounded("infe", &[&[2, 0, 0, 0, 0, id, 0, 0], kind, more]);
    let items =
        [item(1, b"hvc1", b"\0"), item(2, b"Exif", b"\0"), item(3, b"mime", b"\0application/rdf+xml\0")].concat();
    let mut places = vec![0, 0, 0, 0, 0x44, 0, 0, 3];
    let mut at = from;
    for (id, length) in (1u8..).zip(lengths) {
        places.extend_from_slice(&[0, id, 0, 0, 0, 1]);
        places.extend_from_slice(&number(at));
        places.extend_from_slice(&number(length));
        at += length;
    }
    let described = bounded("udes", &[&[0; 4], b"en\0", SECRET, b"\0"]);
    let size = bounded("ispe", &[&[0; 7], &[8], &[0; 3], &[8]]);
    let properties = bounded("iprp", &[&bounded("ipco", &[&size, &described])]);
    let parts = [
        vec![0; 4],
        bounded("hdlr", &[&[0; 8], b"pict", &[0; 13]]),
        bounded("pitm", &[&[0, 0, 0, 0, 0, 1]]),
        bounded("iinf", &[&[0, 0, 0, 0, 0, 3], &items]),
        properties,
        bounded("iloc", &[&places]),
        bounded("xml ", &[&[0; 4], SECRET]),
    ];
    bounded("meta", &[&parts.concat()])
}

/// Builds a box in the ISO base media format.
fn bounded(kind: &str, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    let length = u32::try_from(body.len() + 8).unwrap_or(u32::MAX);
    [length.to_be_bytes().as_slice(), kind.as_bytes(), &body].concat()
}

/// Builds EXIF data with an orientation and a location.
fn exif(orientation: u8) -> Vec<u8> {
    let entry = |tag: [u8; 2], kind: u8, value: [u8; 4]| [&tag[..], &[kind, 0, 1, 0, 0, 0], &value].concat();
    let entries = [entry([0x12, 1], 3, [orientation, 0, 0, 0]), entry([0x25, 0x88], 4, [38, 0, 0, 0])].concat();
    [b"Exif\0\0II*\0\x08\0\0\0\x02\0".as_slice(), &entries, &[0; 4], SECRET].concat()
}

/// Returns image scan data of the given length.
fn filled(length: usize) -> Vec<u8> {
    let mut scan: Vec<u8> = IMAGE_DATA.iter().copied().cycle().take(length).collect();
    // Neither the end nor what stands before it may look like the beginning of a marker.
    let mut end = length.saturating_sub(2);
    if end > 0 && scan[end - 1] == 0xff {
        end -= 1;
    }
    scan[end..].fill(0x11);
    scan
}

/// Computes the CRC-32 as defined by PNG.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |rest: u32, _| if rest & 1 == 1 { 0xedb8_8320 ^ (rest >> 1) } else { rest >> 1 };
    let all = bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), step));
    !all
}
