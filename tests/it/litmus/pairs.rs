//! Algorithms that need their fences: on weak memory each goes wrong in some run when a link is missing, and in none when all are there.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use ptxdbg::base::Sources;
use ptxdbg::debug::{DivergencePolicy, MemoryModel, Schedule};
use ptxdbg::machine::{Device, LaunchConfig, Machine, NullObserver, Step};
use ptxdbg::program::Program;

use crate::look::one_warp::one_warp;

/// An algorithm.
pub struct Algorithm {
    pub name: &'static str,
    /// The code of each block's only thread. `$0` is the first of its links; words of memory are 128 bytes apart from `[%m]` on, results
    /// from `[%m+1024]` on.
    pub blocks: &'static [&'static str],
    /// The links that make it right.
    pub right: &'static [&'static str],
    /// Links that make it wrong: the place, and what stands there.
    pub wrong: &'static [(usize, &'static str)],
    /// True if these words and results cannot be.
    is_violated: fn(&[u32], &[u32]) -> bool,
}

/// Waits until the word in `place` is `value`.
macro_rules! wait {
    ($load:literal, $place:literal, $value:literal) => {
        concat!("W:\nld.", $load, ".u32 %a, [%m+", $place, "];\nsetp.ne.u32 %p, %a, ", $value, ";\n@%p bra W;\n")
    };
}

/// One more in the word at 128, under a lock at 0.
const LOCKED: &str = "mov.u32 %n, 0;\nL:\natom.$0.cas.b32 %a, [%m], 0, 1;\nsetp.ne.u32 %p, %a, 0;\n@%p bra L;\n$1\n\
    ld.u32 %b, [%m+128];\nadd.u32 %b, %b, 1;\nst.u32 [%m+128], %b;\n$2\nst.$3.u32 [%m], 0;\nadd.u32 %n, %n, 1;\n\
    setp.lt.u32 %p, %n, 3;\n@%p bra L;\n";

/// The same under a lock with tickets, at 0 and 256.
const TICKET: &str = "mov.u32 %n, 0;\nL:\natom.relaxed.gpu.add.u32 %a, [%m], 1;\nV:\nld.$0.u32 %b, [%m+256];\nsetp.ne.u32 %p, %b, %a;\n\
    @%p bra V;\nld.u32 %b, [%m+128];\nadd.u32 %b, %b, 1;\nst.u32 [%m+128], %b;\nadd.u32 %a, %a, 1;\nst.$1.u32 [%m+256], %a;\n\
    add.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 3;\n@%p bra L;\n";

const SEQLOCK_WRITER: &str = "mov.u32 %n, 1;\nL:\nst.relaxed.gpu.u32 [%m], %n;\n$0\nst.relaxed.gpu.u32 [%m+128], %n;\n\
    st.relaxed.gpu.u32 [%m+256], %n;\nadd.u32 %n, %n, 1;\nst.$1.u32 [%m], %n;\nadd.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 7;\n@%p bra L;\n";

const SEQLOCK_READER: &str = "mov.u32 %n, 0;\nL:\nld.$2.u32 %a, [%m];\nld.relaxed.gpu.u32 %b, [%m+128];\n\
    ld.relaxed.gpu.u32 %c, [%m+256];\n$3\n\
    ld.relaxed.gpu.u32 %d, [%m];\nand.b32 %e, %a, 1;\nsetp.eq.u32 %p, %a, %d;\nsetp.eq.and.u32 %p, %e, 0, %p;\n\
    setp.ne.and.u32 %p, %b, %c, %p;\n@%p st.u32 [%m+1024], 1;\nadd.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 12;\n@%p bra L;\n";

const DEKKER: [&str; 2] = [
    "st.relaxed.gpu.u32 [%m], 1;\n$0\nld.relaxed.gpu.u32 %a, [%m+128];\nsetp.eq.u32 %p, %a, 0;\n@%p st.u32 [%m+1024], 1;\n",
    "st.relaxed.gpu.u32 [%m+128], 1;\n$1\nld.relaxed.gpu.u32 %a, [%m];\nsetp.eq.u32 %p, %a, 0;\n@%p st.u32 [%m+1028], 1;\n",
];

