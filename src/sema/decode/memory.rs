//! Loads, stores, fences and the stack.

use super::family::{Decoded, Decoding};
use super::operand::Arg;
use super::space::SPACES;
use crate::base::{Diagnostic, Span};
use crate::isa::{FenceKind, MemoryDecode, Ordering, ScalarType, Scope, Space, StackDecode, TypeKind};
use crate::program::{Access, Address, MemoryOp, Op, StackOp, SyncOp};
use crate::syntax::tree::{ExprKind, OperandKind};

/// The modifiers for memory orderings; `.mmio` is written with `.relaxed` and is the stronger.
pub(super) const ORDERINGS: &[(&str, Ordering)] = &[
    ("mmio", Ordering::Mmio),
    ("volatile", Ordering::Volatile),
    ("relaxed", Ordering::Relaxed),
    ("acquire", Ordering::Acquire),
    ("release", Ordering::Release),
    ("acq_rel", Ordering::AcqRel),
    ("sc", Ordering::SeqCst),
];

/// The modifiers of `fence` for other kinds than a memory fence, more specific ones first.
const FENCE_KINDS: &[(&str, FenceKind)] = &[
    ("global", FenceKind::ProxyAsyncGlobal),
    ("shared::cta", FenceKind::ProxyAsyncShared),
    ("shared::cluster", FenceKind::ProxyAsyncShared),
    ("mbarrier_init", FenceKind::MbarrierInit),
    ("alias", FenceKind::ProxyAlias),
    ("async", FenceKind::ProxyAsync),
    ("async::generic", FenceKind::ProxyAsync),
    ("tensormap::generic", FenceKind::ProxyTensorMap),
];

/// The modifiers for scopes, including those of `membar`.
const SCOPES: &[(&str, Scope)] =
    &[("cta", Scope::Cta), ("cluster", Scope::Cluster), ("gpu", Scope::Gpu), ("gl", Scope::Gpu), ("sys", Scope::Sys)];

impl Decoding<'_, '_> {
    /// Loads, stores and fences.
    pub(super) fn memory(&mut self, decode: MemoryDecode) -> Decoded {
        match decode {
            MemoryDecode::Load => self.load(),
            MemoryDecode::Store => self.store(),
            MemoryDecode::Fence => {
                let ordering = self.matched.choose(ORDERINGS).unwrap_or(Ordering::AcqRel);
                let kind = self.matched.choose(FENCE_KINDS).unwrap_or_default();
                Ok(Op::Sync(SyncOp::Fence { kind, ordering, scope: self.scope().unwrap_or(Scope::Gpu) }))
            }
            MemoryDecode::MemBar => Ok(Op::Sync(SyncOp::Fence {
                kind: FenceKind::Memory,
                ordering: Ordering::SeqCst,
                scope: self.scope().unwrap_or(Scope::Gpu),
            })),
        }
    }

    fn load(&mut self) -> Decoded {
        self.check_vector()?;
        let (access, address) = self.access(1)?;
        let ty = self.ty();
        let (bits, signed) = (ty.bits() as u8, ty.kind() == TypeKind::Signed);
        match self.args.first().copied() {
            Some(Arg::Dest { d, bits: reg_bits, .. }) => Ok(Op::Memory(MemoryOp::Load { access, bits, signed, reg_bits, d, address })),
            Some(Arg::Vector { list, bits: reg_bits }) => {
                Ok(Op::Memory(MemoryOp::LoadVector { access, bits, signed, reg_bits, parts: list, address }))
            }
            _ => Err(self.operand_mismatch(0)),
        }
    }

    fn store(&mut self) -> Decoded {
        self.check_vector()?;
        let (access, address) = self.access(0)?;
        let what = match access.space {
            Space::Param => Some("kernel parameters"),
            Space::ParamFunc if self.names_input(0) => Some("the parameters of a function"),
            Space::Generic | Space::Global | Space::Const | Space::Shared | Space::SharedCluster | Space::Local | Space::ParamFunc => None,
        };
        if let Some(what) = what {
            return Err(Diagnostic::error("operand", self.operand_span(0), format!("{what} cannot be written"))
                .with_help("copy the value into a register or a local variable"));
        }
        let bits = self.ty().bits() as u8;
        match self.args.get(1).copied() {
            Some(Arg::Source { a, bits: reg_bits, .. }) => Ok(Op::Memory(MemoryOp::Store { access, bits, reg_bits, a, address })),
            Some(Arg::Vector { list, bits: reg_bits }) => {
                Ok(Op::Memory(MemoryOp::StoreVector { access, bits, reg_bits, parts: list, address }))
            }
            _ => Err(self.operand_mismatch(1)),
        }
    }

