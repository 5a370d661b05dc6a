//! Calls and returns: frames, and the passing of arguments (PTX ISA, "Function Calls", "Abstracting the ABI").
//!
//! A call allocates a frame for its lanes after the caller's, in the register banks and in local memory. Arguments are copied slot to slot
//! or, for `.param` variables, byte by byte between the frames' local memory.

use triomphe::Arc;

use crate::machine::exec::warp_run::{Executed, Flow, Group, WarpRun};
use crate::machine::state::lanes::{LaneMask, PerLane};
use crate::machine::state::registers::FrameBase;
use crate::machine::state::trap::TrapKind;
use crate::machine::state::warp::CallFrame;
use crate::program::operands::{self, RegisterOperands};
use crate::program::{
    Bank, CallArg, CallId, CallTarget, Dst, FuncId, Param, ParamStorage, Pc, PredSrc, Slot, Src, SrcKind, map, shown_name,
};

/// The alignment of frames in local memory, which suffices for every variable.
const FRAME_ALIGN: u32 = 16;

/// The maximum number of calls in progress.
const DEPTH_MAX: u32 = 1 << 16;

impl<const OBSERVED: bool> WarpRun<'_, OBSERVED> {
    /// Executes a call.
    pub(super) fn enter_call(&mut self, call: CallId, group: &Group, active: LaneMask) -> Executed {
        let program = self.program;
        match &program.calls[call].target {
            CallTarget::Direct(callee) => self.enter(call, *callee, group, active)?,
            CallTarget::Indirect { address, wide, .. } => {
                let lanes = self.lanes(group, active);
                let addresses = if *wide { *lanes.get64(*address) } else { lanes.get32(*address).map(u64::from) };
                let mut rest = active;
                let mut callees: smallvec::SmallVec<[(FuncId, LaneMask); 4]> = smallvec::SmallVec::new();
                while !rest.is_empty() {
                    let target = addresses[rest.first()];
                    let subset = rest.filter(|lane| addresses[lane] == target);
                    callees.push((self.callee_at(target, subset)?, subset));
                    rest &= !subset;
                }
                for (callee, subset) in callees {
                    self.enter(call, callee, group, subset)?;
                }
            }
        }
        self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
        self.warp.groups.retain(|group| !group.mask.is_empty());
        Ok(Flow::Reselect)
    }

    /// The function whose address is called.
    fn callee_at(&self, address: u64, lanes: LaneMask) -> Result<FuncId, Box<crate::machine::state::trap::Trap>> {
        let map = &self.program.map;
        let index = map::function_of_address(map, address).filter(|index| (*index as usize) < self.program.functions.len());
        let message = || format!("indirect call to {address:#x}, which is not the address of a function");
        index.map(FuncId).ok_or_else(|| self.trap(TrapKind::CallTarget, lanes, &message()))
    }

    /// Splits the lanes `subset` off as a group at the start of `callee`.
    fn enter(
        &mut self,
        call: CallId,
        callee: FuncId,
        group: &Group,
        subset: LaneMask,
    ) -> Result<(), Box<crate::machine::state::trap::Trap>> {
        let function = &self.program.functions[callee.index()];
        if function.code.is_empty() {
            let message = format!("'{}' is called, but the module only declares it", shown_name(&function.name));
            return Err(self.trap(TrapKind::Unsupported, subset, &message));
        }
        let caller = &self.warp.groups[group.index];
        let top = caller.local_top.next_multiple_of(FRAME_ALIGN);
        let depth = caller.stack.as_ref().map_or(0, |frame| frame.depth) + 1;
        let slots = self.frame_function(group).slots;
        let frame = FrameBase { local: top, ..group.frame.after(slots, 0) };
        let end = top.saturating_add(function.frame_bytes);
        if u64::from(end) > map::LOCAL_BASE + map::LOCAL_BYTES || depth > DEPTH_MAX {
            let message = format!(
                "call of '{}' at depth {depth}: the frames take more than the {} bytes of local memory a thread has",
                shown_name(&function.name),
                map::LOCAL_BYTES
            );
            return Err(self.trap(TrapKind::StackOverflow, subset, &message));
        }
        let stack = CallFrame {
            pc: group.pc,
            call,
            callee,
            caller: group.frame,
            caller_top: caller.local_top,
            depth,
            parent: caller.stack.clone(),
        };
        assert!(frame.local >= group.frame.local && end >= top, "a frame over that of the caller");
        self.warp.registers.enter(frame, function.slots, subset);
        self.mark_written(frame, || operands::parameter_registers(function), subset);
        self.report_local((top, end), &function.params, subset);
        let site = &self.program.calls[call];
        for (argument, param) in site.args.iter().zip(&function.params) {
            let from = (group.frame, Storage::of_argument(argument, group.frame));
            self.transfer(from, (frame, Storage::of_param(param, frame)), subset);
        }
        self.warp.split(group.index, subset, Pc(function.code.start));
        if let Some(entered) = self.warp.groups.last_mut() {
            entered.frame = frame;
            entered.local_top = end;
            entered.stack = Some(Arc::new(stack));
        }
        Ok(())
    }

    /// The function whose frame the group is in.
    fn frame_function(&self, group: &Group) -> &crate::program::Function {
        let callee = self.warp.groups[group.index].stack.as_ref().map_or(self.prepared.config.kernel, |frame| frame.callee);
        &self.program.functions[callee.index()]
    }

    /// Returns the lanes of `active` to their caller; in a kernel, they exit.
    pub(super) fn leave(&mut self, group: &Group, active: LaneMask) -> Executed {
        let Some(stack) = self.warp.groups[group.index].stack.clone() else { return self.exit(group, active) };
        self.check_wgmmas_of_frame(group, active)?;
        let program = self.program;
        let site = &program.calls[stack.call];
        for (result, param) in site.results.iter().zip(&program.functions[stack.callee.index()].results) {
            let to = (stack.caller, Storage::of_argument(result, stack.caller));
            self.transfer((group.frame, Storage::of_param(param, group.frame)), to, active);
        }
        self.mark_written(stack.caller, || operands::call_results(program, stack.call), active);
        self.warp.groups[group.index].pc = Pc(group.pc.0 + 1);
        self.warp.split(group.index, active, Pc(stack.pc.0 + 1));
        if let Some(returned) = self.warp.groups.last_mut() {
            returned.frame = stack.caller;
            returned.local_top = stack.caller_top;
            returned.stack = stack.parent.clone();
            assert_eq!(returned.stack.as_ref().map_or(0, |parent| parent.depth) + 1, stack.depth, "a call is left out");
        }
        self.warp.groups.retain(|group| !group.mask.is_empty());
        Ok(Flow::Reselect)
    }

    fn mark_written(&mut self, frame: FrameBase, registers: impl Fn() -> RegisterOperands, lanes: LaneMask) {
        if self.prepared.writes.is_some() {
            self.warp.registers.mark_written(frame, &registers(), lanes);
        }
    }

    /// Copies a value from one frame to another: an argument into the callee's, a result into the caller's.
    fn transfer(&mut self, (from_frame, from): (FrameBase, Storage), (to_frame, to): (FrameBase, Storage), mask: LaneMask) {
        match (from, to) {
            (Storage::Value(Bank::B64, value), Storage::Value(_, to)) => self.move_64(from_frame, value, to_frame, slot_of(to), mask),
            (Storage::Value(_, value), Storage::Value(_, to)) => self.move_32(from_frame, value, to_frame, slot_of(to), mask),
            (Storage::Pred(value), Storage::Pred(PredSrc::Reg { slot, .. })) => {
                let bits = super::Lanes::new(self.warp, self.immediates, from_frame, mask).pred(value);
                super::Lanes::new(self.warp, self.immediates, to_frame, mask).put_pred(Dst(slot), bits);
            }
            (Storage::Memory { address, bytes }, Storage::Memory { address: to, bytes: capacity }) => {
                self.copy_local(address, to, bytes.min(capacity), mask);
            }
            (Storage::Value(bank, value), Storage::Memory { address, bytes }) => self.spill(from_frame, bank, value, address, bytes, mask),
            (Storage::Memory { address, bytes }, Storage::Value(bank, to)) => self.fill(address, bytes, to_frame, bank, slot_of(to), mask),
            // A predicate has no bytes, a constant one is never written, and `_` discards a result.
            (Storage::Pred(_) | Storage::Discarded, _) | (_, Storage::Pred(_) | Storage::Discarded) => {}
        }
    }

    fn move_32(&mut self, from: FrameBase, value: Src, to: FrameBase, slot: Slot, mask: LaneMask) {
        let value = *super::Lanes::new(self.warp, self.immediates, from, mask).get32(value);
        super::Lanes::new(self.warp, self.immediates, to, mask).put32(Dst(slot), &value);
    }

    fn move_64(&mut self, from: FrameBase, value: Src, to: FrameBase, slot: Slot, mask: LaneMask) {
        let value = *super::Lanes::new(self.warp, self.immediates, from, mask).get64(value);
        super::Lanes::new(self.warp, self.immediates, to, mask).put64(Dst(slot), &value);
    }

    /// Writes a register or constant into a `.param` variable of the callee.
    fn spill(&mut self, from: FrameBase, bank: Bank, value: Src, address: u32, bytes: u32, mask: LaneMask) {
        let lanes = super::Lanes::new(self.warp, self.immediates, from, mask);
        let value = if bank == Bank::B64 { *lanes.get64(value) } else { lanes.get32(value).map(u64::from) };
        for lane in mask.iter() {
            let word = value[lane].to_le_bytes();
            self.warp.local.write(lane, u64::from(address), &word[..(bytes as usize).min(8)]);
        }
    }

    /// Reads a register from a `.param` variable, zero-extended.
    fn fill(&mut self, address: u32, bytes: u32, to: FrameBase, bank: Bank, slot: Slot, mask: LaneMask) {
        let values = self.param_bytes(address, bytes, mask);
        let mut lanes = super::Lanes::new(self.warp, self.immediates, to, mask);
        match bank {
            Bank::B64 => lanes.put64(Dst(slot), &values),
            Bank::B32 | Bank::Pred => lanes.put32(Dst(slot), &values.map(|value| value as u32)),
        }
    }

    /// Up to 8 bytes of the `.param` variable at `address`, zero-extended.
    fn param_bytes(&self, address: u32, bytes: u32, mask: LaneMask) -> PerLane<u64> {
        let mut values = [0; 32];
        for lane in mask.iter() {
            let byte = |index: u32| -> u64 {
                let [byte] = self.warp.local.read(lane, u64::from(address + index));
                u64::from(byte) << (8 * index)
            };
            values[lane] = (0..bytes.min(8)).map(byte).sum();
        }
        values
    }

    /// The value of an argument, zero-extended, for a function of the device runtime.
    pub(super) fn argument_value(&mut self, argument: &CallArg, group: &Group, mask: LaneMask) -> PerLane<u64> {
        match Storage::of_argument(argument, group.frame) {
            Storage::Value(Bank::B64, value) => *self.lanes(group, mask).get64(value),
            Storage::Value(_, value) => self.lanes(group, mask).get32(value).map(u64::from),
            Storage::Memory { address, bytes } => self.param_bytes(address, bytes, mask),
            Storage::Pred(_) | Storage::Discarded => [0; 32],
        }
    }

    /// Writes the result of a function of the device runtime to the destination of the call.
    pub(super) fn write_result(&mut self, result: &CallArg, values: &PerLane<u64>, group: &Group, mask: LaneMask) {
        match Storage::of_argument(result, group.frame) {
            Storage::Value(Bank::B64, to) => self.lanes(group, mask).put64(Dst(slot_of(to)), values),
            Storage::Value(_, to) => self.lanes(group, mask).put32(Dst(slot_of(to)), &values.map(|value| value as u32)),
            Storage::Memory { address, bytes } => {
                for lane in mask.iter() {
                    self.warp.local.write(lane, u64::from(address), &values[lane].to_le_bytes()[..(bytes as usize).min(8)]);
                }
            }
            Storage::Pred(_) | Storage::Discarded => {}
        }
    }

    fn copy_local(&mut self, from: u32, to: u32, bytes: u32, mask: LaneMask) {
        mask.iter().for_each(|lane| self.warp.local.copy(lane, u64::from(from), u64::from(to), u64::from(bytes)));
    }
}

