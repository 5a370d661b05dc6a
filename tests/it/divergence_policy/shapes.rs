//! Where lanes meet, compared with what the vendor's assembler noted for the same shapes of control flow
//! (`fixtures/divergence/pushed_targets.txt`), and which lanes run each block, compared with what its code does with the hardware's stack.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use ptxdbg::base::Sources;
use ptxdbg::cfg::{BlockId, ControlFlow, pushed_targets};
use ptxdbg::debug::DivergencePolicy;
use ptxdbg::machine::{Device, Event, EventKind, EventMask, LaneMask, LaunchConfig, Machine, Observer, Step};
use ptxdbg::program::{FuncId, Program};
use ptxdbg::sema;

/// Lanes of the warp that runs.
const LANES: u32 = 8;

/// What the fixture says of one shape.
#[derive(Default)]
struct Shape {
    name: String,
    /// Blocks and their operations.
    blocks: Vec<(String, Vec<String>)>,
    /// By block: what is noted, one or several ways.
    meets: BTreeMap<String, String>,
    /// By block: the masks with which it runs.
    runs: BTreeMap<String, String>,
    /// Why it is not modelled.
    unlike: Option<String>,
}

fn shapes() -> Vec<Shape> {
    let text = std::fs::read_to_string(crate::common::fixtures().join("divergence/meetings.txt")).unwrap();
    let mut shapes: Vec<Shape> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some(fact) = line.strip_prefix("    ") else {
            let (name, blocks) = line.split_once(": ").unwrap();
            let blocks = blocks.split('|').map(|block| {
                let mut words = block.split_whitespace().map(str::to_string);
                (words.next().unwrap(), words.collect())
            });
            shapes.push(Shape { name: name.to_string(), blocks: blocks.collect(), ..Shape::default() });
            continue;
        };
        let shape = shapes.last_mut().unwrap();
        if let Some(reason) = fact.strip_prefix("unlike: ") {
            shape.unlike = Some(reason.to_string());
        } else if let Some(runs) = fact.strip_prefix("runs ") {
            let runs = runs.split(", ").map(|run| run.split_once(' ').unwrap());
            shape.runs = runs.map(|(block, masks)| (block.to_string(), masks.to_string())).collect();
        } else {
            let (block, places) = fact.split_once(" meets ").unwrap();
            shape.meets.insert(block.to_string(), places.to_string());
        }
    }
    shapes
}

/// The kernel of a shape. Each block counts itself and works out its number before its operations.
fn ptx(shape: &Shape) -> String {
    let mut body = String::new();
    for (index, (block, operations)) in shape.blocks.iter().enumerate() {
        let _ = write!(
            body,
            "{block}: add.u32 %n, %n, 1; mad.lo.u32 %x, %n, 104729, %seed; mul.lo.u32 %x, %x, 2654435761; shr.u32 %y, %x, 15;
xor.b32 %x, %x, %y; mul.lo.u32 %x, %x, 2246822519; shr.u32 %x, %x, 16; and.b32 %y, %x, 1; setp.ne.u32 %p, %y, 0;\n"
        );
        for operation in operations {
            let _ = match (operation.split_at(1), operation.as_str()) {
                (_, ".") => writeln!(body, "ret;"),
                // A barrier that only some lanes come to is a deadlock here; those machines count the warp.
                (_, "b") => writeln!(body, "membar.cta;"),
                (_, "c") => writeln!(body, "call f;"),
                (("?", "."), _) => writeln!(body, "@%p ret;"),
                (("?", "X"), _) => writeln!(body, "@%p exit;"),
                (("?", to), _) => writeln!(body, "@%p bra {to};"),
                (("!", to), _) => writeln!(body, "@%p bra.uni {to};"),
                ((">", to), _) => writeln!(body, "bra {to};"),
                (("*", to), _) => {
                    let last = to.split(',').count() - 1;
                    let table = format!("T{index}: .branchtargets {};", to.replace(',', ", "));
                    writeln!(body, "and.b32 %y, %x, 3; min.u32 %y, %y, {last}; {table} brx.idx %y, T{index};")
                }
                _ => panic!("{}: what is {operation}?", shape.name),
            };
        }
    }
    format!(
        ".version 7.8\n.target sm_52\n.address_size 64\n.func f {{ ret; }}\n.entry k() {{\n.reg .pred %p; .reg .b32 %n, %x, %y, %seed;
mov.u32 %seed, %tid.x; mad.lo.u32 %seed, %seed, 7919, 12345; mov.u32 %n, 0;\n{body}ret;\n}}\n"
    )
}

fn load(shape: &Shape) -> (Arc<Program>, FuncId) {
    let (program, diags) = sema::load(&mut Sources::default(), &shape.name, ptx(shape));
    let program = program.unwrap_or_else(|| panic!("{}: {diags:?}", shape.name));
    let kernel = (0..program.functions.len()).map(FuncId::new).find(|id| program.functions[id.index()].is_kernel).unwrap();
    (program, kernel)
}

