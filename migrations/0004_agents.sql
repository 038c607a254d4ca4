-- The content of the environment is a stranger's: a pull request from a fork.
ALTER TABLE environments ADD COLUMN fork BIGINT NOT NULL DEFAULT 0 CHECK (fork IN (0, 1));

-- What a turn used, as the assistant says.
ALTER TABLE runs ADD COLUMN input_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cached_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN output_tokens BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN cost_micros BIGINT;

-- What happened in a run, in order. It goes with its run.
CREATE TABLE run_events (
    run_id TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq    BIGINT NOT NULL,
    at     BIGINT NOT NULL,
    kind   TEXT   NOT NULL CHECK (kind IN ('session', 'text', 'tool', 'plan', 'usage', 'note', 'other', 'end')),
    body   TEXT   NOT NULL,
    PRIMARY KEY (run_id, seq)
);

-- What an assistant remembers of a session: zstd, then base64. Replaced after each turn.
CREATE TABLE memories (
    session_id TEXT   NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    body       TEXT   NOT NULL,
    saved_at   BIGINT NOT NULL
);

-- What went through the gateway for a run, by model. Its own count, whatever the assistant says.
CREATE TABLE spending (
    run_id        TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    model         TEXT   NOT NULL,
    calls         BIGINT NOT NULL,
    input_tokens  BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_micros   BIGINT NOT NULL,
    last_at       BIGINT NOT NULL,
    PRIMARY KEY (run_id, model)
);
CREATE INDEX spending_last ON spending (last_at);
