//! Tours: sessions on kernels that are in the program, which say what to type next and why, and check that it was typed.
//!
//! The steps of a tour are the lines that are typed in its transcript (`fixtures/transcripts/story_*.txt`), so what they answer is tested;
//! `docs/stories` shows the same sessions as pages.

use std::path::{Path, PathBuf};

use crate::command::parse;

/// A tour.
#[derive(Debug)]
pub struct Story {
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// The launch file, one of `files`.
    pub launch: &'static str,
    /// The kernel, if the launch file has several.
    pub kernel: Option<&'static str>,
    /// The names and contents of its files.
    files: &'static [(&'static str, &'static [u8])],
    /// The whole session.
    transcript: &'static str,
    /// Why each line is typed.
    pub whys: &'static [&'static str],
}

/// All tours.
pub static STORIES: [Story; 5] = [
    Story {
        name: "race",
        about: "a missing __syncthreads(): both sides of a race",
        launch: "shared_raw.ron",
        kernel: Some("shared_raw_bug"),
        files: &[
            ("shared_raw.ron", include_bytes!("../../fixtures/gallery/shared_raw.ron")),
            ("shared_raw.ptx", include_bytes!("../../fixtures/gallery/shared_raw.ptx")),
        ],
        transcript: include_str!("../../fixtures/transcripts/story_race.txt"),
        whys: &[
            "runs the kernel until something is wrong",
            "goes back to the first of the two accesses, before it happens",
            "shows the register that is read, in all lanes of the warp",
            "goes to the other access",
            "shows where all threads stand at that moment",
            "says what orders the two sides, and what is missing",
            "runs on, past the finding",
            "lists what was found in the whole run",
            "lists the checkers that watched",
            "runs backwards, to the last stop before",
        ],
    },
    Story {
        name: "divergence",
        about: "a loop whose lanes go different ways, and meet again",
        launch: "collatz.ron",
        kernel: None,
        files: &[
            ("collatz.ron", include_bytes!("../../fixtures/debug/collatz.ron")),
            ("collatz.ptx", include_bytes!("../../fixtures/debug/collatz.ptx")),
            ("collatz.cu", include_bytes!("../../fixtures/debug/collatz.cu")),
        ],
        transcript: include_str!("../../fixtures/transcripts/story_divergent_loop.txt"),
        whys: &[
            "runs until the focused lane stands at the branch",
            "shows the predicate of the branch in all lanes: half of them will take it",
            "says what the branch does, and which lanes take it",
            "takes the branch: the warp splits",
            "shows the groups, and where they will meet: lane 0 has left the loop before",
            "shows the control flow, with the lanes in each block",
            "goes on with the group that runs",
            "goes on again",
            "shows how far each group is",
            "steps to another line, over a call",
            "shows the groups again",
            "shows the value in all lanes: only some have computed it",
            "goes one instruction back",
            "shows the groups as they were",
            "keeps the focus on its lane while others run",
            "looks at a lane of the other group",
            "waits until that lane runs",
            "runs until the groups meet",
            "shows that they have met",
            "lists all writes to the register, with the lanes",
        ],
    },
    Story {
        name: "pipeline",
        about: "asynchronous copies in two stages: what is in flight when",
        launch: "mbar_pipeline.ron",
        kernel: None,
        files: &[
            ("mbar_pipeline.ron", include_bytes!("../../fixtures/programs/mbar_pipeline.ron")),
            ("mbar_pipeline.ptx", include_bytes!("../../fixtures/programs/mbar_pipeline.ptx")),
            ("mbar_pipeline.cu", include_bytes!("../../fixtures/programs/mbar_pipeline.cu")),
            ("data/mbar_pipeline.x.bin", include_bytes!("../../fixtures/programs/data/mbar_pipeline.x.bin")),
            ("data/mbar_pipeline.y.out", include_bytes!("../../fixtures/programs/data/mbar_pipeline.y.out")),
            ("data/mbar_pipeline.in.bin", include_bytes!("../../fixtures/programs/data/mbar_pipeline.in.bin")),
            ("data/mbar_pipeline.sums.out", include_bytes!("../../fixtures/programs/data/mbar_pipeline.sums.out")),
        ],
        transcript: include_str!("../../fixtures/transcripts/story_pipeline.txt"),
        whys: &[
            "stops once, where the first stage's copies are committed",
            "runs there",
            "lists the copies in flight, and their open group",
            "looks at the stage: what is in flight has no value yet",
            "commits the group",
            "shows the group as committed",
            "stops once, where the kernel waits for a stage",
            "runs there",
            "shows both stages in flight",
            "waits: the older group ends",
            "shows what is left in flight",
            "the first stage holds its data now",
            "and the second does not",
            "goes to the next launch, whose stages are mbarriers in place of groups",
            "runs to where a warp asks whether a stage is free again",
            "lists the mbarriers: which phase each is in, and what has arrived",
            "shows over time when each stage was filled, full and read",
        ],
    },
    Story {
        name: "hang",
        about: "a barrier that is never complete",
        launch: "barrier_deadlock.ron",
        kernel: None,
        files: &[
            ("barrier_deadlock.ron", include_bytes!("../../fixtures/faults/barrier_deadlock.ron")),
            ("barrier_deadlock.ptx", include_bytes!("../../fixtures/faults/barrier_deadlock.ptx")),
        ],
        transcript: include_str!("../../fixtures/transcripts/story_deadlock.txt"),
        whys: &[
            "runs until no warp can make progress, and says what each warp waits for",
            "lists what was found",
            "shows the barriers: which warps have arrived, which have not",
            "shows the warps, and what they wait for",
            "shows the groups of the focused warp",
            "says what the instruction here does, and that the warp waits at it",
            "shows the text around it",
            "looks at the other warp",
            "says what that one waits for",
            "finds what decided its way: the predicate's last write",
            "goes back to before the wait",
            "shows the predicate in all lanes",
            "runs to the barrier again",
        ],
    },
    Story {
        name: "wrong-lane",
        about: "one wrong element, traced back to the instruction that is wrong",
        launch: "ring_sum.ron",
        kernel: None,
        files: &[
            ("ring_sum.ron", include_bytes!("../../fixtures/debug/ring_sum.ron")),
            ("ring_sum.ptx", include_bytes!("../../fixtures/debug/ring_sum.ptx")),
        ],
        transcript: include_str!("../../fixtures/transcripts/story_wrong_lane.txt"),
        whys: &[
            "runs to the end; the result is there",
            "shows the result: the last element is wrong",
            "finds the store that wrote it",
            "goes to that moment",
            "looks at the lane that stored it",
            "shows the stored register in all lanes",
            "finds what computed it",
            "goes there",
            "shows the sum with its operands: one of them is wrong",
            "finds where that operand comes from",
            "goes there",
            "shows from which lane it was taken",
            "shows the lane that each lane asks for: 32 is none",
            "finds what computed it",
            "goes there",
            "shows the text: a comparison decides",
            "shows its result in all lanes: none wraps around",
            "goes to the comparison",
            "shows it as an equation: 32 is compared where 31 is the last lane",
            "goes to after it",
            "sets the predicate that it should have had",
            "runs to the end with that change",
            "shows that the result is right now",
        ],
    },
];

