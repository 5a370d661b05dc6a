//! Reading PTX: what every form of the language is read as.
//!
//! A tree is compared by its printed form: the printer writes parentheses only where precedence asks for them, so it shows structure.

#![expect(clippy::panic, reason = "a test that meets another tree than it expects fails")]

use ptxdbg::base::{Diagnostic, SourceFile, SourceId, Span};
use ptxdbg::syntax::parse;
use ptxdbg::syntax::tree::{Expr, ExprKind, Init, Item, Module, Statement};

fn read(text: &str) -> (Module<'_>, Vec<Diagnostic>) {
    parse(SourceId::new(0), text)
}

/// The diagnostics of `text`, one on a line.
fn report(text: &str) -> String {
    let file = SourceFile::new("test.ptx", text);
    let line = |diagnostic: &Diagnostic| {
        let position = file.position(diagnostic.span.start);
        let (line, column) = (position.line, position.column);
        format!("{line}:{column}: {}[{}]: {}\n", diagnostic.severity.word(), diagnostic.code, diagnostic.message)
    };
    read(text).1.iter().map(line).collect()
}

#[track_caller]
fn read_well(text: &str) -> Module<'_> {
    let (module, _) = read(text);
    assert_eq!(report(text), "", "in: {text}");
    module
}

/// Each line is a whole file of its own, and prints as what follows `=>`, or as itself.
#[track_caller]
fn check_lines(lines: &str, wrap: impl Fn(&str) -> String) {
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (input, printed) = line.split_once(" => ").unwrap_or((line, line));
        assert_eq!(read_well(&wrap(input)).to_string().trim_end(), wrap(printed), "in: {input}");
    }
}

#[test]
fn directives_of_a_module() {
    let lines = r#"
        .version 9.0
        .version 1.4
        .target sm_90a
        .target sm_20, texmode_independent, debug
        .target sm_13,map_f64_to_f32 => .target sm_13, map_f64_to_f32
        .address_size 64
        .file 1 "dir/ä.cu"
        .file 1 "C:\dir\", 1700000000, 4096 => .file 1 "C:\dir\"
        .loc 1 2 3
        .pragma "nounroll", "other";
        .alias f, g;
        .section .debug_str { }
        .section .debug_abbrev { .b8 1, 0x2, -3 .b32 L1, 4 L1: .b64 .debug_str+4 .b32 L1-L1+2 .b64 .debug_str L2: .b8 0 }
        @@DWARF .section .debug_pubnames, "", @progbits
    "#;
    check_lines(lines, str::to_owned);
    check_lines(
        "1 2 3, function_name $L__info_string0, inlined_at 4 5 6 => 1 2 3, function_name $L__info_string0+0, inlined_at 4 5 6",
        |loc| format!(".loc {loc}"),
    );
}

#[test]
fn directives_need_no_lines_of_their_own() {
    let module = read_well(
        ".version 8.0 .target sm_80,debug .address_size 64 .file 1 \"a\" .global .u32 x; .loc 1 2 3 .entry k { .loc 1 2 3 ret; }",
    );
    let expected = "\
.version 8.0
.target sm_80, debug
.address_size 64
.file 1 \"a\"
.global .u32 x;
.loc 1 2 3
.entry k()
{
    .loc 1 2 3
    ret;
}
";
    assert_eq!(module.to_string(), expected);
}

#[test]
fn variables() {
    let lines = r#"
        .global .u32 x;
        .visible .global .align 16 .v4 .f32 x[2][3] = {{1, 2, 3}, {4}};
        .extern .shared .align 16 .b8 pool[];
        .common .global .b64 c;
        .weak .const .f64 w = 1.5;
        .const[3] .f32 bank[4];
        .const [3] .align 8 .b8 bank[4]; => .const[3] .align 8 .b8 bank[4];
        .tex .u32 image;
        .surf .u32 surface;
        .sreg .v4 .b32 %tid;
        .reg .b32 %r<10>;
        .reg.pred p; => .reg .pred p;
        .reg .v2 .f16 h;
        .global .attribute(.managed) .s32 m;
        .global .align 4 .attribute(.managed, .unified(0xFF, 2)) .s32 m; => .global .attribute(.managed, .unified(255, 2)) .align 4 .s32 m;
        .visible .attribute(.managed) .global .u32 m; => .visible .global .attribute(.managed) .u32 m;
        .global .u64 p[4] = {generic(x), generic(x)+8, x+4, y}; => .global .u64 p[4] = {generic(x), generic(x) + 8, x + 4, y};
        .global .u8 m[2] = {0xFF(x), 0xFF00(generic(x))};
        .global .samplerref s = {addr_mode_0 = clamp_to_border, filter_mode = nearest};
        .global .texref t;
        .global .u32 e[2*N][1+1] = {}; => .global .u32 e[2 * N][1 + 1] = {};
    "#;
    check_lines(lines, str::to_owned);
}

