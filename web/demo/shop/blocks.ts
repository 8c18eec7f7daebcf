/** The shop's data as bodies of components, each with what is said beside it. */
import { totalCents } from './shop.ts';
import { type Order, PRODUCTS, type Product } from './stock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const euros = (cents: number) => ({ amount: (cents / 100).toFixed(2), currency: 'EUR' });
const at = (ms: number) => new Date(ms).toISOString();
const nameOf = (productId: string) => PRODUCTS.find(({ id }) => id === productId)?.name ?? productId;

type Step = { readonly label: string; readonly state: 'done' | 'current' | 'pending' | 'failed'; readonly at?: string };

function stepsOf({ status, placedAtMs }: Order): readonly Step[] {
  const ordered: Step = { label: 'Ordered', state: 'done', at: at(placedAtMs) };
  if (status === 'cancelled') return [ordered, { label: 'Cancelled', state: 'failed' }];
  const reached = { confirmed: 1, shipped: 2, delivered: 4, returned: 4 }[status];
  const later = ['Packed', 'On its way', 'Delivered'].map((label, index): Step => {
    const place = index + 1;
    return { label, state: place < reached ? 'done' : place === reached ? 'current' : 'pending' };
  });
  const steps = [ordered, ...later];
  return status === 'returned' ? [...steps, { label: 'On its way back', state: 'current' }] : steps;
}

function saidOf({ id, status }: Order): string {
  return {
    confirmed: `Order ${id} is being packed. It can still be cancelled.`,
    shipped: `Order ${id} is on its way.`,
    delivered: `Order ${id} has arrived.`,
    cancelled: `Order ${id} is cancelled. The money is on its way back to your card.`,
    returned: `The return of ${id} is noted. A label is on its way to your mail.`,
  }[status];
}

export function blockOfOrder(order: Order, nowMs: number) {
  const isUnderWay = order.status === 'shipped' || order.status === 'confirmed';
  return {
    say: saidOf(order),
    order_tracker: {
      order_id: order.id,
      status: order.status,
      steps: stepsOf(order),
      ...(isUnderWay
        ? { eta: { from: at(nowMs + 4 * HOUR_MS), until: at(nowMs + (order.status === 'shipped' ? 6 * HOUR_MS : 2 * DAY_MS)) } }
        : {}),
      ...(order.status === 'shipped' ? { carrier: 'Parcel Express', tracking_number: 'JD014600006811' } : {}),
      items: order.lines.map(({ productId, quantity }) => ({
        name: nameOf(productId),
        quantity,
        price: euros(totalCents([{ productId, quantity }])),
      })),
      actions: [
        ...(order.status === 'shipped' ? [{ kind: 'send', label: 'Show it on a map', target: 'Show the parcel on a map' }] : []),
        ...(order.status === 'confirmed'
          ? [{ kind: 'send', label: 'Cancel the order', target: `Cancel order ${order.id}`, style: 'danger' }]
          : []),
        ...(order.status === 'delivered' ? [{ kind: 'send', label: 'Return something', target: 'I want to return something' }] : []),
        { kind: 'open_screen', label: 'Your orders', target: 'orders' },
      ].slice(0, 2),
    },
  };
}

export function blockOfOrders(orders: readonly Order[]) {
  return {
    say: `You have ${orders.length} orders.`,
    item_list: {
      title: 'Your orders',
      layout: 'list',
      items: orders.map((order) => ({
        id: order.id,
        title: `Order ${order.id}`,
        subtitle: `${order.lines.map(({ productId, quantity }) => `${quantity} × ${nameOf(productId)}`).join(', ')}: ${order.status}`,
        price: euros(totalCents(order.lines)),
        tap: { kind: 'send', label: 'Where is it?', target: `Where is order ${order.id}?` },
      })),
    },
  };
}

export function blockOfComparison(products: readonly Product[]) {
  const euro = (amount: string) => ({ amount, currency: 'EUR' });
  return {
    say: 'The Large holds twice as much and keeps warm. If you mostly make one cup, the Classic is enough.',
    comparison: {
      columns: products.map(({ id, name }) => ({ id, name, ...(id === 'large' ? { badge: 'For families' } : {}) })),
      rows: [
        { label: 'Holds', values: products.map(({ facts }) => facts.holds) },
        { label: 'Keeps warm', values: products.map(({ facts }) => facts.warm) },
        { label: 'Guarantee', values: products.map(({ facts }) => facts.guarantee) },
        { label: 'Price', values: products.map(({ price }) => euro(price)) },
      ],
      recommended_id: 'large',
    },
  };
}

export function blockOfMap() {
  return {
    say: 'The parcel has left the shop and is past Alexanderplatz.',
    map: {
      markers: [
        { id: 'shop', lat: 52.5321, lng: 13.3849, label: 'Our shop' },
        { id: 'parcel', lat: 52.5219, lng: 13.4132, label: 'Your parcel now' },
        { id: 'door', lat: 52.5034, lng: 13.4419, label: 'Your door' },
      ],
      polyline: 'sds_IsfupAnFo_@jMoZjHsg@rNsXbGc`@vGoPjRkRzOwVjRgm@nP{TjRo_@jMcVvGoK',
      alt: 'The way of the parcel from the shop past Alexanderplatz to your door',
    },
  };
}

export function blockOfForm(orderIds: readonly string[], reasons: readonly string[]) {
  return {
    say: 'Tell me which order it is, and why.',
    form: {
      title: 'Send something back',
      fields: [
        { name: 'order_id', label: 'Order of the return', type: 'select', required: true, options: orderIds },
        { name: 'reason', label: 'Reason of the return', type: 'select', required: true, options: reasons },
        { name: 'note', label: 'Anything we should know', type: 'long_text', max: 400 },
      ],
      submit_label: 'Send it back',
    },
  };
}
