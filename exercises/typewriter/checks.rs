//! What a typewriter must do. The answer is one function; it is called from inside the real step03.

use std::io;

use step03_streaming::event::StreamEvent;
use step03_streaming::fake_model::FakeModel;
use step03_streaming::script::Lang;

use crate::criterion::{Checked, Criterion, Fault, same};
use crate::probe::conversation::{Tap, demo, transcript};
use crate::probe::events::{delta, in_short};
use crate::probe::random::Random;
use crate::probe::screen::Screen;
use crate::text::Text;

/// The learner's function.
pub type Show = fn(&StreamEvent, &mut Screen, Lang) -> io::Result<()>;

/// All criteria, in the order to meet them.
pub fn checks(show: Show) -> Vec<Criterion> {
    vec![
        Criterion::new(
            ("the pieces stand side by side, unchanged", "各段首尾相接，原样不变"),
            move || side_by_side(show),
        ),
        Criterion::new(
            ("each piece is visible before the next one comes", "下一段到来之前，这一段已经看得见"),
            move || visible_at_once(show),
        ),
        Criterion::new(
            ("the demo of step03 looks as it always did", "step03 的 demo 看起来和原来一样"),
            move || same_demo(show),
        ),
        Criterion::new(
            ("an error of writing is handed back", "写出时的错误会交还给调用方"),
            move || errors_handed_back(show),
        ),
        Criterion::new(
            (
                "a screen that takes only a few bytes at a time gets all of them",
                "每次只收几个字节的屏幕也能收全",
            ),
            move || narrow_screen(show),
        ),
    ]
}

/// Shows an event; on these screens nothing can fail.
fn shown(show: Show, event: &StreamEvent, screen: &mut Screen) -> Checked {
    show(event, screen, Lang::En).map_err(|error| {
        Fault::told(
            ("Ok(()), for nothing failed here", "Ok(())，因为这里什么都没出错"),
            Text::value(format!("Err({error:?})")),
        )
    })
}

fn side_by_side(show: Show) -> Checked {
    let mut random = Random::new(1638);
    for _ in 0..50 {
        let pieces = random.pieces(6);
        let mut screen = Screen::default();
        for piece in &pieces {
            shown(show, &delta(piece), &mut screen)?;
        }
        same(&pieces.concat(), &screen.written(), |seen| changed(&pieces, seen))?;
    }
    Ok(())
}

/// What a text that is not the pieces side by side says about the code that wrote it.
fn changed(pieces: &[String], seen: &str) -> Text {
    let lines: String = pieces.iter().map(|piece| format!("{piece}\n")).collect();
    let debug: String = pieces.iter().map(|piece| format!("{piece:?}")).collect();
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let spaced: String = pieces.iter().map(|piece| format!("{piece} ")).collect();
    if seen.is_empty() {
        Text::new(
            "Nothing reached `out`, the screen you were given. If you used `print!`: it writes to \
             standard output, wherever that is.",
            "交给你的屏幕 `out` 什么都没收到。如果你用了 `print!`：它写到标准输出，不管那是哪里。",
        )
    } else if seen == lines {
        Text::new(
            "`writeln!` ends the line after each piece, as console.log does; `write!` doesn't.",
            "`writeln!` 会在每一段后面换行，就像 console.log；`write!` 不会。",
        )
    } else if seen == debug {
        Text::new(
            "`{:?}` shows a text as source code, with quotes; `{}` shows the text itself.",
            "`{:?}` 把文本显示成带引号的源代码；`{}` 才是文本本身。",
        )
    } else if seen == spaced {
        Text::new(
            "Nothing goes between two pieces: a piece is not a word, it may end in the middle of one.",
            "两段之间什么都不加：一段不是一个词，可能在词的中间断开。",
        )
    } else if bare(seen) == bare(&pieces.concat()) {
        Text::new(
            "Spaces, tabs and line ends belong to the text, also at the edge of a piece: a piece is \
             not a word.",
            "空格、制表符和换行也是正文，在一段的首尾也一样：一段不等于一个词。",
        )
    } else {
        Text::new("Write `delta` and nothing else.", "只写 `delta`，别的都不写。")
    }
}

fn visible_at_once(show: Show) -> Checked {
    let mut random = Random::new(2);
    for _ in 0..50 {
        let mut screen = Screen::default();
        let mut said = String::new();
        for piece in random.pieces(6) {
            shown(show, &delta(&piece), &mut screen)?;
            said += &piece;
            same(&said, &screen.visible(), |seen| not_visible(&said, &piece, seen))?;
        }
    }
    Ok(())
}

