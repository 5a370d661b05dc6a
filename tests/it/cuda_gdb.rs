//! What cuda-gdb 13.0 says of some forty kernels that `nvcc -G` has compiled, at each line, on an H100: `fixtures/cuda_gdb/*.gdb`.
//!
//! ```text
//! kernel c_recursion                    a kernel, stepped line by line
//! c.cu:17 factorial < c.cu:67 c_recursion    a stop: the frames, innermost first
//!  0 m = 4                              what 'info locals' and 'info args' say for a thread of the warp
//! ```
//!
//! Addresses of buffers are offsets; other addresses are left out, and functions. What cuda-gdb says of a variable before it is assigned is
//! not compared: it shows what the memory or the register held before. The recordings leave out what is false, of variables whose location
//! in the data is that of another path (`i` of `f.cu` after the loop, `k` in line 25, `v` and `s` of `g.cu` in line 20).

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::fs;
use std::path::{Path, PathBuf};

use ptxdbg::api::{Outcome, Planned, RunOptions, Session, ValueText, View};
use ptxdbg::debug::source_names;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/cuda_gdb")
}

/// The files.
const FILES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// Variables that are declared without a value, by the statement after which they are whole; of a statement in a loop, after the loop.
const ASSIGNED_AFTER: &[(&str, &str, &str)] = &[
    ("a_nested", "box", "box.open = i & 1;"),
    ("a_base", "named", "named.code = -i;"),
    ("a_bits", "bits", "bits.d = 1ull << 40;"),
    ("a_union", "word", "word.f = in[i];"),
    ("b_array", "local", "local[k] = in[i] * k;"),
    ("b_array2", "grid", "grid[r][c] = 10 * r + c + i;"),
    ("b_structs", "points", "points[k].y = in[k];"),
    ("b_shared", "line", "line[i] = in[i];"),
    ("b_tile", "tile", "tile[r][i] = r * 100 + i;"),
    ("b_shared_points", "points", "points[i].y = in[i];"),
    ("b_shared_points", "count", "count = 5;"),
    ("c_array_argument", "squares", "fill(squares, 4);"),
    ("made", "pair", "pair.weight = key * 0.5f;"),
    ("d_vec", "a", "b.data[k] = 2;"),
    ("d_vec", "b", "b.data[k] = 2;"),
    ("e_switch", "result", "result = -1;"),
];

/// A stop of cuda-gdb.
#[derive(Default)]
struct Recorded {
    /// `c.cu:17 factorial`, innermost first.
    frames: Vec<String>,
    /// Lane, name and value of variables.
    values: Vec<(u32, String, String)>,
}

/// The kernels of a recording with their stops.
fn recording(file: &str) -> Vec<(String, Vec<Recorded>)> {
    let mut kernels: Vec<(String, Vec<Recorded>)> = Vec::new();
    for line in fs::read_to_string(folder().join(format!("{file}.gdb"))).unwrap().lines() {
        if let Some(kernel) = line.strip_prefix("kernel ") {
            kernels.push((kernel.to_string(), Vec::new()));
            continue;
        }
        let stops = &mut kernels.last_mut().unwrap().1;
        match line.strip_prefix(' ') {
            None => stops.push(Recorded { frames: line.split(" < ").map(plain).collect(), values: Vec::new() }),
            Some(value) => {
                let (lane, rest) = value.split_once(' ').unwrap();
                let (name, value) = rest.split_once(" = ").unwrap();
                stops.last_mut().unwrap().values.push((lane.parse().unwrap(), name.to_string(), value.to_string()));
            }
        }
    }
    kernels
}

/// A frame without the namespaces of its function, in which both number what the source does not name.
fn plain(frame: &str) -> String {
    let (place, function) = frame.split_once(' ').unwrap();
    let plain = function.split(['<', '(']).next().unwrap_or(function);
    format!("{place} {}", plain.rsplit("::").next().unwrap_or(plain))
}

/// A moment of a run: its time and its frames.
struct Moment {
    time: u64,
    frames: Vec<String>,
}

fn frames(session: &mut Session) -> Option<Vec<String>> {
    let Ok(Outcome::View(View::Stack(stack))) = session.execute("backtrace") else { return None };
    let frame = |row: &ptxdbg::debug::view::FrameRow| {
        let place = row.source.as_ref().map_or("?".to_string(), ptxdbg::debug::FileLine::short);
        plain(&format!("{place} {}", row.function))
    };
    Some(stack.frames.iter().map(frame).collect())
}

/// All lines that lane 0 steps through.
fn moments(session: &mut Session) -> Vec<Moment> {
    session.execute("skip delete").unwrap();
    session.execute("set divergent-step wait").unwrap();
    let mut moments = Vec::new();
    for _ in 0..150 {
        let Some(frames) = frames(session) else { break };
        moments.push(Moment { time: session.engine().time().0, frames });
        if session.execute("step").is_err() {
            break;
        }
    }
    moments
}

/// The value of a variable as the recording writes it.
fn value(session: &mut Session, name: &str) -> Result<String, String> {
    let bases = session.engine().addresses().to_vec();
    let Ok(Outcome::Value { value: ValueText::Scalar(text), .. }) = session.execute(&format!("print {name}")) else {
        return Err(session.execute(&format!("print {name}")).err().map_or(String::new(), |error| error.to_string()));
    };
    // A pointer stands alone with its type.
    let text = match text.strip_prefix('(').and_then(|rest| rest.split_once(") ")) {
        Some((_, rest)) if rest.starts_with("0x") || rest.starts_with('@') => rest.to_string(),
        _ => text,
    };
    Ok(with_offsets(&text, &bases))
}

