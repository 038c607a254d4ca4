//! Lists: the first or last so many, before or after a cursor.

use serde_json::{Value, json};

use super::thing::{Found, Missing, Out, Thing, thing, value};

/// GitHub gives no more at once.
const MOST: u64 = 100;

pub(super) fn part(things: &[Thing], how: &Value, field: &str) -> Found {
    if field == "totalCount" {
        return value(things.len());
    }
    let (start, end) = range(things.len(), how)?;
    let these = things[start..end].iter().cloned();
    match field {
        "nodes" => Ok(Out::Things(these.collect())),
        "edges" => {
            let edge = |(index, node)| {
                Thing::Payload(
                    "Edge",
                    [("node", Out::Thing(node)), ("cursor", Out::Value(cursor(start + index)))].into(),
                )
            };
            Ok(Out::Things(these.enumerate().map(edge).collect()))
        }
        "pageInfo" => {
            let is_some = start < end;
            thing(Thing::Plain(
                "PageInfo",
                json!({
                    "hasNextPage": end < things.len(), "hasPreviousPage": start > 0,
                    "startCursor": if is_some { cursor(start) } else { Value::Null },
                    "endCursor": if is_some { cursor(end - 1) } else { Value::Null },
                }),
            ))
        }
        _ => Err(Missing::Unknown),
    }
}

fn cursor(index: usize) -> Value {
    json!(format!("Y3Vyc29yOnYyO{index:06}"))
}

fn place(how: &Value, name: &str) -> Option<usize> {
    how[name].as_str()?.strip_prefix("Y3Vyc29yOnYyO")?.parse().ok()
}

fn range(count: usize, how: &Value) -> Result<(usize, usize), Missing> {
    let mut start = place(how, "after").map_or(0, |after| (after + 1).min(count));
    let mut end = place(how, "before").map_or(count, |before| before.min(count)).max(start);
    let size = |name: &str| how[name].as_u64();
    match (size("first"), size("last")) {
        (None, None) => {
            let why = "You must provide a `first` or `last` value to properly paginate the connection.";
            return Err(Missing::Wrong("MISSING_PAGINATION_BOUNDARIES", why.to_owned()));
        }
        (Some(size), _) | (_, Some(size)) if size > MOST => {
            let why = format!("Requesting {size} records on the connection exceeds the `first` limit of 100 records.");
            return Err(Missing::Wrong("EXCESSIVE_PAGINATION", why));
        }
        (Some(first), _) => end = end.min(start + usize::try_from(first).unwrap_or(usize::MAX)),
        (None, Some(last)) => start = start.max(end.saturating_sub(usize::try_from(last).unwrap_or(usize::MAX))),
    }
    Ok((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_taken_from_either_end() {
        assert_eq!(range(10, &json!({"first": 3})).ok(), Some((0, 3)));
        assert_eq!(range(10, &json!({"last": 3})).ok(), Some((7, 10)));
        assert_eq!(range(10, &json!({"first": 3, "after": cursor(4)})).ok(), Some((5, 8)));
        assert_eq!(range(10, &json!({"last": 3, "before": cursor(4)})).ok(), Some((1, 4)));
        assert!(range(10, &json!({})).is_err());
        assert!(range(10, &json!({"first": 101})).is_err());
    }
}
