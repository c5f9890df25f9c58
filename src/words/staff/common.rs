//! Messages of the parts that pages of all areas share.

use crate::messages;

messages! {
    "staff/common":

    total(count: u64);
    newer;
    older;
}
