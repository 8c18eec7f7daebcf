/**
 * Charges a card through Stripe. A payment keeps our id for ever, as idempotency key and metadata, so it is found again and not made twice
 * when its answer was lost, or its row was, in a restore.
 */
import type { Stripe } from 'stripe';

export interface Payment {
  readonly id: string;
  /** `cus_…`; its default payment method is charged. */
  readonly customer: string;
  readonly amountCents: number;
  readonly description: string;
}

/** `pending`: ask again later, with the same payment. `reason` is a sentence for the console. */
export type PaymentOutcome =
  | { readonly state: 'charged'; readonly paymentId: string }
  | { readonly state: 'failed'; readonly reason: string }
  | { readonly state: 'pending'; readonly reason: string };

export interface Payments {
  charge(payment: Payment): Promise<PaymentOutcome>;
}

export interface PaymentOptions {
  readonly secretKey: string;
  /** A server that speaks Stripe's interface; undefined: Stripe. */
  readonly baseUrl: string | undefined;
}

/** A card is asked about at its bank: seconds are usual. */
const TIMEOUT_MS = 20_000;
/** How many payments of a customer are searched for ours, newest first. */
const LISTED_MAX = 100;
const METADATA_KEY = 'top_up_id';

const NO_ANSWER = 'The card processor did not answer. It is asked again.';

function outcomeOf(intent: Stripe.PaymentIntent): PaymentOutcome {
  switch (intent.status) {
    case 'succeeded':
      return { state: 'charged', paymentId: intent.id };
    case 'processing':
      return { state: 'pending', reason: 'The payment is being processed.' };
    case 'requires_action':
      return {
        state: 'failed',
        reason: 'The bank asks the card holder to confirm the payment. Register a card that can be charged without.',
      };
    default:
      return { state: 'failed', reason: intent.last_payment_error?.message ?? 'The card was not charged.' };
  }
}

interface StripeFault {
  readonly type?: unknown;
  readonly message?: unknown;
  readonly statusCode?: unknown;
}

/** The reason of a failed request. The processor's message is left out: it may hold a key, which must not reach the console. */
function faultOutcome(error: unknown): PaymentOutcome | 'look' {
  const { type, message } = error as StripeFault;
  switch (type) {
    case 'StripeCardError':
      return { state: 'failed', reason: String(message) };
    // The same id with other particulars: the card was changed between two attempts. The first one counts.
    case 'StripeIdempotencyError':
      return 'look';
    case 'StripeInvalidRequestError':
      return { state: 'failed', reason: 'The card processor does not know this customer, or refuses the payment as it is.' };
    case 'StripeAuthenticationError':
    case 'StripePermissionError':
      return { state: 'failed', reason: 'The card processor does not accept the key of this service.' };
    default:
      return { state: 'pending', reason: NO_ANSWER };
  }
}

class StripePayments implements Payments {
  readonly #stripe: Stripe;

  constructor(stripe: Stripe) {
    this.#stripe = stripe;
  }

  async charge(payment: Payment): Promise<PaymentOutcome> {
    try {
      // An idempotency key is forgotten after a day; a payment's metadata is not.
      return (await this.#find(payment)) ?? (await this.#create(payment));
    } catch (error) {
      const outcome = faultOutcome(error);
      return outcome === 'look' ? this.#look(payment) : outcome;
    }
  }

  async #look(payment: Payment): Promise<PaymentOutcome> {
    try {
      return (await this.#find(payment)) ?? { state: 'failed', reason: 'The card processor took this payment for another one.' };
    } catch {
      return { state: 'pending', reason: NO_ANSWER };
    }
  }

  async #find({ id, customer }: Payment): Promise<PaymentOutcome | undefined> {
    const { data } = await this.#stripe.paymentIntents.list({ customer, limit: LISTED_MAX });
    const found = data.find(({ metadata }) => metadata[METADATA_KEY] === id);
    return found === undefined ? undefined : outcomeOf(found);
  }

  async #create({ id, customer, amountCents, description }: Payment): Promise<PaymentOutcome> {
    const holder = await this.#stripe.customers.retrieve(customer);
    const method = holder.deleted === true ? null : holder.invoice_settings.default_payment_method;
    if (method === null || method === undefined) return { state: 'failed', reason: 'The customer has no card to charge by default.' };
    const intent = await this.#stripe.paymentIntents.create(
      {
        amount: amountCents,
        currency: 'usd',
        customer,
        payment_method: typeof method === 'string' ? method : method.id,
        off_session: true,
        confirm: true,
        description,
        metadata: { [METADATA_KEY]: id },
      },
      { idempotencyKey: id },
    );
    return outcomeOf(intent);
  }
}

/** The library is large and most installations charge no card, so it is loaded when it is needed. */
export async function createPayments({ secretKey, baseUrl }: PaymentOptions): Promise<Payments> {
  const { Stripe } = await import('stripe');
  const address = baseUrl === undefined ? undefined : new URL(baseUrl);
  const stripe = new Stripe(secretKey, {
    // Rows remember what has to be tried again, and when.
    maxNetworkRetries: 0,
    timeout: TIMEOUT_MS,
    telemetry: false,
    ...(address === undefined
      ? {}
      : {
          host: address.hostname,
          port: address.port === '' ? (address.protocol === 'https:' ? 443 : 80) : Number(address.port),
          protocol: address.protocol === 'https:' ? ('https' as const) : ('http' as const),
        }),
  });
  return new StripePayments(stripe);
}
