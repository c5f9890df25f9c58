//! Messages for the staff sign-in.

use crate::messages;

messages! {
    "staff/sign_in":

    title;
    sign_in_there;
    for_staff;
    email_field;
    password_field;
    code_field;
    code_hint;
    sign_in;
    are_you_customer(link: &str);
    customer_link;
    no_users(command: &str);
    signed_in;
}
