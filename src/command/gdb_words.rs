//! Words of gdb and cuda-gdb that are no commands here. Each has one line: what does it here, or why nothing has to be done.
//!
//! A line that begins with a word that needs nothing succeeds, so that start-up files and scripts of gdb go on; other words are errors,
//! since what they ask for has not been done.

use super::error::CommandError;
use super::outcome::Outcome;

/// A word of gdb, or several at the beginning of a line.
pub struct GdbWord {
    /// The words, as gdb has them in full.
    pub words: &'static str,
    /// True if nothing has to be done, because it is always so here, or does not exist.
    pub is_needless: bool,
    /// The line about it.
    pub about: &'static str,
}

/// What is always so here, or does not exist: nothing has to be done.
const fn needless(words: &'static str, about: &'static str) -> GdbWord {
    GdbWord { words, is_needless: true, about }
}

/// What something else does, or nothing.
const fn elsewhere(words: &'static str, about: &'static str) -> GdbWord {
    GdbWord { words, is_needless: false, about }
}

/// All words, by topic.
pub const GDB_WORDS: &[GdbWord] = &[
    // Running.
    elsewhere(
        "jump",
        "a recorded run cannot be sent elsewhere: 'advance' and 'goto' go to places and times, 'set PLACE = VALUE' changes it",
    ),
    elsewhere("call", "functions of a module are called by its kernels alone: 'print' computes an expression"),
    elsewhere("return", "a frame cannot be left early: 'finish' runs to its return, 'set PLACE = VALUE' changes what it computes"),
    elsewhere("frame apply", "'backtrace' lists the frames: 'frame N' selects one, and 'print' and 'info locals' are for it"),
    elsewhere("select-frame", "'frame N' selects a frame"),
    elsewhere("compile", "no code is compiled here: 'print' computes an expression, 'set PLACE = VALUE' changes a value"),
    elsewhere("when-ticks", "'when' says where the run is: times are ticks"),
    elsewhere("seek-ticks", "'goto T' goes to a time"),
    elsewhere("elapsed-time", "'when' says where the run is"),
    elsewhere("kill", "there is no process to kill: 'start' goes to the beginning, 'launch' begins anew, 'quit' leaves"),
    elsewhere("attach", "a kernel is run here, not attached to: 'ptxdbg capture' takes launches of a program on a GPU"),
    elsewhere("detach", "there is no process to leave: 'quit' leaves"),
    elsewhere("signal", "kernels get no signals: 'continue' goes on"),
    needless("handle", "kernels get no signals; Ctrl-C stops a run"),
    elsewhere("target", "kernels run here, on the simulated GPU: 'info target' says on which"),
    elsewhere("file", "a session is of one module: start 'ptxdbg FILE', or change the launch with 'launch'"),
    elsewhere("exec-file", "a session is of one module: start 'ptxdbg FILE'"),
    elsewhere("symbol-file", "names and lines are those of the module: start 'ptxdbg FILE' with PTX made by nvcc -G or -lineinfo"),
    elsewhere("add-symbol-file", "names and lines are those of the module: start 'ptxdbg FILE' with PTX made by nvcc -G or -lineinfo"),
    elsewhere("directory", "-I DIR on the command line says where source files lie"),
    needless("record", "every run is recorded: 'reverse-continue', 'reverse-stepi' and 'goto' go back, 'when' says how far it goes"),
    needless("info record", "every run is recorded: 'when' says how far"),
    needless("autostep", "every instruction is exact here: a fault stops where it is"),
    needless("info autosteps", "every instruction is exact here: a fault stops where it is"),
    elsewhere("tstart", "'dprintf' prints where threads pass without stopping; 'history PLACE' needs no trace, every run is recorded"),
    elsewhere("trace", "'dprintf' prints where threads pass without stopping; 'history PLACE' needs no trace, every run is recorded"),
    elsewhere("tfind", "'goto' and 'find' go to any time of the recorded run"),
    elsewhere("inferior", "there is one kernel at a time: 'goto launch N' goes to a launch of the file"),
    elsewhere("add-inferior", "there is one kernel at a time: a launch file has several launches in order"),
    elsewhere(
        "save breakpoints",
        "'save session FILE' keeps breakpoints, marks, displays and the position: 'source FILE' brings them back",
    ),
    elsewhere("enable once", "'tbreak' stops once: it is deleted where it stops"),
    elsewhere("enable delete", "'tbreak' stops once: it is deleted where it stops"),
    elsewhere("generate-core-file", "'bundle FILE' writes all that this session follows from"),
    elsewhere("gcore", "'bundle FILE' writes all that this session follows from"),
    elsewhere("core-file", "'ptxdbg FILE.ptxcap' opens what 'bundle' or 'ptxdbg capture' wrote"),
    elsewhere("taas", "'thread apply all COMMAND' does it for all threads of the block, errors included"),
    elsewhere("tfaas", "'thread apply all COMMAND' does it for all threads of the block"),
    elsewhere("thread name", "'role NAME THREADS' names threads: panes, findings and 'thread apply' know the name"),
    elsewhere("thread find", "'find writes by THREADS' and 'info threads' look for threads, 'thread N' goes to one"),
    elsewhere("catch throw", "kernels throw no exceptions: 'help catch' lists what it knows, a fault stops where it is"),
    elsewhere("catch catch", "kernels catch no exceptions: 'help catch' lists what it knows, a fault stops where it is"),
    elsewhere("catch syscall", "kernels make no system calls: 'help catch' lists what it knows"),
    elsewhere("catch fork", "kernels do not fork: 'help catch' lists what it knows"),
    elsewhere("stop", "'break' sets a breakpoint; hooks are the 'commands' of a breakpoint"),
    // Looking.
    elsewhere("search", "'/' in a pane of code searches it; 'list' shows lines, 'break op PATTERN' finds instructions"),
    elsewhere("forward-search", "'/' in a pane of code searches it; 'list' shows lines, 'break op PATTERN' finds instructions"),
    elsewhere("reverse-search", "'/' in a pane of code searches it, 'N' backwards; 'list -' shows the lines before"),
    elsewhere("edit", "'shell EDITOR FILE' works outside of the screen: lines are not edited here"),
    elsewhere("sizeof", "'print sizeof(EXPRESSION)' shows a size in bytes, 'whatis' a type"),
    elsewhere("monitor", "there is no server: 'info target' says on what the kernel runs"),
    elsewhere("maintenance", "there is nothing to maintain: 'info target' and 'info fidelity' say what the machine is"),
    elsewhere("compare", "'diff NAME' compares this run with a branch, 'ptxdbg compare A.ptx B.ptx' two modules"),
    elsewhere("compare-sections", "code is not loaded here: 'info source' says which text runs"),
    elsewhere("python", "Python runs outside: ptxdbg.run(...).session() drives a session from Python (docs/python.md)"),
    elsewhere("python-interactive", "Python runs outside: ptxdbg.run(...).session() drives a session from Python (docs/python.md)"),
    elsewhere("guile", "there is no scripting language inside: 'define' makes commands, ptxdbg.run(...).session() drives from Python"),
    elsewhere("if", "a script has no branches: a breakpoint has a condition ('break 37 if %r1 > 100') and 'commands'"),
    elsewhere("while", "a script has no loops: 'ignore N COUNT' and 'continue N' pass stops, 'dprintf' prints at each"),
    elsewhere("faas", "'thread apply all COMMAND' does it for threads; a frame is chosen with 'frame N'"),
    elsewhere("print-object", "there are no objects of Objective-C: 'print' shows a value"),
    elsewhere("pipe", "'ptxdbg --batch -e COMMAND FILE | PROGRAM' gives an answer to a program; '/' searches what was said"),
    elsewhere("|", "'ptxdbg --batch -e COMMAND FILE | PROGRAM' gives an answer to a program; '/' searches what was said"),
    elsewhere("with", "'set SETTING VALUE' before the command, and again after it; p/x and other suffixes are for one command"),
    elsewhere("tty", "a kernel's output is in the transcript: 'info output' shows it"),
    elsewhere("cd", "files are named from the folder in which ptxdbg was started: 'pwd' names it"),
    elsewhere("unset", "a kernel has no environment: 'launch NAME=VALUE' changes its parameters"),
    elsewhere("macro", "macros are gone before PTX is made: 'list FILE.cu:LINE' shows the source"),
    elsewhere("info macros", "macros are gone before PTX is made: 'list FILE.cu:LINE' shows the source"),
    elsewhere("info macro", "macros are gone before PTX is made: 'list FILE.cu:LINE' shows the source"),
    elsewhere("info cuda managed", "memory of the host and managed memory are one here: 'info allocations' lists buffers"),
    // The machine.
    needless(
        "info sms",
        "there are no SMs here: blocks take turns on one machine, 'info blocks' lists them, --resident says how many at once",
    ),
    needless("info devices", "there is one device, the simulated H200: 'info target' describes it"),
    needless("info exceptions", "a fault stops the run where it is, and 'info findings' lists what the checkers found"),
    needless("info launch trace", "'info launch' shows the launch: kernels of a launch file run in order"),
    needless("info launch_trace", "'info launch' shows the launch: kernels of a launch file run in order"),
    needless("info lineinfo", "'info line' and 'info source' say what comes from a line, and the line of an instruction"),
    needless("info contexts", "there is one context, that of the launch: 'info launch' and 'info allocations' show it"),
    needless("info streams", "there are no streams: launches of a file run in order, 'info launch' says which runs"),
    elsewhere("info exited", "'info warps' says which warps have exited, 'find barriers' and 'history' what they did before"),
    needless("info signals", "kernels get no signals"),
    needless("info inferiors", "there is one kernel at a time: 'info launch' shows it, 'info kernels' what the module has"),
    needless("info proc", "there is no process: 'info launch' shows the launch, 'info target' the machine"),
    needless("info program", "'when' says where the run stands, 'info threads' where its threads are"),
    needless("info sharedlibrary", "all code is in one module: 'info functions' lists it"),
    needless("info files", "'info source' names the files of an instruction, 'info allocations' what lies in memory"),
    needless("info sources", "'info source' names the files of an instruction, 'list FILE.cu:LINE' shows a text"),
    needless("info win", "'layout' shows panes: F6 goes from one to the next, Alt+z shows one alone"),
    elsewhere("info copying", "'info' lists what there is; the license lies beside the program's source"),
    elsewhere("info modules", "all code is in one module: 'info functions' lists it"),
    needless("info pretty-printer", "structures, tensors and vectors are printed by their types"),
    needless("info terminal", "a kernel has no terminal: what it prints with printf is shown"),
    elsewhere("info vtbl", "'ptype' says a type, 'x/a ADDRESS' shows addresses"),
    needless("info extensions", "a file's language follows from its debug data"),
    needless("info handle", "kernels get no signals"),
    needless("info auto-load", "nothing is loaded by itself but the start-up file, which --no-init leaves out"),
    needless("info probes", "there are none in a kernel: 'catch' and 'find' find events"),
    needless("info selectors", "there are none in PTX"),
    needless("info dcache", "memory is the simulated machine's own: nothing is kept beside it"),
    needless("info static-tracepoint-markers", "there are none in a kernel: 'dprintf' prints where a place is reached"),
    needless("info coroutines", "there are none in a kernel"),
    needless("info auxv", "there is no process"),
    needless("info os", "kernels run without an operating system"),
    elsewhere("dump memory", "'dump FILE MEMORY' writes a variable or a range: 'dump out.npy out', 'dump head.bin out[0..7]'"),
    elsewhere("dump value", "'dump FILE MEMORY' writes a variable or a range: 'dump out.npy out', 'dump head.bin out[0..7]'"),
    elsewhere("dump binary", "'dump FILE MEMORY' writes a variable or a range as it lies in memory: 'dump head.bin out[0..7]'"),
    elsewhere("append", "'dump FILE MEMORY' writes a file anew; 'export memory FILE.csv' has all of a variable"),
    // The screen.
    needless("tui", "the screen is there unless ptxdbg was started with --plain or --batch; 'layout' changes it"),
    needless("focus", "F6 and Tab go from pane to pane, and so does a click"),
    needless("fs", "F6 and Tab go from pane to pane, and so does a click"),
    needless("refresh", "Ctrl-L draws the screen anew"),
    needless("wh", "Alt+z shows the chosen pane alone; a layout file says how high panes are: 'save layout mine', edit it, 'layout mine'"),
    needless(
        "winheight",
        "Alt+z shows the chosen pane alone; a layout file says how high panes are: 'save layout mine', edit it, 'layout mine'",
    ),
    needless(
        "winwidth",
        "Alt+z shows the chosen pane alone; a layout file says how wide panes are: 'save layout mine', edit it, 'layout mine'",
    ),
    // Settings.
    needless("set height", "no answer waits for a key: 'set pagination' says whether a long one takes the room of the panes"),
    needless("set width", "lines are as long as they are; the screen breaks them"),
    needless("set print", "arrays are shown with their shape and values by their types: p/x, p/t and the other formats change that"),
    needless("set logging", "'set transcript FILE' keeps all that is said; lines typed are kept by themselves"),
    needless("set disassemble-next-line", "every stop shows the instruction that comes next"),
    needless("set disassembly-flavor", "PTX has one notation"),
    needless("set cuda break_on_launch", "'catch launch' stops where a launch begins; a session begins before the first instruction"),
    needless("set cuda memcheck", "the checkers are on unless --checks says otherwise: 'info checks' lists them"),
    needless("set cuda software_preemption", "the machine is a simulation: no display waits for it"),
    needless("set cuda", "what cuda-gdb sets for the driver needs no setting here: 'show' lists the settings"),
    needless("set step-mode", "'stepi' steps instructions, 'step' lines: 'set step-by ptx' takes lines of PTX"),
    needless("set scheduler-locking", "a step runs the focused warp alone, and others as far as it needs them: 'set step-unit' widens it"),
    needless("set history", "lines typed are kept"),
    needless("set args", "a kernel has parameters: 'launch NAME=VALUE' changes one"),
    needless("set environment", "a kernel has no environment"),
    needless("set env", "a kernel has no environment"),
    needless("set breakpoint pending", "a location is looked up when it is typed: all code is in the module"),
    needless("set can-use-hw-watchpoints", "watchpoints cost little here, and there are as many as wanted"),
    needless("set language", "expressions are those of C, over registers and the names of the source: 'help expressions'"),
    needless("set style", "'set theme' and --color change colours"),
    needless("set auto-load", "nothing is loaded by itself but the start-up file, which --no-init leaves out"),
    needless("set non-stop", "the whole machine stops, at one moment of a recorded run"),
    needless("set verbose", "there is nothing more to say"),
    needless("set prompt", "the prompt says where the focus is"),
    needless("set max-value-size", "values have no greatest size"),
    needless("set follow-fork-mode", "kernels do not fork"),
    needless("set debuginfod", "nothing is fetched"),
    needless("set editing", "the prompt has Emacs keys, history and completion"),
    needless("show commands", "the arrow keys go through the lines typed, Ctrl-R searches them"),
    needless("show history", "lines typed are kept: the arrow keys go through them, Ctrl-R searches them"),
    needless("show width", "lines are as long as they are; the screen breaks them"),
    needless("show height", "no answer waits for a key: 'show pagination' says whether a long one takes the room of the panes"),
    needless("show args", "'info launch' shows the parameters of the kernel"),
    needless("show cuda", "'show' lists the settings, 'info target' describes the machine"),
    needless("show environment", "a kernel has no environment"),
];

