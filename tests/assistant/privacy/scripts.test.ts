/** Personal data in running text of every script, as people of every country write it: found to the character, and nothing beside it. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { findPersonalData, regionsOf } from '../../../assistant/privacy/find.ts';

/** How telephone numbers are written where the locale is spoken. */
const PHONES = `
  en-US  (415) 555-2671 | 415-555-2671 | 415.555.2671 | 4155552671 | 1-415-555-2671 | +1 (415) 555-2671
  en-GB  07400 123456 | 07400123456 | 020 7946 0958 | (020) 7946 0958 | +44 (0)20 7946 0958 | 0044 20 7946 0958
  en-IN  9876543210 | 98765 43210 | 98765-43210 | 09876543210 | +91 98765 43210 | +91-9876543210 | 011-23456789 | 022 2345 6789
  de-DE  0171 2345678 | 0171/2345678 | 01712345678 | (030) 901820 | 030 / 90 18 20 | +49 (0) 30 90 18 20 | 0049 171 2345678
  de-AT  0664 1234567 | 0664/123 45 67 | +43 664 1234567
  fr-CH  078 123 45 67 | 0781234567 | +41 78 123 45 67
  fr-FR  06 12 34 56 78 | 06.12.34.56.78 | 0612345678 | 06-12-34-56-78 | +33 6 12 34 56 78 | +33 (0)6 12 34 56 78
  es-ES  612 345 678 | 612 34 56 78 | 612345678 | +34 612 345 678
  es-MX  222 123 4567 | 55 1234 5678 | +52 55 1234 5678
  pt-BR  (11) 91234-5678 | 11 91234-5678 | (11)91234-5678 | 11912345678 | +55 11 91234-5678
  pt-PT  912 345 678 | 912345678 | +351 912 345 678
  it-IT  312 345 6789 | 3123456789 | 06 6982 1234 | +39 312 345 6789
  nl-NL  06 12345678 | 06-12345678 | 0612345678 | +31 6 12345678
  sv-SE  070-123 45 67 | 0701234567 | 08-123 456 78 | +46 70 123 45 67
  nb-NO  406 12 345 | 40 61 23 45 | +47 406 12 345
  da-DK  34 41 23 45 | 3441 2345 | +45 34 41 23 45
  fi-FI  041 2345678 | 040-123 4567 | 0401234567 | +358 40 1234567
  pl-PL  512 345 678 | 512-345-678 | 512345678 | +48 512 345 678
  cs-CZ  601 123 456 | 601123456 | +420 601 123 456
  hu-HU  06 20 123 4567 | 06-20-123-4567 | 06201234567 | +36 20 123 4567
  ro-RO  0712 034 567 | 0712034567 | 0712.034.567 | +40 712 034 567
  bg-BG  088 812 3456 | 0888123456 | +359 88 812 3456
  el-GR  691 234 5678 | 6912345678 | 210 123 4567 | +30 691 234 5678
  tr-TR  0532 123 45 67 | 0(532) 123 45 67 | 05321234567 | 532 123 45 67 | +90 532 123 45 67
  ru-RU  8 (912) 345-67-89 | 8-912-345-67-89 | 89123456789 | +7 912 345-67-89 | +7(912)345-67-89 | 912 345-67-89 | 495 123-45-67 | 9123456789
  uk-UA  050 123 45 67 | (050) 123-45-67 | 0501234567 | +380 50 123 45 67
  he-IL  050-234-5678 | 050-2345678 | 0502345678 | 03-6123456 | +972-50-2345678
  ar-SA  051 234 5678 | 0512345678 | ٠٥١٢٣٤٥٦٧٨ | +966 51 234 5678 | ٠٥١ ٢٣٤ ٥٦٧٨
  ar-EG  010 01234567 | 01001234567 | ٠١٠٠١٢٣٤٥٦٧ | +20 100 123 4567
  fa-IR  0912 345 6789 | 09123456789 | ۰۹۱۲۳۴۵۶۷۸۹ | ۰۹۱۲-۳۴۵-۶۷۸۹ | +98 912 345 6789
  ur-PK  0301 2345678 | 0301-2345678 | 03012345678 | +92 301 2345678
  hi-IN  9876543210 | ९८७६५४३२१० | ९८७६५ ४३२१० | +91 98765 43210
  bn-BD  01812-345678 | 01812345678 | ০১৮১২৩৪৫৬৭৮ | +880 1812 345678
  th-TH  081 234 5678 | 081-234-5678 | 0812345678 | ๐๘๑-๒๓๔-๕๖๗๘ | +66 81 234 5678 | 02-123-4567
  lo-LA  020 23 123 456 | 020 23123456 | ໐໒໐ ໒໓໑໒໓໔໕໖ | +856 20 23 123 456
  km-KH  091 234 567 | 091234567 | ០៩១ ២៣៤ ៥៦៧ | +855 91 234 567
  my-MM  09 212 345 678 | 09-212345678 | 09212345678 | ၀၉၂၁၂၃၄၅၆၇၈ | +95 9 212 345 678
  vi-VN  0912 345 678 | 0912.345.678 | 0912345678 | +84 912 345 678
  id-ID  0812-345-678 | 0812 3456 7890 | 081234567890 | +62 812 3456 7890
  ja-JP  090-1234-5678 | 09012345678 | 090ー1234ー5678 | 090・1234・5678 | ０９０－１２３４－５６７８ | ０９０１２３４５６７８ | 03-1234-5678 | (03)1234-5678 | （０３）１２３４－５６７８ | ＋８１ ９０ １２３４ ５６７８ | 090ｰ1234ｰ5678
  ko-KR  010-1234-5678 | 01012345678 | 010ㅡ1234ㅡ5678 | 010.1234.5678 | 02-123-4567 | +82 10-1234-5678
  zh-CN  13800138000 | 138 0013 8000 | 138-0013-8000 | 010-12345678 | （010）12345678 | +86 138 0013 8000 | １３８００１３８０００ | ＋86-13800138000
  zh-TW  0912 345 678 | 0912-345-678 | 0912345678 | (02) 2345-6789 | +886 912 345 678
  zh-HK  5123 4567 | 5123-4567 | +852 5123 4567
  ka-GE  555 12 34 56 | 555123456 | +995 555 12 34 56
  hy-AM  077 123456 | 077-12-34-56 | +374 77 123456
  am-ET  091 123 4567 | 0911234567 | +251 91 123 4567
  si-LK  071 234 5678 | 0712345678 | +94 71 234 5678
  ne-NP  984-1234567 | 9841234567 | ९८४१२३४५६७ | +977 984 1234567`
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [locale = '', ...rest] = line.trim().split('  ');
    return rest
      .join('  ')
      .split(' | ')
      .map((written) => ({ kind: 'phone', locale, written: written.trim() }));
  });

