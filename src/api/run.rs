//! The result of a case.

use std::sync::Arc;

use crate::debug::certificate::{Certificate, certificate};
use crate::debug::fidelity::{Fidelity, fidelity};
use crate::debug::findings::FindingText;
use crate::debug::value::element_text;
use crate::debug::{
    Comparison, HostMemory, HostWrite, LaunchRun, RunError, RunOptions, Summary, compare_expected, explain_awaited, run_case_until,
    summarize,
};
use crate::launch::{Case, Element, PlannedBuffer, variable_called};
use crate::machine::Device;
use crate::program::Program;

/// The result of a run of a case.
pub struct Run {
    /// Launches, findings, the output of `printf`, and the first elements of every buffer.
    pub summary: Summary,
    /// The comparison of the final memory with the expected contents.
    pub comparison: Comparison,
    /// How far its results are those of the hardware, by opcode.
    pub fidelity: Fidelity,
    /// The statement that the findings are the same in every order; `None` after errors, or if a checker was off.
    pub certificate: Option<Certificate>,
    program: Arc<Program>,
    buffers: Vec<BufferLocation>,
    /// The final memory; `None` if the device rejected a launch.
    device: Option<Device>,
}

/// The location of a buffer.
struct BufferLocation {
    name: String,
    element: Element,
    shape: Vec<u64>,
    bytes: u64,
    address: u64,
}

/// The final contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The type of its elements, as a launch file names it.
    pub element: Element,
    /// The extent of every dimension, outermost first.
    pub shape: Vec<u64>,
    /// All its bytes, little-endian, row by row.
    pub bytes: Vec<u8>,
    /// Its elements as text, as the command line prints them.
    pub values: Vec<String>,
}

impl Buffer {
    /// The bits of each element.
    pub fn bits(&self) -> impl Iterator<Item = u64> {
        self.bytes.chunks_exact(self.element.bytes() as usize).map(|bytes| self.element.read(bytes))
    }

    /// The value of each element, rounded to an `f64` if it is an integer of more bits.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        self.bits().map(|bits| self.element.to_f64(bits))
    }
}

impl Run {
    /// Runs `case` until `interrupt` returns true.
    ///
    /// # Errors
    /// Reasons outside the kernel.
    pub fn of_case(program: &Arc<Program>, case: &Case, options: &RunOptions, interrupt: impl Fn() -> bool) -> Result<Self, RunError> {
        let mut run = run_case_until(program, case, options, &interrupt)?;
        explain_awaited(program, case, options, &mut run, &interrupt)?;
        let comparison = compare_expected(program, case, options, &run)?;
        let device = run.device.clone();
        let location = |(buffer, address): (&PlannedBuffer, &u64)| BufferLocation {
            name: buffer.name.clone(),
            element: buffer.element,
            shape: buffer.shape.clone(),
            bytes: buffer.bytes,
            address: *address,
        };
        let buffers = case.buffers.iter().zip(&run.addresses).map(location).collect();
        let summary = summarize(case, run)?;
        let fidelity = fidelity(program, &summary.executed);
        let found = (summary.findings.as_slice(), &summary.unordered_accesses);
        let certificate = certificate((program, case), &summary.executed, found, options.checks).filter(|_| !summary.interrupted);
        Ok(Self { summary, comparison, fidelity, certificate, program: Arc::clone(program), buffers, device })
    }

    /// The findings in order of detection; the one that stopped the run is the last.
    ///
    /// ```
    /// # use ptxdbg::api::{Launch, Module, RunOptions, text};
    /// # let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {\n.reg .b32 %r1; .reg .b64 %rd1;\n\
    /// #     ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\nst.global.u32 [%rd1], %r1;\nret;\n}";
    /// # let module = Module::from_text("k.ptx", text)?;
    /// let planned = Launch::new().arg("out=u32[1]").grid([1, 1, 1]).block([64, 1, 1]).plan(&module)?;
    /// for finding in planned.run(0, &RunOptions::default())?.findings() {
    ///     assert_eq!(finding.id.word(), "race.global");
    ///     let (first, second) = (finding.first.as_ref().unwrap(), finding.second.as_ref().unwrap());
    ///     assert_eq!((first.site.place.as_str(), second.site.warp), ("k.ptx:8", 1));
    ///     assert!(text::finding(finding).contains("st.global.u32 [%rd1], %r1"));
    /// }
    /// # Ok::<(), ptxdbg::api::Error>(())
    /// ```
    pub fn findings(&self) -> &[FindingText] {
        &self.summary.findings
    }

    /// The launches that were run, with the instructions that they executed.
    pub fn launches(&self) -> &[LaunchRun] {
        &self.summary.launches
    }

    /// The output of `printf`.
    pub fn printed(&self) -> &[u8] {
        &self.summary.printed
    }

    /// The names of the allocated buffers, in order of definition.
    pub fn buffer_names(&self) -> impl Iterator<Item = &str> {
        self.buffers.iter().map(|buffer| buffer.name.as_str())
    }

    /// The changes to the memory of `host`, the one that it was run on ([`RunOptions::host`]).
    pub fn host_writes(&self, host: &HostMemory) -> Vec<HostWrite> {
        self.device.as_ref().map_or_else(Vec::new, |device| host.writes(device))
    }

    /// The final contents of the `.global` or `.const` variable called `name`, in the module or in the source; `None` if there is no such
    /// variable, or the memory does not exist any more.
    pub fn variable(&self, name: &str) -> Option<Vec<u8>> {
        let variable = variable_called(&self.program, name).ok()?;
        let mut bytes = vec![0; usize::try_from(self.program.variables[variable.index()].bytes).ok()?];
        self.device.as_ref()?.read_variable(variable, &mut bytes).ok()?;
        Some(bytes)
    }

    /// The final contents of the buffer called `name`; `None` if there is no such buffer, or the memory does not exist any more.
    pub fn buffer(&self, name: &str) -> Option<Buffer> {
        let buffer = self.buffers.iter().find(|buffer| buffer.name == name)?;
        let mut bytes = vec![0; usize::try_from(buffer.bytes).ok()?];
        self.device.as_ref()?.read(buffer.address, &mut bytes).ok()?;
        let element = buffer.element;
        let values = bytes.chunks_exact(element.bytes() as usize).map(|bytes| element_text(element, element.read(bytes))).collect();
        Some(Buffer { name: buffer.name.clone(), element, shape: buffer.shape.clone(), bytes, values })
    }
}
