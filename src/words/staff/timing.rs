//! Messages about an order's timing: its label, when it has to be ready and is expected to be, and its remedies.

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

    raise_priority(priority: u32);
    sign_off(jobs: &str);
    resume(jobs: &str, printer: &str);
    clear_bed(printer: &str);
    retry(jobs: &str);
    load(materials: &str, printer: &str);
    return_to_service(printer: &str);
    remedy(request: &str, time: &str);
    hopeless;
    hopeless_earliest(time: &str);

    change_priority;
    open_printer;
    change_priority_of(order: &str);
    open_printer_for(order: &str);
    load_spool_for(order: &str);
    view_job_of(order: &str);
    kind_late_or_at_risk;
    orders_at_risk(count: usize);
}
