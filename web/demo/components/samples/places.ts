/** Samples of components about where and who. */
import { picture, type Samples } from './sample.ts';

export const placeSamples: Pick<Samples, 'place_card' | 'map' | 'contact'> = {
  place_card: [
    {
      name: 'Ready',
      body: {
        name: 'Kettle & Co.',
        address: 'Mill Street 4, 10115 Berlin',
        lat: 52.5321,
        lng: 13.3849,
        category: 'Kitchen shop',
        rating: 4.6,
        reviews: 1284,
        price_level: 2,
        open_now: true,
        hours: ['Mon to Fri 9:00 to 19:00', 'Sat 10:00 to 17:00'],
        phone: '+49 30 1234567',
        image: picture('shop', 'The shop from the street'),
        actions: [{ kind: 'send', label: 'Reserve a kettle', target: 'Reserve a kettle in Mill Street', style: 'primary' }],
      },
    },
    {
      name: 'Few facts',
      body: { name: 'Depot East', address: 'Dock 9, 10245 Berlin', lat: 52.5, lng: 13.46, open_now: false, actions: [] },
    },
  ],
  map: [
    {
      name: 'A way',
      body: {
        markers: [
          { id: 'shop', lat: 52.5321, lng: 13.3849, label: 'Our shop' },
          { id: 'van', lat: 52.5219, lng: 13.4132, label: 'Your parcel now' },
          { id: 'you', lat: 52.5034, lng: 13.4419, label: 'Your door' },
        ],
        polyline: 'sds_IsfupAnFo_@jMoZjHsg@rNsXbGc`@vGoPjRkRzOwVjRgm@nP{TjRo_@jMcVvGoK',
        alt: 'The way of your parcel from our shop past Alexanderplatz to your door',
      },
    },
    {
      name: 'One place',
      body: { markers: [{ id: 'shop', lat: 52.5321, lng: 13.3849, label: 'Our shop' }], zoom: 15, alt: 'Our shop in Mill Street' },
    },
  ],
  contact: [
    {
      name: 'Ready',
      body: {
        name: 'Ana Lopes',
        role: 'Repairs and returns',
        channels: [
          { kind: 'phone', value: '+49 30 1234567' },
          { kind: 'email', value: 'repairs@kettle.example' },
          { kind: 'chat', value: '@kettle-help', label: 'Messenger' },
          { kind: 'url', value: 'https://kettle.example/repairs', label: 'How repairs work' },
        ],
        hours: 'Mon to Fri, 9:00 to 17:00',
      },
    },
  ],
};
