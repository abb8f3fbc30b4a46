//! The conversation loop with an agent in it: who is told what, and what Ctrl-C does when.

use std::io;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt, stream};
use step04_agent_loop::agent_event::AgentEvent;
use step04_agent_loop::agent_loop::Agent;
use step04_agent_loop::fake_model::FakeModel;
use step04_agent_loop::input::Line;
use step04_agent_loop::partial_json::ToolArguments;
use step04_agent_loop::render::Renderer;
use step04_agent_loop::repl::{Ending, Journal, Repl, Source};
use step04_agent_loop::script::{Lang, Script};
use step04_agent_loop::settings::Settings;
use step04_agent_loop::tool::{Tool, ToolError, ToolOutput, ToolRun, Toolbox};
use tokio::time::{Duration, Instant, sleep};

/// A tool that never answers, whatever it is told.
struct Stuck;

impl Tool for Stuck {
    fn name(&self) -> &str {
        "stuck"
    }

    fn description(&self) -> &str {
        "never answers"
    }

    fn schema(&self) -> serde_json::Value {
        serde_json::json!({})
    }

    fn execute(
        &self,
        _: ToolArguments,
        _: ToolRun,
    ) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        std::future::pending().boxed()
    }
}

fn agent() -> Agent {
    let script = r#"{"rules": [
        {"match": "stuck", "replies": [{"content": [{"toolCall": {"name": "stuck", "arguments": {}}}]}]},
        {"match": "silence", "replies": [{"content": [{"text": "wait"}], "end": "silence"}]},
        {"replies": [{"content": [{"text": "yes"}]}]}
    ]}"#;
    let model = Arc::new(FakeModel::new(Script::parse(script).expect("a script")));
    Agent::new(model, Toolbox::new(vec![Arc::new(Stuck)]), Settings::default())
}

/// Ctrl-C at these moments, in milliseconds from the beginning.
fn interrupts(at: &'static [u64]) -> impl Stream<Item = io::Result<()>> + Unpin {
    let begin = Instant::now();
    let pressed = stream::iter(at).then(move |millis| async move {
        tokio::time::sleep_until(begin + Duration::from_millis(*millis)).await;
        Ok(())
    });
    Box::pin(pressed.chain(stream::pending()))
}

/// Typed at these moments.
fn typed(lines: &'static [(u64, &'static str)]) -> impl Stream<Item = io::Result<Line>> + Unpin {
    let begin = Instant::now();
    Box::pin(stream::iter(lines).then(move |(millis, text)| async move {
        tokio::time::sleep_until(begin + Duration::from_millis(*millis)).await;
        Ok(Line::Text((*text).to_owned()))
    }))
}

/// Holds a conversation on a paused clock: how it ended, what was shown, and how long it took.
async fn conversation(
    source: Source,
    lines: &'static [(u64, &'static str)],
    pressed: &'static [u64],
) -> (Ending, String, Duration) {
    let begin = Instant::now();
    let mut out = Vec::new();
    let screen = Renderer::new(&mut out, Lang::En, None);
    let mut repl = Repl::new(agent(), typed(lines), screen, Lang::En, source);
    let ending = repl.run(interrupts(pressed)).await.expect("a vector takes everything");
    drop(repl);
    let shown = anstream::adapter::strip_bytes(&out).into_vec();
    (ending, String::from_utf8(shown).expect("UTF-8"), begin.elapsed())
}

#[tokio::test(start_paused = true)]
async fn one_ctrl_c_stops_a_model_that_has_fallen_silent_and_the_conversation_goes_on() {
    let (ending, shown, _) =
        conversation(Source::Pipe, &[(0, "silence"), (2000, "go on")], &[1000]).await;
    assert_eq!(ending, Ending::Finished);
    let expected = "You> silence\nAssistant> wait\n[aborted]\n\nYou> go on\nAssistant> yes\n\nYou> \n\
                    Goodbye. (4 messages in this conversation)\n";
    assert_eq!(shown, expected);
}