#[test]
fn a_declaration_of_several_names_gives_several_variables() {
    let module = read_well(".reg .b32 a, b, c<4>; .visible .global .align 8 .u32 x = 1, y[2];");
    let expected =
        ".reg .b32 a;\n.reg .b32 b;\n.reg .b32 c<4>;\n.visible .global .align 8 .u32 x = 1;\n.visible .global .align 8 .u32 y[2];\n";
    assert_eq!(module.to_string(), expected);
}

#[test]
fn heads_of_functions() {
    let lines = r#"
        .visible .entry k();
        .extern .func f; => .extern .func f();
        .func (.reg .b32 r) fib(.reg .b32 a);
        .extern .func (.param .b32 r, .param .align 8 .b8 s[16]) f(.param .b32 _, .param .b64 a);
        .weak .func f() .noreturn;
        .func .attribute(.unified(1, 2)) f(.param .b8 va[]);
        .entry k(.param .u64 .ptr a, .param .u64 .ptr .global b, .param .u64 .ptr .align 16 c, .param .u64 .ptr .shared .align 4 d);
        .entry k() .maxnreg 32 .maxntid 16, 16 .minnctapersm 2 .maxnctapersm 4 .reqntid 1, 2, 3;
        .entry k() .reqnctapercluster 2, 1, 1 .explicitcluster .maxclusterrank 8 .blocksareclusters;
        .func f() .abi_preserve 4 .abi_preserve_control 2;
        .extern .func f() .pragma "nounroll";
    "#;
    check_lines(lines, str::to_owned);
}

#[test]
fn pragmas_may_stand_between_head_and_body() {
    let module = read_well(".entry k() .maxntid 32 .pragma \"a\"; .pragma \"b\", \"c\"; .minnctapersm 1 { ret; } .pragma \"d\";");
    let expected = ".entry k() .maxntid 32 .pragma \"a\"; .pragma \"b\", \"c\"; .minnctapersm 1\n{\n    ret;\n}\n.pragma \"d\";\n";
    assert_eq!(module.to_string(), expected);
}

/// A body of one statement.
fn body(statement: &str) -> String {
    format!(".entry k()\n{{\n    {statement}\n}}")
}

#[test]
fn statements_of_a_body() {
    let lines = r#"
        ret;
        add.u32 %r1, %r2, 3;
        add .u32 a,b,c; => add .u32 a, b, c;
        @p bra L;
        @!%p1 bra.uni $L__BB0_1;
        @ ! p ret; => @!p ret;
        ld.const[3].f32 %f1, [x];
        ld.shared::cluster.v2.b32 {a, b}, [c];
        ld .weak .global.f32 a, [b];
        tcgen05.ld.sync.aligned.16x64b.x1.b32 {r}, [t];
        cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s], [map, {x, y}], [bar];
        tex.1d.v4.s32.s32 {a, b, c, d}, [t, {x}];
        tex.2d.v4.f32.f32 {a, b, c, d}|p, [t, s, {x, y}], e, f;
        .reg .f64 %fd<4>;
        .param .align 8 .b8 param0[16];
        .branchtargets A, B;
        .calltargets f, g;
        .callprototype _ () .noreturn;
        .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[8]) .abi_preserve 3;
        .pragma "nounroll";
        .loc 1 2 3, function_name L+4, inlined_at 4 5 6
        .section .debug_str { .b8 0 }
    "#;
    check_lines(lines, body);
}

#[test]
fn labels_scopes_and_a_body_on_one_line() {
    let text = ".func f { A: B: {{ .reg .u32 a; C: } } ts: .branchtargets A, B; ret; { } D: }";
    let expected = "\
.func f()
{
A:
B:
    {
        {
            .reg .u32 a;
        C:
        }
    }
ts:
    .branchtargets A, B;
    ret;
    {
    }
D:
}
";
    let module = read_well(text);
    assert_eq!(module.to_string(), expected);
    assert_eq!(read_well(expected).to_string(), expected);
}

#[test]
fn operands() {
    let lines = "
        %tid.x
        _
        [a+4] => [a + 4]
        [a+-4] => [a + -4]
        [a-8] => [a - 8]
        [a+1*0] => [a + 1 * 0]
        [%rd1]
        [16]
        a[1]
        a[N-1] => a[N - 1]
        p|q
        p | _ => p|_
        d.x|p
        {a,_,3} => {a, _, 3}
        {}
        !p
        1|2 => 1 | 2
        (a, b)
        ()
        (a)
        (1+2) => 1 + 2
        (1+2)*3 => (1 + 2) * 3
        (_), f, (a, {b, c}, 0f3F800000), proto
        [map, {x, y, z}], [bar], 16
        [a, b]
        [{x}]
    ";
    check_lines(lines, |operands| body(&format!("op {operands};")));
}

