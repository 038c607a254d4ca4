//! The content of many blobs from one process, byte for byte, without any conversion.

use std::io;

use super::call::Call;
use super::{GitResult, Repo};

/// Takes contents in, one blob after another, each in as many pieces as it comes.
pub trait Taker: Send {
    fn begin(&mut self, object: &str) -> io::Result<()>;
    fn more(&mut self, piece: &[u8]) -> io::Result<()>;
    fn end(&mut self) -> io::Result<()>;
}

impl Repo {
    /// Hands the content of these blobs over, in their order. One that is not there is an error.
    pub async fn blobs<'o>(
        &self,
        objects: impl Iterator<Item = &'o str>,
        taker: &mut (impl Taker + ?Sized),
    ) -> GitResult<()> {
        let asked = objects.fold(String::new(), |text, object| text + object + "\n");
        if asked.is_empty() {
            return Ok(());
        }
        let mut answer = Answer { taker, header: Vec::new(), left: None };
        batch(self.call()).stdin(asked).pieces(|piece| answer.take(piece)).await
    }
}

fn batch(call: Call<'_>) -> Call<'_> {
    call.args(["cat-file", "--batch", "--buffer"])
}

/// The answer of `cat-file --batch`, taken apart: a line with name, kind and length, the content, a line end.
struct Answer<'t, T: ?Sized> {
    taker: &'t mut T,
    header: Vec<u8>,
    /// Of the present content, its line end included.
    left: Option<u64>,
}

impl<T: Taker + ?Sized> Answer<'_, T> {
    fn take(&mut self, mut piece: &[u8]) -> io::Result<()> {
        while !piece.is_empty() {
            let Some(left) = self.left else {
                let end = piece.iter().position(|byte| *byte == b'\n');
                self.header.extend(&piece[..end.unwrap_or(piece.len())]);
                let Some(end) = end else { return Ok(()) };
                self.begin()?;
                piece = &piece[end + 1..];
                continue;
            };
            let (now, later) = piece.split_at(usize::try_from(left).unwrap_or(usize::MAX).min(piece.len()));
            let is_last = now.len() as u64 == left;
            self.taker.more(&now[..now.len() - usize::from(is_last)])?;
            self.left = Some(left - now.len() as u64).filter(|_| !is_last);
            if is_last {
                self.taker.end()?;
            }
            piece = later;
        }
        Ok(())
    }

    fn begin(&mut self) -> io::Result<()> {
        let header = String::from_utf8_lossy(&std::mem::take(&mut self.header)).into_owned();
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, format!("git says: {header}"));
        let [object, "blob", length] = header.split(' ').collect::<Vec<_>>()[..] else { return Err(damaged()) };
        let length: u64 = length.parse().map_err(|_| damaged())?;
        self.left = Some(length + 1);
        self.taker.begin(object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Vec<(String, Vec<u8>)>, usize);

    impl Taker for Heard {
        fn begin(&mut self, object: &str) -> io::Result<()> {
            self.0.push((object.to_owned(), Vec::new()));
            Ok(())
        }

        fn more(&mut self, piece: &[u8]) -> io::Result<()> {
            self.0.last_mut().expect("one has begun").1.extend(piece);
            Ok(())
        }

        fn end(&mut self) -> io::Result<()> {
            self.1 += 1;
            Ok(())
        }
    }

    #[test]
    fn an_answer_in_any_pieces_is_the_same_contents() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let answer = format!("{one} blob 6\nab\ncd\n\n{two} blob 0\n\n").into_bytes();
        for size in 1..=answer.len() {
            let mut heard = Heard::default();
            let mut taken = Answer { taker: &mut heard, header: Vec::new(), left: None };
            answer.chunks(size).for_each(|piece| taken.take(piece).expect("it is well formed"));
            let expected = vec![(one.clone(), b"ab\ncd\n".to_vec()), (two.clone(), Vec::new())];
            assert_eq!((heard.0, heard.1), (expected, 2), "in pieces of {size}");
        }
    }

    #[test]
    fn a_blob_that_is_not_there_is_an_error() {
        let mut heard = Heard::default();
        let mut taken = Answer { taker: &mut heard, header: Vec::new(), left: None };
        assert!(taken.take(b"1111111111111111111111111111111111111111 missing\n").is_err());
    }
}
