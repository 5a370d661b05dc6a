//! Terminals that change their size.

use super::*;

#[test]
fn a_terminal_of_another_size_keeps_the_line() {
    let mut pty = opened(WALK);
    pty.send("echo partial");
    let line = format!("{}echo partial", prompt(0));
    pty.wait_for_line(&line);
    let before = panes(&pty);
    for (columns, rows) in [(120, 40), (60, 20), (200, 60), (45, 15), (20, 5), (2, 1), (100, 15), (80, 24)] {
        pty.resize(columns, rows);
        if usize::from(columns) <= line.len() {
            continue;
        }
        pty.wait("the line in the last row, the panes above and no trace of others", |screen| {
            let shown = pty::rows(screen);
            let once = |title: &str| shown.iter().filter(|row| row.contains(title)).count() == 1;
            let is_there = screen.cursor_position() == (rows - 1, line.len() as u16) && shown.last() == Some(&line);
            is_there && shown[0].chars().count() == usize::from(columns) && once("walk.ptx · ") && once("─ time 0 of 0")
        });
    }
    // The source pane keeps the rows that it showed, the others are as they were.
    assert_eq!(panes(&pty)[15..], before[15..]);
    pty.send("ly\r");
    pty.wait("the answer", |screen| screen.contents().contains("\npartially\n"));
}

#[test]
fn after_many_sizes_all_is_as_ever() {
    let mut pty = opened(WALK);
    let expected = panes(&pty);
    let mut random = 12_345_u32;
    let mut below = |bound: u32| {
        random = random.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        (random >> 16) % bound
    };
    let mut typed = String::from("echo ");
    pty.send("echo ");
    for _ in 0..60 {
        let (columns, rows) = (2 + below(150) as u16, 1 + below(60) as u16);
        pty.resize(columns, rows);
        let letter = char::from(b'a' + below(26) as u8);
        pty.send(&letter.to_string());
        typed.push(letter);
        std::thread::sleep(std::time::Duration::from_millis(u64::from(below(30))));
    }
    pty.resize(80, 24);
    pty.send(CTRL_L);
    pty.wait("the panes of the first size", |screen| pane_rows(screen) == expected);
    pty.send(CTRL_U);
    pty.send(CTRL_L);
    pty.wait_for_line(&prompt(0));
    assert_eq!(panes(&pty), expected);
    pty.send("\x19\r");
    pty.wait("all letters", |screen| screen.contents().contains(&format!("\n{}\n", &typed[5..])));
}

#[test]
fn a_small_terminal_has_the_prompt_alone() {
    for (columns, rows) in [(80, 13), (39, 24)] {
        let mut pty = opened(WALK);
        pty.resize(columns, rows);
        pty.wait("no panes", |screen| !screen.contents().contains("walk.ptx · ") && screen.contents().contains("t=0)"));
        pty.send("stepi\r");
        pty.wait_for("t=1)");
        pty.resize(80, 24);
        pty.wait("panes again", |screen| screen.contents().contains("walk.ptx · "));
    }
}

#[test]
fn a_terminal_without_a_size_has_80_columns_and_24_rows() {
    let mut pty = Pty::sized(WALK, 0, 0);
    pty.wait_for_line(&prompt(0));
    assert_eq!(pty.rows()[0].chars().count(), 80);
    assert_eq!(pty.look(vt100::Screen::cursor_position).0, 23);
    pty.send("stepi\r");
    pty.wait_for_line(&prompt(1));
}

#[test]
fn a_size_that_changes_in_a_run_while_browsing_and_in_a_search() {
    let mut pty = opened(ENDLESS);
    let fills = |screen: &vt100::Screen, columns: usize| rows(screen)[0].chars().count() == columns;
    pty.send("continue\r");
    pty.wait_for("Ctrl-C stops");
    pty.resize(100, 30);
    pty.wait("the run's panes", |screen| fills(screen, 100));
    pty.send(CTRL_C);
    pty.wait_for("interrupted");
    pty.send(F2);
    pty.wait_for("q back to the prompt");
    pty.resize(120, 40);
    pty.wait("panes while browsing", |screen| fills(screen, 120) && rows(screen)[39].contains("q back to the prompt"));
    pty.send("q");
    pty.wait("the prompt", |screen| !screen.contents().contains("q back to the prompt"));
    pty.send(CTRL_R);
    pty.send("cont");
    pty.wait_for("(reverse-i-search)`cont'");
    pty.resize(90, 28);
    // The editor takes no pokes now: the panes are redrawn with the next key.
    std::thread::sleep(std::time::Duration::from_millis(300));
    pty.send("i");
    pty.wait("panes while searching", |screen| fills(screen, 90) && screen.contents().contains("(reverse-i-search)`conti'"));
    pty.send(CTRL_G);
    pty.wait("the prompt", |screen| fills(screen, 90) && !screen.contents().contains("reverse-i-search"));
}
