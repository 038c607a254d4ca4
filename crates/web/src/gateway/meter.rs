//! Counts what a call used from the answer as it passes, in whatever pieces it comes.
//!
//! Makers say it themselves: at the end of an answer, or in every event of a stream. An answer that ends before that (the
//! run was stopped, the agent went away, the API was asked in a way that leaves it out) is estimated from its size, so
//! that nobody gets anything for nothing by looking away in time.

use hedgerow_core::assistant::Maker;
use hedgerow_engine::gateway::Counted;
use serde_json::Value;

/// Most that is kept of one event, or of an answer that is not a stream.
const MOST_KEPT: usize = 2 * 1024 * 1024;
/// Longest name of a model.
const LONGEST_MODEL: usize = 100;
/// A token is about so many bytes of text.
const BYTES_PER_TOKEN: u64 = 4;

/// What is known of a call so far.
#[derive(Debug)]
pub(super) struct Meter {
    maker: Maker,
    /// Events, one on each line; otherwise one document.
    is_stream: bool,
    /// What came since the last whole event.
    kept: Vec<u8>,
    /// Too much came at once, so that what is left of it is not looked at.
    is_lost: bool,
    model: Option<String>,
    told: Told,
    /// The maker has said all it is going to say.
    is_final: bool,
    /// Pieces of the answer that said nothing about what they cost.
    silent: u64,
}

/// What the maker told, each figure the largest there was: they grow while an answer is made.
#[derive(Debug, Default)]
struct Told {
    is_any: bool,
    /// As its maker says it: with what was cached, or beside it.
    input: u64,
    cached: u64,
    written: u64,
    output: u64,
}

impl Meter {
    pub(super) fn new(maker: Maker, is_stream: bool, model: Option<&str>) -> Self {
        Self {
            maker,
            is_stream,
            kept: Vec::new(),
            is_lost: false,
            model: model.map(str::to_owned),
            told: Told::default(),
            is_final: false,
            silent: 0,
        }
    }

    /// The next piece, cut anywhere.
    pub(super) fn read(&mut self, piece: &[u8]) {
        if !self.is_stream {
            self.keep(piece);
            return;
        }
        let mut lines = piece.split(|byte| *byte == b'\n');
        let mut line = lines.next().unwrap_or_default();
        for next in lines {
            self.keep(line);
            self.line();
            line = next;
        }
        self.keep(line);
    }

    fn keep(&mut self, part: &[u8]) {
        if self.is_lost || self.kept.len() + part.len() > MOST_KEPT {
            self.silent += u64::try_from(self.kept.len() + part.len()).unwrap_or(u64::MAX) / BYTES_PER_TOKEN;
            self.kept = Vec::new();
            self.is_lost = true;
        } else {
            self.kept.extend_from_slice(part);
        }
    }

    /// A line has ended.
    fn line(&mut self) {
        let line = std::mem::take(&mut self.kept);
        if std::mem::take(&mut self.is_lost) {
            return;
        }
        if let Some(data) = line.strip_prefix(b"data:") {
            self.data(data.trim_ascii());
        }
    }

    fn data(&mut self, data: &[u8]) {
        let may_tell = self.model.is_none() || data.windows(5).any(|word| word == b"usage");
        let told =
            may_tell.then(|| serde_json::from_slice(data).ok()).flatten().is_some_and(|event| self.event(&event));
        if !told {
            self.silent += 1;
        }
    }

