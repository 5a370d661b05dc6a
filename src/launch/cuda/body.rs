//! What the bodies of functions in CUDA C++ do with names.

use std::collections::BTreeSet;

use super::signature::{after_angles, closing, closing_mark, mark};
use super::tokens::{At, Token, Tokens, tokens};

/// Most tokens between the parameters of a function and its body.
const BETWEEN_MAX: usize = 64;

/// Those of `names` that a function called `function` may give another value, or declares anew in its body, or passes by reference to
/// another function of the text, or to one called `swap`.
pub fn changed<'n>(text: &str, function: &str, names: impl Iterator<Item = &'n str>) -> BTreeSet<String> {
    let tokens = tokens(text);
    let bodies: Vec<&[At<'_>]> = functions(&tokens, function).into_iter().map(|(_, body)| body).collect();
    let is_changed = |body: &[At<'_>], at: usize, name: &str| is_change(body, at, name) || is_by_reference(&tokens, body, at, name);
    names.filter(|name| bodies.iter().any(|body| (0..body.len()).any(|at| is_changed(body, at, name)))).map(str::to_string).collect()
}

/// True if a function called `function` has the word `name` in its parameters or in its body; none if the text has no such function.
pub fn mentions(text: &str, function: &str, name: &str) -> Option<bool> {
    let tokens = tokens(text);
    let found = functions(&tokens, function);
    let has = |part: &[At<'_>]| part.iter().any(|(_, token)| *token == Token::Word(name));
    (!found.is_empty()).then(|| found.iter().any(|(parameters, body)| has(parameters) || has(body)))
}

/// The parameters and the body of each function called `name` that has a body.
fn functions<'a, 't>(tokens: &'a Tokens<'t>, name: &str) -> Vec<(&'a [At<'t>], &'a [At<'t>])> {
    let list = &tokens.list;
    let called = (0..list.len()).filter(|at| list[*at].1 == Token::Word(name));
    let function = |at: usize| {
        let open = after_angles(list, at + 1);
        mark(list, open).filter(|mark| *mark == '(')?;
        let close = closing(tokens, open)?;
        let between = list.get(close + 1..)?.iter().take(BETWEEN_MAX);
        let begin = close + 1 + between.take_while(|(_, token)| !is_one_of(token, "{};),=")).count();
        mark(list, begin).filter(|mark| *mark == '{')?;
        let end = closing_mark(list.iter().map(|(_, token)| token), begin, ('{', '}'))?;
        Some((&list[open + 1..close], &list[begin + 1..end]))
    };
    called.filter_map(function).collect()
}

/// True if the word `name` stands at a token and is assigned, counted up or down, declared, or its address or a reference is taken.
fn is_change(body: &[At<'_>], at: usize, name: &str) -> bool {
    is_assigned(body, at, name) || declares(body, at, name) || is_of_own(body, at, name) && is_address(body, at)
}

/// True if the word `name` stands at a token and is assigned, or counted up or down.
pub(super) fn is_assigned(body: &[At<'_>], at: usize, name: &str) -> bool {
    let is_before = |steps: usize, marks: &str| before(body, at, steps).is_some_and(|token| is_one_of(token, marks));
    let is_counted_before =
        || ["+", "-"].iter().any(|sign| is_before(1, sign) && is_before(2, sign) && are_side_by_side(body, at.saturating_sub(2)));
    // What a pointer points to: `*p = 1`.
    let is_target = || is_before(1, "*") && !is_operand(before(body, at, 2));
    let end = end_of_member(body, at);
    is_of_own(body, at, name) && (is_counted_before() || is_assignment(body, end) && (!is_target() || is_counted(body, end)))
}

/// True if the word `name` stands at a token and is declared, as far as the tokens around it say.
pub(super) fn declares(body: &[At<'_>], at: usize, name: &str) -> bool {
    let is_before = |steps: usize, marks: &str| before(body, at, steps).is_some_and(|token| is_one_of(token, marks));
    let is_reference = || is_before(1, "*&") && is_type(before(body, at, 2)) && is_assignment(body, at + 1);
    is_of_own(body, at, name) && (is_type(before(body, at, 1)) || is_reference())
}

/// True if the address of what stands at a token is taken.
fn is_address(body: &[At<'_>], at: usize) -> bool {
    let is_before = |steps: usize, marks: &str| before(body, at, steps).is_some_and(|token| is_one_of(token, marks));
    let is_element = || body.get(end_of_member(body, at)).is_some_and(|(_, token)| is_one_of(token, "["));
    is_before(1, "&") && !is_operand(before(body, at, 2)) && !is_before(2, "&") && !is_element()
}

/// True if the word `name` stands at a token, and is no member of another object: `s.n`, `p->n`, and `n` of a namespace.
fn is_of_own(body: &[At<'_>], at: usize, name: &str) -> bool {
    let is_before = |steps: usize, marks: &str| before(body, at, steps).is_some_and(|token| is_one_of(token, marks));
    let is_member = || is_before(1, ".") || is_before(1, ":") && is_before(2, ":") || is_before(1, ">") && is_before(2, "-");
    body[at].1 == Token::Word(name) && !is_member()
}

/// The token after the members of a variable that follow it: of `v.x = 1` the `=`.
fn end_of_member(body: &[At<'_>], at: usize) -> usize {
    let mut end = at + 1;
    while matches!(body.get(end..end + 2), Some([(_, Token::Mark('.')), (_, Token::Word(_))])) {
        end += 2;
    }
    end
}

fn before<'b, 't>(body: &'b [At<'t>], at: usize, steps: usize) -> Option<&'b Token<'t>> {
    at.checked_sub(steps).map(|at| &body[at].1)
}

fn is_type(token: Option<&Token<'_>>) -> bool {
    matches!(token, Some(Token::Word(word)) if !STATEMENTS.contains(word))
}

fn is_operand(token: Option<&Token<'_>>) -> bool {
    is_type(token) || token.is_some_and(|token| is_one_of(token, ")]") || *token == Token::Literal)
}

/// True if the word `name` stands at a token and is an argument that a function of the text takes by reference.
fn is_by_reference(tokens: &Tokens<'_>, body: &[At<'_>], at: usize, name: &str) -> bool {
    let is_argument = before(body, at, 1).is_some_and(|token| is_one_of(token, "(,"))
        && body.get(at + 1).is_some_and(|(_, token)| is_one_of(token, ",)"));
    if !is_argument || body[at].1 != Token::Word(name) {
        return false;
    }
    let Some((open, number)) = arguments_before(body, at) else { return false };
    // `f<int>(x)` has its template arguments before the parenthesis.
    let called = (0..open).rev().take(BETWEEN_MAX).find_map(|at| match body[at].1 {
        Token::Word(word) if after_angles(body, at + 1) == open => Some(word).filter(|word| !CONTROLS.contains(word)),
        Token::Word(_) | Token::Literal | Token::Directive | Token::Mark(_) => None,
    });
    let Some(called) = called else { return false };
    let takes = |parameters: &[At<'_>]| {
        let mut depth = 0;
        let mut parts = parameters.split(|(_, token)| {
            depth += i32::from(is_one_of(token, "(<[")) - i32::from(is_one_of(token, ")>]"));
            depth == 0 && is_one_of(token, ",")
        });
        parts.nth(number).is_some_and(is_reference)
    };
    called == "swap" || functions(tokens, called).into_iter().any(|(parameters, _)| takes(parameters))
}

/// The parenthesis that opens the arguments of a call, one of which stands at a token, and the number of those before that one.
fn arguments_before(body: &[At<'_>], at: usize) -> Option<(usize, usize)> {
    let (mut depth, mut number) = (0, 0);
    for before in (0..at).rev() {
        let token = &body[before].1;
        match depth {
            0 if is_one_of(token, "(") => return Some((before, number)),
            0 if is_one_of(token, ";{}") => return None,
            0 if is_one_of(token, ",") => number += 1,
            _ => depth += i32::from(is_one_of(token, ")]}")) - i32::from(is_one_of(token, "([{")),
        }
    }
    None
}

/// True if what a parameter stands for may be changed: `int &n` and `const int *&p`, but not `const int &n`.
fn is_reference(parameter: &[At<'_>]) -> bool {
    let Some(at) = parameter.iter().rposition(|(_, token)| is_one_of(token, "&")) else { return false };
    let of = &parameter[..at];
    let is_word = |(_, token): &At<'_>, word| *token == Token::Word(word);
    let is_pointer = of.iter().any(|(_, token)| is_one_of(token, "*"));
    let is_constant = of.last().is_some_and(|last| is_word(last, "const")) || !is_pointer && of.iter().any(|one| is_word(one, "const"));
    !is_constant
}

/// Words before a parenthesis that are no functions.
const CONTROLS: &[&str] = &["if", "while", "for", "switch", "return", "sizeof", "decltype"];

/// Words before an operand that are no types.
const STATEMENTS: &[&str] = &["return", "case", "else", "do", "goto", "throw", "sizeof", "co_return", "co_yield", "and", "or", "not"];

/// True if `=`, `+=`, `<<=` or another assignment begins at a token, or `++` or `--`.
pub(super) fn is_assignment(body: &[At<'_>], at: usize) -> bool {
    let mark = |ahead: usize| match body.get(at + ahead) {
        Some((_, Token::Mark(mark))) => Some(*mark),
        _ => None,
    };
    let joined = |ahead: usize| are_side_by_side(body, at + ahead);
    match (mark(0), mark(1), mark(2)) {
        (Some('='), next, _) => !(next == Some('=') && joined(0)),
        (Some('+' | '-' | '*' | '/' | '%' | '&' | '|' | '^'), Some('='), _) => joined(0),
        (Some('<'), Some('<'), Some('=')) | (Some('>'), Some('>'), Some('=')) => joined(0) && joined(1),
        _ => is_counted(body, at),
    }
}

/// True if `++` or `--` begins at a token.
pub(super) fn is_counted(body: &[At<'_>], at: usize) -> bool {
    let [Some((_, Token::Mark(first @ ('+' | '-')))), Some((_, Token::Mark(second)))] = [body.get(at), body.get(at + 1)] else {
        return false;
    };
    first == second && are_side_by_side(body, at)
}

/// True if a mark and the next token have nothing between them.
fn are_side_by_side(body: &[At<'_>], at: usize) -> bool {
    matches!((body.get(at), body.get(at + 1)), (Some((first, _)), Some((second, _))) if first + 1 == *second)
}

pub(super) fn is_one_of(token: &Token<'_>, marks: &str) -> bool {
    matches!(token, Token::Mark(mark) if marks.contains(*mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_names() {
        let text = "__global__ void k(int *p, int n) { BODY }";
        for (body, names) in [
            ("p += 3;", "p"),
            ("*p = n; p[n] = 1; x = n == 1; if (n <= 2 || p != q) s.n = 3; q->n = 4; a * n; return n;", ""),
            ("*p++ = 0;", "p"),
            ("while (n-- > 0) {}", "n"),
            ("f(--n);", "n"),
            ("x = a - -n;", ""),
            ("n <<= 1;", "n"),
            ("atomicAdd(&p[n], 1); g(&n);", "n"),
            ("{ int n = 0; float *p = q; }", "n p"),
            ("x = a & n; y = b && n; z = a * p;", ""),
            ("n.x = 1;", "n"),
            ("switch (x) { case 1: n = 2; }", "n"),
            ("s::n = 2;", ""),
        ] {
            let found = changed(&text.replace("BODY", body), "k", ["p", "n"].into_iter());
            assert_eq!(found, names.split_whitespace().map(str::to_string).collect(), "{body}");
        }
    }

    #[test]
    fn names_that_are_passed_by_reference() {
        let text = "void by(int a, const int *&p, int &n) {} void no(const int &n, int *const &p, int &&) {}\n\
            template <int N> void t(int &n) {}\n\
            __global__ void k(int *p, int n) { BODY }";
        for (body, names) in [
            ("by(1, p, 2);", "p"),
            ("by(f(1, 2), q, n);", "n"),
            ("by(n, q, q);", ""),
            ("no(n, p, 3); by(n, p + 1, q); g(n, p);", ""),
            ("t<3>(n);", "n"),
            ("std::swap(p, q);", "p"),
            ("if (q & 1) { g(); } if (n) { g(); }", ""),
        ] {
            let found = changed(&text.replace("BODY", body), "k", ["p", "n"].into_iter());
            assert_eq!(found, names.split_whitespace().map(str::to_string).collect(), "{body}");
        }
    }

    #[test]
    fn names_in_functions() {
        let text = "int f(int n) const { return n + q; }\nvoid g();\nvoid k(int *out) { f(2); g(); }";
        assert_eq!(mentions(text, "f", "n"), Some(true));
        assert_eq!(mentions(text, "f", "q"), Some(true));
        assert_eq!(mentions(text, "f", "out"), Some(false));
        assert_eq!(mentions(text, "g", "out"), None);
    }
}
