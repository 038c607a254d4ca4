//! Which issues a text says it fixes: `Fixes #42`, `closes acme/shop#42`, or the address of the page.

use crate::outside::github::state::World;

const WORDS: [&str; 9] = ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];

impl World {
    /// Issues of this repository that a text says it fixes.
    pub(crate) fn fixed_by(&self, repository: u64, text: &str) -> Vec<u64> {
        let name = self.repository(repository).full_name();
        let page = format!("{}/{name}/issues/", self.url);
        let mut numbers = Vec::new();
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2) {
            let word = pair[0].trim_end_matches(':').to_ascii_lowercase();
            let word = word.trim_start_matches(|letter: char| !letter.is_alphanumeric());
            if !WORDS.contains(&word) {
                continue;
            }
            let target = pair[1];
            let number = target.strip_prefix('#').or_else(|| target.strip_prefix(&format!("{name}#")));
            let number = number.or_else(|| target.strip_prefix(&page));
            let digits =
                number.map(|rest| rest.split(|digit: char| !digit.is_ascii_digit()).next().unwrap_or_default());
            let number = digits.and_then(|digits| digits.parse::<u64>().ok());
            let is_issue = |number: &u64| {
                self.repository(repository)
                    .issues
                    .get(number)
                    .is_some_and(|issue| issue.pull.is_none() && issue.gone.is_none())
            };
            if let Some(number) = number.filter(is_issue)
                && !numbers.contains(&number)
            {
                numbers.push(number);
            }
        }
        numbers
    }

    /// Issues that a pull request closes when it is merged.
    pub(crate) fn closing_issues(&self, repository: u64, number: u64) -> Vec<u64> {
        let issue = self.issue(repository, number);
        let pull = issue.pull();
        let mut numbers = pull.linked.clone();
        // Words count only on the way to the default branch.
        if pull.base_branch == self.repository(repository).default_branch {
            let said = self.fixed_by(repository, issue.text());
            numbers.extend(said.into_iter().filter(|number| !pull.linked.contains(number)));
        }
        numbers
    }

    /// Pull requests that close an issue.
    pub(crate) fn closing_pulls(&self, repository: u64, number: u64) -> Vec<u64> {
        let issues = self.repository(repository).issues.values();
        let pulls = issues.filter(|issue| issue.pull.is_some()).map(|issue| issue.number);
        pulls.filter(|pull| self.closing_issues(repository, *pull).contains(&number)).collect()
    }
}
