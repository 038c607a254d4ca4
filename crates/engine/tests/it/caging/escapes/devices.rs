//! Disks, memory and other devices.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use super::{a_cage, all_fail, cages, fail};

#[tokio::test(flavor = "multi_thread")]
async fn devices_of_the_machine() {
    for caged in cages().await {
        let names =
            ["mem", "kmsg", "port", "fuse", "kvm", "vda", "sda", "nvme0n1", "loop-control", "net/tun", "uinput"];
        let attempts = names.iter().flat_map(|name| [format!("test -e /dev/{name}"), format!(": >>/dev/{name}")]);
        fail(&caged, &attempts.collect::<Vec<_>>()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn device_files_of_its_own() {
    for caged in cages().await {
        let disks = fs::read_dir("/sys/class/block").into_iter().flatten().flatten();
        let numbers = disks.filter_map(|disk| fs::read_to_string(disk.path().join("dev")).ok());
        let numbers: Vec<_> = numbers.map(|number| number.trim().replace(':', " ")).chain(["8 0".to_owned()]).collect();
        let places = [".", "/tmp", "/dev/shm", "~", "/var/tmp"];
        let attempts = numbers
            .iter()
            .take(3)
            .flat_map(|number| places.map(|place| format!("cd {place} && mknod disk b {number} && head -c 1 disk")));
        let more = places.map(|place| format!("cd {place} && mknod memory c 1 1 && head -c 1 memory"));
        fail(&caged, &attempts.chain(more).collect::<Vec<_>>()).await;
        let left = fs::read_dir(caged.place()).expect("a folder").flatten();
        assert!(left.flatten_types().all(|kind| !kind.is_block_device() && !kind.is_char_device()));
    }
}

/// A device that somebody else left in the environment is a name there and nothing more.
#[tokio::test(flavor = "multi_thread")]
async fn a_device_file_that_is_there_already() {
    let Some(caged) = a_cage().await else { return };
    let device = caged.place().join("zero");
    let kind = rustix::fs::FileType::CharacterDevice;
    let mode = rustix::fs::Mode::from_raw_mode(0o666);
    // Only root of the machine itself makes one that works.
    let is_made = rustix::fs::mknodat(rustix::fs::CWD, &device, kind, mode, rustix::fs::makedev(1, 5)).is_ok();
    if is_made && fs::File::open(&device).is_ok() {
        all_fail(&caged, &["head -c 1 zero"]).await;
    }
}

trait Types: Iterator<Item = fs::DirEntry> + Sized {
    fn flatten_types(self) -> impl Iterator<Item = fs::FileType> {
        self.filter_map(|entry| entry.file_type().ok())
    }
}

impl<All: Iterator<Item = fs::DirEntry>> Types for All {}
