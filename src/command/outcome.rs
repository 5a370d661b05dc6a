//! The outcome of a command, as plain data; the front end formats it.

use std::path::PathBuf;

use super::argument_text::ArgumentText;
use crate::base::Tick;
use crate::debug::branching::{BranchDiff, BranchRow};
use crate::debug::breakpoints::BreakpointRow;
use crate::debug::certificate::Certificate;
use crate::debug::explain::Explanation;
use crate::debug::explore::ExplorationReport;
use crate::debug::fidelity::Fidelity;
use crate::debug::find::FoundText;
use crate::debug::findings::FindingText;
use crate::debug::fix::FixReports;
use crate::debug::focus::Focus;
use crate::debug::marks::Mark;
use crate::debug::mismatches::Mismatches;
use crate::debug::resume::UserChange;
use crate::debug::skip::Skip;
use crate::debug::stop::Stop;
use crate::debug::timeline::End;
use crate::debug::value::{Shown, ValueText};
use crate::debug::view::{
    AllocationRow, ArrayTypeRow, BarrierRow, BlockSpan, CfgView, ContractionNote, DescriptorView, Divergence, Examined, FragmentElement,
    FragmentView, FrameRow, FrameView, InFlight, KernelRow, LaneRow, LaunchView, Listing, LocalRow, MayRead, MbarrierView, Pipeline,
    RegisterRow, RoleRow, RolesGuessed, ScopeRow, SharedRow, SourcePlace, Stack, SymbolRow, TargetView, Threads, Warps,
};
use crate::debug::{LaneMask, Reason, Site, WatchedAccessText};

/// The outcome of a command.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing to print.
    Nothing,
    /// Lines to print.
    Text(String),
    /// Lines that kernels printed, byte for byte.
    Printed(Vec<u8>),
    /// The kernel ran, and stopped.
    Stop(Box<Stop>),
    /// A breakpoint was added.
    NewBreakpoint {
        /// The breakpoint.
        row: BreakpointRow,
        /// The line it is on instead, if the requested line has no code.
        note: Option<String>,
    },
    /// `info breakpoints`.
    Breakpoints(Vec<BreakpointRow>),
    /// The value of an expression.
    Value {
        /// The expression.
        what: String,
        /// Its value.
        value: ValueText,
        /// The lanes that have never written the register, if the expression is one.
        undefined: LaneMask,
        /// The additions with which the value, a product, is contracted: they use it unrounded.
        unrounded_uses: Option<ContractionNote>,
        /// The copies in flight that will write the memory of the value.
        in_flight: Option<String>,
        /// A note if the expression names an array that is declared as bytes: how to see its elements.
        bytes: Option<String>,
    },
    /// The value of an expression, without its name.
    Bare {
        /// The value.
        value: ValueText,
        /// The lanes that have never written the register, if the expression is one.
        undefined: LaneMask,
    },
    /// Several answers, one after the other.
    Several(Vec<Outcome>),
    /// Displays as they are now.
    Displays(Vec<Shown>),
    /// Writes to a register or memory.
    Writes {
        /// The expression that names it.
        what: String,
        /// The writes, in order of time.
        writes: Vec<WatchedAccessText>,
        /// The changes that the user has made to it.
        changes: Vec<UserChange>,
        /// The number of writes that are left out because they wrote what was there.
        unchanged: usize,
        /// The user interrupted the search.
        interrupted: bool,
        /// A note if it is in an array that is declared as bytes: how to see its elements.
        bytes: Option<String>,
    },
    /// What a query over the run found.
    Found(FoundText),
    /// The results of many orders (schedules).
    Explored(ExplorationReport),
    /// The results of trying the fixes of findings, and a line on the file that was written.
    Fixed(FixReports, String),
    /// `branches`.
    Branches(Vec<BranchRow>),
    /// `diff`.
    BranchDiff(Box<BranchDiff>),
    /// The marks, in order of time.
    Marks(Vec<(String, Mark)>),
    /// The current time.
    When {
        /// Now.
        now: Tick,
        /// The latest time that was executed.
        recorded: Tick,
        /// The end of the run, if this is it.
        end: Option<End>,
    },
    /// A view: rows of data.
    View(View),
    /// The focus.
    Focus {
        /// The thread: `block 1,0,0 producer warp 0 lane 5`.
        focus: String,
        /// The instruction it executes next, or the reason why there is none.
        site: Result<Box<Site>, String>,
        /// Its frame, where the command is about frames.
        frame: Option<Box<FrameRow>>,
    },
    /// The following lines, up to `end`, belong to this.
    Collect(Collected),
    /// These lines are to be executed: those of a command of the user.
    Lines(Vec<String>),
    /// A command of the shell is to be run.
    Shell(String),
    /// The lines that this one can go on to are asked for.
    Complete(String),
    /// The line, with its place in what was typed, is to be executed for each of these threads.
    Apply(Vec<Focus>, ArgumentText),
    /// A command was executed for each of these threads; errors in one line.
    Applied(Vec<(Focus, Result<Outcome, String>)>),
    /// A question: the command is to be executed again once the user has confirmed it.
    Ask(String),
    /// The commands of a file are to be executed.
    Source(PathBuf),
    /// The screen is to show another layout or save its own; a front end without a screen reports that it has none.
    Layout(LayoutRequest),
    /// The tour is to be shown, or to go on.
    Tour(TourRequest),
    /// The session is to end.
    Quit,
}