impl Story {
    /// The tour called `name`.
    pub fn called(name: &str) -> Option<&'static Self> {
        STORIES.iter().find(|story| story.name == name)
    }

    /// Writes its files to `folder`; returns the path of the launch file.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn write(&self, folder: &Path) -> std::io::Result<PathBuf> {
        for (name, contents) in self.files {
            let file = folder.join(name);
            file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
            std::fs::write(file, contents)?;
        }
        Ok(folder.join(self.launch))
    }

    /// The lines that are typed, each with the reason.
    fn steps(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.transcript.lines().filter_map(|line| line.strip_prefix("(ptxdbg) ")).zip(self.whys.iter().copied())
    }

    /// The introduction: what stands before the command line of the transcript.
    fn introduction(&self) -> String {
        let lines = self.transcript.lines().take_while(|line| !line.starts_with("$ "));
        lines.map(|line| format!("{}\n", line.trim_start_matches("# "))).collect()
    }
}

/// A tour that is under way.
pub struct Tour {
    story: &'static Story,
    /// The number of steps that were taken.
    taken: usize,
    /// False while it is left.
    is_shown: bool,
}

impl Tour {
    /// A tour at its first step.
    pub fn new(story: &'static Story) -> Self {
        Self { story, taken: 0, is_shown: true }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.story.name
    }

