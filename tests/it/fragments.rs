//! Fragments of matrices: which lane holds which element. What is expected was worked out by hand from the figures of the manual ("Warp
//! Level Matrix Instructions") and, for `wmma`, from recorded loads.

#![allow(clippy::unwrap_used, reason = "a test of a fragment that is not there fails")]

use ptxdbg::isa::{FactorInB, Fragment, Layout, Matrix, MatrixFamily, Position, ScalarType, Shape, Sparsity};

use Matrix::{A, B, C, D};
use MatrixFamily::{Mma, MmaSparse, Wgmma, Wmma};
use ScalarType::{B32, BF16, E4M3, F16, F32, F64, S4, S8, S32, TF32};

fn fragment(family: MatrixFamily, shape: &str, matrix: Matrix, ty: ScalarType) -> Fragment {
    Fragment { family, shape: Shape::from_word(shape).unwrap(), matrix, ty, swapped: false }
}

/// Row and column of element `element` of lane `lane`.
#[track_caller]
fn assert_at(fragment: Fragment, lane: u32, element: u32, row: u32, column: u32) {
    let at = Layout::of(&fragment).unwrap().position(lane, element);
    assert_eq!((at.row, at.column), (row, column), "{fragment:?} lane {lane} element {element}");
}

/// Lane 13 is the second of group 3.
#[test]
fn elements_of_mma_stand_where_the_figures_have_them() {
    let a = fragment(Mma, "m16n8k16", A, F16);
    assert_at(a, 13, 0, 3, 2);
    assert_at(a, 13, 1, 3, 3);
    assert_at(a, 13, 2, 11, 2);
    assert_at(a, 13, 4, 3, 10);
    assert_at(a, 13, 7, 11, 11);
    let b = fragment(Mma, "m16n8k16", B, F16);
    assert_at(b, 13, 1, 3, 3);
    assert_at(b, 13, 2, 10, 3);
    let c = fragment(Mma, "m16n8k16", C, F32);
    assert_at(c, 13, 1, 3, 3);
    assert_at(c, 13, 2, 11, 2);
    assert_at(fragment(Mma, "m16n8k32", A, S8), 13, 9, 3, 21);
    assert_at(fragment(Mma, "m16n8k64", B, S4), 13, 15, 47, 3);
    assert_at(fragment(Mma, "m16n8k8", A, TF32), 13, 3, 11, 5);
    assert_at(fragment(Mma, "m16n8k16", A, F64), 13, 7, 11, 13);
    assert_at(fragment(Mma, "m8n8k4", B, F64), 13, 0, 1, 3);
    assert_at(fragment(MmaSparse, "m16n8k32", A, F16), 13, 7, 11, 11);
}

/// Lane 22 is the third of its four, in the upper half of the warp, and of the second matrix.
#[test]
fn halves_of_the_smallest_mma_are_held_by_quads() {
    let at = |matrix, ty, swapped, element| {
        let fragment = Fragment { swapped, ..fragment(Mma, "m8n8k4", matrix, ty) };
        Layout::of(&fragment).unwrap().position(22, element)
    };
    let position = |row, column| Position { tile: 1, row, column };
    assert_eq!(at(A, F16, false, 3), position(6, 3));
    assert_eq!(at(A, F16, true, 3), position(7, 2));
    assert_eq!(at(B, F16, false, 3), position(3, 6));
    assert_eq!(at(B, F16, true, 3), position(2, 7));
    assert_eq!(at(D, F16, false, 5), position(6, 5));
    assert_eq!(at(D, F32, false, 0), position(4, 2));
    assert_eq!(at(D, F32, false, 7), position(6, 7));
}

#[test]
fn wmma_fragments_are_those_of_the_assembler() {
    assert_at(fragment(Wmma, "m16n16k16", A, F16), 13, 15, 11, 11);
    assert_at(fragment(Wmma, "m16n16k16", B, F16), 13, 5, 3, 11);
    assert_at(fragment(Wmma, "m32n8k16", A, BF16), 13, 8, 19, 2);
    assert_at(fragment(Wmma, "m32n8k16", B, F16), 13, 14, 10, 3);
    assert_at(fragment(Wmma, "m8n32k16", B, F16), 13, 2, 2, 11);
    assert_at(fragment(Wmma, "m8n32k16", B, F16), 13, 8, 2, 19);
    assert_at(fragment(Wmma, "m16n16k16", D, F32), 13, 5, 3, 11);
    assert_at(fragment(Wmma, "m8n32k16", C, F32), 13, 3, 3, 11);
    assert_at(fragment(Wmma, "m32n8k16", C, F16), 13, 6, 27, 2);
    assert_at(fragment(Wmma, "m16n16k8", B, TF32), 13, 3, 5, 11);
    assert_at(fragment(Wmma, "m8n8k4", D, F64), 13, 1, 3, 3);
}

