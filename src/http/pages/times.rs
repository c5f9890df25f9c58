//! Times on pages, shown in the shop's time zone and relative to its current day.
//!
//! Pages, and parts of pages that are rendered once for all viewers, contain a placeholder for each time. Placeholders
//! are replaced when the page or part is sent, so that a part rendered before midnight never says "today" after
//! midnight. The staff script updates the day names on an open page at the shop's midnight; pages without the script
//! stay as loaded. Each time has its exact date in its `title`.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, PreEscaped, html};

use domain::notation;
use domain::shop_clock::ShopClock;
use domain::time::Timestamp;
use http::error::ApiError;
use kernel::environment::Environment;
use words::Language;
use words::staff::shell;

/// Start of a placeholder. Text entered by users cannot contain it, because such text is escaped.
const MARK: &str = "<shop-time ";
/// Maximum size of a page, in bytes; the largest pages have a few megabytes.
const MAX_PAGE_BYTES: usize = 256 * 1024 * 1024;

/// Format in which a time is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TimeForm {
    /// Day and time of day: `today 17:40`.
    Moment,
    /// Day only: `tomorrow`, `Tue 3 Nov`.
    Day,
    /// Time of day, with the day unless it is today: `17:40`.
    TimeOfDay,
    /// Elapsed time: `for 12 min`.
    Elapsed,
    /// Elapsed time where there is little room: `12 min`.
    CompactElapsed,
    /// Remaining time: `12 min left`.
    Remaining,
    /// Remaining time where there is little room: `12 min`.
    CompactRemaining,
    /// Date as the value of a date field: `2026-11-28`.
    FieldDate,
    /// Milliseconds from rendering until the end of the shop's day, for the script. The time in the placeholder is
    /// ignored.
    DayLeft,
}

/// All formats, with their names in placeholders.
const FORMS: [(TimeForm, &str); 9] = [
    (TimeForm::Moment, "moment"),
    (TimeForm::Day, "day"),
    (TimeForm::TimeOfDay, "near"),
    (TimeForm::Elapsed, "elapsed"),
    (TimeForm::CompactElapsed, "short"),
    (TimeForm::Remaining, "remaining"),
    (TimeForm::CompactRemaining, "compact"),
    (TimeForm::FieldDate, "field"),
    (TimeForm::DayLeft, "left"),
];

/// Renders the placeholder for a time, in English.
pub(super) fn mark(form: TimeForm, at: Timestamp) -> Markup {
    mark_in(Language::English, form, at)
}

/// Renders the placeholder for a time in the given language.
pub(super) fn mark_in(language: Language, form: TimeForm, at: Timestamp) -> Markup {
    let word = FORMS.iter().find(|(one, _)| *one == form).map_or("", |(_, word)| *word);
    let tag = if language == Language::English { String::new() } else { format!(" {}", language.tag()) };
    PreEscaped(format!("{MARK}{word} {}{tag}>", at.0))
}

/// Renders a message from the server, which is in English, as [`message`] does; on a page in another language, it is
/// marked as English.
pub(super) fn message_in(language: Language, text: &str) -> Markup {
    html! {
        @if language == Language::English { (message(text)) }
        @else { span lang=(Language::English.tag()) { (message(text)) } }
    }
}

/// Renders a message from the server, which is in English, with its timestamps as times in the shop's time zone.
fn message(text: &str) -> Markup {
    translated_message(Language::English, text)
}

/// Renders a message that the server wrote in the language of the page, with its timestamps as times in the shop's time
/// zone. A timestamp that was truncated with the end of the message is omitted.
pub(super) fn translated_message(language: Language, text: &str) -> Markup {
    html! {
        @for (at, word) in text.split(' ').enumerate() {
            @if at > 0 { " " }
            @let after_opening = word.trim_start_matches(['(', '"']);
            @let bare = after_opening.trim_end_matches(['.', ',', ';', ':', ')', '"', '…']);
            @match bare.parse::<Timestamp>() {
                Ok(time) => {
                    (word.strip_suffix(after_opening).unwrap_or_default())
                    (mark_in(language, TimeForm::Moment, time))
                    (after_opening.strip_prefix(bare).unwrap_or_default())
                },
                Err(_) if is_cut_timestamp(word) => { "…" },
                Err(_) => { (word) },
            }
        }
    }
}

/// Returns whether a word is the beginning of a timestamp that was truncated with the end of its message.
fn is_cut_timestamp(word: &str) -> bool {
    let Some(beginning) = word.strip_suffix('…') else { return false };
    let pattern = "0000-00-00T00:00:00.000Z";
    let is_alike = |(letter, of_pattern): (char, char)| match of_pattern {
        '0' => letter.is_ascii_digit(),
        other => letter == other,
    };
    let is_date = beginning.chars().count() > "0000-".len() && beginning.chars().count() < pattern.len();
    is_date && beginning.chars().zip(pattern.chars()).all(is_alike)
}

