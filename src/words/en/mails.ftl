### Emails to customers.

## Frame and attachments

customer_footer = You received this email because you are a customer of { $shop }.
invoice_label = Invoice
credit_note_label = Credit note

## Tables

more_items =
    { $count ->
        [one] and 1 more item
       *[other] and { $count } more items
    }
item_of_kit = { $item } (part of { $kit })
discount = Discount
shipping = Shipping
tax = Tax
total = Total
paid = Paid
to_pay = Amount due

## Sign-in link

sign_in_subject = Your sign-in link
sign_in_text =
    Use the link below to sign in. It works once and expires in { $minutes ->
        [one] 1 minute
       *[other] { $minutes } minutes
    }.

    If you didn't request this, you can ignore this email. Nobody can sign in without the link.
sign_in_link = Sign in

## Receipt

receipt_subject = Receipt for your payment
receipt_text = Thank you for your payment. Your invoice is paid.
order_receipt_subject = Receipt for order { $number }
order_receipt_text = Thank you for your payment. Order { $number } is paid.
receipt_link = View invoice

## Invoice to pay

invoice_subject = Your invoice
invoice_text = Here is your invoice.
due_invoice_text = Here is your invoice. Payment is due by { $date }.
invoice_link = View and pay invoice

## Quote

quote_subject = Your quote { $number }
quote_text = Here is your quote { $number }.
limited_quote_text = Here is your quote { $number }. You can accept it until { $date }.
quote_link = View quote

## Shipment

# The subject, and part of the text.
shipment_sentence =
    { $content ->
        [replacement] A replacement for order { $number }
        [rest] The rest of order { $number }
        [part] Part of order { $number }
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

    { $sentence }. The rest will follow.
carrier = Carrier
tracking_number = Tracking number
expected_delivery = Expected delivery
tracking_link = Track shipment
order_link = View order
promise_met = We kept our promise to have your order ready by { $promised }. It was ready on { $ready }.
promise_broken = We promised to have your order ready by { $promised }, but it was not ready until { $ready }. We're sorry for the delay.
promise_overdue = We promised to have your whole order ready by { $promised }. The rest is late, and we're sorry for the delay.
promise_open = Your whole order is promised for { $promised }.

## Export

exported_invoices = invoices
exported_quotes = quotes
export_subject = Your export of { $records } is ready
export_text =
    Your export of { $records } is ready: { $rows ->
        [one] 1 row
       *[other] { $rows } rows
    } in a CSV file.

    The link below works until { $until }. Anyone with the link can download the file, so share it carefully.
export_link = Download file
failed_export_subject = Your export of { $records } failed
failed_export_text =
    Your export of { $records } failed after { $attempts ->
        [one] 1 attempt
       *[other] { $attempts } attempts
    }. Please request it again later.
