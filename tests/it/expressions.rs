//! Expressions: values worked out by hand from `fixtures/small/looking.ptx`, the rules of arithmetic, and what errors say.

#![allow(clippy::unwrap_used, reason = "a test that cannot run its kernel fails")]

use crate::look::{LaneLocation, location};
use proptest::prelude::*;
use ptxdbg::debug::eval_context::EvalContext;
use ptxdbg::debug::expression::Expression;
use ptxdbg::debug::target::Target;
use ptxdbg::debug::value::{Format, Pattern, Value, ValueText};
use ptxdbg::machine::LaneMask;

/// Ticks after which warp 0 of block 0 stands at the call of `twice`.
const AT_CALL: u64 = 17;
/// Ticks after which it stands at the second instruction of `twice`.
const IN_CALL: u64 = 19;
/// Ticks after which it stands at the divergent branch.
const AT_BRANCH: u64 = 21;

const LOOKING: &str = "small/looking.ron";

fn text(context: &EvalContext<'_>, expression: &str) -> String {
    shown(context, expression, None)
}

fn shown(context: &EvalContext<'_>, expression: &str, format: Option<Format>) -> String {
    let parsed = match Expression::parse(expression) {
        Ok(parsed) => parsed,
        Err(error) => return format!("{}: {error}", error.column),
    };
    match parsed.evaluate(context) {
        Ok(value) => match value.text(context, format) {
            ValueText::Scalar(text) => text,
            ValueText::Lanes(lanes) => format!("{} {:?}", lanes.ty, lanes.pattern),
            ValueText::Tensor(tensor) => format!("{} {}", tensor.ty, tensor.elements.join(" ")),
            ValueText::Array(array) => format!("{} {}{}", array.ty, array.elements.join(" "), if array.more { " ..." } else { "" }),
        },
        Err(error) => format!("{}: {error}", error.column),
    }
}

#[track_caller]
fn assert_texts(location: &LaneLocation, (warp, lane): (u32, u32), expected: &[(&str, &str)]) {
    let context = location.eval_context(warp, lane);
    for (expression, text) in expected {
        assert_eq!(self::text(&context, expression), *text, "{expression}");
    }
}

#[test]
fn registers_have_the_values_the_kernel_gave_them() {
    let at_call = location(LOOKING, AT_CALL);
    assert_texts(
        &at_call,
        (0, 5),
        &[
            ("%r1", "5"),
            ("%r2", "20"),
            ("%r3", "64"),
            ("%f1", "0.1"),
            ("%fd1", "0.1"),
            ("%f2", "-nan(0x400001)"),
            ("%h1", "15872"),
            ("(f16)%h1", "1.5"),
            ("(f16x2)%r4", "{1.5, -2}"),
            ("((f16x2)%r4)[1]", "-2"),
            ("((f16x2)%r4)[2]", "13: '.f16x2' has parts 0 to 1"),
            ("%s", "-7"),
            ("%v.x", "11"),
            ("%v.y", "22"),
            ("%v.g", "22"),
            ("%p1", "true"),
            ("%rd1", "0x7f2000000000 <x>"),
            ("%wide", "0x7f200000000000007f2000000000"),
        ],
    );
    assert_texts(
        &at_call,
        (0, 8),
        &[("%p1", "false"), ("!%p1", "true"), ("%r5", "0"), ("%tid.x", "8"), ("%laneid", "8"), ("laneid", "8"), ("%clock", "17")],
    );
    let other = at_call.eval_context(0, 5);
    assert_eq!(text(&other, "%wide >> 1"), "0: 128 bits can be shown and compared for equality, and nothing else");
    assert_eq!(text(&other, "%wide == %wide"), "true");
    assert_eq!(text(&other, "%unused"), "0: '%unused' is declared, but no instruction names it: it has no value");
    assert_eq!(text(&other, "%r99"), "0: nothing here is called '%r99': '%r<10>' declares '%r0' to '%r9'");
    assert_eq!(text(&other, "1 + tabel"), "4: nothing here is called 'tabel': did you mean 'table'?");
}

