//! The driver's functions of graphs that are replaced.

#![allow(non_snake_case, reason = "the names are the driver's")]

use std::ffi::c_void;

use crate::driver::{Handle, KernelNode, NOT_FOUND, SUCCESS, Status};
use crate::hooks::{Hook, hook, per_thread, since};
use crate::state;

/// An argument that is only passed on, whatever it is: those that a function does not have are not looked at.
type Any = *mut c_void;
type Instantiate = unsafe extern "C" fn(*mut Handle, Handle, Any, Any, Any) -> Status;
type Change = unsafe extern "C" fn(Handle, Handle, Any, Any) -> Status;
type Launch = unsafe extern "C" fn(Handle, Handle) -> Status;
type Record = unsafe extern "C" fn(Handle, Any, Any, Any, Any, Any) -> Status;
type Destroy = unsafe extern "C" fn(Handle) -> Status;

/// Defines functions that make a graph executable.
macro_rules! instantiate {
    ($($name:ident, $hook:ident;)*) => { $(
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(executable: *mut Handle, graph: Handle, a: Any, b: Any, c: Any) -> Status {
            let Some(real) = $hook.real::<Instantiate>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's.
            let status = unsafe { real(executable, graph, a, b, c) };
            if status == SUCCESS {
                // SAFETY: the driver has written the handle.
                state::graph_is_made(unsafe { *executable }, graph);
            }
            status
        }
    )* };
}

/// Defines functions that change an executable graph to be as another graph.
macro_rules! update {
    ($($name:ident, $hook:ident;)*) => { $(
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(executable: Handle, graph: Handle, a: Any, b: Any) -> Status {
            let Some(real) = $hook.real::<Change>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's.
            let status = unsafe { real(executable, graph, a, b) };
            if status == SUCCESS {
                state::graph_is_made(executable, graph);
            }
            status
        }
    )* };
}

/// Defines functions that change a kernel of an executable graph.
macro_rules! change_kernel {
    ($($name:ident, $hook:ident, $is_first:literal;)*) => { $(
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(executable: Handle, node: Handle, kernel: Any, a: Any) -> Status {
            let Some(real) = $hook.real::<Change>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's.
            let status = unsafe { real(executable, node, kernel, a) };
            if status == SUCCESS {
                // SAFETY: the driver has read it.
                state::kernel_is_changed(executable, node, &unsafe { KernelNode::given(kernel, $is_first) });
            }
            status
        }
    )* };
}

/// Defines functions that change an executable graph in another way.
macro_rules! change {
    ($($name:ident, $hook:ident;)*) => { $(
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(executable: Handle, node: Handle, a: Any, b: Any) -> Status {
            let Some(real) = $hook.real::<Change>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's.
            let status = unsafe { real(executable, node, a, b) };
            if status == SUCCESS {
                state::graph_is_changed(executable, stringify!($name));
            }
            status
        }
        static $hook: Hook = match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
            Ok(name) => hook(name, name, $name as *const c_void),
            Err(_) => hook(c"", c"", $name as *const c_void),
        };
    )* };
}

/// Defines functions that launch a graph.
macro_rules! launch {
    ($($name:ident, $hook:ident;)*) => { $(
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(executable: Handle, stream: Handle) -> Status {
            let Some(real) = $hook.real::<Launch>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's, or a part of the graph in place of it.
            let launch = |executable| unsafe { real(executable, stream) };
            state::around_graph(executable, $hook.stream(stream), || launch(executable), launch)
        }
    )* };
}

/// Defines functions that begin to record a stream, or end that.
macro_rules! record {
    ($is_begun:literal: $($name:ident, $hook:ident;)*) => { $(
        /// As the driver's.
        ///
        /// # Safety
        /// As that of the driver.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(stream: Handle, a: Any, b: Any, c: Any, d: Any, e: Any) -> Status {
            let Some(real) = $hook.real::<Record>() else { return NOT_FOUND };
            // SAFETY: the arguments are the program's.
            let status = unsafe { real(stream, a, b, c, d, e) };
            // A recording that has failed ends, too.
            if !$is_begun || status == SUCCESS {
                state::records($is_begun);
            }
            status
        }
    )* };
}

