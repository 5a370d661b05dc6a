//! Exact sums of integer products and of bit counts, with C added last.

use super::product::{LANES, Operands, Product, Rule};

/// D in the place of C, computed by the product's rule.
#[inline(always)]
pub fn multiply(product: &Product, operands: Operands<'_>, mut d: Vec<u32>) -> Vec<u32> {
    match product.rule {
        Rule::Integer { saturate: true } => fill(product, operands, &mut d, i32::wrapping_mul, i32::saturating_add),
        Rule::Xor => fill(product, operands, &mut d, |a, b| (a ^ b).count_ones() as i32, i32::wrapping_add),
        Rule::And => fill(product, operands, &mut d, |a, b| (a & b).count_ones() as i32, i32::wrapping_add),
        _ => fill(product, operands, &mut d, i32::wrapping_mul, i32::wrapping_add),
    }
    d
}

/// D, at first C, becomes C `plus` the sum of A `times` B. The sum fits in 32 bits for every shape.
#[inline(always)]
fn fill(product: &Product, operands: Operands<'_>, d: &mut [u32], times: impl Fn(i32, i32) -> i32, plus: impl Fn(i32, i32) -> i32) {
    let (n, k) = (product.n, product.k);
    let depth = operands.b.len() / n;
    let row_of = |index: usize| operands.sparse_rows.map_or(index % k, |rows| usize::from(rows[index])).min(depth);
    let a: Vec<(i32, usize)> = operands.a.iter().enumerate().map(|(index, bits)| (product.a.integer(*bits), row_of(index))).collect();
    for first in (0..n).step_by(LANES) {
        let slice = |row: &[u32]| std::array::from_fn(|lane| product.b.integer(row[first + lane]));
        // A row of zeros after the last, for elements of A without a row of B.
        let b: Vec<[i32; LANES]> = operands.b.chunks_exact(n).map(slice).chain([[0; LANES]]).collect();
        for (row, a) in a.chunks_exact(k).enumerate() {
            let mut sum = [0; LANES];
            for (a, row_of_b) in a {
                let columns = &b[*row_of_b];
                for lane in 0..LANES {
                    sum[lane] += times(*a, columns[lane]);
                }
            }
            let indices = row * n + first..row * n + first + LANES;
            for (d, sum) in d[indices].iter_mut().zip(sum) {
                *d = plus(*d as i32, sum) as u32;
            }
        }
    }
}
