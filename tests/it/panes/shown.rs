//! The panes as they are drawn: what stands in `fixtures/screens` was read and judged before it was kept.

use crate::panes::screen::{assert_screen, drawn, session, styles, text, type_lines};
use ptxdbg::debug::session::Session;
use ptxdbg::ui::tui::keymap::KeyMap;
use ptxdbg::ui::tui::layout::Layout;
use ptxdbg::ui::tui::layout::layouts::SHIPPED;
use ptxdbg::ui::tui::panes::PANES;
use ptxdbg::ui::tui::screen::{Answer, Click, Screen};
use ptxdbg::ui::tui::theme::Theme;

/// A screen of one pane.
fn alone(pane: &str, theme: &str) -> Screen {
    let layout = Layout::parse("test.ron", format!("Layout(root: Pane({pane}))")).unwrap();
    Screen::new(layout, Theme::named(theme).unwrap(), KeyMap::shipped())
}

/// Holds one pane to its file: its text, and below the styles of the dark theme and of the one without colours.
#[track_caller]
fn assert_pane(name: &str, pane: &str, session: &Session, (width, height): (u16, u16)) {
    let dark = drawn(&mut alone(pane, "dark"), session, width, height);
    let plain = drawn(&mut alone(pane, "none"), session, width, height);
    assert_eq!(text(&dark), text(&plain), "a theme changes no text");
    assert_screen(name, &format!("{}\n{}\n{}", text(&dark), styles(&dark), styles(&plain)));
}

/// Warp 1 of `walk` after its loop: lanes 4n+3 go round for the last time, the others have left it. Warp 0 has passed the barrier.
fn walking() -> Session {
    session(
        "debug/walk.ron",
        &["break 22", "break 36", "disable 2", "continue", "stepi", "goto 45", "warp 1 lane 3", "stepi", "reverse-stepi"],
    )
}

#[test]
fn source() {
    assert_pane("source.txt", "Source()", &walking(), (100, 20));
}

#[test]
fn registers_of_a_lane() {
    assert_pane("registers.txt", "Registers()", &walking(), (76, 10));
}

#[test]
fn registers_of_a_warp() {
    assert_pane("registers_warp.txt", "Registers(of: Warp)", &walking(), (100, 18));
}

#[test]
fn cfg() {
    assert_pane("cfg.txt", "Cfg", &walking(), (60, 40));
}

#[test]
fn cfg_of_a_loop_with_branches() {
    assert_pane("cfg_collatz.txt", "Cfg", &diverged(), (60, 60));
}

#[test]
fn cfg_where_rows_are_few() {
    assert_pane("cfg_rows.txt", "Cfg", &diverged(), (60, 30));
}

#[test]
fn cfg_as_a_list() {
    assert_pane("cfg_list.txt", "Cfg", &diverged(), (70, 7));
}

#[test]
fn warps() {
    assert_pane("warps.txt", "Warps", &diverged(), (80, 9));
}

#[test]
fn warps_of_several_kinds() {
    assert_pane("warps_walk.txt", "Warps", &walking(), (80, 8));
}

#[test]
fn sync() {
    assert_pane("sync.txt", "Sync", &session("faults/barrier_deadlock.ron", &["continue"]), (90, 8));
}

/// The ring that hangs, its warps named.
fn hanging() -> Session {
    session("debug/ring.ron", &["continue", "role producer warp 0", "role consumer warps 1-3"])
}

#[test]
fn mbarriers() {
    assert_pane("mbarriers.txt", "Mbarriers", &hanging(), (100, 6));
    assert_pane("mbarriers_narrow.txt", "Mbarriers", &hanging(), (60, 4));
}

#[test]
fn copies() {
    assert_pane("copies.txt", "Copies", &session("programs/mbar_pipeline.ron", &["goto 13000"]), (120, 8));
    assert_pane("copies_none.txt", "Copies", &session("debug/ring.ron", &[]), (60, 3));
}

#[test]
fn pipeline() {
    assert_pane("pipeline.txt", "Pipeline", &session("programs/mbar_pipeline.ron", &["goto 13000"]), (120, 5));
    assert_pane("pipeline_hangs.txt", "Pipeline", &hanging(), (80, 4));
    assert_pane("pipeline_narrow.txt", "Pipeline", &hanging(), (40, 3));
}

