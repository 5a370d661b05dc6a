//! The lines between panes, with the right box-drawing character where they meet.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// The cells with lines.
pub struct Frame {
    area: Rect,
    /// True for cells with a horizontal line.
    across: Vec<bool>,
    /// True for cells with a vertical line.
    down: Vec<bool>,
}

impl Frame {
    /// A frame without lines.
    pub fn new(area: Rect) -> Self {
        let cells = usize::from(area.width) * usize::from(area.height);
        Self { area, across: vec![false; cells], down: vec![false; cells] }
    }

    /// Adds a horizontal line of `width` cells from `x` in row `y`.
    pub fn across(&mut self, x: u16, y: u16, width: u16) {
        for x in x..x.saturating_add(width) {
            if let Some(index) = self.index(x, y) {
                self.across[index] = true;
            }
        }
    }

    /// Adds a vertical line of `height` cells from `y` in column `x`.
    pub fn down(&mut self, x: u16, y: u16, height: u16) {
        for y in y..y.saturating_add(height) {
            if let Some(index) = self.index(x, y) {
                self.down[index] = true;
            }
        }
    }

    /// Draws the lines.
    pub fn draw(&self, buffer: &mut Buffer, style: Style) {
        for position in self.area.positions() {
            let (x, y) = (position.x, position.y);
            let (is_across, is_down) = (self.is_across(x, y), self.is_down(x, y));
            let above = y.checked_sub(1).is_some_and(|y| self.is_down(x, y));
            let left = x.checked_sub(1).is_some_and(|x| self.is_across(x, y));
            let right = self.is_across(x.saturating_add(1), y);
            if !is_across && !is_down {
                continue;
            }
            if let Some(cell) = buffer.cell_mut(position) {
                cell.set_symbol(glyph([above, is_down, left, right])).set_style(style);
            }
        }
    }

    fn is_across(&self, x: u16, y: u16) -> bool {
        self.index(x, y).is_some_and(|index| self.across[index])
    }

    fn is_down(&self, x: u16, y: u16) -> bool {
        self.index(x, y).is_some_and(|index| self.down[index])
    }

    fn index(&self, x: u16, y: u16) -> Option<usize> {
        let inside = self.area.contains((x, y).into());
        inside.then(|| usize::from(y - self.area.y) * usize::from(self.area.width) + usize::from(x - self.area.x))
    }
}

/// The box-drawing character with lines up, down, left and right.
fn glyph(sides: [bool; 4]) -> &'static str {
    match sides {
        [true, true, true, true] => "┼",
        [true, true, true, false] => "┤",
        [true, true, false, true] => "├",
        [true, false, true, true] => "┴",
        [false, true, true, true] => "┬",
        [true, false, true, false] => "┘",
        [true, false, false, true] => "└",
        [false, true, true, false] => "┐",
        [false, true, false, true] => "┌",
        [_, _, false, false] => "│",
        _ => "─",
    }
}
