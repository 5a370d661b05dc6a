//! What instructions decode to, where the manual's rules leave room for mistakes.

#![allow(clippy::panic, reason = "a test that cannot read its sample fails")]

use std::sync::Arc;

use ptxdbg::base::Sources;
use ptxdbg::isa::{AtomicFn, BoolOp, Compare, FenceKind, FloatBinary, IntType, Ordering, ScalarType, Scope, Space, Width};
use ptxdbg::program::{
    AtomicOp, Base, BitsOp, CompareOp, ConvertOp, FloatOp, IntegerOp, MemoryOp, MoveOp, Op, PredSrc, Program, SelectOp, Src, SrcKind,
    SyncOp,
};
use ptxdbg::sema::load;

/// A kernel whose body is `body`, for sm_90a.
fn program(body: &str) -> Arc<Program> {
    let text = format!(
        ".version 9.0\n.target sm_90a\n.address_size 64\n.global .align 16 .b8 gm[256];\n\
         .visible .entry k(.param .u64 pp) {{\n.shared .align 16 .b8 sm[256];\n.local .align 16 .b8 lm[64];\n\
         .reg .b16 h<4>; .reg .b32 r<4>; .reg .b64 d<4>; .reg .f64 f<4>; .reg .f32 s<4>; .reg .pred p<4>;\n{body}\nret;\n}}\n"
    );
    let (program, diagnostics) = load(&mut Sources::default(), "test.ptx", text);
    program.unwrap_or_else(|| panic!("{body}: {diagnostics:?}"))
}

/// The operation of a body of one instruction.
fn op(body: &str) -> Op {
    program(body).code[0].op
}

fn constant64(program: &Program, a: Src) -> u64 {
    let SrcKind::Const(index) = a.kind() else { panic!("{a:?} is no constant") };
    program.consts64[index as usize]
}

#[test]
fn loads_and_stores_know_the_width_of_their_registers() {
    assert!(matches!(op("ld.global.s8 d0, [gm];"), Op::Memory(MemoryOp::Load { bits: 8, signed: true, reg_bits: 64, .. })));
    assert!(matches!(op("ld.global.u8 h0, [gm];"), Op::Memory(MemoryOp::Load { bits: 8, signed: false, reg_bits: 16, .. })));
    assert!(matches!(op("st.global.u8 [gm], d0;"), Op::Memory(MemoryOp::Store { bits: 8, reg_bits: 64, .. })));
    assert!(matches!(op("ld.shared.v2.b32 {r0, _}, [sm+8];"), Op::Memory(MemoryOp::LoadVector { bits: 32, reg_bits: 32, .. })));
}

#[test]
fn a_variable_gives_the_space_that_the_instruction_leaves_out() {
    let Op::Memory(MemoryOp::Load { access, address, .. }) = op("ld.u32 r0, [sm+4];") else { panic!("no load") };
    assert_eq!(access.space, Space::Shared);
    assert!(matches!(address.base, Base::Wide(_)));
    let Op::Memory(MemoryOp::Load { access, address, .. }) = op("ld.local.u32 r0, [lm+4];") else { panic!("no load") };
    assert_eq!((access.space, address.base), (Space::Local, Base::Frame));
    assert_eq!(address.offset, 4);
}

#[test]
fn orderings_and_scopes() {
    let Op::Memory(MemoryOp::Load { access, .. }) = op("ld.acquire.gpu.global.u32 r0, [gm];") else { panic!("no load") };
    assert_eq!((access.ordering, access.scope), (Ordering::Acquire, Scope::Gpu));
    let Op::Memory(MemoryOp::Load { access, .. }) = op("ld.mmio.relaxed.sys.global.u32 r0, [gm];") else { panic!("no load") };
    assert_eq!((access.ordering, access.scope), (Ordering::Mmio, Scope::Sys));
    assert!(matches!(op("membar.gl;"), Op::Sync(SyncOp::Fence { kind: FenceKind::Memory, ordering: Ordering::SeqCst, scope: Scope::Gpu })));
    assert!(matches!(op("fence.cta;"), Op::Sync(SyncOp::Fence { kind: FenceKind::Memory, ordering: Ordering::AcqRel, scope: Scope::Cta })));
}

#[test]
fn atomics() {
    let Op::Atomic(AtomicOp::Single { f, ty, d, access, .. }) = op("red.global.add.u32 [gm], 1;") else { panic!("no atomic") };
    assert_eq!((f, ty), (AtomicFn::Add, ScalarType::U32));
    assert!(d.is_sink());
    assert_eq!((access.ordering, access.scope), (Ordering::Relaxed, Scope::Gpu));
    let Op::Atomic(AtomicOp::Single { f, b, c, .. }) = op("atom.global.cas.b32 r0, [gm], r1, r2;") else { panic!("no atomic") };
    assert_eq!(f, AtomicFn::Cas);
    assert_ne!(b, c);
}

