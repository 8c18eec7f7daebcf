/** What the demo shop sells, and the orders that its person has. Made up, and made anew with each page. */

export interface Product {
  readonly id: string;
  readonly name: string;
  readonly line: string;
  /** Euros, as they are written. */
  readonly price: string;
  readonly picture: string;
  readonly facts: { readonly holds: string; readonly warm: string; readonly guarantee: boolean };
}

export const PRODUCTS: readonly Product[] = [
  {
    id: 'classic',
    name: 'Classic kettle',
    line: 'Brushed steel for one or two cups',
    price: '29.00',
    picture: 'classic',
    facts: { holds: '0.8 l', warm: '–', guarantee: true },
  },
  {
    id: 'large',
    name: 'Large kettle',
    line: 'For eight cups, and keeps them warm',
    price: '49.00',
    picture: 'large',
    facts: { holds: '1.7 l', warm: '2 hours', guarantee: true },
  },
  {
    id: 'mug',
    name: 'Stone mug',
    line: 'Thrown by hand, no two alike',
    price: '12.50',
    picture: 'mug',
    facts: { holds: '0.3 l', warm: '20 minutes', guarantee: false },
  },
  {
    id: 'tin',
    name: 'Tea tin',
    line: 'Keeps 200 g dry and dark',
    price: '9.00',
    picture: 'tin',
    facts: { holds: '200 g', warm: '–', guarantee: false },
  },
];

export type OrderStatus = 'confirmed' | 'shipped' | 'delivered' | 'cancelled' | 'returned';

export interface Order {
  readonly id: string;
  readonly status: OrderStatus;
  readonly placedAtMs: number;
  readonly lines: readonly { readonly productId: string; readonly quantity: number }[];
}

const DAY_MS = 86_400_000;

/** Newest first. One may still be cancelled, one is on its way, one can be returned. */
export function firstOrders(nowMs: number): readonly Order[] {
  return [
    { id: 'A-1042', status: 'confirmed', placedAtMs: nowMs - 0.2 * DAY_MS, lines: [{ productId: 'large', quantity: 1 }] },
    {
      id: 'A-1038',
      status: 'shipped',
      placedAtMs: nowMs - 2 * DAY_MS,
      lines: [
        { productId: 'classic', quantity: 1 },
        { productId: 'mug', quantity: 2 },
      ],
    },
    { id: 'A-1007', status: 'delivered', placedAtMs: nowMs - 12 * DAY_MS, lines: [{ productId: 'tin', quantity: 3 }] },
  ];
}