/// Each raises its flag, gives the turn away, and enters if the other has not raised its flag or has given the turn back.
const PETERSON: [&str; 2] = [
    "st.relaxed.gpu.u32 [%m], 1;\n$0\nst.relaxed.gpu.u32 [%m+256], 1;\n$1\nld.relaxed.gpu.u32 %a, [%m+128];\n\
     ld.relaxed.gpu.u32 %b, [%m+256];\nsetp.eq.u32 %p, %a, 0;\nsetp.ne.or.u32 %p, %b, 1, %p;\n@%p st.u32 [%m+1024], 1;\n",
    "st.relaxed.gpu.u32 [%m+128], 1;\n$0\nst.relaxed.gpu.u32 [%m+256], 2;\n$1\nld.relaxed.gpu.u32 %a, [%m];\n\
     ld.relaxed.gpu.u32 %b, [%m+256];\nsetp.eq.u32 %p, %a, 0;\nsetp.ne.or.u32 %p, %b, 2, %p;\n@%p st.u32 [%m+1028], 1;\n",
];

/// One more in the word at 128, under a queue of waiting blocks (Mellor-Crummey and Scott): the last of it at 0, and of each block the next
/// one and whether it waits.
macro_rules! mcs {
    ($own:literal, $next:literal, $waits:literal, $next_of_other:literal, $other_waits:literal) => {
        concat!(
            "mov.u32 %n, 0;\nL:\nst.relaxed.gpu.u32 [%m+",
            $next,
            "], 0;\nst.relaxed.gpu.u32 [%m+",
            $waits,
            "], 1;\n",
            "atom.$0.exch.b32 %a, [%m], ",
            $own,
            ";\nsetp.eq.u32 %p, %a, 0;\n@%p bra E;\nst.$1.u32 [%m+",
            $next_of_other,
            "], ",
            $own,
            ";\n",
            "W:\nld.$2.u32 %a, [%m+",
            $waits,
            "];\nsetp.ne.u32 %p, %a, 0;\n@%p bra W;\n",
            "E:\nld.u32 %b, [%m+128];\nadd.u32 %b, %b, 1;\nst.u32 [%m+128], %b;\n",
            "ld.acquire.gpu.u32 %a, [%m+",
            $next,
            "];\nsetp.ne.u32 %p, %a, 0;\n@%p bra H;\n",
            "atom.$3.cas.b32 %a, [%m], ",
            $own,
            ", 0;\nsetp.eq.u32 %p, %a, ",
            $own,
            ";\n@%p bra D;\n",
            "N:\nld.acquire.gpu.u32 %a, [%m+",
            $next,
            "];\nsetp.eq.u32 %p, %a, 0;\n@%p bra N;\n",
            "H:\nst.$4.u32 [%m+",
            $other_waits,
            "], 0;\nD:\nadd.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 3;\n@%p bra L;\n"
        )
    };
}

/// Chase's and Lev's queue: the owner takes from the end, whose place is at 128, the other block from the front, whose place is at 0; the
/// items are from 256 on. Results are 1 for what the owner took, the items after them for what the other block took.
const DEQUE: [&str; 2] = [
    "st.u32 [%m+256], 42;\nst.u32 [%m+384], 43;\n$0\nst.relaxed.gpu.u32 [%m+128], 2;\nmov.u32 %n, 0;\nL:\nmov.u32 %b, 1;\nsub.u32 %b, %b, %n;\n\
     st.relaxed.gpu.u32 [%m+128], %b;\n$1\nld.relaxed.gpu.u32 %a, [%m];\nsetp.gt.s32 %p, %a, %b;\n@%p bra R;\nsetp.lt.s32 %p, %a, %b;\n@%p bra T;\n\
     add.u32 %c, %a, 1;\natom.relaxed.gpu.cas.b32 %e, [%m], %a, %c;\nsetp.ne.u32 %p, %e, %a;\n@%p bra R;\nmul.wide.u32 %w, %b, 4;\n\
     add.u64 %w, %m, %w;\nst.u32 [%w+1024], 1;\nR:\nadd.u32 %c, %b, 1;\nst.relaxed.gpu.u32 [%m+128], %c;\nret;\nT:\nmul.wide.u32 %w, %b, 4;\n\
     add.u64 %w, %m, %w;\nst.u32 [%w+1024], 1;\nadd.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 2;\n@%p bra L;\n",
    "mov.u32 %n, 0;\nL:\nld.acquire.gpu.u32 %a, [%m];\n$2\nld.$3.u32 %b, [%m+128];\nsetp.ge.s32 %p, %a, %b;\n@%p bra D;\n\
     mul.wide.u32 %w, %a, 128;\nadd.u64 %w, %m, %w;\nld.u32 %d, [%w+256];\nadd.u32 %c, %a, 1;\natom.relaxed.gpu.cas.b32 %e, [%m], %a, %c;\n\
     setp.ne.u32 %p, %e, %a;\n@%p bra D;\nmul.wide.u32 %w, %a, 4;\nadd.u64 %w, %m, %w;\nadd.u32 %d, %d, 1;\nst.u32 [%w+1032], %d;\n\
     D:\nadd.u32 %n, %n, 1;\nsetp.lt.u32 %p, %n, 4;\n@%p bra L;\n",
];

