//! What begins like an escape and is none: commands of TeX and RTF, and steps of a path of Windows.

/// Bytes of the longest drive and folders before a step that are looked at.
const PATH_BYTES: usize = 128;

/// Whether the letters behind a backslash are a command of TeX or RTF: `\theta`, `\newpage`, `\fonttbl`.
pub(super) fn is_command(behind: &str) -> bool {
    let length = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
    let name = behind.get(..length).unwrap_or_default();
    COMMANDS.binary_search(&name).is_ok()
}

/// Whether a backslash behind this text stands between folders: `C:\Users`, `\\server\share`. Where the first folder could
/// be an escape, it is one: `A:\nstable`.
pub(super) fn is_in_path(before: &str) -> bool {
    let from = before.ceil_char_boundary(before.len().saturating_sub(PATH_BYTES));
    let near = before.get(from..).unwrap_or_default();
    let ends = |sign: char| sign.is_whitespace() || "\"'`<>()[]{},;|=".contains(sign);
    let path = near.rsplit(ends).next().unwrap_or_default();
    let is_folder = |letter: u8| letter.is_ascii_alphabetic() && !b"bfnrtuUvx".contains(&letter);
    match path.as_bytes() {
        // `C:\Users`: no escape of eight digits.
        [drive, b':', b'\\', b'U', b's', ..] => drive.is_ascii_alphabetic(),
        [drive, b':', b'\\', letter, ..] => drive.is_ascii_alphabetic() && is_folder(*letter),
        [b'\\', b'\\', letter, rest @ ..] => is_folder(*letter) && rest.contains(&b'\\'),
        _ => false,
    }
}

/// Sorted. Only those that would be read as an escape, and leave no word behind it.
#[rustfmt::skip]
static COMMANDS: [&str; 160] = [
    "bar", "begin", "beta", "bf", "bfseries", "bibitem", "bibliography", "bibliographystyle", "big", "bigcap",
    "bigcup", "bigg", "bigl", "bigr", "binom", "bmatrix", "bmod", "boldsymbol", "bot", "bowtie", "boxed", "breve",
    "bullet", "fbox", "fcharset", "flat", "flushleft", "flushright", "fmodern", "fnil", "fnsymbol", "fontsize",
    "fonttbl", "footnote", "footnotesize", "forall", "fprq", "frac", "froman", "frown", "fs", "fswiss", "nabla",
    "natural", "ne", "nearrow", "neg", "neq", "newcommand", "newenvironment", "newline", "newpage", "newtheorem",
    "nexists", "ngeq", "nleq", "nocite", "noindent", "nolimits", "nonumber", "normalsize", "notin", "nsubseteq", "nu",
    "nwarrow", "rVert", "rangle", "rarr", "rbrace", "rbrack", "rceil", "ref", "relax", "renewcommand", "rfloor",
    "rgroup", "rho", "right", "rightarrow", "rightharpoonup", "rightleftharpoons", "rm", "rmdefault", "rtf", "rtimes",
    "rule", "rvert", "tableofcontents", "tabular", "tanh", "tau", "tbinom", "text", "textasciitilde", "textbackslash",
    "textbar", "textbf", "textcolor", "textdegree", "textgreater", "textit", "textless", "textmd", "textmu",
    "textnormal", "textquotedblleft", "textquotedblright", "textrm", "textsc", "textsf", "textsl", "textstyle",
    "textsubscript", "textsuperscript", "texttt", "textup", "textwidth", "tfrac", "thanks", "theequation",
    "thefootnote", "thepage", "therefore", "theta", "thickapprox", "thicksim", "thinspace", "tilde", "times", "tiny",
    "title", "titlepage", "toprule", "triangle", "triangledown", "triangleleft", "triangleq", "triangleright",
    "twoheadrightarrow", "vDash", "varepsilon", "varkappa", "varnothing", "varphi", "varpi", "varrho", "varsigma",
    "vartheta", "vartriangle", "vdash", "vdots", "vec", "vee", "veebar", "verb", "verbatim", "vfill", "vphantom",
    "vskip", "vspace",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_words_behind_an_escape() {
        assert!(COMMANDS.is_sorted());
        for command in [
            "theta x",
            "times",
            "nu ",
            "newpage",
            "rho$",
            "frac{1}{2}",
            "rtf1",
        ] {
            assert!(is_command(command), "{command}");
        }
        for words in ["nThank you", "tHelp", "n", "", "ntheta", "rnMRN", "nnu"] {
            assert!(!is_command(words), "{words}");
        }
    }

    #[test]
    fn paths_are_told_from_lines() {
        for path in [r"C:\Users", r#""D:\a\b"#, r"\\srv\x", r"see \\srv\x\y"] {
            assert!(is_in_path(path), "{path}");
        }
        for text in [
            "", "C:", r"A:\nHTN", r"Dear:\n", r"8:\n", r"a \\n\n", "HOSPITAL", r"\srv\x",
        ] {
            assert!(!is_in_path(text), "{text}");
        }
    }
}
