//! Holds the rules of the house: which layer may use which, what may not be written, and how long things may grow.
//!
//! Every rule is a row of a table below; every failure names the line and what to do instead. Nothing here needs more than the text
//! of the project, so the test is quick and runs with all others.

#![expect(clippy::unwrap_used, reason = "a test that cannot read the project fails")]

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/source.rs"]
mod source;
#[path = "tidy/words.rs"]
mod words;

use source::{File, files, is_name, line_of, occurrences};

/// A folder of `src`: what it is, and the folders it may use.
struct Layer {
    name: &'static str,
    what: &'static str,
    uses: &'static [&'static str],
}

/// Every folder of `src`. README.md has the same table, made from this one.
const LAYERS: &[Layer] = &[
    Layer { name: "base", what: "ids, sources, spans, diagnostics", uses: &[] },
    Layer { name: "num", what: "arithmetic bit for bit as the hardware does it; nothing of the machine", uses: &["base"] },
    Layer {
        name: "isa",
        what: "the instruction set as data: one row for each form, a file for each chapter of the manual",
        uses: &["base", "num"],
    },
    Layer {
        name: "syntax",
        what: "from text to tree: lexer, grammar, printer; knows the shape of statements and no opcode",
        uses: &["base"],
    },
    Layer { name: "program", what: "the executable form, which nothing changes once it is made", uses: &["base", "isa"] },
    Layer {
        name: "flow",
        what: "dataflow: one solver, and reachability, definite assignment, def-use, uses of results, liveness and taint",
        uses: &["base", "isa", "program"],
    },
    Layer {
        name: "container",
        what: "files that hold other files: programs, libraries, archives, fat binaries and cubins with PTX in them; bundles",
        uses: &["base"],
    },
    Layer {
        name: "sema",
        what: "from tree to program: names, types, forms, layout",
        uses: &["base", "container", "syntax", "isa", "program", "flow"],
    },
    Layer { name: "cfg", what: "blocks, dominators, loops, and where divergent threads reconverge", uses: &["base", "program", "flow"] },
    Layer {
        name: "launch",
        what: "launch files, made-up launches, buffers, expectations",
        uses: &["base", "container", "isa", "program", "flow"],
    },
    Layer {
        name: "inline_asm",
        what: "`asm` statements of CUDA C++: read, judged, wrapped into a module with its launch",
        uses: &["base", "isa", "launch"],
    },
    Layer {
        name: "order",
        what: "which operations of a run happen before which: vector clocks, scopes, release and acquire",
        uses: &["base", "isa"],
    },
    Layer { name: "weak", what: "weak memory by views: which writes a load may return", uses: &["base", "isa"] },
    Layer {
        name: "litmus",
        what: "litmus tests of the PTX memory model, judged by its axioms and run on weak memory",
        uses: &["base", "isa", "weak"],
    },
    Layer {
        name: "machine",
        what: "the interpreter: `state` (data), `in_flight` (asynchronous operations), `exec` (instructions), `run` (scheduling and waits)",
        uses: &["base", "isa", "program", "cfg", "num", "weak"],
    },
    Layer {
        name: "check",
        what: "checkers: they observe a run and report findings",
        uses: &["base", "isa", "program", "flow", "cfg", "order", "machine"],
    },
    Layer {
        name: "dwarf",
        what: "debug data of compilers, out of the text: scopes, variables, types",
        uses: &["base", "isa", "program", "flow", "cfg"],
    },
    Layer {
        name: "ttgir",
        what: "Triton's intermediate code: the operations of a kernel, and the layouts of its tensors",
        uses: &["base", "isa"],
    },
    Layer { name: "drawing", what: "the layered drawing of a graph as boxes and lines", uses: &[] },
    Layer {
        name: "debug",
        what: "the engine of every front end: sessions, time travel, breakpoints, expressions, views",
        uses: &[
            "base",
            "container",
            "dwarf",
            "isa",
            "syntax",
            "program",
            "flow",
            "sema",
            "cfg",
            "launch",
            "inline_asm",
            "num",
            "machine",
            "check",
            "ttgir",
            "drawing",
            "weak",
        ],
    },
    Layer { name: "command", what: "the commands: table, parsing, completion, help, handlers", uses: &["base", "debug"] },
    Layer {
        name: "api",
        what: "what another program uses: modules, launches, runs, sessions",
        uses: &["base", "launch", "program", "machine", "debug", "command", "ui"],
    },
    Layer {
        name: "capture",
        what: "`ptxdbg capture`: programs run with the capture library, and bundles of the launches that it keeps",
        uses: &["base", "container", "launch", "program", "api"],
    },
    Layer {
        name: "ui",
        what: "front ends: text, JSON, scripts, the prompt, the screen",
        uses: &["base", "litmus", "command", "debug", "drawing"],
    },
];

