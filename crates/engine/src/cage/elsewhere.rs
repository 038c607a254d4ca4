//! In place of `enter.rs` where the system is not Linux: there is no way in.

use std::io;

use super::REFUSED;
use super::view::View;

pub(crate) fn part() -> io::Result<String> {
    Err(io::Error::other(format!("{REFUSED}this system is not Linux")))
}

pub(crate) fn enter(_: &View, _: &str) -> io::Result<()> {
    part().map(drop)
}

pub(crate) fn bind(_: &View) -> io::Result<()> {
    part().map(drop)
}

pub(super) fn landlock() -> Option<u32> {
    None
}
