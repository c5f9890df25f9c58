//! Builder for tables, with the types that both databases support: text, 64-bit integers and booleans.

use sea_orm_migration::prelude::{Index, IndexCreateStatement, Table as Statement, TableCreateStatement};
use sea_orm_migration::schema::{big_integer, big_integer_null, boolean, text, text_null};
use sea_orm_migration::sea_orm::DbBackend;
use sea_orm_migration::{DbErr, SchemaManager};

/// Table and its indexes.
pub struct Table {
    name: &'static str,
    columns: TableCreateStatement,
    indexes: Vec<IndexCreateStatement>,
    clustered: bool,
}

impl Table {
    /// Starts a table without columns.
    pub fn new(name: &'static str) -> Self {
        Self { name, columns: Statement::create().table(name).to_owned(), indexes: Vec::new(), clustered: false }
    }
    /// Starts a table of snapshot rows with ID, version, and the aggregate's serialised state.
    pub fn snapshot(name: &'static str) -> Self {
        Self::new(name).text("id").key("id").int("version").int("schema").text("doc")
    }
    /// Starts a table of rows that belong to an aggregate, with ID and serialised state.
    pub fn row(name: &'static str) -> Self {
        Self::new(name).text("id").key("id").int("schema").text("doc")
    }
    pub fn text(mut self, column: &'static str) -> Self {
        self.columns.col(text(column));
        self
    }
    pub fn text_or_null(mut self, column: &'static str) -> Self {
        self.columns.col(text_null(column));
        self
    }
    pub fn int(mut self, column: &'static str) -> Self {
        self.columns.col(big_integer(column));
        self
    }
    pub fn int_or_null(mut self, column: &'static str) -> Self {
        self.columns.col(big_integer_null(column));
        self
    }
    pub fn flag(mut self, column: &'static str) -> Self {
        self.columns.col(boolean(column));
        self
    }
    /// Adds a primary-key column.
    pub fn key(mut self, column: &'static str) -> Self {
        self.columns.primary_key(Index::create().name(unique_name(self.name, &[column])).col(column).primary());
        self
    }
    /// Makes SQLite store the rows in their key's index (`WITHOUT ROWID`). This saves one tree per write, which pays
    /// off for small rows written often and in key order.
    pub fn clustered(mut self) -> Self {
        self.clustered = true;
        self
    }
    /// Adds a unique constraint on the given columns.
    pub fn unique(mut self, columns: &[&'static str]) -> Self {
        let index = self.over(&unique_name(self.name, columns), columns).unique().to_owned();
        self.indexes.push(index);
        self
    }
    /// Adds an index for looking up and sorting by the given columns.
    pub fn index(mut self, columns: &[&'static str]) -> Self {
        let index = self.over(&format!("ix__{}__{}", self.name, columns.join("__")), columns);
        self.indexes.push(index);
        self
    }
    fn over(&self, name: &str, columns: &[&'static str]) -> IndexCreateStatement {
        let mut index = Index::create().name(name).table(self.name).to_owned();
        for column in columns {
            index.col(*column);
        }
        index
    }
    /// Creates the table and its indexes.
    pub async fn create(mut self, manager: &SchemaManager<'_>) -> Result<(), DbErr> {
        if self.clustered && manager.get_database_backend() == DbBackend::Sqlite {
            self.columns.extra("WITHOUT ROWID");
        }
        manager.create_table(self.columns).await?;
        for index in self.indexes {
            manager.create_index(index).await?;
        }
        Ok(())
    }
}

/// Returns the name of a unique constraint, such as `uq__skus__code`. PostgreSQL reports the name of a violated
/// constraint, and the store parses the table and columns from it.
fn unique_name(table: &str, columns: &[&str]) -> String {
    format!("uq__{table}__{}", columns.join("__"))
}