/// Files of `src` that tie the layers together and may use all of them.
const TOP_FILES: &[&str] = &["lib", "main", "args", "files", "subcommands", "verify"];

/// Crates whose types must not travel: each with the one folder that may name it. The top files may name any.
const HOMES: &[(&str, &str)] = &[
    ("annotate_snippets", "ui"),
    ("clap", "args"),
    ("cpp_demangle", "program"),
    ("crossterm", "ui/tui"),
    ("gimli", "dwarf"),
    ("lalrpop_util", "syntax"),
    ("logos", "syntax"),
    ("lz4_flex", "container"),
    ("petgraph", "cfg"),
    ("ratatui", "ui/tui"),
    ("rustyline", "ui"),
    ("ruzstd", "container"),
    ("tar", "container"),
];

/// Layers whose results must be the same on every machine and at every hour.
const DETERMINISTIC: &[&str] = &["num", "order", "weak", "litmus", "flow", "cfg", "machine", "check", "dwarf", "ttgir", "debug", "drawing"];

/// Layers that return data and leave drawing to others.
const CORE: &[&str] = &[
    "base",
    "container",
    "isa",
    "syntax",
    "program",
    "flow",
    "sema",
    "cfg",
    "launch",
    "inline_asm",
    "num",
    "order",
    "weak",
    "litmus",
    "machine",
    "check",
    "dwarf",
    "debug",
    "command",
    "api",
    "drawing",
];

/// Where a ban looks.
enum Where {
    /// In the code of all Rust files.
    Code,
    /// In the code of these folders of `src`.
    CodeIn(&'static [&'static str]),
    /// In all text, comments and prose included.
    Text,
}

struct Ban {
    words: &'static [&'static str],
    place: Where,
    instead: &'static str,
}

const BANS: &[Ban] = &[
    Ban {
        words: &["todo!", "unimplemented!"],
        place: Where::Code,
        instead: "finish it, or return an error that says what is not supported",
    },
    Ban { words: &["FIXME", "XXX", "TODO"], place: Where::Text, instead: "fix it, or open an issue and leave no mark" },
    Ban { words: &["dbg!"], place: Where::Code, instead: "remove it" },
    Ban { words: &["println!", "print!", "eprintln!", "eprint!"], place: Where::CodeIn(CORE), instead: "return data; `ui` draws it" },
    Ban {
        words: &[".machine.", ".machine()"],
        place: Where::CodeIn(&["ui"]),
        instead: "ask the context, the session or a view: the front end draws data and knows no machine",
    },
    Ban {
        words: &["crate::"],
        place: Where::CodeIn(&["main", "files", "subcommands", "verify"]),
        instead: "the Python package compiles the program as a module of its own crate: say `super::`",
    },
    Ban { words: &["unsafe"], place: Where::Code, instead: "find the safe way; there is one in this project" },
    Ban { words: &["#[ignore"], place: Where::Code, instead: "assert what happens now and say in a comment what should" },
    Ban {
        words: &["HashMap", "HashSet"],
        place: Where::CodeIn(DETERMINISTIC),
        instead: "use a vector indexed by an id or a BTreeMap: the order of a hash map is not the same in every run",
    },
    Ban {
        words: &["std::time", "std::env", "Instant", "SystemTime"],
        place: Where::CodeIn(CORE),
        instead: "time is a `Tick` and settings are arguments: a run must not depend on the machine it runs on",
    },
    Ban {
        words: &[
            ".sin()", ".cos()", ".tan()", ".tanh()", ".exp()", ".exp2()", ".ln()", ".log2()", ".log10()", ".powf(", ".powi(", ".cbrt()",
            ".hypot(",
        ],
        place: Where::CodeIn(DETERMINISTIC),
        instead: "compute it in `num` from exact operations: the platform's library rounds differently from machine to machine",
    },
    Ban {
        words: &["/home/", "/root/", "/tmp/", "/work/", "/Users/"],
        place: Where::Text,
        instead: "a path of one machine has no place here: name it from the top of the project",
    },
    Ban {
        words: &["worktree", "this agent", "helper session"],
        place: Where::Text,
        instead: "say what the code does, not how it came about",
    },
];

