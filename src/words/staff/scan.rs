//! Messages for the dialog in which a label is scanned with the camera.

use crate::messages;

messages! {
    "staff/scan":

    scan;
    title;
    camera;
    close;

    starting;
    aim;
    opening;
    foreign;
    elsewhere(address: &str);
    denied;
    none;
    no_camera;
}
