### Emails that were not delivered: the page that lists them, and their rows on other pages.

title = Emails
introduction = Emails that could not be delivered, with the reason. They are kept for 30 days after the last attempt.
filter_label = Emails by state
undelivered = Not delivered
dismissed = Dismissed
none_undelivered = Every email was delivered or is still being sent.
none_dismissed = No email was dismissed.
heading =
    { $count ->
        [one] { $count } email was not delivered
       *[other] { $count } emails were not delivered
    }

## An email

to_recipients = Email to { $recipients } about “{ $subject }” was not delivered
to_admins = Email to the admins about “{ $subject }” was not delivered
to_gateway = Message to the agent gateway about “{ $subject }” was not delivered
others =
    { $count ->
        [one] { $count } other
       *[other] { $count } others
    }

## Why it was not delivered

rejected = The mail server or service rejected it: { $reason }
unsendable = It can't be sent: { $reason }
expired = It expired before it could be sent: { $reason }
exhausted = All attempts to send it failed, most recently: { $reason }
no_reason = no reason was given
several_reasons = For several reasons. The latest: { $reason }

## The list, with the same in one or two words

email_column = Email
reason_column = Reason
acts_column = Actions
all_admins = All admins
gateway = Agent gateway
state_rejected = Rejected
state_unsendable = Can't be sent
state_expired = Expired
state_exhausted = All attempts failed

## What can be done

send_again = Send again
dismiss = Dismiss
put_back = Put back
send_all_again =
    { $count ->
        [one] Send { $count } email again
       *[other] Send { $count } emails again
    }
dismiss_all =
    { $count ->
        [one] Dismiss { $count } email
       *[other] Dismiss { $count } emails
    }
view_emails = View emails
view_order = View order
view_invoice = View invoice
view_quote = View quote