    /// Whether an event, or a whole answer, says what was used.
    fn event(&mut self, event: &Value) -> bool {
        let inner = [&event["message"], &event["response"], event];
        let model = inner.iter().find_map(|part| part["model"].as_str().or_else(|| part["modelVersion"].as_str()));
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            self.model = Some(model.chars().take(LONGEST_MODEL).collect());
        }
        let usage =
            inner.iter().flat_map(|part| [&part["usage"], &part["usageMetadata"]]).find(|part| part.is_object());
        let Some(usage) = usage else { return false };
        self.told.hear(self.maker, usage);
        // The beginning of an answer tells what went in, and not yet what comes out.
        self.is_final |= event["type"] != "message_start";
        true
    }

    /// The model, and what was used, of a call whose request had so many bytes.
    pub(super) fn total(mut self, sent: u64) -> (String, Counted) {
        if self.is_stream {
            self.line();
        } else {
            self.document();
        }
        let Told { is_any, input, cached, written, output } = self.told;
        let input = match self.maker {
            Maker::Anthropic => input.saturating_add(cached).saturating_add(written),
            Maker::Openai | Maker::Gemini => input,
        };
        let counted = Counted {
            input_tokens: if is_any { input } else { sent / BYTES_PER_TOKEN },
            cached_tokens: cached,
            written_tokens: written,
            output_tokens: if self.is_final { output } else { output.max(self.silent) },
        };
        (self.model.unwrap_or_else(|| "unknown".to_owned()), counted)
    }

    fn document(&mut self) {
        let told = match serde_json::from_slice(&self.kept) {
            // A stream of Gemini that is not asked for as events.
            Ok(Value::Array(events)) => events.iter().filter(|event| self.event(event)).count() > 0,
            Ok(document) => self.event(&document),
            Err(_) => false,
        };
        if !told {
            self.silent += u64::try_from(self.kept.len()).unwrap_or(u64::MAX) / BYTES_PER_TOKEN;
        }
    }
}

impl Told {
    fn hear(&mut self, maker: Maker, usage: &Value) {
        let figure = |name: &str| usage[name].as_u64().unwrap_or(0);
        let either = |one: &str, other: &str| figure(one).max(figure(other));
        let (input, cached, written, output) = match maker {
            Maker::Anthropic => (
                figure("input_tokens"),
                figure("cache_read_input_tokens"),
                figure("cache_creation_input_tokens"),
                figure("output_tokens"),
            ),
            Maker::Openai => {
                let details =
                    ["input_tokens_details", "prompt_tokens_details"].map(|name| &usage[name]["cached_tokens"]);
                let cached = details.into_iter().find_map(Value::as_u64).unwrap_or(0);
                let input = either("input_tokens", "prompt_tokens");
                (input, cached, 0, either("output_tokens", "completion_tokens"))
            }
            Maker::Gemini => {
                let cached = figure("cachedContentTokenCount");
                let input = figure("promptTokenCount").saturating_add(figure("toolUsePromptTokenCount"));
                let output = figure("candidatesTokenCount").saturating_add(figure("thoughtsTokenCount"));
                (input, cached, 0, output)
            }
        };
        self.is_any = true;
        self.input = self.input.max(input);
        self.cached = self.cached.max(cached);
        self.written = self.written.max(written);
        self.output = self.output.max(output);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = "event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"claude-sonnet-4-5\",\
        \"usage\":{\"input_tokens\":10,\"cache_creation_input_tokens\":20,\"cache_read_input_tokens\":300,\"output_tokens\":1}}}\r\n\r\n\
        event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"h\u{e9}llo \\\"usage\\\"\"}}\r\n\r\n\
        event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"!\"}}\n\n\
        data: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":42}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
    const RESPONSES: &str = "data: {\"type\":\"response.created\",\"response\":{\"model\":\"gpt-5\",\"usage\":null}}\n\n\
        data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n\
        data: {\"type\":\"response.completed\",\"response\":{\"model\":\"gpt-5-2025\",\"usage\":{\"input_tokens\":100,\
        \"input_tokens_details\":{\"cached_tokens\":60},\"output_tokens\":7}}}\n\n";
    const CHAT: &str = "data: {\"model\":\"gpt-4o\",\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n\
        data: {\"model\":\"gpt-4o\",\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3,\
        \"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\ndata: [DONE]\n\n";
    const GEMINI: &str = "data: {\"candidates\":[],\"usageMetadata\":{\"promptTokenCount\":50},\"modelVersion\":\"gemini-2.5-pro\"}\r\n\r\n\
        data: {\"usageMetadata\":{\"promptTokenCount\":50,\"cachedContentTokenCount\":30,\"candidatesTokenCount\":5,\
        \"thoughtsTokenCount\":6},\"modelVersion\":\"gemini-2.5-pro\"}\r\n\r\n";

