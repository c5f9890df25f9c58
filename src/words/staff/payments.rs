//! Names of payment methods, on pages that list payments.

use crate::messages;

messages! {
    "staff/payments":

    payment_method(method: &str, name: &str);
}
