//! Shop that is backed up and transferred, and the invariants of the shop and its copies.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::api::backup::{file_of, holds, unpacked};
use crate::cli::backup_places::{BUCKET, names_in, temporary_folder, use_bucket};
use crate::cli::transfer::{fill, origin};
use crate::support::contents::{Contents, contents_at};
use crate::support::moto::Moto;
use crate::support::{App, Db};

/// Size of a file of the shop, which is part of each backup, in bytes.
const FILE_BYTES: usize = 6 * 1024 * 1024;
/// SQL that inserts enough rows for each step of a command to take a while.
const FILLER: &str = "INSERT INTO audit (id, at, actor, action, subject_kind, subject_id, outcome) \
                      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) \
                      SELECT 'filler-' || i, 1893456000000 + i, 'machine', 'filler', 'order', 'x' || i, 'done' FROM n";
/// Tables that a restore must leave unchanged.
const RESTORED_TABLES: [&str; 7] = ["orders", "jobs", "skus", "materials", "files", "invoices", "invoice_documents"];
/// Prefix of the folders for temporary files of commands.
const TEMPORARY: &str = "printfloor-temporary-";

/// Files of a shop, by path relative to the data folder, with the hashes of their contents.
pub type StoredFiles = BTreeMap<String, String>;

/// Stopped shop with a backup.
pub struct Source {
    pub app: App,
    contents: Contents,
    pub files: StoredFiles,
    backup: PathBuf,
    backup_hash: String,
    /// The same backup in the bucket.
    pub object: Option<String>,
    /// Folder for temporary files of its commands.
    temporary: PathBuf,
    /// Contents of the shop restored from the backup.
    restored: OnceCell<Contents>,
}

impl Source {
    /// Creates a shop with some data of every kind, and backs it up.
    pub async fn create(db: Db, moto: Option<&Moto>) -> Self {
        let mut app = App::new(db).await;
        fill(&app).await;
        let material = app.material("PETG", 1000.0).await;
        let file = app.gcode("clip", 60, 2.0).await;
        let sku = app.sku("CLIP", &material, &file, 900).await;
        app.paid_order(&sku, 2).await;
        file_of(&app, FILE_BYTES).await;
        app.stop().await;
        app.db.execute(&app, FILLER).await;
        let temporary = temporary_folder(&mut app);
        let backup = app.folder().join("source.tar");
        app.command(&["backup", backup.to_str().unwrap()], "");
        let mut object = None;
        if let Some(moto) = moto {
            use_bucket(&mut app, moto);
            let place = format!("s3://{BUCKET}/source-{}", if app.db.url().is_some() { "postgres" } else { "sqlite" });
            app.command(&["backup", "--to", &place], "");
            object = Some(place);
        }
        let (contents, files) = (contents_at(&origin(&app)).await, stored_files(&app.data()));
        assert!(!files.is_empty() && contents["orders"].rows == 1, "{contents:?}");
        let backup_hash = hash_of(&backup);
        Self { app, contents, files, backup, backup_hash, object, temporary, restored: OnceCell::new() }
    }

    pub fn is_sqlite(&self) -> bool {
        self.app.db.url().is_none()
    }

    /// Returns the path of the backup.
    pub fn backup(&self) -> &str {
        self.backup.to_str().unwrap()
    }

    /// Checks that the shop and its backup are what they were.
    pub async fn must_be_sound(&self) {
        assert!(contents_at(&origin(&self.app)).await == self.contents, "the source has other rows");
        assert_eq!(stored_files(&self.app.data()), self.files, "the source has other files");
        assert_eq!(hash_of(&self.backup), self.backup_hash, "the backup is another one");
    }

    /// Checks that a server starts on the shop and stops cleanly.
    pub async fn must_start(mut self) {
        self.app.start().await;
        let orders = self.app.get("/api/orders").await.expect(200);
        assert_eq!(orders["pagination"]["total"], 1, "{orders}");
        self.app.stop().await;
    }

