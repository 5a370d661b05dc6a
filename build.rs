//! Generates the parser from `src/syntax/grammar.lalrpop`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    lalrpop::Configuration::new().emit_rerun_directives(true).process_dir("src")
}