/// Longest line, in characters.
const LINE_CHARS_MAX: usize = 140;
/// Files that may have longer lines: prose that an editor wraps, a generated page, the instruction table, which is read as a table, and
/// tests, which quote what the program prints.
const WIDE: &[&str] = &[".md", ".toml", "man/ptxdbg.1", "src/isa/table/", "tests/"];
/// Longest function, in lines from `fn` to its closing brace.
const FUNCTION_LINES_MAX: usize = 70;
/// Longest file, in lines.
const FILE_LINES_MAX: usize = 600;

/// Functions that are longer, each with the length it may not exceed. Rows may shrink and go, never grow.
const LONG_FUNCTIONS: &[(&str, &str, usize)] = &[];
/// Files that are longer, each with the length it may not exceed. Rows may shrink and go, never grow.
const LONG_FILES: &[(&str, usize)] = &[];

/// Most files of a layer that may use each other in a circle.
const CIRCLE_FILES_MAX: usize = 3;

fn rust_files() -> Vec<File> {
    let folders = ["src", "tests", "benches", "fuzz/src", "fuzz/fuzz_targets", "build.rs"];
    folders.iter().flat_map(|folder| files(folder, &[".rs"])).collect()
}

/// The files of the crates beside this one. They have lints of their own and use what this one may not; size, headers and words are as here.
fn files_of_other_crates() -> Vec<File> {
    ["capture", "capi", "python/src"].iter().flat_map(|folder| files(folder, &[".rs"])).collect()
}

/// All text of the project but this file, which has to name what it bans.
fn texts() -> Vec<File> {
    let prose = [
        "src",
        "man",
        "README.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "Cargo.toml",
        ".ci",
        "fuzz/Cargo.toml",
        "fuzz/run",
        "fixtures/README.md",
        "benches/kernels/README.md",
    ];
    let prose = prose.iter().flat_map(|folder| files(folder, &[".lalrpop", ".md", ".toml", ".1", ".5", "/run"]));
    rust_files().into_iter().chain(prose).filter(|file| file.path != "tests/tidy.rs").collect()
}

#[track_caller]
fn assert_none(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} problem(s):\n{}", problems.len(), problems.join("\n"));
}

#[test]
fn layers_use_only_what_their_row_lists() {
    assert_none(files("src", &[".rs"]).iter().flat_map(layer_problems).collect());
}

fn layer_problems(file: &File) -> Vec<String> {
    let layer = file.layer().unwrap_or_default();
    if TOP_FILES.contains(&layer) {
        return Vec::new();
    }
    let Some(Layer { uses: may_use, .. }) = LAYERS.iter().find(|row| row.name == layer) else {
        return vec![format!("{}: `{layer}` is no layer: move the file, or add a row to LAYERS", file.path)];
    };
    let is_foreign = |name: &str| name != layer && LAYERS.iter().any(|row| row.name == name) && !may_use.contains(&name);
    let foreign = uses(file).into_iter().filter(|(_, name)| is_foreign(name));
    let problem = |(at, name): (usize, String)| {
        let place = file.place(at);
        format!("{place}: `{layer}` uses `{name}`, but may use only [{}]: move the code up, or what it needs down", may_use.join(", "))
    };
    foreign.map(problem).collect()
}

