### Access: API keys, users, and the page of one user.

## API keys

keys_title = API Keys
keys_text = Send a key in the { $header } header.
api_documentation = API documentation
new_key = New Key
no_keys = No API keys yet. Create one for each program, so you can revoke them separately.
key_revoked = Revoked
key_expired = Expired
key_active = Active
key_table = API keys
name = Name
key_column = Key
status = Status
role = Role
last_used_column = Last used
created_column = Created
expires_column = Expires
revoke = Revoke
never = Never
revoke_text = Programs that use this key lose access immediately.
revoke_key = Revoke { $name }
key_name_hint = The program that uses the key.
expiry = Expiry
expiry_hint = Last day on which the key works. Leave empty for no expiry.
customer = Customer
customer_hint = Email address of the customer whose orders the key can access. Only for the customer role.
create_key = Generate key
key_shown_once = You'll see the key only once, on the next page.
key_created = API key created
key_for = Key for { $name }
copy_key = Copy this key now. You won't be able to see it again.
view_keys = View API keys

## Roles

operator = Operator
admin = Admin
customer_role = Customer
operator_option = Operator: orders, printers and stock
admin_key_option = Admin: everything
admin_user_option = Admin: everything, including users and API keys
customer_option = Customer: own orders and the catalogue

## Users

users_title = Users
users_total =
    { $count ->
        [one] { $count } user
       *[other] { $count } users
    }
add_user = Add user
user_active = Active
user_disabled = Disabled
email = Email address
email_hint = Used to sign in.
second_factor_column = Two-step sign-in
second_factor_on = On
second_factor_off = Off
last_seen_column = Last seen
not_signed_in_now = Not signed in
password = Password
password_hint = At least 10 characters.
share_password = Share the password in person. It is not emailed. Admins can reset it at any time.

## One user

account = Account
access = Access
sessions = Sessions
not_signed_in = Not signed in.
role_hint = Changing the role ends all of this user's sessions.
save = Save
disable_account = Disable account
disable_text = { $name } is signed out everywhere and can't sign in. The account is kept.
disable = Disable { $name }
enable = Enable { $name }
own_account = This is your own account. Use your current password to change { $password } or { $factor }.
own_password_link = your password
own_factor_link = two-step sign-in
remove_account = Remove account
remove_text = You can't undo this. Actions by { $name } stay in the audit log.
remove = Remove { $name }
reset_password = Reset password
new_password = New password
reset_password_hint = Resetting the password ends all of this user's sessions. Share the new password in person.
turn_off_factor = Turn off two-step sign-in
turn_off_factor_text = For users who have lost access to their app and recovery codes. { $name } is signed out everywhere and can then sign in with the password alone.
turn_off_factor_for = Turn off for { $name }

## What is done to users in the list

actions_column = Actions
your_account = Your account
reset_password_of = Reset password for { $name }
change_role = Change role
make_admin = Make { $name } an admin
make_operator = Make { $name } an operator