#[test]
fn numbers_of_8_bits_are_shown_exactly() {
    let at_call = location(LOOKING, AT_CALL);
    let context = at_call.eval_context(0, 5);
    // Exponent and fraction bits, and the largest pattern that is a number: OCP 8-bit floating point, table 1.
    for (ty, exponent, fraction, largest) in [("e4m3", 4, 3, 0x7e_u32), ("e5m2", 5, 2, 0x7b)] {
        for bits in 0..=largest {
            let (field, rest) = (bits >> fraction & ((1 << exponent) - 1), bits & ((1 << fraction) - 1));
            let bias = (1 << (exponent - 1)) - 1;
            let whole = if field == 0 { rest } else { rest | 1 << fraction };
            let value = f64::from(whole) * 2_f64.powi(field.max(1) as i32 - bias - fraction);
            assert_eq!(text(&context, &format!("({ty})(b8){bits}")).parse(), Ok(value), "{ty} {bits:#x}");
            assert_eq!(text(&context, &format!("({ty})(b8){}", bits | 0x80)).parse(), Ok(-value), "{ty} {bits:#x}");
        }
    }
}

#[test]
fn lanes_are_ranges_and_lists_of_them() {
    let at_call = location(LOOKING, AT_CALL);
    let context = at_call.eval_context(0, 5);
    let affine = |base: &str, stride: &str| format!("b32 Affine {{ base: \"{base}\", stride: \"{stride}\" }}");
    for range in ["%r1@0-7", "%r1@0..7", "%r1 @ 0-7", "%r1@0-3,4-7", "%r1@0,1,2..7"] {
        assert_eq!(text(&context, range), affine("0", "1"), "{range}");
        let Value::Lanes(lanes) = Expression::parse(range).unwrap().evaluate(&context).unwrap() else { panic!("{range}") };
        assert_eq!(lanes.mask, LaneMask::lowest(8), "{range}");
    }
    let Value::Lanes(lanes) = Expression::parse("%r1@0-3,8").unwrap().evaluate(&context).unwrap() else { panic!("a value a lane") };
    assert_eq!(lanes.mask, LaneMask::from_bits(0x10f));
    // With blanks on both sides it is a difference.
    assert_eq!(text(&context, "%r1@5 - 2"), "s32 Uniform(\"3\")");
    assert_eq!(text(&context, "(%r1@5)-2"), "s32 Uniform(\"3\")");
    assert_eq!(text(&context, "sum(%r1@0-3,8)"), "14");
    assert_eq!(Expression::parse("%r1@0..3,8").unwrap().to_string(), "%r1@0-3,8");
}

#[test]
fn a_number_after_memory_counts_its_elements() {
    let at_call = location(LOOKING, AT_CALL);
    assert_texts(
        &at_call,
        (0, 5),
        &[
            ("*x@4", "f32[4] 1 1.5 2 2.5"),
            ("x[1]@2", "f32[2] 1.5 2"),
            ("*&x[1]@2", "f32[2] 1.5 2"),
            ("*(u32*)x@2", "u32[2] 1065353216 1069547520"),
            ("*table@1", "s32[1][3] 1 2 3"),
            ("table[1]@1", "s32[1][3] 4 5 -6"),
            ("table[1][0]@3", "s32[3] 4 5 -6"),
            ("*&scale@1", "f32[1] 1.5"),
            ("%rd1[0..1]", "f32[2] 1 1.5"),
            ("*(%rd1@5)", "f32 Uniform(\"1\")"),
            ("x[%r1]@5", "f32 Uniform(\"3.5\")"),
            ("x@4", "0: 'x' is memory, the same for all lanes: x[0]@4 shows 4 elements"),
            ("scale@4", "0: 'scale' is memory, the same for all lanes: *&scale@4 shows 4 elements"),
            ("(*%rd1@64)[63]", "32.5"),
        ],
    );
}

