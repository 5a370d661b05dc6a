//! Tensors of Triton's programs: layouts beside Triton's own conversion, tensors beside what kernels store that differ in that store alone.

#![expect(clippy::unwrap_used, reason = "a test that cannot read its fixture fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use ptxdbg::api::{Execution, Outcome, TensorElement, ValueText};
use ptxdbg::command::{CommandState, Context, execute};
use ptxdbg::debug::open::open;
use ptxdbg::debug::session::{NeverInterrupt, Session};
use ptxdbg::debug::value::Tensor;
use ptxdbg::debug::{LaunchChoice, Overrides, Request, RunOptions};
use ptxdbg::ttgir::{Encoding, LinearLayout};

use crate::common::{fixtures, session};

fn folder() -> PathBuf {
    fixtures().join("triton/tensors")
}

fn given(session: &mut Session, name: &str, line: u32, iteration: u64) -> Result<Tensor, String> {
    session.tensor_given(name, Execution { line: Some(line), block: [0, 0, 0], iteration }, &mut NeverInterrupt)
}

/// The shape and the elements of a `.npy` file, each with as many bits as the type has.
fn array(name: &str) -> (Vec<u64>, Vec<u128>) {
    let (_, shape, elements) = ptxdbg::debug::transfer::array(&folder().join(name), 1 << 20).unwrap();
    (shape, elements)
}

#[test]
fn layouts_are_those_of_triton() {
    let text = fs::read_to_string(folder().join("layouts.txt")).unwrap();
    let mut count = 0;
    for line in text.lines() {
        let [shape, layout, expected] = line.split("; ").collect::<Vec<_>>().try_into().unwrap();
        let shape: Vec<u64> = shape.split(',').map(|extent| extent.parse().unwrap()).collect();
        let encoding = Encoding::parse(layout, &BTreeMap::new()).unwrap();
        let LinearLayout { register, lane, warp, .. } = LinearLayout::new(&encoding, &shape).unwrap();
        assert_eq!(format!("{register:?} {lane:?} {warp:?}"), expected, "{layout} of {shape:?}");
        count += 1;
    }
    assert!(count >= 200, "{count} layouts");
}

#[test]
fn tensors_are_what_a_kernel_stores() {
    let text = fs::read_to_string(folder().join("expected.txt")).unwrap();
    for line in text.lines() {
        let [kernel, name, at, iteration, file] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        let mut session = session(&format!("triton/tensors/{kernel}.ron"), 0);
        let tensor = given(&mut session, name, at.parse().unwrap(), iteration.parse().unwrap()).unwrap();
        let (shape, expected) = array(file);
        let found: Vec<u128> = tensor.elements.iter().map(|element| element.bits().unwrap()).collect();
        assert_eq!(tensor.shape, shape, "{line}");
        assert!(found == expected, "{line}: {:?}, not {:?}", &found[..8], &expected[..8]);
    }
}

#[test]
fn what_a_load_leaves_out_is_marked() {
    let mut session = session("triton/tensors/add_kernel.ron", 0);
    let tensor = given(&mut session, "x", 9, 0).unwrap();
    let is_masked = |element: &TensorElement| matches!(element, TensorElement::Masked(_));
    assert_eq!(tensor.elements.iter().position(is_masked), Some(1000));
    assert!(tensor.elements[1000..].iter().all(is_masked));
}

#[test]
fn what_cannot_be_given_says_why() {
    let mut session = session("triton/tensors/add_kernel.ron", 0);
    let failed = given(&mut session, "z", 9, 0).unwrap_err();
    assert!(failed.starts_with("no statement of the kernel gives 'z' a value; the variables are "), "{failed}");
    assert_eq!(given(&mut session, "x", 8, 0).unwrap_err(), "line 8 gives 'x' no value: line 9");
    let failed = given(&mut session, "x", 9, 1).unwrap_err();
    assert_eq!(failed, "line 9 is executed once by warp 0 of block (0,0,0), and iteration 1 is wanted: the first is 0");
    let at = Execution { line: Some(9), block: [9, 0, 0], iteration: 0 };
    let failed = session.tensor_given("x", at, &mut NeverInterrupt).unwrap_err();
    assert_eq!(failed, "there is no block (9,0,0) in a grid of (1,1,1)");
}

/// The value of an expression as text.
fn value(session: &mut Session, expression: &str) -> ValueText {
    let mut state = CommandState::default();
    let mut context = Context { session, state: &mut state, interrupt: &mut NeverInterrupt, confirmed: false };
    match execute(&format!("print {expression}"), &mut context).unwrap() {
        Outcome::Value { value, .. } => value,
        _ => unreachable!("{expression} has no value"),
    }
}

