//! What the terminal can do, by the name that the variable TERM gives it.

/// Terminals that only write one line below the other; an empty name is one that is not known.
const TYPEWRITERS: [&str; 4] = ["", "dumb", "cons25", "emacs"];

/// Whether the terminal understands sequences that move the cursor and set colours.
pub fn moves_the_cursor() -> bool {
    let kind = std::env::var("TERM").unwrap_or_default();
    !TYPEWRITERS.contains(&kind.as_str())
}
