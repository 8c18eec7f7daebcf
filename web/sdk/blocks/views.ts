/** The table of drawings (BLOCKVIEW-1): one for each component of the catalog, in its order. */
import { Actions } from './actions.tsx';
import type { BlockViews, ComponentName } from './block-view.ts';
import { Checklist } from './checklist.tsx';
import { Choice } from './choice.tsx';
import { Code } from './code.tsx';
import { Comparison } from './comparison.tsx';
import { ConfirmCard } from './confirm-card.tsx';
import { Contact } from './contact.tsx';
import { DatetimeSlots } from './datetime-slots.tsx';
import { Disclosure } from './disclosure.tsx';
import { Form } from './form.tsx';
import { InfoCard } from './info-card.tsx';
import { ItemList } from './item-list.tsx';
import { KeyPoints } from './key-points.tsx';
import { KeyValue } from './key-value.tsx';
import { MapView } from './map.tsx';
import { OrderTracker } from './order-tracker.tsx';
import { Pass } from './pass.tsx';
import { PlaceCard } from './place-card.tsx';
import { QuickReplies } from './quick-replies.tsx';
import { Rating } from './rating.tsx';
import { Screens } from './screens.tsx';
import { Section } from './section.tsx';
import { Tags } from './tags.tsx';
import { Text } from './text.tsx';
import { Timeline } from './timeline.tsx';
import { VariantPicker } from './variant-picker.tsx';

export const BLOCK_VIEWS: BlockViews = {
  text: Text,
  section: Section,
  key_points: KeyPoints,
  quick_replies: QuickReplies,
  choice: Choice,
  tags: Tags,
  actions: Actions,
  screens: Screens,
  confirm_card: ConfirmCard,
  order_tracker: OrderTracker,
  timeline: Timeline,
  checklist: Checklist,
  comparison: Comparison,
  key_value: KeyValue,
  info_card: InfoCard,
  item_list: ItemList,
  place_card: PlaceCard,
  map: MapView,
  pass: Pass,
  code: Code,
  contact: Contact,
  rating: Rating,
  disclosure: Disclosure,
  variant_picker: VariantPicker,
  datetime_slots: DatetimeSlots,
  form: Form,
};

/** What the handshake lists: all that is drawn. */
export const DRAWN_COMPONENTS = Object.keys(BLOCK_VIEWS) as ComponentName[];
