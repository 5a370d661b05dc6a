//! What holds for every screen: keys lead to commands, clicks to places, hostile layout files to diagnostics, and no size to a panic.

use std::path::Path;

use crate::look::wide::wide_kernel;
use crate::panes::screen::{drawn, session, text, type_lines};
use ptxdbg::command::parse;
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::Session;
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};
use ptxdbg::machine::Tick;
use ptxdbg::ui::tui::keymap::{Action, KeyMap, KeyPress, Move};
use ptxdbg::ui::tui::layout::Layout;
use ptxdbg::ui::tui::layout::file::LayoutError;
use ptxdbg::ui::tui::layout::layouts::{Command, LayoutStore, SHIPPED};
use ptxdbg::ui::tui::panes::PANES;
use ptxdbg::ui::tui::screen::{Answer, Click, Screen};
use ptxdbg::ui::tui::theme::{THEMES, Theme};

fn walking() -> Session {
    session("debug/walk.ron", &["break 37", "continue"])
}

fn shipped(name: &str) -> Screen {
    let (_, text) = SHIPPED.iter().find(|(shipped, _)| *shipped == name).unwrap();
    Screen::new(Layout::parse(name, text.to_string()).unwrap(), Theme::default(), KeyMap::shipped())
}

fn pane(pane: &str) -> Screen {
    Screen::new(Layout::parse("test.ron", format!("Layout(root: Pane({pane}))")).unwrap(), Theme::default(), KeyMap::shipped())
}

fn press(screen: &mut Screen, keys: &str) -> Answer {
    keys.split(' ').map(|key| screen.key(key.parse().unwrap())).last().unwrap()
}

#[test]
fn every_key_does_what_there_is() {
    let keys = KeyMap::shipped();
    assert!(keys.iter().count() > 30);
    for (key, action) in keys.iter() {
        assert_eq!(key.to_string().parse(), Ok(key));
        let Action::Command(line) = action else { continue };
        parse(line).unwrap_or_else(|error| panic!("{key}: {line}: {}", error.message));
        assert_eq!(shipped("default").key(key), Answer::Command(line.clone()));
    }
    // Each command can really be executed, not only read.
    for (key, action) in keys.iter() {
        let Action::Command(line) = action else { continue };
        let mut session = session("debug/collatz.ron", &["run-to call", "stepi", "stepi", "back"]);
        type_lines(&mut session, &[line]);
        assert!(session.recorded() > Tick::START, "{key}");
    }
}

