//! A place in a line, counted in bytes and in columns: a tab goes to the next fourth.

#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    line: &'a str,
    pub(super) at: usize,
    column: usize,
    /// Behind this there is only white space.
    ends: usize,
}

impl<'a> Cursor<'a> {
    /// The line comes without its end.
    pub(super) fn new(line: &'a str) -> Self {
        Self { line, at: 0, column: 0, ends: line.trim_end_matches([' ', '\t']).len() }
    }

    pub(super) const fn is_blank(&self) -> bool {
        self.at >= self.ends
    }

    /// How far what comes next is moved in, looked at up to `most` columns.
    pub(super) fn indent(&self, most: usize) -> usize {
        let mut column = self.column;
        for byte in self.line[self.at..].bytes() {
            match byte {
                _ if column >= self.column + most => break,
                b' ' => column += 1,
                b'\t' => column += 4 - column % 4,
                _ => break,
            }
        }
        column - self.column
    }

    /// What comes next, without the white space before it.
    pub(super) fn rest(&self) -> &'a str {
        self.line[self.at..].trim_start_matches([' ', '\t'])
    }

    /// Goes over so many columns of white space. A tab may be gone over in parts.
    pub(super) fn skip_columns(&mut self, mut columns: usize) {
        while columns > 0 {
            match self.line.as_bytes().get(self.at) {
                Some(b'\t') => {
                    let wide = 4 - self.column % 4;
                    self.at += usize::from(wide <= columns);
                    self.column += wide.min(columns);
                    columns -= wide.min(columns);
                }
                Some(b' ') => {
                    self.at += 1;
                    self.column += 1;
                    columns -= 1;
                }
                _ => return,
            }
        }
    }

    /// Goes over a mark of so many bytes, and the few columns before it.
    pub(super) fn skip_mark(&mut self, bytes: usize) {
        self.skip_columns(self.indent(4));
        self.at += bytes;
        self.column += bytes;
    }
}
