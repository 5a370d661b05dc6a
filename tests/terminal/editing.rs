//! The line below the panes.

use super::*;

#[test]
fn a_key_is_a_command_line_and_keeps_what_was_typed() {
    let mut pty = opened(WALK);
    pty.send("print 1");
    pty.wait_for_line(&format!("{}print 1", prompt(0)));
    pty.send(F7);
    pty.wait_for_line(&format!("{}print 1", prompt(1)));
    pty.wait_for(&format!("{}stepi", prompt(0)));
    pty.send("+1\r");
    pty.wait_for("2");
}

#[test]
fn a_key_and_browsing_leave_the_cursor_where_it_was() {
    let mut pty = opened(WALK);
    let line = format!("{}echo ad", prompt(0));
    let between = |pty: &Pty, row: &str| {
        pty.wait("the cursor between a and d", |screen| {
            let (at, column) = screen.cursor_position();
            rows(screen)[usize::from(at)] == row && usize::from(column) + 1 == row.len()
        });
    };
    pty.send("echo ad\x1b[D");
    between(&pty, &line);
    pty.send(F2);
    pty.wait_for("q back to the prompt");
    pty.send("q");
    between(&pty, &line);
    pty.send("b");
    between(&pty, &format!("{}echo abd", prompt(0)));
    pty.send(F7);
    between(&pty, &format!("{}echo abd", prompt(1)));
    pty.send("c\r");
    pty.wait("the answer", |screen| screen.contents().contains("\nabcd\n"));
}

#[test]
fn panes_keep_still_while_a_long_line_is_typed() {
    for length in [300, 900, 2000] {
        let mut pty = opened(WALK);
        let before = panes(&pty);
        let line = format!("echo {}", "0123456789".repeat(length / 10));
        pty.send(&line);
        // More rows than the region holds: its last one has the end.
        let end = (prompt(0).len() + line.len()) as u16 % 80;
        pty.wait("the end of the line", |screen| screen.cursor_position() == (23, end));
        assert_eq!(panes(&pty), before);
        pty.send(CTRL_A);
        pty.send("\x1b[F");
        pty.wait("the end again", |screen| screen.cursor_position() == (23, end));
        assert_eq!(panes(&pty), before);
        pty.send(CTRL_U);
        pty.wait_for_line(&prompt(0));
        assert_eq!(panes(&pty), before);
        pty.send("stepi\r");
        pty.wait_for_line(&prompt(1));
    }
}

#[test]
fn pasted_lines_are_executed_in_order() {
    let mut pty = opened(WALK);
    let lines: Vec<String> = (1..=12).map(|number| format!("print {number} * 1000")).collect();
    pty.send(&format!("{}{}{}", PASTE.0, lines.join("\n"), PASTE.1));
    pty.wait_for("print 12 * 1000");
    pty.send(ENTER);
    pty.wait("the last two answers", |screen| {
        let contents = screen.contents();
        let last = contents.find("print 12 * 1000\n").map(|at| &contents[at..]);
        contents.contains("11000") && last.is_some_and(|last| last.contains("12000"))
    });
}

#[test]
fn the_history_is_searched_below_the_panes() {
    let mut pty = opened(WALK);
    pty.send("echo first\r");
    pty.wait("an answer", |screen| screen.contents().contains("\nfirst\n"));
    pty.send("echo second\r");
    pty.wait("an answer", |screen| screen.contents().contains("\nsecond\n"));
    let before = panes(&pty);
    pty.send(CTRL_R);
    pty.send("fir");
    pty.wait_for("(reverse-i-search)`fir': echo first");
    assert_eq!(panes(&pty), before);
    pty.send(CTRL_G);
    pty.wait_for_line(&prompt(0));
    assert_eq!(panes(&pty), before);
}

#[test]
fn control_c_drops_the_line() {
    let mut pty = opened(WALK);
    pty.send("nonsense");
    pty.wait_for_line(&format!("{}nonsense", prompt(0)));
    pty.send(CTRL_C);
    pty.wait_for_line(&prompt(0));
    pty.send("stepi\r");
    pty.wait_for_line(&prompt(1));
    assert!(!pty.look(|screen| screen.contents().contains("error")));
}

#[test]
fn candidates_are_shown_above_the_line_and_go_away() {
    let mut pty = opened(WALK);
    let before = panes(&pty);
    pty.send("info \t");
    pty.wait("candidates", |screen| screen.contents().contains("breakpoints") && screen.contents().contains("registers"));
    pty.wait_for_line(&format!("{}info ", prompt(0)));
    pty.send("lo\t");
    pty.wait_for_line(&format!("{}info locals ", prompt(0)));
    pty.wait("the panes again", |screen| pane_rows(screen) == before);
}

