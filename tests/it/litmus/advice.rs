//! What `explore --memory weak` advises fixes the program: the advice is taken by its words, and the changed text is explored again.

use std::collections::BTreeMap;

use super::pairs::{ALGORITHMS, explored_text, module};

/// The findings of stale loads in what `explore` says, each from its title on.
fn stale(text: &str) -> Vec<&str> {
    let all = text.match_indices("memory.stale:").map(|(place, _)| &text[place..]);
    all.map(|rest| rest.find("\n   in ").map_or(rest, |end| &rest[..end])).collect()
}

/// The number after a word.
fn number_after(text: &str, word: &str) -> usize {
    let rest = text.split_once(word).unwrap_or_else(|| panic!("no '{word}' in '{text}'")).1;
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
}

/// A module with what one part of an advice says.
#[derive(Default)]
struct Changed {
    lines: Vec<String>,
    before: BTreeMap<usize, Vec<String>>,
}

impl Changed {
    fn put(&mut self, fence: &str, line: usize) {
        self.before.entry(line).or_default().push(format!("{fence};"));
    }

    fn apply(&mut self, part: &str) {
        let fence = || part[part.find("fence.").unwrap()..].split(' ').next().unwrap().to_string();
        if part.starts_with("make the fence of line ") {
            let line = number_after(part, "line ");
            self.lines[line - 1] = format!("{};", fence());
        } else if part.contains("put ") && part.contains(" between line ") {
            self.put(&fence(), number_after(part, " and line "));
        } else if part.contains("put ") {
            for (place, word) in part.match_indices(" before line ").chain(part.match_indices(" after line ")) {
                let is_after = usize::from(word.contains("after"));
                self.put(&fence(), number_after(&part[place..], word) + is_after);
            }
        } else if let Some((_, scope)) = part.split_once(" relaxed or stronger, of the scope ") {
            let line = &mut self.lines[number_after(part, "line ") - 1];
            let plain = line.replace(".volatile", "").replace(".weak", "");
            *line = plain.replacen("ld", &format!("ld.relaxed{scope}"), 1).replacen("st", &format!("st.relaxed{scope}"), 1);
        } else {
            let line = &mut self.lines[number_after(part, "line ") - 1];
            assert!(part.starts_with("widen the scope of line "), "{part}");
            *line = line.replace(".cta", ".gpu").replace(".cluster", ".gpu");
        }
    }

    fn text(&self) -> String {
        let mut all = String::new();
        for (line, number) in self.lines.iter().zip(1..) {
            self.before.get(&number).into_iter().flatten().for_each(|fence| all += &format!("{fence}\n"));
            all += &format!("{line}\n");
        }
        all
    }
}

#[test]
fn what_is_advised_for_a_missing_link_fixes_the_algorithm() {
    let is_sweep = std::env::var_os("PTXDBG_LITMUS_RUNS").is_some();
    let folder = tempfile::tempdir().unwrap();
    let (mut problems, mut fixed) = (Vec::new(), 0);
    let slow = ["work-stealing deque", "MCS lock", "seqlock"];
    for algorithm in ALGORITHMS.iter().filter(|algorithm| is_sweep || !slow.contains(&algorithm.name)) {
        for (place, link) in algorithm.wrong {
            let mut links = algorithm.right.to_vec();
            links[*place] = link;
            let text = module(algorithm, &links);
            let said = explored_text(algorithm, &text, folder.path());
            let found = stale(&said);
            if found.is_empty() {
                continue;
            }
            let mut changed = Changed { lines: text.lines().map(str::to_string).collect(), ..Changed::default() };
            for finding in &found {
                let fix = finding.split_once("\n   fix  ").map_or("", |(_, fix)| fix.lines().next().unwrap_or_default());
                let Some((advice, _)) = fix.split_once("; with that ") else {
                    problems.push(format!("{}, ${place} = '{link}': no remedy was found\n{finding}", algorithm.name));
                    continue;
                };
                advice.split(", and ").for_each(|part| changed.apply(part));
            }
            let again = explored_text(algorithm, &changed.text(), folder.path());
            if again.contains("memory.stale") {
                problems.push(format!("{}, ${place} = '{link}' is not fixed\n{}\n{said}\n{again}", algorithm.name, changed.text()));
            } else {
                fixed += 1;
            }
        }
    }
    assert!(problems.is_empty(), "{fixed} fixed, {}", problems.join("\n\n"));
    assert!(fixed >= 20, "only {fixed} were found and fixed");
}