#[test]
fn tensors_stand_in_expressions() {
    let mut session = session("triton/tensors/add_kernel.ron", 0);
    given(&mut session, "out", 11, 0).unwrap();
    let scalar = |text: &str| ValueText::Scalar(text.to_string());
    let x = folder().join("x.npy");
    assert_eq!(value(&mut session, &format!("max(x[0:1000] - @{}[0:1000])", x.display())), scalar("0"));
    assert_eq!(value(&mut session, "all(out[..] == x + y)".replace("[..]", "").as_str()), scalar("true"));
    assert_eq!(value(&mut session, "offs[5]"), scalar("5"));
    let ValueText::Tensor(part) = value(&mut session, "x[998..1001]") else { panic!("no tensor") };
    assert_eq!((part.shape, part.indices), (vec![4], vec![vec![998, 999, 1000, 1001]]));
    assert_eq!(part.elements[2..], ["·", "·"]);
}

/// Between the instructions of a statement that gives a variable anew, the value before it is shown, and how much of the next is there.
#[test]
fn a_tensor_in_the_middle_of_a_statement() {
    let mut session = session("triton/tensors/attn_kernel.ron", 0);
    let mut state = CommandState::default();
    let mut notes = |session: &mut Session, lines: &[&str]| {
        for line in lines {
            execute(line, &mut Context { session, state: &mut state, interrupt: &mut NeverInterrupt, confirmed: true }).unwrap();
        }
        let ValueText::Tensor(tensor) = value(session, "acc") else { unreachable!("acc is no tensor") };
        tensor.notes.into_iter().filter(|note| note.contains("not complete")).collect::<Vec<_>>()
    };
    assert_eq!(notes(&mut session, &["break 610", "continue", "delete"]), [] as [&str; 0]);
    let given =
        |count| format!("line 23 is not complete here: {count} of 2048 elements are already what it gives, in registers of this warp");
    assert_eq!(notes(&mut session, &["stepi"]), [given(32)]);
    assert_eq!(notes(&mut session, &["stepi"]), [given(64)]);
    assert_eq!(notes(&mut session, &["break 660", "continue"]), [] as [&str; 0]);
}

/// Statements that compute the same are one operation with the places of both.
#[test]
fn all_names_of_a_value_have_it() {
    let from = fixtures().join("triton/truth/softmax_sm_80");
    let folder = std::env::temp_dir().join(format!("ptxdbg-fused-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    for file in ["softmax.ptx", "softmax.ron", "x.npy"] {
        fs::copy(from.join(file), folder.join(file)).unwrap();
    }
    let text = fs::read_to_string(from.join("softmax.ttgir")).unwrap();
    let both = "#loc38 = loc(fused[#loc901, #loc902])\n#loc901 = loc(\"num\"(#loc15))\n#loc902 = loc(\"also\"(#loc15))";
    let fused = text.replace("#loc38 = loc(\"num\"(#loc15))", both);
    assert_ne!(fused, text);
    fs::write(folder.join("softmax.ttgir"), fused).unwrap();
    let launch = LaunchChoice::File(folder.join("softmax.ron"));
    let opened = open(&Request { modules: Vec::new(), launch, overrides: Overrides::default() }).unwrap();
    let mut session = Session::new(opened, 0, RunOptions::default()).unwrap();
    given(&mut session, "num", 14, 0).unwrap();
    assert_eq!(value(&mut session, "also"), value(&mut session, "num"));
    fs::remove_dir_all(folder).unwrap();
}

/// A compiler may compute the elements of a thread in another order than that of the layout, here what a branch selects.
#[test]
fn elements_are_in_the_order_of_the_layout() {
    let mut session = session("triton/tensors/fused.ron", 0);
    let mut state = CommandState::default();
    let mut run = |line: &str| {
        let mut context = Context { session: &mut session, state: &mut state, interrupt: &mut NeverInterrupt, confirmed: false };
        execute(line, &mut context).unwrap();
    };
    run("break 137");
    run("run");
    let (_, x) = array("x.npy");
    for start in [0, 128] {
        let ValueText::Tensor(z) = value(&mut session, &format!("z[{start}:{}]", start + 32)) else { panic!("no tensor") };
        let of = |x: &u128| f32::from_bits(*x as u32).mul_add(3.0, 1.0).mul_add(2.0, 1.0).to_string();
        assert_eq!(z.elements, x[start..start + 32].iter().map(of).collect::<Vec<_>>(), "from {start}");
    }
}
