//! The kernels of a PTX text, their parameters and their shared memory, in one pass without parsing the code, so that large libraries
//! are listed quickly.
//!
//! Text that is not PTX has an outline without kernels; errors are reported when the module is parsed.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::Tokens;

/// A summary of a module before it is parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The number after `.version`: `9.0`.
    pub version: String,
    /// The architecture that `.target` names: `sm_90a`.
    pub target: String,
    /// The kernels with a body, in order.
    pub kernels: Vec<Kernel>,
    /// The functions and variables that are visible to other modules.
    pub defines: Vec<Symbol>,
    /// The functions and variables that it only declares, sorted.
    pub needs: Vec<String>,
}

/// A definition that is visible to other modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// True for `.weak` and `.common`: other modules may define it as well.
    pub is_weak: bool,
}

/// A kernel of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Its name in the module.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// Bytes of static shared memory of the kernel and of all functions that it reaches; `None` if a size is an expression.
    pub shared: Option<u64>,
    /// True if it uses dynamic shared memory.
    pub dynamic_shared: bool,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type, without the dot: `u64`.
    pub ty: String,
    /// Elements, if it is an array.
    pub elements: Option<u64>,
    /// True if it is declared `.ptr`.
    pub is_pointer: bool,
}

impl Param {
    /// `u64`, `b8[24]`
    pub fn text(&self) -> String {
        self.elements.map_or_else(|| self.ty.clone(), |elements| format!("{}[{elements}]", self.ty))
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        element_bytes(&self.ty).saturating_mul(self.elements.unwrap_or(1))
    }
}

/// The first token of a text after comments, and its offset.
pub fn first_token(text: &str) -> Option<(usize, &str)> {
    let mut tokens = Tokens::new(text);
    let token = tokens.next()?;
    Some((tokens.position() - token.len(), token))
}

/// The outline of `text`.
pub fn outline(text: &str) -> Outline {
    let mut reader = Reader {
        tokens: Tokens::new(text),
        outline: Outline::default(),
        variables: Vec::new(),
        functions: Vec::new(),
        names: BTreeMap::new(),
        declared: BTreeSet::new(),
        defined: BTreeSet::new(),
    };
    reader.module();
    reader.finish()
}

/// The declaration that a name in a body refers to: a variable in shared memory, or a function.
#[derive(Clone, Copy)]
enum Named {
    Variable(usize),
    Function(usize),
}

/// The size of a shared variable.
struct Variable {
    /// Bytes; `None` if the size is an expression.
    bytes: Option<u64>,
    align: u64,
    is_dynamic: bool,
}

#[derive(Default)]
struct Function {
    /// Its index in the list of kernels, if it is one.
    kernel: Option<usize>,
    variables: BTreeSet<usize>,
    calls: BTreeSet<usize>,
}

struct Reader<'a> {
    tokens: Tokens<'a>,
    outline: Outline,
    variables: Vec<Variable>,
    functions: Vec<Function>,
    names: BTreeMap<&'a str, Named>,
    /// Functions and variables that are declared.
    declared: BTreeSet<&'a str>,
    /// Functions and variables that are defined.
    defined: BTreeSet<&'a str>,
}

/// Linkage directives of a declaration.
const LINKAGE: [&str; 4] = [".extern", ".visible", ".weak", ".common"];

impl<'a> Reader<'a> {
    fn module(&mut self) {
        let (mut is_extern, mut linkage) = (false, "");
        while let Some(token) = self.tokens.next() {
            match token {
                token if LINKAGE.contains(&token) => linkage = token,
                ".global" | ".const" => self.variable(std::mem::take(&mut linkage)),
                ".version" => self.outline.version = self.tokens.next().unwrap_or("").to_string(),
                ".target" => self.outline.target = self.tokens.next().unwrap_or("").to_string(),
                ".entry" => self.function(true, std::mem::take(&mut linkage)),
                ".func" => self.function(false, std::mem::take(&mut linkage)),
                ".shared" => {
                    self.shared(is_extern);
                    linkage = "";
                }
                ";" => linkage = "",
                "{" => self.tokens.skip_block(),
                _ => {}
            }
            is_extern = token == ".extern" || is_extern && token.starts_with('.') && token != ".shared";
        }
    }

    /// Reads the variable after `.global` or `.const`, up to `;`.
    fn variable(&mut self, linkage: &str) {
        while let Some(token) = self.tokens.next() {
            match token {
                ".align" => {
                    self.tokens.next();
                }
                ".attribute" => {
                    self.tokens.by_ref().find(|token| *token == ")");
                }
                token if token.starts_with('.') => {}
                ";" => return,
                name => {
                    self.symbol(name, linkage, linkage != ".extern");
                    self.tokens.by_ref().find(|token| *token == ";");
                    return;
                }
            }
        }
    }

