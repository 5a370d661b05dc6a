//! The instruction table: that every row is well made, and that opcodes find their rows or learn why not.

#![allow(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::collections::HashSet;

use ptxdbg::isa::table::{SECTIONS, all, opcodes};
use ptxdbg::isa::{Form, MatchError, OperandRole, OperandType, ScalarType, match_opcode};

/// The form `opcode` stands for, as its row writes it.
fn found(opcode: &str, operands: usize) -> &'static str {
    match_opcode(opcode, operands).unwrap().form.row.syntax
}

fn refused(opcode: &str) -> MatchError {
    match_opcode(opcode, 3).unwrap_err()
}

/// What of `opcode` is wrong, why, and what would be right.
fn report(opcode: &str) -> (&str, String, String) {
    let error = refused(opcode);
    (&opcode[error.at.clone()], error.message, error.help.unwrap_or_default())
}

#[test]
fn every_row_is_read_and_has_help_and_a_version() {
    let rows: usize = SECTIONS.iter().map(|section| section.1.len()).sum();
    assert_eq!(all().len(), rows);
    assert!(rows > 400, "{rows} rows");
    for form in all() {
        let row = form.row;
        assert!(!row.help.is_empty() && !row.help.ends_with('.'), "{}", row.syntax);
        assert!((1, 0) <= row.ptx && row.ptx <= (9, 0), "{}: PTX {:?}", row.syntax, row.ptx);
        assert!(row.sm <= 121, "{}: sm_{}", row.syntax, row.sm);
        assert!(form.opcode.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{}", row.syntax);
    }
}

#[test]
fn every_word_of_a_row_is_a_word() {
    for form in all() {
        for word in form.slots.iter().flat_map(|slot| &slot.modifiers) {
            assert!(
                !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:.".contains(&byte)),
                "'{}' in {}",
                word.text,
                form.row.syntax
            );
            assert!((word.ptx, word.sm) <= ((9, 0), 121), "{}", form.row.syntax);
        }
    }
}

#[test]
fn no_row_stands_twice() {
    let mut seen = HashSet::new();
    for form in all() {
        assert!(seen.insert((form.row.syntax, form.row.removed.is_some())), "{} twice", form.row.syntax);
    }
}

#[test]
fn an_operand_has_a_type_the_opcode_can_give_it() {
    let types = |form: &Form| form.slots.iter().filter(|slot| slot.modifiers.iter().any(|word| word.ty.is_some())).count();
    for form in all().iter().filter(|form| !form.any_modifiers) {
        for operand in &form.operands {
            let needed = match operand.ty {
                OperandType::Nth(index) => index + 1,
                OperandType::Double => 1,
                OperandType::Last | OperandType::Fixed(_) => 0,
            };
            assert!(needed <= types(form), "operand {} of {}", operand.name, form.row.syntax);
        }
    }
}

#[test]
fn words_that_bring_an_operand_are_words_of_the_row() {
    for form in all() {
        for word in form.operands.iter().filter_map(|operand| operand.only_with).flat_map(|words| words.split('|')) {
            assert!(form.slots.iter().any(|slot| slot.modifiers.iter().any(|other| other.text == word)), "{word} of {}", form.row.syntax);
        }
    }
}

#[test]
fn a_destination_comes_first() {
    for form in all() {
        let after_source = form.operands.iter().skip_while(|operand| operand.role == OperandRole::Dest);
        assert!(after_source.clone().all(|operand| operand.role != OperandRole::Dest), "{}", form.row.syntax);
    }
}

#[test]
fn the_table_knows_every_opcode_of_the_manual() {
    // PTX ISA 9.0, chapter "Instructions".
    let manual = "abs activemask add addc alloca and applypriority atom bar barrier bfe bfi bfind bmsk bra brev brkpt brx call \
        clusterlaunchcontrol clz cnot copysign cos cp createpolicy cvt cvta discard div dp2a dp4a elect ex2 exit fence fma fns getctarank \
        griddepcontrol isspacep istypep ld ldmatrix ldu lg2 lop3 mad mad24 madc mapa match max mbarrier membar min mma mov movmatrix mul \
        mul24 multimem nanosleep neg not or pmevent popc prefetch prefetchu prmt rcp red redux rem ret rsqrt sad selp set setmaxnreg setp \
        shf shfl shl shr sin slct sqrt st stackrestore stacksave stmatrix sub subc suld suq sured sust szext tanh tcgen05 tensormap testp \
        tex tld4 trap txq vabsdiff vabsdiff2 vabsdiff4 vadd vadd2 vadd4 vavrg2 vavrg4 vmad vmax vmax2 vmax4 vmin vmin2 vmin4 vote vset \
        vset2 vset4 vshl vshr vsub vsub2 vsub4 wgmma wmma xor";
    let known: Vec<&str> = opcodes().collect();
    assert_eq!(known, manual.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn words_come_in_any_order_and_with_spaces() {
    assert_eq!(found("add.rn.ftz.f32", 3), found("add.f32.ftz.rn", 3));
    assert_eq!(found("ld . global .v2. f32", 2), found("ld.v2.f32.global", 2));
    assert_eq!(found("max.ftz.xorsign.abs.f32", 3), found("max.ftz.f32", 3));
    assert_eq!(found("ld.const[3].f32", 2), found("ld.const.f32", 2));
    let matched = match_opcode("cvt.rn.f32.s8", 2).unwrap();
    assert_eq!(matched.types.as_slice(), [ScalarType::F32, ScalarType::S8]);
    assert!(matched.has("rn") && !matched.has("rz"));
}

#[test]
fn the_number_of_operands_chooses_among_forms() {
    assert_eq!(found("min.f32", 3), "min[.ftz][.NaN{7.0,80}][.xorsign.abs{7.2,86}].f32  d, a, b");
    assert_eq!(found("min.f32", 4), "min[.ftz][.NaN][.abs].f32          d, a, b, c");
}

#[test]
fn types_fill_their_slots_in_order() {
    assert!(match_opcode("cvt.rn.f32.s32", 2).is_ok());
    assert_eq!(
        report("cvt.rn.s32.f32"),
        (".rn", "'.rn' does not apply to '.s32.f32'".into(), "'cvt.s32.f32' takes .rni .rzi .rmi .rpi .ftz .sat".into())
    );
}

#[test]
fn an_unknown_opcode_gets_a_suggestion() {
    assert_eq!(report("ad.u32"), ("ad", "unknown instruction 'ad'".into(), "did you mean 'add'?".into()));
    assert_eq!(report("frobnicate.u32").2, "");
}

#[test]
fn a_wrong_word_is_distinguished_from_a_misplaced_one() {
    assert_eq!(report("add.sat.u32").0, ".sat");
    assert_eq!(report("add.sat.u32").1, "'.sat' does not apply to '.u32'");
    assert_eq!(report("add.f32x").1, "'.f32x' is not a type");
    assert_eq!(report("add.rnn.f32"), (".rnn", "unknown modifier '.rnn'".into(), "did you mean '.rn'?".into()));
    assert_eq!(report("add.global.f32").1, "'.global' does not apply to 'add'");
    assert_eq!(report("abs.u32").1, "'abs' does not work on '.u32'");
    assert_eq!(
        report("add"),
        (
            "add",
            "missing type of 'add'".into(),
            "add one of .u16 .u32 .u64 .s16 .s32 .s64 .u16x2 .s16x2 .f32 .f64 .f32x2 .f16 .f16x2 .bf16 .bf16x2, as in 'add.u16'".into()
        )
    );
    assert_eq!(report("add..u32").1, "a dot without a word after 'add'");
    assert_eq!(report("fma.rn.rz.f32").1, "'.rz' does not go with '.rn'");
    assert_eq!(
        report("cvt.f32.f64"),
        ("cvt.f32.f64", "'cvt.f32.f64' needs a rounding modifier".into(), "add one of .rn .rz .rm .rp, as in 'cvt.rn.f32.f64'".into())
    );
}
