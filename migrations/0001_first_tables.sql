-- One text for SQLite and PostgreSQL: columns are TEXT and BIGINT only, times are unix milliseconds in UTC,
-- yes and no are 1 and 0, and every closed set of words has a CHECK that a test walks.

-- A forgotten codebase keeps its row, because its history refers to it; it gives up its name, path and folder.
CREATE TABLE codebases (
    id           TEXT   NOT NULL PRIMARY KEY,
    name         TEXT   NOT NULL,
    path         TEXT   NOT NULL,
    folder       TEXT   NOT NULL,
    remote       TEXT,
    remote_name  TEXT,
    base_branch  TEXT,
    fingerprint  TEXT   NOT NULL,
    created_at   BIGINT NOT NULL,
    forgotten_at BIGINT,
    -- Raised by whoever needs this codebase to hold still; the write is the lock.
    touched      BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX codebases_name ON codebases (name) WHERE forgotten_at IS NULL;
CREATE UNIQUE INDEX codebases_path ON codebases (path) WHERE forgotten_at IS NULL;
CREATE UNIQUE INDEX codebases_folder ON codebases (folder) WHERE forgotten_at IS NULL;

-- A machine, held still while a block of its ports is chosen.
CREATE TABLE nodes (
    name    TEXT   NOT NULL PRIMARY KEY,
    touched BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE environments (
    id                   TEXT   NOT NULL PRIMARY KEY,
    codebase_id          TEXT   NOT NULL REFERENCES codebases (id) ON DELETE RESTRICT,
    provider             TEXT   NOT NULL CHECK (provider IN ('worktree')),
    node                 TEXT   NOT NULL REFERENCES nodes (name) ON DELETE RESTRICT,
    path                 TEXT   NOT NULL,
    -- The path in lower case: two paths that differ in case only are one folder on some disks.
    path_key             TEXT   NOT NULL,
    branch               TEXT   NOT NULL,
    branch_made          BIGINT NOT NULL CHECK (branch_made IN (0, 1)),
    base                 TEXT,
    base_sha             TEXT,
    state                TEXT   NOT NULL CHECK (state IN ('creating', 'active', 'failed', 'suspended', 'removing',
                                                          'trashed', 'destroyed', 'unreachable', 'broken')),
    generation           BIGINT NOT NULL CHECK (generation >= 0),
    adopted_from         TEXT   CHECK (adopted_from IN ('path', 'branch', 'skill')),
    migrated_at          BIGINT,
    pinned_at            BIGINT,
    port                 BIGINT CHECK (port BETWEEN 1 AND 65535),
    init_state           TEXT   CHECK (init_state IN ('running', 'success', 'failed', 'interrupted')),
    init_error           TEXT,
    pr_number            BIGINT CHECK (pr_number > 0),
    pr_url               TEXT,
    pr_title             TEXT,
    pr_state             TEXT,
    pr_created_at        BIGINT,
    description          TEXT,
    created_at           BIGINT NOT NULL,
    created_by           TEXT   NOT NULL,
    last_activity_at     BIGINT NOT NULL,
    last_error           TEXT,
    trash_path           TEXT,
    trashed_at           BIGINT,
    trashed_because      TEXT   CHECK (trashed_because IN ('asked', 'merged', 'stale', 'closed', 'orphan',
                                                             'superseded')),
    trash_head           TEXT,
    trash_was_detached   BIGINT CHECK (trash_was_detached IN (0, 1)),
    trash_branch_deleted BIGINT CHECK (trash_branch_deleted IN (0, 1)),
    lease_owner          TEXT,
    lease_epoch          BIGINT NOT NULL DEFAULT 0,
    lease_until          BIGINT,
    -- What is in the trash can be found there.
    CHECK (state <> 'trashed' OR trash_path IS NOT NULL),
    CHECK ((trash_path IS NULL) = (trashed_at IS NULL)),
    CHECK ((trash_path IS NULL) = (trashed_because IS NULL)),
    CHECK ((lease_owner IS NULL) = (lease_until IS NULL))
);
CREATE UNIQUE INDEX environments_branch ON environments (codebase_id, branch)
    WHERE state NOT IN ('trashed', 'destroyed');
CREATE UNIQUE INDEX environments_path ON environments (path_key)
    WHERE state NOT IN ('trashed', 'destroyed');
CREATE UNIQUE INDEX environments_port ON environments (node, port)
    WHERE state NOT IN ('trashed', 'destroyed');
CREATE INDEX environments_state ON environments (codebase_id, state);

-- `live` repeats whether the environment's state is, because a partial index sees one table only.
CREATE TABLE environment_works (
    environment_id TEXT   NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    codebase_id    TEXT   NOT NULL REFERENCES codebases (id) ON DELETE RESTRICT,
    position       BIGINT NOT NULL,
    kind           TEXT   NOT NULL CHECK (kind IN ('issue', 'pr', 'review', 'thread', 'task')),
    work_id        TEXT   NOT NULL CHECK (work_id <> ''),
    name           TEXT   NOT NULL CHECK (name <> ''),
    live           BIGINT NOT NULL CHECK (live IN (0, 1)),
    PRIMARY KEY (environment_id, kind, work_id)
);
CREATE UNIQUE INDEX environment_works_work ON environment_works (codebase_id, kind, work_id) WHERE live = 1;
CREATE UNIQUE INDEX environment_works_name ON environment_works (codebase_id, name) WHERE live = 1;
CREATE INDEX environment_works_any_name ON environment_works (codebase_id, name);

CREATE TABLE environment_keywords (
    environment_id TEXT   NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
    position       BIGINT NOT NULL,
    keyword        TEXT   NOT NULL,
    PRIMARY KEY (environment_id, position)
);

CREATE TABLE conversations (
    id               TEXT   NOT NULL PRIMARY KEY,
    platform         TEXT   NOT NULL CHECK (platform IN ('github', 'slack', 'discord', 'telegram', 'http', 'terminal')),
    platform_id      TEXT   NOT NULL CHECK (platform_id <> ''),
    parent_id        TEXT   REFERENCES conversations (id) ON DELETE SET NULL,
    codebase_id      TEXT   REFERENCES codebases (id) ON DELETE SET NULL,
    environment_id   TEXT   REFERENCES environments (id) ON DELETE SET NULL,
    assistant        TEXT,
    subfolder        TEXT,
    created_at       BIGINT NOT NULL,
    last_activity_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX conversations_key ON conversations (platform, platform_id);
CREATE INDEX conversations_environment ON conversations (environment_id);

-- Append-only: who did what, when, and from which commit to which.
CREATE TABLE events (
    id             TEXT   NOT NULL PRIMARY KEY,
    at             BIGINT NOT NULL,
    codebase_id    TEXT   REFERENCES codebases (id) ON DELETE RESTRICT,
    environment_id TEXT   REFERENCES environments (id) ON DELETE RESTRICT,
    actor          TEXT   NOT NULL,
    what           TEXT   NOT NULL CHECK (what <> ''),
    old_sha        TEXT,
    new_sha        TEXT,
    detail         TEXT
);
CREATE INDEX events_environment ON events (environment_id, at);
CREATE INDEX events_codebase ON events (codebase_id, at);
