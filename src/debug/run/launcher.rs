//! Prepares a planned launch: a machine before its first instruction.

use std::sync::Arc;

use super::error::RunError;
use super::options::RunOptions;
use crate::debug::fault::{Fault, FaultContext};
use crate::debug::units::format_bytes;
use crate::launch::{Case, Contents, PlannedBuffer, PlannedLaunch, PlannedVariable, for_each_chunk};
use crate::machine::{Device, Instrumentation, LaunchConfig, Machine, PAGE_BYTES, Tick};
use crate::program::Program;

/// A case with the options of its run.
#[derive(Clone, Copy)]
pub(in crate::debug) struct Job<'a> {
    pub program: &'a Arc<Program>,
    pub case: &'a Case,
    pub options: &'a RunOptions,
    /// The statistics that the machine collects.
    pub instrumentation: Instrumentation,
}

/// A launch that the device refuses, with the unchanged memory.
pub(in crate::debug) struct RejectedLaunch {
    pub fault: Box<Fault>,
    pub device: Device,
}

impl<'a> Job<'a> {
    /// The context of faults in launch `index`; none if the case has no such launch.
    pub fn fault_context(&self, index: usize) -> Option<FaultContext<'a>> {
        Some(FaultContext::new(self.program, self.case.launches.get(index)?, &self.case.buffers, index))
    }

    /// The machine before the first instruction of the launch of `fault_context`, at time `start`, with its buffers allocated; or the
    /// refused launch. `addresses` has the addresses of earlier launches' buffers; those of this launch are added.
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
            self.check_memory_limit(&device, (&buffer.name, &buffer.contents, buffer.bytes))?;
            let address = match buffer.variable {
                Some(variable) => self.program.variables[variable.index()].location.address,
                None => allocate_buffer(&mut device, buffer)?,
            };
            if buffer.expect.is_none() && buffers.iter().any(|other| other.expect.is_some()) {
                device.leave_uncompared(address..address + buffer.bytes);
            }
            buffer.ignored.iter().for_each(|range| device.ignore(address + range.start..address + range.end));
            addresses.push(address);
        }
        for variable in &fault_context.launch.variables {
            self.check_memory_limit(
                &device,
                (&self.program.variables[variable.variable.index()].name, &variable.contents, variable.bytes),
            )?;
            write_variable(&mut device, variable)?;
        }
        write_parts(&mut device, self.case, fault_context.index, addresses)?;
        self.options.host.iter().for_each(|host| host.fill_buffers(&mut device));
        let fault = match &fault_context.launch.bounds {
            Some(message) => Box::new(fault_context.refused(message.clone())),
            None => match Machine::new(device.clone(), self.config(fault_context.launch, addresses, start)) {
                Ok(machine) => return Ok(Ok(machine)),
                Err(error) => Box::new(fault_context.refused(error.to_string())),
            },
        };
        Ok(Err(RejectedLaunch { fault, device }))
    }

    /// Refuses a buffer or a variable whose elements exceed the memory limit of the run, before any of them is created or read.
    fn check_memory_limit(&self, device: &Device, (name, contents, all): (&str, &Contents, u64)) -> Result<(), RunError> {
        let limit = self.options.memory_limit;
        match contents {
            Contents::Uninit | Contents::Byte(_) => Ok(()),
            Contents::Pages(pages) => {
                self.check_memory_limit(device, (name, &Contents::Bytes(Vec::new()), pages.offsets.len() as u64 * PAGE_BYTES as u64))
            }
            Contents::Generated(..) | Contents::Bytes(_) | Contents::File(_) if device.written_bytes().saturating_add(all) <= limit.0 => {
                Ok(())
            }
            Contents::Generated(..) | Contents::Bytes(_) | Contents::File(_) => {
                let (bytes, limit) = (format_bytes(all), format_bytes(limit.0));
                Err(RunError::MemoryLimit { name: name.to_string(), bytes, limit })
            }
        }
    }

    /// True if the launch or its kernel specifies the cluster size. By default, a cluster has one block.
    fn has_explicit_cluster(&self, launch: &PlannedLaunch) -> bool {
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
            explicit_cluster: self.has_explicit_cluster(launch),
            dynamic_shared: launch.dynamic_shared,
            params: launch.param_bytes(addresses),
            cooperative: launch.cooperative,
            resident: self.options.resident,
            schedule: self.options.schedule.clone(),
            seed: self.options.seed,
            memory: self.options.memory,
            start,
            instrumentation: self.instrumentation,
            fast_paths: self.options.fast_paths,
            images: launch.images(addresses),
            copies: self.options.copies,
            memory_limit: self.options.memory_limit,
            divergence: self.options.divergence_of(self.program),
        }
    }
}

/// Writes the initial value that a launch sets for a variable of the module.
fn write_variable(device: &mut Device, variable: &PlannedVariable) -> Result<(), RunError> {
    let mut write = |offset, chunk: &[u8]| device.write_variable(variable.variable, offset, chunk).map_err(RunError::from);
    match variable.contents {
        Contents::Byte(byte) => for_each_chunk(variable.bytes, |offset, chunk| {
            chunk.fill(byte);
            write(offset, chunk)
        }),
        Contents::Uninit | Contents::Generated(..) | Contents::Bytes(_) | Contents::File(_) | Contents::Pages(_) => {
            variable.contents.fill(variable.bytes, &mut write)
        }
    }
}

/// Allocates a buffer and writes its initial contents.
fn allocate_buffer(device: &mut Device, buffer: &PlannedBuffer) -> Result<u64, RunError> {
    let fill = match buffer.contents {
        Contents::Uninit => None,
        Contents::Byte(byte) => Some(byte),
        Contents::Generated(..) | Contents::Bytes(_) | Contents::File(_) | Contents::Pages(_) => Some(0),
    };
    let write = |device: &mut Device, address: u64| {
        buffer.contents.fill(buffer.bytes, &mut |offset, chunk| device.write(address + offset, chunk).map_err(RunError::from))
    };
    if let Some(address) = buffer.at {
        device.allocate_at(&buffer.name, address, buffer.bytes, fill)?;
        if let Contents::Pages(pages) = &buffer.contents {
            device.set_known_pages(address, pages.offsets.iter().copied());
        }
        write(device, address)?;
        return Ok(address);
    }
    let address = device.allocate_padded(&buffer.name, buffer.bytes, buffer.padding, fill)?;
    if let Contents::Pages(pages) = &buffer.contents {
        device.set_known_pages(address, pages.offsets.iter().copied());
    }
    write(device, address)?;
    Ok(address)
}

/// Writes the pointers and other parts of the buffers and variables of a launch, now that all addresses are known.
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
