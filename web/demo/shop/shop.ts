/** The demo shop's state: where its person is, the cart and the orders. It lives as long as the page; a reload begins anew. */
import { firstOrders, type Order, PRODUCTS, type Product } from './stock.ts';

export const SCREENS = ['products', 'product', 'cart', 'orders'] as const;
export type Screen = (typeof SCREENS)[number];

export interface ShopState {
  readonly screen: Screen;
  /** Shown on the screen `product`. */
  readonly productId: string;
  readonly cart: readonly { readonly productId: string; readonly quantity: number }[];
  readonly orders: readonly Order[];
}

/** The most of one product in the cart: nobody needs more kettles. */
const QUANTITY_MAX = 20;

export function productOf(id: string): Product | undefined {
  return PRODUCTS.find((product) => product.id === id);
}

export function productNamed(name: string): Product | undefined {
  const wanted = name.trim().toLowerCase();
  return PRODUCTS.find((product) => product.id === wanted || product.name.toLowerCase() === wanted);
}

export class Shop {
  #state: ShopState;
  readonly #listeners = new Set<(state: ShopState) => void>();

  constructor(nowMs: number) {
    this.#state = { screen: 'products', productId: PRODUCTS[0]?.id ?? '', cart: [], orders: firstOrders(nowMs) };
  }

  get state(): ShopState {
    return this.#state;
  }

  subscribe(listener: (state: ShopState) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  go(screen: Screen, productId?: string): void {
    this.#change({ screen, ...(productId === undefined ? {} : { productId }) });
  }

  put(productId: string, more: number): void {
    const { cart } = this.#state;
    const before = cart.find((line) => line.productId === productId)?.quantity ?? 0;
    const quantity = Math.max(0, Math.min(QUANTITY_MAX, before + more));
    const others = cart.filter((line) => line.productId !== productId);
    this.#change({ cart: quantity === 0 ? others : [...others, { productId, quantity }] });
  }

  order(id: string): Order | undefined {
    const wanted = id.trim().toUpperCase();
    return this.#state.orders.find((order) => order.id === wanted);
  }

  /** @throws Error that says why it cannot be cancelled */
  cancel(id: string): Order {
    const order = this.order(id);
    if (order === undefined) throw new Error(`There is no order ${id}.`);
    if (order.status !== 'confirmed') throw new Error(`Order ${order.id} cannot be cancelled: it is ${order.status}.`);
    return this.#settle(order, 'cancelled');
  }

  /** @throws Error that says why it cannot be returned */
  giveBack(id: string): Order {
    const order = this.order(id);
    if (order === undefined) throw new Error(`There is no order ${id}.`);
    if (order.status !== 'delivered') throw new Error(`Order ${order.id} cannot be returned: it is ${order.status}.`);
    return this.#settle(order, 'returned');
  }

  #settle(order: Order, status: Order['status']): Order {
    const settled = { ...order, status };
    this.#change({ orders: this.#state.orders.map((each) => (each.id === order.id ? settled : each)) });
    return settled;
  }

  #change(part: Partial<ShopState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener(this.#state);
  }
}

export function totalCents(lines: ShopState['cart']): number {
  return lines.reduce((sum, { productId, quantity }) => sum + Math.round(Number(productOf(productId)?.price ?? 0) * 100) * quantity, 0);
}