    /// Records the linkage of `name`.
    fn symbol(&mut self, name: &'a str, linkage: &str, is_defined: bool) {
        if !is_defined {
            self.declared.insert(name);
        } else if self.defined.insert(name) && [".visible", ".weak", ".common"].contains(&linkage) {
            self.outline.defines.push(Symbol { name: name.to_string(), is_weak: linkage != ".visible" });
        }
    }

    /// Reads, after `.entry` or `.func`, the head and the body, if there is one.
    fn function(&mut self, is_kernel: bool, linkage: &str) {
        if !is_kernel {
            while self.tokens.peek().is_some_and(|token| token.starts_with('.') || token == "(") {
                if self.tokens.next() == Some("(") {
                    self.params();
                }
            }
        }
        let Some(name) = self.tokens.next() else { return };
        let params = if self.tokens.peek() == Some("(") {
            self.tokens.next();
            self.params()
        } else {
            Vec::new()
        };
        let id = match self.names.get(name) {
            Some(Named::Function(id)) => *id,
            Some(Named::Variable(_)) | None => {
                self.functions.push(Function::default());
                self.names.insert(name, Named::Function(self.functions.len() - 1));
                self.functions.len() - 1
            }
        };
        let opened = self.tokens.by_ref().find(|token| matches!(*token, "{" | ";"));
        if !is_kernel {
            self.symbol(name, linkage, opened == Some("{"));
        }
        if opened != Some("{") {
            return;
        }
        if is_kernel {
            self.functions[id].kernel = Some(self.outline.kernels.len());
            self.outline.kernels.push(Kernel { name: name.to_string(), params, ..Kernel::default() });
        }
        self.body(id);
    }

    /// Reads, after `(`, the parameters up to `)`.
    fn params(&mut self) -> Vec<Param> {
        let (mut params, mut param) = (Vec::new(), Param::default());
        while let Some(token) = self.tokens.next() {
            match token {
                ")" | "," => {
                    if !param.name.is_empty() {
                        params.push(std::mem::take(&mut param));
                    }
                    if token == ")" {
                        break;
                    }
                }
                ".align" => {
                    self.tokens.next();
                }
                ".ptr" => param.is_pointer = true,
                "[" => param.elements = Some(self.tokens.next().and_then(number).unwrap_or(0)),
                token if token.strip_prefix('.').is_some_and(|ty| element_bytes(ty) > 0) => param.ty = token[1..].to_string(),
                token if token.starts_with('.') || token == "]" => {}
                token if param.name.is_empty() => param.name = token.to_string(),
                _ => {}
            }
        }
        params
    }

    /// Reads, after the `{` of function `id`, the names in its code and its shared variables.
    fn body(&mut self, id: usize) {
        let (mut depth, mut is_extern) = (1, false);
        while let Some(token) = self.tokens.next() {
            match token.as_bytes() {
                b"{" => depth += 1,
                b"}" => {
                    depth -= 1;
                    if depth == 0 {
                        return;
                    }
                }
                b".shared" => {
                    let declared = self.shared(is_extern);
                    self.functions[id].variables.extend(declared);
                }
                // Most tokens are registers, numbers, opcodes and punctuation, which name no function and no variable.
                [b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'$', rest @ ..] if !rest.contains(&b'.') => match self.names.get(token) {
                    Some(Named::Variable(variable)) => {
                        self.functions[id].variables.insert(*variable);
                    }
                    Some(Named::Function(called)) => {
                        self.functions[id].calls.insert(*called);
                    }
                    None => {}
                },
                _ => {}
            }
            is_extern = token == ".extern";
        }
    }

    /// Reads, after `.shared`, the variables up to `;`; returns their indices.
    fn shared(&mut self, is_extern: bool) -> std::ops::Range<usize> {
        let (first, mut align, mut element, mut lanes) = (self.variables.len(), None, 0, 1);
        while let Some(token) = self.tokens.next() {
            match token {
                ";" => break,
                ".align" => align = self.tokens.next().and_then(number),
                ".v2" => lanes = 2,
                ".v4" => lanes = 4,
                "=" => {
                    self.tokens.by_ref().find(|token| *token == ";");
                    break;
                }
                token if token.starts_with('.') => element = element_bytes(&token[1..]),
                "[" => self.extent(is_extern),
                "," | "]" => {}
                name => {
                    let bytes = element * lanes;
                    self.names.insert(name, Named::Variable(self.variables.len()));
                    let align = align.unwrap_or(bytes).max(1);
                    self.variables.push(Variable { bytes: Some(bytes), align, is_dynamic: false });
                }
            }
        }
        first..self.variables.len()
    }

    /// Reads, after `[`, the extent of the last variable, up to `]`.
    fn extent(&mut self, is_extern: bool) {
        let tokens: Vec<&str> = self.tokens.by_ref().take_while(|token| *token != "]").collect();
        let Some(variable) = self.variables.last_mut() else { return };
        match tokens.as_slice() {
            [] if is_extern => variable.is_dynamic = true,
            [count] => variable.bytes = variable.bytes.zip(number(count)).map(|(bytes, count)| bytes.saturating_mul(count)),
            [] | [_, _, ..] => variable.bytes = None,
        }
    }

