//! Results of runs.

use std::path::PathBuf;

use ptxdbg::api::{FindingText, Run, Severity, Site};
use ptxdbg::debug::findings::SideText;
use ptxdbg::launch::{Origins, choose_kernel};
use ptxdbg::program::{Pc, Program};
use ptxdbg::ui::text;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::debugger::{PyWriter, Replay};
use crate::session::PySession;

/// One of the two sides of a finding.
#[pyclass(name = "Side", frozen, get_all, eq, from_py_object, module = "ptxdbg")]
#[derive(Clone, PartialEq, Eq)]
pub struct PySide {
    /// `kernel.ptx:12`
    place: String,
    /// `kernel.py:7`, if the module says so.
    source: Option<String>,
    /// The statement.
    instruction: String,
    /// Warp-instructions since the start.
    tick: u64,
    /// The block.
    block: (u32, u32, u32),
    /// The warp of the block.
    warp: u32,
    /// Its lanes.
    lanes: Vec<u32>,
}

/// Something that is wrong with a kernel.
#[pyclass(name = "Finding", frozen, get_all, eq, module = "ptxdbg")]
#[derive(Clone, PartialEq, Eq)]
pub struct PyFinding {
    /// Stable: `race.shared.raw`.
    id: String,
    /// `error`, `warning` or `note`.
    severity: String,
    /// What is wrong, in one line.
    message: String,
    /// The bytes it is about: `out[17]`, or the address.
    memory: Option<String>,
    /// The edge that is missing, or the rule that was broken.
    why: String,
    /// What to change; empty if nothing is known.
    fix: String,
    /// The earlier side.
    first: Option<PySide>,
    /// Where it was noticed.
    second: Option<PySide>,
    /// How often the same instructions did it.
    count: u64,
    /// All of it, as the debugger prints it.
    text: String,
}

/// What a run came to.
#[pyclass(name = "Result", frozen, module = "ptxdbg")]
pub struct PyRun {
    findings: Vec<PyFinding>,
    certificate: Option<String>,
    fidelity: String,
    ticks: u64,
    thread_instructions: u64,
    printed: Vec<u8>,
    /// What the variables that were given hold.
    variables: Vec<Vec<u8>>,
    replay: Replay,
}

impl PySide {
    fn of(side: &SideText) -> Self {
        let Site { place, source, statement, time, block: [x, y, z], warp, lanes, .. } = &side.site;
        let lanes = lanes.iter().map(|lane| lane as u32).collect();
        let (place, source, instruction) = (place.clone(), source.clone(), statement.clone());
        Self { place, source, instruction, tick: time.0, block: (*x, *y, *z), warp: *warp, lanes }
    }
}

impl PyFinding {
    fn of(finding: &FindingText, program: &Program) -> Self {
        let finding = &in_python(finding.clone(), program);
        Self {
            id: finding.id.word().to_string(),
            severity: match finding.severity {
                Severity::Note => "note",
                Severity::Warning => "warning",
                Severity::Error => "error",
            }
            .to_string(),
            message: finding.message.clone(),
            memory: finding.memory.as_ref().map(|memory| memory.name.clone()),
            why: finding.why.clone(),
            fix: finding.fix.clone(),
            first: finding.first.as_ref().map(PySide::of),
            second: finding.second.as_ref().map(PySide::of),
            count: finding.count,
            text: text::finding(finding),
        }
    }
}

/// A finding with the terms of this package: keywords instead of options, and advice for memory that is not an argument.
fn in_python(mut finding: FindingText, program: &Program) -> FindingText {
    finding.message = finding.message.replace("--dynamic-shared BYTES", "shared=BYTES");
    if finding.id.word() == "memory.out_of_bounds" && finding.fix.is_empty() && is_address_of_memory(&finding, program) {
        finding.fix = "name the array that the address is of, where it is no argument: with ptxdbg.reachable(array)".to_string();
    }
    finding
}

/// True if the address of the instruction of a finding was loaded from memory.
fn is_address_of_memory(finding: &FindingText, program: &Program) -> bool {
    let Some(side) = &finding.second else { return false };
    let Ok(kernel) = choose_kernel(program, Some(&finding.kernel)) else { return false };
    let origins = Origins::new(program, kernel);
    let mut pcs = (0..program.code.len()).map(Pc::new).filter(|pc| program.place(*pc) == side.site.place);
    pcs.any(|pc| origins.pointers(pc).is_empty() && !origins.of(pc).1.is_empty())
}

/// The fields of a [`PySide`], as it is pickled.
type SideFields = (String, Option<String>, String, u64, (u32, u32, u32), u32, Vec<u32>);

/// The fields of a [`PyFinding`], as it is pickled.
type FindingFields = (String, String, String, Option<String>, String, String, Option<PySide>, Option<PySide>, u64, String);

#[pymethods]
impl PySide {
    /// One of these fields, as it was pickled.
    #[new]
    fn new(fields: SideFields) -> Self {
        let (place, source, instruction, tick, block, warp, lanes) = fields;
        Self { place, source, instruction, tick, block, warp, lanes }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (SideFields,)) {
        let Self { place, source, instruction, tick, block, warp, lanes } = slf.get().clone();
        (slf.get_type(), ((place, source, instruction, tick, block, warp, lanes),))
    }

