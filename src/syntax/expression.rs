//! Binary operators: their precedence, and what a flat chain of them means.

use super::tree::{BinaryOp, Expr, ExprKind};

/// `a + b * c` as it is read: operands with operators between them.
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
    /// How it is written.
    pub fn text(self) -> &'static str {
        OPERATORS[self as usize].1
    }

    /// How tightly it binds; more is tighter.
    pub fn precedence(self) -> u8 {
        OPERATORS[self as usize].2
    }
}

/// Gives a chain its structure.
pub(super) fn chain_to_expr(chain: Chain<'_>) -> Expr<'_> {
    // Operands that wait for their right side, with the operator between them: precedences strictly rise.
    let mut waiting: Vec<(Expr<'_>, BinaryOp)> = Vec::new();
    let mut last = chain.first;
    for (operator, next) in chain.rest {
        last = join(&mut waiting, last, operator.precedence());
        waiting.push((last, operator));
        last = next;
    }
    join(&mut waiting, last, 0)
}

/// Pops the left operands whose operator binds at least as tightly as `precedence`, innermost first, and makes `right` the right side of
/// each.
fn join<'a>(waiting: &mut Vec<(Expr<'a>, BinaryOp)>, mut right: Expr<'a>, precedence: u8) -> Expr<'a> {
    while let Some((left, operator)) = waiting.pop_if(|(_, operator)| operator.precedence() >= precedence) {
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
