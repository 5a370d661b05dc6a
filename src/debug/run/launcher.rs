//! From a planned launch to a machine about to execute its first instruction.

use std::sync::Arc;

use super::error::RunError;
use super::options::RunOptions;
use crate::debug::fault::{Fault, FaultContext};
use crate::debug::units::format_bytes;
use crate::launch::{Case, Contents, PlannedBuffer, PlannedLaunch, PlannedVariable, pieces};
use crate::machine::{Device, Instrumentation, LaunchConfig, Machine, PAGE_BYTES, Tick};
use crate::program::Program;

/// A case to run, and how.
#[derive(Clone, Copy)]
pub(in crate::debug) struct Job<'a> {
    pub program: &'a Arc<Program>,
    pub case: &'a Case,
    pub options: &'a RunOptions,
    /// What the machine keeps account of.
    pub instrumentation: Instrumentation,
}

/// A launch that the device refuses, with the memory as it was.
pub(in crate::debug) struct RejectedLaunch {
    pub fault: Box<Fault>,
    pub device: Device,
}

impl<'a> Job<'a> {
    /// The context of faults in launch `index`; none if the case has no such launch.
    pub fn fault_context(&self, index: usize) -> Option<FaultContext<'a>> {
        Some(FaultContext { program: self.program, launch: self.case.launches.get(index)?, buffers: &self.case.buffers, index })
    }

    /// The machine before the first instruction of the launch of `fault_context`, at time `start`, with its buffers made; or why the
    /// launch is refused. `addresses` holds those of the buffers of earlier launches, and those of this one afterwards.
    pub fn prepare(
        &self,
        fault_context: &FaultContext<'_>,
        mut device: Device,
        start: Tick,
        addresses: &mut Vec<u64>,
    ) -> Result<Result<Machine, RejectedLaunch>, RunError> {
        let buffers = &self.case.buffers;
        addresses.truncate(buffers.iter().filter(|buffer| buffer.launch < fault_context.index).count());
        self.options.host.iter().for_each(|host| host.install(&mut device));
        buffers.iter().for_each(|buffer| buffer.at.iter().for_each(|at| device.reserve(*at..at + buffer.bytes)));
        for buffer in buffers.iter().filter(|buffer| buffer.launch == fault_context.index) {
            self.check_room(&device, (&buffer.name, &buffer.contents, buffer.bytes))?;
            let address = match buffer.variable {
                Some(variable) => self.program.variables[variable.index()].location.address,
                None => make_buffer(&mut device, buffer)?,
            };
            if buffer.expect.is_none() && buffers.iter().any(|other| other.expect.is_some()) {
                device.leave_uncompared(address..address + buffer.bytes);
            }
            buffer.ignored.iter().for_each(|range| device.ignore(address + range.start..address + range.end));
            addresses.push(address);
        }
        for given in &fault_context.launch.variables {
            self.check_room(&device, (&self.program.variables[given.variable.index()].name, &given.contents, given.bytes))?;
            give_variable(&mut device, given)?;
        }
        write_parts(&mut device, self.case, fault_context.index, addresses)?;
        let fault = match &fault_context.launch.bounds {
            Some(message) => Box::new(fault_context.refused(message.clone())),
            None => match Machine::new(device.clone(), self.config(fault_context.launch, addresses, start)) {
                Ok(machine) => return Ok(Ok(machine)),
                Err(error) => Box::new(fault_context.refused(error.to_string())),
            },
        };
        Ok(Err(RejectedLaunch { fault, device }))
    }

    /// Refuses a buffer or a variable, by its name, whose elements need more simulated state than the run may hold, before any of
    /// them is made or read.
    fn check_room(&self, device: &Device, (name, contents, all): (&str, &Contents, u64)) -> Result<(), RunError> {
        let limit = self.options.memory_limit;
        match contents {
            Contents::Uninit | Contents::Byte(_) => Ok(()),
            Contents::Pages(pages) => {
                self.check_room(device, (name, &Contents::Bytes(Vec::new()), pages.offsets.len() as u64 * PAGE_BYTES as u64))
            }
            Contents::Made(..) | Contents::Bytes(_) | Contents::File(_) if device.touched_bytes().saturating_add(all) <= limit.0 => Ok(()),
            Contents::Made(..) | Contents::Bytes(_) | Contents::File(_) => {
                let (bytes, limit) = (format_bytes(all), format_bytes(limit.0));
                Err(RunError::MemoryLimit { name: name.to_string(), bytes, limit })
            }
        }
    }

    /// Whether the launch or its kernel says how large a cluster is. A launch file that says nothing has clusters of one block.
    fn names_cluster(&self, launch: &PlannedLaunch) -> bool {
        let limits = &self.program.functions[launch.kernel.index()].limits;
        limits.explicit_cluster || limits.required_cluster.is_some() || launch.cluster != [1, 1, 1]
    }

    fn config(&self, launch: &PlannedLaunch, addresses: &[u64], start: Tick) -> LaunchConfig {
        LaunchConfig {
            kernel: launch.kernel,
            grid: launch.grid,
            block: launch.block,
            only: launch.blocks.clone(),
            cluster: launch.cluster,
            explicit_cluster: self.names_cluster(launch),
            dynamic_shared: launch.dynamic_shared,
            params: launch.param_bytes(addresses),
            cooperative: launch.cooperative,
            resident: self.options.resident,
            schedule: self.options.schedule.clone(),
            seed: self.options.seed,
            start,
            instrumentation: self.instrumentation,
            images: launch.images(addresses),
            copies: self.options.copies,
            memory_limit: self.options.memory_limit,
            divergence: self.options.divergence_of(self.program),
        }
    }
}

