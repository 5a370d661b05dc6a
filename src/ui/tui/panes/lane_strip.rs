//! The lanes of a warp on a line: as a strip with a cell for each lane or for two, or as a number, as room and their state allow.

use crate::debug::LaneMask;
use crate::ui::tui::canvas::{Canvas, Target};
use crate::ui::tui::theme::Role;

/// The lanes of a warp.
const LANES: usize = 32;
/// The width of a number of lanes, and the blank after it.
const COUNT: usize = 3;

/// How lanes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneStrip {
    /// A cell for each lane.
    Lanes,
    /// A cell for two lanes.
    Pairs,
    /// Their number.
    Count,
    /// Not at all.
    None,
}

/// The lanes of a line.
pub struct StripOf {
    /// Those on the line.
    pub lanes: LaneMask,
    /// Those of them that run next.
    pub next: LaneMask,
    /// Those of them that wait.
    pub waiting: LaneMask,
    /// Those of them whose guard predicate is false.
    pub off: LaneMask,
    /// The focused lane.
    pub focused: u32,
}

impl LaneStrip {
    /// The strip for a line of `width` columns, where a number leaves at least the first of `texts` columns for the text, and a strip
    /// the second. A warp that is `whole` needs no strip.
    pub fn new(width: usize, texts: (usize, usize), whole: bool) -> Self {
        match () {
            () if !whole && width > LANES + texts.1 => Self::Lanes,
            () if !whole && width > LANES / 2 + texts.1 => Self::Pairs,
            () if width >= COUNT + texts.0 => Self::Count,
            () => Self::None,
        }
    }

    /// The number of columns, with the blank after them.
    pub fn width(self) -> usize {
        match self {
            Self::Lanes => LANES + 1,
            Self::Pairs => LANES / 2 + 1,
            Self::Count => COUNT,
            Self::None => 0,
        }
    }

    /// Draws the lanes of a line; returns the column after them.
    pub fn draw(self, canvas: &mut Canvas<'_>, (x, y): (usize, usize), of: &StripOf) -> usize {
        if !of.lanes.is_empty() {
            match self {
                Self::Lanes => of.draw_lanes(canvas, (x, y)),
                Self::Pairs => of.draw_pairs(canvas, (x, y)),
                Self::Count => {
                    let role = if of.lanes == of.next { Role::Lanes } else { Role::OtherLanes };
                    canvas.text(x, y, &format!("{:>2}", of.lanes.count()), role);
                }
                Self::None => {}
            }
        }
        x + self.width()
    }
}

impl StripOf {
    /// A cell for each lane: on this line `█` if it runs next, `▒` if it waits, `▓` if others run first, `○` if its guard predicate is
    /// false, `◆` for the focused lane, or `◇` if its guard predicate is false; elsewhere `·`.
    fn draw_lanes(&self, canvas: &mut Canvas<'_>, (x, y): (usize, usize)) {
        for lane in 0..LANES as u32 {
            let has = |lanes: LaneMask| lanes.contains(lane as usize);
            let (glyph, role) = match () {
                () if !has(self.lanes) => ("·", Role::Dim),
                () if lane == self.focused && has(self.off) => ("◇", Role::Lanes),
                () if lane == self.focused => ("◆", Role::Lanes),
                () if has(self.off) => ("○", Role::Dim),
                () if has(self.next) => ("█", Role::Lanes),
                () if has(self.waiting) => ("▒", Role::OtherLanes),
                () => ("▓", Role::OtherLanes),
            };
            canvas.text(x + lane as usize, y, glyph, role);
            if has(self.lanes) {
                canvas.on_click((x + lane as usize, y, 1), Target::Command(format!("lane {lane}")));
            }
        }
    }

    /// A cell for two lanes: `█` if both execute the line, `▌` or `▐` if one of them does, `○` if guard predicates turn those here off,
    /// `·` if both are elsewhere.
    fn draw_pairs(&self, canvas: &mut Canvas<'_>, (x, y): (usize, usize)) {
        let active = self.lanes & !self.off;
        for pair in 0..LANES / 2 {
            let lanes = [2 * pair, 2 * pair + 1];
            let has = |mask: LaneMask| lanes.map(|lane| mask.contains(lane));
            let glyph = match has(active) {
                [true, true] => "█",
                [true, false] => "▌",
                [false, true] => "▐",
                [false, false] if has(self.off).contains(&true) => "○",
                [false, false] => "·",
            };
            let role = match () {
                () if lanes.contains(&(self.focused as usize)) || has(self.next & active).contains(&true) => Role::Lanes,
                () if has(active).contains(&true) => Role::OtherLanes,
                () => Role::Dim,
            };
            canvas.text(x + pair, y, glyph, role);
            if let Some(lane) = lanes.into_iter().find(|lane| self.lanes.contains(*lane)) {
                canvas.on_click((x + pair, y, 1), Target::Command(format!("lane {lane}")));
            }
        }
    }
}