const FENCE: &str = "fence.acq_rel.gpu;";
const SC: &str = "fence.sc.gpu;";

pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "publication",
        blocks: &[
            "st.u32 [%m], 42;\nst.$0.u32 [%m+128], 1;\n",
            "W:\nld.$1.u32 %a, [%m+128];\nsetp.ne.u32 %p, %a, 1;\n@%p bra W;\n\
            ld.u32 %b, [%m];\nst.u32 [%m+1024], %b;\n",
        ],
        right: &["release.gpu", "acquire.gpu"],
        wrong: &[(0, "relaxed.gpu"), (1, "relaxed.gpu"), (0, "volatile"), (1, "volatile"), (0, "release.cta"), (1, "acquire.cta")],
        is_violated: |_, results| results[0] != 42,
    },
    Algorithm {
        name: "publication by volatile accesses",
        blocks: &[
            "st.volatile.u32 [%m], 42;\n$0\nst.volatile.u32 [%m+128], 1;\n",
            concat!(wait!("volatile", "128", "1"), "$1\nld.volatile.u32 %b, [%m];\nst.u32 [%m+1024], %b;\n"),
        ],
        right: &[FENCE, FENCE],
        wrong: &[
            (0, ""),
            (1, ""),
            (0, "fence.acq_rel.cta;"),
            (1, "fence.acq_rel.cta;"),
            (0, "fence.acquire.gpu;"),
            (1, "fence.release.gpu;"),
        ],
        is_violated: |_, results| results[0] != 42,
    },
    Algorithm {
        name: "publication with fences of one direction",
        blocks: &[
            "st.relaxed.gpu.u32 [%m], 42;\n$0\nst.relaxed.gpu.u32 [%m+128], 1;\n",
            concat!(wait!("relaxed.gpu", "128", "1"), "$1\nld.relaxed.gpu.u32 %b, [%m];\nst.u32 [%m+1024], %b;\n"),
        ],
        right: &["fence.release.gpu;", "fence.acquire.gpu;"],
        wrong: &[(0, "fence.acquire.gpu;"), (1, "fence.release.gpu;"), (0, "fence.release.cta;"), (1, "fence.acquire.cta;")],
        is_violated: |_, results| results[0] != 42,
    },
    Algorithm {
        name: "publication of a pointer (RCU)",
        blocks: &[
            "st.u32 [%m+256], 42;\nst.$0.u32 [%m], 256;\n",
            "W:\nld.$1.u32 %a, [%m];\nsetp.eq.u32 %p, %a, 0;\n@%p bra W;\n\
            cvt.u64.u32 %w, %a;\nadd.u64 %w, %m, %w;\nld.u32 %b, [%w];\nst.u32 [%m+1024], %b;\n",
        ],
        right: &["release.gpu", "acquire.gpu"],
        wrong: &[(0, "relaxed.gpu"), (1, "relaxed.gpu")],
        is_violated: |_, results| results[0] != 42,
    },
    Algorithm {
        name: "publication through another block (WRC)",
        blocks: &[
            "st.relaxed.gpu.u32 [%m], 42;\n",
            "W:\nld.relaxed.gpu.u32 %a, [%m];\nsetp.ne.u32 %p, %a, 42;\n@%p bra W;\n\
            st.$0.u32 [%m+128], 1;\n",
            "W:\nld.$1.u32 %a, [%m+128];\nsetp.ne.u32 %p, %a, 1;\n@%p bra W;\n\
            ld.u32 %b, [%m];\nst.u32 [%m+1024], %b;\n",
        ],
        right: &["release.gpu", "acquire.gpu"],
        wrong: &[(0, "relaxed.gpu"), (1, "relaxed.gpu")],
        is_violated: |_, results| results[0] != 42,
    },
    Algorithm {
        name: "seqlock",
        blocks: &[SEQLOCK_WRITER, SEQLOCK_READER],
        right: &[FENCE, "release.gpu", "acquire.gpu", FENCE],
        wrong: &[
            (0, ""),
            (1, "relaxed.gpu"),
            (2, "relaxed.gpu"),
            (3, ""),
            (0, "fence.acq_rel.cta;"),
            (1, "release.cta"),
            (2, "acquire.cta"),
            (3, "fence.acq_rel.cta;"),
        ],
        is_violated: |_, results| results[0] == 1,
    },
    Algorithm {
        name: "spin lock",
        blocks: &[LOCKED, LOCKED],
        right: &["acquire.gpu", "", "", "release.gpu"],
        wrong: &[(0, "relaxed.gpu"), (3, "relaxed.gpu"), (3, "release.cta")],
        is_violated: |words, _| words[32] != 6,
    },
    Algorithm {
        name: "spin lock with fences",
        blocks: &[LOCKED, LOCKED],
        right: &["relaxed.gpu", FENCE, FENCE, "relaxed.gpu"],
        wrong: &[(1, ""), (2, "")],
        is_violated: |words, _| words[32] != 6,
    },
    Algorithm {
        name: "ticket lock",
        blocks: &[TICKET, TICKET],
        right: &["acquire.gpu", "release.gpu"],
        wrong: &[(0, "relaxed.gpu"), (1, "relaxed.gpu")],
        is_violated: |words, _| words[32] != 6,
    },
    Algorithm {
        name: "MCS lock",
        blocks: &[mcs!("1", "256", "384", "512", "640"), mcs!("2", "512", "640", "256", "384")],
        right: &["acq_rel.gpu", "release.gpu", "acquire.gpu", "release.gpu", "release.gpu"],
        wrong: &[(2, "relaxed.gpu"), (3, "relaxed.gpu"), (4, "relaxed.gpu"), (2, "acquire.cta"), (4, "release.cta")],
        is_violated: |words, _| words[32] != 6,
    },
    Algorithm {
        name: "work-stealing deque",
        blocks: &DEQUE,
        right: &[FENCE, SC, SC, "acquire.gpu"],
        wrong: &[(0, ""), (1, ""), (1, FENCE), (2, ""), (2, FENCE), (3, "relaxed.gpu"), (1, "fence.sc.cta;")],
        is_violated: |_, results| {
            let is_twice = |item: usize| results[item] != 0 && results[2 + item] != 0;
            let is_other = |item: usize| results[2 + item] != 0 && results[2 + item] != 43 + item as u32;
            (0..2).any(|item| is_twice(item) || is_other(item))
        },
    },
    Algorithm {
        name: "Dekker",
        blocks: &DEKKER,
        right: &[SC, SC],
        wrong: &[(0, ""), (1, ""), (0, FENCE), (1, "fence.sc.cta;")],
        is_violated: |_, results| results[0] == 1 && results[1] == 1,
    },
    Algorithm {
        name: "publication in two steps (ISA2)",
        blocks: &[
            "st.relaxed.gpu.u32 [%m], 42;\nst.$0.u32 [%m+128], 1;\n",
            "W:\nld.$1.u32 %a, [%m+128];\nsetp.ne.u32 %p, %a, 1;\n@%p bra W;\nst.$2.u32 [%m+256], 1;\n",
            "W:\nld.$3.u32 %a, [%m+256];\nsetp.ne.u32 %p, %a, 1;\n@%p bra W;\nld.u32 %b, [%m];\nst.u32 [%m+1024], %b;\n",
        ],
        right: &["release.gpu", "acquire.gpu", "release.gpu", "acquire.gpu"],
        wrong: &[(0, "relaxed.gpu"), (1, "relaxed.gpu"), (2, "relaxed.gpu"), (3, "relaxed.gpu"), (2, "release.cta")],
        is_violated: |_, results| results[0] != 42,
    },
    Algorithm {
        name: "two readers of two writers (IRIW)",
        blocks: &[
            "st.relaxed.gpu.u32 [%m], 1;\n",
            "st.relaxed.gpu.u32 [%m+128], 1;\n",
            "ld.relaxed.gpu.u32 %a, [%m];\n$0\nld.relaxed.gpu.u32 %b, [%m+128];\nst.u32 [%m+1024], %a;\nst.u32 [%m+1028], %b;\n",
            "ld.relaxed.gpu.u32 %a, [%m+128];\n$1\nld.relaxed.gpu.u32 %b, [%m];\nst.u32 [%m+1032], %a;\nst.u32 [%m+1036], %b;\n",
        ],
        right: &[SC, SC],
        wrong: &[(0, ""), (1, FENCE)],
        is_violated: |_, results| results[..4] == [1, 0, 1, 0],
    },
    Algorithm {
        name: "a write after what was read (S)",
        blocks: &[
            "st.relaxed.gpu.u32 [%m], 2;\nst.$0.u32 [%m+128], 1;\n",
            "ld.$1.u32 %a, [%m+128];\nst.relaxed.gpu.u32 [%m], 1;\nst.u32 [%m+1024], %a;\n",
        ],
        right: &["release.gpu", "acquire.gpu"],
        wrong: &[(0, "relaxed.gpu"), (1, "relaxed.gpu")],
        is_violated: |words, results| results[0] == 1 && words[0] == 2,
    },
    Algorithm {
        name: "a write against a write and a read (R)",
        blocks: &[
            "st.relaxed.gpu.u32 [%m], 1;\n$0\nst.relaxed.gpu.u32 [%m+128], 1;\n",
            "st.relaxed.gpu.u32 [%m+128], 2;\n$1\nld.relaxed.gpu.u32 %a, [%m];\nadd.u32 %a, %a, 1;\nst.u32 [%m+1024], %a;\n",
        ],
        right: &[SC, SC],
        wrong: &[(0, FENCE), (1, FENCE)],
        is_violated: |words, results| results[0] == 1 && words[32] == 2,
    },
    Algorithm {
        name: "two writes each (2+2W)",
        blocks: &[
            "st.relaxed.gpu.u32 [%m], 1;\n$0\nst.relaxed.gpu.u32 [%m+128], 2;\n",
            "st.relaxed.gpu.u32 [%m+128], 1;\n$1\nst.relaxed.gpu.u32 [%m], 2;\n",
        ],
        right: &[SC, SC],
        wrong: &[(0, ""), (1, "")],
        is_violated: |words, _| words[0] == 1 && words[32] == 1,
    },
    Algorithm {
        name: "double-checked initialization",
        blocks: &[
            "L:\natom.acquire.gpu.cas.b32 %a, [%m+256], 0, 1;\nsetp.ne.u32 %p, %a, 0;\n@%p bra L;\nst.u32 [%m], 42;\n\
             st.$0.u32 [%m+128], 1;\nst.release.gpu.u32 [%m+256], 0;\n",
            "mov.u32 %b, 42;\nld.$1.u32 %a, [%m+128];\nsetp.eq.u32 %p, %a, 1;\n@%p ld.u32 %b, [%m];\nst.u32 [%m+1024], %b;\n",
        ],
        right: &["release.gpu", "acquire.gpu"],
        wrong: &[(0, "relaxed.gpu"), (1, "relaxed.gpu")],
        is_violated: |_, results| results[0] != 42,
    },
    Algorithm {
        name: "Peterson",
        blocks: &PETERSON,
        right: &[SC, SC],
        wrong: &[(1, ""), (1, FENCE)],
        is_violated: |_, results| results[0] == 1 && results[1] == 1,
    },
];

