//! How full the disk is.

use std::path::Path;

/// Room on a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Disk {
    pub free_bytes: u64,
    pub total_bytes: u64,
}

impl Disk {
    /// The disk that holds `path`, or will: of a folder that is not made yet, that of the folder above it.
    pub fn at(path: &Path) -> Option<Self> {
        let stat = path.ancestors().find_map(|path| rustix::fs::statvfs(path).ok())?;
        Some(Self { free_bytes: stat.f_bavail * stat.f_frsize, total_bytes: stat.f_blocks * stat.f_frsize })
    }

    pub const fn free_percent(self) -> u64 {
        match (self.free_bytes / 1024 * 100).checked_div(self.total_bytes / 1024) {
            Some(percent) => percent,
            None => 100,
        }
    }
}
