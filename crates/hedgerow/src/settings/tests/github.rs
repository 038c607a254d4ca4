//! When GitHub is on, as whom, and what is refused before anything is asked of it.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use hedgerow_platforms::github::{Allow, Config, Identity};
use hedgerow_testkit::outside::github::APP_KEY;

use super::*;

const TOKEN: &str = "ghp_hunter2hunter2";
const SECRET: &str = "hunter3-hunter3-hunter3";

fn config(machine: &Machine) -> Config {
    machine.read().expect("good settings").server.github.door.expect("GitHub is on").config().clone()
}

/// A file in the home, with this mode.
fn kept(machine: &Machine, name: &str, text: &str, mode: u32) -> PathBuf {
    let path = machine.home.path().join(name);
    fs::write(&path, text).expect("writes");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("chmod");
    path
}

#[test]
fn without_an_identity_github_is_off() {
    let read = Machine::new("", &[("GITHUB_WEBHOOK_SECRET", SECRET)]).read().expect("good settings");
    assert!(read.server.github.door.is_none());
    assert_eq!(read.server.github.web_url, "https://github.com");
    assert_eq!(format!("{:?}", read.settings.forges), "[]");
}

#[test]
fn a_token_is_enough_and_the_rest_has_defaults() {
    let machine = Machine::new("", &[("GITHUB_TOKEN", TOKEN), ("HEDGEROW_BOT_NAME", "robin")]);
    let config = config(&machine);
    assert!(matches!(&config.identity, Identity::Token(token) if token.reveal() == TOKEN));
    assert_eq!((config.api_url.as_str(), config.web_url.as_str()), ("https://api.github.com", "https://github.com"));
    assert_eq!((config.bot_name.as_str(), &config.allow, config.clones), ("robin", &Allow::Writers, true));
    assert_eq!((config.webhook_secrets.len(), config.look_every), (0, Some(Duration::from_mins(15))));
    assert_eq!(format!("{:?}", machine.settings().forges), "[Github]", "the engine is told as well");
}

#[test]
fn every_key_of_github_is_read_from_the_file_and_a_variable_wins() {
    let file = format!(
        "[github]\ntoken = \"{TOKEN}\"\nwebhook_secrets = [\"{SECRET}\", \"another-secret-of-ours\"]\n\
         api_url = \"https://ghe.example/api/v3/\"\nallow = [\"583231\", \"7\"]\nclone = false\nlook_minutes = 0\n"
    );
    let config = config(&Machine::new(&file, &[]));
    assert_eq!(
        (config.api_url.as_str(), config.web_url.as_str()),
        ("https://ghe.example/api/v3", "https://ghe.example")
    );
    let secrets: Vec<&str> = config.webhook_secrets.iter().map(Secret::reveal).collect();
    assert_eq!(secrets, [SECRET, "another-secret-of-ours"]);
    assert_eq!((config.allow, config.clones, config.look_every), (Allow::Only([7, 583_231].into()), false, None));
    let variables = [
        ("GITHUB_WEBHOOK_SECRET", "new-secret-of-ours, old-secret-of-ours"),
        ("GITHUB_API_URL", "http://127.0.0.1:4000"),
        ("GITHUB_URL", "http://localhost:4001"),
        ("GITHUB_ALLOW", "*"),
    ];
    let config = self::config(&Machine::new(&file, &variables));
    assert_eq!(
        config.webhook_secrets.iter().map(Secret::reveal).collect::<Vec<_>>(),
        ["new-secret-of-ours", "old-secret-of-ours"]
    );
    assert_eq!((config.api_url.as_str(), config.web_url.as_str()), ("http://127.0.0.1:4000", "http://localhost:4001"));
    assert_eq!(config.allow, Allow::Everyone);
}

#[test]
fn what_cannot_be_right_is_refused_by_its_name() {
    let cases = [
        ("GITHUB_TOKEN", "short", "visible ASCII"),
        ("GITHUB_WEBHOOK_SECRET", "fifteen-letters", "16 to 1024"),
        ("GITHUB_WEBHOOK_SECRET", "hunter3-hunter3-hunter3,", "16 to 1024"),
        ("GITHUB_WEBHOOK_SECRET", "with spaces in the middle", "16 to 1024"),
        ("GITHUB_API_URL", "api.github.com", "must be a URL"),
        ("GITHUB_API_URL", "https://bob:pass@ghe.example", "must be a URL"),
        ("GITHUB_API_URL", "http://ghe.example/api/v3", "must begin with `https://`"),
        ("GITHUB_API_URL", "http://127.0.0.1.evil.example", "must begin with `https://`"),
        ("GITHUB_API_URL", "http://localhost.evil.example:80/x", "must begin with `https://`"),
        ("GITHUB_URL", "http://10.0.0.7", "must begin with `https://`"),
        ("GITHUB_APP_ID", "a b", "must be the id of a GitHub App"),
        ("GITHUB_ALLOW", "alice", "numbers of accounts"),
        ("GITHUB_ALLOW", "7,0", "numbers of accounts"),
        ("GITHUB_ALLOW", "7,-1", "numbers of accounts"),
    ];
    for (name, value, told) in cases {
        let error = Machine::new("", &[(name, value)]).refusal();
        assert!(error.message.contains(&format!("`{name}`")) && error.message.contains(told), "{value}: {error}");
    }
    for url in
        ["http://localhost:3000", "http://127.0.0.1:1/api/v3", "http://[::1]:80", "http://localhost", "http://[::1]"]
    {
        assert!(Machine::new("", &[("GITHUB_API_URL", url)]).read().is_ok(), "{url}");
    }
    let error = Machine::new("[github]\nlook_minutes = 1441\n", &[]).refusal();
    assert!(error.message.contains("`github.look_minutes`"), "{error}");
}

