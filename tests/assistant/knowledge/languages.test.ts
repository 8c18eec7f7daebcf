/** Languages of texts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { languageOf, languagesOf } from '../../../assistant/knowledge/languages.ts';

const RETURNS = {
  en: 'Unused goods can be sent back within 60 days of delivery. The label is free and we refund you.',
  de: 'Unbenutzte Ware kann innerhalb von 60 Tagen zurückgeschickt werden. Das Etikett ist kostenlos.',
  fr: 'Les articles peuvent être renvoyés dans les 60 jours. Vous recevez une étiquette pour le retour.',
  es: 'Los artículos se pueden devolver en 60 días. La etiqueta es gratuita para los clientes.',
  it: 'Gli articoli non usati possono essere resi entro 60 giorni. La spedizione è gratuita per il cliente.',
  pt: 'Os artigos não usados podem ser devolvidos em 60 dias. A etiqueta é grátis para você.',
  nl: 'Ongebruikte artikelen kunnen binnen 60 dagen worden teruggestuurd. Het label is gratis voor je bestelling.',
  pl: 'Nieużywane towary można zwrócić w ciągu 60 dni od dostawy. Etykieta jest bezpłatna i nie trzeba płacić.',
  ja: '未使用の商品は、お届けから60日以内であれば返品できます。',
  zh: '未使用的商品可在收货后60天内退回。',
  ko: '사용하지 않은 상품은 60일 이내에 반품할 수 있습니다.',
  ru: 'Неиспользованный товар можно вернуть в течение 60 дней.',
  uk: 'Невикористаний товар можна повернути протягом 60 днів після доставки, і це безкоштовно.',
  ar: 'يمكن إرجاع البضائع غير المستخدمة خلال 60 يومًا.',
  th: 'สามารถส่งคืนสินค้าที่ไม่ได้ใช้ภายใน 60 วัน',
};

describe('SEARCH-11: the languages of the knowledge', () => {
  for (const [tag, text] of Object.entries(RETURNS)) test(`a text in ${tag}`, () => assert.equal(languageOf(text), tag));

  test('of names, code or nothing are not known', () => {
    for (const text of ['', 'Kettle Classic 0.8 l', 'const answer = fetch(url);', '12 34', 'Tōkyō, Ōsaka'])
      assert.equal(languageOf(text), undefined, text);
  });

  test('a word of another script makes no other language', () => {
    assert.equal(languageOf(`${RETURNS.en} Ask for 京都 (Kyōto) or Москва.`), 'en');
  });

  test('of a sample are told by name, that of most texts first, without exceptions', () => {
    assert.deepEqual(languagesOf([RETURNS.de, RETURNS.en, RETURNS.de, 'Kettle']), ['German', 'English']);
    assert.deepEqual(languagesOf([...Array.from({ length: 20 }, () => RETURNS.ja), RETURNS.en]), ['Japanese']);
    assert.deepEqual(languagesOf(['Kettle']), []);
    assert.deepEqual(
      languagesOf([...Array.from({ length: 9 }, () => 'Refunds arrive within five days.'), RETURNS.fr]),
      [],
      'of most it is not known',
    );
  });
});