#[test]
fn hexadecimal_floats() {
    // An H200 stores 0x000000003f800000 for the first.
    for (text, bits) in [("0f3F800000", 0x3f80_0000), ("0d3FF0000000000000", 0x3ff0_0000_0000_0000), ("1.0", 0x3ff0_0000_0000_0000)] {
        let program = program(&format!("mov.f64 f0, {text};"));
        let Op::Move(MoveOp::Move { width: Width::B64, a, .. }) = program.code[0].op else { panic!("no move") };
        assert_eq!(constant64(&program, a), bits, "{text}");
    }
}

#[test]
fn addresses_of_local_variables_belong_to_the_frame() {
    assert!(matches!(op("mov.u64 d0, lm;"), Op::Move(MoveOp::FrameAddress { wide: true, generic: false, .. })));
    assert!(matches!(op("cvta.local.u64 d0, lm;"), Op::Move(MoveOp::FrameAddress { wide: true, generic: true, .. })));
    assert!(matches!(
        op("cvta.shared.u64 d0, sm;"),
        Op::Move(MoveOp::ConvertAddress { space: Space::Shared, to_space: false, wide: true, .. })
    ));
    assert!(matches!(op("cvta.to.global.u64 d0, d1;"), Op::Move(MoveOp::Move { width: Width::B64, .. })));
}

#[test]
fn special_registers() {
    assert!(
        matches!(op("mov.u32 r0, %tid.x;"), Op::Move(MoveOp::Move { width: Width::B32, a, .. }) if matches!(a.kind(), SrcKind::Special(_)))
    );
    assert!(matches!(op("mov.u64 d0, %clock64;"), Op::Move(MoveOp::ReadSpecial { width: Width::B64, .. })));
    // Code of PTX 1.x reads thread indices as 16 bits.
    let Op::Convert(ConvertOp::Single { mode, .. }) = op("mov.u16 h0, %tid.x;") else { panic!("no conversion") };
    assert_eq!((mode.to, mode.from, mode.d_bits, mode.a_bits), (ScalarType::U16, ScalarType::U32, 16, 32));
}

#[test]
fn conversions_between_registers_wider_than_their_types() {
    let Op::Convert(ConvertOp::Single { mode, .. }) = op("cvt.s8.u16 r0, d1;") else { panic!("no conversion") };
    assert_eq!((mode.to, mode.d_bits, mode.from, mode.a_bits), (ScalarType::S8, 32, ScalarType::U16, 64));
}

#[test]
fn comparisons() {
    let Op::Compare(CompareOp::SetpInt { cmp, ty, combine, c, q, .. }) = op("setp.lo.u32 p0, r0, 5;") else { panic!("no comparison") };
    assert_eq!((cmp, ty, combine, c), (Compare::Lt, IntType::U32, BoolOp::And, PredSrc::Const(true)));
    assert!(q.is_sink());
    let Op::Compare(CompareOp::SetpFloat { combine, c, q, ftz, .. }) = op("setp.lt.or.ftz.f32 p0|p1, s0, 0f00000000, !p2;") else {
        panic!("no comparison")
    };
    assert!(ftz && !q.is_sink());
    assert!(combine == BoolOp::Or && matches!(c, PredSrc::Reg { negate: true, .. }));
    assert!(matches!(op("not.pred p0, p1;"), Op::Select(SelectOp::PredMove { a: PredSrc::Reg { negate: true, .. }, .. })));
}

#[test]
fn functions_chosen_by_modifiers() {
    assert!(matches!(op("max.NaN.xorsign.abs.f32 s0, s1, s2;"), Op::Float(FloatOp::Binary { f: FloatBinary::MaxNanXorSign, .. })));
    assert!(matches!(op("shr.b32 r0, r1, 5;"), Op::Bits(BitsOp::Shift { ty: IntType::U32, .. })));
    assert!(matches!(op("lop3.b32 r0, r1, r2, r3, 0x1e2;"), Op::Bits(BitsOp::Lop3 { lut: 0xe2, .. })));
    assert!(matches!(op("addc.cc.u32 r0, r1, r2;"), Op::Integer(IntegerOp::Carry { carry_in: true, carry_out: true, .. })));
    assert!(matches!(op("barrier.sync 1, 64;"), Op::Sync(SyncOp::Barrier { aligned: false, count: Some(_), .. })));
    assert!(matches!(op("bar.sync 1;"), Op::Sync(SyncOp::Barrier { aligned: true, count: None, .. })));
}

#[test]
fn vectors_are_packed_lowest_first() {
    assert!(matches!(op("mov.b64 d0, {r0, r1};"), Op::Move(MoveOp::Pack { part: 32, .. })));
    assert!(matches!(op("mov.b32 {h0, _}, r0;"), Op::Move(MoveOp::Unpack { part: 16, .. })));
    assert!(matches!(op("mov.b32 r0, {r1};"), Op::Move(MoveOp::Move { width: Width::B32, .. })));
}

#[test]
fn what_is_not_modelled_says_so() {
    let program = program("multimem.red.global.add.u32 [gm], r0;");
    assert!(matches!(program.code[0].op, Op::Unsupported { .. }));
    assert_eq!(program.unsupported.to_vec(), ["'multimem.red.global.add.u32' is not modelled (combines in the memory of several devices)"]);
}
