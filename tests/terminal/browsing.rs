//! Browse mode.

use super::*;

/// The debugger in browse mode.
fn browsing(args: &[&str]) -> Pty {
    let mut pty = opened(args);
    browse(&mut pty);
    pty
}

fn browse(pty: &mut Pty) {
    pty.send(F2);
    pty.wait("browse mode", |screen| {
        screen.contents().contains("q back to the prompt") && screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None
    });
}

/// Presses the left button on the first cell with this text, counting from 0, and lets go.
fn click(pty: &mut Pty, text: &str) {
    let place = pty.look(|screen| {
        let found = |(row, line): (usize, &String)| line.find(text).map(|at| (row, line[..at].chars().count()));
        rows(screen).iter().enumerate().find_map(found)
    });
    let (row, column) = place.unwrap_or_else(|| unreachable!("{text}\n{}", pty.rows().join("\n")));
    pty.send(&format!("\x1b[<0;{};{}M\x1b[<0;{0};{1}m", column + 1, row + 1));
}

#[test]
fn it_has_the_whole_screen_and_keeps_the_line() {
    let mut pty = opened(WALK);
    pty.send("echo partial");
    let line = format!("{}echo partial", prompt(0));
    pty.wait_for_line(&line);
    pty.send(F2);
    pty.wait("browse mode", |screen| {
        screen.contents().contains("q back to the prompt") && screen.mouse_protocol_mode() != vt100::MouseProtocolMode::None
    });
    pty.send(F7);
    pty.wait_for("t=1 ");
    // The wheel scrolls, and types nothing.
    let before = pty.rows();
    pty.send("\x1b[<65;10;5M");
    pty.wait("panes that scroll", |screen| rows(screen) != before);
    pty.send("q");
    pty.wait_for_line(&format!("{}echo partial", prompt(1)));
    assert!(pty.look(|screen| screen.mouse_protocol_mode() == vt100::MouseProtocolMode::None));
    pty.send("ly\r");
    pty.wait("the answer", |screen| screen.contents().contains("\npartially\n"));
}

#[test]
fn a_click_on_a_line_puts_the_cursor_there() {
    let mut pty = browsing(WALK);
    click(&mut pty, "bra.uni");
    // F9 sets a breakpoint at the cursor.
    pty.send("\x1b[20~");
    pty.wait_for("break walk.ptx:24");
    pty.wait_for("breakpoint 1 at walk.ptx:24");
    pty.send("\x1b[20~");
    pty.wait_for("delete 1");
}

#[test]
fn a_click_on_a_lane_looks_at_it() {
    // The even lanes are in a function: in a warp that has split, lanes have a sign each.
    let mut pty = Pty::sized(WALK, 100, 30);
    pty.wait_for_line(&prompt(0));
    pty.send("goto 8\r");
    pty.wait_for_line(&prompt(8));
    browse(&mut pty);
    // After the sign of lane 0 stands that of lane 2.
    click(&mut pty, "█");
    pty.wait_for(") lane 2");
    pty.send("q");
    pty.wait("the focus", |screen| rows(screen)[0].contains("lane 2"));
}

#[test]
fn a_click_on_the_timeline_goes_there() {
    let mut pty = opened(WALK);
    pty.send("continue\r");
    pty.wait_for("finished");
    pty.send(F2);
    pty.wait_for("q back to the prompt");
    click(&mut pty, "time 74 of 74");
    pty.wait_for("[time 74 of 74");
    pty.send("z");
    pty.wait("the timeline alone", |screen| rows(screen)[0].contains("[time 74 of 74"));
    // The bar has 76 cells after two columns: half of 74 ticks is in the middle of them.
    pty.send("\x1b[<0;40;2M");
    pty.wait_for(") goto 36");
    pty.wait_for("[time 36 of 74");
}

#[test]
fn a_click_on_a_block_of_the_graph_goes_there() {
    let mut pty = opened(&["--launch", "fixtures/debug/walk.ron", "--layout", "divergence"]);
    pty.resize(160, 50);
    pty.wait("the graph", |screen| screen.contents().contains("LOOP") && rows(screen)[0].chars().count() == 160);
    pty.send(F2);
    pty.wait_for("q back to the prompt");
    let before = pty.rows();
    let boxed = before.iter().flat_map(|row| row.split('│')).find(|part| part.contains("LOOP") && !part.contains(':')).unwrap().to_string();
    click(&mut pty, boxed.trim_end());
    pty.wait("the cursor in the block", |screen| rows(screen) != before);
}

#[test]
fn questions_and_lines_are_asked_for_in_the_last_row() {
    let mut pty = Pty::configured(WALK, "KeyMap(commands: {\"c\": \"commands 1\", \"s\": \"set seed 5\", \"b\": \"break 32\"})");
    pty.wait_for_line(&prompt(0));
    pty.send(F2);
    pty.wait_for("q back to the prompt");
    pty.send("b");
    pty.wait_for("breakpoint 1");
    pty.send("c");
    pty.wait_for("a command a line, up to one that says end");
    pty.send("print 6 * 7\rend\r");
    pty.wait("the keys again", |screen| rows(screen)[23].contains("q back to the prompt"));
    // F5 continues.
    pty.send("\x1b[15~");
    pty.wait("the commands' answer", |screen| screen.contents().contains("\n6 * 7 = 42\n"));
    pty.send("\x1b[15;2~");
    pty.wait_for("t=0 ");
    pty.send("s");
    pty.wait("a question in the last row", |screen| rows(screen)[23].contains("(y or n)"));
    pty.resize(100, 30);
    pty.wait("panes of the new size, and the question", |screen| {
        rows(screen)[0].chars().count() == 100 && rows(screen)[29].contains("(y or n)")
    });
    pty.send("y");
    pty.wait_for("seed is 5");
}
