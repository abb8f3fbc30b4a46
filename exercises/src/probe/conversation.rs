//! The real step03, with the answer in its place.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_stream::stream;
use futures::{Stream, StreamExt};
use step03_streaming::event::{StreamEvent, StreamOptions};
use step03_streaming::fake_model::FakeModel;
use step03_streaming::input::Line;
use step03_streaming::message::{Context, Message};
use step03_streaming::model::Model;
use step03_streaming::repl::Repl;
use step03_streaming::script::Lang;

use super::clock::on_a_paused_clock;
use super::events::Events;

/// The transcript of step03's demo in this language, as its chapter shows it.
pub fn transcript(lang: Lang) -> &'static str {
    match lang {
        Lang::En => include_str!("../../../step03-streaming/expected-output.txt"),
        Lang::Zh => include_str!("../../../step03-streaming/expected-output.zh.txt"),
    }
}

/// Plays step03's demo with another model and returns what it prints, banner included.
pub fn demo(model: impl Model, out: &mut impl io::Write, lang: Lang) -> io::Result<()> {
    writeln!(out, "{}\n", lang.demo_banner())?;
    let mut repl = Repl::new(model, lang.demo_input(), out, lang, true);
    on_a_paused_clock(repl.run(std::future::pending())).map(drop)
}

/// Holds a conversation of these lines with a model.
pub fn converse(
    model: impl Model,
    lines: &[&str],
    out: &mut impl io::Write,
    lang: Lang,
) -> io::Result<()> {
    let lines = lines.iter().map(|&line| Ok(Line::Text(line.to_owned()))).collect::<Vec<_>>();
    let mut repl = Repl::new(model, futures::stream::iter(lines), out, lang, true);
    on_a_paused_clock(repl.run(std::future::pending())).map(drop)
}

/// A model whose events pass through a function on their way: it may look at each, and keep it.
pub struct Tap<M, F> {
    /// Who really answers.
    pub model: M,
    /// Sees every event and says whether the conversation sees it too.
    pub on_event: F,
}

impl<M: Model, F: Fn(&StreamEvent) -> bool> Model for Tap<M, F> {
    fn stream(&self, context: &Context, options: StreamOptions) -> impl Stream<Item = StreamEvent> {
        let events = self.model.stream(context, options);
        events.filter(|event| std::future::ready((self.on_event)(event)))
    }
}

/// A model that is a function: what it returns is the reply.
pub struct Playing<F>(pub F);

impl<F: Fn(&str) -> Events> Model for Playing<F> {
    fn stream(&self, context: &Context, _: StreamOptions) -> impl Stream<Item = StreamEvent> {
        (self.0)(&context.messages.last().map(Message::text).unwrap_or_default())
    }
}

/// What an answer does with one event.
pub type Fold = fn(&mut Context, StreamEvent);

/// Plays step03's demo with the real model, loop and renderer, while a history of the answer's own
/// is folded beside it: the model is asked with that one, and its length is what the last line
/// says. Returns the transcript and that history.
pub fn folded_demo(fold: Fold, lang: Lang) -> io::Result<(String, Context)> {
    let folding = Folding { fold, lang, context: Mutex::default() };
    let mut out = Vec::new();
    demo(&folding, &mut out, lang)?;
    let context = folding.context.into_inner().unwrap_or_else(PoisonError::into_inner);
    let text = String::from_utf8_lossy(&out).into_owned();
    let until = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    Ok((format!("{}{}\n", &text[..until], lang.farewell(context.messages.len())), context))
}

struct Folding {
    fold: Fold,
    lang: Lang,
    context: Mutex<Context>,
}

impl Model for &Folding {
    fn stream(&self, context: &Context, options: StreamOptions) -> impl Stream<Item = StreamEvent> {
        let own = || self.context.lock().unwrap_or_else(PoisonError::into_inner);
        let said = context.messages.last().cloned();
        stream! {
            own().messages.extend(said);
            let asked = own().clone();
            let model = FakeModel::new(self.lang.rules(), Duration::ZERO);
            for await event in model.stream(&asked, options) {
                (self.fold)(&mut own(), event.clone());
                yield event;
            }
        }
    }
}
