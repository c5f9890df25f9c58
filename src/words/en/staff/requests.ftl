### Pages of custom requests.

## List

title = Custom requests
status_field = Status
all = All
search_field = Name or email address
show = Apply
none_match = No requests match.
show_all = Show all
none_yet = No custom requests yet. Customers submit requests, with photos, through the form on your site.
request_column = Request
status_column = Status
customer_column = Customer
received_column = Received
photos_column = Photos
estimate_column = Estimate

## Statuses

status_new = New
status_quoted = Quoted
status_accepted = Accepted
status_declined = Declined
status_closed = Closed

## A request

all_quotes = All quotes
all_requests = All custom requests
request_title = Custom request from { $name }
glance = At a glance
customer = Customer
phone = Phone
received = Received
received_at = { $time }, from the site { $site }
estimate_valid = Estimate valid until
internal_notes = Internal notes
photos = Photos
photos_of_closed = The request is closed. Its photos may have been deleted.
photo_heic = Photo { $number } (HEIC, which few browsers can show)
photo_of = Photo { $number } from { $name }

## Wishes

details = Request details
product = Product
subject = Subject
style = Style
size = Size
base = Base
colours = Colours
uv_coating = UV coating
uv_yes = Yes
uv_no = No
addons = Add-ons
inscription = Inscription
customer_notes = Customer notes

## Estimate and quotes

estimate = Estimate
unlisted = Not in the price tables
total = Total
quotes = Quotes
no_quotes = None yet.

## Actions

actions = Actions
is_closed = This request is closed.
create_quote = New quote from estimate
create_other_quote = New quote without estimate
edit = Edit notes and status
no_change = No change
save = Save
close_heading = Close request
close_text = Close the request when it needs no more work. Its photos may then be deleted.
close = Close request from { $name }