/// Algorithms that are run in every test.
const IN_EVERY_TEST: [&str; 1] = ["Dekker"];

/// Words of memory, and of results.
const WORDS: usize = 256;
const RESULTS: usize = 16;

pub fn module(algorithm: &Algorithm, links: &[&str]) -> String {
    let mut text = String::from(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 words)\n{\n.reg .b32 %a, %b, %c, %d, %e, %n, %x;\n\
         .reg .b64 %m, %w;\n.reg .pred %p;\nld.param.u64 %m, [words];\nmov.u32 %x, %ctaid.x;\n",
    );
    for number in 0..algorithm.blocks.len() {
        text += &format!("setp.eq.u32 %p, %x, {number};\n@%p bra B{number};\n");
    }
    for (number, body) in algorithm.blocks.iter().enumerate() {
        let body = links.iter().enumerate().fold((*body).to_string(), |body, (at, link)| body.replace(&format!("${at}"), link));
        text += &format!("B{number}:\n{{\n{body}}}\nret;\n");
    }
    text + "}\n"
}

/// What runs of a kernel leave in memory, each by its seed; none if it waits for ever.
struct Runs {
    program: Arc<Program>,
    blocks: u32,
    threads: u32,
}

impl Runs {
    fn new(text: &str, blocks: u32, threads: u32) -> Self {
        let (loaded, diagnostics) = ptxdbg::sema::load(&mut Sources::default(), "algorithm.ptx", text.to_string());
        let Some(program) = loaded else { panic!("{text}\n{diagnostics:#?}") };
        Self { program, blocks, threads }
    }

