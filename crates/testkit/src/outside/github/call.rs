//! A call of the API and its answer, without the wire.
#![expect(clippy::unnecessary_wraps, reason = "answers are the ends of functions that can refuse")]

use serde_json::{Value, json};

use super::access::Who;

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) method: String,
    /// Without the prefix of the API.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) body: Value,
    pub(crate) who: Who,
    /// Where the API is for this caller, with its prefix.
    pub(crate) base: String,
}

/// What goes back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Value,
}

/// A call that is not done.
#[derive(Debug)]
pub(crate) enum Refusal {
    Said(Answer),
    /// There is no such call at all: a mistake of who calls, or something that is missing here.
    Unknown,
}

pub(crate) type Answered = Result<Answer, Refusal>;

impl Answer {
    pub(crate) fn new(status: u16, body: Value) -> Self {
        Self { status, headers: Vec::new(), body }
    }
}

pub(crate) fn fine(body: Value) -> Answered {
    Ok(Answer::new(200, body))
}

pub(crate) fn created(body: Value) -> Answered {
    Ok(Answer::new(201, body))
}

pub(crate) fn nothing() -> Answered {
    Ok(Answer::new(204, Value::Null))
}

pub(crate) fn refused(status: u16, message: &str) -> Refusal {
    let body = json!({
        "message": message, "documentation_url": "https://docs.github.com/rest", "status": status.to_string(),
    });
    Refusal::Said(Answer::new(status, body))
}

pub(crate) fn not_found() -> Refusal {
    refused(404, "Not Found")
}

/// 422, for what cannot be done as it was asked.
pub(crate) fn invalid(resource: &str, message: &str) -> Refusal {
    let body = json!({
        "message": "Validation Failed",
        "errors": [{"resource": resource, "code": "custom", "message": message}],
        "documentation_url": "https://docs.github.com/rest", "status": "422",
    });
    Refusal::Said(Answer::new(422, body))
}

/// 422, for a field that is wrong or missing.
pub(crate) fn wrong_field(resource: &str, field: &str, code: &str) -> Refusal {
    let body = json!({
        "message": "Validation Failed",
        "errors": [{"resource": resource, "field": field, "code": code}],
        "documentation_url": "https://docs.github.com/rest", "status": "422",
    });
    Refusal::Said(Answer::new(422, body))
}

impl Call {
    /// What the query says about a name.
    pub(crate) fn asks(&self, name: &str) -> Option<String> {
        self.pairs().find(|(found, _)| found == name).map(|(_, value)| value)
    }

    fn pairs(&self) -> impl Iterator<Item = (String, String)> {
        let pairs = self.query.split('&').filter(|pair| !pair.is_empty());
        pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(&name.replace('+', " ")), decoded(&value.replace('+', " ")))
        })
    }

    /// A text that must be in the body.
    pub(crate) fn text(&self, resource: &str, name: &str) -> Result<&str, Refusal> {
        self.body[name].as_str().ok_or_else(|| wrong_field(resource, name, "missing_field"))
    }

    /// The page of a list that was asked for, with links to the others.
    pub(crate) fn page(&self, all: Vec<Value>) -> Answered {
        self.page_in(all, |page, _| json!(page))
    }

    /// The same, where the list is wrapped into something that also says how long it is.
    pub(crate) fn page_in(&self, all: Vec<Value>, wrap: impl FnOnce(Vec<Value>, usize) -> Value) -> Answered {
        let number = |name: &str, default: usize| match self.asks(name) {
            Some(text) => text.parse().unwrap_or(default),
            None => default,
        };
        let size = number("per_page", 30).clamp(1, 100);
        let page = number("page", 1).max(1);
        let last = all.len().div_ceil(size).max(1);
        let count = all.len();
        let these: Vec<Value> = all.into_iter().skip((page - 1) * size).take(size).collect();
        let mut answer = Answer::new(200, wrap(these, count));
        let mut links = Vec::new();
        if page > 1 {
            links.push(self.link(page - 1, "prev"));
        }
        if page < last {
            links.push(self.link(page + 1, "next"));
            links.push(self.link(last, "last"));
        }
        if page > 1 {
            links.push(self.link(1, "first"));
        }
        if !links.is_empty() {
            answer.headers.push(("link", links.join(", ")));
        }
        Ok(answer)
    }

    fn link(&self, page: usize, rel: &str) -> String {
        let others = self.query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("page="));
        let query: Vec<_> = others.map(str::to_owned).chain([format!("page={page}")]).collect();
        format!("<{}{}?{}>; rel=\"{rel}\"", self.base, self.path, query.join("&"))
    }
}

/// `%2F` and the like as what they stand for.
pub(crate) fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, others @ ..] = rest {
        let escaped = (*first == b'%').then(|| others.get(..2)).flatten();
        let byte = escaped.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &others[2..] } else { others };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(query: &str) -> Call {
        let (method, path, base) = ("GET".to_owned(), "/x".to_owned(), "http://here".to_owned());
        Call { method, path, query: query.to_owned(), body: Value::Null, who: Who::Nobody, base }
    }

    #[test]
    fn a_list_comes_in_pages_that_lead_to_each_other() {
        let all: Vec<Value> = (0..7).map(|number| json!(number)).collect();
        let answer = call("per_page=3&page=2&state=all").page(all).expect("a page");
        assert_eq!(answer.body, json!([3, 4, 5]));
        assert_eq!(
            answer.headers,
            [(
                "link",
                "<http://here/x?per_page=3&state=all&page=1>; rel=\"prev\", \
               <http://here/x?per_page=3&state=all&page=3>; rel=\"next\", \
               <http://here/x?per_page=3&state=all&page=3>; rel=\"last\", \
               <http://here/x?per_page=3&state=all&page=1>; rel=\"first\""
                    .to_owned()
            )]
        );
        assert!(call("").page(vec![json!(1)]).expect("a page").headers.is_empty());
    }

    #[test]
    fn escapes_stand_for_what_they_escape() {
        assert_eq!(call("head=acme%3Afeature%2Fa+b").asks("head").as_deref(), Some("acme:feature/a b"));
        assert_eq!(decoded("100%"), "100%");
    }
}
