//! A short way to write a table down. Only types that both databases agree on: text, 64-bit integers, booleans.

use sea_orm_migration::prelude::{Index, IndexCreateStatement, Table as Statement, TableCreateStatement};
use sea_orm_migration::schema::{big_integer, big_integer_null, boolean, text, text_null};
use sea_orm_migration::sea_orm::DbBackend;
use sea_orm_migration::{DbErr, SchemaManager};

/// A table and its indexes.
pub struct Table {
    name: &'static str,
    columns: TableCreateStatement,
    indexes: Vec<IndexCreateStatement>,
    clustered: bool,
}

impl Table {
    /// Without columns yet.
    pub fn new(name: &'static str) -> Self {
        Self { name, columns: Statement::create().table(name).to_owned(), indexes: Vec::new(), clustered: false }
    }
    /// The head of a thing: identity, version and its serialised form.
    pub fn head(name: &'static str) -> Self {
        Self::new(name).text("id").key("id").int("version").int("schema").text("doc")
    }
    /// A row under a head.
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
    /// The primary key.
    pub fn key(mut self, column: &'static str) -> Self {
        self.columns.primary_key(Index::create().name(unique_name(self.name, &[column])).col(column).primary());
        self
    }
    /// For small rows that are written much: SQLite keeps them in the tree of their key, one tree less to write to.
    pub fn clustered(mut self) -> Self {
        self.clustered = true;
        self
    }
    /// No two rows alike in these columns.
    pub fn unique(mut self, columns: &[&'static str]) -> Self {
        let index = self.over(&unique_name(self.name, columns), columns).unique().to_owned();
        self.indexes.push(index);
        self
    }
    /// For looking up and sorting by these columns.
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
    /// Makes it.
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

/// `uq__skus__code`: PostgreSQL names the constraint that said no, and the store reads table and columns out of it.
fn unique_name(table: &str, columns: &[&str]) -> String {
    format!("uq__{table}__{}", columns.join("__"))
}
