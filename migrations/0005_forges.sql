-- What the platform needs to answer a message itself, in its own words.
ALTER TABLE inbox ADD COLUMN handle TEXT;
-- Its author may not ask here. They are told so once in a conversation.
ALTER TABLE inbox ADD COLUMN refused BIGINT NOT NULL DEFAULT 0 CHECK (refused IN (0, 1));

-- A pull request as it was last seen: where its head is (of a merged one, where it was merged), and its checks.
ALTER TABLE environments ADD COLUMN pr_head TEXT;
ALTER TABLE environments ADD COLUMN pr_checks TEXT CHECK (pr_checks IN ('pending', 'passing', 'failing'));
ALTER TABLE environments ADD COLUMN pr_seen_at BIGINT;
-- The commit that we pushed last. Only what we pushed ourselves is ever replaced.
ALTER TABLE environments ADD COLUMN pushed_sha TEXT;

-- Who is behind a name, on platforms where names are unique and may pass to somebody else.
CREATE TABLE people (
    platform   TEXT   NOT NULL,
    name       TEXT   NOT NULL CHECK (name <> ''),
    person_id  TEXT   NOT NULL CHECK (person_id <> ''),
    seen_at    BIGINT NOT NULL,
    PRIMARY KEY (platform, name)
);