/// Renders the date of a time as the value of a date field.
pub(super) fn field_date(at: Timestamp) -> Markup {
    mark(TimeForm::FieldDate, at)
}

/// Replaces all placeholders with times in the shop's time zone.
pub(super) fn fill(html: &str, clock: &ShopClock, now: Timestamp) -> String {
    let mut pieces = html.split(MARK);
    let mut filled = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once('>').and_then(|(mark, rest)| Some((parse(mark)?, rest))) {
            Some((mark, rest)) => {
                filled.push_str(&element(mark, clock, now).0);
                filled.push_str(rest);
            }
            None => filled.extend([MARK, piece]),
        }
    }
    filled
}

fn parse(mark: &str) -> Option<(TimeForm, Language, Timestamp)> {
    let (word, rest) = mark.split_once(' ')?;
    let form = FORMS.iter().find(|(_, one)| *one == word)?.0;
    let (ms, language) = match rest.split_once(' ') {
        Some((ms, tag)) => (ms, Language::of_tag(tag)?),
        None => (rest, Language::English),
    };
    Some((form, language, Timestamp(ms.parse().ok()?)))
}

fn element((form, language, at): (TimeForm, Language, Timestamp), clock: &ShopClock, now: Timestamp) -> Markup {
    let exact = notation::exact(language, clock, at);
    match form {
        TimeForm::Moment => {
            html! { time datetime=(at) title=(exact) { (notation::moment(language, clock, at, now)) } }
        }
        TimeForm::Day => {
            html! { time datetime=(at) title=(exact) { (notation::relative_day(language, clock, at, now)) } }
        }
        TimeForm::TimeOfDay => {
            html! { time datetime=(at) title=(exact) data-near="" { (notation::near(language, clock, at, now)) } }
        }
        TimeForm::Elapsed => {
            html! { time datetime=(at) title=(exact) data-since="" { (elapsed(language, now.since(at))) } }
        }
        TimeForm::CompactElapsed => {
            let elapsed = notation::compact_duration(language, now.since(at));
            html! { time datetime=(at) title=(exact) data-since="compact" { (elapsed) } }
        }
        TimeForm::Remaining => {
            html! { time datetime=(at) title=(exact) data-left="" { (left(language, at.since(now))) } }
        }
        TimeForm::CompactRemaining => {
            let left = notation::compact_duration(language, at.since(now));
            html! { time datetime=(at) title=(exact) data-left="compact" { (left) } }
        }
        TimeForm::FieldDate => html! { (clock.field_date(at)) },
        TimeForm::DayLeft => html! { (clock.day_left_ms(now)) },
    }
}

/// Formats an elapsed time in the same way as the staff script: `for 12 min`.
fn elapsed(language: Language, ms: i64) -> String {
    span(language, ms).map_or_else(|| shell::elapsed_under_minute(language), |span| shell::elapsed(language, &span))
}

/// Formats a remaining time in the same way as the staff script: `12 min left`.
fn left(language: Language, ms: i64) -> String {
    span(language, ms).map_or_else(|| shell::left_under_minute(language), |span| shell::left(language, &span))
}

/// Formats an elapsed or remaining time: `12 min`, `3 h 5 min`; `None` for less than a minute.
fn span(language: Language, ms: i64) -> Option<String> {
    let minutes = (ms.max(0) + 30_000) / 60_000;
    match minutes {
        0 => None,
        1..60 => Some(shell::minutes(language, &minutes.to_string())),
        _ => Some(shell::hours(language, &(minutes / 60).to_string(), &(minutes % 60).to_string())),
    }
}