#[test]
fn a_click_on_a_stage_goes_to_where_it_began() {
    let (mut screen, session) = (alone("Pipeline", "none"), hanging());
    let shown = text(&drawn(&mut screen, &session, 80, 4));
    let [_, heading, first, _] = shown.lines().collect::<Vec<_>>()[..] else { panic!("a title, a heading and two stages") };
    assert!(heading.contains("t=67 ") && first.starts_with("  full[0]  fill"), "{shown}");
    assert_eq!(screen.click(11, 2, Click::Press), Answer::Command("goto 67".to_string()));
}

#[test]
fn stack() {
    assert_pane("stack.txt", "Stack", &called(), (70, 6));
}

#[test]
fn locals() {
    let session = session("dwarf/types.ron", &["tbreak types.cu:51", "continue"]);
    assert_pane("locals.txt", "Locals", &session, (70, 6));
}

#[test]
fn displays() {
    assert_pane("displays.txt", "Displays", &watched(), (70, 8));
}

#[test]
fn breakpoints() {
    assert_pane("breakpoints.txt", "Breakpoints", &watched(), (90, 9));
}

#[test]
fn timeline() {
    assert_pane("timeline.txt", "Timeline", &watched(), (70, 3));
}

#[test]
fn timeline_in_one_row() {
    assert_pane("timeline_row.txt", "Timeline", &watched(), (70, 1));
}

#[test]
fn findings() {
    assert_pane("findings.txt", "Findings", &session("faults/barrier_deadlock.ron", &["continue"]), (90, 8));
}

#[test]
fn help() {
    assert_pane("help.txt", "Help", &walking(), (90, 16));
}

#[test]
fn memory() {
    assert_pane("memory.txt", "Memory(of: Shared)", &walking(), (90, 12));
}

#[test]
fn memory_as_bytes_and_as_a_tile() {
    let session = session("debug/walk.ron", &["break 31", "continue", "stepi"]);
    assert_pane("memory_bytes.txt", "Memory(of: Shared, show: Bytes)", &session, (90, 8));
    assert_pane("memory_tile.txt", "Memory(of: Shared, show: Tile(8))", &session, (100, 8));
}

#[test]
fn the_cursor_in_memory_shows_the_last_write_of_an_element() {
    let session = session("debug/walk.ron", &["break 31", "continue", "stepi"]);
    let mut screen = alone("Memory(of: Shared, show: Tile(8))", "dark");
    let press = |screen: &mut Screen, keys: &str| {
        let answers: Vec<Answer> = keys.split(' ').map(|key| screen.key(key.parse().unwrap())).collect();
        drawn(screen, &session, 40, 8);
        answers.last().unwrap().clone()
    };
    press(&mut screen, "Down Down Down Right Right");
    assert_eq!(press(&mut screen, "Enter"), Answer::Command("last tile[10]".to_string()));
    // Of eight elements in a row those have room that end at the cursor; above them stand their columns.
    assert_screen("memory_cursor.txt", &text(&drawn(&mut screen, &session, 40, 8)));
    press(&mut screen, "Right Right Right Right Right Right Right Right");
    assert_eq!(press(&mut screen, "Enter"), Answer::Command("last tile[15]".to_string()));
    press(&mut screen, "End");
    assert_eq!(press(&mut screen, "Enter"), Answer::Command("last tile[63]".to_string()));
    // The row that names an object has no element.
    press(&mut screen, "Home");
    assert_eq!(press(&mut screen, "Enter"), Answer::Ignored);
}