record! {
    true:
    cuStreamBeginCapture, BEGIN;
    cuStreamBeginCapture_ptsz, BEGIN_PTSZ;
    cuStreamBeginCapture_v2, BEGIN_V2;
    cuStreamBeginCapture_v2_ptsz, BEGIN_V2_PTSZ;
    cuStreamBeginCaptureToGraph, BEGIN_TO_GRAPH;
    cuStreamBeginCaptureToGraph_ptsz, BEGIN_TO_GRAPH_PTSZ;
}
record! {
    false:
    cuStreamEndCapture, END;
    cuStreamEndCapture_ptsz, END_PTSZ;
}
instantiate! {
    cuGraphInstantiate, INSTANTIATE;
    cuGraphInstantiate_v2, INSTANTIATE_V2;
    cuGraphInstantiateWithFlags, INSTANTIATE_FLAGS;
    cuGraphInstantiateWithParams, INSTANTIATE_PARAMS;
    cuGraphInstantiateWithParams_ptsz, INSTANTIATE_PARAMS_PTSZ;
}
update! {
    cuGraphExecUpdate, UPDATE;
    cuGraphExecUpdate_v2, UPDATE_V2;
}
change_kernel! {
    cuGraphExecKernelNodeSetParams, KERNEL, true;
    cuGraphExecKernelNodeSetParams_v2, KERNEL_V2, false;
}
change! {
    cuGraphExecMemcpyNodeSetParams, COPY;
    cuGraphExecMemsetNodeSetParams, SET;
    cuGraphExecHostNodeSetParams, HOST;
    cuGraphExecChildGraphNodeSetParams, CHILD;
    cuGraphExecEventRecordNodeSetEvent, EVENT_RECORD;
    cuGraphExecEventWaitNodeSetEvent, EVENT_WAIT;
    cuGraphExecExternalSemaphoresSignalNodeSetParams, SIGNAL;
    cuGraphExecExternalSemaphoresWaitNodeSetParams, WAIT;
    cuGraphExecBatchMemOpNodeSetParams, BATCH;
    cuGraphExecNodeSetParams, NODE;
    cuGraphNodeSetEnabled, ENABLED;
}
launch! {
    cuGraphLaunch, LAUNCH;
    cuGraphLaunch_ptsz, LAUNCH_PTSZ;
}

/// As the driver's.
///
/// # Safety
/// As that of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecDestroy(executable: Handle) -> Status {
    state::forget_graph(executable);
    // SAFETY: the argument is the program's.
    DESTROY.real::<Destroy>().map_or(NOT_FOUND, |real| unsafe { real(executable) })
}

static INSTANTIATE: Hook = hook(c"cuGraphInstantiate", c"cuGraphInstantiate", cuGraphInstantiate as *const c_void);
static INSTANTIATE_V2: Hook = since(11000, hook(c"cuGraphInstantiate", c"cuGraphInstantiate_v2", cuGraphInstantiate_v2 as *const c_void));
static INSTANTIATE_FLAGS: Hook =
    since(12000, hook(c"cuGraphInstantiate", c"cuGraphInstantiateWithFlags", cuGraphInstantiateWithFlags as *const c_void));
static INSTANTIATE_PARAMS: Hook =
    hook(c"cuGraphInstantiateWithParams", c"cuGraphInstantiateWithParams", cuGraphInstantiateWithParams as *const c_void);
static INSTANTIATE_PARAMS_PTSZ: Hook =
    per_thread(c"cuGraphInstantiateWithParams", c"cuGraphInstantiateWithParams_ptsz", cuGraphInstantiateWithParams_ptsz as *const c_void);
