//! Trial of a restored database: it is opened as at a start, and every aggregate is read.

use sea_orm::sea_query::{Expr, ExprTrait as _, Order};
use sea_orm::{DatabaseConnection, DbErr, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _};

use crate::StoredAggregate;
use crate::connect::{self, DatabaseSettings, OpenError};
use crate::load::LoadedAggregate;
use crate::queries::Queries;
use crate::reader::Reader;
use crate::rows::LoadError;
use domain::id::Id;

/// Number of aggregates read at a time.
const PAGE_ROWS: u64 = 200;
/// Maximum number of damaged rows described for each kind.
const MAX_DESCRIBED: usize = 10;

/// Reason that a server could not start on a database.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The database cannot be opened, or its schema cannot be brought up to date.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Rows that every start reads cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
}

impl From<DbErr> for TrialError {
    fn from(error: DbErr) -> Self {
        Self::Open(error.into())
    }
}

/// Outcome of reading all aggregates of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KindTrial {
    /// Name of the kind.
    pub kind: &'static str,
    /// Number of aggregates read.
    pub aggregates: u64,
    /// Number of aggregates that cannot be read.
    pub damaged: u64,
    /// Descriptions of the first of these.
    pub words: Vec<String>,
}

impl KindTrial {
    fn add_damage(&mut self, words: impl FnOnce() -> String) {
        self.damaged += 1;
        if self.words.len() < MAX_DESCRIBED {
            self.words.push(words());
        }
    }
}

/// Database on which a server could start.
pub struct TrialDatabase {
    db: DatabaseConnection,
    reader: Reader,
}

impl TrialDatabase {
    /// Opens a database as a start does: brings its schema up to date, takes an epoch, and reads what every start
    /// reads.
    ///
    /// # Errors
    ///
    /// Fails if a start would fail.
    pub async fn open(settings: &DatabaseSettings) -> Result<Self, TrialError> {
        connect::start_restored(settings).await?.db.close().await?;
        let db = connect::reading(&DatabaseSettings { read_connections: 1, ..settings.clone() }).await?;
        let queries = Queries::new(db.clone());
        queries.undone_events().await?;
        queries.unreviewed_restore().await?;
        queries.highest_numbers().await?;
        Ok(Self { reader: Reader::Database(db.clone()), db })
    }

    /// Reads every aggregate of a kind.
    ///
    /// # Errors
    ///
    /// Fails if the database fails. An aggregate that is damaged is part of the outcome.
    pub async fn read_kind<T: StoredAggregate>(&self) -> Result<KindTrial, TrialError> {
        let mut outcome = KindTrial { kind: T::KIND, aggregates: 0, damaged: 0, words: Vec::new() };
        let mut after = String::new();
        loop {
            let keys = self.keys_after::<T>(&after).await?;
            let Some(last) = keys.last() else { return Ok(outcome) };
            let mut ids = Vec::new();
            for key in &keys {
                match key.parse::<Id>() {
                    Ok(id) => ids.push(id),
                    Err(_) => outcome.add_damage(|| format!("{}: {key:?} is not an ID", T::KIND)),
                }
            }
            if let (Some(first), Some(end)) = (ids.first(), ids.last()) {
                for LoadedAggregate { state, .. } in self.reader.load_range::<T>(*first, *end).await? {
                    match state {
                        Ok(_) => outcome.aggregates += 1,
                        Err(damaged) => outcome.add_damage(|| damaged.to_string()),
                    }
                }
            }
            after.clone_from(last);
        }
    }

    async fn keys_after<T: StoredAggregate>(&self, after: &str) -> Result<Vec<String>, DbErr> {
        let page = T::Entity::find().select_only().expr(Expr::col("id")).filter(Expr::col("id").gt(after.to_owned()));
        page.order_by(Expr::col("id"), Order::Asc).limit(PAGE_ROWS).into_tuple().all(&self.db).await
    }

    /// Closes the database.
    pub async fn close(self) {
        let _ = self.db.close().await;
    }
}
