/** Tells which languages texts are written in: by their scripts, and of Latin ones by the small words that every sentence has. */

/** Scripts that tell a language, or its nearest guess: tokens in it are too few, or names only, below a share of a text. */
const SCRIPTS: readonly (readonly [tag: string, script: RegExp])[] = [
  ['ja', /[\p{sc=Hiragana}\p{sc=Katakana}]/gu],
  ['zh', /\p{sc=Han}/gu],
  ['ko', /\p{sc=Hangul}/gu],
  ['uk', /[іїєґ]/giu],
  ['ru', /\p{sc=Cyrillic}/gu],
  ['fa', /[پچژگ]/gu],
  ['ar', /\p{sc=Arabic}/gu],
  ['he', /\p{sc=Hebrew}/gu],
  ['el', /\p{sc=Greek}/gu],
  ['th', /\p{sc=Thai}/gu],
  ['hi', /\p{sc=Devanagari}/gu],
];
/** The least share of the letters of a text. One of Japanese has a tenth of kana at least, one of Ukrainian some of its own letters. */
const SCRIPT_SHARE = 0.3;
const OWN_LETTERS_SHARE: Readonly<Record<string, number>> = { ja: 0.1, uk: 0.02, fa: 0.02 };

/** Words that one of these languages has and most of the others have not. */
const SMALL_WORDS: Readonly<Record<string, string>> = {
  en: 'the of and to is are you your for with that this from have it be or as by when our we',
  de: 'der die das und ist nicht mit ein eine für auf sich wird werden sie wir ihre von dem den zu bei oder auch innerhalb',
  fr: 'le les des est une pour dans que vous votre avec sur pas nous sont ou être et du au aux ces',
  es: 'el los las una para que con por su es del se lo como más no sus está son puede y o',
  it: 'il gli della di che per una non con sono del nel alla anche più è ed può dei delle le',
  pt: 'os as uma para que com não do da em por seu sua são mais ou você dos das ao pode',
  nl: 'het een en van voor dat niet met zijn wordt ook bij je op te aan uw wij deze of kan binnen',
  sv: 'och att det som för inte med är ett av på den till du kan har eller vi din från',
  da: 'og at det som for ikke med er et af på den til du kan har eller vi din fra blive',
  nb: 'og å det som for ikke med er et av på den til du kan har eller vi din fra bli',
  fi: 'ja on ei se että voi tai kun mutta ovat sinun myös jos ole kuin sen',
  pl: 'i w na z się nie do jest że to od przez dla oraz lub które można są po jak',
  cs: 'a v na je se že to do pro nebo od po jako které jsou při vám může být ve s',
  hu: 'a az és hogy nem is egy van meg csak vagy ha de ezt lehet napon belül',
  ro: 'și în de la cu pe nu este un o sau pentru din care sunt să mai se fi',
  tr: 've bir bu için ile de da olarak veya daha gibi çok en olan değil kadar içinde',
  id: 'yang dan di untuk dengan ini dari tidak dalam akan pada atau adalah ke anda bisa',
  vi: 'và của là các có được cho không trong với một những này đến khi để từ',
};
const SMALL = Object.entries(SMALL_WORDS).map(([tag, words]) => [tag, new Set(words.split(' '))] as const);
/** Fewer of them tell nothing: a list of names, code. */
const SMALL_WORDS_MIN = 3;

const count = (text: string, each: RegExp) => text.match(each)?.length ?? 0;

/** The tag of the language of one text; undefined where it has too few words to tell. */
export function languageOf(text: string): string | undefined {
  const letters = count(text, /\p{L}/gu);
  const script = SCRIPTS.find(([tag, each]) => letters > 0 && count(text, each) / letters >= (OWN_LETTERS_SHARE[tag] ?? SCRIPT_SHARE));
  if (script !== undefined) return script[0];
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const found = SMALL.map(([tag, small]) => ({ tag, times: words.filter((word) => small.has(word)).length }));
  const best = found.reduce((one, other) => (other.times > one.times ? other : one));
  return best.times >= SMALL_WORDS_MIN ? best.tag : undefined;
}

/** A language that fewer texts of a sample are written in is an exception. */
const SHARE_MIN = 0.1;
/** With the person's own as many as a search takes queries. */
const LANGUAGES_MAX = 3;
/** Where fewer texts than that tell theirs, none is told: the others may be of any. */
const KNOWN_SHARE_MIN = 0.7;

const names = new Intl.DisplayNames('en', { type: 'language' });

/** English names of the languages of a sample of texts, that of most first; none where nothing tells them. */
export function languagesOf(texts: readonly string[]): readonly string[] {
  const times = new Map<string, number>();
  for (const text of texts) {
    const tag = languageOf(text);
    if (tag !== undefined) times.set(tag, (times.get(tag) ?? 0) + 1);
  }
  const known = [...times.values()].reduce((sum, each) => sum + each, 0);
  if (known < KNOWN_SHARE_MIN * texts.length) return [];
  return [...times]
    .filter(([, each]) => each / known >= SHARE_MIN)
    .sort(([one, more], [other, less]) => less - more || one.localeCompare(other))
    .slice(0, LANGUAGES_MAX)
    .map(([tag]) => names.of(tag) ?? tag);
}
