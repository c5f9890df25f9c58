//! Navigation of the staff pages: the rail, and the bar at the bottom of a phone's screen, which opens the rail as a
//! sheet.

use maud::{Markup, html};

use super::StaffSection;
use crate::design::{Icon, icon};
use crate::staff::job::JOBS_PATH;
use crate::staff::scan::scan_button;
use crate::staff::{
    CUSTOMERS_PATH, FLOOR_PATH, INSIGHTS_PATH, INVOICES_PATH, ORDERS_PATH, PRODUCTS_PATH, QUOTES_PATH, SETTINGS_PATH,
    STOCK_PATH, TO_DO_PATH, WEBHOOKS_PATH,
};
use words::Language;
use words::staff::shell;

/// Label in the language of the page.
type NavigationLabel = fn(Language) -> String;
/// Link in the navigation: section, path, label, icon.
type SectionLink = (StaffSection, &'static str, NavigationLabel, Icon);

const TO_DO: SectionLink = (StaffSection::ToDo, TO_DO_PATH, shell::to_do, Icon::ListChecks);
const FLOOR: SectionLink = (StaffSection::Floor, FLOOR_PATH, shell::floor, Icon::LayoutGrid);
const ORDERS: SectionLink = (StaffSection::Orders, ORDERS_PATH, shell::orders, Icon::Package);
const STOCK: SectionLink = (StaffSection::Stock, STOCK_PATH, shell::stock, Icon::Database);

/// Groups of navigation links.
const GROUPS: [(NavigationLabel, &[SectionLink]); 3] = [
    (shell::group_work, &[TO_DO, FLOOR, ORDERS, (StaffSection::Queue, JOBS_PATH, shell::jobs, Icon::Layers)]),
    (
        shell::group_shop,
        &[
            STOCK,
            (StaffSection::Products, PRODUCTS_PATH, shell::products, Icon::Shapes),
            (StaffSection::Customers, CUSTOMERS_PATH, shell::customers, Icon::Users),
            (StaffSection::Quotes, QUOTES_PATH, shell::quotes, Icon::ScrollText),
            (StaffSection::Invoices, INVOICES_PATH, shell::invoices, Icon::ReceiptText),
        ],
    ),
    (shell::group_reports, &[(StaffSection::Insights, INSIGHTS_PATH, shell::insights, Icon::ChartColumn)]),
];
/// Links at the bottom of the navigation.
const FOOT: [SectionLink; 2] = [
    (StaffSection::Settings, SETTINGS_PATH, shell::settings, Icon::Settings),
    (StaffSection::Webhooks, WEBHOOKS_PATH, shell::webhooks, Icon::Webhook),
];
/// Links in the bar at the bottom of a phone's screen, for people working on the shop floor.
const ON_PHONES: [SectionLink; 4] = [TO_DO, FLOOR, ORDERS, STOCK];
/// ID of the navigation element, which the phone bar opens.
const RAIL_ID: &str = "pages";

/// Navigation of a page.
pub(super) struct Navigation {
    pub(super) language: Language,
    /// Section that the page belongs to.
    pub(super) section: StaffSection,
    /// Number of printers that need an operator.
    pub(super) troubled: usize,
    /// Number of open tasks.
    pub(super) tasks: u64,
}

impl Navigation {
    /// Renders the navigation.
    pub(super) fn rail(&self) -> Markup {
        html! {
            nav id=(RAIL_ID) class="rail" aria-label=(shell::pages(self.language)) popover="auto" {
                a class="brand" href=(FLOOR_PATH) { span class="mark" { (icon(Icon::Box)) } "Printfloor" }
                (scan_button(self.language))
                @for (group, links) in GROUPS {
                    p class="group" { (group(self.language)) }
                    @for link in links { (self.link(link)) }
                }
                div class="foot" { @for link in &FOOT { (self.link(link)) } }
            }
        }
    }

    /// Renders the bar at the bottom of a phone's screen, with a button that opens the full navigation. The button is
    /// marked on pages whose link is only there.
    pub(super) fn phone_bar(&self) -> Markup {
        let own = |link: &SectionLink| link.0 == self.section;
        let is_under_more = !ON_PHONES.iter().any(own) && GROUPS.iter().flat_map(|group| group.1).chain(&FOOT).any(own);
        html! {
            nav class="tabbar" aria-label=(shell::main_pages(self.language)) {
                @for link in &ON_PHONES { (self.link(link)) }
                button type="button" popovertarget=(RAIL_ID) aria-current=[is_under_more.then_some("true")] {
                    (icon(Icon::Menu)) (shell::more(self.language))
                }
            }
        }
    }

    /// Renders a link. The link to the floor includes the number of printers that need an operator, that to the to-do
    /// page the number of its entries; the script keeps both up to date.
    fn link(&self, &(of, path, label, picture): &SectionLink) -> Markup {
        html! {
            a href=(path) aria-current=[(of == self.section).then_some("page")] {
                (icon(picture))
                (label(self.language))
                @if of == StaffSection::ToDo {
                    span class="count" data-task-count="" hidden[self.tasks == 0] {
                        span { (self.tasks) }
                        span class="hidden-words" { " " (shell::open_tasks(self.language)) }
                    }
                }
                @if of == StaffSection::Floor {
                    span class="count hot" data-troubled-count="" hidden[self.troubled == 0] {
                        span { (self.troubled) }
                        span class="hidden-words" { " " (shell::needing_attention(self.language)) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_navigation_is_in_the_language_of_the_page() {
        let rail = |language| Navigation { language, section: StaffSection::Stock, troubled: 2, tasks: 3 }.rail().0;
        for (language, texts) in [
            (
                Language::English,
                [
                    "aria-label=\"Pages\"",
                    "Work</p>",
                    "</svg>Stock</a>",
                    "> needing attention</span>",
                    "<span>3</span><span class=\"hidden-words\"> open tasks</span>",
                ],
            ),
            (
                Language::German,
                [
                    "aria-label=\"Seiten\"",
                    "Arbeit</p>",
                    "</svg>Lager</a>",
                    "> mit Handlungsbedarf</span>",
                    "> offene Aufgaben</span>",
                ],
            ),
        ] {
            let rail = rail(language);
            for text in texts {
                assert!(rail.contains(text), "{text} in {rail}");
            }
        }
    }

    #[test]
    fn the_bar_of_a_phone_marks_where_the_link_of_the_page_is() {
        let bar = |section| Navigation { language: Language::English, section, troubled: 0, tasks: 0 }.phone_bar().0;
        let more = format!("popovertarget=\"{RAIL_ID}\" aria-current=\"true\">");
        for section in [
            StaffSection::Queue,
            StaffSection::Products,
            StaffSection::Quotes,
            StaffSection::Invoices,
            StaffSection::Customers,
            StaffSection::Webhooks,
            StaffSection::Insights,
            StaffSection::Settings,
        ] {
            let bar = bar(section);
            assert!(bar.contains(&more) && bar.matches("aria-current").count() == 1, "{bar}");
        }
        for (section, path, ..) in ON_PHONES {
            let bar = bar(section);
            let own = format!("<a href=\"{path}\" aria-current=\"page\">");
            assert!(bar.contains(&own) && bar.matches("aria-current").count() == 1, "{bar}");
        }
        // The search of the whole shop is in the bar at the top.
        assert!(!bar(StaffSection::Search).contains("aria-current"));
    }
}
