//! `info descriptor`: a matrix descriptor of `wgmma` taken apart, and where the first chunks of the operand lie.

use super::{Table, grouped};
use crate::debug::names::place as names;
use crate::debug::scene::Scene;
use crate::isa::{CHUNK, Major, MatrixDescriptor, Space};

/// Rows of the operand that are shown: a group of eight, and the first of the next.
const ROWS: u32 = 9;

/// The fields of a descriptor, and the addresses of the first chunks of an operand that lies like `major`.
pub fn descriptor(scene: &Scene<'_>, bits: u64, major: Major) -> Table {
    let descriptor = MatrixDescriptor::new(bits);
    let mut table = Table::new(&["", ""]);
    let mut row = |name: &str, value: String| table.push(false, [name.to_string(), value]);
    row("descriptor", format!("{bits:#018x}"));
    row("start", place(scene, descriptor.start));
    row("leading offset", format!("{} bytes", grouped(u64::from(descriptor.leading))));
    row("stride offset", format!("{} bytes", grouped(u64::from(descriptor.stride))));
    row("base offset", base_offset(descriptor));
    row("swizzle", descriptor.swizzle.span().map_or("none".to_string(), |span| format!("{span} bytes")));
    if descriptor.reserved() != 0 {
        row("reserved bits", format!("{:#x} are set: wgmma stops at such a descriptor", descriptor.reserved()));
    }
    let at = |address: u32| format!("{address:#x}");
    match major {
        Major::K => {
            row("K-major", format!("bytes 0 and {CHUNK} of K of each row of A, or column of B"));
            (0..ROWS).for_each(|x| row(&format!("  {x}"), [0, CHUNK].map(|byte| at(descriptor.k_major(x, byte))).join("  ")));
        }
        Major::MN => {
            row("M- or N-major", "rows of A, or columns of B, 0 to 7 and 8 to 15 of each k".to_string());
            (0..ROWS).for_each(|k| row(&format!("  k = {k}"), [0, 8].map(|x| at(descriptor.mn_major(x, k))).join("  ")));
        }
    }
    table
}

/// `0x400 <a>`
fn place(scene: &Scene<'_>, address: u32) -> String {
    let name = names::place(scene, Space::Shared, u64::from(address));
    if name.starts_with("0x") { name } else { format!("{address:#x} <{name}>") }
}

fn base_offset(descriptor: MatrixDescriptor) -> String {
    match (descriptor.base_offset, descriptor.swizzle.span()) {
        (0, _) => "0".to_string(),
        (offset, None) => format!("{offset}, without effect where nothing is swizzled"),
        (offset, Some(_)) => format!("{offset}: the swizzle's pattern starts {offset} rows of 128 bytes into the memory's"),
    }
}
