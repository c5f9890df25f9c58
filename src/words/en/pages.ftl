### Pages for customers.

## Frame

skip_link = Skip to the content
navigation = Pages
orders_tab = Orders
invoices_tab = Invoices
quotes_tab = Quotes
profile_tab = Profile
sign_out = Sign out
newer = Newer
older = Older
ask_shop = Ask the shop
payment_title = On to the payment
redirect_text = The next page opens in a moment. If it does not, press the button.
continue_button = Continue
none_yet = There are none for { $email } yet.

## Sums, of orders, invoices and quotes

items = Items
shipping = Shipping
discount = Discount
tax = Tax
total = Total
pay_amount = Pay { $amount }

## Sign-in

sign_in = Sign in
sign_in_text = See your orders, invoices and quotes. We send you a link by email; you need no password.
email_field = Email address
send_link = Send me a link
link_expired = This link was already used or has expired. Request a new one.
check_email = Check your email
link_sent = A link is on its way to { $email }. It works once, within ten minutes.
nothing_came = Nothing came? Look in the spam folder, check the address, and { $link }.
ask_again = ask again
link_incomplete = This link is not complete
link_incomplete_text = Open the whole link from the email, or ask for a new one.
new_link = Ask for a new link
confirm_text = One step is left: press the button to sign in with this browser.
link_unwanted = You did not ask for this link? Close the page, and nothing happens.

## Orders

orders_title = Your orders
orders_empty = Your orders appear here, with their progress and their parcels.
order_count =
    { $count ->
        [one] 1 item
       *[other] { $count } items
    }
ordered_on = ordered { $day }
expected_on = expected { $day }
order_title = Order { $number }
ordered_at = Ordered { $time }
reload_order = { $link } to see the current status.
reload_order_link = Load the page again

order_draft = Draft
order_created = To be paid
order_payment_failed = Payment failed
order_paid = Paid
order_printing = Printing
order_ready = Ready
order_shipped = Shipped
order_cancelled = Cancelled
order_refunded = Refunded

order_draft_text = This is a draft. It will be placed when you pay for it.
order_created_text = We will start as soon as it is paid.
order_payment_failed_text = The last payment did not go through. You can try again.
order_paid_text = It has been paid and is queued for printing.
order_printing_text = It is being printed: { $parts }.
order_ready_text = All parts are made. It will be shipped soon.
order_picked_up_text = It was picked up.
order_shipped_text = It is on its way to you.
order_cancelled_text = It was cancelled.
order_cancelled_paid_text = It was cancelled; no payment is due. Your payment will be refunded.
order_refunded_text = Your payment was refunded.

parts_made =
    { $all ->
        [one] { $good } of { $all } part is made
       *[other] { $good ->
            [one] { $good } of { $all } parts is made
           *[other] { $good } of { $all } parts are made
        }
    }
parts_printing = { $parts }, { $count } being printed

history = History
step_draft = Drafted
step_created = Ordered
step_payment_failed = Payment failed
step_paid = Paid
step_printing = Printing started
step_ready = All parts are made
step_part_shipped = Some parts were shipped
step_shipped = Shipped
step_cancelled = Cancelled
step_refunded = Refunded
step_plate = A plate was printed
step_note = Note added

to_pay_heading = To be paid: { $amount }
progress = Progress
progress_value = { $good } of { $all }
stages = Stages
stage_ordered = Ordered
stage_paid = Paid
stage_printing = Printing
stage_ready = Ready
stage_shipped = Shipped
stage_picked_up = Picked up
expected_ready = Expected to be ready { $day }
promised = Promised for { $time }
promised_ready = Promised for { $time }, ready { $ready }
promised_ready_late = Promised for { $time }, ready { $ready }. We apologise for the delay.

part_of_set = (part of a set)
your_notes = Your notes: { $notes }
sets_complete =
    { $all ->
        [one] { $good } of { $all } set complete
       *[other] { $good } of { $all } sets complete
    }
line_made = { $good } of { $all } made
line_shipped = { $parts }, { $shipped } shipped
parcel = Parcel { $number }
picked_up = Picked up
shipped = Shipped
carrier = Carrier
tracking_number = Tracking number
expected_delivery = Expected delivery
track_parcel = Track the parcel
invoice_link = Invoice

