//! Binary operators: their precedence, and parsing of a flat chain of them.

use super::tree::{BinaryOp, Expr, ExprKind};

/// `a + b * c` as the grammar parses it: a flat list of operands with operators between them.
#[derive(Debug)]
pub(super) struct Chain<'a> {
    pub first: Expr<'a>,
    pub rest: Vec<(BinaryOp, Expr<'a>)>,
}

/// Every operator with its spelling and precedence; a higher one binds tighter (PTX ISA, "Constant Expressions", operator precedence).
/// All of them associate to the left.
const OPERATORS: [(BinaryOp, &str, u8); 18] = [
    (BinaryOp::Mul, "*", 10),
    (BinaryOp::Div, "/", 10),
    (BinaryOp::Rem, "%", 10),
    (BinaryOp::Add, "+", 9),
    (BinaryOp::Sub, "-", 9),
    (BinaryOp::Shl, "<<", 8),
    (BinaryOp::Shr, ">>", 8),
    (BinaryOp::Lt, "<", 7),
    (BinaryOp::Gt, ">", 7),
    (BinaryOp::Le, "<=", 7),
    (BinaryOp::Ge, ">=", 7),
    (BinaryOp::Eq, "==", 6),
    (BinaryOp::Ne, "!=", 6),
    (BinaryOp::BitAnd, "&", 5),
    (BinaryOp::BitXor, "^", 4),
    (BinaryOp::BitOr, "|", 3),
    (BinaryOp::And, "&&", 2),
    (BinaryOp::Or, "||", 1),
];

impl BinaryOp {
    /// Its spelling.
    pub fn text(self) -> &'static str {
        OPERATORS[self as usize].1
    }

    /// Its precedence; higher binds tighter.
    pub fn precedence(self) -> u8 {
        OPERATORS[self as usize].2
    }
}

/// Turns a chain into a tree.
pub(super) fn chain_to_expr(chain: Chain<'_>) -> Expr<'_> {
    // Left operands whose right operand is incomplete, with their operators, in order of strictly increasing precedence.
    let mut stack: Vec<(Expr<'_>, BinaryOp)> = Vec::new();
    let mut last = chain.first;
    for (operator, next) in chain.rest {
        last = reduce(&mut stack, last, operator.precedence());
        stack.push((last, operator));
        last = next;
    }
    reduce(&mut stack, last, 0)
}

/// Pops the left operands whose operator binds at least as tightly as `precedence`, innermost first, and combines each with `right`.
fn reduce<'a>(stack: &mut Vec<(Expr<'a>, BinaryOp)>, mut right: Expr<'a>, precedence: u8) -> Expr<'a> {
    while let Some((left, operator)) = stack.pop_if(|(_, operator)| operator.precedence() >= precedence) {
        let span = left.span.to(right.span);
        right = Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span };
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_operators() {
        for (index, (operator, ..)) in OPERATORS.iter().enumerate() {
            assert_eq!(*operator as usize, index);
        }
    }
}
