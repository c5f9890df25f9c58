//! Messages of an order's timing: its label, and when it has to be ready and is expected to be.

use crate::messages;

messages! {
    "staff/timing":

    on_time;
    at_risk;
    late;
    due_expected(deadline: &str, expected: &str);
    due_unknown(deadline: &str);
    promised_expected(deadline: &str, expected: &str);
    promised_unknown(deadline: &str);
}