#[test]
fn precedence_and_association_of_operators() {
    let lines = "
        1 + 2 * 3
        (1 + 2) * 3
        1 - 2 - 3
        1 - (2 - 3)
        (1 - 2) - 3 => 1 - 2 - 3
        1 << 2 + 3
        (1 << 2) + 3
        1 < 2 << 3
        1 == 2 < 3
        1 & 2 == 3
        1 ^ 2 & 3
        1 | 2 ^ 3
        1 && 2 | 3
        1 || 2 && 3
        ((1 || 2) && 3) / 4 % 5 >= 6 => ((1 || 2) && 3) / 4 % 5 >= 6
        a ? b : c ? d : e
        (a ? b : c) ? d : e
        a ? b ? c : d : e
        a || b ? c + 1 : d >> 1
        (a ? b : c) + 1
        -1
        - - -1 => ---1
        -(1 + 2)
        -1 + 2
        !a + ~b
        (.s64)1 + 2
        (.u64)-(1 + 2)
        -(.s64)(x)+1 => -(.s64)x + 1
        ((1)) => 1
    ";
    check_lines(lines, |expression| format!(".global .s64 x = {expression};"));
}

/// The first initializer of a file.
fn value(text: &str) -> ExprKind<'_> {
    let module = read_well(text);
    match module.items.into_iter().next() {
        Some(Item::Variable(variable)) => match variable.init {
            Some(Init::Value(Expr { kind, .. })) => kind,
            other => panic!("no value: {other:?}"),
        },
        other => panic!("no variable: {other:?}"),
    }
}

#[test]
fn numbers() {
    let int = |value, unsigned| ExprKind::Int { value, unsigned };
    let cases = [
        ("0", int(0, false)),
        ("10", int(10, false)),
        ("10U", int(10, true)),
        ("0x1f", int(31, false)),
        ("0XFFU", int(255, true)),
        ("017", int(15, false)),
        ("017U", int(15, true)),
        ("0b101", int(5, false)),
        ("0B11U", int(3, true)),
        ("9223372036854775807", int(i64::MAX as u64, false)),
        ("9223372036854775808", int(1 << 63, true)),
        ("0xFFFFFFFFFFFFFFFF", int(u64::MAX, true)),
        ("1.5", ExprKind::Float(1.5)),
        ("1.", ExprKind::Float(1.0)),
        (".5", ExprKind::Float(0.5)),
        ("1e5", ExprKind::Float(100_000.0)),
        ("2.5E-3", ExprKind::Float(0.0025)),
        ("0f3F800000", ExprKind::Float32Bits(0x3f80_0000)),
        ("0F7fc00001", ExprKind::Float32Bits(0x7fc0_0001)),
        ("0d3FF0000000000000", ExprKind::Float64Bits(0x3ff0_0000_0000_0000)),
        ("0DfFF8000000000001", ExprKind::Float64Bits(0xfff8_0000_0000_0001)),
    ];
    for (number, expected) in cases {
        let text = format!(".global .b64 x = {number};");
        assert_eq!(value(&text), expected, "{number}");
    }
}

#[test]
fn any_word_may_be_a_name() {
    let text = "\
.func version(.param .u32 entry)
{
    .reg .u32 add;
    .reg .u32 reg<2>;
ret:
    add.u32 add, ret, reg0;
    @ret ret;
    call version, (add);
    bra ret;
}
";
    assert_eq!(read_well(text).to_string(), text);
    read_well(".global .u32 _, _a, $b, %c, a$_1, global, u32, target, generic;");
}

#[test]
fn comments_and_space_are_skipped() {
    let text = "\u{feff}// café\r\n/* ** / // */.version 8.0 /**/ /***/\t.target\x0csm_80\n\
        # 1 \"a.cu\" 2\n#line 3 \"b.cu\"\n/* é */ .global .u32 x; // end";
    assert_eq!(read_well(text).to_string(), ".version 8.0\n.target sm_80\n.global .u32 x;\n");
}

#[test]
fn spans_are_exact() {
    let text = "  .visible .entry k ( ) { @!p  add.u32 a , [ b+4 ] ; }  ";
    let module = read_well(text);
    let slice = |span: Span| &text[span.start as usize..span.end as usize];
    let Some(Item::Function(function)) = module.items.first() else { panic!("no function") };
    assert_eq!(slice(function.span), text.trim());
    assert_eq!(slice(function.name.span), "k");
    let block = function.body.as_ref().expect("a body");
    assert_eq!(block.end.map(slice), Some("}"));
    let Some(Statement::Instruction(instruction)) = block.statements.first() else { panic!("no instruction") };
    assert_eq!(slice(instruction.span), "@!p  add.u32 a , [ b+4 ] ;");
    assert_eq!(slice(instruction.opcode.span), "add.u32");
    assert_eq!(instruction.operands.iter().map(|operand| slice(operand.span)).collect::<Vec<_>>(), ["a", "[ b+4 ]"]);
}
