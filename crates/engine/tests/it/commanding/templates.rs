//! Prompt templates: found in order, read from the base branch, and nowhere else.

use hedgerow_core::{Kind, Work};
use hedgerow_testkit::repo::{commit, write};

use super::{Chat, Room};

const PLAN: &str = "---\ndescription: Plan the work\narguments: <issue>\n---\nPlan $1.\n";

impl Room {
    /// Files on the base branch, as everybody's remote has it.
    fn has_on_base(&self, files: &[(&str, &str)]) {
        for (file, text) in files {
            self.repo.commit(file, text);
        }
        self.repo.push("main");
        self.repo.git(&["fetch", "--quiet", "origin"]);
    }

    async fn prompt(&self, name: &str, args: &str) -> Option<String> {
        let template = self.world.engine.template(&self.codebase, name).await.expect("it can be read");
        template.map(|template| template.fill(args))
    }
}

impl Chat<'_> {
    /// What is answered to a name that nothing has.
    async fn mistypes(&self, typed: &str) -> String {
        let codebase = self.codebase(&self.conversation().await).await;
        let answer = self.room.world.engine.unknown_command(codebase.as_ref(), typed).await.expect("an answer");
        self.assert_fit_for_a_chat(typed, &answer);
        answer
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn templates_are_found_in_their_folders_the_first_wins() {
    let room = Room::begin().await;
    let bob = room.bob();
    let more = "`/command-set <name> <path>` adds one from the base branch, `/load-commands <folder>` a whole folder.";
    assert_eq!(bob.says("/commands").await, format!("`shop` has no prompt templates yet. {more}"));
    room.has_on_base(&[
        (".hedgerow/commands/plan.md", PLAN),
        (".hedgerow/commands/deep/no.md", "not found: this folder is flat"),
        (".claude/commands/plan.md", "second"),
        (".claude/commands/team/review.md", "Review $ARGUMENTS"),
        (".claude/commands/help.md", "a command is called so"),
        (".claude/commands/bad.md", "---\nisolation: maybe\n---\nx"),
        (".claude/commands/notes.txt", "no markdown"),
    ]);
    assert_eq!(
        bob.says("/commands").await,
        format!(
            "Prompt templates of `shop`:\n\
             • `/bad` - `.claude/commands/bad.md` cannot be used as a template: line 2: `isolation` can only be `none`\n\
             • `/plan` - Plan the work\n• `/team:review`\n{more}"
        )
    );
    assert_eq!(room.prompt("plan", "issue-42 now").await.as_deref(), Some("Plan issue-42.\n"));
    assert_eq!(room.prompt("team:review", "it all").await.as_deref(), Some("Review it all"));
    for none in ["deep:no", "no", "help", "notes", "team", "a:..:plan", "x..:..:y", "PLAN"] {
        assert_eq!(room.prompt(none, "").await, None, "{none}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_repository_s_configuration_and_people_go_first() {
    let room = Room::begin().await;
    let bob = room.bob();
    room.has_on_base(&[
        (".hedgerow/config.toml", "commands = [\"prompts\", \"docs/ship.md\"]\n"),
        ("prompts/plan.md", "from the configured folder"),
        ("prompts/a/b.md", "deep"),
        ("docs/ship.md", "Ship it"),
        (".hedgerow/commands/plan.md", PLAN),
        ("other/plan.md", "---\ndescription: Mine\n---\nset by hand"),
    ]);
    assert_eq!(room.prompt("plan", "").await.as_deref(), Some("from the configured folder"));
    assert_eq!(room.prompt("a:b", "").await.as_deref(), Some("deep"));
    assert_eq!(room.prompt("ship", "").await.as_deref(), Some("Ship it"));
    assert_eq!(bob.says("/command-set plan other/plan.md").await, "`/plan` is there now: Mine");
    assert_eq!(room.prompt("plan", "").await.as_deref(), Some("set by hand"));
    let names = room.world.engine.template_names(&room.codebase).await.expect("a list");
    let names: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a:b", "plan", "ship"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_writes_is_no_template() {
    let room = Room::begin().await;
    let bob = room.bob();
    let environment = bob.works_on(Work::Issue(42)).await;
    commit(&environment.path, ".hedgerow/commands/evil.md", "from an environment");
    write(room.repo.path(), ".hedgerow/commands/evil.md", "from a working tree");
    assert_eq!(room.prompt("evil", "").await, None);
    assert_eq!(
        bob.refused("/command-set evil .hedgerow/commands/evil.md").await,
        (
            Kind::NotFound,
            "`.hedgerow/commands/evil.md` is not on the base branch of `shop`\n\
             • bring it there, or choose another file: `/command-set evil <path>`"
                .to_owned()
        )
    );
    for path in ["/etc/passwd", "../x.md", "a/../../x.md"] {
        let (kind, told) = bob.refused(&format!("/command-set evil {path}")).await;
        assert_eq!(kind, Kind::Usage);
        assert!(told.contains("is not a path inside the repository"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_loaded_with_what_can_be_used() {
    let room = Room::begin().await;
    let bob = room.bob();
    room.has_on_base(&[
        ("p/plan.md", PLAN),
        ("p/team/review.md", "Review"),
        ("p/status.md", "called like a command"),
        ("p/bad.md", "---\nx\n---\n"),
        ("p/empty.md", "---\ndescription: x\n---\n"),
        ("p/long.md", &"x".repeat(65 << 10)),
    ]);
    let told = bob.says("/load-commands p/").await;
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "Loaded 2 templates: `/plan`, `/team:review`",
            "• left out: `p/bad.md` cannot be used as a template: line 2: it must be `key: value`",
            "• left out: `p/empty.md` cannot be used as a template: it says nothing",
        ]
    );
    assert!(told.contains("`p/long.md`") && told.contains("it has 66560 bytes, and may have 65536"), "{told}");
    assert!(told.ends_with("• left out: `p/status.md` cannot be called like a command"), "{told}");
    assert_eq!(room.prompt("team:review", "").await.as_deref(), Some("Review"));
    assert_eq!(
        bob.refused("/load-commands nowhere").await,
        (
            Kind::NotFound,
            "The base branch of `shop` has no templates in `nowhere`\n• a template is a markdown file, `plan.md`"
                .to_owned()
        )
    );
    room.repo.git(&["rm", "--quiet", "p/plan.md"]);
    room.has_on_base(&[("x", "x")]);
    let failure = room.world.engine.template(&room.codebase, "plan").await.expect_err("it is gone");
    assert_eq!(failure.to_string(), "`p/plan.md` is not on the base branch of `shop`");
    assert!(bob.says("/commands").await.contains("• `/plan` - `p/plan.md` is not on the base branch\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_typing_error_may_have_meant_a_template() {
    let room = Room::begin().await;
    let bob = room.bob();
    room.has_on_base(&[(".hedgerow/commands/deploy.md", "Deploy")]);
    assert_eq!(
        bob.mistypes("depoly").await,
        "There is no `/depoly`. Did you mean `/deploy`? `/help` lists all commands."
    );
    assert_eq!(
        bob.mistypes("stauts").await,
        "There is no `/stauts`. Did you mean `/status`? `/help` lists all commands."
    );
    assert_eq!(
        bob.mistypes("frobnicate").await,
        "There is no `/frobnicate`. `/help` lists all commands, `/commands` the templates."
    );
}
