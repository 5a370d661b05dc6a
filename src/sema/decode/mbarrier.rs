//! Mbarriers and the barrier of the cluster: `mbarrier`, `barrier.cluster`.

use super::family::{Decoded, Decoding};
use super::operand::Arg;
use crate::base::Diagnostic;
use crate::isa::{MbarrierDecode, Scope, Space};
use crate::program::{Access, Address, ClusterOp, Dst, MbarrierOp, Op};

impl Decoding<'_, '_> {
    /// `mbarrier`, `barrier.cluster`.
    pub(super) fn mbarrier(&mut self, decode: MbarrierDecode) -> Decoded {
        match decode {
            MbarrierDecode::ClusterArrive => {
                Ok(Op::Cluster(ClusterOp::Arrive { relaxed: self.matched.has("relaxed"), aligned: self.matched.has("aligned") }))
            }
            MbarrierDecode::ClusterWait => Ok(Op::Cluster(ClusterOp::Wait { aligned: self.matched.has("aligned") })),
            MbarrierDecode::PendingCount => Ok(Op::Mbarrier(MbarrierOp::PendingCount { d: self.dst(0)?, a: self.src(1)? })),
            MbarrierDecode::Wait => {
                let (access, address) = self.mbarrier_access(1)?;
                let (blocks, parity) = (self.matched.has("try_wait"), self.matched.has("parity"));
                Ok(Op::Mbarrier(MbarrierOp::Wait { blocks, parity, access, p: self.dst(0)?, a: self.src(2)?, address }))
            }
            MbarrierDecode::Update(f) => {
                let at = usize::from(matches!(self.args.first(), Some(Arg::Dest { .. })));
                let (access, address) = self.mbarrier_access(at)?;
                let d = if at == 1 { self.dst(0)? } else { Dst::SINK };
                if !d.is_sink() && access.space == Space::SharedCluster {
                    let message = "an arrival in the shared memory of the cluster returns no state";
                    return Err(Diagnostic::error("operand", self.operand_span(0), message).with_help("write '_' for the destination"));
                }
                let a = if self.matched.form.operands.len() > at + 1 { self.optional_src(at + 1)? } else { None };
                Ok(Op::Mbarrier(MbarrierOp::Update { f, access, d, a, address }))
            }
        }
    }

    /// The access to an mbarrier; its scope is `None` if none is named.
    fn mbarrier_access(&self, index: usize) -> Result<(Access, Address), Diagnostic> {
        let (mut access, address) = self.access(index)?;
        access.scope = self.scope().unwrap_or(Scope::None);
        Ok((access, address))
    }
}
