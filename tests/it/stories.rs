//! The stories of `docs/stories`: the sessions of the tours as pages. `PTXDBG_BLESS=1 cargo test --test it stories::` writes them.

#![expect(clippy::unwrap_used, reason = "a test that cannot read or write its page fails")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use ptxdbg::ui::tour::{STORIES, Story};

/// The transcripts of the tours, in their order. They are read where they lie, so that pages are those of what was blessed last.
const TRANSCRIPTS: [&str; 5] = ["story_race", "story_divergent_loop", "story_pipeline", "story_deadlock", "story_wrong_lane"];

/// A page: the introduction, how it begins, and each line that is typed with its reason before it and its answer below it.
fn page(story: &Story, transcript: &str) -> String {
    let Story { name, about, whys, .. } = story;
    let (head, session) = transcript.split_at(transcript.find("$ ptxdbg").unwrap());
    let (command, session) = session.split_once('\n').unwrap();
    let introduction: String = head.lines().map(|line| format!("{}\n", line.trim_start_matches("# "))).collect();
    let mut text = format!(
        "# {name}: {about}\n\n{introduction}\nThe same session as a tour, which says what to type: `ptxdbg --tour {name}`. \
         From a clone:\n\n```\n{command}\n```\n"
    );
    let steps = session.split("(ptxdbg) ").filter(|step| !step.is_empty());
    for (step, why) in steps.zip(whys.iter()) {
        let mut letters = why.chars();
        let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
        text += &format!("\n{first}{}:\n\n```text\n(ptxdbg) {}\n```\n", letters.as_str(), step.trim_end());
    }
    text
}

#[test]
fn the_pages_are_the_sessions_of_the_tours() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/stories");
    for (story, transcript) in STORIES.iter().zip(TRANSCRIPTS) {
        let transcripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/transcripts");
        let transcript = fs::read_to_string(transcripts.join(format!("{transcript}.txt"))).unwrap();
        let (path, text) = (folder.join(format!("{}.md", story.name)), page(story, &transcript));
        if std::env::var_os("PTXDBG_BLESS").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let written = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(written, text, "run PTXDBG_BLESS=1 cargo test --test it stories:: and read the difference");
    }
}

#[test]
fn the_readme_links_every_story() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    // The first screen of the page.
    let first: String = readme.lines().take(45).collect();
    for story in &STORIES {
        assert!(first.contains(&format!("docs/stories/{}.md", story.name)), "{}", story.name);
    }
}

#[test]
fn every_tour_begins_with_its_first_step_from_the_binary_alone() {
    for Story { name, .. } in &STORIES {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ptxdbg"));
        let mut tour = command.args(["--tour", name]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        tour.stdin.take().unwrap().write_all(b"quit\n").unwrap();
        let output = tour.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains(&format!("tour {name} 1/")), "{name}: {text}");
    }
}
