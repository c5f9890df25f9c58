//! Malicious files that try to exhaust a server's memory and time.

/// Builds a package with one file and a 64-bit zip directory of a million entries.
pub fn million_entries() -> Vec<u8> {
    const ENTRIES: u64 = 1_000_000;
    let mut file = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0a".to_vec();
    let directory = file.len() as u64;
    let mut entry = b"PK\x01\x02\x2d\0\x14\0".to_vec();
    // Time, checksum and sizes; a name of one letter; no extra field, comment or attributes; at the beginning of the
    // file.
    entry.extend([0; 20]);
    entry.extend([1, 0]);
    entry.extend([0; 16]);
    entry.push(b'a');
    file.extend(entry.repeat(ENTRIES as usize));
    let (end, bytes) = (file.len() as u64, ENTRIES * entry.len() as u64);
    file.extend(b"PK\x06\x06");
    file.extend(44_u64.to_le_bytes());
    file.extend([0x2d, 0, 0x2d, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    for number in [ENTRIES, ENTRIES, bytes, directory] {
        file.extend(number.to_le_bytes());
    }
    file.extend(b"PK\x06\x07\0\0\0\0");
    file.extend(end.to_le_bytes());
    file.extend(1_u32.to_le_bytes());
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([0xff; 12]);
    file.extend([0, 0]);
    file
}
