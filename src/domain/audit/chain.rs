//! Chain of the audit log's lines: each line has a number and a hash that covers its contents and the hash of the line
//! before it. No line can be changed, removed, inserted or moved without changing all hashes after it.
//!
//! The chain alone does not protect against whoever can write to the database, and can recompute it from any line
//! onwards. A head ([`ChainHead`]) stored elsewhere reveals that too.
//!
//! The bytes that a hash covers can never change: logs are verified from their first line on.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// Beginning of the bytes that each hash covers, which distinguishes it from hashes of anything else.
const HASH_PREFIX: &[u8] = b"printfloor audit line\n";
/// Length of a hash, in hexadecimal digits.
const HASH_DIGITS: usize = 64;

/// Contents of a line, as they are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChainLine<'a> {
    /// ID of the line.
    pub id: &'a str,
    /// Time, in milliseconds since 1970.
    pub at: i64,
    /// Caller.
    pub actor: &'a str,
    /// Name of the act.
    pub action: &'a str,
    /// Kind of the act's subject.
    pub subject_kind: &'a str,
    /// ID of the act's subject.
    pub subject_id: &'a str,
    /// ID of the request; `None` if there was none.
    pub request_id: Option<&'a str>,
    /// `done`, or the code of the rejection.
    pub outcome: &'a str,
    /// Further facts, as JSON; `None` if there are none.
    pub detail: Option<&'a str>,
}

impl ChainLine<'_> {
    /// Computes the hash of the line with a number, after a line with the hash `previous`.
    fn hash(&self, number: i64, previous: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(HASH_PREFIX);
        hash.update(number.to_be_bytes());
        hash.update(self.at.to_be_bytes());
        let texts = [
            Some(previous),
            Some(self.id),
            Some(self.actor),
            Some(self.action),
            Some(self.subject_kind),
            Some(self.subject_id),
            self.request_id,
            Some(self.outcome),
            self.detail,
        ];
        for text in texts {
            match text {
                None => hash.update([0]),
                Some(text) => {
                    hash.update([1]);
                    // With its length, so that no text runs over into the next.
                    hash.update((text.len() as u64).to_be_bytes());
                    hash.update(text.as_bytes());
                }
            }
        }
        hex::encode(hash.finalize())
    }
}

/// Number and hash of a line, which stand for the log up to it. Written `12:` and the hash.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ChainHead {
    /// Number of the line; the first has 1. 0 if the log is empty.
    pub number: i64,
    /// SHA-256 hash of the line, in hex; empty if the log is empty.
    pub hash: String,
}

impl ChainHead {
    /// Returns the head of the log when a line has been appended to it.
    pub fn append(&self, line: &ChainLine<'_>) -> Self {
        let number = self.number.saturating_add(1);
        Self { number, hash: line.hash(number, &self.hash) }
    }
}

impl fmt::Display for ChainHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.number, self.hash)
    }
}

/// Parse error: the text is not a head.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("must be a number and a hash, as `printfloor audit head` prints them")]
pub struct ChainHeadError;

impl FromStr for ChainHead {
    type Err = ChainHeadError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (number, hash) = text.split_once(':').ok_or(ChainHeadError)?;
        let number: i64 = number.parse().map_err(|_| ChainHeadError)?;
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let is_hash = hash.len() == HASH_DIGITS && hash.bytes().all(is_digit);
        let is_head = if number == 0 { hash.is_empty() } else { number > 0 && is_hash };
        if is_head { Ok(Self { number, hash: hash.to_owned() }) } else { Err(ChainHeadError) }
    }
}

/// First place at which a log is no longer as it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChainFault {
    /// Lines are missing.
    Missing {
        /// Number of the first of them.
        first: i64,
        /// Number of the last of them.
        last: i64,
    },
    /// A line has the same number as another line, or a number not yet reached.
    Extra(i64),
    /// The hash of the line with this number does not match.
    Changed(i64),
    /// The line with this number matches, but differs from a head stored elsewhere.
    Rewritten(i64),
    /// The head in the database is not the hash of the last line, which has this number.
    Head(i64),
}

impl fmt::Display for ChainFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { first, last } if first == last => write!(f, "line {first} is missing"),
            Self::Missing { first, last } => write!(f, "lines {first} to {last} are missing"),
            Self::Extra(number) => write!(f, "a line with the number {number} was inserted"),
            Self::Changed(number) => {
                write!(f, "line {number} does not match: it was changed, or the line before it and its hash were")
            }
            Self::Rewritten(number) => {
                write!(f, "line {number} does not match the given head: lines up to it were rewritten")
            }
            Self::Head(number) => write!(f, "the head in the database is not the hash of the last line ({number})"),
        }
    }
}

/// Check of a log, whose lines are passed in numerical order.
#[derive(Debug)]
pub struct ChainCheck {
    /// Last line that matches.
    head: ChainHead,
    /// Head that the database stores.
    stored: ChainHead,
    /// Heads stored elsewhere.
    elsewhere: Vec<ChainHead>,
}

impl ChainCheck {
    /// Creates a check of a log with a head in its database. The lines of the heads in `elsewhere` have to be in it.
    pub fn new(stored: ChainHead, elsewhere: Vec<ChainHead>) -> Self {
        Self { head: ChainHead::default(), stored, elsewhere }
    }

    /// Creates a check of the lines after the given one, which is trusted.
    pub fn after(line: ChainHead, stored: ChainHead) -> Self {
        Self { head: line, stored, elsewhere: Vec::new() }
    }

    /// Returns the last line that fits; all lines before it fit as well.
    pub fn head(&self) -> &ChainHead {
        &self.head
    }

    /// Checks the next line, with the number and the hash stored with it.
    pub fn check(&mut self, number: i64, hash: &str, line: &ChainLine<'_>) -> Result<(), ChainFault> {
        let next = self.head.append(line);
        if number > next.number {
            return Err(ChainFault::Missing { first: next.number, last: number - 1 });
        }
        if number < next.number || number > self.stored.number {
            return Err(ChainFault::Extra(number));
        }
        if hash != next.hash {
            return Err(ChainFault::Changed(number));
        }
        if self.elsewhere.iter().any(|head| head.number == number && head.hash != hash) {
            return Err(ChainFault::Rewritten(number));
        }
        self.head = next;
        Ok(())
    }

    /// Checks, after the last line, that the log ends where it should.
    pub fn finish(&self) -> Result<(), ChainFault> {
        let numbers = self.elsewhere.iter().map(|head| head.number);
        let last = numbers.fold(self.stored.number, i64::max);
        if last > self.head.number {
            return Err(ChainFault::Missing { first: self.head.number + 1, last });
        }
        if self.stored == self.head { Ok(()) } else { Err(ChainFault::Head(self.head.number)) }
    }
}

#[cfg(test)]
mod tests;