    fn finish(mut self) -> Outline {
        for start in 0..self.functions.len() {
            let Some(kernel) = self.functions[start].kernel else { continue };
            let (mut reached, mut worklist) = (BTreeSet::from([start]), vec![start]);
            while let Some(function) = worklist.pop() {
                worklist.extend(self.functions[function].calls.iter().copied().filter(|called| reached.insert(*called)));
            }
            let variables: BTreeSet<usize> = reached.iter().flat_map(|function| &self.functions[*function].variables).copied().collect();
            let allocate = |end: u64, variable: &usize| {
                let Variable { bytes, align, is_dynamic } = self.variables[*variable];
                if is_dynamic { Some(end) } else { end.checked_next_multiple_of(align)?.checked_add(bytes?) }
            };
            let kernel = &mut self.outline.kernels[kernel];
            kernel.dynamic_shared = variables.iter().any(|variable| self.variables[*variable].is_dynamic);
            kernel.shared = variables.iter().try_fold(0, allocate);
        }
        self.outline.needs = self.declared.difference(&self.defined).map(ToString::to_string).collect();
        self.outline
    }
}

fn number(token: &str) -> Option<u64> {
    let token = token.trim_end_matches(['U', 'u']);
    match token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => token.parse().ok(),
    }
}

/// Bytes of an element of the type called `ty`; 0 if it is not a type of variables.
fn element_bytes(ty: &str) -> u64 {
    match ty {
        "b8" | "u8" | "s8" => 1,
        "b16" | "u16" | "s16" | "f16" | "bf16" => 2,
        "b32" | "u32" | "s32" | "f32" | "f16x2" | "bf16x2" | "tf32" => 4,
        "b64" | "u64" | "s64" | "f64" | "texref" | "samplerref" | "surfref" => 8,
        "b128" => 16,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
        .version 8.0 .target sm_90a, debug .address_size 64
        .extern .shared .align 16 .b8 pool[];
        .shared .align 8 .b64 gate;
        .shared .f32 whole[4][8];
        .global .b32 table[2] = { 1, 2 };
        .func (.param .b32 r) add(.param .b32 a) { .shared .b8 own[3]; st.shared.b8 [own], 1; ret; }
        .visible .entry declared(.param .u64 p);
        // .entry none()
        .visible .entry k(.param .u64 .ptr .global .align 4 p, .param .align 8 .b8 s[24], .param .f32 x)
            .maxntid 128, 1, 1 { { .reg .b32 %r; call (t), add, (u); mov.b64 %rd, whole; } ret; }
        .entry d() { mov.u32 %r, pool; ld.shared.b64 %rd, [gate]; ret; }
        .entry n { ret; }";

    #[test]
    fn kernels_have_their_parameters_and_their_memory() {
        let outline = outline(TEXT);
        assert_eq!((outline.version.as_str(), outline.target.as_str()), ("8.0", "sm_90a"));
        let shown = |kernel: &Kernel| {
            let params: Vec<String> = kernel.params.iter().map(|param| format!("{} {}", param.text(), param.bytes())).collect();
            (kernel.name.clone(), params.join(", "), kernel.shared, kernel.dynamic_shared)
        };
        let expected = [
            ("k".to_string(), "u64 8, b8[24] 24, f32 4".to_string(), Some(4 * 8 * 4 + 3), false),
            ("d".to_string(), String::new(), Some(8), true),
            ("n".to_string(), String::new(), Some(0), false),
        ];
        assert_eq!(outline.kernels.iter().map(shown).collect::<Vec<_>>(), expected);
        assert!(outline.kernels[0].params[0].is_pointer && !outline.kernels[0].params[1].is_pointer);
    }

    #[test]
    fn modules_say_what_they_define_and_need() {
        let text = "
            .extern .func (.param .b32 r) far(.param .b32 a);
            .func near();
            .extern .global .align 4 .u32 there;
            .visible .global .attribute(.managed) .align 4 .u32 here[2] = { 1, 2 };
            .global .u32 own;
            .weak .const .f32 same = 0f00000000;
            .visible .func (.param .b32 r) given(.param .b32 a) { .reg .b32 x; ret; }
            .weak .func some() { ret; }
            .func near() { call far; ret; }
            .visible .entry k() { ret; }";
        let found = outline(text);
        let defines: Vec<(&str, bool)> = found.defines.iter().map(|symbol| (symbol.name.as_str(), symbol.is_weak)).collect();
        assert_eq!(defines, [("here", false), ("same", true), ("given", false), ("some", true)]);
        assert_eq!(found.needs, ["far", "there"]);
        assert_eq!(found.kernels.len(), 1);
    }

    #[test]
    fn any_text_has_an_outline() {
        for end in (0..TEXT.len()).filter(|end| TEXT.is_char_boundary(*end)) {
            assert!(outline(&TEXT[..end]).kernels.len() <= 3);
        }
        assert_eq!(outline("\"§\" .entry").kernels, []);
    }
}