    fn counted(input: u64, cached: u64, written: u64, output: u64) -> Counted {
        Counted { input_tokens: input, cached_tokens: cached, written_tokens: written, output_tokens: output }
    }

    fn of(maker: Maker, is_stream: bool, pieces: &[&[u8]]) -> (String, Counted) {
        let mut meter = Meter::new(maker, is_stream, None);
        for piece in pieces {
            meter.read(piece);
        }
        meter.total(400)
    }

    #[test]
    fn streams_of_every_maker_are_counted_wherever_they_are_cut() {
        for (maker, stream, model, expected) in [
            (Maker::Anthropic, MESSAGES, "claude-sonnet-4-5", counted(330, 300, 20, 42)),
            (Maker::Openai, RESPONSES, "gpt-5-2025", counted(100, 60, 0, 7)),
            (Maker::Openai, CHAT, "gpt-4o", counted(9, 4, 0, 3)),
            (Maker::Gemini, GEMINI, "gemini-2.5-pro", counted(50, 30, 0, 11)),
        ] {
            let bytes = stream.as_bytes();
            for size in [1, 2, 3, 7, 64, 10_000] {
                let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
                assert_eq!(of(maker, true, &pieces), (model.to_owned(), expected), "{maker} in pieces of {size}");
            }
            for cut in 0..bytes.len() {
                assert_eq!(of(maker, true, &[&bytes[..cut], &bytes[cut..]]).1, expected, "{maker} cut at {cut}");
            }
        }
    }

    #[test]
    fn answers_that_are_no_stream_are_counted() {
        for (maker, document, expected) in [
            (Maker::Anthropic, r#"{"model":"m","usage":{"input_tokens":3,"output_tokens":4}}"#, counted(3, 0, 0, 4)),
            (Maker::Openai, r#"{"model":"m","usage":{"prompt_tokens":3,"completion_tokens":4}}"#, counted(3, 0, 0, 4)),
            (
                Maker::Gemini,
                r#"[{"modelVersion":"m","usageMetadata":{"promptTokenCount":3}},{"modelVersion":"m","usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4}}]"#,
                counted(3, 0, 0, 4),
            ),
        ] {
            let pieces: Vec<&[u8]> = document.as_bytes().chunks(5).collect();
            assert_eq!(of(maker, false, &pieces), ("m".to_owned(), expected), "{maker}");
        }
    }

    #[test]
    fn what_was_cut_off_counts_as_far_as_it_came() {
        let before_the_end = MESSAGES.find("message_delta\"").expect("it is there");
        let (_, cut) = of(Maker::Anthropic, true, &[&MESSAGES.as_bytes()[..before_the_end]]);
        assert_eq!(cut, counted(330, 300, 20, 3), "one for each piece of the answer at least");
        let nothing_told = CHAT.find("\"choices\":[],").expect("it is there");
        let (model, cut) = of(Maker::Openai, true, &[&CHAT.as_bytes()[..nothing_told]]);
        assert_eq!((model.as_str(), cut), ("gpt-4o", counted(100, 0, 0, 2)), "a quarter of what was sent");
    }

    #[test]
    fn nonsense_and_floods_are_bounded_and_counted_by_their_size() {
        let mut meter = Meter::new(Maker::Openai, true, Some("m"));
        meter.read(b"data: {\"usage\": [1, 2");
        for _ in 0..256 {
            meter.read(&[b'x'; 16 * 1000]);
            assert!(meter.kept.len() <= MOST_KEPT);
        }
        meter.read(b"\ndata: {\"model\":\"later\",\"usage\":{\"input_tokens\":1,\"output_tokens\":2}}\n");
        assert_eq!(meter.total(0), ("later".to_owned(), counted(1, 0, 0, 2)), "what comes after is heard");
        let garbage = of(Maker::Anthropic, false, &[&[0xff; 4000]]);
        assert_eq!(garbage.1, counted(100, 0, 0, 1000));
        let odd = r#"data: {"usage":{"input_tokens":-4,"output_tokens":"many"},"model":7}"#;
        assert_eq!(of(Maker::Anthropic, true, &[odd.as_bytes()]).1, counted(0, 0, 0, 0));
    }
}
