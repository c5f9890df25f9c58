### Sign-in of the staff.

title = Sign in
sign_in_there = Sign in there
for_staff = For shop staff.
email_field = Email address
password_field = Password
code_field = Code from your authenticator app, or a recovery code
code_hint = Enter your password again as well.
sign_in = Sign in
are_you_customer = Are you a customer? { $link }.
customer_link = Sign in here
no_users = No users yet? Run this command on the server: { $command }
signed_in = You are signed in