const OTHERS = [
  ...['4111 1111 1111 1111', '4111111111111111', '4111-1111-1111-1111', '４１１１　１１１１　１１１１　１１１１', '٤١١١ ١١١١ ١١١١ ١١١١'],
  ...['४१११ ११११ ११११ ११११', '๔๑๑๑๑๑๑๑๑๑๑๑๑๑๑๑', '4111ー1111ー1111ー1111', '၄၁၁၁ ၁၁၁၁ ၁၁၁၁ ၁၁၁၁', '３７８２ ８２２４６３ １０００５'],
].map((written) => ({ kind: 'card', locale: 'en', written }));
const IBANS = [
  'DE89 3704 0044 0532 0130 00',
  'DE89370400440532013000',
  'ＤＥ８９３７０４００４４０５３２０１３０００',
  'ＧＢ８２　ＷＥＳＴ　１２３４　５６９８　７６５４　３２',
  'de89370400440532013000',
].map((written) => ({ kind: 'iban', locale: 'en', written }));
const EMAILS = [
  'anna@example.com',
  'anna.b+x@mail.example.co.jp',
  'anna＠example．com',
  'ａｎｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ',
  '"anna b"@example.com',
  '"a\\"@b"@example.com',
  'a_1@sub.example.museum',
].map((written) => ({ kind: 'email', locale: 'en', written }));
const PERSONAL = [...PHONES, ...OTHERS, ...IBANS, ...EMAILS];

