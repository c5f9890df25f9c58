//! Printer positions on the floor plan, in requests and responses.

use api_derive::Request;
use serde_json::json;

use crate::wire::Within;
use domain::printer::{MAX_ROOM_PLACE, RoomPosition};

/// Position of a printer on its room's floor plan.
#[derive(Request, Clone, Debug)]
#[api(name = "RoomPosition", fields = RoomPosition, example = json!({"row": 1, "column": 3}))]
struct GivenPosition {
    /// Row, starting at 1 at the front of the room.
    #[api(Within(1..=MAX_ROOM_PLACE))]
    row: u32,
    /// Column, starting at 1 on the left.
    #[api(Within(1..=MAX_ROOM_PLACE))]
    column: u32,
}

record!(RoomPosition, GivenPosition);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::ToSchema as _;
    use crate::wire::written::written;

    #[test]
    fn requests_are_read_as_the_schema_says() {
        assert_eq!(written(GivenPosition::schema()), written(RoomPosition::schema()));
        assert_eq!(GivenPosition::example(), RoomPosition::example());
    }
}
