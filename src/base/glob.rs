//! Shell-style patterns: `*` stands for any letters, `?` for one, and `[abc]`, `[a-z]` and `[!abc]` for one of a set.

/// A pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    tokens: Vec<Token>,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// `*`
    Any,
    /// `?`
    One,
    /// This letter.
    Letter(char),
    /// A letter that is in one of the ranges, or in none of them.
    Set { ranges: Vec<(char, char)>, inside: bool },
}

impl Glob {
    /// A pattern with stars, question marks and sets; `None` if a set is not closed.
    pub fn with_sets(text: &str) -> Option<Self> {
        let letters: Vec<char> = text.chars().collect();
        let mut tokens = Vec::new();
        let mut rest = letters.as_slice();
        while let [first, after @ ..] = rest {
            let (token, after) = if *first == '[' { set(after)? } else { (single(*first), after) };
            tokens.push(token);
            rest = after;
        }
        Some(Self { tokens })
    }

    /// A pattern with stars and question marks, for names in which brackets stand for themselves.
    pub fn without_sets(text: &str) -> Self {
        Self { tokens: text.chars().map(single).collect() }
    }

    /// True if it matches one text alone.
    pub fn is_literal(&self) -> bool {
        self.tokens.iter().all(|token| matches!(token, Token::Letter(_)))
    }

    /// True if it matches `text`.
    pub fn matches(&self, text: &str) -> bool {
        matches(&self.tokens, &text.chars().collect::<Vec<_>>())
    }
}

/// The token of a letter outside of a set.
fn single(letter: char) -> Token {
    match letter {
        '*' => Token::Any,
        '?' => Token::One,
        letter => Token::Letter(letter),
    }
}

/// The set that starts after its `[`, and what follows its `]`. A leading `]` is a member of the set.
fn set(letters: &[char]) -> Option<(Token, &[char])> {
    let (inside, letters) = match letters {
        ['!' | '^', rest @ ..] => (false, rest),
        all => (true, all),
    };
    let end = letters.iter().skip(1).position(|letter| *letter == ']')? + 1;
    let (mut members, rest) = (letters.get(..end)?, letters.get(end + 1..)?);
    let mut ranges = Vec::new();
    loop {
        members = match members {
            [] => return Some((Token::Set { ranges, inside }, rest)),
            [low, '-', high, after @ ..] => {
                ranges.push((*low, *high));
                after
            }
            [one, after @ ..] => {
                ranges.push((*one, *one));
                after
            }
        };
    }
}

/// True if the tokens match all letters. Backtracking returns only to the last star.
fn matches(tokens: &[Token], letters: &[char]) -> bool {
    let (mut token, mut letter) = (0, 0);
    let mut retry = None;
    while letter < letters.len() {
        match tokens.get(token) {
            Some(Token::Any) => {
                token += 1;
                retry = Some((token, letter));
            }
            Some(single) if is_letter(single, letters[letter]) => {
                token += 1;
                letter += 1;
            }
            _ => {
                let Some((after_star, from)) = retry else { return false };
                (token, letter) = (after_star, from + 1);
                retry = Some((after_star, letter));
            }
        }
    }
    tokens.iter().skip(token).all(|token| *token == Token::Any)
}

fn is_letter(token: &Token, letter: char) -> bool {
    match token {
        Token::Any => false,
        Token::One => true,
        Token::Letter(wanted) => *wanted == letter,
        Token::Set { ranges, inside } => ranges.iter().any(|(low, high)| (*low..=*high).contains(&letter)) == *inside,
    }
}
