//! Columns for people, aligned by width in characters, every cell escaped.

use std::fmt;

use clap::builder::styling::Style;

use super::BOLD;
use super::escape::escape;

/// A piece of text in one style.
#[derive(Debug, Clone)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl AsRef<str>, style: Style) -> Self {
        Self { text: escape(text.as_ref()), style }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Style::new())
    }
}

/// Rows under a head; without a head, a list of names and values.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(head: &[&str]) -> Self {
        Self { rows: vec![head.iter().map(|name| Cell::new(name, BOLD)).collect()] }
    }

    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// One line of a list without a head: a name and its value.
    pub(crate) fn field(&mut self, name: &str, value: impl Into<Cell>) {
        self.row(vec![Cell::new(name, BOLD), value.into()]);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column| self.rows.iter().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            // Empty cells at the end would leave blanks behind the last word.
            let used = row.iter().rposition(|cell| !cell.text.is_empty()).map_or(0, |last| last + 1);
            for (column, cell) in row[..used].iter().enumerate() {
                write!(f, "{}{}{:#}", cell.style, cell.text, cell.style)?;
                if column + 1 < used {
                    write!(f, "{:1$}", "", widths[column] - cell.width() + 2)?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_align_by_characters_and_lines_end_at_the_last_word() {
        let mut table = Table::new(&["NAME", "STATE", ""]);
        table.row(vec!["issue-42".into(), "active".into(), "".into()]);
        table.row(vec!["größe\u{1b}".into(), "".into(), "x".into()]);
        let plain = anstream::adapter::strip_str(&table.to_string()).to_string();
        assert_eq!(plain, "NAME         STATE\nissue-42     active\ngröße\\u{1b}          x\n");
    }
}
