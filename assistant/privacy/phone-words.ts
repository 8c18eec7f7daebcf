/** What the words beside a number say that it is: a telephone, a price, or the number of something (PRIVACY-3). */

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