/// Writes what a launch gives to a variable of the module.
fn give_variable(device: &mut Device, given: &PlannedVariable) -> Result<(), RunError> {
    let mut write = |offset, piece: &[u8]| device.write_variable(given.variable, offset, piece).map_err(RunError::from);
    match given.contents {
        Contents::Byte(byte) => pieces(given.bytes, |offset, piece| {
            piece.fill(byte);
            write(offset, piece)
        }),
        Contents::Uninit | Contents::Made(..) | Contents::Bytes(_) | Contents::File(_) | Contents::Pages(_) => {
            given.contents.fill(given.bytes, &mut write)
        }
    }
}

/// Makes a buffer and writes what it holds at the start.
fn make_buffer(device: &mut Device, buffer: &PlannedBuffer) -> Result<u64, RunError> {
    let fill = match buffer.contents {
        Contents::Uninit => None,
        Contents::Byte(byte) => Some(byte),
        Contents::Made(..) | Contents::Bytes(_) | Contents::File(_) | Contents::Pages(_) => Some(0),
    };
    let write = |device: &mut Device, address: u64| {
        buffer.contents.fill(buffer.bytes, &mut |offset, piece| device.write(address + offset, piece).map_err(RunError::from))
    };
    if let Some(address) = buffer.at {
        device.allocate_at(&buffer.name, address, buffer.bytes, fill)?;
        if let Contents::Pages(pages) = &buffer.contents {
            device.know_only(address, pages.offsets.iter().copied());
        }
        write(device, address)?;
        return Ok(address);
    }
    let address = device.allocate_padded(&buffer.name, buffer.bytes, buffer.padding, fill)?;
    if let Contents::Pages(pages) = &buffer.contents {
        device.know_only(address, pages.offsets.iter().copied());
    }
    write(device, address)?;
    Ok(address)
}

/// Writes what stands at some bytes of the buffers of a launch and of its variables, now that all addresses are known.
fn write_parts(device: &mut Device, case: &Case, index: usize, addresses: &[u64]) -> Result<(), RunError> {
    for (buffer, address) in case.buffers.iter().zip(addresses).filter(|(buffer, _)| buffer.launch == index) {
        for part in &buffer.parts {
            let at = address + part.offset;
            device.write(at, &part.encode(addresses))?;
            device.define(at..at + u64::from(part.bytes));
        }
    }
    for variable in case.launches.get(index).into_iter().flat_map(|launch| &launch.variables) {
        for part in &variable.parts {
            device.write_variable(variable.variable, part.offset, &part.encode(addresses))?;
        }
    }
    Ok(())
}
