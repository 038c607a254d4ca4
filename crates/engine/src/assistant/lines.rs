//! A program's output, cut into lines, within bounds.

use hedgerow_core::assistant::AssistantError;

/// Longest line of a program. Agents put whole files into one.
const MAX_LINE: usize = 16 << 20;
/// Most that a program says in one turn.
const MAX_OUTPUT: usize = 256 << 20;

#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The line that is not complete yet.
    rest: Vec<u8>,
    total: usize,
}

impl Lines {
    /// Takes in the next bytes, wherever they were cut, and hands over each line that is whole, without its end.
    pub(super) fn take(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), AssistantError>,
    ) -> Result<(), AssistantError> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.total += piece.len();
            if self.total > MAX_OUTPUT {
                return Err(AssistantError::Garbled(format!("it wrote more than {} MiB", MAX_OUTPUT >> 20)));
            }
            self.rest.extend(piece);
            if self.rest.len() > MAX_LINE {
                return Err(AssistantError::Garbled(format!("it wrote a line longer than {} MiB", MAX_LINE >> 20)));
            }
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.rest);
                each(without_end(&line))?;
            }
        }
        Ok(())
    }

    /// The line without an end, when nothing comes any more.
    pub(super) fn last(&mut self) -> Option<Vec<u8>> {
        let rest = std::mem::take(&mut self.rest);
        (!rest.is_empty()).then_some(rest)
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let (mut cut, mut found) = (Lines::default(), Vec::new());
        for piece in pieces {
            cut.take(piece, |line| {
                found.push(String::from_utf8_lossy(line).into_owned());
                Ok(())
            })
            .expect("within bounds");
        }
        found.extend(cut.last().map(|line| String::from_utf8_lossy(&line).into_owned()));
        found
    }

    #[test]
    fn lines_are_whole_wherever_they_were_cut() {
        let text = "é\r\n\nb\nc".as_bytes();
        for at in 0..text.len() {
            assert_eq!(lines(&[&text[..at], &text[at..]]), ["é", "", "b", "c"], "{at}");
        }
    }

    #[test]
    fn a_flood_is_an_error() {
        let mut cut = Lines::default();
        let flood = cut.take(&vec![b'x'; MAX_LINE], |_| Ok(())).and_then(|()| cut.take(b"x", |_| Ok(())));
        assert!(flood.expect_err("too long").to_string().contains("longer than 16 MiB"));

        let line = ["y".repeat(1 << 20).as_bytes(), b"\n"].concat();
        let mut cut = Lines::default();
        let flood = (0..257).find_map(|_| cut.take(&line, |_| Ok(())).err()).expect("too much");
        assert!(flood.to_string().contains("more than 256 MiB"), "{flood}");
    }
}