/// The text with addresses as the recording has them, without the symbols after them.
fn with_offsets(text: &str, bases: &[u64]) -> String {
    let Some(at) = text.find("0x") else { return text.to_string() };
    let (before, rest) = text.split_at(at);
    let end = rest[2..].find(|c: char| !c.is_ascii_hexdigit()).map_or(rest.len(), |end| end + 2);
    let address = u64::from_str_radix(&rest[2..end], 16).unwrap();
    let mut after = &rest[end..];
    let symbol = after.strip_prefix(" <").and_then(|symbol| symbol.split_once('>'));
    if let Some((_, rest)) = symbol {
        after = rest;
    }
    let of = |index: usize, name: &str, bytes: u64| {
        let offset = address.checked_sub(*bases.get(index)?)?;
        (offset < bytes).then(|| format!("{name}+{offset}"))
    };
    let shown = match address {
        0 => "0x0".to_string(),
        _ => of(0, "in", 512).or_else(|| of(1, "out", 1024)).unwrap_or_else(|| "elsewhere".to_string()),
    };
    format!("{before}{shown}{}", with_offsets(after, bases))
}

/// The text as it is compared: floats with the shortest digits, where cuda-gdb writes nine; names demangled, where it writes them as the
/// data has them, `_ZN4Mode2OnE` for `Mode::On` and `__b_4Base` for the base `Base`.
fn normal(text: &str) -> String {
    if let Some(name) = ptxdbg::program::demangled(text) {
        return name;
    }
    let text = &text.replace("__b_4Base", "<Base>").replace("__b_1B", "<B>").replace("__b_1M", "<M>");
    let parts = text.split_inclusive([' ', ',', '}']).map(|part| {
        let digits = part.trim_end_matches([' ', ',', '}']);
        match digits.parse::<f32>() {
            Ok(number) if digits.contains('.') => format!("{number}{}", &part[digits.len()..]),
            _ => part.to_string(),
        }
    });
    parts.collect()
}

/// True if the variable is assigned before the line on which the thread stands.
fn is_assigned(session: &Session, function: &str, name: &str, line: u32, source: &str) -> bool {
    let context = session.engine().eval_context();
    let Ok(frame) = context.frame() else { return false };
    let Some(variable) = source_names::find(&context, Some(&frame), name) else { return false };
    if variable.variable.is_parameter {
        return true;
    }
    let whole = ASSIGNED_AFTER.iter().find(|(of, variable, _)| (*of, *variable) == (function, name)).map(|(.., text)| {
        let body = source.lines().position(|line| line.contains(&format!(" {function}("))).unwrap();
        source.lines().skip(body).position(|line| line.trim() == *text).unwrap() as u32 + body as u32 + 1
    });
    let declared = variable.variable.line.map_or(u32::MAX, |line| line.line);
    whole.unwrap_or(declared).max(declared) < line
}

/// What the comparison of one file counts.
#[derive(Default)]
struct Counts {
    stops: usize,
    unaligned: Vec<String>,
    values: usize,
    different: Vec<String>,
}

fn compare(file: &str, counts: &mut Counts) {
    let source = fs::read_to_string(folder().join(format!("{file}.cu"))).unwrap();
    for (case, (kernel, stops)) in recording(file).into_iter().enumerate() {
        let (planned, _) = Planned::open(folder().join(format!("{file}.ron"))).unwrap();
        let mut session = planned.session(case, &RunOptions::unwatched()).unwrap();
        let moments = moments(&mut session);
        let mut next = 0;
        for stop in stops {
            counts.stops += 1;
            let Some(ahead) = moments[next..].iter().position(|moment| moment.frames == stop.frames) else {
                counts.unaligned.push(format!("{kernel}: {}", stop.frames.join(" < ")));
                continue;
            };
            next += ahead + 1;
            session.execute(&format!("goto {}", moments[next - 1].time)).unwrap();
            let (place, function) = stop.frames[0].split_once(' ').unwrap();
            let line: u32 = place.rsplit(':').next().unwrap().parse().unwrap();
            // Local variables of headers are assigned by asm statements in parts.
            let is_own = place.ends_with(&format!("{file}.cu:{line}"));
            for (lane, name, expected) in stop.values {
                session.execute(&format!("lane {lane}")).unwrap();
                if !is_own
                    || expected.contains("elsewhere")
                    || expected.starts_with('<')
                    || !is_assigned(&session, function, &name, line, &source)
                {
                    continue;
                }
                counts.values += 1;
                let found = value(&mut session, &name);
                if found.as_deref().map(normal) != Ok(normal(&expected)) {
                    counts.different.push(format!("{kernel} {place} lane {lane}: {name} = {expected}, here {found:?}"));
                }
            }
            session.execute("lane 0").unwrap();
        }
    }
}

#[test]
fn variables_and_frames_are_those_of_cuda_gdb() {
    let mut counts = Counts::default();
    FILES.iter().for_each(|file| compare(file, &mut counts));
    let Counts { stops, unaligned, values, different } = counts;
    assert!(different.is_empty(), "{} of {values} differ:\n{}", different.len(), different.join("\n"));
    assert!(unaligned.is_empty(), "{} of {stops} stops are missing:\n{}", unaligned.len(), unaligned.join("\n"));
    assert!(values > 2500, "{values}");
}
