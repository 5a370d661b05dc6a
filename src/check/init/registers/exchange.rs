//! What comes from other lanes.
//!
//! By `shfl` a lane gets what its source lane brings, which is undefined if that lane does not take part (PTX ISA, "shfl"). Votes,
//! matches and reductions are made of what all bring.

use super::Registers;
use super::frames::{Offers, WarpFrames};
use super::origin::{Absence, Origin, OriginId, Origins};
use crate::machine::{Exchange, LANES, LaneMask};
use crate::program::operands::{RegisterOperand, writes};
use crate::program::{Bank, Program};

impl Registers {
    /// Lanes are about to exchange values, for which [`Registers::before`] has recorded what they bring.
    pub fn exchanged(&mut self, exchange: &Exchange, program: &Program) {
        let place = exchange.place;
        let inst = &program.code[place.pc.index()];
        let Some((function, watched)) = program.function_at(place.pc).and_then(|id| self.watch.functions.get_key_value(&id)) else {
            return;
        };
        let key = (place.block, place.warp);
        if !exchange.absent.is_empty() {
            self.warps.entry(key).or_insert_with(|| WarpFrames::new(exchange.live));
        }
        assert!(exchange.among.contains_all(exchange.lanes), "lanes that exchange take part");
        let Some(warp) = self.warps.get_mut(&key) else { return };
        let threads = LaneMask::lowest(self.threads.saturating_sub(place.warp.number() * LANES as u32));
        for register in writes(inst, program) {
            let mut origins = Origins::default();
            for lane in exchange.lanes.iter() {
                let missing = |source| {
                    let absence = Absence::of(source, exchange, threads);
                    warp.origins.add(Origin { place, lane, register, absent: Some((source, absence)) })
                };
                if let Some(id) = brought(&warp.offers, exchange, (lane, register), missing) {
                    origins.set(lane, id);
                }
            }
            warp.frame(watched, exchange.depth, *function).0.write(watched, register, (exchange.lanes, origins.lanes), &origins);
        }
        if !self.watch.has_unwritten && warp.is_defined() {
            self.warps.remove(&key);
        }
    }
}

/// Where what a lane gets into a register comes from, if it is undefined; `missing` notes the origin of what an absent lane sends.
fn brought(
    offers: &Offers,
    exchange: &Exchange,
    (lane, register): (usize, RegisterOperand),
    missing: impl FnOnce(u32) -> OriginId,
) -> Option<OriginId> {
    if let Some(origin) = offers.control(lane) {
        return Some(origin);
    }
    match exchange.sources.map(|sources| sources[lane]) {
        None => offers.value(exchange.among),
        // Whether the source is in range does not depend on the value of any lane.
        Some(_) if register.bank == Bank::Pred => None,
        Some(source) if !exchange.among.contains(source as usize) => Some(missing(source)),
        Some(source) => offers.value(LaneMask::of(source as usize)),
    }
}
