//! Escapes and traps. None gets out of the root, none makes a tool wait, none fills the memory.
//!
//! Every row is tried with all three tools, each in a fresh folder. Whatever the answer is, the secret
//! beside the root must not be in it, and everything outside must be as it was. On top of that, a row
//! says which answer `read` must give.

mod tool_support;

use step04_agent_loop::tool::ToolError;
use tool_support::{SECRET, World, for_path};

/// What `read` must answer.
#[derive(Debug, Clone, Copy)]
enum Answer {
    /// Refused by a rule of ours: it is no path, leads out, or is no file.
    Refused,
    /// An error, but which one depends on the system.
    Error,
    /// It is inside after all: this text.
    Text(&'static str),
}
use Answer::{Error, Refused, Text};

fn check_answer(name: &str, expected: Answer, seen: &Result<String, ToolError>) {
    let right = match (expected, seen) {
        (Refused, Err(ToolError::Refused { .. })) => true,
        (Error, Err(ToolError::Refused { .. } | ToolError::Io { .. })) => true,
        (Text(text), Ok(seen)) => seen == text,
        _ => false,
    };
    assert!(right, "{name}: `read` must answer {expected:?}, but: {seen:?}");
}

async fn check_trap(name: &str, build: &dyn Fn(&World) -> String, expected: Answer) {
    for tool in ["read", "grep", "write"] {
        let world = World::new();
        let path = build(&world);
        let before = world.everything_outside();
        let answer = world.call(tool, for_path(tool, &path)).await;

        let text = answer.as_ref().map_or_else(ToString::to_string, Clone::clone);
        assert!(!text.contains(SECRET), "{name}: `{tool}` tells the secret: {text}");
        assert!(
            !text.contains(char::is_control) || answer.is_ok(),
            "{name}: raw control: {text:?}"
        );
        assert_eq!(world.everything_outside(), before, "{name}: `{tool}` changed the outside");
        assert!(world.leftovers().is_empty(), "{name}: {:?}", world.leftovers());
        if tool == "read" {
            check_answer(name, expected, &answer);
        }
    }
}

/// Paths that are only text: the same on every system.
#[tokio::test]
async fn paths() {
    let long_name = "n".repeat(300);
    let long_path = "p/".repeat(3000) + "file";
    let outside = World::new();
    let absolute = outside.outside("secret.txt").display().to_string();
    let rows: &[(&str, &str, Answer)] = &[
        ("empty", "", Refused),
        ("NUL alone", "\0", Refused),
        ("NUL hides a suffix", "inside.txt\0.png", Refused),
        ("absolute", &absolute, Refused),
        ("the system's root", "/", Refused),
        ("two slashes", "//outside/secret.txt", Refused),
        ("parent", "..", Refused),
        ("parent with a slash", "../", Refused),
        ("file beside the root", "../outside/secret.txt", Refused),
        ("down and up", "sub/../../outside/secret.txt", Refused),
        ("dot first", "./../outside/secret.txt", Refused),
        ("up and down again", "sub/../sub/../../outside/secret.txt", Refused),
        ("out and in again", "../root/inside.txt", Refused),
        ("far up", &("../".repeat(60) + "etc/passwd"), Refused),
        ("up through a file", "inside.txt/../../outside/secret.txt", Error),
        ("up through nothing", "nothing/../../outside/secret.txt", Error),
        ("the root itself", ".", Refused),
        ("a folder", "sub", Refused),
        ("a folder with a slash", "sub/", Refused),
        ("a file with a slash", "inside.txt/", Error),
        ("one dot leader, twice", "\u{2024}\u{2024}/outside/secret.txt", Error),
        ("two dot leader", "\u{2025}/outside/secret.txt", Error),
        ("full-width dots", "\u{ff0e}\u{ff0e}/outside/secret.txt", Error),
        ("division slash", "..\u{2215}outside\u{2215}secret.txt", Error),
        ("fraction slash", "..\u{2044}outside\u{2044}secret.txt", Error),
        ("zero-width space in dots", ".\u{200b}./outside/secret.txt", Error),
        ("percent", "%2e%2e/outside/secret.txt", Error),
        ("percent slash", "..%2foutside%2fsecret.txt", Error),
        ("backslashes", "..\\outside\\secret.txt", Error),
        ("drive", "C:\\outside\\secret.txt", Error),
        ("verbatim drive", "\\\\?\\C:\\outside\\secret.txt", Error),
        ("home", "~/outside/secret.txt", Error),
        ("variable", "$PWD/../outside/secret.txt", Error),
        ("address", "file:///outside/secret.txt", Error),
        ("three dots", ".../outside/secret.txt", Error),
        ("dots and a space", ".. /outside/secret.txt", Error),
        ("space first", " ../outside/secret.txt", Error),
        ("line break", "..\n/outside/secret.txt", Error),
        ("a name of a line break", "\n", Error),
        ("escape sequence", "\u{1b}]0;title\u{7}", Error),
        ("right to left", "\u{202e}txt.terces", Error),
        ("long name", &long_name, Error),
        ("long path", &long_path, Refused),
        ("inside, with a detour", "sub/../inside.txt", Text("one\ntwo\n")),
        ("inside, with dots", "././sub/./../inside.txt", Text("one\ntwo\n")),
    ];
    for (name, path, expected) in rows {
        check_trap(name, &|_| (*path).to_string(), *expected).await;
    }
}

#[tokio::test]
async fn control_characters_get_no_new_file() {
    let world = World::new();
    for path in ["a\nb", "\u{1b}[2J", "sub/\u{7f}", "new\r/file"] {
        let answer = world.call("write", for_path("write", path)).await;
        assert!(matches!(answer, Err(ToolError::Refused { .. })), "{path:?}: {answer:?}");
    }
}

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::path::Path;
    use std::thread;

