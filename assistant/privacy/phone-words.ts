/** What the words beside a number say that it is: a telephone, a price, or the number of something (PRIVACY-3). */

/** A word that says what a number is stands right beside it. */
export const CONTEXT_CHARS = 40;

const PRICE_BEFORE = /(?:[€$£¥₹₺₽]|(?<!\p{L})(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN))[\s]?$/iu;

/** Words of what else has a number; then perhaps `no.`, `is`, a colon, and the number. Every repetition is bounded: linear. */
const ID_BEFORE =
  /(?:^|[^\p{L}])(?:(?:order|bestell|auftrag|rechnung|invoice|ticket|case|tracking|sendung|paket|parcel|kunde|customer|account|konto|article|artikel|product|produkt|sku|ean|gtin|isbn|upc|imei|serial|serie|reference|referenz|commande|facture|pedido|ordine|fattura|factura|transaction|booking|buchung|vertrag|contract)\p{L}{0,24}|(?:ref|id|blz|version|item|part|lot|batch|model|modell|isin|wkn|doi|issn|barcode|plz|zip|vat|tax|build|release|pin|otp)(?!\p{L}))[\s_-]?(?:no|nr|num(?:ber|mer|ero)?|num[eé]ro|n[uú]mero|id|code)?[.:#/\s_-]{0,4}(?:is|ist|lautet|war|was|=)?[\s:"'#№]{0,4}$/iu;
const ID_LABEL = /(?:^id|_id|[a-z]I[dD]): $/;
const PHONE_BEFORE =
  /(?:(?<!\p{L})(?:tel|phone|call|cell|fax|mobil|handy|whatsapp|sms|r[uü]ckruf|anruf|erreich|t[eé]l[eé]phon|m[oó]vil|llam|portable|appel|dial|reach|kontakt|wa\.me)\p{L}{0,24}|telef\p{L}{0,24}|(?:my|meine|mon|mi|mio|mijn)\s{1,3}(?:(?:new|neue)\s)?(?:number|nummer|num[eé]ro|n[uú]mero)|(?:_|\p{L})(?:phone|Phone|Tel)|[☎📞📱])[^\d\n]{0,16}$/iu;

/** `… is my mobile`. */
const PHONE_AFTER = /^[^\d\n]{0,16}(?<!\p{L})(?:tel(?!\p{L})|phone|mobil|cell|handy|fax|whatsapp|sms|telef|t[eé]l[eé]phon|m[oó]vil)/iu;

export type Said = 'price' | 'id' | 'phone' | 'nothing';

/** What `before`, which ends where a number begins, says of it. */
export function saidBy(before: string): Said {
  if (PRICE_BEFORE.test(before)) return 'price';
  if (ID_BEFORE.test(before) || ID_LABEL.test(before)) return 'id';
  return PHONE_BEFORE.test(before) ? 'phone' : 'nothing';
}

/** Whether `after`, which begins where a number ends, says that it is a telephone's. */
export function saidAfter(after: string): boolean {
  return PHONE_AFTER.test(after);
}