#[tokio::test(start_paused = true)]
async fn one_ctrl_c_leaves_a_stuck_tool_behind_within_a_second() {
    let (ending, shown, took) =
        conversation(Source::Pipe, &[(0, "stuck"), (1999, "/exit")], &[1000]).await;
    assert_eq!(ending, Ending::Finished);
    assert!(shown.contains("Failed> stuck: "), "{shown}");
    assert!(took < Duration::from_millis(2000), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_second_ctrl_c_in_the_same_turn_ends_the_program_at_once() {
    let (ending, shown, took) = conversation(Source::Pipe, &[(0, "stuck")], &[1000, 1001]).await;
    assert_eq!(ending, Ending::Interrupted);
    assert!(shown.ends_with("\nGoodbye. (2 messages in this conversation)\n"), "{shown}");
    assert!(took < Duration::from_millis(1100), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn ctrl_c_ends_what_nobody_types() {
    let lines = &[(0, "silence"), (0, "go on")];
    let (ending, shown, _) = conversation(Source::Script, lines, &[1000]).await;
    assert_eq!(ending, Ending::Interrupted);
    let expected = "You> silence\nAssistant> wait\n[aborted]\n\n\
                    Goodbye. (2 messages in this conversation)\n";
    assert_eq!(shown, expected);
    let (ending, shown, _) = conversation(Source::Script, &[(0, "a"), (0, "b")], &[]).await;
    assert_eq!(ending, Ending::Finished);
    assert!(shown.ends_with(
        "You> b\nAssistant> yes\n\nYou> \nGoodbye. (4 messages in this conversation)\n"
    ));
}

#[tokio::test(start_paused = true)]
async fn ctrl_c_at_the_prompt_says_goodbye() {
    let (ending, shown, _) =
        conversation(Source::Pipe, &[(0, "hi"), (5000, "too late")], &[1000]).await;
    assert_eq!(ending, Ending::Interrupted);
    assert!(shown.ends_with("You> \nGoodbye. (2 messages in this conversation)\n"), "{shown}");
}

/// A journal that hears everything, and fails.
struct Notes(Arc<Mutex<Vec<String>>>, Option<String>);

impl Journal for Notes {
    fn on_event(&mut self, event: &AgentEvent) {
        let event = serde_json::to_value(event).expect("an event is JSON");
        self.0.lock().expect("one thread").push(event["type"].as_str().expect("a type").to_owned());
    }

    fn failure(&self) -> Option<io::Error> {
        self.1.clone().map(io::Error::other)
    }
}

#[tokio::test(start_paused = true)]
async fn journals_hear_everything_and_their_failures_are_told_after_each_run_and_in_the_end() {
    let heard = Arc::default();
    let mut out = Vec::new();
    let screen = Renderer::new(&mut out, Lang::En, None);
    let mut repl = Repl::new(agent(), typed(&[(0, "a"), (0, "b")]), screen, Lang::En, Source::Pipe);
    repl.add_journal(Box::new(Notes(Arc::clone(&heard), Some("disk full\x1b[2J".to_owned()))));
    let error =
        repl.run(stream::pending()).await.expect_err("the program did not do all it should");
    assert_eq!(error.to_string(), "disk full\x1b[2J");
    drop(repl);
    let heard = heard.lock().expect("one thread").clone();
    assert_eq!(heard.iter().filter(|kind| *kind == "agent_end").count(), 2);
    assert!(heard.iter().any(|kind| kind == "message_update"));
    let out = String::from_utf8(out).expect("UTF-8");
    assert_eq!(out.matches("[error] disk full␛[2J\n\n").count(), 2, "{out}");
    assert!(out.ends_with("(4 messages in this conversation)\n"), "{out}");
}

/// What a person has seen must not be missing from the log when the program is killed right then.
#[tokio::test(start_paused = true)]
async fn journals_hear_of_an_event_before_the_screen_shows_it() {
    /// Journal and screen write to one list.
    #[derive(Clone, Default)]
    struct List(Arc<Mutex<String>>);
    impl Journal for List {
        fn on_event(&mut self, event: &AgentEvent) {
            if matches!(event, AgentEvent::MessageUpdate(_)) {
                self.0.lock().expect("one thread").push_str("<update>");
            }
        }
        fn failure(&self) -> Option<io::Error> {
            None
        }
    }
    impl io::Write for List {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("one thread").push_str(&String::from_utf8_lossy(bytes));
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let list = List::default();
    let screen = Renderer::new(list.clone(), Lang::En, None);
    let mut repl = Repl::new(agent(), typed(&[(0, "a")]), screen, Lang::En, Source::Pipe);
    repl.add_journal(Box::new(list.clone()));
    repl.run(stream::pending()).await.expect("a list takes everything");
    drop(repl);
    let list = list.0.lock().expect("one thread").clone();
    let (seen, shown) = (list.find("<update>"), list.find("yes"));
    assert!(seen.is_some() && shown.is_some() && seen < shown, "{list}");
}

#[tokio::test(start_paused = true)]
async fn when_nobody_can_see_it_any_more_the_run_is_stopped() {
    /// A pipe whose reader leaves after so many bytes.
    struct Leaving(usize);
    impl io::Write for Leaving {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(taken) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    for bytes in 0..40 {
        let screen = Renderer::new(Leaving(bytes), Lang::En, None);
        let mut repl = Repl::new(agent(), typed(&[(0, "silence")]), screen, Lang::En, Source::Pipe);
        let begin = Instant::now();
        let ending = repl.run(stream::pending()).await;
        assert_eq!(ending.expect_err("it is gone").kind(), io::ErrorKind::BrokenPipe);
        assert!(begin.elapsed() < Duration::from_secs(1));
        sleep(Duration::ZERO).await;
    }
}

/// A screen on which one write fails, and no other.
struct Hiccup(Vec<u8>, &'static str);

impl io::Write for Hiccup {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.1.is_empty() && bytes == self.1.as_bytes() {
            self.1 = "";
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_shown_is_an_error_even_if_all_else_could() {
    let screen = Renderer::new(Hiccup(Vec::new(), "yes"), Lang::En, None);
    let mut repl = Repl::new(agent(), typed(&[(0, "a"), (0, "b")]), screen, Lang::En, Source::Pipe);
    let error = repl.run(stream::pending()).await.expect_err("a word is missing");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}
