//! The screen as a file: text, or a picture.

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

use super::wrap::plain;

/// Pixels of a cell.
const CELL: (usize, usize) = (8, 17);
/// The colours of text and ground where none is set.
const TEXT: &str = "#d0d0d0";
const GROUND: &str = "#161616";
/// The sixteen colours of terminals, as xterm has them.
const COLOURS: [&str; 16] = [
    "#000000", "#cd3131", "#0dbc79", "#e5e510", "#2472c8", "#bc3fbc", "#11a8cd", "#cccccc", "#767676", "#f14c4c", "#23d18b", "#f5f543",
    "#3b8eea", "#d670d6", "#29b8db", "#ffffff",
];

/// The rows of the panes and the lines below them.
pub fn text(buffer: &Buffer, below: &[String]) -> String {
    let area = buffer.area;
    let row = |y: u16| {
        let cells = (area.left()..area.right()).filter_map(|x| buffer.cell((x, y)));
        symbols(cells).trim_end().to_string() + "\n"
    };
    let rows: String = (area.top()..area.bottom()).map(row).collect();
    rows + &below.iter().map(|line| plain(line) + "\n").collect::<String>()
}

/// What cells show, without those that a wide character before them covers.
fn symbols<'a>(cells: impl Iterator<Item = &'a Cell>) -> String {
    let mut skipped = 0;
    let mut text = String::new();
    for cell in cells {
        if skipped == 0 {
            text += cell.symbol();
        }
        skipped = if skipped > 0 { skipped - 1 } else { columns(cell.symbol()).saturating_sub(1) };
    }
    text
}

/// The same as an SVG file, with colours.
pub fn svg(buffer: &Buffer, below: &[String]) -> String {
    let area = buffer.area;
    let rows = usize::from(area.height) + below.len();
    let columns = below.iter().map(|line| columns(&plain(line))).chain([usize::from(area.width)]).max().unwrap_or(0);
    let (wide, high) = (columns * CELL.0, rows * CELL.1 + 4);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" viewBox=\"0 0 {wide} {high}\" \
         font-family=\"monospace\" font-size=\"13\" fill=\"{TEXT}\">\n<rect width=\"100%\" height=\"100%\" fill=\"{GROUND}\"/>\n"
    );
    for (row, y) in (area.top()..area.bottom()).enumerate() {
        let mut x = area.left();
        while x < area.right() {
            let Some(first) = buffer.cell((x, y)) else { break };
            let is_alike = |x: &u16| buffer.cell((*x, y)).is_some_and(|cell| looks(cell) == looks(first));
            let end = (x..area.right()).take_while(is_alike).count() as u16 + x;
            let symbols = symbols((x..end).filter_map(|x| buffer.cell((x, y))));
            svg += &run(first, &symbols, (usize::from(x - area.left()), row, usize::from(end - x)));
            x = end;
        }
    }
    for (line, row) in below.iter().zip(usize::from(area.height)..) {
        svg += &glyphs(&plain(line), (0, row), "");
    }
    svg + "</svg>\n"
}

/// What cells in one run have in common.
fn looks(cell: &Cell) -> (Color, Color, Modifier) {
    (cell.fg, cell.bg, cell.modifier)
}

/// A run of cells that look alike, of `count` columns from column `x`.
fn run(cell: &Cell, symbols: &str, (x, row, count): (usize, usize, usize)) -> String {
    let is_reversed = cell.modifier.contains(Modifier::REVERSED);
    let (text, ground) = (hex(cell.fg), hex(cell.bg));
    let (text, ground) = if is_reversed { (ground.or(Some(GROUND.into())), text.or(Some(TEXT.into()))) } else { (text, ground) };
    let mut svg = String::new();
    if let Some(ground) = ground {
        let (left, top, wide, high) = (x * CELL.0, row * CELL.1, count * CELL.0, CELL.1);
        svg += &format!("<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\" fill=\"{ground}\"/>\n");
    }
    let mut style = text.map_or(String::new(), |colour| format!(" fill=\"{colour}\""));
    for (modifier, attribute) in [
        (Modifier::BOLD, " font-weight=\"bold\""),
        (Modifier::UNDERLINED, " text-decoration=\"underline\""),
        (Modifier::DIM, " opacity=\"0.6\""),
    ] {
        style += if cell.modifier.contains(modifier) { attribute } else { "" };
    }
    svg + &glyphs(symbols, (x, row), &style)
}

