'use client';
import { Assistant } from '@assistant-service/react';
import { useRouter } from 'next/navigation';

const ORDERS = { 'A-1042': { status: 'shipped', city: 'Zwolle' } };

export function Help() {
  const router = useRouter();
  const setUp = (widget) => {
    const params = { order_id: { type: 'string', required: true } };
    widget.registerAction({ name: 'get_order', description: 'Looks up an order.', params }, ({ order_id: id }) => ORDERS[id] ?? null);
    widget.registerScreen({ name: 'orders', title: 'Your orders' }, () => router.push('/orders'));
  };
  return <Assistant appKey={process.env.NEXT_PUBLIC_ASSISTANT_KEY} address={process.env.NEXT_PUBLIC_ASSISTANT_ADDRESS} setUp={setUp} />;
}
