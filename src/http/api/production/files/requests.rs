//! Requests to the file routes.

use api_derive::Request;

use domain::file::FileKind;
use http::openapi::shape::{Shape, bytes, closed_object, optional, required};
use http::page::PageQuery;
use http::wire::{ToSchema, schema_of};

/// Upload body: a multipart form, which is streamed.
pub(super) struct FileUpload;

impl ToSchema for FileUpload {
    const NAME: Option<&'static str> = Some("FileUpload");
    fn schema() -> Shape {
        let file = bytes().about("Content of the file, with a file name.");
        let kind = schema_of::<FileKind>().about("Kind of the file, if it cannot be detected from the content.");
        closed_object([required("file", file), optional("kind", kind)]).about("File to upload.")
    }
}

/// Filter for the list of files.
#[derive(Request, Debug)]
pub struct FileQuery {
    /// Return only files of the given kind.
    pub(super) kind: Option<FileKind>,
    /// Return only files whose content has the given SHA-256, in lowercase hexadecimal.
    pub(super) sha256: Option<String>,
    /// Return only files whose name contains the given text.
    pub(super) q: Option<String>,
    #[api(flatten)]
    pub(super) page: PageQuery,
}
