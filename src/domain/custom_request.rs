//! Custom request: a customer's requirements for a custom piece, with photos, before there is a binding price.
//!
//! The request arrives from a page of the shop; its commit also creates its photos as files. The estimate is calculated
//! once, from the price tables at the time of submission ([`crate::intake_prices`]). A quote for the request reports
//! its own outcome to it; for a quote made elsewhere, an operator may record the outcome.
//!
//! | from | on | to |
//! | --- | --- | --- |
//! | none | submitted | new |
//! | new, declined | a quote is made | quoted |
//! | any | its quote is accepted | accepted |
//! | quoted | its quote is declined | declined |
//! | new | set by an operator | quoted, declined |
//! | quoted | set by an operator | accepted, declined |
//! | declined | set by an operator | quoted |
//! | all but closed | closed | closed |
//! | new | no response in time | closed, unanswered |

mod rules;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::aggregate::NewAggregate;
use crate::file::File;
use crate::id::Id;
use crate::intake_prices::{Estimate, PieceRequirements};
use crate::mail::Mail;
use crate::picture_format::PictureFormat;
use crate::time::Timestamp;

pub use crate::custom_request_status::CustomRequestStatus;

/// Maximum number of photos per request.
pub const MAX_PHOTOS: usize = 10;

/// Photo of a custom request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Photo {
    /// File that stores the photo.
    pub file_id: Id,
    /// Image format, detected from the file's bytes.
    pub format: PictureFormat,
    /// File size in bytes.
    pub size: i64,
}

/// Customer's request for a custom piece, with its progress.
///
/// Invariants: requirements, photos and estimate never change; there are 1 to [`MAX_PHOTOS`] photos.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CustomRequest {
    /// Identifier of the request.
    pub id: Id,
    /// Version, starting at 1; incremented only by changes made by users.
    pub revision: i64,
    /// Status of the request.
    pub status: CustomRequestStatus,
    /// Site on which the request was submitted.
    pub site: String,
    /// Customer who submitted the request.
    pub customer_id: Id,
    /// The customer's email address in lowercase.
    pub customer_email: String,
    /// Customer's name as entered in the request.
    pub customer_name: String,
    /// Phone number as entered in the request.
    pub phone: Option<String>,
    /// Requirements entered by the customer.
    pub wishes: PieceRequirements,
    /// Photos of the desired object.
    pub photos: Vec<Photo>,
    /// Price estimate, frozen at submission.
    pub estimate: Estimate,
    /// Time at which the estimate expires.
    pub valid_until: Timestamp,
    /// Latest quote for the request.
    #[serde(default)]
    pub quote_id: Option<Id>,
    /// Staff notes, not shown to the customer.
    #[serde(default)]
    pub internal_notes: Option<String>,
    /// `true` if the request was closed because the shop did not respond in time; its photos are deleted in that case.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
    /// Time of submission.
    pub created_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// Photo whose content is already on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewPhoto {
    /// SHA-256 of the content in hexadecimal.
    pub sha256: String,
    /// Size of the content in bytes.
    pub size: i64,
    /// Image format, detected from the content.
    pub format: PictureFormat,
}

/// Custom request to be created.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewCustomRequest {
    /// Site on which the request was submitted; `None` uses the configured default.
    pub site: Option<String>,
    /// ID of the customer's record.
    pub customer_id: Id,
    /// The customer's email address in its normal form.
    pub customer_email: String,
    /// Customer's name as entered.
    pub customer_name: String,
    /// Phone number as entered.
    pub phone: Option<String>,
    /// Requirements entered by the customer.
    pub wishes: PieceRequirements,
    /// Photos of the desired object, at least one.
    pub photos: Vec<NewPhoto>,
}

/// Operator's changes to a custom request.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CustomRequestChange {
    /// New notes: an inner `None` clears them, an outer `None` keeps them.
    pub internal_notes: Option<Option<String>>,
    /// New status; `None` keeps the current one.
    pub status: Option<CustomRequestStatus>,
}

/// Commands that change a custom request.
#[derive(Clone, Debug)]
pub enum CustomRequestCommand {
    /// Creates the request with its photos.
    Create(Box<NewCustomRequest>),
    /// Edits the notes or the status on behalf of an operator.
    Update {
        /// Version that the caller read; rejected with 412 if the request has changed since.
        if_version: Option<i64>,
        /// Fields to change.
        change: CustomRequestChange,
    },
    /// Closes the request: nothing more needs to be done.
    Close,
    /// Closes a request that has stayed new for too long.
    CloseUnanswered {
        /// Version that the caller read; rejected with 412 if the request has changed since.
        if_version: Option<i64>,
    },
    /// Records that a quote was made for the request. Like the next two commands, it is sent by the quote, repeatedly
    /// if necessary, and never rejected.
    Quoted {
        /// Quote sent to the customer.
        quote_id: Id,
    },
    /// Records that the customer accepted a quote.
    QuoteAccepted {
        /// Accepted quote.
        quote_id: Id,
    },
    /// Records that a quote was declined or has expired.
    QuoteDeclined {
        /// Declined or expired quote.
        quote_id: Id,
    },
}

/// Aggregate created by a custom request's commit.
#[derive(Clone, Debug)]
pub enum CustomRequestCreated {
    /// Email to the operators.
    Mail(Box<Mail>),
    /// Photo of the desired object.
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
