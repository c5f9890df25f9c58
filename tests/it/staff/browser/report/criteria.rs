//! The criteria of WCAG 2.2 at levels A and AA, each with its checks besides the axe rules.

/// A success criterion of WCAG.
pub struct Criterion {
    /// Number in the standard, such as `1.4.3`.
    pub number: &'static str,
    /// Name in the standard.
    pub name: &'static str,
    /// Conformance level: `A` or `AA`.
    pub level: &'static str,
    /// Names of the project's own tests.
    pub tests: &'static [&'static str],
    /// Result of a manual review, or the reason why the criterion does not apply; empty if it is tested automatically.
    pub by_hand: &'static str,
}

const fn criterion(
    number: &'static str,
    name: &'static str,
    level: &'static str,
    tests: &'static [&'static str],
    by_hand: &'static str,
) -> Criterion {
    Criterion { number, name, level, tests, by_hand }
}

/// All criteria, in the order of the standard.
pub const CRITERIA: [Criterion; 55] = [
    criterion(
        "1.1.1",
        "Non-text Content",
        "A",
        &[],
        "by hand: pictures of parts, cameras and cards say what they show, drawings are named and have a table beside them",
    ),
    criterion(
        "1.2.1",
        "Audio-only and Video-only (Prerecorded)",
        "A",
        &[],
        "does not apply: there is no recorded sound or video",
    ),
    criterion("1.2.2", "Captions (Prerecorded)", "A", &[], "does not apply, as above"),
    criterion("1.2.3", "Audio Description or Media Alternative (Prerecorded)", "A", &[], "does not apply, as above"),
    criterion("1.2.4", "Captions (Live)", "AA", &[], "does not apply: cameras are shown without sound"),
    criterion("1.2.5", "Audio Description (Prerecorded)", "AA", &[], "does not apply, as above"),
    criterion(
        "1.3.1",
        "Info and Relationships",
        "A",
        &[],
        "by hand: one heading of the first level, tables with heads, fields grouped where they belong together",
    ),
    criterion(
        "1.3.2",
        "Meaningful Sequence",
        "A",
        &["chromium_works_the_floor_by_the_keyboard_alone"],
        "by hand: the order in the text is the order on the page",
    ),
    criterion(
        "1.3.3",
        "Sensory Characteristics",
        "A",
        &[],
        "by hand: nothing is named by its place, shape or colour alone",
    ),
    criterion("1.3.4", "Orientation", "AA", &[], ""),
    criterion("1.3.5", "Identify Input Purpose", "AA", &[], ""),
    criterion(
        "1.4.1",
        "Use of Color",
        "A",
        &["the_floor_follows_a_print_and_pauses_it"],
        "by hand: each state has a word beside its colour",
    ),
    criterion("1.4.2", "Audio Control", "A", &[], "does not apply: nothing makes a sound"),
    criterion("1.4.3", "Contrast (Minimum)", "AA", &["every_page_of_the_staff_is_accessible"], ""),
    criterion(
        "1.4.4",
        "Resize Text",
        "AA",
        &["chromium_cuts_off_and_scrolls_sideways_nothing_at_twice_the_size"],
        "what ends in an ellipsis in a list is whole on the page that its row leads to; the wall display alone scales with \
         the screen; `/floor`, to which it links, follows the browser's",
    ),
    criterion("1.4.5", "Images of Text", "AA", &[], "by hand: text is text, in drawings too"),
    criterion(
        "1.4.10",
        "Reflow",
        "AA",
        &[
            "every_page_of_the_staff_is_accessible",
            "every_page_of_customers_is_accessible",
            "every_page_of_the_setup_is_accessible",
            "chromium_breaks_no_word_in_a_cell_of_a_table",
        ],
        "no word in a table breaks; tables are rows on a phone, and where they are too wide, they scroll in regions of their own",
    ),
    criterion(
        "1.4.11",
        "Non-text Contrast",
        "AA",
        &[],
        "by hand: edges of fields have at least 3 to 1 on what they stand on, light and dark; buttons are known by their text",
    ),
    criterion("1.4.12", "Text Spacing", "AA", &["every_page_of_the_staff_is_accessible"], ""),
    criterion("1.4.13", "Content on Hover or Focus", "AA", &[], "by hand: nothing appears by pointing at it"),
    criterion("2.1.1", "Keyboard", "A", &["chromium_works_the_floor_by_the_keyboard_alone"], ""),
    criterion("2.1.2", "No Keyboard Trap", "A", &["chromium_shows_each_stop_of_the_tab_key_and_is_nowhere_caught"], ""),
    criterion(
        "2.1.4",
        "Character Key Shortcuts",
        "A",
        &[],
        "does not apply: the one shortcut of all pages is pressed with Ctrl or the command key; the wall display has the \
         space bar and the arrow keys, which write no character",
    ),
    criterion(
        "2.2.1",
        "Timing Adjustable",
        "A",
        &[],
        "by hand: no form has an end; who is signed out comes back to the page after the sign-in",
    ),
    criterion(
        "2.2.2",
        "Pause, Stop, Hide",
        "A",
        &[
            "chromium_follows_a_print_and_pauses_it_without_loading_the_page_again",
            "chromium_fills_a_wall_display_and_turns_its_pages",
        ],
        "what changes by itself is what the page is for, and keeps the focus; the pages of the wall display turn until a \
         button or the space bar holds them, and are held where less motion is wanted; nothing blinks or moves",
    ),
    criterion("2.3.1", "Three Flashes or Below Threshold", "A", &[], "by hand: nothing flashes"),
    criterion("2.4.1", "Bypass Blocks", "A", &["chromium_works_the_floor_by_the_keyboard_alone"], ""),
    criterion("2.4.2", "Page Titled", "A", &[], ""),
    criterion("2.4.3", "Focus Order", "A", &["chromium_shows_each_stop_of_the_tab_key_and_is_nowhere_caught"], ""),
    criterion("2.4.4", "Link Purpose (In Context)", "A", &[], "by hand: links name what they lead to"),
    criterion(
        "2.4.5",
        "Multiple Ways",
        "AA",
        &[],
        "by hand: navigation, links between things that belong together, and searches",
    ),
    criterion(
        "2.4.6",
        "Headings and Labels",
        "AA",
        &["chromium_goes_from_the_printed_code_to_the_written_settings"],
        "by hand: headings name their parts",
    ),
    criterion("2.4.7", "Focus Visible", "AA", &["chromium_shows_each_stop_of_the_tab_key_and_is_nowhere_caught"], ""),
    criterion(
        "2.4.11",
        "Focus Not Obscured (Minimum)",
        "AA",
        &["chromium_shows_each_stop_of_the_tab_key_and_is_nowhere_caught"],
        "",
    ),
    criterion("2.5.1", "Pointer Gestures", "A", &[], "by hand: one pointer and no path is enough for everything"),
    criterion(
        "2.5.2",
        "Pointer Cancellation",
        "A",
        &["chromium_stops_a_printer_when_the_button_is_held_and_not_before"],
        "all else is done when the pointer is let go",
    ),
    criterion(
        "2.5.3",
        "Label in Name",
        "A",
        &["chromium_needs_few_actions_from_a_new_server_to_the_first_simulated_print"],
        "",
    ),
    criterion("2.5.4", "Motion Actuation", "A", &[], "does not apply: nothing is done by moving the device"),
    criterion(
        "2.5.7",
        "Dragging Movements",
        "AA",
        &["chromium_prints_a_file_that_is_dropped_or_chosen"],
        "a file can be chosen as well as dropped, places on the floor have fields",
    ),
    criterion("2.5.8", "Target Size (Minimum)", "AA", &["every_page_of_the_staff_is_accessible"], ""),
    criterion("3.1.1", "Language of Page", "A", &[], ""),
    criterion(
        "3.1.2",
        "Language of Parts",
        "AA",
        &[],
        "by hand: all words are of one language, but what people have typed",
    ),
    criterion("3.2.1", "On Focus", "A", &["chromium_shows_each_stop_of_the_tab_key_and_is_nowhere_caught"], ""),
    criterion(
        "3.2.2",
        "On Input",
        "A",
        &[],
        "by hand: nothing is sent before a button is pressed; searches narrow what is there",
    ),
    criterion("3.2.3", "Consistent Navigation", "AA", &[], "by hand: one navigation in one order on all pages"),
    criterion("3.2.4", "Consistent Identification", "AA", &[], "by hand: the same act has the same words everywhere"),
    criterion(
        "3.2.6",
        "Consistent Help",
        "A",
        &[],
        "by hand: the way to the description of the API is the last in the navigation of all pages",
    ),
    criterion(
        "3.3.1",
        "Error Identification",
        "A",
        &["the_staff_sign_in_and_out_by_their_page", "chromium_leads_from_a_label_over_the_sign_in_to_the_cleared_bed"],
        "",
    ),
    criterion(
        "3.3.2",
        "Labels or Instructions",
        "A",
        &["chromium_needs_few_actions_from_a_new_server_to_the_first_simulated_print"],
        "",
    ),
    criterion("3.3.3", "Error Suggestion", "AA", &["chromium_goes_from_the_printed_code_to_the_written_settings"], ""),
    criterion(
        "3.3.4",
        "Error Prevention (Legal, Financial, Data)",
        "AA",
        &["chromium_cancels_a_print_only_after_it_was_confirmed"],
        "by hand: what hurts is confirmed, and names what it is done to",
    ),
    criterion(
        "3.3.7",
        "Redundant Entry",
        "A",
        &["chromium_goes_from_the_printed_code_to_the_written_settings"],
        "by hand: forms that are refused keep what was typed",
    ),
    criterion(
        "3.3.8",
        "Accessible Authentication (Minimum)",
        "AA",
        &[],
        "by hand: passwords and codes may be pasted and are filled in by browsers and apps; customers sign in by a link; there are no riddles",
    ),
    criterion("4.1.2", "Name, Role, Value", "A", &[], "by hand: what the script makes anew keeps its role and state"),
    criterion(
        "4.1.3",
        "Status Messages",
        "AA",
        &["chromium_says_that_the_connection_is_lost_and_comes_back_by_itself"],
        "by hand: what was done is said in a region for it",
    ),
];
