//! Mistakes that people make in a module that was right: words, operands, lines and numbers left out, twice, exchanged or others.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use arbitrary::{Result, Unstructured};
use ptxdbg::base::Sources;
use ptxdbg::isa::table;
use ptxdbg::sema;

/// Largest module that mistakes are made in, in bytes.
const MODULE_BYTES_MAX: usize = 16_000;
/// Mistakes in a module at most.
const MISTAKES_MAX: usize = 4;

/// The modules of `fixtures` that are right and not large, with their paths, in order.
pub static MODULES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let texts = paths(&fixtures()).into_iter().filter_map(|path| fs::read_to_string(path).ok());
    let small = texts.filter(|text| text.len() <= MODULE_BYTES_MAX);
    small.filter(|text| sema::load(&mut Sources::default(), "right.ptx", text.clone()).0.is_some()).collect()
});

/// Every dotted word of the instruction table, and those of directives.
static WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    const DIRECTIVES: &[&str] =
        &["reg", "param", "global", "shared", "local", "const", "align", "entry", "func", "visible", "extern", "weak", "ptr", "maxntid"];
    let mut words: Vec<&str> =
        table::all().iter().flat_map(|form| &form.slots).flat_map(|slot| &slot.modifiers).map(|word| word.text).collect();
    words.extend(DIRECTIVES);
    words.sort_unstable();
    words.dedup();
    words.into_iter().map(|word| format!(".{word}")).collect()
});

const VERSIONS: &[&str] =
    &["1.0", "1.4", "2.3", "3.2", "4.3", "5.0", "6.0", "6.3", "6.4", "7.0", "7.8", "8.3", "8.8", "9.0", "9.9", "0.0", "99999999999.1"];
const TARGETS: &[&str] = &[
    "sm_10",
    "sm_13",
    "sm_20",
    "sm_50",
    "sm_60",
    "sm_70",
    "sm_75",
    "sm_80",
    "sm_86",
    "sm_90",
    "sm_90a",
    "sm_100a",
    "sm_120f",
    "sm_1",
    "texmode_independent",
];
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "4",
    "8",
    "16",
    "31",
    "32",
    "33",
    "63",
    "64",
    "128",
    "255",
    "256",
    "1024",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-1",
    "-2147483648",
    "0x7f",
    "017",
    "0b11",
    "1.5",
    "0f3F800000",
    "0d3FF0000000000000",
    "1U",
    "-9223372036854775808",
    "~0",
    "!0",
    "1/0",
    "(1<<63)-1",
    "1?2:3",
];

fn fixtures() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = here.ancestors().map(|folder| folder.join("fixtures"));
    folders.into_iter().find(|folder| folder.is_dir()).unwrap_or_default()
}

/// The files of PTX below `folder`, in order.
fn paths(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    entries.sort();
    let is_ptx = |path: &Path| path.extension().is_some_and(|extension| extension == "ptx");
    entries.into_iter().flat_map(|path| if path.is_dir() { paths(&path) } else { Vec::from_iter(is_ptx(&path).then_some(path)) }).collect()
}

/// A module with mistakes.
///
/// # Errors
/// If the bytes stand for none.
pub fn module(u: &mut Unstructured<'_>) -> Result<String> {
    let mut tokens = tokens(u.choose(&MODULES)?);
    for _ in 0..u.int_in_range(1..=MISTAKES_MAX)? {
        mistake(u, &mut tokens)?;
    }
    Ok(tokens.concat())
}

/// The words, numbers, signs and blanks of a text; together they are the text.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (token, after) = rest.split_at(token_length(rest));
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn token_length(rest: &str) -> usize {
    let while_is = |from: usize, is: fn(char) -> bool| rest[from..].find(|c| !is(c)).map_or(rest.len(), |end| from + end);
    let mut chars = rest.chars();
    match (chars.next().unwrap_or(' '), chars.next().unwrap_or(' ')) {
        ('/', '/') => while_is(0, |c| c != '\n'),
        ('"', _) => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
        // Every line is ended by a blank of its own.
        ('\n', _) => 1,
        (c, _) if c.is_whitespace() => while_is(0, |c| c.is_whitespace() && c != '\n'),
        ('.', next) if is_name(next) => while_is(1, |c| is_name(c) || c == ':'),
        (c, _) if c.is_ascii_digit() => while_is(0, |c| is_name(c) || c == '.'),
        (c, _) if is_name(c) => while_is(0, is_name),
        (c, _) => c.len_utf8(),
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_$%".contains(c)
}

fn is_dotted(token: &str) -> bool {
    token.len() > 1 && token.starts_with('.')
}

fn is_number(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_digit())
}

fn is_plain_name(token: &str) -> bool {
    token.starts_with(is_name) && !is_number(token)
}

/// The index of a token that `is` what is looked for, if there is any.
fn find(u: &mut Unstructured<'_>, tokens: &[&str], is: impl Fn(&str) -> bool) -> Result<Option<usize>> {
    let found: Vec<usize> = (0..tokens.len()).filter(|at| is(tokens[*at])).collect();
    if found.is_empty() { Ok(None) } else { Ok(Some(*u.choose(&found)?)) }
}