    fn left(&self, seed: u64, memory: MemoryModel) -> Option<Vec<u32>> {
        let mut device = Device::new(Arc::clone(&self.program));
        let words = device.allocate("words", ((WORDS + RESULTS) * 4) as u64, Some(0)).unwrap();
        let config = LaunchConfig {
            grid: [self.blocks, 1, 1],
            block: [self.threads, 1, 1],
            schedule: Schedule::Random,
            seed,
            memory,
            divergence: DivergencePolicy::Independent,
            ..one_warp(self.program.function("k").unwrap(), words)
        };
        let mut machine = Machine::new(device, config).unwrap();
        if machine.run(1 << 18, &mut NullObserver) != Step::Done {
            return None;
        }
        let mut bytes = vec![0; (WORDS + RESULTS) * 4];
        machine.device().read(words, &mut bytes).unwrap();
        Some(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }
}

/// The seeds of runs that leave what cannot be.
fn violations(algorithm: &Algorithm, links: &[&str], memory: impl Fn(u64) -> MemoryModel, runs: u64) -> impl Iterator<Item = u64> {
    let (all, is_violated) = (Runs::new(&module(algorithm, links), algorithm.blocks.len() as u32, 1), algorithm.is_violated);
    // What waits forever has lost a write that it waits for.
    let is_wrong = move |seed: &u64| all.left(*seed, memory(*seed)).is_none_or(|left| is_violated(&left[..WORDS], &left[WORDS..]));
    (0..runs).filter(is_wrong)
}

/// All lanes of a warp try to take a lock, which one of them gets, and another lane raises a flag: `$0` is the store of the flag.
const LOCK_AND_FLAG: &str = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 memory) {\n.reg .pred %p;\n\
    .reg .b32 %a, %b, %t;\n.reg .b64 %m;\nld.param.u64 %m, [memory];\nmov.u32 %b, %ctaid.x;\nmov.u32 %t, %tid.x;\n\
    setp.ne.u32 %p, %b, 0;\n@%p bra READER;\nfence.acq_rel.gpu;\natom.relaxed.gpu.global.cas.b32 %a, [%m], 0, 1;\n\
    setp.ne.u32 %p, %t, 5;\n@%p bra DONE;\nst.$0.global.u32 [%m+128], 1;\nbra DONE;\n\
    READER:\nsetp.ne.u32 %p, %t, 0;\n@%p bra DONE;\n\
    WAIT:\nld.acquire.gpu.global.u32 %a, [%m+128];\nsetp.eq.u32 %p, %a, 0;\n@%p bra WAIT;\n\
    ld.relaxed.gpu.global.u32 %a, [%m];\nst.global.u32 [%m+256], %a;\nDONE:\nret;\n}\n";

