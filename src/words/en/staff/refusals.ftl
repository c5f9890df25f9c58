### Error pages of the staff, and messages of errors in forms.

## Error pages

signed_out_title = Sign in again
signed_out_text = Your session has ended and nothing was changed. Sign in and try again.
spent_link_title = This link no longer works
spent_link_text = Sign in with your email address and password.
other_machine_title = Open this on the server
other_machine_text = On other devices, sign in with your email address and password.
missing_title = Page not found
missing_text = It may have been removed. Start from the floor.
programs_title = Sign in first
programs_text = These pages are for people. Programs use the API.
admins_title = Admin access required
admins_text = Ask an admin for help.
printer_title = The printer command failed
printer_text = Check the printer and try again.
own_password_title = Current password required
own_password_text = Change your own password and two-step sign-in under Settings.
cross_site_title = Request from another site
cross_site_text = The request came from another website. Open the page in this shop and try again.
outdated_title = Please try again
outdated_text = Go back, reload the page and submit the form again.
foreign_title = This belongs to another customer
foreign_text = Sign in with the email address it was sent to.
conflict_title = This isn't possible now
conflict_text = Go back and reload the page to see the current status.
too_large_title = Request too large
too_large_text = Go back and send a smaller file or less text.
too_many_title = Too many requests
too_many_text = Wait a moment and try again.
unavailable_title = Temporarily unavailable
unavailable_text = Nothing was lost. Try again in a minute.
invalid_title = That didn't work
invalid_text = Go back and fix the problem described above.
broken_title = Something went wrong
broken_text = Try again later. Details are in the server log.
sign_in = Sign in
open_floor = Open the floor

## Messages of the API, which are in English, for the forms of the translated pages

wrong_credentials = The email address or the password is incorrect.
second_factor_required = Enter the code from your authenticator app as well.
wrong_code = The code is incorrect or was already used; wait for the next one.
too_many_codes = Too many incorrect codes were entered. Try again later.
too_many_tries = Too many attempts. Try again later.
record_gone = It does not exist or has been removed.
form_outdated = The form is outdated; reload the page and submit it again.
form_sent_before = This form was already submitted with different values. Check what was saved, then reload the page and submit it again.
fault_too_short = must be at least { $least } characters
fault_too_small = must be at least { $least }
fault_too_large = must be at most { $most }
fault_range = must be from { $least } to { $most }
fault_amount = must be an amount such as 2.50, 2,50 or 1 234.50
fault_amount_ambiguous = is ambiguous: a point or comma before three digits may separate thousands or decimals; write 1234.00 or 1.23
fault_amount_precise = has more decimals than the currency