#[test]
fn memory_is_read_by_name_index_and_address() {
    let at_call = location(LOOKING, AT_CALL);
    assert_texts(
        &at_call,
        (0, 5),
        &[
            ("table", "s32[2][3] 1 2 3 4 5 -6"),
            ("table[1]", "s32[3] 4 5 -6"),
            ("table[1][2]", "-6"),
            ("table[0][1..2]", "s32[2] 2 3"),
            ("table[0..0]", "s32[1][3] 1 2 3"),
            ("*table[1]", "4"),
            ("&table[1][1] - &table[0][0]", "4"),
            ("scale", "1.5"),
            ("scale * 2", "3"),
            ("tile[1][1]", "2.5"),
            ("*(shared f32*)(1024+36)", "2.5"),
            ("*(@shared float*)(1024+36)", "2.5"),
            ("((f32*)tile)[9]", "2.5"),
            ("scratch", "u32[4] 0 20 0 0"),
            ("x[3]", "2.5"),
            ("x[0..3]", "f32[4] 1 1.5 2 2.5"),
            ("*%rd1", "1"),
            ("*(f32*)(%rd1 + 8)", "2"),
            ("((f32*)%rd1)[2]", "2"),
            ("data", "0x7f2000000000 <x>"),
            ("count", "64"),
            ("&x[1]", "(global f32*) 0x7f2000000004 <x+4>"),
            ("&tile", "(shared f32*) 0x400 <tile>"),
            ("*(u8*)&scale", "0"),
            ("low", "25 <low>"),
        ],
    );
    let context = at_call.eval_context(0, 5);
    assert_eq!(
        text(&context, "x[64]"),
        "0: no global memory at 0x7f2000000100..0x7f2000000104: just past the end of 'x' (256 bytes at 0x7f2000000000)"
    );
    assert_eq!(text(&context, "*(u32*)0"), "0: no global memory at 0x0..0x4: a null pointer");
    assert_eq!(text(&context, "tile[4][0]"), "0: no shared memory at 0x480..0x484: just past the end of 'tile' (128 bytes at 0x400)");
}

#[test]
fn lanes_are_summed_up() {
    let at_branch = location(LOOKING, AT_BRANCH);
    let context = at_branch.eval_context(0, 5);
    let affine = |base: &str, stride: &str| format!("b32 {:?}", Pattern::Affine { base: base.to_string(), stride: stride.to_string() });
    assert_eq!(text(&context, "%r1@*"), affine("0", "1"));
    assert_eq!(text(&context, "%r2@*"), affine("0", "4"));
    assert_eq!(text(&context, "%r6@4..7"), affine("0", "8"));
    assert_eq!(text(&context, "(%r1 * 3 + 7)@*"), "s32 Affine { base: \"7\", stride: \"3\" }");
    assert_eq!(text(&context, "%r1@* + %r1"), "s32 Affine { base: \"5\", stride: \"1\" }");
    assert_eq!(text(&context, "%r3@*"), "b32 Uniform(\"64\")");
    assert_eq!(text(&context, "%p1@*"), "pred Few([(\"false\", 0xffffff00), (\"true\", 0x000000ff)])");
    assert_eq!(text(&context, "%r5@*"), "b32 Mixed { min: Some(\"0\"), max: Some(\"3\"), differing: 24 }");
    assert_eq!(text(&context, "x[%r1@*]"), "f32 Affine { base: \"1\", stride: \"0.5\" }");
    assert_eq!(text(&context, "%r1@31"), "b32 Uniform(\"31\")");
}

#[test]
fn aggregates_are_over_the_active_lanes() {
    let at_branch = location(LOOKING, AT_BRANCH);
    assert_texts(
        &at_branch,
        (0, 5),
        &[
            ("any(%p1)", "true"),
            ("all(%p1)", "false"),
            ("all(%p1@0..7)", "true"),
            ("min(%r1)", "0"),
            ("max(%r1)", "31"),
            ("sum(%r1)", "496"),
            ("sum(%r1@0..3) + 1", "7"),
            ("uniform(%r3)", "true"),
            ("uniform(%r1)", "false"),
            ("max(%f1)", "0.1"),
        ],
    );
    // One tick later lanes 0 to 7 have gone to `low`.
    let diverged = location(LOOKING, AT_BRANCH + 1);
    assert_texts(&diverged, (0, 5), &[("max(%r1)", "7"), ("$active", "255"), ("$pc", "25 <low>")]);
    assert_texts(&diverged, (0, 8), &[("min(%r1)", "8"), ("sum(%r1)", "468")]);
}

