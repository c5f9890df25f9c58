#![expect(clippy::unwrap_used, reason = "tests")]
use serde_json::json;

use super::*;

/// Writes an archive of sample files, with a manifest that matches them. `spoil` can change the files after the
/// manifest has been computed.
fn archive(folder: &Path, spoil: impl FnOnce(&mut Vec<(String, Vec<u8>)>)) -> PathBuf {
    let sha = hex::encode(Sha256::digest(b"G28\n"));
    let mut files = vec![
        ("printfloor.db".to_owned(), b"database".to_vec()),
        (format!("files/{}/{sha}", &sha[..2]), b"G28\n".to_vec()),
        ("documents/ab/INV-1.pdf".to_owned(), b"pdf".to_vec()),
    ];
    let members: Vec<_> = files
        .iter()
        .map(|(name, content)| json!({"name": name, "bytes": content.len(), "sha256": hex::encode(Sha256::digest(content))}))
        .collect();
    let manifest = json!({
        "product": "Printfloor", "version": "1", "madeAt": "2026-11-01T00:00:00.000Z", "schemaVersion": "m1",
        "database": {"kind": "sqlite", "member": "printfloor.db", "rows": {"orders": 2}}, "members": members,
    });
    files.push((MANIFEST_NAME.to_owned(), manifest.to_string().into_bytes()));
    spoil(&mut files);
    let path = folder.join("backup.tar");
    let mut written = files::archive::Archive::new(File::create(&path).unwrap(), Timestamp(0));
    for (name, content) in &files {
        let part = folder.join("part");
        fs::write(&part, content).unwrap();
        written.add(name, File::open(&part).unwrap()).unwrap();
    }
    written.finish().unwrap();
    path
}

fn places(folder: &Path) -> BackupDestinations {
    let data = folder.join("data");
    BackupDestinations { database: data.join("x.db"), files: data.join("files"), documents: data.join("documents") }
}

#[test]
fn a_whole_backup_is_unpacked_to_its_places() {
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path(), |_| {});
    let mut bytes_read = 0;
    let backup = verify(&path, |bytes| bytes_read += bytes).unwrap();
    assert_eq!((backup.files, backup.bytes, backup.manifest.database.rows["orders"]), (2, 15, 2));
    assert!(bytes_read > 15);
    let places = places(folder.path());
    let mut names = Vec::new();
    let settle = |name: &str, path: &Path| {
        assert!(path.exists());
        names.push(name.to_owned());
        Ok(())
    };
    unpack(&path, &backup, &places, |_| {}, settle).unwrap();
    assert_eq!(names, backup.members().map(|(name, _)| name).collect::<Vec<_>>());
    assert_eq!(fs::read(&places.database).unwrap(), b"database");
    assert_eq!(fs::read(places.documents.join("ab/INV-1.pdf")).unwrap(), b"pdf");
    sync_folders(&folder.path().join("data")).unwrap();
    assert!(unpack(&path, &backup, &places, |_| {}, |_, _| Ok(())).is_err(), "nothing is overwritten");
}

#[test]
fn whatever_is_spoilt_is_told() {
    type Spoil = fn(&mut Vec<(String, Vec<u8>)>);
    let cases: [(Spoil, &str); 6] = [
        (|files| files[0].1[0] ^= 1, "printfloor.db differs from the file that was backed up"),
        (|files| drop(files.remove(1)), "is missing"),
        (|files| drop(files.pop()), "its last file is not manifest.json"),
        (|files| files.insert(0, ("evil".to_owned(), Vec::new())), "it contains evil, which is not in its manifest"),
        (|files| files[3].1 = b"{}".to_vec(), "not the manifest of a Printfloor backup"),
        (|files| files.push(("more".to_owned(), Vec::new())), "its last file is not manifest.json"),
    ];
    for (spoil, words) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = archive(folder.path(), spoil);
        let error = verify(&path, |_| {}).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = archive(folder.path(), |_| {});
    let whole = fs::read(&path).unwrap();
    for keep in [0, 100, 600, whole.len() - 2000] {
        fs::write(&path, &whole[..keep]).unwrap();
        assert!(verify(&path, |_| {}).is_err(), "{keep} bytes");
    }
    fs::write(&path, b"no archive at all").unwrap();
    assert!(verify(&path, |_| {}).is_err());
}

#[test]
fn no_file_leaves_its_folder() {
    let places = places(Path::new("/shop"));
    for name in [
        "documents/../../etc/passwd",
        "documents//etc/passwd",
        "documents/",
        "files/aa/../x",
        "files/aa",
        "other/x",
        "printfloor.db/x",
        "../printfloor.db",
        "/etc/passwd",
        "",
    ] {
        assert_eq!(places.of(name, "printfloor.db"), None, "{name}");
    }
    let sha = "ab".repeat(32);
    assert_eq!(places.of(&format!("files/ab/{sha}"), "x"), Some(places.files.join("ab").join(&sha)));
    assert_eq!(places.of(&format!("files/ac/{sha}"), "x"), None);
}
