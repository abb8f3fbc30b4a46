//! All exercises at once, for whoever counts: a person, a grader, a test.

use std::io::{self, Write};

use exercises::criterion::Kind;
use exercises::registry::{EXERCISES, Exercise};
use exercises::report::{Report, Standing};
use exercises::text::{Lang, Text};
use exercises::verdict::{BAD, FAINT, GOOD, STRONG};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::Ending;
use crate::check::{self, Outcome};
use crate::cli::Format;
use crate::compile::Diagnostic;
use crate::lab::Lab;

/// Checks all exercises; one that is broken, or can't even be compiled, keeps none from its verdict.
///
/// # Errors
/// When the compiler or a program can't be started, and those of writing.
pub fn all(lab: &Lab, format: Option<Format>) -> io::Result<Ending> {
    let mut outcomes = Vec::new();
    for exercise in EXERCISES {
        let outcome = check::look(lab, exercise)?;
        if format.is_none() {
            row(lab, outcomes.len() + 1, exercise, &outcome)?;
        }
        outcomes.push((exercise, outcome));
    }
    let solved = outcomes.iter().filter(|(_, outcome)| outcome.solved()).count();
    let mut out = lab.out();
    match format {
        None => match lab.lang {
            Lang::En => writeln!(out, "\n{STRONG}{solved} of {} solved{STRONG:#}", outcomes.len())?,
            Lang::Zh => {
                writeln!(out, "\n{STRONG}{} 个练习，完成 {solved} 个{STRONG:#}", outcomes.len())?
            }
        },
        Some(Format::Json) => writeln!(out, "{:#}", as_json(lab.lang, &outcomes))?,
        Some(Format::Junit) => write!(out, "{}", as_junit(lab.lang, &outcomes))?,
    }
    Ok(if solved == outcomes.len() { Ending::Fine } else { Ending::Unsolved })
}

fn row(lab: &Lab, number: usize, exercise: &Exercise, outcome: &Outcome) -> io::Result<()> {
    let (style, mark) = if outcome.solved() { (GOOD, "✓") } else { (BAD, "✗") };
    let standing = match outcome {
        Outcome::Missing => lab.lang.pick("no file", "没有文件").to_owned(),
        Outcome::Unreadable(why) => why.clone(),
        Outcome::Errors(_) => lab.lang.pick("does not compile", "不能编译").to_owned(),
        Outcome::Ran(attempt, _) => {
            let met = |(_, standing): &&_| matches!(standing, Standing::Met);
            let criteria = &attempt.report.criteria;
            format!("{}/{}", criteria.iter().filter(met).count(), criteria.len())
        }
    };
    let gap = " ".repeat(20usize.saturating_sub(exercise.name.width()));
    writeln!(
        lab.out(),
        "{number:3} {style}{mark}{style:#} {}{gap}{FAINT}{standing}{FAINT:#}",
        exercise.name
    )
}

/// The report for programs. Names of keys and of states never change.
fn as_json(lang: Lang, outcomes: &[(&Exercise, Outcome)]) -> Value {
    let exercises = outcomes.iter().enumerate().map(|(at, (exercise, outcome))| {
        let (criteria, first, errors) = match outcome {
            Outcome::Missing => (json!([]), Value::Null, json!([])),
            Outcome::Unreadable(why) => {
                (json!([]), Value::Null, json!([{ "at": Value::Null, "message": why }]))
            }
            Outcome::Errors(errors) => (json!([]), Value::Null, errors_as_json(errors)),
            Outcome::Ran(attempt, _) => {
                let report = &attempt.report;
                (criteria_as_json(lang, report), first_as_json(lang, report), json!([]))
            }
        };
        json!({
            "number": at + 1,
            "name": exercise.name,
            "core": exercise.core,
            "solved": outcome.solved(),
            "compiles": matches!(outcome, Outcome::Ran(..)),
            "criteria": criteria,
            "first_missed": first,
            "errors": errors,
        })
    });
    let exercises: Vec<_> = exercises.collect();
    let solved = outcomes.iter().filter(|(_, outcome)| outcome.solved()).count();
    json!({ "solved": solved, "of": outcomes.len(), "exercises": exercises })
}

fn errors_as_json(errors: &[Diagnostic]) -> Value {
    errors.iter().map(|error| json!({ "at": error.place, "message": error.message })).collect()
}

fn criteria_as_json(lang: Lang, report: &Report) -> Value {
    let criterion = |(name, standing): &(Text, Standing)| {
        let met = match standing {
            Standing::Met => json!(true),
            Standing::Missed(_) => json!(false),
            Standing::NotReached => Value::Null,
        };
        json!({ "name": name.pick(lang), "met": met })
    };
    report.criteria.iter().map(criterion).collect()
}