/// The first names of all paths that start at the root of the crate: after `crate::`, or after as many `super::` as the file lies deep.
fn uses(file: &File) -> Vec<(usize, String)> {
    let from_root = occurrences(&file.code, "crate::").map(|at| (at, at + "crate::".len()));
    let supers = occurrences(&file.code, "super::").filter(|at| !file.code[..*at].ends_with("super::")).filter_map(|at| {
        let path = file.code[at..].trim_start_matches("super::");
        let end = file.code.len() - path.len();
        ((end - at) / "super::".len() >= depth(file)).then_some((at, end))
    });
    let paths = from_root.chain(supers);
    paths.flat_map(|(at, end)| first_names(&file.code[end..]).into_iter().map(move |name| (at, name))).collect()
}

/// How many modules lie between the file's module and the root of the crate, itself included: 2 for `src/isa/types.rs`.
fn depth(file: &File) -> usize {
    let folders = file.path.matches('/').count();
    if file.path.ends_with("/mod.rs") { folders - 1 } else { folders }
}

/// `a` of `a::b`, and `a` and `c` of `{a::b, c::{d, e}}`.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| text.trim_start().chars().take_while(|c| is_name(*c)).collect::<String>();
    let Some(group) = path.strip_prefix('{') else { return vec![name(path)] };
    let mut names = vec![name(group)];
    let mut depth = 0;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => names.push(name(&group[at + 1..])),
            _ => {}
        }
    }
    names
}

#[test]
fn crates_stay_in_their_folders() {
    assert_none(files("src", &[".rs"]).iter().flat_map(home_problems).collect());
}

fn home_problems(file: &File) -> Vec<String> {
    let is_top = file.layer().is_some_and(|layer| TOP_FILES.contains(&layer));
    let strangers = HOMES.iter().filter(|(_, owner)| !is_top && !file.is_in(owner));
    let named = strangers.flat_map(|(name, owner)| occurrences(&file.code, name).map(move |at| (at, name, owner)));
    named.map(|(at, name, owner)| format!("{}: `{name}` belongs to `{owner}` alone: hide it in a type of ours", file.place(at))).collect()
}

#[test]
fn nothing_banned_is_written() {
    assert_none(texts().iter().flat_map(ban_problems).collect());
}

fn ban_problems(file: &File) -> Vec<String> {
    let mut problems = Vec::new();
    for ban in BANS {
        let text = match ban.place {
            Where::Code => &file.code,
            Where::CodeIn(folders) if folders.iter().any(|folder| file.is_in(folder)) => &file.code,
            Where::CodeIn(_) => continue,
            Where::Text => &file.text,
        };
        for word in ban.words {
            let found = occurrences(text, word);
            problems.extend(found.map(|at| format!("{}: `{word}`: {}", file.place(at), ban.instead)));
        }
    }
    problems
}

#[test]
fn every_file_starts_with_a_header() {
    let headless = rust_files().into_iter().chain(files_of_other_crates()).filter(|file| !file.text.starts_with("//! "));
    assert_none(headless.map(|file| format!("{}:1: say in a `//!` header what is in here and how it works", file.path)).collect());
}

#[test]
fn every_file_belongs_to_the_crate() {
    let all = files("src", &[".rs"]);
    let mut reached = vec!["src/lib.rs".to_string(), "src/main.rs".to_string()];
    let mut next = 0;
    while let Some(path) = reached.get(next).cloned() {
        let file = all.iter().find(|file| file.path == path);
        reached.extend(file.into_iter().flat_map(submodules).filter(|path| all.iter().any(|file| file.path == *path)));
        next += 1;
    }
    let lost = all.iter().filter(|file| !reached.contains(&file.path));
    assert_none(lost.map(|file| format!("{}: no `mod` leads here: declare it or delete it", file.path)).collect());
}

