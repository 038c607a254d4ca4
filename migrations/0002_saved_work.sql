-- What was saved of an environment before its files were deleted. The files of it are in the vault.
CREATE TABLE saved_states (
    id             TEXT   NOT NULL PRIMARY KEY,
    environment_id TEXT   NOT NULL REFERENCES environments (id) ON DELETE RESTRICT,
    codebase_id    TEXT   NOT NULL REFERENCES codebases (id) ON DELETE RESTRICT,
    node           TEXT   NOT NULL REFERENCES nodes (name) ON DELETE RESTRICT,
    made_at        BIGINT NOT NULL,
    bytes          BIGINT NOT NULL CHECK (bytes >= 0),
    -- How many things are not in it; its manifest names them.
    skipped        BIGINT NOT NULL CHECK (skipped >= 0),
    -- The folder in the trash that it was made from, until that is deleted.
    remains        TEXT,
    -- Milliseconds that cleanup has seen pass since. A clock that jumps must not end anything.
    aged           BIGINT NOT NULL DEFAULT 0 CHECK (aged >= 0),
    -- When its files were deleted from the vault.
    expired_at     BIGINT,
    CHECK (expired_at IS NULL OR remains IS NULL)
);
CREATE INDEX saved_states_environment ON saved_states (environment_id);
CREATE INDEX saved_states_codebase ON saved_states (codebase_id, made_at);

-- States of a live environment that `undo` can go back to, numbered from 1.
CREATE TABLE checkpoints (
    environment_id TEXT   NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    number         BIGINT NOT NULL CHECK (number > 0),
    made_at        BIGINT NOT NULL,
    -- The commit in the repository that holds it.
    commit_sha     TEXT   NOT NULL,
    label          TEXT,
    PRIMARY KEY (environment_id, number)
);

-- What one process at a time does every so often.
CREATE TABLE chores (
    name       TEXT   NOT NULL PRIMARY KEY,
    holder     TEXT,
    -- The holder renews this; beyond it another may take over.
    held_until BIGINT,
    began_at   BIGINT,
    ended_at   BIGINT,
    CHECK ((holder IS NULL) = (held_until IS NULL))
);