#[test]
fn a_name_on_the_list_is_refused_with_the_way_to_its_number() {
    let error = Machine::new("[github]\nallow = [\"alice\"]\n", &[]).refusal();
    assert_eq!(error.hints, ["`curl https://api.github.com/users/alice` shows the number of `alice` as `id`"]);
    let error = Machine::new("", &[("GITHUB_ALLOW", "*,7")]).refusal();
    assert!(error.message.contains("stands alone"), "{error}");
}

#[test]
fn an_app_needs_both_of_its_halves() {
    let error = Machine::new("", &[("GITHUB_APP_ID", "123")]).refusal();
    assert_eq!(error.message, "`GITHUB_APP_ID` is set, and `github.private_key_file` is not (environment variable)");
    assert!(error.hints[0].contains("GITHUB_PRIVATE_KEY_FILE"), "{error:?}");
    let machine = Machine::new("[github]\nprivate_key_file = \"app.pem\"\n", &[("GITHUB_TOKEN", TOKEN)]);
    let error = machine.refusal();
    assert!(error.message.starts_with("`github.private_key_file` is set, and `github.app_id` is not ("), "{error}");
}

#[test]
fn the_key_of_an_app_is_its_owners_alone_and_a_key() {
    let machine = Machine::new("[github]\napp_id = \"123\"\nprivate_key_file = \"app.pem\"\n", &[]);
    assert!(machine.refusal().message.contains("app.pem cannot be read"), "it is not there");
    fs::create_dir(machine.home.path().join("app.pem")).expect("makes");
    assert!(machine.refusal().message.contains("is not a file"));
    fs::remove_dir(machine.home.path().join("app.pem")).expect("removes");
    for mode in [0o640, 0o604, 0o660] {
        let path = kept(&machine, "app.pem", APP_KEY, mode);
        let error = machine.refusal();
        assert!(error.message.contains("may be used by others"), "{error}");
        assert!(error.hints[0].starts_with(&format!("`chmod 600 {}`", path.display())), "{error:?}");
    }
    for text in ["", "hunter2", "-----BEGIN CERTIFICATE-----\nhunter2\n-----END CERTIFICATE-----\n"] {
        kept(&machine, "app.pem", text, 0o600);
        let error = machine.refusal();
        assert!(error.message.contains("is not a private key in PEM form"), "{error}");
        assert!(!format!("{error:?}").contains("hunter2"));
    }
    kept(&machine, "app.pem", "-----BEGIN RSA PRIVATE KEY-----\nhunter2\n-----END RSA PRIVATE KEY-----\n", 0o600);
    let error = machine.refusal();
    assert!(
        error.message.contains("`github.private_key_file`") && !format!("{error:?}").contains("hunter2"),
        "{error}"
    );
}

#[test]
fn an_app_wins_over_a_token_and_that_is_shown() {
    let machine =
        Machine::new("[github]\napp_id = \"123\"\nprivate_key_file = \"app.pem\"\n", &[("GITHUB_TOKEN", TOKEN)]);
    kept(&machine, "app.pem", APP_KEY, 0o600);
    assert!(matches!(config(&machine).identity, Identity::App { id, .. } if id == "123"));
    let read = machine.read().expect("good settings");
    let value = |key| read.entries.iter().find(|entry| entry.key == key).map(|entry| entry.value.clone());
    assert_eq!(value("github.token"), Some("*** (not used: there is an App)".into()));
    assert_eq!(value("github.app_id"), Some("123".into()));
    assert_eq!(value("github.url"), Some("https://github.com".into()));
    assert!(read.settings.runs.sandbox.hidden.is_empty(), "the home is hidden as a whole");
}

#[test]
fn a_key_outside_of_the_home_is_hidden_from_agents_wherever_it_really_is() {
    let elsewhere = TempDir::new().expect("a scratch folder");
    let real = elsewhere.path().join("real.pem");
    fs::write(&real, APP_KEY).expect("writes");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("chmod");
    let link = elsewhere.path().join("link.pem");
    std::os::unix::fs::symlink(&real, &link).expect("links");
    let file = format!("[github]\napp_id = \"123\"\nprivate_key_file = \"{}\"\n", link.display());
    let hidden = Machine::new(&file, &[]).settings().runs.sandbox.hidden;
    assert_eq!(hidden, [link, real.canonicalize().expect("it is there")]);
}

#[test]
fn nothing_secret_of_github_is_ever_shown() {
    let file = format!("[github]\ntoken = \"{TOKEN}\"\nwebhook_secrets = [\"{SECRET}\"]\n");
    let read = Machine::new(&file, &[]).read().expect("good settings");
    let shown = format!("{read:?} {}", serde_json::to_string(&read.entries).expect("JSON"));
    assert!(shown.contains("***") && !shown.contains("hunter"), "{shown}");
    for bad in
        ["token = [\"hunter2\"]", "webhook_secrets = \"hunter3-hunter3-hunter3\"", "webhook_secrets = [\"hunter\"]"]
    {
        let error = Machine::new(&format!("[github]\n{bad}\n"), &[]).refusal();
        assert!(!format!("{error:?}").contains("hunter"), "{error:?}");
    }
}
