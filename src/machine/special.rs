//! Values of the special registers (PTX ISA, "Special Registers").

use super::lanes::{LANES, PerLane};
use super::{LaunchConfig, Linked};
use crate::isa::SPECIAL_REGISTERS;
use crate::program::{Program, map};

/// Multiprocessors of the machine that is modelled, an H200.
pub const MULTIPROCESSORS: u32 = 132;

/// Warp slots of a multiprocessor of sm_90.
const WARP_SLOTS: u32 = 64;

/// The values of `program.specials` for one warp, in that order.
pub fn fixed_values(
    program: &Program,
    linked: &Linked,
    config: &LaunchConfig,
    block: [u32; 3],
    number: u64,
    warp: u32,
) -> Vec<PerLane<u32>> {
    let place = WarpPlace { linked, config, block, number, warp };
    let value = |special: &crate::program::SpecialRef| {
        let name = SPECIAL_REGISTERS.get(special.0 as usize).map_or("", |register| register.name);
        std::array::from_fn(|lane| place.value(name, lane as u32))
    };
    program.specials.iter().map(value).collect()
}

struct WarpPlace<'a> {
    linked: &'a Linked,
    config: &'a LaunchConfig,
    block: [u32; 3],
    number: u64,
    warp: u32,
}

impl WarpPlace<'_> {
    fn value(&self, name: &str, lane: u32) -> u32 {
        let (config, bit) = (self.config, 1_u32 << lane);
        let thread = self.warp * LANES as u32 + lane;
        let threads = [config.block[0], config.block[1], config.block[2]];
        let cluster = config.cluster;
        let in_cluster: [u32; 3] = std::array::from_fn(|axis| self.block[axis] % cluster[axis]);
        if let Some((name, axis)) = name.split_once('.') {
            let Some(axis) = ["x", "y", "z"].iter().position(|letter| *letter == axis) else {
                return u32::from(matches!(name, "%ntid" | "%nctaid" | "%nclusterid" | "%cluster_nctaid"));
            };
            return match name {
                "%tid" => [thread % threads[0], thread / threads[0] % threads[1], thread / threads[0] / threads[1]][axis],
                "%ntid" => threads[axis],
                "%ctaid" => self.block[axis],
                "%nctaid" => config.grid[axis],
                "%clusterid" => self.block[axis] / cluster[axis],
                "%nclusterid" => config.grid[axis] / cluster[axis],
                "%cluster_ctaid" => in_cluster[axis],
                "%cluster_nctaid" => cluster[axis],
                _ => 0,
            };
        }
        match name {
            "%laneid" => lane,
            "%warpid" => self.warp,
            "%nwarpid" => WARP_SLOTS,
            "%smid" => (self.number % u64::from(MULTIPROCESSORS)) as u32,
            "%nsmid" => MULTIPROCESSORS,
            "%cluster_ctarank" => in_cluster[0] + cluster[0] * (in_cluster[1] + cluster[1] * in_cluster[2]),
            "%cluster_nctarank" => cluster.iter().product(),
            "%lanemask_eq" => bit,
            "%lanemask_lt" => bit - 1,
            "%lanemask_le" => bit | (bit - 1),
            "%lanemask_gt" => !(bit | (bit - 1)),
            "%lanemask_ge" => !(bit - 1),
            "%reserved_smem_offset_end" | "%reserved_smem_offset_cap" => map::SHARED_RESERVED as u32,
            "%total_smem_size" | "%aggr_smem_size" => (self.linked.shared_bytes - map::SHARED_RESERVED) as u32,
            "%dynamic_smem_size" => config.dynamic_shared,
            _ => 0,
        }
    }
}

/// The value at `tick` of special register number `register` of the table, one that changes or has 64 bits.
pub fn changing_value(register: u16, tick: u64) -> u64 {
    match SPECIAL_REGISTERS.get(register as usize).map_or("", |register| register.name) {
        "%clock" | "%clock64" | "%globaltimer" => tick,
        "%globaltimer_lo" => tick & u64::from(u32::MAX),
        "%clock_hi" | "%globaltimer_hi" => tick >> 32,
        "%gridid" => 1,
        _ => 0,
    }
}
