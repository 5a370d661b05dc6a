//! Modules.

use std::ffi::{CString, c_char};

use ptxdbg::api::Module;

use crate::error::{Failure, Status, line};
use crate::handle::{create, free, get_or, get_text, values};
use crate::memory::ADDRESSES;
use crate::text::{c_text, pointer, required_text, text_at};

/// `ptxdbg_module`
pub struct CModule {
    pub(crate) module: Module,
    kernels: Vec<CString>,
    warnings: Vec<CString>,
}

impl CModule {
    fn of(module: Module) -> Self {
        let kernels = module.kernels().map(c_text).collect();
        let warnings = module.warnings().iter().map(|problem| c_text(&line(problem))).collect();
        Self { module, kernels, warnings }
    }
}

/// Parses PTX whose kernels run on the memory of the process.
pub fn read(name: &str, text: &str) -> Result<Module, Failure> {
    Module::from_text_avoiding(name, text, ADDRESSES).map_err(|error| Failure::rejected(Status::InvalidModule, &error))
}

/// `ptxdbg_module_create`
///
/// # Safety
/// `name` is null or a text, `text` points to `length` bytes, `module` to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_create(
    name: *const c_char,
    text: *const c_char,
    length: usize,
    module: *mut *mut CModule,
) -> Status {
    let make = || {
        if text.is_null() {
            return Err(Failure::argument("the PTX is a null pointer"));
        }
        // SAFETY: the caller says so.
        let (name, bytes) = unsafe { (text_at(name, "the name")?, values(text.cast::<u8>(), length)?) };
        let text = str::from_utf8(bytes).map_err(|_| Failure::argument("the PTX is not UTF-8"))?;
        Ok(CModule::of(read(name.unwrap_or("module.ptx"), text)?))
    };
    // SAFETY: the caller says so.
    unsafe { create(module, make) }
}

/// `ptxdbg_module_load`
///
/// # Safety
/// `path` is a text, `module` points to a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_load(path: *const c_char, module: *mut *mut CModule) -> Status {
    let make = || {
        // SAFETY: the caller says so.
        let path = unsafe { required_text(path, "the path")? };
        let loaded = Module::load_avoiding(path, ADDRESSES);
        Ok(CModule::of(loaded.map_err(|error| Failure::of_file(Status::InvalidModule, &error))?))
    };
    // SAFETY: the caller says so.
    unsafe { create(module, make) }
}

/// `ptxdbg_module_free`
///
/// # Safety
/// `module` is null, or came from a function of this surface and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_free(module: *mut CModule) {
    // SAFETY: the caller says so.
    unsafe { free(module) }
}

/// `ptxdbg_module_kernel_count`
///
/// # Safety
/// `module` is null or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_kernel_count(module: *const CModule) -> usize {
    // SAFETY: the caller says so.
    unsafe { get_or(module, 0, |module| module.kernels.len()) }
}

/// `ptxdbg_module_kernel_name`
///
/// # Safety
/// `module` is null or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_kernel_name(module: *const CModule, index: usize) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_text(module, |module| pointer(module.kernels.get(index))) }
}

/// `ptxdbg_module_warning_count`
///
/// # Safety
/// `module` is null or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_warning_count(module: *const CModule) -> usize {
    // SAFETY: the caller says so.
    unsafe { get_or(module, 0, |module| module.warnings.len()) }
}

/// `ptxdbg_module_warning`
///
/// # Safety
/// `module` is null or a module.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ptxdbg_module_warning(module: *const CModule, index: usize) -> *const c_char {
    // SAFETY: the caller says so.
    unsafe { get_text(module, |module| pointer(module.warnings.get(index))) }
}