    /// The introduction and the first step.
    pub fn welcome(&self) -> String {
        let hint =
            "Type what is shown, or look around: the tour waits. 'tour' shows the step again, 'tour next' skips it, 'tour leave' ends it.";
        format!("{}{hint}\n{}", self.story.introduction(), self.step())
    }

    /// The present step: what to type, and why.
    pub fn step(&self) -> String {
        let count = self.story.whys.len();
        match self.story.steps().nth(self.taken) {
            Some((line, why)) => format!("── tour {} {}/{count} ── type: {line}   ({why})\n", self.story.name, self.taken + 1),
            None => format!("── tour {} is over ── others: {}\n", self.story.name, other_names(self.story.name)),
        }
    }

    /// Takes the present step if `line` is what it asks for; returns what comes next.
    pub fn typed(&mut self, line: &str) -> Option<String> {
        let (wanted, _) = self.story.steps().nth(self.taken)?;
        (self.is_shown && is_same(line, wanted)).then(|| self.skip())
    }

    /// Takes the present step; returns what comes next.
    pub fn skip(&mut self) -> String {
        self.taken = (self.taken + 1).min(self.story.whys.len());
        self.step()
    }

    /// Leaves the tour, or comes back to it.
    pub fn show(&mut self, is_shown: bool) -> String {
        self.is_shown = is_shown;
        if is_shown { self.step() } else { "the tour is left: 'tour resume' goes on with it\n".to_string() }
    }
}

/// The names of the tours but one.
fn other_names(name: &str) -> String {
    STORIES.iter().filter(|story| story.name != name).map(|story| start(story.name)).collect::<Vec<_>>().join(", ")
}

/// The command line that begins the tour called `name`.
pub fn start(name: &str) -> String {
    format!("ptxdbg --tour {name}")
}

/// The names of the tours with what they show, a line each.
pub fn listing() -> String {
    STORIES.iter().map(|story| format!("  ptxdbg --tour {:10}  {}\n", story.name, story.about)).collect()
}

/// True if two lines are the same command with the same arguments.
fn is_same(line: &str, wanted: &str) -> bool {
    match (parse(line), parse(wanted)) {
        (Ok(one), Ok(other)) => {
            let texts = |call: &crate::command::Call| call.args.iter().map(|arg| arg.argument.text.clone()).collect::<Vec<_>>();
            one.spec.name == other.spec.name && one.suffix == other.suffix && texts(&one) == texts(&other)
        }
        _ => line.trim() == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::{STORIES, Story, Tour};

    #[test]
    fn every_step_has_a_reason() {
        for story in &STORIES {
            let lines = story.transcript.lines().filter(|line| line.starts_with("(ptxdbg) ")).count();
            assert_eq!(story.whys.len(), lines, "{}", story.name);
        }
    }

    #[test]
    fn the_command_knows_all_tours() {
        assert_eq!(STORIES.each_ref().map(|story| story.name), crate::command::TOURS);
    }

    #[test]
    fn a_step_is_taken_where_it_is_typed() {
        let mut tour = Tour::new(Story::called("race").unwrap_or(&STORIES[0]));
        assert_eq!(tour.typed("info threads"), None);
        assert!(tour.typed("r").is_some_and(|next| next.contains("goto finding 1 first")));
        tour.show(false);
        assert_eq!(tour.typed("goto finding 1 first"), None);
        assert!(tour.show(true).contains("2/10"));
    }
}
