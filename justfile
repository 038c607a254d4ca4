# Habits of this house. Every recipe is a plain command that also works without `just`.

# What there is to do.
default:
    @just --list --unsorted

# Formatting, lints, documentation, licences.
check:
    ./test --checks

# Everything: the checks, and all tests on SQLite and PostgreSQL.
test:
    ./test

# The tests on SQLite only.
fast:
    ./test --fast

# The tests with real agents only: Claude Code, Codex and opencode, on a model that is faked.
test-agents:
    ./test --agents

# The tests on PostgreSQL only, on a private server that goes away afterwards.
postgres *args:
    cargo run -q -p hedgerow-testkit --bin with-postgres -- cargo test --workspace {{args}}

# The tests of one crate, such as `just only core names`.
only crate *args:
    cargo test -p {{ if crate == "hedgerow" { crate } else { "hedgerow-" + crate } }} {{args}}

# The property tests over new inputs, and ten to a hundred times as many; a quarter of an hour.
long:
    HEDGEROW_LONG=1 cargo test --release -p hedgerow-core --test properties
    PROPTEST_CASES=100000 cargo test --release -p hedgerow-core -p hedgerow-platforms --lib

# Kills a process at every step and system call of every act, and checks what is left; an hour on two idle cores, less
# with TMPDIR=/dev/shm.
crash *args:
    cargo run -q -p hedgerow-testkit --bin crash -- {{args}}

# Times against plain git in the same run, and the ratios.
bench:
    cargo bench -p hedgerow

# Formats the tree and runs the guards of the architecture.
tidy:
    cargo fmt --all
    cargo test -q -p hedgerow --test tidy

# Hedgerow itself, as in `just run env list`.
run *args:
    cargo run --release -- {{args}}

# The documentation of the crates, in a browser.
docs:
    cargo doc --workspace --no-deps --open
