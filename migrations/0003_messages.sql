-- What platforms delivered. Written before it is acknowledged, taken by one process at a time.
CREATE TABLE inbox (
    id              TEXT   NOT NULL PRIMARY KEY,
    platform        TEXT   NOT NULL CHECK (platform IN ('github', 'slack', 'discord', 'telegram', 'http', 'terminal')),
    delivery        TEXT   NOT NULL CHECK (delivery <> ''),
    meaning         TEXT,
    lane            TEXT   NOT NULL CHECK (lane <> ''),
    urgent          BIGINT NOT NULL CHECK (urgent IN (0, 1)),
    -- As it came; empty when it is done.
    body            TEXT   NOT NULL,
    received_at     BIGINT NOT NULL,
    state           TEXT   NOT NULL CHECK (state IN ('waiting', 'taken', 'done')),
    -- Who is at it. The holder moves the time on; beyond it another may take over.
    holder          TEXT,
    held_until      BIGINT,
    attempts        BIGINT NOT NULL DEFAULT 0,
    not_before      BIGINT NOT NULL DEFAULT 0,
    -- Set before the first thing that must not happen twice: a run, or what a command does.
    begun_at        BIGINT,
    done_at         BIGINT,
    outcome         TEXT   CHECK (outcome IN ('answered', 'failed', 'interrupted', 'ignored')),
    -- Known once the platform has prepared it.
    conversation_id TEXT   REFERENCES conversations (id) ON DELETE RESTRICT,
    author          TEXT,
    said            TEXT,
    CHECK ((state = 'taken') = (holder IS NOT NULL)),
    CHECK ((holder IS NULL) = (held_until IS NULL)),
    CHECK ((state = 'done') = (done_at IS NOT NULL)),
    CHECK ((state = 'done') = (outcome IS NOT NULL))
);
CREATE UNIQUE INDEX inbox_delivery ON inbox (platform, delivery);
CREATE UNIQUE INDEX inbox_meaning ON inbox (platform, meaning) WHERE meaning IS NOT NULL;
-- One at a time in each lane, whoever takes it; what is urgent passes.
CREATE UNIQUE INDEX inbox_lane ON inbox (platform, lane) WHERE state = 'taken' AND urgent = 0;
CREATE INDEX inbox_unfinished ON inbox (platform, lane, id) WHERE state <> 'done';
CREATE INDEX inbox_waiting ON inbox (id) WHERE state = 'waiting';
CREATE INDEX inbox_taken ON inbox (holder) WHERE state = 'taken';
CREATE INDEX inbox_conversation ON inbox (conversation_id, id);
CREATE INDEX inbox_done ON inbox (done_at) WHERE state = 'done';

-- What we say. Written with the change it tells of, sent after.
CREATE TABLE outbox (
    id              TEXT   NOT NULL PRIMARY KEY,
    conversation_id TEXT   NOT NULL REFERENCES conversations (id) ON DELETE RESTRICT,
    -- The message it answers; none for what automation tells.
    message_id      TEXT   REFERENCES inbox (id) ON DELETE SET NULL,
    words           TEXT   NOT NULL,
    -- The last word on its message.
    last            BIGINT NOT NULL CHECK (last IN (0, 1)),
    written_at      BIGINT NOT NULL,
    state           TEXT   NOT NULL CHECK (state IN ('waiting', 'sending', 'sent', 'failed')),
    holder          TEXT,
    held_until      BIGINT,
    attempts        BIGINT NOT NULL DEFAULT 0,
    -- How often it may have arrived without our knowing: the sender died, or the platform did not answer.
    doubts          BIGINT NOT NULL DEFAULT 0,
    not_before      BIGINT NOT NULL DEFAULT 0,
    ended_at        BIGINT,
    error           TEXT,
    CHECK ((state = 'sending') = (holder IS NOT NULL)),
    CHECK ((holder IS NULL) = (held_until IS NULL)),
    CHECK ((state IN ('sent', 'failed')) = (ended_at IS NOT NULL))
);
-- Every message has at most one last word, whoever writes it.
CREATE UNIQUE INDEX outbox_last ON outbox (message_id) WHERE last = 1;
CREATE INDEX outbox_message ON outbox (message_id);
CREATE INDEX outbox_conversation ON outbox (conversation_id, id);
CREATE INDEX outbox_unsent ON outbox (conversation_id, id) WHERE state IN ('waiting', 'sending');
CREATE INDEX outbox_ended ON outbox (ended_at) WHERE state IN ('sent', 'failed');

