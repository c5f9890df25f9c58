//! A custom request: what a customer wants made, with photos, before there is a price that holds.
//!
//! It comes in from a page of the shop, and makes its photos as files in its own commit. The estimate is frozen by the
//! price tables of that moment ([`crate::domain::intake_prices`]). A quote that answers it tells it what became of
//! that; an operator may say the same of a quote that was made elsewhere.
//!
//! | from | on | to |
//! | --- | --- | --- |
//! | none | it comes in | new |
//! | new, declined | a quote is made | quoted |
//! | any | its quote is accepted | accepted |
//! | quoted | its quote is declined | declined |
//! | new | an operator says so | quoted, declined |
//! | quoted | an operator says so | accepted, declined |
//! | declined | an operator says so | quoted |
//! | all but closed | closed | closed |

mod rules;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::domain::aggregate::NewAggregate;
use crate::domain::file::File;
use crate::domain::id::Id;
use crate::domain::intake_prices::{Estimate, Wishes};
use crate::domain::mail::Mail;
use crate::domain::picture_format::PictureFormat;
use crate::domain::time::Timestamp;

pub use crate::domain::custom_request_status::CustomRequestStatus;

/// Most photos of one request.
pub const MAX_PHOTOS: usize = 10;

/// A photo of a request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Photo {
    /// The file that it is.
    pub file_id: Id,
    /// Its format, found from its bytes.
    pub format: PictureFormat,
    /// Length of the file in bytes.
    pub size: i64,
}

/// What a customer asked for, and what became of it.
///
/// Invariants: wishes, photos and estimate never change; there are 1 to [`MAX_PHOTOS`] photos.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomRequest {
    /// Identifier of the request.
    pub id: Id,
    /// Counts the changes that people made, from 1.
    pub revision: i64,
    /// Where it stands.
    pub status: CustomRequestStatus,
    /// The site that it came from.
    pub site: String,
    /// The customer who asked.
    pub customer_id: Id,
    /// The customer's e-mail address in lower case.
    pub customer_email: String,
    /// The name that was given with the request.
    pub customer_name: String,
    /// The telephone number that was given with it.
    pub phone: Option<String>,
    /// What is wanted.
    pub wishes: Wishes,
    /// What it is to look like.
    pub photos: Vec<Photo>,
    /// What it was estimated to cost.
    pub estimate: Estimate,
    /// Until when the estimate is good.
    pub valid_until: Timestamp,
    /// The newest quote that answers it.
    #[serde(default)]
    pub quote_id: Option<Id>,
    /// What the staff says among themselves.
    #[serde(default)]
    pub internal_notes: Option<String>,
    /// When it came in.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A photo whose content is on the disk already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewPhoto {
    /// SHA-256 of the content in hexadecimal.
    pub sha256: String,
    /// Length of the content in bytes.
    pub size: i64,
    /// Its format, found from its bytes.
    pub format: PictureFormat,
}

/// What came in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCustomRequest {
    /// The site; `None` takes the configured default.
    pub site: Option<String>,
    /// The customer's record.
    pub customer_id: Id,
    /// The customer's e-mail address in its normal form.
    pub customer_email: String,
    /// What the customer calls themselves.
    pub customer_name: String,
    /// Telephone number, as it was written.
    pub phone: Option<String>,
    /// What is wanted.
    pub wishes: Wishes,
    /// The photos, at least one.
    pub photos: Vec<NewPhoto>,
}

/// What an operator changes of a request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CustomRequestChange {
    /// The notes as they will be; `None` leaves them.
    pub internal_notes: Option<Option<String>>,
    /// What became of it; `None` leaves it.
    pub status: Option<CustomRequestStatus>,
}

/// What can be asked of a custom request.
#[derive(Clone, Debug)]
pub enum CustomRequestCommand {
    /// Takes it in, with its photos.
    Create(Box<NewCustomRequest>),
    /// An operator notes something, or what became of it.
    Update {
        /// The version that the caller read; refused with 412 if it has changed since.
        if_version: Option<i64>,
        /// What changes.
        change: CustomRequestChange,
    },
    /// There is nothing more to do.
    Close,
    /// A quote answers it. This and the next two are told by the quote, as often as it likes, and never refused.
    Quoted {
        /// The quote that the customer has.
        quote_id: Id,
    },
    /// The customer took this quote.
    QuoteAccepted {
        /// The quote that was taken.
        quote_id: Id,
    },
    /// The customer declined this quote, or its time is over.
    QuoteDeclined {
        /// The quote that was not taken.
        quote_id: Id,
    },
}

/// What a commit of a request creates.
#[derive(Clone, Debug)]
pub enum CustomRequestCreated {
    /// A mail to the operators.
    Mail(Box<Mail>),
    /// A picture of what is wanted.
    Photo(Box<File>),
}

impl NewAggregate for CustomRequestCreated {
    fn kind(&self) -> &'static str {
        match self {
            Self::Mail(mail) => NewAggregate::kind(&**mail),
            Self::Photo(file) => NewAggregate::kind(&**file),
        }
    }
    fn id(&self) -> Id {
        match self {
            Self::Mail(mail) => NewAggregate::id(&**mail),
            Self::Photo(file) => NewAggregate::id(&**file),
        }
    }
}