/// The paths at which the modules that `file` declares may lie.
fn submodules(file: &File) -> Vec<String> {
    let stem = file.path.trim_end_matches(".rs");
    let folder = ["/mod", "/lib", "/main"].iter().find_map(|root| stem.strip_suffix(root)).unwrap_or(stem);
    let declared = file.code.match_indices("mod ").filter_map(|(at, word)| {
        let rest = &file.code[at + word.len()..];
        let end = rest.find(|c| !is_name(c))?;
        rest[end..].starts_with(';').then(|| &rest[..end])
    });
    declared.flat_map(|name| [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")]).collect()
}

#[test]
fn nothing_grows_too_long() {
    let (texts, others) = (texts(), files_of_other_crates());
    let rust = rust_files();
    assert_none(texts.iter().chain(&others).flat_map(line_problems).collect());
    assert_none(rust.iter().chain(&others).flat_map(function_problems).collect());
    assert_none(rust.iter().chain(&others).flat_map(file_problem).collect());
}

fn line_problems(file: &File) -> Vec<String> {
    if WIDE.iter().any(|part| file.path.contains(part)) {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate().filter(|(_, line)| line.chars().count() > LINE_CHARS_MAX);
    lines.map(|(index, _)| format!("{}:{}: more than {LINE_CHARS_MAX} characters: break the line", file.path, index + 1)).collect()
}

fn function_problems(file: &File) -> Vec<String> {
    let mut problems = Vec::new();
    for (at, name, lines) in functions(&file.code) {
        let exception = LONG_FUNCTIONS.iter().find(|(path, function, _)| *path == file.path && *function == name);
        let limit = exception.map_or(FUNCTION_LINES_MAX, |(_, _, limit)| *limit);
        if lines > limit {
            problems.push(format!("{}: `{name}` has {lines} lines, {limit} at most: split it", file.place(at)));
        }
    }
    problems
}

/// Offset, name and number of lines of every function with a body.
fn functions(code: &str) -> Vec<(usize, String, usize)> {
    let mut found = Vec::new();
    for at in occurrences(code, "fn") {
        let rest = &code[at..];
        let name: String = rest["fn".len()..].trim_start().chars().take_while(|c| is_name(*c)).collect();
        let Some(length) = body_end(rest).filter(|_| !name.is_empty()) else { continue };
        found.push((at, name, line_of(rest, length)));
    }
    found
}

/// Where the body of the function at the start of `rest` ends; nothing if it has none.
fn body_end(rest: &str) -> Option<usize> {
    let mut parens = 0;
    let mut braces = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '(' | '[' => parens += 1,
            ')' | ']' => parens -= 1,
            ';' if parens == 0 && braces == 0 => return None,
            '{' => braces += 1,
            '}' if braces <= 1 => return (braces == 1).then_some(at),
            '}' => braces -= 1,
            _ => {}
        }
    }
    None
}

fn file_problem(file: &File) -> Option<String> {
    let limit = LONG_FILES.iter().find(|(path, _)| *path == file.path).map_or(FILE_LINES_MAX, |(_, limit)| *limit);
    let lines = file.text.lines().count();
    (lines > limit).then(|| format!("{}: {lines} lines, {limit} at most: split it by topic", file.path))
}

#[test]
fn no_more_than_a_few_files_use_each_other() {
    assert_none(circle_problems(&files("src", &[".rs"])));
}

fn circle_problems(files: &[File]) -> Vec<String> {
    let circles = circles::circles(files).into_iter().filter(|circle| circle.len() > CIRCLE_FILES_MAX);
    let problem = |circle: Vec<&str>| {
        let most = CIRCLE_FILES_MAX;
        format!("{} files use each other, {most} at most: move what they share below them: {}", circle.len(), circle.join(", "))
    };
    circles.map(problem).collect()
}

/// The table of layers as Markdown.
fn layer_table() -> String {
    let row = |Layer { name, what, uses }: &Layer| {
        let uses = match uses.len() {
            0 => "–".to_string(),
            many if many > 9 => "all above".to_string(),
            _ => uses.join(", "),
        };
        format!("| `{name}` | {what} | {uses} |\n")
    };
    format!("| folder | what it is | may use |\n| --- | --- | --- |\n{}", LAYERS.iter().map(row).collect::<String>())
}

/// With `PTXDBG_BLESS=1` the table is written.
#[test]
fn the_readme_has_the_table_of_layers() {
    const MARKS: [&str; 2] = ["<!-- layers -->\n", "<!-- end of layers -->"];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let (before, rest) = readme.split_once(MARKS[0]).expect("README.md has the first mark");
    let (table, after) = rest.split_once(MARKS[1]).expect("README.md has the second mark");
    if std::env::var_os("PTXDBG_BLESS").is_some() {
        std::fs::write(path, format!("{before}{}{}{}{after}", MARKS[0], layer_table(), MARKS[1])).unwrap();
        return;
    }
    assert_eq!(table, layer_table(), "README.md's table of layers is not that of tests/tidy.rs: bless it");
}

#[test]
fn the_fixtures_readme_lists_every_folder() {
    let top = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");
    let readme = std::fs::read_to_string(format!("{top}/README.md")).unwrap();
    let folders = std::fs::read_dir(top).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_dir());
    let unlisted = folders.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| !readme.contains(&format!("| `{name}/` |")));
    assert_none(unlisted.map(|name| format!("fixtures/{name}: say in fixtures/README.md what it is and how it was made")).collect());
}

