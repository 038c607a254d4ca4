//! Traps in the tree, its submodules and its git folder.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Lair, Trap, blunt, trap};
use crate::git::{git, try_git};

/// Through the tree and its submodules.
pub const OF_TREES: &[Trap] = &[
    blunt("core_worktree", |lair| lair.config("core.worktree", &lair.elsewhere().to_string_lossy())),
    trap(
        "submodule_update_command",
        |lair| {
            lair.config("protocol.file.allow", "always");
            add_submodule(lair, "path = sub", &lair.repo.origin().to_string_lossy());
            lair.config("submodule.sub.update", &format!("!{}", lair.bite()));
        },
        |lair| lair.plain(&["submodule", "update", "--init"]),
    ),
    blunt("submodule_from_ext", |lair| {
        lair.config("protocol.ext.allow", "always");
        add_submodule(lair, "path = sub", &format!("ext::{}", lair.bite()));
    }),
    blunt("submodule_update_in_the_tree", |lair| {
        let update = format!("path = sub\n\tupdate = !{}", lair.bite());
        add_submodule(lair, &update, &lair.repo.origin().to_string_lossy());
    }),
    blunt("submodule_url_like_an_option", |lair| add_submodule(lair, "path = sub", "-u./evil")),
    blunt("submodule_from_a_file", |lair| {
        add_submodule(lair, "path = sub", &format!("file://{}", lair.repo.origin().display()));
    }),
    blunt("submodule_path_with_a_carriage_return", |lair| {
        lair.config("protocol.file.allow", "always");
        add_submodule(lair, "path = \"sub\r\"", &lair.repo.origin().to_string_lossy());
    }),
    trap(
        "bare_repository_in_the_tree",
        |lair| {
            let nested = lair.repo.path().join("nested");
            git(lair.repo.path(), &["init", "--quiet", "--bare", "nested"]);
            git(&nested, &["config", "core.fsmonitor", &lair.bite()]);
            git(&nested, &["config", "core.bare", "false"]);
            git(&nested, &["config", "core.worktree", ".."]);
            fs::write(nested.join("refs/keep"), "").expect("git keeps no empty folder");
            fs::write(nested.join("objects/keep"), "").expect("git keeps no empty folder");
            lair.repo.git(&["add", "nested"]);
            lair.repo.git(&["commit", "--quiet", "-m", "Nest"]);
            lair.repo.push("main");
        },
        |lair| drop(try_git(&lair.repo.path().join("nested"), &["status"])),
    ),
    blunt("links_out_of_the_tree", |lair| {
        symlink(lair.elsewhere(), lair.repo.path().join("config")).expect("a link");
        symlink(lair.folder.join("canary"), lair.repo.path().join("c.txt")).expect("a link");
        lair.repo.git(&["add", "."]);
        lair.repo.git(&["commit", "--quiet", "-m", "Link"]);
        lair.repo.push("main");
    }),
    trap(
        "git_folder_behind_a_link",
        |lair| {
            fs::rename(lair.git_folder(), lair.folder.join("real.git")).expect("moves");
            symlink(lair.folder.join("real.git"), lair.git_folder()).expect("a link");
            lair.config("core.fsmonitor", &lair.bite());
        },
        Lair::compares,
    ),
    trap(
        "git_file_to_another_repository",
        |lair| {
            let den = lair.den();
            fs::rename(lair.git_folder(), lair.folder.join("real.git")).expect("moves");
            fs::write(lair.git_folder(), format!("gitdir: {}/.git\n", den.path().display())).expect("a file");
        },
        Lair::compares,
    ),
];

/// A `.gitmodules` and a submodule at `sub`, both committed and pushed.
fn add_submodule(lair: &Lair, path: &str, url: &str) {
    let head = lair.repo.git(&["rev-parse", "HEAD"]);
    lair.repo.write(".gitmodules", &format!("[submodule \"sub\"]\n\t{path}\n\turl = {url}\n"));
    lair.repo.git(&["add", ".gitmodules"]);
    let name = if path.contains('\r') { "sub\r" } else { "sub" };
    lair.repo.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},{name}")]);
    lair.repo.git(&["commit", "--quiet", "-m", "Add a submodule"]);
    lair.repo.push("main");
}
