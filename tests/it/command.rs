//! The command table, and what is made of it: parsing, errors, completion, hints and help.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot parse fails")]

use ptxdbg::command::complete::{KnownNames, complete, hint};
use ptxdbg::command::spec::{ArgKind, CommandSpec, Repeat};
use ptxdbg::command::table::{GROUPS, TABLE, TOPICS, commands};
use ptxdbg::command::{CommandError, help, parse};

fn error(line: &str) -> CommandError {
    parse(line).err().unwrap_or_else(|| panic!("'{line}' is not a mistake"))
}

/// The message, the text that it is about, and the help.
fn described(line: &str) -> (String, String, String) {
    let CommandError { message, span, help } = error(line);
    (message, span.map_or(String::new(), |span| line[span].to_string()), help.unwrap_or_default())
}

fn name(line: &str) -> &'static str {
    parse(line).unwrap().spec.name
}

#[test]
fn every_row_is_complete() {
    for CommandSpec { name, summary, help, examples, args, .. } in commands() {
        assert!(!name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == ' '), "{name}");
        assert!(summary.starts_with(|c: char| c.is_uppercase()) && !summary.ends_with('.'), "{name}: {summary}");
        assert!(summary.chars().count() <= 80, "{name}: the summary is more than a line");
        assert!(help.ends_with('.') && !help.contains("  "), "{name}: {help}");
        assert!(!examples.is_empty(), "{name} has no example");
        // THREADS begin with a word of their own, so what must be given may follow them.
        let args: Vec<_> = args.iter().filter(|arg| arg.kind != ArgKind::ThreadFilter).collect();
        let first_optional = args.iter().position(|arg| arg.optional).unwrap_or(args.len());
        assert!(args[first_optional..].iter().all(|arg| arg.optional), "{name}: what must be given stands before what may be");
    }
}

#[test]
fn every_name_leads_to_its_row_alone() {
    let mut seen: Vec<&str> = Vec::new();
    for spec in commands() {
        for name in std::iter::once(&spec.name).chain(spec.aliases) {
            assert!(!seen.contains(name), "{name} stands for two commands");
            seen.push(name);
            // Arguments that must be given are missing; the row is found all the same.
            match parse(name) {
                Ok(call) => assert_eq!(call.spec.name, spec.name, "{name}"),
                Err(error) => assert_eq!(error.help, Some(format!("usage: {}", spec.usage())), "{name}"),
            }
        }
    }
}

#[test]
fn every_example_can_be_parsed() {
    for spec in commands() {
        for example in spec.examples {
            assert_eq!(parse(example).map(|call| call.spec.name).ok(), Some(spec.name), "{example}: {:?}", parse(example).err());
        }
    }
}

#[test]
fn topics_and_groups_have_names_of_their_own() {
    for topic in TOPICS {
        assert!(help::about(&TABLE, topic.name).is_ok(), "{}", topic.name);
        assert!(!topic.commands.is_empty() || !topic.about.is_empty(), "{}", topic.name);
    }
    for group in GROUPS {
        assert!(TABLE.members(group).count() > 0, "{}", group.name);
    }
}

#[test]
fn gdbs_short_names_win_over_prefixes() {
    let short = [
        ("b 1", "break"),
        ("c", "continue"),
        ("s", "step"),
        ("n", "next"),
        ("si", "stepi"),
        ("ni", "nexti"),
        ("u", "until"),
        ("r", "run"),
        ("fin", "finish"),
        ("rs", "reverse-step"),
        ("rsi", "reverse-stepi"),
        ("rn", "reverse-next"),
        ("rni", "reverse-nexti"),
        ("rc", "reverse-continue"),
        ("d", "delete"),
        ("dis", "disable"),
        ("en", "enable"),
        ("tb 1", "tbreak"),
        ("h", "help"),
        ("q", "quit"),
        ("f", "frame"),
        ("p 1", "print"),
        ("i b", "info breakpoints"),
        ("inf break", "info breakpoints"),
    ];
    for (line, expected) in short {
        assert_eq!(name(line), expected, "{line}");
    }
}

#[test]
fn a_prefix_of_one_command_stands_for_it() {
    assert_eq!(name("conti"), "continue");
    assert_eq!(name("reverse-c"), "reverse-continue");
    assert_eq!(name("in mar"), "info marks");
    assert_eq!(name("sav s file"), "save session");
    assert_eq!(name("lo session file"), "load session");
    assert_eq!(name("se listsize 3"), "set");
    assert_eq!(name("set var %r1 = 1"), "set var");
    assert_eq!(name("help"), "help");
    assert_eq!(name("info"), "help");
}

