//! Resolution of operands: names and constant expressions to registers, addresses and values.

use super::body::BodyBuilder;
use super::const_expr::{self, Constant};
use super::decode::OF_MODULE;
use super::decode_context::{DecodeContext, NumberedRegister, RegisterRef, Value};
use super::header::F64_TARGET;
use super::scope::{self, Symbol};
use crate::base::{Diagnostic, Span};
use crate::isa::{SPECIAL_REGISTERS, ScalarType, Space, special_register};
use crate::program::map::Map;
use crate::program::{
    CopyId, CopyOp, Dst, FuncId, ImageAccess, ImageId, ListId, Location, MatrixId, MatrixOp, Mention, Named, Op, Param, ParamStorage, Pc,
    SpecialRef, Src, TableId, UnsupportedId, WgmmaId, WgmmaOp,
};
use crate::syntax::tree::{BinaryOp, Expr, ExprKind, Name, Operand, UnaryOp};

impl<'a> DecodeContext<'a> for BodyBuilder<'_, 'a> {
    fn version(&self) -> (u8, u8) {
        self.module.header.version
    }

    fn target(&self) -> (u32, Option<char>) {
        self.module.header.target
    }

    fn has_target(&self, sm: u32) -> bool {
        let header = &self.module.header;
        header.target.0 >= sm || header.maps_f64 && sm == F64_TARGET
    }

    fn address_bits(&self) -> u32 {
        self.module.header.address_bits
    }

    fn map(&self) -> Map {
        self.module.map
    }

    fn has_samplers(&self) -> bool {
        self.module.header.has_samplers
    }

    fn in_kernel(&self) -> bool {
        self.is_kernel
    }

    fn is_input(&self, name: &str) -> bool {
        matches!(self.module.scopes.find(name), Some((Symbol::Param(_), _)))
    }