#[test]
fn what_a_lane_leaves_as_it_finds_it_is_a_write_of_that_lane_too() {
    let locked = |flag: &str| {
        let runs = Runs::new(&LOCK_AND_FLAG.replace("$0", flag), 2, 32);
        (0..400).map(|seed| runs.left(seed, MemoryModel::Weak(seed)).unwrap()[256 / 4]).collect::<Vec<u32>>()
    };
    // A reader that has acquired what the lane has released knows the lock as the lane has found it.
    assert!(locked("release.gpu").iter().all(|lock| *lock == 1));
    assert!(locked("relaxed.gpu").contains(&0));
}

/// All lanes of block 0 write one word, and the first one publishes that.
const LANES_OF_ONE_WORD: &str = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 words) {\n.reg .pred %p, %q;\n\
    .reg .b32 %a, %b, %t;\n.reg .b64 %m;\nld.param.u64 %m, [words];\nmov.u32 %b, %ctaid.x;\nmov.u32 %t, %tid.x;\n\
    setp.ne.u32 %q, %t, 0;\nsetp.eq.u32 %p, %b, 1;\n@%p bra READER;\nst.relaxed.gpu.global.u32 [%m], 42;\n@%q bra DONE;\n\
    st.$0.global.u32 [%m+128], 1;\nbra DONE;\nREADER:\n@%q bra DONE;\n\
    WAIT:\nld.acquire.gpu.global.u32 %a, [%m+128];\nsetp.eq.u32 %p, %a, 0;\n@%p bra WAIT;\n\
    ld.relaxed.gpu.global.u32 %a, [%m];\nst.global.u32 [%m+256], %a;\nDONE:\nret;\n}\n";