/// The labels of the shape's blocks, and where they are.
fn labels(program: &Program, kernel: FuncId, shape: &Shape) -> BTreeMap<u32, String> {
    let labels = program.functions[kernel.index()].labels.iter().map(|(label, pc)| (pc.0, label.to_string()));
    labels.filter(|(_, label)| shape.blocks.iter().any(|(block, _)| block == label)).collect()
}

/// What is noted at the end of each block, without repetition.
fn noted(program: &Program, kernel: FuncId, shape: &Shape) -> BTreeMap<String, String> {
    let flow = ControlFlow::new(program, kernel);
    let labels = labels(program, kernel, shape);
    let name = |pc: u32| labels.range(..=pc).next_back().map(|(_, label)| label.clone());
    let mut found = BTreeMap::new();
    for (block, places) in pushed_targets(program, kernel).into_iter().enumerate() {
        let block = BlockId::new(block);
        let code = flow.code(block);
        let branches = flow.successors(block).len() > 1 || program.code[code.end as usize - 1].guard.is_some();
        if let Some(label) = name(code.end - 1).filter(|_| branches) {
            let mut names: Vec<String> = places.into_iter().filter_map(|place| name(flow.code(place).start)).collect();
            names.dedup();
            found.insert(label, if names.is_empty() { "-".to_string() } else { names.join(" ") });
        }
    }
    found
}

/// Notes the lanes for which each block is run, and the blocks that each lane runs.
struct Runs {
    labels: BTreeMap<u32, String>,
    found: BTreeMap<String, Vec<LaneMask>>,
    ways: Vec<Vec<u32>>,
}

impl Observer for Runs {
    fn mask(&self) -> EventMask {
        EventMask::of(&[EventKind::Before])
    }

    fn event(&mut self, event: &Event<'_>) -> bool {
        let Event::Before(issue, ..) = event else { return false };
        if let Some(label) = self.labels.get(&issue.point.pc.0) {
            self.found.entry(label.clone()).or_default().push(issue.lanes);
            issue.lanes.iter().for_each(|lane| self.ways[lane].push(issue.point.pc.0));
        }
        false
    }
}

/// Runs the shape.
fn run(program: &Arc<Program>, kernel: FuncId, shape: &Shape, divergence: DivergencePolicy) -> Runs {
    let labels = labels(program, kernel, shape);
    let mut runs = Runs { labels, found: BTreeMap::new(), ways: vec![Vec::new(); LANES as usize] };
    let one = crate::look::one_warp::one_warp(kernel, 0);
    let config = LaunchConfig { block: [LANES, 1, 1], params: Vec::new(), divergence, ..one };
    let mut machine = Machine::new(Device::new(program.clone()), config).unwrap();
    assert_eq!(machine.run(100_000, &mut runs), Step::Done, "{}", shape.name);
    runs
}

/// The masks with which each block runs.
fn masks(runs: Runs) -> BTreeMap<String, String> {
    let text = |mut masks: Vec<LaneMask>| {
        masks.sort_unstable_by_key(|mask| std::cmp::Reverse(*mask));
        masks.iter().map(|mask| format!("{mask:02x}")).collect::<Vec<_>>().join(" ")
    };
    runs.found.into_iter().map(|(block, masks)| (block, text(masks))).collect()
}

/// Every lane goes its way under both policies.
#[test]
fn lanes_go_the_same_ways_under_both_policies() {
    for shape in shapes() {
        let (program, kernel) = load(&shape);
        let [stack, independent] =
            [DivergencePolicy::Stack, DivergencePolicy::Independent].map(|policy| run(&program, kernel, &shape, policy).ways);
        assert!(stack.iter().all(|way| !way.is_empty()), "{}", shape.name);
        assert_eq!(stack, independent, "{}", shape.name);
    }
}

/// Lanes meet where the assembler makes them meet, and each block runs for the lanes for which the hardware runs it.
#[test]
fn lanes_meet_where_the_assembler_has_them_meet() {
    let (mut wrong, shapes) = (String::new(), shapes());
    assert!(shapes.len() > 400);
    for shape in &shapes {
        let (program, kernel) = load(shape);
        let mut noted = noted(&program, kernel, shape);
        noted.retain(|block, _| shape.meets.contains_key(block));
        let found = masks(run(&program, kernel, shape, DivergencePolicy::Stack));
        match (&shape.unlike, noted == shape.meets, found == shape.runs) {
            (None, true, true) | (Some(_), false, _) => {}
            (Some(reason), true, _) => drop(writeln!(wrong, "{} is like the assembler's, though {reason}", shape.name)),
            (None, false, _) => drop(writeln!(wrong, "{}: meets {noted:?}, not {:?}", shape.name, shape.meets)),
            (None, true, false) => drop(writeln!(wrong, "{}: runs {found:?}, not {:?}", shape.name, shape.runs)),
        }
    }
    assert!(wrong.is_empty(), "{} shapes\n{wrong}", wrong.lines().count());
}
