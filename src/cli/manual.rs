//! `printfloor completions` and `printfloor man`: shell completions and the manual page, generated from the definition
//! of the command line.

use clap::{Command, CommandFactory as _};
use clap_complete::aot::{Shell, generate};
use clap_mangen::Man;

use super::{Cli, CliError, output};

/// Prints the completion script for a shell.
pub fn completions(shell: Shell) -> Result<(), CliError> {
    let mut script = Vec::new();
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    generate(shell, &mut command, name, &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

/// Prints the manual page: the program, followed by each command.
pub fn man() -> Result<(), CliError> {
    let mut program = Cli::command();
    program.build();
    let mut page = Vec::new();
    written(&program, &mut page).map_err(CliError::io("the manual page cannot be generated"))?;
    output::print(&String::from_utf8_lossy(&page))
}

/// Renders the program's manual page, with a section for each command that is not just a group of subcommands.
fn written(program: &Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    Man::new(program.clone()).manual("Printfloor").render(page)?;
    for command in commands(program) {
        let subpage = Man::new(command.clone());
        let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_uppercase();
        page.extend_from_slice(format!(".SH \"{name}\"\n").as_bytes());
        let mut section = Vec::new();
        subpage.render_synopsis_section(&mut section)?;
        subpage.render_description_section(&mut section)?;
        subpage.render_options_section(&mut section)?;
        // The headings of a command stand below its own.
        page.extend_from_slice(String::from_utf8_lossy(&section).replace("\n.SH ", "\n.SS ").as_bytes());
    }
    Ok(())
}

/// Returns all commands without subcommands, in definition order.
fn commands(of: &Command) -> Vec<&Command> {
    let own = of.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    own.flat_map(|command| if command.has_subcommands() { commands(command) } else { vec![command] }).collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_manual_page_has_every_command() {
        let mut program = Cli::command();
        program.build();
        let mut page = Vec::new();
        written(&program, &mut page).unwrap();
        let text = String::from_utf8(page).unwrap();
        assert!(text.contains(".TH ") && text.contains(".SH NAME"), "{text}");
        for command in ["PRINTFLOOR SERVE", "PRINTFLOOR KEY CREATE", "PRINTFLOOR USER PASSWD", "PRINTFLOOR MAN"] {
            assert!(text.contains(&format!(".SH \"{command}\"")), "{command} in {text}");
        }
        assert_eq!(text.matches(".TH ").count(), 1, "it is one page");
    }
}
