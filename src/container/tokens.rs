//! A minimal tokenizer of PTX: enough to list the kernels of a module without parsing it.

/// True for the bytes of names, opcodes, registers and numbers. A table: a library has hundreds of megabytes of them.
const IN_NAME: [bool; 256] = {
    let (mut table, mut byte) = ([false; 256], 0);
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric() || matches!(byte as u8, b'_' | b'$' | b'%' | b'.');
        byte += 1;
    }
    table
};

/// The tokens of a PTX text: names with dots and percent signs, numbers, and single characters. Comments and strings are skipped.
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    /// The tokens of `text`.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Offset after the last token.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The next token, without advancing.
    pub fn peek(&mut self) -> Option<&'a str> {
        let at = self.at;
        let token = self.next();
        self.at = at;
        token
    }

    /// Skips, after `{`, up to its `}`.
    pub fn skip_block(&mut self) {
        // Debug data is a block of plain lines, and longer than the rest of a module.
        let block = self.text[self.at..].split('}').next().unwrap_or_default();
        let last_line = block.rsplit('\n').next().unwrap_or_default();
        if !last_line.contains("//") && !['{', '"', '*'].iter().any(|other| block.contains(*other)) {
            self.at = (self.at + block.len() + 1).min(self.text.len());
            return;
        }
        let mut depth = 1;
        for token in self.by_ref() {
            depth = depth + i32::from(token == "{") - i32::from(token == "}");
            if depth == 0 {
                return;
            }
        }
    }

    fn skip_past(&mut self, end: &str) {
        self.at = self.text[self.at..].find(end).map_or(self.text.len(), |found| self.at + found + end.len());
    }

    /// Skips white space, comments and strings.
    fn skip(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            self.at += bytes[self.at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match bytes.get(self.at..) {
                Some([b'/', b'/', ..]) => self.skip_past("\n"),
                Some([b'/', b'*', ..]) => {
                    self.at += 2;
                    self.skip_past("*/");
                }
                Some([b'"', ..]) => {
                    self.at += 1;
                    self.skip_past("\"");
                }
                Some(_) | None => return,
            }
        }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        self.skip();
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|byte| IN_NAME[usize::from(*byte)]).count();
        let length = if length > 0 { length } else { rest.chars().next()?.len_utf8() };
        self.at += length;
        Some(&rest[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_end_with_their_braces() {
        let rest = |text: &str| {
            let mut tokens = Tokens::new(text);
            tokens.skip_block();
            text[tokens.position()..].to_string()
        };
        for block in [" .b8 1 // one\n .b8 2\n }", "// }\n}", "/* } */ }", "\"}\" }", "{ { } }}", "}"] {
            assert_eq!(rest(&format!("{block} after")), " after", "{block}");
            assert_eq!(rest(&block[..block.len() - 1]), "");
        }
    }

    #[test]
    fn comments_and_strings_are_skipped() {
        let text = "ld.global [%rd1+4]; // no\n/* no */ .file 1 \"a b\" §x /* open";
        let tokens: Vec<&str> = Tokens::new(text).collect();
        assert_eq!(tokens, ["ld.global", "[", "%rd1", "+", "4", "]", ";", ".file", "1", "§", "x"]);
    }
}
