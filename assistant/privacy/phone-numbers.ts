/**
 * Phone numbers in text (PRIVACY-3). A number that says so itself (a plus, a trunk zero in groups, an area code in
 * brackets) is taken by its shape; any other has to be a valid one of the person's country, written as people there write it.
 * Numbers of orders, dates, prices, coordinates, addresses of machines and parts of identifiers are none.
 */
import parsePhoneNumber, { type CountryCode, isSupportedCountry, Metadata } from 'libphonenumber-js/max';
import type { Finding } from './placeholder.ts';
import { GLUE } from './plain-form.ts';
import type { RedactionWork } from './redaction-work.ts';

/** A word that says what a number is stands right beside it. */
export const CONTEXT_CHARS = 40;

const PRICE_BEFORE = /(?:\p{Sc}|(?:Rs|रु)\.?|(?<!\p{Script=Latin})(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN))[\s]?$/iu;

/** Words of what else has a number; then perhaps `no.`, `is`, a colon, and the number. Every repetition is bounded: linear. */
const ID_BEFORE =
  /(?<!\p{Script=Latin})(?:(?:order|bestell|auftrag|rechnung|invoice|ticket|case|tracking|sendung|paket|parcel|kunde|customer|account|konto|article|artikel|product|produkt|sku|ean|gtin|isbn|upc|imei|serial|serie|reference|referenz|commande|facture|pedido|ordine|fattura|factura|transaction|booking|buchung|vertrag|contract|complaint|consignment|shipment|policy|docket)\p{L}{0,24}|(?:ref|id|blz|version|item|part|lot|batch|model|modell|isin|wkn|doi|issn|barcode|plz|zip|vat|tax|build|release|pin|otp|utr|pnr|awb|rrn)(?!\p{Script=Latin}))[\s_-]?(?:no|nr|num(?:ber|mer|ero)?|num[eé]ro|n[uú]mero|id|code|番号|番號|号码|號碼|号|號|번호|เลขที่)?[.:#/\s_-]{0,4}(?:is|ist|lautet|war|was|=|は|が|是|为|為|은|는)?[\s:"'#№]{0,4}$/iu;
const ID_LABEL = /(?:^id|_id|[a-z]I[dD]): $/;
/** The same in other languages: beginnings of words, where blanks stand between them. */
const OF_ORDERS =
  'заказ|сч[её]т|накладн|артикул|трек|замовлен|поръчк|поруџбин|наруџбин|παραγγελ|τιμολογ|τιμολόγ|הזמנ|חשבונית|משלוח|طلبي|طلب|فاتور|شحن|سفارش|فاکتور|آرڈر|ऑर्डर|आर्डर|अर्डर|आदेश|चालान|অর্ডার|ஆர்டர்|ఆర్డర్|ಆರ್ಡರ್|ഓർഡർ|ઓર્ડર|ਆਰਡਰ|ඇණවුම|შეკვეთ|պատվեր|ትዕዛዝ|' +
  'zamówieni|faktur|objednáv|rendelés|számla|comand|narudžb|naročil|sipariş|đơn hàng|hóa đơn|mã |tilau|lasku|beställ|ordre|bestill|pesanan|tellimu|užsakym|pasūtījum|encomenda';
/** Whole words, where none do: what follows them at once may say something else. */
const OF_ORDERS_WHOLE =
  '注文|受注|伝票|追跡|会員|商品|請求書?|予約|订单|訂單|订货|单号|單號|快递|快遞|运单|物流|编号|編號|发票|發票|账号|帳號|会员|會員|序列|流水|주문|송장|운송장|상품|회원|예약|계좌|คำสั่งซื้อ|พัสดุ|สินค้า|ใบแจ้งหนี้|สมาชิก|ສັ່ງຊື້|បញ្ជាទិញ|မှာယူမှု|အော်ဒါ';
const NUMBER_WORD =
  '№|n°|č|čís\\p{L}{1,4}|nr|no|номер\\p{L}{0,3}|број|αριθμ\\p{L}{1,3}|מספר|رقم|شماره|نمبر|नंबर|नम्बर|नं|নম্বর|நம்பர்|எண்|నంబర్|ಸಂಖ್ಯೆ|നമ്പർ|નંબર|ਨੰਬਰ|අංකය|ნომერი|համար\\p{L}{0,2}|ቁጥር|sz\\p{L}{0,4}|num\\p{L}{0,5}|số|番[号號]|号码|號碼|[号號]|번호|เลขที่|หมายเลข|លេខ|ເລກທີ|နံပါတ်';
const ID_ELSEWHERE = new RegExp(
  `(?:(?:${OF_ORDERS})[\\p{L}\\p{M}]{0,8}|(?:${OF_ORDERS_WHOLE})[的の]?)[\\s_-]?(?:${NUMBER_WORD})?[.:#№\\s_-]{0,4}(?:[はがを是为為은는이가을를]|คือ)?[\\s:"'#№「『(-]{0,4}$`,
  'iu',
);
const PHONE_BEFORE =
  /(?:(?<!\p{Script=Latin})(?:tel|phone|call|cell|fax|mobil|handy|whatsapp|sms|r[uü]ckruf|anruf|erreich|t[eé]l[eé]phon|m[oó]vil|llam|portable|appel|dial|reach|kontakt|wa\.me|puhelin|soita|zadzwoń|komórk|sđt|điện thoại)\p{L}{0,24}|telef\p{L}{0,24}|(?:my|meine|mon|mi|mio|mijn)\s{1,3}(?:(?:new|neue)\s)?(?:number|nummer|num[eé]ro|n[uú]mero)|(?:_|\p{L})(?:phone|Phone|Tel)|[☎📞📱]|телеф\p{L}{0,24}|(?<!\p{Script=Cyrillic})(?:тел|моб|звон|позвон|сотов)\p{L}{0,24}|τηλ|κινητ|טלפון|נייד|هاتف|جوال|موبايل|موبایل|تلفن|فون|फ़ोन|फोन|मोबाइल|ফোন|মোবাইল|தொலைபேசி|கைபேசி|ఫోన్|మొబైల్|ಫೋನ್|ಮೊಬೈಲ್|ഫോൺ|മൊബൈൽ|ફોન|મોબાઇલ|ਫ਼ੋਨ|ਫੋਨ|ਮੋਬਾਈਲ|දුරකථන|ტელეფ|მობილ|հեռախոս|ስልክ|電話|电话|手机|手機|携帯|ケータイ|連絡先|联系方式|聯絡|座机|전화|휴대폰|핸드폰|연락처|โทร|เบอร์|มือถือ|ໂທ|ເບີ|ទូរស័ព្ទ|ဖုန်း)[^\d\n]{0,16}$/iu;

/** `… is my mobile`. */
const PHONE_AFTER =
  /^[^\d\n]{0,16}(?<!\p{Script=Latin})(?:tel(?!\p{Script=Latin})|phone|mobil|cell|handy|fax|whatsapp|sms|telef|t[eé]l[eé]phon|m[oó]vil)/iu;

export type Said = 'price' | 'id' | 'phone' | 'nothing';

/** What `before`, which ends where a number begins, says of it. */
export function saidBy(before: string): Said {
  if (PRICE_BEFORE.test(before)) return 'price';
  if (ID_BEFORE.test(before) || ID_LABEL.test(before) || ID_ELSEWHERE.test(before)) return 'id';
  return PHONE_BEFORE.test(before) ? 'phone' : 'nothing';
}

/** Whether `after`, which begins where a number ends, says that it is a telephone's. */
export function saidAfter(after: string): boolean {
  return PHONE_AFTER.test(after);
}

const DIGITS_MIN = 7;
/** E.164 allows 15; an international prefix or a trunk zero may stand before or within. */
const DIGITS_MAX = 17;
/** `+49 (0) 30 12 34 56 78` has eight. */
const GROUPS_MAX = 9;
/** Between two groups, as in `) / `. */
const GAP_MAX_CHARS = 4;
/** A national number with its trunk digits. */
const NATIONAL_DIGITS_MAX = 14;
/** An article or a customer's number has eight digits as often as a phone number without area code. */
const BARE_DIGITS_MIN = 9;
/** Parsing one takes some 50 µs. Texts with more are tables of numbers: what is left is judged by its shape. */
const PARSES_MAX = 32;
/** What is looked at before a number to tell whether it is a part of a web address. */
const GLUED_CHARS = 120;
/** The end of a field's name says what it holds; a longer one is cut, because it is searched again for each value of a list. */
const LABEL_MAX_CHARS = 64;
const RUN = /[+(]{0,2}\d[\d +()./_\n-]*/g;
const GROUP = /[+(]{0,2}\d+/g;
const TWO_LINES = /\n.*\n/;

const GLUED_BEFORE = new RegExp(`[${GLUE}\\p{Sc}@%^]$`, 'u');
/** `TEL03-1234-5678`, as it stands between words of scripts without blanks. */
const WORD_BEFORE = /(?:tel|fax|phone|mobile?|handy|cell|whatsapp|тел|моб|sđt)$/iu;
/** Parts of an identifier; a fraction. */
const WITHIN_BEFORE = new RegExp(`(?:[${GLUE}][-_]|(?<!\\d)0[.,])$`, 'u');
/** A short ending behind a dash is a word's: `06 30 123 4567-es`. */
const GLUED_AFTER = new RegExp(
  `^(?:[${GLUE}\\p{Sc}%#@=]|[-_/.:](?=\\d)|,(?=\\d{1,3}(?!\\d))|(?!-\\p{Ll}{1,4}(?![${GLUE}_-]))[-_](?=[${GLUE}]))`,
  'u',
);
const CURRENCY =
  '[\\p{Sc}%円元圓块塊원万萬만]|(?:บาท|ກີບ|ကျပ်|רש״ח|ש"ח|руб|грн|лв|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|HUF|Euro|Dollar|kr|zł|Kč|Ft)(?!\\p{Script=Latin})';
const PRICE_AFTER = new RegExp(`^ ?(?:${CURRENCY})`, 'iu');

const DATE = /(?<![\d]|\d[-./])(?:(?:19|20)\d{2}([-./])\d{1,2}\1\d{1,2}|\d{1,2}([-./])\d{1,2}\2(?:(?:19|20)\d{2}|\d{2}))(?![-./]?\d)/g;
/** Decimals, versions, addresses of machines, spans of years and of hours. */
const OTHER_NUMBER =
  /^(?:(?:0|[1-9]\d*)\.\d+|0(?:\.\d+)+|\d{1,3}(?:\.\d{1,3}){3}(?:\/\d{1,2})?|(?:19|20)\d{2}[-/](?:19|20)\d{2}|\d{1,2}\.\d{2} ?- ?\d{1,2}\.\d{2})$/;
/** `5 - 10 - 15`: a list, or spans. */
const LIST = / - .* - /;
/** `12 345 678`: numbers that are dialled do not begin with one or two digits and go on in threes. */
const THOUSANDS = /^\d{1,2}(?:[. ]\d{3})+$/;

/** Area code and number as North America writes them, whoever writes: with brackets, hyphens or dots. */
const NORTH_AMERICAN = /^(?:1[-. ])?(?:\([2-9]\d{2}\)[ -]?|[2-9]\d{2}[-.])\d{3}[-. ]\d{4}$/;
/** A trunk zero, and groups or none, as most other countries write: `0176 1234 5678`, `06 12 34 56 78`, `030 901820`, `0612345678`. */
const TRUNK = /^0[1-9]\d{0,13}(?:[ ._/-]{1,4}\d{1,9}){0,6}$/;
const BRACKETS = /[()]/g;
const TRUNK_DIGITS_MIN = 9;
const TRUNK_DIGITS_MAX = 15;

/** A prefix that is dialled before a national number, in digits. */
const TRUNK_PREFIX_MAX_DIGITS = 2;
const lengths = new Map<CountryCode, readonly number[]>();

function mayBeNational(digits: number, country: CountryCode): boolean {
  let known = lengths.get(country);
  if (known === undefined) {
    const metadata = new Metadata();
    metadata.selectNumberingPlan(country);
    known = metadata.numberingPlan?.possibleLengths() ?? [];
    lengths.set(country, known);
  }
  return known.some((length) => digits >= length && digits <= length + TRUNK_PREFIX_MAX_DIGITS);
}

const digitsOf = (text: string) => text.replace(/\D/g, '');

/** A bracket that opens before a number and closes after it is none of it. */
function unbracketed(written: string): string {
  return written.startsWith('(') && written.split('(').length > written.split(')').length ? written.slice(1) : written;
}

function isTrunk(written: string): boolean {
  const plain = written.replace(BRACKETS, ' ').trim();
  if (!TRUNK.test(plain)) return false;
  // Behind a whole number another zero begins the next one.
  const next = plain.lastIndexOf(' 0');
  return next < 0 || digitsOf(plain.slice(0, next)).length < TRUNK_DIGITS_MIN;
}

/** Whether the text ends within the path of a web address. */
function isPath(before: string): boolean {
  if (!before.endsWith('/')) return false;
  const word = before.slice(Math.max(before.lastIndexOf(' '), before.lastIndexOf('\n')) + 1);
  return word.includes('://') || word.startsWith('www.');
}

interface End {
  readonly count: number;
  readonly written: string;
}

interface Group {
  readonly start: number;
  readonly end: number;
  readonly digits: number;
}

export interface PhonePlace {
  readonly regions: readonly string[];
  readonly label: string;
  readonly work: RedactionWork;
}

class PhoneSearch {
  readonly #text: string;
  readonly #countries: readonly CountryCode[];
  readonly #label: string;
  readonly #work: RedactionWork;
  #parsesLeft = PARSES_MAX;
  #said: { readonly start: number; readonly says: Said } | undefined;

  constructor(text: string, { regions, label, work }: PhonePlace) {
    this.#text = text;
    this.#work = work;
    this.#countries = regions.filter((region) => isSupportedCountry(region));
    this.#label = label === '' ? '' : `${label.slice(-LABEL_MAX_CHARS)}: `;
  }

  /** The groups from the `first` on that are a phone number, as many as possible; 0 when none are. */
  length(groups: readonly Group[], first: number): number {
    const start = groups[first]?.start ?? 0;
    // Within a run only what shows its beginning is looked at: the second half of something else does not.
    if (first > 0 && !('+(0'.includes(this.#text.charAt(start)) && ' \n'.includes(this.#text.charAt(start - 1)))) return 0;
    if (this.#isGlued(start)) return 0;
    const ends: End[] = [];
    let digits = 0;
    for (let count = 1; count <= GROUPS_MAX; count++) {
      const group = groups[first + count - 1];
      if (group === undefined) break;
      digits += group.digits;
      if (digits > DIGITS_MAX) break;
      // Single digits in a row are a list, not a number in groups.
      if (digits >= DIGITS_MIN && digits * 2 >= count * 3) ends.unshift({ count, written: this.#text.slice(start, group.end) });
    }
    // A number ends with its line; only where it cannot is it looked for on the next one.
    const inLine = ends.filter(({ written }) => !written.includes('\n'));
    const found = [...inLine, ...ends].find(({ written }) => this.#isPhone(start, written));
    return found?.count ?? 0;
  }

  /** Whether what stands before makes the digits a part of something else. */
  #isGlued(start: number): boolean {
    const before = this.#text.slice(Math.max(0, start - GLUED_CHARS), start);
    if (GLUED_BEFORE.test(before)) return !WORD_BEFORE.test(before);
    return (WITHIN_BEFORE.test(before) || isPath(before)) && this.#saidBefore(start) !== 'phone';
  }

  #isPhone(start: number, bracketed: string): boolean {
    const end = start + bracketed.length;
    const after = this.#text.slice(end, end + CONTEXT_CHARS);
    const written = unbracketed(bracketed);
    if (GLUED_AFTER.test(after) || PRICE_AFTER.test(after) || OTHER_NUMBER.test(written)) return false;
    const says = this.#saidBefore(start);
    if (says === 'price') return false;
    const digits = digitsOf(written);
    if (/^\(?\+/.test(written)) return this.#isInternational(written, digits);
    if (says === 'id') return false;
    if (says === 'phone' && digits.length <= TRUNK_DIGITS_MAX) return true;
    if (written.includes('\n')) return false;
    if (NORTH_AMERICAN.test(written)) return true;
    if (digits.length >= TRUNK_DIGITS_MIN && digits.length <= TRUNK_DIGITS_MAX && (isTrunk(written) || saidAfter(after))) return true;
    return digits.startsWith('00')
      ? this.#isInternational(`+${digits.slice(2)}`, digits.slice(2))
      : this.#isNational(start, written, digits);
  }

  #saidBefore(start: number): Said {
    if (this.#said?.start === start) return this.#said.says;
    const before = (start < CONTEXT_CHARS ? this.#label : '') + this.#text.slice(Math.max(0, start - CONTEXT_CHARS), start);
    const says = saidBy(before);
    this.#said = { start, says };
    return says;
  }

  #isInternational(written: string, digits: string): boolean {
    if (digits.length > 16 || digits.startsWith('0')) return false;
    const isGrouped = written.length > digits.length + 1;
    return (isGrouped && digits.length > DIGITS_MIN) || this.#parse(written, undefined, (number) => number.isPossible());
  }

  #isNational(start: number, written: string, digits: string): boolean {
    if (digits.length > NATIONAL_DIGITS_MAX || THOUSANDS.test(written) || LIST.test(written)) return false;
    // `#4155552671` alone is the number of something.
    if (this.#text.charAt(start - 1) === '#') return false;
    return this.#countries.some((country) => mayBeNational(digits.length, country) && this.#isOf(country, written, digits));
  }

  #isOf(country: CountryCode, written: string, digits: string): boolean {
    return this.#parse(written, country, (number) => {
      if (!number.isValid()) return false;
      if (digits !== number.nationalNumber || written.startsWith('(')) return true;
      // Where a trunk digit belongs before it, a number without one is another number.
      if (digitsOf(number.formatNational()) === digits) return written !== digits || digits.length >= BARE_DIGITS_MIN;
      // In some countries (India, Russia) people leave it out.
      const untrunked = number.format('NATIONAL', { nationalPrefix: false });
      return written === untrunked || (digitsOf(untrunked) === digits && number.getType() === 'MOBILE');
    });
  }

  #parse(
    written: string,
    country: CountryCode | undefined,
    accepts: (number: NonNullable<ReturnType<typeof parsePhoneNumber>>) => boolean,
  ): boolean {
    // Rather hidden than told: it looked like one up to here.
    if (this.#parsesLeft === 0 || !this.#work.takeLookup()) return true;
    this.#parsesLeft--;
    const number = parsePhoneNumber(written, { ...(country === undefined ? {} : { defaultCountry: country }), extract: false });
    return number !== undefined && accepts(number);
  }
}

function groupsOf(text: string): Group[][] {
  return Array.from(text.matchAll(RUN)).flatMap((run) => {
    const parts: Group[][] = [];
    for (const match of run[0].matchAll(GROUP)) {
      const [written] = match;
      const start = run.index + match.index;
      const group = { start, end: start + written.length, digits: digitsOf(written).length };
      const part = parts.at(-1);
      const gap = text.slice(part?.at(-1)?.end ?? start, start);
      if (part !== undefined && gap.length <= GAP_MAX_CHARS && !TWO_LINES.test(gap)) part.push(group);
      else parts.push([group]);
    }
    return parts;
  });
}

function findingOf(text: string, from: number, end: number): Finding {
  const value = unbracketed(text.slice(from, end));
  return { kind: 'phone', start: end - value.length, end, value };
}

/** Phone numbers: international ones, national ones of `regions`, and what can hardly be anything else; see findPersonalData. */
export function findPhones(text: string, place: PhonePlace): Finding[] {
  const undated = text.replace(DATE, (date) => '\n'.repeat(date.length));
  const search = new PhoneSearch(undated, place);
  const findings: Finding[] = [];
  for (const groups of groupsOf(undated)) {
    for (let first = 0; first < groups.length; ) {
      const count = search.length(groups, first);
      const [start, end] = [groups[first]?.start ?? 0, groups[first + count - 1]?.end ?? 0];
      if (count > 0) findings.push(findingOf(undated, start, end));
      first += Math.max(1, count);
    }
  }
  return findings;
}
