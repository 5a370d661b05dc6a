//! The subset of a grid's blocks that runs (`blocks` of a launch file).

use std::collections::BTreeSet;

use super::{Resolver, Shape};
use crate::launch::block_list::blocks_of;
use crate::launch::file::Launch;
use crate::launch::value_path::ValuePath;

/// Why no block of a cooperative launch runs alone.
const COOPERATIVE: &str = "the blocks of a cooperative launch wait for each other, so none can run alone";

impl Resolver<'_> {
    /// The distinct blocks that the launch names, in order of their indices.
    pub(super) fn blocks(&mut self, place: &ValuePath, launch: &Launch, shape: &Shape) -> Vec<[u32; 3]> {
        let list = place.field("blocks");
        if !self.overrides.blocks.is_empty() {
            return self.chosen_blocks(place, launch, shape);
        }
        let Some(blocks) = &launch.blocks else { return Vec::new() };
        if blocks.is_empty() {
            self.error_with_help(&list, "no block is named, and of a launch one runs at least", "without 'blocks' all of them run");
        }
        let named: BTreeSet<[u32; 3]> = blocks.iter().map(|(x, y, z)| [*x, *y, *z]).collect();
        if !named.is_empty() && launch.cooperative {
            self.error(&list, COOPERATIVE);
        }
        for (number, (x, y, z)) in blocks.iter().enumerate() {
            let (place, index) = (list.item(number), [*x, *y, *z]);
            if index.iter().zip(shape.grid).any(|(at, extent)| *at >= extent) {
                let [gx, gy, gz] = shape.grid;
                self.error(&place, format!("the grid of ({gx}, {gy}, {gz}) has no block ({x}, {y}, {z})"));
            } else if let Some([x, y, z]) = cluster_of(index, shape.cluster).find(|member| !named.contains(member)) {
                self.error(&place, format!("the blocks of a cluster run together, and ({x}, {y}, {z}) of this one is not named"));
            }
        }
        named.into_iter().collect()
    }

    /// The blocks that the command line names.
    fn chosen_blocks(&mut self, place: &ValuePath, launch: &Launch, shape: &Shape) -> Vec<[u32; 3]> {
        let ranges: Vec<String> = self.overrides.blocks.iter().map(ToString::to_string).collect();
        let option = format!("--blocks '{}'", ranges.join(";"));
        if launch.cooperative {
            self.error(place, format!("{option}: {COOPERATIVE}"));
        }
        let blocks = match blocks_of(&self.overrides.blocks, shape.grid) {
            Ok(blocks) => blocks,
            Err(why) => {
                self.error(place, format!("{option}: {why}"));
                return Vec::new();
            }
        };
        let named: BTreeSet<[u32; 3]> = blocks.iter().copied().collect();
        let missing = blocks.iter().find_map(|block| cluster_of(*block, shape.cluster).find(|member| !named.contains(member)));
        if let Some([x, y, z]) = missing {
            self.error(place, format!("{option}: the blocks of a cluster run together, and ({x}, {y}, {z}) of one is not named"));
        }
        blocks
    }
}

/// The blocks of the cluster of block `index`.
fn cluster_of(index: [u32; 3], cluster: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let first: [u32; 3] = std::array::from_fn(|axis| index[axis] / cluster[axis] * cluster[axis]);
    let [x, y, z] = cluster;
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [first[0] + x, first[1] + y, first[2] + z])))
}
