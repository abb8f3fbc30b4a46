//! What came out of checking an answer, as a value and as lines of a file.
//!
//! The answer runs in a process of its own, for it may hang, overflow the stack or leave. Line by
//! line it writes how far it got into a file the tool named, so that whatever kills it, what was
//! known until then is known. (A file and not standard output: that belongs to the learner, who
//! prints there.)

use crate::criterion::{Fault, Kind};
use crate::text::Text;

/// How one criterion stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// ✓
    Met,
    /// ✗
    Missed(Fault),
    /// The answer ended or hung before it was looked at.
    NotReached,
}

/// All criteria of an exercise, in order, and how each stands.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Name and standing of each.
    pub criteria: Vec<(Text, Standing)>,
    /// Whether the run came to its end, rather than being cut off.
    pub complete: bool,
}

impl Report {
    /// A report of criteria none of which has been looked at.
    pub fn blank<'a>(names: impl IntoIterator<Item = &'a Text>) -> Self {
        let criteria = names.into_iter().map(|name| (name.clone(), Standing::NotReached));
        Self { criteria: criteria.collect(), complete: false }
    }

    /// Whether every criterion is met.
    pub fn solved(&self) -> bool {
        let met = |(_, standing): &(Text, Standing)| *standing == Standing::Met;
        self.complete && !self.criteria.is_empty() && self.criteria.iter().all(met)
    }

    /// The first criterion that is missed, and how.
    pub fn first_fault(&self) -> Option<(&Text, &Fault)> {
        self.criteria.iter().find_map(|(name, standing)| match standing {
            Standing::Missed(fault) => Some((name, fault)),
            _ => None,
        })
    }

    /// Whether the run was stopped because the answer did not come back.
    pub fn hung(&self) -> bool {
        let is_hung = |(_, standing): &(Text, Standing)| matches!(standing, Standing::Missed(fault) if fault.kind == Kind::Hung);
        self.criteria.iter().any(is_hung)
    }

    /// The criterion during which the run was cut off: the first that was not looked at, or else the
    /// last.
    pub fn cut_off_at(&mut self) -> Option<&mut Standing> {
        let not_reached = |(_, standing): &(Text, Standing)| *standing == Standing::NotReached;
        let at = self.criteria.iter().position(not_reached);
        let at = at.or(self.criteria.len().checked_sub(1))?;
        self.criteria.get_mut(at).map(|(_, standing)| standing)
    }
}

/// The kinds of faults and the words for them in the file.
const KINDS: [(Kind, &str); 4] = [
    (Kind::Difference, "difference"),
    (Kind::Todo, "todo"),
    (Kind::Panic, "panic"),
    (Kind::Hung, "hung"),
];

fn word(kind: Kind) -> &'static str {
    KINDS.iter().find(|(known, _)| *known == kind).map_or("", |(_, word)| word)
}

fn kind_of(word: &str) -> Option<Kind> {
    KINDS.iter().find(|(_, known)| *known == word).map(|(kind, _)| *kind)
}

/// The line that announces a criterion.
pub fn name_line(name: &Text) -> String {
    line(&["criterion", &name.en, &name.zh])
}

/// The line that says how the next criterion stands.
pub fn standing_line(standing: &Standing) -> String {
    match standing {
        Standing::Met => line(&["met"]),
        Standing::NotReached => line(&["not reached"]),
        Standing::Missed(Fault { expected, seen, why, place, kind }) => {
            let texts = [expected, seen, why].map(|text| [&*text.en, &*text.zh]);
            let mut fields = vec!["missed", word(*kind), place.as_deref().unwrap_or_default()];
            fields.extend(texts.as_flattened());
            line(&fields)
        }
    }
}

/// The last line of a run that came to its end.
pub fn end_line() -> String {
    line(&["end"])
}