#[test]
fn arithmetic_follows_c() {
    let start = location(LOOKING, 0);
    assert_texts(
        &start,
        (0, 0),
        &[
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("10 - 4 - 3", "3"),
            ("7 / 2", "3"),
            ("-7 / 2", "-3"),
            ("-7 % 3", "-1"),
            ("7 / 2.0", "3.5"),
            ("1 / 0", "0: division by zero"),
            ("1 % 0", "0: division by zero"),
            ("1.0 / 0", "inf"),
            ("0.0 / 0 == 0.0 / 0", "false"),
            ("0.0 / 0 != 0", "true"),
            ("-0.0", "-0"),
            ("-1 < 1u", "false"),
            ("-1 < 1", "true"),
            ("0xffffffff", "4294967295"),
            ("2147483647 + 1", "-2147483648"),
            ("2147483648", "2147483648"),
            ("4294967295u + 1", "0"),
            ("-2147483647 - 1", "-2147483648"),
            ("(-2147483647 - 1) / -1", "-2147483648"),
            ("18446744073709551615", "18446744073709551615"),
            ("1 << 31", "-2147483648"),
            ("1 << 32", "0"),
            ("-8 >> 1", "-4"),
            ("-8 >> 40", "-1"),
            ("0xfu >> 2", "3"),
            ("~0", "-1"),
            ("!5", "false"),
            ("5 & 3 | 8 ^ 1", "9"),
            ("1 ? 2 : 3", "2"),
            ("0 ? 1 / 0 : 3", "3"),
            ("0 && 1 / 0", "false"),
            ("1 || 1 / 0", "true"),
            ("(u8)300", "44"),
            ("(s8)200", "-56"),
            ("(u32)-1", "4294967295"),
            ("(u8)3.99", "3"),
            ("(u8)-1.5", "0"),
            ("(s32)1e30", "2147483647"),
        ],
    );
}

#[test]
fn literals_and_floating_point_types_keep_their_bits() {
    let start = location(LOOKING, 0);
    assert_texts(
        &start,
        (0, 0),
        &[
            ("(f32)0.1", "0.1"),
            ("(double)(f32)0.1", "0.10000000149011612"),
            ("(b32)1.5f", "1069547520"),
            ("(f32)(b32)0x3fc00000", "1.5"),
            ("(unsigned long long)1 << 40", "1099511627776"),
            ("(f16)65504", "65504"),
            ("(f16)65520", "inf"),
            ("(f16)0.1", "0.1"),
            ("(bf16)3.14", "3.14"),
            ("(e4m3)448", "448"),
            ("(e5m2)0.1", "0.09375"),
            ("(tf32)1.0009765625", "1.0009766"),
            ("(e4m3)(b8)0x7f", "nan(0x7)"),
            ("0f3F800000 + 0f40000000", "3"),
            ("0d3FF8000000000000", "1.5"),
            ("1e3", "1000"),
            ("1.5f", "1.5"),
            ("017", "15"),
            ("0b101", "5"),
            ("'a'", "97"),
            ("'\\n'", "10"),
            ("1.0f & 1", "0: '&' works on integers, not on '.f32': cast it to b32 for its bits"),
            ("(f16)2 + (f16)0.0009765625", "2"),
            ("100000 * 100000", "1410065408"),
            ("100000ll * 100000", "10000000000"),
        ],
    );
}

#[test]
fn formats_show_the_bits() {
    let at_call = location(LOOKING, AT_CALL);
    let context = at_call.eval_context(0, 5);
    let cases = [
        ("%r1", 'x', "0x5"),
        ("%r1", 'z', "0x00000005"),
        ("%s", 'x', "0xfff9"),
        ("%s", 'u', "65529"),
        ("%s", 'd', "-7"),
        ("%r1", 't', "101"),
        ("%r2", 'o', "024"),
        ("%f1", 'x', "0x3dcccccd"),
        ("%r4", 'f', "-2.0037842"),
        ("(f16x2)%r4", 'x', "{0x3e00, 0xc000}"),
        ("%rd1 + 8", 'a', "0x7f2000000008 <x+8>"),
        ("65", 'c', "65 'A'"),
        ("$pc", 'd', "21"),
    ];
    for (expression, letter, expected) in cases {
        assert_eq!(shown(&context, expression, Format::from_letter(letter)), expected, "{expression} /{letter}");
    }
}

