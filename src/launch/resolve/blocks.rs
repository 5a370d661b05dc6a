//! The subset of a grid's blocks that runs (`blocks` of a launch file).

use std::collections::BTreeSet;

use super::{Resolver, Shape};
use crate::launch::block_list::blocks_of;
use crate::launch::file::Launch;
use crate::launch::value_path::ValuePath;

impl Resolver<'_> {
    /// The blocks that the launch names, and with each the others of its cluster, which run together; in order of their indices.
    pub(super) fn blocks(&mut self, place: &ValuePath, launch: &Launch, shape: &Shape) -> Vec<[u32; 3]> {
        let list = place.field("blocks");
        if !self.overrides.blocks.is_empty() {
            return self.chosen_blocks(&list, shape);
        }
        let Some(blocks) = &launch.blocks else { return Vec::new() };
        if blocks.is_empty() {
            self.error_with_help(&list, "no block is named, and of a launch one runs at least", "without 'blocks' all of them run");
        }
        let named: Vec<[u32; 3]> = blocks.iter().map(|(x, y, z)| [*x, *y, *z]).collect();
        for (number, (x, y, z)) in blocks.iter().enumerate() {
            let (place, index) = (list.item(number), [*x, *y, *z]);
            if index.iter().zip(shape.grid).any(|(at, extent)| *at >= extent) {
                let [gx, gy, gz] = shape.grid;
                self.error(&place, format!("the grid of ({gx}, {gy}, {gz}) has no block ({x}, {y}, {z})"));
            }
        }
        with_clusters(&named, shape.cluster)
    }

    /// The same for those that the command line names.
    fn chosen_blocks(&mut self, list: &ValuePath, shape: &Shape) -> Vec<[u32; 3]> {
        match blocks_of(&self.overrides.blocks, shape.grid) {
            Ok(blocks) => with_clusters(&blocks, shape.cluster),
            Err(why) => {
                self.error(list, why);
                Vec::new()
            }
        }
    }
}

/// `blocks` and the others of their clusters, in order of their indices.
fn with_clusters(blocks: &[[u32; 3]], cluster: [u32; 3]) -> Vec<[u32; 3]> {
    let all: BTreeSet<[u32; 3]> = blocks.iter().flat_map(|block| cluster_of(*block, cluster)).collect();
    all.into_iter().collect()
}

/// The blocks of the cluster of block `index`.
fn cluster_of(index: [u32; 3], cluster: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    let first: [u32; 3] = std::array::from_fn(|axis| index[axis] / cluster[axis] * cluster[axis]);
    let [x, y, z] = cluster;
    (0..z).flat_map(move |z| (0..y).flat_map(move |y| (0..x).map(move |x| [first[0] + x, first[1] + y, first[2] + z])))
}
