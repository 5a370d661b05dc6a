//! A run once more: as a bundle.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use ptxdbg::api::{DriverLaunch, HostMemory, Launch, Module, PAGE_BYTES, RunOptions};
use pyo3::prelude::*;

use crate::PtxdbgError;
use crate::module::failed;

/// All that a run started from.
pub struct Replay {
    /// The module.
    pub text: Arc<str>,
    /// The launch.
    pub launch: DriverLaunch,
    /// How it was run.
    pub options: RunOptions,
    /// The memory as it was.
    pub host: HostMemory,
}

impl Replay {
    /// Writes it as a bundle.
    pub fn bundle(&self, path: &Path) -> PyResult<()> {
        let folder = tempfile::tempdir().map_err(|error| PtxdbgError::new_err(format!("cannot make a folder: {error}")))?;
        let launch = self.write_to(folder.path()).map_err(|error| PtxdbgError::new_err(format!("cannot write the launch: {error}")))?;
        let module = Module::load(folder.path().join("kernel.ptx")).map_err(|error| failed(&error))?;
        let planned = Launch::from_file(launch).plan(&module).map_err(|error| failed(&error))?;
        // The launch file holds the memory.
        let options = RunOptions { host: None, ..self.options.clone() };
        let mut session = planned.session(0, &options).map_err(|error| failed(&error))?;
        let name = path.to_str().ok_or_else(|| PtxdbgError::new_err("the name of the bundle is not UTF-8"))?;
        session.execute(&format!("bundle {name}")).map_err(|error| PtxdbgError::new_err(error.to_string()))?;
        Ok(())
    }

    /// Writes the module, a launch file and the pages that were taken to `folder`; the path of the launch file.
    fn write_to(&self, folder: &Path) -> std::io::Result<std::path::PathBuf> {
        std::fs::write(folder.join("kernel.ptx"), self.text.as_bytes())?;
        let (extents, pages) = (self.host.extents(), self.host.pages());
        let mut memory = String::new();
        for (number, extent) in extents.iter().enumerate() {
            let name = format!("memory{number}.pages");
            // Memory of a launch file begins at a multiple of 256, so its pages lie across those that were taken. What the run has not
            // touched of them stays 0: a run that begins here does not touch it either.
            let at = extent.start & !255;
            let mut moved: BTreeMap<u64, [u8; PAGE_BYTES]> = BTreeMap::new();
            for (address, page) in pages.iter().filter(|(address, _)| extent.contains(address)) {
                for (byte, address) in page.iter().zip(*address..extent.end) {
                    let offset = address - at;
                    let page = moved.entry(offset / PAGE).or_insert([0; PAGE_BYTES]);
                    page[(offset % PAGE) as usize] = *byte;
                }
            }
            let mut bytes = (moved.len() as u64).to_le_bytes().to_vec();
            for (number, page) in moved {
                bytes.extend((number * PAGE).to_le_bytes());
                bytes.extend(page);
            }
            std::fs::write(folder.join(&name), bytes)?;
            let length = extent.end - at;
            let _ = writeln!(memory, "        Memory(at: {at:#x}, len: {length}, init: Pages(\"{name}\")),");
        }
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let params: Vec<String> = self.launch.params.iter().map(|value| format!("Bytes(\"{}\")", hex(value))).collect();
        let DriverLaunch { grid: [gx, gy, gz], block: [bx, by, bz], dynamic_shared, cooperative, .. } = self.launch;
        let kernel = self.launch.kernel.as_ref().map_or(String::new(), |kernel| format!("    kernel: \"{kernel}\",\n"));
        let cluster = self.launch.cluster.map_or(String::new(), |[x, y, z]| format!("    cluster: ({x}, {y}, {z}),\n"));
        let text = format!(
            "Launch(\n    module: \"kernel.ptx\",\n{kernel}    grid: ({gx}, {gy}, {gz}),\n    block: ({bx}, {by}, {bz}),\n{cluster}    \
             dynamic_shared: {dynamic_shared},\n    cooperative: {cooperative},\n    memory: [\n{memory}    ],\n    params: [{}],\n)\n",
            params.join(", ")
        );
        let path = folder.join("kernel.ron");
        std::fs::write(&path, text)?;
        Ok(path)
    }
}

const PAGE: u64 = PAGE_BYTES as u64;
const _: () = assert!(PAGE == 4096, "a pages file has pages of 4,096 bytes");
