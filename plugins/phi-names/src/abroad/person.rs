//! Names of persons as all languages write them, behind a label.

use std::ops::Range;

use phi_text::script::stands_alone;

use super::is_end;
use crate::field::PARTICLES;
use crate::foreign::TITLES;
use crate::token;
use phi_lexicon::Class;

/// Words of a name.
const MAX_WORDS: usize = 6;

/// The name that the line begins with; `is_sure` where the label is of nothing but people.
pub(super) fn find(line: &str, is_sure: bool) -> Option<Range<usize>> {
    let start = titles_len(line);
    let name = line.get(start..)?;
    let first = name.chars().next().filter(|first| first.is_alphabetic())?;
    let len = if first.is_uppercase() {
        cased(name, is_sure)?
    } else if first.is_lowercase() {
        let particles = particles_len(name);
        let name = name.get(particles..).filter(|_| is_sure && particles > 0)?;
        if !name.starts_with(char::is_uppercase) {
            return None;
        }
        particles + cased(name, is_sure)?
    } else if stands_alone(first) {
        close(name, is_sure)?
    } else {
        uncased(name, is_sure)?
    };
    Some(start..start + len)
}

/// Bytes of the particles that a surname begins with, and of the spaces behind them: `van den Berg`.
fn particles_len(name: &str) -> usize {
    let mut len = 0;
    for _ in 0..3 {
        let rest = name.get(len..).unwrap_or_default();
        match rest.split_once(' ') {
            Some((word, _)) if PARTICLES.contains(&word) || MORE_PARTICLES.contains(&word) => {
                len += word.len() + 1;
            }
            _ => break,
        }
    }
    len
}

/// Behind a label of names only: elsewhere they are words.
const MORE_PARTICLES: [&str; 9] = ["zu", "af", "av", "ter", "ten", "'t", "le", "du", "des"];

/// What stands between a name and the one that its bearer was born with, or married into; a dot may follow.
const BORN: [&str; 12] = [
    "geb",
    "geborene",
    "geborener",
    "née",
    "né",
    "ép",
    "épouse",
    "roz",
    "rozená",
    "nata",
    "född",
    "født",
];

/// Bytes of titles and of the spaces behind them.
fn titles_len(line: &str) -> usize {
    /// In other scripts.
    const MORE: [&str; 16] = [
        "د",
        "دكتور",
        "الدكتور",
        "السيد",
        "السيدة",
        "دکتر",
        "آقای",
        "خانم",
        "ד\"ר",
        "ד\u{5f4}ר",
        "דר",
        "डॉ",
        "डा",
        "श्री",
        "श्रीमती",
        "др",
    ];
    let mut len = 0;
    for _ in 0..3 {
        let rest = line.get(len..).unwrap_or_default();
        let Some((word, _)) = rest.split_once([' ', '\u{a0}']) else {
            break;
        };
        let title = word.trim_end_matches('.');
        let is_one = |known: &&str| known.eq_ignore_ascii_case(title);
        if !TITLES.iter().any(is_one) && !MORE.contains(&title) {
            break;
        }
        let space = rest.get(word.len()..).unwrap_or_default();
        len += word.len() + space.chars().next().map_or(0, char::len_utf8);
    }
    len
}

/// What the words of a name are.
#[derive(Clone, Default)]
struct Words {
    count: usize,
    /// Those that are names and no words.
    known: usize,
    /// Those that are words and no names.
    strange: usize,
    last: Class,
}

impl Words {
    fn take(&mut self, word: &str) {
        let class = token::class_of(word);
        let is_word = class.is_word() || class.is_common() || class.is_foreign();
        self.count += 1;
        self.known += usize::from(class.is_name() && !is_word || class.is_sure());
        self.strange += usize::from(is_word && !class.is_name());
        self.last = class;
    }
}

