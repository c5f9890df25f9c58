//! Signing in, one's own password and sessions, API keys (decisions §2).

use super::operation::{Named, Resource, delete, get, post};
use super::shape::{
    Shape, either, email, has, id, may, named, object, secret, taken, text, text_like, text_of, time, yes_no,
};
use super::words::word_of;
use crate::domain::principal::Role;
use crate::secrets::credentials::{PASSWORD_LONGEST, PASSWORD_SHORTEST};
use serde_json::{Value, json};

/// The id that examples use for a key.
const KEY: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Access",
        about: "Staff sessions, one's own password, API keys.",
        thing: "api_key",
        shapes: vec![
            Named { name: "ApiKey", shape: api_key(), example: api_key_example() },
            Named { name: "Session", shape: session(), example: session_example() },
        ],
        operations: vec![
            post("/api/auth/login", "login", "Sign in")
                .about("A new token at each sign-in. The session idles out after 12 hours and ends after 7 days.")
                .takes(
                    taken([has("email", text()), has("password", secret(..=PASSWORD_LONGEST))]),
                    json!({"email": "sam@example.org", "password": "correct horse battery"}),
                )
                .answers(object([has("user", named("User"))]), json!({"user": super::users::example()}))
                .sets_cookie()
                .no(401, "wrong_credentials", "The e-mail address or the password is wrong."),
            post("/api/auth/logout", "logout", "Sign out")
                .about("Ends the session of the cookie, if there is one, and removes the cookie.")
                .sets_cookie(),
            get("/api/auth/me", "whoAmI", "Show who asks")
                .about("The staff member, or the key, or the owner of the machine on the control socket.")
                .answers(me(), json!({"user": super::users::example()})),
            post("/api/auth/password", "changePassword", "Change one's own password")
                .about("All other sessions of the user end.")
                .takes(
                    taken([
                        has("currentPassword", secret(..=PASSWORD_LONGEST)),
                        has("newPassword", secret(PASSWORD_SHORTEST..=PASSWORD_LONGEST)),
                    ]),
                    json!({"currentPassword": "correct horse battery", "newPassword": "battery horse correct"}),
                )
                .no(403, "wrong_password", "The current password is wrong.")
                .no(403, "session_required", "This is for signed-in staff."),
            get("/api/auth/sessions", "listSessions", "List one's own sessions")
                .lists("sessions", "Session")
                .no(403, "session_required", "This is for signed-in staff."),
            delete("/api/auth/sessions", "endSessions", "End one's own sessions")
                .about("The one that `id` names, or without it all but the present one.")
                .query("id", id(), "A session.")
                .no(403, "session_required", "This is for signed-in staff.")
                .no(404, "session_not_found", "There is no such session of one's own."),
            get("/api/auth/api-keys", "listApiKeys", "List API keys")
                .about("Revoked ones too; never the key itself.")
                .lists("apiKeys", "ApiKey"),
            post("/api/auth/api-keys", "createApiKey", "Make an API key")
                .about("The answer has the whole key, this once. A repeat with the same `Idempotency-Key` does not show it again.")
                .takes(
                    taken([
                        has("name", text_of(1..=200).about("What it is for.")),
                        has("role", word_of::<Role>()),
                        may("expiresAt", time().or_null().about("Until when it works; in the future.")),
                        may("customerEmail", email().or_null().about("For a customer key: whose orders it sees and makes.")),
                    ]),
                    json!({"name": "web shop", "role": "customer", "expiresAt": "2030-01-31T12:00:00.000Z"}),
                )
                .makes(new_key(), new_key_example())
                .no(409, "answer_withheld", "The first answer to this `Idempotency-Key` carried a secret."),
            delete("/api/auth/api-keys/{id}", "revokeApiKey", "Revoke an API key")
                .about("Acts on the next request, and closes streams that were opened with it."),
        ],
    }
}

fn me() -> Shape {
    let key = object([
        has("id", id()),
        has("name", text()),
        has("role", word_of::<Role>()),
        has("customerEmail", text().or_null()),
    ]);
    let machine = object([has("name", text()), has("role", word_of::<Role>())]);
    either([object([has("user", named("User"))]), object([has("apiKey", key)]), object([has("machine", machine)])])
}

fn api_key() -> Shape {
    object([
        has("id", id()),
        has("name", text().about("What it is for.")),
        has("prefix", text().about("How the key begins.")),
        has("last4", text().about("How it ends.")),
        has("role", word_of::<Role>()),
        has("customerEmail", text().or_null().about("Whose orders a customer key sees and makes.")),
        has("expiresAt", time().or_null()),
        has("revokedAt", time().or_null()),
        has("lastUsedAt", time().or_null().about("Written each minute.")),
        has("createdAt", time()),
    ])
}

fn api_key_example() -> Value {
    json!({
        "id": KEY, "name": "web shop", "prefix": "key_test_", "last4": "x9Qz", "role": "customer", "customerEmail": null,
        "expiresAt": "2030-01-31T12:00:00.000Z", "revokedAt": null, "lastUsedAt": null,
        "createdAt": "2026-11-01T08:00:00.000Z",
    })
}

fn new_key() -> Shape {
    object([
        has("id", id()),
        has("name", text()),
        has("key", text_like("^key_(live|test)_[0-9A-Za-z]+$").about("The whole key: shown this once.")),
        has("role", word_of::<Role>()),
        has("createdAt", time()),
        has("expiresAt", time().or_null()),
        may("customerEmail", text()),
    ])
}

fn new_key_example() -> Value {
    json!({
        "id": KEY, "name": "web shop", "key": "key_test_3oQmWn2Yc7Vb5Rk8Tz1Xp4Ls6Hd9Gf0Ja2Ke5Mu7Ni8", "role": "customer",
        "createdAt": "2026-11-01T08:00:00.000Z", "expiresAt": "2030-01-31T12:00:00.000Z",
    })
}

fn session() -> Shape {
    object([
        has("id", id()),
        has("createdAt", time()),
        has("seenAt", time().about("Its last request.")),
        has("agent", text().or_null().about("The browser, in its own words.")),
        has("current", yes_no().about("It is the one that asks.")),
    ])
}

fn session_example() -> Value {
    json!({
        "id": "01890a5d-ac96-774b-bcce-b302099a8058", "createdAt": "2026-11-01T08:00:00.000Z",
        "seenAt": "2026-11-01T09:30:00.000Z", "agent": "Mozilla/5.0", "current": true,
    })
}
