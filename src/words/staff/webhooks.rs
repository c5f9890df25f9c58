//! Messages about webhook endpoints: the list, an endpoint's page, its log of deliveries, and the form.

use crate::messages;

messages! {
    "staff/webhooks":

    title;
    introduction;
    event_reference;
    add_endpoint;
    no_endpoints;
    no_endpoints_advice;
    only_admins;
    events_line(events: &str);

    disabled;
    failing;
    active;
    deliveries_stopped(reason: &str);
    no_pending;
    pending(count: usize);
    more_pending(count: usize);
    will_retry(count: usize);
    latest_failure(failure: &str);
    without_response;
    last_attempt(time: &str);

    endpoint_title;
    all_endpoints;
    glance;
    url;
    events;
    added;
    previous_secret;
    previous_secret_until(time: &str);
    replay_fact;
    in_progress;
    actions;
    enable;
    send_test;
    disable;

    edit_heading;
    url_and_events;
    save;
    replay_heading;
    since_field;
    since_hint;
    replay;
    replay_note;
    rotate_heading;
    rotate_note;
    rotate;
    delete_heading;
    delete_note(url: &str);
    delete(url: &str);

    url_field;
    events_field;
    secret;
    secret_hint;
    later_events_only;
    added_title;
    rotated_title;
    secret_note;
    weak_secret;
    own_secret_used;
    view_endpoint;

    deliveries;
    no_deliveries;
    none_match;
    show_all;
    kept_days;
    status_field;
    event_field;
    all;
    show;
    failed;
    delivery_pending;
    delivered;
    cancelled;
    retrying;
    resent;
    attempts(count: u32);
    last_attempted(time: &str);
    exchange;
    send_again;
    response_status(status: &str);
    not_sent;
    no_response;
    after_duration(answer: &str, duration: &str);
    request;
    response;
    status_line(status: &str);
    no_body;
    no_response_sentence;

    fault_url_length;
    fault_url;
    fault_url_scheme;
    fault_url_credentials;
    fault_url_address;
    fault_secret_length;
}