/// Bytes of words with a capital each, and of particles between them.
fn cased(name: &str, is_sure: bool) -> Option<usize> {
    let (mut at, mut end, mut words, mut commas) = (0, 0, Words::default(), 0);
    // As it was before the last word.
    let mut before = None;
    while words.count < MAX_WORDS {
        let rest = name.get(at..)?;
        let len = word_len(rest);
        let word = rest.get(..len)?;
        if word.chars().next().is_some_and(char::is_uppercase) {
            let letters = word.trim_end_matches('.');
            // `Muster, Maria`, but `Muster, Köln`.
            if commas > 0 && !token::class_of(letters).is_name() {
                break;
            }
            before = (end > 0).then(|| (end, words.clone()));
            if letters.chars().count() > 1 {
                words.take(letters);
            }
            end = at + len;
        } else if BORN.contains(&word) {
            at += usize::from(rest.get(len..)?.starts_with('.'));
        } else if !PARTICLES.contains(&word) {
            break;
        }
        at += len;
        let rest = name.get(at..)?;
        if rest.starts_with(", ") && commas == 0 {
            (at, commas) = (at + 2, 1);
        } else if rest.starts_with([' ', '\u{a0}']) {
            at += rest.chars().next()?.len_utf8();
        } else {
            break;
        }
    }
    // The next label in the line is no part of it: `Nachname: Müller Vorname: Hans`.
    let is_label = |end: usize| {
        let rest = name.get(end..).unwrap_or_default();
        rest.trim_start().starts_with([':', '：'])
    };
    let is_followed = is_label(end);
    if is_followed {
        (end, words) = before?;
    }
    let rest = name.get(end..)?;
    let is_born = || {
        let word = rest.trim_start();
        let len = word_len(word);
        BORN.contains(&word.get(..len).unwrap_or_default())
    };
    let is_whole = is_followed || is_end(rest) || is_born();
    let goes_on = rest.starts_with(|sign: char| sign.is_alphanumeric() || "_@(:".contains(sign));
    let class = words.last;
    let is_word = class.is_word() || class.is_common() || class.is_foreign();
    let fits = match (words.count, is_sure) {
        (0, _) => false,
        (1, true) => is_whole && (class.is_name() || class.is_unknown() && !class.is_foreign()),
        (1, false) => {
            is_whole && !is_word && (class.is_surname() || class.is_given() && !class.is_city())
        }
        (_, true) => words.known > 0 || words.strange == 0 && (is_whole || words.count == 2),
        (count, false) => {
            is_whole && count <= 4 && (words.known > 0 && words.strange < 2 || words.strange == 0)
        }
    };
    let said = name.get(..end)?;
    (fits && !goes_on && !is_label(end) && !is_nobody(said)).then_some(end)
}

/// Bytes of the word that the text begins with.
fn word_len(text: &str) -> usize {
    let is_inside =
        |sign: char| sign.is_alphabetic() || matches!(sign, '-' | '\'' | '\u{2019}' | '\u{301}');
    let len = text
        .find(|sign: char| !is_inside(sign))
        .unwrap_or(text.len());
    // An initial has its dot.
    let letters = text.get(..len).unwrap_or_default().chars().count();
    len + usize::from(letters == 1 && text.get(len..).is_some_and(|rest| rest.starts_with('.')))
}

/// Bytes of a name whose letters have no spaces between: `山田太郎`, `山田 太郎`, `김민수`.
fn close(name: &str, is_sure: bool) -> Option<usize> {
    const HONORS: [&str; 12] = [
        "様", "さん", "氏", "殿", "先生", "女士", "小姐", "医生", "醫師", "医师", "님", "씨",
    ];
    /// What ends with one is part of a hospital.
    const WARDS: [char; 9] = ['科', '部', '室', '院', '课', '課', '棟', '心', '과'];
    /// And what ends with one is what somebody has.
    const ILLNESSES: [char; 9] = ['病', '症', '癌', '炎', '疸', '风', '風', '痛', '염'];
    let is_of = |sign: char| stands_alone(sign) || matches!(sign, 'ー' | '·' | '\u{30fb}');
    let run = |text: &str| text.find(|sign: char| !is_of(sign)).unwrap_or(text.len());
    let first = run(name);
    let rest = name.get(first..)?;
    // The given name behind a space.
    let space = rest
        .chars()
        .next()
        .filter(|sign| matches!(sign, ' ' | '\u{3000}'));
    let second = space.map_or(0, |space| {
        run(rest.get(space.len_utf8()..).unwrap_or_default())
    });
    let mut len = first;
    if second > 0 && name.get(..first)?.chars().count() <= 4 {
        len += space.map_or(0, char::len_utf8) + second;
    }
    let whole = name.get(..len)?;
    let rest = name.get(len..)?;
    let said = HONORS
        .iter()
        .find_map(|honor| whole.strip_suffix(honor))
        .unwrap_or(whole)
        .trim_end();
    let said = said.trim_end_matches('\u{3000}');
    let letters = said.chars().filter(|sign| sign.is_alphabetic()).count();
    let is_divided = said.contains([' ', '\u{3000}', '·', '\u{30fb}']);
    let most = if is_divided {
        14
    } else if is_sure {
        6
    } else {
        4
    };
    let class = token::class_of(said);
    let words: Vec<Class> = said.split([' ', '\u{3000}']).map(token::class_of).collect();
    let is_known = class.is_name() || words.len() > 1 && words.iter().any(|class| class.is_name());
    let is_of_family = said
        .chars()
        .next()
        .is_some_and(|first| FAMILIES.contains(first));
    let is_word = class.is_foreign() && !class.is_name()
        || said.ends_with(WARDS)
        || said.ends_with(ILLNESSES);
    let fits = (2..=most).contains(&letters)
        && is_end(rest)
        && !is_word
        && !is_nobody(said)
        && (is_sure || is_known || is_of_family && letters <= 3);
    fits.then_some(said.len())
}