## Invoices

invoices_title = Your invoices
invoices_empty = Your invoices appear here, to be paid and downloaded.
issued_on = Issued { $day }
due_on = due { $day }
invoice_title = Invoice { $number }
invoice_draft = Draft
invoice_open = To be paid
invoice_partly_paid = Partly paid
invoice_overdue = Overdue
invoice_paid = Paid
invoice_refunded = Refunded
invoice_void = Void
invoice_cancelled = Order cancelled
invoice_cancelled_text = Its order was cancelled; no payment is due.
invoice_cancelled_paid_text = Its order was cancelled; no payment is due. Your payment will be refunded.
download_pdf = Download PDF
order_link = Order
seller = Seller
vat_id = VAT ID { $id }
credit_notes = Credit notes
credit_note = Credit note { $number }
summary = Summary
issued = Issued
due = Due
paid = Paid
to_pay = To be paid
invoice_for = For { $name }
due_note = Due { $day }
nothing_to_pay = Thank you. There is nothing left to pay.

## Quotes

quotes_title = Your quotes
quotes_empty = Quotes appear here once we have sent them, to be accepted or declined.
quote_title = Quote { $number }
quote_draft = Draft
quote_sent = Waiting for you
quote_accepted = Accepted
quote_declined = Declined
quote_expired = Expired
valid_until = Valid until { $time }
quote_text = If you accept, we make it at this price. You pay on the next page.
accept = Accept and order
decline = Decline
quote_expired_text = It is no longer valid. Ask us for a new one.
open_order = Open the order

## Models

models_title = Get a price for a model
models_text = Upload a model and see a price at once. We check it, and send you a quote that you can accept.
model_field = Model
model_hint = An STL or 3MF file.
quantity = Quantity
notes_field = Notes for us
upload = Upload the model
uploads = Uploaded so far
model_quoted = Quoted
model_priced = Being priced
model_checked = Being checked
current_price = Current price
size = Size
price_each = Each
net_total = Total, without tax and shipping
price_pending = The price becomes more exact within a minute: load the page again. The quote that we send you is binding.
price_text = The quote that we send you is binding.
open_quote = Open the quote
load_again = Load again
all_models = All models

## Profile

profile_title = Your profile
signed_in_as = You are signed in as { $email }.
about_you = About you
name_field = Name
phone_field = Telephone
company_field = Company
tax_id_field = Tax identifier of the company
language_field = Language of pages, emails and documents
language_of_browser = As set in this browser; emails and documents in English
other_language = Another language
shipping_address = Shipping address
address_hint = Leave it empty if you have none.
line1_field = Street and house number
line2_field = Second line
city_field = City
region_field = State or region
postal_code_field = Post code
country_field = Country, as a code of two letters
save = Save

## Errors of forms, after the label of the field

fault_empty = must not be empty
fault_email = must be an email address
fault_country = must be a two-letter country code
fault_too_long =
    { $most ->
        [one] must be at most 1 character
       *[other] must be at most { $most } characters
    }

## Error pages

missing_title = This page is not here
missing_text = Check the address, or begin with your orders.
lost_text = Check the address. If you ordered here, start with your orders; if you work here, start with the floor.
cross_site_title = This did not come from our page
cross_site_text = Open the page here, and try again from it.
outdated_title = Please try again
outdated_text = Go back, load the page again, and send the form once more.
foreign_title = This belongs to another customer
foreign_text = Sign in with the email address that it was sent to.
conflict_title = That is not possible now
conflict_text = Load the page that you came from again to see how things stand.
too_large_title = That is too much at once
too_large_text = Go back, and send less.
too_many_title = Please wait a moment
too_many_text = There were many requests from you. Try again a little later.
unavailable_title = That does not work at the moment
unavailable_text = Nothing was lost. Try again in a minute.
invalid_title = That did not work
invalid_text = Go back, and mend what is named above.
broken_title = Something went wrong here
broken_text = It is not your fault, and it is in our log. Try again in a while.
to_orders = To your orders
to_floor = To the floor
export_expired_title = This link has expired
export_unknown_title = This link does not work
export_again_text = Exports can be downloaded for 7 days. Request a new one in your account.