#[test]
fn frames_of_callers_can_be_looked_at() {
    let in_call = location(LOOKING, IN_CALL);
    let mut context = in_call.eval_context(0, 5);
    assert_eq!(text(&context, "%t0"), "40");
    assert_eq!(text(&context, "in"), "20");
    assert_eq!(text(&context, "%r2"), "0: nothing here is called '%r2'");
    context.focus.frame = 1;
    assert_eq!(text(&context, "%r2"), "20");
    assert_eq!(text(&context, "%r2@*"), "b32 Affine { base: \"0\", stride: \"4\" }");
    assert_eq!(text(&context, "scratch[1]"), "20");
    context.focus.frame = 2;
    assert_eq!(text(&context, "%r2"), "0: there is no frame 2: the frames are 0 to 1");
}

#[test]
fn threads_that_are_not_there_are_said_to_be_absent() {
    let start = location(LOOKING, 0);
    let mut later = start.eval_context(0, 0);
    later.focus.block = [1, 0, 0];
    assert_eq!(text(&later, "%r1"), "0: block (1,0,0) has not started: 1 of 2 have");
    assert_eq!(text(&later, "table[1][0]"), "4");
    let running = location(LOOKING, 1);
    assert_eq!(text(&running.eval_context(2, 0), "%r1"), "0: there is no warp 2: the block's are 0 to 1");
    let mut far = running.eval_context(0, 0);
    far.focus.block = [0, 1, 0];
    assert_eq!(text(&far, "%r1"), "0: there is no block (0,1,0): the grid's are (0,0,0) to (1,0,0)");
    let ended = location(LOOKING, u64::MAX);
    assert_eq!(text(&ended.eval_context(0, 0), "%r1"), "0: block (0,0,0) has finished");
    assert_eq!(text(&ended.eval_context(0, 0), "(u32)x[0]"), "0", "%r7 was stored over it as bits");
}

#[test]
fn mistakes_are_reported_with_their_column() {
    let cases = [
        ("", 0, "the expression ends here", "a value: a number, a register, a symbol or '('"),
        ("1 +", 3, "the expression ends here", "a value: a number, a register, a symbol or '('"),
        ("(1", 2, "the expression ends here", "')' or an operator"),
        ("1 2", 2, "a number cannot stand here", "an operator or the end"),
        ("x[1", 3, "the expression ends here", "']'"),
        ("%r1@32", 4, "a number cannot stand here", "'*' or a lane from 0 to 31"),
        ("%r1@5..3", 7, "a number cannot stand here", "a lane from 5 on; a difference is written with blanks, @5 - 3"),
        ("%r1@5-3", 6, "a number cannot stand here", "a lane from 5 on; a difference is written with blanks, @5 - 3"),
        ("%r1@0 -7", 6, "'-' cannot stand here", "lanes as in @0-7, or a difference with blanks on both sides, as in @0 - 7"),
        ("%r1@0- 7", 5, "'-' cannot stand here", "lanes as in @0-7, or a difference with blanks on both sides, as in @0 - 7"),
        ("%r1@0-7,32", 8, "a number cannot stand here", "'*' or a lane from 0 to 31"),
        ("%r1@0,", 6, "the expression ends here", "a value: a number, a register, a symbol or '('"),
        ("*%rd1@8", 5, "'@8' can be a count of elements or a lane", "%rd1[0..7] for the elements, *(%rd1@8) for lane 8"),
        ("*x@0", 3, "a number cannot stand here", "a number of elements, from 1 on"),
        ("*x@4294967296", 3, "a number cannot stand here", "a number of elements, from 1 on"),
        ("(foo*", 5, "the expression ends here", "a value: a number, a register, a symbol or '('"),
        ("(@nowhere int*)1", 2, "'nowhere' cannot stand here", "a space: generic, global, const, shared, local or param"),
        ("1 # 2", 2, "'#' is not expected here", "an operand or an operator"),
        ("0f12", 0, "a PTX float has 8 hexadecimal digits after '0f', 16 after '0d'", "0f3F800000"),
        ("123abc", 0, "'123abc' is not a number", "a number"),
        ("1 ? 2", 5, "the expression ends here", "':' and the value if it is false"),
        ("99999999999999999999", 0, "'99999999999999999999' is not an integer of 64 bits", "a number"),
    ];
    for (text, column, message, expected) in cases {
        let error = Expression::parse(text).unwrap_err();
        assert_eq!((error.column, error.message.as_str(), error.expected.as_str()), (column, message, expected), "{text}");
    }
    assert!(Expression::parse(&"(".repeat(100_000)).is_err());
    assert!(Expression::parse(&"-".repeat(100_000)).is_err());
    assert!(Expression::parse(&format!("1{}", " + 1".repeat(10_000))).is_err());
    assert_eq!(text(&location(LOOKING, 0).eval_context(0, 0), &format!("1{}", " + 1".repeat(400))), "401");
}

