//! The data and the launch files of the six kernels of `k.cu`.

use std::path::{Path, PathBuf};

/// Their names.
pub const NAMES: [&str; 6] = ["saxpy", "sgemm", "reduce", "histogram", "nbody", "collatz"];

const MANY: usize = 1 << 20;
const SIDE: usize = 256;
const BODIES: usize = 2048;
const STARTS: usize = 65536;

/// A generator of numbers, the one of `loops.c`.
struct Words(u32);

impl Words {
    fn word(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0
    }

    fn float(&mut self) -> f32 {
        (self.word() >> 8) as f32 / 16_777_216.0
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }
}

/// Writes the modules and what the kernels read and must leave to a folder, which it returns.
pub fn write() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("six");
    std::fs::create_dir_all(&folder).unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/six");
    for module in ["k_n11_35.ptx", "k_n13_75.ptx", "k_n13_90.ptx"] {
        std::fs::copy(from.join(module), folder.join(module)).unwrap();
    }
    let save = |name: &str, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(folder.join(name), bytes).unwrap();
    };
    let bits = |floats: &[f32]| floats.iter().map(|float| float.to_bits()).collect::<Vec<u32>>();
    let many = Words(12345).floats(MANY);
    save("many", &bits(&many));
    let y = Words(54321).floats(MANY);
    save("y", &bits(&y));
    save("saxpy", &bits(&many.iter().zip(&y).map(|(x, y)| 2.5_f32.mul_add(*x, *y)).collect::<Vec<_>>()));
    save("a", &bits(&many[..SIDE * SIDE]));
    save("b", &bits(&y[..SIDE * SIDE]));
    save("sgemm", &bits(&product(&many, &y)));
    save("reduce", &bits(&sums(&many)));
    let mut words = Words(12345);
    let keys: Vec<u32> = (0..MANY).map(|_| words.word().min(words.word())).collect();
    save("keys", &keys);
    let mut bins = vec![0; 256];
    keys.iter().for_each(|key| bins[(key >> 24) as usize] += 1);
    save("histogram", &bins);
    save("bodies", &bits(&many[..4 * BODIES]));
    save("nbody", &bits(&pulls(&many[..4 * BODIES])));
    save("collatz", &(0..STARTS as u32).map(|start| steps(start + 1)).collect::<Vec<u32>>());
    folder
}

/// The launch file of a kernel of a module, in the folder of [`write`].
pub fn launch(folder: &Path, kernel: usize, module: &str) -> String {
    let buffer =
        |name: &str, element: &str, count: usize, more: String| format!("Buffer(name: \"{name}\", elem: {element}, len: {count}{more})");
    let given = |file: &str| format!(", init: File(\"{file}\")");
    let left = |file: &str, tolerance: &str| format!(", expect: File(\"{file}\"), tolerance: AbsOrRel({tolerance}, {tolerance})");
    let zero = || ", init: Zero".to_string();
    let exact = |file: &str| zero() + &format!(", expect: File(\"{file}\")");
    let (grid, block, params) = match NAMES[kernel] {
        "saxpy" => {
            let y = given("y") + &left("saxpy", "1e-4");
            let params = format!("{}, {}", buffer("x", "F32", MANY, given("many")), buffer("y", "F32", MANY, y));
            ("(4096, 1, 1)", "(256, 1, 1)", format!("S32({MANY}), F32(2.5), {params}"))
        }
        "sgemm" => {
            let count = SIDE * SIDE;
            let [a, b] = ["a", "b"].map(|name| buffer(name, "F32", count, given(name)));
            ("(16, 16, 1)", "(16, 16, 1)", format!("S32({SIDE}), {a}, {b}, {}", buffer("c", "F32", count, zero() + &left("sgemm", "1e-4"))))
        }
        "reduce" => {
            let input = buffer("in", "F32", MANY, given("many"));
            ("(256, 1, 1)", "(256, 1, 1)", format!("S32({MANY}), {input}, {}", buffer("out", "F32", 256, zero() + &left("reduce", "1e-4"))))
        }
        "histogram" => {
            let input = buffer("in", "U32", MANY, given("keys"));
            ("(64, 1, 1)", "(256, 1, 1)", format!("S32({MANY}), {input}, {}", buffer("bins", "U32", 256, exact("histogram"))))
        }
        "nbody" => {
            let bodies = buffer("pos", "F32", 4 * BODIES, given("bodies"));
            let acc = buffer("acc", "F32", 4 * BODIES, zero() + &left("nbody", "1e-3"));
            ("(8, 1, 1)", "(256, 1, 1)", format!("S32({BODIES}), {bodies}, {acc}, F32(0.05), S32(64)"))
        }
        _ => ("(256, 1, 1)", "(256, 1, 1)", format!("S32({STARTS}), {}", buffer("steps", "U32", STARTS, exact("collatz")))),
    };
    let path = folder.join(format!("{}.{module}.ron", NAMES[kernel]));
    let name = NAMES[kernel];
    let text = format!("Launch(module: \"{module}\", kernel: \"{name}\", grid: {grid}, block: {block}, params: [{params}])\n");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

fn product(a: &[f32], b: &[f32]) -> Vec<f32> {
    let element = |at: usize| (0..SIDE).fold(0.0_f32, |sum, k| a[at / SIDE * SIDE + k].mul_add(b[k * SIDE + at % SIDE], sum));
    (0..SIDE * SIDE).map(element).collect()
}

/// The sum of each block, in the order in which its threads add.
fn sums(values: &[f32]) -> Vec<f32> {
    let of_block = |block: usize| {
        let mut sums: Vec<f32> = (0..256).map(|t| values.iter().skip(block * 256 + t).step_by(65536).fold(0.0, |sum, v| sum + v)).collect();
        for distance in [128, 64, 32, 16, 8, 4, 2, 1] {
            for t in 0..distance {
                sums[t] += sums[t + distance];
            }
        }
        sums[0]
    };
    (0..256).map(of_block).collect()
}

/// What each body is pulled with, and by how many.
fn pulls(bodies: &[f32]) -> Vec<f32> {
    let mut all = Vec::new();
    for body in bodies.chunks(4) {
        let (mut pull, mut near) = ([0.0_f32; 3], 0);
        for other in bodies.chunks(4) {
            let d: [f32; 3] = std::array::from_fn(|axis| other[axis] - body[axis]);
            let square = d[2].mul_add(d[2], d[0].mul_add(d[0], d[1] * d[1])) + 0.0001;
            if square > 0.05 {
                continue;
            }
            let inverse = 1.0 / square.sqrt();
            let force = other[3] * inverse * inverse * inverse;
            pull.iter_mut().zip(d).for_each(|(pull, d)| *pull = d.mul_add(force, *pull));
            near += 1;
            if near >= 64 {
                break;
            }
        }
        all.extend(pull.into_iter().chain([near as f32]));
    }
    all
}

fn steps(start: u32) -> u32 {
    let (mut v, mut steps) = (start, 0);
    while v != 1 {
        v = if v % 2 == 1 { v.wrapping_mul(3).wrapping_add(1) } else { v / 2 };
        steps += 1;
    }
    steps
}