/// A text from column `x` on, without the blanks around it.
fn glyphs(text: &str, (x, row): (usize, usize), style: &str) -> String {
    let trimmed = text.trim_start_matches(' ');
    let x = x + text.len() - trimmed.len();
    let trimmed = trimmed.trim_end_matches(' ');
    if trimmed.is_empty() {
        return String::new();
    }
    let (left, base, wide) = (x * CELL.0, (row + 1) * CELL.1 - 4, columns(trimmed) * CELL.0);
    let escaped = crate::debug::export::xml_escaped(trimmed);
    format!("<text x=\"{left}\" y=\"{base}\" textLength=\"{wide}\" xml:space=\"preserve\"{style}>{escaped}</text>\n")
}

/// The colour as `#rrggbb`; none for that of the terminal.
fn hex(colour: Color) -> Option<String> {
    let named = |index: usize| Some(COLOURS[index].to_string());
    match colour {
        Color::Reset => None,
        Color::Black => named(0),
        Color::Red => named(1),
        Color::Green => named(2),
        Color::Yellow => named(3),
        Color::Blue => named(4),
        Color::Magenta => named(5),
        Color::Cyan => named(6),
        Color::Gray => named(7),
        Color::DarkGray => named(8),
        Color::LightRed => named(9),
        Color::LightGreen => named(10),
        Color::LightYellow => named(11),
        Color::LightBlue => named(12),
        Color::LightMagenta => named(13),
        Color::LightCyan => named(14),
        Color::White => named(15),
        Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
        Color::Indexed(index @ 0..16) => named(usize::from(index)),
        // The cube of 216 colours and the ramp of 24 greys of xterm.
        Color::Indexed(index @ 16..232) => {
            let level = |digit: u8| if digit == 0 { 0 } else { 55 + 40 * digit };
            let index = index - 16;
            Some(format!("#{:02x}{:02x}{:02x}", level(index / 36), level(index / 6 % 6), level(index % 6)))
        }
        Color::Indexed(index) => {
            let grey = 8 + 10 * (index - 232);
            Some(format!("#{grey:02x}{grey:02x}{grey:02x}"))
        }
    }
}

/// The width of a text in columns.
fn columns(text: &str) -> usize {
    ratatui::text::Line::raw(text).width()
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    fn drawn() -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 2));
        buffer.set_string(0, 0, "a<b", Style::new().fg(Color::Indexed(196)));
        buffer.set_string(2, 1, "幅 c", Style::new().bg(Color::Indexed(244)).add_modifier(Modifier::BOLD));
        buffer
    }

    #[test]
    fn rows_are_written_as_text() {
        assert_eq!(text(&drawn(), &["\x1b[1m(ptxdbg)\x1b[0m x".to_string()]), "a<b\n  幅 c\n(ptxdbg) x\n");
    }

    #[test]
    fn what_follows_a_wide_character_of_one_look_stays_beside_it() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 10, 1));
        buffer.set_string(0, 0, "幅c", Style::new());
        assert!(svg(&buffer, &[]).contains(">幅c</text>"));
    }

    /// The colours are those of xterm's table: 196 is ff0000, 244 is 808080.
    #[test]
    fn a_picture_has_colours_and_no_bare_signs() {
        let picture = svg(&drawn(), &["1 < 2".to_string()]);
        assert!(picture.contains("fill=\"#ff0000\">a&lt;b</text>"), "{picture}");
        assert!(picture.contains("fill=\"#808080\"") && picture.contains("font-weight=\"bold\">幅</text>"), "{picture}");
        assert!(picture.contains(">1 &lt; 2</text>") && picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    }
}