#[test]
fn the_remainder_and_registers_are_distinguished() {
    let at_call = location(LOOKING, AT_CALL);
    assert_texts(
        &at_call,
        (0, 5),
        &[
            ("%r2 % %r1", "0"),
            ("%r2%%r3", "20"),
            ("7 %4", "3"),
            ("(u32)%r1 + 1", "6"),
            ("(7)%4", "3"),
            ("x[2]%1", "0: '%' works on integers, not on '.f32': cast it to b32 for its bits"),
        ],
    );
}

#[test]
fn places_can_be_watched_and_set() {
    let mut at_call = location(LOOKING, AT_CALL);
    let parse = |text: &str| Expression::parse(text).unwrap();
    let context = at_call.eval_context(0, 5);
    let Target::Register(all) = parse("%r2@*").target(&context).unwrap() else { panic!("a register is wanted") };
    assert_eq!((all.name.as_str(), all.lanes, all.width), ("%r2", LaneMask::ALL, 1));
    let Target::Memory(memory) = parse("tile[1]").target(&context).unwrap() else { panic!("memory is wanted") };
    assert_eq!((memory.address, memory.bytes), (1024 + 32, 32));
    assert_eq!(
        parse("1 + 2").target(&context).unwrap_err().to_string(),
        "this is a value, not a place: a register or something in memory is wanted"
    );

    let set = |location: &mut LaneLocation, place: &str, value: &str| {
        let context = location.eval_context(0, 5);
        let edits = parse(place).assign(&context, &parse(value).evaluate(&context).unwrap());
        for edit in edits.map_err(|error| error.to_string())? {
            let saved = serde_json::to_string(&edit).unwrap();
            assert_eq!(serde_json::from_str::<ptxdbg::debug::edit::Edit>(&saved).unwrap(), edit);
            edit.apply(&mut location.machine).map_err(|error| error.to_string())?;
        }
        Ok::<(), String>(())
    };
    let snapshot = at_call.machine.clone();
    set(&mut at_call, "%r2", "-1").unwrap();
    set(&mut at_call, "%r3@*", "%laneid@* * 2").unwrap();
    set(&mut at_call, "%p1", "0").unwrap();
    set(&mut at_call, "%f1", "2").unwrap();
    set(&mut at_call, "%wide", "(b128)%rd1").unwrap();
    set(&mut at_call, "tile[1][2]", "7").unwrap();
    set(&mut at_call, "scratch[2]", "9").unwrap();
    set(&mut at_call, "x[0]", "0.25").unwrap();
    set(&mut at_call, "scale", "8").unwrap();
    assert_texts(
        &at_call,
        (0, 5),
        &[
            ("%r2", "-1"),
            ("%r2@4", "b32 Uniform(\"16\")"),
            ("%r3@*", "b32 Affine { base: \"0\", stride: \"2\" }"),
            ("%p1", "false"),
            ("%p1@4", "pred Uniform(\"true\")"),
            ("%f1", "2"),
            ("%wide", "0x7f2000000000"),
            ("tile[1]", "f32[8] 0 2.5 7 0 0 0 0 0"),
            ("scratch", "u32[4] 0 20 9 0"),
            ("x[0]", "0.25"),
            ("scale", "8"),
        ],
    );
    // The parameters of a kernel are the same for all threads, and a snapshot keeps those that it had.
    let counts = |location: &LaneLocation| [(0, 5), (0, 6), (1, 0)].map(|(warp, lane)| text(&location.eval_context(warp, lane), "count"));
    let before = counts(&at_call);
    set(&mut at_call, "count", "1").unwrap();
    assert_eq!(counts(&at_call), ["1", "1", "1"]);
    at_call.machine = snapshot;
    assert_eq!(counts(&at_call), before);
    assert_texts(&at_call, (0, 5), &[("%r2", "20"), ("tile[1][2]", "0"), ("x[0]", "1"), ("scale", "1.5")]);
}

