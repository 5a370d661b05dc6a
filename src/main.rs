//! The command line: reads the arguments, picks a front end, and ends with the exit status it answers.

fn main() {}