    use nix::sys::stat::Mode;
    use nix::unistd::mkfifo;
    use proptest::prelude::*;
    use serde_json::json;
    use step04_agent_loop::tool::ToolError;
    use step04_agent_loop::tools::Sandbox;
    use tokio_util::sync::CancellationToken;

    use super::tool_support::{SECRET, World, call, for_path, quiet};
    use super::{Answer, Error, Refused, Text, check_trap};

    fn fifo(path: &Path) {
        mkfifo(path, Mode::S_IRWXU).expect("a FIFO");
    }

    /// A link `trap` in the root, to `target`; `{out}` stands for the outside folder.
    fn link(world: &World, target: &str) {
        let target = target.replace("{out}", &world.outside("").display().to_string());
        symlink(target, world.root("trap")).expect("a link");
    }

    #[tokio::test]
    async fn links() {
        let rows: &[(&str, &str, &str, Answer)] = &[
            ("to the file, absolute", "{out}/secret.txt", "trap", Refused),
            ("to the file, relative", "../outside/secret.txt", "trap", Refused),
            ("to the folder, absolute", "{out}", "trap/secret.txt", Refused),
            ("to the folder, relative", "../outside", "trap/secret.txt", Refused),
            ("to the parent", "..", "trap/outside/secret.txt", Refused),
            ("to the system's root", "/", "trap/etc/passwd", Refused),
            ("to the root by its parent", "../root/inside.txt", "trap", Refused),
            ("to a new file outside", "../outside/new.txt", "trap", Refused),
            ("to nothing inside", "missing.txt", "trap", Error),
            ("to itself", "trap", "trap", Error),
            ("up through a link", "sub", "trap/../../outside/secret.txt", Refused),
            ("to a process's root", "/proc/self/root", "trap/etc/passwd", Refused),
            ("to a process's folder", "/proc/self/cwd", "trap/Cargo.toml", Refused),
            ("to an open file", "/proc/self/fd/0", "trap", Refused),
            ("to a device", "/dev/zero", "trap", Refused),
            ("to a file inside", "sub/other.txt", "trap", Text("three\n")),
            ("to a folder inside", "sub", "trap/other.txt", Text("three\n")),
        ];
        for (name, target, path, expected) in rows {
            let build = |world: &World| {
                link(world, target);
                (*path).to_string()
            };
            check_trap(name, &build, *expected).await;
        }
    }

    #[tokio::test]
    async fn chains_of_links() {
        let chain = |world: &World| {
            link(world, "sub/second");
            symlink("third", world.root("sub/second")).expect("a link");
            symlink("../../outside/secret.txt", world.root("sub/third")).expect("a link");
            "trap".to_string()
        };
        check_trap("three links", &chain, Refused).await;

        let circle = |world: &World| {
            link(world, "sub/second");
            symlink("../trap", world.root("sub/second")).expect("a link");
            "trap/file".to_string()
        };
        check_trap("a circle", &circle, Error).await;
    }

    #[tokio::test]
    async fn what_is_no_file() {
        let a_fifo = |world: &World| {
            fifo(&world.root("trap"));
            "trap".to_string()
        };
        check_trap("a FIFO", &a_fifo, Refused).await;

        let linked = |world: &World| {
            fifo(&world.root("sub/fifo"));
            link(world, "sub/fifo");
            "trap".to_string()
        };
        check_trap("a link to a FIFO", &linked, Refused).await;

        let socket = |world: &World| {
            drop(UnixListener::bind(world.root("trap")).expect("a socket"));
            "trap".to_string()
        };
        check_trap("a socket", &socket, Refused).await;
    }

    /// The root may be anywhere, so a device may be in it.
    #[tokio::test]
    async fn devices_are_not_opened() {
        let devices = Sandbox::open("/dev").expect("/dev");
        for path in ["zero", "null", "tty", "random"] {
            for tool in ["read", "grep", "write"] {
                let answer = call(&devices, tool, for_path(tool, path), quiet()).await;
                let Err(ToolError::Refused { why, .. }) = answer else {
                    panic!("{path} {answer:?}")
                };
                assert_eq!(why, "it is a device, not a file");
            }
        }
    }

