//! The module around a statement, and its launch: one warp, and a kernel that loads the operands, executes the template as nvcc would
//! write it, and stores each output to a buffer with an element for each lane.

use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

use super::constraint::Lowering;
use super::operand::{LANES, Operand, Role, Value};
use super::scope::DeclaredEffects;
use super::statement::Statement;
use super::text::Text;
use super::{scope, template};
use crate::base::{Diagnostic, SourceId, Sources, Span};
use crate::launch::file::{Buffer, Compare, Content, Init, Launch, Param};
use crate::launch::{Element, LaunchFile, Origin, ValuePath};

/// The name of the module.
pub const MODULE: &str = "asm.ptx";
/// The name of the kernel.
const KERNEL: &str = "asm_statement";

/// A module generated for a statement.
#[derive(Debug)]
pub struct Wrapped {
    /// Its text.
    pub text: String,
    /// Byte range of the template in it.
    inside: Range<usize>,
    template: Text,
    /// The register of every input operand, with the number of the operand.
    inputs: Vec<(String, usize)>,
}

impl Wrapped {
    /// Byte offset of the template in it.
    pub fn start(&self) -> u32 {
        self.inside.start as u32
    }

    /// The number of the input operand in the register `name`.
    pub fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().find(|input| input.0 == name).map(|input| input.1)
    }

    /// True if `span` of the module is in the template.
    pub fn is_inside(&self, span: Span) -> bool {
        self.inside.contains(&(span.start as usize))
    }

    /// The source span of the part of the template at `span` of the module; after the template, that of its end.
    pub fn origin(&self, span: Span) -> Span {
        let within = |at: u32| (at as usize).clamp(self.inside.start, self.inside.end) - self.inside.start;
        let (start, end) = (within(span.start), within(span.end));
        let last = self.template.as_str().trim_end().len().saturating_sub(1);
        if start > last { self.template.span(last..last + 1) } else { self.template.span(start..end) }
    }

    /// Maps the spans of a diagnostic of the module to the statement, except labels outside of the template.
    pub fn translate(&self, diagnostic: Diagnostic) -> Diagnostic {
        let mut diagnostic = Diagnostic { span: self.origin(diagnostic.span), ..diagnostic };
        for label in &mut diagnostic.labels {
            if self.inside.contains(&(label.span.start as usize)) {
                label.span = self.origin(label.span);
            }
        }
        diagnostic
    }
}

/// The source of an operand's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The kernel parameter.
    Param,
    /// The lane's element of the buffer that the parameter points to.
    Lane,
}

impl Operand {
    /// The source of its value; `None` if it is only written, or not a register.
    fn source(&self) -> Option<Source> {
        match (self.role, &self.value) {
            (Role::Output, _) => None,
            _ if self.is_text() => None,
            (_, Some(Value::Param(param))) if self.letter.letter != 'l' && param.buffer().is_some() => Some(Source::Lane),
            _ => Some(Source::Param),
        }
    }

    /// True if it is stored at the end.
    fn is_stored(&self) -> bool {
        self.role != Role::Input
    }
}

/// The module for a statement whose `n` and `C` operands have values, and the template's diagnostics; `None` after an error.
pub fn wrap(statement: &Statement) -> (Option<Wrapped>, Vec<Diagnostic>) {
    let names: Vec<String> = Registers::of(statement).names;
    let (expanded, mut diags) = template::expand(statement, &names);
    if !diags.iter().any(Diagnostic::is_error) {
        let outputs = statement.operands.iter().any(|operand| operand.role != Role::Input);
        let declared = DeclaredEffects { volatile: statement.volatile, outputs, memory: statement.clobbers_memory };
        diags.extend(scope::check(&expanded, declared));
    }
    let is_usable = !diags.iter().any(Diagnostic::is_error);
    (is_usable.then(|| Writer::new(statement, names).write(expanded)), diags)
}

/// The registers of a module, numbered as nvcc does: each kind from 1.
struct Registers {
    /// Prefixes, with the type and the number of allocated registers.
    kinds: Vec<(&'static str, &'static str, u32)>,
    /// The replacement of every operand.
    names: Vec<String>,
}

impl Registers {
    fn of(statement: &Statement) -> Self {
        let mut registers = Self { kinds: Vec::new(), names: Vec::new() };
        for operand in &statement.operands {
            let name = match (operand.letter.lowering, &operand.value) {
                (Lowering::Register { prefix, ty, .. }, _) => registers.allocate(prefix, ty),
                (_, Some(Value::Text(text))) => text.clone(),
                _ => String::new(),
            };
            registers.names.push(name);
        }
        registers
    }

