### One's own account: language, password, two-step sign-in, sessions.

## Account

account_title = My account
signed_in_as = Signed in as { $email }.
language_field = Language
language_of_browser = Browser language
language_hint = Pages that are not translated yet are in English.
save = Save
password_link = Change password

## Password

password_title = My password
current_password_field = Current password
new_password_field = New password
new_password_hint = At least 10 characters.
change_password = Change password
password_note = Changing your password ends all your other sessions.

## Two-step sign-in

factor_title = Two-step sign-in
factor_on = Two-step sign-in is on. You sign in with your password and a code from your authenticator app.
factor_on_since = Turned on: { $time }.
recovery_codes_left =
    { $count ->
        [one] You have 1 recovery code left.
       *[other] You have { $count } recovery codes left.
    }
recovery_codes_use = If you lose access to the app, each code signs you in once.
turn_off_heading = Turn off
turn_off_code_field = Code from the app, or a recovery code
turn_off = Turn off two-step sign-in
turn_off_note = To switch to another app or get new recovery codes, turn off two-step sign-in and set it up again.
factor_off = Sign in with your password and a code from an authenticator app, so that a stolen password alone is not enough.
set_up = Set up
qr_code = QR code for an authenticator app
scan_heading = 1. Add your account to the app
scan_text = Scan this QR code with an authenticator app on your phone.
secret_text = Or type this key into the app: { $key }
secret_note = You won't be able to see this key again.
enter_code_second_heading = 2. Enter a code
enter_code_heading = Enter a code
code_field = Code from the app
turn_on = Turn on two-step sign-in
start_over = Start over
turned_on = Two-step sign-in is on. All your other sessions have ended.
recovery_codes_heading = Recovery codes
recovery_codes_text = Print these codes or write them down now. You won't be able to see them again. If you lose access to the app, each code signs you in once.
codes_saved = I've saved the codes

## Sessions

sessions_title = Sessions
sessions_of_shop = Browsers that are signed in to this shop.
sessions_of_account = Browsers that are signed in to your account.
sessions_advice = End any session you don't recognise to sign it out immediately.
user_column = User
browser_column = Browser
last_used_column = Last used
signed_in_column = Signed in
end_column = End
this_browser = This browser
browser_unknown = Unknown
end_session = End
end_session_of = End session of { $email }
