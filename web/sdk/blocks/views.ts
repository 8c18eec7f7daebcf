/** The table of drawings (BLOCKVIEW-1): one for each component of the catalog, in its order. All but words are loaded with the first of them. */

import type { BlockViews } from './block-view.ts';
import { later } from './later.tsx';
import { Text } from './plain.tsx';

export const BLOCK_VIEWS: BlockViews = {
  text: Text,
  section: later('section'),
  key_points: later('key_points'),
  quick_replies: later('quick_replies'),
  choice: later('choice'),
  tags: later('tags'),
  actions: later('actions'),
  screens: later('screens'),
  confirm_card: later('confirm_card'),
  order_tracker: later('order_tracker'),
  timeline: later('timeline'),
  checklist: later('checklist'),
  comparison: later('comparison'),
  key_value: later('key_value'),
  info_card: later('info_card'),
  item_list: later('item_list'),
  place_card: later('place_card'),
  map: later('map'),
  pass: later('pass'),
  code: later('code'),
  contact: later('contact'),
  rating: later('rating'),
  disclosure: later('disclosure'),
  variant_picker: later('variant_picker'),
  datetime_slots: later('datetime_slots'),
  form: later('form'),
};
