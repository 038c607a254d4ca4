//! System calls that no program of a shell makes, made by perl: it is wherever git is, and calls by number.

/// The number of a call on the machines that the tests know.
const fn number(x86_64: u32, aarch64: u32) -> u32 {
    if cfg!(target_arch = "aarch64") { aarch64 } else { x86_64 }
}

pub(super) const MMAP: u32 = number(9, 222);
pub(super) const PTRACE: u32 = number(101, 117);
pub(super) const SYSLOG: u32 = number(103, 116);
pub(super) const SETPRIORITY: u32 = number(141, 140);
pub(super) const PIVOT_ROOT: u32 = number(155, 41);
pub(super) const ACCT: u32 = number(163, 89);
pub(super) const SETTIMEOFDAY: u32 = number(164, 170);
pub(super) const MOUNT: u32 = number(165, 40);
pub(super) const UMOUNT: u32 = number(166, 39);
pub(super) const SWAPON: u32 = number(167, 224);
pub(super) const REBOOT: u32 = number(169, 142);
pub(super) const INIT_MODULE: u32 = number(175, 105);
pub(super) const KEXEC_LOAD: u32 = number(246, 104);
pub(super) const ADD_KEY: u32 = number(248, 217);
pub(super) const REQUEST_KEY: u32 = number(249, 218);
pub(super) const KEYCTL: u32 = number(250, 219);
pub(super) const UNSHARE: u32 = number(272, 97);
pub(super) const PERF_EVENT_OPEN: u32 = number(298, 241);
pub(super) const PRLIMIT: u32 = number(302, 261);
pub(super) const OPEN_BY_HANDLE_AT: u32 = number(304, 265);
pub(super) const SETNS: u32 = number(308, 268);
pub(super) const PROCESS_VM_READV: u32 = number(310, 270);
pub(super) const PROCESS_VM_WRITEV: u32 = number(311, 271);
pub(super) const MEMFD_CREATE: u32 = number(319, 279);
pub(super) const BPF: u32 = number(321, 280);
pub(super) const OPEN_TREE: u32 = 428;
pub(super) const FSOPEN: u32 = 430;
pub(super) const PIDFD_OPEN: u32 = 434;
pub(super) const CLONE3: u32 = 435;
pub(super) const PIDFD_SEND_SIGNAL: u32 = 424;
pub(super) const IO_URING_SETUP: u32 = 425;
pub(super) const IO_URING_ENTER: u32 = 426;
pub(super) const MOUNT_SETATTR: u32 = 442;

/// A command that makes a call. It goes well when the call does. Texts are written as `t("…")`.
pub(super) fn call(number: u32, arguments: &str) -> String {
    let comma = if arguments.is_empty() { "" } else { ", " };
    perl(&format!("exit(syscall({number}{comma}{arguments}) == -1)"))
}

/// A command that runs a program of perl, which must not have a `'` in it.
pub(super) fn perl(program: &str) -> String {
    format!("/usr/bin/perl -e 'sub t {{ my $t = \"$_[0]\\0\"; $t }} {program}'")
}
