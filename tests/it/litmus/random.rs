//! Random programs of the shapes that synchronization is made of.

use super::program::{Op, Program, Scope, Semantics, Thread};

/// The name of a shape, and the operations of each thread.
type Shape = (&'static str, Vec<Vec<Op>>);

/// Draws programs from random numbers.
pub struct Draw<I> {
    numbers: I,
    /// Whether the next program has few weak operations and narrow scopes.
    is_careful: bool,
}

impl<I: Iterator<Item = u64>> Draw<I> {
    pub fn new(numbers: I) -> Self {
        Self { numbers, is_careful: false }
    }

    fn below(&mut self, count: usize) -> usize {
        (self.numbers.next().unwrap_or(0) >> 33) as usize % count
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn scope(&mut self) -> Scope {
        if self.is_careful && self.below(4) != 0 { Scope::Gpu } else { self.one(&[Scope::Cta, Scope::Gpu, Scope::Gpu]) }
    }

    fn read(&mut self) -> Semantics {
        let scope = self.scope();
        let weak = if self.is_careful { Semantics::Relaxed(scope) } else { Semantics::Weak };
        self.one(&[weak, Semantics::Relaxed(scope), Semantics::Relaxed(scope), Semantics::Acquire(scope)])
    }

    fn write(&mut self) -> Semantics {
        let scope = self.scope();
        let weak = if self.is_careful { Semantics::Relaxed(scope) } else { Semantics::Weak };
        self.one(&[weak, Semantics::Relaxed(scope), Semantics::Relaxed(scope), Semantics::Release(scope)])
    }

    fn atomic(&mut self) -> Semantics {
        let scope = self.scope();
        let all = [
            Semantics::Relaxed(scope),
            Semantics::Relaxed(scope),
            Semantics::Acquire(scope),
            Semantics::Release(scope),
            Semantics::AcqRel(scope),
        ];
        self.one(&all)
    }

    /// A fence, or nothing.
    fn fence(&mut self) -> Vec<Op> {
        let (scope, sc) = (self.scope(), self.below(2) == 0);
        if self.below(5) < 2 && !(self.is_careful && self.below(5) != 0) { Vec::new() } else { vec![Op::Fence { sc, scope }] }
    }

    fn load(&mut self, at: usize) -> Op {
        match self.below(6) {
            0 => Op::Add(at, self.atomic(), 0),
            _ => Op::Load(at, self.read()),
        }
    }

    fn store(&mut self, at: usize, value: u32) -> Op {
        match self.below(6) {
            0 => Op::Add(at, self.atomic(), value),
            1 => {
                let scope = self.scope();
                let how = self.one(&[Semantics::Relaxed(scope), Semantics::Release(scope)]);
                Op::Reduce(at, how, value)
            }
            _ => Op::Store(at, self.write(), value),
        }
    }

    /// A plain access of the data.
    fn plain(&mut self, value: u32) -> Op {
        if self.below(3) == 0 { Op::Store(DATA, Semantics::Weak, value) } else { Op::Load(DATA, Semantics::Weak) }
    }

    fn blocks(&mut self, threads: usize) -> Vec<usize> {
        // Blocks are numbered as they come.
        let mut blocks = vec![0];
        while blocks.len() < threads {
            let next = blocks.iter().max().map_or(0, |last| last + 1);
            let all: Vec<usize> = (0..=next).collect();
            blocks.push(self.one(&all));
        }
        blocks
    }

    /// The program with a number.
    pub fn program(&mut self, number: usize) -> Program {
        let shapes: [fn(&mut Self) -> Shape; 8] =
            [Self::message, Self::two_steps, Self::chain, Self::ticket, Self::reset, Self::barrier, Self::buffering, Self::any];
        self.is_careful = self.below(3) != 0;
        let (shape, ops) = shapes[number % shapes.len()](self);
        let mut blocks = self.blocks(ops.len());
        if shape == "barrier" {
            blocks = vec![0, 0, 1];
        }
        let threads = blocks.into_iter().zip(ops).map(|(block, ops)| Thread { block, ops }).collect();
        Program { name: format!("{shape}_{number}"), threads }
    }

    fn message(&mut self) -> Shape {
        let first = [vec![Op::Store(DATA, Semantics::Weak, 1)], self.fence(), vec![self.store(FLAG, 1)]].concat();
        let second = [vec![self.load(FLAG), Op::Unless(1)], self.fence(), vec![self.plain(2)]].concat();
        ("message", vec![first, second])
    }

    fn two_steps(&mut self) -> Shape {
        let first = [vec![Op::Store(DATA, Semantics::Weak, 1)], self.fence(), vec![self.store(FLAG, 1)]].concat();
        let second = [vec![self.load(FLAG), Op::Unless(1)], self.fence(), vec![self.store(OTHER, 1)]].concat();
        let third = [vec![self.load(OTHER), Op::Unless(1)], self.fence(), vec![self.plain(2)]].concat();
        ("two_steps", vec![first, second, third])
    }

    fn chain(&mut self) -> Shape {
        let first = [vec![Op::Store(DATA, Semantics::Weak, 1)], self.fence(), vec![self.store(FLAG, 1)]].concat();
        let (how, other) = (self.atomic(), self.one(&[true, false]));
        let second = if other { vec![Op::Add(FLAG, how, 2)] } else { [self.fence(), vec![Op::Add(FLAG, how, 2)]].concat() };
        let third = [vec![self.load(FLAG), Op::Unless(3)], self.fence(), vec![self.plain(2)]].concat();
        ("chain", vec![first, second, third])
    }

    fn ticket(&mut self) -> Shape {
        let last = 1 + self.below(2) as u32;
        let threads = (0..=last).map(|number| {
            let before = if number == 0 { vec![Op::Store(DATA, Semantics::Weak, 1)] } else { Vec::new() };
            let draw = [before, self.fence(), vec![Op::Add(FLAG, self.atomic(), 1), Op::Unless(last)]].concat();
            let reset = Op::Store(FLAG, self.one(&[Semantics::Weak, Semantics::Weak, Semantics::Relaxed(Scope::Gpu)]), 0);
            if number == 0 { [draw, vec![reset]].concat() } else { [draw, self.fence(), vec![reset, self.plain(2)]].concat() }
        });
        ("ticket", threads.collect())
    }

    fn reset(&mut self) -> Shape {
        let first = [self.fence(), vec![self.store(FLAG, 1)]].concat();
        let middle = if self.below(2) == 0 { vec![self.load(FLAG)] } else { Vec::new() };
        let how = self.one(&[Semantics::Weak, Semantics::Weak, Semantics::Relaxed(Scope::Cta)]);
        let access = if self.below(4) == 0 { Op::Load(FLAG, how) } else { Op::Store(FLAG, how, 5) };
        let second = [vec![self.load(FLAG), Op::Unless(1)], middle, vec![access]].concat();
        let third = match self.below(3) {
            0 => Vec::new(),
            1 => vec![self.load(FLAG)],
            _ => vec![self.store(FLAG, 2)],
        };
        ("reset", vec![first, second, third])
    }

    fn barrier(&mut self) -> Shape {
        let first = [vec![Op::Store(DATA, Semantics::Weak, 1)], self.fence(), vec![Op::Barrier]].concat();
        let second = [vec![Op::Barrier], self.fence(), vec![self.store(FLAG, 1)]].concat();
        let third = [vec![self.load(FLAG), Op::Unless(1)], self.fence(), vec![self.plain(2)]].concat();
        ("barrier", vec![first, second, third])
    }

    fn buffering(&mut self) -> Shape {
        let before = if self.below(2) == 0 { vec![Op::Store(DATA, Semantics::Weak, 1)] } else { Vec::new() };
        let first = [before, vec![self.store(FLAG, 1)], self.fence(), vec![self.load(OTHER), Op::Unless(0), self.plain(1)]].concat();
        let second = [vec![self.store(OTHER, 1)], self.fence(), vec![self.load(FLAG), Op::Unless(0), self.plain(2)]].concat();
        ("buffering", vec![first, second])
    }

    fn any(&mut self) -> Shape {
        let threads = (0..2 + self.below(2)).map(|_| {
            let mut ops = Vec::new();
            for _ in 0..2 + self.below(2) {
                let (at, value) = (self.below(2), 1 + self.below(2) as u32);
                match self.below(5) {
                    0 => ops.extend(self.fence()),
                    1 | 2 => ops.push(self.store(at, value)),
                    3 => ops.push(self.load(at)),
                    _ => ops.extend([self.load(at), Op::Unless(value)]),
                }
            }
            ops
        });
        ("any", threads.collect())
    }
}

/// The location of the data, and those of flags.
const DATA: usize = 0;
const FLAG: usize = 1;
const OTHER: usize = 2;
