//! Undefined values in the parameters of functions, which calls and returns copy in local memory without an access event.

use std::collections::BTreeMap;

use super::registers::Origin;
use super::undefined::UndefinedBytes;
use crate::base::WarpId;
use crate::machine::{AccessEvent, Issue, IssuePoint, LANES, LaneMask, Warp};
use crate::program::{CallArg, CallTarget, ControlOp, Op, Param, ParamStorage, Program};

/// Alignment of the frame of a function, in bytes.
const FRAME_ALIGN: u32 = 16;

/// The undefined bytes of parameters, by block and warp: byte b of lane l has the index 32 b + l.
#[derive(Clone, Default)]
pub(super) struct ParamBytes {
    warps: BTreeMap<([u32; 3], WarpId), UndefinedBytes>,
}

impl ParamBytes {
    /// True if no parameter was ever undefined.
    pub fn is_empty(&self) -> bool {
        self.warps.is_empty()
    }

    /// A launch begins.
    pub fn clear(&mut self) {
        self.warps.clear();
    }

    /// `lane` stores an undefined value in these bytes, each with its undefined bits.
    pub fn undefine(&mut self, point: &IssuePoint, lane: usize, bytes: &[(u64, u8)], origin: Origin) {
        let of_warp = self.warps.entry((point.block, point.warp)).or_default();
        bytes.iter().for_each(|(at, bits)| of_warp.set_bits(key(lane, *at), *bits, origin));
    }

    /// The undefined bits of a byte that `lane` has.
    pub fn bits(&self, point: &IssuePoint, lane: usize, address: u64) -> u8 {
        self.warps.get(&(point.block, point.warp)).map_or(u8::MAX, |of_warp| of_warp.bits(key(lane, address)))
    }

    /// An access writes a defined value, unless [`Self::undefine`] follows.
    pub fn overwrite(&mut self, event: &AccessEvent<'_>) {
        let Some(of_warp) = self.warps.get_mut(&(event.point.block, event.point.warp)) else { return };
        for lane in event.lanes.iter() {
            (0..u64::from(event.bytes)).for_each(|offset| of_warp.clear(key(lane, event.addresses[lane] + offset)));
        }
    }

    /// The origin of the undefined value of a byte of `lane`.
    pub fn get(&self, point: &IssuePoint, lane: usize, address: u64) -> Option<Origin> {
        self.warps.get(&(point.block, point.warp))?.get(key(lane, address))
    }

    /// True if an access reads undefined bytes.
    pub fn is_read(&self, event: &AccessEvent<'_>) -> bool {
        let is_undefined = |lane: usize, offset: u64| self.get(&event.point, lane, event.addresses[lane] + offset).is_some();
        event.lanes.iter().any(|lane| (0..u64::from(event.bytes)).any(|offset| is_undefined(lane, offset)))
    }

    /// A call is about to pass its arguments, or a return its results.
    pub fn pass_params(&mut self, issue: &Issue, warp: &Warp, program: &Program) {
        let Some(of_warp) = self.warps.get_mut(&(issue.point.block, issue.point.warp)) else { return };
        let Some(group) = warp.groups.iter().find(|group| group.mask.contains_all(issue.active)) else { return };
        let Op::Control(op) = program.code[issue.point.pc.index()].op else { return };
        if let ControlOp::Call { call, .. } = op
            && let CallTarget::Direct(callee) = program.calls[call].target
        {
            let start = group.local_top.next_multiple_of(FRAME_ALIGN);
            for (argument, param) in program.calls[call].args.iter().zip(&program.functions[callee.index()].params) {
                copy(of_warp, issue.active, of_argument(argument, issue.frame.local), of_param(param, start));
            }
        }
        if let ControlOp::Return { .. } = op
            && let Some(stack) = &group.stack
        {
            for (result, param) in program.calls[stack.call].results.iter().zip(&program.functions[stack.callee.index()].results) {
                copy(of_warp, issue.active, of_param(param, issue.frame.local), of_argument(result, stack.caller.local));
            }
        }
    }
}

/// Address and size in bytes of an argument or a result in memory, for the frame at `frame`.
fn of_argument(argument: &CallArg, frame: u32) -> Option<(u32, u32)> {
    match *argument {
        CallArg::Frame { offset, bytes } => Some((frame + offset, bytes)),
        CallArg::Value(..) | CallArg::Pred(_) | CallArg::Ignored => None,
    }
}

/// Address and size in bytes of a parameter of the function whose frame is at `frame`.
fn of_param(param: &Param, frame: u32) -> Option<(u32, u32)> {
    match param.storage {
        ParamStorage::Frame(offset) => Some((frame + offset, param.bytes)),
        ParamStorage::Register(..) | ParamStorage::Kernel(_) => None,
    }
}

/// In each of `lanes`, copies which bytes are undefined from the range `from` to the range `to`; a range is an address and a length.
fn copy(of_warp: &mut UndefinedBytes, lanes: LaneMask, from: Option<(u32, u32)>, to: Option<(u32, u32)>) {
    let (Some((from, bytes)), Some((to, room))) = (from, to) else { return };
    for (lane, offset) in lanes.iter().flat_map(|lane| (0..bytes.min(room)).map(move |offset| (lane, offset))) {
        let to = key(lane, u64::from(to + offset));
        let from = key(lane, u64::from(from + offset));
        match of_warp.get(from) {
            Some(origin) => of_warp.set_bits(to, of_warp.bits(from), origin),
            None => of_warp.clear(to),
        }
    }
}

/// The index of a byte of a lane.
fn key(lane: usize, address: u64) -> u64 {
    LANES as u64 * address + lane as u64
}