#[test]
fn what_each_lane_writes_to_one_word_is_a_write_of_that_lane() {
    let published = |flag: &str, lanes: u32| {
        let runs = Runs::new(&LANES_OF_ONE_WORD.replace("$0", flag), 2, lanes);
        (0..200).map(|seed| runs.left(seed, MemoryModel::Weak(seed)).unwrap()[256 / 4]).collect::<Vec<u32>>()
    };
    for lanes in [1, 2, 32] {
        assert!(published("release.gpu", lanes).iter().all(|word| *word == 42), "{lanes} lanes");
        assert!(published("relaxed.gpu", lanes).contains(&0), "{lanes} lanes");
    }
}

/// Runs of a wrong algorithm for each of the right one.
const WRONG_RUNS: u64 = 100;

#[test]
fn algorithms_go_wrong_on_weak_memory_when_a_link_is_missing() {
    let runs = std::env::var("PTXDBG_LITMUS_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(200);
    // All of them with `PTXDBG_LITMUS_RUNS`, which takes minutes.
    let is_sweep = std::env::var_os("PTXDBG_LITMUS_RUNS").is_some();
    let mut problems = Vec::new();
    for algorithm in ALGORITHMS.iter().filter(|algorithm| is_sweep || IN_EVERY_TEST.contains(&algorithm.name)) {
        let right = violations(algorithm, algorithm.right, MemoryModel::Weak, runs).count();
        if right > 0 {
            problems.push(format!("{}: {right} of {runs} runs are wrong with all links", algorithm.name));
        }
        for (place, link) in algorithm.wrong {
            let mut links = algorithm.right.to_vec();
            links[*place] = link;
            if violations(algorithm, &links, |_| MemoryModel::SequentiallyConsistent, 20).next().is_some() {
                problems.push(format!("{}, ${place} = '{link}': wrong in a sequentially consistent run", algorithm.name));
            }
            // A rare one takes more runs than the right algorithm gets.
            let most = WRONG_RUNS * runs;
            if violations(algorithm, &links, MemoryModel::Weak, most).next().is_none() {
                problems.push(format!("{}, ${place} = '{link}': no run of {most} is wrong", algorithm.name));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// What `explore` finds in an algorithm on weak memory, by the words of the findings.
fn explored(algorithm: &Algorithm, links: &[&str], folder: &Path) -> String {
    explored_text(algorithm, &module(algorithm, links), folder)
}

/// What `explore` finds in the text of an algorithm on weak memory, by the words of the findings.
pub fn explored_text(algorithm: &Algorithm, text: &str, folder: &Path) -> String {
    let file = folder.join("algorithm.ptx");
    std::fs::write(&file, text).unwrap();
    let (grid, words) = (algorithm.blocks.len().to_string(), format!("u32[{}]=zero", WORDS + RESULTS));
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg"))
        .args([file.as_os_str()])
        .args(["--grid", &grid, "--block", "1", "-a", &words, "--checks", "none", "--batch", "-e", "explore 60 --memory weak"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("60 orders"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// Every block takes a ticket, so hardly any two orders leave the same. Block 1 hangs if it reads the data too early.
const HANGS: &str = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 memory) {\n.reg .pred %p;\n\
    .reg .b32 %a, %b, %n;\n.reg .b64 %m, %w;\nld.param.u64 %m, [memory];\nmov.u32 %b, %ctaid.x;\n\
    atom.relaxed.gpu.global.add.u32 %n, [%m], 1;\nmul.wide.u32 %w, %n, 4;\nadd.u64 %w, %m, %w;\nst.relaxed.gpu.global.u32 [%w+4], %b;\n\
    setp.ne.u32 %p, %b, 0;\n@%p bra READER;\nst.relaxed.gpu.global.u32 [%m+128], 42;\nst.relaxed.gpu.global.u32 [%m+256], 1;\n\
    READER:\nsetp.ne.u32 %p, %b, 1;\n@%p bra DONE;\n\
    WAIT:\nld.relaxed.gpu.global.u32 %a, [%m+256];\nsetp.eq.u32 %p, %a, 0;\n@%p bra WAIT;\n\
    ld.relaxed.gpu.global.u32 %a, [%m+128];\nsetp.eq.u32 %p, %a, 42;\n@%p bra DONE;\n\
    FOREVER:\nld.relaxed.gpu.global.u32 %a, [%m+384];\nsetp.eq.u32 %p, %a, 0;\n@%p bra FOREVER;\nDONE:\nret;\n}\n";

#[test]
fn a_hang_on_weak_memory_is_reported_though_every_order_leaves_a_result_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hangs.ptx");
    std::fs::write(&file, HANGS).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_ptxdbg"))
        .args([file.as_os_str()])
        .args(["--grid", "8", "--block", "1", "-a", "u32[97]=zero", "--checks", "none", "--batch", "-e", "explore 30 --memory weak"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("30 orders lead to 30 different outcomes"), "{text}");
    assert!(text.contains("livelock:") && text.contains("memory.stale_undecided:"), "{text}");
}

#[test]
fn a_stale_result_is_an_error_where_no_consistent_order_has_it() {
    let is_sweep = std::env::var_os("PTXDBG_LITMUS_RUNS").is_some();
    let folder = std::env::temp_dir().join(format!("ptxdbg-pairs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (mut problems, mut found, mut undecided, mut missed) = (Vec::new(), 0, 0, Vec::new());
    for algorithm in ALGORITHMS.iter().filter(|algorithm| is_sweep || ["publication", "Dekker"].contains(&algorithm.name)) {
        let text = explored(algorithm, algorithm.right, &folder);
        if text.contains("memory.stale:") {
            problems.push(format!("{}: found with all links\n{text}", algorithm.name));
        }
        for (place, link) in algorithm.wrong {
            let mut links = algorithm.right.to_vec();
            links[*place] = link;
            let text = explored(algorithm, &links, &folder);
            if text.contains("memory.stale:") {
                found += 1;
            } else if text.contains("memory.stale_undecided:") {
                undecided += 1;
            } else {
                missed.push(format!("{}, ${place} = '{link}'", algorithm.name));
            }
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(found > missed.len() + undecided, "{found} found, {undecided} not decided, missed: {missed:#?}");
}
