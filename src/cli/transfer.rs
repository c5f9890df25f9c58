//! `printfloor transfer --from DATABASE --to DATABASE`: copies the shop into another, empty database.
//!
//! No server can start on either database meanwhile: the data directories are locked, and on PostgreSQL the lease is
//! held, as it would be by a server.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use super::progress::{ProgressLine, row_count};
use super::restore::sqlite_url;
use super::{CliError, GlobalOptions, output, settings};
use crate::app::own_secrets;
use crate::config::Config;
use crate::config::values::Secret;
use crate::observe::log;
use crate::server::{LOCK_FILE, StartError, absolute, lead_alone, lock};
use crate::store::connect::{self, DatabaseSettings, sqlite_file};
use crate::store::copy::transfer::{ShopTransfer, ShopTransferError, TransferSummary};

/// Name of the database file in a data directory.
const DATABASE_FILE: &str = "printfloor.db";
/// Beginnings of database addresses.
const SCHEMES: [&str; 3] = ["sqlite:", "postgres:", "postgresql:"];

/// Copies the shop from one database to the other.
pub async fn run(global: &GlobalOptions, from: &str, to: &str) -> Result<(), CliError> {
    log::start_for_command();
    let config = settings::load(global, None)?.config;
    let (from, to) = (TransferPlace::parse(&config, "--from", from)?, TransferPlace::parse(&config, "--to", to)?);
    if from.display_url() == to.display_url() {
        return Err(CliError::Usage("--from and --to are the same database".to_owned()));
    }
    if sqlite_file(&from.settings().url).is_some_and(|file| !file.exists()) {
        return Err(failed(ShopTransferError::NoShop(from.display_url())));
    }
    let lock = lock_folder(&config, &config.server.data_dir)?;
    let _locks = lock_database_folders(&config, [&from, &to])?;
    let lead = Box::pin(lead_alone(&from.config, &lock)).await?;
    let outcome = transfer_leading(&from, &to, &lock).await;
    lead.release().await;
    report(&from, &to, &outcome?)
}

/// One of the two databases, as settings that name it.
struct TransferPlace {
    config: Config,
}

impl TransferPlace {
    /// Parses the value of an option: a data directory, an SQLite file, or an address.
    fn parse(config: &Config, option: &str, text: &str) -> Result<Self, CliError> {
        let wrong = |words: &str| CliError::Usage(format!("{option}: {words}"));
        let is_address = SCHEMES.iter().any(|scheme| text.starts_with(scheme));
        if !is_address && (text.is_empty() || text.contains("://")) {
            return Err(wrong(
                "must be a data directory, an SQLite file (*.db), or an address of PostgreSQL or SQLite",
            ));
        }
        let url = if is_address { text.to_owned() } else { sqlite_url(&database_file(Path::new(text)))? };
        let mut config = config.clone();
        config.database.url = Secret::new(url);
        let place = Self { config };
        let settings = place.settings();
        if settings.url.starts_with("sqlite:") && sqlite_file(&settings.url).is_none() {
            return Err(wrong("a database in memory cannot be transferred"));
        }
        connect::readable(&settings).map_err(|error| wrong(&error.to_string()))?;
        Ok(place)
    }

    fn settings(&self) -> DatabaseSettings {
        own_secrets::database_settings(&self.config)
    }

    /// Returns kind and location of the database, without the password.
    fn display_url(&self) -> String {
        connect::display_url(&self.settings().url)
    }

    /// Returns the data directory that contains the database; `None` if it is on PostgreSQL or in another place.
    fn data_folder(&self) -> Option<PathBuf> {
        let file = sqlite_file(&self.settings().url)?;
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let is_default = file.file_name().is_some_and(|name| name == DATABASE_FILE);
        (is_default || folder.join(LOCK_FILE).exists()).then_some(folder)
    }
}

/// Returns the database file that a path refers to: a file itself, or the one in a data directory.
fn database_file(path: &Path) -> PathBuf {
    let is_file = path.is_file() || (!path.is_dir() && path.extension().is_some_and(|extension| extension == "db"));
    if is_file { path.to_owned() } else { path.join(DATABASE_FILE) }
}

/// Locks the data directories that contain the databases, except the one from the settings, which is already locked.
fn lock_database_folders(config: &Config, places: [&TransferPlace; 2]) -> Result<Vec<File>, CliError> {
    let mut locked = BTreeSet::from([absolute(&config.server.data_dir)]);
    let mut locks = Vec::new();
    for folder in places.into_iter().filter_map(TransferPlace::data_folder) {
        if !locked.contains(&absolute(&folder)) {
            locks.push(lock_folder(config, &folder)?);
            locked.insert(absolute(&folder));
        }
    }
    Ok(locks)
}

