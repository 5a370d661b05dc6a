//! The programs of `fixtures/litmus/known.txt`.

use super::program::{At, Op, Program, Scope, Semantics, Thread};

/// A known litmus test.
pub struct Known {
    pub program: Program,
    /// What reads return.
    pub values: Vec<(At, u32)>,
    /// Whether an execution has that, where it is known.
    pub is_allowed: Option<bool>,
}

pub fn all() -> Vec<Known> {
    let text = std::fs::read_to_string(crate::common::fixtures().join("litmus/known.txt")).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(known).collect()
}

fn known(line: &str) -> Known {
    let [name, threads, values, verdict] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else { panic!("{line}") };
    let threads = threads.split(" ; ").map(|thread| {
        let (block, ops) = thread.split_once(": ").unwrap();
        Thread { block: block.parse().unwrap(), ops: ops.split(", ").map(op).collect() }
    });
    let program = Program { name: name.to_string(), threads: threads.collect() };
    let values = values.split_whitespace().map(|term| {
        let (at, value) = term.split_once('=').unwrap();
        let (thread, index) = at.split_once('.').unwrap();
        ((thread.parse().unwrap(), index.parse().unwrap()), value.parse().unwrap())
    });
    let is_allowed = match verdict {
        "allowed" => Some(true),
        "forbidden" => Some(false),
        "-" => None,
        _ => panic!("{line}"),
    };
    Known { program, values: values.collect(), is_allowed }
}

fn op(text: &str) -> Op {
    let words: Vec<&str> = text.split_whitespace().collect();
    let parts: Vec<&str> = words[0].split('.').collect();
    let number = |index: usize| words[index].parse().unwrap();
    let scope = || if parts.last() == Some(&"cta") { Scope::Cta } else { Scope::Gpu };
    let how = || match parts[1] {
        "weak" => Semantics::Weak,
        "relaxed" => Semantics::Relaxed(scope()),
        "acquire" => Semantics::Acquire(scope()),
        "release" => Semantics::Release(scope()),
        "acq_rel" => Semantics::AcqRel(scope()),
        _ => panic!("{text}"),
    };
    match parts[0] {
        "ld" => Op::Load(number(1), how()),
        "st" => Op::Store(number(1), how(), number(2) as u32),
        "atom" => Op::Add(number(1), how(), number(2) as u32),
        "red" => Op::Reduce(number(1), how(), number(2) as u32),
        "fence" => Op::Fence { sc: parts[1] == "sc", scope: scope() },
        "bar" => Op::Barrier,
        "if" => Op::Unless(number(1) as u32),
        _ => panic!("{text}"),
    }
}
