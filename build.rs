//! Generates the parser from `src/syntax/grammar.lalrpop`.

fn main() {
    lalrpop::Configuration::new().emit_rerun_directives(true).process_dir("src").expect("the PTX grammar is valid LALRPOP");
}