/// Locks a data directory, creating it if it does not exist. Fails if a restore into it was interrupted.
fn lock_folder(config: &Config, folder: &Path) -> Result<File, CliError> {
    let lock = lock(folder, "transfer")?;
    let mut of_folder = config.clone();
    folder.clone_into(&mut of_folder.server.data_dir);
    if of_folder.restore_mark().exists() {
        return Err(StartError::RestoreUnfinished { path: absolute(folder) }.into());
    }
    Ok(lock)
}

/// Copies the shop while this process leads in the source. Leads in the target too.
async fn transfer_leading(from: &TransferPlace, to: &TransferPlace, lock: &File) -> Result<TransferSummary, CliError> {
    let lead = Box::pin(lead_alone(&to.config, lock)).await?;
    let outcome = Box::pin(transfer(&from.settings(), &to.settings())).await;
    lead.release().await;
    outcome
}

async fn transfer(from: &DatabaseSettings, to: &DatabaseSettings) -> Result<TransferSummary, CliError> {
    let mut transfer = ShopTransfer::open(from, to).await.map_err(failed)?;
    let mut progress = ProgressLine::of_rows("copying", transfer.row_count());
    transfer.copy(&mut |rows| progress.add(rows)).await.map_err(failed)?;
    progress.end();
    let mut progress = ProgressLine::of_rows("comparing", transfer.row_count());
    transfer.compare(&mut |rows| progress.add(rows)).await.map_err(failed)?;
    progress.end();
    transfer.commit().await.map_err(failed)
}

fn failed(error: ShopTransferError) -> CliError {
    CliError::Failed(match error {
        ShopTransferError::Uncertain { .. } => error.to_string(),
        _ => format!("nothing was transferred: {error}"),
    })
}

/// Prints what was and was not copied, and the operator's next steps.
fn report(from: &TransferPlace, to: &TransferPlace, summary: &TransferSummary) -> Result<(), CliError> {
    let (source, target) = (from.display_url(), to.display_url());
    output::line(&format!(
        "transferred from {source} to {target}: {} tables with {}, all compared",
        summary.tables,
        row_count(summary.rows)
    ))?;
    if !summary.others.is_empty() {
        output::note(&format!("left out, because they are not tables of printfloor: {}", summary.others.join(", ")));
    }
    output::note(
        "uploaded files, documents and secrets.env are not in the database and were not moved: the server needs them \
         as before",
    );
    output::note(&format!(
        "set database.url or DATABASE_URL to the new database before you start the server, and start none on {source} \
         again: both contain the same shop, and each would print its jobs"
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use std::fs;

    use super::*;

    #[test]
    fn a_path_is_a_data_directory_unless_it_is_a_file_or_called_like_one() {
        let folder = tempfile::tempdir().unwrap();
        let (file, directory) = (folder.path().join("copy"), folder.path().join("shop.db"));
        fs::write(&file, "x").unwrap();
        fs::create_dir(&directory).unwrap();
        assert_eq!(database_file(&file), file);
        assert_eq!(database_file(&directory), directory.join(DATABASE_FILE));
        assert_eq!(database_file(Path::new("none")), Path::new("none/printfloor.db"));
        assert_eq!(database_file(Path::new("none.db")), Path::new("none.db"));
    }

    #[test]
    fn what_is_no_database_is_wrong_usage() {
        let config = Config::default();
        for text in ["", "mysql://localhost/shop", "sqlite::memory:", "postgres://["] {
            let parsed = TransferPlace::parse(&config, "--from", text);
            assert!(matches!(parsed, Err(CliError::Usage(words)) if words.starts_with("--from: ")), "{text:?}");
        }
        let place = TransferPlace::parse(&config, "--to", "postgres://sam:secret@localhost/shop").unwrap();
        assert_eq!(place.display_url(), "PostgreSQL localhost/shop");
        assert_eq!(place.data_folder(), None);
        let place = TransferPlace::parse(&config, "--to", "/none/data").unwrap();
        assert_eq!(place.data_folder(), Some(PathBuf::from("/none/data")));
        let place = TransferPlace::parse(&config, "--to", "/none/shop.db").unwrap();
        assert_eq!(place.data_folder(), None);
    }
}