-- An assistant's resumable context inside one conversation.
CREATE TABLE sessions (
    id                TEXT   NOT NULL PRIMARY KEY,
    conversation_id   TEXT   NOT NULL REFERENCES conversations (id) ON DELETE RESTRICT,
    assistant         TEXT   NOT NULL,
    -- The assistant's own name of it, once it has told.
    assistant_session TEXT,
    environment_id    TEXT   REFERENCES environments (id) ON DELETE RESTRICT,
    -- The last template that was used in it.
    last_command      TEXT,
    -- How its last turn ended, for the session that comes after.
    conclusion        TEXT,
    started_at        BIGINT NOT NULL,
    ended_at          BIGINT,
    ended_because     TEXT   CHECK (ended_because IN ('reset', 'removed', 'closed', 'lost', 'moved', 'unknown', 'assistant')),
    CHECK ((ended_at IS NULL) = (ended_because IS NULL))
);
CREATE UNIQUE INDEX sessions_active ON sessions (conversation_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_conversation ON sessions (conversation_id, started_at);

-- One turn of an assistant. A run that was interrupted is never run again.
CREATE TABLE runs (
    id              TEXT   NOT NULL PRIMARY KEY,
    message_id      TEXT   REFERENCES inbox (id) ON DELETE SET NULL,
    conversation_id TEXT   NOT NULL REFERENCES conversations (id) ON DELETE RESTRICT,
    codebase_id     TEXT   REFERENCES codebases (id) ON DELETE RESTRICT,
    -- None for a conversation without a codebase.
    environment_id  TEXT   REFERENCES environments (id) ON DELETE RESTRICT,
    session_id      TEXT   REFERENCES sessions (id) ON DELETE RESTRICT,
    assistant       TEXT   NOT NULL,
    author          TEXT   NOT NULL,
    state           TEXT   NOT NULL CHECK (state IN ('running', 'done', 'failed', 'stopped', 'interrupted')),
    holder          TEXT   NOT NULL,
    -- The lease it runs under.
    epoch           BIGINT NOT NULL,
    started_at      BIGINT NOT NULL,
    ended_at        BIGINT,
    stop_asked_at   BIGINT,
    stop_asked_by   TEXT,
    CHECK ((state = 'running') = (ended_at IS NULL))
);
CREATE UNIQUE INDEX runs_message ON runs (message_id);
CREATE INDEX runs_running ON runs (holder) WHERE state = 'running';
CREATE INDEX runs_running_in ON runs (environment_id) WHERE state = 'running';
CREATE INDEX runs_conversation ON runs (conversation_id, started_at);
CREATE INDEX runs_ended ON runs (ended_at) WHERE state <> 'running';

-- Prompt templates of a codebase: a name, and the file in the repository that is read from its base branch.
CREATE TABLE templates (
    codebase_id TEXT   NOT NULL REFERENCES codebases (id) ON DELETE RESTRICT,
    name        TEXT   NOT NULL CHECK (name <> ''),
    path        TEXT   NOT NULL CHECK (path <> ''),
    added_at    BIGINT NOT NULL,
    added_by    TEXT   NOT NULL,
    PRIMARY KEY (codebase_id, name)
);

-- The environment that the conversation was last told of; each is introduced once.
ALTER TABLE conversations ADD COLUMN told_environment_id TEXT REFERENCES environments (id) ON DELETE SET NULL;
CREATE INDEX conversations_codebase ON conversations (codebase_id);

-- What happens in a conversation is part of the one log.
ALTER TABLE events ADD COLUMN conversation_id TEXT REFERENCES conversations (id) ON DELETE RESTRICT;
CREATE INDEX events_conversation ON events (conversation_id, at);