fn first_as_json(lang: Lang, report: &Report) -> Value {
    report.first_fault().map_or(Value::Null, |(name, fault)| {
        json!({
            "criterion": name.pick(lang),
            "expected": fault.expected.pick(lang),
            "seen": fault.seen.pick(lang),
            "why": fault.why.pick(lang),
            "todo": fault.kind == Kind::Todo,
            "hung": fault.kind == Kind::Hung,
        })
    })
}

/// JUnit's XML: a suite for each exercise, a case for each criterion.
fn as_junit(lang: Lang, outcomes: &[(&Exercise, Outcome)]) -> String {
    let suites: String =
        outcomes.iter().map(|(exercise, outcome)| suite(lang, exercise, outcome)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"exercises\">\n{suites}</testsuites>\n"
    )
}

fn suite(lang: Lang, exercise: &Exercise, outcome: &Outcome) -> String {
    let name = exercise.name;
    let cases: Vec<(&str, String)> = match outcome {
        Outcome::Missing => vec![(lang.pick("there is a file", "有文件"), failure("no file", ""))],
        Outcome::Unreadable(why) => {
            vec![(lang.pick("it can be read", "能读取"), failure("can't be read", why))]
        }
        Outcome::Errors(errors) => {
            let text: Vec<_> = errors.iter().map(|error| error.message.as_str()).collect();
            let failure = failure("does not compile", &text.join("\n"));
            vec![(lang.pick("it compiles", "能编译"), failure)]
        }
        Outcome::Ran(attempt, _) => {
            let case = |(name, standing): &(Text, Standing)| match standing {
                Standing::Met => String::new(),
                Standing::NotReached => failure("not reached", name.pick(lang)),
                Standing::Missed(fault) => {
                    let text = format!("{}\n{}", fault.expected.pick(lang), fault.seen.pick(lang));
                    failure(fault.why.pick(lang), &text)
                }
            };
            attempt.report.criteria.iter().map(|pair| (pair.0.pick(lang), case(pair))).collect()
        }
    };
    let failures = cases.iter().filter(|(_, inner)| !inner.is_empty()).count();
    let (tests, cases) = (
        cases.len(),
        cases.iter().map(|(case, inner)| {
            format!(
                "    <testcase classname=\"{name}\" name=\"{}\">{inner}</testcase>\n",
                xml(case)
            )
        }),
    );
    let cases: String = cases.collect();
    format!(
        "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\">\n{cases}  </testsuite>\n",
    )
}

fn failure(message: &str, text: &str) -> String {
    format!("<failure message=\"{}\">{}</failure>", xml(message), xml(text))
}

/// Text that may stand anywhere in XML. Characters XML has no way to write become U+FFFD.
fn xml(text: &str) -> String {
    text.chars()
        .map(|char| match char {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            '\n' => "&#10;".to_owned(),
            '\t' => "&#9;".to_owned(),
            '\u{fffe}' | '\u{ffff}' => '\u{fffd}'.to_string(),
            char if char.is_control() => '\u{fffd}'.to_string(),
            char => char.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use exercises::criterion::Fault;

    use super::*;
    use crate::attempt::Attempt;

    #[test]
    fn each_criterion_is_a_case_and_each_exercise_a_suite() {
        let names = ["met", "missed", "not reached"].map(|name| (name, name).into());
        let mut report = Report::blank(&names);
        report.criteria[0].1 = Standing::Met;
        report.criteria[1].1 = Standing::Missed(Fault::differs("<1>", "2"));
        let ran = Outcome::Ran(Attempt { report, printed: String::new() }, vec![]);
        let outcomes = [
            (&EXERCISES[0], ran),
            (&EXERCISES[1], Outcome::Errors(vec![])),
            (&EXERCISES[2], Outcome::Missing),
        ];
        let text = as_junit(Lang::En, &outcomes);
        assert_eq!(text.matches("<testsuite ").count(), 3);
        assert_eq!(text.matches("<testcase ").count(), 3 + 1 + 1);
        assert_eq!(text.matches("<failure").count(), 2 + 1 + 1);
        assert!(
            text.contains("tests=\"3\" failures=\"2\"") && text.contains("&lt;1&gt;&#10;2"),
            "{text}"
        );
        assert_eq!(as_json(Lang::En, &outcomes)["solved"], 0);
    }

    #[test]
    fn nothing_breaks_out_of_the_xml() {
        assert_eq!(
            xml("a<b & \"c\"\n\u{1b}[0m\u{0}"),
            "a&lt;b &amp; &quot;c&quot;&#10;\u{fffd}[0m\u{fffd}"
        );
    }
}