fn mistake(u: &mut Unstructured<'_>, tokens: &mut Vec<&str>) -> Result<()> {
    match u.int_in_range(0..=7)? {
        0 => dotted_word(u, tokens),
        1 => another(u, tokens, is_number, NUMBERS),
        2 => name(u, tokens),
        3 => operand(u, tokens),
        4 => line(u, tokens),
        5 => edition(u, tokens),
        6 => sign(u, tokens),
        _ => dotted_word(u, tokens),
    }
}

/// A word after a dot is left out, written twice, changes its place, or is another one.
fn dotted_word(u: &mut Unstructured<'_>, tokens: &mut Vec<&str>) -> Result<()> {
    let Some(at) = find(u, tokens, is_dotted)? else { return Ok(()) };
    match u.int_in_range(0..=4)? {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at]),
        2 if at > 0 && is_dotted(tokens[at - 1]) => tokens.swap(at, at - 1),
        3 => tokens[at] = find(u, tokens, is_dotted)?.map_or("", |other| tokens[other]),
        _ => tokens[at] = u.choose(&WORDS)?,
    }
    Ok(())
}

/// A token is one of `choices` instead.
fn another<'t>(u: &mut Unstructured<'_>, tokens: &mut [&'t str], is: impl Fn(&str) -> bool, choices: &[&'t str]) -> Result<()> {
    if let Some(at) = find(u, tokens, is)? {
        tokens[at] = u.choose(choices)?;
    }
    Ok(())
}

/// A name, which may be an opcode, is another one of the module, or a number.
fn name(u: &mut Unstructured<'_>, tokens: &mut [&str]) -> Result<()> {
    let Some(at) = find(u, tokens, is_plain_name)? else { return Ok(()) };
    match u.int_in_range(0..=3)? {
        0 => tokens[at] = u.choose(NUMBERS)?,
        1 => tokens[at] = "_",
        _ => tokens[at] = find(u, tokens, is_plain_name)?.map_or("", |other| tokens[other]),
    }
    Ok(())
}

/// What follows a comma is left out, written twice, or put before the comma.
fn operand(u: &mut Unstructured<'_>, tokens: &mut Vec<&str>) -> Result<()> {
    let Some(comma) = find(u, tokens, |token| token == ",")? else { return Ok(()) };
    let end = tokens[comma + 1..].iter().position(|token| ",;)}".contains(token)).map_or(tokens.len(), |end| comma + 1 + end);
    let operand = tokens[comma..end].to_vec();
    match u.int_in_range(0..=2)? {
        0 => drop(tokens.drain(comma..end)),
        1 => drop(tokens.splice(comma..comma, operand)),
        _ => {
            let before = tokens[..comma].iter().rposition(|token| is_plain_name(token)).unwrap_or(comma);
            tokens[before..end].rotate_left(comma.saturating_sub(before));
        }
    }
    Ok(())
}

/// A line is left out, written twice, or exchanged with the one before or any other.
fn line(u: &mut Unstructured<'_>, tokens: &mut Vec<&str>) -> Result<()> {
    let mut lines: Vec<Vec<&str>> = tokens.split_inclusive(|token| *token == "\n").map(<[&str]>::to_vec).collect();
    let (at, other) = (u.choose_index(lines.len())?, u.choose_index(lines.len())?);
    match u.int_in_range(0..=4)? {
        0 => drop(lines.remove(at)),
        1 => lines.insert(at, lines[at].clone()),
        2 => lines.swap(at, at.saturating_sub(1)),
        3 => lines.swap(at, other),
        _ => lines.insert(at, lines[other].clone()),
    }
    *tokens = lines.concat();
    Ok(())
}

/// The module is written for another version of PTX or another target.
fn edition(u: &mut Unstructured<'_>, tokens: &mut [&str]) -> Result<()> {
    let (directive, choices) = *u.choose(&[(".version", VERSIONS), (".target", TARGETS)])?;
    let Some(at) = tokens.iter().position(|token| *token == directive) else { return Ok(()) };
    let value = tokens[at + 1..].iter().position(|token| token.starts_with(is_name));
    if let Some(value) = value {
        tokens[at + 1 + value] = u.choose(choices)?;
    }
    Ok(())
}

/// A sign is left out, written twice, or another one.
fn sign(u: &mut Unstructured<'_>, tokens: &mut Vec<&str>) -> Result<()> {
    const SIGNS: &[&str] = &["[", "]", "{", "}", "(", ")", ";", ",", ":", "@", "!", "-", "+", "|", "<", ">", "=", "*", "\"", "/*", "."];
    let Some(at) =
        find(u, tokens, |token| token.len() == 1 && !is_name(token.chars().next().unwrap_or(' ')) && token != "\n" && token != " ")?
    else {
        return Ok(());
    };
    match u.int_in_range(0..=2)? {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at]),
        _ => tokens[at] = u.choose(SIGNS)?,
    }
    Ok(())
}
