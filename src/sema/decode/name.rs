//! Operands that must be names.

use super::super::decode_context::{DecodeContext, RegisterRef, Value};
use crate::base::Diagnostic;
use crate::program::Bank;
use crate::syntax::tree::{Expr, ExprKind, Name};

/// The predicate register called `name`.
#[expect(clippy::wildcard_enum_match_arm, reason = "every other value is refused")]
pub(super) fn predicate<'a>(name: Name<'a>, cx: &mut dyn DecodeContext<'a>) -> Result<RegisterRef, Diagnostic> {
    match cx.resolve(&name_expr(name))? {
        Value::Register(register) if register.bank == Bank::Pred => Ok(register),
        _ => Err(Diagnostic::error("type", name.span, format!("'{}' is not a predicate register", name.text))
            .with_help("declare it with .reg .pred")),
    }
}

/// A name as an expression.
pub(super) fn name_expr(name: Name<'_>) -> Expr<'_> {
    Expr { kind: ExprKind::Name(name.text), span: name.span }
}