#[test]
fn layouts_and_themes_are_completed_and_changed() {
    let mut pty = opened(WALK);
    pty.send("save layout mine\r");
    pty.wait_for("layout written to");
    pty.send("layout \t");
    pty.wait("shipped and own ones", |screen| ["divergence", "mine", "next"].iter().all(|name| screen.contents().contains(name)));
    pty.send("mi\t\r");
    pty.wait_for(&format!("{}layout mine", prompt(0)));
    pty.send("layout nowhere\r");
    pty.wait_for("there is no layout 'nowhere'");
    assert!(colors(&pty) > 0);
    pty.send("set theme no\t\r");
    pty.wait("no colours", |screen| screen.contents().contains("set theme none") && colored(screen) == 0);
    pty.send("set theme light\r");
    pty.wait("colours", |screen| colored(screen) > 0);
}

fn colors(pty: &Pty) -> usize {
    pty.look(colored)
}

/// Cells of the panes that have a colour.
pub fn colored(screen: &vt100::Screen) -> usize {
    let cells = (0..16).flat_map(|row| (0..80).map(move |column| (row, column)));
    let has_color = |(row, column)| screen.cell(row, column).is_some_and(|cell| (cell.fgcolor(), cell.bgcolor()) != Default::default());
    cells.filter(|place| has_color(*place)).count()
}

#[test]
fn control_l_draws_everything_anew() {
    let mut pty = opened(WALK);
    pty.send("echo partial");
    let line = format!("{}echo partial", prompt(0));
    pty.wait_for_line(&line);
    let before = pty.rows();
    pty.look(|screen| assert!(screen.cursor_position() == (23, line.len() as u16)));
    pty.send(CTRL_L);
    pty.send("!");
    pty.wait_for_line(&format!("{line}!"));
    assert_eq!(pty.rows()[..23], before[..23]);
}

/// Asks whether what was recorded may be dropped.
fn asked() -> Pty {
    let mut pty = opened(WALK);
    pty.send("continue\r");
    pty.wait("the end of the run", |screen| screen.contents().contains("finished") || screen.contents().contains("ended"));
    pty.send("goto 3\r");
    pty.wait_for_line(&prompt(3));
    pty.send("set seed 5\r");
    pty.wait_for("(y or n)");
    pty
}

#[test]
fn a_question_is_asked_in_the_region() {
    let mut pty = asked();
    // Commands wait until it is answered.
    pty.send(F7);
    pty.send("n\r");
    pty.wait_for_line(&prompt(3));
}

#[test]
fn panes_are_alive_while_a_question_is_asked() {
    let mut pty = asked();
    pty.resize(120, 40);
    pty.wait("panes of the new size, and the question", |screen| {
        let shown = pane_rows(screen);
        shown[0].chars().count() == 120 && shown.iter().all(|row| !row.is_empty()) && screen.contents().contains("(y or n)")
    });
    let before = panes(&pty);
    pty.send("\x1b[6;3~");
    pty.wait("panes that scroll", |screen| pane_rows(screen) != before);
    pty.send("y\r");
    pty.wait_for_line(&prompt(0));
}

#[test]
fn lines_of_a_command_that_takes_several_are_asked_for() {
    let mut pty = opened(WALK);
    pty.send("break 32\r");
    pty.wait_for("breakpoint 1");
    pty.send("commands\r");
    pty.wait_for("a command a line, up to one that says end");
    pty.wait_for_line(">");
    pty.send("print 6 * 7\rend\r");
    pty.wait_for_line(&prompt(0));
    pty.send("continue\r");
    pty.wait("the commands' answer", |screen| screen.contents().contains("\n6 * 7 = 42\n"));
}

#[test]
fn a_long_answer_is_shown_from_its_beginning_and_what_was_said_is_read_again() {
    let mut pty = opened(WALK);
    let first = |screen: &vt100::Screen| rows(screen)[0].clone();
    // What fits below the panes is not said twice.
    pty.send("frobnicate\r");
    pty.wait("the error", |screen| screen.contents().contains("help lists the commands"));
    pty.wait_for_line(&prompt(0));
    pty.wait("the panes", |screen| first(screen).contains("walk.ptx"));
    pty.send("info registers\r");
    pty.wait("the answer", |screen| first(screen).starts_with("─[console") && screen.contents().contains("info registers"));
    // An empty line reads on, here back to the panes.
    pty.send(ENTER);
    pty.wait("the panes", |screen| first(screen).contains("walk.ptx"));
    pty.send("\x1b[5~");
    pty.wait("what was said", |screen| first(screen).starts_with("─[console"));
    pty.send("stepi\r");
    pty.wait("the panes", |screen| first(screen).contains("walk.ptx"));
    pty.wait_for_line(&prompt(1));
    // Alt-/ begins a search in browse mode.
    pty.send("\x1b/");
    pty.wait("the search", |screen| first(screen).starts_with("─[/_]"));
    pty.send("registers\r");
    pty.wait("the line", |screen| screen.contents().contains("(ptxdbg t=0) info registers"));
    pty.send("q");
    pty.wait("the panes", |screen| first(screen).contains("walk.ptx"));
}
