//! Sums of integer products and of counted bits: exact, with C added to the whole.

use super::{LANES, Operands, Product, Rule};

/// Fills `d` by the product's rule.
#[inline(always)]
pub fn multiply(product: &Product, operands: Operands<'_>, d: &mut [u32]) {
    let b: Vec<i32> = operands.b.iter().map(|&bits| product.b.integer(bits)).collect();
    match product.rule {
        Rule::Integer { saturate: true } => fill(product, operands, &b, d, i32::wrapping_mul, i32::saturating_add),
        Rule::Xor => fill(product, operands, &b, d, |a, b| (a ^ b).count_ones() as i32, i32::wrapping_add),
        Rule::And => fill(product, operands, &b, d, |a, b| (a & b).count_ones() as i32, i32::wrapping_add),
        _ => fill(product, operands, &b, d, i32::wrapping_mul, i32::wrapping_add),
    }
}

/// D = C `plus` the sum of A `times` B. The sum fits in 32 bits for every shape there is.
#[inline(always)]
fn fill(
    product: &Product,
    operands: Operands<'_>,
    b: &[i32],
    d: &mut [u32],
    times: impl Fn(i32, i32) -> i32,
    plus: impl Fn(i32, i32) -> i32,
) {
    for row in 0..product.m {
        let places = row * product.k..(row + 1) * product.k;
        let a = |place: usize| product.a.integer(operands.a[place]);
        for first in (0..product.n).step_by(LANES) {
            let mut sum = [0; LANES];
            for place in places.clone() {
                let (a, start) = (a(place), operands.row_met(place, product.k).saturating_mul(product.n).saturating_add(first));
                let columns = b.get(start..start.saturating_add(LANES)).unwrap_or(&[0; LANES]);
                for lane in 0..LANES {
                    sum[lane] += times(a, columns[lane]);
                }
            }
            let start = row * product.n + first;
            for lane in 0..LANES {
                d[start + lane] = plus(operands.c[start + lane] as i32, sum[lane]) as u32;
            }
        }
    }
}
