//! The outcome of a command, as plain data; the front end makes text of it.

use std::path::PathBuf;

use crate::base::Tick;
use crate::debug::breakpoints::BreakpointRow;
use crate::debug::certificate::Certificate;
use crate::debug::explain::Explanation;
use crate::debug::explore::ExplorationReport;
use crate::debug::fidelity::Fidelity;
use crate::debug::findings::FindingText;
use crate::debug::fix::FixReports;
use crate::debug::marks::Mark;
use crate::debug::stop::Stop;
use crate::debug::timeline::End;
use crate::debug::value::{Shown, ValueText};
use crate::debug::view::{
    AllocationRow, ArrayTypeRow, BarrierRow, BlockSpan, CfgView, ContractionNote, DescriptorView, Divergence, Examined, FragmentElement,
    FragmentView, InFlight, KernelRow, LaneRow, LaunchView, Listing, LocalRow, MbarrierView, Pipeline, RegisterRow, RoleRow, RolesGuessed,
    SharedRow, SourcePlace, Stack, SymbolRow, TargetView, Threads, Warps,
};
use crate::debug::{LaneMask, Reason, Site, WatchedAccessText};

/// The outcome of a command.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing to say.
    Nothing,
    /// Lines to say.
    Text(String),
    /// Lines that kernels printed, byte for byte.
    Printed(Vec<u8>),
    /// It ran, and stopped.
    Stop(Box<Stop>),
    /// A breakpoint was made.
    NewBreakpoint {
        /// The breakpoint.
        row: BreakpointRow,
        /// The line it is on instead, if there is no code where the user wanted it.
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
        /// The lanes that have never written the register that it is.
        undefined: LaneMask,
        /// The additions that take it before it was rounded, if it is a product that is rounded once with them.
        unrounded_uses: Option<ContractionNote>,
        /// The copies in flight that will write the memory that holds it.
        in_flight: Option<String>,
        /// That it is about an array that is declared by the byte, and how to see its elements.
        bytes: Option<String>,
    },
    /// Displays as they are now.
    Displays(Vec<Shown>),
    /// Writes to a place.
    Touches {
        /// The place.
        what: String,
        /// The writes, in order of time.
        touches: Vec<WatchedAccessText>,
        /// The user interrupted the search.
        interrupted: bool,
        /// That the place is in an array that is declared by the byte, and how to ask about its elements.
        bytes: Option<String>,
    },
    /// The results of many orders (schedules).
    Explored(ExplorationReport),
    /// The results of trying the fixes of findings, and a line on the file that was written.
    Fixed(FixReports, String),
    /// The marks, in order of time.
    Marks(Vec<(String, Mark)>),
    /// The current time.
    When {
        /// Now.
        now: Tick,
        /// The latest time that was executed.
        recorded: Tick,
        /// The end of the run, if it is there.
        end: Option<End>,
    },
    /// A view: rows of data.
    View(View),
    /// The focus.
    Focus {
        /// The thread: `block 1,0,0 producer warp 0 lane 5`.
        focus: String,
        /// The instruction it executes next, or why there is none.
        site: Result<Box<Site>, String>,
    },
    /// Lines follow that belong to it, up to one that says `end`: commands for these breakpoints.
    Collect(Vec<u32>),
    /// It must be confirmed: asked again with a yes, it is done.
    Ask(String),
    /// The commands of a file are to be executed.
    Source(PathBuf),
    /// The screen is to be laid out anew, or its layout saved; a front end without a screen says so.
    Layout(LayoutRequest),
    /// The end.
    Quit,
}

/// A request for the screen's layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutRequest {
    /// Shows a layout: its name, its file, or `next`.
    Show(String),
    /// Writes the layout that is shown to a file, or under a name to the user's folder of layouts.
    Save(String),
}

/// A checker, whether it is on, and what it has found.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct CheckRow {
    /// Its word.
    pub checker: &'static str,
    /// It is on.
    pub on: bool,
    /// Its findings up to now.
    pub findings: usize,
    /// The mistakes that it looks for.
    pub about: &'static str,
}

/// A view of the standing machine.
#[derive(Debug)]
pub enum View {
    /// `type`: what arrays are taken for.
    ArrayTypes(Vec<ArrayTypeRow>),
    /// `info target`.
    Target(TargetView),
    /// `info checks`.
    Checks(Vec<CheckRow>),
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
    /// Parameters and variables of the selected frame.
    Locals(Vec<LocalRow>),
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
        /// Why values that are made up are what they are.
        reasons: Vec<Reason>,
    },
    /// Registers.
    Registers(Vec<RegisterRow>),
    /// Memory, or code.
    Examined {
        /// The contents.
        examined: Examined,
        /// Whether it is code.
        code: bool,
    },
    /// Lines of text.
    Listing(Listing),
    /// An instruction explained.
    Explanation(Box<Explanation>),
    /// A function's control flow.
    ControlFlow(CfgView),
    /// The groups of a warp.
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
    /// The findings there are.
    Findings {
        /// Those that are not suppressed.
        findings: Vec<FindingText>,
        /// The number of suppressed findings.
        suppressed: usize,
        /// The time up to which the run was checked.
        recorded: Tick,
        /// The certificate for its other orders, once it is over.
        certificate: Option<Certificate>,
    },
    /// All of one.
    Finding(Box<FindingText>),
    /// The synchronization between the two sides of a finding, and its gaps; of a hang, the positions of all warps of its blocks.
    Chain(Box<FindingText>, Vec<Warps>),
}
