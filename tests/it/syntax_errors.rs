//! Reading what is not PTX: what is said about mistakes and where, that a mistake costs one statement, and that no text does harm.

use std::fmt::Write;
use std::time::{Duration, Instant};

use ptxdbg::base::{SourceFile, SourceId};
use ptxdbg::syntax::parse;
use ptxdbg::syntax::tree::{Item, Module};

/// The diagnostics of `text` as the user sees them, without the name of the file and the lines drawn around.
fn report(text: &str) -> String {
    let file = SourceFile::new("test.ptx", text);
    let mut lines = String::new();
    for diagnostic in parse(SourceId::new(0), text).1 {
        let (start, end) = (file.position(diagnostic.span.start), file.position(diagnostic.span.end));
        let (severity, code) = (diagnostic.severity.word(), diagnostic.code);
        let _ = write!(lines, "{}:{}-{}: {severity}[{code}]: {}", start.line, start.column, end.column, diagnostic.message);
        let _ = writeln!(lines, "{}", diagnostic.help.map(|help| format!(" ({help})")).unwrap_or_default());
    }
    lines
}

/// Lines of a body, each with what is reported of it after `//`, from the columns on, and the help on a line of its own.
#[track_caller]
fn check_body(lines: &str) {
    let mut text = ".entry k()\n{\n".to_owned();
    let mut expected: Vec<String> = Vec::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let (Some(help), Some(last)) = (line.strip_prefix("// help: "), expected.last_mut()) {
            let _ = write!(last, " ({help})");
            continue;
        }
        let (statement, error) = line.split_once(" // ").unwrap_or((line, ""));
        if let Some((columns, message)) = error.split_once(' ') {
            expected.push(format!("{}:{columns}: error[syntax]: {message}", text.lines().count() + 1));
        }
        let _ = writeln!(text, "{statement}");
    }
    text.push_str("}\n");
    assert_eq!(report(&text).lines().collect::<Vec<_>>(), expected);
}

fn functions(module: &Module<'_>) -> Vec<String> {
    let name = |item: &Item<'_>| match item {
        Item::Function(function) => Some(function.name.text.to_owned()),
        _ => None,
    };
    module.items.iter().filter_map(name).collect()
}

