//! Icons: Lucide drawings in a single sprite, which `scripts/page-assets` builds from the names in this file.

use maud::{Markup, html};

use super::assets::ICONS;

/// Declares the icons: their variants, and the names of their drawings.
macro_rules! icons {
    ($($icon:ident = $name:literal,)*) => {
        /// Icon in the sprite, named as in Lucide.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum Icon {$(
            #[doc = concat!("Lucide's `", $name, "`.")]
            $icon,
        )*}

        impl Icon {
            /// All icons, sorted by name.
            pub(crate) const ALL: &[Self] = &[$(Self::$icon),*];

            /// Returns the name of the drawing in the sprite.
            pub(crate) const fn name(self) -> &'static str {
                match self {$(
                    Self::$icon => $name,
                )*}
            }
        }
    };
}

icons! {
    ArrowLeft = "arrow-left",
    ArrowRight = "arrow-right",
    Bell = "bell",
    BookOpen = "book-open",
    Box = "box",
    Calendar = "calendar",
    Camera = "camera",
    ChartColumn = "chart-column",
    Check = "check",
    ChevronDown = "chevron-down",
    ChevronRight = "chevron-right",
    CircleAlert = "circle-alert",
    CircleCheck = "circle-check",
    Clock = "clock",
    Copy = "copy",
    CornerDownRight = "corner-down-right",
    Database = "database",
    Download = "download",
    Ellipsis = "ellipsis",
    ExternalLink = "external-link",
    Eye = "eye",
    FileText = "file-text",
    House = "house",
    Image = "image",
    Info = "info",
    KeyRound = "key-round",
    Layers = "layers",
    LayoutGrid = "layout-grid",
    List = "list",
    ListChecks = "list-checks",
    ListFilter = "list-filter",
    LogOut = "log-out",
    Mail = "mail",
    Map = "map",
    Menu = "menu",
    Monitor = "monitor",
    OctagonX = "octagon-x",
    Package = "package",
    PackageCheck = "package-check",
    Pause = "pause",
    Pencil = "pencil",
    Play = "play",
    Plus = "plus",
    Power = "power",
    Printer = "printer",
    ReceiptText = "receipt-text",
    RefreshCw = "refresh-cw",
    ScanLine = "scan-line",
    ScrollText = "scroll-text",
    Search = "search",
    Settings = "settings",
    Shapes = "shapes",
    Tag = "tag",
    Thermometer = "thermometer",
    Trash2 = "trash-2",
    TriangleAlert = "triangle-alert",
    Truck = "truck",
    Undo2 = "undo-2",
    Upload = "upload",
    User = "user",
    Users = "users",
    Webhook = "webhook",
    WifiOff = "wifi-off",
    Wrench = "wrench",
    X = "x",
}

/// Renders an icon. Icons are decorative: the text next to the icon, or the label of its button, states the meaning.
pub(crate) fn icon(icon: Icon) -> Markup {
    html! {
        svg class="icon" aria-hidden="true" { use href={ (ICONS.path) "#" (icon.name()) } {} }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_sprite_has_the_icons_and_no_others() {
        let sprite = std::str::from_utf8(&ICONS.content).unwrap();
        let drawings = sprite.split("<symbol id=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        let drawings: Vec<&str> = drawings.collect();
        let names: Vec<&str> = Icon::ALL.iter().map(|icon| icon.name()).collect();
        assert_eq!(drawings, names, "run scripts/page-assets");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "a name stands twice");
    }

    #[test]
    fn an_icon_is_a_drawing_of_the_sprite() {
        let html = icon(Icon::Printer).0;
        assert!(html.starts_with("<svg class=\"icon\" aria-hidden=\"true\"><use href=\"/assets/icons-"), "{html}");
        assert!(html.ends_with(".svg#printer\"></use></svg>"), "{html}");
    }
}
