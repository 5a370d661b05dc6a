//! `++x` and `x--` in expressions: the steps are made in the order in which C evaluates, each once.

use super::parsed::Expression;
use super::tree::{BinaryOp, Node, NodeKind, Step};
use crate::debug::value::{Scalar, Type};
use crate::isa::ScalarType;

/// What reads and changes the variables of an expression with steps.
pub trait Stepper {
    /// Why something cannot be read or changed.
    type Error;

    /// The number that an expression without steps is.
    ///
    /// # Errors
    /// It has no value, or is no number.
    fn number(&mut self, expression: &Expression) -> Result<Scalar, Self::Error>;

    /// Gives a place a value; both have no steps.
    ///
    /// # Errors
    /// It is no place, or the value does not fit.
    fn assign(&mut self, place: &Expression, value: &Expression) -> Result<(), Self::Error>;

    /// The error of something in an expression that cannot be done, at a byte of its text.
    fn refused(&self, at: usize, message: &str) -> Self::Error;
}

impl Expression {
    /// True if it changes variables.
    pub fn has_steps(&self) -> bool {
        self.root.has_steps()
    }

    /// The same expression after its steps: what was read before a step is the number that it was.
    ///
    /// # Errors
    /// Something of it cannot be read or changed. The steps before it have been made.
    pub fn stepped<S: Stepper>(&self, stepper: &mut S) -> Result<Expression, S::Error> {
        Ok(self.with_root(stepped(&self.root, stepper)?))
    }

    /// The step that it is as a whole, and what it changes.
    pub fn step(&self) -> Option<(Step, Expression)> {
        if let NodeKind::Step(step, place) = &self.root.kind { Some((*step, alone(place))) } else { None }
    }

    /// Changes the place that it is, without steps, by one.
    ///
    /// # Errors
    /// It cannot be read or changed.
    pub fn make_step<S: Stepper>(&self, step: Step, stepper: &mut S) -> Result<(), S::Error> {
        let at = self.root.at;
        let node = |value| Node { at, kind: NodeKind::Number(value) };
        let one = node(Scalar::new(Type::Scalar(ScalarType::S32), 1));
        let sum = binary(at, step.operator, node(stepper.number(self)?), one);
        stepper.assign(self, &alone(&sum))
    }

    /// The place that it is, without steps, whatever changes from now on.
    ///
    /// # Errors
    /// Something of it cannot be read.
    pub fn fixed<S: Stepper>(&self, stepper: &mut S) -> Result<Expression, S::Error> {
        Ok(self.with_root(place(&self.root, stepper)?))
    }

    /// `self OPERATOR (other)`, as `self OPERATOR= other` assigns it; none if there is no such operator.
    pub fn combined(&self, operator: &str, other: &Expression) -> Option<Expression> {
        let operator = BinaryOp::called(operator)?;
        Some(self.with_root(binary(self.root.at, operator, self.root.clone(), other.root.clone())))
    }

    fn with_root(&self, root: Node) -> Expression {
        Expression { text: self.text.clone(), root }
    }
}

fn binary(at: usize, operator: BinaryOp, a: Node, b: Node) -> Node {
    Node { at, kind: NodeKind::Binary(operator, Box::new([a, b])) }
}