    fn __repr__(&self) -> String {
        let source = self.source.as_ref().map_or(String::new(), |source| format!(" ({source})"));
        let (x, y, z) = self.block;
        format!("<{}{source}: {}, block ({x},{y},{z}) warp {}, t={}>", self.place, self.instruction, self.warp, self.tick)
    }
}

#[pymethods]
impl PyFinding {
    /// One of these fields, as it was pickled.
    #[new]
    fn new(fields: FindingFields) -> Self {
        let (id, severity, message, memory, why, fix, first, second, count, text) = fields;
        Self { id, severity, message, memory, why, fix, first, second, count, text }
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (FindingFields,)) {
        let Self { id, severity, message, memory, why, fix, first, second, count, text } = slf.get().clone();
        (slf.get_type(), ((id, severity, message, memory, why, fix, first, second, count, text),))
    }

    fn __repr__(&self) -> String {
        self.text.trim_end().to_string()
    }
}

impl PyRun {
    /// The result with the texts of a run, which `replay` repeats.
    pub fn of(run: &Run, replay: Replay, variables: Vec<Vec<u8>>) -> Self {
        let (launches, program) = (run.launches(), replay.module.program());
        let style = text::Style::Human { color: false };
        Self {
            findings: run.findings().iter().map(|finding| PyFinding::of(finding, program)).collect(),
            certificate: run.certificate.as_ref().map(|certificate| text::certificate("", certificate, style).trim_end().to_string()),
            fidelity: text::fidelity(&run.fidelity, style).trim_end().to_string(),
            ticks: launches.iter().map(|launch| launch.ticks).sum(),
            thread_instructions: launches.iter().map(|launch| launch.thread_instructions).sum(),
            printed: run.printed().to_vec(),
            variables,
            replay,
        }
    }
}

#[pymethods]
impl PyRun {
    /// What is wrong, in the order in which it was noticed; what stopped the run is the last.
    #[getter]
    fn findings(&self) -> Vec<PyFinding> {
        self.findings.clone()
    }

    /// Whether what was found holds for every order, or what depends on it; None where something is wrong.
    #[getter]
    fn certificate(&self) -> Option<&str> {
        self.certificate.as_deref()
    }

    /// How far the run equals that of a device.
    #[getter]
    fn fidelity(&self) -> &str {
        &self.fidelity
    }

    /// Warp-instructions.
    #[getter]
    fn ticks(&self) -> u64 {
        self.ticks
    }

    /// Instructions of single threads.
    #[getter]
    fn thread_instructions(&self) -> u64 {
        self.thread_instructions
    }

    /// What printf wrote.
    #[getter]
    fn printed<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.printed)
    }

    /// What the variables that were given hold after the run, as many bytes of each as were given.
    #[getter(_variables)]
    fn variables<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.variables.iter().map(|bytes| PyBytes::new(py, bytes)).collect()
    }

    /// It does not change: a copy is the result itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    /// Writes all that the run started from to `path`, a bundle that `ptxdbg` opens on any machine.
    fn bundle(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.replay.bundle(&path))
    }

    /// What a statement of a Triton kernel gave the variable `name`, as an array: that at `line`, or the last one that gives it a tensor,
    /// in the block `program`, after as many executions of it as `iteration`, 0 without it.
    #[pyo3(signature = (name, line = None, program = None, iteration = None))]
    fn tensor<'py>(
        slf: &Bound<'py, Self>,
        name: &str,
        line: Option<Bound<'py, PyAny>>,
        program: Option<Bound<'py, PyAny>>,
        iteration: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("ptxdbg._tensors")?.getattr("tensor")?.call1((slf, name, line, program, iteration))
    }

    /// A session of the debugger about this run, before its first instruction.
    fn session(&self) -> PyResult<PySession> {
        PySession::of(self.replay.session()?)
    }

    /// The last writer of each of these ranges of memory, an address and a number of bytes each; None where the kernel did not write.
    fn writers(&self, py: Python<'_>, ranges: Vec<(u64, u64)>) -> PyResult<Vec<Option<PyWriter>>> {
        py.detach(|| self.replay.writers(&ranges))
    }

    /// Opens the debugger on this run in the terminal: its panes, or where the terminal cannot show them its prompt. `commands` are
    /// executed first; without a terminal they are all that is executed.
    #[pyo3(signature = (*commands))]
    fn debug(slf: &Bound<'_, Self>, commands: Vec<String>) -> PyResult<()> {
        slf.py().import("ptxdbg._terminal")?.getattr("debug")?.call1((slf, commands))?;
        Ok(())
    }

    fn __repr__(&self) -> String {
        let count = self.findings.len();
        let found = match count {
            0 => "nothing wrong".to_string(),
            1 => "1 finding".to_string(),
            _ => format!("{count} findings"),
        };
        let rest: String = self.findings.iter().map(|finding| format!("\n{}", finding.text.trim_end())).collect();
        format!("<ptxdbg.Result: {found}, {} thread-instructions>{rest}", self.thread_instructions)
    }
}