impl GdbWord {
    /// `jump: a recorded run cannot be sent elsewhere …`
    pub fn line(&self) -> String {
        format!("{}: {}", self.words, self.about)
    }

    /// The answer to a line that begins with it.
    ///
    /// # Errors
    /// What it asks for was not done.
    pub fn answer(&self) -> Result<Outcome, CommandError> {
        if self.is_needless { Ok(Outcome::Text(self.line() + "\n")) } else { Err(CommandError::new(self.line())) }
    }

    /// True if `words` begin with its words; with `shortened`, the last of them may be cut short.
    fn begins(&self, words: &[&str], shortened: bool) -> bool {
        let own: Vec<&str> = self.words.split(' ').collect();
        // `set width = 5` assigns to a variable.
        if words.get(own.len()).is_some_and(|word| word.starts_with('=')) {
            return false;
        }
        let last = own.len() - 1;
        let is_same = |(index, (own, word)): (usize, (&&str, &&str))| own == word || shortened && index == last && own.starts_with(*word);
        words.len() >= own.len() && own.iter().zip(words).enumerate().all(is_same)
    }
}

/// The word that `line` begins with, in full; of several, the one with the most words.
pub fn find(line: &str) -> Option<&'static GdbWord> {
    let words = words(line);
    let found = GDB_WORDS.iter().filter(|row| row.begins(&words, false));
    found.max_by_key(|row| row.words.split(' ').count())
}