fn stepped<S: Stepper>(node: &Node, stepper: &mut S) -> Result<Node, S::Error> {
    let at = node.at;
    if !node.has_steps() {
        return Ok(node.clone());
    }
    let kind = match &node.kind {
        NodeKind::Step(step, place) => {
            let place = stepped(place, stepper)?;
            let before = number(&place, stepper)?;
            alone(&place).make_step(*step, stepper)?;
            NodeKind::Number(if step.is_after { before } else { number(&place, stepper)? })
        }
        NodeKind::Logical(is_or, operands) => {
            let first = stepped(&operands[0], stepper)?;
            let first = number(&first, stepper)?;
            // The second operand is not evaluated where the first one decides.
            let second = if first.is_true() == *is_or {
                Scalar::truth(*is_or)
            } else {
                let second = stepped(&operands[1], stepper)?;
                number(&second, stepper)?
            };
            NodeKind::Number(Scalar::truth(second.is_true()))
        }
        NodeKind::Conditional(operands) => {
            let condition = number(&stepped(&operands[0], stepper)?, stepper)?;
            let [_, first, second] = &**operands;
            let (first, second) = if condition.is_true() {
                (stepped(first, stepper)?, without_steps(second))
            } else {
                (without_steps(first), stepped(second, stepper)?)
            };
            let condition = Node { at: operands[0].at, kind: NodeKind::Number(condition) };
            NodeKind::Conditional(Box::new([condition, first, second]))
        }
        // As in C, the operand of sizeof is not evaluated.
        NodeKind::SizeOf(text, a) => NodeKind::SizeOf(text.clone(), a.as_deref().map(|a| Box::new(without_steps(a)))),
        NodeKind::Binary(op, operands) => NodeKind::Binary(*op, Box::new(each(operands.each_ref(), read, stepper)?)),
        NodeKind::Range(operands) => NodeKind::Range(Box::new(each(operands.each_ref(), read, stepper)?)),
        NodeKind::Index(operands) => NodeKind::Index(Box::new(each(operands.each_ref(), place, stepper)?)),
        NodeKind::Slice(operands) => NodeKind::Slice(Box::new(each(operands.each_ref(), place, stepper)?)),
        NodeKind::Unary(op, a) => NodeKind::Unary(*op, Box::new(stepped(a, stepper)?)),
        NodeKind::Cast(ty, a) => NodeKind::Cast(*ty, Box::new(stepped(a, stepper)?)),
        NodeKind::SourceCast(ty, a) => NodeKind::SourceCast(ty.clone(), Box::new(stepped(a, stepper)?)),
        NodeKind::Dereference(a) => NodeKind::Dereference(Box::new(stepped(a, stepper)?)),
        NodeKind::AddressOf(a) => NodeKind::AddressOf(Box::new(stepped(a, stepper)?)),
        NodeKind::Member(a, name) => NodeKind::Member(Box::new(stepped(a, stepper)?), name.clone()),
        NodeKind::Function(function, arguments) => match &**arguments {
            [a, b] => NodeKind::Function(*function, Box::new(each([a, b], read, stepper)?)),
            several => NodeKind::Function(*function, several.iter().map(|a| stepped(a, stepper)).collect::<Result<_, _>>()?),
        },
        NodeKind::Lanes(..) | NodeKind::Aggregate(..) | NodeKind::Subscripts(_) => {
            return Err(stepper.refused(at, "'++' and '--' change a variable of the focused thread, and this is about several"));
        }
        NodeKind::Number(_) | NodeKind::Name(_) | NodeKind::Special(_) | NodeKind::Convenience(_) | NodeKind::File(_) => node.kind.clone(),
    };
    Ok(Node { at, kind })
}

/// Operands in their order: one before another that has steps is read by `keep` before these are made.
fn each<S: Stepper, const N: usize>(
    operands: [&Node; N],
    keep: fn(&Node, &mut S) -> Result<Node, S::Error>,
    stepper: &mut S,
) -> Result<[Node; N], S::Error> {
    let mut all = operands.map(Node::clone);
    for index in 0..N {
        let operand = stepped(operands[index], stepper)?;
        let changes_later = operands[index + 1..].iter().any(|later| later.has_steps());
        all[index] = if changes_later { keep(&operand, stepper)? } else { operand };
    }
    Ok(all)
}

fn number<S: Stepper>(node: &Node, stepper: &mut S) -> Result<Scalar, S::Error> {
    stepper.number(&alone(node))
}

/// The number that a node is now.
fn read<S: Stepper>(node: &Node, stepper: &mut S) -> Result<Node, S::Error> {
    Ok(Node { at: node.at, kind: NodeKind::Number(number(node, stepper)?) })
}

/// The place that a node is now: its indices and the pointers that it follows are numbers.
fn place<S: Stepper>(node: &Node, stepper: &mut S) -> Result<Node, S::Error> {
    let kind = match &node.kind {
        NodeKind::Index(operands) => NodeKind::Index(Box::new([place(&operands[0], stepper)?, read(&operands[1], stepper)?])),
        NodeKind::Member(a, name) => NodeKind::Member(Box::new(place(a, stepper)?), name.clone()),
        NodeKind::Dereference(a) => NodeKind::Dereference(Box::new(read(a, stepper)?)),
        other => other.clone(),
    };
    Ok(Node { at: node.at, kind })
}

fn without_steps(node: &Node) -> Node {
    if let NodeKind::Step(_, a) = &node.kind { without_steps(a) } else { node.clone() }
}

/// A part of an expression as one of its own: errors keep their place in the text.
fn alone(node: &Node) -> Expression {
    Expression { text: super::print::text(node), root: node.clone() }
}
