//! Rendering of the fields of the setup wizard and of the integrations page.

use maud::{Markup, html};

use super::{Field, FieldKind, MAX_VALUE_CHARS, NONE, fields_of, shown_value, without};
use crate::form::Form;
use actors::app::service_tests::Service;
use config::Config;
use domain::setup::draft::SetupDraft;
use words::Language;
use words::staff::setup_fields as texts;

/// Renders a service's fields. `form` is a rejected form, whose values are shown again, except for secrets.
pub(crate) fn inputs(
    language: Language,
    service: Service,
    config: &Config,
    draft: &SetupDraft,
    form: Option<&Form>,
) -> Markup {
    inputs_of(language, fields_of(service), (config, draft), form, None)
}

/// Renders the given fields, as [`inputs`] does for a service, with a remark next to the first one.
pub(in crate::setup) fn inputs_of(
    language: Language,
    fields: &[Field],
    (config, draft): (&Config, &SetupDraft),
    form: Option<&Form>,
    remark: Option<&str>,
) -> Markup {
    html! {
        @for (at, field) in fields.iter().enumerate() {
            (input(language, field, (config, draft), form, remark.filter(|_| at == 0)))
        }
    }
}

fn input(
    language: Language,
    field: &Field,
    (config, draft): (&Config, &SetupDraft),
    form: Option<&Form>,
    remark: Option<&str>,
) -> Markup {
    let secret = field.kind == FieldKind::Secret;
    let was_given = match draft.value(field.key) {
        Some(text) => !text.is_empty(),
        None => config.origin.given_setting(field.key).is_some(),
    };
    let typed = || form.map_or_else(|| shown_value(field, config, draft), |form| form.text(field.variable).to_owned());
    let value = (!secret).then(typed);
    html! {
        div class="field" {
            label for=(field.variable) { ((field.label)(language)) }
            input id=(field.variable) name=(field.variable) autocomplete="off" spellcheck="false"
                type=(if secret { "password" } else { "text" })
                inputmode=[(field.kind == FieldKind::Number).then_some("numeric")]
                maxlength=(MAX_VALUE_CHARS) value=[value] aria-describedby={ "about-" (field.variable) };
            p class="hint" id={ "about-" (field.variable) } {
                @if let Some(remark) = remark { strong { (remark) } " " }
                code { (field.variable) } ". " (field.hint.text(language))
                @if secret && was_given { " " (texts::already_set(language)) }
                @if let Some(setting) = config.origin.given_setting(field.key) {
                    " " (texts::set_by(language, &setting.source))
                }
            }
            @if secret && was_given {
                p class="hint" {
                    input type="checkbox" id=(without(field)) name=(without(field)) value=(NONE);
                    label for=(without(field)) class="inline" { (texts::remove(language)) }
                }
            }
        }
    }
}
