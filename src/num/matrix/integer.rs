//! Sums of integer products and of counted bits: exact, with C added to the whole.

use super::product::{LANES, Operands, Product, Rule};

/// D by the product's rule.
#[inline(always)]
pub fn multiply(product: &Product, operands: Operands<'_>) -> Vec<u32> {
    let mut d = operands.c.to_vec();
    match product.rule {
        Rule::Integer { saturate: true } => fill(product, operands, &mut d, i32::wrapping_mul, i32::saturating_add),
        Rule::Xor => fill(product, operands, &mut d, |a, b| (a ^ b).count_ones() as i32, i32::wrapping_add),
        Rule::And => fill(product, operands, &mut d, |a, b| (a & b).count_ones() as i32, i32::wrapping_add),
        _ => fill(product, operands, &mut d, i32::wrapping_mul, i32::wrapping_add),
    }
    d
}

/// D = C `plus` the sum of A `times` B. The sum fits in 32 bits for every shape there is.
#[inline(always)]
fn fill(product: &Product, operands: Operands<'_>, d: &mut [u32], times: impl Fn(i32, i32) -> i32, plus: impl Fn(i32, i32) -> i32) {
    let (n, k) = (product.n, product.k);
    let depth = operands.b.len() / n;
    let row_of = |place: usize| operands.sparse_rows.map_or(place % k, |rows| usize::from(rows[place])).min(depth);
    let a: Vec<(i32, usize)> = operands.a.iter().enumerate().map(|(place, bits)| (product.a.integer(*bits), row_of(place))).collect();
    for first in (0..n).step_by(LANES) {
        let slice = |row: &[u32]| std::array::from_fn(|lane| product.b.integer(row[first + lane]));
        // After the last row come zeros, for elements without a row.
        let b: Vec<[i32; LANES]> = operands.b.chunks_exact(n).map(slice).chain([[0; LANES]]).collect();
        for (row, a) in a.chunks_exact(k).enumerate() {
            let mut sum = [0; LANES];
            for (a, row_of_b) in a {
                let columns = &b[*row_of_b];
                for lane in 0..LANES {
                    sum[lane] += times(*a, columns[lane]);
                }
            }
            let places = row * n + first..row * n + first + LANES;
            for ((d, c), sum) in d[places.clone()].iter_mut().zip(&operands.c[places]).zip(sum) {
                *d = plus(*c as i32, sum) as u32;
            }
        }
    }
}