/// The only word that `line` begins with, shortened.
pub fn find_shortened(line: &str) -> Option<&'static GdbWord> {
    let words = words(line);
    let mut found = GDB_WORDS.iter().filter(|row| row.begins(&words, true));
    found.next().filter(|first| found.all(|other| other.about == first.about))
}

/// The words of a line, with `info cuda sms` as `info sms`, and `info` in full.
fn words(line: &str) -> Vec<&str> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    if let [first, rest @ ..] = words.as_mut_slice() {
        match *first {
            "i" | "inf" => *first = "info",
            // A count or a format after a slash is no part of the word.
            word => *first = word.split('/').next().unwrap_or(word),
        }
        if *first == "info" && rest.len() > 1 && rest[0] == "cuda" && rest[1] != "managed" {
            words.remove(1);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{GDB_WORDS, find, find_shortened};
    use crate::command::lookup::{self, Match};
    use crate::command::table::TABLE;

    #[test]
    fn no_word_is_a_command_too() {
        for row in GDB_WORDS {
            let command = lookup::find(&TABLE, row.words);
            let is_command = matches!(command, Ok(Match::Command(spec, _)) if spec.name == row.words || spec.aliases.contains(&row.words));
            assert!(!is_command, "{} is a command", row.words);
        }
    }

    #[test]
    fn words_are_found_at_the_beginning_of_a_line() {
        let found = |line| find(line).map(|row| row.words);
        assert_eq!(found("set cuda memcheck on"), Some("set cuda memcheck"));
        assert_eq!(found("set cuda thread_selection logical"), Some("set cuda"));
        assert_eq!(found("i cuda sms"), Some("info sms"));
        assert_eq!(found("cuda sm 1 warp 2"), None);
        assert_eq!(found("wh src 5"), Some("wh"));
        assert_eq!(found("dump memory x.bin 0 5"), Some("dump memory"));
        assert_eq!(found("filename"), None);
        assert_eq!(find_shortened("winh src 5").map(|row| row.words), Some("winheight"));
    }
}