/** Running text of 30 scripts; X is what a person writes there. */
const TEXTS = `
  Latin  Please take X for it. | Merci, X svp | X olarak | bitte X, danke | A X-es a jó | nuo X-ui | (X) | „X“ | dla X.
  Cyrillic  Запишите X, спасибо | это X. | візьміть X будь ласка
  Greek  είναι X, ευχαριστώ | το X.
  Armenian  դա X է | X-ով
  Georgian  ეს X არის | X-ზე
  Hebrew  זה X תודה | ב-X בבקשה | ל־X | בX
  Arabic  هذا X شكرا | وX | هو:X، | این X است | یہ X ہے
  Syriac  ܗܢܐ X ܗܘ
  Thaana  މި X އެވެ
  Devanagari  यह X है। | मेरा Xपर
  Bengali  এটা X। | এইXতে
  Gurmukhi  ਇਹ X ਹੈ।
  Gujarati  આ X છે.
  Oriya  ଏହା X ଅଟେ
  Tamil  இது X ஆகும் | Xக்கு
  Telugu  ఇది X.
  Kannada  ಇದು X.
  Malayalam  ഇത് X ആണ് | Xലേക്ക്
  Sinhala  මෙය X වේ | Xට
  Thai  ของฉันคือXค่ะ | คือ X ครับ | ที่Xนะ
  Lao  ແມ່ນXເດີ | ແມ່ນ X
  Khmer  គឺXបាទ | គឺ X។
  Myanmar  ကXပါ | သည် X ဖြစ်သည်။
  Tibetan  འདི་Xཡིན། | འདི X རེད
  Ethiopic  ይህ X ነው። | በX
  Han  我的是X，谢谢 | 请记下X吧 | 这个X。 | 就是：X！ | 「X」 | 為X的 | 我（X）
  Hiragana  わたしのはXです。 | それはXへおねがいします | はい、X
  Katakana  コレハXデス | サービスーXーデス | ﾊXﾃﾞｽ
  Hangul  제 것은 X입니다. | 은X로 | 나의X이에요 | X으로 부탁해요
  Bopomofo  ㄅXㄆ
  Mongolian  ᠡᠨᠡ X ᠪᠣᠯᠤᠨᠠ
  Cherokee  ᎯᎠ X ᎨᏒ
  Javanese  ꦏX꧉ꦏ`
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [script = '', ...rest] = line.trim().split('  ');
    return rest
      .join('  ')
      .split(' | ')
      .map((text) => ({ script, text: text.trim() }));
  });

function found(text: string, locale: string): string[] {
  return findPersonalData(text, regionsOf(locale, [])).map(({ kind, value }) => `${kind} ${value}`);
}

