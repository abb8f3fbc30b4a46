//! Where everything is, and how to speak to the person.

use std::cell::{OnceCell, RefCell};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anstream::AutoStream;
use exercises::registry::{self, EXERCISES, Exercise, NotFound};
use exercises::text::Lang;
use exercises::verdict;

use crate::compile::Compiler;
use crate::progress::Progress;

/// What every command needs.
pub struct Lab {
    /// The language to speak.
    pub lang: Lang,
    /// The columns there are.
    pub width: usize,
    /// The folder of the exercises.
    pub folder: PathBuf,
    /// The folder with somebody else's answers, if those are to be checked.
    pub from: Option<PathBuf>,
    /// Whether exercises are checked by themselves when they are saved.
    pub watching: bool,
    /// Which exercises are solved, as far as is known.
    pub progress: RefCell<Progress>,
    compiler: OnceCell<Compiler>,
}

impl Lab {
    /// The lab this program was started in.
    pub fn new(lang: Lang) -> Self {
        Self {
            lang,
            width: verdict::width(),
            folder: verdict::exercises_folder(),
            from: None,
            watching: false,
            progress: RefCell::new(Progress::load()),
            compiler: OnceCell::new(),
        }
    }

    /// The folder of the whole workspace.
    pub fn workspace(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    /// Standard output; colours are left out where they would not be seen.
    pub fn out(&self) -> AutoStream<io::StdoutLock<'static>> {
        anstream::stdout().lock()
    }

    /// The compiler, made when it is first needed.
    ///
    /// # Errors
    /// When Cargo can't be started, or can't build the library of the checks.
    pub fn compiler(&self) -> io::Result<&Compiler> {
        if let Some(compiler) = self.compiler.get() {
            return Ok(compiler);
        }
        let compiler = Compiler::new(self.workspace(), io::stdout().is_terminal())?;
        Ok(self.compiler.get_or_init(|| compiler))
    }

    /// The path of one of an exercise's files.
    pub fn path(&self, exercise: &Exercise, file: &str) -> PathBuf {
        self.folder.join(exercise.name).join(file)
    }

    /// The file with the answer to an exercise.
    pub fn answer(&self, exercise: &Exercise) -> PathBuf {
        self.from.as_ref().unwrap_or(&self.folder).join(exercise.name).join("exercise.rs")
    }

    /// The exercise a person means, or the next one if they name none. If there is no such
    /// exercise, they are told which there are.
    ///
    /// # Errors
    /// Only those of writing, and of looking which is the next.
    pub fn chosen(&self, word: Option<&str>) -> io::Result<Option<&'static Exercise>> {
        let Some(word) = word else {
            return Ok(Some(self.next()?.unwrap_or(&EXERCISES[0])));
        };
        let not_found = match registry::find(word) {
            Ok(exercise) => return Ok(Some(exercise)),
            Err(not_found) => not_found,
        };
        let mut err = anstream::stderr().lock();
        let (sorry, names): (_, Vec<_>) = match &not_found {
            NotFound::Unknown => (
                self.lang.pick("There is no exercise like", "没有这个练习："),
                EXERCISES.iter().map(|exercise| exercise.name).collect(),
            ),
            NotFound::Ambiguous(names) => (
                self.lang.pick("More than one exercise is like", "不止一个练习符合："),
                names.clone(),
            ),
        };
        writeln!(err, "{sorry} “{word}”{}", self.lang.pick(". Choose one of these:", "。可选："))?;
        for name in names {
            let number = EXERCISES.iter().position(|exercise| exercise.name == name);
            writeln!(err, "  {:2}  {name}", number.unwrap_or_default() + 1)?;
        }
        Ok(None)
    }

    /// The first exercise of the core path that is not solved, or else the first of the others.
    ///
    /// # Errors
    /// When an exercise that has changed can't be checked.
    pub fn next(&self) -> io::Result<Option<&'static Exercise>> {
        let core = EXERCISES.iter().filter(|exercise| exercise.core);
        for exercise in core.chain(EXERCISES.iter().filter(|exercise| !exercise.core)) {
            if !crate::check::is_solved(self, exercise)? {
                return Ok(Some(exercise));
            }
        }
        Ok(None)
    }
}
