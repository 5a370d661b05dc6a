//! Multiplications that end between two instructions: at random, or by a command of the user.

use triomphe::Arc;

use super::end_next;
use crate::machine::event::{Event, Observer, WgmmaChange, WgmmaEvent};
use crate::machine::event_kind::EventKind;
use crate::machine::in_flight::wgmma::compute::WgmmaSources;
use crate::machine::state::block::Block;
use crate::machine::state::in_flight::queue::WaitingWarp;
use crate::machine::state::in_flight::wgmma::Wgmma;
use crate::machine::state::issue_point::BlockId;
use crate::machine::state::machine::Machine;
use crate::machine::state::warp::GroupState;

impl Machine {
    /// The matrix multiplications in flight, with their blocks, in order of block slot, warp and issue.
    pub fn wgmmas(&self) -> impl Iterator<Item = (&Block, &Wgmma)> {
        let has_wgmmas = !self.program().wgmmas.is_empty();
        let blocks = self.resident_blocks().filter(move |_| has_wgmmas);
        blocks.flat_map(|block| self.in_flight.wgmmas_of_block(block.number).map(move |wgmma| (block, &**wgmma)))
    }

    /// Ends the multiplication with this number, after the earlier ones of its warp; none if it is not in flight. True if the observer asks
    /// for a pause.
    pub(in crate::machine) fn end_wgmma(&mut self, id: u64, observer: &mut dyn Observer) -> Option<bool> {
        let tick = self.tick();
        let (block, number) = self.wgmmas().find(|(_, wgmma)| wgmma.id == id).map(|(block, wgmma)| (block.number, wgmma.issued.warp))?;
        let block_slot = self.blocks.iter().position(|block_slot| block_slot.as_ref().is_some_and(|resident| resident.number == block))?;
        let rank = block_slot - self.cluster_block_slots(block_slot).start;
        let block = Arc::make_mut(self.blocks.get_mut(block_slot)?.as_mut()?);
        let warp = Arc::make_mut(block.warps.get_mut(number.index())?);
        let sources = WgmmaSources {
            program: &self.device.program,
            prepared: &self.prepared,
            immediates: self.prepared.immediates.get(rank)?,
            shared: &block.shared.pages,
        };
        let block_id = BlockId { number: block.number, block_slot: block_slot as u32 };
        let mut paused = false;
        while let Some(ended) = end_next(&mut self.in_flight, (block.number, number.number()), warp, &sources, WaitingWarp::Own) {
            self.progress = self.progress.wrapping_add(1);
            let event = WgmmaEvent { point: ended.issued, block_id, lanes: warp.live, change: WgmmaChange::Ended(&ended), tick };
            paused |= observer.report(EventKind::Wgmma, || Event::Wgmma(event));
            if ended.id == id {
                break;
            }
        }
        block.wake(|state| state == GroupState::AtWgmmas);
        Some(paused)
    }
}