#[test]
fn the_cursor_on_the_timeline_goes_to_a_time() {
    let (mut screen, session) = (alone("Timeline", "dark"), watched());
    drawn(&mut screen, &session, 70, 3);
    assert_eq!(screen.key("Enter".parse().unwrap()), Answer::Ignored, "the cursor is at the present");
    for _ in 0..5 {
        screen.key("Left".parse().unwrap());
    }
    assert_screen("timeline_cursor.txt", &text(&drawn(&mut screen, &session, 70, 3)));
    let Answer::Command(line) = screen.key("Enter".parse().unwrap()) else { panic!("choosing is a command") };
    assert!(line.starts_with("goto "), "{line}");
    screen.key("Home".parse().unwrap());
    drawn(&mut screen, &session, 70, 1);
    assert_eq!(screen.key("Enter".parse().unwrap()), Answer::Command("goto 0".to_string()));
    let mut session = watched();
    type_lines(&mut session, &[&line]);
    drawn(&mut screen, &session, 70, 1);
    assert_eq!(screen.key("Enter".parse().unwrap()), Answer::Ignored, "the cursor is at the present again");
}

#[test]
fn the_cursor_among_registers_shows_the_last_write_of_one() {
    let (mut screen, session) = (alone("Registers()", "dark"), walking());
    let mut press = |keys: &str| {
        drawn(&mut screen, &session, 76, 5);
        let answers: Vec<Answer> = keys.split(' ').map(|key| screen.key(key.parse().unwrap())).collect();
        let shown = text(&drawn(&mut screen, &session, 76, 5));
        (answers.last().unwrap().clone(), shown)
    };
    // Nine registers in two columns, of which five are live: the second one of the second column is %r4.
    let (_, shown) = press("Down Right");
    assert!(shown.starts_with("─[registers · lane 3 · 5 live · %r4 · 1-4 of 6]"), "{shown}");
    assert_eq!(press("Enter").0, Answer::Command("last %r4".to_string()));
    // The last line names those that are undefined.
    press("End Right Right Right");
    assert_eq!(press("Enter").0, Answer::Ignored);
    press("Up Up");
    assert_eq!(press("Enter").0, Answer::Command("last %p1".to_string()));
}

#[test]
fn registers_of_the_instruction() {
    let session = session("debug/walk.ron", &["break 36", "continue", "lane 5"]);
    assert_pane("registers_operands.txt", "Registers(of: Warp, only: \"!%r\", operands: true)", &session, (76, 10));
}

#[test]
fn source_with_counts() {
    assert_pane("source_counts.txt", "Source(counts: true)", &walking(), (100, 30));
    assert_pane("original_counts.txt", "Original(counts: true)", &diverged(), (100, 24));
}

#[test]
fn source_where_there_is_little_room() {
    assert_pane("source_narrow.txt", "Source()", &walking(), (50, 10));
}

#[test]
fn memory_of_parameters() {
    assert_pane("memory_param.txt", "Memory(of: Param)", &diverged(), (60, 8));
}

#[test]
fn registers_below_what_is_watched() {
    assert_pane("registers_displays.txt", "Registers(of: Warp, only: \"%p\", displays: true)", &watched(), (76, 8));
}

#[test]
fn memory_of_a_matrix() {
    assert_pane("memory_matrix.txt", "Memory(of: Global)", &session("small/looking.ron", &["stepi 20"]), (60, 9));
}

#[test]
fn memory_of_arrays_that_are_declared_by_the_byte() {
    let tiles = session("debug/tiles.ron", &["break tiles.cu:21", "run"]);
    assert_pane("memory_typed.txt", "Memory(of: Shared)", &tiles, (90, 8));
    let structs = session("typed_arrays/structs.ron", &["break arrays.ptx:495", "run"]);
    assert_pane("memory_not_typed.txt", "Memory(of: Shared, only: \"E1m\")", &structs, (100, 4));
    let given = session("typed_arrays/structs.ron", &["break arrays.ptx:495", "run", "type m f32[][2]"]);
    assert_pane("memory_type_given.txt", "Memory(of: Shared, only: \"E1m\")", &given, (100, 6));
}

#[test]
fn memory_in_rows_longer_than_the_pane() {
    let session = session("debug/tiles_wide.ron", &[]);
    let mut texts = String::new();
    for (only, keys) in [("A", 0), ("A", 30), ("A", 63), ("B", 0), ("B", 100), ("C", 0)] {
        let mut screen = alone(&format!("Memory(of: Global, only: \"{only}\")"), "none");
        let press = |screen: &mut Screen, key: &str| {
            screen.key(key.parse().unwrap());
            drawn(screen, &session, 72, 8)
        };
        let mut shown = press(&mut screen, "Down");
        shown = if keys > 0 { press(&mut screen, "Down") } else { shown };
        for _ in 0..keys {
            shown = press(&mut screen, "Right");
        }
        texts += &text(&shown);
        texts.push('\n');
    }
    assert_screen("memory_long_rows.txt", &texts);
    // No number is cut.
    assert!(!texts.lines().flat_map(|line| line.split_whitespace()).any(|word| word.len() > 3 && word.ends_with('…')), "{texts}");
}

