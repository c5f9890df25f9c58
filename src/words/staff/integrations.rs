//! Messages for the integrations page. Names, fields and tests of services are shared with the setup wizard.

use crate::messages;

messages! {
    "staff/integrations":

    title;
    text;
    restart_needed;
    restart_text;

    connected;
    no_calls;
    failing;
    off;
    not_set_up;
    failures_in_row(count: u32);
    last_response(time: &str);
    no_response;
    works_without;

    redis_about;
    smtp_about;
    configure(file: &str, environment: &str, section: &str);
    accounting_text(file: &str, environment: &str, section: &str);
    api_documentation;

    edit;
    test_only;
    test_and_save;
    nothing_saved;
    success;
    nothing_to_save;
    saved(file: &str);
    restart_to_apply;
    shadowed(setting: &str, source: &str);
}