/// Replaces the placeholders in each page sent.
pub(super) async fn filled(State(environment): State<Arc<Environment>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let is_page = |kind: &[u8]| kind.starts_with(b"text/html");
    if !response.headers().get(CONTENT_TYPE).is_some_and(|kind| is_page(kind.as_bytes())) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let bytes = match to_bytes(body, MAX_PAGE_BYTES).await {
        Ok(bytes) => bytes,
        Err(error) => return ApiError::internal(error).into_response(),
    };
    let Ok(page) = std::str::from_utf8(&bytes) else { return Response::from_parts(parts, Body::from(bytes)) };
    if !page.contains(MARK) {
        return Response::from_parts(parts, Body::from(bytes));
    }
    let page = fill(page, &environment.rules.clock, environment.now());
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(page))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::document_day;
    use domain::time::HOUR_MS;

    /// 2026-11-28T16:40:05Z, a Saturday.
    const AT: Timestamp = Timestamp(1_795_884_005_000);

    fn berlin() -> ShopClock {
        ShopClock::parse("CET-1CEST,M3.5.0,M10.5.0/3").unwrap_or_default()
    }

    #[test]
    fn marks_become_times_of_the_shop_when_they_are_sent() {
        let exact = "datetime=\"2026-11-28T16:40:05.000Z\" title=\"Saturday 28 November 2026, 17:40:05 CET\"";
        let page = html! { p { "Due " (mark(TimeForm::Moment, AT)) ", done " (mark(TimeForm::TimeOfDay, AT)) "." } };
        assert_eq!(
            fill(&page.0, &berlin(), AT.plus_ms(HOUR_MS)),
            format!("<p>Due <time {exact}>today 17:40</time>, done <time {exact} data-near=\"\">17:40</time>.</p>")
        );
        // After midnight, the same part says it differently.
        let later = fill(&page.0, &berlin(), AT.plus_ms(10 * HOUR_MS));
        assert_eq!(later.matches(">yesterday 17:40</time>").count(), 2, "{later}");
        let day = fill(&mark(TimeForm::Day, AT).0, &berlin(), AT.plus_ms(48 * HOUR_MS));
        assert_eq!(day, format!("<time {exact}>Sat 28 Nov</time>"));
        let elapsed = fill(&mark(TimeForm::Elapsed, AT).0, &berlin(), AT.plus_ms(HOUR_MS + 300_000));
        assert!(elapsed.ends_with(">for 1 h 5 min</time>"), "{elapsed}");
        let elapsed = fill(&mark(TimeForm::Elapsed, AT).0, &berlin(), AT.plus_ms(1_000));
        assert!(elapsed.ends_with(">for less than a minute</time>"), "{elapsed}");
        let left = html! { main data-day-left=(mark(TimeForm::DayLeft, Timestamp::default())) {} };
        assert_eq!(fill(&left.0, &berlin(), AT), "<main data-day-left=\"22795000\"></main>");
    }

    #[test]
    fn the_time_that_is_left_is_in_hours_and_minutes_when_it_is_sent() {
        let left = |language: Language, minutes: i64| {
            let end = AT.plus_ms(minutes * 60_000);
            let element = fill(&mark_in(language, TimeForm::Remaining, end).0, &berlin(), AT);
            let (attributes, text) = element.split_once(" data-left=\"\">").unwrap_or_default();
            assert!(attributes.starts_with(&format!("<time datetime=\"{end}\" title=\"")), "{element}");
            text.trim_end_matches("</time>").to_owned()
        };
        let english = |minutes| left(Language::English, minutes);
        assert_eq!([-5, 0].map(english), ["less than a minute left", "less than a minute left"]);
        assert_eq!([1, 59].map(english), ["1 min left", "59 min left"]);
        assert_eq!(english(125), "2 h 5 min left");
        assert_eq!(
            [0, 125].map(|minutes| left(Language::German, minutes)),
            ["noch weniger als eine Minute", "noch 2\u{a0}Std. 5\u{a0}Min."]
        );
    }

    #[test]
    fn the_time_that_is_left_fits_a_tile() {
        let left = |language: Language, minutes: i64| {
            let end = AT.plus_ms(minutes * 60_000);
            fill(&mark_in(language, TimeForm::CompactRemaining, end).0, &berlin(), AT)
        };
        for (minutes, english, german) in [(0, "&lt; 1 min", "&lt; 1\u{a0}Min."), (125, "2 h 05 min", "2:05\u{a0}Std.")]
        {
            for (language, text) in [(Language::English, english), (Language::German, german)] {
                let element = left(language, minutes);
                assert!(element.ends_with(&format!(" data-left=\"compact\">{text}</time>")), "{element}");
            }
        }
    }

    #[test]
    fn the_time_that_has_passed_fits_a_row_of_tasks() {
        let passed = |language: Language, minutes: i64| {
            fill(&mark_in(language, TimeForm::CompactElapsed, AT).0, &berlin(), AT.plus_ms(minutes * 60_000))
        };
        for (minutes, english, german) in [(0, "&lt; 1 min", "&lt; 1\u{a0}Min."), (720, "12 h", "12\u{a0}Std.")] {
            for (language, text) in [(Language::English, english), (Language::German, german)] {
                let element = passed(language, minutes);
                assert!(element.ends_with(&format!(" data-since=\"compact\">{text}</time>")), "{element}");
            }
        }
    }

    #[test]
    fn a_mark_has_the_language_of_its_page() {
        let exact = "datetime=\"2026-11-28T16:40:05.000Z\" title=\"Samstag, 28. November 2026, 17:40:05 CET\"";
        let page = mark_in(Language::German, TimeForm::Moment, AT);
        assert_eq!(fill(&page.0, &berlin(), AT), format!("<time {exact}>heute 17:40</time>"));
        let page = mark_in(Language::German, TimeForm::Day, AT);
        assert_eq!(fill(&page.0, &berlin(), AT.plus_ms(48 * HOUR_MS)), format!("<time {exact}>Sa., 28. Nov.</time>"));
        let page = mark_in(Language::German, TimeForm::TimeOfDay, AT);
        assert!(fill(&page.0, &berlin(), AT).ends_with(">17:40</time>"));
        assert!(fill(&page.0, &berlin(), AT.plus_ms(24 * HOUR_MS)).ends_with(">gestern 17:40</time>"));
        let page = mark_in(Language::German, TimeForm::Elapsed, AT);
        let spans = [
            (1_000, "seit weniger als einer Minute"),
            (720_000, "seit 12\u{a0}Min."),
            (3_900_000, "seit 1\u{a0}Std. 5\u{a0}Min."),
        ];
        for (ms, text) in spans {
            assert!(fill(&page.0, &berlin(), AT.plus_ms(ms)).ends_with(&format!(">{text}</time>")), "{text}");
        }
        assert_eq!(mark_in(Language::English, TimeForm::Day, AT).0, mark(TimeForm::Day, AT).0);
        assert_eq!(fill("<shop-time day 1 fr>", &berlin(), AT), "<shop-time day 1 fr>");
    }

    #[test]
    fn times_in_messages_are_those_of_the_shop_also_before_punctuation() {
        let text = format!("Ada 3 is free from {AT}; silent (since {AT}). Done {AT} 2 g left.");
        let page = fill(&message(&text).0, &berlin(), AT);
        assert_eq!(page.matches(">today 17:40</time>").count(), 3, "{page}");
        assert!(
            page.contains("</time>; silent") && page.contains("</time>). Done") && page.ends_with(" 2 g left."),
            "{page}"
        );
    }

    #[test]
    fn a_timestamp_that_was_cut_is_omitted() {
        let whole = format!("Ada is free from {AT}");
        for length in whole.len() - 18..whole.len() {
            let cut = format!("{}…", whole.get(..length).unwrap_or_default());
            assert_eq!(message(&cut).0, "Ada is free from …", "{cut}");
        }
        let end = fill(&message(&format!("{whole}…")).0, &berlin(), AT);
        assert!(end.ends_with(">today 17:40</time>…"), "{end}");
        for text in ["Printer 2026…", "1234-…", "2026-11-x…", "2026-11-28T16:40", "…", ""] {
            assert_eq!(message(text).0, text);
        }
        let quoted = fill(&message(&format!("silent (\"{AT}\")")).0, &berlin(), AT);
        assert!(quoted.starts_with("silent (&quot;<time ") && quoted.ends_with("</time>&quot;)"), "{quoted}");
    }

    #[test]
    fn what_is_no_mark_stays_as_it_is() {
        for text in ["", "<p>today</p>", "<shop-time ", "<shop-time soon 1>", "<shop-time moment x>a", "ä<shop-time "]
        {
            assert_eq!(fill(text, &berlin(), AT), text);
        }
        let typed = html! { p { "<shop-time moment 1>" } };
        assert_eq!(fill(&typed.0, &berlin(), AT), typed.0);
    }

    #[test]
    fn timestamps_in_messages_are_times_too() {
        let silent = message("no answer since 2026-11-28T16:40:05.000Z, <b> or so since 2026-11-28T16:40:05.000Z");
        let text = fill(&silent.0, &berlin(), AT);
        assert!(
            text.starts_with("no answer since <time ") && text.contains("</time>, &lt;b&gt; or so since <time "),
            "{text}"
        );
        assert!(text.ends_with(">today 17:40</time>"), "{text}");
    }

    #[test]
    fn dates_of_documents_are_those_on_the_document() {
        let new_year = Timestamp(1_798_759_800_000);
        let [english, german] = Language::ALL.map(|language| document_day(language, new_year).0);
        assert_eq!(english, "<time datetime=\"2026-12-31\">31 Dec 2026</time>");
        assert_eq!(german, "<time datetime=\"2026-12-31\">31. Dezember 2026</time>");
        assert_eq!(berlin().date(new_year), "1 Jan 2027");
    }
}
