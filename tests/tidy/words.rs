//! Words that are not used, in identifiers, comments, messages, help and man pages, each with what to say instead.
//!
//! Threads, observers and callers are things: "the thread that", not "who". A concept has one term: CONTRIBUTING.md's glossary.

use super::source::{File, line_of};

/// A word, or a phrase of two, and what to say instead.
const WORDS: &[(&str, &str)] = &[
    ("nobody", "no thread, no warp, nothing"),
    ("somebody", "a thread, a caller"),
    ("someone", "a thread, a caller"),
    ("anybody", "any thread, anything"),
    ("everybody", "all threads, all warps"),
    ("whoever", "the thread that, what"),
    ("whom", "which"),
    ("who", "the thread that, which, what"),
    ("behind", "after"),
    ("so many", "N"),
    ("told", "reported, described, shown"),
    ("tell", "report, describe, show, distinguish"),
    ("tells", "reports, describes, shows, distinguishes"),
    ("telling", "reporting, describing"),
    ("heed", "use"),
    ("heeds", "uses"),
    ("mend", "fix"),
    ("mends", "fixes"),
    ("mended", "fixed"),
    ("patience", "completion policy, timeout"),
    ("course", "run, control flow"),
    ("crew", "warps"),
    ("crowd", "occupancy, lanes"),
    ("settle", "canonicalize, complete"),
    ("settles", "completes"),
    ("settled", "completed"),
    ("stuck", "deadlocked, waiting"),
    ("deed", "access, action"),
    ("deeds", "accesses, actions"),
    ("desk", "state"),
    ("shelf", "layouts"),
    ("sight", "view state"),
    ("blame", "fault context, cause"),
    ("blamed", "caused by"),
    ("steer", "scheduler lock"),
    ("upon", "on"),
    ("hence", "so"),
    ("parting", "diverging, separating"),
    ("parted", "diverged, separated"),
    ("barrier object", "mbarrier"),
    ("narrow place", "dummy vertex"),
    ("stood still", "is unchanged, did not run"),
    ("rescue", "save, restore"),
    ("rescued", "saved, restored"),
];

/// Each word of the table that `file` has, with its place.
pub fn word_problems(file: &File) -> Vec<String> {
    let words = words(&file.text);
    let mut problems = Vec::new();
    for (index, (at, word)) in words.iter().enumerate() {
        let next = words.get(index + 1).map_or("", |(_, next)| next.as_str());
        let pair = format!("{word} {next}");
        for (bad, instead) in WORDS.iter().filter(|(bad, _)| bad == word || *bad == pair) {
            problems.push(format!("{}:{}: '{bad}' is not used here: say {instead}", file.path, line_of(&file.text, *at)));
        }
    }
    problems
}

/// The words of a text in lower case, each with its offset; the parts of a name in snake or camel case are words of their own.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut last = None;
    for (at, c) in text.char_indices() {
        let starts = !matches!(last, Some(before) if char::is_alphabetic(before) && !(before.is_lowercase() && c.is_uppercase()));
        if c.is_alphabetic() {
            if starts {
                words.push((at, String::new()));
            }
            if let Some((_, word)) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        last = Some(c);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_names_and_prose() {
        let file = File::new("x.md", "tell_mbarrier\nCopyDeeds, the shelf\nand so\nmany; retell, courses");
        let places: Vec<String> = word_problems(&file).iter().filter_map(|problem| Some(problem.split(": ").next()?.to_string())).collect();
        assert_eq!(places, ["x.md:1", "x.md:2", "x.md:2", "x.md:3"]);
    }
}