describe('PRIVACY-20: between letters of any script', () => {
  test('40 locales and 30 scripts are tried', () => {
    assert.ok(new Set(PHONES.map(({ locale }) => locale)).size >= 40);
    assert.ok(new Set(TEXTS.map(({ script }) => script)).size >= 30);
  });

  test('every spelling is found to the character in every text', () => {
    const missed = PERSONAL.flatMap(({ kind, locale, written }) =>
      TEXTS.map(({ text }) => text.replace('X', () => written))
        .filter((text) => found(text, locale).join() !== `${kind} ${written}`)
        .map((text) => `${locale} ${text} → ${found(text, locale).join()}`),
    );
    assert.deepEqual(missed, []);
  });

  test('several in one text are found, each to the character', () => {
    const said = fc.tuple(fc.constantFrom(...TEXTS), fc.constantFrom(...PERSONAL));
    fc.assert(
      fc.property(said, said, said, (...parts) => {
        const { locale } = parts[0][1];
        fc.pre(parts.every(([, personal]) => personal.kind !== 'phone' || personal.locale === locale));
        const text = parts.map(([{ text: around }, { written }]) => around.replace('X', () => written)).join('。 ');
        assert.deepEqual(
          found(text, locale),
          parts.map(([, { kind, written }]) => `${kind} ${written}`),
          text,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test('what says itself that it is a telephone number needs no country', () => {
    const texts = `我的手机号是13800138000 | 手机：13800138000。 | 電話は312345678です | 연락처는1012345678입니다 | เบอร์812345678ค่ะ | ໂທ2023123456ເດີ | ទូរស័ព្ទ91234567បាទ | ဖုန်း212345678ပါ
      телефон 9123456789 | мой тел. 9123456789 | κινητό: 6912345678 | הטלפון שלי 502345678 | هاتفي 512345678 | मेरा मोबाइल 9876543210 है | ফোন 1812345678 | TEL03-1234-5678まで | ＴＥＬ：０３－１２３４－５６７８`;
    for (const text of texts.split(/[|\n]/)) {
      const number = /[\d０-９][\d０-９－-]+/.exec(text)?.[0];
      assert.deepEqual(found(text, 'en'), [`phone ${number}`]);
    }
    assert.deepEqual(found('VISA4111111111111111を使う', 'ja'), ['card 4111111111111111']);
    assert.deepEqual(found('IBANDE89370400440532013000から', 'ja'), ['iban DE89370400440532013000']);
    assert.deepEqual(found('13800138000，13900139000、13700137000', 'zh-CN').length, 3);
    for (const text of ['订单请联系13800138000', '注文の電話番号は13800138000', '订单联系人手机13800138000', '상품문의 13800138000']) {
      assert.deepEqual(found(text, 'zh-CN'), ['phone 13800138000'], text);
    }
    assert.deepEqual(found('0171 2345678,0172 3456789', 'de-DE').length, 2);
    assert.deepEqual(found('\u202a+49 171\u200e 2345678\u202c', 'ar'), ['phone +49 171\u200e 2345678']);
  });

  const NONE = `
    注文番号1234567890です | 注文番号は09012345678です | 受注No.09012345678 | 追跡番号：123456789012 | 2026年11月24日14時30分 | 12345678円 | 合計1,234,567円です | 価格は09800000円 | 第4111111111111112号 | 〒100-0001
    订单号13800138000 | 订单号：13800138000，请查 | 我的訂單編號是13800138000 | 快递单号13800138000到了 | 编号13800138000 | 会员号13800138000 | 13800138000元 | 共13800138000块 | 价格￥13800138000 | 2026年11月24日的订单 | 版本10.2.30.4567
    订单20261124001发货 20261124001 | 주문번호 01012345678 | 주문번호는 01012345678입니다 | 송장번호:01012345678 | 12345678원 | 2026년 11월 24일 | 20261124에 주문 | 제품 1234567890개
    หมายเลขคำสั่งซื้อ 0812345678 | คำสั่งซื้อเลขที่0812345678ค่ะ | เลขพัสดุ 0812345678 | 12345678บาท | วันที่24/11/2569ครับ | ๒๔/๑๑/๒๕๖๙ | v1.2.3.4567ครับ | 1234567กີບ
    заказ 9123456789 | Номер заказа: 9123456789 | заказ № 89123456789 | накладная 9123456789 | 12345678 руб | παραγγελία 6912345678 | הזמנה 0502345678 | מספר הזמנה: 0502345678 | طلب رقم 0512345678 | رقم الطلب 0512345678 | फ़ाइल v1.2.3.4567
    ऑर्डर नंबर 9876543210 | मेरा ऑर्डर 9876543210 कहाँ है | order 9876543210 | UTR 9876543210 | complaint no. 9876543210 | 流水号13912345678 | Order no. 9876543210 | ₹9876543210 | Rs. 9876543210 | अर्डर | zamówienie 512345678 | rendelésszám: 06201234567 | sipariş no 05321234567 | mã đơn hàng 0912345678 | pesanan 081234567890 | tilausnumero 0401234567`
    .split(/[|\n]/)
    .map((text) => text.trim())
    .filter((text) => text !== '');
  const LOCALES = ['ja', 'zh-CN', 'ko', 'th', 'ru', 'en-IN', 'hi', 'he', 'ar-SA', 'el', 'de', 'en-US', 'tr', 'vi', 'id', 'fi', 'hu', 'pl'];
  test('orders, prices, dates, versions and identifiers are left, in the words of any language and between letters of any script', () => {
    const asIs = NONE.flatMap((text) => LOCALES.map((locale) => ({ locale, text })));
    const identifiers = [
      'ORD-20261124-0042',
      'v1.2.3.4567',
      '2026-11-24',
      '20261124',
      '192.168.100.200',
      '192.168.0.0/24',
      '1,234,567.89',
      'inv_01712345678',
      'x4111111111111111',
      '4111111111111112',
      '12345-ab',
      '550e8400-e29b-41d4-a716-446655440000',
      'XDE89370400440532013000',
      'GTIN 4006381333931',
      '10:30-18:00',
      'order 4155552671',
    ];
    const between = identifiers.flatMap((written) =>
      TEXTS.flatMap(({ text }) => LOCALES.map((locale) => ({ locale, text: text.replace('X', written) }))),
    );
    const taken = [...asIs, ...between].filter(({ locale, text }) => found(text, locale).length > 0);
    assert.deepEqual(
      taken.map(({ locale, text }) => `${locale} ${text} → ${found(text, locale).join()}`),
      [],
    );
  });

  test('e-mail addresses end where the words of another script begin', () => {
    const cases: [text: string, email: string][] = [
      ['メールはanna@example.comです', 'anna@example.com'],
      ['이메일anna@example.co.kr로', 'anna@example.co.kr'],
      ['邮箱anna@example.com。谢谢', 'anna@example.com'],
      ['邮箱anna@example.com.谢谢', 'anna@example.com'],
      ['หาanna@example.comครับ', 'anna@example.com'],
      ['לanna@example.com', 'anna@example.com'],
      ['写信给 张三@例子.中国 吧', '张三@例子.中国'],
      ['иван@почта.рф,', 'иван@почта.рф'],
      ['ผู้ใช้@ตัวอย่าง.ไทย', 'ผู้ใช้@ตัวอย่าง.ไทย'],
      ['山田@例え.jpです', '山田@例え.jp'],
    ];
    for (const [text, email] of cases) assert.deepEqual(found(text, 'ja'), [`email ${email}`], text);
    for (const text of ['＠anna', '集合＠渋谷', '10時＠駅.', '"@b"', '価格 @ 100円']) assert.deepEqual(found(text, 'ja'), [], text);
  });

  test('e-mail addresses have the stops of a Japanese keyboard, and end with the sentence', () => {
    const cases: [text: string, email: string][] = [
      ['メールtaro@example。jpです', 'taro@example。jp'],
      ['taro@example｡jp', 'taro@example｡jp'],
      ['taro@docomo。ne。jp。', 'taro@docomo。ne。jp'],
      ['taro@docomo。ne.jpへ', 'taro@docomo。ne.jp'],
      ['ｔａｒｏ＠ｅｘａｍｐｌｅ。ｊｐです', 'ｔａｒｏ＠ｅｘａｍｐｌｅ。ｊｐ'],
      ['anna@example.com。Thanks', 'anna@example.com'],
      ['anna@example.co.jp。よろしく', 'anna@example.co.jp'],
    ];
    for (const [text, email] of cases) assert.deepEqual(found(text, 'ja'), [`email ${email}`], text);
    for (const text of ['集合＠渋谷。明日', '集合＠渋谷。OK', 'フォローは@anna。DMください', '@anna。thanks', '10時＠駅｡OK']) {
      assert.deepEqual(found(text, 'ja'), [], text);
    }
  });

  test('e-mail addresses are seen through what is invisible within them', () => {
    const emails = ['taro\u200b@example.jp', 'taro@\u2060example.jp', 'bob@exam\u200bple.com', 'bob\u00ad@example.com'];
    for (const email of [...emails, 'b\ufeffob@example\u200d.\u200ccom', '"a\u00ad b"@example.com']) {
      for (const [before, after] of [
        ['to ', ' now'],
        ['\u00ad \u200e(', '\u200b) \u200b'],
        ['メールは\u200b', '\u200bです'],
      ]) {
        assert.deepEqual(found(`${before}${email}${after}`, 'ja'), [`email ${email}`], JSON.stringify(before + email));
      }
    }
    assert.deepEqual(found('bo\u200bb@example.com, 0171 234\u200b5678', 'de'), ['email bo\u200bb@example.com', 'phone 0171 234\u200b5678']);
    for (const text of ['meet\u200b @ 5\u00ad', 'pkg@1\u200b.2.3', '\u200b@\u200banna']) assert.deepEqual(found(text, 'en'), [], text);
  });

  test('PRIVACY-2: the groups of a card may stand between the commas of Han', () => {
    for (const card of [
      '4111、1111、1111、1111',
      '4111，1111，1111，1111',
      '３７８２、８２２４６３、１０００５',
      '4111､ 1111､ 1111､ 1111',
    ]) {
      for (const text of [`カードは${card}です`, `卡号 ${card}。`, `${card}，谢谢`])
        assert.deepEqual(found(text, 'zh-CN'), [`card ${card}`], text);
    }
    assert.deepEqual(found('4111111111111111，5555555555554444、4111 1111 1111 1111', 'ja').length, 3);
    assert.deepEqual(found('41 11 11 11 11 11 11 11，123', 'ja'), ['card 41 11 11 11 11 11 11 11']);
    for (const text of [
      '4111、1111、1111、1112',
      '4111、1111、1111、1111、99',
      '2024、2025、2026、2027年',
      '10、20、30、40、50、60',
      '12，345，678円',
    ]) {
      assert.deepEqual(found(text, 'ja'), [], text);
    }
  });

  test('PRIVACY-3: wave dashes separate a number that begins with a trunk zero or a plus', () => {
    for (const number of ['090〜1234〜5678', '090～1234～5678', '０９０～１２３４～５６７８', '03~1234~5678', '+81〜90〜1234〜5678']) {
      for (const text of [`電話${number}まで`, `${number}`, `私は${number}です。`])
        assert.deepEqual(found(text, 'ja'), [`phone ${number}`], text);
    }
    for (const text of [
      '10〜20',
      '100〜200〜300',
      '09〜12〜15時',
      '2026〜2027',
      '0900〜1800',
      '1000～2000～3000円',
      '注文番号090〜1234〜5678',
      '12:00〜13:30',
    ]) {
      assert.deepEqual(found(text, 'ja'), [], text);
    }
  });

  test('PRIVACY-2: a card goes on behind a dash and the break of a line', () => {
    for (const gap of ['-\n', '-\r\n', ' -\n', '- \n ', '\n-', '\n- ', '－\n', 'ー\n', '–\n']) {
      for (const [before, after] of [
        ['card ', ' thanks'],
        ['カードは', 'です'],
        ['카드는 ', '입니다'],
      ]) {
        const card = `4111-1111${gap}1111-1111`;
        assert.deepEqual(found(`${before}${card}${after}`, 'ja'), [`card ${card}`], JSON.stringify(card));
      }
    }
    for (const text of ['4111-1111-\n\n1111-1111', '4111-1111-\n1111-1112', '12-4111-1111-\n1111-1111']) {
      assert.deepEqual(found(text, 'ja').join().includes('card'), false, text);
    }
  });
});