/// `collatz` where lane 0, whose number is 1, has left the loop and the others are in it.
fn diverged() -> Session {
    session("debug/collatz.ron", &["run-to divergence", "stepi", "stepi", "stepi", "stepi"])
}

fn called() -> Session {
    session("debug/collatz.ron", &["break _Z6triplej", "continue"])
}

fn watched() -> Session {
    let lines = ["break 71", "tbreak 112 if %r20 > 3", "catch barrier", "display %r18", "display %r18@*", "display steps", "continue"];
    let more = ["continue", "continue", "mark here", "continue", "continue", "goto here", "disable 3"];
    session("debug/collatz.ron", &[&lines[..], &more[..]].concat())
}

#[test]
fn every_shipped_layout_at_two_sizes() {
    let (walking, compiled) = (walking(), watched());
    for (name, text_of_file) in SHIPPED {
        let layout = Layout::parse(name, text_of_file.to_string()).unwrap();
        let mut screen = Screen::new(layout, Theme::default(), KeyMap::shipped());
        screen.add_output("(ptxdbg) display %r18\n1: %r18 = 5");
        let session = if matches!(*name, "source" | "tour") { &compiled } else { &walking };
        let shown = |screen: &mut Screen, size: (u16, u16)| text(&drawn(screen, session, size.0, size.1));
        assert_screen(&format!("layout_{name}.txt"), &format!("{}\n{}", shown(&mut screen, (80, 24)), shown(&mut screen, (200, 60))));
    }
}

/// Kernels that compilers made, in the middle of their work: the screen above the prompt in three sizes.
#[test]
fn kernels_of_compilers_at_three_sizes() {
    let kernels: [(&str, &str, &str, &[&str]); 6] = [
        ("sgemm", "programs/sgemm_reg.ron", "default", &["break 278", "continue", "stepi"]),
        ("pipeline", "programs/mbar_pipeline.ron", "async", &["run-to barrier"]),
        ("wgmma", "programs/wgmma_tile.ron", "tensor", &["break op wgmma.mma_async*", "continue"]),
        ("debugged", "dwarf/frames.ron", "source", &["break square", "continue"]),
        ("add", "triton/tensors/add_kernel.ron", "triton", &["break op ld.global*", "continue"]),
        ("attention", "triton/tensors/attn_kernel.ron", "triton", &["break 506", "continue"]),
    ];
    for (name, launch, layout, lines) in kernels {
        let session = session(launch, lines);
        let (_, file) = SHIPPED.iter().find(|(shipped, _)| *shipped == layout).unwrap();
        let mut screen = Screen::new(Layout::parse(layout, file.to_string()).unwrap(), Theme::default(), KeyMap::shipped());
        let sizes = [(80, 19), (120, 33), (200, 50)].map(|size: (u16, u16)| text(&drawn(&mut screen, &session, size.0, size.1)));
        assert_screen(&format!("compiled_{name}.txt"), &sizes.join("\n"));
    }
}