#[test]
fn a_wrong_name_says_what_there_is() {
    assert_eq!(described("stp 3"), ("there is no command 'stp'".into(), "stp".into(), "did you mean 'step'?".into()));
    assert_eq!(described("frobnicate"), ("there is no command 'frobnicate'".into(), "frobnicate".into(), "help lists the commands".into()));
    assert_eq!(described("reverse-s"), ("'reverse-s' is ambiguous: reverse-step, reverse-stepi".into(), "reverse-s".into(), String::new()));
    assert_eq!(described("info makrs"), ("there is no command 'info makrs'".into(), "makrs".into(), "did you mean 'marks'?".into()));
    assert_eq!(described("%r1"), ("expected a command".into(), "%r1".into(), "help lists them".into()));
}

#[test]
fn a_wrong_argument_says_what_was_expected_and_where() {
    let usage = |line: &str| format!("usage: {line}");
    assert_eq!(described("continue 0").0, "expected a number from 1, not '0'");
    assert_eq!(described("stepi lane x").1, "x");
    assert_eq!(described("ignore 1"), ("expected a number".into(), String::new(), usage("ignore N COUNT")));
    assert_eq!(error("ignore 1  ").column("ignore 1  "), Some(9));
    assert_eq!(described("ignore 1 two"), ("expected a number, not 'two'".into(), "two".into(), String::new()));
    assert_eq!(described("run fast"), ("run takes no argument".into(), "fast".into(), usage("run")));
    assert_eq!(described("goto 1 2"), ("'2' is not expected here".into(), "2".into(), usage("goto TICK")));
    assert_eq!(described("break 3 if"), ("expected an expression after 'if'".into(), String::new(), String::new()));
    assert_eq!(described("run/x"), ("run takes no format".into(), "/x".into(), usage("run")));
    assert_eq!(described("stepi thread").0, "expected lane, warp, block or grid or a number from 1, not 'thread'");
    assert_eq!(described("step 2 3").0, "'3' is not expected here");
    assert_eq!(described("undisplay 3-1").0, "'3-1' is not a range of at most 10000 numbers");
    assert_eq!(described("delete 1-"), ("expected numbers such as 1 3-5, not '1-'".into(), "1-".into(), usage("delete [N]")));
}

#[test]
fn arguments_are_taken_apart_by_their_kinds() {
    let call = parse("break $L__BB0_2 block 1,0,0 warp 2 if (%r1 > 3 && x[if] == 1)").unwrap();
    assert_eq!(call.text("LOCATION"), Some("$L__BB0_2"));
    assert_eq!(call.text("THREADS"), Some("block 1,0,0 warp 2"));
    assert_eq!(call.text("CONDITION"), Some("(%r1 > 3 && x[if] == 1)"));
    assert_eq!(parse("b 3 if(%r1)").unwrap().text("CONDITION"), Some("(%r1)"));
    assert_eq!(parse("b op atom.* lane 0-7").unwrap().text("LOCATION"), Some("op atom.*"));
    assert_eq!(parse("stepi lane 5").unwrap().number("N"), Some(5));
    assert_eq!(parse("stepi 5").unwrap().number("N"), Some(5));
    assert_eq!(parse("si 1,000").unwrap().number("N"), Some(1000));
    let call = parse("p/x %r1").unwrap();
    assert_eq!((call.suffix.as_ref().map(|suffix| suffix.text.as_str()), call.text("EXPRESSION")), (Some("x"), Some("%r1")));
    assert_eq!(parse("p%r1").unwrap().text("EXPRESSION"), Some("%r1"));
    assert_eq!(parse("undisplay 1 3-5").unwrap().args[0].numbers, [1, 3, 4, 5]);
    let call = parse("dump \"my file.npy\" out").unwrap();
    assert_eq!((call.text("FILE"), call.text("MEMORY")), (Some("my file.npy"), Some("out")));
    let call = parse("dprintf 37,\"a, if %d\\n\",%r1").unwrap();
    assert_eq!((call.text("LOCATION"), call.text("MESSAGE")), (Some("37"), Some("\"a, if %d\\n\",%r1")));
    assert_eq!(parse("source my file").unwrap().text("FILE"), Some("my file"));
}

fn names() -> KnownNames {
    let list = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    KnownNames {
        registers: list(&["%r1", "%r12", "%p1", "%tid.x"]),
        symbols: list(&["tile", "out"]),
        locations: list(&["kernel", "$L__BB0_1", "$L__BB0_2"]),
        marks: list(&["before"]),
        mbarriers: list(&["full[0]", "full[1]", "empty[0]"]),
        roles: list(&["producer"]),
        layouts: list(&["default", "compact", "next"]),
    }
}

fn candidates(line: &str) -> Vec<String> {
    complete(line, &names()).candidates
}

