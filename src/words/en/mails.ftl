### Emails to customers.

## Frame and attachments

customer_footer = You received this email because you are a customer of { $shop }.
invoice_label = Invoice
credit_note_label = Credit note

## Tables

more_items =
    { $count ->
        [one] and 1 line more
       *[other] and { $count } lines more
    }
item_of_kit = { $item } (of { $kit })
discount = Discount
shipping = Shipping
tax = Tax
total = Total
paid = Paid
to_pay = To be paid

## Sign-in link

sign_in_subject = Your sign-in link
sign_in_text =
    Someone, probably you, asked to sign in with this email address.

    The link below works once, within { $minutes ->
        [one] 1 minute
       *[other] { $minutes } minutes
    }. If it was not you, ignore this email: nobody can sign in without the link.
sign_in_link = Sign in

## Receipt

receipt_subject = Receipt for your payment
receipt_text = Thank you: your invoice is paid.
order_receipt_subject = Receipt for order { $number }
order_receipt_text = Thank you: order { $number } is paid.
receipt_link = Open the invoice

## Invoice to pay

invoice_subject = Your invoice
invoice_text = Here is your invoice.
due_invoice_text = Here is your invoice. It is due by { $date }.
invoice_link = Open and pay the invoice

## Quote

quote_subject = Your quote { $number }
quote_text = Here is quote { $number }.
limited_quote_text = Here is quote { $number }. You can accept it until { $date }.
quote_link = View the quote

## Shipment

# The subject, and part of the text.
shipment_sentence =
    { $content ->
        [replacement] A replacement for order { $number }
        [rest] The rest of order { $number }
        [part] A part of order { $number }
       *[whole] Order { $number }
    } { $way ->
        [pickup] was picked up
       *[parcel] is on its way
    }
shipment_text =
    Hello,

    { $sentence }:
partial_shipment_text =
    Hello,

    { $sentence }; the rest will follow:
carrier = Carrier
tracking_number = Tracking number
expected_delivery = Expected delivery
tracking_link = Track the parcel
order_link = View the order
promise_met = We promised it for { $promised } and kept our promise: it was ready on { $ready }.
promise_broken = We promised it for { $promised } and are sorry that it was not ready until { $ready }.
promise_overdue = We promised all of it for { $promised } and are sorry that the rest is late.
promise_open = All of it is promised for { $promised }.

## Export

exported_invoices = invoices
exported_quotes = quotes
export_subject = Your export of { $records } is ready
export_text =
    Your export of { $records } is ready: { $rows ->
        [one] 1 row
       *[other] { $rows } rows
    }, as a CSV file.

    The link below works until { $until }. Anyone who has it can download the file, so share it with care.
export_link = Download the file
failed_export_subject = Your export of { $records } failed
failed_export_text = The export of { $records } that you requested failed after { $attempts } attempts. Please request it again later.
