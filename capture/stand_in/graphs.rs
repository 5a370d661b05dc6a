//! Graphs of the stand-in: kernels, each after those that it depends on.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use crate::callbacks::called;
use crate::{Handle, INVALID_HANDLE, INVALID_VALUE, SUCCESS, kernel, run};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNode {
    function: Handle,
    extents: [c_uint; 7],
    params: *const *const c_void,
    extra: *const *const c_void,
    kernel: Handle,
    context: Handle,
}

/// A node: a copy of the bytes of its parameters, with pointers to them, and the number that its copies share.
struct Node {
    number: usize,
    kernel: KernelNode,
    bytes: Vec<Vec<u8>>,
    pointers: Vec<*const c_void>,
    after: Vec<usize>,
    is_enabled: bool,
}

#[derive(Default)]
struct Graph {
    nodes: Vec<Box<Node>>,
}

fn node(number: usize, given: &KernelNode, after: Vec<usize>) -> Box<Node> {
    let kernel = kernel(given.function).unwrap();
    let bytes: Vec<Vec<u8>> = kernel.params.iter().enumerate().map(|(index, (_, size))| unsafe {
        std::slice::from_raw_parts((*given.params.add(index)).cast::<u8>(), *size).to_vec()
    }).collect();
    let pointers: Vec<*const c_void> = bytes.iter().map(|bytes| bytes.as_ptr().cast()).collect();
    let kernel = KernelNode { params: pointers.as_ptr(), extra: ptr::null(), ..*given };
    Box::new(Node { number, kernel, bytes, pointers, after, is_enabled: true })
}

impl Graph {
    fn copy(&self) -> Self {
        let copy = |of: &Box<Node>| Box::new(Node { is_enabled: of.is_enabled, ..*node(of.number, &of.kernel, of.after.clone()) });
        Self { nodes: self.nodes.iter().map(copy).collect() }
    }

    /// What is launched, in an order that is not that of the nodes: the last one is looked at first.
    fn run(&self) {
        let mut done: Vec<usize> = Vec::new();
        while let Some(node) = self.nodes.iter().rev().find(|node| {
            !done.contains(&node.number)
                && node.after.iter().all(|before| done.contains(before) || !self.nodes.iter().any(|node| node.number == *before))
        }) {
            if node.is_enabled {
                assert_eq!(node.bytes.len(), node.pointers.len());
                unsafe { run(node.kernel.function, &node.pointers) };
            }
            done.push(node.number);
        }
        assert_eq!(done.len(), self.nodes.len());
    }
}

unsafe fn graph<'a>(handle: Handle) -> &'a mut Graph {
    unsafe { &mut *handle.cast::<Graph>() }
}

fn handle_of(node: &Node) -> Handle {
    ptr::from_ref(node).cast_mut().cast()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphCreate(made: *mut Handle, _: c_uint) -> c_int {
    unsafe { *made = Box::into_raw(Box::new(Graph::default())).cast() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphAddKernelNode_v2(
    made: *mut Handle, to: Handle, after: *const Handle, count: usize, given: *const KernelNode,
) -> c_int {
    let to = unsafe { graph(to) };
    let after = (0..count).map(|index| unsafe { (**after.add(index).cast::<*const Node>()).number }).collect();
    let node = node(to.nodes.len(), unsafe { &*given }, after);
    unsafe { *made = handle_of(&node) };
    to.nodes.push(node);
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphInstantiateWithFlags(made: *mut Handle, of: Handle, _: u64) -> c_int {
    unsafe { cuGraphClone(made, of) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphClone(made: *mut Handle, of: Handle) -> c_int {
    unsafe { *made = Box::into_raw(Box::new(graph(of).copy())).cast() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphLaunch(executable: Handle, _: Handle) -> c_int {
    called(4, c"cuGraphLaunch", [executable.cast_const()], || {
        unsafe { graph(executable) }.run();
        SUCCESS
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDestroy(of: Handle) -> c_int {
    drop(unsafe { Box::from_raw(of.cast::<Graph>()) });
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecDestroy(of: Handle) -> c_int {
    unsafe { cuGraphDestroy(of) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetNodes(of: Handle, nodes: *mut Handle, count: *mut usize) -> c_int {
    let of = unsafe { graph(of) };
    if !nodes.is_null() {
        // In no order, as the driver promises none.
        of.nodes.iter().rev().enumerate().for_each(|(index, node)| unsafe { *nodes.add(index) = handle_of(node) });
    }
    unsafe { *count = of.nodes.len() };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphGetEdges_v2(of: Handle, from: *mut Handle, to: *mut Handle, _: *mut u64, count: *mut usize) -> c_int {
    let of = unsafe { graph(of) };
    let edges = of.nodes.iter().flat_map(|node| node.after.iter().map(move |before| (*before, node)));
    let mut found = 0;
    for (before, node) in edges {
        let Some(before) = of.nodes.iter().find(|node| node.number == before) else { continue };
        if !from.is_null() {
            unsafe { (*from.add(found), *to.add(found)) = (handle_of(before), handle_of(node)) };
        }
        found += 1;
    }
    unsafe { *count = found };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeGetType(_: Handle, kind: *mut c_int) -> c_int {
    unsafe { *kind = 0 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeFindInClone(found: *mut Handle, node: Handle, copy: Handle) -> c_int {
    let number = unsafe { (*node.cast::<Node>()).number };
    let Some(node) = unsafe { graph(copy) }.nodes.iter().find(|node| node.number == number) else { return INVALID_VALUE };
    unsafe { *found = handle_of(node) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphDestroyNode(node: Handle) -> c_int {
    // The graph that has it is not known here: it does nothing from now on, and no other node waits for it.
    unsafe { (*node.cast::<Node>()).is_enabled = false };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeGetParams_v2(node: Handle, kernel: *mut KernelNode) -> c_int {
    unsafe { *kernel = (*node.cast::<Node>()).kernel };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeSetParams_v2(of: Handle, kernel: *const KernelNode) -> c_int {
    let of = unsafe { &mut *of.cast::<Node>() };
    *of = Node { is_enabled: of.is_enabled, ..*node(of.number, unsafe { &*kernel }, of.after.clone()) };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphExecKernelNodeSetParams_v2(executable: Handle, of: Handle, kernel: *const KernelNode) -> c_int {
    let mut found = ptr::null_mut();
    if unsafe { cuGraphNodeFindInClone(&mut found, of, executable) } != SUCCESS {
        return INVALID_HANDLE;
    }
    unsafe { cuGraphKernelNodeSetParams_v2(found, kernel) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphNodeSetEnabled(executable: Handle, of: Handle, is_enabled: c_uint) -> c_int {
    let mut found = ptr::null_mut();
    if unsafe { cuGraphNodeFindInClone(&mut found, of, executable) } != SUCCESS {
        return INVALID_HANDLE;
    }
    unsafe { (*found.cast::<Node>()).is_enabled = is_enabled != 0 };
    SUCCESS
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuGraphKernelNodeGetAttribute(_: Handle, _: c_int, value: *mut [c_uint; 16]) -> c_int {
    unsafe { *value = [0; 16] };
    SUCCESS
}