    /// Allocates the next register with a prefix.
    fn allocate(&mut self, prefix: &'static str, ty: &'static str) -> String {
        let index = self.kinds.iter().position(|kind| kind.0 == prefix).unwrap_or_else(|| {
            self.kinds.push((prefix, ty, 0));
            self.kinds.len() - 1
        });
        let number = self.kinds.get_mut(index).map_or(0, |kind| {
            kind.2 += 1;
            kind.2
        });
        format!("{prefix}{number}")
    }

    fn address(&mut self) -> String {
        self.allocate("%rd", "b64")
    }
}

/// Writes the text of a module.
struct Writer<'a> {
    statement: &'a Statement,
    names: Vec<String>,
    registers: Registers,
    /// Lines of the kernel before and after the template.
    before: String,
    after: String,
    params: Vec<String>,
    /// The register with the lane index, once it is used.
    lane: Option<String>,
}

impl<'a> Writer<'a> {
    fn new(statement: &'a Statement, names: Vec<String>) -> Self {
        let registers = Registers::of(statement);
        Self { statement, names, registers, before: String::new(), after: String::new(), params: Vec::new(), lane: None }
    }

    fn write(mut self, template: Text) -> Wrapped {
        let operands = &self.statement.operands;
        for (number, operand) in operands.iter().enumerate() {
            let name = self.names.get(number).cloned().unwrap_or_default();
            if operand.is_stored() {
                self.store(operand, &name);
            }
            if let Some(source) = operand.source() {
                self.load(source, (number, operand), &name);
            }
        }
        let mut text = String::from(".version 9.0\n.target sm_90a\n.address_size 64\n\n");
        let params: Vec<String> = self.params.iter().map(|param| format!("\n\t.param {param}")).collect();
        let _ = writeln!(text, ".visible .entry {KERNEL}({}\n)\n{{", params.join(","));
        for (prefix, ty, taken) in &self.registers.kinds {
            let _ = writeln!(text, "\t.reg .{ty} \t{prefix}<{}>;", taken + 1);
        }
        let _ = write!(text, "\n{}\t// begin inline asm\n\t", self.before);
        let inside = text.len()..text.len() + template.as_str().len();
        let _ = write!(text, "{}\n\t// end inline asm\n{}\tret;\n}}\n", template.as_str(), self.after);
        let is_input = |(_, operand): &(usize, &Operand)| operand.role == Role::Input && !operand.is_text();
        let inputs = self.statement.operands.iter().enumerate().filter(is_input);
        let inputs = inputs.filter_map(|(number, _)| Some((self.names.get(number)?.clone(), number))).collect();
        Wrapped { text, inside, template, inputs }
    }

    /// Adds a parameter of this type; returns its name.
    fn param(&mut self, ty: &str, suffix: &str) -> String {
        let name = format!("{KERNEL}_param_{}", self.params.len());
        self.params.push(format!("{ty} {name}{suffix}"));
        name
    }

    /// Adds instructions before the template that load the value of an operand.
    fn load(&mut self, source: Source, (number, operand): (usize, &Operand), register: &str) {
        let Lowering::Register { ty, bytes, element, .. } = operand.letter.lowering else { return };
        let expression = if operand.expression.is_empty() { String::new() } else { format!(" {}", one_line(&operand.expression)) };
        let comment = format!(" \t// %{number}{expression}");
        let lines = match (source, element) {
            (Source::Lane, _) => {
                let param = self.param(".b64", "");
                let (setup, address) = self.element(&param, bytes);
                format!("{setup}\tld.global.{ty} \t{register}, [{address}];{comment}\n")
            }
            (Source::Param, Some(_)) => {
                let param = self.param(&format!(".{ty}"), "");
                format!("\tld.param.{ty} \t{register}, [{param}];{comment}\n")
            }
            (Source::Param, None) => {
                let param = self.param(".align 16 .b8", "[16]");
                let (low, high) = (self.registers.address(), self.registers.address());
                format!("\tld.param.v2.b64 \t{{{low}, {high}}}, [{param}];\n\tmov.b128 \t{register}, {{{low}, {high}}};{comment}\n")
            }
        };
        self.before.push_str(&lines);
    }