#[test]
fn words_are_those_of_the_field() {
    let texts = texts().into_iter().filter(|file| file.path != "tests/tidy/words.rs");
    assert_none(texts.chain(files_of_other_crates()).flat_map(|file| words::word_problems(&file)).collect());
}

#[test]
fn planted_problems_are_found() {
    let cases: &[(&str, &str, usize)] = &[
        ("src/num/mod.rs", "use crate::base::Span;\nuse crate::{\n    base::Span,\n    machine::{Tick, cfg},\n};", 1),
        ("src/num/mod.rs", "fn f() { super::machine::tick(); self::g(); crate::num::g(); }", 1),
        ("src/num/wide.rs", "use super::{machine, int};\nuse super::super::{machine::Tick, base};", 1),
        ("src/num/wide.rs", "// crate::machine\nconst A: &str = \"crate::machine\";", 0),
        ("src/main.rs", "use ptxdbg::machine;", 0),
        ("src/attic/mod.rs", "", 1),
    ];
    for (path, text, expected) in cases {
        assert_eq!(layer_problems(&File::new(path, text)).len(), *expected, "{path}: {text}");
    }
    let planted = File::new("src/machine/mod.rs", "use std::collections::HashMap;\n// FIXME\nfn f() { x.sin(); print!(\"\"); \"todo!\"; }");
    assert_eq!(ban_problems(&planted).len(), 4);
    assert_eq!(ban_problems(&File::new("src/ui/mod.rs", "fn f() { context.machine.tick(); session.machine().tick(); }")).len(), 2);
    assert_eq!(ban_problems(&File::new("src/subcommands/litmus.rs", "fn f() { crate::main(); super::main(); }")).len(), 1);
    assert_eq!(home_problems(&File::new("src/sema/mod.rs", "use petgraph::Graph;")).len(), 1);
    assert_eq!(home_problems(&File::new("src/cfg/mod.rs", "use petgraph::Graph;")).len(), 0);
    let long = format!("fn short();\nfn long(a: [u8; 2]) {{\n{}}}\n", "    { }\n".repeat(FUNCTION_LINES_MAX));
    assert_eq!(function_problems(&File::new("src/base/mod.rs", &long)).len(), 1);
    let ring = |number: usize| format!("src/num/f{}.rs", number % (CIRCLE_FILES_MAX + 1));
    let uses = |number: usize| format!("use super::f{}::X;", (number + 1) % (CIRCLE_FILES_MAX + 1));
    let circle: Vec<File> = (0..=CIRCLE_FILES_MAX).map(|number| File::new(&ring(number), &uses(number))).collect();
    assert_eq!(circle_problems(&circle).len(), 1);
    assert_eq!(circle_problems(&circle[1..]).len(), 0);
    assert_eq!(line_problems(&File::new("man/x.5", &"x".repeat(LINE_CHARS_MAX + 1))).len(), 1);
    assert_eq!(file_problem(&File::new("src/base/mod.rs", &"\n".repeat(FILE_LINES_MAX + 1))).iter().len(), 1);
}
