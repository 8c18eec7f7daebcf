/**
 * What the assistant may do in the demo shop: the actions of its manifest, each with its handler. A read answers with the block that shows
 * best what it found, as an app with a language model would leave to the model; the built-in offline model shows it as it is.
 */
import type { PostedManifest } from '../../../protocol/runtime/manifest.ts';
import { blockOfComparison, blockOfForm, blockOfMap, blockOfOrder, blockOfOrders } from './blocks.ts';
import { productNamed, type Shop } from './shop.ts';
import { PRODUCTS } from './stock.ts';

type Definition = PostedManifest['actions'][number];
type Params = Readonly<Record<string, unknown>>;

interface Task {
  readonly definition: Definition;
  run(params: Params, nowMs: number): unknown;
}

const RETURN_REASONS = ['It arrived broken', 'It does not fit', 'I changed my mind'];
const CANCEL_REASONS = ['I changed my mind', 'I found it cheaper', 'It takes too long'];
const ORDER_ID = { type: 'string', description: 'Number of the order, such as A-1042' } as const;

/** @throws Error when the shop has no such product */
function wanted(name: unknown) {
  const product = productNamed(String(name));
  if (product === undefined) throw new Error(`The shop has no ${String(name)}. It has: ${PRODUCTS.map((each) => each.name).join(', ')}.`);
  return product;
}

function reads(shop: Shop): readonly Task[] {
  const newest = () => shop.state.orders.find(({ status }) => status === 'shipped') ?? shop.state.orders[0];
  return [
    {
      definition: {
        name: 'get_order',
        description: 'Tells where one order is, its delivery and arrival. Without a number it is the one on its way.',
        params: { order_id: ORDER_ID },
      },
      run({ order_id: id }, nowMs) {
        const order = id === undefined ? newest() : shop.order(String(id));
        if (order === undefined) throw new Error(`There is no order ${String(id)}.`);
        return blockOfOrder(order, nowMs);
      },
    },
    {
      definition: { name: 'list_all_orders', description: 'Shows all orders of the person with their status.' },
      run: () => blockOfOrders(shop.state.orders),
    },
    {
      definition: { name: 'compare_kettles', description: 'Compares the kettles side by side: size, price, which is better for a family.' },
      run: () => blockOfComparison(PRODUCTS.slice(0, 2)),
    },
    {
      definition: { name: 'get_parcel_map', description: 'Shows on a map where the parcel is between shop and door.' },
      run: () => blockOfMap(),
    },
    {
      definition: {
        name: 'open_return',
        description: 'Asks what is needed to send something back. Call it when the person wants to return an order.',
      },
      run: () =>
        blockOfForm(
          shop.state.orders.map(({ id }) => id),
          RETURN_REASONS,
        ),
    },
  ];
}

function writes(shop: Shop): readonly Task[] {
  return [
    {
      definition: {
        name: 'add_to_cart',
        description: 'Puts a product in the cart. Call it when the person wants to buy something.',
        risk: 'write',
        params: {
          product: { type: 'string', required: true, enum: PRODUCTS.map(({ name }) => name), description: 'What to buy', editable: true },
          quantity: { type: 'number', description: 'How many', editable: true },
        },
        confirm_template: 'Put the {product} in your cart?',
        confirm_labels: { en: { confirm: 'Put it in', cancel: 'No' } },
      },
      run({ product, quantity = 1 }) {
        const { id, name } = wanted(product);
        shop.put(id, Number(quantity));
        shop.go('cart');
        return {
          say: `The ${name} is in your cart.`,
          quick_replies: {
            replies: [
              { id: 'orders', label: 'Show all my orders' },
              { id: 'cart', label: 'Open my cart' },
            ],
          },
        };
      },
    },
    {
      definition: {
        name: 'cancel_order',
        description: 'Cancels an order that has not been packed.',
        risk: 'destructive',
        params: {
          order_id: { ...ORDER_ID, required: true },
          reason: { type: 'string', enum: CANCEL_REASONS, description: 'Why', editable: true },
        },
        confirm_template: 'Cancel order {order_id}? The money goes back to your card, and this cannot be undone.',
        confirm_labels: { en: { confirm: 'Cancel the order', cancel: 'Keep the order' } },
        type_to_confirm: 'cancel',
      },
      run({ order_id: id }, nowMs) {
        const order = shop.cancel(String(id));
        shop.go('orders');
        return blockOfOrder(order, nowMs);
      },
    },
    {
      definition: {
        name: 'request_return',
        description: 'Sends an order back: takes the order and the reason of the return, as the form has asked for them.',
        risk: 'write',
        params: {
          order_id: { ...ORDER_ID, required: true },
          reason: { type: 'string', required: true, enum: RETURN_REASONS, description: 'Reason of the return', editable: true },
        },
        confirm_template: 'Send back order {order_id}?',
        confirm_labels: { en: { confirm: 'Send it back', cancel: 'Keep it' } },
      },
      run({ order_id: id }, nowMs) {
        const order = shop.giveBack(String(id));
        shop.go('orders');
        return blockOfOrder(order, nowMs);
      },
    },
  ];
}

export function tasksOf(shop: Shop): readonly Task[] {
  return [...reads(shop), ...writes(shop)];
}

/** Screens of the shop, as answers may offer them. */
export const ROUTES: NonNullable<PostedManifest['routes']> = [
  { name: 'products', title: 'All products', description: 'Everything that the shop sells' },
  {
    name: 'product',
    title: 'One product',
    description: 'A product with its price',
    params: { id: { type: 'string', enum: PRODUCTS.map(({ id }) => id) } },
  },
  { name: 'cart', title: 'Your cart', description: 'What the person is about to buy' },
  { name: 'orders', title: 'Your orders', description: 'What the person has bought' },
];