#[test]
fn mistakes_in_statements() {
    check_body(
        r#"
        add.u32 a, b c; // 14-15 expected ',' or ';', found 'c'
        // help: put ',' between the two
        add.u32 a, , c; // 12-13 expected an operand, found ','
        mov.u32 a, [b; // 14-15 expected ']' or ',', found ';'
        mov.b64 {a, b, c; // 17-18 expected '}', found ';'
        ld.v2.f32 f {g, h}, [x]; // 13-14 expected ',' or ';', found '{'
        ; // 1-2 expected an instruction, a declaration or a directive, found ';'
        ) x; // 1-2 expected an instruction, a declaration or a directive, found ')'
        @5 ret; // 2-3 expected a name or '!', found '5'
        .reg b32 x; // 6-9 expected a type such as '.b32', found 'b32'
        .reg .b32 a<; // 13-14 expected a whole number, found ';'
        .shared .u32 x[ = 1; // 17-18 expected a constant expression or ']', found '='
        .shared .align 4 .align 8 .b8 x; // 25-26 a second '.align'
        // help: a variable has one alignment: remove the other
        mov.u32 a, f(x); // 12-13 'f' cannot be applied to an expression
        // help: only 'generic(..)' and a mask such as '0xFF(..)' can; separate operands with ','
        mov.u32 a, (1, 2)+3; // 12-18 a list cannot be part of an expression
        // help: put one expression between the parentheses
        mov.u32 a, (.s32)5; // 13-17 there is no cast to '.s32'
        // help: a cast is '(.s64)' or '(.u64)'
        ts: .branchtargets L<4>; // 22-23 a range of labels is not supported
        // help: write the labels one by one: 'L0, L1, L2'
        .loc 1 2
        ret; // 1-4 expected a whole number before 'ret'
        .loc 1 2 5000000000 // 10-20 5000000000 is too large here
        // help: the largest is 4294967295
        .version 8.0 // 1-13 '.version' inside a function
        // help: move it to the top of the file, or close the function with '}' before it
        "#,
    );
}

#[test]
fn text_that_is_no_token() {
    check_body(
        r#"
        mov.u32 a, 089; // 12-15 '089' is not a number
        // help: an integer is written 10, 0x1F, 017 or 0b101, a bit pattern 0f3F800000 with 8 or 0d3FF0000000000000 with 16 digits
        mov.u32 a, 07777777777777777777777; // 12-35 '07777777777777777777777' does not fit 64 bits
        // help: the largest integer is 0xFFFFFFFFFFFFFFFF
        mov.f64 a, 1e999; // 12-17 '1e999' is beyond the range of '.f64'
        // help: infinity is written 0d7FF0000000000000
        add.u32 é, b, c; // 9-10 'é' is not allowed here
        // help: outside of comments and strings PTX is written in ASCII
        .pragma "abc; // 9-10 the string is not closed on its line
        // help: close it with '"'
        #include <x> // 1-13 preprocessor directives are not supported
        // help: run a C preprocessor over the file first
        "#,
    );
    let all_one = ".entry k() { ret; \0\0\u{1}é\0 ; ret; }";
    assert_eq!(
        report(all_one),
        "1:19-24: error[syntax]: '\\0\\0\\u{1}é\\0' is not allowed here (outside of comments and strings PTX is written in ASCII)\n"
    );
}

#[test]
fn a_missing_semicolon_costs_one_statement() {
    check_body(
        "
        add.u32 a, b, c
        sub.u32 d, e, f; // 1-8 expected ',' or ';' before 'sub.u32'
        // help: end the statement with ';'
        sub.u32 a b, c; // 11-12 expected ',' or ';', found 'b'
        // help: put ',' between the two
        ret
        .reg .b32 x; // 1-5 expected an operand, ';' or ':' before '.reg'
        // help: end the statement with ';'
        @p bra L
        @q bra M; // 1-2 expected ',' or ';' before '@'
        // help: end the statement with ';'
        ",
    );
}

#[test]
fn mistakes_in_heads() {
    let text = "\
.entry a(.param u32 x) { bad bad; }
.entry b(.param .u32 x { ret ret; }
.entry c() .noretrun { ret; }
.entry d()
.entry e() { ret; }
.visible .weak .func f();
.global .u32 g
.entry h() { ret; }
.func (.reg .u32 a, b) i();
.func j() { }
";
    let expected = "\
1:17-20: error[syntax]: expected a type such as '.b32', found 'u32'
2:24-25: error[syntax]: expected ')' or ',' before '{'
3:12-21: error[syntax]: '.noretrun' is not a directive of a function (there are '.maxnreg', '.maxntid', '.reqntid', '.minnctapersm', \
'.maxnctapersm', '.noreturn', '.abi_preserve', '.abi_preserve_control', '.reqnctapercluster', '.explicitcluster', \
'.maxclusterrank', '.blocksareclusters' and '.pragma')
4:11-11: error[syntax]: expected '{' or ';' after the head of 'd' (a kernel has a body in braces; a mere declaration of one ends with ';')
6:10-15: error[syntax]: expected a state space such as '.reg', '.entry', '.func' or '.attribute', found '.weak'
8:1-7: error[syntax]: expected ',' or ';' before '.entry' (end the statement with ';')
9:21-22: error[syntax]: expected a state space such as '.reg', found 'b'
";
    assert_eq!(report(text), expected);
    assert_eq!(functions(&parse(SourceId::new(0), text).0), ["d", "e", "f", "h", "j"]);
}

#[test]
fn scopes_and_statements_in_the_wrong_place() {
    let cases = [
        (
            ".entry k() { ret;\n.entry j() { ret; }",
            "2:8-9: error[syntax]: a function starts inside another: '}' is missing before it (close it with '}')\n",
        ),
        (
            ".entry k() { ret; }\n}\nadd.u32 a, b, c;\nret;\n.global .u32 x;\nts: ret;\n}",
            "2:1-2: error[syntax]: '}' without a '{' before it (remove it, or look for a '}' too many above)\n\
             3:1-17: error[syntax]: an instruction outside of a function \
             (look for a '}' too many above, or for a missing '.entry' or '.func')\n\
             6:1-3: error[syntax]: a label outside of a function (look for a '}' too many above, or for a missing '.entry' or '.func')\n",
        ),
        (".entry k() { ret;", "1:18-18: error[syntax]: the file ends inside a function: '}' is missing (close it with '}')\n"),
        (
            "{ ret; } .entry k() { ret; }",
            "1:1-2: error[syntax]: '{' outside of a function (look for a '}' too many above, or for a missing '.entry' or '.func')\n",
        ),
        (
            ".entry k() { ret; /* }",
            "1:19-20: error[syntax]: the comment is not closed (close it with '*/')\n\
             1:23-23: error[syntax]: the file ends inside a function: '}' is missing (close it with '}')\n",
        ),
        (
            ".entry k() { ret ( /* }",
            "1:20-21: error[syntax]: the comment is not closed (close it with '*/')\n\
             1:24-24: error[syntax]: the file ends inside a function: '}' is missing (close it with '}')\n",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(report(text), expected, "in: {text}");
    }
}

#[test]
fn a_truncated_file_keeps_its_functions() {
    let text =
        ".version 8.0\n.target sm_80\n.entry a() { ret; }\n.entry b(.param .u64 p) {\n    ld.param.u64 %rd1, [p];\n    add.u64 %rd2, %r";
    let expected = "\
6:21-21: error[syntax]: expected ',' or ';', but the file ends here (end the statement with ';')
6:21-21: error[syntax]: the file ends inside a function: '}' is missing (close it with '}')
";
    assert_eq!(report(text), expected);
    assert_eq!(functions(&parse(SourceId::new(0), text).0), ["a", "b"]);
}

#[test]
fn an_empty_file_is_an_empty_tree() {
    for text in ["", " \n", "// nothing", "\u{feff}"] {
        assert_eq!(report(text), "");
        assert!(parse(SourceId::new(0), text).0.items.is_empty());
    }
}

#[test]
fn diagnostics_are_counted_when_there_are_too_many() {
    let lines = |count: usize| report(&".x;\n".repeat(count));
    assert_eq!(lines(100).lines().count(), 100);
    assert_eq!(lines(101).lines().last(), Some("102:1-1: note[syntax]: 1 more error is not shown"));
    assert_eq!(lines(999).lines().last(), Some("1000:1-1: note[syntax]: 899 more errors are not shown"));
    let end = "1001:1-1: note[syntax]: too many errors: the first 100 are shown, and the file is not read further";
    assert_eq!(lines(5000).lines().last(), Some(end));
}

/// Reads, reports, prints and drops within `seconds`, which is far more than it takes, and gives the first line reported.
#[track_caller]
fn first_error_in_time(text: &str) -> String {
    let start = Instant::now();
    let (module, diagnostics) = parse(SourceId::new(0), text);
    assert!(!module.to_string().is_empty() || !diagnostics.is_empty());
    assert!(diagnostics.len() <= 101);
    drop(module);
    assert!(start.elapsed() < Duration::from_secs(20), "took {:?}", start.elapsed());
    diagnostics.first().map(|diagnostic| diagnostic.message.clone()).unwrap_or_default()
}

const MANY: usize = 200_000;

#[test]
fn deep_nesting_is_refused() {
    let brackets = "brackets are nested more than 256 deep";
    let operators = "the expression has more than 256 operators";
    let scopes = "more than 256 scopes inside one another";
    let cases = [
        (format!(".entry k() {}", "{".repeat(MANY)), scopes),
        (format!(".entry k() {} ret; {}", "{".repeat(MANY), "}".repeat(MANY)), scopes),
        (format!(".global .u32 x = {}", "{".repeat(MANY)), brackets),
        (format!(".global .u32 x = {}1{};", "(".repeat(MANY), ")".repeat(MANY)), brackets),
        (format!(".entry k() {{ op {}", "[".repeat(MANY)), brackets),
        (format!(".entry k() {{ op {}a{}; }}", "[{(".repeat(MANY), ")}]".repeat(MANY)), brackets),
        (format!(".global .s32 x = {}1;", "-".repeat(MANY)), operators),
        (format!(".global .s32 x = {}1;", "(.s64)".repeat(MANY)), operators),
        (format!(".section .x {{ .b8 {}1 }}", "(.s64)".repeat(MANY)), operators),
        (format!(".global .s32 x = 1{};", "+1".repeat(MANY)), operators),
        (format!(".global .s32 x = {}1;", "1?2:".repeat(MANY)), operators),
    ];
    for (text, expected) in &cases {
        assert_eq!(first_error_in_time(text), *expected, "in: {text:.40}");
    }
}

#[test]
fn the_deepest_nesting_that_is_accepted() {
    let brackets = format!(".global .u32 x = {}1{};", "(".repeat(256), ")".repeat(256));
    let operators = format!(".global .u32 x = {}1;", "- ".repeat(256));
    let both = format!(".global .u32 x[] = {}{}1{};", "{".repeat(256), "1+".repeat(256), "}".repeat(256));
    let scopes = format!(".entry k() {}ret;{}", "{".repeat(256), "}".repeat(256));
    for text in [brackets, operators, both, scopes] {
        assert_eq!(report(&text), "", "in: {text:.40}");
    }
}

#[test]
fn large_nonsense_is_no_runaway() {
    for word in ["a ", ";", "}", "{}", ".", "\0", "é", "\"", "/ ", "/*", "@", ".entry k ", "a:", "1", "1 ", ",", ".section .x {", "ret;\n"]
    {
        first_error_in_time(&word.repeat(MANY));
        first_error_in_time(&format!(".entry k() {{ {}", word.repeat(MANY)));
    }
}