/// A request for the tour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TourRequest {
    /// Shows the present step.
    Show,
    /// Goes to the next step.
    Next,
    /// Leaves the tour.
    Leave,
    /// Comes back to it.
    Resume,
    /// Begins the tour of this name.
    Begin(&'static str),
}

/// What lines up to `end` are for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Collected {
    /// Commands of these breakpoints.
    Breakpoints(Vec<u32>),
    /// The command of this name.
    Command(String),
    /// The help of the command of this name.
    Help(String),
}

/// A request for the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutRequest {
    /// Shows a layout: its name, its file, `next` or `prev`.
    Show(String),
    /// Lists the layouts.
    List,
    /// Writes the layout that is shown to a file, or under a name to the user's folder of layouts.
    Save(String),
    /// Writes what is shown to a file: as a picture, or as text.
    Export(String),
}

/// A checker, whether it is on, and what it has found.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CheckRow {
    /// Its name.
    pub checker: &'static str,
    /// True if it is on.
    pub on: bool,
    /// Its findings up to now.
    pub findings: usize,
    /// The mistakes that it looks for.
    pub about: &'static str,
}

/// A view of the stopped machine.
#[derive(Debug)]
pub enum View {
    /// `type`: the element types of arrays.
    ArrayTypes(Vec<ArrayTypeRow>),
    /// `info target`.
    Target(TargetView),
    /// `info checks`.
    Checks(Vec<CheckRow>),
    /// `info may-read`.
    MayRead(MayRead),
    /// `info descriptor`.
    Descriptor(DescriptorView),
    /// Elements of a fragment.
    FragmentElements(Vec<FragmentElement>),
    /// Names of the module.
    Symbols {
        /// The matching symbols.
        rows: Vec<SymbolRow>,
        /// The text that their names contain.
        part: String,
    },
    /// Shared memory of a block.
    Shared(Vec<SharedRow>),
    /// Global and constant memory.
    Allocations(Vec<AllocationRow>),
    /// The roles of warps.
    Roles(Vec<RoleRow>),
    /// Roles that were guessed.
    RoleGuess(RolesGuessed),
    /// The calls that the focused lane is inside of.
    Stack(Stack),
    /// `info skip`.
    Skips(Vec<Skip>),
    /// `info frame`.
    Frame(Box<FrameView>),
    /// Parameters and variables of the selected frame.
    Locals(Vec<LocalRow>),
    /// `info scope`.
    Scope(Vec<ScopeRow>),
    /// Blocks of the grid.
    Blocks(Vec<BlockSpan>),
    /// Warps of a block.
    Warps(Warps),
    /// Lanes of a warp.
    Lanes(Vec<LaneRow>),
    /// Threads on the machine.
    Threads(Threads),
    /// Barriers of a block.
    Barriers(Vec<BarrierRow>),
    /// Kernels of the module.
    Kernels(Vec<KernelRow>),
    /// The launch of the running kernel.
    Launch {
        /// Its dimensions, memory and parameters.
        launch: Box<LaunchView>,
        /// Its number in the case, from 0.
        number: usize,
        /// Launches of the case.
        count: usize,
        /// The reasons for made-up values.
        reasons: Vec<Reason>,
    },
    /// Registers.
    Registers(Vec<RegisterRow>),
    /// Memory, or code.
    Examined {
        /// The contents.
        examined: Examined,
        /// True if it is code.
        code: bool,
    },
    /// Lines of text.
    Listing(Listing),
    /// An instruction explained.
    Explanation(Box<Explanation>),
    /// A function's control flow.
    ControlFlow(CfgView),
    /// The groups of converged lanes of a warp.
    Divergence(Divergence),
    /// Registers as a matrix.
    Fragment(FragmentView),
    /// The source line of an instruction.
    Source(SourcePlace),
    /// The copies and matrix multiplications in flight.
    InFlight(InFlight),
    /// The mbarriers of a block.
    MbarrierList(Vec<MbarrierView>),
    /// Mbarriers in full.
    Mbarriers(Vec<MbarrierView>),
    /// The stages of a pipeline over time.
    Pipeline(Pipeline),
    /// The fidelity of the run.
    Fidelity(Fidelity),
    /// The list of findings.
    Findings {
        /// The findings that are not suppressed.
        findings: Vec<FindingText>,
        /// The number of suppressed findings.
        suppressed: usize,
        /// The time up to which the run was checked.
        recorded: Tick,
        /// The certificate for its other orders, once the run has ended.
        certificate: Option<Certificate>,
    },
    /// A finding in full.
    Finding(Box<FindingText>),
    /// The elements that are not as the launch expects.
    Mismatches(Mismatches),
    /// The synchronization between the two sides of a finding, and its gaps; of a hang, the positions of all warps of its blocks.
    SynchronizationPath(Box<FindingText>, Vec<Warps>),
}