    #[tokio::test]
    async fn the_model_is_told_what_it_is_instead() {
        let world = World::new();
        fifo(&world.root("fifo"));
        drop(UnixListener::bind(world.root("socket")).expect("a socket"));
        for (path, kind) in [("fifo", "a FIFO"), ("socket", "a socket"), ("sub", "a folder")] {
            let error = world.call("read", json!({"path": path})).await.expect_err("it is no file");
            assert_eq!(error.to_string(), format!("refused {path:?}: it is {kind}, not a file"));
        }
    }

    /// A name of the old file elsewhere must not change with it. (To read through a hard link can't
    /// be told from reading a file: whoever made it had the right to.)
    #[tokio::test]
    async fn writing_to_a_hard_link_leaves_the_other_name_alone() {
        let world = World::new();
        fs::hard_link(world.outside("secret.txt"), world.root("trap")).expect("a hard link");
        world.call("write", for_path("write", "trap")).await.expect("it is a file inside");
        assert_eq!(fs::read_to_string(world.root("trap")).expect("a file"), "OVERWRITTEN");
        assert_eq!(fs::read_to_string(world.outside("secret.txt")).expect("a file"), SECRET);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

        /// The kind behind the rows: any walk over folders, files and links in and out.
        #[test]
        fn no_walk_gets_out(
            absolute in prop::bool::weighted(0.1),
            parts in prop::collection::vec(prop::sample::select(PARTS), 1..9),
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            let world = World::new();
            for (link, target) in [("in", "sub"), ("sub/up", ".."), ("out", "../outside"), ("far", "/")] {
                symlink(target, world.root(link)).expect("a link");
            }
            let before = world.everything_outside();
            let start = if absolute { world.root("").display().to_string() } else { String::new() };
            let path = start + &parts.join("/");
            for tool in ["read", "grep", "write"] {
                let answer = runtime.block_on(world.call(tool, for_path(tool, &path)));
                prop_assert!(!format!("{answer:?}").contains(SECRET), "{} {}: {:?}", tool, path, answer);
                prop_assert!(answer.is_err() || !absolute);
            }
            prop_assert_eq!(world.everything_outside(), before, "{}", path);
            prop_assert!(world.leftovers().is_empty());
        }
    }

    const PARTS: &[&str] = &[
        "..",
        "..",
        ".",
        "",
        "sub",
        "in",
        "up",
        "out",
        "far",
        "deep",
        "new",
        "inside.txt",
        "other.txt",
        "root",
        "outside",
        "secret.txt",
    ];

    /// One thread exchanges what is behind two names, as fast as it can, while the tools use them.
    /// Which round meets which state is chance; that no round tells the secret, waits, or changes the
    /// outside is not.
    #[tokio::test]
    async fn links_and_fifos_that_are_swapped_in() {
        let world = World::new();
        fs::write(world.root("file"), "harmless").expect("a file");
        fs::create_dir(world.root("folder")).expect("a folder");
        fs::write(world.root("folder/secret.txt"), "harmless").expect("a file");
        let before = world.everything_outside();
        let (root, outside) = (world.root(""), world.outside(""));
        let stop = CancellationToken::new();
        let stop_when_dropped = stop.clone().drop_guard();
        let swapper = thread::spawn(move || {
            (0..)
                .take_while(|_| !stop.is_cancelled())
                .for_each(|round| swap(&root, &outside, round));
        });
        let paths = ["file", "folder/secret.txt", "folder/new.txt", "."];
        for round in 0..600 {
            let tool = ["read", "grep", "write"][round % 3];
            let answer = world.call(tool, for_path(tool, paths[round % 4])).await;
            assert!(!format!("{answer:?}").contains(SECRET), "{tool}: {answer:?}");
        }
        drop(stop_when_dropped);
        swapper.join().expect("swapping ignores its errors");
        assert_eq!(world.everything_outside(), before);
        assert!(world.leftovers().is_empty());
    }

    /// Each step may fail, for the tools work on the same names.
    fn swap(root: &Path, outside: &Path, round: usize) {
        let (file, folder, aside) = (root.join("file"), root.join("folder"), root.join("aside"));
        let next = root.join("next");
        let _ = match round % 3 {
            0 => symlink(outside.join("secret.txt"), &next),
            1 => mkfifo(&next, Mode::S_IRWXU).map_err(Into::into),
            _ => fs::write(&next, "harmless"),
        };
        let _ = fs::rename(&next, &file);
        let _ = fs::rename(&folder, &aside);
        let _ = symlink(outside, &folder);
        let _ = fs::remove_file(&folder);
        let _ = fs::rename(&aside, &folder);
    }
}
