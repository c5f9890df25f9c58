//! Staff (decisions §2).

use super::operation::{Named, Resource, delete, get, patch, post};
use super::shape::{Shape, email, has, id, may, object, secret, taken, text, text_of, time, whole, word, yes_no};
use crate::domain::principal::Role;
use crate::secrets::credentials::{PASSWORD_LONGEST, PASSWORD_SHORTEST};
use serde_json::{Value, json};

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Users",
        about: "Members of staff.",
        thing: "user",
        shapes: vec![Named { name: "User", shape: shape(), example: example() }],
        operations: vec![
            get("/api/users", "listUsers", "List members of staff").lists("users", "User"),
            get("/api/users/{id}", "getUser", "Show a member of staff").shows("User"),
            post("/api/users", "createUser", "Add a member of staff")
                .takes(
                    taken([
                        has("email", email()),
                        has("name", text_of(1..=200)),
                        has("password", password()),
                        has("role", staff_role()),
                    ]),
                    json!({
                        "email": "sam@example.org", "name": "Sam", "password": "correct horse battery", "role": "operator",
                    }),
                )
                .creates("User")
                .no(409, "email_taken", "Another user has this e-mail address."),
            patch("/api/users/{id}", "updateUser", "Change a member of staff")
                .about("Another role, a new password or `active: false` ends their sessions.")
                .takes(
                    taken([
                        may("name", text_of(1..=200)),
                        may("role", staff_role()),
                        may("active", yes_no().about("May sign in.")),
                        may("password", password()),
                    ]),
                    json!({"role": "admin"}),
                )
                .shows("User")
                .no(409, "last_admin", "The last active admin cannot be demoted or put out of service."),
            delete("/api/users/{id}", "deleteUser", "Remove a member of staff")
                .about("Their sessions end.")
                .no(409, "last_admin", "The last active admin cannot be deleted."),
        ],
    }
}

fn password() -> Shape {
    secret(PASSWORD_SHORTEST..=PASSWORD_LONGEST)
}

/// Staff are operators or admins.
fn staff_role() -> Shape {
    word([Role::Operator, Role::Admin].map(Role::word))
}

fn shape() -> Shape {
    object([
        has("id", id()),
        has("email", text()),
        has("name", text()),
        has("role", staff_role()),
        has("active", yes_no().about("May sign in.")),
        has("createdAt", time()),
        has("updatedAt", time()),
        has("version", whole(1..)),
    ])
}

pub(super) fn example() -> Value {
    json!({
        "id": "01890a5d-ac96-774b-bcce-b302099a8059", "email": "sam@example.org", "name": "Sam", "role": "operator", "active": true,
        "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-01T08:00:00.000Z", "version": 1,
    })
}
