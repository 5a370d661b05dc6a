//! Symbols of addresses and instructions: `tile+16`, `$L__BB0_2+3`.

use crate::debug::arrays::id_of;
use crate::debug::eval_context::EvalContext;
use crate::isa::Space;
use crate::machine::Region;
use crate::program::{FuncId, ParamStorage, Pc, Program, Variable, is_debug_label, map, shown_name};

/// Bits of an address in the shared memory window that address one block's memory; the bits above are the rank.
pub const RANK_SHIFT: u32 = 24;

/// A name and the distance from it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// Bytes, or instructions, from its start.
    pub offset: u64,
    /// The cluster rank of the block whose shared memory it is in, if the address has one.
    pub rank: Option<u32>,
}

impl std::fmt::Display for Symbol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (name, Self { offset, rank, .. }) = (shown_name(&self.name), self);
        f.write_str(&name)?;
        if *offset > 0 {
            write!(f, "+{offset}")?;
        }
        rank.map_or(Ok(()), |rank| write!(f, " of rank {rank}"))
    }
}

/// A named range of bytes of one space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its name.
    pub name: String,
    /// Its first address.
    pub start: u64,
    /// Its size.
    pub bytes: u64,
}

/// The variable, buffer or parameter that holds `address` of `space`.
pub fn symbol(context: &EvalContext<'_>, space: Space, address: u64) -> Option<Symbol> {
    let (space, address) = resolve(context.program(), space, address);
    if space == Space::Global {
        if let Some(function) = function_at(context.program(), address) {
            return Some(Symbol { name: context.program().functions[function.index()].name.to_string(), offset: 0, rank: None });
        }
        let allocation = context.machine.device().global().find(address)?;
        return Some(Symbol { name: allocation.name.to_string(), offset: address - allocation.base, rank: None });
    }
    let (rank, address) = match space {
        Space::Shared | Space::SharedCluster => rank_of(context, space, address),
        _ => (None, address),
    };
    let holds = |object: &Object| (object.start..object.start.saturating_add(object.bytes)).contains(&address);
    let object = objects(context, space).into_iter().find(holds)?;
    Some(Symbol { name: object.name, offset: address - object.start, rank })
}

/// The cluster rank in an address of shared memory, if it has one, and the address in that block.
fn rank_of(context: &EvalContext<'_>, space: Space, address: u64) -> (Option<u32>, u64) {
    let rank = (address >> RANK_SHIFT) as u32;
    let is_reported = rank > 0 || space == Space::SharedCluster;
    let in_cluster = rank < context.machine.config().blocks_of_cluster() && context.machine.config().blocks_of_cluster() > 1;
    if is_reported && in_cluster { (Some(rank), address & ((1 << RANK_SHIFT) - 1)) } else { (None, address) }
}

/// The state space of `address` and the address there: generic addresses are resolved.
pub fn resolve(program: &Program, space: Space, address: u64) -> (Space, u64) {
    match space {
        Space::Generic => {
            let (space, start) = program.map.window_of(address);
            (space, address - start)
        }
        Space::ParamFunc => (Space::Local, address),
        named => (named, address),
    }
}

/// The function that an indirect call of `address` calls.
pub fn function_at(program: &Program, address: u64) -> Option<FuncId> {
    let index = map::function_of_address(&program.map, address)?;
    ((index as usize) < program.functions.len()).then_some(FuncId(index))
}

/// The label or function start nearest before the instruction, and the instructions since.
pub fn code_symbol(program: &Program, pc: Pc) -> Option<Symbol> {
    let function = &program.functions[program.function_at(pc)?.index()];
    let named = function.labels.iter().filter(|(label, _)| !is_debug_label(label));
    let label = named.take_while(|(_, at)| *at <= pc).last();
    let (name, start) = label.map_or((&function.name, function.code.start), |(name, at)| (name, at.0));
    Some(Symbol { name: name.to_string(), offset: u64::from(pc.0 - start), rank: None })
}

/// All named objects of a space, in order of address; those of the frame's function for local memory.
pub fn objects(context: &EvalContext<'_>, space: Space) -> Vec<Object> {
    let mut objects = match space {
        Space::Generic | Space::Global => allocations(context.machine.device().global()),
        Space::Const => allocations(context.machine.device().constant_memory()),
        Space::Shared | Space::SharedCluster => variables(context, Space::Shared),
        Space::Local | Space::ParamFunc => {
            variables(context, Space::Local).into_iter().chain(variables(context, Space::ParamFunc)).collect()
        }
        Space::Param => params(context),
    };
    objects.sort_by_key(|object| object.start);
    objects
}

fn allocations(region: &Region) -> Vec<Object> {
    let object = |allocation: &crate::machine::Allocation| Object {
        name: allocation.name.to_string(),
        start: allocation.base,
        bytes: allocation.bytes,
    };
    region.allocations().map(object).collect()
}

fn variables(context: &EvalContext<'_>, space: Space) -> Vec<Object> {
    let frame = context.frame().ok();
    let function = frame.as_ref().map(|frame| frame.function);
    let kernel = Some(context.machine.config().kernel).filter(|_| space == Space::Shared);
    let is_reached = |variable: &&Variable| kernel.is_none_or(|kernel| variable.is_in_shared_of(kernel));
    let in_space = context.program().variables.iter().filter(|variable| variable.location.space == space);
    let visible = in_space.filter(is_reached).filter(|variable| {
        variable.function.is_none() || function.is_some() && variable.function == function || variable.function == kernel
    });
    let object = |variable| {
        let location = super::scope::variable_location(context, variable, frame.as_ref());
        let bytes = super::scope::variable_bytes(context, variable);
        Object { name: variable.name.to_string(), start: location.address, bytes }
    };
    let (dynamic, sized): (Vec<_>, Vec<_>) = visible.partition(|variable| variable.bytes == 0 && space == Space::Shared);
    sized.into_iter().chain(named_in_kernel(context, dynamic, function)).map(object).collect()
}

/// The names of dynamic shared memory that code of the kernel or of the frame's function uses; all if it uses none.
fn named_in_kernel<'a>(context: &EvalContext<'a>, dynamic: Vec<&'a Variable>, function: Option<FuncId>) -> Vec<&'a Variable> {
    let program = context.program();
    let Some(inferred) = context.inferred.filter(|_| dynamic.len() > 1) else { return dynamic };
    let is_named = |variable: &&Variable| {
        let functions = [Some(context.machine.config().kernel), function];
        let id = id_of(program, variable);
        id.is_some_and(|id| functions.into_iter().flatten().any(|function| inferred.arrays.is_named_in(program, id, function)))
    };
    let named: Vec<&Variable> = dynamic.iter().copied().filter(is_named).collect();
    if named.is_empty() { dynamic } else { named }
}

fn params(context: &EvalContext<'_>) -> Vec<Object> {
    let kernel = &context.program().functions[context.machine.config().kernel.index()];
    let object = |param: &crate::program::Param| match param.storage {
        ParamStorage::Kernel(offset) => {
            Some(Object { name: param.name.to_string(), start: u64::from(offset), bytes: u64::from(param.bytes) })
        }
        ParamStorage::Register(..) | ParamStorage::Frame(_) => None,
    };
    kernel.params.iter().filter_map(object).collect()
}
