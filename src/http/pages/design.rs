//! Design of the pages: tokens (colours, spacing, type), components, icons, and the assets that pages load. Everything
//! is embedded in the binary; the page `/design` shows all of it.

pub(crate) mod assets;
mod icons;
mod parts;

pub(crate) use icons::{Icon, icon};
pub(crate) use parts::{
    CourseEntry, FilterTab, KeyFigure, Tone, chip, course, dialog, empty_place, figures, filters, menu, panel, steps,
    toast,
};