#[test]
fn every_kind_of_pane_is_in_a_shipped_layout() {
    let all: String = SHIPPED.iter().map(|(_, text)| *text).collect();
    let missing: Vec<&str> = PANES.iter().map(|(name, _)| *name).filter(|name| !all.contains(&format!("Pane({name}"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn console() {
    let (mut screen, session) = (alone("Console", "dark"), walking());
    for number in 0..30 {
        screen.add_output(&format!("(ptxdbg) print {number}\n{number}\n"));
    }
    screen.add_output("\x1b[1;31merror\x1b[0m: a line with colours that is too long for the pane is broken at a blank; 幅幅幅 are wide");
    let end = drawn(&mut screen, &session, 60, 10);
    screen.key("PageUp".parse().unwrap());
    let back = text(&drawn(&mut screen, &session, 60, 10));
    screen.key("Home".parse().unwrap());
    let start = text(&drawn(&mut screen, &session, 60, 10));
    assert_screen("console.txt", &format!("{}\n{}\n{back}\n{start}", text(&end), styles(&end)));
}

#[test]
fn registers_that_changed() {
    // `add.u32 %r7, %r7, %r3` for the first time: %r7 of lane 5 was 0, and is 105.
    let session = session("debug/walk.ron", &["break 36", "continue", "lane 5", "stepi"]);
    assert_pane("registers_changed.txt", "Registers()", &session, (76, 7));
    assert_pane("registers_warp_changed.txt", "Registers(of: Warp, only: \"%r\")", &session, (76, 11));
}

#[test]
fn memory_that_changed() {
    assert_pane("memory_changed.txt", "Memory(of: Shared)", &session("debug/walk.ron", &["break 31", "continue", "stepi"]), (90, 8));
}

#[test]
fn original() {
    assert_pane("original.txt", "Original()", &diverged(), (80, 16));
    let nowhere = drawn(&mut alone("Original()", "dark"), &walking(), 80, 3);
    assert!(text(&nowhere).contains("no .loc says"));
}

/// Below the source stands what the line of the cursor mentions: variables, members and elements.
#[test]
fn original_with_what_a_line_mentions() {
    let session = session("dwarf/watched.ron", &["break 132", "continue", "lane 3", "stepi"]);
    assert_pane("original_mentioned.txt", "Original()", &session, (100, 12));
    let mut screen = alone("Original()", "dark");
    let last = |screen: &mut Screen, session: &Session, width| {
        text(&drawn(screen, session, width, 12)).lines().nth(11).unwrap_or_default().trim().to_string()
    };
    assert_eq!(last(&mut screen, &session, 100), "out[threadIdx.x] = 0  int global 0x7f200000000c │ p.a = 28  int local 0x150");
    assert_eq!(last(&mut screen, &session, 60), "out[threadIdx.x] = 0  int global 0x7f200000000c …");
    screen.key("Up".parse().unwrap());
    assert_eq!(last(&mut screen, &session, 100), "p.a = 28  int local 0x150 │ x = 28  int %r19");
    let structure = crate::panes::screen::session("dwarf/types.ron", &["break types.cu:84", "continue"]);
    let shown = last(&mut alone("Original()", "dark"), &structure, 100);
    assert!(shown.starts_with("shape.corner[0] = {x = <undefined>, y = <undefined>}  "), "{shown}");
}

/// Beside the lines of asm statements stands a bar.
#[test]
fn source_with_inline_asm() {
    let session = session("debug/inline_asm.ron", &["break 44", "continue"]);
    assert_pane("source_inline_asm.txt", "Source()", &session, (100, 16));
}

#[test]
fn original_and_ptx_take_turns() {
    let (mut screen, session) = (alone("Source()", "dark"), diverged());
    let title = |screen: &mut Screen| text(&drawn(screen, &session, 80, 12)).chars().take(14).collect::<String>();
    assert_eq!(title(&mut screen), "─[collatz.ptx ");
    screen.key("F3".parse().unwrap());
    assert_eq!(title(&mut screen), "─[collatz.cu ·");
    assert_eq!(screen.key("F9".parse().unwrap()), Answer::Command("break collatz.cu:14".to_string()));
    screen.key("F3".parse().unwrap());
    assert_eq!(title(&mut screen), "─[collatz.ptx ");
}

#[test]
fn fragments() {
    // `mma.sync.aligned.m16n8k32` of `mma_s8` is next; afterwards its result stands first.
    let before = session("programs/mma_frag.ron", &["break op mma.sync*", "continue", "lane 13"]);
    assert_pane("fragments.txt", "Fragments", &before, (120, 44));
    let mut after = session("programs/mma_frag.ron", &["break op mma.sync*", "continue", "lane 13", "stepi"]);
    assert_screen("fragments_narrow.txt", &text(&drawn(&mut alone("Fragments", "none"), &after, 64, 20)));
    let mut screen = alone("Fragments", "none");
    drawn(&mut screen, &after, 100, 30);
    for key in ["Down", "Down", "Down", "Right", "Right", "Right"] {
        screen.key(key.parse().unwrap());
    }
    let title = |screen: &mut Screen, session: &Session| text(&drawn(screen, session, 100, 30)).lines().next().unwrap().to_string();
    // Row 1 of D: lane 5 holds columns 2 and 3 (PTX ISA, "Matrix Fragments for mma.m16n8k32").
    let shown = title(&mut screen, &after);
    assert!(shown.starts_with("─[fragments · D[1][3] = ") && shown.contains(" in lane 5 %r"), "{shown}");
    let Answer::Command(line) = screen.key("Enter".parse().unwrap()) else { panic!("choosing is a command") };
    assert_eq!(line, "lane 5");
    type_lines(&mut after, &["goto 0"]);
    assert!(title(&mut screen, &after).starts_with("─[fragments]"));
}

#[test]
fn banks() {
    // Each warp reads a column of the tile: all 32 words are in one bank.
    let conflicts = session("debug/transposed.ron", &["break op ld.shared*", "continue"]);
    assert_pane("banks.txt", "Banks", &conflicts, (100, 14));
    assert_screen("banks_narrow.txt", &text(&drawn(&mut alone("Banks", "none"), &conflicts, 60, 6)));
    let free = session("debug/transposed.ron", &["break op st.shared*", "continue"]);
    let shown = text(&drawn(&mut alone("Banks", "none"), &free, 100, 5));
    assert!(shown.starts_with("─[banks · no conflict, 1 pass · st.shared.f32 [%at], %value]"), "{shown}");
}

#[test]
fn memory_as_a_heat_map() {
    let session = session("debug/transposed.ron", &["break op ld.shared*", "continue"]);
    assert_pane("memory_heat.txt", "Memory(of: Shared, show: Heat)", &session, (60, 36));
    let mut screen = alone("Memory(of: Shared)", "none");
    let shown = |screen: &mut Screen| text(&drawn(screen, &session, 60, 12));
    assert!(!shown(&mut screen).contains('░'));
    screen.key("F3".parse().unwrap());
    assert!(shown(&mut screen).contains('░'));
}

#[test]
fn the_element_of_the_cursor_has_a_writer_and_findings() {
    let session = session("debug/transposed.ron", &["break op ld.shared*", "continue"]);
    let mut screen = alone("Memory(of: Shared)", "none");
    drawn(&mut screen, &session, 120, 12);
    for key in ["Down", "Down", "Down", "Right"] {
        screen.key(key.parse().unwrap());
    }
    let shown = text(&drawn(&mut screen, &session, 120, 12));
    assert!(
        shown.contains("tile[1][1] at 0x484")
            && shown.contains(" · written t=24")
            && shown.contains(" by warp 1 lane 1, transposed.ptx:26"),
        "{shown}"
    );
}

#[test]
fn lanes_that_are_off_are_shown_with_what_they_leave_out() {
    let first = session("debug/transposed.ron", &["break op st.global*", "continue"]);
    let shown = text(&drawn(&mut alone("Source()", "none"), &first, 120, 12));
    assert!(shown.contains("7 of 32 lanes off: from the end of out on"), "{shown}");
    let line = shown.lines().find(|line| line.contains("@%p st.global")).unwrap();
    assert!(line.contains("◆████████████████████████○○○○○○○"), "{line}");
    // Warps 31 and 0 have stored theirs, and exited.
    let later = session("debug/transposed.ron", &["break op st.global*", "continue", "continue", "continue"]);
    let shown = text(&drawn(&mut alone("Source()", "none"), &later, 120, 12));
    assert!(shown.contains("21 of 96 lanes off in 3 of 32 warps: from out[1][0]"), "{shown}");
}

/// On 80 columns by 24 rows, of which 19 are above the prompt, every layout has 14 lines of source, whatever else there is to show.
#[test]
fn a_small_terminal_has_room_for_the_source() {
    let kernels: [(&str, &[&str]); 4] = [
        ("programs/sgemm_reg.ron", &["break 278", "continue"]),
        ("programs/mbar_pipeline.ron", &["goto 13000"]),
        ("programs/wgmma_tile.ron", &["break op wgmma.mma_async*", "continue"]),
        ("triton/tensors/attn_kernel.ron", &["break 506", "continue"]),
    ];
    for (launch, lines) in kernels {
        let session = session(launch, lines);
        for (name, file) in SHIPPED {
            let mut screen = Screen::new(Layout::parse(name, file.to_string()).unwrap(), Theme::default(), KeyMap::shipped());
            screen.add_output("(ptxdbg) display %r18\n1: %r18 = 5");
            let shown = text(&drawn(&mut screen, &session, 80, 19));
            // The graph stands beside the source.
            let left = if *name == "divergence" { shown.chars().position(|c| c == '┬').unwrap() + 1 } else { 0 };
            let lines = || shown.lines().map(|line| line.chars().skip(left).collect::<String>());
            let heads: Vec<usize> = lines().zip(0..).filter(|(line, _)| line.starts_with('─')).map(|(_, row)| row).collect();
            let title = lines().next().unwrap();
            assert!([".ptx", ".py", ".cu"].iter().any(|ending| title.contains(ending)), "{name} of {launch}:\n{shown}");
            assert!(heads[1] > 14, "{name} of {launch}:\n{shown}");
            assert!(!shown.contains(".loc"), "{name} of {launch}:\n{shown}");
        }
    }
}

/// What was said can be read again in place of the panes.
#[test]
fn what_was_said_is_read_again() {
    let (mut screen, session) = (alone("Source()", "none"), walking());
    for number in 0..60 {
        screen.add_output(&format!("(ptxdbg) print {number}\n{number}\n"));
    }
    screen.set_rows_below(4);
    let shown = |screen: &mut Screen| text(&drawn(screen, &session, 60, 11));
    let press = |screen: &mut Screen, key: &str| screen.key(key.parse().unwrap());
    assert_eq!(press(&mut screen, "PageDown"), Answer::Ignored, "the panes are shown");
    press(&mut screen, "PageUp");
    // The four rows below the panes have the last two commands.
    assert!(shown(&mut screen).ends_with("\n 57\n"), "{}", shown(&mut screen));
    press(&mut screen, "PageUp");
    assert!(shown(&mut screen).ends_with("\n (ptxdbg) print 53\n"), "{}", shown(&mut screen));
    press(&mut screen, "PageDown");
    press(&mut screen, "PageDown");
    assert!(shown(&mut screen).contains("walk.ptx"));
    // A long answer begins in the first row.
    screen.read_from(10);
    assert!(shown(&mut screen).starts_with("─[console · 11-20 of 120]") && shown(&mut screen).contains("\n (ptxdbg) print 5\n"));
    // A search goes back from there, and round.
    press(&mut screen, "Alt+/");
    for key in ["p", "r", "i", "n", "t", " ", "3", "Enter"] {
        press(&mut screen, key);
    }
    assert!(shown(&mut screen).contains("\n (ptxdbg) print 3\n"), "{}", shown(&mut screen));
    press(&mut screen, "n");
    assert!(shown(&mut screen).ends_with("\n (ptxdbg) print 39\n"), "{}", shown(&mut screen));
    press(&mut screen, "N");
    assert!(shown(&mut screen).contains("\n (ptxdbg) print 3\n"), "{}", shown(&mut screen));
    assert_eq!([screen.close_overlay(), screen.close_overlay()], [Answer::Changed, Answer::Ignored]);
}

/// A pane with nothing to show gives its room to the others.
#[test]
fn empty_panes_give_their_room_away() {
    let (_, file) = SHIPPED.iter().find(|(name, _)| *name == "async").unwrap();
    let titles = |session: &Session| {
        let mut screen = Screen::new(Layout::parse("async", file.to_string()).unwrap(), Theme::default(), KeyMap::shipped());
        let shown = text(&drawn(&mut screen, session, 120, 32));
        ["mbarriers", "in flight", "pipeline"].map(|title| shown.contains(&format!("─ {title}")))
    };
    assert_eq!(titles(&walking()), [false; 3]);
    assert_eq!(titles(&session("programs/mbar_pipeline.ron", &["goto 13000"])), [true; 3]);
}