#[test]
fn untyped_registers_are_what_instructions_take_them_for() {
    let mut at_call = location(LOOKING, AT_CALL);
    // Only `add.f32` reads %r9; %r1 is read by integer instructions.
    let place = Expression::parse("%r9").unwrap();
    let context = at_call.eval_context(0, 5);
    let value = Expression::parse("1.5").unwrap().evaluate(&context).unwrap();
    for edit in place.assign(&context, &value).unwrap() {
        edit.apply(&mut at_call.machine).unwrap();
    }
    assert_texts(
        &at_call,
        (0, 5),
        &[("%r9", "1.5"), ("%r9 * 2", "3"), ("(b32)%r9", "1069547520"), ("%r9@5", "f32 Uniform(\"1.5\")"), ("%r1", "5")],
    );
    let context = EvalContext { inferred: None, ..at_call.eval_context(0, 5) };
    assert_eq!(text(&context, "%r9"), "1069547520");
    assert_eq!(shown(&context, "%r9", Some(Format::Float)), "1.5");
}

#[test]
fn a_condition_is_cheap() {
    let at_call = location(LOOKING, AT_CALL);
    let condition = Expression::parse("%r2 == 20 && %tid.x < 32 && %p1").unwrap();
    let context = at_call.eval_context(0, 5);
    let holds = (0..100_000).filter(|_| condition.evaluate(&context).unwrap().is_true()).count();
    assert_eq!(holds, 100_000);
}

/// Pieces that expressions are made of, so that many of the texts drawn mean something.
const PIECES: &[&str] = &[
    "%r1",
    "%p1",
    "%tid.x",
    "x",
    "table",
    "tile",
    "1",
    "0x1F",
    "2.5f",
    "0f3F800000",
    "'a'",
    "(u32)",
    "(f16)",
    "(shared f32*)",
    "*",
    "&",
    "[",
    "]",
    "(",
    ")",
    "+",
    "-",
    "/",
    "%",
    "<<",
    ">=",
    "==",
    "&&",
    "||",
    "?",
    ":",
    "@*",
    "@0..7",
    "@5",
    "@0-3,8",
    "any(",
    "sum(",
    "!",
    "~",
    " ",
    "..",
    "$pc",
    "@shared",
];

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,40}") {
        let _ = Expression::parse(&text);
    }

    #[test]
    fn what_is_read_is_written_and_read_again(indices in prop::collection::vec(0..PIECES.len(), 0..14)) {
        let text: String = indices.iter().map(|index| PIECES[*index]).collect();
        if let Ok(parsed) = Expression::parse(&text) {
            let printed = parsed.to_string();
            let again = Expression::parse(&printed);
            prop_assert!(again.is_ok(), "{text} is written {printed}: {again:?}");
            prop_assert_eq!(again.unwrap().to_string(), printed);
        }
    }

    #[test]
    fn evaluating_never_panics(indices in prop::collection::vec(0..PIECES.len(), 0..10)) {
        thread_local!(static AT_CALL_ONCE: LaneLocation = location(LOOKING, AT_CALL));
        let text: String = indices.iter().map(|index| PIECES[*index]).collect();
        if let Ok(parsed) = Expression::parse(&text) {
            AT_CALL_ONCE.with(|at_call| {
                let context = at_call.eval_context(0, 5);
                let _ = parsed.evaluate(&context).map(|value| value.text(&context, None));
                let _ = parsed.target(&context);
            });
        }
    }
}
