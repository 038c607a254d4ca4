-- What the platform needs to answer a message itself, in its own words.
ALTER TABLE inbox ADD COLUMN handle TEXT;
-- The thing that it is about: the meaning up to its second colon. Whoever looks for what was missed asks by it.
ALTER TABLE inbox ADD COLUMN about TEXT;
CREATE INDEX inbox_about ON inbox (platform, about) WHERE about IS NOT NULL;
-- Its author may not ask here. They are told so once in a conversation.
ALTER TABLE inbox ADD COLUMN refused BIGINT NOT NULL DEFAULT 0 CHECK (refused IN (0, 1));
CREATE INDEX inbox_refused ON inbox (conversation_id, author) WHERE refused = 1;

-- The run whose last word a reply begins, for a platform that showed it while it was on.
ALTER TABLE outbox ADD COLUMN run_id TEXT;

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

-- How far a platform has looked for what it missed, and from when on: what is older was not for us.
CREATE TABLE looks (
    platform   TEXT   NOT NULL,
    place      TEXT   NOT NULL CHECK (place <> ''),
    since      BIGINT NOT NULL,
    until      BIGINT NOT NULL,
    PRIMARY KEY (platform, place)
);
