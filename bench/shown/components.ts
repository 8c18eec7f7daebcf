/** Two scenarios for each component: one in which it is the answer, and one in which it was and the conversation goes on. */
import { type Scenario, samplesOf } from './scenario.ts';

interface Asked {
  /** What the component answers. */
  readonly asks: string;
  /** What is asked once it was shown. */
  readonly later: string;
  /** What the app knows, for whoever answers. */
  readonly facts?: string;
  /** Tools that are as right. */
  readonly or?: readonly string[];
}

const SEARCH = 'search_knowledge';
const KETTLES =
  'On sale: Classic (id classic), 0.8 l, 29.00 EUR, 900 g, whistles; Large (id large), 1.7 l, 49.00 EUR, 1.4 kg, keeps warm two hours; Pro (id pro), 1.2 l, 79.00 EUR, 1.1 kg, sets the temperature.';

const ASKED: Readonly<Record<string, Asked>> = {
  section: {
    asks: 'Tell me all about delivery, returns and guarantee, each on its own.',
    later: 'And abroad?',
    or: [SEARCH, 'key_points'],
  },
  key_points: { asks: 'Sum up your delivery rules for me.', later: 'Which of these matter on an island?' },
  quick_replies: {
    asks: 'I want a kettle and do not know where to begin.',
    later: 'Is it quiet?',
    facts: KETTLES,
    or: ['choice', 'comparison', 'find_products', 'item_list'],
  },
  choice: { asks: 'I want a kettle. Ask me for the size, then tell me which.', later: 'Express, please.', facts: KETTLES },
  tags: {
    asks: 'Just the labels of the Large kettle, please.',
    later: 'What does the first one mean?',
    facts: 'Large: BPA-free, dishwasher-safe, new, 3-year guarantee.',
  },
  actions: {
    asks: 'How do I get to your shop page and mail the workshop?',
    later: 'I lost that, once more?',
    facts: 'Shop page https://kettle.example/shop, workshop repair@kettle.example, phone +49 30 901820.',
    or: ['contact'],
  },
  screens: { asks: 'Where do I change my notifications?', later: 'And my orders?', or: ['actions'] },
  order_tracker: {
    asks: 'Where is order A-1038?',
    later: 'Is that late?',
    facts:
      'A-1038: ordered 2026-11-20 18:04, packed 2026-11-21 09:30, on its way since 2026-11-22 07:10, due 2026-11-24 14:00 to 17:00; Parcel Express, JD014600006811; 1 Large kettle.',
    or: ['get_order'],
  },
  timeline: {
    asks: 'What has happened to my repair so far, in order?',
    later: 'When was the second one?',
    facts: 'Repair R-7: sent in 2026-11-16 09:00, arrived 2026-11-18 11:20, new cord fitted 2026-11-20 15:00; test run is next.',
  },
  checklist: { asks: 'Give me a list to tick off before I send the kettle back.', later: 'I did the first one.', or: [SEARCH] },
  comparison: { asks: 'Classic or Large, side by side?', later: 'Which is the lighter one?', facts: KETTLES, or: ['find_products'] },
  key_value: {
    asks: 'What are the details of my booking?',
    later: 'Is the time right?',
    facts: 'Booking B-77: tea evening, 2026-11-28 18:30, 2 people, row 2, paid 24.00 EUR, booked by Ann.',
    or: ['pass'],
  },
  info_card: {
    asks: 'Is there anything I must know about the red cord?',
    later: 'What is the number of it?',
    facts: 'Recall: red cords sold before March 2026 may overheat. Do not use them. A new one is free.',
    or: [SEARCH],
  },
  item_list: { asks: 'Which kettles do you have under 60 euros?', later: 'The second one, please.', facts: KETTLES, or: ['find_products'] },
  place_card: {
    asks: 'Where is your shop?',
    later: 'Is it open now?',
    facts: 'Shop: Mill Street 4, 10115 Berlin, 52.5321 N 13.3849 E, Mon to Sat 10 to 19, +49 30 901820.',
    or: ['map'],
  },
  map: {
    asks: 'Show me on a map where the shop and the workshop are.',
    later: 'How far is that?',
    facts: 'Shop 52.5321 N 13.3849 E; workshop 52.5402 N 13.4120 E; both Berlin.',
  },
  pass: {
    asks: 'Show me my ticket for the tea evening.',
    later: 'Until when is it good?',
    facts: 'Ticket: Tea evening, 2026-11-28 18:30, row 2 seat 7, QR code KTL-77-2207, valid until 2026-11-28 22:00.',
  },
  code: {
    asks: 'How do I put your newsletter form on my own page?',
    later: 'Which part is mine?',
    facts: 'Embed: <form action="https://kettle.example/news" method="post"><input name="email"></form>',
  },
  contact: {
    asks: 'I want to talk to a person.',
    later: 'Do they speak French?',
    facts: 'Support: +49 30 901820, help@kettle.example, Mon to Fri 9 to 17.',
  },
  rating: { asks: 'My order came, thanks, that is all. Want to know how it went?', later: 'I gave five.' },
  disclosure: { asks: 'Is there fine print to the guarantee? Keep it folded away.', later: 'So dents are out?', or: [SEARCH] },
  variant_picker: {
    asks: 'I will take the Large kettle. Which colours and plugs are there?',
    later: 'Moss is sold out?',
    facts: 'Large (id large): colour steel or moss, plug EU or UK, 49.00 EUR each; moss with UK plug is sold out; at most 5.',
    or: ['find_products'],
  },
  datetime_slots: {
    asks: 'When can somebody call me about the repair tomorrow?',
    later: 'The first one that is free.',
    facts: 'A call takes 20 minutes. Free tomorrow at 09:00, 09:30 and 14:30, the shop being in Berlin.',
    or: ['find_slots'],
  },
  form: {
    asks: 'I want to report a broken kettle. What do you need from me?',
    later: 'What do you need that for?',
    facts: 'A report has: order number, what is broken, since when, email.',
    or: [SEARCH],
  },
};

export const COMPONENT_SCENARIOS: readonly Scenario[] = Object.entries(ASKED).flatMap(
  ([name, { asks, later, facts, or = [] }]): Scenario[] => {
    const [first, other = first] = samplesOf(name);
    const shows = (args: unknown) => [[{ text: 'Here it is.' }, { call: name, args }]];
    const context = facts === undefined ? {} : { context: { app_state: { facts } } };
    return [
      {
        name: `${name}-asked`,
        about: `${name} is the answer`,
        ...context,
        sends: [{ says: asks, rounds: shows(first) }],
        wanted: { calls: [name, ...or] },
      },
      {
        name: `${name}-shown`,
        about: `${name} was the answer before`,
        sends: [{ says: asks, rounds: shows(other) }, { says: later }],
        wanted: {},
      },
    ];
  },
);