/// The storage of an argument, a parameter or a result.
#[derive(Clone, Copy)]
enum Storage {
    /// A register, or a constant.
    Value(Bank, Src),
    /// A predicate.
    Pred(PredSrc),
    /// A `.param` variable, at its address in local memory.
    Memory { address: u32, bytes: u32 },
    /// `_`.
    Discarded,
}

impl Storage {
    /// The storage of an argument of the caller, whose frame is `frame`.
    fn of_argument(argument: &CallArg, frame: FrameBase) -> Self {
        match *argument {
            CallArg::Value(bank, value) => Storage::Value(bank, value),
            CallArg::Pred(value) => Storage::Pred(value),
            CallArg::Frame { offset, bytes } => Storage::Memory { address: frame.local + offset, bytes },
            CallArg::Ignored => Storage::Discarded,
        }
    }

    /// The storage of a parameter of the callee, whose frame is `frame`.
    fn of_param(param: &Param, frame: FrameBase) -> Self {
        match param.storage {
            ParamStorage::Register(Bank::Pred, slot) => Storage::Pred(PredSrc::Reg { slot, negate: false }),
            ParamStorage::Register(bank, slot) => Storage::Value(bank, Src::reg(slot)),
            ParamStorage::Frame(offset) => Storage::Memory { address: frame.local + offset, bytes: param.bytes },
            ParamStorage::Kernel(_) => Storage::Discarded,
        }
    }
}

/// The slot of a register that a result is written to.
fn slot_of(register: Src) -> Slot {
    match register.kind() {
        SrcKind::Reg(slot) => slot,
        SrcKind::Const(_) | SrcKind::Special(_) => unreachable!("a result is written to a register"),
    }
}
