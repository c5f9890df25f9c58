### Webhook endpoints: the list, an endpoint's page, its log of deliveries, and the form.

## List

title = Webhooks
introduction = Webhook endpoints receive events from your shop.
event_reference = Event reference
add_endpoint = Add endpoint
no_endpoints = No endpoints yet.
no_endpoints_advice = Add an endpoint and select the events to send.
only_admins = Only admins can add endpoints.
events_line = Events: { $events }

## Health of an endpoint

disabled = Disabled
failing = Failing
active = Active
deliveries_stopped = Deliveries have stopped: { $reason }. New events are queued until the endpoint is enabled.
no_pending = No pending deliveries.
pending =
    { $count ->
        [one] { $count } pending delivery.
       *[other] { $count } pending deliveries.
    }
more_pending = More than { $count } pending deliveries.
will_retry = { $count } failed and will be retried.
# The failure is a status or "no response", with the error in parentheses.
latest_failure = Latest failure: { $failure }.
without_response = no response
last_attempt = Last attempt: { $time }

## Page of an endpoint

endpoint_title = Webhook endpoint
all_endpoints = All endpoints
glance = At a glance
url = URL
events = Events
added = Added
previous_secret = Previous secret
previous_secret_until = also signs deliveries until { $time }
replay_fact = Replay
in_progress = In progress
actions = Actions
enable = Enable endpoint
send_test = Send test event
disable = Disable endpoint

## Changes

edit_heading = Edit endpoint
url_and_events = Edit URL and events
save = Save
replay_heading = Replay events
since_field = Since
since_hint = Within the last 30 days.
replay = Replay
replay_note = Resends every event since this time. The webhook-id header stays the same, so that receivers can detect repeats.
rotate_heading = Rotate signing secret
rotate_note = You'll see the new secret only once. For 24 hours, deliveries are also signed with the current secret, so you have time to replace it.
rotate = Rotate secret
delete_heading = Delete endpoint
delete_note = Deliveries to { $url } stop, and pending deliveries are cancelled. You can't undo this.
delete = Delete { $url }

## Form, and the secret that is shown once

url_field = Endpoint URL
events_field = Events to send
secret = Signing secret
secret_hint = Use at least 24 characters. Leave empty to generate a secret, which you can copy on the next page.
later_events_only = The endpoint receives only events that happen after you add it.
added_title = Endpoint added
rotated_title = Signing secret rotated
secret_note = Verify webhook signatures with this secret. Copy it now. You won't be able to see it again; if you lose it, rotate it.
weak_secret = the secret is short; at least 24 bytes are recommended
own_secret_used = Deliveries are signed with the secret you entered.
view_endpoint = View endpoint

## Log of deliveries

deliveries = Deliveries
no_deliveries = No deliveries yet. Send a test event to try the endpoint.
none_match = No deliveries match.
show_all = Show all
kept_days = Deliveries are kept for 30 days.
status_field = Status
event_field = Event
all = All
show = Apply
failed = Failed
delivery_pending = Pending
delivered = Delivered
cancelled = Cancelled
retrying = Retrying
# After the time of a delivery, as a list with commas.
resent = resent
attempts =
    { $count ->
        [one] { $count } attempt
       *[other] { $count } attempts
    }
last_attempted = last attempt { $time }
exchange = Request and response
send_again = Send again
# Outcome of the last attempt: one of the three, with the duration in milliseconds after it.
response_status = Response { $status }
not_sent = Not sent yet
no_response = No response
after_duration = { $answer } after { $duration } ms
request = Request
response = Response
status_line = Status { $status }
no_body = (no body)
no_response_sentence = No response.

## Messages of the API for the forms

fault_url_length = the URL is too long
fault_url = the URL must be absolute and have a host
fault_url_scheme = the scheme must be http or https
fault_url_credentials = the URL must not contain a user name or password
fault_url_address = the address is not public; set webhooks.allow_private_targets = true to allow it
fault_secret_length = the secret is too long
