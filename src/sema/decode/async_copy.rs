//! Asynchronous copies and their groups: `cp.async`, `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`, `red.async`.

use super::family::{Decoded, Decoding};
use super::operand::Arg;
use crate::base::Diagnostic;
use crate::isa::{AsyncDecode, AtomicFn, Space};
use crate::program::{AsyncOp, Completion, CopyOp, ListId, Op, SourceSize, SpaceAddress, Src};

/// The modifiers for the functions of reductions.
pub(super) const REDUCTIONS: &[(&str, AtomicFn)] = &[
    ("add", AtomicFn::Add),
    ("min", AtomicFn::Min),
    ("max", AtomicFn::Max),
    ("inc", AtomicFn::Inc),
    ("dec", AtomicFn::Dec),
    ("and", AtomicFn::And),
    ("or", AtomicFn::Or),
    ("xor", AtomicFn::Xor),
];

impl Decoding<'_, '_> {
    /// Copies, and operations on their groups.
    pub(super) fn async_copy(&mut self, decode: AsyncDecode) -> Decoded {
        let bulk = self.matched.has("bulk");
        let copy = match decode {
            AsyncDecode::CommitCopies => return Ok(Op::Async(AsyncOp::Commit { bulk })),
            AsyncDecode::WaitCopies => return self.wait_copies(bulk),
            AsyncDecode::LaneCopy => self.lane_copy()?,
            AsyncDecode::BulkCopy => self.bulk_copy()?,
            AsyncDecode::AsyncStore => self.async_store()?,
            AsyncDecode::CopyArrive => {
                let (access, mbarrier) = self.access(0)?;
                CopyOp::Arrive { access, mbarrier, noinc: self.matched.has("noinc") }
            }
        };
        Ok(Op::Async(AsyncOp::Copy { copy: self.cx.copy(copy) }))
    }

    fn wait_copies(&mut self, bulk: bool) -> Decoded {
        let all = self.matched.has("wait_all");
        let pending = if all { 0 } else { self.constant_value(0).ok_or_else(|| self.operand_mismatch(0))? };
        Ok(Op::Async(AsyncOp::Wait {
            bulk,
            read: self.matched.has("read"),
            uncommitted: all,
            pending: u32::try_from(pending).unwrap_or(u32::MAX),
        }))
    }

    /// `cp.async.ca` and `.cg`: the operand after `cp-size` is `src-size` or `ignore-src`.
    fn lane_copy(&mut self) -> Result<CopyOp, Diagnostic> {
        let bytes = self.constant_value(2).and_then(|bytes| u32::try_from(bytes).ok()).ok_or_else(|| self.operand_mismatch(2))?;
        let source_size = if self.is_absent(3) { SourceSize::All } else { self.source_size(bytes)? };
        Ok(CopyOp::Lanes { to: self.space_address(0)?, from: self.space_address(1)?, bytes, source_size })
    }

    fn source_size(&self, bytes: u32) -> Result<SourceSize, Diagnostic> {
        match (self.args.get(3).copied(), self.constant_value(3)) {
            (_, Some(size)) if size > u64::from(bytes) => {
                Err(Diagnostic::error("operand", self.operand_span(3), format!("at most the {bytes} bytes can be read")))
            }
            (Some(Arg::Pred(predicate)), _) => Ok(SourceSize::IgnoredIf(predicate)),
            (Some(Arg::Source { a, .. }), _) => Ok(SourceSize::Bytes(a)),
            _ => Err(self.operand_mismatch(3)),
        }
    }

    /// `cp.async.bulk` and `cp.reduce.async.bulk`: destination, source, size, and the mbarrier if there is one.
    fn bulk_copy(&mut self) -> Result<CopyOp, Diagnostic> {
        let to_barrier = self.matched.has("mbarrier::complete_tx::bytes");
        let completion = if to_barrier { Completion::Mbarrier(self.space_address(3)?) } else { Completion::BulkGroup };
        let reduction = self.matched.choose(REDUCTIONS).map(|f| (f, self.ty()));
        let mask = self.mask()?;
        let (multicast, byte_mask) = if self.matched.has("cp_mask") { (None, mask) } else { (mask, None) };
        Ok(CopyOp::Bulk {
            to: self.space_address(0)?,
            from: self.space_address(1)?,
            bytes: self.src(2)?,
            reduction,
            completion,
            multicast,
            byte_mask,
        })
    }

    /// The mask operand, of blocks of the cluster or of bytes.
    pub(super) fn mask(&self) -> Result<Option<Src>, Diagnostic> {
        let index = self.matched.form.operands.iter().position(|operand| operand.name == "mask");
        index.map_or(Ok(None), |index| self.optional_src(index))
    }

    fn async_store(&mut self) -> Result<CopyOp, Diagnostic> {
        let values = self.values(1)?;
        Ok(CopyOp::Store {
            to: self.space_address(0)?,
            ty: self.ty(),
            values,
            reduction: self.matched.choose(REDUCTIONS),
            mbarrier: self.space_address(2)?,
        })
    }

    /// Operand `index`, a value or a vector of them, as a list.
    fn values(&mut self, index: usize) -> Result<ListId, Diagnostic> {
        match self.args.get(index).copied() {
            Some(Arg::Vector { list, .. }) => Ok(list),
            Some(Arg::Source { a, .. }) => Ok(self.cx.source_list(&[a])),
            _ => Err(self.operand_mismatch(index)),
        }
    }

    /// The address operand `index` and its space: that of its form, except that an mbarrier may be in any block of the cluster.
    pub(super) fn space_address(&self, index: usize) -> Result<SpaceAddress, Diagnostic> {
        let form = self.matched.form.operands.get(index);
        let space = match form.and_then(|form| form.space) {
            Some(Space::Shared) if form.is_some_and(|form| form.name == "m") => Space::SharedCluster,
            named => named.unwrap_or(Space::Generic),
        };
        Ok(SpaceAddress { space, address: self.address_operand(index)?.address })
    }
}
