//! The capabilities of the terminal, by its name in the environment variable TERM.

/// Terminals without cursor movement. An empty name is an unknown terminal.
const DUMB_TERMINALS: [&str; 4] = ["", "dumb", "cons25", "emacs"];

/// True if the terminal supports escape sequences that move the cursor and set colours.
pub fn supports_cursor_movement() -> bool {
    let kind = std::env::var("TERM").unwrap_or_default();
    !DUMB_TERMINALS.contains(&kind.as_str())
}
