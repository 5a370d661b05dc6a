//! The parts of the names of a source language: what is around a name, and the name alone.

/// The last component of a name without what stands in brackets: `scale` for `lin::scale<float>`.
pub fn last_component(name: &str) -> &str {
    let head = name.split('<').next().unwrap_or(name);
    head.rsplit("::").next().unwrap_or(head)
}

/// What is around a name, which may have template arguments: `app::Vec<int>` of `app::Vec<int>::Type`.
pub fn enclosing(name: &str) -> Option<&str> {
    let mut depth = 0_i32;
    let at = name.char_indices().rev().find(|(at, c)| {
        depth += i32::from(matches!(c, '>' | ')')) - i32::from(matches!(c, '<' | '('));
        depth == 0 && *c == ':' && name[..*at].ends_with(':')
    });
    at.map(|(at, _)| &name[..at - 1])
}

/// A name without what is around it: `Point` of `app::Point`, `Vec<app::Point>` of `app::Vec<app::Point>`.
pub fn unqualified_name(name: &str) -> &str {
    enclosing(name).map_or(name, |around| &name[around.len() + 2..])
}
