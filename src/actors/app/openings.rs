//! Trial opening of the external resources that the server opens at startup: the database, directories, the bucket for
//! files and the port. It runs before changed settings are saved, to ensure that the next start can open these
//! resources.

use std::net::SocketAddr;
use std::path::Path;
use std::{fs, io, process};

use tokio::net::TcpListener;

use super::own_secrets;
use super::storage::check_files_storage;
use config::Config;
use platform::io_words::io_words;
use store::connect;
use store::secret_checks::DatabaseState;
use store::start_check::{self, SqliteFile};

/// Returns the setting name and the error of each resource that a server with the `next` settings could not open.
/// Unchanged resources are skipped. Leaves nothing behind.
pub async fn unopened(present: &Config, next: &Config) -> Vec<(&'static str, String)> {
    let mut problems = Vec::new();
    for (name, before, path) in [
        ("server.data_dir", present.server.data_dir.clone(), next.server.data_dir.clone()),
        ("files.dir", present.files_dir(), next.files_dir()),
        ("files.documents_dir", present.documents_dir(), next.documents_dir()),
    ] {
        if before != path
            && let Err(words) = folder(&path)
        {
            problems.push((name, format!("{} {words}", path.display())));
        }
    }
    let has_other_bucket = next.files_bucket().is_some()
        && (&present.files.dir, &present.object_storage) != (&next.files.dir, &next.object_storage);
    if has_other_bucket && let Err(error) = check_files_storage(next).await {
        problems.push(("files.dir", error.to_string()));
    }
    if present.database_url().expose() != next.database_url().expose()
        && let Err(words) = database(present, next).await
    {
        problems.push(("database.url", words));
    }
    if present.server.listen != next.server.listen
        && let Err(error) = port(present.server.listen, next.server.listen).await
    {
        problems.push(("server.listen", format!("cannot listen on {}: {}", next.server.listen, io_words(&error))));
    }
    problems
}

/// Checks that the directory can be created or, if it exists, written to.
fn folder(path: &Path) -> Result<(), &'static str> {
    let path = std::path::absolute(path).map_err(|_| "is not a valid path")?;
    let existing = path.ancestors().find(|folder| folder.symlink_metadata().is_ok()).ok_or("is not a valid path")?;
    match existing.metadata() {
        Ok(metadata) if metadata.is_dir() => {}
        _ => return Err("is a file, or is inside a file; specify a folder"),
    }
    let probe = existing.join(format!(".printfloor-check.{}", process::id()));
    let written = fs::write(&probe, "check").and_then(|()| fs::remove_file(&probe));
    written.map_err(|_| "is not writable; specify a folder that the server's user can write to")
}

/// Checks that a server could start with the database and write to it, and that the database is either new or was
/// created with the server's secrets.
async fn database(present: &Config, next: &Config) -> Result<(), String> {
    let url = next.database_url();
    let url = url.expose();
    let database_name = connect::display_url(url);
    let place = start_check::sqlite_place(url).map_err(|error| format!("{database_name}: {error}"))?;
    if let Some(place) = place
        && !is_sqlite_there(&place).map_err(|words| format!("{database_name}: {words}"))?
    {
        return Ok(());
    }
    match own_secrets::look(next).await {
        Ok(DatabaseState::Existing { differing, .. }) if !differing.is_empty() => {
            return Err(format!(
                "{database_name} was created with a different {}",
                differing.join(" and a different ")
            ));
        }
        Ok(_) => {}
        Err(error) => return Err(format!("{database_name}: {error}")),
    }
    let (present, next) = (own_secrets::database_settings(present), own_secrets::database_settings(next));
    start_check::check_start(&present, &next).await.map_err(|error| format!("{database_name}: {error}"))
}

/// Returns whether the database file exists, after checking that it is writable. A missing file is created at the next
/// start.
fn is_sqlite_there(SqliteFile { file, is_created }: &SqliteFile) -> Result<bool, String> {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Unlike the data folder it is not made by a start.
    if !parent.is_dir() {
        return Err("its folder does not exist".to_owned());
    }
    // Beside the file stand those of transactions.
    folder(parent).map_err(|words| format!("its folder {words}"))?;
    if !file.exists() {
        let lacking = || Err("it does not exist; to create it, end the address with ?mode=rwc".to_owned());
        return if *is_created { Ok(false) } else { lacking() };
    }
    let opened = fs::OpenOptions::new().write(true).open(file).map(drop);
    opened.map(|()| true).map_err(|error| format!("the file is not writable: {}", io_words(&error)))
}

/// Checks that the server can listen on the `next` address. Skips a port on which this process already listens.
async fn port(present: SocketAddr, next: SocketAddr) -> io::Result<()> {
    let port = if present.port() == next.port() { 0 } else { next.port() };
    TcpListener::bind((next.ip(), port)).await.map(drop)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_folder_is_there_or_can_be_made() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert_eq!(folder(dir.path()), Ok(()));
        assert_eq!(folder(&dir.path().join("a/b")), Ok(()));
        assert!(folder(&file).is_err() && folder(&file.join("below")).is_err());
        assert!(folder(Path::new("/proc/1/no/such")).is_err());
        assert!(!dir.path().join("a").exists(), "nothing is made");
    }

    #[tokio::test]
    async fn a_port_that_somebody_has_is_told() {
        let held = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (other, address) = (SocketAddr::from(([127, 0, 0, 1], 1)), held.local_addr().unwrap());
        assert!(port(other, address).await.is_err());
        assert!(port(address, address).await.is_ok(), "it is ours");
    }
}
