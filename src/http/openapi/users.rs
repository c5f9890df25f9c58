//! Staff (decisions §2).

use super::operation::{Named, Resource, delete, get, patch, post};
use super::shape::{Shape, email, has, id, may, object, secret, taken, text, text_of, time, word};
use crate::credentials::{PASSWORD_LONGEST, PASSWORD_SHORTEST};
use crate::domain::principal::Role;
use serde_json::{Value, json};

pub(super) fn resource() -> Resource {
    Resource {
        tag: "Users",
        about: "Members of staff.",
        thing: "user",
        shapes: vec![Named { name: "User", shape: shape(), example: example() }],
        operations: vec![
            get("/api/users", "listUsers", "List members of staff").lists("users", "User"),
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
                .about("A new role or password ends their sessions.")
                .takes(
                    taken([may("name", text_of(1..=200)), may("role", staff_role()), may("password", password())]),
                    json!({"role": "admin"}),
                )
                .shows("User")
                .no(409, "last_admin", "The last admin cannot be demoted."),
            delete("/api/users/{id}", "deleteUser", "Remove a member of staff")
                .about("Their sessions end.")
                .no(409, "last_admin", "The last admin cannot be deleted."),
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
        has("createdAt", time()),
        has("updatedAt", time()),
    ])
}

pub(super) fn example() -> Value {
    json!({
        "id": "01890a5d-ac96-774b-bcce-b302099a8059", "email": "sam@example.org", "name": "Sam", "role": "operator",
        "createdAt": "2026-11-01T08:00:00.000Z", "updatedAt": "2026-11-01T08:00:00.000Z",
    })
}
