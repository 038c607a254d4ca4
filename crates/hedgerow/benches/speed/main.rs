//! `cargo bench`: Hedgerow against plain git, in the same run, on the same repositories.
//!
//! Whatever else the machine does slows both sides down alike, because each round lets every side run once, in a new
//! order. So the ratios mean something even where the milliseconds do not.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a bench is a program that prints its findings")]

mod acceptance;
mod answering;
mod cage;
mod creation;
mod fixture;
mod list;
mod measure;
mod processes;
mod reconcile;
mod report;
mod size;
mod vault;

use fixture::Machine;
use measure::Dice;
use report::Report;

/// Rounds when nothing else is asked for with `-- --rounds <number>`. `-- --acceptance` measures only how quickly messages
/// are accepted, `-- --answering` only how soon an answer begins.
const ROUNDS: usize = 9;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("nothing is measured unless `cargo bench` asks for it");
        return;
    }
    let asked = arguments.iter().skip_while(|argument| *argument != "--rounds").nth(1);
    let rounds = asked.map_or(ROUNDS, |number| number.parse().expect("`--rounds` takes a number"));
    let only = |what: &str| arguments.iter().any(|argument| argument == what);
    let machine = Machine::new();
    let mut dice = Dice::new();
    let mut report = Report::default();
    if only("--answering") {
        answering::first_byte(&machine, rounds, &mut report);
        println!("\n{report}");
        return;
    }
    acceptance::sixteen_senders(rounds.div_ceil(2));
    if only("--acceptance") {
        return;
    }
    answering::first_byte(&machine, rounds, &mut report);
    cage::start_of_a_program(&mut dice, rounds * 10, &mut report);
    creation::without_remote(&machine, &mut dice, rounds, &mut report);
    creation::with_remote(&machine, &mut dice, rounds.div_ceil(2), &mut report);
    list::hundred(&machine, &mut dice, rounds, &mut report);
    reconcile::thousand(&mut dice, rounds, &mut report);
    size::ten_times_the_files(&machine, &mut dice, rounds, &mut report);
    vault::thirty_thousand_files(&machine, &mut dice, rounds.div_ceil(2), &mut report);
    println!("\n{report}");
    println!("{}", processes::per_verb(&machine));
}