#[test]
fn keys_of_a_users_own_win() {
    let own = KeyMap::parse("keys.ron", r#"KeyMap(commands: {"F5": "stepi 10"}, screen: {"Ctrl+g": Help})"#.to_string()).unwrap();
    let keys = KeyMap::shipped().with(own);
    let action = |key: &str| keys.action(key.parse().unwrap()).cloned();
    assert_eq!(action("F5"), Some(Action::Command("stepi 10".to_string())));
    assert_eq!(action("Ctrl+g"), Some(Action::Move(Move::Help)));
    assert_eq!(action("F10"), Some(Action::Command("next".to_string())));
    assert_eq!(action("F2"), None);
}

#[test]
fn a_prompt_keeps_the_keys_that_edit() {
    let edits = |key: &str| key.parse::<KeyPress>().unwrap().is_for_editing();
    assert!(["a", "/", "?", "Tab", "Up", "Home", "Enter", "Shift+Tab"].iter().all(|key| edits(key)));
    assert!(!["F5", "Shift+F5", "Alt+z", "PageUp", "Ctrl+l"].iter().any(|key| edits(key)));
}

#[test]
fn wrong_key_maps_are_diagnosed() {
    assert_wrong(rejected_keys(r#"KeyMap(commands: {"F99": "continue"})"#), "keys.ron:1:", "'F99' is not a key");
    assert_wrong(rejected_keys(r#"KeyMap(commands: {"Hyper+a": "continue"})"#), "keys.ron:1:", "'Hyper' is not a key to hold down");
    assert_wrong(rejected_keys("KeyMap(screen: {\"F1\": Fly})"), "keys.ron:1:", "'Fly' is none of what can stand here");
    assert_wrong(rejected_keys("KeyMap(keys: {})"), "keys.ron:1:", "there is no field 'keys'");
}

/// Hostile layouts: each with the place and the message it gets.
#[test]
fn wrong_layouts_are_diagnosed() {
    let cases = [
        ("", "1:1:", "the file is empty"),
        ("Layout(", "1:7:", "the file ends before it is complete"),
        ("Layout(about: \"x\")", "1:", "field 'root' of Layout is missing"),
        ("Layout(\n  root: Pane(Sauce))", "2:14:", "'Sauce' is none of what can stand here"),
        ("Layout(\n  rot: Pane(Source()))", "2:3:", "there is no field 'rot' of Layout"),
        ("Layout(root: Pane(Registers(lanes: 3)))", "1:29:", "there is no field 'lanes'"),
        ("Layout(root: Rows([(shares: 1, of: Pane(Source()))]))", "1:21:", "there is no field 'shares'"),
        ("Layout(root: Rows([(size: 70000, of: Pane(Source()))]))", "1:", "out of range"),
        ("Layout(root: Rows([(size: -1, of: Pane(Source()))]))", "1:", ""),
        ("Layout(root: Rows([]))", "1:8:", "the layout has no pane"),
        ("Layout(root: Pane(Source())) more", "1:", ""),
        ("\u{0}", "1:1:", ""),
    ];
    let described: Vec<String> = cases.iter().map(|(file, ..)| described(rejected_layout(file))).collect();
    let is_right = |((_, place, message), described): (&(&str, &str, &str), &String)| {
        described.strip_prefix("hostile.ron:").is_some_and(|rest| rest.starts_with(place) && rest.contains(message))
    };
    assert!(cases.iter().zip(&described).all(is_right), "{described:#?}");
    let many = format!("Layout(root: Rows([{}]))", "(of: Pane(Source())),".repeat(33));
    assert_wrong(rejected_layout(&many), "hostile.ron:1:8:", "the layout has 33 panes, 32 at most");
    let deep = format!("Layout(root: {}Pane(Source()){})", "Rows([(of: ".repeat(17), ")])".repeat(17));
    assert_wrong(rejected_layout(&deep), "hostile.ron:1:8:", "splits stand 17 deep inside each other, 16 at most");
    let deeper = format!("Layout(root: {}", "Rows([(of: ".repeat(100_000));
    assert_wrong(rejected_layout(&deeper), "hostile.ron:1:", "");
}

fn rejected_layout(text: &str) -> Result<(), LayoutError> {
    Layout::parse("hostile.ron", text.to_string()).map(|_| ())
}

fn rejected_keys(text: &str) -> Result<(), LayoutError> {
    KeyMap::parse("keys.ron", text.to_string()).map(|_| ())
}

#[track_caller]
fn assert_wrong(result: Result<(), LayoutError>, place: &str, message: &str) {
    let described = described(result);
    assert!(described.starts_with(place) && described.contains(message), "{described}");
}

/// `FILE:LINE:COLUMN: what is wrong`
fn described(result: Result<(), LayoutError>) -> String {
    let Err(LayoutError::Wrong(wrong)) = result else { return "it is accepted, or cannot be read".to_string() };
    let (sources, diagnostic) = *wrong;
    let position = sources.position(diagnostic.span);
    format!("{}:{}:{}: {}", sources.file(diagnostic.span.source).name(), position.line, position.column, diagnostic.message)
}

#[test]
fn every_pane_can_stand_alone_and_is_in_a_layout_or_asked_for() {
    let session = walking();
    for (name, about) in PANES {
        assert!(about.ends_with('.'), "{name}");
        let with = if matches!(name, "Source" | "Original" | "Registers" | "Memory") { format!("{name}()") } else { name.to_string() };
        let shown = text(&drawn(&mut pane(&with), &session, 100, 30));
        assert!(shown.lines().count() == 30 && shown.starts_with("─["), "{name}: {shown}");
    }
}

#[test]
fn no_size_and_no_key_panics() {
    let session = walking();
    let ended = self::session("faults/barrier_deadlock.ron", &["continue"]);
    let keys = KeyMap::shipped();
    for (name, _) in SHIPPED {
        let mut screen = shipped(name);
        for (width, height) in (0..=70).step_by(3).flat_map(|width| (0..=32).step_by(4).map(move |height| (width, height))) {
            drawn(&mut screen, &session, width, height);
            drawn(&mut screen, &ended, width, height);
        }
        drawn(&mut screen, &session, 400, 100);
        for (key, action) in keys.iter() {
            if matches!(action, Action::Move(movement) if *movement != Move::NextLayout) {
                screen.key(key);
                drawn(&mut screen, &session, 120, 40);
            }
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 40, ..Default::default() })]

    /// Any size from the smallest that has panes to a wall, in any layout, scrolled anywhere.
    #[test]
    fn any_size_can_be_drawn(width in 40_u16..=400, height in 1_u16..=100, layout in 0..SHIPPED.len(), keys in "[jkhlnGz.]{0,6}") {
        let mut screen = shipped(SHIPPED[layout].0);
        let session = walking();
        for key in keys.chars() {
            screen.key(KeyPress::plain(ptxdbg::ui::tui::keymap::Key::Char(key)));
            drawn(&mut screen, &session, width, height);
        }
        drawn(&mut screen, &session, width, height);
        drawn(&mut screen, &session, height, width.min(100));
    }
}

#[test]
fn themes_change_no_text() {
    let session = walking();
    for (name, _) in SHIPPED {
        let mut screen = shipped(name);
        let texts: Vec<String> = THEMES
            .iter()
            .map(|theme| {
                screen.set_theme(*theme);
                text(&drawn(&mut screen, &session, 160, 50))
            })
            .collect();
        assert!(texts.iter().all(|text| *text == texts[0]), "{name}");
    }
}

/// Everything that a style shows a sign or a word shows too: states that differ look different without any styles.
#[test]
fn nothing_is_shown_by_colour_alone() {
    let unlike = |what: &str, pane_name: &str, one: &[&str], other: &[&str]| {
        let shown = |lines| text(&drawn(&mut pane(pane_name), &session("debug/walk.ron", lines), 100, 40));
        assert_ne!(shown(one), shown(other), "{what}");
    };
    let at = ["break 36", "continue", "lane 5"];
    let with = |line| [&at[..], &[line]].concat();
    unlike("a breakpoint that is disabled", "Source()", &with("disable 1"), &with("enable 1"));
    unlike("the focused lane", "Source()", &with("lane 5"), &with("lane 7"));
    unlike("the focused lane in the warps", "Warps", &with("lane 5"), &with("lane 7"));
    unlike("the focused lane among values", "Registers(of: Warp)", &with("lane 5"), &with("lane 7"));
    unlike("what runs next", "Source()", &["goto 45"], &["goto 45", "warp 1"]);
    unlike("where others stand", "Cfg", &["goto 45", "warp 0"], &["goto 45", "warp 1 lane 3"]);
    unlike("changed registers", "Registers(of: Lane)", &with("stepi"), &[&with("stepi 2")[..], &["reverse-stepi"]].concat());
    unlike(
        "changed memory",
        "Memory(of: Shared)",
        &["break 31", "continue", "stepi"],
        &["break 31", "continue", "stepi 2", "reverse-stepi"],
    );
    unlike("where one has been", "Timeline", &["goto 9", "goto 20"], &["goto 11", "goto 20"]);
    let session = walking();
    let shown = |screen: &mut Screen| text(&drawn(screen, &session, 160, 50));
    for keys in ["Tab", "Down", "Shift+Tab Left"] {
        let mut screen = shipped("default");
        let before = shown(&mut screen);
        press(&mut screen, keys);
        assert_ne!(before, shown(&mut screen), "{keys}");
    }
}

#[test]
fn wide_characters_take_two_cells() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let ptx = ".version 8.0\n.target sm_90\n.address_size 64\n// 幅の広い文字 and narrow\n.visible .entry wide_text()\n{\n\tret; /* 終わり\n\t幅 */\n}\n";
    std::fs::write(folder.join("wide_text.ptx"), ptx).unwrap();
    let launch = r#"Launch(module: "wide_text.ptx", kernel: "wide_text", grid: (1, 1, 1), block: (32, 1, 1), params: [])"#;
    std::fs::write(folder.join("wide_text.ron"), launch).unwrap();
    let session = crate::panes::screen::session_at(&folder.join("wide_text.ron"), &[]);
    let mut screen = pane("Source()");
    for width in 0..80 {
        drawn(&mut screen, &session, width, 12);
    }
    let buffer = drawn(&mut screen, &session, 80, 12);
    let row = (0..80).map(|x| buffer[(x, 4)].symbol()).collect::<Vec<_>>();
    let at = row.iter().position(|symbol| *symbol == "幅").unwrap();
    assert_eq!(row[at..at + 14].concat(), "幅 の 広 い 文 字  a", "each stands in one cell and the next is left free");
    for name in ["default", "tour"] {
        let mut screen = shipped(name);
        screen.add_output(&"幅".repeat(300));
        for (width, height) in (38..90).zip((10..60).cycle()) {
            drawn(&mut screen, &session, width, height);
        }
    }
}

#[test]
fn the_cursor_moves_and_sets_breakpoints() {
    let (mut screen, session) = (pane("Source()"), walking());
    drawn(&mut screen, &session, 100, 30);
    assert_eq!(press(&mut screen, "F9"), Answer::Command("delete 1".to_string()), "line 37 has breakpoint 1");
    press(&mut screen, "Down Down");
    drawn(&mut screen, &session, 100, 30);
    assert_eq!(press(&mut screen, "F9"), Answer::Command("break walk.ptx:39".to_string()));
    press(&mut screen, "End");
    drawn(&mut screen, &session, 100, 30);
    assert_eq!(press(&mut screen, "F9"), Answer::Command("break walk.ptx:46".to_string()));
    press(&mut screen, ".");
    drawn(&mut screen, &session, 100, 30);
    assert_eq!(press(&mut screen, "F9"), Answer::Command("delete 1".to_string()));
}

#[test]
fn searching_finds_lines_and_filters_names() {
    let (mut screen, session) = (pane("Source()"), walking());
    press(&mut screen, "/ B A R");
    assert!(screen.is_typing());
    assert!(text(&drawn(&mut screen, &session, 100, 30)).starts_with("─[/BAR_]"));
    press(&mut screen, "Enter");
    drawn(&mut screen, &session, 100, 30);
    // 'barrier' is in the comment of line 1, after the present line 37; 'bar.sync' in line 32.
    assert_eq!(press(&mut screen, "F9"), Answer::Command("break walk.ptx:1".to_string()));
    press(&mut screen, "n");
    drawn(&mut screen, &session, 100, 30);
    assert_eq!(press(&mut screen, "F9"), Answer::Command("break walk.ptx:32".to_string()));
    let mut registers = pane("Registers()");
    press(&mut registers, "/ % p Enter");
    let shown = text(&drawn(&mut registers, &session, 60, 8));
    assert!(shown.contains("only %p") && shown.contains("%p2") && !shown.contains("%r1"), "{shown}");
}

#[test]
fn clicks_are_command_lines() {
    let session = walking();
    let mut screen = pane("Source()");
    let shown = text(&drawn(&mut screen, &session, 100, 30));
    let row = |part: &str| shown.lines().position(|line| line.contains(part)).unwrap() as u16;
    assert_eq!(screen.click(0, row("bra EVEN"), Click::Press), Answer::Command("break walk.ptx:22".to_string()));
    assert_eq!(screen.click(0, row("sub.u32"), Click::Press), Answer::Command("delete 1".to_string()));
    assert_eq!(screen.click(70, row("bra EVEN"), Click::Press), Answer::Changed);
    drawn(&mut screen, &session, 100, 30);
    assert_eq!(press(&mut screen, "F9"), Answer::Command("break walk.ptx:22".to_string()));
    // The strip of a split warp begins after two marks, the number of the line and a blank.
    let split = self::session("debug/walk.ron", &["break 22", "break 36", "disable 2", "continue", "stepi", "goto 45", "warp 1 lane 3"]);
    let shown = text(&drawn(&mut screen, &split, 100, 30));
    let row = shown.lines().position(|line| line.contains("bra LOOP")).unwrap() as u16;
    assert_eq!(screen.click(5 + 7, row, Click::Press), Answer::Command("lane 7".to_string()));
    let mut warps = pane("Warps");
    let shown = text(&drawn(&mut warps, &session, 100, 10));
    let bar = shown.lines().nth(1).unwrap().chars().position(|c| "█◆▓▒·".contains(c)).unwrap() as u16;
    let Answer::Command(line) = warps.click(bar + 30, 1, Click::Press) else { panic!("a lane is a command") };
    assert!(line.starts_with("warp ") && line.ends_with(" lane 30"), "{line}");
    let Answer::Command(line) = warps.click(5, 1, Click::Press) else { panic!("a row is a command") };
    type_lines(&mut self::session("debug/walk.ron", &["break 37", "continue"]), &[&line]);
    let mut timeline = pane("Timeline");
    drawn(&mut timeline, &session, 104, 3);
    assert_eq!(timeline.click(2, 1, Click::Press), Answer::Command("goto 0".to_string()));
    assert_eq!(timeline.click(101, 1, Click::Press), Answer::Command(format!("goto {}", session.recorded())));
    assert_eq!(timeline.click(300, 100, Click::Press), Answer::Ignored);
    // With no row of its own the bar stands in the title.
    let title = text(&drawn(&mut timeline, &session, 104, 1));
    let bar = title.lines().next().and_then(|line| line.chars().position(|c| c == '▕')).unwrap() as u16;
    assert_eq!(timeline.click(bar + 1, 0, Click::Press), Answer::Command("goto 0".to_string()));
    assert_eq!(timeline.click(bar - 1, 0, Click::Press), Answer::Changed);
}

#[test]
fn panes_take_turns_and_can_be_alone() {
    let (mut screen, session) = (shipped("default"), walking());
    let title = |screen: &mut Screen| {
        let shown = text(&drawn(screen, &session, 160, 50));
        let start = shown.find("─[").unwrap();
        shown[start..].chars().skip(1).take(10).collect::<String>()
    };
    assert_eq!(title(&mut screen), "[walk.ptx ");
    press(&mut screen, "Tab");
    assert_eq!(title(&mut screen), "[registers");
    press(&mut screen, "z");
    assert!(text(&drawn(&mut screen, &session, 160, 50)).lines().skip(1).all(|line| !line.contains('─')));
    press(&mut screen, "z Shift+Tab Shift+Tab");
    assert_eq!(screen.key("?".parse().unwrap()), Answer::Changed);
    assert!(text(&drawn(&mut screen, &session, 160, 50)).starts_with("─[keys, Esc closes]"));
}

/// On a small screen the key for the next pane comes to the panes without room, too, and each is then alone.
#[test]
fn a_pane_without_room_is_shown_alone_when_it_is_chosen() {
    let (mut screen, session) = (shipped("default"), walking());
    let first = |screen: &mut Screen| text(&drawn(screen, &session, 80, 19)).lines().next().unwrap().to_string();
    let shown = text(&drawn(&mut screen, &session, 80, 19));
    assert!(shown.contains("more panes: F6") || shown.contains("F6: +"), "{shown}");
    assert!(!shown.contains("control flow"), "{shown}");
    let titles: Vec<String> = (0..8)
        .map(|_| {
            press(&mut screen, "F6");
            first(&mut screen)
        })
        .collect();
    assert!(titles.iter().any(|title| title.starts_with("─[control flow")), "{titles:?}");
    assert!(titles.iter().any(|title| title.starts_with("─[walk.ptx")), "{titles:?}");
}

#[test]
fn layouts_are_shown_saved_and_read_again() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("layouts");
    let _ = std::fs::remove_dir_all(&folder);
    let layouts = || LayoutStore::new(Some(folder.clone()));
    let mut screen = shipped("default").with_layouts(layouts());
    assert!(screen.layout_command(Command::Show("divergence")).is_ok());
    screen.layout_command(Command::Save("mine")).unwrap();
    assert_eq!(layouts().names().last().map(String::as_str), Some("mine"));
    let again = layouts().take("mine").unwrap();
    assert_eq!(again, layouts().take("divergence").unwrap());
    let mut all = layouts();
    let navigation: Vec<String> = (0..SHIPPED.len() + 1).map(|_| all.take("next").unwrap().about).collect();
    assert_eq!(navigation[0], layouts().take("compact").unwrap().about);
    assert_eq!(navigation[SHIPPED.len()], layouts().take("default").unwrap().about);
    assert_eq!(all.take("prev").unwrap(), layouts().take("mine").unwrap());
    let listing = all.listing();
    assert!(listing.contains("* mine ") && listing.contains("  race "), "{listing}");
    let error = layouts().take("divergance").unwrap_err();
    assert_eq!(error.to_string(), "there is no layout 'divergance', did you mean 'divergence'?");
    std::fs::write(folder.join("broken.ron"), "Layout(\n  root: Pane(Sauce))").unwrap();
    let described = layouts().take("broken").unwrap_err().to_string();
    assert!(described.ends_with("broken.ron:2:14: 'Sauce' is none of what can stand here"), "{described}");
    assert!(layouts().take("not/there.ron").unwrap_err().to_string().starts_with("cannot read not/there.ron: "));
}

/// `man/ptxdbg-layout.5` names all there is, and what it shows can be read.
#[test]
fn the_manual_page_is_right() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("man/ptxdbg-layout.5");
    let page = std::fs::read_to_string(path).unwrap();
    let examples: Vec<&str> = page.split(".nf\n").skip(1).filter_map(|part| part.split(".fi\n").next()).collect();
    assert_eq!(examples.len(), 2);
    assert_eq!(Layout::parse("example", examples[0].to_string()).unwrap().panes().len(), 4);
    assert_eq!(KeyMap::parse("example", examples[1].to_string()).unwrap().iter().count(), 3);
    for (name, _) in SHIPPED {
        assert!(page.contains(&format!("\\fB{name}\\fR")), "layout {name}");
    }
    for (name, about) in PANES {
        assert!(page.contains(&format!(".TP\n\\fB{name}")) && page.contains(about), "pane {name}");
    }
    let moves = KeyMap::shipped();
    let moves =
        moves.iter().filter_map(|(_, action)| if let Action::Move(movement) = action { Some(format!("{movement:?}")) } else { None });
    moves.for_each(|movement| assert!(page.contains(&movement), "{movement}"));
    let names = ["size", "share", "min", "of", "about", "root"];
    names.iter().for_each(|name| assert!(page.contains(&format!("\\fB{name}:")), "{name}"));
}

/// A kernel with 2,000 registers in blocks of 32 warps is drawn as quickly as a small one: only what is visible is looked at.
#[test]
fn drawing_does_not_grow_with_the_kernel() {
    let launch = wide_kernel(std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
    let session = crate::panes::screen::session_at(&launch, &["stepi 50"]);
    let best = |session: &Session| {
        let mut screen = shipped("default");
        let time = |_| {
            let begun = std::time::Instant::now();
            drawn(&mut screen, session, 200, 60);
            begun.elapsed()
        };
        (0..20).map(time).min().unwrap()
    };
    let (wide, small) = (best(&session), best(&walking()));
    assert!(wide < 12 * small, "{wide:?} beside {small:?}");
    // `cargo bench --bench screen` holds an optimized build to 2 ms.
    assert!(wide < std::time::Duration::from_millis(60), "{wide:?}");
}

#[test]
fn a_step_moves_the_source_and_not_what_was_scrolled_to() {
    let mut session = walking();
    let (mut source, mut memory) = (pane("Source()"), pane("Memory(of: Shared)"));
    for (screen, keys) in [(&mut source, "Down Down"), (&mut memory, "Alt+PageDown")] {
        drawn(screen, &session, 60, 12);
        press(screen, keys);
        drawn(screen, &session, 60, 12);
    }
    type_lines(&mut session, &["stepi"]);
    let shown = text(&drawn(&mut source, &session, 60, 12));
    assert!(shown.lines().any(|line| line.starts_with(" ▶38")), "{shown}");
    assert_eq!(press(&mut source, "F9"), Answer::Command("break walk.ptx:38".to_string()), "the cursor is with the focused thread");
    let shown = text(&drawn(&mut memory, &session, 60, 12));
    // The last eleven of the 17 rows that name and hold 64 elements are visible. What is known of an element comes before the rows.
    assert!(shown.starts_with("─[shared memory · tile[40] at 0x4a0 · written t=26"), "{shown}");
    assert!(shown.lines().nth(1).is_some_and(|line| line.starts_with(" [20]")), "{shown}");
}

#[test]
fn the_first_line_says_that_the_launch_is_made_up() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/made_up/gemm.ptx");
    let request = Request { modules: vec![module], launch: LaunchChoice::Sibling, overrides: Overrides::default() };
    let session = Session::new(open(&request).unwrap(), 0, RunOptions::unwatched()).unwrap();
    for (width, described) in [(120, true), (80, true), (40, false)] {
        let drawn = text(&drawn(&mut shipped("default"), &session, width, 24));
        let first = drawn.lines().next().unwrap();
        assert_eq!(first.contains(" made-up launch "), described, "{first}");
    }
    let written = text(&drawn(&mut shipped("default"), &walking(), 120, 24));
    assert!(!written.contains("made-up launch"), "{written}");
}

/// A kernel from Python is shown as Python, with its variables and findings; its PTX is one key away.
#[test]
fn python_is_shown_first() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/triton");
    let modules = vec![fixtures.join("sm_80/vadd.ptx")];
    let overrides = Overrides { folders: vec![fixtures], ..Overrides::default() };
    let session = Session::new(open(&Request { modules, launch: LaunchChoice::Sibling, overrides }).unwrap(), 0, RunOptions::unwatched());
    let session = session.unwrap();
    let mut screen = shipped("default");
    screen.suit(&session);
    let shown = text(&drawn(&mut screen, &session, 120, 32));
    assert!(shown.starts_with("─[kernels.py:") && shown.contains("─ locals") && shown.contains("─ findings"), "{shown}");
    // On 80 columns by 24 rows, of which 19 are above the prompt, it has 14 lines of source.
    let small = text(&drawn(&mut screen, &session, 80, 19));
    let source_lines = small.lines().skip(1).take_while(|line| !line.starts_with('─')).count();
    assert!(source_lines >= 14 && small.contains("─ locals"), "{small}");
    press(&mut screen, "F3");
    let shown = text(&drawn(&mut screen, &session, 120, 32));
    assert!(shown.starts_with("─[vadd.ptx:"), "{shown}");
    let mut other = shipped("default");
    other.suit(&walking());
    assert!(text(&drawn(&mut other, &walking(), 120, 32)).starts_with("─[walk.ptx · "));
}

/// With debug data, registers are named after the variables that they hold, and no block is named after a label of the debug data.
#[test]
fn names_of_the_source_stand_in_panes() {
    let session = session("dwarf/types.ron", &["next", "next", "next"]);
    let shown = text(&drawn(&mut pane("Registers(of: Warp)"), &session, 70, 20));
    let named = |register: &str, variable: &str| {
        let is_named = |line: &str| line.split_whitespace().take(2).eq([register, variable]);
        shown.lines().any(|line| is_named(line.trim_start_matches('*')))
    };
    assert!(named("%r1", "i") && named("%r3", "k"), "{shown}");
    let graph = text(&drawn(&mut pane("Cfg"), &session, 120, 60));
    assert!(graph.contains("BB10_2") && !graph.contains("tmp"), "{graph}");
}
