//! Command lines that clap does not accept, in our own words' dress: escaped, and as JSON where JSON was asked for.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use hedgerow_core::Kind;

use crate::output::{self, Output};

/// Prints help where it was asked for, an error otherwise.
pub(super) fn report(error: &clap::Error, argv: &[OsString]) -> ExitCode {
    if !error.use_stderr() {
        output::help(&error.render());
        return ExitCode::SUCCESS;
    }
    let is_json = argv.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    let lacks_verb = error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if lacks_verb && !is_json {
        output::help_instead(&error.render());
        return ExitCode::from(Kind::Usage.exit_code());
    }
    let (message, hints) = if lacks_verb {
        ("a verb is missing".to_owned(), vec!["`--help` shows them".to_owned()])
    } else {
        words_of(&error.render().to_string())
    };
    Output::new(is_json).error(Kind::Usage.as_str(), &message, &hints);
    ExitCode::from(Kind::Usage.exit_code())
}

/// clap's paragraphs: the first says what is wrong; of the rest, tips and the usage become hints.
fn words_of(rendered: &str) -> (String, Vec<String>) {
    let text = rendered.strip_prefix("error: ").unwrap_or(rendered).trim();
    let mut paragraphs = text.split("\n\n").map(str::trim);
    let message = paragraphs.next().unwrap_or_default().to_owned();
    let hints = paragraphs
        .flat_map(|paragraph| paragraph.split("\n  tip: "))
        .map(|hint| hint.trim().strip_prefix("tip: ").unwrap_or(hint.trim()))
        .map(|hint| {
            hint.replacen("Usage: ", "usage: ", 1).replacen(
                "For more information, try '--help'.",
                "`--help` explains",
                1,
            )
        })
        .filter(|hint| !hint.is_empty())
        .collect();
    (message, hints)
}