    fn resolve(&mut self, expr: &Expr<'a>) -> Result<Value, Diagnostic> {
        if let ExprKind::Name(name) = &expr.kind {
            return self.name(name, expr.span);
        }
        if let ExprKind::Unary(UnaryOp::Minus, inner) = &expr.kind
            && let ExprKind::Name(name) = &inner.kind
            && let Value::Register(register) | Value::Modified { register, .. } = self.name(name, inner.span)?
        {
            return Ok(Value::Modified { register, negated: true });
        }
        let (base, offset) = split_offset(expr);
        match &base.kind {
            ExprKind::Name(name) if *name != "WARP_SZ" => {
                let value = self.name(name, base.span)?;
                check_added(expr)?;
                let offset =
                    offset.ok_or_else(|| Diagnostic::error("value", expr.span, format!("only a constant can be added to '{name}'")))?;
                add_offset(value, offset, expr.span)
            }
            ExprKind::Name(_)
            | ExprKind::Int { .. }
            | ExprKind::Float(_)
            | ExprKind::Float32Bits(_)
            | ExprKind::Float64Bits(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Cast { .. }
            | ExprKind::Generic(_)
            | ExprKind::Mask { .. } => const_expr::evaluate(expr).map(value_of),
        }
    }

    fn insert_before(&mut self, op: Op) {
        self.queue_before(op);
    }

    fn temporary(&mut self, ty: ScalarType, name: String) -> RegisterRef {
        self.add_temporary(ty, name)
    }

    fn const32(&mut self, value: u32) -> Src {
        self.module.constants.narrow(&mut self.module.program, value)
    }

    fn const64(&mut self, value: u64) -> Src {
        self.module.constants.wide(&mut self.module.program, value)
    }

    fn shared_address(&mut self, address: u64, wide: bool) -> Src {
        self.module.constants.shared_address(&mut self.module.program, address, wide)
    }

    fn copy(&mut self, copy: CopyOp) -> CopyId {
        let copies = &mut self.module.program.copies;
        copies.push(copy);
        CopyId::new(copies.len() - 1)
    }

    fn matrix(&mut self, op: MatrixOp) -> MatrixId {
        let matrices = &mut self.module.program.matrices;
        matrices.push(op);
        MatrixId::new(matrices.len() - 1)
    }

    fn wgmma(&mut self, wgmma: WgmmaOp) -> WgmmaId {
        let wgmmas = &mut self.module.program.wgmmas;
        wgmmas.push(wgmma);
        WgmmaId::new(wgmmas.len() - 1)
    }

    fn special(&mut self, register: SpecialRef) -> Src {
        self.module.constants.special(&mut self.module.program, register)
    }

    fn source_list(&mut self, sources: &[Src]) -> ListId {
        let lists = &mut self.module.program.sources;
        lists.push(sources.into());
        ListId::new(lists.len() - 1)
    }

    fn dest_list(&mut self, dests: &[Dst]) -> ListId {
        let lists = &mut self.module.program.dests;
        lists.push(dests.into());
        ListId::new(lists.len() - 1)
    }

    fn image(&mut self, access: ImageAccess) -> ImageId {
        let images = &mut self.module.program.images;
        images.push(access);
        ImageId::new(images.len() - 1)
    }

    fn sources(&self, list: ListId) -> Box<[Src]> {
        self.module.program.sources[list].clone()
    }

    fn dests(&self, list: ListId) -> Box<[Dst]> {
        self.module.program.dests[list].clone()
    }

    fn branch_target(&mut self, label: Name<'a>) -> Result<Pc, Diagnostic> {
        self.label(label)
    }

    fn branch_table(&mut self, label: Name<'a>) -> Result<TableId, Diagnostic> {
        match self.module.scopes.find(label.text) {
            Some((Symbol::BranchTable(table), _)) => Ok(table),
            Some((symbol, span)) => {
                let message = format!("'{}' is {}, not a list of branch targets", label.text, symbol.noun());
                let error = Diagnostic::error("type", label.span, message).with_label(span, "declared here");
                Err(error.with_help(format!("'{}: .branchtargets ..;' declares one", label.text)))
            }
            None => Err(self.module.unknown_name(label.text, label.span, "list of branch targets")),
        }
    }

    fn call(&mut self, operands: &[Operand<'a>], uniform: bool, span: Span) -> Result<Op, Diagnostic> {
        super::call::call(self, operands, uniform, span)
    }

    fn unsupported(&mut self, why: String) -> UnsupportedId {
        let reasons = &mut self.module.program.unsupported;
        // Equal reasons are usually consecutive.
        if reasons.last() != Some(&why) {
            reasons.push(why);
        }
        UnsupportedId::new(reasons.len() - 1)
    }
}

impl<'a> BodyBuilder<'_, 'a> {
    /// Resolves a name.
    fn name(&mut self, name: &str, span: Span) -> Result<Value, Diagnostic> {
        if let Some((symbol, declared)) = self.module.scopes.find(name) {
            return self.symbol(name, symbol, span, declared);
        }
        match name {
            "_" => return Ok(Value::Sink),
            "WARP_SZ" => return Ok(value_of(const_expr::WARP_SIZE)),
            _ => {}
        }
        if let Some(value) = special(name) {
            if let Value::Special(special) = value {
                self.mention(Named::Special(special), span);
            } else if let Value::SpecialVector(components) = value {
                components.into_iter().for_each(|special| self.mention(Named::Special(special), span));
            }
            return self.check_special(name, &value, span).map(|()| value);
        }
        match name.rsplit_once('.') {
            Some((vector, component)) if vector.contains(|next: char| next.is_ascii_whitespace() || next == '/') => {
                let end = vector.find(|next: char| next.is_ascii_whitespace() || next == '/').unwrap_or(vector.len());
                self.name(&format!("{}.{component}", &vector[..end]), span)
            }
            Some((vector, component)) => self.component(vector, component, span),
            None => Err(self.module.unknown_name(name, span, noun_for(name))),
        }
    }

    /// Records the resolution of a name in a statement.
    pub(super) fn mention(&mut self, named: Named, span: Span) {
        self.module.program.mentions.push(Mention { named, span });
    }

    /// Reports a special register that the file's version or target does not have (PTX ISA, "Special Registers").
    fn check_special(&self, name: &str, value: &Value, span: Span) -> Result<(), Diagnostic> {
        let (Value::Special(special) | Value::SpecialVector([special, ..])) = value else { return Ok(()) };
        let Some(register) = SPECIAL_REGISTERS.get(usize::from(special.0)) else { return Ok(()) };
        self.module.header.require(register.ptx, register.sm, &format!("'{name}'"), span)
    }

    fn symbol(&mut self, name: &str, symbol: Symbol, span: Span, declared: Span) -> Result<Value, Diagnostic> {
        if let Symbol::Register { first, components } = symbol {
            return Ok(match components {
                1 => Value::Register(self.register_ref(first)),
                _ => Value::Vector((0..components).map(|index| self.register_ref(component_of(first, index))).collect()),
            });
        }
        if let Symbol::Variable(id) = symbol {
            self.mention(Named::Variable(id), span);
        }
        let function = &self.module.program.functions[self.id.index()];
        match symbol {
            Symbol::Variable(id) => {
                let variable = &self.module.program.variables[id.index()];
                let mut location = variable.location;
                // The start of dynamic shared memory depends on the function.
                if location.space == Space::Shared && variable.bytes == 0 {
                    location.address = self.module.shared.dynamic_start(self.id).unwrap_or(location.address);
                }
                if location.space == Space::Local && variable.function.is_none() {
                    location.address |= OF_MODULE;
                }
                // The components of a vector are its innermost dimension.
                let is_array = variable.is_array;
                Ok(Value::Symbol { location, ty: variable.ty, opaque: variable.opaque, is_array })
            }
            Symbol::Param(index) => Ok(parameter(&function.params[index])),
            Symbol::Result(index) => Ok(parameter(&function.results[index])),
            Symbol::Function(id) => Ok(Value::Function(id)),
            Symbol::Label(_) => Ok(Value::Label),
            Symbol::Register { .. } | Symbol::BranchTable(_) | Symbol::CallTargets(_) | Symbol::Prototype(_) => {
                let error = Diagnostic::error("type", span, format!("'{name}' is {} and has no value", symbol.noun()));
                Err(error.with_label(declared, "declared here"))
            }
        }
    }

    /// `v.x`: a component of a vector register.
    fn component(&mut self, vector: &str, component: &str, span: Span) -> Result<Value, Diagnostic> {
        let (first, components) = match self.module.scopes.find(vector) {
            Some((Symbol::Register { first, components }, _)) => (first, components),
            Some((symbol, declared)) => {
                let message = format!("'{vector}' is {} and has no components", symbol.noun());
                return Err(Diagnostic::error("type", span, message).with_label(declared, "declared here"));
            }
            None => return Err(self.module.unknown_name(vector, span, noun_for(vector))),
        };
        let index = match component {
            _ if components == 1 && first.ty.bits() == 32 && is_selector(component) => {
                return Ok(Value::Modified { register: self.register_ref(first), negated: false });
            }
            "x" | "r" => 0,
            "y" | "g" => 1,
            "z" | "b" => 2,
            "w" | "a" => 3,
            _ => {
                let error = Diagnostic::error("name", span, format!("'.{component}' is not a component of a vector"));
                return Err(error.with_help("components are '.x .y .z .w' or '.r .g .b .a'"));
            }
        };
        if index >= components || components == 1 {
            return Err(Diagnostic::error(
                "type",
                span,
                format!("'{vector}' has {components} component{}", if components == 1 { "" } else { "s" }),
            ));
        }
        Ok(Value::Register(self.register_ref(component_of(first, index))))
    }

    /// The function that a name in a call denotes.
    ///
    /// # Errors
    /// Unknown names, and symbols that cannot be called.
    pub(super) fn callable(&self, name: Name<'a>) -> Result<FuncId, Diagnostic> {
        match self.module.scopes.find(name.text) {
            Some((Symbol::Function(id), declared)) if self.module.index.functions[id.index()].is_kernel => {
                let error = Diagnostic::error("type", name.span, format!("'{}' is a kernel and cannot be called", name.text));
                Err(error.with_label(declared, "declared here").with_help("call a '.func'"))
            }
            Some((Symbol::Function(id), _)) => Ok(id),
            Some((symbol, declared)) => {
                let error = Diagnostic::error("type", name.span, format!("'{}' is {}, not a function", name.text, symbol.noun()));
                Err(error.with_label(declared, "declared here"))
            }
            None => Err(self.module.unknown_name(name.text, name.span, "function")),
        }
    }
}

/// True for a selector of bytes or halves of a video instruction: `b0`, `h1`, `b7654`.
fn is_selector(component: &str) -> bool {
    let digits = component.trim_start_matches(['b', 'h']);
    component.len() == digits.len() + 1 && matches!(digits.len(), 1..=4) && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// The probable kind of an unknown name.
fn noun_for(name: &str) -> &'static str {
    if name.starts_with('%') { "register" } else { "name" }
}

fn component_of(first: NumberedRegister, index: u32) -> NumberedRegister {
    NumberedRegister { number: first.number + index * scope::slots_of(first), ..first }
}

fn parameter(param: &Param) -> Value {
    let ty = param.ty;
    let (space, offset) = match param.storage {
        ParamStorage::Kernel(offset) => (Space::Param, offset),
        ParamStorage::Frame(offset) => (Space::ParamFunc, offset),
        ParamStorage::Register(bank, slot) => return Value::Register(RegisterRef { bank, slot, ty }),
    };
    Value::Symbol { location: Location { space, address: u64::from(offset) }, ty, opaque: param.opaque, is_array: param.is_array }
}

/// The special register called `name`, a scalar or a vector.
fn special(name: &str) -> Option<Value> {
    let register = |name: &str| special_register(name).map(|index| SpecialRef(index as u16));
    if let Some(single) = register(name) {
        return Some(Value::Special(single));
    }
    let [x, y, z, w] = ["x", "y", "z", "w"].map(|component| register(&format!("{name}.{component}")));
    Some(Value::SpecialVector([x?, y?, z?, w?]))
}

fn value_of(constant: Constant) -> Value {
    match constant {
        Constant::Int { value, unsigned } => Value::Int { value, unsigned },
        Constant::Float(value) => Value::Float(value),
        Constant::Float32Bits(bits) => Value::Float32Bits(bits),
        Constant::Float64Bits(bits) => Value::Float64Bits(bits),
    }
}

/// The error for `a-4`: only `+` is allowed after a name.
fn check_added(expr: &Expr<'_>) -> Result<(), Diagnostic> {
    let mut outer = expr;
    while let ExprKind::Binary(operator, left, _) = &outer.kind {
        if *operator == BinaryOp::Sub && matches!(left.kind, ExprKind::Name(_)) {
            let error = Diagnostic::error("syntax", expr.span, "an offset is added to a name, not subtracted");
            return Err(error.with_help("write 'name+-4' for what is 4 less"));
        }
        outer = left;
    }
    Ok(())
}

/// Splits `a + 4 + 8` into `a` and 12; the offset is `None` if an addend is not a constant.
fn split_offset<'e, 'a>(expr: &'e Expr<'a>) -> (&'e Expr<'a>, Option<u64>) {
    let mut base = expr;
    let mut offset = Some(0_u64);
    while let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) = &base.kind {
        let bytes = const_expr::evaluate_int(right).ok();
        offset = offset.zip(bytes).map(|(sum, bytes)| if *op == BinaryOp::Add { sum.wrapping_add(bytes) } else { sum.wrapping_sub(bytes) });
        base = left;
    }
    (base, offset)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
fn add_offset(value: Value, offset: u64, span: Span) -> Result<Value, Diagnostic> {
    match value {
        Value::Register(register) => Ok(Value::RegisterOffset(register, offset as i64)),
        Value::Symbol { location, ty, opaque, .. } => {
            let address = location.address.wrapping_add(offset);
            Ok(Value::Symbol { location: Location { address, ..location }, ty, opaque: opaque.filter(|_| offset == 0), is_array: false })
        }
        _ => Err(Diagnostic::error("value", span, "an offset can only be added to a register or a variable")),
    }
}