    /// True if the address operand `index` names an input parameter of the function.
    fn names_input(&self, index: usize) -> bool {
        let Some(OperandKind::Address(expr)) = self.instruction.operands.get(index).map(|operand| &operand.kind) else { return false };
        match &expr.kind {
            ExprKind::Name(name) => self.cx.is_input(name),
            ExprKind::Binary(_, base, _) => matches!(base.kind, ExprKind::Name(name) if self.cx.is_input(name)),
            ExprKind::Int { .. }
            | ExprKind::Float(_)
            | ExprKind::Float32Bits(_)
            | ExprKind::Float64Bits(_)
            | ExprKind::Unary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Cast { .. }
            | ExprKind::Generic(_)
            | ExprKind::Mask { .. } => false,
        }
    }

    /// Space, ordering and scope of a memory access whose address is operand `index`.
    pub(super) fn access(&self, index: usize) -> Result<(Access, Address), Diagnostic> {
        let operand = self.address_operand(index)?;
        let named = self.space().map(|space| if space == Space::Param && !self.cx.in_kernel() { Space::ParamFunc } else { space });
        let space = match (named, operand.space) {
            (Some(Space::SharedCluster), _) => Space::SharedCluster,
            (_, Some(variable)) => variable,
            (named, None) => named.unwrap_or(Space::Generic),
        };
        let ordering = self.matched.choose(ORDERINGS).unwrap_or_default();
        let default_scope = if ordering == Ordering::Volatile { Scope::Sys } else { Scope::None };
        let scope = self.scope().unwrap_or(default_scope);
        Ok((Access { space, ordering, scope, non_coherent: self.matched.has("nc") }, operand.address))
    }

    /// Checks the size: at most 128 bits, or 256 in global memory from sm_100 on; only these have an L2 eviction priority.
    fn check_vector(&self) -> Result<(), Diagnostic> {
        let bits = self.ty().bits() as usize * self.matched.vector();
        let span = self.instruction.opcode.span;
        let error = |code, message: String| Diagnostic::error(code, span, message).with_help("move at most 128 bits at once");
        let is_long = bits == 256 && self.ty() != ScalarType::B128;
        let evicts = self.matched.has("L2::evict_first") || self.matched.has("L2::evict_last") || self.matched.has("L2::evict_normal");
        if bits > 128 && !is_long {
            return Err(error("modifier", format!("{bits} bits are too many for one access")));
        }
        if is_long && (self.cx.target().0 < 100 || self.cx.version() < (8, 8)) {
            return Err(error("target", "loads and stores of 256 bits require PTX 8.8 and sm_100 or higher".to_string()));
        }
        if is_long && self.opcode() == "ldu" {
            return Err(error("modifier", "'ldu' moves at most 128 bits".to_string()));
        }
        if is_long && !matches!(self.space(), None | Some(Space::Global)) {
            return Err(error("modifier", "loads and stores of 256 bits are for global memory".to_string()));
        }
        if evicts && !is_long {
            return Err(Diagnostic::error("modifier", span, "an eviction priority in L2 is for loads and stores of 256 bits")
                .with_help("write .v8.b32 or .v4.b64, or a priority in L1"));
        }
        Ok(())
    }

    fn opcode(&self) -> &'static str {
        self.matched.form.opcode
    }

    /// The space the instruction names.
    pub(super) fn space(&self) -> Option<Space> {
        self.matched.choose(SPACES)
    }

    pub(super) fn scope(&self) -> Option<Scope> {
        self.matched.choose(SCOPES)
    }

    /// The position of operand `index`.
    pub(super) fn operand_span(&self, index: usize) -> Span {
        self.instruction.operands.get(index).map_or(self.instruction.span, |operand| operand.span)
    }

    /// `alloca`, `stacksave` and `stackrestore`.
    pub(super) fn stack(&mut self, decode: StackDecode) -> Decoded {
        let wide = self.ty().bits() == 64;
        match decode {
            StackDecode::Save => Ok(Op::Stack(StackOp::Save { wide, d: self.dst(0)? })),
            StackDecode::Restore => Ok(Op::Stack(StackOp::Restore { wide, a: self.src(0)? })),
            StackDecode::Alloca => {
                let align = self.constant_value(2).unwrap_or(8);
                let align = u32::try_from(align).ok().filter(|align| align.is_power_of_two()).ok_or_else(|| {
                    Diagnostic::error("operand", self.operand_span(2), "an alignment is a power of two that fits 32 bits")
                })?;
                Ok(Op::Stack(StackOp::Alloca { wide, d: self.dst(0)?, size: self.src(1)?, align }))
            }
        }
    }
}
