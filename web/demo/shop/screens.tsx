/** The screens of the demo shop: products, one product, the cart, the orders. */
import { productOf, type Shop, type ShopState, totalCents } from './shop.ts';
import { type Order, type OrderStatus, PRODUCTS, type Product } from './stock.ts';

interface ScreenProps {
  readonly shop: Shop;
  readonly state: ShopState;
}

const EUROS = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' });
const DAY = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'long' });

const STATUS_WORDS: Readonly<Record<OrderStatus, string>> = {
  confirmed: 'Being packed',
  shipped: 'On its way',
  delivered: 'Delivered',
  cancelled: 'Cancelled',
  returned: 'On its way back',
};

function Card({ product, shop }: { readonly product: Product; readonly shop: Shop }) {
  const { id, name, line, price, picture } = product;
  return (
    <li class="product">
      <button type="button" class="face" onClick={() => shop.go('product', id)}>
        <img src={`/demo/pictures/${picture}.svg`} alt="" width="240" height="180" />
        <b>{name}</b>
        <span>{line}</span>
      </button>
      <div>
        <strong>{EUROS.format(Number(price))}</strong>
        <button type="button" class="put" onClick={() => shop.put(id, 1)} aria-label={`Add the ${name} to the cart`}>
          Add
        </button>
      </div>
    </li>
  );
}

export function Products({ shop }: ScreenProps) {
  return (
    <>
      <h1>For tea, and nothing else</h1>
      <ul class="products">
        {PRODUCTS.map((product) => (
          <Card key={product.id} product={product} shop={shop} />
        ))}
      </ul>
    </>
  );
}

export function ProductScreen({ shop, state }: ScreenProps) {
  const product = productOf(state.productId) ?? PRODUCTS[0];
  if (product === undefined) return null;
  const { id, name, line, price, picture, facts } = product;
  return (
    <div class="one">
      <img src={`/demo/pictures/${picture}.svg`} alt={name} width="480" height="360" />
      <div>
        <h1>{name}</h1>
        <p>{line}</p>
        <dl>
          <dt>Holds</dt>
          <dd>{facts.holds}</dd>
          <dt>Keeps warm</dt>
          <dd>{facts.warm}</dd>
          <dt>Guarantee</dt>
          <dd>{facts.guarantee ? 'Three years' : 'None'}</dd>
        </dl>
        <p class="price">{EUROS.format(Number(price))}</p>
        <button type="button" class="main" onClick={() => shop.put(id, 1)}>
          Put it in the cart
        </button>
      </div>
    </div>
  );
}

export function Cart({ shop, state: { cart } }: ScreenProps) {
  return (
    <>
      <h1>Your cart</h1>
      {cart.length === 0 ? (
        <p class="empty">
          Nothing is in it yet. Ask the assistant: <q>Put the Large kettle in my cart</q>
        </p>
      ) : (
        <>
          <ul class="lines">
            {cart.map(({ productId, quantity }) => {
              const product = productOf(productId);
              return product === undefined ? null : (
                <li key={productId}>
                  <img src={`/demo/pictures/${product.picture}.svg`} alt="" width="64" height="48" />
                  <b>{product.name}</b>
                  <span class="count">
                    <button type="button" aria-label={`One ${product.name} less`} onClick={() => shop.put(productId, -1)}>
                      −
                    </button>
                    <output>{quantity}</output>
                    <button type="button" aria-label={`One ${product.name} more`} onClick={() => shop.put(productId, 1)}>
                      +
                    </button>
                  </span>
                  <strong>{EUROS.format(totalCents([{ productId, quantity }]) / 100)}</strong>
                </li>
              );
            })}
          </ul>
          <p class="total">
            Total <strong>{EUROS.format(totalCents(cart) / 100)}</strong>
          </p>
        </>
      )}
    </>
  );
}

function OrderRow({ order: { id, status, placedAtMs, lines } }: { readonly order: Order }) {
  return (
    <li>
      <b>{id}</b>
      <span>{lines.map(({ productId, quantity }) => `${quantity} × ${productOf(productId)?.name ?? productId}`).join(', ')}</span>
      <small>{DAY.format(placedAtMs)}</small>
      <span class={`status is-${status}`}>{STATUS_WORDS[status]}</span>
      <strong>{EUROS.format(totalCents(lines) / 100)}</strong>
    </li>
  );
}

export function Orders({ state: { orders } }: ScreenProps) {
  return (
    <>
      <h1>Your orders</h1>
      <ul class="lines orders">
        {orders.map((order) => (
          <OrderRow key={order.id} order={order} />
        ))}
      </ul>
    </>
  );
}
