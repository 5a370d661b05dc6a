//! Command lines that are not valid UTF-8 or cannot be read.

use crate::base::save::cause;
use crate::command::CommandError;

/// A line with a byte that is not UTF-8.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The line, with U+FFFD in place of bytes that are not UTF-8; empty if it could not be read.
    pub line: String,
    /// The error.
    pub error: CommandError,
    /// File and line, unless it was typed at a prompt.
    pub place: Option<String>,
}

impl BadLine {
    /// A line that could not be read.
    pub fn unreadable(error: &std::io::Error) -> Self {
        Self { line: String::new(), error: CommandError::new(format!("cannot be read: {}", cause(error))), place: None }
    }
}

/// Decodes the bytes of a line as UTF-8.
///
/// # Errors
/// A byte is not UTF-8: the first such byte and its column.
pub fn text_of(bytes: Vec<u8>) -> Result<String, BadLine> {
    String::from_utf8(bytes).map_err(|error| {
        let start = error.utf8_error().valid_up_to();
        let byte = error.as_bytes().get(start).copied().unwrap_or_default();
        let line = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let end = start + char::REPLACEMENT_CHARACTER.len_utf8();
        BadLine { line, error: CommandError::at(start..end, format!("byte {byte:#04x} is not UTF-8")), place: None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_that_is_no_text_is_reported_with_its_column() {
        assert_eq!(text_of("é = 1".as_bytes().to_vec()), Ok("é = 1".to_string()));
        let bad = text_of(b"\xc3\xa9cho \xff\xfe".to_vec()).unwrap_err();
        assert_eq!(bad.line, "écho \u{fffd}\u{fffd}");
        assert_eq!(bad.error.column(&bad.line), Some(6));
        assert_eq!(bad.error.message, "byte 0xff is not UTF-8");
    }
}
