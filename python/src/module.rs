//! Modules.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use ptxdbg::api::{Element, Error, Module, ModuleVariable};
use ptxdbg::launch::{LaunchFacts, Study, choose_kernel};
use ptxdbg::program::FuncId;
use ptxdbg_c::ADDRESSES;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::PtxdbgError;

/// The name, the PTX type and the bytes of a parameter.
type Param = (String, String, u32);

/// The type of the elements that a parameter leads to, and true if the kernel moves several at once; `None` if it does not show it.
type Elements = Option<(&'static str, bool)>;

/// A variable: its name in the module and in the source, the type of its elements, its bytes, and those of an element.
type Variable = (String, String, Option<&'static str>, u64, u32);

/// One text, or several.
#[derive(FromPyObject)]
pub enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Texts {
    /// What was given for `what`.
    fn of(given: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let wrong = |_| match given.repr() {
            Ok(given) => PyTypeError::new_err(format!("{what} is a text, or a list of texts, and not {given}")),
            Err(error) => error,
        };
        given.extract().map_err(wrong)
    }
}

/// Texts of modules with their names. Where one name is given for several texts, those after the first have it with a number.
fn named(texts: Texts, names: Texts) -> PyResult<Vec<(String, String)>> {
    let texts = match texts {
        Texts::One(text) => vec![text],
        Texts::Several(texts) => texts,
    };
    let numbered = |name: &str, index: usize| {
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, "ptx"));
        if index == 0 { name.to_string() } else { format!("{stem}.{}.{extension}", index + 1) }
    };
    let names: Vec<String> = match names {
        Texts::One(name) => (0..texts.len()).map(|index| numbered(&name, index)).collect(),
        Texts::Several(names) => names,
    };
    if texts.is_empty() {
        return Err(PyValueError::new_err("a list of no texts is no module"));
    }
    if names.len() != texts.len() {
        return Err(PyValueError::new_err(format!("the texts of modules are {}, and their names {}", texts.len(), names.len())));
    }
    Ok(names.into_iter().zip(texts).collect())
}

/// PTX that was read and checked.
#[pyclass(name = "Module", frozen, module = "ptxdbg")]
pub struct PyPtx {
    pub(crate) module: Module,
    text: Arc<str>,
    /// The elements of the parameters of the kernels that were run.
    elements: Mutex<BTreeMap<FuncId, Vec<Elements>>>,
}

/// All mistakes as text, a line each.
pub fn failed(error: &Error) -> PyErr {
    let text = match error {
        Error::Rejected(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        Error::File(_) | Error::NoCase { .. } | Error::Run(_) | Error::Start(_) => error.to_string(),
    };
    PtxdbgError::new_err(text)
}

#[pymethods]
impl PyPtx {
    /// Reads a PTX text, or links several in a list; `name` stands for it in messages, or a list of as many names. `ttgir` is the
    /// intermediate code of Triton that it was made of.
    #[new]
    #[pyo3(signature = (text, name = None, ttgir = None))]
    fn new(py: Python<'_>, text: &Bound<'_, PyAny>, name: Option<&Bound<'_, PyAny>>, ttgir: Option<&str>) -> PyResult<Self> {
        let name = name.map_or_else(|| Ok(Texts::One("kernel.ptx".to_string())), |name| Texts::of(name, "the name of a module"))?;
        let texts = named(Texts::of(text, "a module")?, name)?;
        let text = texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
        let module = py.detach(|| Module::linked(texts, ADDRESSES)).map_err(|error| failed(&error))?;
        let module = ttgir.map_or(module.clone(), |ttgir| module.with_tensors(ttgir));
        Ok(Self { module, text: text.into(), elements: Mutex::default() })
    }

    /// The names of its kernels, in order of the text.
    #[getter]
    fn kernels(&self) -> Vec<String> {
        self.module.kernels().map(str::to_string).collect()
    }

    /// Its text; of several modules one after the other.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The parameters of a kernel, which may be left out where there is one alone: the name, the PTX type and the bytes of each.
    #[pyo3(signature = (kernel = None))]
    fn params(&self, kernel: Option<&str>) -> PyResult<(String, Vec<Param>)> {
        let program = self.module.program();
        let id = choose_kernel(program, kernel).map_err(|(message, help)| PtxdbgError::new_err(format!("{message}: {help}")))?;
        let function = &program.functions[id.index()];
        let params = function.params.iter().map(|param| (param.name.to_string(), param.ty.word().to_string(), param.bytes));
        Ok((function.name.to_string(), params.collect()))
    }

    /// The elements that each parameter of a kernel leads to, if all of its accesses are to elements of one type.
    fn elements(&self, py: Python<'_>, kernel: &str) -> PyResult<Vec<Elements>> {
        let program = self.module.program();
        let id = choose_kernel(program, Some(kernel)).map_err(|(message, help)| PtxdbgError::new_err(format!("{message}: {help}")))?;
        py.detach(|| {
            let mut known = self.elements.lock().unwrap_or_else(PoisonError::into_inner);
            let study = || {
                let facts = LaunchFacts::default();
                let study = Study::new(program, id, "", &facts);
                let of = |index| study.uniform_elements(index).map(|elements| (elements.element.name(), elements.has_vectors));
                (0..program.functions[id.index()].params.len()).map(of).collect()
            };
            Ok(known.entry(id).or_insert_with(study).clone())
        })
    }

    /// The `.const` and `.global` variables that can be given contents.
    fn variables(&self, py: Python<'_>) -> Vec<Variable> {
        let of = |variable: ModuleVariable| {
            let element = variable.element;
            (variable.name, variable.short, element.map(Element::name), variable.bytes, element.map_or(1, Element::bytes))
        };
        py.detach(|| self.module.variables().into_iter().map(of).collect())
    }

    fn __repr__(&self) -> String {
        format!("<ptxdbg.Module {} with {}>", self.module.path().display(), self.kernels().join(", "))
    }
}
