//! Every key of the shipped key map, as a terminal sends it.

use super::*;
use ptxdbg::ui::tui::keymap::{Action, Key, KeyMap, KeyPress, Move, Named};

/// The keys that edit a line as in Emacs and in readline, as the line editor documents them; the prompt keeps them.
const EDITING: &str = "Ctrl+a Ctrl+b Ctrl+c Ctrl+d Ctrl+e Ctrl+f Ctrl+g Ctrl+h Ctrl+i Ctrl+j Ctrl+k Ctrl+m Ctrl+n Ctrl+p Ctrl+q Ctrl+r \
    Ctrl+s Ctrl+t Ctrl+u Ctrl+v Ctrl+w Ctrl+x Ctrl+y Ctrl+_ Ctrl+Left Ctrl+Right Alt+Left Alt+Right Alt+b Alt+c Alt+d Alt+f Alt+l Alt+t \
    Alt+u Alt+y Alt+< Alt+> Alt+- Alt+0 Alt+1 Alt+9 Alt+Backspace";

#[test]
fn no_key_takes_one_away_that_edits() {
    let map = KeyMap::shipped();
    for key in EDITING.split_whitespace() {
        assert_eq!(map.action(key.parse().unwrap()), None, "{key}");
    }
    let mut pty = opened(WALK);
    // Back a word and delete one: `echo two`; change `two` to `TWO`; to the beginning, and to the end.
    pty.send("echo one two\x1bb\x1bb\x1bd\x1b[3~\x1bu\x01\x05!\r");
    pty.wait("the edited line", |screen| screen.contents().contains("\nTWO!\n"));
}

#[test]
fn what_is_typed_after_escape_is_itself() {
    for words in [WALK, &[WALK, &["--plain"]].concat()] {
        let mut pty = opened(words);
        // Alt+p would go back in time.
        pty.send("\x1b");
        std::thread::sleep(std::time::Duration::from_secs(1));
        pty.send("print 6 * 7\r");
        pty.wait("the answer", |screen| screen.contents().contains("\n6 * 7 = 42\n"));
    }
}

/// What an xterm sends for a key.
fn sent(press: KeyPress) -> String {
    let held = 1 + u8::from(press.shift) + 2 * u8::from(press.alt) + 4 * u8::from(press.control);
    let letter = |c: char| if held == 1 { format!("\x1b[{c}") } else { format!("\x1b[1;{held}{c}") };
    let number = |number: u8| if held == 1 { format!("\x1b[{number}~") } else { format!("\x1b[{number};{held}~") };
    match press.key {
        Key::Char(c) if press.control => char::from(c as u8 & 0x1f).to_string(),
        Key::Char(c) if press.alt => format!("\x1b{c}"),
        Key::Char(c) => c.to_string(),
        Key::F(f @ 1..=4) if held == 1 => format!("\x1bO{}", char::from(b'O' + f)),
        Key::F(f @ 1..=4) => letter(char::from(b'O' + f)),
        Key::F(f) => number([15, 17, 18, 19, 20, 21, 23, 24][usize::from(f) - 5]),
        Key::Named(Named::Tab) if press.shift => "\x1b[Z".to_string(),
        Key::Named(Named::Tab) => "\t".to_string(),
        Key::Named(Named::Enter) => "\r".to_string(),
        Key::Named(Named::Escape) => "\x1b".to_string(),
        Key::Named(Named::Backspace) => "\x7f".to_string(),
        Key::Named(Named::PageUp) => number(5),
        Key::Named(Named::PageDown) => number(6),
        Key::Named(Named::Up) => letter('A'),
        Key::Named(Named::Down) => letter('B'),
        Key::Named(Named::Right) => letter('C'),
        Key::Named(Named::Left) => letter('D'),
        Key::Named(Named::End) => letter('F'),
        Key::Named(Named::Home) => letter('H'),
    }
}

/// The keys of commands, and the commands.
fn commands() -> Vec<(KeyPress, String)> {
    let command = |(press, action): (KeyPress, &Action)| match action {
        Action::Command(line) => Some((press, line.clone())),
        Action::Move(_) => None,
    };
    KeyMap::shipped().iter().filter_map(command).collect()
}

/// The debugger inside the loop, where every command has something to do.
fn stepped() -> Pty {
    let pty = Pty::debugger(&["--launch", "fixtures/debug/walk.ron", "--yes", "-e", "stepi 4"]);
    pty.wait_for_line(&prompt(4));
    pty
}

/// Presses the key of each command; each must be echoed and done.
#[test]
fn each_key_of_a_command_executes_it_at_the_prompt() {
    let mut pty = stepped();
    for (press, line) in commands() {
        assert!(!press.is_for_editing());
        let before = pty.written().len();
        pty.send(&sent(press));
        let echo = format!(") {line}");
        pty.wait_written(&format!("{press}: {line}"), before, echo.as_bytes());
        pty.wait("the prompt", |screen| {
            let (row, column) = screen.cursor_position();
            let last = &rows(screen)[usize::from(row)];
            last.starts_with("(ptxdbg ") && last.ends_with(')') && usize::from(column) == last.len() + 1
        });
    }
}

#[test]
fn each_key_of_a_command_executes_it_while_browsing() {
    let mut pty = stepped();
    pty.send(F2);
    pty.wait_for("q back to the prompt");
    for (press, line) in commands() {
        let before = pty.written().len();
        pty.send(&sent(press));
        let echo = format!(") {line}");
        pty.wait_written(&format!("{press}: {line}"), before, echo.as_bytes());
    }
}

/// What has to be pressed before a movement shows.
fn before(movement: Move) -> &'static str {
    match movement {
        Move::Up | Move::PageUp | Move::ReadBack | Move::Here | Move::Start | Move::Choose => "\x1b[B",
        Move::Left => "\x1b[C",
        Move::SearchNext | Move::SearchPrevious => "/add\r",
        _ => "",
    }
}

/// Each key that the screen itself knows changes what is seen, or says what it does.
#[test]
fn each_key_of_the_screen_shows() {
    for (press, action) in KeyMap::shipped().iter() {
        let Action::Move(movement) = action else { continue };
        // Reading on needs more lines than this session has said: `editing` reads back and on.
        if *movement == Move::ReadOn {
            continue;
        }
        let mut pty = opened(WALK);
        if press.is_for_editing() || !before(*movement).is_empty() {
            pty.send(F2);
            pty.wait_for("q back to the prompt");
        }
        let first = pty.rows();
        if !before(*movement).is_empty() {
            pty.send(before(*movement));
            pty.wait(&format!("what comes before {press}"), |screen| rows(screen) != first && !screen.contents().contains("/add_"));
        }
        let first = pty.rows();
        pty.send(&sent(press));
        pty.wait(&format!("{press}: {movement:?}"), |screen| rows(screen) != first);
    }
}

#[test]
fn a_users_own_keys_win() {
    let mut pty = Pty::configured(WALK, "KeyMap(commands: {\"F7\": \"stepi 3\", \"Shift+F3\": \"echo mine\"})");
    pty.wait_for_line(&prompt(0));
    pty.send(F7);
    pty.wait_for_line(&prompt(3));
    pty.send("\x1b[1;2R");
    pty.wait("its answer", |screen| screen.contents().contains("\nmine\n"));
    // One that is not bound types nothing.
    pty.send("\x1b[1;2Sx");
    pty.wait_for_line(&format!("{}x", prompt(3)));
}