#[test]
fn names_are_completed_by_what_can_stand_there() {
    assert_eq!(candidates("rev"), ["reverse-continue", "reverse-finish", "reverse-next", "reverse-nexti", "reverse-step", "reverse-stepi"]);
    assert_eq!(candidates("info m"), ["marks", "may-read", "mbarriers"]);
    assert_eq!(candidates("i mar"), ["marks"]);
    assert_eq!(candidates("info mbarriers fu"), ["full[0]", "full[1]"]);
    assert_eq!(candidates("role "), ["auto", "clear", "producer"]);
    assert_eq!(candidates("p %r1"), ["%r1", "%r12"]);
    assert_eq!(candidates("p/x 3 + %t"), ["%tid.x"]);
    assert_eq!(candidates("p r"), ["%r1", "%r12"]);
    assert_eq!(candidates("break L__"), ["$L__BB0_1", "$L__BB0_2"]);
    assert_eq!(candidates("break $L__BB0_1 if ti"), ["tile", "%tid.x"].map(String::from).into_iter().rev().collect::<Vec<_>>());
    assert_eq!(candidates("goto b"), ["before"]);
    assert_eq!(candidates("goto "), ["finding", "launch", "mismatch", "start", "end", "before"]);
    assert_eq!(candidates("goto finding 1 f"), ["first"]);
    assert_eq!(candidates("catch div"), ["divergence"]);
    assert_eq!(candidates("set step-u"), ["step-unit"]);
    assert_eq!(candidates("set step-unit "), ["lane", "warp", "block", "grid"]);
    assert_eq!(candidates("set %r12"), ["%r12"]);
    assert_eq!(candidates("show conf"), ["confirm"]);
    assert_eq!(candidates("stepi l"), ["lane"]);
    assert_eq!(candidates("help stopp"), ["stopping"]);
    assert!(complete("source fi", &names()).files);
    assert_eq!(complete("dump a/b", &names()).start, 5);
    assert!(candidates("run ").is_empty());
    assert!(candidates("frob ").is_empty());
}

#[test]
fn a_hint_is_what_is_left_or_what_comes_next() {
    assert_eq!(hint("conti", &names()).as_deref(), Some("nue"));
    assert_eq!(hint("ignore", &names()).as_deref(), Some(" N COUNT"));
    assert_eq!(hint("ignore ", &names()).as_deref(), Some("N COUNT"));
    assert_eq!(hint("goto bef", &names()).as_deref(), Some("ore"));
    assert_eq!(hint("", &names()), None);
    assert_eq!(hint("frob", &names()), None);
}

#[test]
fn help_finds_commands_topics_groups_and_settings() {
    for words in ["break", "b", "info", "info breakpoints", "i b", "stopping", "set", "listsize", "set listsize", "set var", "help"] {
        assert!(help::about(&TABLE, words).is_ok(), "{words}: {:?}", help::about(&TABLE, words));
    }
    assert_eq!(help::about(&TABLE, "stoping").unwrap_err().help.as_deref(), Some("did you mean 'stopping'?"));
    assert_eq!(help::apropos(&TABLE, "no such thing"), "Nothing in the help names 'no such thing'.\n");
    assert!(help::apropos(&TABLE, "BARRIER").contains("catch"));
}

#[test]
fn help_fits_a_terminal() {
    let texts =
        TOPICS.iter().map(|topic| help::about(&TABLE, topic.name).unwrap()).chain(commands().map(|spec| help::command(&TABLE, spec)));
    for text in texts.chain([help::topics(&TABLE)]) {
        let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 100).collect();
        assert!(long.is_empty(), "{long:?}");
    }
}

#[test]
fn what_repeats_goes_on() {
    let repeats = |name: &str| commands().find(|spec| spec.name == name).map(|spec| spec.repeats);
    assert_eq!(repeats("stepi"), Some(Repeat::Same));
    assert_eq!(repeats("run"), Some(Repeat::No));
}

#[test]
fn kinds_of_one_word_are_never_followed_blindly() {
    for spec in commands() {
        let rest = spec.args.iter().position(|arg| !arg.kind.is_word() && arg.kind != ArgKind::ThreadFilter && arg.keyword.is_empty());
        let Some(rest) = rest else { continue };
        let later = &spec.args[rest + 1..];
        let is_valid =
            later.iter().all(|arg| !arg.keyword.is_empty() || arg.kind == ArgKind::ThreadFilter || spec.args[rest].kind == ArgKind::File);
        assert!(is_valid, "{}: what reaches to the end of the line must be followed by nothing, or by a word that leads", spec.name);
    }
}

#[test]
fn no_line_is_too_strange() {
    let strange = [
        "\"",
        "p (",
        "b if if if",
        "x/",
        "p/",
        "/x",
        "dprintf ,",
        "é",
        "p é",
        "set é = é",
        "delete 18446744073709551616",
        "mark\tx",
        "help é",
    ];
    for line in strange {
        let _ = parse(line);
        let _ = complete(line, &names());
        let _ = hint(line, &names());
        let _ = help::about(&TABLE, line);
    }
}