fn not_visible(said: &str, piece: &str, seen: &str) -> Text {
    if said.strip_suffix(piece) == Some(seen) {
        Text::new(
            "Written but not shown: standard output keeps an unfinished line to itself until \
             `out.flush()`, and the flush must come after the piece.",
            "写出了却还没显示：标准输出会攒着没写完的一行，直到 `out.flush()`，而且 flush 要在写这一段之后。",
        )
    } else {
        Text::new("See the criterion above.", "先看上面那一条。")
    }
}

fn same_demo(show: Show) -> Checked {
    for lang in [Lang::En, Lang::Zh] {
        let screen = Screen::default();
        let tap = Tap {
            model: FakeModel::new(lang.rules(), std::time::Duration::ZERO),
            // What the answer shows, the step's own renderer need not show again.
            on_event: {
                let screen = screen.clone();
                move |event: &StreamEvent| {
                    // A write that fails shows as a piece that is missing.
                    let _ = show(event, &mut screen.clone(), lang);
                    matches!(event, StreamEvent::Done { .. } | StreamEvent::Error { .. })
                }
            },
        };
        demo(tap, &mut screen.clone(), lang)
            .map_err(|error| Fault::differs("Ok", error.to_string()))?;
        crate::criterion::same_text(transcript(lang), &screen.visible(), |_| {
            Text::new(
                "`Start` begins the reply with the assistant's name; the pieces follow it; what ends \
                 the reply is not yours to show.",
                "`Start` 先写出助手的名字，后面跟着各段；回复怎么结束不归你显示。",
            )
        })?;
    }
    Ok(())
}

fn errors_handed_back(show: Show) -> Checked {
    for event in [delta("piece"), StreamEvent::Start] {
        for at in 0..2 {
            let mut screen = Screen::breaking(at);
            let result = show(&event, &mut screen, Lang::En);
            // Who never flushes misses another criterion, and can't hand back what never failed.
            if at == 0 || screen.broke() {
                handed_back(&event, result, io::ErrorKind::BrokenPipe)?;
            }
        }
    }
    Ok(())
}

/// The error of the screen itself must come back, and no other in its place.
fn handed_back(event: &StreamEvent, result: io::Result<()>, kind: io::ErrorKind) -> Checked {
    let error = match result {
        Err(error) if error.kind() == kind => return Ok(()),
        result => result.err(),
    };
    let event = in_short(std::slice::from_ref(event));
    let expected = (
        format!("Err({kind:?}), for so failed the writing at {event}"),
        format!("Err({kind:?})，显示 {event} 时写出就是这样失败的"),
    );
    let why = match &error {
        None => (
            "Put `?` after the call, or hand its result back; `let _ =`, `.ok()` and a call whose \
             result nobody looks at all swallow the error.",
            "在调用后面加 `?`，或者把结果交还；`let _ =`、`.ok()` 或者不看结果都会吞掉错误。",
        ),
        Some(_) => (
            "Hand back the error itself: a caller looks at its kind, to leave quietly when the \
             reader has left.",
            "要交还原来的错误：调用方会看它的种类，例如读的人走了就安静退出。",
        ),
    };
    let seen =
        error.map_or_else(|| "Ok(())".to_owned(), |error| format!("Err({:?})", error.kind()));
    Err(Fault::told(expected, Text::value(seen)).because(why))
}

fn narrow_screen(show: Show) -> Checked {
    let mut random = Random::new(3);
    for at_once in 1..5 {
        let piece = random.piece() + "end";
        let start = (StreamEvent::Start, Lang::En.assistant());
        for (event, text) in [(delta(&piece), piece.as_str()), start] {
            let mut screen = Screen::narrow(at_once);
            shown(show, &event, &mut screen)?;
            same(&text, &screen.written().as_str(), |_| {
                Text::new(
                    "`write` may take only a part and says how much it took; `write!` and \
                     `write_all` go on until all is taken.",
                    "`write` 可能只收下一部分，并返回收了多少；`write!` 和 `write_all` 会一直写到收完为止。",
                )
            })?;
            let full = show(&event, &mut Screen::narrow(0), Lang::En);
            handed_back(&event, full, io::ErrorKind::WriteZero)?;
        }
    }
    Ok(())
}