/// Surnames of one letter that most Chinese and Koreans have.
const FAMILIES: &str = "\
    王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱郭何罗羅林梁谢謝唐许許邓鄧韩韓冯馮曹彭曾肖田董潘蔡蒋余于杜叶葉程魏苏蘇吕呂丁\
    沈任姚卢盧傅钟鍾姜崔谭譚廖范汪陆陸金石戴贾韦夏邱侯邹鄒熊孟秦白江阎閻薛尹段雷黎史龙贺顧顾毛郝龚邵万钱严覃武莫孔向常김이박\
    최정강조윤장임한오서신권황안송전홍";

/// Bytes of words in a script that has no capitals: Arabic, Hebrew, Hindi.
fn uncased(name: &str, is_sure: bool) -> Option<usize> {
    let is_inside = |sign: char| {
        sign.is_alphabetic()
            || matches!(sign, '-' | '\'' | '\u{200c}' | '\u{5f3}' | '\u{64b}'..='\u{652}' | '\u{900}'..='\u{94d}')
    };
    let (mut end, mut words) = (0, Words::default());
    loop {
        let rest = name.get(end..)?;
        let trimmed = rest.strip_prefix([' ', '\u{a0}']).unwrap_or(rest);
        let space = rest.len() - trimmed.len();
        let len = trimmed
            .find(|sign: char| !is_inside(sign))
            .unwrap_or(trimmed.len());
        let word = trimmed.get(..len).filter(|word| !word.is_empty());
        let Some(word) = word.filter(|_| space > 0 || end == 0) else {
            break;
        };
        words.take(word);
        end += space + len;
        if words.count > MAX_WORDS {
            return None;
        }
    }
    let class = words.last;
    let is_word = class.is_word() || class.is_common() || class.is_foreign();
    let fits = match (words.count, is_sure) {
        (0, _) => false,
        (1, true) => !is_word || class.is_name(),
        (1, false) => class.is_name() && !is_word,
        (count, true) => words.strange < count,
        (count, false) => count <= 4 && words.known > 0 && words.strange == 0,
    };
    let said = name.get(..end)?;
    (fits && is_end(name.get(end..)?) && !is_nobody(said)).then_some(end)
}

/// What stands where a name does and is nobody's.
fn is_nobody(value: &str) -> bool {
    const NOBODY: &[&str] = &[
        "unbekannt",
        "pflichtfeld",
        "leer",
        "champ",
        "campo",
        "siehe",
        "keine",
        "inconnu",
        "inconnue",
        "non renseigné",
        "voir",
        "aucun",
        "anonyme",
        "sconosciuto",
        "sconosciuta",
        "anonimo",
        "desconhecido",
        "desconhecida",
        "desconocido",
        "desconocida",
        "onbekend",
        "nieznany",
        "nieznana",
        "brak",
        "bilinmiyor",
        "yok",
        "okänd",
        "ukendt",
        "ukjent",
        "tuntematon",
        "neznámý",
        "neuvedeno",
        "necunoscut",
        "ismeretlen",
        "string",
        "null",
        "none",
        "unknown",
        "text",
        "nom",
        "nome",
        "name",
        "test",
        "неизвестно",
        "невідомо",
        "άγνωστο",
        "غير معروف",
        "مجهول",
        "نامشخص",
        "نامعلوم",
        "לא ידוע",
        "अज्ञात",
        "未知",
        "必填",
        "必选",
        "字段",
        "字符串",
        "占位符",
        "用户名",
        "测试",
        "テスト",
        "谢谢",
        "必須",
        "待定",
        "暂无",
        "不详",
        "不詳",
        "匿名",
        "保密",
        "无名氏",
        "未填写",
        "不明",
        "なし",
        "未記入",
        "同上",
        "本人",
        "患者",
        "病人",
        "男性",
        "女性",
        "家属",
        "省略",
        "없음",
        "미상",
        "본인",
        "환자",
        "미기재",
        "남성",
        "여성",
    ];
    let small = value.to_lowercase();
    NOBODY.iter().any(|word| {
        small
            .strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
    })
}
