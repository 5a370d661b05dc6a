//! Where the text of a function assigns to a variable.

use std::ops::Range;

use super::body::{declares, is_assigned, is_assignment, is_counted, is_one_of};
use super::signature::{closing_mark, mark};
use super::tokens::{At, Token, Tokens};

/// A statement that assigns to a variable, as bytes of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssignedBy {
    /// The statement, from its first token to its end.
    pub statement: Range<usize>,
    /// The name of the variable in it.
    pub at: usize,
}

/// The statements that assign to the variable called `name` that is declared at or after the byte `declared`, in the block in which it is
/// declared; with `is_parameter`, in the body of the function that takes it. None if the text has no such declaration, or if the
/// preprocessor leaves out some of it.
pub fn assigned(text: &str, tokens: &Tokens<'_>, declared: Range<usize>, name: &str, is_parameter: bool) -> Option<Vec<AssignedBy>> {
    let list = &tokens.list;
    let first = list.partition_point(|(at, _)| *at < declared.start);
    let own = (first..list.len()).take_while(|at| list[*at].0 < declared.end).find(|at| list[*at].1 == Token::Word(name))?;
    let code = if is_parameter { body_after(tokens, own)? } else { own..block_end(list, own) };
    if list[code.clone()].iter().any(|(at, token)| *token == Token::Directive && is_condition(&text[*at..])) {
        return None;
    }
    let mut found = Vec::new();
    let mut at = code.start;
    while at < code.end {
        if at > own && declares(list, at, name) {
            match hidden_until(list, at, &code) {
                Some(end) => at = end,
                None => break,
            }
            continue;
        }
        if is_assigned(list, at, name) {
            found.push(AssignedBy { statement: statement_around(list, at, &code), at: list[at].0 });
        }
        at += 1;
    }
    Some(found)
}

/// True if a line of the preprocessor is one of `#if`, `#else` or `#endif`.
fn is_condition(line: &str) -> bool {
    let word = line.trim_start_matches(['#', ' ', '\t']);
    ["if", "el", "endif"].iter().any(|start| word.starts_with(start))
}

/// How many assignments some bytes of the text have, `++` and `--` among them.
pub fn assignments_in(tokens: &Tokens<'_>, text: &Range<usize>) -> usize {
    let list = &tokens.list;
    let inside = (0..list.len()).filter(|at| text.contains(&list[*at].0));
    let is_operand = |token: &Token<'_>| matches!(token, Token::Word(_)) || is_one_of(token, ")]");
    let is_after_operand = |at: usize| at.checked_sub(1).is_some_and(|before| is_operand(&list[before].1));
    inside.filter(|at| is_counted(list, *at) || is_after_operand(*at) && is_assignment(list, *at)).count()
}

/// The body of the function whose parameter stands at a token.
fn body_after(tokens: &Tokens<'_>, parameter: usize) -> Option<Range<usize>> {
    let list = &tokens.list;
    let begin = (parameter..list.len()).find(|at| is_one_of(&list[*at].1, "{;"))?;
    mark(list, begin).filter(|mark| *mark == '{')?;
    let end = closing_mark(list.iter().map(|(_, token)| token), begin, ('{', '}'))?;
    Some(begin + 1..end)
}

/// The token that ends the block in which a token stands.
fn block_end(list: &[At<'_>], from: usize) -> usize {
    let mut depth = 0_i32;
    let ends = |at: &usize| {
        depth += brace(&list[*at].1);
        depth < 0
    };
    (from..list.len()).find(ends).unwrap_or(list.len())
}

fn brace(token: &Token<'_>) -> i32 {
    i32::from(is_one_of(token, "{")) - i32::from(is_one_of(token, "}"))
}

/// Where another variable of the same name, declared at a token, ceases to hide the one outside; none if both are of one block, so that
/// the first one has ended before.
fn hidden_until(list: &[At<'_>], declared: usize, code: &Range<usize>) -> Option<usize> {
    let parentheses = |at: usize| i32::from(is_one_of(&list[at].1, "(")) - i32::from(is_one_of(&list[at].1, ")"));
    let mut depth = 0;
    let mut is_closed = |at: &usize| {
        depth += parentheses(*at);
        depth < 0
    };
    // `for (int i = 0; ..; ..) { .. }`, or the parameters of a lambda.
    let mut inside = (declared..code.end).take_while(|at| !is_one_of(&list[*at].1, "{}"));
    if let Some(close) = inside.find(|at| is_closed(at)) {
        let begin = (close + 1..code.end).find(|at| is_one_of(&list[*at].1, "{;"))?;
        let is_block = is_one_of(&list[begin].1, "{");
        let end = if is_block { closing_mark(list.iter().map(|(_, token)| token), begin, ('{', '}'))? } else { begin };
        return Some(end + 1);
    }
    let nested: i32 = list[code.start..declared].iter().map(|(_, token)| brace(token)).sum();
    (nested > 0).then(|| block_end(list, declared))
}

/// The statement in which a token stands.
fn statement_around(list: &[At<'_>], at: usize, code: &Range<usize>) -> Range<usize> {
    let is_end = |at: &usize| is_one_of(&list[*at].1, "{};");
    let first = (code.start..at).rev().find(is_end).map_or(code.start, |before| before + 1);
    let last = (at..code.end).find(is_end).unwrap_or(at);
    list[first].0..list[last].0 + 1
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    fn statements<'t>(text: &'t str, name: &str, is_parameter: bool) -> Option<Vec<&'t str>> {
        let found = assigned(text, &tokens(text), 0..text.len(), name, is_parameter)?;
        Some(found.into_iter().map(|one| &text[one.statement]).collect())
    }

    #[test]
    fn statements_that_assign() {
        let local = |body: &str| format!("void k() {{ BEFORE {body} }} bool b = 1;").replace("BEFORE", "f();");
        for (body, found) in [
            ("bool b = a; c = b; b |= c; *p = b == c;", vec!["b = a;", "b |= c;"]),
            ("bool b; for (int b = 0; b < 3; b = b + 1) b = 2; b = 1;", vec!["b = 1;"]),
            ("bool b; { int b = 3; b = 4; } switch (c) { case 1: b = c; }", vec!["case 1: b = c;"]),
            ("{ bool b = 1; } { bool b = 2; }", vec!["b = 1;"]),
            ("bool b; if (c)\n b = 1; else b = s.b = ++q;", vec!["if (c)\n b = 1;", "else b = s.b = ++q;"]),
        ] {
            assert_eq!(statements(&local(body), "b", false).as_deref(), Some(&*found), "{body}");
        }
        assert_eq!(statements("void k(bool b, int n) { n = 1; b = !b; } void g() { b = 2; }", "b", true), Some(vec!["b = !b;"]));
        assert_eq!(statements("void k(bool b, int n);", "b", true), None);
        assert_eq!(statements(&local("bool b;\n#if X\nb = 1;\n#endif\n"), "b", false), None);
    }

    #[test]
    fn assignments_are_counted() {
        for (text, count) in [("b = a == c;", 1), ("a <= b != c >= d;", 0), ("d = x, e = !x;", 2), ("t[c++] = *p++;", 3), ("x <<= --y;", 2)]
        {
            assert_eq!(assignments_in(&tokens(text), &(0..text.len())), count, "{text}");
        }
    }
}