#[test]
fn a_warp_of_a_warpgroup_has_sixteen_rows() {
    let d = fragment(Wgmma, "m64n24k16", D, F32);
    assert_at(d, 32 + 13, 11, 16 + 11, 19);
    assert_eq!(Layout::of(&d).unwrap().elements(), 12);
    assert_at(fragment(Wgmma, "m64n8k32", A, E4M3), 127, 15, 63, 31);
}

/// Every element is somewhere, nothing is outside, and only `wmma` of halves has copies.
#[test]
fn fragments_hold_whole_matrices() {
    let mma = ["m16n8k8", "m16n8k16"].map(|shape| [A, B, C, D].map(|matrix| fragment(Mma, shape, matrix, F16)));
    let bytes = ["m8n8k16", "m16n8k32"].map(|shape| [A, B].map(|matrix| fragment(Mma, shape, matrix, S8)));
    let wmma = ["m16n16k16", "m32n8k16", "m8n32k16"].map(|shape| [A, B, C, D].map(|matrix| fragment(Wmma, shape, matrix, F16)));
    let others = [
        fragment(Mma, "m8n8k4", A, F64),
        fragment(Mma, "m16n8k8", B, F64),
        fragment(Wmma, "m16n16k8", A, TF32),
        fragment(Wmma, "m8n32k16", D, S32),
        fragment(Mma, "m16n8k8", A, B32),
        fragment(MmaSparse, "m16n8k64", A, S8),
        fragment(Wgmma, "m64n8k16", A, F16),
        fragment(Wgmma, "m64n256k16", D, F16),
    ];
    for fragment in mma.iter().flatten().chain(bytes.iter().flatten()).chain(wmma.iter().flatten()).chain(&others) {
        let layout = Layout::of(fragment).unwrap();
        assert_eq!(layout.extent(), [1, fragment.rows(), fragment.columns()], "{fragment:?}");
        let mut holders = vec![0; (fragment.rows() * fragment.columns()) as usize];
        for (lane, element) in (0..layout.lanes()).flat_map(|lane| (0..layout.elements()).map(move |element| (lane, element))) {
            let at = layout.position(lane, element);
            holders[(at.row * fragment.columns() + at.column) as usize] += 1;
        }
        let copies = layout.lanes() * layout.elements() / holders.len() as u32;
        assert!(holders.iter().all(|holders| *holders == copies), "{fragment:?}");
        assert!(copies == 1 || fragment.family == Wmma && fragment.ty == F16, "{fragment:?} has {copies} copies");
    }
}

#[test]
fn the_holder_of_an_element_is_found() {
    let layout = Layout::of(&fragment(Mma, "m16n8k16", A, F16)).unwrap();
    assert_eq!(layout.holder(Position { tile: 0, row: 11, column: 10 }), Some((13, 6)));
    assert_eq!(layout.holder(Position { tile: 0, row: 16, column: 0 }), None);
}

#[test]
fn what_is_no_fragment_has_no_layout() {
    for none in [fragment(Wgmma, "m64n8k16", B, F16), fragment(Wmma, "m16n16k32", A, F16), fragment(Mma, "m24n8k16", A, F16)] {
        assert_eq!(Layout::of(&none), None, "{none:?}");
    }
    assert!(["16n8k16", "m16n8", "m16n8kk", "m16n8k99999999999"].iter().all(|word| Shape::from_word(word).is_none()));
}

/// Metadata is 0b1110_0100 in every place: indices 0, 1, 2, 3.
#[test]
fn metadata_say_which_columns_are_kept() {
    let kept = |shape: &str, ty, row, element, selector| {
        let lane_of = std::cell::Cell::new(0);
        let register = |lane| {
            lane_of.set(lane);
            0xe4e4_e4e4
        };
        let kept = Sparsity::new(Shape::from_word(shape).unwrap(), ty).factor_in_b(row, element, selector, register);
        (kept, lane_of.get())
    };
    // Row 11 is the fourth of the upper half: its quad is lanes 12 to 15.
    assert_eq!(kept("m16n8k16", F16, 11, 5, 2), (FactorInB::Row(4 * 2 + 1), 14));
    assert_eq!(kept("m16n8k32", BF16, 3, 10, 1), (FactorInB::Row(4 * 5 + 2), 15));
    assert_eq!(kept("m16n8k32", S8, 11, 3, 1), (FactorInB::Row(4 + 3), 15));
    assert_eq!(kept("m16n8k64", S8, 3, 17, 0), (FactorInB::Row(4 * 8 + 1), 14));
    assert_eq!(kept("m16n8k64", S4, 3, 5, 0), (FactorInB::Row(8 + 2 * 2 + 1), 12));
    // 0x4: halves 0 and 1, which are the first element; 0xe: halves 2 and 3, the second.
    assert_eq!(kept("m16n8k8", TF32, 3, 2, 0), (FactorInB::Halves([(4, 0), (4, 1)]), 12));
    assert_eq!(kept("m16n8k8", TF32, 3, 3, 0), (FactorInB::Halves([(7, 0), (7, 1)]), 12));
}