static UPDATE: Hook = hook(c"cuGraphExecUpdate", c"cuGraphExecUpdate", cuGraphExecUpdate as *const c_void);
static UPDATE_V2: Hook = since(12000, hook(c"cuGraphExecUpdate", c"cuGraphExecUpdate_v2", cuGraphExecUpdate_v2 as *const c_void));
static KERNEL: Hook =
    hook(c"cuGraphExecKernelNodeSetParams", c"cuGraphExecKernelNodeSetParams", cuGraphExecKernelNodeSetParams as *const c_void);
static KERNEL_V2: Hook = since(
    12000,
    hook(c"cuGraphExecKernelNodeSetParams", c"cuGraphExecKernelNodeSetParams_v2", cuGraphExecKernelNodeSetParams_v2 as *const c_void),
);
static LAUNCH: Hook = hook(c"cuGraphLaunch", c"cuGraphLaunch", cuGraphLaunch as *const c_void);
static LAUNCH_PTSZ: Hook = per_thread(c"cuGraphLaunch", c"cuGraphLaunch_ptsz", cuGraphLaunch_ptsz as *const c_void);
static DESTROY: Hook = hook(c"cuGraphExecDestroy", c"cuGraphExecDestroy", cuGraphExecDestroy as *const c_void);

static BEGIN: Hook = hook(c"cuStreamBeginCapture", c"cuStreamBeginCapture", cuStreamBeginCapture as *const c_void);
static BEGIN_PTSZ: Hook = per_thread(c"cuStreamBeginCapture", c"cuStreamBeginCapture_ptsz", cuStreamBeginCapture_ptsz as *const c_void);
static BEGIN_V2: Hook = since(10010, hook(c"cuStreamBeginCapture", c"cuStreamBeginCapture_v2", cuStreamBeginCapture_v2 as *const c_void));
static BEGIN_V2_PTSZ: Hook =
    since(10010, per_thread(c"cuStreamBeginCapture", c"cuStreamBeginCapture_v2_ptsz", cuStreamBeginCapture_v2_ptsz as *const c_void));
static BEGIN_TO_GRAPH: Hook =
    hook(c"cuStreamBeginCaptureToGraph", c"cuStreamBeginCaptureToGraph", cuStreamBeginCaptureToGraph as *const c_void);
static BEGIN_TO_GRAPH_PTSZ: Hook =
    per_thread(c"cuStreamBeginCaptureToGraph", c"cuStreamBeginCaptureToGraph_ptsz", cuStreamBeginCaptureToGraph_ptsz as *const c_void);
static END: Hook = hook(c"cuStreamEndCapture", c"cuStreamEndCapture", cuStreamEndCapture as *const c_void);
static END_PTSZ: Hook = per_thread(c"cuStreamEndCapture", c"cuStreamEndCapture_ptsz", cuStreamEndCapture_ptsz as *const c_void);

/// All of these.
pub static HOOKS: [&Hook; 31] = [
    &BEGIN,
    &BEGIN_PTSZ,
    &BEGIN_V2,
    &BEGIN_V2_PTSZ,
    &BEGIN_TO_GRAPH,
    &BEGIN_TO_GRAPH_PTSZ,
    &END,
    &END_PTSZ,
    &INSTANTIATE,
    &INSTANTIATE_V2,
    &INSTANTIATE_FLAGS,
    &INSTANTIATE_PARAMS,
    &INSTANTIATE_PARAMS_PTSZ,
    &UPDATE,
    &UPDATE_V2,
    &KERNEL,
    &KERNEL_V2,
    &LAUNCH,
    &LAUNCH_PTSZ,
    &DESTROY,
    &COPY,
    &SET,
    &HOST,
    &CHILD,
    &EVENT_RECORD,
    &EVENT_WAIT,
    &SIGNAL,
    &WAIT,
    &BATCH,
    &NODE,
    &ENABLED,
];