    /// Checks that a database has all rows of the shop.
    pub fn must_equal(&self, contents: &Contents) {
        self.must_have_rows(contents, &self.contents);
        for (table, rows) in &self.contents {
            assert_eq!(contents[table], *rows, "{table}");
        }
    }

    /// Checks that each table of a database has the expected number of rows.
    fn must_have_rows(&self, contents: &Contents, expected: &Contents) {
        let counts = |contents: &Contents| -> BTreeMap<String, u64> {
            contents.iter().map(|(table, of)| (table.clone(), of.rows)).collect()
        };
        assert_eq!(counts(contents), counts(expected), "of {}", self.backup.display());
    }

    /// Checks that a database equals the shop as restored from the backup. A restore adds rows to some tables, so the
    /// first restore, which was not killed, is the reference.
    pub fn must_be_restored(&self, contents: &Contents) {
        let expected = self.restored.get_or_init(|| contents.clone());
        self.must_have_rows(contents, expected);
        let same = |table: &&String| expected[*table] == self.contents[*table];
        let unchanged: Vec<&String> = self.contents.keys().filter(same).collect();
        for table in RESTORED_TABLES {
            assert!(unchanged.iter().any(|name| *name == table), "{table} is not what it was");
        }
        for table in unchanged {
            assert_eq!(contents[table], self.contents[table], "{table}");
        }
    }

    /// Checks that a file is a whole backup of the shop.
    pub async fn must_be_backed_up(&self, archive: &Path) {
        self.must_be_backed_up_in(&fs::read(archive).unwrap()).await;
    }

    /// Checks that an archive is a whole backup of the shop.
    pub async fn must_be_backed_up_in(&self, archive: &[u8]) {
        let scratch = tempfile::tempdir().unwrap();
        let folder = unpacked(archive, scratch.path());
        let manifest = holds(&folder);
        let rows = manifest["database"]["rows"].as_object().unwrap();
        let counts: BTreeMap<&String, Option<u64>> =
            rows.iter().map(|(table, count)| (table, count.as_u64())).collect();
        let expected: BTreeMap<&String, Option<u64>> =
            self.contents.iter().map(|(table, of)| (table, Some(of.rows))).collect();
        assert_eq!(counts, expected);
        assert_eq!(stored_files(&folder), self.files);
        if self.is_sqlite() {
            let database = format!("sqlite:{}", folder.join("printfloor.db").display());
            self.must_equal(&contents_at(&database).await);
        }
    }

    /// Removes what a killed command left among temporary files; returns whether it left anything.
    pub fn clear_temporary(&self) -> bool {
        clear_temporary(&self.temporary)
    }
}

/// Removes what killed commands left in a folder for temporary files, and checks that all of it is theirs by name;
/// returns whether there was anything.
pub fn clear_temporary(folder: &Path) -> bool {
    let names = names_in(folder);
    for name in &names {
        assert!(name.starts_with(TEMPORARY), "{names:?}");
        fs::remove_dir_all(folder.join(name)).unwrap();
    }
    !names.is_empty()
}

/// Hashes the files and documents of a shop, and checks that file contents are stored under their hashes.
pub fn stored_files(data: &Path) -> StoredFiles {
    let mut files = StoredFiles::new();
    for place in ["files", "documents"] {
        let mut folders = vec![data.join(place)];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(folder) else { continue };
            for path in entries.map(|entry| entry.unwrap().path()) {
                let name = path.strip_prefix(data).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let hash = hash_of(&path);
                // Pictures drawn from toolpaths are in no backup, nor is the mark of a server that others might follow.
                let is_document = place == "documents" && !name.ends_with("leader#mark");
                if is_document || is_content(&name, &hash) {
                    files.insert(name, hash);
                }
            }
        }
    }
    files
}

/// Returns whether a file below `files/` is the content of an uploaded file, and checks that its name is its hash.
fn is_content(name: &str, hash: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        ["files", folder, file] if folder.len() == 2 => {
            assert_eq!(file, hash, "{name}");
            true
        }
        _ => false,
    }
}

fn hash_of(file: &Path) -> String {
    hash(&fs::read(file).unwrap())
}

/// Hashes the content of a file.
pub fn hash(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}