    /// Adds instructions after the template that store an operand.
    fn store(&mut self, operand: &Operand, register: &str) {
        let Lowering::Register { ty, bytes, element, .. } = operand.letter.lowering else { return };
        let param = self.param(".b64", "");
        let (setup, address) = self.element(&param, bytes);
        let store = match element {
            Some(_) => format!("\tst.global.{ty} \t[{address}], {register};\n"),
            None => {
                let (low, high) = (self.registers.address(), self.registers.address());
                format!("\tmov.b128 \t{{{low}, {high}}}, {register};\n\tst.global.v2.b64 \t[{address}], {{{low}, {high}}};\n")
            }
        };
        self.after.push_str(&setup);
        self.after.push_str(&store);
    }

    /// Instructions that compute the address of the lane's element of a buffer, and the register with the address.
    fn element(&mut self, param: &str, bytes: u32) -> (String, String) {
        let mut setup = String::new();
        let lane = self.lane.clone().unwrap_or_else(|| {
            let lane = self.registers.allocate("%r", "b32");
            // Read before the template, since stores after it use the lane index too.
            let _ = writeln!(self.before, "\tmov.u32 \t{lane}, %laneid;");
            self.lane = Some(lane.clone());
            lane
        });
        let (base, address) = (self.registers.address(), self.registers.address());
        let _ = writeln!(setup, "\tld.param.b64 \t{base}, [{param}];");
        let _ = writeln!(setup, "\tmad.wide.u32 \t{address}, {lane}, {bytes}, {base};");
        (setup, address)
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The launch of the module for a statement, all of whose operands have values; `sources` has the arguments.
pub fn launch(statement: &Statement, sources: &Sources) -> LaunchFile {
    let mut names = Names::default();
    let (mut params, mut value_sources): (Vec<Param>, Vec<SourceId>) = (Vec::new(), Vec::new());
    for (number, operand) in statement.operands.iter().enumerate() {
        if operand.is_stored() {
            params.push(Param::Buffer(output(operand, names.fresh(&operand.expression, number))));
            value_sources.push(operand.span.source);
        }
        if operand.source().is_some() {
            params.extend(operand.value.as_ref().and_then(|value| param(value, || names.fresh(&operand.expression, number))));
            value_sources.push(operand.value_source);
        }
    }
    let launch = Launch::new(Some(KERNEL.to_string()), [1; 3], [LANES, 1, 1], params);
    let given = value_sources.into_iter().enumerate().map(|(index, source)| (ValuePath::default().param(index), source)).collect();
    let origin = Origin::Arguments(SourceId(0));
    let (content, folder) = (Content::Launch(launch), Path::new("").to_path_buf());
    LaunchFile { content, folder, sources: sources.clone(), origin, given, expected: Vec::new() }
}

/// The buffer of an output: an element for each lane, or two for 128 bits.
fn output(operand: &Operand, name: String) -> Buffer {
    let shown = operand.ty.and_then(|ty| ty.element);
    let (elem, shape) = match operand.letter.lowering {
        Lowering::Register { element: Some(element), .. } => (shown.unwrap_or(element), None),
        _ => (Element::B64, Some(vec![u64::from(LANES), 2])),
    };
    let len = shape.is_none().then_some(u64::from(LANES));
    Buffer { name, elem, len, shape, init: Init::Zero, expect: None, tolerance: None, compare: Compare::default() }
}

/// The parameter for a value; a buffer gets a unique name.
fn param(value: &Value, name: impl FnOnce() -> String) -> Option<Param> {
    Some(match value {
        Value::Param(param) => {
            let Param::Buffer(buffer) = param.as_ref() else { return Some(param.as_ref().clone()) };
            let len = buffer.len.or(buffer.shape.is_none().then_some(u64::from(LANES)).filter(|_| is_generated(&buffer.init)));
            Param::Buffer(Buffer { name: name(), len, ..buffer.clone() })
        }
        Value::Wide(value) => Param::bytes(&value.to_le_bytes()),
        Value::Text(_) => return None,
    })
}

/// True if the contents can have any length.
fn is_generated(init: &Init) -> bool {
    !matches!(init, Init::Values(_) | Init::File(_) | Init::Slice { .. })
}

/// Unique names of buffers.
#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    /// The name of the operand with this expression; one with its number if the expression is not an identifier.
    fn fresh(&mut self, expression: &str, number: usize) -> String {
        let is_name = !expression.is_empty() && expression.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let plain = if is_name { expression.to_string() } else { format!("operand{number}") };
        let mut name = plain.clone();
        while self.0.contains(&name) {
            name.push_str("_in");
        }
        self.0.push(name.clone());
        name
    }
}
