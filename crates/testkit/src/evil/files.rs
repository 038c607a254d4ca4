//! Traps in hooks and in the configuration of checking out, comparing and merging files.

use std::fs;
use std::io::Write as _;

use super::{Lair, Trap, blunt, closed, trap};

/// Every hook that a client may run.
const HOOKS: [&str; 16] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
    "reference-transaction",
];

/// Through hooks and the configuration of checking out and comparing files.
pub const OF_FILES: &[Trap] = &[
    trap(
        "hooks",
        |lair| HOOKS.iter().for_each(|name| lair.hook(&lair.git_folder().join("hooks"), name)),
        Lair::checks_out,
    ),
    trap(
        "hooks_path_absolute",
        |lair| {
            lair.hook(&lair.folder.join("hooks"), "reference-transaction");
            lair.config("core.hooksPath", &lair.folder.join("hooks").to_string_lossy());
        },
        Lair::checks_out,
    ),
    trap(
        "hooks_path_in_the_tree",
        |lair| lair.config("core.hooksPath", ".husky"),
        |lair| {
            lair.plain(&["fetch", "--quiet", "origin", "refs/pull/3/head:refs/proof"]);
            let place = lair.folder.join("proof");
            lair.plain(&["worktree", "add", "--detach", &place.to_string_lossy(), "refs/proof"]);
            lair.plain(&["-C", &place.to_string_lossy(), "checkout", "-b", "proof"]);
            lair.plain(&["worktree", "remove", "--force", &place.to_string_lossy()]);
        },
    ),
    blunt("hook_in_the_configuration", |lair| {
        lair.config("hook.evil.command", &lair.bite());
        lair.config("hook.evil.event", "reference-transaction");
    }),
    trap("fsmonitor", |lair| lair.config("core.fsmonitor", &lair.bite()), Lair::compares),
    trap("filter_smudge", |lair| lair.config("filter.evil.smudge", &lair.bite_cat()), Lair::checks_out),
    trap("filter_clean", |lair| lair.config("filter.evil.clean", &lair.bite_cat()), Lair::compares),
    trap(
        "filter_process_required",
        |lair| {
            lair.config("filter.evil.process", &lair.bite());
            lair.config("filter.evil.required", "true");
        },
        Lair::checks_out,
    ),
    trap(
        "filter_by_info_attributes",
        |lair| {
            fs::create_dir_all(lair.git_folder().join("info")).expect("a folder");
            fs::write(lair.git_folder().join("info/attributes"), "*.dat filter=other\n").expect("attributes");
            lair.config("filter.other.smudge", &lair.bite_cat());
        },
        Lair::checks_out,
    ),
    trap(
        "filter_by_attributes_file",
        |lair| {
            fs::write(lair.folder.join("attributes"), "*.dat filter=other\n").expect("attributes");
            lair.config("core.attributesFile", &lair.folder.join("attributes").to_string_lossy());
            lair.config("filter.other.smudge", &lair.bite_cat());
        },
        Lair::checks_out,
    ),
    trap(
        "filter_with_an_equals_sign",
        |lair| {
            fs::write(lair.git_folder().join("info/attributes"), "*.dat filter=a=b\n").expect("attributes");
            lair.config("filter.a=b.smudge", &lair.bite_cat());
        },
        Lair::checks_out,
    ),
    closed(trap(
        "filter_that_is_not_utf8",
        |lair| {
            fs::write(lair.git_folder().join("info/attributes"), b"*.dat filter=\xff\n").expect("attributes");
            let mut config = fs::OpenOptions::new().append(true).open(lair.git_folder().join("config")).expect("it");
            config.write_all(b"[filter \"\xff\"]\n\tsmudge = ").expect("writes");
            config.write_all(lair.bite_cat().as_bytes()).expect("writes");
        },
        Lair::checks_out,
    )),
    trap(
        "include",
        |lair| {
            fs::write(lair.folder.join("more"), format!("[filter \"evil\"]\n\tsmudge = {}\n", lair.bite_cat()))
                .expect("a file to include");
            lair.config("include.path", &lair.folder.join("more").to_string_lossy());
        },
        Lair::checks_out,
    ),
    trap(
        "include_in_linked_worktrees_only",
        |lair| {
            fs::write(lair.folder.join("more"), format!("[filter \"evil\"]\n\tsmudge = {}\n", lair.bite_cat()))
                .expect("a file to include");
            lair.config("includeIf.gitdir:**/worktrees/**.path", &lair.folder.join("more").to_string_lossy());
        },
        Lair::checks_out,
    ),
    trap(
        "include_on_some_branches",
        |lair| {
            fs::write(lair.folder.join("more"), format!("[filter \"evil\"]\n\tsmudge = {}\n", lair.bite_cat()))
                .expect("a file to include");
            lair.config("includeIf.onbranch:issue-*.path", &lair.folder.join("more").to_string_lossy());
        },
        |lair| {
            let place = lair.folder.join("proof");
            lair.plain(&["worktree", "add", "-b", "issue-0", &place.to_string_lossy(), "origin/main"]);
            lair.plain(&["-C", &place.to_string_lossy(), "checkout", "HEAD~1"]);
            lair.plain(&["-C", &place.to_string_lossy(), "checkout", "issue-0"]);
            fs::write(place.join("a.txt"), "3\n").expect("writes");
            lair.repo.git(&["-C", &place.to_string_lossy(), "checkout", "--force", "HEAD"]);
            fs::remove_file(place.join("a.txt")).expect("removes");
            lair.plain(&["-C", &place.to_string_lossy(), "checkout", "--", "a.txt"]);
            lair.plain(&["worktree", "remove", "--force", &place.to_string_lossy()]);
        },
    ),
    trap(
        "worktree_configuration",
        |lair| {
            // git takes every number for true.
            lair.config("extensions.worktreeConfig", "2");
            lair.repo.git(&["config", "--worktree", "filter.evil.smudge", &lair.bite_cat()]);
        },
        Lair::checks_out,
    ),
    trap("diff_external", |lair| lair.config("diff.external", &lair.bite()), Lair::compares),
    trap("diff_command", |lair| lair.config("diff.evil.command", &lair.bite()), Lair::compares),
    trap(
        "diff_textconv",
        |lair| {
            lair.config("diff.evil.textconv", &lair.bite_cat());
            lair.config("diff.evil.cachetextconv", "true");
        },
        Lair::compares,
    ),
    trap(
        "merge_driver",
        |lair| lair.config("merge.evil.driver", &lair.bite()),
        |lair| {
            lair.plain(&["merge-tree", "--write-tree", "origin/main", "origin/feature"]);
        },
    ),
    trap(
        "merge_driver_with_an_equals_sign",
        |lair| {
            fs::write(lair.git_folder().join("info/attributes"), "*.txt merge=a=b\n").expect("attributes");
            lair.config("merge.a=b.driver", &lair.bite());
        },
        |lair| lair.plain(&["merge-tree", "--write-tree", "origin/main", "origin/feature"]),
    ),
    trap(
        "signatures_shown",
        |lair| {
            let commit = lair.repo.git(&["cat-file", "commit", "HEAD"]);
            let signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n";
            let signed = format!("{}\n", commit.replacen("\n\n", &format!("\n{signature}"), 1));
            let file = lair.folder.join("signed");
            fs::write(&file, signed).expect("writes");
            let sha = lair.repo.git(&["hash-object", "-t", "commit", "-w", &file.to_string_lossy()]);
            lair.repo.git(&["reset", "--quiet", "--hard", &sha]);
            lair.repo.git(&["push", "--quiet", "--force", "origin", "main"]);
            for (key, value) in [("gpg.program", lair.bite()), ("log.showSignature", "true".to_owned())] {
                lair.config(key, &value);
            }
            lair.config("commit.gpgSign", "true");
        },
        |lair| lair.plain(&["log", "-1"]),
    ),
    blunt("editors_pagers_and_aliases", |lair| {
        for key in ["core.editor", "sequence.editor", "core.pager", "pager.config", "pager.status", "pager.diff"] {
            lair.config(key, &lair.bite());
        }
        for name in ["status", "worktree", "rev-parse", "for-each-ref", "fetch"] {
            lair.config(&format!("alias.{name}"), &format!("!{}", lair.bite()));
        }
    }),
];