/// Reads what has been written so far. A torn last line, and any line it doesn't know, is left out.
/// It is complete only with its last line, and with exactly one standing for each criterion.
pub fn parse(text: &str) -> Report {
    let mut report = Report::default();
    let mut standings = 0;
    for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        let fields: Vec<_> = line.split('\t').map(unescape).collect();
        let fields: Vec<_> = fields.iter().map(String::as_str).collect();
        match fields[..] {
            ["criterion", en, zh] => {
                report.criteria.push((Text::new(en, zh), Standing::NotReached));
            }
            ["end"] => report.complete = true,
            _ => {
                if let Some(standing) = standing(&fields) {
                    if let Some(slot) = report.criteria.get_mut(standings) {
                        slot.1 = standing;
                    }
                    standings += 1;
                }
            }
        }
    }
    report.complete &= standings == report.criteria.len();
    report
}

fn standing(fields: &[&str]) -> Option<Standing> {
    match *fields {
        ["met"] => Some(Standing::Met),
        ["not reached"] => Some(Standing::NotReached),
        ["missed", kind, place, e_en, e_zh, s_en, s_zh, w_en, w_zh] => {
            Some(Standing::Missed(Fault {
                expected: Text::new(e_en, e_zh),
                seen: Text::new(s_en, s_zh),
                why: Text::new(w_en, w_zh),
                place: (!place.is_empty()).then(|| place.into()),
                kind: kind_of(kind)?,
            }))
        }
        _ => None,
    }
}

/// Fields between tabs, ended by a line feed; both are escaped inside a field.
fn line(fields: &[&str]) -> String {
    let escape = |field: &&str| {
        field.replace('\\', r"\\").replace('\t', r"\t").replace('\n', r"\n").replace('\r', r"\r")
    };
    fields.iter().map(escape).collect::<Vec<_>>().join("\t") + "\n"
}

fn unescape(field: &str) -> String {
    let mut text = String::new();
    let mut chars = field.chars();
    while let Some(char) = chars.next() {
        text.push(match char {
            '\\' => match chars.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            plain => plain,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::random::Random;

    /// What is written is read back, cut off at any line or in the middle of one.
    #[test]
    fn what_is_written_is_read_back_wherever_it_is_cut() {
        let mut random = Random::new(7);
        for _ in 0..200 {
            let report = any_report(&mut random);
            let lines: Vec<_> = report.criteria.iter().map(|(name, _)| name_line(name)).collect();
            let standings = report.criteria.iter().map(|(_, standing)| standing_line(standing));
            let whole = lines.concat() + &standings.collect::<String>() + &end_line();
            assert_eq!(parse(&whole), report);

            let cut = random.below(whole.len() + 1);
            let cut = (0..=cut).rev().find(|&at| whole.is_char_boundary(at)).unwrap_or(0);
            let part = parse(&whole[..cut]);
            assert!(part.criteria.len() <= report.criteria.len());
            assert!(
                cut == whole.len() || !part.solved(),
                "only a whole report can be a solved one"
            );
        }
    }

    /// More standings than criteria are not what the checks have written.
    #[test]
    fn a_report_with_too_many_standings_is_not_complete() {
        let name = name_line(&("one", "一").into());
        let met = standing_line(&Standing::Met);
        assert!(parse(&[name.as_str(), &met, &end_line()].concat()).solved());
        for lines in [&[&name, &met, &met, &end_line()][..], &[&name, &met, &end_line(), &met]] {
            let lines: String = lines.iter().map(|line| line.as_str()).collect();
            assert!(!parse(&lines).complete, "{lines}");
        }
    }

    fn any_report(random: &mut Random) -> Report {
        let criteria = (0..random.below(5)).map(|_| {
            let standing = match random.below(3) {
                0 => Standing::Met,
                1 => Standing::NotReached,
                _ => Standing::Missed(Fault {
                    expected: any_text(random),
                    seen: any_text(random),
                    why: any_text(random),
                    place: random.flip().then(|| "exercises/a/exercise.rs:7".into()),
                    kind: random.pick(&KINDS).0,
                }),
            };
            (any_text(random), standing)
        });
        Report { criteria: criteria.collect(), complete: true }
    }

    fn any_text(random: &mut Random) -> Text {
        let mut text = || {
            (0..random.below(8))
                .map(|_| random.pick(&['a', '\t', '\n', '\\', 't', '你', '\r']))
                .collect::<String>()
        };
        Text::new(text(), text())
    }
}
